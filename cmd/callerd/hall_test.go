package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "callerd/proto/callerd/v1"
)

// hall is the people and machines of a branch. They outlive the daemon: whoever got no answer asks again with the
// same request id, and all together they know what must be true.
type hall struct {
	t       *testing.T
	kiosks  []*kiosk
	tellers []*teller

	mu       sync.Mutex
	numbers  map[string]string // acknowledged: ticket id to number
	byNumber map[string]string // and back
	highest  uint64            // sequence that a reply has named
	acks     int
}

func newHall(t *testing.T, rnd *mathrand.Rand, kiosks, tellers int) *hall {
	h := &hall{t: t, numbers: map[string]string{}, byNumber: map[string]string{}}
	for range kiosks {
		h.kiosks = append(h.kiosks, &kiosk{hall: h, rnd: fork(rnd)})
	}
	for i := range tellers {
		h.tellers = append(h.tellers, &teller{hall: h, counter: uint32(i + 1), rnd: fork(rnd)})
	}
	return h
}

func fork(rnd *mathrand.Rand) *mathrand.Rand { return mathrand.New(mathrand.NewPCG(rnd.Uint64(), 0)) }

// work lets everybody work until enough replies have come, then calls done, and goes on until the daemon does not
// answer any more. With enough 0, done is called at once.
func (h *hall) work(conn *grpc.ClientConn, enough int, done func()) {
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(h.t.Context())
	defer stop()
	left, reached := enough, make(chan struct{})
	count := func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.acks++
		if left--; left == 0 {
			close(reached)
		}
	}
	loop := func(step func(context.Context, *grpc.ClientConn) error) {
		for ctx.Err() == nil {
			if err := step(ctx, conn); err != nil {
				if !unanswered(err) {
					h.t.Error(err)
				}
				return
			}
			count()
		}
	}
	for _, k := range h.kiosks {
		all.Go(func() { loop(k.step) })
	}
	for _, p := range h.tellers {
		all.Go(func() { loop(p.step) })
	}
	if enough > 0 {
		gone := make(chan struct{})
		go func() { all.Wait(); close(gone) }()
		select {
		case <-reached:
		case <-gone:
		}
	}
	done()
	all.Wait()
}

// settle lets everybody who waits for an answer ask again, until there is nobody.
func (h *hall) settle(conn *grpc.ClientConn) {
	var all sync.WaitGroup
	settle := func(p *pending) {
		all.Go(func() {
			eventually(h.t, "ask again", func() error {
				err := p.again(h.t.Context(), conn)
				if err != nil && !unanswered(err) {
					h.t.Error(err)
					return nil
				}
				return err
			})
		})
	}
	for _, k := range h.kiosks {
		settle(&k.pending)
	}
	for _, p := range h.tellers {
		settle(&p.pending)
	}
	all.Wait()
}

// unanswered tells whether an error means that the outcome is not known yet.
func unanswered(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded:
		return true
	}
	return errors.Is(err, context.Canceled)
}

// reason is the word of a refusal, and whether it came with RetryInfo.
func reason(err error) (word string, retry bool) {
	for _, d := range status.Convert(err).Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			word = d.Reason
		case *errdetails.RetryInfo:
			retry = true
		}
	}
	return word, retry
}

// issued takes note of a number that has been handed out.
func (h *hall) issued(ticket *pb.Ticket) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if number, again := h.numbers[ticket.Id]; again {
		h.t.Errorf("ticket %s was handed out twice, as %s and %s", ticket.Id, number, ticket.Number)
	}
	if id, again := h.byNumber[ticket.Number]; again {
		h.t.Errorf("number %s was handed out twice, for %s and %s", ticket.Number, id, ticket.Id)
	}
	h.numbers[ticket.Id], h.byNumber[ticket.Number] = ticket.Number, ticket.Id
}

func (h *hall) saw(sequence uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.highest = max(h.highest, sequence)
}

// command asks the daemon for something and takes note of the answer. It can be given again: it is the same request.
type command func(context.Context, *grpc.ClientConn) error

// pending is a command that got no answer yet.
type pending struct{ ask command }

// again asks again, if there is anything to ask.
func (p *pending) again(ctx context.Context, conn *grpc.ClientConn) error {
	if p.ask == nil {
		return nil
	}
	err := p.ask(ctx, conn)
	if err == nil {
		p.ask = nil
	}
	return err
}

// kiosk hands out numbers.
type kiosk struct {
	pending
	hall *hall
	rnd  *mathrand.Rand
}

func (k *kiosk) step(ctx context.Context, conn *grpc.ClientConn) error {
	if k.ask == nil {
		category := "personal"
		if k.rnd.IntN(3) == 0 {
			category = "corporate"
		}
		k.ask = k.hall.issue(category)
	}
	return k.again(ctx, conn)
}

// issue takes a number.
func (h *hall) issue(category string) command {
	req := &pb.IssueTicketRequest{RequestId: uuid(), Category: category, Kiosk: "kiosk"}
	return func(ctx context.Context, conn *grpc.ClientConn) error {
		r, err := pb.NewKioskServiceClient(conn).IssueTicket(ctx, req)
		if err == nil {
			h.saw(r.Sequence)
			h.issued(r.Ticket)
		}
		return err
	}
}

// uuid is a new random request id.
func uuid() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
