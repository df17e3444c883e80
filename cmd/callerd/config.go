package main

import (
	"fmt"
	"os"
	"time"

	"callerd/internal/branch"
	"callerd/internal/queue"
)

// config is the file that --config names. Every key may be left out.
type config struct {
	GrpcAddr   string           `yaml:"grpc_addr"`
	HTTPAddr   string           `yaml:"http_addr"`
	Data       string           `yaml:"data"`
	KeepDays   *int             `yaml:"keep_days"`
	Branch     branchConfig     `yaml:"branch"`
	Session    sessionConfig    `yaml:"session"`
	Defaults   policyConfig     `yaml:"defaults"`
	Categories []categoryConfig `yaml:"categories"`
	Counters   []counterConfig  `yaml:"counters"`
	Resources  []resourceConfig `yaml:"resources"`

	zone string
}

type branchConfig struct {
	Name     names  `yaml:"name"`
	TimeZone string `yaml:"time_zone"`
	DayCut   string `yaml:"day_cut"`
}

type sessionConfig struct {
	Lease string `yaml:"lease"`
}

type categoryConfig struct {
	ID     string `yaml:"id"`
	Prefix string `yaml:"prefix"`
	Width  *int   `yaml:"width"`
	Name   names  `yaml:"name"`

	Policy policyConfig `yaml:",inline"` // what differs from the defaults
}

type counterConfig struct {
	Counter    int      `yaml:"counter"`
	Categories []string `yaml:"categories"`
	Rule       string   `yaml:"rule"`
	Weights    []int    `yaml:"weights"`
}

type resourceConfig struct {
	Name  string `yaml:"name"`
	Title names  `yaml:"title"`
}

type names struct {
	Zh string `yaml:"zh-CN"`
	En string `yaml:"en"`
}

// What holds where the file says nothing.
const (
	defaultWidth    = 3  // digits of a number, at least
	defaultKeepDays = 90 // business days in the journal
)

// defaultConfig is the branch that is served without a file.
func defaultConfig() *config {
	c := &config{Branch: branchConfig{Name: names{"营业厅", "Banking Hall"}}}
	c.Categories = []categoryConfig{
		{ID: "personal", Prefix: "A", Name: names{"个人业务", "Personal"}},
		{ID: "corporate", Prefix: "B", Name: names{"对公业务", "Corporate"}},
	}
	for n := 1; n <= 4; n++ {
		c.Counters = append(c.Counters, counterConfig{Counter: n})
	}
	return c
}

// loadConfig reads a file, or gives the default branch. The error names every fault with its line.
func loadConfig(path string) (*config, error) {
	c, _, err := readConfig(path)
	return c, err
}

// readConfig also tells the line of each key of the file.
func readConfig(path string) (c *config, lines map[string]int, err error) {
	c = defaultConfig()
	if path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: --config: %w", errUsage, err)
		}
		if c, lines, err = parseLines(path, data); err != nil {
			return nil, nil, err
		}
	}
	if c.zone = c.Branch.TimeZone; c.zone == "" {
		if c.zone, err = hostZone(os.Getenv("TZ"), "/etc/localtime", "/etc/timezone"); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", errUsage, err)
		}
	}
	return c, lines, nil
}

// branch converts a checked configuration.
func (c *config) branch() branch.Config {
	zone, _ := time.LoadLocation(c.zone) // checked
	cut, _ := parseCut(c.Branch.DayCut)
	b := branch.Config{Name: queue.Names(c.Branch.Name), Zone: zone, Cut: cut}
	b.Policies, b.Unnamed = map[queue.CategoryID]branch.Policy{}, c.policy(categoryConfig{})
	var all []queue.CategoryID
	for _, k := range c.Categories {
		d := queue.CategoryDefined{ID: queue.CategoryID(k.ID), Name: queue.Names(k.Name), Prefix: k.Prefix, Width: defaultWidth}
		if k.Width != nil {
			d.Width = *k.Width
		}
		b.Categories = append(b.Categories, d)
		b.Policies[d.ID] = c.policy(k)
		all = append(all, d.ID)
	}
	for _, k := range c.Counters {
		d := queue.CounterDefined{ID: queue.CounterID(k.Counter), Categories: all, Rule: rules[k.Rule]}
		if len(k.Categories) > 0 {
			d.Categories = nil
			for _, id := range k.Categories {
				d.Categories = append(d.Categories, queue.CategoryID(id))
			}
		}
		for _, w := range k.Weights {
			d.Weights = append(d.Weights, uint32(w))
		}
		b.Counters = append(b.Counters, d)
	}
	for _, k := range c.Resources {
		b.Resources = append(b.Resources, queue.ResourceDefined{Name: queue.ResourceName(k.Name), Title: queue.Names(k.Title)})
	}
	return b
}

// keepDays is how many business days stay in the journal.
func (c *config) keepDays() int {
	if c.KeepDays == nil {
		return defaultKeepDays
	}
	return *c.KeepDays
}

// lease is how long a session lives without a word of its console.
func (c *config) lease() time.Duration {
	if c.Session.Lease == "" {
		return branch.DefaultLease
	}
	d, _ := time.ParseDuration(c.Session.Lease) // checked
	return d
}

var rules = map[string]queue.Rule{"": queue.Oldest, "oldest": queue.Oldest, "priority": queue.Priority, "ratio": queue.Ratio}

// parseCut reads a local time of day such as "04:00"; "" is midnight.
func parseCut(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	t, err := time.Parse("15:04", s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time of day such as \"00:00\" or \"04:00\"", s)
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}
