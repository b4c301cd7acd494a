package audit

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// LowBits is an attack on results to which noise was added: the adversary has two candidates for the data, knows to the
// last bit what noise was added to under each, and looks at the released float64 for one that only the true candidate
// gives. The proof of the Gaussian mechanism allows to be right with probability Φ(μ/2).
//
// Source: Mironov 2012, CCS '12; docs/theory/release.md.
type LowBits struct {
	// Scales of the noise in each coordinate.
	Scales []float64
	// Sums returns what noise is added to, of the data with the record or without. It may draw from src what the
	// adversary is taken to know, as Release draws it.
	Sums func(with bool, src *noise.Seeded) ([]float64, error)
	// Release returns what is released.
	Release func(with bool, src *noise.Seeded) ([]float64, error)
	// Allowed is the probability of being right that the guarantee allows; zero means Φ(μ/2), μ the distance of the
	// sums of the first run in units of the scales.
	Allowed float64
}

// LowBitsFound is what an attack found in so many runs.
type LowBitsFound struct {
	Runs int
	// Preimages and LastBits are the shares of runs in which the true candidate was named: by the number of float64
	// noises that give what was released, and by the last bits of the difference in units of the result's last place.
	Preimages, LastBits float64
	// Impossible is in how many runs no float64 noise leads from the false candidate to what was released, and one does
	// from the true one; Mistaken is how often it is the other way round.
	Impossible, Mistaken int
	// Allowed is the largest share that the guarantee allows.
	Allowed float64
}

// Broken reports whether either share is beyond what is allowed by more than five standard errors, or the false
// candidate impossible more often than the true one.
func (f LowBitsFound) Broken() bool {
	limit := f.Allowed + 5*math.Sqrt(0.25/float64(f.Runs))
	proofs := float64(f.Impossible - f.Mistaken)
	return f.Preimages > limit || f.LastBits > limit || proofs > 5*math.Sqrt(float64(f.Impossible+f.Mistaken+1))
}

// String says what was found, both shares in standard errors of ½/√runs beyond what is allowed.
func (f LowBitsFound) String() string {
	beyond := func(share float64) float64 { return (share - f.Allowed) * 2 * math.Sqrt(float64(f.Runs)) }
	shares := fmt.Sprintf("right in %.2f %% by preimages (%+.1f), %.2f %% by last bits (%+.1f), allowed %.3f %%",
		100*f.Preimages, beyond(f.Preimages), 100*f.LastBits, beyond(f.LastBits), 100*f.Allowed)
	return fmt.Sprintf("%d runs, %s; impossible from the false data %d times, from the true %d",
		f.Runs, shares, f.Impossible, f.Mistaken)
}

// Run attacks as many releases, of each of the candidates in turn; run k draws from stream k of src.
//
// Errors: those of Sums and Release.
func (l LowBits) Run(ctx context.Context, runs int, src *noise.Seeded) (LowBitsFound, error) {
	found := LowBitsFound{Runs: runs, Allowed: l.Allowed}
	type outcome struct {
		preimages, lastBits  float64
		impossible, mistaken bool
		mu                   float64
	}
	all := make([]outcome, runs)
	err := parallel.For(ctx, runs, 0, func(_, k int) error {
		with := k%2 == 0
		right, err := l.Sums(with, src.Stream(k))
		if err != nil {
			return err
		}
		wrong, err := l.Sums(!with, src.Stream(k))
		if err != nil {
			return err
		}
		r, err := l.Release(with, src.Stream(k))
		if err != nil {
			return err
		}
		o := &all[k]
		var counts, bits, mu float64
		right0, wrong0 := false, false // a count of 0 somewhere
		for j, v := range r {
			a, b := Preimages(v, right[j], l.Scales[j]), Preimages(v, wrong[j], l.Scales[j])
			right0, wrong0 = right0 || a == 0, wrong0 || b == 0
			counts += math.Log(math.Max(a, 1e-9)) - math.Log(math.Max(b, 1e-9))
			bits += lastBits(v, right[j]) - lastBits(v, wrong[j])
			mu = math.Hypot(mu, (right[j]-wrong[j])/l.Scales[j])
		}
		*o = outcome{success(counts), success(bits), wrong0 && !right0, right0 && !wrong0, mu}
		return nil
	})
	if err != nil {
		return found, err
	}
	for _, o := range all {
		found.Preimages += o.preimages / float64(runs)
		found.LastBits += o.lastBits / float64(runs)
		if o.impossible {
			found.Impossible++
		}
		if o.mistaken {
			found.Mistaken++
		}
	}
	if found.Allowed == 0 {
		found.Allowed = 0.5 * math.Erfc(-all[0].mu/2/math.Sqrt2)
	}
	return found, nil
}

