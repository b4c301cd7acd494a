package explore_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/checksum"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// What is asked of other rows, or of a file that is read otherwise, is another question, of an answer as of a model,
// and is not answered by what was released; the same rows in memory and scanned are the same. What an earlier version
// has kept, which does not say how a file was read, is given back.
func TestOtherRowsAreAnotherRelease(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // where records are stored
	dir := t.TempDir()
	file, ledger := filepath.Join(dir, "people.csv"), filepath.Join(dir, "ledger.json")
	must.Do(os.WriteFile(file, []byte("age;pay;ill\n"+strings.Repeat("30;1,5;no\n40;2,5;yes\n", 200)), 0o600))
	fields := []learn.Field{learn.Numeric("age", 18, 98), learn.Numeric("pay", 0, 4),
		learn.Categorical("ill", "no", "yes")}
	read := func(csv learn.CSV) learn.DataFrame {
		return learn.FromScanner(frame.ScanCSV(file, &csv)).WithSchema(fields...)
	}
	usual := learn.CSV{Comma: ';', Decimal: ','}
	df := read(usual)
	first, rest := df.Split(0.5, "a key")
	for _, released := range []struct {
		what string
		once func(name string, df learn.DataFrame, a learn.Allowance) error
	}{
		{"an answer", func(name string, df learn.DataFrame, a learn.Allowance) error {
			_, err := explore.Mean("pay").Once(name, df, a)
			return err
		}},
		{"a model", func(name string, df learn.DataFrame, a learn.Allowance) error {
			_, err := learn.FitOnce(name, learn.Logistic{}, learn.Binary(df, "ill", learn.Lines()), a)
			return err
		}},
	} {
		for name, of := range map[string]learn.DataFrame{"all": df, "half": first} {
			budget := func() learn.Allowance {
				return learn.NewBudget(8, 1e-6, learn.Named(t.Name()), learn.KeptIn(ledger)).Spend(1)
			}
			name = released.what + " of " + name
			must.Do(released.once(name, of, budget()))
			if err := released.once(name, of, budget()); err != nil {
				t.Errorf("%s: the same again: %v", name, err)
			}
			for says, other := range map[string]learn.DataFrame{
				"Decimal is not set":  read(learn.CSV{Comma: ';'}),
				`Missing is ["k.A."]`: read(learn.CSV{Comma: ';', Decimal: ',', Missing: []string{"k.A."}}),
				"chosen by age":       of.Where(func(r learn.Row) bool { return r.Number("age") > 35 }, "age"),
				"chosen by age, ill":  of.DropMissing("age", "ill"), "the second part of 0.5 and 0.5": rest,
				"ill = yes": of.OfCategory("ill", "yes"),
				"filtered":  of.Collect().Filter(func(int) bool { return true }), "the first 10 rows": of.Head(10),
				"with wage made of age": of.DeriveNumber(learn.Numeric("wage", 0, 4),
					func(learn.Row) float64 { return 1 }, "age"),
				`with "a" in place of "age"`: of.Rename("age", "a").Rename("ill", "b").Rename("a", "age").
					Rename("b", "ill"),
			} {
				if err := released.once(name, other, budget()); err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("%s, of other rows: %v, want one with %q", name, err, says)
				}
			}
			if err := released.once(name, of.Collect(), budget()); err != nil {
				t.Errorf("%s: the same in memory: %v", name, err)
			}
		}
	}
	for _, path := range must.Get(filepath.Glob(ledger + ".releases/*.json")) {
		content := must.Get(os.ReadFile(path))
		text, version, err := checksum.Unseal("dpnb release", 1, content)
		must.Do(err)
		var kept, spec map[string]json.RawMessage
		must.Do(json.Unmarshal(text, &kept))
		must.Do(json.Unmarshal(kept["recipe"], &spec))
		if _, says := spec["seen"]; !says {
			t.Errorf("%s does not say how the table was seen", path)
		}
		delete(spec, "seen")
		kept["recipe"] = must.Get(json.Marshal(spec))
		content = must.Get(checksum.Seal("dpnb release", version, must.Get(json.Marshal(kept))))
		must.Do(os.WriteFile(path, content, 0o600))
	}
	budget := learn.NewBudget(8, 1e-6, learn.Named(t.Name()), learn.KeptIn(ledger))
	if _, err := explore.Mean("pay").Once("an answer of all", first, budget.Spend(1)); err != nil {
		t.Errorf("of an earlier version: %v", err)
	}
}
