package learn_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// sharing are the learners that can spend a part of the budget on the curvature.
func sharing(share float64, src noise.Source) map[string]learn.Learner {
	return map[string]learn.Learner{
		"Logistic": learn.Logistic{CurvatureShare: share, Noise: src}, "SVM": learn.SVM{CurvatureShare: share,
			Noise: src},
		"Linear": learn.Linear{CurvatureShare: share, Noise: src}, "Huber": learn.Huber{CurvatureShare: share,
			Noise: src},
		"Poisson": learn.Poisson{CurvatureShare: share, Noise: src},
	}
}

func madeFor(learner string) string {
	for _, l := range learners {
		if l.name == learner {
			return l.from
		}
	}
	return ""
}

// Coefficients and curvature together satisfy what was charged, once; the fit's noise is larger by the share; intervals
// are narrower for it.
func TestCurvatureIsPaidFor(t *testing.T) {
	data := plain(t, 3000)
	// Linear and Poisson go the way of Huber, whose profile takes seconds.
	for _, name := range []string{"Logistic", "SVM", "Huber"} {
		if name == "Huber" && !testscale.Full() {
			continue
		}
		learner, from := sharing(0.2, nil)[name], data[madeFor(name)]
		budget := fresh(1, 1e-5)
		m, err := learner.Fit(from, budget.Spend(0.7))
		if err != nil {
			t.Fatal(name, err)
		}
		s, err := budget.State()
		if err != nil || len(s.Entries) != 1 || s.SpentEpsilon != 0.7 || s.SpentDelta != 0.63e-5 ||
			!strings.HasSuffix(s.Entries[0].Mechanism, "with its curvature") {
			t.Errorf("%s: the ledger has %+v (%v)", name, s, err)
		}
		// Together as much as was charged, and the fit alone less.
		together := m.Release.Guarantee.Profile
		if d := privacy.DeltaUpper(together, 0.7); d > 0.63e-5 || d < 0.97*0.63e-5 {
			t.Errorf("%s: δ(0.7) = %g together", name, d)
		}
		o, ok := m.ObjectivePerturbation()
		if !ok {
			t.Fatal(name)
		}
		alone := must.Get(o.Profile())
		if d := privacy.DeltaUpper(alone, 0.7); d > 0.5*0.63e-5 {
			t.Errorf("%s: δ(0.7) = %g of the coefficients alone, nothing is left for the curvature", name, d)
		}
		k, ok := m.Curvature()
		if !ok || k.Hessian.SymmetricDim() != len(m.Theta()) {
			t.Fatalf("%s: no curvature", name)
		}
		// The claim is not below either part: the Gaussian mechanism of the curvature's μ composed with that of the
		// slopes', which a record reaches.
		mu := math.Hypot(o.Lipschitz()/o.Sigma, o.Smoothness()/k.HessianSigma)
		if low := math.Exp(privacy.GaussianProfile(mu, privacy.AddRemove).LogDeltaUpper(privacy.Remove,
			0.7)); privacy.DeltaUpper(together, 0.7) < low*(1-1e-9) {
			t.Errorf("%s: claims δ = %g, the Gaussian parts alone have %g", name, privacy.DeltaUpper(together, 0.7),
				low)
		}
		// Another share, asked for after it, is another mechanism.
		less, err := sharing(0.1, nil)[name].Fit(from, fresh(1, 1e-5).Spend(0.7))
		if err != nil {
			t.Fatal(name, err)
		}
		for want, m := range map[float64]*learn.Model{0.2: m, 0.1: less} {
			o, _ := m.ObjectivePerturbation()
			k, _ := m.Curvature()
			part := o.Smoothness() / k.HessianSigma
			if got := part * part / (part*part + math.Pow(o.Lipschitz()/o.Sigma, 2)); !(math.Abs(got/want-1) <= 0.25) {
				t.Errorf("%s: the curvature has %.3f of μ², want %v", name, got, want)
			}
		}
		if iv, err := m.Intervals(0.95); err != nil || iv.Proved {
			t.Errorf("%s: %v (%v)", name, iv, err)
		}
		// How wide they are depends on the noise.
		width := func(share float64) float64 {
			m := must.Get(sharing(share, learn.Seed(1))[name].Fit(from, learn.Simulate(0.7, 1e-5)))
			iv, err := m.Intervals(0.95)
			if err != nil {
				t.Fatal(name, err)
			}
			return iv.Width()
		}
		if narrow, wide := width(0.2), width(0); narrow > 0.9*wide {
			t.Errorf("%s: %v wide, without a share %v", name, narrow, wide)
		}
		text := m.Display()
		if !strings.Contains(fmt.Sprint(text.Details), "curvature with noise of") ||
			!strings.Contains(m.Release.Guarantee.Bound, "together") {
			t.Errorf("%s is shown without its curvature: %+v", name, text)
		}
	}
}

