package learn_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// The losses of a model are those of what it predicts: of classes whether it is wrong, of numbers and counts by how
// much, up to half the width of the bounds; outcomes say which class a record is of, and which was predicted, with its
// odds. One that is calibrated predicts by its calibration.
func TestLossesAreOfPredictions(t *testing.T) {
	const rows = 300
	table := must.Get(learn.Patients(rows, 11).Table())
	data := plain(t, rows)
	column := func(name string) func(i int) (text string, number float64) {
		c := must.Get(table.Column(name))
		return func(i int) (string, float64) { return c.Text(i), c.Number(i) }
	}
	for _, c := range []struct {
		from, target  string
		learner       learn.Learner
		lower, upper  float64
		classes, odds bool
		intercept     float64 // of a calibration, 0 for none
	}{
		{"Binary", "ill", learn.Logistic{}, 0, 0, true, true, 0}, {"Binary", "ill", learn.SVM{}, 0, 0, true, false, 0},
		{"Binary", "ill", learn.Logistic{}, 0, 0, true, true, 0.5},
		{"Classes", "ward", learn.Softmax{}, 0, 0, true, false, 0},
		{"Regression", "pressure", learn.Linear{}, 80, 200, false, false, 0},
		{"Counts", "visits", learn.Poisson{}, 0, 20, false, false, 0},
	} {
		m := must.Get(learn.Tuned(c.learner, 0, 0, noise.NewSeeded(3)).Fit(data[c.from], learn.Simulate(3, 1e-5)))
		if c.intercept != 0 {
			m = must.Get(m.Calibrated(0.5, c.intercept, "a curve.", ""))
		}
		if _, err := m.Losses(false); err == nil {
			t.Errorf("%s: the losses of a simulation have a private mean", c.from)
		}
		l := must.Get(m.Losses(true))
		got, predicted, of := must.Get(l.Of(table)), must.Get(m.Predict(data[c.from])), column(c.target)
		most := (c.upper - c.lower) / 2
		var names []string
		if most == 0 {
			most, names = 1, must.Get(m.PredictClass(data[c.from]))
		}
		if l.Most != most || l.Classes != c.classes || l.Target() != c.target ||
			l.ManyClasses() != (c.from == "Classes") || l.Columns()[len(l.Columns())-1] != c.target {
			t.Errorf("%s: %+v of %s", c.from, l, l.Target())
		}
		for i, v := range got {
			text, number := of(i)
			want := 0.0
			switch {
			case !c.classes:
				want = min(math.Abs(min(max(number, c.lower), c.upper)-predicted[i]), most)
			case text != names[i]:
				want = 1
			}
			if !(math.Abs(v-want) <= 1e-9*most) {
				t.Fatalf("%s, record %d: the loss is %v, want %v", c.from, i, v, want)
			}
		}
		if !c.classes {
			continue
		}
		levels := map[string][]string{"ill": {"no", "yes"}, "ward": {"heart", "lungs", "bones"}}[c.target]
		class, place, odds, err := l.Outcomes(table)
		if err != nil {
			t.Fatal(err)
		}
		for i := range class {
			text, _ := of(i)
			if levels[int(class[i])] != text || levels[int(place[i])] != names[i] ||
				c.odds && !(math.Abs(1/(1+math.Exp(-odds[i]))-predicted[i]) <= 1e-12) {
				t.Fatalf("%s, record %d: of class %v, predicted %v with odds %v; it is %s, predicted %s with %v",
					c.from, i, class[i], place[i], odds[i], text, names[i], predicted[i])
			}
		}
		if c.odds {
			usual := l.Usual()
			if again := l.Usual(); !slices.IsSorted(usual) || len(usual) < 100 || !slices.Equal(usual, again) ||
				!(usual[0] < usual[len(usual)-1]) || math.IsNaN(usual[0]) || !(math.Abs(usual[len(usual)/2]) < 1) {
				t.Errorf("usual odds from %v to %v, %v in the middle", usual[0], usual[len(usual)-1],
					usual[len(usual)/2])
			}
		}
	}
}

// What costs μ, or ε where the budget has δ = 0, is the share of the whole budget that Share would give for it.
func TestShareOf(t *testing.T) {
	whole := 2 * learn.MuOf(fresh(1, 1e-6).Share(0.25))
	for _, share := range []float64{0.01, 0.25, 1 - 1e-7} {
		b := fresh(1, 1e-6)
		mu := whole * math.Sqrt(share)
		if got, err := b.ShareOf(0, mu); err != nil || !(got >= share && got <= share*(1+2e-8)) {
			t.Errorf("μ of a share of %v is one of %v, %v", share, got, err)
		}
		p := fresh(2, 0)
		if got, err := p.ShareOf(2*share, 0); err != nil || !(got >= share && got <= share*(1+2e-8)) {
			t.Errorf("ε of a share of %v is one of %v, %v", share, got, err)
		}
	}
	if _, err := fresh(1, 1e-6).ShareOf(0.35, 1.01*whole); err == nil ||
		!strings.Contains(err.Error(), "δ = 0, where ε adds up, it would be a share of 0.351") {
		t.Errorf("more than the whole budget is a share of it, or what it is without δ is not said: %v", err)
	}
}

// A study of a number that is known by its bounds alone has a signal and noise of an eighth of their width, over √2;
// forecast errors begin with what nobody can beat.
func TestStudyOfRecords(t *testing.T) {
	testscale.InTurn(t)
	data := plain(t, 50)
	s := learn.StudyOf(data["Regression"], 5000, 1, 1e-6)
	if want := 60 / 2 / math.Sqrt2; s.Records != 5000 || s.Features != data["Regression"].Features() ||
		!(math.Abs(s.Signal-want) <= 1e-12) || s.Noise != s.Signal {
		t.Errorf("%+v, want a signal of %v", s, want)
	}
	if s := learn.StudyOf(data["Binary"], 5000, 1, 1e-6); s.Signal != 0 || s.Noise != 0 {
		t.Errorf("classes: %+v", s)
	}
	several := learn.Binary(patients(40).PerPerson("id", 3), "ill")
	if got := learn.StudyOf(several, 5000, 1, 1e-6).Epsilon; !(math.Abs(got-1.0/3) <= 1e-15) {
		t.Errorf("three rows of a person count: ε = %v, want a third", got)
	}
	s.Mechanisms = ridged[:1]
	f := s.Forecast()
	names, errors := f.Errors()
	rms := math.Sqrt(f.Predictions[0].Point.MSE() + s.Noise*s.Noise)
	if len(names) != 3 || !slices.IsSorted(errors) ||
		!(math.Abs(errors[0]-s.Noise*math.Sqrt(2/math.Pi)) <= 1e-12*s.Noise) ||
		!(math.Abs(errors[2]-rms*math.Sqrt(2/math.Pi)) <= 1e-12*rms) || !(errors[2] < 3*errors[0]) {
		t.Errorf("%q: %v, noise %v", names, errors, s.Noise)
	}
	classes := learn.Study{Records: 5000, Features: 20, Epsilon: 1, Mechanisms: ridged[:1]}.Forecast()
	_, errors = classes.Errors()
	if want := classes.NonPrivate.Quality(); errors[0] != want.BestError || errors[1] != want.Error ||
		errors[2] != classes.Predictions[0].Quality().Error {
		t.Errorf("%v, want %+v first", errors, want)
	}
	bad := learn.Study{Records: -1}.Forecast()
	if names, errors := bad.Errors(); names != nil || errors != nil {
		t.Errorf("no study has errors %v", errors)
	}
}
