package geometry_test

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// purely returns the mechanism of pure ε around a fit by the loss, with d features.
func purely(t testing.TB, l loss.Convex, eps float64, d int) geometry.Centred {
	t.Helper()
	m := must.Get(geometry.CalibratePure(geometry.Centred{RowNorm: 1, Bias: bias, Numbers: l.ValidLabel(0.5),
		Free: d + 1}, geometry.DefaultPure, eps, func(eps float64) (mechanism.Informed, error) {
		clip := l.Lipschitz() * math.Hypot(1, bias)
		return pure.Config{Loss: l, Epsilon: eps, Adjacency: privacy.AddRemove, Features: d + 1, Records: 1,
			Clip: clip, Lambda: clip, Radius: 64}.Calibrate()
	}))
	return m
}

var pureLosses = []loss.Convex{loss.Logistic{}, loss.Softplus{Width: 1}, loss.Huber{Threshold: 1},
	loss.Pinball{Tau: 0.5}, loss.Pinball{Tau: 0.9}}

// The count, the mean and the fit together are within ε and use it: what each costs adds up.
func TestPurelyTogether(t *testing.T) {
	for _, eps := range []float64{0.01, 1, 8} {
		for _, l := range pureLosses {
			m := purely(t, l, eps, 5)
			p := must.Get(mechanism.Profile(m))
			all, err := privacy.EpsilonUpper(p, 0)
			if err != nil || all > eps || all < 0.999999*eps {
				t.Errorf("%s: ε = %v of %v (%v)", l.Name(), all, eps, err)
			}
			of := m.Of.(pure.Objective).Epsilon()
			if want := of + 1/m.CountSigma + 1/m.MeanSigma; !(math.Abs(all/want-1) <= 1e-9) ||
				!(math.Abs(1/m.CountSigma/eps-0.02) <= 1e-6) || !(math.Abs(1/m.MeanSigma/eps-0.1) <= 1e-6) {
				t.Errorf("%s: ε = %v, the parts are %v, %v and %v", l.Name(), all, 1/m.CountSigma, 1/m.MeanSigma, of)
			}
		}
	}
	m := purely(t, loss.Logistic{}, 1, 2)
	m.Of = around(t, loss.Logistic{}, 1, 2).Of
	if err := m.Validate(); err == nil || !strings.Contains(err.Error(), "not of pure ε") {
		t.Errorf("Laplace noise with a fit that has a δ: %v", err)
	}
	m = purely(t, loss.Logistic{}, 1, 2)
	m.Law = mechanism.Gaussian
	if err := m.Validate(); err == nil || !strings.Contains(err.Error(), "not known") {
		t.Errorf("Gaussian noise with a pure fit: %v", err)
	}
}

// For every noisy count the fit that is chosen costs no more than what was charged, and a release of as many records as
// there can be is proved to be made; the ridge falls as records are more.
func TestPurelyForAnyCount(t *testing.T) {
	for _, l := range pureLosses {
		for _, eps := range []float64{1e-3, 1, 10} {
			of := purely(t, l, eps, 40).Of.(pure.Objective)
			last := math.Inf(1)
			for _, n := range []float64{20, 300, 1e4, 1e6, 1e9, 1e300} {
				chosen, stretch := of.For(mechanism.Facts{Records: n, Mu: eps / math.Sqrt(42), Directions: 30,
					Features: 41})
				fit := chosen.(pure.Objective)
				if err := fit.Feasible(41, pure.MostRecords); err != nil {
					t.Errorf("%s, ε = %g, n = %g: %v", l.Name(), eps, n, err)
				}
				if fit.Epsilon() > of.Epsilon() || fit.Epsilon() < 0.999999*of.Epsilon() || fit.Clip != of.Clip ||
					fit.Scale != of.Scale {
					t.Errorf("%s, ε = %g, n = %g: ε = %v of %v", l.Name(), eps, n, fit.Epsilon(), of.Epsilon())
				}
				if fit.Lambda > last || !(stretch >= 1 && stretch <= 3) {
					t.Errorf("%s, ε = %g, n = %g: Λ = %g after %g, stretch %g", l.Name(), eps, n, fit.Lambda, last,
						stretch)
				}
				last = fit.Lambda
			}
		}
	}
}

