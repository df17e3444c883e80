package branch

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"callerd/internal/queue"
)

// zones have midnights that are skipped, repeated, or twice a year an hour off, and one a whole day that never was.
var zones = []string{"UTC", "Asia/Shanghai", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Asia/Beirut", "Africa/Cairo",
	"America/Havana", "America/St_Johns", "Pacific/Apia", "Pacific/Kwajalein", "Australia/Lord_Howe", "Asia/Kathmandu", "Asia/Gaza"}

func TestTheBusinessDayOfATime(t *testing.T) {
	tests := []struct {
		name     string
		zone     string
		cut      time.Duration
		at       string // RFC 3339, with the offset that the zone's clocks show
		day, end string
	}{
		{"an ordinary morning", "Asia/Shanghai", 0, "2026-11-30T09:00:00+08:00", "2026-11-30", "2026-12-01T00:00:00+08:00"},
		{"the last nanosecond belongs to the day", "Asia/Shanghai", 0, "2026-11-30T23:59:59.999999999+08:00", "2026-11-30", "2026-12-01T00:00:00+08:00"},
		{"midnight belongs to the new one", "Asia/Shanghai", 0, "2026-12-01T00:00:00+08:00", "2026-12-01", "2026-12-02T00:00:00+08:00"},
		{"before the cut it is still yesterday", "Asia/Shanghai", 4 * time.Hour, "2026-12-01T03:59:59+08:00", "2026-11-30", "2026-12-01T04:00:00+08:00"},
		{"at the cut it is today", "Asia/Shanghai", 4 * time.Hour, "2026-12-01T04:00:00+08:00", "2026-12-01", "2026-12-02T04:00:00+08:00"},
		{"a late cut with minutes and seconds", "Asia/Shanghai", 23*time.Hour + 30*time.Minute + 15*time.Second, "2026-12-01T23:30:14+08:00", "2026-11-30", "2026-12-01T23:30:15+08:00"},
		{"the turn of the year", "Asia/Shanghai", time.Hour, "2027-01-01T00:30:00+08:00", "2026-12-31", "2027-01-01T01:00:00+08:00"},
		{"a day of 23 hours", "Europe/Berlin", 0, "2026-03-29T00:00:00+01:00", "2026-03-29", "2026-03-30T00:00:00+02:00"},
		{"a day of 25 hours", "Europe/Berlin", 0, "2026-10-25T00:00:00+02:00", "2026-10-25", "2026-10-26T00:00:00+01:00"},
		{"a cut that is skipped: the day turns at the jump", "Europe/Berlin", 150 * time.Minute, "2026-03-29T01:59:59+01:00", "2026-03-28", "2026-03-29T03:00:00+02:00"},
		{"after a skipped cut", "Europe/Berlin", 150 * time.Minute, "2026-03-29T03:00:00+02:00", "2026-03-29", "2026-03-30T02:30:00+02:00"},
		{"a midnight that is skipped, before", "America/Sao_Paulo", 0, "2018-11-03T23:59:59-03:00", "2018-11-03", "2018-11-04T01:00:00-02:00"},
		{"a midnight that is skipped, after", "America/Sao_Paulo", 0, "2018-11-04T01:00:00-02:00", "2018-11-04", "2018-11-05T00:00:00-02:00"},
		{"an hour before midnight that comes twice, the second time", "America/Sao_Paulo", 0, "2018-02-17T23:30:00-03:00", "2018-02-17", "2018-02-18T00:00:00-03:00"},
		{"Beirut skips its midnight", "Asia/Beirut", 0, "2026-03-28T23:00:00+02:00", "2026-03-28", "2026-03-29T01:00:00+03:00"},
		{"Cairo skips its midnight", "Africa/Cairo", 0, "2026-04-23T23:00:00+02:00", "2026-04-23", "2026-04-24T01:00:00+03:00"},
		{"the day before one that never was", "Pacific/Apia", 0, "2011-12-29T12:00:00-10:00", "2011-12-29", "2011-12-31T00:00:00+14:00"},
		{"the day after one that never was", "Pacific/Apia", 0, "2011-12-31T00:00:00+14:00", "2011-12-31", "2012-01-01T00:00:00+14:00"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, test.at)
			if err != nil {
				t.Fatal(err)
			}
			if shown := at.In(zone(test.zone)).Format(time.RFC3339Nano); shown != test.at {
				t.Fatalf("the clocks of %s show %s then, not %s", test.zone, shown, test.at)
			}
			end, day := nextTurn(at.UnixNano(), zone(test.zone), test.cut)
			if got := time.Unix(0, end).In(zone(test.zone)).Format(time.RFC3339); day.String() != test.day || got != test.end {
				t.Errorf("got %v until %s, want %s until %s", day, got, test.day, test.end)
			}
		})
	}
}

