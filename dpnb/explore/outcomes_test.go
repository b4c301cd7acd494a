package explore_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// What is asked of a model's outcomes is what Evaluate finds on the same records, and intervals of 80 % have it in them
// about as often, with normal and with geometric noise; one that is a tenth off is mostly beside them.
func TestOutcomesCover(t *testing.T) {
	testscale.InTurn(t)
	df := learn.Patients(3000, 3)
	m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(learn.Binary(df, "ill"), learn.Simulate(2, 1e-6)))
	seen := must.Get(m.Evaluate(df))
	recall := float64(seen.Confusion[1][1]) / float64(seen.Confusion[1][0]+seen.Confusion[1][1])
	for _, c := range []struct {
		name    string
		q       explore.Query
		row     int
		exact   float64
		epsilon float64
	}{
		{"accuracy", explore.ConfusionOf(m), 0, seen.Accuracy, 0.05},
		{"recall", explore.ConfusionOf(m), 2, recall, 0.1},
		{"AUC", explore.AUCOf(m), 0, seen.AUC, 0.5},
	} {
		for _, delta := range []float64{0, 1e-6} {
			covered, moved, draws := 0, 0, 24
			if testscale.Full() {
				draws = 640
			}
			for seed := range uint64(draws) {
				s := must.Get(c.q.Confidence(0.8).Noise(learn.Seed(seed)).Of(df, learn.Simulate(c.epsilon, delta)))
				r := s.Rows()[c.row]
				if r.Lower <= c.exact && c.exact <= r.Upper {
					covered++
				}
				if r.Lower <= 0.9*c.exact && 0.9*c.exact <= r.Upper {
					moved++
				}
			}
			if least := 0.8 - 3*math.Sqrt(0.8*0.2/float64(draws)); float64(covered) < least*float64(draws) ||
				4*moved > draws {
				t.Errorf("%s, δ = %v: %d of %d intervals have it in them, %d what is a tenth less", c.name, delta,
					covered, draws, moved)
			}
			// without noise to speak of
			s := must.Get(c.q.Noise(learn.Seed(1)).Of(df, learn.Simulate(500, delta)))
			if r := s.Rows()[c.row]; !(math.Abs(r.Value-c.exact) <= 0.002) || r.Upper-r.Lower > 0.03 {
				t.Errorf("%s, δ = %v: %+v, want %v", c.name, delta, r, c.exact)
			}
		}
	}
	price := must.Get(explore.AUCOf(m).Noise(learn.Seed(1)).Planned(3000).Price(df, 0.05, 0.95))
	if !(price.Epsilon > 0.05 && price.Epsilon < 20) {
		t.Error(price)
	}
	if _, err := explore.ConfusionOf(m).Noise(learn.Seed(1)).Price(df, 0.05, 0.95); err == nil {
		t.Error("a price without a number of records")
	}
	for _, q := range []explore.Query{explore.AUCOf(m).Noise(learn.Seed(1)), explore.Mean("age")} {
		if _, err := q.Planned(-5).Price(df, 500, 0.95); err == nil || !strings.Contains(err.Error(), "Planned(-5)") {
			t.Errorf("fewer records than none: %v", err)
		}
	}
}

