package learn_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/checksum"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// kept saves and loads a model.
func kept(t *testing.T, m *learn.Model) *learn.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.json")
	must.Do(m.Save(path))
	return must.Get(learn.Load(path))
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// Scales and names that are awkward: logarithms, missing values, others, read off the data.
func TestKeptEncodings(t *testing.T) {
	df := frameOf(t, people)
	for name, data := range map[string]*learn.Dataset{
		"log, fill, else": learn.Binary(df.WithSchema(learn.Log("age", 18, 98).OrMissingAs(40),
			learn.Categorical("city", "Bern").OrElse("else & <more>").OrMissing(),
			learn.Categorical("happy", "no", "yes")), "happy",
			learn.ClipNorm(0.7), learn.Positive("no"), learn.NoBias()),
		"inferred": learn.Binary(frameOf(t, people).WithSchema(), "happy"),
	} {
		if name == "inferred" {
			path := filepath.Join(t.TempDir(), "people.csv")
			must.Do(os.WriteFile(path, []byte(people), 0o600))
			data = learn.Binary(learn.ReadCSV(path), "happy", learn.InferBounds())
		}
		m, err := learn.Logistic{Lambda: 1}.Fit(data, fresh(1, 1e-5).Spend(1))
		if err != nil {
			t.Fatal(name, err)
		}
		back := kept(t, m)
		p, err := m.Predict(df)
		q, errBack := back.Predict(df)
		if err != nil || errBack != nil || !sameBits(p, q) {
			t.Errorf("%s: predicted %v (%v), and were %v (%v)", name, q, errBack, p, err)
		}
		if got := strings.Contains(back.Display().Text(), "READ OFF THE DATA"); got != (name == "inferred") {
			t.Errorf("%s: shown as\n%s", name, back.Display().Text())
		}
		score, err := back.Score(data) // the records are as the loaded model makes them
		was, errWas := m.Score(data)
		if err != nil || errWas != nil || score != was {
			t.Errorf("%s: score %v (%v), and was %v", name, score, err, was)
		}
	}
}

// No digit, letter or sign of the file can be changed without being noticed.
func TestChangedFilesAreRefused(t *testing.T) {
	testscale.Slow(t)
	m := must.Get(learn.Logistic{}.Fit(peopleData(t), fresh(1, 1e-5).Spend(1)))
	path := filepath.Join(t.TempDir(), "model.json")
	must.Do(m.Save(path))
	content := must.Get(os.ReadFile(path))
	load := func(changed []byte) error {
		must.Do(os.WriteFile(path, changed, 0o600))
		_, err := learn.Load(path)
		return err
	}
	for i, c := range content {
		if c == ' ' || c == '\n' || i%3 > 0 && !testscale.Full() {
			continue
		}
		changed := slices.Clone(content)
		if changed[i]++; c == '9' {
			changed[i] = '0'
		}
		if err := load(changed); err == nil {
			t.Fatalf("%q in the place of %q was not noticed, in %s", changed[i], c, content[max(0, i-30):i+10])
		}
	}
	for i := 0; i < len(content)-2; i += 13 {
		if load(content[:i]) == nil {
			t.Fatalf("a file cut at byte %d was loaded", i)
		}
	}
	// What means the same is the same.
	var compact bytes.Buffer
	if err := json.Compact(&compact, content); err != nil || load(compact.Bytes()) != nil {
		t.Errorf("a file without its spaces was refused: %v, %v", err, load(compact.Bytes()))
	}
	digit := regexp.MustCompile(`"Epsilon": ?1`).ReplaceAll(content, []byte(`"Epsilon":0.1`))
	for what, test := range map[string]struct {
		content []byte
		want    string
	}{
		"an ε": {digit, "was changed after it was saved"},
		"version": {bytes.Replace(content, []byte(`"version": 1`), []byte(`"version": 3`), 1),
			"version 3 of its format"},
		"a key in capitals": {bytes.Replace(content, []byte(`"sha256"`), []byte(`"SHA256"`), 1),
			"no file of a dpnb model"},
		"a key twice": {bytes.Replace(content, []byte(`"version"`), []byte(`"version": 1, "version"`), 1),
			"no file of a dpnb model"},
		"nothing":  {nil, "no file of a dpnb model"},
		"a CSV":    {[]byte(people), "no file of a dpnb model"},
		"a ledger": {[]byte(`{"name":"main"}`), "no file of a dpnb model"},
	} {
		if err := load(test.content); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", what, err, test.want)
		}
	}
	if _, err := learn.Load("nowhere.json"); err == nil || !strings.Contains(err.Error(), `no file "nowhere.json"`) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// A file that was changed and sealed anew has no parameters that no fit has, and promises no more than is proved of
