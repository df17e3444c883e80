package server

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	pb "callerd/proto/callerd/v1"
)

func TestARecalledTicketMovesUpAndStandsThereOnce(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	one, two := r.open(t, 1, 1), r.open(t, 2, 2)
	r.issue(t, 3, "personal")
	r.issue(t, 4, "personal")
	first := r.call(t, 5, one).Ticket
	r.call(t, 6, two)
	if _, err := r.counter.RecallTicket(t.Context(), &pb.RecallTicketRequest{RequestId: requestID(7), SessionToken: one, Ticket: first.Id}); err != nil {
		t.Fatal(err)
	}
	v, err := r.hall.GetBranch(t.Context(), &pb.GetBranchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range v.Branch.Calls {
		got = append(got, c.Number)
	}
	if want := []string{"A001", "A002"}; !slices.Equal(got, want) || !v.Branch.Calls[0].Recall {
		t.Errorf("got %v (recall %t), want %v, the first a recall", got, v.Branch.Calls[0].Recall, want)
	}
}

// Case 10: 1,000 numbers in a category of width 3.
func TestTheNumberBehindA999IsShownAndSpoken(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"A999", "A1000"} {
		if got := announceText(number, 3); got.Zh != "请"+number+"号到3号窗口办理业务" || got.En != "Ticket "+number+", please go to counter 3" {
			t.Errorf("got %v", got)
		}
	}
	if got, want := strings.Join(announceSpoken("A1000", 3).Zh, " "), "请 A 一 零 零 零 号到 三 号窗口 办理业务"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := strings.Join(announceSpoken("A1000", 3).En, " "), "Ticket A one zero zero zero please go to counter three"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Case 31: two counters call at once: two whole announcements, one after the other.
func TestTwoCallsAtOnceAreTwoWholeAnnouncements(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	tokens := []string{r.open(t, 1, 1), r.open(t, 2, 2)}
	r.issue(t, 3, "personal")
	r.issue(t, 4, "personal")
	w := r.watch(t.Context(), t, "", 0)
	w.must(t)
	var both sync.WaitGroup
	for i, token := range tokens {
		both.Go(func() { r.call(t, 10+i, token) })
	}
	both.Wait()
	counters, numbers := map[uint32]bool{}, map[string]bool{}
	for range 2 {
		f := w.must(t)
		c := f.Events[0].GetCalled()
		if c == nil || c.Sequence != f.Sequence || !strings.Contains(c.Text.En, c.Number) || len(c.SpokenZhCn) == 0 || len(c.SpokenEn) == 0 {
			t.Fatalf("got %v, want one whole call", f)
		}
		counters[c.Counter], numbers[c.Number] = true, true
	}
	if len(counters) != 2 || len(numbers) != 2 {
		t.Errorf("got counters %v, numbers %v, want two of each", counters, numbers)
	}
}

// Case 34: a notice with markup is data, in JSON that no page can take for markup.
func TestANoticeWithMarkupIsData(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	d := r.display(t, "view=hall")
	d.next(t)
	const markup = "<img src=x onerror=alert(1)></script> \" \\ \u2028"
	if _, err := r.hall.PublishNotice(t.Context(), &pb.PublishNoticeRequest{RequestId: requestID(1), Who: "w", Text: &pb.LocalizedText{En: markup}}); err != nil {
		t.Fatal(err)
	}
	f := d.next(t)
	if strings.ContainsAny(f.raw, "<>\u2028") {
		t.Errorf("got %s, want no character that markup or a script is made of", f.raw)
	}
	var e struct{ Text text }
	if err := json.Unmarshal(f.Events[0], &e); err != nil || e.Text.En != markup {
		t.Errorf("got %q, %v, want the text as it was", e.Text.En, err)
	}
}

// Case 35: a paused counter says so and is given no ticket.
func TestAPausedCounterIsShownAsPausedAndCallsNobody(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	token := r.open(t, 1, 3)
	r.issue(t, 2, "personal")
	d := r.display(t, "view=counter&counter=3")
	d.next(t)
	if _, err := r.counter.PauseCounter(t.Context(), &pb.PauseCounterRequest{RequestId: requestID(3), SessionToken: token, Reason: "tea"}); err != nil {
		t.Fatal(err)
	}
	if f, want := d.next(t), `{"type":"counter","counter":3,"state":"paused"}`; string(f.Events[0]) != want {
		t.Errorf("got %s, want %s", f.Events[0], want)
	}
	_, err := callNext(t, r, 4, token)
	if got := refused(err); got.info.Reason != "COUNTER_CLOSED" {
		t.Errorf("got %v, want COUNTER_CLOSED", err)
	}
}
