package queue

// leafSize is how many tickets a leaf has at most: it fills what the allocator has for its size.
const leafSize = 63

// leaf is neighbours in a line. What the line searches and counts stands in rows of its own here, so a search does not
// touch the tickets, which lie all over the day; only when the eldest leaves is the next one looked for among them.
type leaf struct {
	n         int
	keys      [leafSize]OrderKey
	overtaken [leafSize]uint32
	tickets   [leafSize]*Live
}

func (l *leaf) len() int { return l.n }

func (l *leaf) full() bool { return l.n == leafSize }

func (l *leaf) total() sum {
	s := nobody
	for i := range l.n {
		s.with(sum{size: 1, most: l.overtaken[i], eldest: l.tickets[i].Entered})
	}
	return s
}

// ahead is also the place of k in the leaf.
func (l *leaf) ahead(k OrderKey) int { return before(l.keys[:l.n], k, 0) }

func (l *leaf) at(i int, owed uint32) *Live {
	t := l.tickets[i]
	t.Overtaken = l.overtaken[i] + owed
	return t
}

func (l *leaf) settle(t *Live, owed uint32) {
	if i := l.ahead(t.Key); i < l.n && l.tickets[i] == t {
		l.at(i, owed)
	}
}

func (l *leaf) each(owed uint32, f func(*Live) bool) bool {
	for i := range l.n {
		if !f(l.at(i, owed)) {
			return false
		}
	}
	return true
}

func (l *leaf) overdue(b bound, owed uint32) *Live {
	for i := range l.n {
		if b.met(l.overtaken[i]+owed, l.tickets[i].Entered) {
			return l.at(i, owed)
		}
	}
	return nil
}

func (l *leaf) enter(t *Live, _ bool, s *sum) {
	i := l.ahead(t.Key)
	l.n++
	put(l.keys[:l.n], i, t.Key)
	put(l.overtaken[:l.n], i, t.Overtaken)
	put(l.tickets[:l.n], i, t)
	s.with(sum{size: 1, most: t.Overtaken, eldest: t.Entered})
}

func (l *leaf) leave(t *Live, s *sum) bool {
	i := l.ahead(t.Key)
	if i == l.n || l.tickets[i] != t {
		return false
	}
	most := l.overtaken[i]
	l.at(i, 0)
	cut(l.keys[:l.n], i)
	cut(l.overtaken[:l.n], i)
	cut(l.tickets[:l.n], i)
	l.n--
	s.size--
	if most == s.most {
		s.most = l.most(most)
	}
	if t.Entered == s.eldest {
		s.eldest = l.eldest(t.Entered)
	}
	return true
}

// most looks for the most overtakes, which are at most so many.
func (l *leaf) most(limit uint32) (most uint32) {
	for i := 0; i < l.n && most < limit; i++ {
		most = max(most, l.overtaken[i])
	}
	return most
}

// eldest looks for the earliest entry, which is no earlier than that.
func (l *leaf) eldest(limit int64) int64 {
	eldest := nobody.eldest
	for i := 0; i < l.n && eldest > limit; i++ {
		eldest = min(eldest, l.tickets[i].Entered)
	}
	return eldest
}

func (l *leaf) passOver(k OrderKey, s *sum) {
	for i := range l.ahead(k) {
		l.overtaken[i]++
		s.most = max(s.most, l.overtaken[i])
	}
}

func (l *leaf) add(overtakes uint32) {
	for i := range l.n {
		l.overtaken[i] += overtakes
	}
}

// split parts the leaf in the middle. At the end of the line it stays as it is, for nobody comes between any more.
func (l *leaf) split(k OrderKey, last bool) (node, OrderKey) {
	right := new(leaf)
	if last && l.keys[l.n-1].Before(k) {
		return right, k
	}
	i := l.n / 2
	right.n = l.n - i
	move(right.keys[:], l.keys[:l.n], i)
	move(right.overtaken[:], l.overtaken[:l.n], i)
	move(right.tickets[:], l.tickets[:l.n], i)
	l.n = i
	return right, right.keys[0]
}

func (l *leaf) join(right node, _ OrderKey) {
	r := right.(*leaf)
	copy(l.keys[l.n:], r.keys[:r.n])
	copy(l.overtaken[l.n:], r.overtaken[:r.n])
	copy(l.tickets[l.n:], r.tickets[:r.n])
	l.n += r.n
}