// Scores are told apart in as many places as suit the noise and the number of records, which makes intervals of few
// records three times as narrow as 110 places do, and they cover; what was released is read in as many places as then.
func TestPlacesOfAnAUC(t *testing.T) {
	testscale.Slow(t)
	people := learn.Patients(1200, 4)
	m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(learn.Binary(people, "ill"), learn.Simulate(8, 1e-6)))
	few := learn.Patients(900, 5)
	truth := must.Get(explore.AUCOf(m).Planned(1e6).Noise(learn.Seed(1)).Of(few, learn.Simulate(900, 1e-6))).Value()
	for _, c := range []struct{ epsilon, most float64 }{{1, 0.048}, {0.4, 0.09}, {0.2, 0.145}} {
		covered, wide, times := 0, 0.0, 12
		if testscale.Full() {
			times = 30
		}
		for k := range times {
			s := must.Get(explore.AUCOf(m).Planned(900).Noise(learn.Seed(uint64(k))).Of(few,
				learn.Simulate(c.epsilon, 1e-6)))
			lower, upper := s.Interval()
			if wide += (upper - lower) / 2 / float64(times); lower <= truth && truth <= upper {
				covered++
			}
		}
		if 10*covered < 9*times || wide > c.most {
			t.Errorf("ε = %g: ± %.3f in the mean, and %d of %d cover", c.epsilon, wide, covered, times)
		}
	}
	b := learn.NewBudget(8, 1e-6, learn.Named(t.Name()))
	m = must.Get(learn.Logistic{}.Fit(learn.Binary(people, "ill"), b.Share(0.5)))
	old := must.Get(explore.AUCOf(m).Once("AUC", few, b.Share(0.01)))
	again := must.Get(explore.AUCOf(m).Planned(1e6).Once("AUC", few, b.Share(0.01)))
	if old.Value() != again.Value() { // in as many places as then
		t.Errorf("%g is given again as %g", old.Value(), again.Value())
	}
}

// The price of an AUC goes by the base rate that is said: few of one class say less of it. Of large
// counts the half-width is about in proportion to 1/P, P the records of that class: 5 times that of even classes for a
// tenth, less a factor of up to √2 because the noise of the others hardly counts.
func TestBaseRateInThePriceOfAnAUC(t *testing.T) {
	df, b := learn.Patients(1500, 4), learn.NewBudget(8, 1e-6, learn.Named(t.Name()))
	m := must.Get(learn.Logistic{}.Fit(learn.Binary(df, "ill"), b.Share(0.5)))
	priced := func(q explore.Query) *explore.Price {
		return must.Get(q.Planned(3000).Within(df, b.Share(0.05), 0.95))
	}
	even, few := priced(explore.AUCOf(m)), priced(explore.AUCOf(m).BaseRate(0.1))
	half := priced(explore.AUCOf(m).BaseRate(0.5))
	if text := few.Display().Text(); !(few.Within > 2.5*even.Within && few.Within < 4.5*even.Within) ||
		half.Within != even.Within || !strings.Contains(text, "of two classes with 0.1 of the records in class") {
		t.Errorf("± %g, of even classes ± %g and %g: %s", few.Within, even.Within, half.Within, text)
	}
	for _, q := range []explore.Query{explore.AUCOf(m).BaseRate(0), explore.AUCOf(m).BaseRate(1),
		explore.ConfusionOf(m).BaseRate(0.5), explore.Count().BaseRate(0.5)} {
		_, err := q.Planned(3000).Price(df, 0.05, 0.95)
		if err == nil || !strings.Contains(err.Error(), "BaseRate") {
			t.Errorf("a base rate: %v", err)
		}
	}
}

// Where a number may be missing, and is an effect of its own then, an AUC has an answer like any other, whether one is
// missing or none.
func TestAUCWhereANumberMayBeMissing(t *testing.T) {
	ages, ill := make([]float64, 2000), make([]string, 2000)
	for i := range ages {
		if ages[i], ill[i] = float64(20+i%60), "no"; i*7919%100 < 20+i%60 {
			ill[i] = "yes"
		}
		if i%20 == 0 {
			ages[i] = math.NaN()
		}
	}
	age, sick := learn.Numeric("age", 18, 90).OrMissing(), learn.Categorical("ill", "no", "yes")
	for _, df := range []learn.DataFrame{
		learn.Patients(400, 3).Select("age", "weight", "ill").WithSchema(age, learn.Numeric("weight", 40, 150), sick),
		learn.FromColumns(learn.Numbers("age", ages), learn.Texts("ill", ill)).WithSchema(age, sick)} {
		m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(learn.Binary(df, "ill"), learn.Simulate(4, 1e-6)))
		want := must.Get(m.AUC(df))
		s := must.Get(explore.AUCOf(m).Noise(learn.Seed(1)).Of(df, learn.Simulate(500, 1e-6)))
		if got := s.Rows()[0].Value; !(math.Abs(got-want) <= 0.002) {
			t.Errorf("an AUC of %v, want %v", got, want)
		}
		r := must.Get(explore.AUCOf(m).Noise(learn.Seed(2)).Of(df, learn.Simulate(4, 1e-6))).Rows()[0]
		if !(r.Lower <= want && want <= r.Upper && r.Upper-r.Lower < 0.2) {
			t.Errorf("%+v, and it is %v", r, want)
		}
	}
}

