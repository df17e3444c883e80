package journal

import (
	"testing"

	"callerd/internal/queue"
)

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1, 8, 64, 512} {
		b.Run(sizeOf(size), func(b *testing.B) {
			j := mustOpen(b, b.TempDir())
			mustAppend(b, j, []*queue.Record{dayOpened(1, 1)})
			batch := issues(2, size)
			for b.Loop() {
				mustAppend(b, j, batch)
				for _, r := range batch {
					r.Sequence += uint64(size)
				}
			}
			b.ReportMetric(float64(size)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, size := range []int{1, 512} {
		b.Run(sizeOf(size), func(b *testing.B) {
			var e encoder
			batch := issues(1, size)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				value, err := e.batch(0, batch)
				if err != nil {
					b.Fatal(err)
				}
				n = len(value)
			}
			b.ReportMetric(float64(n)/float64(size), "B/record")
		})
	}
}

// Two days of 50,000 records, in batches as a busy hall and as a full kiosk row make them.
func BenchmarkReplay(b *testing.B) {
	for _, size := range []int{1, 64} {
		b.Run(sizeOf(size), func(b *testing.B) {
			dir := b.TempDir()
			j, err := Open(dir, Options{NoSync: true})
			if err != nil {
				b.Fatal(err)
			}
			appendAll(b, j, days(2, 50_000), size)
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				if err := j.Replay(func(*queue.Record) error { n++; return nil }); err != nil || n != 100_000 {
					b.Fatalf("got %d records: %v", n, err)
				}
			}
			b.StopTimer()
			if err := j.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	j, err := Open(dir, Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	appendAll(b, j, days(20, 50_000), 8)
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		j, err := Open(dir, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
