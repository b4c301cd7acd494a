package learn_test

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// way is a way to fit, with a budget of which δ is the second number.
type way struct {
	name  string
	l     learn.Learner
	data  *learn.Dataset
	delta float64
}

// ways are all learners with and without other settings, of rows that are centred and of rows as they are, with curves
// and of too few records for them, with a curvature, without a δ and for a record that is replaced.
func ways(t *testing.T) (all []way) {
	t.Helper()
	const usual = 1e-5
	data := kinds(t, 300)
	for _, l := range learners {
		all = append(all, way{l.name, l.zero, data[l.from], usual}, way{l.name + " set", l.set, data[l.from], usual})
	}
	for name, l := range sharing(0.2, nil) {
		if name == "Logistic" || testscale.Full() { // others take seconds to calibrate
			all = append(all, way{name + " with its curvature", l, data[madeFor(name)], usual})
		}
	}
	for _, l := range []learn.HeavyTails{{}, {Records: 300, Loss: learn.PinballLoss, Tau: 0.9},
		{Records: 300, Method: learn.ByOutput, Loss: learn.HuberLoss},
		{Records: 300, Method: learn.ByLocalisation, Phases: 2}} {
		all = append(all, way{"HeavyTails", l, data["Regression"], 0})
	}
	many := learn.Patients(4000, 1).Drop("ward", "visits")
	plain := learn.Regression(learn.Patients(300, 1), "pressure", learn.RowNorm(1))
	return append(all,
		way{"SVM of curves", learn.SVM{CurvatureShare: 0.2}, learn.Binary(many, "ill"), usual},
		way{"Logistic of lines", learn.Logistic{}, learn.Binary(many, "ill", learn.Lines()), usual},
		way{"Huber of curves", learn.Huber{}, learn.Regression(many, "pressure"), usual},
		way{"Huber of few", learn.Huber{}, learn.Regression(learn.Patients(30, 2), "pressure"), usual},
		way{"SVM, pure", learn.SVM{Pure: true}, learn.Binary(many, "ill"), 0},
		way{"Median, pure", learn.Median{Pure: true}, learn.Regression(many, "pressure"), 0},
		way{"Quantiles of lines", learn.Quantiles{CurvatureShare: 0.2, Levels: []float64{0.25, 0.5}},
			learn.Regression(many, "pressure"), usual},
		way{"Quantile, smoothed", learn.Quantile{Tau: 0.9, Smooth: 0.1}, learn.Regression(many, "pressure"), usual},
		way{"Median, replaced", learn.Median{ReplaceOne: true}, plain, usual},
		way{"Linear, fixed", learn.Linear{Lambda: 300}, data["Regression"], usual},
		way{"Logistic, fixed, with its curvature", learn.Logistic{Lambda: 5, CurvatureShare: 0.2}, data["Binary"],
			usual},
		way{"Huber, fixed, with its curvature", learn.Huber{Threshold: 0.3, CurvatureShare: 0.2}, data["Regression"],
			usual},
		way{"Quadratic", learn.Quadratic{Interpolation: learn.AssumeInterpolation(planted, 0.1)}, interpolating(t, 300),
			usual},
		way{"Tune", learn.Tune{Learners: []learn.Learner{learn.Logistic{}, learn.SVM{}}}, data["Binary"], usual},
	)
}

// Every release is charged for once, has the guarantee that it was charged for and hardly a better one, says so in its
// display and in its card, and is the same model when it was kept: to the last bit of its coefficients, predictions and
// intervals, in its words, and in its guarantee at another ε. Under its name it is had again for nothing.
func TestEveryReleaseKeepsItsContract(t *testing.T) {
	testscale.Slow(t)
	const epsilon = 0.7
	for _, w := range ways(t) {
		budget := fresh(1, w.delta)
		m, err := learn.FitOnce("model", w.l, w.data, budget.Spend(epsilon).For("a|b"))
		if err != nil {
			t.Errorf("%s: %v", w.name, err)
			continue
		}
		s, err := budget.State()
		if err != nil || len(s.Entries) != 1 || !(math.Abs(s.SpentEpsilon-epsilon) <= 1e-9) ||
			!strings.HasPrefix(s.Entries[0].Mechanism, m.Release.Fitted.Describe().Name[:9]) {
			t.Errorf("%s: the ledger has %+v (%v)", w.name, s, err)
		}
		g, tight := m.Release.Guarantee, slices.Contains([]string{"Linear", "Huber",
			"Poisson"}, strings.Fields(w.name)[0])
		charged := s.Entries[0].Delta
		if d := privacy.DeltaUpper(g.Profile, epsilon); g.Epsilon != epsilon || g.Delta != charged || d > charged ||
			d < 0.9*charged && w.name != "Tune" {
			t.Errorf("%s: δ(0.7) = %g, want %g or little less; said: %v, %v", w.name, d, charged, g.Epsilon, g.Delta)
		}
		it := m.Display()
		if !strings.Contains(it.Title, "Private") || !strings.Contains(strings.Join(it.Notes, " "),
			"Guarantee: (ε = 0.7") ||
			(it.Warning != "") != (w.name == "Quadratic") || m.Coefficients().Nrow() != len(m.Theta()) {
			t.Errorf("%s is shown as %+v", w.name, it)
		}
		if o, ok := m.ObjectivePerturbation(); ok && (o.Sigma != m.Release.NoiseScale && o.OutputSigma == 0) {
			t.Errorf("%s: mechanism %+v", w.name, o)
		}
		again, err := learn.FitOnce("model", w.l, w.data, budget.Spend(epsilon).For("a|b"))
		if err != nil {
			t.Errorf("%s: %v", w.name, err)
			continue
		}
		sameModel(t, w, m, again)
		back := kept(t, m)
		x, y := privacy.DeltaUpper(g.Profile, 0.5), 0.0
		if !tight || testscale.Full() { // the tight profile takes seconds
			if y = privacy.DeltaUpper(back.Release.Guarantee.Profile, 0.5); x != y {
				t.Errorf("%s: δ(0.5) = %g, and was %g", w.name, y, x)
			}
		}
		sameModel(t, w, m, back)
		if s, _ := budget.State(); len(s.Entries) != 1 {
			t.Errorf("%s: charged again", w.name)
		}
		cardOf(t, w, m, back)
	}
}

