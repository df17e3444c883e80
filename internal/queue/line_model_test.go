package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// pair is one ticket in a line and in the treap.
type pair struct {
	line *Live
	tree *treapTicket
}

// twin is a line and a treap to which the same is done.
type twin struct {
	*testing.T
	line    Line
	tree    treap
	random  *rand.Rand
	waiting []pair // in no order
	of      map[*Live]*treapTicket
	next    int64
}

// The line does what the treap does, whatever is done to it, while it grows to a size, stays there and empties, again and again.
func TestALineIsATreap(t *testing.T) {
	t.Parallel()
	steps := 300_000
	if testing.Short() {
		steps = 30_000
	}
	seed := rand.Uint64()
	for _, size := range []int{3, 40, 64, 150, 700, 6000} {
		t.Run(fmt.Sprintf("up to %d wait", size), func(t *testing.T) {
			t.Parallel()
			defer func() {
				if t.Failed() {
					t.Logf("seed %#x", seed)
				}
			}()
			w := &twin{T: t, random: rand.New(rand.NewPCG(seed, uint64(size))), of: map[*Live]*treapTicket{}}
			goal := size
			for step := range steps {
				if w.step(len(w.waiting) < goal); len(w.waiting) == goal {
					goal = w.random.IntN(size + 1)
				}
				if size <= 150 || step%(size/8) == 0 {
					if _, err := checkShape(&w.line); err != nil {
						t.Fatalf("step %d: %v", step, err)
					}
				}
				if step%size == 0 {
					w.whole()
				}
			}
			w.whole()
		})
	}
}

// step does one thing to both.
func (w *twin) step(grow bool) {
	switch n := w.random.IntN(20); {
	case n < 10 && grow || n < 3:
		w.enter()
	case len(w.waiting) == 0:
		w.look()
	case n < 10:
		w.leave(w.any())
	case n == 10:
		w.move()
	case n == 11:
		t := w.waiting[w.any()]
		w.line.Settle(t.line)
		w.tree.Settle(t.tree)
		w.same("settled", t.line, t.tree)
	case n < 14:
		k := w.key()
		w.line.PassOver(k)
		w.tree.PassOver(k)
	case n < 17:
		most, entered := uint32(w.random.IntN(int(w.line.sum.most)+2)), w.random.Int64N(w.next+1)
		switch w.random.IntN(3) {
		case 0:
			most = 0
		case 1:
			entered = 0
		}
		w.same(fmt.Sprintf("overdue by %d, %d", most, entered), w.line.Overdue(most, entered), w.tree.Overdue(most, entered))
	default:
		w.look()
	}
}

// any is the place of a waiting ticket, that of the first one often.
func (w *twin) any() int {
	if w.random.IntN(3) > 0 {
		return w.random.IntN(len(w.waiting))
	}
	first := w.line.First()
	for i, t := range w.waiting {
		if t.line == first {
			return i
		}
	}
	w.Fatal("the first one does not wait")
	return 0
}

// key is one of somebody, beside somebody or of nobody, never one that the next record gives.
func (w *twin) key() OrderKey {
	k := OrderKey{Entry: w.random.Int64N(w.next+2) - 1}
	if len(w.waiting) > 0 && w.random.IntN(2) == 0 {
		k = w.waiting[w.random.IntN(len(w.waiting))].line.Key
	}
	if w.random.IntN(3) == 0 {
		k.Sub += w.random.Int64N(7) - 3
	}
	return k
}

// enter lets somebody in: most at the end, some at the front or close together, some who were passed over elsewhere.
func (w *twin) enter() {
	w.next++
	v := &Live{Standing: Standing{ID: TicketID{N: uint32(w.next)}, Key: OrderKey{Entry: w.next}, Entered: w.next, First: w.next}}
	switch w.random.IntN(8) {
	case 0:
		v.Key.Entry = -w.next
	case 1, 2:
		v.Key = w.key()
		v.Entered, v.Overtaken = w.random.Int64N(w.next)+1, uint32(w.random.IntN(5))
	}
	if t := w.line.at(w.line.Ahead(v.Key)); t == nil || t.Key != v.Key {
		w.put(pair{v, &treapTicket{Ticket: v.Ticket()}})
	}
}

func (w *twin) put(t pair) {
	w.line.Enter(t.line)
	w.tree.Enter(t.tree)
	w.waiting = append(w.waiting, t)
	w.of[t.line] = t.tree
}

func (w *twin) leave(i int) pair {
	t := w.waiting[i]
	if !w.line.Leave(t.line) || !w.tree.Leave(t.tree) {
		w.Fatalf("%v does not wait", t.line.Key)
	}
	w.same("left", t.line, t.tree)
	if w.line.Leave(t.line) || w.line.Leave(&Live{Standing: Standing{Key: w.key()}}) {
		w.Fatal("somebody left who did not wait")
	}
	w.waiting[i] = w.waiting[len(w.waiting)-1]
	w.waiting = w.waiting[:len(w.waiting)-1]
	return t
}

// move puts somebody elsewhere in the line, as a record does: first the others get new keys if there is no room.
func (w *twin) move() {
	i := w.any()
	t := w.waiting[i]
	places := [...]Where{Front, After, ByIssue}
	key, moved := w.line.KeyAt(t.line, places[w.random.IntN(len(places))], w.random.IntN(min(len(w.waiting), 5)))
	w.leave(i)
	again := make([]pair, len(moved))
	for i, m := range moved {
		for j := range w.waiting {
			if w.waiting[j].line.ID == m.Ticket {
				again[i] = w.leave(j)
				break
			}
		}
	}
	for i, m := range moved {
		again[i].line.Key, again[i].tree.Key = m.Key, m.Key
		w.put(again[i])
	}
	if key == (OrderKey{}) {
		w.next++
		key.Entry = w.next
	}
	t.line.Key, t.tree.Key = key, key
	w.put(t)
}

// look asks both the same.
func (w *twin) look() {
	k := w.key()
	if got, want := w.line.Ahead(k), w.tree.Ahead(k); got != want {
		w.Fatalf("ahead of %v: got %d, want %d", k, got, want)
	}
	if got, want := w.line.Len(), len(w.waiting); got != want {
		w.Fatalf("got %d who wait, want %d", got, want)
	}
	w.same("first", w.line.First(), w.tree.First())
	i := w.random.IntN(len(w.waiting) + 1)
	w.same("at a place", w.line.at(i), w.tree.at(i))
}

// whole looks at everybody in order.
func (w *twin) whole() {
	i := 0
	w.line.Each(func(t *Live) bool {
		w.same("each", t, w.tree.at(i))
		i++
		return true
	})
	if i != w.tree.Len() {
		w.Fatalf("each: got %d, want %d", i, w.tree.Len())
	}
}

func (w *twin) same(what string, got *Live, want *treapTicket) {
	w.Helper()
	switch {
	case got == nil && want == nil:
	case got == nil || want == nil || w.of[got] != want:
		w.Fatalf("%s: got %v, want %v", what, got, want)
	case got.Overtaken != want.Overtaken || got.Key != want.Key:
		w.Fatalf("%s, %v: got %d overtakes, want %d", what, got.Key, got.Overtaken, want.Overtaken)
	}
}
