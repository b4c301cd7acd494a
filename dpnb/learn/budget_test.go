package learn_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/checksum"
	"github.com/dpnb/notebooks/dpnb/internal/registry"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/ledger"
)

var freshBudgets atomic.Int64

func unusedName() string { return fmt.Sprintf("test %d", freshBudgets.Add(1)) }

// fresh states a budget that no other test has: of a name of its own.
func fresh(epsilon, delta float64) *learn.Budget {
	return learn.NewBudget(epsilon, delta, learn.Named(unusedName()))
}

func peopleData(t *testing.T) *learn.Dataset {
	t.Helper()
	return learn.Binary(frameOf(t, people), "happy", learn.RowNorm(1))
}

// A ledger in which fits were charged too little says that more was released than it promises, and pays for nothing.
func TestABudgetThatWasExceededSaysSo(t *testing.T) {
	name, path := unusedName(), filepath.Join(t.TempDir(), "ledger.json")
	fit := `{"label":"fit","mechanism":"m","epsilon":0.26,"delta":2.34e-7,"mu":0.002,"simulated":false}`
	text := must.Get(checksum.Seal("dpnb ledger", 1, []byte(`{"name":"`+name+`","epsilon":1,"delta":0.000001,`+
		`"adjacency":1,"rule":"either","entries":[`+strings.Repeat(fit+",", 5)+fit+`]}`)))
	must.Do(os.WriteFile(path, text, 0o600))
	b := learn.NewBudget(1, 1e-6, learn.Named(name), learn.KeptIn(path))
	if it := b.Display(); !strings.Contains(it.Warning, "MORE WAS RELEASED") || !strings.Contains(it.Text(), "1.56") ||
		strings.Contains(it.Text(), "The budget itself") {
		t.Error(it.Text())
	}
	if _, err := (learn.Logistic{}).Fit(peopleData(t), b.Spend(0.01)); err == nil {
		t.Error("it pays")
	}
}

// A budget is what its name says, not what its variable does: in a plain program three fits of a whole budget each are
// one fit and two refusals.
func TestABudgetIsStatedOnce(t *testing.T) {
	for where, option := range map[string]func(name string) learn.BudgetOption{
		"in memory": learn.Named,
		"in a file": func(name string) learn.BudgetOption { return learn.KeptIn(filepath.Join(t.TempDir(), "l.json")) },
	} {
		name := unusedName()
		options := []learn.BudgetOption{learn.Named(name), option(name)}
		for k := range 3 {
			_, err := learn.Logistic{}.Fit(peopleData(t), learn.NewBudget(1, 1e-6, options...).Spend(1))
			var over *ledger.OverspentError
			if k == 0 && err != nil || k > 0 && !errors.As(err, &over) {
				t.Errorf("%s: fit %d: %v", where, k+1, err)
			}
		}
		for _, b := range []*learn.Budget{
			learn.NewBudget(2, 1e-6, options...), learn.NewBudget(1, 1e-5, options...),
			learn.NewBudget(1, 1e-6, append(options, learn.KeptIn(filepath.Join(t.TempDir(), "other.json")))...),
		} {
			if err := b.Err(); err == nil || !strings.Contains(err.Error(), "cannot be changed") {
				t.Errorf("%s: a budget was restated: %v", where, err)
			}
		}
		if _, err := (learn.Logistic{}).Fit(peopleData(t), fresh(1, 1e-6).Spend(1)); err != nil {
			t.Errorf("%s: a budget of another name: %v", where, err)
		}
	}
}

// A plain program that states a budget twice without a name has one, and is told so, once; not where it has said which
// budget it means, nor in a notebook, whose cells state it again and again.
func TestTwoStatementsAreOneBudget(t *testing.T) {
	const env, notice = "DPNB_TEST_STATED", "both are one budget"
	if how := os.Getenv(env); how != "" {
		var options []learn.BudgetOption
		switch how {
		case "named":
			options = append(options, learn.Named("main"))
		case "kept":
			options = append(options, learn.KeptIn("ledger.json"))
		}
		for range 3 {
			must.Do(learn.NewBudget(1, 1e-6, options...).Err())
		}
		learn.NewBudget(2, 1e-6, options...)
		return
	}
	for how, want := range map[string]int{"plain": 1, "named": 0, "kept": 0, "notebook": 0} {
		c := exec.Command(os.Args[0], "-test.run=^TestTwoStatementsAreOneBudget$")
		c.Dir = t.TempDir()
		c.Env = append(os.Environ(), env+"="+how, "GONB_TMP_DIR=", runlog.DirEnv+"=")
		if how == "notebook" {
			c.Env = append(c.Env, runlog.DirEnv+"="+c.Dir)
		}
		said, err := c.CombinedOutput()
		if n := strings.Count(string(said), notice); err != nil || n != want {
			t.Errorf("%s: said %d times, want %d (%v): %s", how, n, want, err, said)
		}
	}
}

