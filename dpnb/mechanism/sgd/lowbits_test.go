package sgd

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// oneStep attacks one step of DP-SGD in which every record takes part: then the sum of each candidate's clipped
// gradients at θ = 0 is known. The learning rate makes what is released minus the noisy sum.
func oneStep(n, d int, multiplier float64) (attack audit.LowBits) {
	rows, labels := simulated(n+1, d, 1, 6)
	m := Descent{Loss: loss.Logistic{}, Clip: 0.7, Rate: 1, Steps: 1, NoiseMultiplier: multiplier,
		PlannedRecords: 0x1p10,
		Update:         Plain{LearningRate: 0x1p10}}
	index := make([]int, n+1)
	for i := range index {
		index[i] = i
	}
	records := func(with bool) []int {
		if with {
			return index
		}
		return index[:n]
	}
	attack.Scales = make([]float64, d)
	for j := range attack.Scales {
		attack.Scales[j] = m.sigma()
	}
	attack.Sums = func(with bool, _ *noise.Seeded) ([]float64, error) {
		g := make([]float64, d)
		newBatch(newRecords(rows, labels, m.Clip), m.Loss, n+1, 1).sum(g, make([]float64, d), records(with))
		return g, nil
	}
	attack.Release = func(with bool, src *noise.Seeded) ([]float64, error) {
		i := records(with)
		r, err := m.Run(rows.Select(i), labels[:len(i)], src, &mechanism.Settings{Workers: 1})
		if err != nil {
			return nil, err
		}
		floats.Scale(-1, r.Coefficients)
		return r.Coefficients, nil
	}
	return attack
}

// trainingScore attacks a tuner's score at public coefficients.
func trainingScore(n, d int, sigma float64) (attack audit.LowBits) {
	rows, labels := simulated(n+1, d, 1, 6)
	theta := make([]float64, d)
	for j := range theta {
		theta[j] = labels[n] * rows.Data[n*d+j] // the last record is predicted rightly
	}
	index := make([]int, n)
	for i := range index {
		index[i] = i
	}
	less := rows.Select(index)
	attack.Scales = []float64{sigma}
	attack.Sums = func(with bool, _ *noise.Seeded) ([]float64, error) {
		if with {
			return []float64{float64(right(rows, labels, theta))}, nil
		}
		return []float64{float64(right(less, labels[:n], theta))}, nil
	}
	attack.Release = func(with bool, src *noise.Seeded) ([]float64, error) {
		x, y := less, labels[:n]
		if with {
			x, y = rows, labels
		}
		score, err := Training{Sigma: sigma}.bind(x, y)
		if err != nil {
			return nil, err
		}
		return []float64{score(theta, noise.Exact(src))}, nil
	}
	return attack
}

// The last bits of one step's noisy sum, and of a tuner's score, name neighbours no more often than their noise allows;
// those of float64 sums do. DPNB_LOWBITS asks for so many runs, and for 109 features besides 20.
func TestLowBits(t *testing.T) {
	testscale.Slow(t)
	runs, shapes := 150, []int{20} // fewer do not see float64 sums with little noise
	if n, err := strconv.Atoi(os.Getenv("DPNB_LOWBITS")); err == nil {
		runs, shapes = n, []int{20, 109}
	}
	hold := func(name string, runs int, attack audit.LowBits) {
		c := audit.LowBitsCase{Name: name, Attack: attack, Fault: audit.FloatSum}
		found, planted, err := c.Check(t.Context(), runs)
		if t.Logf("%s: %v; in float64: %v", name, found, planted); err != nil {
			t.Error(err)
		}
	}
	for _, d := range shapes {
		for _, multiplier := range []float64{1.9, 60} {
			hold(fmt.Sprintf("one step of DP-SGD, d = %d, σ = %g", d, multiplier), runs, oneStep(200, d, multiplier))
		}
	}
	hold("tuner's score, σ = 8000", max(20_000, runs), trainingScore(300, 20, 8000))
}
