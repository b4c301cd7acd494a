package rkw23

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/experiment"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/paper/internal/pictures"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

// What the figures of this room draw, and the tables beside them.
func TestPictures(t *testing.T) {
	testscale.InTurn(t)
	defer measure.Fatal(t)
	seen := pictures.New(t)
	seen.Figure(Figure1(5, 20, 1.2))
	seen.Long(func() { seen.Figure(Figure1(10, 5, 0.75)) })
	shift, branch := TwoErrors()
	seen.Figure(shift, nil)
	seen.Figure(branch, nil)
	seen.Figure(Figure3(Delta))
	seen.Figure(RenyiCurves(2, 20, 200), nil)
	seen.Figure(RenyiBesideDescent())
	seen.Long(func() {
		f, table := measure.Must2(Needed(loss.Huber{Threshold: 1}, 1, 1, Delta))
		seen.Beside(f, *table, nil)
	})
	seen.Figure(Turning(8))
	seen.Figure(Gradients([]int{100, 200, 400}, 2))
	p := population.Population{Records: 300, Features: 5, Design: population.Rademacher,
		Signal: population.Normal(0, 2), Prob: population.Logistic}
	s := p.Draw(noise.NewSeeded(2), nil)
	seen.Figure(Risk(s, 3.7, 4, 2))
	records := &experiment.Records{Rows: s.Rows, Labels: s.Labels, RowNorm: 1}
	other := p.Draw(noise.NewSeeded(3), nil)
	records.Public = &experiment.Records{Rows: other.Rows, Labels: other.Labels, RowNorm: 1}
	set := experiment.Set{Name: "a small set", Train: records, Test: records}
	cost, spoilt, err := Price(set, 1, 3, 2)
	seen.Figure(cost, err)
	seen.Figure(spoilt, err)
	seen.Figure(Rates(set, 1, 2, 2))
	seen.Long(func() {
		f, table := measure.Must2(Compare(set, false, 2))
		seen.Beside(f, *table, nil)
	})
	seen.Compare()
}