// Where a second ledger is called as the one that is opened, that is said, once in a program and among the cells of
// a notebook, and where the budget is shown; not of one that is alone.
func TestASecondLedgerIsSaid(t *testing.T) {
	const env, said = "DPNB_TEST_SECOND", "By its name people.budget.json is another ledger of people: "
	if kept := os.Getenv(env); kept != "" {
		for range 2 {
			must.Do(learn.NewBudget(1, 1e-6, learn.KeptIn(kept)).Err())
		}
		return
	}
	data := peopleData(t)
	t.Chdir(t.TempDir())
	for _, kept := range []string{"people.budget.json", "others.budget.json"} {
		b := learn.NewBudget(1, 1e-6, learn.Named(unusedName()), learn.KeptIn(kept))
		must.Get(learn.Logistic{}.Fit(data, b.Spend(0.1)))
	}
	must.Do(os.WriteFile("people.schema.json", []byte("{}"), 0o600))
	for kept, want := range map[string]bool{"people.budget.json": false, "people.ledger.json": true} {
		for _, run := range []string{"", t.TempDir()} {
			times := 0
			for range 2 { // cells, or programs
				c := exec.Command(os.Args[0], "-test.run=^TestASecondLedgerIsSaid$")
				c.Env = append(os.Environ(), env+"="+kept, "GONB_TMP_DIR=", runlog.DirEnv+"="+run)
				out, err := c.CombinedOutput()
				if times += strings.Count(string(out), said); err != nil {
					t.Errorf("%s: %v: %s", kept, err, out)
				}
			}
			if most := map[bool]int{false: 2, true: 1}[run != ""]; want && times != most || !want && times > 0 {
				t.Errorf("%s in run %q: said %d times", kept, run, times)
			}
		}
		shown := learn.NewBudget(1, 1e-6, learn.Named(unusedName()), learn.KeptIn("./"+kept))
		if kept == "people.budget.json" { // which has a name
			shown = learn.NewBudget(1, 1e-6, learn.KeptIn("./"+kept))
		}
		if text := shown.Display().Text(); strings.Contains(text, said) != want ||
			strings.Contains(text, `KeptIn("people.budget.json")`) != want {
			t.Errorf("shown of %s: %s", kept, text)
		}
	}
}

// What is shown of a budget errs to one side: what was spent is never less than it was, what is left never more, and
// either next to it.
func TestShownFiguresErrToOneSide(t *testing.T) {
	b, data := fresh(1, 1.23456e-6), peopleData(t)
	for _, epsilon := range []float64{0.1234567, 0.2345678, 0.0456789} {
		a := b.Spend(epsilon)
		cost := must.Get(a.Cost(learn.Logistic{}, data))
		must.Get((learn.Logistic{Noise: learn.Seed(1)}).Fit(data, a))
		s := must.Get(b.State())
		e := s.Entries[len(s.Entries)-1]
		spent, left := [2]float64{s.SpentEpsilon, s.SpentDelta}, [2]float64{s.RemainingEpsilon, s.RemainingDelta}
		alone := [2]float64{e.Epsilon, e.Delta}
		after, budget := cost.Display().Rows, b.Display().Rows
		for _, shown := range []struct {
			row  []string
			of   [2]float64
			side float64
		}{
			{after[0], alone, 1}, {after[1], spent, 1}, {after[2], left, -1},
			{budget[len(budget)-3], alone, 1}, {budget[len(budget)-2], spent, 1}, {budget[len(budget)-1], left, -1},
		} {
			for k, want := range shown.of {
				got, err := strconv.ParseFloat(shown.row[len(shown.row)-2+k], 64)
				if off := shown.side * (got - want); err != nil || !(off >= 0 && off <= 1e-3*want) || want == 0 {
					t.Errorf("%v shows %v for %v (%v)", shown.row, got, want, err)
				}
			}
		}
	}
	c := must.Get(b.Curve())
	for i, row := range c.Display().Rows {
		if d, err := strconv.ParseFloat(row[1], 64); err != nil || d < c.Deltas[10*i] || d > 1.001*c.Deltas[10*i] {
			t.Errorf("the curve shows %v for %v (%v)", row, c.Deltas[10*i], err)
		}
	}
}

