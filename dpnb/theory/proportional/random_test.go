package proportional

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
)

// endless is how long a solution may take before it counts as without end. The slowest takes a second; the rest is for
// machines that are busy.
const endless = 4 * time.Minute

// Settings drawn from the whole range that is promised are all solved.
func TestRandomSettings(t *testing.T) {
	testscale.InTurn(t)
	r := rand.New(rand.NewPCG(7, 8))
	classifications, regressions, edges := 12, 500, 8
	if testscale.Full() {
		classifications, regressions, edges = 60, 2000, 24
	}
	between := func(a, b float64) float64 { return a * math.Exp(r.Float64()*math.Log(b/a)) }
	nu := func() float64 {
		if r.IntN(3) == 0 {
			return 0
		}
		return between(1e-3, 20)
	}
	for range classifications {
		c := logistic(between(1e-3, 1e3), between(1e-6, 1e3), nu(), between(0.01, 20))
		if p, err := c.Solve(nil); err != nil || p.Residual > 1e-10 {
			t.Errorf("%+v: %+v, %v", c, p, err)
		}
	}
	for range regressions {
		c := Regression{
			Loss: loss.Huber{Threshold: between(1e-3, 1e3)}, AspectRatio: between(1e-3, 1e3),
			Lambda: between(1e-6, 1e3), Nu: nu(), Kappa: between(0.01, 20),
			Noise: Mix([]float64{r.Float64(), r.Float64(), 1}, Point(between(0.1, 100)), Normal(-1, between(0.01, 10)),
				Normal(0, between(1e-3, 3))),
		}
		if p, err := c.Solve(nil); err != nil || p.Residual > 1e-10 {
			t.Errorf("%+v: %+v, %v", c, p, err)
		}
	}
	// Without a ridge the criterion for a minimiser and the search for one, which know nothing of each other, agree.
	none := 0
	for range edges {
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
	if none == 0 || none == edges {
		t.Errorf("%d of %d settings have no minimiser", none, edges)
	}
}

// Other losses and narrow links, far out: solved, or said to have no solution, and neither by a search without end.
func TestFarSettings(t *testing.T) {
	clipped := loss.Clipped(loss.Probit{}, 1.5)
	for _, c := range []struct {
		Classification
		exists bool
	}{
		// The perturbation outweighs the losses by far; this took minutes.
		{Classification{clipped, LogisticLink{}, 17.9, 0, 661, 30.9}, false},
		{Classification{loss.Softplus{Width: 0.02}, LogisticLink{}, 0.0025, 0, 308, 0.64}, false},
		{Classification{loss.Logistic{}, LogisticLink{}, 114, 0, 0.14, 50}, false},
		// Scores so small that f′ hardly moves.
		{Classification{loss.Probit{}, LogisticLink{}, 823.7, 34854, 0, 0.0156}, true},
		{Classification{loss.SmoothedHinge{Width: 0.01}, LogisticLink{}, 16.2, 2.7e-6, 347, 23.8}, true},
	} {
		done := make(chan error, 1)
		go func() {
			_, err := c.Solve(nil)
			done <- err
		}()
		select {
		case err := <-done:
			if c.exists && err != nil || !c.exists && !errors.Is(err, ErrNoSolution) {
				t.Errorf("%s, %s, %+v: %v", c.Loss.Name(), c.Link, c.Classification, err)
			}
		case <-time.After(endless):
			t.Fatalf("%s, %s, %+v: no end after %v", c.Loss.Name(), c.Link, c.Classification, endless)
		}
	}
}

// Uniform noise ten thousand times narrower than the scores.
func TestNarrowUniformNoise(t *testing.T) {
	testscale.SkipUnlessFull(t)
	r := Regression{Loss: loss.PseudoHuber{Threshold: 0.167}, AspectRatio: 0.0066, Lambda: 1.5e-4, Nu: 697, Kappa: 32,
		Noise: Uniform(-1, 1)}
	p := must.Get(r.Solve(nil))
	r.Noise = Normal(0, math.Sqrt(1./3))
	q, err := r.Solve(nil)
	if err != nil || !near(p.RMSE, q.RMSE, 1e-9) || !near(p.Gamma, q.Gamma, 1e-9) {
		t.Errorf("uniform %+v, normal %+v, %v", p, q, err)
	}
}
