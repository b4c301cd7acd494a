package audit

import (
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What the bound is; that it holds, and is attained by randomised response, dpnb/audit-one-run checks.
func TestOneRunBound(t *testing.T) {
	// Without δ it is the binomial tail; the second term is that of the page.
	if got := OneRunBound(10, 10, 10, math.Log(3), 0); !(math.Abs(got-math.Pow(0.75, 10)) <= 1e-9) {
		t.Errorf("all of ten right: %v", got)
	}
	if got := OneRunBound(3, 2, 3, 0, 0.1); !(math.Abs(got-0.1/2*(1+1+0.5)) <= 1e-9) {
		t.Errorf("more right than guesses: %v", got)
	}
	ours := OneRunBound(1000, 1000, 757, 1, 1e-5) - OneRunBound(1000, 1000, 757, 1, 0)
	if !(math.Abs(ours/0.00015-1) <= 0.1) {
		t.Errorf("the second term at m = 1000 is %.3g; docs/theory/audit.md says 0.00015", ours)
	}
}

// oneRun is an audit of the sums of d numbers in [−1, 1], with a part of their noise, by m canaries.
func oneRun(t testing.TB, m, d int, eps, part float64) (OneRun, privacy.Profile) {
	t.Helper()
	columns := make([]statistic.Number, d)
	for j := range columns {
		columns[j] = statistic.Number{Lower: -1, Upper: 1}
	}
	sums := statistic.Means{Of: columns, For: statistic.Gaussian}
	s := must.Get(statistic.CalibrateSums(sums, statistic.Gaussian, eps, 1e-5))
	claim := must.Get(mechanism.Profile(s))
	s.Scale *= part
	rows, src := matrix.NewDense(m, d, nil), noise.NewSeeded(9)
	for i := range rows.Data {
		rows.Data[i] = float64(2*src.IntN(2) - 1)
	}
	labels := make([]float64, m)
	for i := range labels { // which a mean does not look at
		labels[i] = rows.Data[i*d] / 4
	}
	return OneRun{Mechanism: s, Base: Data{matrix.NewDense(0, d, nil), nil}, Canaries: Data{rows, labels},
		Score: func(r *mechanism.Release, x []float64, y float64) float64 {
			if len(x) != d || y != x[0]/4 {
				t.Fatalf("a canary of %d numbers has the label %v", len(x), y)
			}
			sum := 0.0
			for j, v := range x {
				sum += v * r.Coefficients[1+j] // after the count
			}
			return sum
		}, Guesses: m / 4}, claim
}

// With all of the noise one run is not flagged, and with a fifth of it it is: an audit of one run sees large faults
// only.
func TestOneRun(t *testing.T) {
	for _, part := range []float64{1, 0.2} {
		o, claim := oneRun(t, 400, 2000, 2, part)
		c := must.Get(o.Run(&Options{Delta: 1e-5, Claim: claim}, noise.NewSeeded(1)))
		if c.Refuted != (part < 1) || strings.Contains(c.String(), "REFUTED") != c.Refuted {
			t.Errorf("with %g of the noise: %v", part, c)
		}
		o.Guesses = 401
		if _, err := o.Run(nil, noise.NewSeeded(1)); err == nil {
			t.Error("more guesses than canaries")
		}
		o.Score = nil
		if _, err := o.Run(nil, noise.NewSeeded(1)); err == nil {
			t.Error("no score is needed")
		}
	}
}

func TestOneRunFalseAlarms(t *testing.T) {
	runs := 60
	if testscale.Full() {
		runs = 1000
	}
	alarms := 0
	o, _ := oneRun(t, 60, 300, 2, 1)
	for k := range runs {
		c := must.Get(o.Run(&Options{Delta: 1e-5, Level: 0.9}, noise.NewSeeded(uint64(k))))
		if c.Refuted || c.Epsilon > c.Claimed {
			alarms++
		}
	}
	t.Logf("%d false alarms of %d", alarms, runs)
	if limit := 0.1*float64(runs) + 4.3*math.Sqrt(0.09*float64(runs)); float64(alarms) > limit {
		t.Errorf("%d false alarms of %d at 90 %%", alarms, runs)
	}
}

// Exact losses see a tenth of the noise, and nothing where there is all of it; false alarms are counted by
// dpnb/audit-losses.
func TestExact(t *testing.T) {
	claim := privacy.GaussianProfile(1, privacy.AddRemove)
	for _, part := range []float64{1, 0.9} {
		c := must.Get(Exact(Shifted{Distance: 1, Sigma: part}, &Options{Claim: claim, Delta: 1e-5}, noise.NewSeeded(1)))
		if c.Refuted != (part < 1) || strings.Contains(c.String(), "REFUTED") != c.Refuted {
			t.Errorf("with %g of the noise: %v", part, c)
		}
	}
	if _, err := Exact(Shifted{1, 1}, nil, noise.NewSeeded(1)); err == nil {
		t.Error("no claim is needed")
	}
}

// The curve of an attack lies below what is allowed, and above it with a tenth of the noise.
func TestAttack(t *testing.T) {
	claim := privacy.GaussianProfile(1, privacy.AddRemove)
	src := noise.NewSeeded(3)
	for _, part := range []float64{1, 0.1} {
		in, out := make([]float64, 4000), make([]float64, 4000)
		src.Gaussian(in, part)
		src.Gaussian(out, part)
		for i := range in {
			in[i]++
		}
		c := must.Get(Attack(in, out, 0.99, claim))
		above := 0
		for _, p := range c.Points {
			if p.Power.Lower > Allowed(claim, []float64{p.FalsePositive.Upper})[0] {
				above++
			}
			if p.FalsePositive.Lower > p.FalsePositive.Estimate || p.Power.Upper < p.Power.Estimate {
				t.Errorf("%+v", p)
			}
		}
		if (above > 0) != (part < 1) || len(c.Points) < 8 {
			t.Errorf("with %g of the noise %d of %d points are above the curve", part, above, len(c.Points))
		}
	}
	if _, err := Attack(nil, nil, 0.9, nil); err == nil {
		t.Error("an attack on nobody")
	}
}
