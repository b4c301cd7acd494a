package learn_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/registry"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/ledger"
)

// keptBudget is a budget in a file.
func keptBudget(t *testing.T, epsilon float64) *learn.Budget {
	t.Helper()
	return learn.NewBudget(epsilon, 1e-5, learn.Named(unusedName()),
		learn.KeptIn(filepath.Join(t.TempDir(), "ledger.json")))
}

// A cell that runs again gets what was released, to the last bit, and pays once: with a ledger in memory and in a file,
// one after the other and all at once.
func TestFitOncePaysOnce(t *testing.T) {
	testscale.Slow(t)
	for where, budget := range map[string]*learn.Budget{"memory": fresh(1, 1e-5), "file": keptBudget(t, 1)} {
		run := func() *learn.Model {
			m, err := learn.FitOnce("who is happy", learn.Logistic{CurvatureShare: 0.1}, peopleData(t),
				budget.Spend(0.8))
			if err != nil {
				t.Error(where, err)
			}
			return m
		}
		models := make([]*learn.Model, 8)
		var wait sync.WaitGroup
		for i := range models[1:] {
			wait.Go(func() { models[i+1] = run() })
		}
		wait.Wait()
		models[0] = run()
		first, before := 0, regexp.MustCompile(`This is what was released before, (on \S+, )?as "who is happy", .*\n`)
		once := regexp.MustCompile(`Released once, as "who is happy".*\n`)
		for _, m := range models {
			text := m.Display().Text()
			if once.MatchString(text) {
				first++
			} else if said := before.FindStringSubmatch(text); said == nil || (said[1] == "") != (where == "memory") {
				t.Errorf("%s: given again as\n%s", where, text)
			}
			same := before.ReplaceAllString(once.ReplaceAllString(text, ""), "") ==
				before.ReplaceAllString(models[0].Display().Text(), "")
			if !same || !sameBits(m.Theta(), models[0].Theta()) || m.Release.Simulated() {
				t.Errorf("%s: another model", where)
			}
		}
		if first != 1 {
			t.Errorf("%s: %d were released", where, first)
		}
		if e, n := spent(t, budget); e != 0.8 || n != 1 {
			t.Errorf("%s: %d entries, ε = %v", where, n, e)
		}
		// Another name is another release.
		if m, err := learn.FitOnce("again", learn.Logistic{}, peopleData(t), budget.Spend(0.1)); err != nil ||
			sameBits(m.Theta(), models[0].Theta()) {
			t.Errorf("%s: under another name: %v", where, err)
		}
	}
}

// What differs is said in a sentence of words that the user has said, also where much does.
func TestWhatDiffersIsSaidBriefly(t *testing.T) {
	budget, df := fresh(1, 1e-5), learn.Patients(60, 1)
	l, data := learn.Suited(df, "ill")
	must.Get(learn.FitOnce("model", l, data, budget.Spend(0.25)))
	for want, columns := range map[string][]string{`the target is "pressure" and was "ill"`: {"pressure"},
		`column "ward" is not learnt from, and was`:              {"ill", "ward"},
		`columns "smoker", "ward" are not learnt from, and were`: {"ill", "ward", "smoker"},
		`columns "pressure", "smoker", 3 more are not learnt from, and were`: {"ill", "ward", "smoker", "pressure",
			"visits", "weight"},
		`the learner is "Logistic" and was "SVM"`: {"ill", ""}} {
		target, left := columns[0], columns[1:]
		other, data := learn.Suited(df.Drop(slices.DeleteFunc(left, func(c string) bool { return c == "" })...), target)
		if strings.HasPrefix(want, "the learner") {
			other = learn.Logistic{}
		}
		_, err := learn.FitOnce("model", other, data, budget.Spend(0.25))
		if text := fmt.Sprint(err); !strings.Contains(text, ": "+want+". Nothing") || len(text) > 240 ||
			strings.Contains(text, "records.") || strings.Contains(text, "settings.") {
			t.Errorf("%d characters: %s", len(text), text)
		}
	}
}

