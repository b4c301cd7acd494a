package geometry_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

const bias = 1.0 / 3

// around returns the mechanism around a fit by the loss, with d features.
func around(t testing.TB, l loss.Loss, eps float64, d int) geometry.Centred {
	t.Helper()
	numbers := !l.ValidLabel(1) || l.ValidLabel(0.5)
	return must.Get(geometry.Calibrate(geometry.Centred{RowNorm: 1, Bias: bias, Numbers: numbers, Free: d + 1},
		geometry.Default, eps, 1e-6, func(beside, mu float64) (mechanism.Informed, func(float64) float64, error) {
			r := math.Nextafter(math.Hypot(1, bias), 2)
			c := objpert.Config{Loss: l, RowNorm: r, Epsilon: eps, Delta: 1e-6, Reserved: beside,
				Adjacency: privacy.AddRemove}
			if numbers {
				c.Lambda, c.Bound = 0.45*r*r/mu, objective.Tight
			}
			fit, err := objpert.Calibrate(c)
			return fit, func(share float64) float64 { return fit.Part(share, beside) }, err
		}))
}

// classes returns the mechanism around a fit of three classes.
func classes(t testing.TB, apart bool, eps float64) geometry.Centred {
	t.Helper()
	return must.Get(geometry.Calibrate(geometry.Centred{RowNorm: 1, Bias: bias, Free: 5}, geometry.Default, eps, 1e-6,
		func(beside, _ float64) (mechanism.Informed, func(float64) float64, error) {
			c := multiclass.Config{Classes: 3, RowNorm: math.Nextafter(math.Hypot(1, bias), 2), Epsilon: eps,
				Delta: 1e-6, Reserved: beside, Adjacency: privacy.AddRemove}
			if apart {
				fit, err := multiclass.CalibrateOneVsRest(c, loss.Logistic{})
				return fit, func(share float64) float64 { return fit.Part(share, beside) }, err
			}
			fit, err := multiclass.CalibrateSoftmax(c, multiclass.Vertex)
			return fit, func(share float64) float64 { return fit.Part(share, beside) }, err
		}))
}

// Of several classes all is within (ε, δ) and uses it, and what the fits, the count and the mean cost apart is in it.
func TestTogetherOfClasses(t *testing.T) {
	for _, eps := range []float64{0.1, 1, 8} {
		for _, apart := range []bool{false, true} {
			m := classes(t, apart, eps)
			p := must.Get(mechanism.Profile(m))
			fit := must.Get(mechanism.Profile(m.Of))
			all, alone := privacy.DeltaUpper(p, eps), privacy.DeltaUpper(fit, eps)
			if all > 1e-6 || all < 0.98e-6 || alone > 0.9*all {
				t.Errorf("apart %v, ε = %g: δ = %g, of the fit alone %g", apart, eps, all, alone)
			}
		}
	}
}

// What is chosen for facts costs what was calibrated, whatever the facts are: of classes, too.
func TestForChangesNoProfile(t *testing.T) {
	for _, m := range []geometry.Centred{classes(t, false, 1), classes(t, true, 1)} {
		want := must.Get(m.Of.(mechanism.WithGaussians).WithGaussian(0.1))
		for _, records := range []float64{20, 1e3, 1e7} {
			chosen, _ := m.Of.For(mechanism.Facts{Records: records, Mu: m.Mu, Directions: 30,
				Curves: []matrix.Span{{First: 0, Len: 4}}})
			got := must.Get(chosen.(mechanism.WithGaussians).WithGaussian(0.1))
			for _, eps := range []float64{0.2, 1, 3} {
				if a, b := privacy.DeltaUpper(got, eps), privacy.DeltaUpper(want, eps); a > b*(1+1e-9) {
					t.Errorf("%v: for %g records δ(%g) = %g, calibrated were %g", chosen, records, eps, a, b)
				}
			}
		}
	}
}

