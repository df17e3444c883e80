package counter

import (
	"testing"

	"pgregory.net/rapid"

	"callerd/internal/queue"
)

// lines makes a category per list of order keys, each key a waiting ticket.
func lines(entries ...[]int64) (cs []*queue.Category) {
	for i, es := range entries {
		c := queue.NewCategory(i, "c", queue.Day{})
		for _, e := range es {
			c.Enter(&queue.Live{Ticket: queue.Ticket{Key: queue.OrderKey{Entry: e}}})
		}
		cs = append(cs, c)
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
			if c := Choose(test.rule, lines(test.lines...)); c != nil {
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
		if c := Choose(queue.Oldest, lines(parts...)); c != nil {
			got = c.Key.Entry
		}
		if got != want {
			t.Fatalf("got %d, want %d of %v", got, want, parts)
		}
	})
}
