package queue

import (
	"math"
	"math/bits"
)

// Line is the waiting tickets of one lane in call order: a B+ tree by order key that counts its subtrees, knows how
// often each ticket was passed over and since when the eldest waits. All but each are O(log n), and a node is many
// tickets wide: two or three lie between the root and any of 100,000, so a full hall costs hardly more than an empty one.
// The same operations make the same tree. The zero value is an empty line.
type Line struct {
	root node // nil: nobody has waited yet
	sum  sum  // of the root, to which nothing is owed
}

// node is a leaf, which has tickets, or a fork, which has nodes. The sum of a node is kept beside the pointer to it; who
// changes a node gets its sum too, with nothing owed, and keeps it right. Those who only look get what is owed from above.
type node interface {
	len() int // of its tickets or nodes, not of the tickets below
	full() bool
	total() sum

	ahead(k OrderKey) int
	at(i int, owed uint32) *Live
	settle(t *Live, owed uint32)
	each(owed uint32, f func(*Live) bool) bool
	overdue(b bound, owed uint32) *Live

	enter(t *Live, last bool, s *sum) // not into a full one; last: there is no node behind
	leave(t *Live, s *sum) bool
	passOver(k OrderKey, s *sum)
	add(overtakes uint32)
	split(k OrderKey, last bool) (right node, lead OrderKey) // makes room for k
	join(right node, lead OrderKey)
}

// sum is what is known of a subtree without a look into it.
type sum struct {
	size   uint32 // tickets
	most   uint32 // overtakes of the one with the most, owed ones included
	owed   uint32 // overtakes of every one that the subtree was not told yet
	eldest int64  // earliest entry
}

// nobody is the sum of no ticket.
var nobody = sum{eldest: math.MaxInt64}

// with adds another sum.
func (s *sum) with(o sum) {
	s.size, s.most, s.eldest = s.size+o.size, max(s.most, o.most), min(s.eldest, o.eldest)
}

// bound says who is overdue; 0 is no bound.
type bound struct {
	overtakes uint32
	entered   int64
}

func (b bound) met(overtaken uint32, entered int64) bool {
	return b.overtakes > 0 && overtaken >= b.overtakes || b.entered > 0 && entered <= b.entered
}

// Len returns the number of waiting tickets.
func (l *Line) Len() int { return int(l.sum.size) }

// First returns the ticket with the smallest key, or nil.
func (l *Line) First() *Live { return l.at(0) }

// at returns the ticket with i others before it, or nil.
func (l *Line) at(i int) *Live {
	if i < 0 || i >= l.Len() {
		return nil
	}
	return l.root.at(i, 0)
}

// Ahead returns how many tickets have keys before k.
func (l *Line) Ahead(k OrderKey) int {
	if l.root == nil {
		return 0
	}
	return l.root.ahead(k)
}

// Enter adds t by its key, which no other ticket of the line has.
func (l *Line) Enter(t *Live) {
	if l.root == nil {
		l.root, l.sum = new(leaf), nobody
	}
	if l.root.full() {
		f := &fork{n: 1}
		f.nodes[0], f.sums[0] = l.root, l.sum
		_, f.low = l.root.(*leaf)
		f.part(0, t.Key, true)
		l.root = f
	}
	l.root.enter(t, true, &l.sum)
}

// Leave takes t out, its count of overtakes made up, and reports whether it was there.
func (l *Line) Leave(t *Live) bool {
	if l.root == nil || !l.root.leave(t, &l.sum) {
		return false
	}
	for {
		f, is := l.root.(*fork)
		if !is || f.n > 1 {
			return true
		}
		f.tell(0)
		l.root = f.nodes[0]
	}
}

// Each calls f for every ticket in call order until f returns false.
func (l *Line) Each(f func(*Live) bool) {
	if l.root != nil {
		l.root.each(0, f)
	}
}

// Settle makes up t's count of overtakes, which the line keeps for it, and for whole subtrees.
func (l *Line) Settle(t *Live) {
	if l.root != nil {
		l.root.settle(t, 0)
	}
}

// PassOver counts one overtake for every ticket with a key before k.
func (l *Line) PassOver(k OrderKey) {
	if l.root != nil {
		l.root.passOver(k, &l.sum)
	}
}

// Overdue returns the first ticket that was overtaken so often or entered so early (Unix ns), or nil. An overtakes of
// 0 and an entered of 0 are no bound.
func (l *Line) Overdue(overtakes uint32, entered int64) *Live {
	b := bound{overtakes, entered}
	if l.Len() == 0 || !b.met(l.sum.most, l.sum.eldest) {
		return nil
	}
	return l.root.overdue(b, 0)
}

// before counts the keys of an ascending row that are before k; with an orEqual of 1, those that are not behind it. It asks
// every eighth and then the eight in question, none of them waiting for the answer of another: where a row is not in the
// cache, that is two waits for the memory, and halving would be five.
func before(row []OrderKey, k OrderKey, orEqual uint64) int {
	const step = 8
	n := 0
	for i := step - 1; i < len(row); i += step {
		n += step * isBefore(row[i], k, orEqual)
	}
	for _, r := range row[n:min(n+step, len(row))] {
		n += isBefore(r, k, orEqual)
	}
	return n
}

// isBefore is [OrderKey.Before] as a number, without a branch that nobody could predict.
func isBefore(a, b OrderKey, orEqual uint64) int {
	const sign = 1 << 63
	_, borrow := bits.Sub64(uint64(a.Sub)^sign, uint64(b.Sub)^sign, orEqual)
	_, borrow = bits.Sub64(uint64(a.Entry)^sign, uint64(b.Entry)^sign, borrow)
	return int(borrow)
}

// put shifts a from i on by one and puts v there; the last of a is lost.
func put[T any](a []T, i int, v T) {
	copy(a[i+1:], a[i:])
	a[i] = v
}

// cut takes a[i] out; the last of a becomes zero.
func cut[T any](a []T, i int) {
	copy(a[i:], a[i+1:])
	clear(a[len(a)-1:])
}

// move takes what a has from i on to the front of b.
func move[T any](b, a []T, i int) {
	copy(b, a[i:])
	clear(a[i:])
}
