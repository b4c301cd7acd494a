package learn_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/checksum"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// wards are records of three wards and some of none.
func wards(n int, more ...string) learn.DataFrame {
	var age []float64
	var ward, ill []string
	add := func(i int, w string) {
		age, ward = append(age, float64(20+(7*i)%60)), append(ward, w)
		ill = append(ill, []string{"no", "yes"}[(i/3)%2])
	}
	for i := range n {
		add(i, []string{"heart", "lungs", " bones ", "elsewhere"}[i%4])
	}
	for i, w := range more {
		add(i+5, w)
	}
	t, err := frame.NewTable(frame.Column{Name: "age", Numbers: age},
		frame.Column{Name: "ward", Kind: frame.Categorical, Texts: ward},
		frame.Column{Name: "ill", Kind: frame.Categorical, Texts: ill})
	if err != nil {
		panic(err)
	}
	return learn.FromTable(t).WithSchema(learn.Numeric("age", 0, 100),
		learn.Categorical("ward", "heart", "lungs", "bones", "skin"), learn.Categorical("ill", "no", "yes"))
}

func ill(part learn.DataFrame) *learn.Dataset { return learn.Binary(part, "ill") }

// One record more, in one group, changes the model of that group alone, and one of no group none: for the same noise,
// to the last bit. Each model is that of the group's records by themselves, a group without records has one too, and
// all are paid for as one is.
func TestFitByNeighbours(t *testing.T) {
	seeded := func() learn.Learner { return learn.Logistic{Noise: learn.Seed(3)} }
	budgets := 0
	fit := func(df learn.DataFrame) (*learn.Models, float64) {
		t.Helper()
		budgets++
		b := learn.NewBudget(1, 1e-6, learn.Named(fmt.Sprint(t.TempDir(), budgets)))
		models := must.Get(learn.FitBy(seeded(), df, "ward", ill, b.Spend(0.5)))
		s := must.Get(b.State())
		if len(s.Entries) != 4 {
			t.Errorf("%d lines of the ledger", len(s.Entries))
		}
		return models, s.SpentEpsilon
	}
	base, spent := fit(wards(400))
	one := learn.NewBudget(1, 1e-6, learn.Named(t.TempDir()+" one"))
	part := wards(400).Where(func(r learn.Row) bool { return r.Text("ward") == "heart" }, "ward").Drop("ward")
	alone := must.Get(seeded().Fit(ill(part), one.Spend(0.5)))
	if s, err := one.State(); err != nil || !(spent <= s.SpentEpsilon && spent > 0.999*s.SpentEpsilon) {
		t.Errorf("four groups cost ε = %v and one model %v", spent, s.SpentEpsilon)
	}
	if !sameBits(coefficientsOf(alone), coefficientsOf(base.Of("heart"))) {
		t.Error("the model of a group is not that of its records")
	}
	for more, changes := range map[string]string{"lungs": "lungs", "skin": "skin", "nowhere": ""} {
		next, _ := fit(wards(400, more))
		for _, g := range base.Groups {
			same := sameBits(coefficientsOf(base.Of(g)), coefficientsOf(next.Of(g)))
			if same != (g != changes) {
				t.Errorf("a record of %s more: the model of %s is the same: %v", more, g, same)
			}
		}
	}
	text := base.Display().Text()
	says(t, text, "by ward", "heart", "bones", "skin", "all of them together")
	apart := learn.Models{Column: "ward", Groups: []string{"heart", "lungs"}, Models: []*learn.Model{alone, alone}}
	if text := apart.Display().Text(); !strings.Contains(text, "Guarantee of each") {
		t.Errorf("models of no partition have the guarantee of one:\n%s", text)
	}
	if _, err := base.Illustration().PNG(); err != nil {
		t.Error(err)
	}
}

