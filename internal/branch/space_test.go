package branch

import (
	"context"
	"errors"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"callerd/internal/queue"
)

// full refuses every Append as a full disk does.
func full([]*queue.Record) error { return &wrapped{syscall.ENOSPC} }

type wrapped struct{ error }

func (w *wrapped) Unwrap() error { return w.error }

// outcome collects what goroutines are told.
type outcome struct {
	reply TicketReply
	err   error
}

// issues starts an issue in the background.
func issues(h *hall, r Request) <-chan outcome {
	c := make(chan outcome, 1)
	go func() {
		reply, err := h.IssueTicket(h.tb.Context(), IssueRequest{Request: r, Category: "personal"})
		c <- outcome{reply, err}
	}()
	return c
}

// Case 40, at the branch.
func TestAFullDiskClosesAdmissionUntilThereIsRoom(t *testing.T) {
	for _, code := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t)
			a1, token := h.issue("personal"), h.counter(1)
			before := h.journal.durable()

			// One record is at the disk when it fills, another waits behind it.
			g := h.journal.gate()
			r1, r2 := h.request(), h.request()
			first := issues(h, r1)
			synctest.Wait()
			second := issues(h, r2)
			synctest.Wait()
			h.journal.hook(func([]*queue.Record) error { return code })
			g.through <- code
			for _, c := range []<-chan outcome{first, second} {
				if got := <-c; !errors.Is(got.err, ErrNoSpace) {
					t.Errorf("%v: got %v, want %v", code, got.err, ErrNoSpace)
				}
			}

			// All is refused, reads too; nothing is said that is not on disk.
			_, err := h.GetTicket(t.Context(), a1.ID)
			refused(t, err, ErrNoSpace)
			_, err = h.IssueTicket(t.Context(), IssueRequest{Request: h.request(), Category: "personal"})
			refused(t, err, ErrNoSpace)
			_, err = h.RenewSession(t.Context(), token)
			refused(t, err, ErrNoSpace)
			refused(t, h.Admitting(), ErrNoSpace)
			time.Sleep(time.Hour)
			if got := h.journal.durable(); got != before || h.Sequence() != before {
				t.Errorf("%v: %d is durable, the branch says %d, want %d", code, got, h.Sequence(), before)
			}

			h.journal.hook(nil)
			time.Sleep(retryEvery)
			synctest.Wait()
			if err := h.Admitting(); err != nil {
				t.Fatalf("%v: got %v after there was room, want admission", code, err)
			}
			// Both happened, in order, without gap; their retries tell it.
			for i, r := range []Request{r1, r2} {
				got := ok(h.IssueTicket(t.Context(), IssueRequest{Request: r, Category: "personal"}))(t)
				if !got.Replayed || got.Ticket.ID.N != uint32(i+2) {
					t.Errorf("%v: got %+v, want number %d replayed", code, got, i+2)
				}
			}
			if got := h.issue("personal").Number; got != "A004" {
				t.Errorf("%v: got %s, want A004", code, got)
			}
			noGap(t, h.records())
		})
	}
}

// noGap fails the test unless the sequences are 1, 2, 3.
func noGap(t *testing.T, records []*queue.Record) {
	t.Helper()
	for i, r := range records {
		if r.Sequence != uint64(i+1) {
			t.Fatalf("place %d of the journal has %d", i+1, r.Sequence)
		}
	}
}

func TestADiskThatFillsAgainAndAgainLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		var appends atomic.Int64
		h.journal.hook(func([]*queue.Record) error {
			if appends.Add(1)%3 != 0 { // two of three fail
				return syscall.ENOSPC
			}
			return nil
		})
		told := map[string]bool{}
		var asked []Request
		for range 50 {
			r := h.request()
			asked = append(asked, r)
			reply, err := h.IssueTicket(t.Context(), IssueRequest{Request: r, Category: "personal"})
			if err == nil {
				told[reply.Ticket.Number] = true
			}
			time.Sleep(3 * retryEvery)
		}
		h.journal.hook(nil)
		time.Sleep(retryEvery)
		numbers := map[string]bool{}
		for _, r := range asked {
			reply := ok(h.IssueTicket(t.Context(), IssueRequest{Request: r, Category: "personal"}))(t)
			if numbers[reply.Ticket.Number] {
				t.Errorf("%s twice", reply.Ticket.Number)
			}
			numbers[reply.Ticket.Number] = true
			delete(told, reply.Ticket.Number)
		}
		if len(told) != 0 || len(numbers) != 50 {
			t.Errorf("got %d numbers, %v told and not there, want 50 and none", len(numbers), told)
		}
		noGap(t, h.records())
	})
}

// While nothing can be written, few may decide; the others are told that the disk is behind, and nothing has changed.
func TestADiskThatIsBehind(t *testing.T) {
	for permits := 1; permits <= 3; permits++ {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, func(o *Options) { o.Permits = permits })
			g := h.journal.gate()
			var in []<-chan outcome
			for range permits {
				in = append(in, issues(h, h.request()))
			}
			synctest.Wait()
			begin := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			r := h.request()
			_, err := h.IssueTicket(ctx, IssueRequest{Request: r, Category: "personal"})
			refused(t, err, ErrJournalBehind)
			if got := time.Since(begin); got != 3*time.Second {
				t.Errorf("got the refusal after %v, want 3s", got)
			}
			waiting := issues(h, r) // with time enough
			synctest.Wait()
			g.open(h.journal)
			for i, c := range append(in, waiting) {
				if got := <-c; got.err != nil || got.reply.Replayed {
					t.Errorf("%d permits, issue %d: got %+v, %v, want a number", permits, i, got.reply, got.err)
				}
			}
			if got, want := h.issue("personal").ID.N, uint32(permits+2); got != want {
				t.Errorf("%d permits: got number %d, want %d", permits, got, want)
			}
		})
	}
}

// Who waits for a permit when the disk fills is told at once.
func TestAFullDiskTellsThoseWhoWaitForAPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, func(o *Options) { o.Permits = 1 })
		for range 2 { // the second time after admission opened again
			g := h.journal.gate()
			first := issues(h, h.request())
			synctest.Wait()
			second := issues(h, h.request())
			synctest.Wait()
			h.journal.hook(full)
			g.through <- syscall.ENOSPC
			synctest.Wait()
			for _, c := range []<-chan outcome{first, second} {
				select {
				case got := <-c:
					refused(t, got.err, ErrNoSpace)
				default:
					t.Fatal("still waiting while the disk is full")
				}
			}
			h.journal.hook(nil)
			time.Sleep(retryEvery)
			synctest.Wait()
		}
	})
}

func TestAStartOnAFullDiskFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &memory{before: full}
		begin := time.Now()
		b, err := Open(t.Context(), Options{Journal: j, Secret: make([]byte, 32), Config: config()})
		if !errors.Is(err, ErrNoSpace) || b != nil {
			t.Errorf("got %v, %v, want %v", b, err, ErrNoSpace)
		}
		if got := time.Since(begin); got > time.Second {
			t.Errorf("the start took %v", got)
		}
	})
}
