package policy

import (
	"testing"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
)

func TestAPolicyIsReadOverTheDefaults(t *testing.T) {
	t.Parallel()
	h, err := parse("hall.yaml", []byte(`
grpc_addr: 127.0.0.1:1
branch: {time_zone: Asia/Shanghai}
defaults:
  max_wait: 30m
  requeue: {to: by-issue, within: 10m}
categories:
- {id: personal, prefix: A, max_overtakes: 3, held_within: 5s}
- id: vip
  no_show: {after: 2s, at_limit: no-show, max_recalls: 2}
  requeue: {to: after, after: 3}
counters:
- {counter: 1, rule: ratio, weights: [1, 2]}
resources:
- {name: seal}
- {name: cash}
`))
	if err != nil {
		t.Fatal(err)
	}
	personal, vip, other := Builtin, Builtin, Builtin
	for _, p := range []*history.Policy{&personal, &vip, &other} {
		p.MaxWait, p.RequeueTo, p.RequeueWithin = 30*time.Minute, history.ByIssue, 10*time.Minute
	}
	personal.MaxOvertakes, personal.HeldWithin = 3, 5*time.Second
	vip.NoShowAfter, vip.NoShowAtLimit, vip.MaxRecalls, vip.RequeueTo, vip.RequeueAfter = 2*time.Second, true, 2, history.After, 3
	for category, want := range map[string]history.Policy{"personal": personal, "vip": vip, "other": other} {
		if got := h.Policies.Of(category); got != want {
			t.Errorf("%s: got  %+v\nwant %+v", category, got, want)
		}
	}
	if len(h.Resources) != 2 || h.Resources[1] != "cash" || h.Counters != 1 {
		t.Errorf("got %+v", h)
	}
}

func TestAFaultOfTheFileIsTold(t *testing.T) {
	t.Parallel()
	if _, err := parse("hall.yaml", []byte("defaults: {max_wait: soon}")); err == nil {
		t.Error("a time that is none was read")
	}
	if _, err := Read("there-is-none.yaml"); err == nil {
		t.Error("a file that is not there was read")
	}
}
