package rkw23_test

import (
	"context"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/experiment"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/paper/rkw23"
)

// On clusters that any method can tell apart, honest tuning pays for its runs.
func TestDPSGDIsTunedHonestlyAndDishonestly(t *testing.T) {
	defer measure.Fatal(t)
	set := measure.Must(experiment.Synthetic("small", dataset.Clusters{Records: 3000, Features: 10, Informative: 5,
		Separation: 2, Seed: 3}))
	g := rkw23.Figure2([]experiment.Set{set}, rkw23.HonestDPSGD(5), rkw23.DishonestDPSGD(5))
	g.Epsilons, g.Trials = []float64{0.03}, 4
	cells := measure.Must(g.Run(context.Background()))
	mean := map[string]float64{}
	for _, c := range cells {
		mean[c.Mechanism] = c.Mean
	}
	t.Log(mean)
	if !(mean["dpnb"] > mean["honest DP-SGD"] && mean["dishonest DP-SGD"] > mean["honest DP-SGD"]) {
		t.Errorf("accuracies %v", mean)
	}
	bare := *set.Train
	bare.Public = nil
	if _, err := rkw23.HonestDPSGD(5).Fit(&bare, 1, 1e-5, noise.NewSeeded(1)); err == nil ||
		!strings.Contains(err.Error(), "public records") {
		t.Errorf("tuned without public records: %v", err)
	}
}