// A model of a group says of which wherever it is shown, keeps that in its file, also where a release of an earlier
// version gave it back, and takes its own rows of a table.
func TestModelKnowsItsGroup(t *testing.T) {
	df, dir := wards(400), t.TempDir()
	b := learn.NewBudget(1, 1e-6, learn.Named(dir), learn.KeptIn(filepath.Join(dir, "l.json")))
	for range 2 { // the second time given back
		models := must.Get(learn.FitByOnce("x", learn.Logistic{}, df, "ward", ill, b.Spend(0.5)))
		path := filepath.Join(dir, "m.json")
		must.Do(models.Of("bones").Save(path))
		m := must.Get(learn.Load(path))
		if column, group := m.Group(); column != "ward" || group != "bones" ||
			!models.Of("bones").KeptAs("x: ward = bones", filepath.Join(dir, "l.json")) {
			t.Errorf("%q, %q", column, group)
		}
		for _, text := range []string{m.Display().Title, string(must.Get(m.ExportText())), string(must.Get(m.Card()))} {
			says(t, text, "for ill where ward = bones")
		}
		says(t, string(must.Get(m.Card())), "with ward = bones alone")
		own, of := m.OfGroup(df)
		if own.Rows() != 100 || !of {
			t.Errorf("%d rows", own.Rows())
		}
		content, version, err := checksum.Unseal("dpnb model", 2, must.Get(os.ReadFile(path)))
		must.Do(err)
		other := regexp.MustCompile(`("Name":\s*)"bones"`).ReplaceAll(content, []byte(`$1"nowhere"`))
		must.Do(os.WriteFile(path, must.Get(checksum.Seal("dpnb model", version, other)), 0o600))
		if _, err := learn.Load(path); err == nil || !strings.Contains(err.Error(), "its column does not have") {
			t.Errorf("a model of no group of its column: %v", err)
		}
		if own, of := m.OfGroup(df.Drop("ward")); of || own.Rows() != 400 {
			t.Errorf("without the column %d rows", own.Rows())
		}
	}
	m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(ill(df), learn.Simulate(1, 1e-6)))
	if column, _ := m.Group(); column != "" {
		t.Errorf("a model of all is of a group by %q", column)
	}
}

// A person with rows in two groups, of which one counts, is in one of them: to take all rows of a person away changes
// the model of one group alone, to the last bit, in memory and scanned, and all are paid for as one is. With all rows
// that count, people change several.
func TestFitByOfPeople(t *testing.T) {
	testscale.InTurn(t)
	table := must.Get(patients(48).DeriveText(learn.Categorical("ward", "heart", "lungs", "bones"),
		func(r learn.Row) string {
			return []string{"heart", "lungs", "bones"}[(int(r.Number("age"))%3+3)%3]
		}, "age").Table())
	schema := []learn.Field{learn.Numeric("age", 0, 100), learn.Categorical("ill", "no", "yes"),
		learn.Categorical("ward", "heart", "lungs", "bones")}
	id := must.Get(table.Column("id"))
	fits := 0
	fit := func(without string, scanned, people bool) *learn.Models {
		t.Helper()
		rest := table.Filter(func(i int) bool { return id.Text(i) != without })
		df := learn.FromTable(rest).WithSchema(schema...)
		if scanned {
			left := 1000
			df = learn.FromScanner(scans{rest, &left}, nil).WithSchema(schema...)
		}
		if people {
			df = df.PerPerson("id", 1)
		}
		fits++
		b := learn.NewBudget(1, 1e-6, learn.Named(fmt.Sprint(t.Name(), fits)))
		dir := t.TempDir()
		models := must.Get(learn.FitBy(learn.Logistic{Noise: learn.Seed(3)}, df, "ward",
			func(part learn.DataFrame) *learn.Dataset {
				if !people {
					part = part.Drop("id")
				}
				return learn.Binary(part, "ill", learn.Lines(), learn.StoredIn(learn.Storage{Dir: dir, Double: true}))
			}, b.Spend(0.5)))
		if s := must.Get(b.State()); !(s.SpentEpsilon <= 0.5*(1+1e-9)) || len(s.Entries) != 3 {
			t.Errorf("%d entries, ε = %v", len(s.Entries), s.SpentEpsilon)
		}
		return models
	}
	changed := func(base, next *learn.Models) (n int) {
		for _, g := range base.Groups {
			if !sameBits(coefficientsOf(base.Of(g)), coefficientsOf(next.Of(g))) {
				n++
			}
		}
		return n
	}
	for _, scanned := range []bool{false, true} {
		base, several := fit("", scanned, true), 0
		says(t, base.Display().Text(), "any one person, of whose rows one counts", "a person is in at most one group")
		rows := fit("", scanned, false)
		for p := range 48 {
			who := fmt.Sprint("p", p)
			if n := changed(base, fit(who, scanned, true)); n != 1 {
				t.Errorf("scanned %v: without %s %d models are others", scanned, who, n)
			}
			if p%4 == 3 && changed(rows, fit(who, scanned, false)) > 1 {
				several++
			}
		}
		if several == 0 {
			t.Error("nobody has rows in two groups")
		}
	}
}

