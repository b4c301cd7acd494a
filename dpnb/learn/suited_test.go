package learn

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// The target's public field decides on the learner; the fit goes through for each, with the schema of a file.
func TestSuited(t *testing.T) {
	testscale.Slow(t)
	path := filepath.Join(t.TempDir(), "patients.schema.json")
	people := Patients(3000, 1).Drop("visits") // which is then in no schema that is saved
	must.Do(people.SaveSchema(path))
	people = people.WithSchemaFile(path)
	for target, want := range map[string]string{
		"ill": "learn.SVM", "ward": "learn.Softmax", "pressure": "learn.Huber",
	} {
		l, data := Suited(people, target, RowNorm(1))
		if got := fmt.Sprintf("%T", l); got != want {
			t.Errorf("%s is learnt by %s, want %s", target, got, want)
		}
		if err := data.Err(); err != nil {
			t.Errorf("%s: %v", target, err)
		}
		if notes := strings.Join(data.Display().Notes, " "); !strings.Contains(notes, "Suited: ") ||
			!strings.Contains(notes, "because "+target) {
			t.Errorf("%s: why is not said in %q", target, notes)
		}
		// On a budget without a δ as well, with intervals left out.
		pureBudget := NewBudget(1, 0, Named(t.TempDir()+target+"pure"))
		if m, err := l.Fit(data, pureBudget.Spend(1)); target != "ward" && err != nil {
			t.Errorf("%s without a δ: %v", target, err)
		} else if target != "ward" && m.Release.Guarantee.Delta != 0 {
			t.Errorf("%s without a δ: %+v", target, m.Release.Guarantee)
		}
	}
	// So for people with several rows.
	several := people.PerPerson("age", 2)
	for target, want := range map[string]string{
		"ill": "learn.SVM", "ward": "learn.Softmax", "pressure": "learn.Huber",
	} {
		l, data := Suited(several, target, RowNorm(1))
		if got := fmt.Sprintf("%T", l); got != want {
			t.Errorf("%s is learnt by %s, want %s", target, got, want)
		}
		if _, err := l.Fit(data, NewBudget(1, 1e-6, Named(t.TempDir()+target)).Spend(1)); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	if _, data := Suited(people, "nobody"); data.Err() == nil {
		t.Error("a target that is not there is let pass")
	}
	if err := people.WithSchemaFile(path + "x").Err(); err == nil {
		t.Error("a schema file that is not there is let pass")
	}
}

// Nothing is spent on intervals where there are none for the population, and why is said.
func TestSuitedSpendsNothingInVain(t *testing.T) {
	people := Patients(300, 1)
	for name, c := range map[string]struct {
		df    DataFrame
		opts  []Option
		share float64
		why   string
	}{
		"as usual":        {people, nil, 1.0 / 20, "a twentieth is spent"},
		"one row of each": {people.PerPerson("age", 1), nil, 1.0 / 20, "a twentieth is spent"},
		"two rows":        {people.PerPerson("age", 2), nil, 0, "a person has several rows"},
		"uncentred":       {people, []Option{Uncentred()}, 0, "rows are not centred"},
	} {
		l, data := Suited(c.df, "ill", c.opts...)
		of, second := Suited(c.df, "pressure", c.opts...)
		if l.(SVM).CurvatureShare != c.share || of.(Huber).CurvatureShare != c.share ||
			!strings.Contains(data.why, c.why) || !strings.Contains(second.why, c.why) {
			t.Errorf("%s: %v and %v, %q", name, l, of, data.why)
		}
	}
}

// Where records are few for the budget that is said, by the count that was bought; else not.
func TestFewRecordsAreSaid(t *testing.T) {
	for n, want := range map[int]bool{40: true, 4000: false} {
		l, data := Suited(Patients(n, 1), "ill")
		svm := l.(SVM)
		svm.Noise = Seed(1)
		m := must.Get(svm.Fit(data, Simulate(0.5, 1e-6)))
		if said := strings.Contains(m.Display().Text(), "Few records for this budget"); said != want {
			t.Errorf("%d records: said %v", n, said)
		}
	}
}
