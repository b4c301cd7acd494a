package learn_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/checksum"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
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

// A fit for people with k rows has (ε, δ) for a person: what it is for one row has the k-th part of μ, and the release,
// saved and loaded too, states the guarantee of k rows.
func TestFitsOfPeopleWithSeveralRows(t *testing.T) {
	const eps, delta = 1.0, 1e-5
	allowed := must.Get(privacy.MuOf(eps, delta))
	for _, k := range []int{1, 3} {
		data := learn.Binary(patients(300).PerPerson("id", k), "ill", learn.RowNorm(1))
		b := learn.NewBudget(eps, delta, learn.Named(t.TempDir()))
		m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(data, b.Spend(eps)))
		_, person, ok := privacy.GaussianMu(m.Release.Guarantee.Profile)
		fitted, _ := m.Release.Fitted.Event()
		p, _ := fitted.Profile(privacy.AddRemove)
		_, row, _ := privacy.GaussianMu(p)
		if !ok || person > allowed*(1+1e-12) || person < allowed*(1-0.01) {
			t.Errorf("k = %d: μ = %v of a person, allowed is %v", k, person, allowed)
		}
		if row > 0 && !(math.Abs(float64(k)*row/person-1) <= 0.05) && k > 1 {
			t.Errorf("k = %d: μ = %v of a row, %v of a person", k, row, person)
		}
		words := m.Release.Guarantee.Words()
		want := map[int]string{1: "any one person, of whose rows one counts, changes",
			3: "any one person with all of up to 3 rows changes"}[k]
		again := reloaded(t, m)
		card := must.Get(again.Card())
		for _, said := range []string{words, again.Release.Guarantee.Words(), m.Display().Text(), string(card)} {
			if !strings.Contains(said, want) || strings.Contains(said, "any one record") {
				t.Errorf("k = %d: %s", k, said)
			}
		}
		says(t, string(card), "whether a person's records were used", "The promise holds for every person")
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

// A file of a model of people of whom one row counts had 0 rows where it has 1 now: who is protected is in what was
// paid, and is said of it as well. That of rows, each a person, has neither.
func TestOlderFileSaysWhomItProtects(t *testing.T) {
	for _, person := range []bool{true, false} {
		df := patients(300)
		if person {
			df = df.PerPerson("id", 1)
		}
		b := learn.NewBudget(1, 1e-5, learn.Named(fmt.Sprint(t.TempDir(), person)))
		m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(learn.Binary(df.Drop("id"), "ill"), b.Spend(0.5)))
		path := filepath.Join(t.TempDir(), "model.json")
		must.Do(m.Save(path))
		const format = "dpnb model"
		text, version, err := checksum.Unseal(format, 2, must.Get(os.ReadFile(path)))
		must.Do(err)
		if now := bytes.Contains(text, []byte(`"Rows": 1`)); now != person {
			t.Errorf("person %v: its file says so: %v", person, now)
		}
		older := bytes.Replace(text, []byte(`"Rows": 1`), []byte(`"Rows": 0`), 1)
		must.Do(os.WriteFile(path, must.Get(checksum.Seal(format, version, older)), 0o600))
		if words := must.Get(learn.Load(path)).Display().Text(); strings.Contains(words, "any one person") != person {
			t.Error(words)
		}
	}
}

