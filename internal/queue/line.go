package queue

// line is the waiting tickets of one lane in call order: a treap by order key that counts its subtrees.
// All of insert, remove, first and ahead are O(log n), append and take included, so a full hall
// costs no more than an empty one. The heap order is a hash of the key: no random source, and the same
// shape after a replay. The zero value is an empty line.
type line struct{ root *Live }

// len returns the number of waiting tickets.
func (l *line) len() int { return l.root.count() }

// first returns the ticket to be called next, or nil.
func (l *line) first() *Live {
	t := l.root
	if t == nil {
		return nil
	}
	for t.left != nil {
		t = t.left
	}
	return t
}

// ahead returns how many tickets are called before one with key k.
func (l *line) ahead(k OrderKey) int {
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

// insert adds t by its key, which no other ticket of the line has.
func (l *line) insert(t *Live) {
	t.left, t.right, t.size, t.heap = nil, nil, 1, heapOrder(t.Key)
	l.root = insert(l.root, t)
}

// remove takes t out and reports whether it was there.
func (l *line) remove(t *Live) bool {
	root, ok := remove(l.root, t)
	l.root = root
	t.left, t.right, t.size = nil, nil, 0
	return ok
}

// each calls f for every ticket in call order until f returns false.
func (l *line) each(f func(*Live) bool) { l.root.each(f) }

func (t *Live) each(f func(*Live) bool) bool {
	return t == nil || t.left.each(f) && f(t) && t.right.each(f)
}

func (t *Live) count() int {
	if t == nil {
		return 0
	}
	return int(t.size)
}

func (t *Live) recount() *Live {
	t.size = uint32(t.left.count() + t.right.count() + 1)
	return t
}

func insert(root, t *Live) *Live {
	if root == nil {
		return t
	}
	if t.heap > root.heap {
		t.left, t.right = split(root, t.Key)
		return t.recount()
	}
	if t.Key.Before(root.Key) {
		root.left = insert(root.left, t)
	} else {
		root.right = insert(root.right, t)
	}
	return root.recount()
}

// split parts a subtree into the keys before k and the others.
func split(root *Live, k OrderKey) (before, others *Live) {
	if root == nil {
		return nil, nil
	}
	if root.Key.Before(k) {
		root.right, others = split(root.right, k)
		return root.recount(), others
	}
	before, root.left = split(root.left, k)
	return before, root.recount()
}

func remove(root, t *Live) (*Live, bool) {
	if root == nil {
		return nil, false
	}
	if root == t {
		return merge(t.left, t.right), true
	}
	var ok bool
	if t.Key.Before(root.Key) {
		root.left, ok = remove(root.left, t)
	} else {
		root.right, ok = remove(root.right, t)
	}
	return root.recount(), ok
}

// merge joins two subtrees, every key of a before every key of b.
func merge(a, b *Live) *Live {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.heap > b.heap:
		a.right = merge(a.right, b)
		return a.recount()
	default:
		b.left = merge(a, b.left)
		return b.recount()
	}
}

// heapOrder hashes a key (the finaliser of splitmix64).
func heapOrder(k OrderKey) uint32 {
	x := uint64(k.Entry)*0x9e3779b97f4a7c15 + uint64(k.Sub)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return uint32(x >> 32)
}
