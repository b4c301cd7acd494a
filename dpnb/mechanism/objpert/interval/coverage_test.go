package interval

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// fitted is a release with its moments, from n records at theta.
type fitted struct {
	fit   objpert.Objective
	theta []float64
	mo    *Moments
	x     *matrix.Dense
	y     []float64
}

func fitOnce(t *testing.T, n int, truth []float64, eps float64, seed uint64) fitted {
	t.Helper()
	rng := noise.NewSeeded(seed)
	fit, curv := must.Two(Calibrate(config(loss.Logistic{}, eps), Share{Curvature: 0.2, Scores: 0.1}))
	x, y := records(n, truth, rng)
	r, mo := must.Two(curv.Release(x, y, rng, nil))
	if !mo.Simulated() || !r.Simulated() {
		t.Error("a seed makes a simulation")
	}
	// The release is charged for both.
	alone := must.Get(fit.Profile())
	if both, one := privacy.DeltaUpper(r.Guarantee.Profile, eps), privacy.DeltaUpper(alone, eps); both > 1e-5 ||
		both < 0.99e-5 || one > 0.9*both {
		t.Errorf("δ = %v for both, %v for the fit alone", both, one)
	}
	return fitted{fit, r.Coefficients, mo, x, y}
}

// With many records the proved intervals become those of the normal law.
func TestMinimiserTendsToTheNormalLaw(t *testing.T) {
	truth := []float64{1, -1, 0.5}
	const level = 0.9
	last := math.Inf(1)
	for _, n := range []int{2000, 20_000, 200_000} {
		f := fitOnce(t, n, truth, 4, 1)
		h, _ := moments(f.fit, f.x, f.y, f.theta, false, 0)
		for j := range truth {
			h.SetSym(j, j, h.At(j, j)+f.fit.Lambda)
		}
		var chol mat.Cholesky
		var inverse mat.SymDense
		chol.Factorize(h)
		must.Do(chol.InverseTo(&inverse))
		iv := must.Get(Minimiser(f.fit, f.theta, f.mo, Settings{Level: level}))
		linear := must.Get(Minimiser(f.fit, f.theta, f.mo, Settings{Level: level, Linearise: true}))
		if !iv.Proved || linear.Proved {
			t.Error("only the interval that allows for the curvature's change is proved")
		}
		var normal float64
		for j := range truth {
			row := mat.Row(nil, j, &inverse)
			normal += 2 * twoSided(1-level) * math.Hypot(f.fit.Sigma*floats.Norm(row, 2), f.fit.OutputSigma) / float64(
				len(truth))
		}
		ratio := iv.Width() / normal
		if linear.Width() > iv.Width() || linear.Width() < normal {
			t.Errorf("n = %d: widths %v linearised, %v proved, %v by the normal law", n, linear.Width(), iv.Width(),
				normal)
		}
		if ratio > last {
			t.Errorf("n = %d: %v times the normal law's width, more than before", n, ratio)
		}
		last = ratio
	}
	if last > 1.15 {
		t.Errorf("with 200,000 records still %v times the normal law's width", last)
	}
}

// Without curvature to speak of, Minimiser knows little more than FromRelease.
func TestMinimiserWithoutCurvature(t *testing.T) {
	fit := must.Get(objpert.Calibrate(config(loss.Logistic{}, 1)))
	theta := make([]float64, 10)
	alone := must.Get(FromRelease(fit, theta, 0.9))
	mo := &Moments{Hessian: mat.NewSymDense(10, nil), HessianSigma: 1}
	iv := must.Get(Minimiser(fit, theta, mo, Settings{Level: 0.9}))
	if r := iv.Width() / alone.Width(); r < 1 || r > 1.4 {
		t.Errorf("%v times the width of the release alone", r)
	}
	// Nothing is known of the population, but for the bound on the norm.
	pop := must.Get(Population(fit, theta, mo, Settings{Level: 0.9}))
	if !math.IsInf(pop.Lower[3], -1) || !math.IsInf(pop.Upper[3], 1) {
		t.Errorf("the population's coefficient in [%v, %v] without any curvature", pop.Lower[3], pop.Upper[3])
	}
	pop = must.Get(Population(fit, theta, mo, Settings{Level: 0.9, NormBound: 7}))
	if pop.Lower[3] != -7 || pop.Upper[3] != 7 {
		t.Errorf("[%v, %v] with norms up to 7", pop.Lower[3], pop.Upper[3])
	}
}

