package main

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"callerd/internal/branch"
	"callerd/internal/journal"
	"callerd/internal/queue"
)

// lateness notes how long after its deadline each ticket's end was on disk and published.
type lateness struct {
	mu   sync.Mutex
	due  map[queue.TicketID]time.Time
	late []time.Duration
	all  chan struct{} // closed when so many have fired
	want int
}

func (l *lateness) publish(batch []*queue.Record) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range batch {
		for _, o := range r.Outcomes {
			c, ok := o.(*queue.TicketChanged)
			if !ok {
				continue
			}
			if c.Verb == queue.Reserve {
				l.due[c.Ticket] = time.Unix(0, c.Deadline)
			}
			if c.Verb == queue.Expire {
				l.late = append(l.late, now.Sub(l.due[c.Ticket]))
				if len(l.late) == l.want {
					close(l.all)
				}
			}
		}
	}
}

// How late deadlines fire, in real time: measured and told, not judged but for this, that none fires early. More of them:
// CALLERD_DEADLINES=10000.
func TestHowLateDeadlinesFire(t *testing.T) {
	n := rounds(t, "CALLERD_DEADLINES", 200)
	for _, c := range []struct {
		what  string
		every time.Duration // between two deadlines; 0: as fast as they can be set
	}{{"200 a second", 5 * time.Millisecond}, {"as many at once as can be set", 0}} {
		j, err := journal.Open(t.TempDir(), journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		l := &lateness{due: map[queue.TicketID]time.Time{}, all: make(chan struct{}), want: n}
		conf := defaultConfig()
		conf.zone = hallZone(t, configFile(t))
		bc := conf.branch()
		bc.Policies["personal"] = branch.Policy{CheckInWithin: time.Second}
		b, err := branch.Open(t.Context(), branch.Options{Journal: j, Publish: l.publish, Secret: j.Meta().Secret, Config: bc})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var driving, setting sync.WaitGroup
		driving.Go(func() { driveDeadlines(ctx, b, slog.New(slog.NewTextHandler(io.Discard, nil))) })
		set := func(i int) {
			r := branch.Request{ID: queue.RequestID{byte(i), byte(i >> 8), byte(i >> 16), 1}}
			if _, err := b.IssueTicket(t.Context(), branch.IssueRequest{Request: r, Category: "personal", Reserve: true}); err != nil {
				t.Error(err)
			}
		}
		if c.every > 0 {
			tick := time.NewTicker(c.every)
			for i := range n {
				<-tick.C
				setting.Go(func() { set(i) })
			}
			tick.Stop()
		} else {
			for w := range 64 {
				setting.Go(func() {
					for i := w; i < n; i += 64 {
						set(i)
					}
				})
			}
		}
		setting.Wait()
		<-l.all
		stop()
		driving.Wait()
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		slices.Sort(l.late)
		at := func(p float64) time.Duration {
			return l.late[int(p*float64(len(l.late)-1))].Round(10 * time.Microsecond)
		}
		t.Logf("%d deadlines, %s: late by p50 %v, p99 %v, max %v", n, c.what, at(0.5), at(0.99), at(1))
		if l.late[0] < 0 {
			t.Errorf("one fired %v early", -l.late[0])
		}
	}
}
