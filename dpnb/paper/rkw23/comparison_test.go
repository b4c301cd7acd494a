package rkw23

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/paper/experiment"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// The ε of fit and output noise together is that of the mechanism itself.
func TestPriceIsTheMechanisms(t *testing.T) {
	defer measure.Fatal(t)
	m := measure.Must(calibratedHere(math.Sqrt2, 1, Delta))
	m.Tolerance, m.OutputSigma = rkw23Tolerance, 0.02
	p := measure.Must(m.Profile())
	want := measure.Must(privacy.EpsilonUpper(p, Delta))
	got, err := spent(m, m.Tolerance, m.OutputSigma)
	if err != nil || math.Abs(got/want-1) > 1e-6 {
		t.Errorf("ε = %v, of the mechanism %v, %v", got, want, err)
	}
	if without, _ := spent(m, 1e-9, m.OutputSigma); !(got > 1.5*without) {
		t.Errorf("the tolerance costs nothing: %v and %v", got, without)
	}
}

// What is printed for a set is found by its name.
func TestComparedWithWhatIsPrinted(t *testing.T) {
	for name, want := range map[string]string{"Synthetic-L": "77.34", "Adult, encoded as published": "78.32",
		"Adult": "–", "Invented people in place of Adult, encoded as published": "–"} {
		if got := printed(experiment.Set{Name: name}, honest, 0.1); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// The learning rate decides: the lowest learns nothing that the best does not know far better.
func TestRatesMatter(t *testing.T) {
	set, err := experiment.Synthetic("small", dataset.Clusters{Records: 800, Features: 5, Informative: 5, Separation: 2,
		Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	rates, cells, err := atRates(set, 1, 2, 1)
	if err != nil || len(cells) != 2+len(rates) || cells[0].Mechanism != ours || cells[1].Mechanism != honest {
		t.Fatalf("%d rates, %d cells, %v", len(rates), len(cells), err)
	}
	best := 0.0
	for _, c := range cells[2:] {
		best = max(best, c.Mean)
	}
	if worst := cells[2].Mean; !(best > worst+0.05) {
		t.Errorf("at the rate %g accuracy %v, at the best %v", rates[0], worst, best)
	}
}
