package multiclass_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// records returns n records of norm 1 in K clusters: a class's centre has the given share of a record's direction.
func records(n, d, classes int, separation float64, seed uint64) (*matrix.Dense, []int) {
	rng := noise.NewSeeded(seed)
	centres := make([]float64, classes*d)
	noise.NewSeeded(1).Gaussian(centres, separation)
	x := matrix.NewDense(n, d, nil)
	rng.Gaussian(x.Data, 1)
	y := make([]int, n)
	for i := range y {
		y[i] = rng.IntN(classes)
		row := x.Data[i*d : (i+1)*d]
		floats.Add(row, centres[y[i]*d:(y[i]+1)*d])
		floats.Scale((1-1e-15)/floats.Norm(row, 2), row)
	}
	return x, y
}

// numbers are classes as labels.
func numbers(y []int) []float64 {
	labels := make([]float64, len(y))
	for i, c := range y {
		labels[i] = float64(c)
	}
	return labels
}

func config(classes int, eps float64) multiclass.Config {
	return multiclass.Config{Classes: classes, RowNorm: 1, Epsilon: eps, Delta: 1e-5, Adjacency: privacy.AddRemove}
}

// What is calibrated satisfies (ε, δ), a tenth less noise does not, and no λ lets one get below the Gaussian mechanism.
func TestCalibrationIsSafeAndTight(t *testing.T) {
	testscale.Slow(t)
	for _, classes := range []int{2, 3, 10} {
		for _, eps := range []float64{0.05, 1, 8} {
			g, _ := privacy.GaussianSigma(eps, 1e-5)
			for _, bound := range []multiclass.Bound{multiclass.Vertex, multiclass.RankK} {
				if bound == multiclass.RankK && eps != 1 {
					continue // half a second each
				}
				m := must.Get(multiclass.CalibrateSoftmax(config(classes, eps), bound))
				p, _ := m.Profile()
				over := m.Sigma / (math.Sqrt2 * g) // two classes are logistic regression: next to nothing
				if d := privacy.DeltaUpper(p, eps); d > 1e-5 || over < 1 || classes+int(bound) == 2 && over > 1.001 {
					t.Errorf("%v: δ = %g, σ over the Gaussian's %g", m, d, m.Sigma/(math.Sqrt2*g))
				}
				m.Sigma *= 0.9
				p, _ = m.Profile()
				if d := privacy.DeltaUpper(p, eps); d <= 1e-5 {
					t.Errorf("%v: a tenth less noise satisfies it too: %g", m, d)
				}
			}
			o := must.Get(multiclass.CalibrateOneVsRest(config(classes, eps), loss.Logistic{}))
			p, _ := o.Profile()
			want := g * math.Sqrt(float64(classes))
			if d := privacy.DeltaUpper(p, eps); d > 1e-5 || !o.Gaussian() ||
				!(math.Abs(o.Binary.Sigma/want-1) <= 1e-3) {
				t.Errorf("%v: δ = %g, σ = %g √K σ_G, Gaussian %v", o, d, o.Binary.Sigma/want, o.Gaussian())
			}
		}
	}
}

// The vertex bound against what is known: two classes are logistic regression, more classes and less λ cost more, ε < 0
// follows from the other direction.
func TestVertexBound(t *testing.T) {
	of := func(classes int, lambda, sigma float64) privacy.Profile {
		return must.Get(multiclass.Softmax{Classes: classes, RowNorm: 1, Lambda: lambda, Sigma: sigma, Tolerance: 1e-13,
			OutputSigma: 1}.Profile())
	}
	gauss := privacy.GaussianProfile(math.Sqrt2/4, privacy.AddRemove)
	for _, eps := range []float64{-3, -0.5, 0, 0.5, 2} {
		for _, d := range privacy.Directions {
			want := gauss.LogDeltaUpper(d, eps)
			for _, lambda := range []float64{2, 40} { // Theorem B, and both
				if got := of(2, lambda, 4).LogDeltaUpper(d, eps); !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
					t.Errorf("K=2, λ=%g, ε=%g, %v: ln δ = %g, logistic %g", lambda, eps, d, got, want)
				}
			}
			for _, classes := range []int{3, 7} {
				last := math.Inf(1)
				for _, lambda := range []float64{0.3, 1, 3, 10, 40} {
					got := of(classes, lambda, 4).LogDeltaUpper(d, eps)
					if got < want-1e-9 || got > last+1e-9 || math.IsNaN(got) {
						t.Errorf("K=%d, λ=%g, ε=%g, %v: ln δ = %g after %g, Gaussian %g", classes, lambda, eps, d, got,
							last, want)
					}
					last = got
				}
				// λ ≥ 2σ² costs no more than K − 1 Gaussians.
				if most := want + math.Log(float64(classes-1)); eps >= 0 && last > most+1e-9 {
					t.Errorf("K=%d, ε=%g, %v: ln δ = %g above %g", classes, eps, d, last, most)
				}
			}
		}
	}
	for _, eps := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		got := of(3, 1, 2).LogDeltaUpper(privacy.Remove, eps)
		if want := map[bool]float64{true: math.Inf(-1), false: 0}[eps > 0]; got != want {
			t.Errorf("ε = %v: ln δ = %v", eps, got)
		}
	}
	if p := of(3, 1e-9, 1e-3).LogDeltaUpper(privacy.Remove, 1); p != 0 {
		t.Errorf("next to no noise: ln δ = %v", p)
	}
}

