// Package structure_test keeps the shape of the program: which package may know which, and what is banned where. It has no
// code of its own.
package structure_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// arrows are the packages that one may import, itself or through another, with the reason why it needs them. A package of
// the module without a row may import none of the others.
var arrows = []struct{ from, to, why string }{
	{"internal/queue", "internal/arch", "a line is guarded by the ticket lock"},
	{"internal/counter", "internal/queue", "a counter has a current ticket and chooses among lines"},
	{"internal/branch", "internal/counter", "the branch decides for its counters"},
	{"internal/journal", "internal/queue", "the journal stores records; it knows nothing of the rules"},
	{"internal/journal", "proto/journal/v1", "the stored format is its own: it must be readable for ever"},
	{"internal/server", "internal/branch", "the services are the branch's methods"},
	{"internal/server", "internal/hub", "the board's frames go to the displays"},
	{"internal/server", "proto/callerd/v1", "the public API"},
	{"cmd/callerd", "internal/server", "the daemon serves"},
	{"cmd/callerd", "internal/journal", "the daemon opens the journal and hands it to the branch"},
	{"cmd/callerd", "web/display", "the page is in the binary"},
	{"cmd/kiosk-sim", "proto/callerd/v1", "the simulator is a client: it sees what any client sees"},
}

// bare packages import nothing but the standard library and each other: the rules of the hall must not depend on how they are
// sent, stored or shown.
var bare = []string{"internal/arch", "internal/queue", "internal/counter", "internal/branch"}

const module = "callerd/"

// packages returns the module's packages, as paths within the module, and what each depends on, itself or through others, but
// for the standard library.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-f", `{{if not .Standard}}{{.ImportPath}} {{join .Deps " "}}{{end}}`, "./...")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v: %v", list, err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		all[words[0]] = words[1:]
	}
	own := map[string][]string{}
	for path, deps := range all {
		name, ok := strings.CutPrefix(path, module)
		if !ok {
			continue
		}
		own[name] = []string{}
		for _, d := range deps {
			if _, listed := all[d]; listed { // so it is not of the standard library
				own[name] = append(own[name], strings.TrimPrefix(d, module))
			}
		}
	}
	return own
}

// reach returns all that the arrows lead to.
func reach(from string) (to []string) {
	for _, a := range arrows {
		if a.from == from {
			to = append(append(to, a.to), reach(a.to)...)
		}
	}
	return to
}

func TestEveryImportIsAnArrowOfTheTable(t *testing.T) {
	own := packages(t)
	for pkg, deps := range own {
		root, _, _ := strings.Cut(pkg, "/internal/") // a command's own packages may what the command may
		allowed := append(reach(pkg), reach(root)...)
		for _, dep := range deps {
			if _, ours := own[dep]; ours && !slices.Contains(allowed, dep) && !strings.HasPrefix(dep, root+"/internal/") {
				t.Errorf("%s depends on %s, and no arrow leads there", pkg, dep)
			}
		}
	}
}

func TestEveryArrowOfTheTableIsThere(t *testing.T) {
	own := packages(t)
	for _, a := range arrows {
		if a.why == "" {
			t.Errorf("%s -> %s has no reason", a.from, a.to)
		}
		if !slices.Contains(own[a.from], a.to) {
			t.Errorf("%s -> %s (%s) is in the table and not in the program", a.from, a.to, a.why)
		}
	}
}

func TestTheRulesDependOnTheStandardLibraryAlone(t *testing.T) {
	own := packages(t)
	for _, pkg := range bare {
		if own[pkg] == nil {
			t.Errorf("there is no package %s", pkg)
		}
		for _, dep := range own[pkg] {
			if !slices.Contains(bare, dep) {
				t.Errorf("%s depends on %s", pkg, dep)
			}
		}
	}
}
