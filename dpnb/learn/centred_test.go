package learn_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
)

// centredFits are fits of centred rows: with curves and without, with the curvature, and of so few records that the
// curves are left out.
func centredFits(t *testing.T) map[string]struct {
	learner learn.Learner
	data    *learn.Dataset
} {
	t.Helper()
	many, few := learn.Patients(4000, 1).Drop("ward", "visits"), learn.Patients(60, 2).Drop("ward", "visits")
	type fit = struct {
		learner learn.Learner
		data    *learn.Dataset
	}
	s := learn.Seed(1)
	return map[string]fit{
		"SVM, curves":       {learn.SVM{Noise: s, CurvatureShare: 0.2}, learn.Binary(many, "ill")},
		"Logistic, lines":   {learn.Logistic{Noise: s}, learn.Binary(many, "ill", learn.Lines())},
		"Huber, curves":     {learn.Huber{Noise: s}, learn.Regression(many, "pressure")},
		"Huber, few":        {learn.Huber{Noise: s, CurvatureShare: 0.1}, learn.Regression(few, "pressure")},
		"Linear, curves":    {learn.Linear{Noise: s}, learn.Regression(many, "pressure")},
		"SVM, pure":         {learn.SVM{Noise: s, Pure: true}, learn.Binary(many, "ill")},
		"Median, pure":      {learn.Median{Noise: s, Pure: true}, learn.Regression(many, "pressure")},
		"Linear, few, pure": {learn.Linear{Noise: s, Pure: true}, learn.Regression(few, "pressure")},
		"Quantiles, lines": {learn.Quantiles{Noise: s, CurvatureShare: 0.2, Levels: []float64{0.25, 0.5}},
			learn.Regression(many, "pressure")},
		"Linear, no budget": {learn.Linear{Noise: s, Lambda: 3}, learn.Regression(many, "pressure")},
	}
}

