package journal

import (
	"strings"
	"testing"

	"callerd/internal/queue"
)

// A batch that fills its page to the last byte was once taken for damage, and the daemon did not start again.
func TestABatchThatFillsItsPageExactlyIsNoDamage(t *testing.T) {
	t.Parallel()
	full := 0
	for n := 3900; n < 4060; n++ {
		dir := t.TempDir()
		j, err := Open(dir, Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		r := dayOpened(1, 1)
		r.Outcomes = append(r.Outcomes, &queue.NoticePublished{Text: queue.Names{En: strings.Repeat("x", n)}})
		mustAppend(t, j, []*queue.Record{r})
		var size int
		if err := j.Export(t.Context(), 0, func(bs []RawBatch) error { size = len(bs[0].Value); return nil }); err != nil {
			t.Fatalf("a value of %d bytes: %v", size, err)
		}
		if pageHeader+elementSize+8+size == 4096 {
			full++
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		equal(t, mustReadAll(t, dir), []*queue.Record{r})
	}
	if full != 1 {
		t.Errorf("got %d full pages, want 1: the test shows nothing", full)
	}
}
