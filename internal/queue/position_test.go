package queue

import (
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// renumber does to a line what a record with renumbered tickets does.
func renumber(l *Line, all []*Live, moved []Renumbered) {
	find := func(m Renumbered) *Live {
		return all[slices.IndexFunc(all, func(t *Live) bool { return t.ID == m.Ticket })]
	}
	for _, m := range moved {
		l.Leave(find(m))
	}
	for _, m := range moved {
		t := find(m)
		t.Key = m.Key
		l.Enter(t)
	}
}

// Tickets go to random places, also out of the same line, so often that there is no room between two: each stands where it
// was put, nobody else moves, no key comes twice.
func TestATicketStandsWhereItWasPut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Line
		var model []*Live // in call order
		sequence := int64(0)
		put := func(t *rapid.T, v *Live, w Where, k int) {
			key, moved := l.KeyAt(v, w, k)
			self := slices.Index(model, v)
			if self >= 0 {
				l.Leave(v)
				model = slices.Delete(model, self, self+1)
			}
			renumber(&l, model, moved)
			if key == (OrderKey{}) {
				key = OrderKey{Entry: sequence}
			}
			behind := func(k OrderKey) int {
				if i := slices.IndexFunc(model, func(o *Live) bool { return k.Before(o.Key) }); i >= 0 {
					return i
				}
				return len(model)
			}
			i := len(model)
			switch w {
			case Front:
				i = 0
			case After:
				i = min(k, i)
			case ByIssue:
				i = behind(OrderKey{Entry: v.First})
			case Kept:
				i = behind(v.Key)
			}
			v.Key = key
			l.Enter(v)
			model = slices.Insert(model, i, v)
		}
		place := func(t *rapid.T) (Where, int) {
			return rapid.SampledFrom([]Where{Back, Front, After, After, After, ByIssue, Kept}).Draw(t, "where"), rapid.IntRange(0, 3).Draw(t, "after")
		}
		var away []*Live
		t.Repeat(map[string]func(*rapid.T){
			"issue": func(t *rapid.T) {
				sequence++
				v := &Live{Standing: Standing{ID: TicketID{N: uint32(sequence)}, First: sequence}}
				put(t, v, Back, 0)
			},
			"away": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("nobody waits")
				}
				i := rapid.IntRange(0, len(model)-1).Draw(t, "which")
				l.Leave(model[i])
				away = append(away, model[i])
				model = slices.Delete(model, i, i+1)
			},
			"back": func(t *rapid.T) {
				if len(away) == 0 {
					t.Skip("nobody is away")
				}
				sequence++
				w, k := place(t)
				put(t, away[0], w, k)
				away = away[1:]
			},
			"within the line": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("nobody waits")
				}
				sequence++
				w, k := place(t)
				if w == Kept {
					w = After
				}
				put(t, model[rapid.IntRange(0, len(model)-1).Draw(t, "which")], w, k)
			},
			"the same place, forty times": func(t *rapid.T) {
				if len(model) < 3 {
					t.Skip("too few")
				}
				k := rapid.IntRange(1, 3).Draw(t, "after")
				for range 40 {
					sequence++
					v := model[len(model)-1]
					if rapid.Bool().Draw(t, "the first") {
						v = model[0]
					}
					put(t, v, After, k)
				}
			},
			"": func(t *rapid.T) {
				var got []*Live
				l.Each(func(v *Live) bool { got = append(got, v); return true })
				if !slices.Equal(got, model) {
					t.Fatal("the line is not in the order in which its tickets were put")
				}
				for i := 1; i < len(got); i++ {
					if !got[i-1].Key.Before(got[i].Key) {
						t.Fatalf("keys %v and %v", got[i-1].Key, got[i].Key)
					}
				}
				if _, err := checkShape(&l); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

// A key that would be the zero one means the back of the line: nobody who is sent to the front may get it.
func TestTheFrontOfAYoungLineIsTheFront(t *testing.T) {
	var l Line
	for n := int64(3); n > -4; n-- {
		v := &Live{Standing: Standing{First: 9}}
		if v.Key, _ = l.KeyAt(v, Front, 0); l.Len() == 0 {
			v.Key.Entry = n
		}
		if v.Key == (OrderKey{}) {
			t.Fatal("got the zero key")
		}
		if l.Enter(v); l.First() != v {
			t.Fatalf("%v is not first", v.Key)
		}
	}
}

// What one record sends back into a line keeps its order, also where keys are taken.
func TestTicketsSentBackTogetherFindDifferentPlaces(t *testing.T) {
	keys := []OrderKey{{5, 0}, {5, 1000}, {6, 0}}
	for i := range 2 * len(keys) {
		var l Line
		there, turned := i/2+1, i%2 == 1
		for _, k := range keys[:there] {
			l.Enter(&Live{Standing: Standing{Key: k}})
		}
		taken := slices.Clone(keys) // of those who come back as well, in any order
		var got []OrderKey
		for _, k := range keys {
			if turned {
				slices.Reverse(taken)
			}
			key, moved := l.KeyAt(&Live{Standing: Standing{Key: k}}, Kept, 0, taken...)
			if len(moved) > 0 || slices.Contains(taken, key) {
				t.Errorf("%v: got %v and %d moved, want a free key", k, key, len(moved))
			}
			taken, got = append(taken, key), append(got, key)
		}
		if !slices.IsSortedFunc(got, func(a, b OrderKey) int { return map[bool]int{true: -1, false: 1}[a.Before(b)] }) {
			t.Errorf("got %v, want them in the order of before", got)
		}
	}
}

// Overtakes are kept for whole subtrees: they are those of a line that counts each by itself.
func TestOvertakesAndWhoIsOverdue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Line
		var model []*Live
		count := map[*Live]uint32{}
		enter := func(t *rapid.T) {
			v := &Live{Standing: Standing{
				Key:       OrderKey{Entry: rapid.Int64Range(1, 1000).Draw(t, "entry")},
				Entered:   rapid.Int64Range(1, 50).Draw(t, "entered"),
				Overtaken: rapid.Uint32Range(0, 1).Draw(t, "overtaken"), // a ticket that comes back has been here before
			}}
			i, there := slices.BinarySearchFunc(model, v, compareKeys)
			if there {
				return
			}
			count[v] = v.Overtaken
			l.Enter(v)
			model = slices.Insert(model, i, v)
		}
		for range rapid.IntRange(0, 40).Draw(t, "waiting") { // in a short line little is kept for a whole subtree
			enter(t)
		}
		t.Repeat(map[string]func(*rapid.T){
			"enter": enter,
			"call": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("nobody waits")
				}
				i := rapid.IntRange(0, len(model)-1).Draw(t, "which")
				v := model[i]
				if l.Leave(v); v.Overtaken != count[v] {
					t.Fatalf("got %d overtakes, want %d", v.Overtaken, count[v])
				}
				l.PassOver(v.Key)
				for _, o := range model[:i] {
					count[o]++
				}
				model = slices.Delete(model, i, i+1)
			},
			"": func(t *rapid.T) {
				most, entered := rapid.Uint32Range(0, 4).Draw(t, "most"), rapid.Int64Range(0, 60).Draw(t, "entered by")
				i := slices.IndexFunc(model, func(v *Live) bool {
					return most > 0 && count[v] >= most || entered > 0 && v.Entered <= entered
				})
				var want *Live
				if i >= 0 {
					want = model[i]
				}
				if got := l.Overdue(most, entered); got != want {
					t.Fatalf("overdue %d, %d: got %v, want %v", most, entered, got, want)
				}
				if want != nil && rapid.Bool().Draw(t, "settle") {
					if l.Settle(want); want.Overtaken != count[want] {
						t.Fatalf("got %d overtakes, want %d", want.Overtaken, count[want])
					}
				}
			},
		})
	})
}

func TestATicketIsSmall(t *testing.T) {
	if got := unsafe.Sizeof(Live{}); got > 160 {
		t.Errorf("a ticket takes %d bytes, want at most 160: a branch keeps two days of them", got)
	}
}
