package learn_test

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// kinds of records of the same patients, by the function that makes them.
func kinds(t testing.TB, rows int, options ...learn.Option) map[string]*learn.Dataset {
	t.Helper()
	df := learn.Patients(rows, 11)
	out := map[string]*learn.Dataset{
		"Binary":     learn.Binary(df, "ill", options...),
		"Regression": learn.Regression(df, "pressure", options...),
		"Counts":     learn.Counts(df, "visits", options...),
		"Classes":    learn.Classes(df, "ward", options...),
	}
	for name, d := range out {
		if err := d.Err(); err != nil {
			t.Fatal(name, err)
		}
	}
	return out
}

// plain are the records of kinds as fits have them that buy nothing: of norm 1, and not centred.
func plain(t testing.TB, rows int) map[string]*learn.Dataset {
	t.Helper()
	return kinds(t, rows, learn.Uncentred(), learn.RowNorm(1))
}

// learners with what they learn from, and a version of each with other settings.
var learners = []struct {
	name, from string
	zero, set  learn.Learner
}{
	{"Logistic", "Binary", learn.Logistic{}, learn.Logistic{Lambda: 2, Bound: objective.DTZ24}},
	{"SVM", "Binary", learn.SVM{}, learn.SVM{Lambda: 3, Width: 0.5}},
	{"Linear", "Regression", learn.Linear{}, learn.Linear{Clip: 0.3, Bound: objective.RKW23}},
	{"Huber", "Regression", learn.Huber{}, learn.Huber{Lambda: 7, Threshold: 0.1}},
	{"Poisson", "Counts", learn.Poisson{}, learn.Poisson{Clip: 2, Bound: objective.DTZ24}},
	{"Softmax", "Classes", learn.Softmax{}, learn.Softmax{Lambda: 9, Bound: multiclass.RankK}},
	{"OneVsRest", "Classes", learn.OneVsRest{}, learn.OneVsRest{Lambda: 9}},
	{"Linear regularised", "Regression", learn.Linear{Regularise: learn.Regulariser{L1: 5}},
		learn.Linear{Regularise: learn.Regulariser{GroupL1: 9}}},
	{"Huber regularised", "Regression", learn.Huber{Regularise: learn.Regulariser{L1: 2}},
		learn.Huber{Lambda: 7, Regularise: learn.Regulariser{GroupL1: 2}}},
	{"Quantile", "Regression", learn.Quantile{}, learn.Quantile{Tau: 0.9, Steps: 30, Radius: 2, L1: 3}},
	{"Quantiles", "Regression", learn.Quantiles{}, learn.Quantiles{Levels: []float64{0.2, 0.4, 0.45}, Steps: 30,
		L1: 3}},
}

// descends says that a learner comes near the minimiser by steps, and has no ridge.
func descends(name string) bool { return strings.HasPrefix(name, "Quantile") }

// Whatever fits is one of Learners, but for Quadratic and Tune, and is among the ways that the contract is held for.
func TestNoLearnerIsLeftOut(t *testing.T) {
	known, held := map[string]bool{"Quadratic": true, "Tune": true}, map[string]bool{}
	for _, l := range learn.Learners() {
		known[reflect.TypeOf(l).Name()] = true
	}
	for _, w := range ways(t) {
		held[reflect.TypeOf(w.l).Name()] = true
	}
	for _, path := range must.Get(filepath.Glob("*.go")) {
		for _, of := range regexp.MustCompile(`(?m)^func \((?:\w+ )?([A-Z]\w*)\) spec\(\)`).FindAllSubmatch(
			must.Get(os.ReadFile(path)), -1) {
			if name := string(of[1]); !known[name] || !held[name] {
				t.Errorf("%s: among Learners (learner.go) is %v, among learners or ways of the tests is %v", name,
					known[name], held[name])
			}
		}
	}
}

// silence is bits of which every normal variate is next to zero: words that grow by one, of which the first of a run is
// less than the second, and all are far below ½.
type silence struct {
	*noise.Seeded
	word uint64
}

func (s *silence) Uint64() uint64 {
	s.word++
	return s.word
}

