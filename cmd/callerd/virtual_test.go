package main

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"callerd/internal/branch"
	"callerd/internal/queue"
	"callerd/internal/server"
	pb "callerd/proto/callerd/v1"
)

// virtual is a hall that a configuration makes, over real gRPC, in a time of its own.
type virtual struct {
	t       *testing.T
	branch  *branch.Branch
	kiosk   pb.KioskServiceClient
	counter pb.CounterServiceClient
	hall    pb.BranchServiceClient
	desk    pb.ResourceServiceClient

	mu  sync.Mutex
	now time.Time
}

// noJournal keeps nothing.
type noJournal struct{}

func (noJournal) Append([]*queue.Record) error           { return nil }
func (noJournal) Replay(func(*queue.Record) error) error { return nil }
func (v *virtual) clock() time.Time                      { v.mu.Lock(); defer v.mu.Unlock(); return v.now }

// monday is 09:00 in Shanghai.
var monday = time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC)

// serveText serves a configuration's text until the test ends.
func serveText(t *testing.T, text string) *virtual {
	t.Helper()
	c, err := parseConfig("hall.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c.zone = c.Branch.TimeZone
	v := &virtual{t: t, now: monday}
	s := server.New(server.Options{Page: http.NotFoundHandler(), Now: v.clock})
	v.branch, err = branch.Open(t.Context(), branch.Options{Journal: noJournal{}, Publish: s.Publish, Secret: make([]byte, 32), Config: c.branch(), Lease: c.lease(), Now: v.clock})
	if err != nil {
		t.Fatal(err)
	}
	var listeners [2]net.Listener
	for i := range listeners {
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, v.branch, listeners[0], listeners[1]) }()
	conn, err := grpc.NewClient(listeners[0].Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := v.branch.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	v.kiosk, v.counter, v.hall, v.desk = pb.NewKioskServiceClient(conn), pb.NewCounterServiceClient(conn), pb.NewBranchServiceClient(conn), pb.NewResourceServiceClient(conn)
	return v
}

// step lets time pass; nothing is carried out by it.
func (v *virtual) step(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now = v.now.Add(d)
}

// expire lets time pass and carries out what is due.
func (v *virtual) expire(d time.Duration) {
	v.step(d)
	if err := v.branch.Expire(v.t.Context()); err != nil {
		v.t.Error(err)
	}
}

func (v *virtual) issue(category string, also ...func(*pb.IssueTicketRequest)) (*pb.IssueTicketResponse, error) {
	r := &pb.IssueTicketRequest{RequestId: uuid(), Category: category}
	for _, f := range also {
		f(r)
	}
	return v.kiosk.IssueTicket(v.t.Context(), r)
}

func elderly(r *pb.IssueTicketRequest) { r.Priority = pb.Priority_PRIORITY_ELDERLY }
func person(r *pb.IssueTicketRequest)  { r.PersonKey = "p" }
func reserve(r *pb.IssueTicketRequest) { r.Reserve = true }

// open opens a counter.
func (v *virtual) open(counter uint32) *console {
	v.t.Helper()
	o, err := v.counter.OpenCounter(v.t.Context(), &pb.OpenCounterRequest{RequestId: uuid(), Counter: counter, Teller: "t"})
	if err != nil {
		v.t.Fatal(err)
	}
	return &console{v.counter, o.SessionToken}
}

// outcomeOf is a call's outcome in a word: the number called, or why none was.
func outcomeOf(r *pb.CallNextResponse, err error) string {
	if err != nil {
		return why(err)
	}
	return r.GetTicket().GetNumber()
}

// state is a ticket's outcome in a word.
func state(r interface{ GetTicket() *pb.Ticket }, err error) string {
	if err != nil {
		return why(err)
	}
	return r.GetTicket().GetState().String()[len("TICKET_STATE_"):]
}

func (v *virtual) stateOf(ticket string) string {
	r, err := v.kiosk.GetTicket(v.t.Context(), &pb.GetTicketRequest{Ticket: ticket})
	return state(r, err)
}

func (c *console) recall(ctx context.Context, ticket string) (*pb.RecallTicketResponse, error) {
	return c.RecallTicket(ctx, &pb.RecallTicketRequest{RequestId: uuid(), SessionToken: c.token, Ticket: ticket})
}

func (c *console) noShow(ctx context.Context, ticket string) (*pb.MarkNoShowResponse, error) {
	return c.MarkNoShow(ctx, &pb.MarkNoShowRequest{RequestId: uuid(), SessionToken: c.token, Ticket: ticket})
}

func (c *console) requeue(ctx context.Context, ticket string) (*pb.RequeueTicketResponse, error) {
	return c.RequeueTicket(ctx, &pb.RequeueTicketRequest{RequestId: uuid(), SessionToken: c.token, Ticket: ticket})
}

func (c *console) hold(ctx context.Context, ticket string) (*pb.HoldTicketResponse, error) {
	return c.HoldTicket(ctx, &pb.HoldTicketRequest{RequestId: uuid(), SessionToken: c.token, Ticket: ticket})
}
