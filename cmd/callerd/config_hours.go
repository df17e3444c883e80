package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"callerd/internal/branch"
)

// hoursConfig is when a category hands out numbers; a day that is left out is closed. A block without any day is always
// open.
type hoursConfig struct {
	Monday    []string `yaml:"monday"`
	Tuesday   []string `yaml:"tuesday"`
	Wednesday []string `yaml:"wednesday"`
	Thursday  []string `yaml:"thursday"`
	Friday    []string `yaml:"friday"`
	Saturday  []string `yaml:"saturday"`
	Sunday    []string `yaml:"sunday"`
}

// byDay are the windows of each day as written, by time.Weekday.
func (h *hoursConfig) byDay() [7][]string {
	return [7][]string{h.Sunday, h.Monday, h.Tuesday, h.Wednesday, h.Thursday, h.Friday, h.Saturday}
}

// named reports whether a day is named at all, be it as closed.
func (h *hoursConfig) named() bool {
	days := h.byDay()
	return slices.ContainsFunc(days[:], func(w []string) bool { return w != nil })
}

func (h *hoursConfig) week() (week [7][]branch.Window) {
	for i, texts := range h.byDay() {
		week[i], _ = parseWindows(texts) // checked
	}
	return week
}

// parseWindows reads windows such as "09:00-12:00", in their order and apart from one another. The error names the one
// that is wrong.
func parseWindows(texts []string) (out []branch.Window, err error) {
	for _, s := range texts {
		from, until, ok := strings.Cut(s, "-")
		w := branch.Window{}
		var wrong [2]error
		w.From, wrong[0] = parseCut(strings.TrimSpace(from))
		w.Until, wrong[1] = parseEnd(strings.TrimSpace(until))
		switch {
		case !ok || from == "" || until == "" || wrong[0] != nil || wrong[1] != nil:
			return nil, fmt.Errorf("%s is not a window such as \"09:00-12:00\"", shown(s))
		case w.From >= w.Until:
			return nil, fmt.Errorf("%s ends before it begins; one over midnight is two, \"22:00-24:00\" and \"00:00-02:00\" of the next day", shown(s))
		case len(out) > 0 && w.From < out[len(out)-1].Until:
			return nil, fmt.Errorf("%s begins before the one in front of it ends; write them in order", shown(s))
		}
		out = append(out, w)
	}
	return out, nil
}

// parseEnd reads a time of day that may be the end of the day.
func parseEnd(s string) (time.Duration, error) {
	if s == "24:00" {
		return 24 * time.Hour, nil
	}
	return parseCut(s)
}

// parseHoliday reads a date, closed, or one with windows of its own: "2026-10-10 09:00-12:00 13:30-17:00".
func parseHoliday(s string) (date string, windows []branch.Window, err error) {
	words := strings.Fields(s)
	if len(words) == 0 {
		return "", nil, fmt.Errorf("%s is not a date such as \"2026-10-01\"", shown(s))
	}
	if _, err := time.Parse(time.DateOnly, words[0]); err != nil {
		return "", nil, fmt.Errorf("%s is not a date such as \"2026-10-01\", nor one with windows such as \"2026-10-10 09:00-17:00\"", shown(s))
	}
	windows, err = parseWindows(words[1:])
	return words[0], windows, err
}

func windowsText(ws []branch.Window) string {
	texts := make([]string, len(ws))
	for i, w := range ws {
		texts[i] = clockText(w.From) + "-" + clockText(w.Until)
	}
	return strings.Join(texts, " ")
}

// weekText writes the opening windows in one line.
func weekText(h branch.Hours) string {
	var days []string
	for i := range h.Week {
		d := (i + 1) % 7 // Monday first
		if len(h.Week[d]) > 0 {
			days = append(days, strings.ToLower(time.Weekday(d).String()[:3])+" "+windowsText(h.Week[d]))
		}
	}
	switch {
	case len(days) == 0 && h.Weekly:
		return "{monday: []}" // closed on every day; without a day it would be always open
	case len(days) == 0:
		return "{}"
	}
	return "{" + strings.Join(days, ", ") + "}"
}

// holidaysText writes the dates that are not like their weekday in one line.
func holidaysText(h branch.Hours) string {
	var dates []string
	for _, date := range slices.Sorted(maps.Keys(h.Holidays)) {
		dates = append(dates, strings.TrimSpace(date+" "+windowsText(h.Holidays[date])))
	}
	return "[" + strings.Join(dates, ", ") + "]"
}
