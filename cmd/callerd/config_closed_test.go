package main

import (
	"testing"
	"time"
)

// A week in which every day is named as closed is closed, not always open.
func TestAWeekOfClosedDaysIsClosed(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]bool{
		"{}":                           true,
		"{monday: []}":                 false,
		"{tuesday: [\"09:00-12:00\"]}": false,
		"{monday: [\"09:00-12:00\"]}":  true,
	} {
		c, err := parseConfig("hall.yaml", []byte("branch: {time_zone: UTC}\ndefaults: {hours: "+text+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := c.branch().Policies["personal"].Hours.Open(monday); got != want {
			t.Errorf("%s on a Monday: got open %t, want %t", text, got, want)
		}
	}
}
