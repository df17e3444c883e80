package server

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain fails the run if a goroutine of this program or of a server that it started is left over.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := leaked(); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines left over:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leaked returns the stacks that are still there after a few seconds of grace.
func leaked() string {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var left []string
	for range 500 {
		left = left[:0]
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for _, g := range strings.Split(string(stacks), "\n\n")[1:] { // the first is this one
			for _, ours := range [...]string{"callerd/", "google.golang.org/grpc", "gorilla/", "net/http"} {
				if strings.Contains(g, ours) {
					left = append(left, g)
					break
				}
			}
		}
		if len(left) == 0 {
			return ""
		}
		<-tick.C
	}
	return strings.Join(left, "\n\n")
}