// The noise of the count and of the sums has the law that the parameters say: with Laplace noise a count is off by 1/ε₁
// in the mean, and the k sums of rows that have nothing along one of d directions, and of labels, by k/ε₂ times what a
// record adds; where rows have nothing there is none. Over so many runs a scale that is wrong by a tenth is seen, and a
// right one is taken for wrong with a probability below 1e-6.
func TestPureSumsHaveTheirLaw(t *testing.T) {
	const runs, d = 4000, 4
	m := purely(t, loss.Huber{Threshold: 1}, 1, d)
	nowhere := matrix.Direction{First: 1, Weights: []float64{0.6, 0.8}}
	m.Nowhere = []matrix.Direction{nowhere}
	rows, labels := cloud(200, d, true, 9)
	for i := range 200 {
		x := rows.Data[i*(d+1) : (i+1)*(d+1)-1]
		nowhere.Add(x, -nowhere.Along(x))
		floats.Scale((1-1e-15)/floats.Norm(x, 2), x)
	}
	want := make([]float64, d+2)
	for i, y := range labels {
		floats.Add(want[:d], rows.Data[i*(d+1):i*(d+1)+d])
		want[d], want[d+1] = want[d]+y/2, want[d+1]+y*y/2
	}
	src := noise.NewSeeded(10)
	const k = d - 1 + 2
	var ofCount, ofSums, ofSquares, along float64
	for range runs {
		count, sums := geometry.Noisy(m, rows, labels, src)
		ofCount += math.Abs(count-200) / m.CountSigma / runs
		floats.Sub(sums, want)
		off := floats.Norm(sums, 2) / (math.Sqrt(1.5) * m.MeanSigma)
		ofSums += off / k / runs
		ofSquares += sums[d] * sums[d] / (1.5 * m.MeanSigma * m.MeanSigma) / (k + 1) / runs
		along = math.Max(along, math.Abs(nowhere.Along(sums[:d])))
	}
	if !(math.Abs(ofCount-1) <= 0.08) || !(math.Abs(ofSums-1) <= 0.036) || !(math.Abs(ofSquares-1) <= 0.2) ||
		along > 1e-4 {
		t.Errorf("%v of the count's noise, %v and %v of that of the sums, want 1; %v where there is nothing", ofCount,
			ofSums, ofSquares, along)
	}
}

// Given any count and sums, neighbours' rows are fitted by laws whose exact densities differ by no more than the fit's
// ε, and by nearly that much somewhere: in any number of dimensions, and in one on a grid of what a record can be.
func TestPureFitOfNeighbours(t *testing.T) {
	testscale.Slow(t)
	src := noise.NewSeeded(3)
	for _, l := range pureLosses {
		m := purely(t, l, 1, 3)
		worst := 0.0
		for seed := range uint64(6) {
			rows, labels := cloud(60, 3, m.Numbers, seed)
			r := must.Get(m.Run(rows, labels, noise.NewSeeded(seed), nil))
			fit, b := r.Fitted.(pure.Objective), r.Also.(*geometry.Bought)
			law := audit.PureLaw{Loss: fit.Loss, Scale: fit.Scale, Lambda: fit.Lambda,
				Bend: loss.FreeBend(fit.Clip, math.Max(fit.Scale, fit.Clip/8), fit.Lambda)}
			placed := b.Placed(rows)
			record := func(i int) audit.PureRecord {
				x := make([]float64, 4)
				placed.Row(x, i)
				return audit.PureRecord{Norm: matrix.Direct(x), Direction: x, Label: (labels[i] - b.Centre) / b.Unit}
			}
			for i := range 57 {
				w := make([]float64, 4)
				src.Gaussian(w, fit.Clip/fit.Lambda*math.Exp(2*float64(i%5)-4))
				others := []audit.PureRecord{record(i + 1), record(i + 2)}
				worst = math.Max(worst, math.Abs(law.LogRatio(others, record(i), w)))
			}
			if grid := law.Worst(); grid > fit.Epsilon() {
				t.Errorf("%s: neighbours differ by %v in one dimension, claimed %v", l.Name(), grid, fit.Epsilon())
			}
		}
		if of := m.Of.(pure.Objective).Epsilon(); worst > of || worst < 0.5*of {
			t.Errorf("%s: neighbours differ by %v, claimed %v", l.Name(), worst, of)
		}
	}
}