// Another specification under the same name is refused, and what differs is said.
func TestFitOnceSaysWhatDiffers(t *testing.T) {
	budget, df := fresh(1, 1e-5), frameOf(t, people)
	data := learn.Binary(df, "happy", learn.RowNorm(1))
	must.Get(learn.FitOnce("x", learn.Logistic{Lambda: 2}, data, budget.Spend(0.25)))
	other := func(fields ...learn.Field) *learn.Dataset {
		return learn.Binary(df.WithSchema(fields...), "happy", learn.RowNorm(1))
	}
	s := schema()
	quarter, l := budget.Spend(0.25), learn.Logistic{Lambda: 2}
	wide, city := learn.Numeric("age", 18, 99), learn.Categorical("city", "Bern")
	for name, test := range map[string]struct {
		learner learn.Learner
		data    *learn.Dataset
		a       learn.Allowance
		want    string // empty: it is the same
	}{
		"workers":    {learn.Logistic{Lambda: 2, Workers: 1}, data, quarter, ""},
		"label":      {l, data, quarter.For("else"), ""},
		"λ":          {learn.Logistic{Lambda: 2.0000000000000004}, data, quarter, "is 2.0000000000000004 and was 2"},
		"a setting":  {learn.Logistic{Lambda: 2, BaseRate: 0.1}, data, quarter, "BaseRate is 0.1 and was not set"},
		"learner":    {learn.SVM{Lambda: 2}, data, quarter, `learner is "SVM" and was "Logistic"`},
		"noise":      {learn.Logistic{Lambda: 2, Noise: learn.Seed(1)}, data, quarter, `noise is "of seed 1"`},
		"ε":          {l, data, budget.Spend(0.5), "allowance is Spend(0.5) and was Spend(0.25)"},
		"share":      {l, data, budget.Share(0.25), "allowance is Share(0.25) and was Spend(0.25)"},
		"δ":          {l, data, quarter.WithDelta(1e-9), "WithDelta(1e-09)"},
		"option":     {l, learn.Binary(df, "happy", learn.RowNorm(2)), quarter, "RowNorm is 2 and was 1"},
		"bounds":     {l, other(wide, s[1], s[2]), quarter, "99"},
		"a category": {l, other(s[0], city, s[2]), quarter, "Rome"},
		"no city": {l, learn.Binary(df.Drop("city"), "happy", learn.RowNorm(1)), quarter,
			`column "city" is not learnt from`},
		"target": {l, learn.Binary(df, "city", learn.RowNorm(1)), quarter, `"x" was released before by another ` +
			`specification: the target is "city" and was "happy". Nothing was charged; use another name in place of ` +
			`"x", or`},
		"no label":    {l, learn.Binary(df, "sad"), quarter, "sad"},
		"no learner":  {nil, data, quarter, "no learner"},
		"simulation":  {l, data, learn.Simulate(1, 1e-6), "a simulation costs nothing"},
		"wrong share": {l, data, budget.Share(3), "part of the budget"},
	} {
		_, err := learn.FitOnce("x", test.learner, test.data, test.a)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	answer := func([]byte) (string, error) { return "", nil }
	_, err := learn.Once("x", quarter, map[string]string{"question": "how many"}, nil, nil, answer)
	if want := "is the name of a fit that was released before, and now of an answer"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("an answer by the name of a fit: %v, want %q", err, want)
	}
	if _, err := learn.FitOnce(" ", learn.Logistic{}, data, budget.Spend(0.1)); err == nil {
		t.Error("no name is a name")
	}
	if e, n := spent(t, budget); e != 0.25 || n != 1 {
		t.Errorf("what was refused was charged: %d entries, ε = %v", n, e)
	}
	// Another budget has names of its own.
	if _, err := learn.FitOnce("x", learn.SVM{}, data, fresh(1, 1e-5).Spend(0.5)); err != nil {
		t.Error(err)
	}
}

