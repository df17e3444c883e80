package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// zoneFiles is where systems keep their time zones.
const zoneFiles = "/usr/share/zoneinfo"

// errNoZone says that this machine's time zone has no name that a journal could keep.
var errNoZone = errors.New("the time zone of this machine cannot be told; set branch.time_zone, for example Asia/Shanghai")

// hostZone returns the name of this machine's time zone: what TZ says, else what /etc/localtime is (a link, or a copy as in
// many containers), else UTC. It refuses to guess: a hall in the wrong zone begins its day in the middle of another.
func hostZone(tz, localtime, timezone string) (string, error) {
	if tz != "" {
		name := strings.TrimPrefix(tz, ":")
		if _, err := time.LoadLocation(name); err != nil || name == "" || name == "Local" {
			return "", fmt.Errorf("%w: TZ is %q", errNoZone, tz)
		}
		return name, nil
	}
	content, err := os.ReadFile(localtime)
	if errors.Is(err, fs.ErrNotExist) {
		return "UTC", nil
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNoZone, err)
	}
	if link, err := filepath.EvalSymlinks(localtime); err == nil {
		if name, err := filepath.Rel(zoneFiles, link); err == nil && named(name, content) {
			return name, nil
		}
	}
	if text, err := os.ReadFile(timezone); err == nil {
		if name := strings.TrimSpace(string(text)); named(name, content) {
			return name, nil
		}
	}
	if name := sameZone(content); name != "" {
		return name, nil
	}
	return "", fmt.Errorf("%w: %s is none of the zones in %s", errNoZone, localtime, zoneFiles)
}

// named reports whether a name is that of a zone with this content.
func named(name string, content []byte) bool {
	if _, err := time.LoadLocation(name); err != nil || name == "" || name == "Local" {
		return false
	}
	file, err := os.ReadFile(filepath.Join(zoneFiles, name))
	return err == nil && bytes.Equal(file, content)
}

// sameZone looks for a zone with this content among all that the system has; "" when there is none.
func sameZone(content []byte) (found string) {
	_ = filepath.WalkDir(zoneFiles, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // what cannot be read is not it
		}
		name, err := filepath.Rel(zoneFiles, path)
		if err == nil && !strings.HasPrefix(name, "right/") && !strings.HasPrefix(name, "posix/") && strings.Contains(name, "/") && named(name, content) {
			found = name
			return fs.SkipAll
		}
		return nil
	})
	return found
}
