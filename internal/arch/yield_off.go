//go:build !lockyield

package arch

// yields is false: what is inlined asks it before it calls yieldPoint, as the
// inliner counts even a call of nothing.
const yields = false

// yieldPoint stands between two atomic steps; without the tag lockyield it is nothing.
func yieldPoint() {}
