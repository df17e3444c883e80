package queue

import "slices"

// Where says at which place a ticket comes (back) into a line. The values are stored: never renumber them.
type Where uint8

// The places. The zero value: the ticket entered as everybody does, at the back.
const (
	Back    Where = iota + 1 // behind everybody, a new entry
	Front                    // before everybody
	After                    // behind the k-th
	ByIssue                  // where its first entry puts it
	Kept                     // where it was: the system sent it back
)

// gap is the room that is left in sub beside a ticket that was put between others: 31 more fit in between at worst.
const gap = 1 << 32

// Renumbered is a waiting ticket that gets a new key, in the same place, because there was no room beside it.
type Renumbered struct {
	Ticket TicketID
	Key    OrderKey
}

// KeyAt returns the key that puts t at a place of the line, behind k others for After; t itself does not count if it
// stands there. The zero key stands for the sequence of the record. If there is no room between two neighbours, the
// others of that entry get new keys first. Taken are the keys that others get in this line by the same record. The caller
// holds the line's lock.
func (l *Line) KeyAt(t *Live, w Where, k int, taken ...OrderKey) (OrderKey, []Renumbered) {
	o := l.without(t)
	switch {
	case w == Front || w == After && k == 0:
		if first := o.at(0); first != nil {
			return OrderKey{Entry: entryBefore(first.Key.Entry)}, nil
		}
	case w == After && k < o.len():
		return o.between(o.at(k-1), o.at(k))
	case w == ByIssue:
		key := OrderKey{Entry: t.First}
		i := o.ahead(key)
		if at := o.at(i); at != nil && at.Key == key {
			return o.between(at, o.at(i+1))
		}
		return key, nil
	case w == Kept:
		return o.keep(t.Key, taken), nil
	}
	return OrderKey{}, nil
}

// entryBefore returns the entry before one. Zero is none: the zero key means another thing.
func entryBefore(e int64) int64 {
	if e == 1 {
		return -1
	}
	return e - 1
}

// others is a line as one of its tickets sees it.
type others struct {
	*Line
	self int // its own place, or the length of the line
}

func (l *Line) without(t *Live) others {
	if i := l.Ahead(t.Key); l.at(i) == t {
		return others{l, i}
	}
	return others{l, l.Len()}
}

func (o others) len() int {
	if o.self < o.Len() {
		return o.Len() - 1
	}
	return o.Len()
}

func (o others) at(i int) *Live {
	if i >= o.self {
		i++
	}
	return o.Line.at(i)
}

func (o others) ahead(k OrderKey) int {
	n := o.Ahead(k)
	if n > o.self {
		n--
	}
	return n
}

// between returns a key between two neighbours; b nil is the end of the line.
func (o others) between(a, b *Live) (OrderKey, []Renumbered) {
	if b == nil || b.Key.Entry > a.Key.Entry {
		return OrderKey{Entry: a.Key.Entry, Sub: a.Key.Sub + gap}, nil
	}
	if mid := a.Key.Sub + (b.Key.Sub-a.Key.Sub)/2; mid > a.Key.Sub {
		return OrderKey{Entry: a.Key.Entry, Sub: mid}, nil
	}
	var moved []Renumbered
	var key OrderKey
	entry, sub := a.Key.Entry, int64(0)
	for i := o.ahead(OrderKey{Entry: entry, Sub: -1 << 63}); ; i++ {
		t := o.at(i)
		if t == nil || t.Key.Entry != entry {
			return key, moved
		}
		moved = append(moved, Renumbered{t.ID, OrderKey{Entry: entry, Sub: sub}})
		sub += gap
		if t == a {
			key = OrderKey{Entry: entry, Sub: sub}
			sub += gap
		}
	}
}

// keep returns k if nobody has it, else the next free key behind. It moves nobody: several tickets of one record may come
// into a line so, and each would have to know how the others moved it.
func (o others) keep(k OrderKey, taken []OrderKey) OrderKey {
	for {
		i := o.ahead(k)
		at := o.at(i)
		here := at != nil && at.Key == k
		if !here && !slices.Contains(taken, k) {
			return k
		}
		if here {
			at = o.at(i + 1)
		}
		next, some := OrderKey{}, at != nil
		if some {
			next = at.Key
		}
		for _, t := range taken {
			if k.Before(t) && (!some || t.Before(next)) {
				next, some = t, true
			}
		}
		if !some || next.Entry > k.Entry {
			return OrderKey{Entry: k.Entry, Sub: k.Sub + gap}
		}
		if mid := k.Sub + (next.Sub-k.Sub)/2; mid > k.Sub {
			return OrderKey{Entry: k.Entry, Sub: mid}
		}
		k = next
	}
}
