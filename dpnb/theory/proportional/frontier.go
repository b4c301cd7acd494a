package proportional

import (
	"context"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Frontier returns the best predictions of one mechanism, Objective or Output, over a grid: out[i][j] is for targets[i]
// and ratios[j] (values of d/n, in order, so that each is a good start for the next). Objective perturbation is
// accounted for by the Gaussian case where it is proved and by DTZ24 elsewhere. The rows are computed in parallel; the
// result does not depend on how many at once.
//
// Errors: those of Best, the first by row.
func (t Task) Frontier(m Mechanism, targets []Target, ratios []float64) ([][]Prediction, error) {
	if m != Objective && m != Output {
		return nil, &privacy.ParamError{Name: "Mechanism", Value: m, Want: "Objective or Output"}
	}
	out := make([][]Prediction, len(targets))
	err := parallel.For(context.Background(), len(targets), 0, func(_, i int) (err error) {
		out[i], err = t.frontierRow(m, targets[i], ratios)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (t Task) frontierRow(m Mechanism, g Target, ratios []float64) ([]Prediction, error) {
	row := make([]Prediction, 0, len(ratios))
	terms, err := t.terms(m, g)
	if err != nil {
		return nil, err
	}
	near := math.NaN()
	for _, ratio := range ratios {
		t.AspectRatio = ratio
		if err := t.Validate(); err != nil {
			return nil, err
		}
		p, err := t.bestRidge(m, terms, objective.DTZ24, near)
		if err != nil {
			return nil, err
		}
		near = math.Log(p.Lambda)
		row = append(row, p)
	}
	return row, nil
}
