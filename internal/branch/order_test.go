package branch

import (
	"testing"
	"time"

	"callerd/internal/queue"
)

// with opens a hall with a VIP category V beside the two others, and one policy for all.
func with(t *testing.T, p Policy, change ...func(*Config)) *hall {
	t.Helper()
	return open(t, func(o *Options) {
		o.Config.Categories = append(o.Config.Categories, queue.CategoryDefined{ID: "vip", Prefix: "V", Width: 3})
		o.Config.Policies = map[queue.CategoryID]Policy{"personal": p, "corporate": p, "vip": p}
		for _, f := range change {
			f(&o.Config)
		}
	})
}

// rule opens a counter by a rule.
func (h *hall) rule(n queue.CounterID, rule queue.Rule, weights []uint32, categories ...queue.CategoryID) string {
	h.tb.Helper()
	return ok(h.OpenCounter(h.tb.Context(), OpenRequest{Request: h.request(), Counter: n, Teller: "t", Rule: rule, Weights: weights, Categories: categories}))(h.tb).Token
}

// priority takes a number for the priority lane.
func (h *hall) priority(c queue.CategoryID) queue.Ticket {
	h.tb.Helper()
	return ok(h.IssueTicket(h.tb.Context(), IssueRequest{Request: h.request(), Category: c, Priority: queue.Elderly}))(h.tb).Ticket
}

func (h *hall) transfer(token string, r TransferRequest) TicketReply {
	h.tb.Helper()
	r.Request = h.request()
	return ok(h.TransferTicket(h.tb.Context(), r, token))(h.tb)
}

// serve calls, completing the one before, until nobody waits, and returns the numbers.
func (h *hall) serve(token string) (numbers []string) {
	h.tb.Helper()
	var last queue.TicketID
	for {
		r := h.next(token, last)
		if r.Ticket == nil {
			return numbers
		}
		numbers, last = append(numbers, r.Ticket.Number), r.Ticket.ID
	}
}

func same(tb tb, got []string, want ...string) {
	tb.Helper()
	if len(got) != len(want) {
		tb.Errorf("got %v, want %v", got, want)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			tb.Errorf("got %v, want %v", got, want)
			return
		}
	}
}

// Case 21.
func TestOneVIPForTwoOthers(t *testing.T) {
	h := with(t, Policy{})
	for range 41 {
		h.issue("personal")
	}
	s := h.rule(1, queue.Ratio, []uint32{1, 2}, "vip", "personal")
	var last queue.TicketID
	for range 38 {
		last = h.next(s, last).Ticket.ID
	}
	for range 3 {
		h.issue("vip")
	}
	h.verb((*Branch).CompleteTicket, s, last)
	numbers := h.serve(s)
	if len(numbers) != 6 {
		t.Fatalf("got %v, want all six", numbers)
	}
	regular := 0
	for i, n := range numbers {
		if n[0] == 'A' {
			regular++
		} else if i > 0 && numbers[i-1][0] == 'V' && regular < 3 {
			t.Errorf("got %v: two V in a row while an A waits", numbers)
		}
	}
	// The credit is state: two counters with the same list share it, and a restart keeps it.
	for range 3 {
		h.issue("vip")
		h.issue("personal")
		h.issue("personal")
	}
	one := h.rule(2, queue.Ratio, []uint32{1, 2}, "vip", "personal")
	count := map[byte]int{}
	for i := range 9 {
		if i == 4 {
			h.restart()
		}
		token := [...]string{s, one}[i%2]
		k := h.state.sets.Load().byCounter[queue.CounterID(i%2+1)]
		var cur queue.TicketID
		if k.Current() != nil {
			cur = k.Current().ID
		}
		count[h.next(token, cur).Ticket.Number[0]]++
	}
	if count['V'] != 3 || count['A'] != 6 {
		t.Errorf("got %v of nine, want 3 V and 6 A", count)
	}
}

