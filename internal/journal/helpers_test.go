package journal

import (
	"fmt"
	"testing"
	"time"

	"callerd/internal/queue"
)

var testTime = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

// mustOpen opens a journal and closes it after the test.
func mustOpen(t testing.TB, dir string) *Journal {
	t.Helper()
	j, err := Open(dir, Options{Now: func() time.Time { return testTime }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func mustAppend(t testing.TB, j *Journal, batch []*queue.Record) {
	t.Helper()
	if err := j.Append(batch); err != nil {
		t.Fatal(err)
	}
}

// issues makes n records that take a number each, from sequence first.
func issues(first uint64, n int) []*queue.Record {
	records := make([]*queue.Record, n)
	for i := range records {
		s := first + uint64(i)
		records[i] = &queue.Record{
			Sequence:    s,
			At:          testTime.UnixNano() + int64(s),
			Request:     queue.RequestID{1, 2, 3, byte(s), byte(s >> 8), byte(s >> 16), 15: 9},
			Fingerprint: s * 0x9E3779B97F4A7C15,
			Actor:       queue.Actor{Kind: queue.Kiosk, Name: "kiosk-1"},
			Outcomes: []queue.Outcome{&queue.TicketChanged{
				Verb:     queue.Issue,
				Ticket:   queue.TicketID{Day: queue.Day{Date: 20261130}, Category: "personal", N: uint32(s)},
				Number:   queue.FormatNumber("A", 3, uint32(s)),
				To:       queue.Waiting,
				Category: "personal",
			}},
		}
	}
	return records
}

// dayOpened makes the record that opens the n-th day.
func dayOpened(sequence uint64, n int) *queue.Record {
	return &queue.Record{Sequence: sequence, At: testTime.Add(time.Duration(n) * 24 * time.Hour).UnixNano(), Outcomes: []queue.Outcome{
		&queue.DayOpened{Day: queue.Day{Date: 20261100 + int32(n)}, Zone: "Asia/Shanghai"},
	}}
}

// days makes the records of some days with n records each, in one piece.
func days(count, n int) []*queue.Record {
	var all []*queue.Record
	for d := range count {
		first := uint64(d*n) + 1
		all = append(all, dayOpened(first, d+1))
		all = append(all, issues(first+1, n-1)...)
	}
	return all
}

// appendAll appends records in batches of at most size.
func appendAll(t testing.TB, j *Journal, records []*queue.Record, size int) {
	t.Helper()
	for len(records) > 0 {
		n := min(size, len(records))
		mustAppend(t, j, records[:n])
		records = records[n:]
	}
}

// replayed is all that Replay hands over.
func replayed(t testing.TB, j interface {
	Replay(func(*queue.Record) error) error
}) []*queue.Record {
	t.Helper()
	records, err := replay(j)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func replay(j interface {
	Replay(func(*queue.Record) error) error
}) (records []*queue.Record, err error) {
	err = j.Replay(func(r *queue.Record) error {
		records = append(records, r)
		return nil
	})
	return records, err
}

// readAll is every record of a journal that is not open.
func readAll(dir string) (records []*queue.Record, err error) {
	r, err := OpenReader(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return replay(r)
}

func mustReadAll(t testing.TB, dir string) []*queue.Record {
	t.Helper()
	records, err := readAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func sizeOf(n int) string { return fmt.Sprintf("batch=%d", n) }
