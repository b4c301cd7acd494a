package heavytail

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// All solvers agree to their tolerances, for all losses, on three records of one and two features. With the extension
// over the ball: Algorithm 3 on the joint objective and on the extended one, and Lemma D.5's. Over ℝᵈ: Algorithm 3 and
// what the mechanisms minimise with, which is off by its bend's bias at most.
func TestSolversAgree(t *testing.T) {
	testscale.Slow(t)
	const alpha, lambda, m, c = 0.1, 0.7, 3, 0.8
	src, noticed := noise.NewSeeded(12), 0
	for i := range 2 * len(allLosses) {
		l, d := allLosses[i/2], 1+i%2
		e := OnBall{Loss: l, C: c, Radius: 1}
		rows, y, losses := matrix.NewDense(m, d, nil), make([]float64, m), []Function(nil)
		src.Gaussian(rows.Data, 1.5)
		for r := range m {
			x := rows.Data[r*d : (r+1)*d]
			if y[r] = src.NormFloat64(); !l.ValidLabel(y[r]) {
				y[r] = math.Copysign(1, y[r])
			}
			losses = append(losses, func(g, w []float64) float64 {
				v, slope := e.slope(floats.Dot(x, w), floats.Norm(x, 2), y[r])
				floats.ScaleTo(g, slope, x)
				return v
			})
		}
		// The mean of a part of each record, and the ridge.
		sum := func(part func(g, w []float64, r int) float64) Function {
			one := make([]float64, d)
			return func(g, w []float64) float64 {
				value := 0.5 * lambda * floats.Dot(w, w)
				floats.ScaleTo(g, lambda, w)
				for r := range m {
					value += part(one, w, r) / m
					floats.AddScaled(g, 1.0/m, one)
				}
				return value
			}
		}
		ball, start, g := Exactly(composite.Ball{Radius: 1}), make([]float64, d), make([]float64, d)
		start[0] = 0.9
		onBall := sum(func(g, w []float64, r int) float64 { return e.At(g, w, rows.Data[r*d:(r+1)*d], y[r]) })
		joint, _ := measure.Must2(Joint{Losses: losses, C: c, Lambda: lambda, Centre: make([]float64, d)}.Minimise(ball,
			ball, start, alpha, 2, 1e7))
		direct, _ := measure.Must2(Subgradient(ball, onBall, start, alpha/2, 2, 1e7))
		biased, _ := Biased(ball, onBall, start, 3*alpha, 2, c+lambda)
		least := onBall(g, direct)
		for name, w := range map[string][]float64{"joint": joint, "Lemma D.5": biased} {
			got, allowed := onBall(g, w), alpha
			if name != "joint" {
				allowed = 3 * alpha
			}
			if got > least+allowed || got < least-alpha/2 {
				t.Errorf("%s, d = %d: %s %v, directly %v", l.Name(), d, name, got, least)
			}
		}
		// A linear loss steeper than C is taken in its cut form over ℝᵈ, as mechanisms do.
		cut := sum(func(g, w []float64, r int) float64 {
			x := rows.Data[r*d : (r+1)*d]
			norm, label := floats.Norm(x, 2), y[r]
			if (l == loss.Affine{}) {
				label = math.Max(-c/norm, math.Min(label, c/norm))
			}
			v, slope := loss.Cut(l, c, norm, floats.Dot(x, w), label)
			floats.ScaleTo(g, slope, x)
			return v
		})
		mechanism := pure.Output{Problem: pure.Problem{Loss: l, Clip: c, Radius: 1, Lambda: lambda * m, Tolerance: 1e-6,
			Records: m}, Scale: 1e-25, Adjacency: privacy.ReplaceOne}
		r := measure.Must(mechanism.Run(rows, y, src, nil))
		direct, _ = measure.Must2(Subgradient(ball, cut, start, alpha/2, 2, 1e7))
		got, least, bias := cut(g, r.Coefficients), cut(g, direct), loss.FreeBend(c, c/8, lambda*m).Bias(c)
		if got > least+bias || got < least-alpha/2 {
			t.Errorf("%s, d = %d: the mechanism's %v, Algorithm 3's %v, bias at most %v", l.Name(), d, got, least, bias)
		}
		// At another minimum the values are not these.
		floats.AddConst(0.5, r.Coefficients)
		ball.Project(r.Coefficients, r.Coefficients, 0)
		if cut(g, r.Coefficients) > least+bias {
			noticed++
		}
	}
	if noticed < len(allLosses) {
		t.Errorf("a point that is off by a half is noticed %d times of %d", noticed, 2*len(allLosses))
	}
}
