package heavytail

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// The extension on a ball by one variable, by Algorithm 3 and, for the absolute loss, from below by the dual and, where
// the ball does not bind, the cut loss are the same; its subgradients are no longer than C and below f_C everywhere.
func TestOnBall(t *testing.T) {
	testscale.Slow(t)
	src := noise.NewSeeded(9)
	inside := func(d int) []float64 {
		w := make([]float64, d)
		src.Gaussian(w, 1)
		floats.Scale(math.Pow(src.Float64(), 0.3)/floats.Norm(w, 2), w)
		return w
	}
	bound := 0
	for i := range 60 {
		d := 1 + i%3
		e := OnBall{Loss: allLosses[i%len(allLosses)], C: math.Exp(src.NormFloat64() - 0.5), Radius: 1}
		x, y := make([]float64, d), 2*src.NormFloat64()
		src.Gaussian(x, 2)
		if !e.Loss.ValidLabel(y) {
			y = math.Copysign(1, y)
		}
		norm := floats.Norm(x, 2)
		f := func(g, w []float64) float64 {
			v, slope := e.slope(floats.Dot(x, w), norm, y)
			floats.ScaleTo(g, slope, x)
			return v
		}
		w, g, other := inside(d), make([]float64, d), make([]float64, d)
		got := e.At(g, w, x, y)
		const alpha = 0.05
		want := measure.Must(ExtendedAt(f, w, Exactly(composite.Ball{Radius: 1}), e.C, alpha, 2, 3e6))
		if got > want+1e-9 || got < want-alpha || floats.Norm(g, 2) > e.C*(1+1e-9) || got > f(other, w)+1e-9 {
			t.Errorf("%s: %v, by Algorithm 3 %v, ‖g‖ = %v of %v", e.Loss.Name(), got, want, floats.Norm(g, 2), e.C)
		}
		for range 60 {
			u := inside(d)
			if at := e.At(other, u, x, y); got+floats.Dot(g, u)-floats.Dot(g, w) > at+1e-9*(1+math.Abs(at)) {
				t.Errorf("%s: no subgradient, by %v", e.Loss.Name(), got+floats.Dot(g, u)-floats.Dot(g, w)-at)
			}
		}
		if math.Abs(floats.Dot(g, x)) < 0.99*norm*floats.Norm(g, 2) {
			bound++
		}
		if (e.Loss == loss.LeastAbsolute{}) {
			minus := floats.ScaleTo(make([]float64, d), -1, x)
			p := Polyhedral{A: [][]float64{x, minus}, B: []float64{-y, y}, W: composite.Ball{Radius: 1}}
			if below, _, gap := p.Extended(w, e.C, 20000); got < below-1e-9 || got > below+gap+1e-9 || gap > 0.05 {
				t.Errorf("%v, by the dual from %v to %v more", got, below, gap)
			}
			// Over all of space f_C is smaller, and the same where the kink is in the ball near w.
			free, _ := loss.Cut(e.Loss, e.C, norm, floats.Dot(x, w), y)
			near := math.Abs(floats.Dot(x, w)-y)/norm < 1-floats.Norm(w, 2)
			if free > got+1e-9 || near && !(math.Abs(free-got) <= 1e-9) {
				t.Errorf("over the ball %v, without it %v, the kink near: %v", got, free, near)
			}
		}
	}
	if bound < 2 {
		t.Errorf("the ball binds in %d cases, and nothing is seen of it", bound)
	}
}