// The moment of the gradients of people with two rows has twice the noise, and says whom it protects.
func TestEstimateMomentPerPerson(t *testing.T) {
	table := patients(300)
	scale := map[int]float64{}
	for _, k := range []int{1, 2} {
		b := learn.NewBudget(1, 1e-6, learn.Named(fmt.Sprint(t.TempDir(), k)))
		data := learn.Regression(table.PerPerson("id", k), "age")
		g := must.Get(learn.HeavyTails{Noise: learn.Seed(1)}.EstimateMoment(data, b.Spend(0.5)))
		scale[k] = g.Release.Fitted.(statistic.Histogram).Scale
		r := g.Release.Guarantee
		if r.Epsilon != 0.5 || r.Delta != 0 || privacy.DeltaUpper(r.Profile, 0.5) != 0 ||
			privacy.DeltaUpper(r.Profile, 0.45) == 0 || (r.Rows == 2) != (k == 2) {
			t.Errorf("k = %d: %+v", k, r)
		}
		says(t, g.Display().Text(), map[int]string{1: "any one person, of whose rows one counts,",
			2: "any one person with all of up to 2 rows"}[k])
		if s, err := b.State(); err != nil || s.SpentEpsilon != 0.5 ||
			!strings.Contains(s.Entries[0].Unit, `("id")`) {
			t.Errorf("%+v (%v)", s, err)
		}
	}
	if r := scale[2] / scale[1]; !(math.Abs(r-2) <= 1e-6) {
		t.Errorf("two rows have %v of the noise of one", r)
	}
}

// Every learner learns from people with several rows, by an ε and by a share, and costs what it may.
func TestLearnersOfPeopleWithSeveralRows(t *testing.T) {
	testscale.InTurn(t)
	df := learn.Patients(300, 1).DeriveText(learn.Categorical("who", "a"), func(r learn.Row) string {
		return fmt.Sprint(math.Round(r.Number("age")), r.Text("smoker"))
	}, "age", "smoker").PerPerson("who", 3)
	b := learn.NewBudget(1, 1e-6, learn.Named(t.TempDir()))
	all := append(learn.Learners(), learn.Logistic{Lambda: 50}, learn.Linear{Pure: true}, learn.Huber{Pure: true},
		learn.Tune{Learners: []learn.Learner{learn.Logistic{}, learn.SVM{}}})
	if testscale.Full() { // it takes a second to calibrate
		all = append(all, learn.Quantile{Smooth: 0.1})
	}
	for _, l := range all {
		target := "pressure"
		switch l.(type) {
		case learn.Logistic, learn.SVM, learn.Tune:
			target = "ill"
		case learn.Softmax, learn.OneVsRest:
			target = "ward"
		case learn.Poisson:
			target = "visits"
		}
		records := learn.RecordsFor(l, df, target, learn.Lines())
		for _, a := range []learn.Allowance{b.Spend(0.5), b.Share(0.5)} {
			_, tunes := l.(learn.Tune) // whose cost for a row is not known as a Gaussian mechanism's either
			_, err := a.Cost(l, records)
			if err != nil && !(tunes && strings.Contains(err.Error(), "cannot have a share")) {
				t.Errorf("%T: %v", l, err)
			}
		}
	}
	// To the end: what is said of the release, and what the ledger has.
	m := must.Get(learn.Huber{Noise: learn.Seed(1)}.Fit(learn.Regression(df, "pressure", learn.Lines()), b.Share(0.5)))
	if g := m.Release.Guarantee; g.Rows != 3 || !(g.Epsilon > 0.4 && g.Epsilon < 1) {
		t.Errorf("%+v", g)
	}
	if s := must.Get(b.State()); !(s.SpentEpsilon > 0.4 && s.SpentEpsilon < 1) {
		t.Errorf("half of a budget is ε = %v", s.SpentEpsilon)
	}
}

