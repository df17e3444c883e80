package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Flag before environment before file before default, for each flag that a file can set. What won is told by a refusal: an
// address that may not be served, a folder that is none.
func TestAFlagComesBeforeTheEnvironmentBeforeTheFileBeforeTheDefault(t *testing.T) {
	t.Parallel()
	for _, f := range []struct{ flag, env, key, format string }{
		{"--grpc-addr", "CALLERD_GRPC_ADDR", "grpc_addr", "192.0.2.%:0"},
		{"--http-addr", "CALLERD_HTTP_ADDR", "http_addr", "192.0.2.%:0"},
		{"--data", "CALLERD_DATA", "data", "occupied%/data"},
	} {
		dir := t.TempDir()
		for _, n := range []string{"1", "2", "3"} {
			write(t, dir, "occupied"+n, "not a folder")
		}
		value := func(n string) string { return strings.ReplaceAll(f.format, "%", n) }
		file := write(t, dir, "hall.yaml", f.key+": "+value("3")+"\n")
		env, flag := f.env+"="+value("2"), []string{f.flag, value("1")}
		for _, c := range []struct {
			what string
			env  []string
			args []string
			want string
		}{
			{"all three", []string{env}, append([]string{"--config", file}, flag...), value("1")},
			{"flag and file", nil, append([]string{"--config", file}, flag...), value("1")},
			{"environment and file", []string{env}, []string{"--config", file}, value("2")},
			{"environment and file by environment", []string{env, "CALLERD_CONFIG=" + file}, nil, value("2")},
			{"flag and environment", []string{env}, flag, value("1")},
			{"the file alone", nil, []string{"--config", file}, value("3")},
			{"the file by environment", []string{"CALLERD_CONFIG=" + file}, nil, value("3")},
			{"the file by flag before that of the environment", []string{"CALLERD_CONFIG=missing"}, []string{"--config", file}, value("3")},
			{"the command named", nil, append([]string{"serve", "--config", file}, flag...), value("1")},
		} {
			got := finish(t, dir, c.env, c.args...)
			if got.code == 0 || !strings.Contains(got.errors, strings.TrimSuffix(c.want, "/data")) {
				t.Errorf("%s, %s: got %d %s, want %s to be what it refuses", f.flag, c.what, got.code, got.errors, c.want)
			}
		}
	}
}

func TestTheDefaultsAreThoseOfTheManual(t *testing.T) {
	t.Parallel()
	help := finish(t, t.TempDir(), nil, "serve", "--help").out
	for _, want := range []string{`"127.0.0.1:7070"`, `"127.0.0.1:8080"`, `"./callerd-data"`, "$CALLERD_GRPC_ADDR", "$CALLERD_HTTP_ADDR", "$CALLERD_DATA", "$CALLERD_CONFIG", "$CALLERD_INSECURE"} {
		if !strings.Contains(help, want) {
			t.Errorf("got\n%s\nwant %s in it", help, want)
		}
	}
}

func TestAFileWithFaultsStopsEveryCommandThatWouldReadIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, dir, "hall.yaml", "dtaa: elsewhere\n")
	for _, args := range [][]string{{"--config", file}, {"check"}} {
		got := finish(t, dir, []string{"CALLERD_CONFIG=" + file}, args...)
		if got.code != 2 || !strings.Contains(got.errors, "line 1: dtaa") {
			t.Errorf("%q: got %d %s, want 2 and the line", args, got.code, got.errors)
		}
	}
	if made, _ := filepath.Glob(dir + "/callerd-data"); len(made) > 0 {
		t.Error("a folder was made all the same")
	}
}
