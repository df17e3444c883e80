package main

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"callerd/internal/queue"
)

func (c *config) check(f *faults) {
	for _, a := range [...]struct{ at, addr string }{{"grpc_addr", c.GrpcAddr}, {"http_addr", c.HTTPAddr}} {
		if _, _, err := net.SplitHostPort(a.addr); a.addr != "" && err != nil {
			f.add(a.at, "%q is not host:port such as 127.0.0.1:7070", a.addr)
		}
	}
	if z := c.Branch.TimeZone; z != "" {
		if _, err := time.LoadLocation(z); err != nil || z == "Local" {
			f.add("branch.time_zone", "%q is not a time zone such as Asia/Shanghai", z)
		}
	}
	if _, err := parseCut(c.Branch.DayCut); err != nil {
		f.add("branch.day_cut", "%v", err)
	}
	if l := c.Session.Lease; l != "" {
		if d, err := time.ParseDuration(l); err != nil || d < 5*time.Second || d > time.Hour {
			f.add("session.lease", "%q is not a time between 5s and 1h", l)
		}
	}
	f.number("keep_days", c.KeepDays, 2, 36_500)
	f.names("branch.name", c.Branch.Name)
	f.policy("defaults.", c.Defaults)
	c.checkCategories(f)
	c.checkCounters(f)
	c.checkResources(f)
}

func (c *config) checkCategories(f *faults) {
	if len(c.Categories) == 0 {
		f.add("categories", "there is none: a branch needs one at least")
	}
	ids, prefixes := map[string]int{}, map[string]int{}
	for i, k := range c.Categories {
		at := fmt.Sprintf("categories[%d]", i)
		if err := queue.CategoryID(k.ID).Validate(); err != nil {
			f.add(at+".id", "%v", err)
		} else if j, twice := ids[k.ID]; twice {
			f.add(at+".id", "%q is categories[%d] already", k.ID, j)
		}
		if n := utf8.RuneCountInString(k.Prefix); n < 1 || n > 2 || strings.ContainsFunc(k.Prefix, func(r rune) bool { return r < 'A' || r > 'Z' }) {
			f.add(at+".prefix", "%q is not one or two letters A to Z, as spoken", k.Prefix)
		} else if j, twice := prefixes[k.Prefix]; twice {
			f.add(at+".prefix", "%q is that of categories[%d]: two customers would have the same number", k.Prefix, j)
		}
		ids[k.ID], prefixes[k.Prefix] = i, i
		if k.Width != nil && (*k.Width < 1 || *k.Width > 6) {
			f.add(at+".width", "%d is not 1 to 6 digits", *k.Width)
		}
		f.names(at+".name", k.Name)
		f.policy(at+".", k.Policy)
	}
	if len(f.found) == 0 { // what the levels make together is told once each is right
		for i, k := range c.Categories {
			f.bounds(fmt.Sprintf("categories[%d].", i), c, k)
		}
	}
}

func (c *config) checkCounters(f *faults) {
	if len(c.Counters) == 0 {
		f.add("counters", "there is none: a branch needs one at least")
	}
	ids := map[int]int{}
	for i, k := range c.Counters {
		at := fmt.Sprintf("counters[%d]", i)
		if k.Counter < 1 || k.Counter > int(queue.MaxCounterID) {
			f.add(at+".counter", "%d is not a counter's number: 1 to %d", k.Counter, queue.MaxCounterID)
		} else if j, twice := ids[k.Counter]; twice {
			f.add(at+".counter", "%d is counters[%d] already", k.Counter, j)
		}
		ids[k.Counter] = i
		for n, id := range k.Categories {
			where := fmt.Sprintf("%s.categories[%d]", at, n)
			if !slices.ContainsFunc(c.Categories, func(k categoryConfig) bool { return k.ID == id }) {
				f.add(where, "%q is none of the categories", id)
			}
			if slices.Index(k.Categories, id) < n {
				f.add(where, "%q is named twice", id)
			}
		}
		if _, ok := rules[k.Rule]; !ok {
			f.add(at+".rule", "%q is not a rule: oldest, priority or ratio", k.Rule)
		}
		c.checkWeights(f, at+".weights", k)
	}
}

func (c *config) checkWeights(f *faults, at string, k counterConfig) {
	if len(k.Weights) == 0 {
		return
	}
	if k.Rule != "ratio" {
		f.add(at, "weights go with rule: ratio")
	}
	if served := cmp.Or(len(k.Categories), len(c.Categories)); len(k.Weights) != served {
		f.add(at, "there are %d weights and %d categories; write one for each, in their order", len(k.Weights), served)
	}
	for i, w := range k.Weights {
		if w < 1 || w > 100 {
			f.add(fmt.Sprintf("%s[%d]", at, i), "%d is not 1 to 100", w)
		}
	}
}

func (c *config) checkResources(f *faults) {
	seen := map[string]int{}
	for i, k := range c.Resources {
		at := fmt.Sprintf("resources[%d]", i)
		if queue.CategoryID(k.Name).Validate() != nil {
			f.add(at+".name", "%s is not a resource's name: 1 to 32 of a-z, 0-9 and '-', a letter first", shown(k.Name))
		} else if j, twice := seen[k.Name]; twice {
			f.add(at+".name", "%q is resources[%d] already", k.Name, j)
		}
		seen[k.Name] = i
		f.names(at+".title", k.Title)
	}
}

func (f *faults) names(at string, n names) {
	for _, x := range [...]struct{ key, text string }{{"zh-CN", n.Zh}, {"en", n.En}} {
		if utf8.RuneCountInString(x.text) > 40 {
			f.add(at+"."+x.key, "%s has over 40 characters: no display has room for it", shown(x.text))
		}
		if strings.ContainsFunc(x.text, unicode.IsControl) {
			f.add(at+"."+x.key, "%s has a control character or a line break; write it in one line", shown(x.text))
		}
	}
}