// Of planned records nothing is counted: the mean alone is beside the fit, and all of it is what was asked for.
func TestPlannedRecords(t *testing.T) {
	m := must.Get(geometry.Calibrate(geometry.Centred{RowNorm: 1, Bias: bias, Free: 5, Planned: 300}, geometry.Default,
		1, 1e-6, func(beside, _ float64) (mechanism.Informed, func(float64) float64, error) {
			fit, err := objpert.Calibrate(objpert.Config{Loss: loss.Softplus{Width: 1}, Epsilon: 1, Delta: 1e-6,
				RowNorm: math.Nextafter(math.Hypot(1, bias), 2), Reserved: beside, Adjacency: privacy.AddRemove})
			return fit, func(share float64) float64 { return fit.Part(share, beside) }, err
		}))
	p := must.Get(mechanism.Profile(m))
	if d := privacy.DeltaUpper(p, 1); d > 1e-6 || d < 0.98e-6 || m.CountSigma != 0 {
		t.Errorf("δ = %g, %v", d, m)
	}
	fit := must.Get(mechanism.Profile(m.Of))
	_, mu, _ := privacy.GaussianMu(p)
	_, alone, _ := privacy.GaussianMu(fit)
	if want := math.Hypot(alone, 1/m.MeanSigma); !(math.Abs(mu/want-1) <= 1e-9) {
		t.Errorf("μ = %v, want %v", mu, want)
	}
	var count []float64
	for n := range 3 {
		rows, labels := cloud(n, 4, false, 3)
		r := must.Get(m.Run(rows, labels, noise.NewSeeded(4), nil))
		count = append(count, r.Also.(*geometry.Bought).Count)
	}
	if count[0] != 300 || count[1] != 300 || count[2] != 300 {
		t.Errorf("counted %v", count)
	}
}

// The mean of counts is what it was released to be, and towards a quarter of the most where noise is all there is.
func TestTypicalCount(t *testing.T) {
	for _, c := range []struct{ share, v, want, within float64 }{
		{0.5, 0, 10, 1e-9}, {0.01, 0, 0.2, 1e-9}, {0, 0, 0.1, 1e-9}, {2, 0, 20, 1e-9}, {-1, 0, 0.1, 1e-9},
		{0.5, 1e6, 5, 1e-3}, {-3, 1, 5, 1e-9}, {0, 0.01, 2, 1e-9},
	} {
		if got := geometry.CountOf(20, c.share, c.v); !(math.Abs(got-c.want) <= c.within) {
			t.Errorf("of %v with variance %v: %v, want %v", c.share, c.v, got, c.want)
		}
	}
}

// cloud returns n records far from the origin: features of norm 1 near a point, the bias after them.
func cloud(n, d int, numbers bool, seed uint64) (*matrix.Dense, []float64) {
	src := noise.NewSeeded(seed)
	rows, labels := matrix.NewDense(n, d+1, nil), make([]float64, n)
	src.Gaussian(rows.Data, 0.3)
	for i := range n {
		x := rows.Data[i*(d+1) : (i+1)*(d+1)]
		x[0]++
		floats.Scale((1-1e-15)/floats.Norm(x[:d], 2), x[:d])
		x[d] = bias
		switch labels[i] = 0.2 + 0.3*x[1] + 0.05*(src.Float64()-0.5); {
		case !numbers && x[1] > 0.1:
			labels[i] = 1
		case !numbers:
			labels[i] = -1
		}
	}
	return rows, labels
}

// The count, the mean and the fit together are within (ε, δ) and use it: for two classes they are one Gaussian
// mechanism, and what each costs adds up in squares.
func TestTogether(t *testing.T) {
	testscale.InTurn(t)
	for _, eps := range []float64{0.01, 0.1, 1, 8} {
		for _, l := range []loss.Loss{loss.Logistic{}, loss.Softplus{Width: 1}, loss.PseudoHuber{Threshold: 1}} {
			m := around(t, l, eps, 5)
			p := must.Get(mechanism.Profile(m))
			if d := privacy.DeltaUpper(p, eps); d > 1e-6 || d < 0.98e-6 {
				t.Errorf("%s, ε = %g: δ = %g", l.Name(), eps, d)
			}
			if _, ok := l.(loss.PseudoHuber); ok {
				continue
			}
			_, mu, ok := privacy.GaussianMu(p)
			fit := must.Get(mechanism.Profile(m.Of))
			_, alone, _ := privacy.GaussianMu(fit)
			want := math.Sqrt(alone*alone + 1/(m.CountSigma*m.CountSigma) + 1/(m.MeanSigma*m.MeanSigma))
			if !ok || !(math.Abs(mu/want-1) <= 1e-9) ||
				!(math.Abs(1/(m.CountSigma*m.CountSigma)/(mu*mu)/0.01-1) <= 0.01) ||
				!(math.Abs(1/(m.MeanSigma*m.MeanSigma)/(mu*mu)/0.04-1) <= 0.01) {
				t.Errorf("%s, ε = %g: μ = %v, want %v", l.Name(), eps, mu, want)
			}
		}
	}
}