// Private records may change without a word, for whether they did is private; what is declared public may not.
func TestFitOnceDoesNotLookAtRecords(t *testing.T) {
	for _, public := range []bool{false, true} {
		budget := fresh(1, 1e-5)
		read := func(text string) *learn.Dataset {
			df := frameOf(t, text)
			if public {
				df = df.Public()
			}
			return learn.Binary(df, "happy", learn.RowNorm(1))
		}
		first := must.Get(learn.FitOnce("x", learn.Logistic{}, read(people), budget.Spend(0.5)))
		second, err := learn.FitOnce("x", learn.Logistic{}, read(people+"33,Rome,no\n"), budget.Spend(0.5))
		if public && (err == nil || !strings.Contains(err.Error(), "checksum")) {
			t.Errorf("another public file: %v", err)
		}
		if !public && (err != nil || !sameBits(first.Theta(), second.Theta())) {
			t.Errorf("another private file: %v", err)
		}
	}
}

// errFailing is that of a release that does not come back.
var errFailing = errors.New("failing")

func number(a learn.Allowance, v float64) (float64, error) {
	m, err := learn.Logistic{}.Fit(learn.Binary(learn.Patients(50, 1), "ill"), a)
	if err != nil {
		return 0, err
	}
	return v + 0*m.Norm(), nil
}

func encodeNumber(v float64) ([]byte, error) { return json.Marshal(v) }

func decodeNumber(text []byte) (v float64, err error) { return v, json.Unmarshal(text, &v) }

// Wherever a release breaks off, its name is charged for once at most; before the charge the name stays free.
func TestOnceBreaksOff(t *testing.T) {
	for where, budget := range map[string]*learn.Budget{"memory": fresh(1, 1e-5), "file": keptBudget(t, 1)} {
		once := func(release func(learn.Allowance) (float64, error)) (float64, error) {
			return learn.Once("n", budget.Spend(0.2), 1, release, encodeNumber, decodeNumber)
		}
		_, err := once(func(learn.Allowance) (float64, error) { return 0, errFailing })
		if !errors.Is(err, errFailing) {
			t.Errorf("%s: %v", where, err)
		}
		if _, n := spent(t, budget); n != 0 {
			t.Errorf("%s: %d entries before the charge", where, n)
		}
		_, err = once(func(a learn.Allowance) (float64, error) {
			if _, err := number(a, 7); err != nil {
				t.Error(err)
			}
			return 0, errFailing
		})
		if !errors.Is(err, errFailing) {
			t.Errorf("%s: %v", where, err)
		}
		for range 2 {
			v, err := once(func(a learn.Allowance) (float64, error) { return number(a, 8) })
			if err == nil || !strings.Contains(err.Error(), "The charge stands") {
				t.Errorf("%s: after a lost release: %v, %v", where, v, err)
			}
		}
		// The ledger itself refuses what goes around the store.
		var repeated *ledger.RepeatedError
		_, err = learn.Once("m", budget.Spend(0.2), 1, func(a learn.Allowance) (float64, error) {
			if _, err := number(a, 1); err != nil {
				return 0, err
			}
			return number(a, 2)
		}, encodeNumber, decodeNumber)
		if !errors.As(err, &repeated) {
			t.Errorf("%s: a release that is charged twice: %v", where, err)
		}
		if _, n := spent(t, budget); n != 2 {
			t.Errorf("%s: %d entries", where, n)
		}
	}
}

