package learn

import (
	"sync"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/internal/typedjson"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/additive"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/constrained"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/mechanism/qop"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/mechanism/ssp"
)

// mechanisms writes down the mechanisms of all learners with what they are made of. A learner whose mechanism is not
// among them cannot be saved, which its test says.
var mechanisms = sync.OnceValue(func() *typedjson.Codec {
	c := loss.Codec(
		mechanism.Group{}, mechanism.Replaced{}, geometry.Centred{}, additive.Boosting{},
		objpert.Objective{}, objpert.Counted{}, objpert.Output{}, interval.Curvature{}, constrained.Objective{},
		multiclass.Softmax{}, multiclass.OneVsRest{},
		sgd.Quantiles{}, sgd.Counted{}, sgd.Curvature{}, sgd.Descent{}, sgd.Plain{}, sgd.Momentum{}, sgd.Adam{},
		sgd.Adaptive{}, sgd.Projected{},
		ssp.AdaSSP{}, ssp.Boosted{}, ssp.Functional{}, ssp.TukeyEM{},
		pure.Objective{}, pure.Output{}, pure.Counted{}, pure.Phases{},
		composite.None{}, composite.L1{}, composite.GroupL1{}, composite.Everywhere{}, composite.Ball{},
		composite.Box{}, composite.Simplex{},
		qop.Perturbation{}, bestOf{},
	)
	keepInterpolation(c)
	return c
})

// anchored stands for an Interpolation.
type anchored struct {
	Anchor []float64
	Within float64
}

// keepInterpolation has a codec write down what Quadratic assumes.
func keepInterpolation(c *typedjson.Codec) {
	typedjson.As(c, qop.Interpolation{}, func(v any) (anchored, error) {
		a := v.(qop.Interpolation)
		return anchored{a.Anchor(), a.Eta()}, nil
	}, func(a anchored) (any, error) { return qop.AssumeInterpolation(a.Anchor, a.Within), nil })
}