// Intervals cover the fit without noise as often as they say.
func TestIntervalsCover(t *testing.T) {
	testscale.InTurn(t)
	data := learn.Binary(learn.Patients(4000, 5).Drop("ward", "visits", "pressure"), "ill",
		learn.Uncentred(), learn.RowNorm(1))
	const reps, level = 40, 0.8
	for _, name := range []string{"Logistic", "SVM"} {
		for _, share := range []float64{0, 0.1} {
			counts := map[string]int{}
			widths := map[string]float64{}
			total := 0
			var truth *learn.Model
			for seed := range reps {
				m := must.Get(sharing(share, learn.Seed(uint64(seed)))[name].Fit(data, learn.Simulate(4, 1e-5)))
				if truth == nil { // λ is the same for all
					truth = must.Get(learn.Tuned(sharing(0, nil)[name], m.Lambda(), 1e-7,
						nil).FitWithoutPrivacy(data))
				}
				for kind, f := range map[string]func(float64) (*learn.Intervals, error){"usual": m.Intervals,
					"proved": m.ProvedIntervals} {
					iv := must.Get(f(level))
					if kind == "proved" && !iv.Proved {
						t.Errorf("%s: %s", name, iv.Basis)
					}
					widths[kind] += iv.Width() / reps
					for j, v := range truth.Theta() {
						if iv.Lower[j] <= v && v <= iv.Upper[j] {
							counts[kind]++
						}
					}
				}
				total += len(truth.Theta())
			}
			for kind, n := range counts {
				if got := float64(n) / float64(total); got < level-0.08 {
					t.Errorf("%s, share %v: %s intervals cover %.2f", name, share, kind, got)
				}
			}
			if share > 0 && widths["usual"] > 0.5*widths["proved"] || share == 0 &&
				widths["usual"] != widths["proved"] {
				t.Errorf("%s, share %v: widths %v", name, share, widths)
			}
		}
	}
}

// Private intervals for the population are no narrower than those of least squares without privacy, whose standard
// error is σ/√n over the standard deviation of a column, of residuals of standard deviation σ.
func TestPopulationIntervalsAreNoNarrowerThanWithoutPrivacy(t *testing.T) {
	testscale.Slow(t)
	const n, sigma = 8000, 400.0
	rng := noise.NewSeeded(1)
	age, pay := make([]float64, n), make([]float64, n)
	for i := range age {
		u := rng.Float64()
		age[i], pay[i] = 18+47*u, 2500+940*u+sigma*rng.NormFloat64()
	}
	data := learn.Regression(learn.FromTable(must.Get(frame.NewTable(frame.Column{Name: "age", Numbers: age},
		frame.Column{Name: "pay", Numbers: pay}))).WithSchema(learn.Numeric("age", 18, 65),
		learn.Numeric("pay", 500, 6500)), "pay", learn.Lines(), learn.InUnits())
	least := 2 * 1.96 * sigma / 3000 / math.Sqrt(n/12.)
	for seed := range 4 {
		src := noise.NewSeeded(uint64(seed))
		for name, l := range map[string]learn.Learner{"Linear": learn.Linear{CurvatureShare: 0.05, Noise: src},
			"Huber": learn.Huber{CurvatureShare: 0.05, Noise: src}} {
			iv := must.Get(must.Get(l.Fit(data, learn.Simulate(2, 1e-6))).PopulationIntervals(0.95))
			if width := iv.Upper[0] - iv.Lower[0]; !(width >= 0.97*least) || !(width <= 2*least) {
				t.Errorf("%s, seed %d: ± %.4f, without privacy %.4f", name, seed, width/2, least/2)
			}
		}
	}
}

