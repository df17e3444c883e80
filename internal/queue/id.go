package queue

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// CategoryID names a category: 1 to 32 of a-z, 0-9 and '-', starting with a letter. It comes from the configuration.
type CategoryID string

// CounterID is a counter's number, as spoken; from 1. Zero means none.
type CounterID uint32

// MaxCounterID is the largest counter number: four digits fit on every display.
const MaxCounterID CounterID = 9999

// Validate tells what is wrong with the id, or nil.
func (id CategoryID) Validate() error {
	if id == "" || len(id) > 32 {
		return fmt.Errorf("%q: want 1 to 32 characters", string(id))
	}
	for i, r := range string(id) {
		letter := r >= 'a' && r <= 'z'
		if !letter && (i == 0 || (r != '-' && (r < '0' || r > '9'))) {
			return fmt.Errorf("%q: want a-z, 0-9 and '-', a letter first", string(id))
		}
	}
	return nil
}

// Day is a business day (营业日). The zero value is no day. A date that is used a second time, after the
// clock was set back on purpose, gets the next run number.
type Day struct {
	Date int32 // year*10000 + month*100 + day
	Run  int32 // 0 for the first use of the date
}

// DayOf returns the first run of a date.
func DayOf(year int, month time.Month, day int) Day {
	return Day{Date: int32(year*10000 + int(month)*100 + day)}
}

// IsZero reports whether d is no day.
func (d Day) IsZero() bool { return d == Day{} }

// Before reports whether d is an earlier day, or an earlier run of the same date.
func (d Day) Before(e Day) bool { return d.Date < e.Date || d.Date == e.Date && d.Run < e.Run }

// String is "2026-11-30", or "2026-11-30.1" for the second run of the date.
func (d Day) String() string {
	b := make([]byte, 0, 16)
	b = d.append(b)
	return string(b)
}

func (d Day) append(b []byte) []byte {
	y, m, day := int(d.Date/10000), int(d.Date/100%100), int(d.Date%100)
	b = append(b, byte('0'+y/1000%10), byte('0'+y/100%10), byte('0'+y/10%10), byte('0'+y%10),
		'-', byte('0'+m/10), byte('0'+m%10), '-', byte('0'+day/10), byte('0'+day%10))
	if d.Run > 0 {
		b = append(b, '.')
		b = strconv.AppendInt(b, int64(d.Run), 10)
	}
	return b
}

// ParseDay is the inverse of [Day.String]; it accepts nothing else.
func ParseDay(s string) (Day, error) {
	date, run, hasRun := strings.Cut(s, ".")
	t, err := time.Parse(time.DateOnly, date)
	if err != nil || t.Year() < 1 || t.Year() > 9999 {
		return Day{}, fmt.Errorf("%q: want a date such as 2026-11-30", s)
	}
	d := DayOf(t.Date())
	if hasRun {
		n, err := strconv.ParseUint(run, 10, 31)
		if err != nil || n == 0 || strconv.FormatUint(n, 10) != run {
			return Day{}, fmt.Errorf("%q: want a run such as 2026-11-30.1", s)
		}
		d.Run = int32(n)
	}
	return d, nil
}

// TicketID names a ticket for ever. The zero value names none.
type TicketID struct {
	Day      Day
	Category CategoryID // of origin
	N        uint32     // in the series of that category on that day, from 1
}

// IsZero reports whether id names no ticket.
func (id TicketID) IsZero() bool { return id == TicketID{} }

// String is "2026-11-30/personal/12", and "" for the zero value.
func (id TicketID) String() string {
	if id.IsZero() {
		return ""
	}
	b := make([]byte, 0, 48)
	b = id.Day.append(b)
	b = append(b, '/')
	b = append(b, id.Category...)
	b = append(b, '/')
	b = strconv.AppendUint(b, uint64(id.N), 10)
	return string(b)
}

// ParseTicketID is the inverse of [TicketID.String]; it accepts nothing else.
func ParseTicketID(s string) (TicketID, error) {
	day, rest, _ := strings.Cut(s, "/")
	category, n, ok := strings.Cut(rest, "/")
	if !ok {
		return TicketID{}, fmt.Errorf("%q: want an id such as 2026-11-30/personal/12", s)
	}
	d, err := ParseDay(day)
	if err != nil {
		return TicketID{}, err
	}
	id := TicketID{Day: d, Category: CategoryID(category)}
	if err := id.Category.Validate(); err != nil {
		return TicketID{}, err
	}
	v, err := strconv.ParseUint(n, 10, 32)
	if err != nil || v == 0 || strconv.FormatUint(v, 10) != n {
		return TicketID{}, fmt.Errorf("%q: want a number from 1 after the last slash", s)
	}
	id.N = uint32(v)
	return id, nil
}

// FormatNumber makes the number of the n-th ticket of a series: the prefix and n, padded with zeros to
// width and growing past it.
func FormatNumber(prefix string, width int, n uint32) string {
	var digits [10]byte
	d := strconv.AppendUint(digits[:0], uint64(n), 10)
	b := make([]byte, 0, len(prefix)+max(width, len(d)))
	b = append(b, prefix...)
	for i := len(d); i < width; i++ {
		b = append(b, '0')
	}
	return string(append(b, d...))
}
