package branch

import (
	"testing"

	"callerd/internal/queue"
)

// The fingerprints stand in journals: a retry after an upgrade is told from a reuse by them.
func TestFingerprintsStayWhatTheyWere(t *testing.T) {
	h := open(t)
	id := queue.RequestID{1}
	ok(h.IssueTicket(t.Context(), IssueRequest{Request: Request{ID: id}, Category: "personal", Priority: queue.Elderly, Person: "p"}))(t)
	e, found := h.state.requests.shard(id).find(id, h.now())
	if want := fingerprint("IssueTicket", 0, "personal", "1 false", "p"); !found || e.fingerprint != want {
		t.Errorf("got %x, %t, want %x", e.fingerprint, found, want)
	}
	if got, want := fingerprint("IssueTicket", 0, "personal", "1 false", "p"), uint64(0xd1650019ab3aa387); got != want {
		t.Errorf("got %#x, want %#x", got, want)
	}
}