// descends returns the mechanism around a descent of 64 steps at two levels, with its curvature if that has a share.
func descends(t testing.TB, eps, share float64, d int) geometry.Centred {
	t.Helper()
	q := sgd.Quantiles{Levels: []float64{0.3, 0.5}, RowNorm: math.Nextafter(math.Hypot(1, bias), 2), Steps: 64,
		Update: sgd.Adaptive{Radius: 1, Steps: 64}}
	cost := must.Get(sgd.Cost{Rate: 1, Steps: 64}.CalibrateNoise(eps, 1e-6))
	m := must.Get(geometry.Calibrate(geometry.Centred{RowNorm: 1, Bias: bias, Numbers: true, Free: d + 1},
		geometry.Default, eps, 1e-6, func(beside, _ float64) (mechanism.Informed, func(float64) float64, error) {
			q.NoiseMultiplier = cost.NoiseMultiplier / math.Sqrt(1-beside) * (1 + 1e-12)
			part := func(share float64) float64 { return 8 * math.Sqrt(share) / cost.NoiseMultiplier * (1 - 1e-12) }
			if share != 0 {
				return q.WithCurvature(share), part, nil
			}
			return q, part, nil
		}))
	return m
}

// A descent with what is bought before it, and with its curvature after it, is one Gaussian mechanism: what each costs
// adds up in squares, and the mechanism that the facts choose costs what the one that was calibrated does.
func TestDescentTogether(t *testing.T) {
	for _, share := range []float64{0, 0.3} {
		for _, eps := range []float64{0.1, 1, 8} {
			m := descends(t, eps, share, 4)
			p := must.Get(mechanism.Profile(m))
			if d := privacy.DeltaUpper(p, eps); d > 1e-6 || d < 0.99e-6 {
				t.Errorf("ε = %g, share %g: δ = %g", eps, share, d)
			}
			for _, records := range []float64{20, 1e3, 1e6} {
				chosen, stretch := m.Of.For(mechanism.Facts{Records: records, Mu: m.Mu, Directions: 9,
					Curves: []matrix.Span{{First: 1, Len: 3}}})
				before := must.Get(mechanism.Profile(m.Of))
				after, err := mechanism.Profile(chosen)
				if err != nil || privacy.DeltaUpper(after, eps) != privacy.DeltaUpper(before, eps) || stretch != 1 {
					t.Errorf("for %g records it costs otherwise (%v)", records, err)
				}
			}
			rows, labels := cloud(300, 4, true, 9)
			r := must.Get(m.Run(rows, labels, noise.NewSeeded(1), nil))
			b := r.Also.(*geometry.Bought)
			made, err := m.Run(struct{ matrix.Rows }{rows}, labels, noise.NewSeeded(1), nil)
			if err != nil || floats.Distance(made.Coefficients, r.Coefficients, math.Inf(1)) > 1e-9 {
				t.Errorf("of rows that are made as they are asked for: %v, want %v (%v)", made, r.Coefficients, err)
			}
			if _, ok := b.Also.(*sgd.Moments); ok != (share != 0) || len(r.Coefficients) != 10 || !b.Fits(5, 2) {
				t.Errorf("%+v", b)
			}
		}
	}
}

// The gradients of a descent inside have the noise that its parameters say: of no records they are nothing else. Over
// so many runs a deviation that is wrong by a tenth is seen, and a right one taken for wrong with a probability below
// 1e-6.
func TestDescentHasItsLaw(t *testing.T) {
	testscale.Slow(t)
	const runs, d = 300, 3
	m := descends(t, 1, 0.3, d)
	fit := m.Of.(sgd.Curvature).Fit
	between := must.Get(sgd.LevelCovariance(fit.Levels))
	src, squares := noise.NewSeeded(11), 0.0
	last := fit.Update.Spread(fit.Steps-1) * fit.NoiseMultiplier * fit.RowNorm
	for range runs {
		r := must.Get(m.Run(matrix.NewDense(0, d+1, nil), nil, src, nil))
		g := r.Also.(*geometry.Bought).Also.(*sgd.Moments).Gradient
		for j, v := range g {
			of := last * last * between.At(j/(d+1), j/(d+1)) / float64(fit.Steps/2)
			squares += v * v / of / runs / float64(len(g))
		}
	}
	if !(math.Abs(squares-1) <= 0.15) {
		t.Errorf("variance %v of what it should be", squares)
	}
}

