package queue

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"callerd/internal/arch"
)

var testDay = DayOf(2026, 11, 30)

func TestASeriesKeepsItsTicketsAcrossChunks(t *testing.T) {
	s := &series{day: testDay}
	if s.at(0) != nil || s.at(1) != nil {
		t.Fatal("an empty series has a ticket")
	}
	var made []*Live
	for n := uint32(1); n <= 3*chunkSize+1; n++ {
		v := s.grow(Place{Category: 5})
		if v.Place() != (Place{Category: 5}) {
			t.Fatalf("ticket %d: got place %v, want category 5", n, v.Place())
		}
		v.ID.N = n
		made = append(made, v)
	}
	for i, want := range made {
		if got := s.at(uint32(i + 1)); got != want || got.ID.N != uint32(i+1) {
			t.Errorf("ticket %d: got %p (%d), want %p", i+1, got, got.ID.N, want)
		}
	}
	for _, n := range []uint32{0, 3*chunkSize + 2, 4 * chunkSize, 1 << 31, 1<<32 - 1} {
		if got := s.at(n); got != nil {
			t.Errorf("ticket %d: got %v, want none", n, got)
		}
	}
}

// Whoever finds a ticket finds the lock that guards it, also while the ticket is just being made.
func TestATicketIsFoundWithItsPlaceBesideGrowth(t *testing.T) {
	c := NewCategory(1, "personal", testDay)
	c.Define(CategoryDefined{ID: "personal", Prefix: "A", Width: 3, Open: true})
	const last = 200_000 // enough to meet a gap of a nanosecond
	var wg sync.WaitGroup
	wg.Go(func() {
		misses := 0
		for n := uint32(1); n <= last; {
			v := c.Find(TicketID{testDay, "personal", n})
			if v == nil {
				if misses++; misses%100 == 0 {
					runtime.Gosched() // on one processor the other could not go on
				}
				continue
			}
			if p := v.Place(); p != (Place{Category: 1}) {
				t.Errorf("ticket %d: got place %v, want category 1", n, p)
				return
			}
			n++
		}
	})
	var h arch.Held
	c.Lock(&h)
	defer c.Unlock(&h)
	for range last {
		id, number := c.NextID()
		if _, err := c.Grow(id, number); err != nil {
			t.Error(err)
			break
		}
	}
	wg.Wait()
}

func TestPlacesAreReadAsTheyAreSet(t *testing.T) {
	for _, p := range []Place{{}, {Category: 1}, {Counter: 1}, {Category: 1<<31 - 1, Counter: MaxCounterID}, {Category: 7, Counter: 1<<32 - 1}} {
		var v Live
		v.SetPlace(p)
		if got := v.Place(); got != p {
			t.Errorf("got %v, want %v", got, p)
		}
	}
}

func TestNumbersStayAsTheyWereKept(t *testing.T) {
	var s series
	var want, got []string
	for n := range uint32(5 * chunkSize) {
		want = append(want, FormatNumber(strings.Repeat("A", int(n%30)), 3, n))
		got = append(got, s.keep(want[n]))
	}
	if !slices.Equal(got, want) {
		t.Error("a number changed when others came")
	}
}