// them without a word.
func TestWhatIsLoadedIsValid(t *testing.T) {
	m := must.Get(learn.Logistic{Lambda: 2}.Fit(peopleData(t), fresh(1, 1e-5).Spend(1)))
	path := filepath.Join(t.TempDir(), "model.json")
	must.Do(m.Save(path))
	content, version, err := checksum.Unseal("dpnb model", 2, must.Get(os.ReadFile(path)))
	var compact bytes.Buffer
	must.Do(errors.Join(err, json.Compact(&compact, content)))
	text := compact.Bytes()
	const refused, shown, unproved = "refused", "shown", "GUARANTEE IS NOT PROVED"
	for change, want := range map[string]string{
		`"Lambda":2 → "Lambda":2`:                   shown,
		`"Epsilon":1 → "Epsilon":1.1`:               shown,
		`"Epsilon":1 → "Epsilon":0.1`:               unproved,
		`"Delta":0.00001|1e-05 → "Delta":1e-09`:     unproved,
		`"Epsilon":1 → "Epsilon":-1`:                refused,
		`"Epsilon":1 → "Epsilon":"NaN"`:             refused,
		`"Delta":0.00001|1e-05 → "Delta":"NaN"`:     refused,
		`"Sigma":[0-9.]+ → "Sigma":0.01`:            unproved,
		`"Sigma":[0-9.]+ → "Sigma":"NaN"`:           refused,
		`"Sigma":[0-9.]+ → "Sigma":-1`:              refused,
		`"OutputSigma":[0-9.e-]+ → "OutputSigma":0`: refused,
		`"Adjacency":1 → "Adjacency":2`:             refused,
	} {
		from, to, _ := strings.Cut(change, " → ")
		from = strings.Replace(from, `0.00001|1e-05`, `[0-9.e-]+`, 1)
		at := regexp.MustCompile(from).FindIndex(text)
		if at == nil {
			t.Errorf("%s is not in %s", from, text)
			continue
		}
		changed := slices.Concat(text[:at[0]], []byte(to), text[at[1]:])
		must.Do(os.WriteFile(path, must.Get(checksum.Seal("dpnb model", version, changed)), 0o600))
		got := refused
		if back, err := learn.Load(path); err == nil {
			if got = shown; strings.Contains(back.Display().Text(), unproved) {
				got = unproved
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", change, got, want)
		}
	}
}

// What was not released is not kept: no model without privacy, and of private records neither their number nor their
// checksum.
func TestOnlyWhatWasReleasedIsKept(t *testing.T) {
	plain := must.Get(learn.Logistic{}.FitWithoutPrivacy(peopleData(t)))
	path := filepath.Join(t.TempDir(), "model.json")
	if err := plain.Save(path); err == nil || !strings.Contains(err.Error(), "only released models are kept") {
		t.Errorf("a fit without privacy was kept: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused model left a file")
	}
	var none *learn.Model
	if err := none.Save(path); err == nil {
		t.Error("no model was kept")
	}
	for _, public := range []bool{false, true} {
		df := frameOf(t, people)
		if public {
			df = df.Public()
		}
		m := must.Get(learn.Logistic{}.Fit(learn.Binary(df, "happy"), fresh(1, 1e-5).Spend(1)))
		must.Do(m.Save(path))
		content := must.Get(os.ReadFile(path))
		table, _ := df.Table()
		for what, text := range map[string]string{"rows": `"Rows": 6`, "sum": table.Source.SHA256} {
			if got := strings.Contains(string(content), text); got != public {
				t.Errorf("public %v: the %s is in the file: %v", public, what, got)
			}
		}
		if strings.Contains(string(content), filepath.Dir(table.Source.Path)) {
			t.Error("the file says where the records are on this machine")
		}
	}
}

// A simulation is one for good.
func TestKeptSimulations(t *testing.T) {
	m := must.Get(learn.Logistic{Noise: learn.Seed(5)}.Fit(peopleData(t), learn.Simulate(1, 1e-5)))
	back := kept(t, m)
	if seed, ok := back.Release.Seed(); !ok || seed != 5 || !back.Release.Simulated() {
		t.Errorf("the seed is %d (%v)", seed, ok)
	}
	if back = kept(t, back); back.Release.Warning() != m.Release.Warning() || m.Release.Warning() == "" {
		t.Errorf("warns %q", back.Release.Warning())
	}
}

// The guarantee for people with several rows is kept with the model, and FitOnce does not take it for one of another
// number.
func TestKeptForPeople(t *testing.T) {
	df := frameOf(t, "who,"+strings.ReplaceAll(strings.TrimSpace(people), "\n", "\nA,")+"\n")
	budget := fresh(1, 1e-5)
	fit := func(rows int) (*learn.Model, error) {
		return learn.FitOnce("x", learn.Logistic{}, learn.Binary(df.PerPerson("who", rows), "happy"), budget.Spend(0.5))
	}
	m := must.Get(fit(3))
	back := kept(t, m)
	if x, y := privacy.DeltaUpper(m.Release.Guarantee.Profile, 0.5), privacy.DeltaUpper(back.Release.Guarantee.Profile,
		0.5); x != y || !reflect.DeepEqual(m.Release.Guarantee.Assumptions, back.Release.Guarantee.Assumptions) {
		t.Errorf("δ = %v, and was %v", y, x)
	}
	if _, err := fit(2); err == nil || !strings.Contains(err.Error(), "rows_of_a_person is 2 and was 3") {
		t.Error(err)
	}
	// Nor for one of households.
	house := frameOf(t, "house,"+strings.ReplaceAll(strings.TrimSpace(people), "\n", "\nA,")+"\n")
	if _, err := learn.FitOnce("x", learn.Logistic{}, learn.Binary(house.PerPerson("house", 3), "happy"),
		budget.Spend(0.5)); err == nil || !strings.Contains(err.Error(), `person is "house" and was "who"`) {
		t.Error(err)
	}
}
