package queue

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/lifecycle.md anew")

const lifecyclePage = "../../docs/lifecycle.md"

const (
	begin = "<!-- made by go test ./internal/queue -run TestThePageOfTheLifecycle -update -->\n"
	end   = "<!-- end -->\n"
)

// The table in docs/lifecycle.md is the program's own.
func TestThePageOfTheLifecycle(t *testing.T) {
	b, err := os.ReadFile(lifecyclePage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	table, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the table between %q and %q", lifecyclePage, begin, end)
	}
	if table == Table() {
		return
	}
	if !*update {
		t.Fatalf("%s is stale: run go test ./internal/queue -run TestThePageOfTheLifecycle -update", lifecyclePage)
	}
	if err := os.WriteFile(lifecyclePage, []byte(before+begin+Table()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
