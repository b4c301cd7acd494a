package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// ask runs a command line and decodes its JSON answer.
func ask(t *testing.T, args ...string) (map[string]any, error) {
	t.Helper()
	text, err := said(append(args, "--json")...)
	if err != nil {
		return nil, err
	}
	var answer map[string]any
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%v: %v in %q", args, err, text)
	}
	return answer, nil
}

func TestCalculatorOfAComposition(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.json")
	events := `[{"type":"gaussian","sigma":5,"sensitivity":1,"count":10},{"type":"laplace","scale":3,"sensitivity":1},
		{"type":"subsampled-gaussian","sigma":1,"rate":0.01,"count":100},
		{"type":"objective-perturbation","loss":"logistic","radius":1,"lambda":1,"sigma":2,"bound":"tight"}]`
	must.Do(os.WriteFile(file, []byte(events), 0o600))
	for _, adj := range []string{"add-remove", "replace"} {
		eps := must.Get(ask(t, "epsilon", "--events", file, "--delta", "1e-5", "--adjacency", adj))
		e, lower := eps["epsilon"].(float64), eps["epsilon_lower"].(float64)
		if !(lower <= e && e > 1 && e < 20) || eps["adjacency"] != adj || eps["delta"] != 1e-5 || eps["method"] == "" {
			t.Errorf("%s: %v", adj, eps)
		}
		// δ at that ε must come back as no more than the δ that was asked.
		back, err := ask(t, "delta", "--events", file, "--epsilon", strings.TrimSpace(jsonNumber(e*1.001)),
			"--adjacency", adj)
		if err != nil || back["delta"].(float64) > 1e-5 {
			t.Errorf("%s: δ at a slightly larger ε is %v, %v", adj, back, err)
		}
	}
}

func jsonNumber(x float64) string { b, _ := json.Marshal(x); return string(b) }

// The bounds must order, whatever the loss.
func TestCalculatorBounds(t *testing.T) {
	for _, loss := range []string{"logistic", "huber"} {
		last := math.Inf(1)
		for _, bound := range []string{"kst12", "rkw23", "dtz24", "pointwise", "tight", "gaussian-lower"} {
			a := must.Get(ask(t, "epsilon", "--type", "objective-perturbation", "--loss", loss, "--threshold", "1",
				"--radius", "1", "--lambda", "5", "--sigma", "5", "--bound", bound, "--delta", "1e-5"))
			e := a["epsilon"].(float64)
			if e > last*(1+1e-6) {
				t.Errorf("%s: %s gives ε = %v, more than the bound before, %v", loss, bound, e, last)
			}
			last = e
			if lower := strings.Contains(a["method"].(string), "no guarantee"); lower != (bound == "gaussian-lower") {
				t.Errorf("%s: method of %s is %q", loss, bound, a["method"])
			}
		}
	}
}

func TestCalculatorSigma(t *testing.T) {
	gauss := must.Get(ask(t, "sigma", "--type", "gaussian", "--epsilon", "1", "--delta", "1e-5"))
	object := must.Get(ask(t, "sigma", "--type", "objective-perturbation", "--loss", "logistic", "--radius", "1",
		"--lambda", "5", "--epsilon", "1", "--delta", "1e-5"))
	if g, o := gauss["sigma"].(float64), object["sigma"].(float64); !(math.Abs(g-3.7306316) <= 1e-6) || o < g ||
		o > g*1.001 {
		t.Errorf("σ = %v for the Gaussian mechanism, %v for logistic regression with a large λ", g, o)
	}
	if _, err := ask(t, "sigma", "--type", "objective-perturbation", "--loss", "logistic", "--radius", "1", "--lambda",
		"5", "--bound", "gaussian-lower", "--epsilon", "1", "--delta", "1e-5"); err == nil {
		t.Error("noise is chosen by a lower bound")
	}
}

// Laplace noise has an ε at δ = 0, twice that under replace-one, and runs add up.
func TestCalculatorPure(t *testing.T) {
	for adjacency, want := range map[string]float64{"add-remove": 1.5, "replace": 3} {
		a := must.Get(ask(t, "epsilon", "--type", "laplace", "--scale", "2", "--sensitivity", "1", "--count", "3",
			"--delta", "0", "--adjacency", adjacency))
		e, lower := a["epsilon"].(float64), a["epsilon_lower"].(float64)
		if !(lower <= want && want <= e && e-lower < 1e-12) {
			t.Errorf("%s: ε in [%v, %v], want %v", adjacency, lower, e, want)
		}
	}
}

