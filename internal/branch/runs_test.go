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

// A journal of before runs were counted has the run of its days.
func TestARunThatWasNotCountedDoesNotComeAgain(t *testing.T) {
	t.Parallel()
	s := NewState()
	d := queue.Day{Date: 20261130, Run: 3}
	err := s.Apply(&queue.Record{Sequence: 1, At: morning.UnixNano(), Outcomes: []queue.Outcome{&queue.DayOpened{Day: d, Latest: d.Date, Zone: "Asia/Shanghai"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.unused(queue.Day{Date: d.Date}); got.Run <= d.Run {
		t.Errorf("got %v after %v", got, d)
	}
}
