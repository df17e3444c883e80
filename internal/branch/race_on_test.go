//go:build race

package branch

// raceEnabled: the race detector makes everything ten times slower.
const raceEnabled = true