func coefficientsOf(m *learn.Model) []float64 { return m.Coefficients().Col("coefficient").Float() }

// What is refused costs nothing; a cell that runs again gets its models and pays nothing.
func TestFitByRefusesAndKeeps(t *testing.T) {
	b := learn.NewBudget(1, 1e-6, learn.Named(t.TempDir()), learn.KeptIn(filepath.Join(t.TempDir(), "b.json")))
	spent := func() float64 {
		s := must.Get(b.State())
		return s.SpentEpsilon
	}
	l, df := learn.Logistic{}, wards(200)
	for name, try := range map[string]func() (*learn.Models, error){
		"number": func() (*learn.Models, error) { return learn.FitBy(l, df, "age", ill, b.Spend(0.5)) },
		"Ward":   func() (*learn.Models, error) { return learn.FitBy(l, df, "wards", ill, b.Spend(0.5)) },
		"people": func() (*learn.Models, error) {
			return learn.FitBy(l, df.PerPerson("age", 2), "ward", ill, b.Spend(0.5))
		},
		"people in the records": func() (*learn.Models, error) {
			return learn.FitBy(l, df.DeriveNumber(learn.Numeric("id", 0, 99), func(r learn.Row) float64 {
				return r.Number("age")
			}, "age"), "ward", func(part learn.DataFrame) *learn.Dataset {
				return ill(part.PerPerson("id", 1))
			}, b.Spend(0.5))
		},
		"too much": func() (*learn.Models, error) { return learn.FitBy(l, df, "ward", ill, b.Spend(2)) },
		"nobody":   func() (*learn.Models, error) { return learn.FitBy(nil, df, "ward", ill, b.Spend(0.5)) },
		"records of all groups": func() (*learn.Models, error) {
			return learn.FitBy(l, df, "ward", func(learn.DataFrame) *learn.Dataset { return ill(df) }, b.Spend(0.5))
		},
		"uneven": func() (*learn.Models, error) {
			n := 0.0
			return learn.FitBy(l, df, "ward", func(part learn.DataFrame) *learn.Dataset {
				n++
				return learn.Binary(part, "ill", learn.RowNorm(n))
			}, b.Spend(0.5))
		},
	} {
		m, err := try()
		if err == nil || m != nil || spent() != 0 {
			t.Errorf("%s: %v, spent %v", name, err, spent())
			continue
		}
		cure := strings.Contains(err.Error(), "from a table of its rows (Where), and pay for each")
		if people := strings.HasPrefix(name, "people"); cure != people || strings.Contains(err.Error(), "without") {
			t.Errorf("%s: %v", name, err)
		}
	}
	again := func() []float64 {
		models := must.Get(learn.FitByOnce("illness", l, df, "ward", ill, b.Spend(0.5)))
		var all []float64
		for _, m := range models.Models {
			all = append(all, coefficientsOf(m)...)
		}
		return all
	}
	first, paid := again(), spent()
	if second := again(); !slices.Equal(first, second) || spent() != paid || paid > 0.5*(1+1e-9) {
		t.Errorf("spent %v, then %v", paid, spent())
	}
}

