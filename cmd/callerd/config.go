package main

import (
	"fmt"
	"os"
	"time"

	"github.com/alecthomas/kong"

	"callerd/internal/branch"
	"callerd/internal/queue"
)

// config is the file that --config names. Every key may be left out.
type config struct {
	GrpcAddr   string           `yaml:"grpc_addr"`
	HTTPAddr   string           `yaml:"http_addr"`
	Data       string           `yaml:"data"`
	Branch     branchConfig     `yaml:"branch"`
	Session    sessionConfig    `yaml:"session"`
	Categories []categoryConfig `yaml:"categories"`
	Counters   []counterConfig  `yaml:"counters"`

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
}

type counterConfig struct {
	Counter    int      `yaml:"counter"`
	Categories []string `yaml:"categories"`
	Rule       string   `yaml:"rule"`
}

type names struct {
	Zh string `yaml:"zh-CN"`
	En string `yaml:"en"`
}

// defaultWidth is how many digits a number has at least.
const defaultWidth = 3

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
	c := defaultConfig()
	if path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%w: --config: %w", errUsage, err)
		}
		if c, err = parseConfig(path, data); err != nil {
			return nil, err
		}
	}
	if c.zone = c.Branch.TimeZone; c.zone == "" {
		c.zone = hostZone()
	}
	return c, nil
}

// branch converts a checked configuration.
func (c *config) branch() branch.Config {
	zone, _ := time.LoadLocation(c.zone) // checked
	cut, _ := parseCut(c.Branch.DayCut)
	b := branch.Config{Name: queue.Names(c.Branch.Name), Zone: zone, Cut: cut}
	var all []queue.CategoryID
	for _, k := range c.Categories {
		d := queue.CategoryDefined{ID: queue.CategoryID(k.ID), Name: queue.Names(k.Name), Prefix: k.Prefix, Width: defaultWidth}
		if k.Width != nil {
			d.Width = *k.Width
		}
		b.Categories = append(b.Categories, d)
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
		b.Counters = append(b.Counters, d)
	}
	return b
}

// lease is how long a session lives without a word of its console.
func (c *config) lease() time.Duration {
	if c.Session.Lease == "" {
		return branch.DefaultLease
	}
	d, _ := time.ParseDuration(c.Session.Lease) // checked
	return d
}

var rules = map[string]queue.Rule{"": queue.Oldest, "oldest": queue.Oldest, "priority": queue.Priority}

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

// fromFile lets the configuration file set the flags of serve that neither the command line nor the environment sets.
func fromFile(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, env := range flag.Envs {
		if _, set := os.LookupEnv(env); set {
			return nil, nil
		}
	}
	keys := map[string]func(*config) string{
		"grpc-addr": func(c *config) string { return c.GrpcAddr },
		"http-addr": func(c *config) string { return c.HTTPAddr },
		"data":      func(c *config) string { return c.Data },
	}
	value := keys[flag.Name]
	path := configPath(ctx)
	if value == nil || path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil // serve says so
	}
	c, err := parseConfig(path, data)
	if err != nil || value(c) == "" {
		return nil, nil // serve names the faults
	}
	return value(c), nil
}

// configPath is the file that --config or its environment variable names.
func configPath(ctx *kong.Context) string {
	for _, f := range ctx.Flags() {
		if f.Name == "config" {
			if s, ok := ctx.FlagValue(f).(string); ok && s != "" {
				return s
			}
		}
	}
	return os.Getenv("CALLERD_CONFIG")
}
