package interval

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func config(l loss.Loss, eps float64) objpert.Config {
	return objpert.Config{Loss: l, RowNorm: 1, Epsilon: eps, Delta: 1e-5, Adjacency: privacy.AddRemove}
}

// records returns n rows of norm 1 with logistic labels at theta.
func records(n int, theta []float64, rng *noise.Seeded) (*matrix.Dense, []float64) {
	d := len(theta)
	x, y := matrix.NewDense(n, d, nil), make([]float64, n)
	rng.Gaussian(x.Data, 1)
	for i := range y {
		row := x.Data[i*d : (i+1)*d]
		floats.Scale((1-1e-15)/floats.Norm(row, 2), row)
		y[i] = -1
		if rng.Float64() < 1/(1+math.Exp(-floats.Dot(row, theta))) {
			y[i] = 1
		}
	}
	return x, y
}

// Together they satisfy (ε, δ), and hardly less would do.
func TestCalibrateIsSafeAndTight(t *testing.T) {
	testscale.Slow(t)
	for _, c := range []struct {
		l     loss.Loss
		eps   float64
		share Share
	}{
		{loss.Logistic{}, 0.1, Share{Curvature: 0.1}}, {loss.Logistic{}, 1, Share{Curvature: 0.2, Scores: 0.1}},
		{loss.Logistic{}, 8, Share{Curvature: 0.5}}, {loss.Huber{Threshold: 1}, 1, Share{Curvature: 0.2, Scores: 0.2}},
	} {
		fit, curv := must.Two(Calibrate(config(c.l, c.eps), c.share))
		p, err := curv.WithGaussian(0)
		if err != nil {
			t.Fatal(err)
		}
		if d := privacy.DeltaUpper(p, c.eps); d > 1e-5 || d < 0.999e-5 {
			t.Errorf("%v ε = %v: δ = %v together", c.l.Name(), c.eps, d)
		}
		// The Gaussian case is known exactly: μ² adds.
		if low, high, ok := privacy.GaussianMu(p); ok {
			own := must.Get(fit.Profile())
			_, a, _ := privacy.GaussianMu(own)
			want := math.Hypot(a, curv.Mu())
			if high < want*(1-1e-15) || low > want*(1+1e-9) {
				t.Errorf("μ = %v together, of %v and %v", high, a, curv.Mu())
			}
			beside := must.Get(curv.WithGaussian(0.3))
			if _, got, _ := privacy.GaussianMu(beside); !(math.Abs(got/math.Hypot(want, 0.3)-1) <= 1e-9) {
				t.Errorf("μ = %v beside 0.3, and %v without", got, want)
			}
			if got := curv.Mu() * curv.Mu() / (want * want); !(math.Abs(got-c.share.Curvature-c.share.Scores) <= 0.01) {
				t.Errorf("the matrices have %v of μ²", got)
			}
		} else if c.l.Name() == "logistic" {
			t.Errorf("ε = %v: not the Gaussian case", c.eps)
		}
		// Less noise in the matrices must be noticed.
		curv.Sigma *= 0.97
		if p, err = curv.WithGaussian(0); err != nil || privacy.DeltaUpper(p, c.eps) <= 1e-5 {
			t.Errorf("%v: less noise goes unnoticed", c.l.Name())
		}
	}
}

// No pair of neighbours differs by more than the sensitivities, and some pair by almost as much.
func TestSensitivityOfMoments(t *testing.T) {
	rng := noise.NewSeeded(3)
	for _, l := range []loss.Loss{loss.Logistic{}, loss.Huber{Threshold: 0.7}} {
		fit := must.Get(objpert.Calibrate(config(l, 1)))
		s, l2 := Curvature{Fit: fit}.sensitivities()
		var worst, worstScore float64
		x, y := records(6, make([]float64, 3), rng)
		theta := make([]float64, 3)
		for k := range 400 {
			rng.Gaussian(theta, []float64{0, 0.1, 3, 30}[k%4])
			without, _ := matrix.NewDense(5, 3, x.Data[:15]), y[:5]
			h, v := moments(fit, x, y, theta, true, 0)
			h0, v0 := moments(fit, without, y[:5], theta, true, 0)
			for _, pair := range [][2]*mat.SymDense{{h, h0}, {v, v0}} {
				pair[1].ScaleSym(-1, pair[1])
				pair[0].AddSym(pair[0], pair[1])
			}
			worst, worstScore = math.Max(worst, mat.Norm(h, 2)), math.Max(worstScore, mat.Norm(v, 2))
		}
		if worst > s*(1+1e-9) || worst < 0.95*s || worstScore > l2*(1+1e-9) || worstScore < 0.95*l2 {
			t.Errorf("%s: largest changes %v of s = %v and %v of L² = %v", l.Name(), worst, s, worstScore, l2)
		}
	}
}

