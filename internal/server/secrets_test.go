package server

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	pb "callerd/proto/callerd/v1"
)

// Case 43: no secret in a log line, at any level, nor in what a refusal says.
func TestNoSecretIsLoggedOrSaidAgain(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	token := r.open(t, 1, 3)
	forged := token[:len(token)-1] + "0"
	var said []string
	hear := func(_ any, err error) {
		if err != nil {
			said = append(said, fmt.Sprint(refused(err)))
		}
	}
	ctx := t.Context()
	r.issue(t, 2, "personal")
	called := r.call(t, 3, token)
	hear(callNext(t, r, 4, token))
	hear(callNext(t, r, 5, forged))
	hear(callNext(t, r, 6, token+strings.Repeat("x", 200)))
	hear(r.counter.RenewSession(ctx, &pb.RenewSessionRequest{SessionToken: forged}))
	hear(r.counter.StartTicket(ctx, &pb.StartTicketRequest{RequestId: token, SessionToken: token, Ticket: called.Ticket.Id + "x"}))
	hear(r.counter.CallNext(ctx, &pb.CallNextRequest{RequestId: requestID(3), SessionToken: token, CompleteTicket: called.Ticket.Id}))
	hear(r.counter.OpenCounter(ctx, &pb.OpenCounterRequest{RequestId: requestID(7), Counter: 3, Teller: "t2"}))
	d := r.display(t, "view=hall")
	d.next(t)
	if _, _, err := websocket.DefaultDialer.Dial("ws://"+r.web+"/ws/display?session_token="+token, http.Header{"Origin": {"http://evil.example"}}); err == nil {
		t.Error("want another origin refused")
	}
	r.stop()
	said = append(said, r.log.String())
	if len(said) < 7 || !strings.Contains(r.log.String(), "display refused") {
		t.Fatalf("got %d texts, want refusals and a log to look through", len(said))
	}
	secret := r.journal.Meta().Secret
	seal := token[strings.LastIndex(token, ".")+1:]
	for what, s := range map[string]string{
		"the session's token": token, "its seal": seal, "the journal's secret": string(secret), "the same in hex": hex.EncodeToString(secret),
		"the same in base64": base64.StdEncoding.EncodeToString(secret), "the same as numbers": strings.Trim(fmt.Sprint(secret), "[]"),
	} {
		for _, text := range said {
			if i := strings.Index(text, s); i >= 0 {
				t.Errorf("%s stands in %.200q", what, text[max(0, i-80):])
			}
		}
	}
}
