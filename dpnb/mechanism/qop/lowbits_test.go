package qop

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// To one who knows the noise in the objective the output noise must still hide where the minimiser is, with a
// regulariser and a constraint, if that moves by a fraction of the noise: with and without the record stand for two
// labels of it that are next to each other. (Two tolerances would not do: this solver ends at the same point.) In
// float64 the noise has few bits beside the coefficients, and no preimage is missing: such sums are not seen here; seen
// is noise that was rounded without the result. DPNB_LOWBITS asks for so many runs, and for 109 features besides 20.
func TestLowBits(t *testing.T) {
	testscale.Slow(t)
	runs, shapes := 40, []int{6}
	if !testscale.Full() {
		runs = 30
	}
	if n, err := strconv.Atoi(os.Getenv("DPNB_LOWBITS")); err == nil {
		runs, shapes = n, []int{20, 109}
	}
	one := &mechanism.Settings{Workers: 1}
	type candidates func(with bool, src *noise.Seeded) ([]float64, error)
	hold := func(name string, d int, scale float64, sums, release candidates) {
		found, planted, err := audit.LowBitsCase{Name: fmt.Sprintf("%s, d = %d", name, d),
			Attack: audit.LowBits{Scales: slices.Repeat([]float64{scale}, d), Sums: sums, Release: release},
			Fault:  audit.GridNoise}.Check(t.Context(), runs)
		t.Logf("%s, d = %d: %v; noise rounded without the result: %v", name, d, found, planted)
		if err != nil || found.Allowed == 0.5 || planted.LastBits < 0.9 {
			t.Errorf("%s, d = %d: %v; found %v, planted %v", name, d, err, found, planted)
		}
	}
	coefficients := func(r *mechanism.Release, err error) ([]float64, error) {
		if err != nil {
			return nil, err
		}
		return r.Coefficients, nil
	}
	for _, d := range shapes {
		rows, labels, star := interpolated(100, d, 1)
		// A fraction of the noise in the solution for a little of the last label.
		last := func(with bool, shift float64) []float64 {
			y := slices.Clone(labels)
			if with {
				y[len(y)-1] += shift
			}
			return y
		}
		c := config(slices.Clone(star), 0)
		c.Accuracy, c.Regulariser = 1e-4, composite.L1{Weight: 1e-2}
		m := must.Get(Calibrate(c))
		needed := must.Get(m.Setting().Noise(m.Split))
		modulus := needed.Alpha * m.Sigma2
		tolerance := math.Sqrt(2*m.Accuracy*modulus)*(1-1e-12) - m.unseen(rows.N)
		little := 0.1 * m.OutputSigma * modulus
		hold("quadratic perturbation, W known", d, m.OutputSigma, func(with bool, src *noise.Seeded) ([]float64,
			error) {
			q, _ := m.draw(noise.Exact(src))
			return composite.Within(m.problem(rows, last(with, little), q), solver(tolerance*(1-wishartShare), modulus,
				one))
		}, func(with bool, src *noise.Seeded) ([]float64, error) {
			return coefficients(m.Run(rows, last(with, little), src, one))
		})
	}
}