// E is isotropic in the Frobenius norm: E‖E‖² = σ²·d(d+1)/2, and the bound on its top eigenvalue holds, at the level
// that is asked for and not far above.
func TestMatrixNoise(t *testing.T) {
	rng := noise.NewSeeded(4)
	const sigma, alpha = 1.5, 0.05
	for _, d := range []int{1, 3, 30} {
		const reps = 400
		var sum, largest float64
		above := 0
		bound := topEigenvalue(d, sigma, alpha)
		for range reps {
			e := mat.NewSymDense(d, nil)
			noise.Exact(rng).SymmetricNormals(d).AddFrobenius(e, sigma)
			f := mat.Norm(e, 2)
			sum += f * f
			values, _, _ := matrix.Eigen(e)
			top := floats.Max(values)
			largest = math.Max(largest, top)
			if top > bound {
				above++
			}
		}
		dof := float64(d*(d+1)) / 2
		if got := sum / reps / (sigma * sigma * dof); !(math.Abs(got-1) <= 4*math.Sqrt(2/dof/reps)) {
			t.Errorf("d = %d: E‖E‖² is %v of what it should be", d, got)
		}
		if above > int(alpha*reps) {
			t.Errorf("d = %d: %d of %d top eigenvalues above the bound", d, above, reps)
		}
		if largest < 0.7*bound {
			t.Errorf("d = %d: the largest of %d is %v, the bound %v: too loose", d, reps, largest, bound)
		}
	}
}

func TestBallQuantile(t *testing.T) {
	rng := noise.NewSeeded(5)
	for _, d := range []int{1, 2, 7, 100, 3000} {
		q := ballQuantile(d, 0.1)
		const reps = 2000
		b := make([]float64, d)
		above := 0
		for range reps {
			rng.Gaussian(b, 1)
			if (math.Abs(b[0])+floats.Norm(b, 2))/2 > q {
				above++
			}
		}
		if z := (float64(above)/reps - 0.1) / math.Sqrt(0.09/reps); !(math.Abs(z) <= 4) {
			t.Errorf("d = %d: %d of %d above the quantile of a tenth", d, above, reps)
		}
	}
	if got := ballQuantile(1, 0.05); !(math.Abs(got-1.959964) <= 1e-6) {
		t.Errorf("one dimension: %v", got)
	}
}

func TestSquaresAndChiQuantiles(t *testing.T) {
	// Of d equal weights the law is χ²_d: never below its quantile, above by a known factor at most.
	for _, d := range []int{1, 5, 50} {
		w := make([]float64, d)
		floats.AddConst(2, w)
		for _, alpha := range []float64{0.1, 1e-4} {
			exact := chiQuantile(d, alpha)
			got := squaresQuantile(w, alpha) / 2
			if got < exact*exact || got > 4*exact*exact {
				t.Errorf("d = %d, α = %v: %v, exact %v", d, alpha, got, exact*exact)
			}
		}
	}
	if q := chiQuantile(4, 1e-300); !(q > 30 && q < 50) {
		t.Errorf("far in the tail: %v", q)
	}
}

