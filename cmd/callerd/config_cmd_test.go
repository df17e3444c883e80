package main

import (
	"strconv"
	"strings"
	"testing"
)

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const policyFaults = `keep_days: 1
defaults:
  max_per_day: -1
  hours: {monday: ["09:00-08:00"], tuesday: ["09:00-12:00", "11:00-13:00"], funday: []}
  holidays: ["2026-13-01", "2026-10-01", "2026-10-01"]
  max_wait: 30
  no_show: {after: soon, at_limit: maybe, max_recalls: 101}
  requeue: {to: middle, after: 2}
categories:
  - {id: personal, prefix: A, held_within: 25h}
  - {id: vip, prefix: V, requeue: {to: after}}
counters:
  - {counter: 1, rule: oldest, weights: [1, 2]}
  - {counter: 2, rule: ratio, weights: [1, 0, 3]}
resources:
  - {name: Seal}
  - {name: seal}
  - {name: seal}
`

func TestAllFaultsOfThePoliciesAreNamedWithLineAndRemedy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := finish(t, dir, nil, "config", "check", write(t, dir, "hall.yaml", policyFaults))
	if got.code != 1 {
		t.Errorf("got %d, want 1", got.code)
	}
	for _, want := range []string{
		"19 faults", "line 1: keep_days: 1 is not 2 to 36500", "line 3: defaults.max_per_day: -1 is not 0 to",
		"line 4: defaults.hours.monday: \"09:00-08:00\" ends before it begins", "line 4: defaults.hours.tuesday: \"11:00-13:00\" begins before",
		"line 4: defaults.hours.funday: there is no such key here; there are: monday,", "line 5: defaults.holidays[0]: \"2026-13-01\" is not a date",
		"line 5: defaults.holidays[2]: 2026-10-01 is named twice", "line 6: defaults.max_wait: this is a whole number, want a text",
		"line 7: defaults.no_show.after: \"soon\" is not a time such as", "line 7: defaults.no_show.at_limit: \"maybe\" is not what", "line 7: defaults.no_show.max_recalls: 101 is not 0 to 100",
		"line 8: defaults.requeue.to: \"middle\" is not a place", "line 8: defaults.requeue.after: requeue.to: after and", "line 10: categories[0].held_within: \"25h\" is not a time",
		"line 11: categories[1].requeue.after:", "line 13: counters[0].weights: weights go with rule: ratio", "line 14: counters[1].weights: there are 3 weights and 2 categories",
		"line 16: resources[0].name: \"Seal\" is not a resource's name", "line 18: resources[2].name: \"seal\" is resources[1] already",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("got\n%s\nwant in it %s", got.out, want)
		}
	}
}

func TestAPolicyThatCanNeverActIsAFault(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"defaults: {no_show: {min_calls: 5, max_recalls: 2}}\n":      "only 2 recalls are allowed",
		"defaults: {no_show: {after: 30s, min_wait: 1m}}\n":          "the system does so after 30s",
		"defaults: {requeue: {to: after}}\n":                         "go together",
		"categories: [{id: a, prefix: A, hours: {monday: [\"x\"]}}]": "is not a window",
	} {
		if _, err := parseConfig("hall.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestWhatHoldsIsPrintedWithWhereItComesFrom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, dir, "hall.yaml", "grpc_addr: 127.0.0.1:1\nhttp_addr: 127.0.0.1:2\ndata: d3\ndefaults:\n  max_wait: 20m\ncategories:\n  - {id: a, prefix: A}\n  - id: b\n    prefix: B\n    max_wait: 0s\n")
	got := finish(t, dir, []string{"CALLERD_HTTP_ADDR=127.0.0.1:3", "CALLERD_CONFIG=" + file}, "config", "print", "--grpc-addr", "127.0.0.1:4")
	if got.code != 0 {
		t.Fatalf("got %d %s", got.code, got.errors)
	}
	lines := map[string]string{}
	for line := range strings.Lines(got.out) {
		key, rest, _ := strings.Cut(line, ":")
		lines[key] = strings.Join(strings.Fields(rest), " ")
	}
	for key, want := range map[string]string{
		"grpc_addr": "127.0.0.1:4 # flag --grpc-addr", "http_addr": "127.0.0.1:3 # env CALLERD_HTTP_ADDR", "data": "d3 # file, line 3",
		"keep_days": "90 # default", "session.lease": "1m0s # default", "branch.time_zone": "Asia/Shanghai # default, the machine's",
		"categories[0].max_wait": "20m0s # file, line 5", "categories[1].max_wait": "0s # file, line 10", "categories[1].max_overtakes": "20 # default",
		"categories[0].check_in_within": "2h0m0s # default", "categories[0].requeue.to": "back # default", "categories[1].width": "3 # default",
		"counters[3].counter": "4 # default", "counters[0].categories": "[a, b] # default", "counters[0].rule": "oldest # default",
	} {
		if lines[key] != want {
			t.Errorf("%s: got %q, want %q", key, lines[key], want)
		}
	}
	if got := finish(t, dir, nil, "config", "check"); got.code != 2 || !strings.Contains(got.errors, "--config") {
		t.Errorf("got %d %s, want 2: no file is named", got.code, got.errors)
	}
}