// The ridge's shrinkage is corrected for, and public records do as well.
func TestPopulationCorrectsShrinkage(t *testing.T) {
	truth := []float64{2, -1}
	rng := noise.NewSeeded(5)
	fit, curv := must.Two(Calibrate(objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 4, Delta: 1e-5,
		Adjacency: config(loss.Logistic{}, 1).Adjacency, Lambda: 200}, Share{Curvature: 0.2, Scores: 0.1}))
	const reps, n, level = 100, 2000, 0.9
	public, _ := records(5000, truth, rng)
	covered, shrunk, fromPublic := 0, 0, 0
	for k := range reps {
		src := rng.Stream(k)
		x, y := records(n, truth, src)
		r := must.Get(fit.Run(x, y, src, nil))
		mo := must.Get(curv.At(x, y, r.Coefficients, src))
		iv := must.Get(Population(fit, r.Coefficients, mo, Settings{Level: level, Linearise: true}))
		if math.Abs(iv.Estimate[0]-truth[0]) < math.Abs(r.Coefficients[0]-truth[0]) {
			shrunk++
		}
		if iv.Lower[0] <= truth[0] && truth[0] <= iv.Upper[0] {
			covered++
		}
		pub := must.Get(PublicCurvature(fit, public, nil, r.Coefficients, n))
		iv = must.Get(Population(fit, r.Coefficients, pub, Settings{Level: level, Linearise: true}))
		if iv.Lower[0] <= truth[0] && truth[0] <= iv.Upper[0] {
			fromPublic++
		}
	}
	// 0.9 less four standard errors.
	if covered < 78 || shrunk < 90 {
		t.Errorf("of %d: %d covered, %d nearer after the correction", reps, covered, shrunk)
	}
	t.Logf("covered %d, with public records %d, nearer %d of %d", covered, fromPublic, shrunk, reps)
	if fromPublic < 70 {
		t.Errorf("with public records %d of %d covered", fromPublic, reps)
	}
}

// The mean curvature on the way to the truth may be anything between its ends, and turned by what the noise is: the
// intervals allow for that, which in many dimensions is most of their width.
func TestPopulationAllowsForTheWay(t *testing.T) {
	const d, reps, level, v, way = 300, 500, 0.9, 4.0, 0.5
	h := unit(d)
	h.ScaleSym(v, h)
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Sigma: 1, Tolerance: 1e-9, OutputSigma: 1e-9}
	p := must.Get(newProblem(m, make([]float64, d), &Moments{Hessian: h}, Settings{Level: level}, false))
	scores := must.Get(p.scores())
	half := make([]float64, d)
	p.population(way/p.k, 0.8*(1-level), scores, make([]float64, d), half)
	low, high := 1/shrink(-way), 1/shrink(way) // of what M(θ⋆) is inverted to
	least := v * math.Exp(-way)
	src, f, covered := noise.NewSeeded(12), make([]float64, d), 0.0
	for range reps {
		src.Gaussian(f, math.Sqrt(1+least))
		var square float64
		for _, x := range f {
			square += x * x
		}
		if 0.5*((high+low)*math.Abs(f[0])+(high-low)*math.Sqrt(square))/least <= half[0] {
			covered++
		}
	}
	if covered < level*reps-4*math.Sqrt(reps*level*(1-level)) {
		t.Errorf("%v of %d are within %v", covered, reps, half[0])
	}
}

// Whatever comes in, an interval is none that says more than it knows.
func TestExtremes(t *testing.T) {
	fit := must.Get(objpert.Calibrate(config(loss.Logistic{}, 1)))
	theta := []float64{1, -2}
	for name, h := range map[string]*mat.SymDense{
		"NaN":      mat.NewSymDense(2, []float64{math.NaN(), 0, 0, 1}),
		"negative": mat.NewSymDense(2, []float64{-5, 0, 0, -5}),
		"huge":     mat.NewSymDense(2, []float64{1e300, 0, 0, 1e300}),
		"tiny":     mat.NewSymDense(2, []float64{1e-300, 0, 0, 1e-300}),
	} {
		for _, level := range []float64{1e-6, 0.5, 1 - 1e-12} {
			for _, linearise := range []bool{false, true} {
				s := Settings{Level: level, Linearise: linearise}
				for _, f := range []func(objpert.Objective, []float64, *Moments, Settings) (*Intervals,
					error){Minimiser, Population} {
					iv, err := f(fit, theta, &Moments{Hessian: h, HessianSigma: 1}, s)
					if name == "NaN" {
						if err == nil {
							t.Errorf("of NaN comes [%v, %v]", iv.Lower[0], iv.Upper[0])
						}
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					for j := range theta {
						if !(iv.Lower[j] <= iv.Estimate[j] && iv.Estimate[j] <= iv.Upper[j]) {
							t.Errorf("%s, level %v: %v in [%v, %v]", name, level, iv.Estimate[j], iv.Lower[j],
								iv.Upper[j])
						}
					}
				}
			}
		}
	}
	// Wider with the level.
	var last float64
	for _, level := range []float64{0.1, 0.9, 0.999, 1 - 1e-9, 1 - 1e-14} {
		iv := must.Get(FromRelease(fit, theta, level))
		if w := iv.Width(); !(w > last) || math.IsInf(w, 1) {
			t.Errorf("level %v: width %v after %v", level, w, last)
		} else {
			last = w
		}
	}
}
