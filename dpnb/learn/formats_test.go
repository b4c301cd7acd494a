package learn

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/permit"
	"github.com/dpnb/notebooks/dpnb/internal/registry"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// What is kept of a release is in files that the next version of this module has to find and to read, whatever its
// identifiers are called by then: their names and their keys stand here.
func TestFormatsOfWhatIsKept(t *testing.T) {
	dir := t.TempDir()
	must.Do(os.WriteFile(filepath.Join(dir, "people.csv"), []byte("age,pay\n40,120\n"), 0o600))
	data := Regression(ReadCSV(filepath.Join(dir, "people.csv")).WithSchema(Numeric("age", 18, 98),
		Numeric("pay", 0, 200)), "pay")
	asked := must.Get(specOf(Quantile{Tau: 0.9, Smooth: 0.1}, data))
	plain, err := specOf(Quantile{Tau: 0.9, Workers: 2}, data)
	if err != nil || string(plain.Settings) != `{"Tau":0.9}` {
		t.Errorf("settings %s (%v): what is not set is not written", plain.Settings, err)
	}
	path := filepath.Join(dir, "ledger.json")
	var key []byte
	var said string
	defer func(was func(string)) { ended = was }(ended)
	ended = func(moment string) {
		if moment == "written" {
			key, err = os.ReadFile(filepath.Join(path+".unfinished", formatName))
			said = NewBudget(1, 1e-6, Named("formats"), KeptIn(path)).Display().Text()
		}
	}
	registry.Forget("formats") // which is in the files, and of another folder each time
	a := NewBudget(1, 1e-6, Named("formats"), KeptIn(path)).Spend(0.5).Resumable(permit.New())
	charge := func(a Allowance) (int, error) {
		p := Quantile{Tau: 0.9}.spec()
		m, price, err := priced(data, a, &p)
		return 7, errors.Join(err, a.charge(price, m, "one", a.Noise(nil)))
	}
	read := func(text []byte) (n int, err error) { return n, json.Unmarshal(text, &n) }
	must.Get(Once("a model", a, asked, charge, func(n int) ([]byte, error) { return json.Marshal(n) },
		read))
	release, err2 := os.ReadFile(filepath.Join(path+".releases", formatName))
	charged, err3 := os.ReadFile(path)
	must.Do(errors.Join(err, err2, err3))
	if done := a.budget.Display().Text(); strings.Contains(done, "was paid for") ||
		!strings.Contains(said, `"a model" was paid for; it is not shown yet`) {
		t.Errorf("before it is shown: %s\nand afterwards: %s", said, done)
	}
	must.Do(os.Remove(filepath.Join(path+".releases", formatName)))
	if gone := a.budget.Display().Text(); !strings.Contains(gone, `"a model" was paid for; what was released is gone`) {
		t.Errorf("without the file: %s", gone)
	}
	varies := regexp.MustCompile(`[0-9a-f]{64}|"Key":"[^"]*"|noisy gradient[^"]*|0\.1191632\d*|\d{4}-\d\d-\d\d`)
	for what, f := range map[string]struct {
		got  []byte
		want string
	}{"release": {release, formatRelease}, "key": {key, formatKey}, "ledger": {charged, formatLedger}} {
		var b bytes.Buffer
		if err := json.Compact(&b, f.got); err != nil {
			t.Fatal(what, err)
		}
		if got := varies.ReplaceAllString(b.String(), "…"); got != f.want {
			t.Errorf("%s:\n%s\nwant\n%s", what, got, f.want)
		}
	}
}

const (
	formatName   = "release-a-model-97ff8a35544dcf40.json"
	formatAsked  = `"content":{"name":"a model","budget":"\"formats\", ε = 1, δ = 1e-06","allowance":"Spend(0.5)",`
	formatRecipe = `"recipe":{"learner":"Quantile","settings":{"Tau":0.9,"Smooth":0.1},"noise":"secure","records":` +
		`{"Settings":{"Label":"pay","Task":1,"RowNorm":1,"Centred":true,"Curves":8},"Fields":[{"Name":"age",` +
		`"Lower":18,"Upper":98}],"Label":{"Name":"pay","Upper":200}},"data":"people.csv","seen":{}},"release":`
	formatRelease = `{"format":"dpnb release","version":1,"sha256":"…",` + formatAsked + `"date":"…",` +
		formatRecipe + `7}}`
	formatKey = `{"format":"dpnb unfinished release","version":1,"sha256":"…",` + formatAsked + formatRecipe +
		`{…,"Part":` +
		`{"Epsilon":0.5,"Delta":4.5e-7,"Mu":0,"Squares":false,"Tail":2.3283064365386962e-17},"Mechanism":"…"}}}`
	formatLedger = `{"format":"dpnb ledger","version":2,"sha256":"…","content":{"name":"formats","epsilon":1,` +
		`"delta":0.000001,"adjacency":1,"rule":"either","entries":[{"label":"a model","mechanism":"one",` +
		`"epsilon":0.5,"delta":4.5e-7,"mu":…,"once":"a model","simulated":false}]}}`
)
