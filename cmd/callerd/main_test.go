package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// outcome is what a command said and did.
type outcome struct {
	code        int
	out, errors string
}

// finish runs the program to its end, in a folder and with nothing in its environment but env.
func finish(t *testing.T, dir string, env []string, args ...string) outcome {
	t.Helper()
	c := callerd(t, args...)
	c.Dir, c.Env = dir, append([]string{asCallerd + "=1", "TZ=Asia/Shanghai"}, env...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return outcome{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

// write makes a file and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := dir + "/" + name
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheArgumentsThatThereAre(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		out  string
		errs string
	}{
		{[]string{"--help"}, 0, "Serve a branch (the default)", ""},
		{[]string{"serve", "--help"}, 0, "$CALLERD_HTTP_ADDR", ""},
		{[]string{"serve", "--help"}, 0, "--insecure", ""},
		{[]string{"check", "--help"}, 0, "--data", ""},
		{[]string{"version"}, 0, "callerd ", ""},
		{[]string{"--port", "1"}, 2, "", "--port"},
		{[]string{"--grpc-addr"}, 2, "", "grpc-addr"},
		{[]string{"opne"}, 2, "", "opne"},
		{[]string{"--grpc-addr", "7070"}, 2, "", "not host:port"},
		{[]string{"--data", ""}, 2, "", "--data"},
		{[]string{"--config", "missing.yaml"}, 2, "", "missing.yaml"},
		{[]string{"--grpc-addr", "0.0.0.0:0"}, 2, "", "--insecure"},
		{[]string{"--http-addr", ":0"}, 2, "", "--insecure"},
		{[]string{"--http-addr", "[::]:0"}, 2, "", "--insecure"},
		{[]string{"--http-addr", "192.0.2.1:0"}, 2, "", "nobody is asked who he is"},
	} {
		dir := t.TempDir()
		got := finish(t, dir, nil, c.args...)
		if got.code != c.code || !strings.Contains(got.out, c.out) || !strings.Contains(got.errors, c.errs) {
			t.Errorf("%q: got %d\n%s%s, want %d with %q and %q", c.args, got.code, got.out, got.errors, c.code, c.out, c.errs)
		}
		if found, _ := os.ReadDir(dir); len(found) != 0 {
			t.Errorf("%q: it made %v", c.args, found)
		}
	}
}