// Scores of a model that hardly tells records apart lie as close together as the places between which they are counted,
// whether rows are centred or not: the interval allows for little within a place.
func TestWeakScoresAreToldApart(t *testing.T) {
	df := learn.Patients(3000, 3)
	l := learn.Logistic{Noise: learn.Seed(1)}
	weak := l
	weak.Lambda = 1e4
	for name, c := range map[string]struct {
		l    learn.Learner
		data *learn.Dataset
		most float64
	}{"strong": {l, learn.Binary(df, "ill"), 0.015}, "weak": {weak, learn.Binary(df, "ill"), 0.05},
		"uncentred": {l, learn.Binary(df, "ill", learn.Uncentred()), 0.02}} {
		m := must.Get(c.l.Fit(c.data, learn.Simulate(2, 1e-6)))
		exact := must.Get(m.Evaluate(df)).AUC
		r := must.Get(explore.AUCOf(m).Noise(learn.Seed(1)).Of(df, learn.Simulate(500, 0))).Rows()[0]
		if !(r.Lower <= exact && exact <= r.Upper && r.Upper-r.Lower <= c.most) {
			t.Errorf("%s: %+v of %v, and at most %v wide", name, r, exact, c.most)
		}
	}
}

// One record moves one count by one, whatever it is: the counts of all but one differ from those of all in one cell.
func TestOutcomesOfNeighbours(t *testing.T) {
	df := learn.Patients(120, 5)
	m := must.Get(learn.SVM{Noise: learn.Seed(1)}.Fit(learn.Binary(df, "ill"), learn.Simulate(1, 1e-6)))
	table := must.Get(df.Table())
	l := must.Get(m.Losses(true))
	class, said, odds, err := l.Outcomes(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range [][2]int{{0, 7}, {7, 120}, {119, 120}} {
		c, s, o, err := l.Outcomes(table.Slice(rows[0], rows[1]))
		for i := range c {
			if k := rows[0] + i; err != nil || c[i] != class[k] || s[i] != said[k] || o[i] != odds[k] {
				t.Fatalf("record %d depends on its neighbours: %v", k, err)
			}
		}
	}
}

// Of the AUC of records of one class nothing is known; what came true is drawn in the middle of its place.
func TestOutcomesAtTheEnds(t *testing.T) {
	df := learn.Patients(2000, 3)
	m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(learn.Binary(df, "ill"), learn.Simulate(2, 1e-6)))
	healthy := df.Where(func(r learn.Row) bool { return r.Text("ill") == "no" }, "ill")
	s := must.Get(explore.AUCOf(m).Noise(learn.Seed(1)).Of(healthy, learn.Simulate(500, 0)))
	if r := s.Rows()[0]; r.Lower != 0 || r.Upper != 1 {
		t.Errorf("the AUC of one class is %+v", r)
	}
	curve := must.Get(explore.CalibrationOf(m).Noise(learn.Seed(2)).Of(df, learn.Simulate(1, 1e-6)))
	var known []explore.Row
	for _, r := range curve.Rows() {
		nothing := regexp.MustCompile(r.Name + ` +–`).MatchString(curve.Display().Text())
		if nothing != (r.Lower == 0 && r.Upper == 1) {
			t.Errorf("%+v, shown as nothing: %t", r, nothing)
		}
		if !nothing {
			known = append(known, r)
		}
	}
	var lo, hi float64
	must.Get(fmt.Sscanf(known[0].Name, "predicted %g to %g %%", &lo, &hi))
	want := fmt.Sprintf("dots the model, %d points: (%.4g, ", len(known), (lo+hi)/200)
	if drawn := curve.Illustration().Numbers(); !strings.Contains(drawn, want) {
		t.Errorf("%q is not in %s", want, drawn)
	}
}