// What cannot be kept is returned all the same, with an error; what was changed or is of another version is refused,
// and nothing is charged.
func TestOnceKeeping(t *testing.T) {
	dir := t.TempDir()
	budget := learn.NewBudget(1, 1e-5, learn.Named(unusedName()), learn.KeptIn(filepath.Join(dir, "ledger.json")))
	run := func(name string) (float64, error) {
		return learn.Once(name, budget.Spend(0.2), 1, func(a learn.Allowance) (float64, error) { return number(a, 7) },
			encodeNumber, decodeNumber)
	}
	v, err := learn.Once("a", budget.Spend(0.2), 1, func(a learn.Allowance) (float64, error) { return number(a, 7) },
		func(float64) ([]byte, error) { return nil, errFailing }, decodeNumber)
	if v != 7 || !errors.Is(err, errFailing) || !strings.Contains(err.Error(), "could not be kept") {
		t.Errorf("not kept: %v, %v", v, err)
	}
	if v, err := run("b"); v != 7 || err != nil {
		t.Fatal(v, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "ledger.json.releases", "release-b-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	content := must.Get(os.ReadFile(files[0]))
	for _, change := range [][2]string{{`"release": 7`, `"release": 8`}, {`"version": 1`, `"version": 3`}} {
		changed := strings.Replace(string(content), change[0], change[1], 1)
		if changed == string(content) {
			t.Fatalf("%s is not in %s", change[0], content)
		}
		must.Do(os.WriteFile(files[0], []byte(changed), 0o600))
		if _, err := run("b"); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: %v", change[1], err)
		}
	}
	must.Do(os.Remove(files[0]))
	if _, err := run("b"); err == nil || !strings.Contains(err.Error(), "The charge stands") {
		t.Errorf("a file that was removed: %v", err)
	}
	if e, n := spent(t, budget); e < 0.2 || e > 0.4 || n != 2 {
		t.Errorf("%d entries, ε = %v", n, e)
	}
}

// A program that is killed between the charge and the keeping has been charged, and the next one says so; one that is
// killed after it finds what was released.
func TestOnceSurvivesAKill(t *testing.T) {
	const folder, when = "DPNB_ONCE_FOLDER", "DPNB_ONCE_WHEN"
	once := func(dir, at string, release func(learn.Allowance) (float64, error)) (*learn.Budget, float64, error) {
		b := learn.NewBudget(1, 1e-5, learn.Named("kill "+dir), learn.KeptIn(filepath.Join(dir, "ledger.json")))
		v, err := learn.Once("n", b.Spend(0.5), 1, release, encodeNumber, decodeNumber)
		return b, v, err
	}
	if at := os.Getenv(when); at != "" {
		die := func(now string) {
			if at == now {
				self, _ := os.FindProcess(os.Getpid())
				_ = self.Kill()
				select {}
			}
		}
		_, _, err := once(os.Getenv(folder), at, func(a learn.Allowance) (float64, error) {
			die("before")
			v, err := number(a, 7)
			die("between")
			return v, err
		})
		die("after")
		t.Fatal(err)
	}
	for at, want := range map[string]struct {
		value float64
		err   string
	}{"before": {8, ""}, "between": {0, "The charge stands"}, "after": {7, ""}} {
		dir := t.TempDir()
		c := exec.Command(os.Args[0], "-test.run=^TestOnceSurvivesAKill$")
		c.Env = append(os.Environ(), folder+"="+dir, when+"="+at)
		out, err := c.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || strings.Contains(string(out), "FAIL") {
			t.Fatalf("%s: the child was not killed: %v\n%s", at, err, out)
		}
		b, v, err := once(dir, at, func(a learn.Allowance) (float64, error) { return number(a, 8) })
		if _, n := spent(t, b); v != want.value || n != 1 || (err == nil) != (want.err == "") ||
			err != nil && !strings.Contains(err.Error(), want.err) {
			t.Errorf("%s: %v, %v, %d entries", at, v, err, n)
		}
	}
}

// A ledger that was not charged for what is kept beside it, a backup of before or a new one, buys nothing under a name.
func TestAnOlderLedgerIsNoticed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger.json")
	once := func(budget *learn.Budget, name string) error {
		_, err := learn.Once(name, budget.Spend(0.2), 1, func(a learn.Allowance) (float64, error) {
			return number(a, 7)
		}, encodeNumber, decodeNumber)
		return err
	}
	name := unusedName()
	state := func() *learn.Budget {
		registry.Forget(name) // as another program
		return learn.NewBudget(1, 1e-5, learn.Named(name), learn.KeptIn(path))
	}
	must.Do(once(state(), "a"))
	before := must.Get(os.ReadFile(path))
	must.Do(errors.Join(once(state(), "a"), once(state(), "b"), once(state(), "b")))
	after := must.Get(os.ReadFile(path))
	for _, place := range []func() error{func() error { return os.WriteFile(path, before, 0o600) },
		func() error { return os.Remove(path) }} {
		must.Do(place())
		for _, asked := range []string{"b", "c"} {
			if err := once(state(), asked); err == nil || !strings.Contains(err.Error(), "an older ledger") {
				t.Errorf("%s: %v", asked, err)
			}
		}
	}
	must.Do(errors.Join(os.WriteFile(path, after, 0o600), once(state(), "b"), once(state(), "c")))
}
