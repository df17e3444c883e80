package hub

// line is a queue of subscriptions, any of which may leave it. A subscription is in one line at most.
// The lock of the stream guards it.
//
// A subscription lines up when its cursor is at the head, and the head only grows: so the cursors
// in a line never fall, and if the first is not behind, none is.
type line struct {
	first, final *Subscription
}

// push puts s at the end, if it is not in a line yet.
func (l *line) push(s *Subscription) {
	if s.line != nil {
		return
	}
	s.line, s.before = l, l.final
	if l.final == nil {
		l.first = s
	} else {
		l.final.behind = s
	}
	l.final = s
}

// leave takes s out of the line that it is in, and reports whether it was in one.
func (s *Subscription) leave() bool {
	l := s.line
	if l == nil {
		return false
	}
	if s.before == nil {
		l.first = s.behind
	} else {
		s.before.behind = s.behind
	}
	if s.behind == nil {
		l.final = s.before
	} else {
		s.behind.before = s.before
	}
	s.line, s.before, s.behind = nil, nil, nil
	return true
}
