package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"callerd/internal/queue"
)

// faults collects everything that is wrong with a file, each with its line, so that one look mends all.
type faults struct {
	path  string
	lines map[string]int // of each key and item by its path, for example "categories[1].prefix"
	found []fault
}

type fault struct {
	line int
	text string
}

func (f *faults) add(where, format string, args ...any) {
	line, at := 0, where
	for at != "" && line == 0 {
		line = f.lines[at]
		at = at[:max(strings.LastIndexAny(at, ".["), 0)]
	}
	f.found = append(f.found, fault{line, where + ": " + fmt.Sprintf(format, args...)})
}

// err is nil, or all faults by line.
func (f *faults) err() error {
	if len(f.found) == 0 {
		return nil
	}
	slices.SortStableFunc(f.found, func(a, b fault) int { return a.line - b.line })
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d faults", f.path, len(f.found))
	for _, x := range f.found {
		fmt.Fprintf(&b, "\n  line %d: %s", x.line, x.text)
	}
	return fmt.Errorf("%w: %s", errUsage, b.String())
}

// parseConfig reads a file's text and checks it whole.
func parseConfig(path string, data []byte) (*config, error) {
	f := &faults{path: path, lines: map[string]int{}}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %s", errUsage, path, yaml.FormatError(err, false, true))
	}
	if len(file.Docs) > 1 {
		f.found = append(f.found, fault{file.Docs[1].GetToken().Position.Line, "a second document: there may be one only"})
	}
	for _, d := range file.Docs[:min(1, len(file.Docs))] {
		f.walk(d.Body, "")
	}
	c := defaultConfig()
	if f.lines["categories"] != 0 {
		c.Categories = nil
	}
	if f.lines["counters"] != 0 {
		c.Counters = nil
	}
	if err := yaml.Unmarshal(data, c); err != nil {
		var typed *yaml.TypeError
		if !errors.As(err, &typed) {
			return nil, fmt.Errorf("%w: %s: %s", errUsage, path, yaml.FormatError(err, false, true))
		}
		f.found = append(f.found, fault{typed.Token.Position.Line, fmt.Sprintf("%q is a %s, want a %s", typed.Token.Value, typed.SrcType, typed.DstType)})
		return nil, f.err()
	}
	c.check(f)
	return c, f.err()
}

var index = regexp.MustCompile(`\[\d+\]`)

// keys are all keys that there are.
var keys = strings.Fields(`grpc_addr http_addr data branch branch.name branch.name.zh-CN branch.name.en branch.time_zone branch.day_cut
	session session.lease categories categories[].id categories[].prefix categories[].width categories[].name
	categories[].name.zh-CN categories[].name.en counters counters[].counter counters[].categories counters[].rule`)

// walk notes the line of every key and item, and the keys that there are not.
func (f *faults) walk(n ast.Node, at string) {
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			f.walk(v, at)
		}
	case *ast.MappingValueNode:
		key := strings.TrimPrefix(at+"."+n.Key.GetToken().Value, ".")
		f.lines[key] = n.Key.GetToken().Position.Line
		if !slices.Contains(keys, index.ReplaceAllString(key, "[]")) {
			f.add(key, "there is no such key here%s", f.similar(key))
			return
		}
		f.walk(n.Value, key)
	case *ast.SequenceNode:
		for i, v := range n.Values {
			item := fmt.Sprintf("%s[%d]", at, i)
			f.lines[item] = v.GetToken().Position.Line
			f.walk(v, item)
		}
	}
}

// similar names the keys that there are in the same place.
func (f *faults) similar(key string) string {
	parent := ""
	if i := strings.LastIndex(key, "."); i >= 0 {
		parent = index.ReplaceAllString(key[:i+1], "[]")
	}
	var there []string
	for _, k := range keys {
		if rest, ok := strings.CutPrefix(k, parent); ok && !strings.ContainsAny(rest, ".[") {
			there = append(there, rest)
		}
	}
	return "; there are: " + strings.Join(there, ", ")
}

func (c *config) check(f *faults) {
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
	f.names("branch.name", c.Branch.Name)
	c.checkCategories(f)
	c.checkCounters(f)
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
			f.add(at+".rule", "%q is not a rule: oldest or priority", k.Rule)
		}
	}
}

func (f *faults) names(at string, n names) {
	for _, x := range [...]struct{ key, text string }{{"zh-CN", n.Zh}, {"en", n.En}} {
		if utf8.RuneCountInString(x.text) > 40 {
			f.add(at+"."+x.key, "%q has over 40 characters: no display has room for it", x.text)
		}
	}
}
