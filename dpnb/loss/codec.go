package loss

import "github.com/dpnb/notebooks/dpnb/internal/typedjson"

// unclipped stands for a loss that is Clipped.
type unclipped struct {
	Of    Loss
	Level float64
}

// Codec returns what writes down every loss that a learner can have, and the given values beside them: models are kept
// by it, and losses sent to programs that add up elsewhere.
func Codec(others ...any) *typedjson.Codec {
	c := typedjson.New(append(others, Logistic{}, Softplus{}, SmoothedHinge{}, SquaredHinge{}, Probit{}, Squared{},
		Huber{}, PseudoHuber{}, Poisson{}, SmoothPinball{}, Pinball{}, LeastAbsolute{}, Hinge{}, ReLU{}, Softmax{},
		Weighted{})...)
	typedjson.As(c, clipped{}, func(v any) (unclipped, error) {
		of, level, _ := Unclip(v.(Loss))
		return unclipped{of, level}, nil
	}, func(l unclipped) (any, error) { return Clipped(l.Of, l.Level), nil })
	return c
}
