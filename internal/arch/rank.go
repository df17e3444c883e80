package arch

import "strconv"

// Rank is a lock's place in the one global order. Whoever holds a lock waits
// only for locks of a larger rank, or of the same rank and a larger id: so no
// circle of goroutines can wait for one another, and there is no deadlock.
//
// The zero Rank is no rank, and no lock may have it.
type Rank uint8

// The ranks, in the order in which they are taken.
const (
	RankCounter   Rank = iota + 1 // a counter, its session and its current ticket
	RankLine                      // a category's line, its pair of numbers, its means
	RankRequests                  // a shard of the request ids
	RankResources                 // who has the shared desk resources
	RankDeadlines                 // what falls due when
	RankJournal                   // the ring of records that wait for their commit
)

// String returns the rank's word, such as "line".
func (r Rank) String() string {
	switch r {
	case RankCounter:
		return "counter"
	case RankLine:
		return "line"
	case RankRequests:
		return "requests"
	case RankResources:
		return "resources"
	case RankDeadlines:
		return "deadlines"
	case RankJournal:
		return "journal"
	}
	return "rank(" + strconv.Itoa(int(r)) + ")"
}