// sameModel compares a model with what it was kept as.
func sameModel(t *testing.T, w way, m, back *learn.Model) {
	t.Helper()
	if !sameBits(m.Theta(), back.Theta()) || m.Lambda() != back.Lambda() || m.Release.Guarantee.Adjacency !=
		back.Release.Guarantee.Adjacency || !reflect.DeepEqual(m.Release.Guarantee.Assumptions,
		back.Release.Guarantee.Assumptions) {
		t.Errorf("%s: other coefficients, λ or words", w.name)
	}
	if a, b := m.Display(), back.Display(); a.Title != b.Title || !reflect.DeepEqual(a.Rows, b.Rows) ||
		a.Warning != b.Warning {
		t.Errorf("%s: shown as\n%v\nand was\n%v", w.name, b.Text(), a.Text())
	}
	if a, b := m.Release.Fitted, back.Release.Fitted; a.Describe().Name != b.Describe().Name ||
		reflect.TypeOf(a) != reflect.TypeOf(b) {
		t.Errorf("%s: fitted by %#v\nand was by %#v", w.name, b, a)
	}
	a, err := m.Intervals(0.9)
	if b, e := back.Intervals(0.9); (err == nil) != (e == nil) {
		t.Errorf("%s: intervals %v, and were %v", w.name, e, err)
	} else if err == nil && !(sameBits(a.Lower, b.Lower) && sameBits(a.Upper, b.Upper)) {
		t.Errorf("%s: other intervals", w.name)
	}
	if p, q := m.PredictFrame(w.data).Records(), back.PredictFrame(w.data).Records(); !reflect.DeepEqual(p, q) {
		t.Errorf("%s: other predictions", w.name)
	}
}

// cardOf sees that a card says what was released and what is public, and names a call that works; a model that was kept
// has the same one.
func cardOf(t *testing.T, w way, m, back *learn.Model) {
	t.Helper()
	card, err := m.Card()
	if err != nil {
		t.Errorf("%s: %v", w.name, err)
		return
	}
	for _, want := range []string{"# Private ", "## Data", "## How it was fitted", "## What it promises", "ε = 0.7",
		"any one record", "## What it cost", `“a\|b”`, "## Coefficients", "| bias |", "## Limits",
		"## How to predict"} {
		if !strings.Contains(string(card), want) {
			t.Errorf("%s: %q is not in\n%s", w.name, want, card)
		}
	}
	rows := 0
	for line := range strings.Lines(string(card)) {
		if strings.Contains(line, "| bias |") {
			rows++
		}
	}
	if names := m.Coefficients().Col("feature").Records(); len(names) != rows*len(names[:slices.Index(names,
		"bias")+1]) {
		t.Errorf("%s: %d rows of the bias, of %d coefficients", w.name, rows, len(names))
	}
	if again, err := back.Card(); err != nil || again != card {
		t.Errorf("%s: another card after it was kept (%v)", w.name, err)
	}
	if w.name == "Quadratic" {
		return // of columns of its own
	}
	people, path := learn.Patients(20, 1), filepath.Join(t.TempDir(), "predicted.csv")
	err = m.PredictCSV(path, people)
	if text, e := os.ReadFile(path); err != nil || e != nil || strings.Count(string(text), "\n") != 21 {
		t.Errorf("%s: predictions\n%s (%v, %v)", w.name, text, err, e)
	}
	calls := map[string]func() error{
		"Predict(":          func() error { _, err := m.Predict(people); return err },
		"PredictClass(":     func() error { _, err := m.PredictClass(people); return err },
		"PredictQuantiles(": func() error { _, err := m.PredictQuantiles(people); return err },
	}
	named := 0
	for name, call := range calls {
		if strings.Contains(string(card), "model."+name) {
			if named++; call() != nil {
				t.Errorf("%s: the card names %s: %v", w.name, name, call())
			}
		}
	}
	if named != 1 {
		t.Errorf("%s: the card names %d calls", w.name, named)
	}
}