// A model of centred rows that is kept predicts the same to the last bit, shows the same and has the same intervals.
func TestCentredModelsAreKept(t *testing.T) {
	for name, f := range centredFits(t) {
		m, err := f.learner.Fit(f.data, learn.Simulate(1, 1e-6))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		path := filepath.Join(t.TempDir(), "model.json")
		if err := m.Save(path); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := learn.Load(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		people := learn.Patients(500, 3)
		if got, want := again.PredictFrame(people), m.PredictFrame(people); want.Err != nil ||
			!slices.EqualFunc(got.Records(), want.Records(), slices.Equal[[]string]) {
			t.Errorf("%s: predicts otherwise when it was kept (%v)", name, want.Err)
		}
		if got, want := again.Display().Text(), m.Display().Text(); got != want {
			t.Errorf("%s: is shown as\n%s\nwant\n%s", name, got, want)
		}
		iv, err := m.Intervals(0.9)
		if m.Release.Guarantee.Delta == 0 {
			if err == nil || !strings.Contains(err.Error(), "intervals are for objective perturbation") {
				t.Errorf("%s: intervals of a fit without a δ: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		kept, err := again.Intervals(0.9)
		if err != nil || !slices.Equal(kept.Lower, iv.Lower) || !slices.Equal(kept.Upper, iv.Upper) ||
			len(iv.Lower) != len(m.Theta()) {
			t.Errorf("%s: other intervals (%v)", name, err)
		}
	}
}

// What a model shows are effects: single hats are in no table, and neither is the first level of a category.
func TestEffectsAreShown(t *testing.T) {
	f := centredFits(t)["Huber, curves"]
	m, err := f.learner.Fit(f.data, learn.Simulate(4, 1e-6))
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]float64{}
	c := m.Coefficients()
	names, values := c.Col("feature").Records(), c.Col("coefficient").Float()
	for i, n := range names {
		at[n] = values[i]
	}
	for _, n := range names {
		if strings.Contains(n, "~") || n == "smoker=no" || n == "ill=no" {
			t.Errorf("%q is shown", n)
		}
	}
	// Pressure rises with age and weight, and with smoking: an effect is the difference of predictions, but for the
	// norm of the row.
	if !(at["age: 18 → 90"] > 0.1 && at["smoker=yes"] > 0) || len(names) != 5 {
		t.Errorf("%v", at)
	}
}

// The probabilities of a support vector machine are those of its loss: half where it is undecided, and near the shares
// that are seen.
func TestProbabilitiesOfAMachine(t *testing.T) {
	train, test := learn.Patients(8000, 1).Drop("ward", "visits"), learn.Patients(8000, 2)
	m, err := learn.SVM{Noise: learn.Seed(1)}.Fit(learn.Binary(train, "ill"), learn.Simulate(8, 1e-6))
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Evaluate(test)
	if err != nil {
		t.Fatal(err)
	}
	var off float64
	for _, b := range e.Calibration {
		if b.Count > 0 {
			off += math.Abs(b.Observed-b.Predicted) * float64(b.Count) / 8000
		}
	}
	if off > 0.04 {
		t.Errorf("probabilities are off by %.3f in the mean", off)
	}
}

// Hats change nothing for a learner that does not buy the geometry: it sees straight lines.
func TestOthersSeeLines(t *testing.T) {
	people := learn.Patients(500, 1).Drop("ward", "visits")
	for name, l := range map[string]func() learn.Learner{
		"pure":   func() learn.Learner { return learn.Linear{Pure: true, Lambda: 50, Noise: learn.Seed(1)} },
		"radius": func() learn.Learner { return learn.Median{Pure: true, Radius: 3, Noise: learn.Seed(1)} },
		"median": func() learn.Learner { return learn.Median{Radius: 4, Noise: learn.Seed(1)} },
		"curvature": func() learn.Learner {
			return learn.Median{CurvatureShare: 0.2, Noise: learn.Seed(1)}
		},
		"fixed": func() learn.Learner { return learn.Huber{Lambda: 2, Noise: learn.Seed(1)} },
	} {
		curved, err := l().Fit(learn.Regression(people, "pressure"), learn.Simulate(1, 1e-6))
		if err != nil {
			t.Fatal(name, err)
		}
		lines, err := l().Fit(learn.Regression(people, "pressure", learn.Lines()), learn.Simulate(1, 1e-6))
		if err != nil {
			t.Fatal(name, err)
		}
		if !slices.Equal(curved.Theta(), lines.Theta()) {
			t.Errorf("%s: %v, want %v", name, curved.Theta(), lines.Theta())
		}
	}
}

// Who is given the records of a fit cannot change them: they are checked before it is paid for.
func TestRecordsOfAFitAreItsOwn(t *testing.T) {
	people := learn.Patients(400, 1).Drop("ward", "visits")
	fit := func(change bool) []float64 {
		data := learn.Binary(people, "ill", learn.RowNorm(1))
		if change {
			d, err := data.Design()
			if err != nil {
				t.Fatal(err)
			}
			rows := d.Rows.(*matrix.Dense)
			for j := range rows.Data[:rows.D] {
				rows.Data[j] *= 1e6
			}
			d.Labels[1] = -d.Labels[1]
		}
		m, err := learn.Logistic{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6))
		if err != nil {
			t.Fatal(err)
		}
		return m.Theta()
	}
	if changed, own := fit(true), fit(false); !slices.Equal(changed, own) {
		t.Errorf("the records of a fit are changed from outside: %v, want %v", changed, own)
	}
}

// What a program makes of the release that it is shown changes no prediction.
func TestWhatIsShownOfTheGeometryIsACopy(t *testing.T) {
	f := centredFits(t)["Logistic, lines"]
	m, err := f.learner.Fit(f.data, learn.Simulate(1, 1e-6))
	if err != nil {
		t.Fatal(err)
	}
	people := learn.Patients(50, 3)
	want, err := m.Predict(people)
	if err != nil {
		t.Fatal(err)
	}
	b := m.Release.Also.(*geometry.Bought)
	b.Unit, b.Mean[0], b.Raw[1] = 7, 9, 1e3
	if got, err := m.Predict(people); err != nil || !slices.Equal(got, want) {
		t.Errorf("the model predicts otherwise (%v)", err)
	}
}
