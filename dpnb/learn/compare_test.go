package learn_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Every kind of records can be compared, the same whoever computes it, and the mechanisms' guarantees are equal.
func TestCompare(t *testing.T) {
	testscale.InTurn(t)
	data := kinds(t, 500)
	settings := learn.CompareSettings{Seeds: 2, Noise: learn.Seed(8)}
	for _, from := range []string{"Binary", "Regression", "Counts", "Classes"} {
		c := learn.CompareWith(settings, data[from], 2, learn.AllMechanisms...)
		if err := c.Err(); err != nil {
			t.Fatal(from, err)
		}
		again := c
		if from == "Binary" || testscale.Full() {
			before := runtime.GOMAXPROCS(1)
			again = learn.CompareWith(settings, data[from], 2, learn.AllMechanisms...)
			runtime.GOMAXPROCS(before)
		}
		for i, r := range c.Rows {
			if r.Err != nil {
				t.Errorf("%s, %s: %v", from, r.Mechanism, r.Err)
				continue
			}
			if o := again.Rows[i]; r.Mean != o.Mean || r.Lower != o.Lower || r.Mechanism != o.Mechanism {
				t.Errorf("%s, %s: %v, again %v", from, r.Mechanism, r.Mean, o.Mean)
			}
			if !(r.Lower <= r.Mean && r.Mean <= r.Upper && r.Upper <= 1 && r.Margin >= 0) {
				t.Errorf("%s: %+v", from, r)
			}
		}
		if len(c.Rows)+len(c.Skipped) != len(learn.AllMechanisms) || len(c.Rows) < 2 || !(c.NonPrivate > c.Baseline) {
			t.Errorf("%s: %d rows, %d skipped, %+v", from, len(c.Rows), len(c.Skipped), c)
		}
		if png, err := c.Figure().PNG(); err != nil || len(png) < 5000 {
			t.Errorf("%s: figure of %d bytes, %v", from, len(png), err)
		}
	}
	for _, m := range learn.AllMechanisms {
		fits := 0
		for _, from := range []string{"Binary", "Regression", "Counts", "Classes"} {
			model, err := m.Fit(data[from], learn.Simulate(0.8, 1e-6), learn.Seed(1))
			var other *learn.TaskError
			if errors.As(err, &other) {
				continue
			}
			if err != nil {
				t.Fatal(m.Name(), err)
			}
			fits++
			if d := privacy.DeltaUpper(model.Release.Guarantee.Profile, 0.8); d > 1e-6 {
				t.Errorf("%s of %s: δ(0.8) = %g", m.Name(), from, d)
			}
			if _, err := m.Fit(data[from], learn.Simulate(0.8, 1e-6), noise.NewSecure()); err == nil {
				t.Errorf("%s: a release that nobody pays for", m.Name())
			}
		}
		if fits == 0 {
			t.Errorf("%s fits nothing", m.Name())
		}
	}
}

// KST12's λ and σ are those of the theorem.
func TestKST12Parameters(t *testing.T) {
	data := plain(t, 200)
	m := must.Get(learn.AllMechanisms[3].Fit(data["Binary"], learn.Simulate(0.5, 1e-6), learn.Seed(1)))
	// ‖x‖² ≤ 2: s = 1/2, L = √2.
	if want := 2 * 0.5 / 0.5; !(math.Abs(m.Lambda()-want) <= 1e-9) {
		t.Errorf("λ = %v, want %v", m.Lambda(), want)
	}
	if want := math.Sqrt2 * math.Sqrt(8*math.Log(2e6)+2) / 0.5; !(math.Abs(m.Release.NoiseScale-want) <= 1e-9*want) {
		t.Errorf("σ = %v, want %v", m.Release.NoiseScale, want)
	}
}

