package statistic

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Every way in which a person's records may lie in the cells is tried.
func TestSensitivityOfCounts(t *testing.T) {
	for cells := 1; cells <= 4; cells++ {
		for records := 1; records <= 6; records++ {
			for perCell := 1; perCell <= records; perCell++ {
				var sum, square float64
				var try func(cell, left int, l1, l2 float64)
				try = func(cell, left int, l1, l2 float64) {
					if cell == cells {
						sum, square = math.Max(sum, l1), math.Max(square, l2)
						return
					}
					for c := 0; c <= min(left, perCell); c++ {
						try(cell+1, left-c, l1+float64(c), l2+float64(c*c))
					}
				}
				try(0, records, 0, 0)
				a, b := Person{records, perCell}.sensitivity(cells)
				if a != sum || b != square {
					t.Errorf("%d cells, %d records, %d in a cell: %v, %v; by trial %v, %v", cells, records, perCell, a,
						b, sum, square)
				}
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

// The law of one count with geometric noise, written out, has the profile of the event at
// every ε; with noise that is less by a tenth it has not.
func TestGeometricProfile(t *testing.T) {
	m, err := HistogramConfig{Cells: 1, Person: Person{1, 1}, Epsilon: 0.7}.Calibrate()
	if err != nil {
		t.Fatal(err)
	}
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

// The standard deviation that is stated is that of 40,000 draws, to five standard errors,
// which are 3.2 % (geometric noise has a kurtosis of up to 6), and the margin of 90 %
// holds for at least 90 % less five standard errors; for normal noise not for more either.
func TestNoiseOfCounts(t *testing.T) {
	const n = 40_000
	for _, delta := range []float64{0, 1e-5} {
		for _, eps := range []float64{0.3, 1, 3} {
			m, err := HistogramConfig{Cells: n, Person: Person{1, 1}, Epsilon: eps, Delta: delta}.Calibrate()
			if err != nil {
				t.Fatal(err)
			}
			counts := make([]int64, n)
			for i := range counts {
				counts[i] = int64(i % 7)
			}
			r, err := m.Release(counts, noise.NewSeeded(4))
			if err != nil {
				t.Fatal(err)
			}
			var square, within float64
			for i, v := range r.Coefficients {
				v -= float64(counts[i])
				square += v * v
				if math.Abs(v) <= m.Margin(0.9) {
					within++
				}
			}
			if ratio := math.Sqrt(square/n) / m.Deviation(); math.Abs(ratio-1) > 0.032 {
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
	one := Person{1, 1}
	for name, c := range map[string]HistogramConfig{
		"no cells": {Person: one, Epsilon: 1}, "too many cells": {Cells: mostCells + 1, Person: one, Epsilon: 1},
		"no records":                {Cells: 2, Person: Person{0, 0}, Epsilon: 1},
		"more in a cell than there": {Cells: 2, Person: Person{1, 2}, Epsilon: 1},
		"no ε":                      {Cells: 2, Person: one}, "δ = 1": {Cells: 2, Person: one, Epsilon: 1, Delta: 1},
		"no noise to speak of": {Cells: 2, Person: one, Epsilon: math.Inf(1)},
	} {
		if _, err := c.Calibrate(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	m, _ := HistogramConfig{Cells: 2, Person: one, Epsilon: 1}.Calibrate()
	if _, err := m.Release([]int64{1}, noise.NewSeeded(1)); err == nil {
		t.Error("a count for each cell is not asked for")
	}
	if _, err := m.Release([]int64{1, 2}, nil); err == nil {
		t.Error("no source of noise is asked for")
	}
}