// With no noise the private fit is the ordinary one at the same λ.
func TestNoNoiseEqualsNonPrivate(t *testing.T) {
	testscale.Slow(t)
	data := plain(t, 1200)
	quiet := &silence{Seeded: noise.NewSeeded(1)}
	const tolerance = 3e-10
	for _, l := range learners {
		if descends(l.name) {
			continue // TestQuantileWithoutNoise
		}
		for version, learner := range map[string]learn.Learner{"zero": l.zero, "set": l.set} {
			first, err := learn.Tuned(learner, 0, tolerance, quiet).Fit(data[l.from], learn.Simulate(1, 1e-6))
			if err != nil {
				t.Fatal(l.name, version, err)
			}
			lambda := first.Lambda()
			plain, err := learn.Tuned(learner, lambda, tolerance, nil).FitWithoutPrivacy(data[l.from])
			if err != nil {
				t.Fatal(l.name, version, err)
			}
			if d := floats.Distance(first.Theta(), plain.Theta(), 2); d > 1e-9 {
				t.Errorf("%s (%s), λ = %g: %.3g apart", l.name, version, lambda, d)
			}
			// The comparison can fail: at another λ, and with noise.
			other, err := learn.Tuned(learner, 1.01*lambda, tolerance, nil).FitWithoutPrivacy(data[l.from])
			if err != nil || floats.Distance(first.Theta(), other.Theta(), 2) < 1e-6 {
				t.Errorf("%s (%s): another λ gives the same fit (%v)", l.name, version, err)
			}
			noisy, err := learn.Tuned(learner, lambda, tolerance, noise.NewSeeded(1)).Fit(data[l.from],
				learn.Simulate(1, 1e-6))
			if err != nil || floats.Distance(noisy.Theta(), plain.Theta(), 2) < 1e-3 {
				t.Errorf("%s (%s): noise changes nothing (%v)", l.name, version, err)
			}
		}
	}
}

// λ is σ_G·max(4gR, s/2L), by public figures alone, g between ½ and 1 by the number of coefficients, and the noise is
// then little more than the Gaussian mechanism's; with another bound λ is the mechanism's.
func TestRidgeOfNumbersAndCounts(t *testing.T) {
	data := plain(t, 60)
	for name, c := range map[string]struct {
		learner learn.Learner
		from    string
		l, s    float64 // over R and R²
		most    float64
	}{
		"Linear":        {learn.Linear{}, "Regression", 0.5, 1, 1.1},
		"Linear, tight": {learn.Linear{Clip: 0.05}, "Regression", 0.05, 1, 1.7},
		"Huber":         {learn.Huber{}, "Regression", 0.25, 1, 1.4},
		"Poisson":       {learn.Poisson{}, "Counts", 5, 25, 1.5},
	} {
		for _, eps := range testscale.Some(8, 0.1) {
			m, err := learn.Tuned(c.learner, 0, 0, noise.NewSeeded(1)).Fit(data[c.from], learn.Simulate(eps, 1e-5))
			if err != nil {
				t.Fatal(name, err)
			}
			unit := must.Get(privacy.GaussianSigma(eps, 1e-5))
			const r = math.Sqrt2 // rows of norm 1 and the bias
			gauss := unit * r * c.l
			design := must.Get(data[c.from].Design())
			few := max(0.5, min(1, unit*float64(design.Width())/250))
			if want := gauss * math.Max(4*few*r, r*c.s/(2*c.l)); !(math.Abs(m.Lambda()/want-1) <= 1e-9) {
				t.Errorf("%s, ε = %g: λ = %v, want %v", name, eps, m.Lambda(), want)
			}
			if ratio := m.Release.NoiseScale / gauss; ratio < 1 || ratio > c.most {
				t.Errorf("%s, ε = %g: %.3f times the Gaussian mechanism's noise", name, eps, ratio)
			}
		}
	}
	a, err := learn.Linear{Bound: objective.DTZ24, Noise: learn.Seed(1)}.Fit(data["Regression"],
		learn.Simulate(1, 1e-5))
	if err != nil || !(math.Abs(a.Lambda()/2-4.174) <= 0.01) {
		t.Errorf("by dtz24 λ/s = %v (%v), want 4.174", a.Lambda()/2, err)
	}
}

