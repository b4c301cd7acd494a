package additive

import (
	"math"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

var columns = []Column{{First: 0, Len: 1, Number: true}, {First: 1, Len: 3}, {First: 4, Len: 1, Number: true}}

var small = Boosting{Cells: Cells{columns, 4}, Clip: 2, Leaves: 3, Rounds: 7, LearningRate: 0.1, CountSigma: 3,
	SumSigma: 5}

// What is calibrated satisfies (ε, δ), and a hundredth less noise does not.
func TestCalibrationIsSafeAndTight(t *testing.T) {
	for _, eps := range []float64{0.05, 1, 10} {
		const delta = 1e-6
		m := must.Get(Config{Columns: columns, Clip: 1, Epsilon: eps, Delta: delta}.Calibrate())
		if m.Bins != 32 || m.Leaves != 3 || m.Rounds != 300 || m.LearningRate != 0.01 {
			t.Errorf("%v is not the mechanism of the source", m)
		}
		p, _ := mechanism.Profile(m)
		if d := privacy.DeltaUpper(p, eps); d > delta {
			t.Errorf("%v: δ = %g", m, d)
		}
		m.CountSigma, m.SumSigma = 0.99*m.CountSigma, 0.99*m.SumSigma
		if p, _ = mechanism.Profile(m); privacy.DeltaUpper(p, eps) <= delta {
			t.Errorf("%v: so much noise is not needed", m)
		}
	}
}

// The counts and each step are paid for: μ² of a Gaussian mechanism for each, worked out one by one.
func TestAllStepsArePaidFor(t *testing.T) {
	m := small
	want := 1 / (m.CountSigma * m.CountSigma)
	for range m.Rounds {
		for range m.Columns {
			want += 1 / (m.SumSigma * m.SumSigma)
		}
	}
	p := must.Get(mechanism.Profile(m))
	if _, mu, ok := privacy.GaussianMu(p); !ok || mu*mu < want || mu*mu > want*(1+1e-12) {
		t.Errorf("μ² = %v, want %v", mu*mu, want)
	}
}

// A record moves the counts by √K at most, and by that if it is in a cell of each column; and the sums of a step, in
// units of the noise multiplier, by 1 at most, whatever it holds and whatever was released before.
func TestWhatARecordMoves(t *testing.T) {
	m := small
	for _, row := range [][]float64{{0.3, 0, 1, 0, 1}, {-7, 1, 1, 1, 1e300}, {1, 0, 0, 0, 0.999}} {
		moved := 0.0
		for _, cells := range m.of(matrix.NewDense(1, 5, row), 1) {
			if cells[0] >= 0 {
				moved++
			}
		}
		if moved = math.Sqrt(moved); moved > m.countScale()/m.CountSigma {
			t.Errorf("the counts move by %v, the noise is for %v", moved, m.countScale()/m.CountSigma)
		}
	}
	src, most := noise.NewSeeded(1), 0.0
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1e300, 2, -2, 4, -4}
	for i := range 20_000 {
		y, score := 3*src.NormFloat64(), 5*src.NormFloat64()
		if i < len(odd) {
			score = odd[i]
		}
		for _, classes := range []bool{false, true} {
			if m.Classes = classes; classes {
				y = math.Copysign(1, y)
			}
			for _, clip := range []float64{0.1, 1, 2} {
				m.Clip = clip
				sums, none := make([]float64, 3), make([]float64, 3)
				m.sum(sums, []float64{score, 0.1}, []float64{y, 1}, nil, nil, []int16{1, 0}, []int16{0, 2, 1}, 1)
				m.sum(none, []float64{0.1}, []float64{1}, nil, nil, []int16{0}, []int16{0, 2, 1}, 1)
				var square float64
				for l := range sums {
					square += (sums[l] - none[l]) * (sums[l] - none[l])
				}
				most = max(most, math.Sqrt(square))
			}
		}
	}
	if most > 1 || most < 0.99 {
		t.Errorf("a record moves the sums of a step by %v, the noise is for 1", most)
	}
}

