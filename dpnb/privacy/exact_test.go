package privacy

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// trials returns n, a quarter of it under -short, and DPNB_FUZZ times it where that is set: DPNB_FUZZ=100 go test -run
// Exact ./dpnb/privacy/...
func trials(n int) int {
	if factor, err := strconv.Atoi(os.Getenv("DPNB_FUZZ")); err == nil && factor > 0 {
		return n * factor
	}
	if !testscale.Full() {
		return max(1, n/4)
	}
	return n
}

// rng draws parameters. Every test has its own, so that a failure repeats.
type rng struct{ *rand.Rand }

func newRNG(seed uint64) rng {
	if s, err := strconv.ParseUint(os.Getenv("DPNB_FUZZ_SEED"), 10, 64); err == nil {
		seed += s << 32
	}
	return rng{rand.New(rand.NewPCG(seed, 1))}
}

// between returns a number whose logarithm is uniform from ln a to ln b.
func (r rng) between(a, b float64) float64 {
	return math.Exp(math.Log(a) + r.Float64()*(math.Log(b)-math.Log(a)))
}

// pick returns one of xs.
func (r rng) pick(xs ...float64) float64 { return xs[r.IntN(len(xs))] }

// bracket counts how far certified bounds are from what they bound, and reports those on the wrong side.
type bracket struct {
	t                   *testing.T
	allowed             float64 // width in units of 1 + |exact|/scale, see check
	scale               float64
	worst               float64
	at                  string
	checked, wrongSides int
}

// check holds low ≤ exact ≤ up for a logarithm exact, and that each is within allowed·(1 + |exact|/scale) of it.
func (b *bracket) check(low, up float64, exact bigref.F, what string) {
	b.t.Helper()
	b.checked++
	if !bigref.Above(up, exact) || !bigref.Below(low, exact) {
		if b.wrongSides++; b.wrongSides <= 5 {
			b.t.Errorf("%s: [%.17g, %.17g] does not enclose %.20g", what, low, up, exact)
		}
		return
	}
	x := bigref.Float(exact)
	gap := math.Max(up-x, x-low)
	if math.IsInf(low, -1) {
		gap = up - x // no lower bound is claimed
	}
	if relative := gap / (1 + math.Abs(x)/b.scale); relative > b.worst || math.IsNaN(relative) {
		b.worst, b.at = relative, what
	}
}

// done reports the widest bracket.
func (b *bracket) done() {
	b.t.Helper()
	b.t.Logf("%d checked, %d on the wrong side, widest %.2g at %s", b.checked, b.wrongSides, b.worst, b.at)
	if b.checked == 0 || !(b.worst <= b.allowed) {
		b.t.Errorf("a bound is %.2g from the exact value, more than %.2g: %s", b.worst, b.allowed, b.at)
	}
}

// profileAt returns the bounds of p at ε.
func profileAt(p Profile, d Direction, eps float64) (low, up float64) {
	low = math.Inf(-1)
	if l, ok := p.(LowerProfile); ok {
		low = l.LogDeltaLower(d, eps)
	}
	return low, p.LogDeltaUpper(d, eps)
}
