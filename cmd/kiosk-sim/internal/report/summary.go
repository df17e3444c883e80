// Package report counts what a history holds and prints it for people and programs.
package report

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"callerd/cmd/kiosk-sim/internal/history"
	"callerd/cmd/kiosk-sim/internal/judge"
)

// Summary is a run in figures.
type Summary struct {
	Seed    uint64        `json:"seed"`
	Took    time.Duration `json:"took_ns"`
	Counts  Counts        `json:"counts"`
	Wait    Latency       `json:"wait"` // hall time, from the number to the call
	Methods []Method      `json:"methods"`
	// Display is from the moment a call was due to its frame, over all displays.
	Display  Latency         `json:"call_to_display"`
	Verdicts []judge.Verdict `json:"verdicts"`
	Holds    bool            `json:"holds"`
	Error    string          `json:"error,omitempty"`
}

// Counts are what happened.
type Counts struct {
	Issued    int `json:"issued"`
	Called    int `json:"called"`
	Recalled  int `json:"recalled"`
	Served    int `json:"served"`
	NoShows   int `json:"no_shows"`
	Held      int `json:"held"`
	Resumed   int `json:"resumed"`
	Cancelled int `json:"cancelled"`
	Given     int `json:"given"`
	Requeued  int `json:"requeued"`
	Moved     int `json:"transferred"`
	Reserved  int `json:"reserved"`
	CheckedIn int `json:"checked_in"`
	Priority  int `json:"priority"`
	Sessions  int `json:"sessions"`
	TakenOver int `json:"taken_over"`
	Lent      int `json:"lent"`
	Returned  int `json:"returned"`
	Empty     int `json:"empty_lines"`
	Refused   int `json:"refused"`

	Requests    int `json:"requests"`
	Retries     int `json:"retries"`
	Replays     int `json:"replays"`
	Unavailable int `json:"unavailable"`
	Unknown     int `json:"unknown"`
	Open        int `json:"left_open"`
	Frames      int `json:"frames"`
	Reconnects  int `json:"display_reconnects"`
}

// Latency is a distribution in microseconds.
type Latency struct {
	N    int64 `json:"n"`
	Mean int64 `json:"mean_us"`
	P50  int64 `json:"p50_us"`
	P90  int64 `json:"p90_us"`
	P99  int64 `json:"p99_us"`
	Max  int64 `json:"max_us"`
}

// Method is one RPC's latencies: Service from the moment an attempt was sent, Intended from the moment
// the request was due, retries included.
type Method struct {
	Name     string  `json:"name"`
	Service  Latency `json:"service"`
	Intended Latency `json:"intended"`
}

// longest is the highest value that a histogram keeps apart; what is longer counts as that.
const longest = int64(24 * time.Hour / time.Microsecond)

// histogram keeps three digits from a microsecond to a day.
type histogram struct{ h *hdrhistogram.Histogram }

func newHistogram() *histogram { return &histogram{hdrhistogram.New(1, longest, 3)} }

func (h *histogram) add(ns int64) {
	// RecordValue refuses only what is out of bounds.
	_ = h.h.RecordValue(min(max(ns/1000, 1), longest))
}

func (h *histogram) latency() Latency {
	return Latency{
		N: h.h.TotalCount(), Mean: int64(h.h.Mean()), P50: h.h.ValueAtQuantile(50), P90: h.h.ValueAtQuantile(90),
		P99: h.h.ValueAtQuantile(99), Max: h.h.Max(),
	}
}

// Summarise counts a history. Speed turns real waits into hall time.
func Summarise(h *history.History, speed float64) Summary {
	s := Summary{Seed: h.Runs[0].Seed}
	s.count(h)
	s.waits(h, speed)
	s.methods(h)
	s.displays(h)
	return s
}