// An error about the value of a flag names the flag, not a field of the package.
func TestErrorsNameFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"epsilon", "--type", "gaussian", "--sigma", "1", "--delta", "2"},
			"--delta 2: give it a number in (0, 1)"},
		{[]string{"epsilon", "--type", "gaussian", "--sigma", "-1", "--delta", "1e-5"},
			"--sigma -1: give it a positive"},
		{[]string{"delta", "--type", "gaussian", "--sigma", "1", "--epsilon", "-1"}, "--epsilon -1: give it a finite"},
		{[]string{"forecast", "--records", "0", "--features", "3", "--epsilon", "1", "--delta", "1e-5"},
			"--records 0: give"},
	} {
		if _, err := said(c.args...); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s…", c.args, err, c.want)
		}
	}
}

func TestCalculatorRefuses(t *testing.T) {
	for name, args := range map[string][]string{
		"unknown type": {"epsilon", "--type", "magic", "--delta", "1e-5"},
		"no δ":         {"epsilon", "--type", "gaussian", "--sigma", "1"},
		"δ = 0":        {"epsilon", "--type", "gaussian", "--sigma", "1", "--delta", "0"},
		"δ = 1":        {"epsilon", "--type", "gaussian", "--sigma", "1", "--delta", "1"},
		"σ = 0":        {"epsilon", "--type", "gaussian", "--sigma", "0", "--delta", "1e-5"},
		"σ = NaN":      {"epsilon", "--type", "gaussian", "--sigma", "NaN", "--delta", "1e-5"},
		"unknown loss": {"epsilon", "--type", "objective-perturbation", "--loss", "poisson", "--radius", "1",
			"--lambda", "1", "--sigma", "1", "--delta", "1e-5"},
		"unknown bound": {"epsilon", "--type", "objective-perturbation", "--loss", "logistic", "--radius", "1",
			"--lambda", "1", "--sigma", "1", "--bound", "hope", "--delta", "1e-5"},
		"λ = 0": {"epsilon", "--type", "objective-perturbation", "--loss", "logistic", "--radius", "1",
			"--lambda", "0", "--sigma", "1", "--delta", "1e-5"},
		"λ ≤ s for rkw23": {"epsilon", "--type", "objective-perturbation", "--loss", "logistic", "--radius", "1",
			"--lambda", "0.2", "--sigma", "1", "--bound", "rkw23", "--delta", "1e-5"},
		"adjacency":    {"epsilon", "--type", "gaussian", "--sigma", "1", "--delta", "1e-5", "--adjacency", "both"},
		"no such file": {"epsilon", "--events", "nowhere.json", "--delta", "1e-5"},
	} {
		if a, err := ask(t, args...); err == nil {
			t.Errorf("%s is answered: %v", name, a)
		}
	}
}

// Every loss is accounted for with its own slope and curvature, for records of the length that was said.
func TestCalculatorKnowsTheLoss(t *testing.T) {
	const threshold, radius = 2.0, 3.0
	for loss, c := range map[string]struct{ slope, smoothness float64 }{"huber": {threshold, 1},
		"pseudo-huber": {threshold, 1}, "softplus": {1, 1 / (4 * threshold)}, "smoothed-hinge": {1, 1 / threshold},
		"logistic": {1, 0.25}} {
		args := []string{"epsilon", "--type", "objective-perturbation", "--loss", loss, "--radius", "3", "--lambda",
			"5", "--sigma", "7", "--bound", "dtz24", "--delta", "1e-5"}
		if loss != "logistic" {
			args = append(args, "--threshold", "2")
		}
		event := objective.Event{Config: objective.Config{Slope: c.slope * radius,
			Smoothness: c.smoothness * radius * radius, Lambda: 5, Sigma: 7, Bound: objective.DTZ24}}
		profile := must.Get(event.Profile(privacy.AddRemove))
		want := must.Get(privacy.EpsilonUpper(profile, 1e-5))
		a, err := ask(t, args...)
		if err != nil || !(math.Abs(a["epsilon"].(float64)/want-1) <= 1e-9) {
			t.Errorf("%s: ε = %v, want %v (%v)", loss, a["epsilon"], want, err)
		}
	}
}
