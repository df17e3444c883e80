package queue

import (
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

func TestALineIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Line
		var model []*Live
		key := func(name string) OrderKey {
			return OrderKey{rapid.Int64Range(-3, 40).Draw(t, name), rapid.Int64Range(-1, 1).Draw(t, name+" sub")}
		}
		find := func(k OrderKey) (int, bool) {
			return slices.BinarySearchFunc(model, &Live{Standing: Standing{Key: k}}, compareKeys)
		}
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				k := key("key")
				i, there := find(k)
				if there {
					t.Skip("another ticket has the key")
				}
				v := &Live{Standing: Standing{Key: k}}
				l.Enter(v)
				model = slices.Insert(model, i, v)
			},
			"remove": func(t *rapid.T) {
				k := key("key")
				i, there := find(k)
				v := &Live{Standing: Standing{Key: k}}
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
				if _, err := checkShape(&l); err != nil {
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
	got, err := checkShape(&l)
	if err != nil {
		t.Fatal(err)
	}
	leaves := (n + leafSize - 1) / leafSize
	if want := (shape{3, leaves, 1 + (leaves+forkSize-2)/(forkSize-1)}); got != want {
		t.Errorf("got %+v for %d tickets, want %+v", got, n, want)
	}
	for _, i := range []int{0, 1, n / 2, n - 1} {
		if got := l.Ahead(tickets[i].Key); got != i {
			t.Errorf("ahead of ticket %d: got %d", i, got)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for left, i := range r.Perm(n) {
		if !l.Leave(tickets[i]) {
			t.Fatalf("ticket %d is not there", i)
		}
		if left%1000 == 0 {
			if _, err := checkShape(&l); err != nil {
				t.Fatal(err)
			}
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
