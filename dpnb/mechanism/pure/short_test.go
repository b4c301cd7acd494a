package pure

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Of records that are divided by their length only the direction and the label in units of it count, however short they
// are; without that, labels of a pinball loss move by what their length says, and those of the median do not.
func TestShortRecords(t *testing.T) {
	rows, labels := records(40, 3, 8)
	scaled := func(c float64) (*matrix.Dense, []float64) {
		x, y := matrix.NewDense(rows.N, rows.D, slices.Clone(rows.Data)), slices.Clone(labels)
		floats.Scale(c, x.Data)
		floats.Scale(c, y)
		return x, y
	}
	p := Problem{Loss: loss.Pinball{Tau: 0.8}, Directions: true, Clip: 1, Radius: 3, Lambda: 2, Tolerance: 1e-9}
	bend := curve(p.Clip, 0.5, p.Lambda)
	solve := func(c float64) []float64 {
		x, y := scaled(c)
		return must.Get(p.minimise(bend, x, y, nil, 0, 1))
	}
	long, short := solve(4), solve(0x1p-10)
	if !(floats.Distance(long, short, 2) <= 4*p.reach()) || floats.Norm(long, 2) < 0.1 {
		t.Errorf("%v of long records, %v of short ones", long, short)
	}
	norms := must.Get(p.minimise(bend, rows, slices.Clone(labels), nil, 0, 1))
	for i, want := range norms {
		if !(math.Abs(long[i]-want) <= 4*p.reach()) {
			t.Errorf("coordinate %d: %v, want %v", i, long[i], want)
		}
	}
	// A record alone, along its own axis: the label moves by shift, as if it had been given so.
	p.Directions, p.Lambda = false, 0.5
	bend = curve(p.Clip, 0.5, p.Lambda)
	for _, norm := range []float64{0.25, 0.9} {
		x := matrix.NewDense(1, 1, []float64{norm})
		moved := p.shift(bend, norm)
		got := must.Get(p.minimise(bend, x, []float64{0.1}, nil, 0, 1))
		q := p
		q.Loss = loss.LeastAbsolute{}
		if q.shift(bend, norm) != 0 || !(moved > 0) {
			t.Errorf("ρ = %v: moved by %v, of the median by %v", norm, moved, q.shift(bend, norm))
		}
		want := bend.Bias(0.8*norm) - bend.Bias(norm*(1-0.8))
		if !(math.Abs(moved-want) <= 1e-12) {
			t.Errorf("ρ = %v: moved by %v, want %v", norm, moved, want)
		}
		e := loss.Extend(p.Loss, bend, []float64{norm}, []float64{0.1 + moved}, nil)
		slope := make([]float64, 1)
		e.ValueSlope(slope, got, []float64{0})
		if grad := slope[0] + p.Lambda*got[0]; !(math.Abs(grad) <= 1e-7) {
			t.Errorf("ρ = %v: %v is where the gradient is %v", norm, got, grad)
		}
	}
}

// Without a C a phase cuts gradients where the bound on their moment says for as many records as it has:
// G(nε/d)^{1/k}.
func TestClipOfAPhase(t *testing.T) {
	for _, records := range []int{2000, 50_000} {
		m := phases(t, func(p *PhasesConfig) {
			p.Features, p.Records, p.WorstCase, p.MomentBound = 5, records, true, 7
		})
		want := 7 * math.Pow(float64(m.planned(1))*1/5, 1/2.0)
		if !(math.Abs(m.Clip/want-1) <= 1e-9) {
			t.Errorf("%d records: C = %v, want %v", records, m.Clip, want)
		}
	}
}

// Without a slope of records the minimiser is where the noise pushes it: its mean distance is that of the law, dβ/Λ, by
// scales far from 1, too.
func TestNoiseOfTheObjective(t *testing.T) {
	for _, eps := range []float64{0.05, 100} {
		c := config()
		c.Epsilon, c.Radius, c.Records, c.LeastNorm = eps, 1e6, 1, 1
		m := must.Get(c.Calibrate())
		mean := 0.0
		for seed := range 400 {
			rows, src := matrix.NewDense(1, 3, []float64{1e-9, 0, 0}), noise.NewSeeded(uint64(seed))
			r := must.Get(m.Run(rows, []float64{0}, src, nil))
			mean += floats.Norm(r.Coefficients, 2) / 400
		}
		// ‖b‖ has the law Gamma(3) of scale β: a mean of 3β, and 400 of them err by 3 % of that.
		if want := 3 * m.Scale / m.Lambda; !(math.Abs(mean/want-1) <= 0.12) {
			t.Errorf("ε = %g, β = %g: ‖θ‖ is %g in the mean, want %g", eps, m.Scale, mean, want)
		}
	}
}