// With is the attack on releases that a fault makes of the sums, such as FloatSum.
func (l LowBits) With(fault func(result, scales []float64, src *noise.Seeded) []float64) LowBits {
	sums := l.Sums
	l.Release = func(with bool, src *noise.Seeded) ([]float64, error) {
		result, err := sums(with, src)
		if err != nil {
			return nil, err
		}
		return fault(result, l.Scales, src), nil
	}
	return l
}

// success is 1 for evidence of the true candidate, 0 of the other, ½ for none.
func success(evidence float64) float64 {
	switch {
	case evidence > 0:
		return 1
	case evidence < 0:
		return 0
	}
	return 0.5
}

// Preimages returns how many pairs (z, h) of float64 have z + result = released and scale·h = z, both rounded: the
// likelihood of the result, but for what the size of the noise says. Of more than 256 z to each side it takes the share
// that was seen.
func Preimages(released, result, scale float64) float64 {
	const most = 256
	centre := released - result
	var count float64
	if centre+result == released {
		count += factors(centre, scale)
	}
	for _, towards := range []float64{math.Inf(-1), math.Inf(1)} {
		z := centre
		for range most {
			if z = math.Nextafter(z, towards); z+result != released {
				break
			}
			count += factors(z, scale)
		}
	}
	return count
}

// factors returns how many float64 h have scale·h = z.
func factors(z, scale float64) (count float64) {
	h := z / scale
	for range 3 {
		h = math.Nextafter(h, math.Inf(-1))
	}
	for range 7 {
		if scale*h == z {
			count++
		}
		h = math.Nextafter(h, math.Inf(1))
	}
	return count
}

// lastBits returns how many zeros the difference ends with in binary: a sum of a result and noise on a grid of its own
// leaves a difference on that grid for the true result.
func lastBits(released, result float64) float64 {
	difference := released - result
	if difference == 0 || difference+result != released {
		return 0
	}
	fraction, _ := math.Frexp(difference)
	zeros := 0
	for m := math.Abs(fraction) * 0x1p53; zeros < 53 && math.Mod(m, 2) == 0; m /= 2 {
		zeros++
	}
	return float64(zeros)
}

// FloatSum is the planted fault of this audit: result + scale·h, h half the sum of four float64 normal variates, all in
// float64, as releases were once made. It overwrites result.
func FloatSum(result, scales []float64, src *noise.Seeded) []float64 {
	h := make([]float64, 4)
	for j := range result {
		src.Gaussian(h, 1)
		z := scales[j] * (0.5 * floats.Sum(h))
		result[j] = z + result[j]
	}
	return result
}

// GridNoise is another planted fault, which shows where the noise has the size of the result's last places: the noise
// is rounded to the grid, and not its sum with the result, so that the last bits of the result are released. It
// overwrites result.
func GridNoise(result, scales []float64, src *noise.Seeded) []float64 {
	draw, z := noise.Exact(src), make([]float64, 1)
	for j, scale := range scales {
		z[0] = 0
		draw.AddRounded(z, scale, exact.Grid(scale))
		result[j] += z[0]
	}
	return result
}
