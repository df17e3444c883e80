package sim

import (
	"math"
	"math/rand/v2"
	"regexp"
	"testing"
	"time"
)

// seeded returns a random stream and prints what made it.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return stream(seed, t.Name())
}

// near fails unless got is within the part of want.
func near(t *testing.T, what string, got, want, part float64) {
	t.Helper()
	if math.Abs(got-want) > part*want {
		t.Errorf("%s: got %.4f, want %.4f within %.1f %%", what, got, want, 100*part)
	}
}

func TestArrivalsArePoisson(t *testing.T) {
	t.Parallel()
	const n, rate = 200_000, 120.0
	rng := seeded(t)
	var sum, squares float64
	short := 0
	for range n {
		s := gap(rng, rate).Seconds()
		sum, squares = sum+s, squares+s*s
		if s < 30 {
			short++
		}
	}
	mean := sum / n
	near(t, "mean gap", mean, 30, 0.02)
	near(t, "coefficient of variation", math.Sqrt(squares/n-mean*mean)/mean, 1, 0.03)
	near(t, "share below the mean", float64(short)/n, 1-1/math.E, 0.02)
}

func TestServiceIsLogNormal(t *testing.T) {
	t.Parallel()
	const n = 400_000
	for _, cv := range []float64{0, 0.5, 1} {
		rng := seeded(t)
		var sum, squares float64
		below := 0
		median := 90 / math.Sqrt(1+cv*cv)
		for range n {
			s := logNormal(rng, 90*time.Second, cv).Seconds()
			sum, squares = sum+s, squares+s*s
			if s < median {
				below++
			}
		}
		mean := sum / n
		near(t, "mean", mean, 90, 0.02)
		if cv > 0 {
			near(t, "coefficient of variation", math.Sqrt(max(squares/n-mean*mean, 0))/mean, cv, 0.05)
			near(t, "share below the median", float64(below)/n, 0.5, 0.02)
		}
	}
}

// One counter, Poisson arrivals, log-normal service: the mean wait is that of Pollaczek and Khinchine,
// W = rho/(1-rho) * (1+cv^2)/2 * mean. Arrivals and service must be right together, and independent.
func TestOneCounterWaitsAsPollaczekKhinchineSay(t *testing.T) {
	t.Parallel()
	const n, rate, service, cv = 2_000_000, 24.0, 90.0, 1.0 // an hour; rho 0.6
	rng := seeded(t)
	wait, sum := 0.0, 0.0
	for range n { // Lindley
		sum += wait
		wait = max(0, wait+logNormal(rng, service*time.Second, cv).Seconds()-gap(rng, rate).Seconds())
	}
	rho := rate * service / 3600
	near(t, "mean wait", sum/n, rho/(1-rho)*(1+cv*cv)/2*service, 0.05)
}

func TestCategoriesComeByTheirWeights(t *testing.T) {
	t.Parallel()
	rng := seeded(t)
	const n = 100_000
	count := map[string]int{}
	for range n {
		count[pick(rng, []Weight{{"personal", 3}, {"corporate", 1}})]++
	}
	near(t, "personal", float64(count["personal"])/n, 0.75, 0.02)
	if count["personal"]+count["corporate"] != n {
		t.Errorf("got %v", count)
	}
}

func TestActorsDrawTheirOwnNumbers(t *testing.T) {
	t.Parallel()
	a, b, other := stream(7, "kiosk-1"), stream(7, "kiosk-1"), stream(7, "kiosk-2")
	same := 0
	for range 100 {
		x := a.Uint64()
		if x != b.Uint64() {
			t.Fatal("one seed and one name gave two streams")
		}
		if x == other.Uint64() {
			same++
		}
	}
	if same > 1 {
		t.Errorf("two actors drew %d of 100 numbers alike", same)
	}
}

func TestSharesAddUp(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]int{{0, 8}, {3, 8}, {8, 8}, {20_003, 8}} {
		sum := 0
		for i := range c[1] {
			sum += share(c[0], c[1], i)
		}
		if sum != c[0] {
			t.Errorf("%d among %d: got %d in all", c[0], c[1], sum)
		}
	}
}

func TestRequestIDsAreUUIDs(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if a, b := newID(), newID(); a == b || !form.MatchString(a) {
		t.Errorf("got %s and %s", a, b)
	}
}
