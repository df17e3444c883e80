package journal

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"callerd/internal/queue"
)

func TestAReplayEndsWithTheRecordThatCannotBeApplied(t *testing.T) {
	t.Parallel()
	j := mustOpen(t, t.TempDir())
	const n = 40 * readAhead
	appendAll(t, j, issues(1, n), 1)
	wrong := errors.New("it cannot be")
	for _, at := range []uint64{1, readAhead + 1, n} {
		var seen uint64
		err := j.Replay(func(r *queue.Record) error {
			seen = r.Sequence
			if r.Sequence == at {
				return wrong
			}
			return nil
		})
		if !errors.Is(err, wrong) || !strings.Contains(err.Error(), fmt.Sprintf("record %d:", at)) || seen != at {
			t.Errorf("got %v after record %d, want the error of record %d and no more records", err, seen, at)
		}
	}
}
