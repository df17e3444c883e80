package queue

// treap is a line made another way, to hold [Line] against: a binary tree by order key, and a heap by a hash of the key.
// It has nothing in common with it but what it promises.
type treap struct{ root *treapTicket }

// treapTicket is a ticket in a treap, a copy of the one in the line.
type treapTicket struct {
	Ticket
	left, right *treapTicket
	size, heap  uint32 // of the subtree; by hash of the key
	most, lazy  uint32 // overtakes: the most in the subtree; what the children have not been told
	eldest      int64  // earliest entry in the subtree
}

// Len returns the number of waiting tickets.
func (l *treap) Len() int { return l.root.count() }

// First returns the ticket with the smallest key, or nil.
func (l *treap) First() *treapTicket { return l.at(0) }

// at returns the ticket with i others before it, or nil.
func (l *treap) at(i int) *treapTicket {
	for t := l.root; t != nil; {
		t.push()
		switch n := t.left.count(); {
		case i < n:
			t = t.left
		case i == n:
			return t
		default:
			i, t = i-n-1, t.right
		}
	}
	return nil
}

// Ahead returns how many tickets have keys before k.
func (l *treap) Ahead(k OrderKey) int {
	n := 0
	for t := l.root; t != nil; {
		if t.Key.Before(k) {
			n += t.left.count() + 1
			t = t.right
		} else {
			t = t.left
		}
	}
	return n
}

// Enter adds t by its key, which no other ticket of the line has.
func (l *treap) Enter(t *treapTicket) {
	*t = treapTicket{Ticket: t.Ticket, heap: heapOrder(t.Key)}
	l.root = insert(l.root, t.pull())
}

// Leave takes t out, its count of overtakes made up, and reports whether it was there.
func (l *treap) Leave(t *treapTicket) bool {
	root, ok := remove(l.root, t)
	l.root = root
	return ok
}

// Each calls f for every ticket in call order until f returns false.
func (l *treap) Each(f func(*treapTicket) bool) { l.root.each(f) }

// Settle makes up t's count of overtakes, which is otherwise kept for whole subtrees.
func (l *treap) Settle(t *treapTicket) {
	for n := l.root; n != nil && n != t; {
		n.push()
		if t.Key.Before(n.Key) {
			n = n.left
		} else {
			n = n.right
		}
	}
}

// PassOver counts one overtake for every ticket with a key before k.
func (l *treap) PassOver(k OrderKey) { passOver(l.root, k) }

// Overdue returns the first ticket that was overtaken so often or entered so early (Unix ns), or nil. An overtakes of
// 0 and an entered of 0 are no bound.
func (l *treap) Overdue(overtakes uint32, entered int64) *treapTicket {
	overdue := func(t *treapTicket, most uint32, eldest int64) bool {
		return t != nil && (overtakes > 0 && most >= overtakes || entered > 0 && eldest <= entered)
	}
	t := l.root
	if t == nil || !overdue(t, t.most, t.eldest) {
		return nil
	}
	for {
		t.push()
		switch {
		case t.left != nil && overdue(t.left, t.left.most, t.left.eldest):
			t = t.left
		case overdue(t, t.Overtaken, t.Entered):
			return t
		default:
			t = t.right
		}
	}
}

func (t *treapTicket) each(f func(*treapTicket) bool) bool {
	if t == nil {
		return true
	}
	t.push()
	return t.left.each(f) && f(t) && t.right.each(f)
}

func (t *treapTicket) count() int {
	if t == nil {
		return 0
	}
	return int(t.size)
}

// add counts overtakes for a whole subtree.
func (t *treapTicket) add(n uint32) {
	if t != nil {
		t.Overtaken += n
		t.most += n
		t.lazy += n
	}
}

// push hands the subtree's overtakes on to the children.
func (t *treapTicket) push() {
	if t.lazy != 0 {
		t.left.add(t.lazy)
		t.right.add(t.lazy)
		t.lazy = 0
	}
}

// pull makes up what t knows of its subtree.
func (t *treapTicket) pull() *treapTicket {
	t.size, t.most, t.eldest = uint32(t.left.count()+t.right.count()+1), t.Overtaken, t.Entered
	for _, c := range [...]*treapTicket{t.left, t.right} {
		if c != nil {
			t.most, t.eldest = max(t.most, c.most), min(t.eldest, c.eldest)
		}
	}
	return t
}

func passOver(t *treapTicket, k OrderKey) {
	if t == nil {
		return
	}
	t.push()
	if t.Key.Before(k) {
		t.left.add(1)
		t.Overtaken++
		passOver(t.right, k)
	} else {
		passOver(t.left, k)
	}
	t.pull()
}

func insert(root, t *treapTicket) *treapTicket {
	if root == nil {
		return t
	}
	root.push()
	if t.heap > root.heap {
		t.left, t.right = split(root, t.Key)
		return t.pull()
	}
	if t.Key.Before(root.Key) {
		root.left = insert(root.left, t)
	} else {
		root.right = insert(root.right, t)
	}
	return root.pull()
}

// split parts a subtree into the keys before k and the others.
func split(root *treapTicket, k OrderKey) (before, others *treapTicket) {
	if root == nil {
		return nil, nil
	}
	root.push()
	if root.Key.Before(k) {
		root.right, others = split(root.right, k)
		return root.pull(), others
	}
	before, root.left = split(root.left, k)
	return before, root.pull()
}

func remove(root, t *treapTicket) (*treapTicket, bool) {
	if root == nil {
		return nil, false
	}
	root.push()
	if root == t {
		return merge(t.left, t.right), true
	}
	var ok bool
	if t.Key.Before(root.Key) {
		root.left, ok = remove(root.left, t)
	} else {
		root.right, ok = remove(root.right, t)
	}
	return root.pull(), ok
}

// merge joins two subtrees, every key of a before every key of b.
func merge(a, b *treapTicket) *treapTicket {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.heap > b.heap:
		a.push()
		a.right = merge(a.right, b)
		return a.pull()
	default:
		b.push()
		b.left = merge(a, b.left)
		return b.pull()
	}
}

// heapOrder hashes a key (the finaliser of splitmix64).
func heapOrder(k OrderKey) uint32 {
	x := uint64(k.Entry)*0x9e3779b97f4a7c15 + uint64(k.Sub)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return uint32(x >> 32)
}