// A budget that paid for rows pays for no people, nor the other way round, before anything is charged, by fits, their
// price and the moment; for people it pays however many rows of each count.
func TestBudgetIsOfRowsOrOfPeople(t *testing.T) {
	rows := patients(300)
	frames := []learn.DataFrame{rows.Drop("id"), rows.PerPerson("id", 1), rows.PerPerson("id", 2)}
	logistic := learn.Logistic{Noise: learn.Seed(1)}
	for i, first := range frames {
		b := learn.NewBudget(1, 1e-5, learn.Named(fmt.Sprint(t.TempDir(), i)))
		must.Get(logistic.Fit(learn.Binary(first, "ill", learn.RowNorm(1)), b.Spend(0.1)))
		for j, df := range frames {
			two := learn.Binary(df, "ill", learn.RowNorm(1))
			before, _ := b.State()
			_, fit := logistic.Fit(two, b.Spend(0.1))
			_, cost := b.Spend(0.1).Cost(logistic, two)
			_, moment := learn.HeavyTails{Noise: learn.Seed(1)}.EstimateMoment(
				learn.Regression(df, "age"), b.Spend(0.1))
			for _, err := range []error{fit, cost, moment} {
				if wrong := new(ledger.UnitError); errors.As(err, &wrong) != ((i > 0) != (j > 0)) {
					t.Errorf("frame %d after %d: %v", j, i, err)
				}
			}
			if after, _ := b.State(); len(after.Entries) != len(before.Entries) && (i > 0) != (j > 0) {
				t.Errorf("frame %d after %d is in the ledger", j, i)
			}
		}
		if text := b.Display().Text(); strings.Contains(text, "removing a person (\"id\"), of whom each") != (i > 0) {
			t.Error(text)
		}
	}
}

// People of a table that is scanned are those of the table in memory: the same fit, and the same unit in the ledger,
// also after the column has another name.
func TestPeopleOfAScan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "people.parquet")
	whole := patients(200)
	table := must.Get(whole.Table())
	must.Do(parquet.Write(path, table))
	schema := []learn.Field{learn.Numeric("age", 0, 100), learn.Categorical("ill", "no", "yes")}
	scanned := learn.FromScanner(parquet.Open(path, &parquet.Settings{ChunkRows: 33})).WithSchema(schema...)
	if df := whole.PerPerson("id", 2).Rename("age", "years"); df.PersonColumn() != "id" || whole.Rename("age",
		"years").PersonColumn() != "" {
		t.Errorf("after another column has another name, the one of persons is %q", df.PersonColumn())
	}
	b := learn.NewBudget(1, 1e-5, learn.Named(t.TempDir()))
	var want []float64
	for i, df := range []learn.DataFrame{whole.PerPerson("id", 2), scanned.PerPerson("id", 2),
		whole.PerPerson("id", 2).Rename("id", "who"), scanned.PerPerson("id", 2).Rename("id", "who"),
		scanned.PerPerson("id", 2).Drop("id")} {
		data := learn.Binary(df, "ill", learn.Lines(),
			learn.StoredIn(learn.Storage{Dir: t.TempDir(), Double: true}))
		m, err := learn.Logistic{Noise: learn.Seed(1)}.Fit(data, b.Spend(0.1))
		if err != nil {
			t.Fatal(i, err)
		}
		if want == nil {
			want = m.Theta()
		}
		if !slices.Equal(m.Theta(), want) || m.Release.Guarantee.Rows != 2 || len(m.Columns()) != 1 {
			t.Errorf("%d: %v, want %v, of %v for %d rows", i, m.Theta(), want, m.Columns(), m.Release.Guarantee.Rows)
		}
		if column := df.PersonColumn(); column != []string{"id", "id", "who", "who", ""}[i] {
			t.Errorf("%d: the column is now %q", i, column)
		}
	}
}

// A prediction is for each row of a file: of people of whom rows were left out it is refused, with the word for it, and
// no file is written.
func TestPredictionsAreForEachRow(t *testing.T) {
	all := patients(50)
	m := must.Get(learn.Logistic{}.FitWithoutPrivacy(learn.Binary(all.Drop("id"), "ill")))
	two := all.PerPerson("id", 2)
	out := filepath.Join(t.TempDir(), "out.csv")
	_, numbers := m.Predict(two)
	_, classes := m.PredictClass(learn.Binary(two, "ill"))
	for i, err := range []error{numbers, classes, m.PredictFrame(two).Err, m.PredictCSV(out, two, "id")} {
		if err == nil || !strings.Contains(err.Error(), `PerPerson("id", 2)`) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was written")
	}
	if p, err := m.Predict(all); err != nil || len(p) != all.Rows() {
		t.Errorf("%d predictions of %d rows, %v", len(p), all.Rows(), err)
	}
	if _, err := m.Score(two); err != nil {
		t.Error(err)
	}
}