// In a notebook each cell is a process: the ledger must survive, and the budget must not be restated, neither its (ε,
// δ) nor its place.
func TestBudgetSurvivesCells(t *testing.T) {
	t.Setenv(runlog.DirEnv, t.TempDir())
	data, name, kept := peopleData(t), unusedName(), unusedName()
	// cell states a budget in a process that knows nothing of earlier ones.
	cell := func(name string, epsilon float64, options ...learn.BudgetOption) *learn.Budget {
		registry.Forget(name)
		return learn.NewBudget(epsilon, 1e-6, append(options, learn.Named(name))...)
	}
	must.Get((learn.Logistic{Noise: learn.Seed(1)}).Fit(data, cell(name, 1).Spend(0.7)))
	if _, err := (learn.Logistic{}).Fit(data, cell(name, 1).Spend(0.7)); err == nil {
		t.Error("the next cell has a fresh budget")
	}
	if err := cell(name, 5).Err(); err == nil {
		t.Error("the next cell restated the budget")
	}
	if err := cell(kept, 5).Err(); err != nil {
		t.Errorf("a budget for other data: %v", err)
	}
	dir, _ := runlog.Dir()
	log := must.Get(runlog.Read(dir))
	if len(log.Ledgers) != 2 || len(log.Data) != 1 || len(log.Seeds) != 1 ||
		float64(log.Ledgers[0].EpsilonSpent) != 0.7 {
		t.Errorf("the run log has %+v", log)
	}
	kept = unusedName()
	files := t.TempDir()
	a, b := filepath.Join(files, "a.json"), filepath.Join(files, "b.json")
	if err := os.Symlink("a.json", filepath.Join(files, "link.json")); err != nil {
		t.Skip(err)
	}
	for _, options := range [][]learn.BudgetOption{{learn.KeptIn(a)},
		{learn.KeptIn(filepath.Join(files, "link.json"))}} {
		if err := cell(kept, 1, options...).Err(); err != nil {
			t.Errorf("a ledger in a file: %v", err)
		}
	}
	for _, options := range [][]learn.BudgetOption{{}, {learn.KeptIn(b)}} {
		if err := cell(kept, 1, options...).Err(); err == nil || !strings.Contains(err.Error(), "cannot be changed") {
			t.Errorf("the next cell keeps the budget remote: %v", err)
		}
	}
	if err := cell(name, 1, learn.KeptIn(b)).Err(); err == nil {
		t.Error("a budget of the kernel was begun anew in a file")
	}
}

// A large δ, which is public, is warned of; and where a ledger is kept is said.
func TestABudgetSaysWhatIsOdd(t *testing.T) {
	for delta, large := range map[float64]bool{0.5: true, 1e-3: true, 9.9e-4: false, 1e-6: false, 0: false} {
		it := fresh(1, delta).Display()
		if got := strings.Contains(it.Warning, "is large"); got != large || len(it.Notes) != 0 {
			t.Errorf("δ = %g: warning %q, notes %q", delta, it.Warning, it.Notes)
		}
	}
	path := filepath.Join(t.TempDir(), "ledger.json")
	b := learn.NewBudget(1, 1e-6, learn.Named(unusedName()), learn.KeptIn(path))
	if notes := fmt.Sprint(b.Display().Notes); !strings.Contains(notes, filepath.Base(path)) {
		t.Errorf("kept in %s, said %s", path, notes)
	}
	missing := filepath.Join(filepath.Dir(path), "mistyped", "ledger.json")
	err := learn.NewBudget(1, 1e-6, learn.Named(unusedName()), learn.KeptIn(missing)).Err()
	if err == nil || !strings.Contains(err.Error(), "mistyped") {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// Where the releases amount to less than the sum of their ε, a table with both says so.
func TestLedgerSaysWhyItIsLessThanTheSum(t *testing.T) {
	df := learn.Patients(200, 1)
	for delta, want := range map[float64]bool{1e-5: true, 0: false} {
		b := learn.NewBudget(2, delta, learn.Named(fmt.Sprint(t.TempDir(), delta)))
		for i := range 3 {
			if i == 1 { // one release is as much as its ε
				if text := b.Display().Text(); strings.Contains(text, "add up to") {
					t.Errorf("δ = %g: %s", delta, text)
				}
			}
			l := learn.Linear{Noise: learn.Seed(1)}
			must.Get(l.Fit(learn.Regression(df, "pressure"), b.Spend(0.5)))
		}
		if text := b.Display().Text(); strings.Contains(text, "own ε add up to 1.5, ") != want {
			t.Errorf("δ = %g: %s", delta, text)
		}
	}
	// Of groups it is another reason, with pure ε the only one.
	b := fresh(2, 0)
	must.Get(learn.FitBy(learn.Logistic{Noise: learn.Seed(1)}, df, "ward", ill, b.Spend(0.5)))
	if text := b.Display().Text(); !strings.Contains(text, "a record is in one group at most") {
		t.Errorf("groups: %s", text)
	}
}