// Bins cover all cells; those of a number have about equal counts, and leaves are runs of bins, their ends uniform.
func TestBinsAndLeaves(t *testing.T) {
	m := Boosting{Cells: Cells{columns, 2}}
	for _, c := range []struct {
		of     Column
		counts []float64
		want   []int
	}{
		{columns[0], []float64{1, 1, 1, 1}, []int{0, 2, 4}},
		{columns[0], []float64{10, 0, 1, 1}, []int{0, 4}},
		{columns[0], []float64{1, 1, 10, 1}, []int{0, 4}},
		{columns[0], []float64{5, 1, 1, 5}, []int{0, 2, 4}},
		{columns[0], []float64{-1, -2, 0, 0}, []int{0, 4}},
		{columns[1], []float64{9, 0, 1}, []int{0, 1, 2, 3}},
	} {
		if got := m.bins(c.of, c.counts); !slices.Equal(got, c.want) {
			t.Errorf("%v: bins begin at %v, want %v", c.counts, got, c.want)
		}
	}
	times := map[int]int{}
	draw := exact.New(noise.NewSeeded(2))
	for range 3000 {
		leaf := split(draw, []int{0, 2, 3, 7, 8}, 3) // two of three ends
		if leaf[0] != 0 || leaf[7] != 2 || leaf[0] != leaf[1] || leaf[3] != leaf[6] {
			t.Fatalf("leaves %v", leaf)
		}
		times[slices.Index(leaf, 1)*10+slices.Index(leaf, 2)]++
	}
	for ends, n := range times {
		if len(times) != 3 || !(math.Abs(float64(n)-1000) <= 5*26) {
			t.Errorf("ends %d: %d times of 3000", ends, n)
		}
	}
	for _, few := range []int{1, 5} {
		if leaf := split(draw, []int{0, 4}, few); !slices.Equal(leaf, make([]int16, 4)) {
			t.Errorf("one bin has leaves %v", leaf)
		}
	}
}

// With next to no noise it learns a sum of steps, and Placed rows with its coefficients are what it learnt.
func TestLearnsSteps(t *testing.T) {
	testscale.Slow(t)
	src := noise.NewSeeded(3)
	const n = 20_000
	x, y := matrix.NewDense(n, 5, nil), make([]float64, n)
	for i := range y {
		u, v, k := src.Float64(), src.Float64(), src.IntN(3)
		x.Data[5*i], x.Data[5*i+1+k], x.Data[5*i+4] = u, 1, v
		y[i] = 0.3*float64(k-1) + math.Round(u)*0.5 - 0.4
	}
	m := must.Get(Config{Columns: columns, Clip: 1, Rounds: 1000, Epsilon: 1000, Delta: 1e-6}.Calibrate())
	r := must.Get(m.Run(x, y, noise.NewSeeded(4), nil))
	t.Log(r.Mechanism)
	f := make([]float64, n)
	placed := r.Also.(*Cells).Placed(x)
	placed.Margins(f, r.Coefficients, 0, n)
	var left, all float64
	for i := range f {
		left += (y[i] - f[i]) * (y[i] - f[i])
		all += y[i] * y[i]
	}
	if left > 0.05*all { // where a bin goes over a step
		t.Errorf("%.3f of the squares are left", left/all)
	}
}

// A step adds η·C·Σclip(r/C)/N: in a cell that all records share, a part η of what is left to their label.
func TestStepsAreOfTheLabel(t *testing.T) {
	const n, label = 1000, 0.5
	x, y := matrix.NewDense(n, 1, slices.Repeat([]float64{1}, n)), slices.Repeat([]float64{label}, n)
	if (Boosting{Cells: Cells{columns, mostCells / 2}, Clip: 1, Leaves: 1, Rounds: 1, LearningRate: 1, CountSigma: 1,
		SumSigma: 1}).Validate() != nil {
		t.Error("the most bins are refused")
	}
	for _, clip := range []float64{0.7, 2} {
		m := Boosting{Cells: Cells{[]Column{{Len: 1}}, 1}, Clip: clip, Leaves: 1, Rounds: 2, LearningRate: 0.25,
			CountSigma: 1e-9, SumSigma: 1e-9}
		r := must.Get(m.Run(x, y, noise.NewSeeded(1), nil))
		if want := label * (1 - 0.75*0.75); !(math.Abs(r.Coefficients[0]-want) <= 1e-6) || r.NoiseScale != 1e-9*clip {
			t.Errorf("C = %g: %v with noise of %g, want %g", clip, r.Coefficients, r.NoiseScale, want)
		}
	}
	// Where a leaf has fewer records than the noise of its count, it is taken to have as many as that: of four columns
	// twice the noise multiplier. The noise that this seed draws is less.
	m := Boosting{Cells: Cells{slices.Repeat([]Column{{Len: 1}}, 4), 1}, Clip: 1, Leaves: 1, Rounds: 1,
		LearningRate: 0.25, CountSigma: 1e6, SumSigma: 1e-9}
	r := must.Get(m.Run(x, y, noise.NewSeeded(1), nil))
	if want := 0.25 * n * label / 2e6; !(math.Abs(r.Coefficients[0]/want-1) <= 1e-6) {
		t.Errorf("hidden by the noise of its count a leaf has %g, want %g", r.Coefficients[0], want)
	}
}
