package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "callerd/proto/callerd/v1"
)

func sample(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/callerd.sample.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheSampleIsGoodAndHasEveryKey(t *testing.T) {
	t.Parallel()
	_, lines, err := parseLines("sample", []byte(sample(t)))
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{"": true}
	for at := range lines {
		there[index.ReplaceAllString(at, "[]")] = true
	}
	for _, k := range keys {
		if !there[k.at] && !strings.HasPrefix(k.at, "categories[].") || strings.Count(k.at, ".") == 1 && !there[k.at] && !there["defaults."+strings.TrimPrefix(k.at, "categories[].")] {
			t.Errorf("the sample has no %s", k.at)
		}
	}
}

// change is one value of the sample changed, and what is then seen over gRPC: before and after.
type change struct {
	key           string
	from, to      string // in the sample's text, once
	see           func(*virtual) string
	before, after string
}

var changes = []change{
	{"defaults.max_per_day", "max_per_day: 500", "max_per_day: 1", twoNumbers, "A001 A002", "A001 QUOTA_EXHAUSTED"},
	{"defaults.max_per_person", "max_per_person: 3", "max_per_person: 1", twoOfAPerson, "A001 A002", "A001 PERSON_LIMIT"},
	{"defaults.hours", `monday: ["00:00-24:00"]`, `monday: ["10:00-11:00"]`, twoNumbers, "A001 A002", "CATEGORY_CLOSED CATEGORY_CLOSED"},
	{"defaults.holidays", `"2020-10-01"`, `"2026-11-30"`, twoNumbers, "A001 A002", "CATEGORY_CLOSED CATEGORY_CLOSED"},
	{"defaults.max_overtakes", "max_overtakes: 20", "max_overtakes: 1", overtaken, "A002 A003", "A002 A001"},
	{"defaults.max_wait", "max_wait: 1h", "max_wait: 10m", waitedLong, "A002", "A001"},
	{"defaults.no_show.after", "after: 3m", "after: 20s", called30s, "CALLED", "NO_SHOW"},
	{"defaults.no_show.min_calls", "min_calls: 1", "min_calls: 2", noShowAfter15s, "NO_SHOW", "NO_SHOW_TOO_EARLY"},
	{"defaults.no_show.min_wait", "min_wait: 10s", "min_wait: 40s", noShowAfter15s, "NO_SHOW", "NO_SHOW_TOO_EARLY"},
	{"defaults.no_show.max_recalls", "max_recalls: 3", "max_recalls: 1", recalled(2), "CALLED", "RECALL_LIMIT"},
	{"defaults.no_show.at_limit", "at_limit: refuse ", "at_limit: no-show", recalled(4), "RECALL_LIMIT", "NO_SHOW"},
	{"defaults.requeue.within", "within: 30m", "within: 1m", backAfter(2*time.Minute, 0), "WAITING", "REQUEUE_TOO_LATE"},
	{"defaults.requeue.numbers", "numbers: 50", "numbers: 1", backAfter(0, 3), "WAITING", "REQUEUE_TOO_LATE"},
	{"defaults.requeue.to", "to: after  ", "to: front #", aheadOfRequeued, "3", "0"},
	{"defaults.requeue.after", "after: 3  ", "after: 1  ", aheadOfRequeued, "3", "1"},
	{"defaults.check_in_within", "check_in_within: 2h", "check_in_within: 10m", reservedFor20m, "RESERVED", "EXPIRED"},
	{"defaults.held_within", "held_within: 2h", "held_within: 10m", heldFor20m, "HELD", "EXPIRED"},
	{"categories[].max_per_day", "max_per_day: 200", "max_per_day: 1", twoCorporate, "B001 B002", "B001 QUOTA_EXHAUSTED"},
	{"categories[].id", "id: vip", "id: gold", idsOf, "personal corporate vip", "personal corporate gold"},
	{"categories[].prefix", "prefix: A", "prefix: P", twoNumbers, "A001 A002", "P001 P002"},
	{"categories[].width", "width: 3", "width: 4", twoNumbers, "A001 A002", "A0001 A0002"},
	{"categories[].name.en", "en: Personal", "en: Private", nameOf, "Personal", "Private"},
	{"counters[].categories", "2, categories: [corporate, personal]", "2, categories: [personal, corporate]", callAtTwo, "B001", "A001"},
	{"counters[].rule", "rule: priority", "rule: oldest  ", callAtTwo, "B001", "A001"},
	{"counters[].weights", "weights: [1, 2]", "weights: [2, 1]", callsAtThree, "A001 V001 A002", "V001 A001 V002"},
	{"counters[].counter", "counter: 4", "counter: 5", openFour, "OPEN", "UNKNOWN_COUNTER"},
	{"resources[].name", "name: seal", "name: stamp", acquireSeal, "granted", "UNKNOWN_RESOURCE"},
	{"resources[].title.en", "en: Seal", "en: Stamp", titles, "Cash machine, Seal, Supervisor", "Cash machine, Stamp, Supervisor"},
	{"session.lease", "lease: 60s", "lease: 20s", leaseOf, "1m0s", "20s"},
	{"branch.name.en", "en: Central Branch", "en: North Branch", hallName, "Central Branch", "North Branch"},
	{"branch.time_zone", "Asia/Shanghai", "America/Lima", businessDay, "2026-11-30", "2026-11-29"},
	{"branch.day_cut", `day_cut: "00:00"`, `day_cut: "10:00"`, businessDay, "2026-11-30", "2026-11-29"},
}

func TestEachPolicyOfTheSampleActsWhenItIsChanged(t *testing.T) {
	t.Parallel()
	text := sample(t)
	seen := map[string]bool{}
	for _, c := range changes {
		seen[c.key] = true
		t.Run(c.key, func(t *testing.T) {
			t.Parallel()
			if strings.Count(text, c.from) != 1 {
				t.Fatalf("the sample has %q %d times, want it once", c.from, strings.Count(text, c.from))
			}
			changed := strings.Replace(text, c.from, c.to, 1)
			if c.key == "defaults.requeue.to" {
				changed = strings.Replace(changed, "    after: 3 ", "    # ", 1)
			}
			if c.key == "categories[].id" {
				changed = strings.Replace(changed, "[vip, ", "[gold, ", 1)
			}
			if got := c.see(serveText(t, text)); got != c.before {
				t.Errorf("as it is: got %q, want %q", got, c.before)
			}
			if got := c.see(serveText(t, changed)); got != c.after {
				t.Errorf("changed to %q: got %q, want %q", c.to, got, c.after)
			}
		})
	}
	for _, k := range policyKeys("defaults.") {
		at := regexp.MustCompile(`\.(hours|holidays).*`).ReplaceAllString(k.at, ".$1")
		if k.kind != aBlock && !seen[at] {
			t.Errorf("no row changes %s", at)
		}
	}
}

func twoOf(v *virtual, category string, also ...func(*pb.IssueTicketRequest)) string {
	var out []string
	for range 2 {
		r, err := v.issue(category, also...)
		if err != nil {
			out = append(out, why(err))
			continue
		}
		out = append(out, r.Ticket.Number)
	}
	return strings.Join(out, " ")
}

func twoNumbers(v *virtual) string   { return twoOf(v, "personal") }
func twoOfAPerson(v *virtual) string { return twoOf(v, "personal", person) }
func twoCorporate(v *virtual) string { return twoOf(v, "corporate") }

func overtaken(v *virtual) string {
	v.issue("personal")
	v.issue("personal", elderly)
	v.issue("personal", elderly)
	c := v.open(1)
	first, err := c.next(v.t.Context(), "")
	return outcomeOf(first, err) + " " + outcomeOf(c.next(v.t.Context(), first.GetTicket().GetId()))
}

func waitedLong(v *virtual) string {
	v.issue("personal")
	v.step(15 * time.Minute)
	v.issue("personal", elderly)
	return outcomeOf(v.open(1).next(v.t.Context(), ""))
}

// calledOne issues and calls A001 at counter 1.
func calledOne(v *virtual) (*console, string) {
	v.step(time.Second)
	v.issue("personal")
	c := v.open(1)
	r, err := c.next(v.t.Context(), "")
	if err != nil {
		v.t.Error(err)
	}
	return c, r.GetTicket().GetId()
}

func called30s(v *virtual) string {
	_, ticket := calledOne(v)
	v.expire(30 * time.Second)
	return v.stateOf(ticket)
}

func noShowAfter15s(v *virtual) string {
	c, ticket := calledOne(v)
	v.step(15 * time.Second)
	return state(c.noShow(v.t.Context(), ticket))
}

func recalled(times int) func(*virtual) string {
	return func(v *virtual) (got string) {
		c, ticket := calledOne(v)
		for range times {
			got = state(c.recall(v.t.Context(), ticket))
		}
		return got
	}
}

// backAfter requeues a no-show when so much time has passed and so many numbers were called.
func backAfter(d time.Duration, numbers int) func(*virtual) string {
	return func(v *virtual) string {
		c, ticket := calledOne(v)
		v.step(15 * time.Second)
		if got := state(c.noShow(v.t.Context(), ticket)); got != "NO_SHOW" {
			return got
		}
		current := ""
		for range numbers {
			v.issue("personal")
			r, _ := c.next(v.t.Context(), current)
			current = r.GetTicket().GetId()
		}
		v.step(d)
		return state(c.requeue(v.t.Context(), ticket))
	}
}

func aheadOfRequeued(v *virtual) string {
	c, ticket := calledOne(v)
	for range 5 {
		v.issue("personal")
	}
	r, err := c.requeue(v.t.Context(), ticket)
	if err != nil {
		return why(err)
	}
	return fmt.Sprint(r.Ahead)
}

func reservedFor20m(v *virtual) string {
	r, err := v.issue("personal", reserve)
	if err != nil {
		return why(err)
	}
	v.expire(20 * time.Minute)
	return v.stateOf(r.Ticket.Id)
}

func heldFor20m(v *virtual) string {
	c, ticket := calledOne(v)
	if got := state(c.hold(v.t.Context(), ticket)); got != "HELD" {
		return got
	}
	v.expire(20 * time.Minute)
	return v.stateOf(ticket)
}

func idsOf(v *virtual) string {
	var ids []string
	r, err := v.kiosk.ListCategories(v.t.Context(), &pb.ListCategoriesRequest{})
	if err != nil {
		return why(err)
	}
	for _, c := range r.Categories {
		ids = append(ids, c.Id)
	}
	return strings.Join(ids, " ")
}

func nameOf(v *virtual) string {
	r, err := v.kiosk.ListCategories(v.t.Context(), &pb.ListCategoriesRequest{})
	if err != nil {
		return why(err)
	}
	return r.Categories[0].Name.En
}

func callAtTwo(v *virtual) string {
	v.issue("personal")
	v.issue("corporate")
	return outcomeOf(v.open(2).next(v.t.Context(), ""))
}

func callsAtThree(v *virtual) string {
	for range 3 {
		v.issue("personal")
		v.issue("vip")
	}
	c, current := v.open(3), ""
	var out []string
	for range 3 {
		r, err := c.next(v.t.Context(), current)
		current = r.GetTicket().GetId()
		out = append(out, outcomeOf(r, err))
	}
	return strings.Join(out, " ")
}

func openFour(v *virtual) string {
	_, err := v.counter.OpenCounter(v.t.Context(), &pb.OpenCounterRequest{RequestId: uuid(), Counter: 4, Teller: "t"})
	if err != nil {
		return why(err)
	}
	return "OPEN"
}

func acquireSeal(v *virtual) string {
	_, err := v.desk.AcquireResources(v.t.Context(), &pb.AcquireResourcesRequest{RequestId: uuid(), SessionToken: v.open(1).token, Names: []string{"seal"}, Ttl: durationpb.New(time.Minute)})
	if err != nil {
		return why(err)
	}
	return "granted"
}

func titles(v *virtual) string {
	r, err := v.desk.ListResources(v.t.Context(), &pb.ListResourcesRequest{})
	if err != nil {
		return why(err)
	}
	var out []string
	for _, x := range r.Resources {
		out = append(out, x.Title.En)
	}
	return strings.Join(out, ", ")
}

func leaseOf(v *virtual) string {
	r, err := v.counter.OpenCounter(v.t.Context(), &pb.OpenCounterRequest{RequestId: uuid(), Counter: 1, Teller: "t"})
	if err != nil {
		return why(err)
	}
	return r.Lease.AsDuration().String()
}

func branchOf(v *virtual) *pb.Branch {
	r, err := v.hall.GetBranch(v.t.Context(), &pb.GetBranchRequest{})
	if err != nil {
		v.t.Error(err)
	}
	return r.GetBranch()
}

func hallName(v *virtual) string    { return branchOf(v).GetName().GetEn() }
func businessDay(v *virtual) string { return branchOf(v).GetBusinessDay() }
