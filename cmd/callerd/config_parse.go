package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// faults collects everything that is wrong with a file, each with its line, so that one look mends all.
type faults struct {
	path  string
	lines map[string]int // of each key and item by its path, for example "categories[1].prefix"
	found []fault
}

type fault struct {
	line  int
	where string // "" for the file
	text  string
}

// add notes a fault of a key or item, unless it, or what it stands in, has one already.
func (f *faults) add(where, format string, args ...any) {
	line := 0
	for at := where; at != ""; at = at[:max(strings.LastIndexAny(at, ".["), 0)] {
		if line == 0 {
			line = f.lines[at]
		}
		if slices.ContainsFunc(f.found, func(x fault) bool { return x.where == at }) {
			return
		}
	}
	f.found = append(f.found, fault{line, where, where + ": " + fmt.Sprintf(format, args...)})
}

// addFile notes a fault of the file at a line.
func (f *faults) addFile(line int, format string, args ...any) {
	f.found = append(f.found, fault{line: line, text: fmt.Sprintf(format, args...)})
}

// err is nil, or all faults by line.
func (f *faults) err() error {
	if len(f.found) == 0 {
		return nil
	}
	slices.SortStableFunc(f.found, func(a, b fault) int { return a.line - b.line })
	plural := "s"
	if len(f.found) == 1 {
		plural = ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d fault%s", f.path, len(f.found), plural)
	for _, x := range f.found {
		fmt.Fprintf(&b, "\n  line %d: %s", x.line, x.text)
	}
	return &fileError{b.String()}
}

// fileError is all that is wrong with a file.
type fileError struct{ text string }

func (e *fileError) Error() string { return e.text }
func (e *fileError) Unwrap() error { return errUsage }

// parseConfig reads a file's text and checks it whole.
func parseConfig(path string, data []byte) (*config, error) {
	c, _, err := parseLines(path, data)
	return c, err
}

// parseLines also tells the line of each key.
func parseLines(path string, data []byte) (*config, map[string]int, error) {
	f := &faults{path: path, lines: map[string]int{}}
	c, err := f.parse(data)
	return c, f.lines, err
}

func (f *faults) parse(data []byte) (*config, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for i, line := range bytes.Split(data, []byte("\n")) {
		if !utf8.Valid(line) { // the parser would put something else in its place
			f.addFile(i+1, "this is not UTF-8; save the file as UTF-8")
			return nil, f.err()
		}
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, &fileError{f.path + ": " + yaml.FormatError(err, false, true)}
	}
	c := defaultConfig()
	documents := 0
	for _, d := range file.Docs {
		if d.Body == nil || d.Body.Type() == ast.DirectiveType {
			continue
		}
		if documents++; documents > 1 {
			f.addFile(lineOf(d.Body), "a second document: there may be one only")
			continue
		}
		body := f.value(d.Body, "")
		if f.lines["categories"] != 0 {
			c.Categories = nil
		}
		if f.lines["counters"] != 0 {
			c.Counters = nil
		}
		if err := yaml.NodeToValue(body, c); err != nil {
			f.addFile(lineOf(d.Body), "%s", yaml.FormatError(err, false, false))
			return nil, f.err()
		}
	}
	c.check(f)
	return c, f.err()
}
