package queue

import (
	"fmt"
	"testing"
)

// shape is how a line's tree looks.
type shape struct{ depth, leaves, forks int }

// checkShape tells what is wrong with the tree of a line.
func checkShape(l *Line) (shape, error) {
	if l.root == nil {
		return shape{}, nil
	}
	if f, is := l.root.(*fork); is && f.n < 2 {
		return shape{}, fmt.Errorf("the root has %d nodes", f.n)
	}
	if l.sum.owed != 0 {
		return shape{}, fmt.Errorf("the root is owed %d", l.sum.owed)
	}
	s, err := checkNode(l.root, l.sum, nil, nil)
	if err == nil && s.leaves > 2+3*l.Len()/leafSize { // one third full at worst: one ticket, and the next leaf just split
		err = fmt.Errorf("%d leaves for %d tickets", s.leaves, l.Len())
	}
	return s, err
}

// checkNode looks at a node whose keys are not before one and before the other.
func checkNode(n node, s sum, from, to *OrderKey) (shape, error) {
	if got := n.total(); got.size != s.size || got.most+s.owed != s.most && s.size > 0 || got.eldest != s.eldest {
		return shape{}, fmt.Errorf("got the sum %+v, counted %+v", s, got)
	}
	switch n := n.(type) {
	case *leaf:
		for i, k := range n.keys[:n.n] {
			if from != nil && k.Before(*from) || to != nil && !k.Before(*to) {
				return shape{}, fmt.Errorf("%v is in the wrong leaf", k)
			}
			if t := n.tickets[i]; t.Key != k {
				return shape{}, fmt.Errorf("%v is in the leaf as %v", t.Key, k)
			}
			from, i = &n.keys[i], i+1
			if i < n.n && !k.Before(n.keys[i]) {
				return shape{}, fmt.Errorf("%v is before %v", k, n.keys[i])
			}
		}
		for i := n.n; i < leafSize; i++ {
			if n.tickets[i] != nil {
				return shape{}, fmt.Errorf("%v is kept from the collector", n.tickets[i].Key)
			}
		}
		return shape{1, 1, 0}, nil
	case *fork:
		out := shape{forks: 1}
		for i := range n.n {
			if n.sums[i].size == 0 {
				return shape{}, fmt.Errorf("node %d of %d is empty", i, n.n)
			}
			if _, low := n.nodes[i].(*leaf); low != n.low {
				return shape{}, fmt.Errorf("node %d: low is %t", i, n.low)
			}
			before, behind := from, to
			if i > 0 {
				before = &n.leads[i]
			}
			if i < n.n-1 {
				behind = &n.leads[i+1]
			}
			s, err := checkNode(n.nodes[i], n.sums[i], before, behind)
			if err != nil {
				return shape{}, err
			}
			if i > 0 && s.depth != out.depth-1 {
				return shape{}, fmt.Errorf("node %d is %d deep, those before %d", i, s.depth, out.depth-1)
			}
			out = shape{s.depth + 1, out.leaves + s.leaves, out.forks + s.forks}
		}
		for i := n.n; i < forkSize; i++ {
			if n.nodes[i] != nil {
				return shape{}, fmt.Errorf("node %d is kept from the collector", i)
			}
		}
		return out, nil
	}
	return shape{}, fmt.Errorf("a %T", n)
}

// Who was passed over while the line was long keeps it when one leaf is left, though nobody looked at that leaf since.
func TestTheLastLeafIsToldWhatItIsOwed(t *testing.T) {
	l, tickets := fullLine(leafSize + 1)
	last := tickets[leafSize]
	l.PassOver(last.Key)
	l.Leave(last)
	if got, err := checkShape(&l); err != nil || got.depth != 1 {
		t.Fatalf("got %+v and %v, want one leaf", got, err)
	}
	if first := l.First(); first.Overtaken != 1 {
		t.Errorf("got %d overtakes, want 1", first.Overtaken)
	}
}

// A leaf that is full parts in the middle where more may come between: only the last of the line does not.
func TestManyAtOnePlaceFillTheirLeaves(t *testing.T) {
	for _, behind := range []int{1, 2, forkSize - 2, forkSize - 1} { // leaves; one of these is the last of its fork
		leaves := 3 * forkSize
		l, _ := fullLine(leaves * leafSize)
		for n := range int64(10 * leafSize) {
			l.Enter(&Live{Standing: Standing{Key: OrderKey{Entry: int64(behind * leafSize), Sub: 1e6 - n}}}) // before all who came so
		}
		got, err := checkShape(&l)
		if err != nil {
			t.Fatal(err)
		}
		if most := leaves + 10*2 + 2; got.leaves > most {
			t.Errorf("got %d leaves, want at most %d", got.leaves, most)
		}
	}
}

// The first leaf of a fork empties, and somebody comes back to where it was: the fork still has him when it is joined to the one before.
func TestWhoComesBeforeTheFirstOfAForkIsFound(t *testing.T) {
	l, _ := fullLine(3 * forkSize * leafSize)
	fork := l.root.(*fork).nodes[1].(*fork)
	first := fork.nodes[0].(*leaf)
	v := first.tickets[0]
	for first.n > 0 {
		l.Leave(first.tickets[0])
	}
	l.Enter(v)
	for i := 0; l.Len() > 1; i++ {
		at := i * 7919 % l.Len()
		if l.at(at) == v {
			at = (at + 1) % l.Len()
		}
		l.Leave(l.at(at))
		if i%100 == 0 || l.Len() < 100 {
			if _, err := checkShape(&l); err != nil {
				t.Fatalf("%d left: %v", l.Len(), err)
			}
		}
	}
	if l.First() != v {
		t.Errorf("got %v, want %v", l.First(), v)
	}
}
