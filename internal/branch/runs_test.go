package branch

import (
	"testing"

	"callerd/internal/queue"
)

// A date that comes again, however often and after whatever other days, gets a run that no date has had: ids never repeat.
func TestADateThatComesAgainGetsARunOfItsOwn(t *testing.T) {
	t.Parallel()
	s := NewState()
	had := map[queue.Day]bool{}
	for _, date := range []int32{20261130, 20261130, 20261201, 20261130, 20261130, 20261201, 20261202, 20261202, 20261201} {
		d := s.unused(queue.Day{Date: date})
		if had[d] {
			t.Errorf("%v comes twice", d)
		}
		had[d] = true
		s.latest, s.runs = max(s.latest, d.Date), max(s.runs, d.Run)
	}
}