// A model whose log-odds are twice too large is calibrated by its curve: the slope is near a half, the model predicts
// what the curve says, is saved and loaded, and says so on its card.
func TestCalibrated(t *testing.T) {
	df := learn.Patients(20000, 7)
	m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(learn.Binary(df, "ill"), learn.Simulate(3, 1e-6)))
	off := must.Get(m.Calibrated(2.5, 0.7, "nothing.", ""))
	if _, err := off.Calibrated(1, 0, "", ""); err == nil {
		t.Error("calibrated twice")
	}
	curve := must.Get(explore.CalibrationOf(m).Noise(learn.Seed(2)).Of(df, learn.Simulate(1, 1e-6)))
	right := must.Get(explore.Calibrated(m, curve))
	worst := func(m *learn.Model) (most float64) {
		for _, b := range must.Get(m.Evaluate(df)).Calibration {
			if b.Count > 1000 {
				most = math.Max(most, math.Abs(b.Predicted-b.Observed))
			}
		}
		return most
	}
	if a, b := worst(off), worst(right); a < 0.05 || b > 0.04 {
		t.Errorf("off by %v, calibrated by %v", a, b)
	}
	if _, err := explore.Calibrated(off, curve); err == nil || !strings.Contains(err.Error(), "another model") {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "model.json")
	must.Do(right.Save(path))
	back := must.Get(learn.Load(path))
	p, q := must.Get(right.Predict(df)), must.Get(back.Predict(df))
	names := must.Get(back.PredictClass(df))
	for i := range p {
		if p[i] != q[i] || (p[i] > 0.5) != (names[i] == "yes") {
			t.Fatalf("record %d: %v, read back %v, %s", i, p[i], q[i], names[i])
		}
	}
	if card := must.Get(back.Card()); !strings.Contains(string(card), "## Calibrated") {
		t.Error("the card says nothing of the calibration")
	}
	if err := back.Export(path); err != nil {
		t.Error(err)
	} else if text := must.Get(os.ReadFile(path)); !strings.Contains(string(text), "calibration") {
		t.Error("exported without its calibration")
	}
}

// Models of which there is no such thing are refused, before anything is paid.
func TestOutcomesRefuse(t *testing.T) {
	df := learn.Patients(300, 1)
	one := learn.Simulate(1, 1e-6)
	number := must.Get(learn.Linear{Noise: learn.Seed(1)}.Fit(learn.Regression(df, "pressure"), one))
	many := must.Get(learn.Softmax{Noise: learn.Seed(1)}.Fit(learn.Classes(df, "ward"), one))
	plain := must.Get(learn.Logistic{}.FitWithoutPrivacy(learn.Binary(df, "ill")))
	for _, q := range []explore.Query{explore.ConfusionOf(number), explore.AUCOf(many), explore.CalibrationOf(many),
		explore.AUCOf(plain), explore.ConfusionOf(nil), explore.ConfusionOf(many).By("ward"),
		explore.ConfusionOf(many).ForPopulation()} {
		if err := q.Check(df); err == nil {
			t.Error("not refused")
		}
	}
	if err := explore.ConfusionOf(many).Noise(learn.Seed(1)).By("ward").Check(df); err == nil ||
		!strings.Contains(err.Error(), "all records") {
		t.Errorf("asked of each group: %v", err)
	}
	if err := explore.ConfusionOf(many).Check(df); err == nil {
		t.Error("a simulated model's outcomes are asked with secure noise")
	}
	s := must.Get(explore.ConfusionOf(many).Noise(learn.Seed(1)).Of(df, learn.Simulate(50, 1e-6)))
	want := must.Get(many.Evaluate(df))
	if !(math.Abs(s.Value()-want.Accuracy) <= 0.02) || s.Display().Title == "" || s.Illustration() == nil {
		t.Error(s.Value(), want.Accuracy)
	}
}
