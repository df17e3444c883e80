package judge

import "slices"

// ticket is a ticket in the model.
type ticket struct {
	id, number string
	home       *line // its series
	in         *line // in whose line it is or last was
	n          int
	priority   bool
	bound      uint32 // the only counter that calls it, 0: any
	state      string // as in a reply; "gone" when an unseen step took it away
	vague      bool   // it was gone, and no answer has told all of it since
	counter    uint32
	calls      uint32
	version    uint64 // 0: not known

	key   key
	first int64 // its first entry into a line; 0: none yet
	fuzzy bool  // its place in the line is not known
	// overtaken counts who passed over it since it entered; byRule those of them whom a rule chose. blur: some may be missing.
	overtaken uint32
	byRule    int
	blur      bool
	entered   moment // when it entered its line
	// told counts its announcements since it was last called from a line or taken up again, at summoned; -1: not known.
	told     int
	summoned moment
	due      int64 // its state does not end by itself before, ns; 0: never, -1: not known
	dated    bool  // an answer told due, it is exact
}

// moment is a time of the server, as far as it is known, ns.
type moment struct{ lo, hi int64 }

// line is one category on one day: its series, and who waits.
type line struct {
	day, category string
	tickets       []*ticket // by number, from index 1; nil: not known
	lanes         [2]lane   // regular, priority
	serving       int
	based         bool // the list at the start has been taken
	old           int  // so many numbers were out before the history began
	reserved      []*ticket
	unused        int            // places of the quota that came back
	persons       map[string]int // numbers by person key
	guessed       bool           // somebody was taken to have come or gone by an unseen step, and it may have been another
}

func newLine(day, category string) *line {
	return &line{day: day, category: category, tickets: make([]*ticket, 1), persons: map[string]int{}}
}

func (l *line) issued() int { return len(l.tickets) - 1 }

func (l *line) total() int { return len(l.lanes[0]) + len(l.lanes[1]) }

func (l *line) add(t *ticket) {
	t.home, t.in = l, l
	l.tickets = append(l.tickets, t)
}

func (l *line) find(n int) *ticket {
	if n < 1 || n > l.issued() {
		return nil
	}
	return l.tickets[n]
}

// head is who is called first of this line alone, or nil.
func (l *line) head() *ticket {
	for _, lane := range []lane{l.lanes[1], l.lanes[0]} {
		if len(lane) > 0 {
			return lane[0]
		}
	}
	return nil
}

// fuzzy says whether it is not known who waits, or at which place.
func (l *line) fuzzy() bool {
	if l.guessed || slices.ContainsFunc(l.reserved, func(t *ticket) bool { return t.vague }) { // who is taken for reserved may wait
		return true
	}
	for _, lane := range l.lanes {
		for _, t := range lane {
			if t.fuzzy || t.vague {
				return true
			}
		}
	}
	return false
}

// blurred says whether somebody who waits may have been passed over unseen.
func (l *line) blurred() bool {
	for _, lane := range l.lanes {
		for _, t := range lane {
			if t.blur {
				return true
			}
		}
	}
	return false
}

// blur says that an unseen call may have passed over anybody here.
func (l *line) blur() {
	for _, lane := range l.lanes {
		for _, t := range lane {
			t.blur = true
		}
	}
}
