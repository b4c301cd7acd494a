package interval

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// guessed is what is expected where the curvature is m, times by, each feature a column.
func guessed(m *mat.SymDense, by float64) Guess {
	g := Guess{Curvature: mat.NewSymDense(m.SymmetricDim(), nil), Factor: 0.1,
		Scores: func(float64) float64 { return 1 }}
	g.Curvature.ScaleSym(by, m)
	for j := range m.SymmetricDim() {
		g.Columns = append(g.Columns, Column{Span: matrix.Span{First: j, Len: 1}})
	}
	return g
}

// Under a heavy ridge estimates for the population are where the fit without one is, and those of the same fit stay; a
// curvature that is a tenth off moves them further than their width.
func TestLikelyCorrectsForTheRidge(t *testing.T) {
	x, y := records(200_000, []float64{1, -1, 0.5}, noise.NewSeeded(1))
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 300,
		Penalty: objpert.Penalty{Shrinkage: 100}, Sigma: 1e-3, Tolerance: 1e-6,
		OutputSigma: 1e-9}
	fit := func(lambda float64, more []float64) []float64 {
		s, err := erm.Minimize(&erm.Problem{Rows: x, Labels: y, Loss: m.Loss, Lambda: lambda, Shrinkage: more},
			&erm.Settings{Tolerance: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		return s.Theta
	}
	theta, truth := fit(m.Lambda, m.Shrink(3)), fit(1e-6, nil)
	h, _ := moments(m, x, y, theta, false, 0)
	for _, c := range []struct {
		by   float64 // of the curvature that is released
		want bool
	}{{1, true}, {1.1, false}, {0.9, false}} {
		mo := &Moments{Hessian: mat.NewSymDense(3, nil), HessianSigma: 1}
		mo.Hessian.ScaleSym(c.by, h)
		g := guessed(mo.Hessian, 1)
		g.Scores = func(float64) float64 { return 1e-2 } // these records are the population
		iv, err := Likely(m, theta, mo, g, true, Settings{Level: 0.95})
		if err != nil {
			t.Fatal(err)
		}
		off := floats.Distance(iv.Estimate, truth, 2)
		if got := off < 0.02*floats.Distance(theta, truth, 2); got != c.want {
			t.Errorf("curvature times %v: estimates %v, want %v, shrunk %v", c.by, iv.Estimate, truth, theta)
		}
		same, err := Likely(m, theta, mo, g, false, Settings{Level: 0.95})
		if err != nil || floats.Distance(same.Estimate, theta, 2) > 1e-12 || same.Width() > 1e-4 {
			t.Errorf("of the same fit: %+v (%v)", same, err)
		}
	}
}

// With little noise the curvature is what was released, with much what was expected; intervals are the wider, the less
// is known of it.
func TestLikelyGoesFromTheReleasedToTheExpected(t *testing.T) {
	h := mat.NewSymDense(3, []float64{90, 20, 0, 20, 60, 0, 0, 0, 120})
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Sigma: 5, Tolerance: 1e-6, OutputSigma: 1e-9}
	theta := []float64{1, -1, 0.5}
	expected := mat.NewSymDense(3, []float64{90, 0, 0, 0, 60, 0, 0, 0, 120})
	last := 0.0
	for _, sigma := range []float64{1e-3, 5, 1e3} {
		p, err := newProblem(m, theta, &Moments{Hessian: h, HessianSigma: sigma}, Settings{Level: 0.9, Linearise: true},
			false)
		if err != nil {
			t.Fatal(err)
		}
		c, err := p.estimate(guessed(expected, 1))
		if err != nil {
			t.Fatal(err)
		}
		beside := c.curvature.At(0, 1)
		if sigma < 1 && math.Abs(beside-20) > 0.1 || sigma > 100 && math.Abs(beside) > 0.1 ||
			sigma == 5 && (beside < 5 || beside > 19.9) {
			t.Errorf("σ = %v: %v", sigma, beside)
		}
		iv, err := Likely(m, theta, &Moments{Hessian: expected, HessianSigma: sigma}, guessed(expected, 1), true,
			Settings{Level: 0.9})
		if err != nil {
			t.Fatal(err)
		}
		if iv.Width() < 1.001*last {
			t.Errorf("σ = %v: width %v, %v before", sigma, iv.Width(), last)
		}
		last = iv.Width()
	}
	short := guessed(expected, 1)
	short.Columns = short.Columns[:2]
	mo := &Moments{Hessian: h, HessianSigma: 1}
	if _, err := Likely(m, theta, mo, short, true, Settings{Level: 0.9}); err == nil {
		t.Error("a feature is in no column")
	}
}

