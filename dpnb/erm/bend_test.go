package erm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Noise takes the coefficients so far beyond the bends of the loss that Newton's steps
// from the flat are thousands of times too long, and the records are nearly the same: fits
// go on to the certificate, by shortened steps, where the ones of 1/M are too many.
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
