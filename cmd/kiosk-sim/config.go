package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"callerd/cmd/kiosk-sim/internal/sim"
)

// config checks the flags and makes of them what is played.
func (c *runCmd) config() (sim.Config, error) {
	cfg := sim.Config{
		Kiosks: c.Kiosks, Counters: c.Counters, Displays: c.Displays, Customers: c.Customers, Duration: c.Duration,
		Seed: c.Seed, Speed: c.Speed, Full: c.FullSpeed, Arrivals: c.Arrivals, ServiceMean: c.ServiceMean, ServiceCV: c.ServiceCV,
		CallTime: c.CallTime, NoShowCalls: c.NoShowCalls, NoShow: c.NoShow, Hold: c.Hold, Recall: c.Recall, Cancel: c.Cancel,
		Look: c.Look, Pause: c.Pause, Clumsy: c.Clumsy, Chain: c.Chain, Retry: c.Retry, Rule: c.Rule, RuleWeights: c.RuleWeights, Specialists: c.Specialists,
		Resources: c.Resources, Mix: c.mix(c.Mix),
		HTTPAddr: c.HTTPAddr, Timeout: c.Timeout, GiveUp: c.GiveUp, Survive: c.Survive,
	}
	if cfg.Customers == 0 && cfg.Duration == 0 {
		cfg.Customers = 1000
	}
	if cfg.Seed == 0 {
		cfg.Seed = rand.Uint64N(1 << 32)
	}
	var wrong bytes.Buffer
	check := func(ok bool, format string, args ...any) {
		if !ok {
			fmt.Fprintf(&wrong, "; "+format, args...)
		}
	}
	check(c.Kiosks > 0, "--kiosks must be at least 1")
	check(c.Counters >= 0 && c.Displays >= 0 && c.Customers >= 0, "--counters, --displays and --customers must not be negative")
	check(c.Speed > 0 && c.Arrivals > 0, "--speed and --arrivals must be positive")
	check(c.ServiceMean > 0 && c.ServiceCV >= 0 && c.CallTime >= 0 && c.NoShowCalls > 0, "service and call times must be positive")
	for name, p := range cfg.Mix.Shares() {
		check(*p >= 0 && *p <= 1, "--%s must be from 0 to 1", name)
	}
	for name, p := range map[string]float64{"no-show": c.NoShow, "hold": c.Hold, "recall": c.Recall, "cancel": c.Cancel, "look": c.Look, "pause": c.Pause, "clumsy": c.Clumsy, "chain": c.Chain, "retry": c.Retry} {
		check(p >= 0 && p <= 1, "--%s must be from 0 to 1", name)
	}
	for _, word := range c.Categories {
		id, weight, found := strings.Cut(word, "=")
		w := 1.0
		if found {
			var err error
			w, err = strconv.ParseFloat(weight, 64)
			check(err == nil && w > 0, "--categories %s: the weight must be a positive number", word)
		}
		cfg.Weights = append(cfg.Weights, sim.Weight{Category: id, Weight: w})
	}
	if wrong.Len() > 0 {
		return cfg, errors.New(wrong.String()[2:])
	}
	return cfg, nil
}