// At ε → ∞ the mean is that of the records, and the scale is the root of the mean squared distance from it.
func TestWithoutNoise(t *testing.T) {
	testscale.Slow(t)
	const n, d = 4000, 4
	m := around(t, loss.PseudoHuber{Threshold: 1}, 400, d)
	rows, labels := cloud(n, d, true, 1)
	r := must.Get(m.Run(rows, labels, noise.NewSeeded(1), nil))
	b := r.Also.(*geometry.Bought)
	var off, ofLabels, squares float64
	mean := make([]float64, d)
	for i := range n {
		floats.AddScaled(mean, 1.0/n, rows.Data[i*(d+1):i*(d+1)+d])
		ofLabels += labels[i] / n
	}
	for i := range n {
		off += math.Pow(floats.Distance(rows.Data[i*(d+1):i*(d+1)+d], mean, 2), 2) / n
		squares += math.Pow(labels[i]-ofLabels, 2) / n
	}
	if floats.Distance(mean, b.Mean, 2) > 1e-4 || !(math.Abs(b.Scale/math.Sqrt(off)-1) <= 1e-3) {
		t.Errorf("mean %v, want %v; scale %v, want %v", b.Mean, mean, b.Scale, math.Sqrt(off))
	}
	if !(math.Abs(b.Centre-ofLabels) <= 1e-3) || !(math.Abs(b.Unit/(math.Sqrt(squares)/2)-1) <= 1e-2) ||
		math.Round(b.Count) != n {
		t.Errorf("centre %v, want %v; unit %v, want %v; %v records", b.Centre, ofLabels, b.Unit, math.Sqrt(squares)/2,
			b.Count)
	}
	// Predictions by the placed rows, and by the coefficients of rows that are not clipped.
	placed, theta := b.Placed(rows), b.Placing()
	var residual float64
	for i := range n {
		x := make([]float64, d+1)
		placed.Row(x, i)
		if norm := floats.Norm(x[:d], 2); norm > 1 || x[d] != bias {
			t.Fatalf("row %d has norm %v, bias %v", i, norm, x[d])
		}
		at := floats.Dot(x, theta)
		residual += (at - labels[i]) * (at - labels[i]) / n
		if plain := floats.Dot(rows.Data[i*(d+1):(i+1)*(d+1)], r.Coefficients); floats.Norm(x[:d], 2) < 0.999 &&
			!(math.Abs(plain-at) <= 1e-9) {
			t.Fatalf("record %d: %v by its place, %v by the coefficients", i, at, plain)
		}
	}
	if residual > 0.2*squares {
		t.Errorf("%v of the variance is left", residual/squares)
	}
}

// Of features that are four times as long, with a bound on them that is, all is the same but the coefficients, which
// are a quarter, and a form of them.
func TestFeaturesInAnotherUnit(t *testing.T) {
	const n, d, r = 4000, 4, 4
	m := around(t, loss.PseudoHuber{Threshold: 1}, 4, d)
	rows, labels := cloud(n, d, true, 1)
	one := must.Get(m.Run(rows, labels, noise.NewSeeded(1), nil))
	for i := range n {
		floats.Scale(r, rows.Data[i*(d+1):i*(d+1)+d])
	}
	m.RowNorm *= r
	other := must.Get(m.Run(rows, labels, noise.NewSeeded(1), nil))
	weights := []float64{0.5, 0, -1, 0, 0}
	a, shift := one.Also.(*geometry.Bought).Form(weights, -1, nil, 0, 1)
	b, moved := other.Also.(*geometry.Bought).Form(weights, -1, nil, 0, 1)
	for j, v := range other.Coefficients {
		by := 1.0
		if j < d {
			by = r
		}
		if !(math.Abs(by*v-one.Coefficients[j]) <= 1e-9) || !(math.Abs(r*b[j]-a[j]) <= 1e-9) {
			t.Errorf("coefficient %d is %v, want %v over %v; in a form %v, want %v over %v", j, v, one.Coefficients[j],
				by, b[j], a[j], float64(r))
		}
	}
	if !(math.Abs(r*moved-shift) <= 1e-9) {
		t.Errorf("a form moves by %v, want %v over %v", moved, shift, float64(r))
	}
}

