package server

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
)

// docs/errors.md is what integrators read: it has every row of the table, with its code, and no other.
func TestTheRefusalsInTheDocumentationAreTheTables(t *testing.T) {
	text, err := os.ReadFile("../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| ([A-Z_]+) \\|").FindAllStringSubmatch(string(text), -1) {
		written[m[1]] = m[2]
	}
	code := func(c codes.Code) string {
		return strings.ToUpper(regexp.MustCompile("([a-z])([A-Z])").ReplaceAllString(c.String(), "${1}_$2"))
	}
	want := map[string]string{"BAD_FIELD": code(codes.InvalidArgument)}
	for _, r := range errorTable {
		want[r.reason] = code(r.code)
	}
	for reason, c := range want {
		if written[reason] != c {
			t.Errorf("%s: docs/errors.md has %q, want %q", reason, written[reason], c)
		}
	}
	for reason := range written {
		if want[reason] == "" {
			t.Errorf("docs/errors.md has %s, the table has not", reason)
		}
	}
}
