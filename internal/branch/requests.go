package branch

import (
	"fmt"
	"time"

	"callerd/internal/arch"
	"callerd/internal/queue"
)

// honoured is for how long a request id gives the same outcome again.
const honoured = 24 * time.Hour

const requestShards = 64

// requests remembers the outcome of every request id for a day. Each shard has a lock of its own, held from
// the look-up until the record is claimed, so no half-made claim is ever seen.
type requests struct{ shards [requestShards]requestShard }

type requestShard struct {
	lock arch.RankedLock
	seen map[queue.RequestID]seen
	// order is the ids by age, oldest at next, for eviction.
	order []queue.RequestID
	next  int
}

// seen is what a request did, as little as tells it again.
type seen struct {
	fingerprint uint64
	sequence    uint64
	at          int64
	ticket      *queue.Live // the ticket of the last verb, nil when there was none
	completed   *queue.Live // the one that CallNext completed beside
	why         *why        // for a call
	epoch       uint64      // of the session, or the fencing token of the grant
	until       int64       // of the grant
	counter     queue.CounterID
}

// why is the reason of a call, as its reply told it.
type why struct {
	rule       queue.Rule
	waited     int64
	overtaken  uint32
	passedOver []queue.PassedOver
}

// String tells the reason, for comparing one state with another.
func (w *why) String() string {
	if w == nil {
		return ""
	}
	return fmt.Sprintf("%+v", *w)
}

func newRequests() *requests {
	r := &requests{}
	for i := range r.shards {
		r.shards[i].lock.Init(arch.RankRequests, uint64(i))
		r.shards[i].seen = make(map[queue.RequestID]seen)
	}
	return r
}

func (r *requests) shard(id queue.RequestID) *requestShard {
	// UUIDs of version 7 begin with the time, all versions end in random bits.
	return &r.shards[(id[15]^id[7])%requestShards]
}

// shift moves the times of all requests: an accepted clock is another.
func (r *requests) shift(by int64) {
	for i := range r.shards {
		for id, e := range r.shards[i].seen {
			e.at += by
			r.shards[i].seen[id] = e
		}
	}
}

// find returns what a request did, if that is not too long ago. The caller holds the shard's lock.
func (s *requestShard) find(id queue.RequestID, at int64) (seen, bool) {
	e, ok := s.seen[id]
	if !ok || at-e.at > int64(honoured) {
		return seen{}, false
	}
	return e, true
}

// add remembers a request and forgets those that are too old. The caller holds the shard's lock.
func (s *requestShard) add(id queue.RequestID, e seen) {
	for s.next < len(s.order) {
		oldest := s.order[s.next]
		if o, ok := s.seen[oldest]; ok && e.at-o.at <= int64(honoured) {
			break
		}
		delete(s.seen, oldest)
		s.next++
	}
	if s.next > 64 && s.next > len(s.order)/2 {
		s.order = append(s.order[:0:0], s.order[s.next:]...)
		s.next = 0
	}
	if _, again := s.seen[id]; !again {
		s.order = append(s.order, id)
	}
	s.seen[id] = e
}