// The population's coefficients, of Logistic alone.
func TestPopulationIntervals(t *testing.T) {
	few := learn.Binary(learn.Patients(20_000, 5).Drop("ward", "visits", "pressure", "smoker"), "ill", learn.NoBias())
	m := must.Get(learn.Logistic{CurvatureShare: 0.2, Noise: learn.Seed(1)}.Fit(few, learn.Simulate(4, 1e-5)))
	iv, err := m.PopulationIntervals(0.9)
	if err != nil || iv.Proved || !(iv.Width() > 0) || math.IsInf(iv.Width(), 1) || !strings.Contains(iv.Covers,
		"population") {
		t.Errorf("%+v, %v", iv, err)
	}
	m = must.Get(learn.SVM{CurvatureShare: 0.1, Noise: learn.Seed(1)}.Fit(few, learn.Simulate(1, 1e-5)))
	if _, err := m.PopulationIntervals(0.9); err == nil || !strings.Contains(err.Error(), "only Logistic") {
		t.Errorf("SVM: %v", err)
	}
}

// What has no intervals says why.
func TestIntervalsAreRefused(t *testing.T) {
	data := kinds(t, 200)
	for name, c := range map[string]struct {
		fit  func() (*learn.Model, error)
		want string
	}{
		"without privacy": {func() (*learn.Model, error) {
			return learn.Logistic{CurvatureShare: 0.1}.FitWithoutPrivacy(data["Binary"])
		}, "no noise"},
		"output perturbation": {func() (*learn.Model, error) {
			return learn.AllMechanisms[5].Fit(data["Binary"], learn.Simulate(1, 1e-5), learn.Seed(1))
		}, "objective perturbation"},
	} {
		m, err := c.fit()
		if err != nil {
			t.Fatal(name, err)
		}
		for kind, f := range map[string]func(float64) (*learn.Intervals, error){"": m.Intervals,
			"proved": m.ProvedIntervals, "population": m.PopulationIntervals} {
			if iv, err := f(0.95); err == nil || iv != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %s: %v, want it to mention %q", name, kind, err, c.want)
			}
		}
		if df, err := m.CoefficientsWithIntervals(0.95); err == nil || df.Err == nil {
			t.Errorf("%s: a dataframe with intervals", name)
		}
	}
	m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(data["Binary"], learn.Simulate(1, 1e-5)))
	if _, err := m.PopulationIntervals(0.9); err == nil || !strings.Contains(err.Error(), "CurvatureShare") {
		t.Errorf("the population without a curvature: %v", err)
	}
	for _, level := range []float64{0, 1, -1, 95, math.NaN()} {
		if _, err := m.Intervals(level); err == nil || !strings.Contains(err.Error(), "Level") {
			t.Errorf("level %v: %v", level, err)
		}
	}
}

