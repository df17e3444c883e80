package queue

// forkSize is how many nodes a fork has at most.
const forkSize = 64

// fork is neighbouring nodes of a line, all leaves or all forks, none of them empty once an operation has ended.
type fork struct {
	n     int
	low   bool               // its nodes are leaves
	leads [forkSize]OrderKey // no key of a node is before its lead, all keys before the node are; the first is not looked at
	sums  [forkSize]sum
	nodes [forkSize]node
}

func (f *fork) len() int { return f.n }

func (f *fork) full() bool { return f.n == forkSize }

func (f *fork) total() sum {
	s := nobody
	for i := range f.n {
		s.with(f.sums[i])
	}
	return s
}

// find returns the node that has k, if any has.
func (f *fork) find(k OrderKey) int { return before(f.leads[1:f.n], k, 1) }

func (f *fork) ahead(k OrderKey) int {
	i, n := f.find(k), uint32(0)
	for j := range i {
		n += f.sums[j].size
	}
	return int(n) + f.nodes[i].ahead(k)
}

func (f *fork) at(i int, owed uint32) *Live {
	j := 0
	for ; i >= int(f.sums[j].size); j++ {
		i -= int(f.sums[j].size)
	}
	return f.nodes[j].at(i, owed+f.sums[j].owed)
}

func (f *fork) settle(t *Live, owed uint32) {
	i := f.find(t.Key)
	f.nodes[i].settle(t, owed+f.sums[i].owed)
}

func (f *fork) each(owed uint32, do func(*Live) bool) bool {
	for i := range f.n {
		if !f.nodes[i].each(owed+f.sums[i].owed, do) {
			return false
		}
	}
	return true
}

func (f *fork) overdue(b bound, owed uint32) *Live {
	for i := range f.n {
		if s := &f.sums[i]; b.met(s.most+owed, s.eldest) {
			return f.nodes[i].overdue(b, owed+s.owed)
		}
	}
	return nil
}

// tell hands on to a node what is owed to it.
func (f *fork) tell(i int) {
	if s := &f.sums[i]; s.owed != 0 {
		f.nodes[i].add(s.owed)
		s.owed = 0
	}
}

func (f *fork) add(overtakes uint32) { f.addTo(f.n, overtakes) }

// addTo adds overtakes to the first n nodes.
func (f *fork) addTo(n int, overtakes uint32) {
	for i := range n {
		f.sums[i].most += overtakes
		f.sums[i].owed += overtakes
	}
}

func (f *fork) passOver(k OrderKey, s *sum) {
	i := f.find(k)
	f.addTo(i, 1)
	f.tell(i)
	f.nodes[i].passOver(k, &f.sums[i])
	s.most = f.most(s.most + 1)
}

func (f *fork) enter(t *Live, last bool, s *sum) {
	i := f.find(t.Key)
	if f.nodes[i].full() {
		f.part(i, t.Key, last && i == f.n-1)
		i = f.find(t.Key)
	}
	f.tell(i)
	f.nodes[i].enter(t, last && i == f.n-1, &f.sums[i])
	s.with(sum{size: 1, most: t.Overtaken, eldest: t.Entered})
}

func (f *fork) leave(t *Live, s *sum) bool {
	i := f.find(t.Key)
	f.tell(i)
	was := f.sums[i]
	if !f.nodes[i].leave(t, &f.sums[i]) {
		return false
	}
	if f.sums[i].size == 0 {
		f.cut(i)
	} else {
		f.joinBeside(i)
	}
	s.size--
	if was.most == s.most {
		s.most = f.most(was.most)
	}
	if was.eldest == s.eldest {
		s.eldest = f.eldest(was.eldest)
	}
	return true
}

// most looks for the most overtakes, which are at most so many.
func (f *fork) most(limit uint32) (most uint32) {
	for i := 0; i < f.n && most < limit; i++ {
		most = max(most, f.sums[i].most)
	}
	return most
}

// eldest looks for the earliest entry, which is no earlier than that.
func (f *fork) eldest(limit int64) int64 {
	eldest := nobody.eldest
	for i := 0; i < f.n && eldest > limit; i++ {
		eldest = min(eldest, f.sums[i].eldest)
	}
	return eldest
}

// part makes room for k in a full node.
func (f *fork) part(i int, k OrderKey, last bool) {
	f.tell(i)
	right, lead := f.nodes[i].split(k, last)
	f.n++
	put(f.leads[:f.n], i+1, lead)
	put(f.sums[:f.n], i+1, right.total())
	put(f.nodes[:f.n], i+1, right)
	f.sums[i] = f.nodes[i].total()
}

// split parts the fork in the middle, at the end of the line behind all but the last node.
func (f *fork) split(_ OrderKey, last bool) (node, OrderKey) {
	i := f.n / 2
	if last {
		i = f.n - 1
	}
	right := &fork{n: f.n - i, low: f.low}
	move(right.leads[:], f.leads[:f.n], i)
	move(right.sums[:], f.sums[:f.n], i)
	move(right.nodes[:], f.nodes[:f.n], i)
	f.n = i
	return right, right.leads[0]
}

func (f *fork) cut(i int) {
	cut(f.leads[:f.n], i)
	cut(f.sums[:f.n], i)
	cut(f.nodes[:f.n], i)
	f.n--
}

// joinBeside makes one node of i and a neighbour, if it is not nearly full then: else the next ticket would part it again.
func (f *fork) joinBeside(i int) {
	limit := forkSize - forkSize/8
	if f.low {
		limit = leafSize - leafSize/8
	}
	for _, left := range [...]int{i, i - 1} {
		if right := left + 1; left >= 0 && right < f.n && f.width(left)+f.width(right) <= limit {
			f.tell(left)
			f.tell(right)
			f.nodes[left].join(f.nodes[right], f.leads[right])
			f.sums[left].with(f.sums[right])
			f.cut(right)
			return
		}
	}
}

// width is the len of a node; a leaf's is known without a look at it.
func (f *fork) width(i int) int {
	if f.low {
		return int(f.sums[i].size)
	}
	return f.nodes[i].len()
}

func (f *fork) join(right node, lead OrderKey) {
	r := right.(*fork)
	copy(f.leads[f.n:], r.leads[:r.n])
	f.leads[f.n] = lead
	copy(f.sums[f.n:], r.sums[:r.n])
	copy(f.nodes[f.n:], r.nodes[:r.n])
	f.n += r.n
}
