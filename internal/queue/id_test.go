package queue

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDaysAreReadAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
		d := DayOf(start.AddDate(0, 0, rapid.IntRange(0, 3_652_058).Draw(t, "day")).Date())
		d.Run = rapid.Int32Range(0, math.MaxInt32).Draw(t, "run")
		got, err := ParseDay(d.String())
		if err != nil || got != d {
			t.Fatalf("%s: got %v, %v, want %v", d, got, err, d)
		}
	})
}

func TestIDsAreReadAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := TicketID{
			Day:      Day{Date: 20261130, Run: rapid.Int32Range(0, 3).Draw(t, "run")},
			Category: CategoryID(rapid.StringMatching(`[a-z][a-z0-9-]{0,31}`).Draw(t, "category")),
			N:        rapid.Uint32Range(1, math.MaxUint32).Draw(t, "n"),
		}
		got, err := ParseTicketID(id.String())
		if err != nil || got != id {
			t.Fatalf("%s: got %v, %v, want %v", id, got, err, id)
		}
	})
}

func TestNothingElseIsADay(t *testing.T) {
	for _, s := range []string{"", "2026", "2026-11-31", "2026-13-01", "0000-01-01", "2026-1-05", "2026-11-30.", "2026-11-30.0",
		"2026-11-30.01", "2026-11-30.-1", "2026-11-30.2147483648", "2026-11-30 ", " 2026-11-30", "+026-11-30", "2026-11-30.1.1"} {
		if d, err := ParseDay(s); err == nil {
			t.Errorf("%q: got %v, want an error", s, d)
		}
	}
}

func TestNothingElseIsAnID(t *testing.T) {
	for _, s := range []string{"", "2026-11-30", "2026-11-30/personal", "2026-11-30/personal/", "2026-11-30/personal/0",
		"2026-11-30/personal/01", "2026-11-30/personal/+1", "2026-11-30/personal/1/", "2026-11-30/personal/4294967296",
		"2026-11-30//1", "2026-11-30/Personal/1", "2026-11-30/1a/1", "2026-11-31/personal/1", "/personal/1",
		"2026-11-30/" + strings.Repeat("a", 33) + "/1", "2026-11-30/个人/1"} {
		if id, err := ParseTicketID(s); err == nil {
			t.Errorf("%q: got %v, want an error", s, id)
		}
	}
	if got := (TicketID{}).String(); got != "" {
		t.Errorf("the zero id: got %q, want nothing", got)
	}
}

func TestARunOfADateComesAfterTheOneBefore(t *testing.T) {
	ordered := []Day{{}, {20251231, 7}, {20260101, 0}, {20260101, 1}, {20260101, 2}, {20260102, 0}}
	for i, d := range ordered {
		for j, e := range ordered {
			if got, want := d.Before(e), i < j; got != want {
				t.Errorf("%v before %v: got %t, want %t", d, e, got, want)
			}
		}
		if got, want := d.IsZero(), i == 0; got != want {
			t.Errorf("%v is no day: got %t, want %t", d, got, want)
		}
	}
}

// Case 10.
func TestNumbersGrowPastTheirWidth(t *testing.T) {
	tests := []struct {
		name   string
		prefix string
		width  int
		n      uint32
		want   string
	}{
		{"the first is padded with zeros", "A", 3, 1, "A001"},
		{"the last that fits is A999", "A", 3, 999, "A999"},
		{"the next one is A1000", "A", 3, 1000, "A1000"},
		{"the largest number of all", "A", 3, MaxNumber, "A9999999"},
		{"without width nothing is padded", "B", 0, 7, "B7"},
		{"without prefix it is digits alone", "", 4, 7, "0007"},
		{"a prefix of several bytes is kept", "个", 2, 7, "个07"},
		{"a width wider than any number pads all of it", "A", 12, math.MaxUint32, "A004294967295"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := FormatNumber(test.prefix, test.width, test.n); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func FuzzParseTicketID(f *testing.F) {
	for _, s := range []string{"2026-11-30/personal/12", "2026-11-30.1/corporate/4294967295", "2024-02-29/a/1", "", "//", "2026-11-30/-/1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseTicketID(s)
		if err != nil {
			return
		}
		if got := id.String(); got != s {
			t.Errorf("%q is read as %+v and written as %q", s, id, got)
		}
	})
}

func FuzzParseDay(f *testing.F) {
	for _, s := range []string{"2026-11-30", "2026-11-30.1", "0001-01-01", "9999-12-31.2147483647", "2026-02-29"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDay(s)
		if err != nil {
			return
		}
		if got := d.String(); got != s {
			t.Errorf("%q is read as %+v and written as %q", s, d, got)
		}
	})
}
