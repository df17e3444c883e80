package judge

// ticket is a ticket in the model.
type ticket struct {
	id, number string
	line       *line
	n          int
	state      string // as in a reply; "gone" when an unseen step took it away
	vague      bool   // it was gone, and no answer has told all of it since
	counter    uint32
	calls      uint32
	version    uint64 // 0: not known
	// Its place in the one order of entries lies in (lo, hi]; lo+1 == hi when it is known.
	lo, hi uint64
}

// line is one category on one day: its series, and who waits. In this hall a ticket that comes back
// keeps its place, so the order of a line is the order of its numbers.
type line struct {
	day, category string
	tickets       []*ticket // by number, from index 1; nil: not known
	count         []int     // a Fenwick tree over the numbers: who waits
	total         int
	first         int // no smaller number waits
	serving       int
	based         bool // the list at the start has been taken
}

func newLine(day, category string) *line {
	return &line{day: day, category: category, tickets: make([]*ticket, 1), count: make([]int, 1), first: 1}
}

func (l *line) issued() int { return len(l.tickets) - 1 }

// add makes room for the next number.
func (l *line) add(t *ticket) {
	l.tickets = append(l.tickets, t)
	n := len(l.tickets) - 1
	sum := 0
	for i, low := n-1, n-(n&-n); i > low; i -= i & -i {
		sum += l.count[i]
	}
	l.count = append(l.count, sum)
}

func (l *line) find(n int) *ticket {
	if n < 1 || n > l.issued() {
		return nil
	}
	return l.tickets[n]
}

// set puts a ticket into a state and keeps the counts.
func (l *line) set(t *ticket, state string) {
	was, is := t.state == "waiting", state == "waiting"
	t.state = state
	if was == is {
		return
	}
	d := 1
	if was {
		d = -1
	} else {
		l.first = min(l.first, t.n)
	}
	l.total += d
	for i := t.n; i < len(l.count); i += i & -i {
		l.count[i] += d
	}
}

// ahead counts who waits before number n.
func (l *line) ahead(n int) int {
	sum := 0
	for i := n - 1; i > 0; i -= i & -i {
		sum += l.count[i]
	}
	return sum
}

// head is who waits first, or nil.
func (l *line) head() *ticket {
	if l.total == 0 {
		return nil
	}
	for l.tickets[l.first] == nil || l.tickets[l.first].state != "waiting" {
		l.first++
	}
	return l.tickets[l.first]
}
