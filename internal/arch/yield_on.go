//go:build lockyield

package arch

import (
	"runtime"
	"sync/atomic"
)

// yields is true: yieldPoint does something.
const yields = true

// yieldCalls numbers the calls of yieldPoint; the number's hash is the coin.
var yieldCalls atomic.Uint64

// yieldPoint stands between two atomic steps. At one call in four, chosen
// pseudo-randomly, it lets other goroutines run in the gap: that is where a lost
// wake-up or an overtaking would hide, and without it the gap is a nanosecond.
func yieldPoint() {
	x := yieldCalls.Add(1) * 0x9e3779b97f4a7c15 // splitmix64
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	if x>>40&3 == 0 {
		runtime.Gosched()
	}
}
