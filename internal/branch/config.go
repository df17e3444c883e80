package branch

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"callerd/internal/queue"
)

// Config is the branch as configured: what records make exist at the start and at each turn of the day.
type Config struct {
	Name       queue.Names
	Zone       *time.Location // nil: UTC. Another one takes effect with the next business day
	Cut        time.Duration  // local time after midnight at which the business day turns; the same
	Categories []queue.CategoryDefined
	Counters   []queue.CounterDefined // a Rule of 0 stands for queue.Oldest
	Policies   map[queue.CategoryID]Policy
	Unnamed    Policy // of a category that Policies does not name: who waits there still is not to starve
	Resources  []queue.ResourceDefined
}

// validate refuses what no record could say: its replay would fail, or find other places than it named.
func (c Config) validate() error {
	if _, err := time.LoadLocation(c.Zone.String()); err != nil {
		return fmt.Errorf("zone %q is none that a replay can load by its name: %w", c.Zone, err)
	}
	if c.Cut < 0 || c.Cut >= 24*time.Hour {
		return fmt.Errorf("cut %v, want 0 or more and under 24h", c.Cut)
	}
	for _, d := range c.Categories {
		if err := d.ID.Validate(); err != nil {
			return fmt.Errorf("category %w", err)
		}
	}
	for _, d := range c.Resources {
		if err := queue.CategoryID(d.Name).Validate(); err != nil {
			return fmt.Errorf("resource %w", err)
		}
	}
	for _, d := range c.Counters {
		if d.ID < 1 || d.ID > queue.MaxCounterID {
			return fmt.Errorf("counter %d, want 1 to %d", d.ID, queue.MaxCounterID)
		}
	}
	return nil
}

// ErrPrefixUsed is returned when a configuration gives a category a prefix under which another one has handed out
// numbers today: the same number would leave twice.
var ErrPrefixUsed = errors.New("prefix used today")

// occasion is when a configuration is taken.
type occasion int

const (
	starting  occasion = iota // a hall must open: what cannot be taken today is closed until the next day
	reloading                 // what cannot be taken is refused
	turning                   // a new business day: everything can be taken
)

// configure emits what the configuration defines otherwise than the state. What it no longer names is closed; its
// tickets stay. While a category has numbers out today it keeps its prefix until the next day. The caller holds all
// locks.
func (b *Branch) configure(o *operation, when occasion) error {
	s := b.state.sets.Load()
	var named []queue.CategoryID
	for i, d := range b.config.Load().Categories {
		d.Order, d.Open = i, true
		named = append(named, d.ID)
		c := s.byCategory[d.ID]
		if when != turning {
			if c != nil && c.Issued() > 0 {
				d.Prefix = c.Definition().Prefix
			}
			if other := s.usedPrefix(d.Prefix, c); other != "" && when == starting {
				b.opts.Logger.Error("a category is closed until the next business day: its prefix was used today", "category", string(d.ID), "prefix", d.Prefix, "by", string(other))
				d.Open = false
			} else if other != "" {
				return fmt.Errorf("%w: category %s: %s has handed out numbers with %q; choose another or wait for the next business day", ErrPrefixUsed, d.ID, other, d.Prefix)
			}
		}
		if c == nil || c.Definition() != d {
			o.emit(&d)
		}
	}
	for _, c := range s.categories {
		if d := c.Definition(); d.Open && !slices.Contains(named, d.ID) {
			d.Open = false
			o.emit(&d)
		}
	}
	b.configureCounters(o)
	b.configureResources(o)
	return nil
}

// usedPrefix returns the category other than c that has handed out numbers with a prefix today, "" if there is none.
func (s *sets) usedPrefix(prefix string, c *queue.Category) queue.CategoryID {
	for _, other := range s.categories {
		if other != c && other.Issued() > 0 && other.Definition().Prefix == prefix {
			return other.ID()
		}
	}
	return ""
}

func (b *Branch) configureCounters(o *operation) {
	s := b.state.sets.Load()
	var named []queue.CounterID
	for _, d := range b.config.Load().Counters {
		d.Configured = true
		if d.Rule == 0 {
			d.Rule = queue.Oldest
		}
		named = append(named, d.ID)
		if c := s.byCounter[d.ID]; c == nil || !sameCounter(c.Definition(), d) {
			o.emit(&d)
		}
	}
	for _, c := range s.counters {
		if d := c.Definition(); d.Configured && !slices.Contains(named, d.ID) {
			d.Configured = false
			o.emit(&d)
		}
	}
}

func (b *Branch) configureResources(o *operation) {
	desk := o.lockResources()
	var named []queue.ResourceName
	for _, d := range b.config.Load().Resources {
		d.Configured = true
		named = append(named, d.Name)
		if e, _ := desk.get(d.Name); e.ResourceDefined != d {
			o.emit(&d)
		}
	}
	for _, e := range desk.all() {
		if d := e.ResourceDefined; d.Configured && !slices.Contains(named, d.Name) {
			d.Configured = false
			o.emit(&d)
		}
	}
}

func sameCounter(a, b queue.CounterDefined) bool {
	return a.ID == b.ID && a.Rule == b.Rule && a.Configured == b.Configured && slices.Equal(a.Categories, b.Categories) && slices.Equal(a.Weights, b.Weights)
}