// Rows with curves are fitted in the directions that count: a category of K levels in K − 1, the hats of a number in
// two beside its line; what is predicted is the same in these coordinates and in those of all features.
func TestPureSpace(t *testing.T) {
	const n, k = 900, 8
	m := purely(t, loss.Huber{Threshold: 1}, 5, 2+1+k)
	even := func(first, k int) matrix.Direction {
		w := make([]float64, k)
		for j := range w {
			w[j] = 1 / math.Sqrt(float64(k))
		}
		return matrix.Direction{First: first, Weights: w}
	}
	line := matrix.Direction{First: 2, Weights: make([]float64, 1+k)}
	line.Weights[0] = -1
	for j := range k {
		line.Weights[1+j] = 2*float64(j)/(k-1) - 1
	}
	floats.Scale(1/floats.Norm(line.Weights, 2), line.Weights)
	m.Curves, m.Gate, m.Free = []matrix.Span{{First: 3, Len: k}}, 3, 3
	m.Nowhere = []matrix.Direction{even(0, 2), even(3, k), line}
	src := noise.NewSeeded(8)
	rows, labels := matrix.NewDense(n, 2+1+k+1, nil), make([]float64, n)
	for i := range n {
		x := rows.Data[i*rows.D : (i+1)*rows.D]
		at := src.Float64()
		x[0], x[1], x[2], x[2+1+k] = 0.5, -0.5, 2*at-1, bias
		if src.Float64() < 0.5 {
			x[0], x[1] = -0.5, 0.5
		}
		for j := range k {
			x[3+j] = math.Max(0, 1-math.Abs(at*(k-1)-float64(j))) - 1.0/k
		}
		floats.Scale((1-1e-15)/floats.Norm(x[:2+1+k], 2), x[:2+1+k])
		labels[i] = (at-0.5)*(at-0.5)*2 - 0.2 + 0.1*x[0]
	}
	nowhere := m.Nowhere
	for gate, want := range map[float64]int{3: 1 + 1 + 2 + 1, 1e6: 1 + 1 + 1} {
		m.Gate, m.Nowhere = gate, nowhere
		if gate > 1e3 {
			m.Nowhere = nowhere[:1]
		}
		chosen, _ := geometry.Chosen(m, n, rows.D)
		if chosen != want {
			t.Errorf("gate %g: rows have %d coordinates, want %d", gate, chosen, want)
		}
		r := must.Get(m.Run(rows, labels, noise.NewSeeded(1), nil))
		b := r.Also.(*geometry.Bought)
		placed, theta := b.Placed(rows), b.Placing()
		var left, all, mean float64
		for _, y := range labels {
			mean += y / n
		}
		for i := range n {
			x := make([]float64, len(b.Mean)+1)
			placed.Row(x, i)
			left += math.Pow(floats.Dot(x, theta)-labels[i], 2)
			all += math.Pow(labels[i]-mean, 2)
		}
		if curved := gate < 1e3; b.Curved != curved || curved && left > 0.5*all || !curved && left < 0.5*all {
			t.Errorf("gate %g: %.3f of the variance is left (curved: %v)", gate, left/all, b.Curved)
		}
		if along := m.Nowhere[0].Along(b.Raw); !(math.Abs(along) <= 1e-9*floats.Norm(b.Raw, 2)) {
			t.Errorf("gate %g: coefficients have %v where rows have nothing", gate, along)
		}
	}
}

