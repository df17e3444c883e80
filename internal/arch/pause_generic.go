//go:build !amd64 && !arm64

package arch

// Pause lets n rounds of an empty loop go by: for processors whose hint for
// spin loops is not used here. Pause(0) returns at once.
//
// It is no system call and gives up neither the processor nor the goroutine. It
// orders no memory accesses: what a spin loop reads, it reads with sync/atomic.
//
// n counts rounds, not time. Whoever wants a time has to measure: see [Calibrate].
//
//go:noinline
func Pause(n uint32) {
	for ; n != 0; n-- {
	}
}
