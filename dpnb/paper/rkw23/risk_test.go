package rkw23

import (
	"os"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

// What notebook 02 says of Risk: the measured excess rises with λ from the first, where both bounds still fall, and the
// bound without n is closer by orders of magnitude there, and by a factor of two at the end.
func TestRiskIsAsTheNotebookSays(t *testing.T) {
	defer measure.Fatal(t)
	p := population.Population{Records: 2000, Features: 5, Design: population.Rademacher,
		Signal: population.Normal(0, 2), Prob: population.Logistic}
	notebook, err := os.ReadFile("../../../notebooks/02_objective_perturbation.ipynb")
	if err != nil || !strings.Contains(string(notebook), "The measured excess rises with λ from the first, where both "+
		"bounds still fall") {
		t.Errorf("the notebook does not say it (%v)", err)
	}
	const seed = 2 // of the notebook
	s := p.Draw(noise.NewSeeded(seed), nil)
	e := empiricalOf(erm.Problem{Rows: s.Rows, Labels: s.Labels, Loss: loss.Logistic{}, Lambda: 1})
	var before, beforePrinted, beforeSharper, ratio float64
	for i, lambda := range []float64{0.5, 0.8, 1.28, 10, 100, 576} {
		e.p.Lambda = lambda
		excess := e.meanExcess(3.7, 60, noise.NewSeeded(seed))
		printed, sharper := e.bounds(3.7)
		if ratio = printed / sharper; i == 0 && ratio < 100 {
			t.Errorf("seed %d: the bounds are a factor of %.1f apart at the first λ", seed, ratio)
		}
		falls := printed < beforePrinted && sharper < beforeSharper
		if i > 0 && !(excess > 1.05*before) || i == 1 && !falls || excess > sharper {
			t.Errorf("seed %d, λ = %g: excess %.2f after %.2f, bounds %.1f and %.1f after %.1f and %.1f", seed, lambda,
				excess, before, printed, sharper, beforePrinted, beforeSharper)
		}
		before, beforePrinted, beforeSharper = excess, printed, sharper
	}
	if ratio < 1.9 || ratio > 2.1 {
		t.Errorf("seed %d: the bounds are a factor of %.2f apart at the last λ", seed, ratio)
	}
}