// The coordinates of a space are those of an orthogonal projection: without any of its directions nothing is left of
// them, and other vectors keep their length; however long and how many they are, no vector becomes longer than the
// bound that the noise is for.
func TestSpace(t *testing.T) {
	src := noise.NewSeeded(4)
	for _, k := range []int{1, 2, 5, 40} {
		d := 3*k + 7
		var directions []matrix.Direction
		for j := range k {
			w := make([]float64, 3)
			src.Gaussian(w, 1)
			floats.Scale(1/floats.Norm(w, 2), w)
			directions = append(directions, matrix.Direction{First: 3 * j, Weights: w})
		}
		// One that overlaps all of them, orthogonal to each.
		over := make([]float64, d)
		src.Gaussian(over, 1)
		for _, v := range directions {
			v.Add(over, -v.Along(over))
		}
		floats.Scale(1/floats.Norm(over, 2), over)
		directions = append(directions, matrix.Direction{Weights: over})
		for range 50 {
			x := make([]float64, d)
			src.Gaussian(x, 1)
			want := append([]float64(nil), x...)
			for _, v := range directions {
				v.Add(want, -v.Along(want))
			}
			y, back, longer := geometry.Through(directions, x)
			if len(y) != d-k-1 || !(math.Abs(floats.Norm(y, 2)/floats.Norm(want, 2)-1) <= 1e-12) ||
				floats.Distance(back, want, 2) > 1e-12*floats.Norm(x, 2) ||
				floats.Norm(y, 2) > longer*floats.Norm(x, 2) || longer > 1+1e-11 {
				t.Fatalf("k = %d: %v, back %v, want %v (%v)", k, y, back, want, longer)
			}
		}
	}
}

// Of no, one and two records there is a model, too.
func TestPurelyOfHardlyAny(t *testing.T) {
	for n := range 3 {
		for _, l := range pureLosses {
			m := purely(t, l, 0.5, 4)
			rows, labels := cloud(n, 4, m.Numbers, 3)
			r := must.Get(m.Run(rows, labels, noise.NewSeeded(4), nil))
			if b := r.Also.(*geometry.Bought); !b.Fits(5, 1) || b.Records < 20 {
				t.Errorf("of %d records: %+v", n, b)
			}
		}
	}
	m := purely(t, loss.Huber{Threshold: 1}, 1, 4)
	rows, labels := cloud(9, 4, true, 3)
	labels[4] = math.NaN()
	if err := m.Check(rows, labels); err == nil {
		t.Error("a label that is no number is added to the others")
	}
}

// The roughest directions of curves that a number has for each of three categories, which add up to nothing, are left
// out once: eight of hats, of which a sum over categories is nothing, and then four of each of two others.
func TestLeftOfCrossedCurves(t *testing.T) {
	const hats, levels = 8, 3
	c := geometry.Centred{}
	for k := range hats {
		w := make([]float64, (levels-1)*hats+1)
		for l := range levels {
			w[l*hats] = 1 / math.Sqrt(levels)
		}
		c.Nowhere = append(c.Nowhere, matrix.Direction{First: k, Weights: w})
	}
	for _, of := range [][]float64{{1, -1, 0}, {1, 1, -2}} {
		w := make([]float64, levels*hats)
		for l, v := range of {
			for k := range hats {
				w[l*hats+k] = v / floats.Norm(of, 2) / math.Sqrt(hats)
			}
		}
		c.Nowhere = append(c.Nowhere, matrix.Direction{Weights: w})
	}
	for l := range levels {
		c.Curves = append(c.Curves, matrix.Span{First: l * hats, Len: hats})
	}
	left := geometry.Left(c, levels*hats)
	if len(left) != hats+2+4*(levels-1) {
		t.Fatalf("%d directions", len(left))
	}
	for i, v := range left {
		for j, u := range left {
			x, want := make([]float64, levels*hats), 0.0
			if v.Add(x, 1); i == j {
				want = 1
			}
			if of := u.Along(x); !(math.Abs(of-want) <= 1e-9) {
				t.Errorf("directions %d and %d have the product %v", i, j, of)
			}
		}
	}
}
