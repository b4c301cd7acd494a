package qop

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// meanRatio is the check of qop/eq4 with densities for σ² times factor.
func meanRatio(run measure.Run, factor float64) claim.Outcome {
	draws := run.Runs(3000)
	src := noise.NewSeeded(63)
	var far float64
	for k, c := range []struct {
		l    loss.Loss
		d, m int
	}{{loss.Squared{}, 1, 4}, {loss.Squared{}, 3, 7}, {loss.Squared{}, 5, 10}, {loss.Huber{Threshold: 1}, 2, 6},
		{loss.Huber{Threshold: 0.05}, 3, 6}} {
		measure.Try(run.Err())
		pair := replacedRecord(c.l, c.d, c.m, 1)
		pair.First, pair.Second = audit.Record{X: make([]float64, c.d)}, pair.First
		told := *pair
		told.Sigma2 *= factor
		var mean measure.Mean
		for r := range draws {
			theta := measure.Must(pair.Draw(false, src.Stream(k).Stream(r)))
			z := measure.Must(told.LossAt(theta))
			mean.Add(math.Exp(-z))
		}
		far = math.Max(far, math.Abs(mean.M-1)/mean.Err())
	}
	return claim.Decide(fmt.Sprintf("means within %.1f standard errors of 1", far), "4.5", far < 4.5,
		"the closed form is not the density")
}
