package learn_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// patients is a table of people with up to four rows each.
func patients(people int) learn.DataFrame {
	id := frame.Column{Name: "id", Kind: frame.Categorical}
	age := frame.Column{Name: "age"}
	ill := frame.Column{Name: "ill", Kind: frame.Categorical}
	for i := range people {
		for row := range 1 + i%4 {
			id.Texts = append(id.Texts, fmt.Sprint("p", i))
			age.Numbers = append(age.Numbers, float64(20+(7*i+row)%60))
			ill.Texts = append(ill.Texts, []string{"no", "yes"}[(i+row)/3%2])
		}
	}
	t, err := frame.NewTable(id, age, ill)
	if err != nil {
		panic(err)
	}
	return learn.FromTable(t).WithSchema(learn.Numeric("age", 0, 100), learn.Categorical("ill", "no", "yes"))
}

// A fit for people with k rows has (ε, δ) for a person: what it is for one row has the k-th part
// of μ, and the release, saved and loaded too, states the guarantee of k rows.
func TestFitsOfPeopleWithSeveralRows(t *testing.T) {
	const eps, delta = 1.0, 1e-5
	allowed, err := privacy.MuOf(eps, delta)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{1, 3} {
		data := learn.Binary(patients(300).PerPerson("id", k), "ill", learn.RowNorm(1))
		b := learn.NewBudget(eps, delta, learn.Named(fmt.Sprint("people", k)))
		m, err := learn.Logistic{Noise: learn.Seed(1)}.Fit(data, b.Spend(eps))
		if err != nil {
			t.Fatal(err)
		}
		_, person, ok := privacy.GaussianMu(m.Release.Guarantee.Profile)
		fitted, _ := m.Release.Fitted.Event()
		p, _ := fitted.Profile(privacy.AddRemove)
		_, row, _ := privacy.GaussianMu(p)
		if !ok || person > allowed*(1+1e-12) || person < allowed*(1-0.01) {
			t.Errorf("k = %d: μ = %v of a person, allowed is %v", k, person, allowed)
		}
		if row > 0 && math.Abs(float64(k)*row/person-1) > 0.05 && k > 1 {
			t.Errorf("k = %d: μ = %v of a row, %v of a person", k, row, person)
		}
		words := m.Release.Guarantee.Words()
		if strings.Contains(words, "up to 3 rows") != (k == 3) {
			t.Error(words)
		}
		path := filepath.Join(t.TempDir(), "model.json")
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		again, err := learn.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		x, y := m.Release.Guarantee, again.Release.Guarantee
		if x.Rows != y.Rows || privacy.DeltaUpper(x.Profile, 0.5) != privacy.DeltaUpper(y.Profile, 0.5) {
			t.Errorf("saved as %d rows, δ(½) = %v, loaded as %d, %v", x.Rows, privacy.DeltaUpper(x.Profile, 0.5),
				y.Rows, privacy.DeltaUpper(y.Profile, 0.5))
		}
		if text := fmt.Sprint(data.Display().Text()); !strings.Contains(text, "of each person kept (id)") {
			t.Error(text)
		}
	}
}

// What is neither Gaussian nor pure is refused before the charge; wrong bounds carry an error.
func TestSeveralRowsAreRefused(t *testing.T) {
	b := learn.NewBudget(1, 1e-5, learn.Named("people refused"))
	two := learn.Binary(patients(300).PerPerson("id", 2), "ill", learn.RowNorm(1))
	curved := learn.Logistic{Lambda: 3, Noise: learn.Seed(1)} // λ too small for the Gaussian case
	if _, err := curved.Fit(two, b.Spend(0.5)); err == nil ||
		!strings.Contains(err.Error(), "one row of each person") {
		t.Error(err)
	}
	if s, err := b.State(); err != nil || s.SpentEpsilon != 0 {
		t.Errorf("%v spent, %v", s.SpentEpsilon, err)
	}
	for name, df := range map[string]learn.DataFrame{
		"no rows": patients(3).PerPerson("id", 0), "no such column": patients(3).PerPerson("name", 1),
		"twice": patients(3).PerPerson("id", 2).PerPerson("id", 1), "too many": patients(3).PerPerson("id", 1e6),
	} {
		if df.Err() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	one := learn.Binary(patients(300).PerPerson("id", 1), "ill", learn.RowNorm(1))
	if _, err := curved.Fit(one, b.Spend(0.5)); err != nil {
		t.Error(err)
	}
}