// The table has the words, the dataframe the columns; both are of released figures alone.
func TestIntervalsAreShown(t *testing.T) {
	testscale.Slow(t)
	data := plain(t, 500)["Binary"]
	m := must.Get(learn.Logistic{Noise: learn.Seed(3)}.Fit(data, learn.Simulate(1, 1e-5)))
	iv := must.Get(m.Intervals(0.95))
	df, err := m.CoefficientsWithIntervals(0.95)
	if err != nil || !slices.Equal(df.Names(), []string{"feature", "coefficient", "lower", "upper"}) ||
		df.Nrow() != len(m.Theta()) {
		t.Fatalf("%v, %v", df, err)
	}
	for j, v := range m.Theta() {
		if df.Col("coefficient").Float()[j] != v || df.Col("lower").Float()[j] != iv.Lower[j] ||
			df.Col("upper").Float()[j] != iv.Upper[j] || !(iv.Lower[j] < v && v < iv.Upper[j]) {
			t.Errorf("coefficient %d: %v in [%v, %v]", j, v, iv.Lower[j], iv.Upper[j])
		}
	}
	var out bytes.Buffer
	display.Out = &out
	defer func() { display.Out = nil }()
	learn.Show(iv, df, iv.DataFrame())
	says(t, out.String(), "level 0.95", iv.Covers, iv.Basis, "SIMULATION", "lower", "upper", "smoker=yes",
		"proved for every dataset", "CurvatureShare")
	if strings.Contains(out.String(), "RAW RECORDS") {
		t.Errorf("released figures are taken for records:\n%s", out.String())
	}
	out.Reset()
	for _, l := range []learn.Learner{learn.Softmax{Noise: learn.Seed(1)}, learn.OneVsRest{Noise: learn.Seed(1)}} {
		m := must.Get(l.Fit(plain(t, 500)["Classes"], learn.Simulate(1, 1e-5)))
		iv, err := m.ProvedIntervals(0.9)
		df, err2 := m.CoefficientsWithIntervals(0.9)
		if err != nil || err2 != nil || df.Nrow() != len(m.Theta()) || df.Names()[0] != "class" || !iv.Proved {
			t.Fatalf("%v, %v, %v", df, err, err2)
		}
		learn.Show(iv, df)
		if _, err := m.PopulationIntervals(0.9); err == nil {
			t.Error("intervals for the population of several classes")
		}
	}
	if text := out.String(); !strings.Contains(text, "lungs") || strings.Contains(text, "RAW RECORDS") ||
		strings.Contains(text, "CurvatureShare") {
		t.Errorf("several classes:\n%s", text)
	}
	// Any bound that was chosen, and any learner: intervals are of the same noise.
	for _, b := range []objective.Bound{objective.DTZ24, objective.Tight, objective.RKW23} {
		m := must.Get(learn.Logistic{Lambda: 20, Bound: b, CurvatureShare: 0.1, Noise: learn.Seed(3)}.Fit(data,
			learn.Simulate(1, 1e-5)))
		if iv, err := m.Intervals(0.9); err != nil || !(iv.Width() > 0) {
			t.Errorf("%v: %v", b, err)
		}
	}
}

// A λ with which fits of few records do not come to an end is refused without a charge, with a plan of few or without;
// with a plan of many it is had.
func TestHopelessPlanIsRefused(t *testing.T) {
	for rows, c := range map[int]struct {
		lambda float64
		plans  map[int]bool
	}{
		50:   {1.531e-7, map[int]bool{0: false, 50: false}},
		3000: {1e-6, map[int]bool{0: false, 30: false, 3000: true}},
	} {
		data := kinds(t, rows)["Binary"]
		for records, good := range c.plans {
			budget := fresh(20, 1e-5)
			_, err := learn.Logistic{Lambda: c.lambda, Records: records, Noise: learn.Seed(1)}.Fit(data,
				budget.Spend(15))
			e, _ := spent(t, budget)
			if (err == nil) != good || (e > 0) != good || !good && !strings.Contains(err.Error(), "Lambda") {
				t.Errorf("%d records planned: spent %v, %v", records, e, err)
			}
		}
	}
}

// DP-SGD as it is compared knows the number of records: it must not be released.
func TestComparedDescentIsNotForReleases(t *testing.T) {
	data := kinds(t, 50)["Binary"]
	for _, m := range learn.AllMechanisms {
		if !strings.HasPrefix(m.Name(), "DP-SGD") {
			continue
		}
		budget := fresh(1, 1e-5)
		if _, err := m.Fit(data, budget.Spend(0.5), noise.NewSecure()); err == nil || !strings.Contains(err.Error(),
			"private number of records") {
			t.Errorf("%s: %v", m.Name(), err)
		}
		if e, _ := spent(t, budget); e != 0 {
			t.Errorf("%s: spent %v", m.Name(), e)
		}
		return
	}
	t.Error("no DP-SGD among the mechanisms")
}

