package server

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	pb "callerd/proto/callerd/v1"
)

func TestAStopIsBoundedAlthoughACallHangs(t *testing.T) {
	t.Parallel()
	r := start(t, Options{StopTimeout: 50 * time.Millisecond, CallTimeout: time.Hour})
	w := r.watch(t.Context(), t, "", 0)
	w.must(t)
	r.gate.close()
	hanging := make(chan error, 1)
	go func() {
		_, err := r.kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: requestID(1), Category: "personal"})
		hanging <- err
	}()
	r.gate.await()
	r.stop()
	if got := refused(<-hanging); got.code != codes.Unavailable && got.code != codes.Canceled {
		t.Errorf("got %v, want the hanging call to be cut", got)
	}
	if _, err := w.next(t); refused(err).info.Reason != "STOPPING" {
		t.Errorf("got %v, want STOPPING", err)
	}
}

func TestACallThatIsUnderWayMayFinishWhenStopping(t *testing.T) {
	t.Parallel()
	r := start(t, Options{StopTimeout: time.Hour})
	health, err := healthpb.NewHealthClient(r.conn).Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for v := new(healthpb.HealthCheckResponse); v.Status != healthpb.HealthCheckResponse_SERVING; { // it may have been asked before it was
		if v, err = health.Recv(); err != nil {
			t.Fatalf("got %v, want SERVING", err)
		}
	}
	d := r.display(t, "view=hall")
	d.next(t)
	w := r.watch(t.Context(), t, "", 0)
	w.must(t)
	r.gate.close()
	var reply *pb.IssueTicketResponse
	finished := make(chan error, 1)
	go func() {
		var err error
		reply, err = r.kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: requestID(1), Category: "personal"})
		finished <- err
	}()
	r.gate.await()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		r.stop()
	}()
	// Once the watcher is sent away the server is stopping, and the call still waits for its disk.
	if _, err := w.next(t); refused(err).info.Reason != "STOPPING" {
		t.Errorf("got %v, want STOPPING", err)
	}
	if status, err := health.Recv(); err == nil && status.Status != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("got %v, want NOT_SERVING", status)
	}
	if v, err := r.health.Check(t.Context(), &healthpb.HealthCheckRequest{Service: "callerd.v1.KioskService"}); err != nil || v.Status != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("got %v, %v, want NOT_SERVING", v, err)
	}
	r.gate.open()
	if err := <-finished; err != nil || reply.Ticket.Number != "A001" {
		t.Errorf("got %v, %v, want the call to finish", reply, err)
	}
	<-stopped // although a health watch was open and the stop timer is an hour
}