// The column that says whose row it is may be one that the schema ignores, as a number of a member is: the same rows
// count, and the same is fitted. After another change of the table it is gone, and that is said.
func TestPersonMayBeIgnored(t *testing.T) {
	table := must.Get(patients(40).Table())
	schema := frame.Schema{Fields: []learn.Field{learn.Numeric("age", 0, 100), learn.Categorical("ill", "no", "yes")},
		Ignored: []string{"id"}}
	ignoring := learn.FromTable(table).Knowing(&schema)
	df, want := ignoring.PerPerson("id", 2), patients(40).PerPerson("id", 2)
	if err := df.Err(); err != nil || df.Rows() != want.Rows() || df.PersonColumn() != "id" ||
		len(schema.Ignored) != 1 {
		t.Errorf("%d rows of %q, want %d (%v)", df.Rows(), df.PersonColumn(), want.Rows(), err)
	}
	if data := learn.Binary(df, "ill"); data.Features() != learn.Binary(want, "ill").Features() {
		t.Errorf("%d features (%v)", data.Features(), data.Err())
	}
	changed := ignoring.Rename("age", "years").PerPerson("id", 2).Err()
	if changed == nil || !strings.Contains(changed.Error(), "right after the schema") {
		t.Errorf("after a change: %v", changed)
	}
}

// Four equal rows of each person are no four draws: intervals for the population would be half as wide as they must be.
// They covered 71 % where 95 was said, and are refused; those of the same fit are not.
func TestNoPopulationOfSeveralRows(t *testing.T) {
	testscale.InTurn(t)
	const rows = 4
	r := rand.New(rand.NewPCG(5, 6))
	id := frame.Column{Name: "id", Kind: frame.Categorical}
	x, y := frame.Column{Name: "x"}, frame.Column{Name: "y"}
	for i := range 4 * 500 {
		if i%rows == 0 {
			at := r.Float64()
			id.Texts, x.Numbers = append(id.Texts, fmt.Sprint(i)), append(x.Numbers, at)
			y.Numbers = append(y.Numbers, at+0.5*r.NormFloat64())
			continue
		}
		id.Texts, x.Numbers = append(id.Texts, id.Texts[i-1]), append(x.Numbers, x.Numbers[i-1])
		y.Numbers = append(y.Numbers, y.Numbers[i-1])
	}
	df := learn.FromTable(must.Get(frame.NewTable(id, x, y))).WithSchema(learn.Numeric("x", 0, 1),
		learn.Numeric("y", -1, 2))
	for k, said := range map[int]bool{1: true, 2: false, rows: false} {
		for _, l := range []learn.Learner{learn.Linear{CurvatureShare: 0.2, Noise: learn.Seed(1)},
			learn.Quantile{CurvatureShare: 0.2, Noise: learn.Seed(1)}} {
			m := must.Get(l.Fit(learn.Regression(df.PerPerson("id", k), "y", learn.Lines()), learn.Simulate(8, 1e-5)))
			_, err := m.PopulationIntervals(0.95)
			if _, same := m.Intervals(0.95); said != (err == nil) || same != nil {
				t.Errorf("%T, %d rows: %v, of the same fit %v", l, k, err, same)
			}
			if !said && err != nil {
				says(t, err.Error(), "independent draws", "PerPerson(column, 1)")
			}
			for _, p := range m.Shape("x").Points() {
				if !said && p.Population != nil {
					t.Errorf("%T: a shape has a band for the population", l)
				}
			}
		}
	}
}
