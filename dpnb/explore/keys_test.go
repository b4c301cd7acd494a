package explore_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/ledger"
)

// towns is a table of two large towns, one that three people live in and one for each of 50 people alone; every person
// has so many rows, of the same town.
func towns(rows int, backwards bool) learn.DataFrame {
	var all []string
	for i := range 400 {
		all = append(all, []string{"Bern", "Rome", "Rome"}[i%3])
	}
	all = append(all, "Urk", "Urk", "Urk", "", "")
	for i := range 50 {
		all = append(all, fmt.Sprint("hut ", i))
	}
	id, town := frame.Column{Name: "id"}, frame.Column{Name: "town", Kind: frame.Categorical}
	for i, name := range all {
		for range rows {
			id.Numbers, town.Texts = append(id.Numbers, float64(i)), append(town.Texts, name)
		}
	}
	if backwards {
		slices.Reverse(id.Numbers)
		slices.Reverse(town.Texts)
	}
	t, err := frame.NewTable(id, town)
	if err != nil {
		panic(err)
	}
	return learn.FromTable(t)
}

// The towns of many are shown with about their numbers of people, in whatever order the rows are, and the huts of one
// are not, by any rule of the ledger and with several rows a person.
func TestKeys(t *testing.T) {
	for name, spend := range map[string]func() learn.Allowance{
		"alone":         func() learn.Allowance { return fresh(1, 1e-6).Spend(1) },
		"among others":  func() learn.Allowance { return fresh(1, 1e-5).Spend(0.5) },
		"a share":       func() learn.Allowance { return fresh(2, 1e-5).Share(0.25) },
		"of simulation": func() learn.Allowance { return learn.Simulate(1, 1e-5) },
	} {
		var width [3]float64
		for rows := 1; rows <= 2; rows++ {
			var first []explore.Row
			for _, backwards := range []bool{false, true} {
				df := towns(rows, backwards)
				if rows > 1 {
					df = df.PerPerson("id", rows)
				}
				s, err := explore.Keys("town").Noise(learn.Seed(2)).Of(df, spend())
				if err != nil {
					t.Fatal(name, err)
				}
				if !slices.Equal(s.Names(), []string{"Rome", "Bern"}) || !(math.Abs(s.Rows()[0].Value-266) <= 60) ||
					!(math.Abs(s.Rows()[1].Value-134) <= 60) {
					t.Errorf("%s: %+v", name, s.Rows())
				}
				width[rows] = s.Rows()[0].Upper - s.Rows()[0].Lower
				if first == nil {
					first = s.Rows()
				}
				if fmt.Sprint(first) != fmt.Sprint(s.Rows()) {
					t.Errorf("%s: backwards %v, else %v", name, s.Rows(), first)
				}
				if text := s.Display().Text(); !strings.Contains(text, "is not released") {
					t.Error(text)
				}
			}
		}
		// A person of two towns moves two numbers: by √2 as far, or by twice as far where ε adds up.
		if r := width[2] / width[1]; r < 1.35 || r > 2.1 {
			t.Errorf("%s: people with two towns have %.3f of the noise of those with one", name, r)
		}
	}
	// Nothing to show is an answer.
	s, err := explore.Keys("town").Noise(learn.Seed(1)).Of(towns(1, false), learn.Simulate(0.01, 1e-9))
	if err != nil || s.Err() != nil || len(s.Rows()) != 0 || s.Illustration() != nil || !math.IsNaN(s.Value()) {
		t.Errorf("%v, %v", s, err)
	}
}

// A person counts once for a value, in however many rows and with whatever blanks about the name.
func TestKeysCountPeople(t *testing.T) {
	id, town := frame.Column{Name: "id", Kind: frame.Categorical}, frame.Column{Name: "town", Kind: frame.Categorical}
	for i := range 200 {
		id.Texts = append(id.Texts, fmt.Sprint("p", i), fmt.Sprint(" p", i, " "))
		town.Texts = append(town.Texts, "Bern", "Bern")
	}
	df := learn.FromTable(must.Get(frame.NewTable(id, town))).PerPerson("id", 2)
	s := must.Get(explore.Keys("town").Noise(learn.Seed(1)).Of(df, learn.Simulate(20, 1e-6)))
	if !(math.Abs(s.Value()-200) <= 5) {
		t.Errorf("%v of 200 people live in Bern", s.Value())
	}
}

func TestKeysAreRefusedBeforeTheCharge(t *testing.T) {
	for name, c := range map[string]struct {
		q     explore.Query
		df    learn.DataFrame
		delta float64
		want  string
	}{
		"no such column":    {explore.Keys("street"), towns(1, false), 1e-6, `no column "street"`},
		"no δ":              {explore.Keys("town"), towns(1, false), 0, "δ = 0"},
		"groups":            {explore.Keys("town").By("id"), towns(1, false), 1e-6, "no groups"},
		"who it is":         {explore.Keys("id"), towns(1, false).PerPerson("id", 1), 1e-6, "whose row"},
		"nobody knows whom": {explore.Keys("town"), towns(2, false).PerPerson("id", 2).Drop("id"), 1e-6, "was dropped"},
		"far too many rows": {explore.Keys("town"), towns(1, false).PerPerson("id", 5000), 1e-6, "Keys"},
	} {
		b := fresh(1, c.delta)
		s, err := c.q.Of(c.df, b.Spend(0.5))
		if err == nil || s != nil || !strings.Contains(err.Error(), c.want) || spent(t, b) != 0 {
			t.Errorf("%s: %v, %v spent", name, err, spent(t, b))
		}
	}
	if _, err := explore.Keys("town").Price(towns(1, false).WithSchema(), 5, 0.95); err == nil {
		t.Error("Keys has a price")
	}
}

// What is asked about people is paid for by a budget of people, Keys as well.
func TestQueriesOfOneUnit(t *testing.T) {
	rows, people := towns(2, false).WithSchema(), towns(2, false).WithSchema().PerPerson("id", 2)
	for _, c := range []struct{ first, other learn.DataFrame }{{rows, people}, {people, rows}} {
		b := fresh(1, 1e-6)
		for _, q := range []explore.Query{explore.Keys("town"), explore.Count()} {
			must.Get(q.Of(c.first, b.Spend(0.2)))
			before := spent(t, b)
			for _, q := range []explore.Query{explore.Keys("town"), explore.Count()} {
				wrong := new(ledger.UnitError)
				if _, err := q.Of(c.other, b.Spend(0.2)); !errors.As(err, &wrong) || spent(t, b) != before {
					t.Errorf("%v, %v spent", err, spent(t, b)-before)
				}
			}
		}
	}
}
