package counter

import (
	"testing"

	"pgregory.net/rapid"

	"callerd/internal/queue"
)

// lines makes a category per list of order keys, each key a waiting ticket.
func lines(entries ...[]int64) (cs []Source) {
	for i, es := range entries {
		c := queue.NewCategory(i, "c", queue.Day{})
		for _, e := range es {
			c.Enter(&queue.Live{Standing: queue.Standing{Key: queue.OrderKey{Entry: e}}})
		}
		cs = append(cs, Source{Category: c, Weight: 1})
	}
	return cs
}

func TestTheRulesChoose(t *testing.T) {
	tests := []struct {
		name  string
		rule  queue.Rule
		lines [][]int64
		want  int64 // the entry; 0: nobody
	}{
		{"oldest takes the first that entered, whatever its category", queue.Oldest, [][]int64{{5, 6}, {2, 9}, {4}}, 2},
		{"oldest passes over an empty line", queue.Oldest, [][]int64{{}, {7}}, 7},
		{"oldest of nobody is nobody", queue.Oldest, [][]int64{{}, {}}, 0},
		{"priority takes the first line that is not empty", queue.Priority, [][]int64{{}, {8}, {2}}, 8},
		{"priority takes the first of that line", queue.Priority, [][]int64{{9, 3, 5}, {1}}, 3},
		{"priority of nobody is nobody", queue.Priority, [][]int64{{}, {}}, 0},
		{"a counter without lines calls nobody by oldest", queue.Oldest, nil, 0},
		{"a counter without lines calls nobody by priority", queue.Priority, nil, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := int64(0)
			if c := Choose(test.rule, lines(test.lines...), nil).Ticket; c != nil {
				got = c.Key.Entry
			}
			if got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestOldestIsTheSmallestKeyOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(rapid.Int64Range(1, 1000), 0, 30, rapid.ID[int64]).Draw(t, "entries")
		parts := make([][]int64, rapid.IntRange(1, 4).Draw(t, "lines"))
		want := int64(0)
		for _, e := range all {
			i := rapid.IntRange(0, len(parts)-1).Draw(t, "line")
			parts[i] = append(parts[i], e)
			if want == 0 || e < want {
				want = e
			}
		}
		got := int64(0)
		if c := Choose(queue.Oldest, lines(parts...), nil).Ticket; c != nil {
			got = c.Key.Entry
		}
		if got != want {
			t.Fatalf("got %d, want %d of %v", got, want, parts)
		}
	})
}

// pattern lets one counter call n times by Ratio, and tells the categories in the order of the calls.
func pattern(sources []Source, n int) (p string) {
	var saved []int64
	for range n {
		c := Choose(queue.Ratio, sources, saved)
		if c.Ticket == nil {
			return p + "-"
		}
		for i, s := range sources {
			if s.Category.Leave(c.Ticket) {
				p += string(rune('a' + i))
			}
		}
		saved = c.Saved
	}
	return p
}

func TestRatioIsSmoothAndSavesNothingForNobody(t *testing.T) {
	many := func(n int) (es []int64) {
		for e := range n {
			es = append(es, int64(e))
		}
		return es
	}
	for _, test := range []struct {
		name    string
		lines   [][]int64
		weights []uint32
		want    string
	}{
		{"one to two", [][]int64{many(9), many(9)}, []uint32{1, 2}, "babbabbab"},
		{"equal weights take turns", [][]int64{many(9), many(9)}, []uint32{1, 1}, "abababab"},
		{"three lines", [][]int64{many(9), many(9), many(9)}, []uint32{3, 1, 1}, "abacaabaca"},
		{"an empty line idles nobody", [][]int64{{}, many(4)}, []uint32{9, 1}, "bbbb-"},
		{"who comes late has saved nothing", [][]int64{many(2), many(6)}, []uint32{1, 1}, "ababbbbb-"},
		{"no weight at all still calls", [][]int64{many(1), many(1)}, []uint32{0, 0}, "ab-"},
	} {
		sources := lines(test.lines...)
		for i := range sources {
			sources[i].Weight = test.weights[i]
		}
		if got := pattern(sources, len(test.want)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func TestTheOverdueComeBeforeAllByKey(t *testing.T) {
	sources := lines([]int64{5, 6}, []int64{2, 3})
	vip := &queue.Live{Standing: queue.Standing{Key: queue.OrderKey{Entry: 9}, Priority: queue.Elderly, Entered: 1}}
	sources[0].Category.Enter(vip)
	for i := range sources {
		sources[i].Overtakes = 2
	}
	if c := Choose(queue.Oldest, sources, nil); c.Ticket != vip || c.Rule != queue.Oldest {
		t.Errorf("got %v by %d, want the priority lane", c.Ticket.Key, c.Rule)
	}
	for range 2 {
		for _, s := range sources {
			s.Category.Lane(queue.RegularLane).PassOver(queue.OrderKey{Entry: 6})
		}
	}
	for _, want := range []int64{2, 3, 5} {
		c := Choose(queue.Priority, sources, nil)
		if c.Ticket.Key.Entry != want || c.Rule != queue.Overdue {
			t.Errorf("got %d by %d, want %d as overdue", c.Ticket.Key.Entry, c.Rule, want)
		}
		for _, s := range sources {
			s.Category.Leave(c.Ticket)
		}
	}
	if c := Choose(queue.Priority, sources, nil); c.Ticket != vip {
		t.Errorf("got %v, want the rule again", c.Ticket.Key)
	}
}

func TestPassedOverAreThoseWithEarlierKeys(t *testing.T) {
	sources := lines([]int64{1, 2, 8}, []int64{4}, []int64{9})
	for i, id := range []queue.CategoryID{"a", "b", "c"} {
		c := queue.NewCategory(i, id, queue.Day{})
		sources[i].Category.Lane(queue.RegularLane).Each(func(t *queue.Live) bool {
			c.Enter(&queue.Live{Standing: t.Standing})
			return true
		})
		sources[i].Category = c
	}
	got := PassedOver(&queue.Live{Standing: queue.Standing{Key: queue.OrderKey{Entry: 7}}}, sources)
	if len(got) != 2 || got[0].Category != "a" || got[0].Count != 2 || got[1].Category != "b" || got[1].Count != 1 {
		t.Errorf("got %+v, want two of a and one of b", got)
	}
}
