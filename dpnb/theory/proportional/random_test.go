package proportional

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/loss"
)

// Settings drawn from the whole range that is promised are all solved.
func TestRandomSettings(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	between := func(a, b float64) float64 { return a * math.Exp(r.Float64()*math.Log(b/a)) }
	nu := func() float64 {
		if r.IntN(3) == 0 {
			return 0
		}
		return between(1e-3, 20)
	}
	for range 60 {
		c := logistic(between(1e-3, 1e3), between(1e-6, 1e3), nu(), between(0.01, 20))
		if p, err := c.Solve(nil); err != nil || p.Residual > 1e-10 {
			t.Errorf("%+v: %+v, %v", c, p, err)
		}
	}
	for range 2000 {
		c := Regression{
			Loss: loss.Huber{Threshold: between(1e-3, 1e3)}, AspectRatio: between(1e-3, 1e3), Lambda: between(1e-6, 1e3), Nu: nu(), Kappa: between(0.01, 20),
			Noise: Mix([]float64{r.Float64(), r.Float64(), 1}, Point(between(0.1, 100)), Normal(-1, between(0.01, 10)), Normal(0, between(1e-3, 3))),
		}
		if p, err := c.Solve(nil); err != nil || p.Residual > 1e-10 {
			t.Errorf("%+v: %+v, %v", c, p, err)
		}
	}
	// Without a ridge the criterion for a minimiser and the search for one, which
	// know nothing of each other, agree.
	none := 0
	for range 24 {
		c := logistic(between(0.15, 0.7), 0, 0, between(0.1, 5))
		if r.IntN(2) == 0 {
			c.Nu = between(0.01, 1)
		}
		exists, _ := c.exists()
		_, err := c.Solve(nil)
		if exists != (err == nil) {
			t.Errorf("%+v: a minimiser %v, but %v", c, exists, err)
		}
		if errors.Is(err, ErrNoSolution) {
			none++
		}
	}
	if none == 0 || none == 24 {
		t.Errorf("%d of 24 settings have no minimiser", none)
	}
}
