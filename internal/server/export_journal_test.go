package server

import (
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callerd/internal/journal"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

func TestTheExportedJournalIsTheOneOnDisk(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	for i := range 50 {
		r.issue(t, i, "personal")
	}
	var want []*queue.Record
	if err := r.journal.Replay(func(v *queue.Record) error { want = append(want, v); return nil }); err != nil {
		t.Fatal(err)
	}
	got, first := r.export(t, 0)
	if m := r.opts.Meta; first.Epoch != m.Epoch || first.BranchId != m.BranchID || first.Format != m.Format {
		t.Errorf("got %v, want the journal's names %v", first, m)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-on disk +exported\n%s", diff)
	}
	tail, _ := r.export(t, 20)
	if len(tail) == 0 || len(tail) >= len(got) || tail[len(tail)-1].Sequence != got[len(got)-1].Sequence || tail[0].Sequence > 20 {
		t.Errorf("got %d records from the batch of 20 on", len(tail))
	}
	if none, _ := r.export(t, 1<<64-1); len(none) != 0 {
		t.Errorf("got %d records behind the end", len(none))
	}
}

// export is every record of ExportJournal, and its first message.
func (r *rig) export(t *testing.T, from uint64) (records []*queue.Record, first *pb.ExportJournalResponse) {
	t.Helper()
	s, err := r.hall.ExportJournal(t.Context(), &pb.ExportJournalRequest{From: from})
	if err != nil {
		t.Fatal(err)
	}
	for {
		m, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return records, first
		}
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = m
		}
		for _, b := range m.Batches {
			batch, err := journal.DecodeBatch(b.First, b.Value)
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, batch...)
		}
	}
}

func TestPagesOfAListFollowOneAnother(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	for i := range 7 {
		r.issue(t, i, "personal")
		r.issue(t, 10+i, "corporate")
	}
	var numbers []string
	req := &pb.ListTicketsRequest{PageSize: 4}
	for pages := 1; ; pages++ {
		v, err := r.hall.ListTickets(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, ticket := range v.Tickets {
			numbers = append(numbers, ticket.Number)
		}
		if req.PageToken = v.NextPageToken; req.PageToken == "" {
			break
		}
		if pages > 4 {
			t.Fatalf("got %d pages", pages)
		}
	}
	want := []string{"A001", "A002", "A003", "A004", "A005", "A006", "A007", "B001", "B002", "B003", "B004", "B005", "B006", "B007"}
	if diff := cmp.Diff(want, numbers); diff != "" {
		t.Error(diff)
	}
}