// Every matrix of the bracket obeys the bounds, and some come close.
func TestBracketBounds(t *testing.T) {
	rng := noise.NewSeeded(6)
	const d = 4
	base := mat.NewSymDense(d, nil)
	noise.Exact(rng).SymmetricNormals(d).AddFrobenius(base, 1)
	_, vectors, _ := matrix.Eigen(base)
	b := bracket{vectors: vectors, forms: vectors, low: []float64{0, 0.1, 0.5, 2}, high: []float64{1, 0.4, 0.5, 5}}
	w := []float64{1, -2, 0.5, 3}
	centre, spread := b.linear(w)
	s := mat.NewSymDense(d, nil)
	s.SymOuterK(1, mat.NewDense(d, d, []float64{1, 2, 0, 0, 0, 1, 1, 0, 3, 0, 1, 0, 0, 0, 0, 2}))
	values, _, _ := matrix.Eigen(s)
	var reached, reachedNorm float64
	root := mat.NewDense(d, d, nil)
	for range 4000 {
		// A = B₁ + D^{1/2}·P·D^{1/2}, P a projection.
		p := mat.NewDense(d, 1, nil)
		rng.Gaussian(p.RawMatrix().Data, 1)
		floats.Scale(1/floats.Norm(p.RawMatrix().Data, 2), p.RawMatrix().Data)
		var proj, a mat.Dense
		proj.Mul(p, p.T())
		diag := mat.NewDense(d, d, nil)
		for i := range d {
			diag.Set(i, i, math.Sqrt(b.gap(i)))
		}
		proj.Mul(diag, &proj)
		proj.Mul(&proj, diag)
		for i := range d {
			proj.Set(i, i, proj.At(i, i)+b.low[i])
		}
		root.Mul(vectors, &proj)
		a.Mul(root, vectors.T())
		for j := range d {
			row := mat.Row(nil, j, &a)
			if off := math.Abs(floats.Dot(row, w) - centre[j]); spread[j] > 0 {
				reached = math.Max(reached, off/spread[j])
			}
			reachedNorm = math.Max(reachedNorm, floats.Norm(row, 2)/b.norm(j))
			v := mat.NewVecDense(d, row)
			if got := math.Sqrt(mat.Inner(v, s, v)); got > b.sandwich(j, s, floats.Max(values))*(1+1e-9) {
				t.Fatalf("sandwich %v above its bound", got)
			}
			if row[j] > b.upper(j)*(1+1e-9) {
				t.Fatalf("entry %v above %v", row[j], b.upper(j))
			}
		}
	}
	if reached > 1+1e-9 || reached < 0.95 {
		t.Errorf("largest share of the radius that is reached: %v", reached)
	}
	if reachedNorm > 1+1e-9 || reachedNorm < 0.8 {
		t.Errorf("largest share of the norm that is reached: %v", reachedNorm)
	}
}

// The narrower interval ±zσ/λ, true for a quadratic, is not one for all convex objectives: with the projection onto a
// cone for a minimiser it misses almost always, and FromRelease does not.
func TestReleaseAloneNeedsItsWidth(t *testing.T) {
	testscale.Slow(t)
	const d, reps, level = 100, 500, 0.9
	m := must.Get(objpert.Calibrate(config(loss.Logistic{}, 1)))
	rng := noise.NewSeeded(7)
	b := make([]float64, d)
	covered, narrow := 0, 0
	for range reps {
		rng.Gaussian(b, m.Sigma)
		// argmin (λ/2)‖θ‖² + bᵀθ over the cone θ₀ ≥ ‖(θ₁, …)‖; without b it is 0.
		axis, rest := -b[0]/m.Lambda, floats.Norm(b[1:], 2)/m.Lambda
		first := 0.5 * (axis + rest)
		if axis >= rest {
			first = axis
		} else if axis <= -rest {
			first = 0
		}
		theta := make([]float64, d)
		theta[0] = first
		iv := must.Get(FromRelease(m, theta, level))
		if iv.Lower[0] <= 0 && 0 <= iv.Upper[0] {
			covered++
		}
		if first <= twoSided(1-level)*m.Sigma/m.Lambda {
			narrow++
		}
	}
	if covered < int(level*reps) {
		t.Errorf("covered %d of %d", covered, reps)
	}
	if narrow > reps/100 {
		t.Errorf("the narrow interval covers %d of %d: the cone is no counterexample", narrow, reps)
	}
}

