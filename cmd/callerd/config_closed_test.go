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

// What is printed of a week is what the file may say of it: a closed one is not printed as one that is always open.
func TestAClosedWeekIsPrintedAsClosed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"{}": "{}", "{monday: []}": "{monday: []}", "{monday: [\"09:00-12:00\"]}": "{mon 09:00-12:00}"} {
		c, err := parseConfig("hall.yaml", []byte("branch: {time_zone: UTC}\ndefaults: {hours: "+text+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := weekText(c.branch().Policies["personal"].Hours); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
