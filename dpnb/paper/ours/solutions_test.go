package ours

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/solutions"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What the solutions of notebook 00 state.
func TestSolutions00(t *testing.T) {
	ill := func(opts ...learn.Option) *learn.Dataset {
		return learn.Binary(learn.Patients(20000, 1), "ill", opts...)
	}
	fit := func(data *learn.Dataset, epsilon float64, seed uint64, name string) (accuracy float64,
		m objpert.Objective) {
		model, err := learn.Logistic{Noise: noise.NewSeeded(seed)}.Fit(data,
			learn.NewBudget(epsilon, 1e-6, learn.Named(name)).Spend(epsilon))
		if err != nil {
			t.Fatal(err)
		}
		if accuracy, err = model.Score(data); err != nil {
			t.Fatal(err)
		}
		m, _ = model.ObjectivePerturbation()
		return accuracy, m
	}
	// 1: how far fits with five seeds are apart.
	apart := func(epsilon float64) string {
		lo, hi := math.Inf(1), math.Inf(-1)
		for seed := range uint64(5) {
			a, _ := fit(ill(learn.RowNorm(1)), epsilon, seed+1, fmt.Sprint("seed ", seed, epsilon))
			lo, hi = min(lo, a), max(hi, a)
		}
		return fmt.Sprintf("%.1f points at ε = %g", 100*(hi-lo), epsilon)
	}
	first := []string{apart(1), apart(0.05)}
	// 2: the bound on the rows and the noise.
	var second []string
	for k, opts := range [][]learn.Option{{learn.RowNorm(1)}, {learn.ClipNorm(1)}, nil} {
		_, m := fit(ill(opts...), 1, 1, fmt.Sprint("norm ", k))
		second = append(second, fmt.Sprintf("%.3f", m.RowNorm), fmt.Sprintf("σ = %.2f", m.Sigma))
	}
	// 3: what a budget that is kept has left.
	path := filepath.Join(t.TempDir(), "ledger.json")
	open := func() *learn.Budget { return learn.NewBudget(1, 0, learn.KeptIn(path)) }
	for range 2 {
		count := explore.Count().Noise(noise.NewSeeded(1))
		if _, err := count.Of(learn.Patients(100, 1), open().Spend(0.4)); err != nil {
			t.Fatal(err)
		}
	}
	left := open().Display()
	third := []string{"ε = " + left.Rows[len(left.Rows)-1][2]}
	_, err := explore.Count().Noise(noise.NewSeeded(1)).Of(learn.Patients(100, 1), open().Spend(0.4))
	if err == nil {
		t.Error("the third count is not refused")
	}
	solutions.Check(t, "00_start_here", first, second, third)
}

// What the solutions of notebook 08 state.
func TestSolutions08(t *testing.T) {
	const delta = 1e-5
	// found is the share of members above all but a hundredth of the strangers.
	found := func(m Membership) (power float64, claim privacy.Profile) {
		in, out, claim, err := m.Scores()
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(out)
		for _, v := range in {
			if v > out[len(out)-1-len(out)/100] {
				power += 1 / float64(len(in))
			}
		}
		return power, claim
	}
	// 1: more and fewer questions.
	survey := Tracing{People: 30, Questions: 3000, Trials: 1000, Delta: delta, Seed: 8}
	many, _ := found(survey)
	survey.Questions = 30
	few, _ := found(survey)
	first := []string{fmt.Sprintf("%.0f %%", 100*many), fmt.Sprintf("%.0f %%", 100*few)}
	// 2: a loose ε.
	survey.Questions, survey.Epsilon = 300, 8
	loose, claim := found(survey)
	second := []string{fmt.Sprintf("%.2f of the members", loose),
		fmt.Sprintf("%.2f are allowed", audit.Allowed(claim, []float64{0.01})[0])}
	// 3 and 4: the private sum of notebook 08 with a part of its noise.
	sum := func(epsilon float64) statistic.Sums {
		m, err := statistic.CalibrateSums(statistic.Means{Of: []statistic.Number{{Lower: -1, Upper: 1}},
			For: statistic.Gaussian}, statistic.Gaussian, epsilon, delta)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	refuted := func(epsilon, part float64, draws int) bool {
		m := sum(epsilon)
		claim, err := mechanism.Profile(m)
		if err != nil {
			t.Fatal(err)
		}
		m.Scale *= part
		src, ctx := noise.NewSeeded(8), context.Background()
		pairs, err := audit.Domain{Lower: []float64{-3}, Upper: []float64{3}, Labels: []float64{0}}.Pairs(
			privacy.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		pair, err := audit.Worst(ctx, m, pairs, nil, src.Stream(0))
		if err != nil {
			t.Fatal(err)
		}
		r, err := audit.Mechanism(ctx, m, pair, &audit.Options{Draws: draws, Delta: delta, Claim: claim}, src.Stream(1))
		if err != nil {
			t.Fatal(err)
		}
		return r.Refuted
	}
	words := func(draws string, refuted bool) string {
		if refuted {
			return draws + " it is"
		}
		return draws + " it is not refuted"
	}
	third := []string{words("10,000 draws", refuted(12, 0.95, 10_000)), words("20,000", refuted(12, 0.95, 20_000))}
	fourth := []string{fmt.Sprintf("μ = %.2f", 1/sum(1).Scale), words("10,000 draws", refuted(1, 0.7, 10_000))}
	// 5: neighbours that agree.
	m, err := objpert.Calibrate(objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 1, Delta: delta,
		Adjacency: privacy.AddRemove})
	if err != nil {
		t.Fatal(err)
	}
	var fifth []string
	for _, label := range []float64{-1, 1} {
		n := &audit.Neighbours{Loss: loss.Logistic{}, Rows: matrix.NewDense(80, 1, nil), Labels: make([]float64, 80),
			Lambda: m.Lambda, Sigma: m.Sigma, Extra: []float64{1}, ExtraLabel: 1}
		for i := range n.Labels {
			n.Rows.Data[i], n.Labels[i] = 1, label
		}
		losses, err := audit.Losses(n, privacy.Add, 20_000, 0, noise.NewSeeded(8))
		if err != nil {
			t.Fatal(err)
		}
		delta := audit.DeltaOfLosses(losses, 0, 0.99, noise.NewSeeded(9)).Estimate
		fifth = append(fifth, fmt.Sprintf("δ(0) = %.3f", delta))
	}
	solutions.Check(t, "08_audit", first, second, third, fourth, fifth)
}
