//go:build amd64 || arm64

package arch

// Pause tells the processor n times that the caller spins on a word of memory:
// PAUSE on amd64, YIELD on arm64. Pause(0) returns at once.
//
// It is no system call and gives up neither the processor nor the goroutine. It
// orders no memory accesses: what a spin loop reads, it reads with sync/atomic.
// The scheduler cannot preempt it, so n stays small.
//
// n counts rounds, not time. A round of PAUSE takes 10 to 140 cycles, depending
// on the processor; YIELD is a hint which many arm64 cores ignore, and then a
// round takes a cycle. Whoever wants a time has to measure: see [Calibrate].
//
//go:noescape
func Pause(n uint32)
