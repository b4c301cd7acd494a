package erm

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/internal/descent"
	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Noise takes the coefficients so far beyond the bends of the loss that Newton's steps from the flat are thousands of
// times too long, and the records are nearly the same: fits go on to the certificate, by shortened steps, where the
// ones of 1/M are too many.
func TestFitsFromTheFlatArrive(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	most := 0
	for trial := range 1500 {
		n, d := 30+rng.IntN(200), 1+rng.IntN(8)
		x, y := matrix.NewDense(n, d, nil), make([]float64, n)
		for i := range n {
			for j := range d {
				x.Data[i*d+j] = 1 / math.Sqrt(float64(d))
			}
			x.Data[i*d+rng.IntN(d)] *= 1 - 1e-9*float64(rng.IntN(2))
			y[i] = float64(2*rng.IntN(2) - 1)
		}
		l := []loss.Loss{
			loss.Clipped(loss.Logistic{}, 0.3), loss.Huber{Threshold: 0.005},
			loss.SmoothedHinge{Width: 0.1}, loss.Clipped(loss.Squared{}, 0.02),
		}[trial%4]
		sigma := 1.5 * l.Lipschitz()
		ridge := l.Smoothness() * sigma / l.Lipschitz() / 12_000
		p := &Problem{Rows: x, Labels: y, Loss: l, Lambda: ridge, Linear: make([]float64, d)}
		for j := range d {
			p.Linear[j] = sigma * rng.NormFloat64()
		}
		sol, err := Minimize(p, &Settings{Tolerance: 1e-6 * l.Lipschitz(), Persist: true, Workers: 1})
		if err != nil {
			t.Fatalf("%s, n = %d, d = %d: %v", l.Name(), n, d, err)
		}
		most = max(most, sol.Passes)
	}
	if most > 5000 {
		t.Errorf("%d passes", most)
	}
	t.Logf("at most %d passes", most)
}

// Noise so long that it is drawn with a probability below 10⁻³⁴⁷ leaves fits what docs/theory/solvers.md asks for in
// order to arrive, with the coefficients as large as they can be, and they arrive: docs/theory/ledger.md, section 1.
func TestFitsOfTheRarestNoiseArrive(t *testing.T) {
	const u = 0x1p-53
	rng := rand.New(rand.NewPCG(43, 44))
	for trial := range 60 {
		n, d := []int{0, 1, 30, 3000}[trial%4], 1+rng.IntN(20)
		x, y := matrix.NewDense(n, d, nil), make([]float64, n)
		for i := range n {
			for j := range d {
				x.Data[i*d+j] = rng.NormFloat64()
			}
			r := x.Data[i*d : (i+1)*d]
			floats.Scale(1/floats.Norm(r, 2), r)
			y[i] = float64(2*rng.IntN(2) - 1)
		}
		l := []loss.Loss{loss.Logistic{}, loss.Huber{Threshold: 0.25}, loss.SmoothedHinge{Width: 1}}[trial%3]
		sigma := 20 * l.Lipschitz()
		p := &Problem{Rows: x, Labels: y, Loss: l, Lambda: l.Smoothness() / 0.14, Linear: make([]float64, d)}
		for j := range d {
			p.Linear[j] = rng.NormFloat64()
		}
		long := sigma * (math.Sqrt(float64(d)) + 40)
		floats.Scale(long/floats.Norm(p.Linear, 2), p.Linear)
		tau := 1e-6*l.Lipschitz() - 4*u*long
		sol, err := Minimize(p, &Settings{Tolerance: tau, Persist: true, Workers: 1})
		if err != nil {
			t.Fatalf("%s, n = %d, d = %d: %v", l.Name(), n, d, err)
		}
		e, g, far := newEvaluator(p, 1), dd.NewVector(d), dd.NewVector(d)
		slopes := float64(n) * l.Lipschitz()
		copy(far.Hi, sol.Theta)
		floats.Scale((slopes+long)/p.Lambda/floats.Norm(far.Hi, 2), far.Hi)
		e.eval(make([]float64, d), far.Hi)
		condition := e.smoothness() / p.Lambda
		errs := newPrecise(e).gradient(g, far) + 4*u*u*e.smoothness()*floats.Norm(far.Hi, 2)
		steps := 2 * condition * math.Log(4*(slopes+long+e.smoothness()*floats.Norm(far.Hi, 2))/tau)
		if 4*math.Sqrt(condition)*errs > tau || u*(slopes+long+tau) > tau/8 || steps > descent.MostProved {
			t.Errorf("%s, n = %d, d = %d: errors of %.3g and %.3g steps are not what is proved to arrive at %.3g",
				l.Name(), n, d, errs, steps, tau)
		}
	}
}
