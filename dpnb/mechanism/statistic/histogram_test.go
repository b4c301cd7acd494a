package statistic

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Places are those of a search from the first on, at edges, between them and beyond.
func TestCells(t *testing.T) {
	edges := []float64{-1, 0, 0.5, 3}
	of := Cells{{Edges: edges}, {Levels: 3}}
	if err := of.Validate(); err != nil || of.Len() != 9 {
		t.Fatalf("%d cells, %v", of.Len(), err)
	}
	for _, v := range []float64{-2, -1, -0.5, 0, 0.2, 0.5, 1, 3, 3.1, math.NaN(), math.Inf(1)} {
		for _, level := range []float64{-1, 0, 1, 2, 3, 0.5, math.NaN()} {
			want := -1
			for i := range 3 {
				if v >= edges[i] && (v < edges[i+1] || v == edges[3]) && (level == 0 || level == 1 || level == 2) {
					want = 3*i + int(level)
				}
			}
			if got := of.of([][]float64{{v}, {level}}, 0); got != want {
				t.Errorf("(%v, %v) is in cell %d, want %d", v, level, got, want)
			}
		}
	}
}

// divergence returns H_{e^ε}(P‖Q) of two laws on the same points.
func divergence(p, q []float64, eps float64) (h float64) {
	for i := range p {
		h += math.Max(0, p[i]-math.Exp(eps)*q[i])
	}
	return h
}

// The law of one count with geometric noise, written out, has the profile of the event at every ε; with noise that is
// less by a tenth it has not.
func TestGeometricProfile(t *testing.T) {
	m := must.Get(CalibrateHistogram(Cells{{Levels: 1}}, 0.7, 0, false))
	event, _ := m.Event()
	profile, _ := event.Profile(privacy.AddRemove)
	law := func(scale float64, at int) (p []float64) {
		q := math.Exp(-1 / scale)
		for x := -2000; x <= 2000; x++ {
			p = append(p, (1-q)/(1+q)*math.Pow(q, math.Abs(float64(x-at))))
		}
		return p
	}
	for _, eps := range []float64{-0.5, 0, 0.2, 0.69, 0.7, 1} {
		exact, claim := divergence(law(m.Scale, 1), law(m.Scale, 0), eps), privacy.DeltaUpper(profile, eps)
		if exact > claim+1e-12 || exact < claim-1e-9 {
			t.Errorf("δ(%v) = %v, claimed is %v", eps, exact, claim)
		}
		if less := divergence(law(0.9*m.Scale, 1), law(0.9*m.Scale, 0), eps); eps < 0.75 && less < claim+1e-3 {
			t.Errorf("δ(%v) = %v with less noise, within what is claimed: %v", eps, less, claim)
		}
	}
}

// The standard deviation that is stated is that of 40,000 draws, to five standard errors, which are 3.2 % (geometric
// noise has a kurtosis of up to 6), and the margin of 90 % holds for at least 90 % less five standard errors; for
// normal noise not for more either.
func TestNoiseOfCounts(t *testing.T) {
	testscale.Slow(t)
	const n = 40_000
	for _, delta := range []float64{0, 1e-5} {
		for _, eps := range []float64{0.3, 1, 3} {
			m := must.Get(CalibrateHistogram(Cells{{Levels: n}}, eps, delta, true))
			tally := m.Tally()
			for i := range 6 { // cell i has i%7 records
				var cells []float64
				for cell := range n {
					if cell%7 > i {
						cells = append(cells, float64(cell))
					}
				}
				tally.Add([][]float64{cells})
			}
			var square, within float64
			for i, v := range tally.Release(noise.NewSeeded(4)) {
				v -= float64(i % 7)
				square += v * v
				if math.Abs(v) <= m.Margin(0.9) {
					within++
				}
			}
			if ratio := math.Sqrt(square/n) / m.Deviation(); !(math.Abs(ratio-1) <= 0.032) {
				t.Errorf("ε = %v, δ = %v: the deviation is %.3f of what is said", eps, delta, ratio)
			}
			share, error5 := within/n, 5*math.Sqrt(0.09/n)
			if share < 0.9-error5 || delta > 0 && share > 0.9+error5 {
				t.Errorf("ε = %v, δ = %v: %.4f are within the margin of 0.9", eps, delta, share)
			}
		}
	}
}

func TestHistogramRefuses(t *testing.T) {
	one := Cells{{Levels: 1}}
	for name, c := range map[string]struct {
		of             Cells
		epsilon, delta float64
	}{
		"no cells": {Cells{{}}, 1, 0}, "too many cells": {Cells{{Levels: MostCells}, {Levels: 2}}, 1, 0},
		"ten million":     {Cells{{Levels: 1e7}}, 1, 0},
		"far too many":    {Cells{{Levels: math.MaxInt / 2}, {Levels: math.MaxInt / 2}}, 1, 0},
		"edges that fall": {Cells{{Edges: []float64{0, 2, 1}}}, 1, 0},
		"one edge":        {Cells{{Edges: []float64{0}}}, 1, 0},
		"an edge twice":   {Cells{{Edges: []float64{0, 0}}}, 1, 0},
		"both":            {Cells{{Levels: 2, Edges: []float64{0, 1}}}, 1, 0},
		"no ε":            {one, 0, 0}, "δ = 1": {one, 1, 1}, "no noise": {one, math.Inf(1), 0}, "no axes": {nil, 1, 0},
	} {
		if _, err := CalibrateHistogram(c.of, c.epsilon, c.delta, false); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	alone, _ := CalibrateHistogram(one, 1, 1e-5, false)
	among, _ := CalibrateHistogram(one, 1, 1e-5, true)
	if !(alone.Scale > 0 && among.Sigma > 0) {
		t.Errorf("%v, %v", alone, among)
	}
}