// What fails or does not fit says so in its place; the rest is compared.
func TestCompareSaysWhatFails(t *testing.T) {
	data := kinds(t, 300)
	good := learn.MechanismOf("SVM", func(src noise.Source) learn.Learner { return learn.SVM{Noise: src} })
	wrong := learn.MechanismOf("counts only", func(src noise.Source) learn.Learner { return learn.Poisson{Noise: src} })
	broken := learn.MechanismOf("broken", func(src noise.Source) learn.Learner {
		return learn.SVM{Width: -1,
			Noise: src}
	})
	c := learn.Compare(data["Binary"], 1, good, wrong, broken)
	if c.Err() != nil || len(c.Rows) != 2 || len(c.Skipped) != 1 || c.Rows[0].Err != nil || c.Rows[1].Err == nil {
		t.Fatalf("%+v", c)
	}
	var out bytes.Buffer
	display.Out = &out
	defer func() { display.Out = nil }()
	learn.Show(c)
	says(t, out.String(), "SVM", "Not applicable to these records: counts only", "broken: ", "Width", "simulation",
		"[figure: ", "same guarantee")
	if strings.Contains(out.String(), "not declared public") {
		t.Error("invented patients are not taken for public")
	}
	out.Reset()
	path := filepath.Join(t.TempDir(), "people.csv")
	must.Do(os.WriteFile(path, []byte(people+strings.Repeat("50,Bern,yes\n29,Rome,no\n", 4)), 0o600))
	private := learn.Binary(learn.ReadCSV(path).WithSchema(schema()...), "happy", learn.RowNorm(1))
	learn.Show(learn.Compare(private, 1, good))
	if !strings.Contains(out.String(), "not declared public") || strings.Contains(out.String(),
		"on data that are public") {
		t.Errorf("private records are compared without a word:\n%s", out.String())
	}
	for name, c := range map[string]*learn.Comparison{
		"no mechanism": learn.Compare(data["Binary"], 1), "no data": learn.Compare(nil, 1, good),
		"one seed":      learn.CompareWith(learn.CompareSettings{Seeds: 1}, data["Binary"], 1, good),
		"three records": learn.Compare(learn.Regression(learn.Patients(3, 1), "age"), 1, good),
	} {
		if c.Err() == nil || c.Display().Warning == "" {
			t.Errorf("%s: %+v", name, c)
		}
		learn.Show(c)
	}
	if c := learn.Compare(data["Classes"], 1, good); c.Err() != nil || len(c.Rows) != 0 || len(c.Skipped) != 1 ||
		c.Figure() != nil {
		t.Errorf("several classes: %+v", c)
	}
	if c := learn.Compare(data["Binary"], 1, broken); c.Err() != nil || c.Rows[0].Err == nil || c.Figure() != nil {
		t.Errorf("nothing but what is broken: %+v", c)
	}
}

// weaker is a mechanism with another guarantee than it was asked for.
type weaker struct {
	name string
	fit  func(data *learn.Dataset, src noise.Source) (*learn.Model, error)
}

func (w weaker) Name() string { return w.name }
func (w weaker) Fit(data *learn.Dataset, _ learn.Allowance, src noise.Source) (*learn.Model, error) {
	return w.fit(data, src)
}

// A mechanism with a weaker guarantee, or none, is not compared with the others.
func TestCompareChecksTheGuarantee(t *testing.T) {
	data, numbers := kinds(t, 200)["Binary"], kinds(t, 200)["Regression"]
	one := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6)))
	at := func(eps float64) weaker {
		return weaker{"weaker", func(d *learn.Dataset, src noise.Source) (*learn.Model, error) {
			return learn.Logistic{Noise: src}.Fit(d, learn.Simulate(eps, 1e-6))
		}}
	}
	without := weaker{"without", func(d *learn.Dataset, _ noise.Source) (*learn.Model, error) {
		return learn.Logistic{}.FitWithoutPrivacy(d)
	}}
	replaced := weaker{"replace-one", func(_ *learn.Dataset, src noise.Source) (*learn.Model, error) {
		return learn.Median{Noise: src, Steps: 5, ReplaceOne: true}.Fit(numbers, learn.Simulate(1, 1e-6))
	}}
	claims := weaker{"claims", func(d *learn.Dataset, src noise.Source) (*learn.Model, error) {
		m, err := learn.Logistic{Noise: src}.Fit(d, learn.Simulate(2, 1e-6))
		if err == nil {
			m.Release.Guarantee = one.Release.Guarantee
		}
		return m, err
	}}
	nothing := weaker{"nothing", func(*learn.Dataset, noise.Source) (*learn.Model, error) { return nil, nil }}
	c := learn.CompareWith(learn.CompareSettings{Seeds: 2}, data, 1, at(1), at(1.01), without, replaced, claims,
		nothing)
	if c.Err() != nil || len(c.Rows) != 6 {
		t.Fatalf("%+v", c)
	}
	for i, r := range c.Rows {
		if (r.Err == nil) != (i == 0) {
			t.Errorf("%d, %s: %v", i, r.Mechanism, r.Err)
		}
	}
}
