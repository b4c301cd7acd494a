package learn_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What a model shows are effects: single hats are in no table, and neither is the first level of a category.
func TestEffectsAreShown(t *testing.T) {
	people := learn.Patients(4000, 1).Drop("ward", "visits")
	m := must.Get(learn.Huber{Noise: learn.Seed(1)}.Fit(learn.Regression(people, "pressure"), learn.Simulate(4, 1e-6)))
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
	m := must.Get(learn.SVM{Noise: learn.Seed(1)}.Fit(learn.Binary(train, "ill"), learn.Simulate(8, 1e-6)))
	e := must.Get(m.Evaluate(test))
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
		data := learn.Binary(people, "ill", learn.RowNorm(1), learn.Lines())
		if change {
			d := must.Get(data.Design())
			rows := d.Rows.(*matrix.Dense)
			for j := range rows.Data[:rows.D] {
				rows.Data[j] *= 1e6
			}
			d.Labels[1] = -d.Labels[1]
		}
		m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6)))
		return m.Theta()
	}
	if changed, own := fit(true), fit(false); !slices.Equal(changed, own) {
		t.Errorf("the records of a fit are changed from outside: %v, want %v", changed, own)
	}
}

// Rows have hats from a noisy number of records on: two classes need half as many as several and as numbers do
// (docs/theory/geometry.md, section 5).
func TestFewRecordsHaveNoHats(t *testing.T) {
	const eps, delta, hats = 0.1, 1e-6, 8 * 4
	mu := must.Get(privacy.MuOf(eps, delta))
	for _, c := range []struct {
		name string
		gate float64
		fit  func(learn.DataFrame) (*learn.Model, error)
	}{
		{"two classes", 1, func(df learn.DataFrame) (*learn.Model, error) {
			return learn.SVM{Noise: learn.Seed(1)}.Fit(learn.Binary(df, "ill"), learn.Simulate(eps, delta))
		}},
		{"several", 2, func(df learn.DataFrame) (*learn.Model, error) {
			return learn.Softmax{Noise: learn.Seed(1)}.Fit(learn.Classes(df, "ward"), learn.Simulate(eps, delta))
		}},
	} {
		for factor, want := range map[float64]bool{0.55: false, 1.9: true} {
			m := must.Get(c.fit(learn.Patients(int(factor*c.gate*hats/mu), 1)))
			b, said := m.Release.Also.(*geometry.Bought), m.Display().Text()
			if b.Curved != want || strings.Contains(said, "Numbers are straight lines") == want {
				t.Errorf("%s, %g times the gate, n̂ = %.0f: hats %v\n%s", c.name, factor, b.Count, b.Curved, said)
			}
		}
	}
}

// What a program makes of the release that it is shown changes no prediction.
func TestWhatIsShownOfTheGeometryIsACopy(t *testing.T) {
	data := learn.Binary(learn.Patients(4000, 1).Drop("ward", "visits"), "ill", learn.Lines())
	m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6)))
	people := learn.Patients(50, 3)
	want := must.Get(m.Predict(people))
	b := m.Release.Also.(*geometry.Bought)
	b.Unit, b.Mean[0], b.Raw[1] = 7, 9, 1e3
	if got, err := m.Predict(people); err != nil || !slices.Equal(got, want) {
		t.Errorf("the model predicts otherwise (%v)", err)
	}
}