// A plan of few records gives a greater λ, at the same noise; the records themselves have no part in it. Without a plan
// a count of them, which half a percent of noise pays for, takes its place.
func TestPlannedRecords(t *testing.T) {
	data := plain(t, 60)["Binary"]
	for name, learner := range map[string]func(records int) learn.Learner{
		"Logistic": func(n int) learn.Learner { return learn.Logistic{Records: n, Noise: learn.Seed(1)} },
		"SVM":      func(n int) learn.Learner { return learn.SVM{Records: n, Noise: learn.Seed(1)} },
	} {
		var lambda, sigma []float64
		for _, n := range []int{0, 1_000_000, 100} {
			m, err := learner(n).Fit(data, learn.Simulate(0.5, 1e-6))
			if err != nil {
				t.Fatal(name, err)
			}
			lambda, sigma = append(lambda, m.Lambda()), append(sigma, m.Release.NoiseScale)
			o, _ := m.ObjectivePerturbation()
			if n == 100 {
				if mean := math.Sqrt(lambda[1] * lambda[2]); !(math.Abs(o.Lambda/mean-1) <= 1e-6) {
					t.Errorf("%s: ridge %v of the intercept, want %v", name, o.Lambda, mean)
				}
			}
		}
		if lambda[2] < 4*lambda[1] || lambda[0] < 2*lambda[1] || !(math.Abs(sigma[2]/sigma[1]-1) <= 1e-6) ||
			!(math.Abs(sigma[0]/sigma[1]-1.005) <= 1e-3) {
			t.Errorf("%s: λ = %v, σ = %v without a plan, for a million and for a hundred", name, lambda, sigma)
		}
	}
}

// Without noise, ridge and clipping, Linear is ordinary least squares of the target in its own unit, as gonum's QR
// solves it.
func TestLinearIsLeastSquares(t *testing.T) {
	df := learn.Patients(600, 3).Drop("ill", "ward", "visits")
	data := learn.Regression(df, "pressure", learn.Uncentred())
	m := must.Get(learn.Tuned(learn.Linear{Clip: 50}, 1e-7, 1e-9, nil).FitWithoutPrivacy(data))
	got := must.Get(m.Predict(data))
	tab, _ := df.Table()
	column := func(name string) []float64 {
		c := must.Get(tab.Column(name))
		if c.Numbers != nil {
			return c.Numbers
		}
		v := make([]float64, len(c.Texts))
		for i, text := range c.Texts {
			if text == "yes" {
				v[i] = 1
			}
		}
		return v
	}
	age, weight, smoker, y := column("age"), column("weight"), column("smoker"), slices.Clone(column("pressure"))
	x := mat.NewDense(len(y), 4, nil)
	for i := range y {
		x.SetRow(i, []float64{1, age[i], weight[i], smoker[i]})
		y[i] = math.Max(80, math.Min(200, y[i])) // as the records have it
	}
	var beta, fitted mat.VecDense
	must.Do(beta.SolveVec(x, mat.NewVecDense(len(y), y)))
	fitted.MulVec(x, &beta)
	for i := range y {
		if !(math.Abs(got[i]-fitted.AtVec(i)) <= 1e-5) {
			t.Fatalf("patient %d: predicted %v, least squares %v", i, got[i], fitted.AtVec(i))
		}
	}
	if rmse, err := m.RMSE(data); err != nil || !(math.Abs(rmse-10) <= 1) {
		t.Errorf("RMSE %v (%v), the noise has 10", rmse, err)
	}
}

// Poisson finds the law that the invented visits follow.
func TestPoissonFindsTheLaw(t *testing.T) {
	data := learn.Counts(learn.Patients(20_000, 5).Drop("ill", "ward", "pressure"), "visits", learn.Uncentred())
	m := must.Get(learn.Poisson{Lambda: 1e-4, Clip: 20}.FitWithoutPrivacy(data))
	d, _ := data.Design()
	at := map[string]float64{}
	for j, name := range d.Features {
		at[name] = m.Theta()[j]
	}
	// Standard errors are about 0.02, 0.05 and 0.01.
	for name, c := range map[string]struct{ got, want, within float64 }{
		"age": {at["age"], 0.9, 0.1}, "weight": {at["weight"], 0, 0.2}, "smoker": {at["smoker=yes"] - at["smoker=no"],
			0.6, 0.05},
		"base": {at["bias"] + at["smoker=no"] + at["weight"]*35/110, 0.3, 0.08},
	} {
		if !(math.Abs(c.got-c.want) <= c.within) {
			t.Errorf("%s: %.3f, the law has %.3f", name, c.got, c.want)
		}
	}
	if dev, err := m.Deviance(data); err != nil || !(math.Abs(dev-1.1) <= 0.15) {
		t.Errorf("deviance %v (%v), about 1.1 for Poisson counts of such means", dev, err)
	}
}