// No mechanism is shown with a certificate or a figure that it does not have.
func TestShownFiguresAreFinite(t *testing.T) {
	testscale.Slow(t)
	data := kinds(t, 200)
	for _, m := range learn.AllMechanisms {
		for name, d := range data {
			model, err := m.Fit(d, learn.Simulate(1, 1e-5), learn.Seed(1))
			if err != nil {
				continue // of another task
			}
			notes := fmt.Sprint(model.Display().Details)
			if strings.Contains(notes, "Inf") || strings.Contains(notes, "τ = 0 ") ||
				strings.Contains(notes, "σ/λ =") != (strings.Contains(model.Release.Mechanism, "objective") &&
					!strings.Contains(model.Release.Mechanism, "after a count")) {
				t.Errorf("%s, %s: %s", m.Name(), name, notes)
			}
		}
	}
}

// Where intervals for the population are no better than what is known without looking, a model, its card and the
// intervals say so, by what was released; where they are better nothing does.
func TestAShareThatBuysNothingIsSaid(t *testing.T) {
	testscale.Slow(t)
	r := rand.New(rand.NewPCG(1, 2))
	var rows strings.Builder
	rows.WriteString("a,b,y,c\n")
	for range 8000 {
		x := r.NormFloat64()
		z := 0.95*x + 0.31*r.NormFloat64()
		fmt.Fprintf(&rows, "%.4f,%.4f,%.4f,%d\n", 50+10*x, 50+10*z, 100+10*(x+0.5*z+r.NormFloat64()), r.IntN(5))
	}
	path := filepath.Join(t.TempDir(), "people.csv")
	must.Do(os.WriteFile(path, []byte(rows.String()), 0o600))
	df := learn.ReadCSV(path).WithSchema(learn.Numeric("a", 0, 100), learn.Numeric("b", 0, 100),
		learn.Numeric("y", 0, 200), learn.Numeric("c", 0, 20))
	number := learn.Regression(df.Drop("c"), "y", learn.InUnits())
	for _, c := range []struct {
		l           learn.Learner
		data        *learn.Dataset
		epsilon     float64
		known, most float64
	}{
		{learn.Quantile{CurvatureShare: 0.2}, number, 1, 2, 2}, {learn.Quantile{CurvatureShare: 0.2}, number, 8, 2, 0},
		{learn.Huber{CurvatureShare: 0.05}, number, 1, 2, 0},
		{learn.Poisson{CurvatureShare: 0.05}, learn.Counts(df.Drop("y"), "c"), 0.5, math.Log(21), 2},
	} {
		m := must.Get(learn.Tuned(c.l, 0, 0, learn.Seed(1)).Fit(c.data, learn.Simulate(c.epsilon, 1e-6)))
		iv := must.Get(m.PopulationIntervals(0.95))
		wide := 0.0
		for j, lower := range iv.Lower {
			if iv.Upper[j]-lower >= 2*c.known {
				wide++
			}
		}
		if wide != c.most {
			t.Errorf("%T at ε = %g: %g are wide", c.l, c.epsilon, wide)
		}
		says := fmt.Sprintf("The share for intervals buys nothing for %g of 3 effects: ", wide)
		for _, text := range []string{m.Display().Text(), iv.Display().Text(), string(must.Get(m.Card()))} {
			if strings.Contains(text, says) != (wide > 0) || strings.Contains(text, "no intervals without") {
				t.Errorf("%T at ε = %g: %s", c.l, c.epsilon, text)
			}
		}
		if same := must.Get(m.Intervals(0.95)).Display().Text(); strings.Contains(same, "buys nothing") {
			t.Errorf("%T, of the same fit: %s", c.l, same)
		}
	}
}