// Three derivatives by differences against the claimed rate of change.
func TestCurvatureChange(t *testing.T) {
	for _, l := range []loss.Loss{loss.Logistic{}, loss.Softplus{Width: 0.3}, loss.PseudoHuber{Threshold: 0.8}} {
		q, ok := curvatureChange(l)
		if !ok {
			t.Fatal(l.Name())
		}
		var worst float64
		for v := -12.0; v < 12; v += 0.01 {
			const h = 1e-4
			c := []float64{0, 0, 0}
			l.Curvature(c, []float64{v - h, v, v + h}, []float64{1, 1, 1})
			if c[1] > 1e-12 {
				worst = math.Max(worst, math.Abs(c[2]-c[0])/(2*h*c[1]))
			}
		}
		if worst > q*1.001 || worst < 0.95*q {
			t.Errorf("%s: |f‴|/f″ reaches %v, q = %v", l.Name(), worst, q)
		}
	}
	for _, l := range []loss.Loss{loss.Huber{Threshold: 1}, loss.ClippedAt(loss.Logistic{}, 0.5, 1)} {
		if _, ok := curvatureChange(l); ok {
			t.Errorf("%s has kinks", l.Name())
		}
	}
}

func TestRadius(t *testing.T) {
	for _, c := range []struct{ lambda, mu, k, a float64 }{{1, 0, 1, 3}, {1, 10, 1, 3}, {0.1, 100, 2, 30},
		{0, 100, 1, 30}, {2, 5, 0, 3}, {0, 5, 0, 3}} {
		r := radius(c.lambda, c.mu, c.k, c.a)
		if got := r * (c.lambda + shrink(c.k*r)*c.mu); !(math.Abs(got-c.a) <= 1e-9*c.a) {
			t.Errorf("%+v: r = %v gives %v", c, r, got)
		}
	}
	for _, c := range []struct{ mu, k, a float64 }{{0, 1, 1}, {1, 1, 1}, {1, 2, 0.6}} {
		if r := radius(0, c.mu, c.k, c.a); !math.IsInf(r, 1) {
			t.Errorf("%+v: r = %v", c, r)
		}
	}
}

func TestRefusals(t *testing.T) {
	testscale.Slow(t)
	fit, curv := must.Two(Calibrate(config(loss.Huber{Threshold: 1}, 1), Share{Curvature: 0.2}))
	mo := &Moments{Hessian: mat.NewSymDense(2, []float64{50, 0, 0, 50}), HessianSigma: 1}
	theta := []float64{1, 2}
	var param *privacy.ParamError
	if _, err := Minimiser(fit, theta, mo, Settings{Level: 0.9}); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("a loss with kinks: %v", err)
	}
	if _, err := Population(fit, theta, mo, Settings{Level: 0.9, Linearise: true}); !errors.Is(err,
		privacy.ErrUnsupported) {
		t.Errorf("no covariance of the scores: %v", err)
	}
	for name, err := range map[string]error{
		"level":    func() error { _, err := FromRelease(fit, theta, 1); return err }(),
		"theta":    func() error { _, err := FromRelease(fit, []float64{math.NaN()}, 0.9); return err }(),
		"no theta": func() error { _, err := FromRelease(fit, nil, 0.9); return err }(),
		"moments": func() error {
			_, err := Minimiser(fit, theta, nil,
				Settings{Level: 0.9, Linearise: true})
			return err
		}(),
		"size": func() error {
			_, err := Minimiser(fit, []float64{1}, mo, Settings{Level: 0.9, Linearise: true})
			return err
		}(),
		"norm": func() error {
			_, err := Population(fit, theta, mo,
				Settings{Level: 0.9, NormBound: -1})
			return err
		}(),
		"share": func() error { _, _, err := Calibrate(config(loss.Logistic{}, 1), Share{}); return err }(),
		"all":   func() error { _, _, err := Calibrate(config(loss.Logistic{}, 1), Share{0.5, 0.5}); return err }(),
		"sigma": Curvature{Fit: fit}.Validate(),
		"records": func() error {
			_, err := PublicCurvature(fit, matrix.NewDense(1, 2, nil), []float64{1}, theta, 0)
			return err
		}(),
	} {
		if !errors.As(err, &param) {
			t.Errorf("%s: %v", name, err)
		}
	}
	x, y := records(3, make([]float64, 2), noise.NewSeeded(1))
	if _, err := curv.At(x, y, theta, nil); err == nil {
		t.Error("no source")
	}
	var data *matrix.DataError
	if _, err := curv.At(x, y, []float64{1}, noise.NewSeeded(1)); !errors.As(err, &data) {
		t.Errorf("another length: %v", err)
	}
	if _, err := PublicCurvature(fit, x, nil, theta, 10); !errors.As(err, &data) {
		t.Errorf("Huber without labels: %v", err)
	}
}
