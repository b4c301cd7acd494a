package pure

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// More records that are planned never make the tolerance larger, nor the noise that hides the solver's error, once
// there are enough for the ridge to grow; and whatever is calibrated is proved to release MostRecords.
func TestMoreRecordsAreNoWorse(t *testing.T) {
	for _, eps := range []float64{0.1, 1, 10, 100} {
		for _, d := range []int{1, 64, 1000} {
			last := math.Inf(1)
			for n := 1000; n <= MostRecords; n *= 3 {
				c := config()
				c.Loss, c.Epsilon, c.Features, c.Records = loss.Logistic{}, eps, d, n
				m, err := c.Calibrate()
				if err == nil {
					err = m.Feasible(d, 0)
				}
				if err != nil || m.Tolerance > 1.001e-6*m.Clip || m.limit() != MostRecords {
					t.Errorf("ε = %g, d = %d, n = %d: τ = %.3g C, N = %d (%v)", eps, d, n, m.Tolerance/m.Clip,
						m.limit(), err)
				}
				if grows := float64(n)*eps > 10*float64(d)*math.Sqrt(float64(d)); grows && m.OutputScale > last*1.001 {
					t.Errorf("ε = %g, d = %d, n = %d: output noise %.3g, %.3g with fewer records", eps, d, n,
						m.OutputScale, last)
				} else if grows {
					last = m.OutputScale
				}
				o, err := c.CalibrateOutput()
				if err == nil {
					err = o.Feasible(d, 0)
				}
				if err != nil || o.Tolerance > 1.001e-6*o.Clip || o.limit() != MostRecords {
					t.Errorf("output, ε = %g, d = %d, n = %d: τ = %.3g C, N = %d (%v)", eps, d, n,
						o.Tolerance/o.Clip, o.limit(), err)
				}
			}
		}
	}
}

// Of a tolerance that is given N is the largest number for which it can be reached, which is what the release says; and
// as many records count, the first, of more.
func TestSomeCount(t *testing.T) {
	rows, y := records(80, 3, 4)
	first, labels := matrix.NewDense(50, 3, slices.Clone(rows.Data[:150])), y[:50]
	c := config()
	c.Records, c.Adjacency = 40, privacy.ReplaceOne
	for name, calibrate := range map[string]func(c Config) (mechanism.Mechanism, *Problem, func(int) float64, error){
		"objective": func(c Config) (mechanism.Mechanism, *Problem, func(int) float64, error) {
			m, err := c.Calibrate()
			return &m, &m.Problem, m.least(3), err
		},
		"output": func(c Config) (mechanism.Mechanism, *Problem, func(int) float64, error) {
			m, err := c.CalibrateOutput()
			return &m, &m.Problem, m.least(3), err
		},
		"phases": func(c Config) (mechanism.Mechanism, *Problem, func(int) float64, error) {
			m, err := PhasesConfig{Config: c, Count: 2}.Calibrate()
			return &m, &m.Problem, m.least(3), err
		},
	} {
		c := c
		c.Tolerance = 1
		_, _, least, err := calibrate(c)
		if err != nil {
			t.Fatal(err)
		}
		c.Tolerance = least(1 << 27)
		m, p, least, err := calibrate(c)
		if n := p.limit(); err != nil || n < 1<<27 || least(n) > c.Tolerance || n < MostRecords &&
			least(n+1) <= c.Tolerance {
			t.Errorf("%s: N = %d (%v)", name, n, err)
		}
		p.Most = 50
		if all := strings.Join(m.Describe().Assumptions, "\n"); !strings.Contains(all, "at most 50 records") {
			t.Errorf("%s says nothing of N:\n%s", name, all)
		}
		r := must.Get(m.Run(rows, y, noise.NewSeeded(3), nil))
		want, err := m.Run(first, labels, noise.NewSeeded(3), nil)
		if err != nil || !slices.Equal(r.Coefficients, want.Coefficients) {
			t.Errorf("%s: %v of 80 records, %v of the first 50 (%v)", name, r.Coefficients, want.Coefficients, err)
		}
		p.Most = 49
		if other, err := m.Run(first, labels, noise.NewSeeded(3), nil); err != nil ||
			slices.Equal(other.Coefficients, want.Coefficients) {
			t.Errorf("%s: 49 of 50 records make no difference (%v)", name, err)
		}
	}
}

// A release for counted records says which of its parameters the count has chosen, those and no others, and a number of
// records that may count whatever was counted.
func TestCountedSaysWhatItChose(t *testing.T) {
	for _, worst := range []bool{false, true} {
		c := config()
		c.Records, c.WorstCase, c.MomentBound = 0, worst, 4
		if !worst {
			c.MomentBound = 0
		}
		m := Counted{Config: c, Share: 0.1}
		must.Do(m.Validate())
		want := "Λ and the output noise were chosen from the noisy count, which the guarantee covers; C, R, τ, β, "
		if worst {
			want = "C, Λ, τ and β were chosen from the noisy count, which the guarantee covers; R, the output noise, "
		}
		all := m.Describe().Assumptions
		if !strings.HasPrefix(all[0], want) || !strings.HasPrefix(all[2], "a release of at most 268435456 records") {
			t.Errorf("%q\n%q", all[0], all[2])
		}
	}
}

// What is allowed for the float64 next to b holds for a b of any norm, and is no more than half as much again.
func TestBlur(t *testing.T) {
	for _, eps := range []float64{1e-4, 1, 10} {
		c := config()
		c.Epsilon = eps
		m := must.Get(c.Calibrate())
		for _, n := range []float64{1, 1e3, 1e8} {
			most := 0.0
			for b := 1e-9; b < 1e30; b *= 1.01 {
				mu := math.Max(0, b-n*m.Clip-m.Lambda*m.Radius) / m.Radius
				eta := 4*u*b + m.Scale*math.Sqrt(3)*0x1p-60
				most = math.Max(most, eta/(m.Lambda+mu/2)*m.Lambda)
			}
			if got := m.blur(3, int(n)); !(most <= got) || got > 1.6*most {
				t.Errorf("ε = %g, n = %g: %.4g, a b has %.4g", eps, n, got, most)
			}
		}
	}
}
