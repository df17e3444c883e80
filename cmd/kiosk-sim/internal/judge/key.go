package judge

import (
	"slices"
	"sort"

	"callerd/cmd/kiosk-sim/internal/history"
)

// key is a ticket's place in the hall's one order of entries: a number that grows with every entry, and one that parts those
// put between two others.
type key struct{ entry, sub int64 }

func (k key) before(o key) bool {
	return k.entry < o.entry || k.entry == o.entry && k.sub < o.sub
}

// kept is the place of a ticket that the system sends back: the one it had.
const kept = "kept"

// room is what the hall leaves in sub beside a ticket that was put between others.
const room = 1 << 32

// lane is the waiting tickets of a lane, or those bound to one counter, by key.
type lane []*ticket

// ahead counts who stands before a key.
func (l lane) ahead(k key) int {
	return sort.Search(len(l), func(i int) bool { return !l[i].key.before(k) })
}

func (l *lane) enter(t *ticket) {
	i := sort.Search(len(*l), func(i int) bool { return t.key.before((*l)[i].key) })
	*l = slices.Insert(*l, i, t)
}

func (l *lane) leave(t *ticket) {
	i := l.ahead(t.key)
	for i < len(*l) && (*l)[i] != t {
		i++
	}
	if i < len(*l) {
		*l = slices.Delete(*l, i, i+1)
	}
}

// place returns the key of a place: back is a new entry at sequence at, front is before the first, after is behind so many, by
// issue and kept are the given keys, or right behind whoever has that one. Others may get new keys, in the same order.
func (l lane) place(where string, after int, first, had key, at uint64) key {
	back := key{entry: int64(at)}
	switch where {
	case history.Front:
		after = 0
	case history.After:
	case history.ByIssue:
		return l.free(first)
	case kept:
		return l.free(had)
	default:
		return back
	}
	switch {
	case len(l) == 0 || after >= len(l):
		return back
	case after == 0:
		return key{entry: l[0].key.entry - 1}
	}
	return l.between(after - 1)
}

func (l lane) free(k key) key {
	if i := l.ahead(k); i < len(l) && l[i].key == k {
		return l.between(i)
	}
	return k
}

// between returns a key behind the i-th and before the next one.
func (l lane) between(i int) key {
	a := l[i].key
	if i+1 == len(l) || l[i+1].key.entry > a.entry {
		return key{a.entry, a.sub + room}
	}
	if mid := a.sub + (l[i+1].key.sub-a.sub)/2; mid > a.sub {
		return key{a.entry, mid}
	}
	var k key
	sub := int64(0)
	for j, t := range l { // no room: all of this entry get new places
		if t.key.entry != a.entry {
			continue
		}
		t.key.sub, sub = sub, sub+room
		if j == i {
			k, sub = key{a.entry, sub}, sub+room
		}
	}
	return k
}