// Case 5: a year has one turn a day, also where days have 23 and 25 hours, and no day is longer than that.
func TestAYearTurnsOnceADay(t *testing.T) {
	for _, test := range []struct {
		zone           string
		cut            time.Duration
		days, s23, s25 int
	}{
		{"Europe/Berlin", 0, 365, 1, 1}, {"Europe/Berlin", 150 * time.Minute, 365, 1, 1}, {"Asia/Shanghai", 0, 365, 0, 0}, {"America/Havana", 0, 365, 1, 1},
		{"Asia/Beirut", 0, 365, 1, 1}, {"Africa/Cairo", 0, 365, 1, 1}, {"America/St_Johns", time.Minute, 365, 1, 1},
	} {
		z := zone(test.zone)
		at, _ := nextTurn(time.Date(2025, 12, 31, 12, 0, 0, 0, z).UnixNano(), z, test.cut)
		stop, _ := nextTurn(time.Date(2026, 12, 31, 12, 0, 0, 0, z).UnixNano(), z, test.cut)
		count := map[time.Duration]int{}
		days := 0
		for want := queue.DayOf(2026, 1, 1); at < stop; days++ {
			end, day := nextTurn(at, z, test.cut)
			if day != want {
				t.Fatalf("%s: got %v, want %v", test.zone, day, want)
			}
			count[time.Duration(end-at)]++
			want = queue.DayOf(time.Date(int(day.Date/10000), time.Month(day.Date/100%100), int(day.Date%100)+1, 0, 0, 0, 0, time.UTC).Date())
			at = end
		}
		short, long := count[23*time.Hour]+count[23*time.Hour+30*time.Minute], count[25*time.Hour]+count[24*time.Hour+30*time.Minute]
		if days != test.days || short < test.s23 || long < test.s25 || days != short+long+count[24*time.Hour] {
			t.Errorf("%s, cut %v: got %d days of lengths %v, want %d, %d of 23 and %d of 25 hours", test.zone, test.cut, days, count, test.days, test.s23, test.s25)
		}
	}
}

// Every instant belongs to exactly one day: all times of a day agree on it and on its end, and days never go back.
func TestEveryInstantBelongsToOneDay(t *testing.T) {
	from, to := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(2037, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	rapid.Check(t, func(t *rapid.T) {
		z := zone(rapid.SampledFrom(zones).Draw(t, "zone"))
		cut := time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 1800, 3600, 5400, 7200, 9000, 14400, 84600, 86399}).Draw(t, "cut")) * time.Second
		at := time.Unix(rapid.Int64Range(from, to).Draw(t, "at"), 0)
		if near, end := at.In(z).ZoneBounds(); rapid.Bool().Draw(t, "near a change of the clocks") && !near.IsZero() && !end.IsZero() {
			at = end.Add(time.Duration(rapid.Int64Range(-50*3600, 50*3600).Draw(t, "from it")) * time.Second)
		}
		end, day := nextTurn(at.UnixNano(), z, cut)
		if end <= at.UnixNano() || time.Duration(end-at.UnixNano()) > 50*time.Hour {
			t.Fatalf("%v is in a day that ends at %v", at.In(z), time.Unix(0, end).In(z))
		}
		later := rapid.Int64Range(at.UnixNano(), end-1).Draw(t, "later")
		for _, n := range []int64{later, end - 1} {
			if e, d := nextTurn(n, z, cut); e != end || d != day {
				t.Fatalf("%v is in %v until %v, but %v in %v until %v", at.In(z), day, time.Unix(0, end).In(z), time.Unix(0, n).In(z), d, time.Unix(0, e).In(z))
			}
		}
		next, following := nextTurn(end, z, cut)
		if !day.Before(following) || next <= end {
			t.Fatalf("after %v comes %v at %v", day, following, time.Unix(0, end).In(z))
		}
		if length := time.Duration(next - end); length < 22*time.Hour && z.String() != "Pacific/Kwajalein" && z.String() != "Pacific/Apia" {
			t.Fatalf("%v has %v", following, length)
		}
	})
}
