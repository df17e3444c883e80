package sim

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
)

// Config says what hall is played. Probabilities are 0 to 1; times are hall times, which Speed
// shortens.
type Config struct {
	Kiosks, Counters, Displays int
	// Customers in all; 0: as many as come within Duration.
	Customers int
	Duration  time.Duration
	Weights   []Weight
	Seed      uint64
	// Speed is how many hall seconds pass in a second. Full ignores all times: every machine sends as
	// soon as it has its last answer.
	Speed float64
	Full  bool
	// Arrivals an hour in the whole hall, Poisson.
	Arrivals float64
	// Service is log-normal with this mean and coefficient of variation.
	ServiceMean time.Duration
	ServiceCV   float64
	// CallTime is how long a teller waits for a called customer to appear; NoShowCalls how often one
	// who does not is called before the teller gives up.
	CallTime    time.Duration
	NoShowCalls int

	NoShow, Hold, Recall, Cancel, Look, Pause, Clumsy, Chain, Retry float64
	Mix                                                             Mix
	// Rule by which the counters choose: oldest, priority or ratio; RuleWeights are its weights beside the categories, 1 where
	// there are too few.
	Rule        string
	RuleWeights []uint32
	// Resources that the consoles share.
	Resources []string
	// Specialists is how many of the counters serve one category only, in turn.
	Specialists int

	HTTPAddr string
	Timeout  time.Duration
	GiveUp   time.Duration
	// Survive lets a request that nobody settled within GiveUp be left open instead of ending the run.
	Survive bool
	// Reopen holds the requests whose sessions an earlier run left open, by counter.
	Reopen map[uint32]history.Op
	// Unsettled holds the requests that an earlier run did not settle, by machine; they are settled first.
	Unsettled map[string][]history.Op
}

// Weight is how often customers come for a category.
type Weight struct {
	Category string
	Weight   float64
}

// stream derives an actor's own random numbers: what one actor draws never shifts another's.
func stream(seed uint64, actor string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(actor))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// gap is the time to the next arrival of a Poisson process with rate arrivals an hour.
func gap(rng *rand.Rand, rate float64) time.Duration {
	return time.Duration(rng.ExpFloat64() / rate * float64(time.Hour))
}

// logNormal draws a time with this mean and coefficient of variation.
func logNormal(rng *rand.Rand, mean time.Duration, cv float64) time.Duration {
	s2 := math.Log(1 + cv*cv)
	return time.Duration(float64(mean) * math.Exp(math.Sqrt(s2)*rng.NormFloat64()-s2/2))
}

// pick draws a category by weight.
func pick(rng *rand.Rand, weights []Weight) string {
	sum := 0.0
	for _, w := range weights {
		sum += w.Weight
	}
	x := rng.Float64() * sum
	for _, w := range weights {
		if x -= w.Weight; x < 0 {
			return w.Category
		}
	}
	return weights[len(weights)-1].Category
}

// share splits total among n, the first ones taking the rest.
func share(total, n, i int) int {
	k := total / n
	if i < total%n {
		k++
	}
	return k
}