// One record moves the gradient by at most L = √2·R, comes close to that, and adds at most s = R²/2 to the Hessian,
// which it reaches.
func TestConstantsByBruteForce(t *testing.T) {
	m := multiclass.Softmax{Classes: 4, RowNorm: 1.5, Lambda: 1, Sigma: 1, Tolerance: 1, OutputSigma: 1}
	rng := noise.NewSeeded(3)
	x, _ := records(1, 3, 4, 1, 4)
	floats.Scale(1.5, x.Data)
	var slope, curvature float64
	grad, more := make([]float64, 12), make([]float64, 12)
	theta, dir := make([]float64, 12), make([]float64, 12)
	for k := range 4000 {
		rng.Gaussian(theta, math.Exp(4*rng.Float64()-1))
		p := &erm.Problem{Rows: x, Labels: []float64{float64(rng.IntN(4))}, Joint: loss.Softmax{Classes: 4},
			Lambda: 1e-9}
		if k%2 == 0 { // two classes level, along x
			for c := range 4 {
				copy(theta[c*3:], x.Data)
				floats.Scale(map[bool]float64{true: 10, false: -10 * rng.Float64()}[c < 2], theta[c*3:(c+1)*3])
			}
		}
		erm.Evaluate(p, grad, theta)
		slope = math.Max(slope, floats.Norm(grad, 2))
		for c := range 4 {
			floats.ScaleTo(dir[c*3:(c+1)*3], rng.NormFloat64(), x.Data)
			if k%2 == 0 {
				floats.ScaleTo(dir[c*3:(c+1)*3], [4]float64{1, -1, 0, 0}[c], x.Data)
			}
		}
		floats.Scale(1e-5/floats.Norm(dir, 2), dir)
		floats.Add(theta, dir)
		erm.Evaluate(p, more, theta)
		curvature = math.Max(curvature, floats.Distance(more, grad, 2)/1e-5)
	}
	if slope > m.Lipschitz()*(1+1e-6) || slope < 0.999*m.Lipschitz() {
		t.Errorf("gradients up to %g, L = %g", slope, m.Lipschitz())
	}
	if curvature > m.Smoothness()*(1+1e-4) || curvature < 0.999*m.Smoothness() {
		t.Errorf("curvatures up to %g, s = %g", curvature, m.Smoothness())
	}
}

