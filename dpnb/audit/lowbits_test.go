package audit

import (
	"context"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Neighbours cannot be told apart by the last bits of what is released, and can by those of float64 sums, with which
// releases were once made. DPNB_LOWBITS asks for so many runs, and for 109 features besides 20.
func TestLowBits(t *testing.T) {
	runs := 300
	if !testscale.Full() {
		runs = 60
	}
	cases := must.Get(LowBitsCases(200, 20, 0.1))
	if n, err := strconv.Atoi(os.Getenv("DPNB_LOWBITS")); err == nil {
		runs = n
		more := must.Get(LowBitsCases(200, 109, 0.1))
		cases = append(cases, more...)
	}
	for _, c := range cases {
		found, planted, err := c.Check(t.Context(), runs)
		t.Logf("%s: %v; in float64: %v", c.Name, found, planted)
		if err != nil || c.Fault != nil && (planted.Preimages < 0.9 || planted.Mistaken > 0) {
			t.Errorf("%s: %v, in float64: %v", c.Name, err, planted)
		}
	}
}

// Multiplication by 1.5 leaves out a third of the numbers above 1.5 and none below: the counts of preimages know it.
func TestPreimages(t *testing.T) {
	rng := noise.NewSeeded(3)
	var below, above, hidden float64
	for range 3000 {
		last := rng.Uint64() >> 13 // 51 bits
		if factors(math.Float64frombits(math.Float64bits(1)|last), 1.5) == 0 {
			below++
		}
		if factors(math.Float64frombits(math.Float64bits(1.5)|last), 1.5) == 0 {
			above++
		}
		h := rng.NormFloat64()
		if result := 0.3; Preimages(1.5*h+result, result, 1.5) == 0 {
			hidden++
		}
	}
	if below != 0 || !(math.Abs(above/3000-1.0/3) <= 0.05) || hidden != 0 {
		t.Errorf("%v below and %v above cannot be had, %v that were", below, above, hidden)
	}
}

// An attack has found what is more than five standard errors beyond what is allowed, by either share, or a false
// candidate impossible so much more often than the true one; a hair less it has not. Where nothing is said to be
// allowed that is Φ(μ/2), μ by the scales in all coordinates.
func TestWhatAnAttackFinds(t *testing.T) {
	found := func(preimages, lastBits float64, impossible, mistaken int) LowBitsFound {
		return LowBitsFound{Runs: 100, Allowed: 0.55, Preimages: preimages, LastBits: lastBits,
			Impossible: impossible, Mistaken: mistaken}
	}
	for f, broken := range map[LowBitsFound]bool{found(0.799, 0.799, 0, 0): false, found(0.801, 0, 0, 0): true,
		found(0, 0.801, 0, 0): true, found(0.5, 0.5, 25, 0): false, found(0.5, 0.5, 26, 0): true,
		found(0.5, 0.5, 50, 11): false, found(0.5, 0.5, 51, 11): true, found(0.5, 0.5, 11, 50): false} {
		if f.Broken() != broken {
			t.Errorf("broken: %v, of %v", !broken, f)
		}
	}
	sums := func(with bool, _ *noise.Seeded) ([]float64, error) {
		if with {
			return []float64{3, 8}, nil
		}
		return []float64{0, 0}, nil
	}
	l := LowBits{Scales: []float64{1, 2}, Sums: sums, Release: sums}
	f := must.Get(l.Run(context.Background(), 1, noise.NewSeeded(1)))
	if want := 0.5 * math.Erfc(-5/(2*math.Sqrt2)); !(math.Abs(f.Allowed-want) <= 1e-12) {
		t.Errorf("%v is allowed at μ = 5, want %v", f.Allowed, want)
	}
}