// What a record adds to the sums is at most s long, whatever it holds, and depends on nothing but itself.
func TestARecordIsBounded(t *testing.T) {
	for _, numbers := range []bool{false, true} {
		l := loss.Loss(loss.Softplus{Width: 1})
		if numbers {
			l = loss.PseudoHuber{Threshold: 1}
		}
		m := around(t, l, 1, 3)
		s := 1.0
		if numbers {
			s = math.Sqrt(1.5)
		}
		for _, label := range []float64{-1, 1} {
			rows := matrix.NewDense(2, 4, []float64{0.6, 0.64, 0.48, bias, 0, -1, 0, bias})
			both, one := geometry.Sums(m, rows, []float64{label, 1}), geometry.Sums(m,
				matrix.NewDense(1, 4, rows.Data[4:]), []float64{1})
			floats.Sub(both, one)
			if norm := floats.Norm(both, 2); norm > s*(1+1e-6) || norm < s*(1-1e-6) {
				t.Errorf("a record adds %v, want %v", norm, s)
			}
		}
		// Cut, too, where it holds more than was checked.
		long := geometry.Sums(m, matrix.NewDense(1, 4, []float64{1.2, -0.9, 0.8, bias}), []float64{3})
		if norm := floats.Norm(long, 2); norm > s*(1+1e-6) || norm < s*(1-1e-6) {
			t.Errorf("a record that is too long adds %v, want %v", norm, s)
		}
	}
	// Of counts up to 7 half of y/7 is added, of more no more.
	m := around(t, loss.Softplus{Width: 1}, 1, 3)
	m.Most = 7
	for _, y := range []float64{7, 90} {
		one := geometry.Sums(m, matrix.NewDense(1, 4, []float64{0.6, 0.64, 0.48, bias}), []float64{y})
		if norm := floats.Norm(one, 2); !(math.Abs(norm/math.Sqrt(1.25)-1) <= 1e-6) {
			t.Errorf("a record with the count %v adds %v, want √1.25", y, norm)
		} else if s := geometry.Sensitivity(m, 4); norm > s || norm < s*(1-1e-6) {
			t.Errorf("a record adds %v, the noise is for %v", norm, s)
		}
	}
}

// A record that is far from the mean is cut to the scale, and the rows' norm is 1 with any mean.
func TestRowsAreClipped(t *testing.T) {
	rows, _ := cloud(500, 3, false, 2)
	for _, mean := range [][]float64{{0, 0, 0}, {0.97, 0, 0}, {-0.5, 0.5, 0.5}} {
		b := geometry.Bought{RowNorm: 1, Bias: bias, Mean: mean, Scale: math.Sqrt(1 - floats.Dot(mean, mean)), Unit: 1,
			Stretch: 1}
		placed, x := b.Placed(rows), make([]float64, 4)
		longest := 0.0
		for i := range 500 {
			placed.Row(x, i)
			longest = math.Max(longest, floats.Norm(x[:3], 2))
		}
		if longest > 1 || longest < 0.999 && mean[0] != 0.97 {
			t.Errorf("mean %v: the longest row has %v", mean, longest)
		}
	}
}

// Of no, one and two records there are a model and a frame, too.
func TestHardlyAnyRecords(t *testing.T) {
	for n := range 3 {
		for _, l := range []loss.Loss{loss.Softplus{Width: 1}, loss.PseudoHuber{Threshold: 1}} {
			m := around(t, l, 0.5, 4)
			rows, labels := cloud(n, 4, m.Numbers, 3)
			r := must.Get(m.Run(rows, labels, noise.NewSeeded(4), nil))
			b := r.Also.(*geometry.Bought)
			if !b.Fits(5, 1) || b.Records < 20 || floats.Norm(b.Mean, 2) > 0.98 {
				t.Errorf("of %d records: %+v", n, b)
			}
		}
	}
}

