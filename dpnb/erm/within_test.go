package erm

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// heavy returns n records of directions with extended absolute or squared losses, tilted by a linear term of the given
// norm.
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

// The answer is within reach of that of another method, whether the ball binds or not, and whatever the size of the
// noise; the last resort finds the same.
func TestMinimizeWithin(t *testing.T) {
	testscale.Slow(t)
	const reach = 1e-8
	for _, l := range []loss.Convex{loss.LeastAbsolute{}, loss.Squared{}, loss.Logistic{}} {
		for _, n := range []int{0, 1, 30, 300} {
			for _, tilt := range []float64{0, 30, 1e6, 1e40} {
				p := heavy(l, n, 5, tilt, 7)
				for _, radius := range []float64{0.3, 2} {
					theta := must.Get(MinimizeWithin(p, radius, reach, 0, 1))
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

// Where a linear term may be off by more than a certificate within the ball allows, that of the surface holds if the
// term is large enough; whatever has no answer is refused there and elsewhere.
func TestWithinABlur(t *testing.T) {
	const reach, radius = 1e-3, 2
	p := heavy(loss.LeastAbsolute{}, 30, 5, 1e6, 7)
	want := must.Get(MinimizeWithin(p, radius, 1e-9, 0, 1))
	for _, blur := range []float64{0.4 * p.Lambda * reach, 0.5 * p.Lambda * reach, 100 * p.Lambda * reach} {
		theta := must.Get(MinimizeWithin(p, radius, reach, blur, 1))
		if d := floats.Distance(theta, want, 2); !(d <= 2*reach) {
			t.Errorf("blur %g: off by %g", blur, d)
		}
		spoilt := *p
		spoilt.Shrinkage = []float64{0, 0, -1, 0, 0}
		if theta, err := MinimizeWithin(&spoilt, radius, reach, blur, 1); theta != nil || !isDataError(err) {
			t.Errorf("blur %g: %v, %v of a negative ridge", blur, theta, err)
		}
	}
}

func isDataError(err error) bool {
	var de *matrix.DataError
	return errors.As(err, &de)
}

// countedHuber counts the passes over records.
type countedHuber struct {
	loss.Huber
	passes *int
}

func (c countedHuber) ValueSlope(slope, t, y []float64) float64 {
	*c.passes++
	return c.Huber.ValueSlope(slope, t, y)
}

// searched has the search for the multiplier where Newton's method on the surface goes astray at first, as losses bend
// on a narrow strip only: its brackets grow, and are halved. It says what is found from each start, and in how many
// passes.
func searched(say func(name string, values ...float64)) {
	for k, n := range []int{2, 3} {
		r, passes := rand.New(rand.NewPCG([]uint64{23, 16}[k], 1)), 0
		rows, y := matrix.NewDense(n, 2, nil), make([]float64, n)
		for i := range rows.Data {
			rows.Data[i] = 100 * r.NormFloat64()
		}
		for i := range y {
			y[i] = 50 * r.NormFloat64()
		}
		p := &Problem{Rows: rows, Labels: y, Loss: countedHuber{loss.Huber{Threshold: 0.01}, &passes}, Lambda: 1,
			Linear: make([]float64, 2)}
		free := must.Get(Minimize(p, &Settings{Workers: 1, Tolerance: 1e-9}))
		for i, start := range [][]float64{free.Theta, {10, 10}, {0, -0.301}, {0.301, 0}}[:4-2*k] {
			passes = 0
			theta := newWithin(p, 0.3, 1e-9, 0, 1).search(start)
			say(fmt.Sprint("searched ", n, i), append(theta, float64(passes))...)
		}
	}
}

// The certificate holds for points that are no minimiser: it is never below their distance.
func TestSurfaceCertificate(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	tightest := 0.0
	for range 200 {
		p := heavy(loss.LeastAbsolute{}, 30, 3, 60*r.Float64(), r.Uint64())
		best := must.Get(MinimizeWithin(p, 0.5, 1e-12, 0, 1))
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

// Far from the minimiser the multiplier μ of a point may be a hundred times that of the minimiser, and only half of it
// counts: a quarter of the way round, beyond the kink of a steep loss, ‖g‖/(λ + μ) is less than the distance.
func TestSurfaceCertificateFarAway(t *testing.T) {
	const steep, length, gap = 100.0, 1e4, 1e-3
	best := []float64{-math.Sqrt(0.5) - gap, 0}
	best[1] = -math.Sqrt(1 - best[0]*best[0])
	p := &Problem{Rows: matrix.NewDense(1, 2, []float64{length, 0}), Labels: []float64{length * (best[0] + gap/2)},
		Loss: loss.Huber{Threshold: steep / length}, Lambda: 1, Linear: []float64{steep - 2*best[0], -2 * best[1]}}
	found, err := MinimizeWithin(p, 1, 1e-9, 0, 1)
	if err != nil || floats.Distance(found, best, 2) > 1e-8 {
		t.Fatalf("the minimiser is %v, want %v (%v)", found, best, err)
	}
	w := newWithin(p, 1, 1e-9, 0, 1)
	x := dd.NewVector(2)
	x.Hi[0] = best[0] + gap
	x.Hi[1] = math.Sqrt(1 - x.Hi[0]*x.Hi[0])
	w.surface(x)
	mu, distance := w.certify(x)
	if off := floats.Distance(x.Hi, best, 2); off > distance || distance > 1.5*off || mu < 100 {
		t.Errorf("off by %v, certified %v with μ = %v", off, distance, mu)
	}
}

// Where every gradient errs as the analysis fears, towards the start and to and fro, it is the number of steps that
// proves where they have led: to little more than the error over λ, which no norm of such gradients says. What is
// certified holds, and is not much more where losses do not bend.
func TestArrivesByNumber(t *testing.T) {
	testscale.Slow(t)
	const errs = 1e-3
	for _, same := range []bool{false, true} {
		for _, tilt := range []float64{0.5, 3, 1e6, 1e40} {
			p := heavy(loss.LeastAbsolute{}, 60, 5, tilt, 7)
			if same { // one record sixty times, beside which all is flat
				p = heavy(loss.LeastAbsolute{}, 1, 5, tilt, 7)
				p.Rows, p.Labels = matrix.Select(p.Rows, make([]int, 60)), make([]float64, 60)
			}
			reach := 1.02 * errs / p.Lambda
			best := must.Get(MinimizeWithin(p, 2, 1e-12, 0, 1))
			radius := floats.Norm(best, 2) * (1 + 1e-9) // as far from the origin as may be
			w := newWithin(p, radius, reach, 0, 1)
			honest, calls, away := w.gradient, 0, make([]float64, len(best))
			most := 2 + w.largest/p.Lambda*math.Log(1.01*radius/(reach-errs/p.Lambda))
			w.gradient = func(g, x dd.Vector) float64 {
				if calls++; float64(calls) > most {
					t.Fatalf("%v, ‖b‖ = %g: %d steps, at most %.0f are proved", same, tilt, calls, most)
				}
				rounding := honest(g, x)
				floats.SubTo(away, x.Hi, best)
				floats.Scale(-0.99*errs/floats.Norm(away, 2), away)
				floats.AddScaled(away, 0.14*errs*float64(1-calls%2*2), p.Rows.(*matrix.Dense).Data[:5])
				for j, v := range away {
					g.Set(j, g.At(j).AddFloat(v))
				}
				return rounding + errs
			}
			off := floats.Distance(w.arrive(), best, 2)
			if !(off <= reach) || same && tilt < 1 && off < 0.97*reach {
				t.Errorf("%v, ‖b‖ = %g: off by %g, certified %g", same, tilt, off, reach)
			}
		}
	}
}

// What is said of all errors by their number, the features and bounds bounds those that are met, of rows that are dense
// or nearly empty, within the ball and on its surface, whatever the linear term; and it is not twice as large.
func TestWithinError(t *testing.T) {
	testscale.Slow(t)
	closest := map[string]float64{}
	for _, d := range []int{1, 5, 200} {
		for _, n := range []int{0, 1, 1500} {
			for _, sparse := range []bool{false, true} {
				for _, tilt := range []float64{0, 30, 1e6, 1e40} {
					p := heavy(loss.LeastAbsolute{}, n, d, tilt, 7)
					if d == 5 { // slopes of C
						norms, y := make([]float64, n), make([]float64, n)
						for i := range n {
							norms[i], y[i] = 1, 1e6
						}
						p.Loss = loss.Extend(loss.Affine{}, loss.FreeBend(1, 1, p.Lambda), norms, y, nil)
					}
					if sparse { // one entry in each record of ten
						rows := matrix.NewDense(n, d, nil)
						for i := 0; i < n; i += 10 {
							rows.Data[i*d+i%d] = 1
						}
						p.Rows = rows.Sparse()
					}
					for _, radius := range []float64{1e-3, 1e3} {
						w := newWithin(p, radius, 1, 0, 1)
						bound := WithinError(n, d, 1, p.Loss.Smoothness(), p.Lambda, radius)
						x, length, worst := dd.NewVector(d), 1/(w.largest*(1+0x1p-40)), 0.0
						for range 5 {
							err := w.gradient(w.g, x)
							slip, _ := w.step(x, length, err, floats.Norm(w.g.Hi, 2))
							worst = math.Max(worst, slip/length)
						}
						if !(worst <= bound) {
							t.Errorf("n=%d, d=%d, sparse: %v, ‖b‖=%g, R=%g: errors of %g, bound %g", n, d, sparse, tilt,
								radius, worst, bound)
						}
						if key := fmt.Sprint(radius, sparse); n == 1500 && worst/bound > closest[key] {
							closest[key] = worst / bound
						}
					}
				}
			}
		}
	}
	for key, part := range closest {
		if part < 0.5 {
			t.Errorf("R and sparsity %s: errors are at most %g of their bound", key, part)
		}
	}
}

// What a linear term that is off by blur moves is no more than is said, and not much less where nothing but the ridge
// bends, within the ball, and where the multiplier holds the point.
func TestBlurred(t *testing.T) {
	const blur = 1e-4
	for _, tilt := range []float64{0.1, 3, 100, 1e4} {
		p := heavy(loss.LeastAbsolute{}, 3, 40, tilt, 9)
		w := newWithin(p, 0.5, 1e-12, blur, 1)
		best := must.Get(MinimizeWithin(p, 0.5, 1e-12, 0, 1))
		most, r := 0.0, rand.New(rand.NewPCG(4, 4))
		for range 20 {
			other, off := *p, make([]float64, 40)
			for j := range off {
				off[j] = r.NormFloat64()
			}
			floats.Scale(blur/floats.Norm(off, 2), off)
			floats.Add(off, p.Linear)
			other.Linear = off
			theta := must.Get(MinimizeWithin(&other, 0.5, 1e-12, 0, 1))
			most = math.Max(most, floats.Distance(theta, best, 2))
		}
		if said := w.blurred(); !(most <= said) || most < 0.3*said {
			t.Errorf("‖b‖ = %g: the minimiser moves by %.3g, %.3g at most", tilt, most, said)
		}
		// The certificate at the minimiser, where it is on the surface, allows for as much.
		if x := dd.NewVector(40); floats.Norm(best, 2) > 0.5*(1-1e-9) {
			copy(x.Hi, best)
			if _, distance := w.certify(x); !(most <= distance) || most < 0.3*distance {
				t.Errorf("‖b‖ = %g: the minimiser moves by %.3g, certified %.3g", tilt, most, distance)
			}
		} else if tilt > 1 {
			t.Errorf("‖b‖ = %g: the minimiser is within the ball", tilt)
		}
	}
}
