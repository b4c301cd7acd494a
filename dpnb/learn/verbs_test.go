package learn_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// Verbs carry the schema with them, and what is derived can be learnt from; a file that is scanned gives the same
// records as one in memory.
func TestVerbs(t *testing.T) {
	text := "id,age,since,city,happy\na,31,01.02.2020,Bern,yes\nb,64,x,Rome,no\na,40,05.06.2021,Bern,yes\n" +
		"c,20,,Oslo,no\n"
	path := filepath.Join(t.TempDir(), "a.csv")
	must.Do(os.WriteFile(path, []byte(text), 0o600))
	schema := []learn.Field{learn.Numeric("age", 18, 98), learn.Weekday("since", "02.01.2006").OrMissing(),
		learn.Categorical("city", "Bern", "Rome"), learn.Categorical("happy", "no", "yes")}
	file := filepath.Join(t.TempDir(), "schema.json")
	var want []float64
	for k, df := range []learn.DataFrame{learn.ReadCSV(path), learn.FromScanner(frame.ScanCSV(path, nil))} {
		df = df.Where(func(r learn.Row) bool { return r.Number("age") > 20 }, "age").Drop("id").WithSchema(schema...).
			Rename("city", "town").
			DeriveNumber(learn.Numeric("old", 0, 1), func(r learn.Row) float64 {
				return map[bool]float64{true: 1}[r.Number("age") > 60]
			}, "age").
			DeriveText(learn.Categorical("in Bern", "no", "yes"), func(r learn.Row) string {
				return map[bool]string{false: "no", true: "yes"}[r.Text("town") == "Bern"]
			}, "town")
		must.Do(df.SaveSchema(file))
		d := must.Get(learn.Binary(df.WithSchemaFile(file), "happy", learn.Uncentred(),
			learn.StoredIn(learn.Storage{Dir: t.TempDir(), Double: true})).Design())
		var got []float64
		row := make([]float64, d.Width())
		for i := range d.Records() {
			d.Rows.Row(row, i)
			got = append(append(got, row...), d.Labels[i])
		}
		if k == 0 {
			want = got
		}
		if len(got) != 3*(1+1+8+2+1+2+1) || !slices.Equal(got, want) {
			t.Errorf("records %v, want %v", got, want)
		}
		if c := df.Check(); c.Err() != nil || len(c.Misfits) != 1 || c.Misfits[0].Lines[0] != 3 {
			t.Errorf("misfits %+v, %v", c.Misfits, c.Err())
		}
		a, b := df.Split(0.5, "k", "age")
		if a.Err() != nil || b.Err() != nil || a.Collect().Rows()+b.Collect().Rows() != 3 {
			t.Errorf("parts of %d and %d rows, %v, %v", a.Collect().Rows(), b.Collect().Rows(), a.Err(), b.Err())
		}
	}
	book := filepath.Join(t.TempDir(), "book.csv")
	text = "name,type,lower,upper\nage,number,0,99\nheight,number,1,2\n"
	must.Do(os.WriteFile(book, []byte(text), 0o600))
	for name, df := range map[string]learn.DataFrame{`"height"`: learn.ReadCSV(path).WithCodebook(book),
		`"town"`: learn.ReadCSV(path).WithSchemaFile(file)} {
		if err := df.Err(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want it to mention %s", err, name)
		}
	}
}

// What does not fit is for the keeper's eyes, not for a report, whatever it is.
func TestCheckIsInNoReport(t *testing.T) {
	df := frameOf(t, "age,happy\n31,No\n520,yes\n").WithSchema(learn.Numeric("age", 0, 110),
		learn.Categorical("happy", "no", "yes"))
	if c := df.Check(); len(c.Misfits) != 2 {
		t.Errorf("%+v", c.Misfits)
	}
	t.Setenv(runlog.DirEnv, t.TempDir())
	for name, df := range map[string]learn.DataFrame{"two": df, "none": df.Head(0)} {
		c := df.Check()
		if text := c.Display().Text(); c.Misfits != nil || !strings.Contains(text, "dpnb check") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if c := df.Public().Check(); len(c.Misfits) != 2 {
		t.Errorf("public records: %+v", c.Misfits)
	}
	if c := learn.FromTable(must.Get(df.Table())).Check(); c.Err() == nil {
		t.Error("no schema, and no error")
	}
}

// Must and Valid say what is wrong, and let pass what is not.
func TestValid(t *testing.T) {
	df := learn.Patients(10, 1)
	budget := learn.NewBudget(1, 1e-6, learn.Named(t.TempDir()))
	learn.Valid(df, learn.Binary(df, "ill"), budget, nil)
	for name, wrong := range map[string]any{"a column": learn.Binary(df, "il"), "an error": errors.New("x"),
		"a budget": learn.NewBudget(-1, 0, learn.Named(t.TempDir()+" of none"))} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s passes", name)
				}
			}()
			learn.Valid(df, wrong)
		}()
	}
	defer func() {
		if said := fmt.Sprint(recover()); said != "x\ny" {
			t.Errorf("what is wrong twice is said so: %q", said)
		}
	}()
	learn.Valid(errors.New("x"), errors.New("y"), errors.New("x"))
}

// A row on which the function of Filter panics is left out, for an error would be about it.
func TestFilterHasNoPanic(t *testing.T) {
	odd := learn.Patients(10, 1).Filter(func(row int) bool {
		if row == 3 {
			panic("a record that no one foresaw")
		}
		return row < 8
	})
	if odd.Err() != nil || odd.Rows() != 7 {
		t.Errorf("%d rows, %v", odd.Rows(), odd.Err())
	}
}

// Categories that look like two spellings of one are named by what is public.
func TestSchemaSaysWhatDiffersInCapitals(t *testing.T) {
	df := learn.FromTable(must.Get(learn.Patients(3, 1).Table()))
	for note, field := range map[string]learn.Field{`"no" and "No" of ill`: learn.Categorical("ill", "no", "yes", "No"),
		"": learn.Categorical("ill", "no", "yes")} {
		text := df.WithSchema(field).Schema().Text()
		if !strings.Contains(text, note) || note == "" && strings.Contains(text, "capital") {
			t.Errorf("%q is not in %s", note, text)
		}
	}
}

// A typical value is a public assumption as bounds are: the schema shows it, and every report on records says it.
func TestTypicalValuesAreSaid(t *testing.T) {
	df := learn.FromTable(must.Get(learn.Patients(30, 1).Table())).Drop("weight", "smoker", "pressure",
		"ward").WithSchema(
		learn.Numeric("age", 18, 90), learn.Numeric("visits", 0, 12).Typically(2),
		learn.Categorical("ill", "no", "yes"))
	if text := df.Schema().Text(); !strings.Contains(text, "0 to 12, typically 2") {
		t.Errorf("not in the schema: %s", text)
	}
	design := must.Get(learn.Binary(df, "ill", learn.Lines()).Design())
	var said string
	for _, s := range design.Steps {
		said += s.What + "; " + s.Assumes + "\n"
	}
	says(t, said, "visits ∈ [0, 12], typically 2", "typical values and categories are public")
}
