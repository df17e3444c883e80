package main

import "runtime/debug"

// stamped is set by the build: -ldflags "-X main.stamped=v1.2.3".
var stamped string

// version is what the build stamped, else what the toolchain knows.
func version() string {
	if stamped != "" {
		return stamped
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return info.Main.Version
}