// All of a budget may be for the models of the groups, and they are still there for a cell that runs again.
func TestFitByOnceOfAllOfABudget(t *testing.T) {
	b := learn.NewBudget(1, 1e-6, learn.Named(t.TempDir()))
	for k := range 2 {
		if m, err := learn.FitByOnce("illness", learn.Logistic{}, wards(200), "ward", ill, b.Spend(1)); err != nil ||
			len(m.Models) != 4 {
			t.Errorf("run %d: %v", k, err)
		}
	}
}

// scans is a table that can be scanned so many times.
type scans struct {
	*frame.Table
	left *int
}

func (s scans) Scan(columns []string, f func(*frame.Table) error) error {
	if *s.left == 0 {
		return errors.New("gone")
	}
	*s.left--
	return s.Table.Scan(columns, f)
}

// Rows of no group are in no model, and that is said by the schema alone: also where a value may be missing.
func TestRowsOfNoGroupAreSaid(t *testing.T) {
	for _, c := range []struct {
		ward learn.Field
		want string
	}{
		{learn.Categorical("ward", "heart", "lungs"), "Rows whose ward is missing or none of these"},
		{learn.Categorical("ward", "heart", "lungs").OrMissing(), "Rows whose ward is missing or none of these"},
		{learn.Categorical("ward", "heart", "lungs").OrElse("lungs"), ""},
		{learn.Categorical("ward", "heart", "lungs").OrElse("lungs").OrMissing(), "Rows whose ward is missing, if"},
	} {
		df := wards(40).WithSchema(learn.Numeric("age", 0, 100), c.ward, learn.Categorical("ill", "no", "yes"))
		models := must.Get(learn.FitBy(learn.Logistic{Noise: learn.Seed(1)}, df, "ward", ill, learn.Simulate(1, 1e-6)))
		text := models.Display().Text()
		if strings.Contains(text, "Rows whose") != (c.want != "") || !strings.Contains(text, c.want) {
			t.Errorf("%+v: want %q in\n%s", c.ward, c.want, text)
		}
	}
}

// Between two calls of a name the rule by which rows are in a group may change: who was in the first group and is now
// in the second has a part in both models, so that the second call is paid for beside the first.
func TestFitByOnceAnotherRule(t *testing.T) {
	table := must.Get(wards(400).Table())
	dir := t.TempDir()
	b := learn.NewBudget(2, 1e-6, learn.Named(t.TempDir()))
	fit := func(left int, younger string) (*learn.Models, float64, error) {
		df := learn.FromScanner(scans{table, &left}, nil).WithSchema(learn.Numeric("age", 0, 100),
			learn.Categorical("ill", "no", "yes")).DeriveText(learn.Categorical("part", "one", "two"),
			func(r learn.Row) string {
				if (r.Number("age") < 50) == (younger == "one") {
					return "one"
				}
				return "two"
			}, "age")
		m, err := learn.FitByOnce("illness", learn.Logistic{}, df, "part", func(p learn.DataFrame) *learn.Dataset {
			return learn.Binary(p.Drop("ward"), "ill", learn.StoredIn(learn.Storage{Dir: dir}))
		}, b.Spend(0.5))
		s := must.Get(b.State())
		return m, s.SpentEpsilon, err
	}
	if m, _, err := fit(1, "one"); err == nil || len(m.Models) != 1 {
		t.Fatalf("the second group was scanned: %v", err)
	}
	_, one, _ := fit(0, "one")
	m, both, err := fit(9, "two")
	if err != nil || len(m.Models) != 2 || both < 1.3*one {
		t.Fatalf("%v; ε = %v for one model and %v for two of the same people", err, one, both)
	}
	m, again, err := fit(9, "two")
	if err != nil || again != both {
		t.Errorf("%v; spent %v, then %v", err, both, again)
	}
	if text := m.Display().Text(); strings.Contains(text, "all of them together") {
		t.Errorf("models of two rules have the guarantee of one:\n%s", text)
	}
}