// ε → ∞: with its noise switched off the release is the plain minimiser.
func TestNoNoiseEqualsNonPrivate(t *testing.T) {
	x, y := records(300, 5, 3, 1, 1)
	m := multiclass.Softmax{Classes: 3, RowNorm: 1, Lambda: 0.7, Sigma: 1e-13, Tolerance: 1e-10, OutputSigma: 1e-13}
	r := must.Get(m.Run(x, numbers(y), noise.NewSeeded(1), nil))
	plain := must.Get(erm.Minimize(&erm.Problem{Rows: x, Labels: numbers(y), Joint: loss.Softmax{Classes: 3},
		Lambda: 0.7}, &erm.Settings{Tolerance: 1e-10}))
	if dist := floats.Distance(r.Coefficients, plain.Theta, 2); dist > 1e-9 {
		t.Errorf("the release is %v away from the non-private fit", dist)
	}
	o := multiclass.OneVsRest{Classes: 3, Binary: objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 0.7,
		Sigma: 1e-13, Tolerance: 1e-10, OutputSigma: 1e-13}}
	r = must.Get(o.Run(x, numbers(y), noise.NewSeeded(1), nil))
	labels := make([]float64, len(y))
	for c := range 3 {
		for i := range y {
			labels[i] = map[bool]float64{true: 1, false: -1}[y[i] == c]
		}
		one := must.Get(erm.Minimize(&erm.Problem{Rows: x, Labels: labels, Loss: loss.Logistic{}, Lambda: 0.7},
			&erm.Settings{Tolerance: 1e-10}))
		if dist := floats.Distance(r.Coefficients[c*5:(c+1)*5], one.Theta, 2); dist > 1e-9 {
			t.Errorf("class %d is %v away from the non-private fit", c, dist)
		}
	}
}

// For a tiny data term θ = −PB/λ + P·output noise: the variance of a coordinate is (1 − 1/K)(σ²/λ² + σ_out²), and Σ_c
// θ_c = 0.
func TestReleasedNoiseHasTheStatedScale(t *testing.T) {
	x := matrix.NewDense(1, 2000, nil)
	x.Data[0] = 1
	m := multiclass.Softmax{Classes: 3, RowNorm: 1, Lambda: 2, Sigma: 3, Tolerance: 1e-9, OutputSigma: 0.5}
	for name, src := range map[string]noise.Source{"secure": noise.NewSecure(), "seeded": noise.NewSeeded(4)} {
		r := must.Get(m.Run(x, []float64{1}, src, nil))
		var ss float64
		for j := 1; j < 2000; j++ {
			a, b, c := r.Coefficients[j], r.Coefficients[2000+j], r.Coefficients[4000+j]
			ss += a*a + b*b + c*c
			if !(math.Abs(a+b+c) <= 1e-12) {
				t.Fatalf("%s: the classes sum to %g", name, a+b+c)
			}
		}
		// 2·1999 degrees of freedom; ±5.5 standard deviations of the estimate.
		if got := ss / (2 * 1999); !(math.Abs(got/2.5-1) <= 5.5*math.Sqrt(2.0/(2*1999))) {
			t.Errorf("%s: variance %v, want 2.5", name, got)
		}
	}
}

// What float64 alone cannot certify is certified.
func TestSmallToleranceIsCertified(t *testing.T) {
	x, y := records(200, 3, 3, 1, 5)
	m, _ := multiclass.CalibrateSoftmax(config(3, 1), multiclass.Vertex)
	m.Tolerance = 1e-13
	if r, err := m.Run(x, numbers(y), noise.NewSeeded(1), nil); r == nil || err != nil {
		t.Errorf("what float64 alone cannot certify: %v", err)
	}
}

func TestCalibrationRejects(t *testing.T) {
	for name, spoil := range map[string]func(*multiclass.Config){
		"one class":  func(c *multiclass.Config) { c.Classes = 1 },
		"ε = 0":      func(c *multiclass.Config) { c.Epsilon = 0 },
		"ε = NaN":    func(c *multiclass.Config) { c.Epsilon = math.NaN() },
		"δ = 1":      func(c *multiclass.Config) { c.Delta = 1 },
		"λ < 0":      func(c *multiclass.Config) { c.Lambda = -1 },
		"R = 0":      func(c *multiclass.Config) { c.RowNorm = 0 },
		"factor < 1": func(c *multiclass.Config) { c.NoiseFactor = 0.5 },
		"adjacency":  func(c *multiclass.Config) { c.Adjacency = 0 },
		"replace":    func(c *multiclass.Config) { c.Adjacency = privacy.ReplaceOne },
		"τ = NaN":    func(c *multiclass.Config) { c.Tolerance = math.NaN() },
	} {
		c := config(3, 1)
		spoil(&c)
		if _, err := multiclass.CalibrateSoftmax(c, multiclass.Vertex); err == nil {
			t.Errorf("softmax: %s is accepted", name)
		}
		if _, err := multiclass.CalibrateOneVsRest(c, loss.Logistic{}); err == nil {
			t.Errorf("one-vs-rest: %s is accepted", name)
		}
	}
	for _, l := range []loss.Loss{nil, loss.Squared{}, loss.SquaredHinge{}, loss.Poisson{MaxCount: 3}} {
		if _, err := multiclass.CalibrateOneVsRest(config(3, 1), l); err == nil {
			t.Errorf("one-vs-rest with %v is accepted", l)
		}
	}
	if _, err := multiclass.CalibrateSoftmax(config(3, 1), 7); err == nil {
		t.Error("an unknown bound is accepted")
	}
	// A fixed λ that no noise makes up for, by rank alone; with enough of it the total variation does, which the
	// curvature has no part in.
	c := config(3, 0.1)
	c.Lambda = 1e-3
	if _, err := multiclass.CalibrateSoftmax(c, multiclass.RankK); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("an impossible λ: %v", err)
	}
	m, err := multiclass.CalibrateSoftmax(c, multiclass.Vertex)
	if err != nil || m.Sigma < 1e4 {
		t.Errorf("next to no λ: σ = %g, %v", m.Sigma, err)
	}
}

