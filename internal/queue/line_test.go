package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func compareKeys(a, b *Live) int {
	switch {
	case a.Key.Before(b.Key):
		return -1
	case b.Key.Before(a.Key):
		return 1
	}
	return 0
}

// checkShape tells the first node whose size, order or heap is wrong, and the deepest path.
func checkShape(t *Live) (depth int, err error) {
	if t == nil {
		return 0, nil
	}
	for _, child := range []*Live{t.left, t.right} {
		if child != nil && child.heap > t.heap {
			return 0, fmt.Errorf("%v is above %v against their heap order", t.Key, child.Key)
		}
		d, err := checkShape(child)
		if err != nil {
			return 0, err
		}
		depth = max(depth, d+1)
	}
	if t.left != nil && !t.left.Key.Before(t.Key) || t.right != nil && !t.Key.Before(t.right.Key) {
		return 0, fmt.Errorf("%v stands against its children's keys", t.Key)
	}
	if got, want := t.count(), t.left.count()+t.right.count()+1; got != want {
		return 0, fmt.Errorf("%v counts %d, want %d", t.Key, got, want)
	}
	return max(depth, 1), nil
}

func TestALineIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Line
		var model []*Live
		key := func(name string) OrderKey {
			return OrderKey{rapid.Int64Range(-3, 40).Draw(t, name), rapid.Int64Range(-1, 1).Draw(t, name+" sub")}
		}
		find := func(k OrderKey) (int, bool) {
			return slices.BinarySearchFunc(model, &Live{Ticket: Ticket{Key: k}}, compareKeys)
		}
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				k := key("key")
				i, there := find(k)
				if there {
					t.Skip("another ticket has the key")
				}
				v := &Live{Ticket: Ticket{Key: k}}
				l.Enter(v)
				model = slices.Insert(model, i, v)
			},
			"remove": func(t *rapid.T) {
				k := key("key")
				i, there := find(k)
				v := &Live{Ticket: Ticket{Key: k}}
				if there {
					v = model[i]
					model = slices.Delete(model, i, i+1)
				}
				if got := l.Leave(v); got != there {
					t.Fatalf("remove of %v: got %t, want %t", k, got, there)
				}
			},
			"take the first": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("nobody waits")
				}
				v := l.First()
				if v != model[0] || !l.Leave(v) {
					t.Fatalf("first: got %v, want %v", v.Key, model[0].Key)
				}
				model = model[1:]
			},
			"": func(t *rapid.T) {
				if _, err := checkShape(l.root); err != nil {
					t.Fatal(err)
				}
				var got []*Live
				l.Each(func(v *Live) bool { got = append(got, v); return true })
				if !slices.Equal(got, model) || l.Len() != len(model) {
					t.Fatalf("got %d tickets (length %d), want %d in the order of their keys", len(got), l.Len(), len(model))
				}
				k := key("ahead of")
				if i, _ := find(k); l.Ahead(k) != i {
					t.Fatalf("ahead of %v: got %d, want %d", k, l.Ahead(k), i)
				}
				if (l.First() == nil) != (len(model) == 0) {
					t.Fatalf("first: got %v of %d tickets", l.First(), len(model))
				}
			},
		})
	})
}

func TestEachStopsWhenItIsTold(t *testing.T) {
	l, tickets := fullLine(100)
	n := 0
	l.Each(func(v *Live) bool {
		if v != tickets[n] {
			t.Fatalf("place %d: got %v, want %v", n, v.Key, tickets[n].Key)
		}
		n++
		return n < 10
	})
	if n != 10 {
		t.Errorf("got %d calls, want 10", n)
	}
}

func TestAFullHallIsNoDeepTree(t *testing.T) {
	const n = 100_000
	l, tickets := fullLine(n)
	depth, err := checkShape(l.root)
	if err != nil {
		t.Fatal(err)
	}
	if depth > 64 { // about 2 ln n = 40 are expected of a treap; a list would be 100,000 deep
		t.Errorf("got a depth of %d for %d tickets, want under 64", depth, n)
	}
	for _, i := range []int{0, 1, n / 2, n - 1} {
		if got := l.Ahead(tickets[i].Key); got != i {
			t.Errorf("ahead of ticket %d: got %d", i, got)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, i := range r.Perm(n) {
		if !l.Leave(tickets[i]) {
			t.Fatalf("ticket %d is not there", i)
		}
	}
	if l.Len() != 0 || l.First() != nil {
		t.Errorf("got %d tickets, want an empty line", l.Len())
	}
}

// fullLine makes a line of n tickets as a morning makes it: each new one at the end.
func fullLine(n int) (l Line, tickets []*Live) {
	chunk := make([]Live, n)
	for i := range chunk {
		v := &chunk[i]
		v.Key = OrderKey{Entry: int64(i + 1)}
		l.Enter(v)
		tickets = append(tickets, v)
	}
	return l, tickets
}

func BenchmarkLine(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		l, _ := fullLine(n)
		next := int64(n)
		b.Run(fmt.Sprintf("append and take, %d waiting", n), func(b *testing.B) {
			for b.Loop() {
				v := l.First()
				l.Leave(v)
				next++
				v.Key = OrderKey{Entry: next}
				l.Enter(v)
			}
		})
		b.Run(fmt.Sprintf("ahead, %d waiting", n), func(b *testing.B) {
			for b.Loop() {
				l.Ahead(OrderKey{Entry: next - int64(n)/2})
			}
		})
	}
}