// Directions go with the features that rows keep: those in which they have nothing if they kept all of it, and what is
// left of those that are held, each once.
func TestDirectionsOfWhatIsKept(t *testing.T) {
	one := func(first int, w ...float64) matrix.Direction { return matrix.Direction{First: first, Weights: w} }
	c := geometry.Centred{Nowhere: []matrix.Direction{one(1, 3, 4), one(4, 5, 6), one(2, 7, 8)},
		Held: []matrix.Direction{one(2, 1, 2, 3), one(3, 2, 3), one(1, 9), one(4, 5)}}
	nowhere, held := geometry.Kept(c, 6, nil)
	if !reflect.DeepEqual(nowhere, c.Nowhere) || !reflect.DeepEqual(held, c.Held) {
		t.Errorf("all are kept: %v and %v", nowhere, held)
	}
	nowhere, held = geometry.Kept(c, 6, []int{0, 2, 4, 5})
	if want := []matrix.Direction{one(2, 5, 6)}; !reflect.DeepEqual(nowhere, want) {
		t.Errorf("nothing in %v, want %v", nowhere, want)
	}
	if want := []matrix.Direction{one(1, 1, 3), one(2, 3), one(2, 5)}; !reflect.DeepEqual(held, want) {
		t.Errorf("held along %v, want %v", held, want)
	}
}

// A mean as long as records are is cut, so that there is a scale to divide by.
func TestMeanIsCut(t *testing.T) {
	const n = 3000
	m := around(t, loss.Softplus{Width: 1}, 8, 3)
	rows, labels := matrix.NewDense(n, 4, slices.Repeat([]float64{0.6, 0, -0.8, bias}, n)), make([]float64, n)
	for i := range labels {
		labels[i] = float64(1 - i%2*2)
	}
	r := must.Get(m.Run(rows, labels, noise.NewSeeded(4), nil))
	if b := r.Also.(*geometry.Bought); !(math.Abs(floats.Norm(b.Mean, 2)-0.98) <= 1e-12) {
		t.Errorf("the mean is %v", b.Mean)
	}
}

// Where there are too few records for curves, rows are without their hats, and their coefficients are zero.
func TestGate(t *testing.T) {
	m := around(t, loss.PseudoHuber{Threshold: 1}, 0.5, 5)
	m.Curves, m.Gate, m.Free = []matrix.Span{{First: 1, Len: 3}}, 2, 3
	few, labels := cloud(30, 5, true, 5)
	r := must.Get(m.Run(few, labels, noise.NewSeeded(1), nil))
	b := r.Also.(*geometry.Bought)
	if b.Curved || len(b.Mean) != 2 || len(r.Coefficients) != 6 || floats.Norm(r.Coefficients[1:4], 2) != 0 ||
		r.Coefficients[0] == 0 || r.Coefficients[4] == 0 {
		t.Errorf("%+v, %v", b, r.Coefficients)
	}
	many, labels := cloud(3000, 5, true, 5)
	r = must.Get(m.Run(many, labels, noise.NewSeeded(1), nil))
	if b := r.Also.(*geometry.Bought); !b.Curved || len(b.Mean) != 5 {
		t.Errorf("%+v", b)
	}
	fit := r.Fitted.(objpert.Objective)
	if len(fit.Rough) != 1 || fit.Rough[0].Span != m.Curves[0] {
		t.Errorf("the curve is not smooth: %v", fit)
	}
}

// Rows that are made as they are asked for, block by block, are those in memory; results do not depend on the workers.
func TestViewIsTheRows(t *testing.T) {
	m := around(t, loss.Softplus{Width: 1}, 1, 4)
	rows, labels := cloud(1500, 4, false, 6)
	var first *mechanism.Release
	for _, x := range []matrix.Rows{rows, struct{ matrix.Rows }{rows}} {
		for _, workers := range []int{1, 3} {
			r := must.Get(m.Run(x, labels, noise.NewSeeded(7), &mechanism.Settings{Workers: workers}))
			if first == nil {
				first = r
			}
			if !reflect.DeepEqual(r.Also.(*geometry.Bought).Mean, first.Also.(*geometry.Bought).Mean) ||
				floats.Distance(r.Coefficients, first.Coefficients, math.Inf(1)) > 1e-3 {
				t.Errorf("%T, %d workers: %v, want %v", x, workers, r.Coefficients, first.Coefficients)
			}
		}
	}
}