// K fits that are not in the Gaussian case are composed by their privacy-loss distributions; the composition is below
// the sum of budgets and above one fit alone, and matches the Gaussian where both apply.
func TestOneVsRestComposition(t *testing.T) {
	c := config(3, 1)
	o := must.Get(multiclass.CalibrateOneVsRest(c, loss.SmoothedHinge{Width: 1}))
	p, _ := o.Profile()
	one, _ := o.Binary.Profile()
	e1 := must.Get(privacy.EpsilonUpper(one, 1e-5/3))
	if d := privacy.DeltaUpper(p, 1); d > 1e-5 || d < 0.97e-5 || o.Gaussian() || 3*e1 < 1 {
		t.Errorf("δ = %g, Gaussian %v; basic composition says ε = %g", d, o.Gaussian(), 3*e1)
	}
	if d := privacy.DeltaUpper(one, 1); d >= 1e-5 {
		t.Errorf("one fit alone: δ = %g", d)
	}
	// The composition of dtz24's bounds covers the exact Gaussian case, and knows how many fits there are.
	o.Binary.Loss, o.Binary.Lambda = loss.Logistic{}, 10
	exactly, _ := o.Profile()
	o.Binary.Bound = objective.DTZ24
	three, _ := o.Profile()
	o.Classes = 2
	two, _ := o.Profile()
	if a, b, c := privacy.DeltaUpper(exactly, 1), privacy.DeltaUpper(three, 1), privacy.DeltaUpper(two, 1); !(a < b &&
		c < b/2) {
		t.Errorf("δ = %g exactly, %g by dtz24, %g of two fits", a, b, c)
	}
}

// The output noise of K fits costs what one Gaussian mechanism of √K·2τ/(λσ_out) costs beside their objectives, whether
// it is composed with each fit or apart.
func TestOutputNoiseOfKFits(t *testing.T) {
	testscale.InTurn(t)
	const classes, tau, outputSigma = 4, 0.1, 0.02 // ½ in all, as the objectives have
	step := 0.5
	if testscale.Full() {
		step = 0.25
	}
	for _, bound := range []objective.Bound{0, objective.DTZ24, objective.RKW23, objective.Pointwise} {
		m := multiclass.OneVsRest{Classes: classes, Binary: objpert.Objective{Loss: loss.SmoothedHinge{Width: 1},
			RowNorm: 1, Lambda: 40, Sigma: 4, Tolerance: tau, OutputSigma: outputSigma, Bound: bound}}
		with := must.Get(m.Profile())
		m.Binary.OutputSigma = 1e6
		without := must.Get(m.Profile())
		var want float64 // E δ(2 − G), G ~ N(μ²/2, μ²)
		for z := -5.0; z <= 5; z += step {
			want += step * math.Exp(-0.5*z*z) / math.Sqrt(2*math.Pi) * privacy.DeltaUpper(without, 2-0.5*(0.25+z))
		}
		have := privacy.DeltaUpper(with, 2)
		if !(have >= 0.99*want && have <= 1.1*want) {
			t.Errorf("%v: δ = %.4g, want %.4g", bound, have, want)
		}
	}
}

