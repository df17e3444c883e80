package main

import (
	"time"

	"callerd/internal/branch"
	"callerd/internal/queue"
)

// policyConfig is the policy of a category, or what holds for all of them. What is left out is decided one level up: the
// category, then the file's defaults, then builtin.
type policyConfig struct {
	MaxPerDay     *int          `yaml:"max_per_day"`
	MaxPerPerson  *int          `yaml:"max_per_person"`
	Hours         *hoursConfig  `yaml:"hours"`
	Holidays      *[]string     `yaml:"holidays"`
	MaxOvertakes  *int          `yaml:"max_overtakes"`
	MaxWait       *string       `yaml:"max_wait"`
	NoShow        noShowConfig  `yaml:"no_show"`
	Requeue       requeueConfig `yaml:"requeue"`
	CheckInWithin *string       `yaml:"check_in_within"`
	HeldWithin    *string       `yaml:"held_within"`
}

type noShowConfig struct {
	After      *string `yaml:"after"`
	MinCalls   *int    `yaml:"min_calls"`
	MinWait    *string `yaml:"min_wait"`
	MaxRecalls *int    `yaml:"max_recalls"`
	AtLimit    *string `yaml:"at_limit"`
}

type requeueConfig struct {
	Within  *string `yaml:"within"`
	Numbers *int    `yaml:"numbers"`
	To      *string `yaml:"to"`
	After   *int    `yaml:"after"`
}

// builtin is the policy where the file says nothing: only what helps every hall and can harm none. Nobody starves behind a
// priority lane, and a number reserved from afar does not keep its place in a quota for the whole day.
var builtin = branch.Policy{
	MaxOvertakes: 20, MaxWait: time.Hour,
	MinCalls: 1, RequeueTo: queue.Back,
	CheckInWithin: 2 * time.Hour,
}

// The words of the file.
var (
	places  = map[string]queue.Where{"back": queue.Back, "front": queue.Front, "after": queue.After, "by-issue": queue.ByIssue}
	atLimit = map[string]bool{"refuse": false, "no-show": true}
)

// policy is what holds for a category of a checked configuration.
func (c *config) policy(k categoryConfig) branch.Policy {
	p := builtin
	c.Defaults.over(&p)
	k.Policy.over(&p)
	return p
}

// over puts what is said over a policy.
func (c policyConfig) over(p *branch.Policy) {
	number(&p.MaxPerDay, c.MaxPerDay)
	number(&p.MaxPerPerson, c.MaxPerPerson)
	if c.Hours != nil {
		p.Hours.Week, p.Hours.Weekly = c.Hours.week(), c.Hours.named()
	}
	if c.Holidays != nil {
		p.Hours.Holidays = map[string][]branch.Window{}
		for _, h := range *c.Holidays {
			date, windows, _ := parseHoliday(h) // checked
			p.Hours.Holidays[date] = windows
		}
	}
	number(&p.MaxOvertakes, c.MaxOvertakes)
	duration(&p.MaxWait, c.MaxWait)
	duration(&p.NoShowAfter, c.NoShow.After)
	number(&p.MinCalls, c.NoShow.MinCalls)
	duration(&p.MinWait, c.NoShow.MinWait)
	number(&p.MaxRecalls, c.NoShow.MaxRecalls)
	if w := c.NoShow.AtLimit; w != nil {
		p.NoShowAtLimit = atLimit[*w]
	}
	duration(&p.RequeueWithin, c.Requeue.Within)
	number(&p.RequeueNumbers, c.Requeue.Numbers)
	if w := c.Requeue.To; w != nil {
		p.RequeueTo, p.RequeueAfter = places[*w], 0
	}
	number(&p.RequeueAfter, c.Requeue.After)
	duration(&p.CheckInWithin, c.CheckInWithin)
	duration(&p.HeldWithin, c.HeldWithin)
}

func number[T uint16 | uint32](to *T, from *int) {
	if from != nil {
		*to = T(*from)
	}
}

func duration(to *time.Duration, from *string) {
	if from != nil {
		*to, _ = time.ParseDuration(*from) // checked
	}
}