// Rows that are stored are the same to the last bit whether their factors are kept or they are made as they are asked
// for: which of the two depends on how many there are, and a record more must not change the others.
func TestManyRowsAreThoseOfFew(t *testing.T) {
	m := around(t, loss.Softplus{Width: 1}, 1, 4)
	rows, labels := cloud(500, 4, false, 6)
	stored := struct{ matrix.Rows }{rows}
	_, _, kept, b := geometry.Detailed(m, stored, labels)
	made := b.Placed(stored)
	n, d := kept.Dims()
	x, y := make([]float64, d), make([]float64, d)
	for i := range n {
		kept.Row(x, i)
		if made.Row(y, i); !slices.Equal(x, y) {
			t.Fatalf("record %d is %v with its factors and %v without", i, x, y)
		}
	}
	// What is asked of a stretch of them is of these rows, and of no others.
	all := matrix.Densed(made)
	const lo, hi = 100, 420
	theta, w := []float64{0.5, -1, 2, 0.25, 3, -2, 1, 4, -3}[:d], make([]float64, hi-lo)
	for i := range w {
		w[i] = math.Sin(float64(i))
	}
	for name, ask := range map[string]func(r matrix.Rows, dst []float64){
		"margins": func(r matrix.Rows, dst []float64) { r.Margins(dst, theta, lo, hi) },
		"norms":   func(r matrix.Rows, dst []float64) { r.Norms(dst, lo, hi) },
		"sums":    func(r matrix.Rows, dst []float64) { r.AddScaled(dst[:d], w, lo, hi) },
	} {
		got, want := make([]float64, hi-lo), make([]float64, hi-lo)
		got[0], want[0] = 7, 7
		ask(made, got)
		ask(all, want)
		if floats.Distance(got, want, math.Inf(1)) > 1e-12 || floats.Norm(got, 2) == 7 {
			t.Errorf("%s of made rows: %v, want %v", name, got[:5], want[:5])
		}
	}
}

// With the release of the curvature inside, all is within (ε, δ).
func TestWithCurvature(t *testing.T) {
	m := must.Get(geometry.Calibrate(geometry.Centred{RowNorm: 1, Bias: bias, Free: 3}, geometry.Default, 1, 1e-6,
		func(beside, mu float64) (mechanism.Informed, func(float64) float64, error) {
			c := objpert.Config{Loss: loss.Logistic{}, RowNorm: math.Hypot(1, bias) * (1 + 1e-15), Epsilon: 1,
				Delta: 1e-6, Reserved: beside, Adjacency: privacy.AddRemove}
			_, k, err := interval.Calibrate(c, interval.Share{Curvature: 0.1})
			return k, func(share float64) float64 { return k.Fit.Part(share, beside+0.1) }, err
		}))
	p := must.Get(mechanism.Profile(m))
	if d := privacy.DeltaUpper(p, 1); d > 1e-6 || d < 0.99e-6 {
		t.Errorf("δ = %g", d)
	}
	rows, labels := cloud(400, 2, false, 8)
	r := must.Get(m.Run(rows, labels, noise.NewSeeded(1), nil))
	if _, ok := r.Also.(*geometry.Bought).Also.(*interval.Moments); !ok {
		t.Error("the curvature is lost")
	}
}

// The noise of the count and of the sums has the law that the parameters say, for records whose sums are known: each
// entry is off by s·MeanSigma. Over so many runs a deviation that is wrong by a tenth is seen, and a right one is taken
// for wrong with a probability below 1e-6.
func TestSumsHaveTheirLaw(t *testing.T) {
	const runs, d = 4000, 3
	m := around(t, loss.PseudoHuber{Threshold: 1}, 1, d)
	rows, labels := cloud(200, d, true, 9)
	want := geometry.Sums(m, rows, labels)
	src := noise.NewSeeded(10)
	var ofCount, ofSums float64
	for range runs {
		count, sums := geometry.Noisy(m, rows, labels, src)
		ofCount += math.Pow((count-200)/m.CountSigma, 2) / runs
		for j := range sums {
			ofSums += math.Pow((sums[j]-want[j])/(math.Sqrt(1.5)*m.MeanSigma), 2) / runs / float64(len(sums))
		}
	}
	if !(math.Abs(ofCount-1) <= 0.12) || !(math.Abs(ofSums-1) <= 0.06) {
		t.Errorf("variances %v of the count and %v of the sums, want 1", ofCount, ofSums)
	}
}