// Where columns are independent each noise counts in full in the law of the same fit, of one form and of all together:
// the tilt, the output's, and, where no curvature was released, that what is expected may be off.
func TestLawCountsEveryNoise(t *testing.T) {
	c, theta := []float64{90, 60, 120}, []float64{1, -1, 0.5}
	h := mat.NewSymDense(3, nil)
	for j, v := range c {
		h.SetSym(j, j, v)
	}
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 30, Sigma: 5, Tolerance: 1e-12, OutputSigma: 0.03}
	for _, mo := range []*Moments{{Hessian: h, HessianSigma: 1e-9}, nil} {
		g := guessed(h, 1)
		l, err := LikelyLaw(m, theta, mo, g, false, Settings{Level: 0.9})
		if err != nil {
			t.Fatal(err)
		}
		joint := l.Covariance(0, 3)
		for j := range c {
			var off float64 // of E′δ, whose entries have variances of their own, and of a factor of all
			for i := 0; i < 3 && mo == nil; i++ {
				by := usual * usual / 2
				if i == j {
					by = usual*usual + g.Factor*g.Factor
				}
				off += by * c[i] * c[j] * math.Pow(m.Sigma/(c[i]+m.Lambda), 2)
			}
			want := (m.Sigma*m.Sigma+off)/math.Pow(c[j]+m.Lambda, 2) + m.OutputSigma*m.OutputSigma
			for what, got := range map[string]float64{"half": math.Pow(l.Half(j, 1), 2), "joint": joint.At(j, j)} {
				if math.Abs(got/want-1) > 1e-6 {
					t.Errorf("released %v, %s: a variance of %v, want %v", mo != nil, what, got, want)
				}
			}
		}
	}
}

// The size of coefficients is the upper end of a likelihood interval: it is below the true one in few draws, is not far
// above it where many directions tell of it, and is what it may be at most where none does.
func TestSizeOfCoefficients(t *testing.T) {
	const d, sigma, rho, draws = 30, 3.0, 0.8, 400
	src := rand.New(rand.NewPCG(1, 2))
	for _, size := range []float64{0.1, 1} {
		below, sum := 0, 0.0
		for range draws {
			m, at, pull := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil), mat.NewVecDense(d, nil)
			for i := range d {
				v := 100 * math.Pow(0.8, float64(i))
				m.SetSym(i, i, v)
				at.SetVec(i, size*src.NormFloat64())
				pull.SetVec(i, math.Sqrt(sigma*sigma+rho*v)*src.NormFloat64())
			}
			s := sizeOf(m, at, pull, sigma*sigma, rho)
			if sum += s / draws; s < size {
				below++
			}
		}
		if below > draws/20 || sum > 3*size || sum < 1.1*size {
			t.Errorf("%g: below it in %d of %d draws, and %.3g in the mean", size, below, draws, sum)
		}
	}
	m := mat.NewSymDense(d, nil)
	for i := range d {
		m.SetSym(i, i, 0.01)
	}
	if s := sizeOf(m, mat.NewVecDense(d, nil), mat.NewVecDense(d, nil), sigma*sigma, rho); s != largest {
		t.Errorf("of coefficients of which nothing is seen: %g", s)
	}
}
