//go:build !lockrank

package arch_test

import (
	"testing"
	"unsafe"

	"callerd/internal/arch"
)

func TestRanksCostNothingWithoutTheTag(t *testing.T) {
	if got := unsafe.Sizeof(arch.Held{}); got != 0 {
		t.Errorf("Held takes %d bytes, want 0", got)
	}
	if got, want := unsafe.Sizeof(arch.RankedLock{}), unsafe.Sizeof(arch.TicketLock{}); got != want {
		t.Errorf("RankedLock takes %d bytes, want %d, as TicketLock", got, want)
	}
}
