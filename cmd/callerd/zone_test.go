package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestTheZoneOfTheMachineIsToldOrAskedFor(t *testing.T) {
	t.Parallel()
	shanghai, err := os.ReadFile(filepath.Join(zoneFiles, "Asia/Shanghai"))
	if err != nil {
		t.Skipf("this machine has no time zones: %v", err)
	}
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	copied, odd, none := file("copied", shanghai), file("odd", []byte("no zone")), filepath.Join(dir, "none")
	says := file("says", []byte("Asia/Shanghai\n"))
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(zoneFiles, "Asia/Shanghai"), link); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, tz, localtime, timezone, want string }{
		{"TZ comes first", "Europe/Berlin", copied, says, "Europe/Berlin"},
		{"TZ may begin with a colon", ":Europe/Berlin", copied, says, "Europe/Berlin"},
		{"a TZ that has no name is not guessed at", "CST-8", copied, says, ""},
		{"a wrong TZ is not passed over", "Asia/Shangai", copied, says, ""},
		{"a link is followed", "", link, none, "Asia/Shanghai"},
		{"beside a copy, the file that names it", "", copied, says, "Asia/Shanghai"},
		{"a file that names another zone than the copy is not believed", "", odd, says, ""},
		{"a zone without a name is asked for", "", odd, none, ""},
		{"a machine without any is on UTC", "", none, none, "UTC"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := hostZone(test.tz, test.localtime, test.timezone)
			if got != test.want || (err == nil) != (test.want != "") || err != nil && !errors.Is(err, errNoZone) {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
	if got, err := hostZone("", copied, none); err != nil || !named(got, shanghai) {
		t.Errorf("a copy alone: got %q, %v, want a zone with its content", got, err)
	}
}
