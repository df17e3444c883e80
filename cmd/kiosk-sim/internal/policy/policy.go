// Package policy reads what the judge must know of the daemon's configuration: the policies of the categories, the counters'
// rules and the names of the resources. It reads the daemon's own file, with its own eyes: it shares no code with it, and
// leaves alone what it does not need.
package policy

import (
	"fmt"
	"os"
	"time"

	"github.com/goccy/go-yaml"

	"callerd/cmd/kiosk-sim/internal/history"
)

// Builtin is what holds where the daemon's file says nothing, as its documentation has it.
var Builtin = history.Policy{MaxOvertakes: 20, MaxWait: time.Hour, MinCalls: 1, RequeueTo: history.Back, CheckInWithin: 2 * time.Hour}

// Hall is what was read.
type Hall struct {
	Policies  history.Policies
	Resources []string
	Counters  int
}

// file is the daemon's file, as far as it concerns us.
type file struct {
	Defaults   rules `yaml:"defaults"`
	Categories []struct {
		ID    string `yaml:"id"`
		Rules rules  `yaml:",inline"`
	} `yaml:"categories"`
	Counters []struct {
		Counter int `yaml:"counter"`
	} `yaml:"counters"`
	Resources []struct {
		Name string `yaml:"name"`
	} `yaml:"resources"`
}

// rules are the policy keys; nil is not said.
type rules struct {
	MaxPerDay    *int    `yaml:"max_per_day"`
	MaxPerPerson *int    `yaml:"max_per_person"`
	MaxOvertakes *int    `yaml:"max_overtakes"`
	MaxWait      *string `yaml:"max_wait"`
	NoShow       struct {
		After      *string `yaml:"after"`
		MinCalls   *int    `yaml:"min_calls"`
		MinWait    *string `yaml:"min_wait"`
		MaxRecalls *int    `yaml:"max_recalls"`
		AtLimit    *string `yaml:"at_limit"`
	} `yaml:"no_show"`
	Requeue struct {
		Within  *string `yaml:"within"`
		Numbers *int    `yaml:"numbers"`
		To      *string `yaml:"to"`
		After   *int    `yaml:"after"`
	} `yaml:"requeue"`
	CheckInWithin *string `yaml:"check_in_within"`
	HeldWithin    *string `yaml:"held_within"`
}

// Read reads the daemon's file; without a path it is the hall that the daemon serves without one.
func Read(path string) (Hall, error) {
	h := Hall{Policies: history.Policies{Default: Builtin}, Counters: 4}
	if path == "" {
		return h, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return h, fmt.Errorf("--config: %w", err)
	}
	return parse(path, raw)
}

func parse(path string, raw []byte) (Hall, error) {
	h := Hall{Policies: history.Policies{Default: Builtin, Categories: map[string]history.Policy{}}}
	var f file
	if err := yaml.Unmarshal(raw, &f); err != nil {
		return h, fmt.Errorf("--config %s: %w", path, err)
	}
	if err := f.Defaults.over(&h.Policies.Default); err != nil {
		return h, fmt.Errorf("--config %s: defaults: %w", path, err)
	}
	for _, c := range f.Categories {
		p := h.Policies.Default
		if err := c.Rules.over(&p); err != nil {
			return h, fmt.Errorf("--config %s: category %s: %w", path, c.ID, err)
		}
		h.Policies.Categories[c.ID] = p
	}
	for _, r := range f.Resources {
		h.Resources = append(h.Resources, r.Name)
	}
	if h.Counters = len(f.Counters); h.Counters == 0 {
		h.Counters = 4
	}
	return h, nil
}

// over puts what is said over a policy.
func (r *rules) over(p *history.Policy) error {
	for to, from := range map[*int]*int{
		&p.MaxPerDay: r.MaxPerDay, &p.MaxPerPerson: r.MaxPerPerson, &p.MaxOvertakes: r.MaxOvertakes, &p.MinCalls: r.NoShow.MinCalls,
		&p.MaxRecalls: r.NoShow.MaxRecalls, &p.RequeueNumbers: r.Requeue.Numbers,
	} {
		if from != nil {
			*to = *from
		}
	}
	for to, from := range map[*time.Duration]*string{
		&p.MaxWait: r.MaxWait, &p.NoShowAfter: r.NoShow.After, &p.MinWait: r.NoShow.MinWait, &p.RequeueWithin: r.Requeue.Within,
		&p.CheckInWithin: r.CheckInWithin, &p.HeldWithin: r.HeldWithin,
	} {
		if from == nil {
			continue
		}
		d, err := time.ParseDuration(*from)
		if err != nil {
			return err
		}
		*to = d
	}
	if w := r.NoShow.AtLimit; w != nil {
		p.NoShowAtLimit = *w == "no-show"
	}
	if w := r.Requeue.To; w != nil {
		p.RequeueTo, p.RequeueAfter = map[string]string{"by-issue": history.ByIssue}[*w], 0
		if p.RequeueTo == "" {
			p.RequeueTo = *w
		}
	}
	if n := r.Requeue.After; n != nil {
		p.RequeueAfter = *n
	}
	return nil
}