// Fits of next to no loss of their own, with and without output noise that is most of it, have a δ soon, by a bound
// that is computed, too: it is between that of the Gaussian mechanisms that they are no less than and that of dtz24,
// also where it is e^{−125,000}.
func TestHugeRidgeEnds(t *testing.T) {
	testscale.Slow(t)
	for _, tau := range []float64{1e-14, 1e-6} {
		m := multiclass.OneVsRest{Classes: 4, Binary: objpert.Objective{Loss: loss.SmoothedHinge{Width: 1},
			RowNorm: 1, Lambda: 1e4, Sigma: 1e4, Tolerance: tau, OutputSigma: 1e-9, Bound: objective.DTZ24}}
		most := must.Get(m.Profile())
		m.Binary.Bound = objective.Pointwise
		p := must.Get(m.Profile())
		least := privacy.GaussianProfile(2*math.Hypot(1e-4, 2*tau/1e-5), privacy.AddRemove)
		for _, eps := range []float64{1e-3, 0.1} {
			a, b := privacy.LogDeltaUpper(least, eps), privacy.LogDeltaUpper(p, eps)
			c := privacy.LogDeltaUpper(most, eps)
			if !(a <= b && b <= c+1e-6*math.Abs(c)) {
				t.Errorf("τ = %g, ε = %g: ln δ = %v, least %v, by dtz24 %v", tau, eps, b, a, c)
			}
		}
	}
}

// At equal ε, three classes and more: the joint fit needs less noise and predicts better than K fits.
func TestJointNeedsLessNoise(t *testing.T) {
	testscale.Slow(t)
	const d = 10
	for _, classes := range []int{3, 8} {
		x, y := records(6000, d, classes, 0.6, 2)
		tx, ty := records(4000, d, classes, 0.6, 3)
		for _, eps := range []float64{0.3, 1} {
			m := must.Get(multiclass.CalibrateSoftmax(config(classes, eps), multiclass.Vertex))
			o := must.Get(multiclass.CalibrateOneVsRest(config(classes, eps), loss.Logistic{}))
			var joint, apart float64
			const runs = 4
			for k := range runs {
				a := must.Get(m.Run(x, numbers(y), noise.NewSeeded(uint64(k)), nil))
				b := must.Get(o.Run(x, numbers(y), noise.NewSeeded(uint64(k)), nil))
				joint += accuracy(a.Coefficients, tx, ty) / runs
				apart += accuracy(b.Coefficients, tx, ty) / runs
			}
			plain := must.Get(erm.Minimize(&erm.Problem{Rows: x, Labels: numbers(y),
				Joint: loss.Softmax{Classes: classes}, Lambda: 1e-3}, nil))
			best := accuracy(plain.Theta, tx, ty)
			t.Logf("K = %d, ε = %g: accuracy %.3f joint (σ = %.3g, λ = %.3g), %.3f one-vs-rest (σ = %.3g, λ = %.3g), "+
				"%.3f without privacy",
				classes, eps, joint, m.Sigma, m.Lambda, apart, o.Binary.Sigma, o.Binary.Lambda, best)
			if !(m.Sigma < o.Binary.Sigma) {
				t.Errorf("K = %d, ε = %g: σ = %g joint, %g apart", classes, eps, m.Sigma, o.Binary.Sigma)
			}
		}
	}
}

func accuracy(theta []float64, x *matrix.Dense, y []int) float64 {
	right := 0
	for i, c := range y {
		if multiclass.Predict(theta, x.Data[i*x.D:(i+1)*x.D]) == c {
			right++
		}
	}
	return float64(right) / float64(len(y))
}

// Records a thousand times as long want a thousand times the noise and a million times the ridge.
func TestCalibrationHasNoUnit(t *testing.T) {
	c := config(3, 1)
	one := must.Get(multiclass.CalibrateSoftmax(c, multiclass.Vertex))
	for _, unit := range []float64{1e-3, 1e3} {
		c.RowNorm, c.Tolerance = unit, one.Tolerance*unit
		m := must.Get(multiclass.CalibrateSoftmax(c, multiclass.Vertex))
		if !(math.Abs(m.Sigma/(unit*one.Sigma)-1) <= 1e-6) || !(math.Abs(m.Lambda/(unit*unit*one.Lambda)-1) <= 1e-3) {
			t.Errorf("unit %g: σ = %g, λ = %g, in the other %g, %g", unit, m.Sigma, m.Lambda, one.Sigma, one.Lambda)
		}
	}
}
