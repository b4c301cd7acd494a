package learn_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// goldenVariable asks, where it is not empty, for the files of models to be written anew.
const goldenVariable = "DPNB_GOLDEN"

// golden are models of every learner that were saved by an earlier version: testdata/models.
func golden(t *testing.T) map[string]func() (*learn.Model, error) {
	data, centred, planted := plain(t, 60), kinds(t, 60), interpolating(t, 60)
	fit := func(l learn.Learner, d *learn.Dataset) func() (*learn.Model, error) {
		return func() (*learn.Model, error) { return l.Fit(d, learn.Simulate(1, 1e-5)) }
	}
	src := learn.Seed(1)
	return map[string]func() (*learn.Model, error){
		"logistic":  fit(learn.Logistic{Noise: src}, data["Binary"]),
		"curvature": fit(learn.Logistic{Noise: src, CurvatureShare: 0.2}, data["Binary"]),
		"svm":       fit(learn.SVM{Noise: src}, data["Binary"]),
		"linear":    fit(learn.Linear{Noise: src}, data["Regression"]),
		"lasso":     fit(learn.Linear{Noise: src, Regularise: learn.Regulariser{L1: 5}}, data["Regression"]),
		"huber":     fit(learn.Huber{Noise: src}, data["Regression"]),
		"quantile":  fit(learn.Quantile{Noise: src}, data["Regression"]),
		"quantiles": fit(learn.Quantiles{Noise: src}, data["Regression"]),
		"centred-quantiles": fit(learn.Quantiles{Noise: src, Levels: []float64{0.25, 0.5}, CurvatureShare: 0.2},
			centred["Regression"]),
		"centred-svm":     fit(learn.SVM{Noise: src, CurvatureShare: 0.05}, centred["Binary"]),
		"centred-huber":   fit(learn.Huber{Noise: src}, centred["Regression"]),
		"centred-pure":    fit(learn.Logistic{Noise: src, Pure: true}, centred["Binary"]),
		"centred-poisson": fit(learn.Poisson{Noise: src}, centred["Counts"]),
		"centred-softmax": fit(learn.Softmax{Noise: src}, centred["Classes"]),
		"centred-lambda":  fit(learn.Linear{Noise: src, Lambda: 3}, centred["Regression"]),
		"heavytails":      fit(learn.HeavyTails{Noise: src}, data["Regression"]),
		"poisson":         fit(learn.Poisson{Noise: src}, data["Counts"]),
		"softmax":         fit(learn.Softmax{Noise: src}, data["Classes"]),
		"onevsrest":       fit(learn.OneVsRest{Noise: src}, data["Classes"]),
		"tuned": fit(learn.Tune{Noise: src, Learners: []learn.Learner{learn.Logistic{}, learn.SVM{}}},
			data["Binary"]),
		"quadratic": fit(learn.Quadratic{Noise: src, Interpolation: learn.AssumeInterpolation(anchorOf(planted), 0.5)},
			planted),
	}
}

func anchorOf(d *learn.Dataset) []float64 { return make([]float64, d.Features()) }

// Files of models that an earlier version wrote are read, and written again to the last byte: a change of the form is
// noticed, and has to have a new version and a way to read the old one.
func TestSavedModelsOfEarlierVersions(t *testing.T) {
	dir := filepath.Join("testdata", "models")
	if os.Getenv(goldenVariable) != "" {
		for name, fit := range golden(t) {
			m, err := fit()
			if err == nil {
				err = m.Save(filepath.Join(dir, name+".json"))
			}
			if err != nil {
				t.Fatal(name, err)
			}
		}
	}
	patients := learn.Patients(4, 2)
	for name := range golden(t) {
		path := filepath.Join(dir, name+".json")
		was := must.Get(os.ReadFile(path))
		m, err := learn.Load(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again := filepath.Join(t.TempDir(), "again.json")
		must.Do(m.Save(again))
		if now, err := os.ReadFile(again); err != nil || string(now) != string(was) {
			t.Errorf("%s: written again it is another file (%v)", name, err)
		}
		if name == "quadratic" {
			continue // of records of its own
		}
		if p := m.PredictFrame(patients); p.Err != nil || p.Nrow() != 4 {
			t.Errorf("%s: %v", name, p.Err)
		}
	}
	// A digit that was changed is noticed.
	text, err := os.ReadFile(filepath.Join(dir, "logistic.json"))
	if err != nil || !json.Valid(text) {
		t.Fatal(err)
	}
	for i := len(text) / 2; ; i++ {
		if text[i] >= '1' && text[i] <= '8' {
			text[i]++
			break
		}
	}
	broken := filepath.Join(t.TempDir(), "broken.json")
	must.Do(os.WriteFile(broken, text, 0o600))
	if _, err := learn.Load(broken); err == nil {
		t.Error("a digit may be changed")
	}
}
