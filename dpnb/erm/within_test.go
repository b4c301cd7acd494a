package erm

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// heavy returns n records of directions with extended absolute or squared losses, tilted by
// a linear term of the given norm.
func heavy(l loss.Convex, n, d int, tilt float64, seed uint64) *Problem {
	r := rand.New(rand.NewPCG(seed, 1))
	rows, norms, y, at := matrix.NewDense(n, d, nil), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x := rows.Data[i*d : (i+1)*d]
		for j := range x {
			x[j] = r.NormFloat64()
		}
		norms[i] = floats.Norm(x, 2)
		floats.Scale(1/norms[i], x)
		norms[i] *= math.Exp(r.NormFloat64())
		y[i], at[i] = norms[i]*floats.Sum(x)/math.Sqrt(float64(d))+r.NormFloat64(), float64(i)
		if _, sign := l.(loss.Logistic); sign {
			y[i] = math.Copysign(1, y[i])
		}
	}
	b := make([]float64, d)
	for j := range b {
		b[j] = r.NormFloat64()
	}
	floats.Scale(tilt/floats.Norm(b, 2), b)
	lambda := math.Sqrt(float64(n) + 1)
	return &Problem{Rows: rows, Labels: at, Loss: loss.Extend(l, loss.FreeBend(1, 1, lambda), norms, y, nil),
		Lambda: lambda, Linear: b}
}

// The answer is within reach of that of another method, whether the ball binds or not, and
// whatever the size of the noise; the last resort finds the same.
func TestMinimizeWithin(t *testing.T) {
	const reach = 1e-8
	for _, l := range []loss.Convex{loss.LeastAbsolute{}, loss.Squared{}, loss.Logistic{}} {
		for _, n := range []int{0, 1, 30, 300} {
			for _, tilt := range []float64{0, 30, 1e6, 1e40} {
				p := heavy(l, n, 5, tilt, 7)
				for _, radius := range []float64{0.3, 2} {
					theta, err := MinimizeWithin(p, radius, reach, 0, 1)
					if err != nil {
						t.Fatal(err)
					}
					if floats.Norm(theta, 2) > radius*(1+1e-12) {
						t.Errorf("%s, n=%d, ‖b‖=%g: ‖θ‖ = %g beyond %g", p.Loss.Name(), n, tilt, floats.Norm(theta, 2),
							radius)
					}
					if _, flat := l.(loss.LeastAbsolute); n > 30 || !flat && n > 1 {
						continue // the last resort takes its time
					}
					other := newWithin(p, radius, reach, 0, 1).arrive()
					if d := floats.Distance(theta, other, 2); !(d <= 2*reach) {
						t.Errorf("%s, n=%d, ‖b‖=%g, R=%g: off by %g", p.Loss.Name(), n, tilt, radius, d)
					}
				}
			}
		}
	}
}

// The certificate holds for points that are no minimiser: it is never below their distance.
func TestSurfaceCertificate(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	tightest := 0.0
	for range 200 {
		p := heavy(loss.LeastAbsolute{}, 30, 3, 60*r.Float64(), r.Uint64())
		best, err := MinimizeWithin(p, 0.5, 1e-12, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		w := newWithin(p, 0.5, 1e-9, 0, 1)
		x := dd.NewVector(3)
		for j := range x.Hi {
			x.Hi[j] = best[j] + 0.3*r.NormFloat64()*math.Exp(-10*r.Float64())
		}
		w.surface(x)
		_, distance := w.certify(x)
		off := floats.Distance(x.Hi, best, 2)
		tightest = math.Max(tightest, off/distance)
		if off > distance*(1+1e-9)+1e-11 {
			t.Fatalf("off by %g, certified %g", off, distance)
		}
	}
	if tightest < 0.5 {
		t.Errorf("the certificate is never nearer than %g of the distance", tightest)
	}
}
