package server

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "callerd/proto/callerd/v1"
)

// rawCodec sends bytes as they are: what a caller without protobuf's own checks can send.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }
func (rawCodec) Marshal(v any) ([]byte, error) {
	if b, ok := v.([]byte); ok {
		return b, nil
	}
	return proto.Marshal(v.(proto.Message))
}
func (rawCodec) Unmarshal(b []byte, v any) error { return proto.Unmarshal(b, v.(proto.Message)) }

// grpc answers such a request itself, before any interceptor of ours, and calls it Internal. Nothing of it may come through.
func TestATextThatIsNotUTF8NeverComesThrough(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	before := r.b.Sequence()
	eachMethod(func(m protoreflect.MethodDescriptor) {
		for i := range m.Input().Fields().Len() {
			f := m.Input().Fields().Get(i)
			if f.Kind() != protoreflect.StringKind {
				continue
			}
			raw := protowire.AppendString(protowire.AppendTag(nil, f.Number(), protowire.BytesType), "a\xff")
			_, err := r.ask(t.Context(), t, m, raw, grpc.ForceCodec(rawCodec{}))
			if got := refused(err); got.code != codes.Internal || !strings.Contains(got.message, "UTF-8") {
				t.Errorf("%s with %s: got %v, want a refusal that names UTF-8", m.Name(), f.Name(), err)
			}
		}
	})
	if got := r.b.Sequence(); got != before {
		t.Errorf("got sequence %d, want %d as before", got, before)
	}
	var f fields
	f.text("who", "a\xff", 64, true)
	if got := refused(f.err()); len(got.bad) != 1 || got.bad[0].Description != "is not UTF-8" {
		t.Errorf("got %v, want our own check to hold too", got)
	}
}

func TestARequestOfMoreThan64KiBIsRefusedUnread(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	_, err := r.kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: requestID(1), Category: "personal", Kiosk: strings.Repeat("k", 65<<10)})
	if got := refused(err); got.code != codes.ResourceExhausted {
		t.Errorf("got %v, want ResourceExhausted", err)
	}
}

func TestAForgedTokenCommandsNothing(t *testing.T) {
	t.Parallel()
	r, other := start(t, Options{}), start(t, Options{})
	mine, theirs := r.open(t, 1, 3), other.open(t, 1, 3)
	before := r.b.Sequence()
	parts := strings.Split(mine, ".")
	if len(parts) != 4 {
		t.Fatalf("got a token of %d parts", len(parts))
	}
	forged := map[string]string{
		"another branch's":         theirs,
		"another counter":          "1." + strings.Join(parts[1:], "."),
		"another epoch":            strings.Join([]string{parts[0], "2", parts[2], parts[3]}, "."),
		"a seal of zeros":          strings.Join(parts[:3], ".") + "." + strings.Repeat("0", len(parts[3])),
		"a seal cut short":         mine[:len(mine)-2],
		"no seal":                  strings.Join(parts[:3], "."),
		"a counter beyond 32 bits": "4294967299." + strings.Join(parts[1:], "."),
		"a control character":      mine + "\n",
	}
	n := 10
	for what, token := range forged {
		eachMethod(func(m protoreflect.MethodDescriptor) {
			if m.Input().Fields().ByName("session_token") == nil {
				return
			}
			n++
			req := request(t, m.Input())
			set(req.ProtoReflect(), "session_token", token)
			if m.Input().Fields().ByName("request_id") != nil {
				set(req.ProtoReflect(), "request_id", requestID(n))
			}
			_, err := r.ask(t.Context(), t, m, req)
			if got := refused(err); got.code != codes.FailedPrecondition || got.info.Reason != "STALE_SESSION" {
				t.Errorf("%s with %s: got %v, want STALE_SESSION", m.Name(), what, err)
			} else if strings.Contains(got.message, parts[3]) {
				t.Errorf("%s with %s: the message has the seal: %q", m.Name(), what, got.message)
			}
		})
	}
	if got := r.b.Sequence(); got != before {
		t.Errorf("got sequence %d, want %d as before", got, before)
	}
}

func TestTheRulesAndStatesHaveTheirPublicNumbers(t *testing.T) {
	t.Parallel()
	var f fields
	for n, name := range pb.TicketState_name {
		if got := fmt.Sprint("TICKET_STATE_", f.states([]pb.TicketState{pb.TicketState(n)})[0]); n != 0 && got != name {
			t.Errorf("state %d: got %s, want %s", n, got, name)
		}
	}
	if got, want := f.rule(pb.CallRule_CALL_RULE_PRIORITY), "PRIORITY"; got != 2 {
		t.Errorf("got rule %v, want that of %s", got, want)
	}
}
