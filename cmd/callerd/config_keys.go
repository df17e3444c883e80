package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// kind is what a value is, in words.
type kind string

const (
	aText   kind = "text"
	aNumber kind = "whole number"
	aBlock  kind = "block of keys"
	aList   kind = "list"
)

// key is a key or, with [] at its end, an item of a list; "" is the file.
type key struct {
	at   string
	kind kind
}

// keys are all keys that there are.
var keys = slices.Concat(branchKeys, policyKeys("defaults."), policyKeys("categories[]."))

var branchKeys = []key{
	{"", aBlock},
	{"grpc_addr", aText}, {"http_addr", aText}, {"data", aText}, {"keep_days", aNumber},
	{"branch", aBlock}, {"branch.name", aBlock}, {"branch.name.zh-CN", aText}, {"branch.name.en", aText},
	{"branch.time_zone", aText}, {"branch.day_cut", aText},
	{"session", aBlock}, {"session.lease", aText}, {"defaults", aBlock},
	{"categories", aList}, {"categories[]", aBlock}, {"categories[].id", aText}, {"categories[].prefix", aText},
	{"categories[].width", aNumber}, {"categories[].name", aBlock}, {"categories[].name.zh-CN", aText}, {"categories[].name.en", aText},
	{"counters", aList}, {"counters[]", aBlock}, {"counters[].counter", aNumber}, {"counters[].rule", aText},
	{"counters[].categories", aList}, {"counters[].categories[]", aText}, {"counters[].weights", aList}, {"counters[].weights[]", aNumber},
	{"resources", aList}, {"resources[]", aBlock}, {"resources[].name", aText},
	{"resources[].title", aBlock}, {"resources[].title.zh-CN", aText}, {"resources[].title.en", aText},
}

// policyKeys are the keys of a policy, which stand in two places.
func policyKeys(at string) []key {
	out := []key{
		{"max_per_day", aNumber}, {"max_per_person", aNumber}, {"hours", aBlock}, {"holidays", aList}, {"holidays[]", aText},
		{"max_overtakes", aNumber}, {"max_wait", aText},
		{"no_show", aBlock}, {"no_show.after", aText}, {"no_show.min_calls", aNumber}, {"no_show.min_wait", aText},
		{"no_show.max_recalls", aNumber}, {"no_show.at_limit", aText},
		{"requeue", aBlock}, {"requeue.within", aText}, {"requeue.numbers", aNumber}, {"requeue.to", aText}, {"requeue.after", aNumber},
		{"check_in_within", aText}, {"held_within", aText},
	}
	for _, day := range [...]string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		out = append(out, key{"hours." + day, aList}, key{"hours." + day + "[]", aText})
	}
	for i := range out {
		out[i].at = at + out[i].at
	}
	return out
}

var index = regexp.MustCompile(`\[\d+\]`)

// keyAt finds a key by a path such as "categories[1].prefix"; nil if there is none.
func keyAt(path string) *key {
	path = index.ReplaceAllString(path, "[]")
	i := slices.IndexFunc(keys, func(k key) bool { return k.at == path })
	if i < 0 {
		return nil
	}
	return &keys[i]
}

// value notes the lines of a value's keys and items and whatever does not belong there. It returns the value, and
// none for what is not of the kind that its place wants.
func (f *faults) value(n ast.Node, at string) ast.Node {
	if n.Type() == ast.NullType {
		return n // as if it were left out
	}
	got, want := kindOf(n), keyAt(at).kind
	if got != want {
		if at == "" {
			f.addFile(lineOf(n), "this is a %s, want a %s%s", got, want, similar(""))
		} else {
			f.add(at, "this is a %s, want a %s", got, want)
		}
		return ast.Null(token.New("null", "null", n.GetToken().Position))
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			f.keyed(v, at)
		}
	case *ast.SequenceNode:
		for i, v := range n.Values {
			item := fmt.Sprintf("%s[%d]", at, i)
			f.lines[item] = lineOf(v)
			n.Values[i] = f.value(v, item)
		}
	}
	return n
}

func (f *faults) keyed(v *ast.MappingValueNode, at string) {
	name := v.Key.GetToken().Value
	path := strings.TrimPrefix(at+"."+name, ".")
	f.lines[path] = lineOf(v.Key)
	if name == "" || strings.ContainsAny(name, ".[") || keyAt(path) == nil {
		f.add(path, "there is no such key here%s", similar(at))
		return
	}
	v.Value = f.value(v.Value, path)
}

func kindOf(n ast.Node) kind {
	switch n := n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return aText
	case *ast.IntegerNode:
		return aNumber
	case *ast.MappingNode:
		return aBlock
	case *ast.SequenceNode:
		return aList
	default: // also anchors, aliases and tags, which nothing here is in need of
		return kind(fmt.Sprintf("%s (%s)", strings.ToLower(n.Type().YAMLName()), shown(n.GetToken().Value)))
	}
}

// similar names the keys that there are in a place.
func similar(at string) string {
	parent := strings.TrimPrefix(index.ReplaceAllString(at, "[]")+".", ".")
	var there []string
	for _, k := range keys {
		if rest, ok := strings.CutPrefix(k.at, parent); ok && rest != "" && !strings.ContainsAny(rest, ".[") {
			there = append(there, rest)
		}
	}
	return "; there are: " + strings.Join(there, ", ")
}

func lineOf(n ast.Node) int { return n.GetToken().Position.Line }

// shown quotes a word of the file, cut short.
func shown(s string) string {
	if len(s) > 40 {
		return fmt.Sprintf("%.40q…", s)
	}
	return fmt.Sprintf("%q", s)
}