// Case 22: a VIP arrives every minute for an hour, and one counter is slower than that. With the bound nobody is overtaken over
// it; without, the same hour does: so the test can fail.
func TestNobodyIsOvertakenOverTheBound(t *testing.T) {
	for _, test := range []struct {
		name string
		rule queue.Rule
		lane bool // the VIP comes by the priority lane of the same category
	}{{"a priority lane", queue.Oldest, true}, {"a category, by priority", queue.Priority, false}, {"a category, by ratio", queue.Ratio, false}} {
		for _, p := range []Policy{{}, {MaxOvertakes: 5}, {MaxWait: 20 * time.Minute}} {
			h := with(t, p)
			s := h.rule(1, test.rule, []uint32{20, 1}, "vip", "personal")
			for range 15 {
				h.issue("personal")
			}
			most, longest, overdue := uint32(0), time.Duration(0), 0
			var last queue.TicketID
			for range 60 {
				if test.lane {
					h.priority("personal")
				} else {
					h.issue("vip")
				}
				r := h.next(s, last)
				last = r.Ticket.ID
				if r.Ticket.Priority == 0 && r.Ticket.Category == "personal" {
					most, longest = max(most, r.Overtaken), max(longest, r.Waited)
				}
				if r.Rule == queue.Overdue {
					overdue++
					if r.Overtaken < p.MaxOvertakes || r.Waited < p.MaxWait {
						t.Errorf("%s: got %+v called as overdue", test.name, r)
					}
				}
				h.clock.step(time.Minute)
			}
			ok(h.ListTickets(t.Context(), ListRequest{Size: 1000, States: []queue.State{queue.Waiting}}))(t)
			for _, v := range ok(h.ListTickets(t.Context(), ListRequest{Size: 1000, States: []queue.State{queue.Waiting}}))(t).Tickets {
				if v.Priority == 0 && v.Category == "personal" {
					most = max(most, v.Overtaken)
				}
			}
			switch {
			case p.MaxOvertakes == 0 && p.MaxWait == 0 && (most < 20 || overdue > 0):
				t.Errorf("%s, no bound: got at most %d overtakes, want many: the test shows nothing", test.name, most)
			case p.MaxOvertakes > 0 && (most > p.MaxOvertakes || overdue == 0):
				t.Errorf("%s: got %d overtakes, want at most %d", test.name, most, p.MaxOvertakes)
			case p.MaxWait > 0 && overdue == 0:
				t.Errorf("%s: nobody was overdue after %v", test.name, longest)
			}
			h.restart()
		}
	}
}

// Case 23.
func TestAnEmptyLineIdlesNoCounter(t *testing.T) {
	h := with(t, Policy{})
	for range 5 {
		h.issue("personal")
	}
	same(t, h.serve(h.rule(1, queue.Ratio, []uint32{1, 1}, "vip", "personal")), "A001", "A002", "A003", "A004", "A005")
}

// Case 24.
func TestACallSaysWhy(t *testing.T) {
	h := with(t, Policy{})
	a1 := h.issue("personal")
	a2 := h.issue("personal")
	b1 := h.issue("corporate")
	a3 := h.priority("personal")
	h.clock.step(90 * time.Second)
	s := h.counter(1)
	r := h.next(s)
	if r.Ticket.ID != a3.ID || r.Rule != queue.Oldest || r.Waited != 90*time.Second || r.Overtaken != 0 || len(r.PassedOver) != 2 ||
		r.PassedOver[0] != (queue.PassedOver{Category: "personal", Count: 2, First: a1.ID}) ||
		r.PassedOver[1] != (queue.PassedOver{Category: "corporate", Count: 1, First: b1.ID}) {
		t.Errorf("got %+v, want %s and the three that were passed over", r, a3.Number)
	}
	records := h.records()
	last := records[len(records)-1].Outcomes[0].(*queue.TicketChanged)
	if last.Rule != r.Rule || last.Waited != int64(r.Waited) || len(last.PassedOver) != 2 {
		t.Errorf("got the record %+v, want the same reason", last)
	}
	// A named one, of a line that the counter does not serve: those before it are passed over as well.
	s2 := h.rule(2, queue.Oldest, nil, "corporate")
	r = ok(h.CallTicket(t.Context(), h.request(), s2, a2.ID, queue.TicketID{}))(t)
	if r.Rule != queue.Given || r.Overtaken != 1 || len(r.PassedOver) != 1 || r.PassedOver[0].First != a1.ID {
		t.Errorf("got %+v, want A002 given over A001", r)
	}
	if got := h.ticket(a1.ID).Overtaken; got != 2 {
		t.Errorf("got %d overtakes of A001, want 2", got)
	}
}
