package growth

import (
	"testing"
)

func TestEveryOperationIsMeasuredAtEveryPointAndTheFirstIsTheMeasure(t *testing.T) {
	o := Options{Points: []Point{{20, 20}, {40, 40}, {40, 10}}, Real: []Point{{20, 20}}, Chunk: 10, Rounds: 1, Dir: t.TempDir(), Progress: func(int, int, string) {}}
	rows, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(o.Points)*len(ops) + 2; len(rows) != want {
		t.Fatalf("got %d rows, want %d", len(rows), want)
	}
	for i, r := range rows {
		if !(r.Ns > 0) || !(r.Ratio > 0) {
			t.Errorf("%+v: want figures above 0", r)
		}
		if i < len(ops) && r.Ratio != 1 {
			t.Errorf("%+v: want a ratio of 1 at the first point", r)
		}
	}
}

func TestMemoryIsCountedApart(t *testing.T) {
	m, err := MeasureMemory(t.Context(), 20000)
	if err != nil {
		t.Fatal(err)
	}
	if m.Waiting < 100 || m.Finished < 50 || m.Request < 16 {
		t.Errorf("got %+v, want what a ticket and a request id cannot do without", m)
	}
}
