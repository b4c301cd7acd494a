package composite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// illConditioned has n records whose d features share a factor and differ in scale by up to a thousand, hardly any
// ridge and no quadratic term.
func illConditioned(seed uint64, n, d int, l loss.Loss, r Regulariser, c Constraint) *Problem {
	rng := rand.New(rand.NewPCG(seed, 9))
	rows := matrix.NewDense(n, d, nil)
	p := &Problem{Problem: erm.Problem{Rows: rows, Labels: make([]float64, n), Loss: l, Lambda: 1e-4}, Regulariser: r,
		Constraint: c}
	for i := range n {
		common := rng.NormFloat64()
		var t float64
		for j := range d {
			x := (common + 0.1*rng.NormFloat64()) * math.Pow(10, -3*float64(j)/float64(d))
			rows.Data[i*d+j] = x
			t += x * float64(j%5-2)
		}
		p.Labels[i] = t + 0.3*rng.NormFloat64()
		if _, ok := l.(loss.Squared); !ok {
			p.Labels[i] = math.Copysign(1, p.Labels[i])
		}
	}
	return p
}

func TestIllConditioned(t *testing.T) {
	for _, size := range []struct{ n, d int }{{400, 40}, {30, 60}} {
		for _, l := range []loss.Loss{loss.Squared{}, loss.Logistic{}, loss.SmoothedHinge{Width: 0.1}} {
			for _, r := range []Regulariser{nil, L1{0.05}, L2{0.1}} {
				for _, c := range []Constraint{nil, NewBox(1), Ball{2}, Simplex{1}} {
					p := illConditioned(1, size.n, size.d, l, r, c)
					got, err := Solve(p, &Settings{Tolerance: 1e-6})
					name := fmt.Sprintf("%v %s", size, l.Name())
					if r != nil {
						name += " " + r.Name()
					}
					if c != nil {
						name += " " + c.Name()
					}
					if err != nil {
						t.Errorf("%s: %v; %d steps, %d factors", name, err, got.Steps, got.Factorisations)
					}
				}
			}
		}
	}
}

// What the methods cost where the plain ones would crawl: all coordinates that are wrong change places at once, and
// Newton's method ends what the splitting begins.
func TestIllConditionedIsCheap(t *testing.T) {
	for _, c := range []struct {
		r              Regulariser
		c              Constraint
		steps, factors int
	}{{nil, NewBox(0.5), 100, 15}, {L1{0.5}, NewBox(0.5), 100, 15}, {nil, Ball{1}, 40, 10}, {L2{0.5}, Ball{1}, 40, 10},
		{nil, Simplex{1}, 40, 10}, {L2{0.5}, nil, 40, 10}} {
		p := illConditioned(1, 600, 150, loss.Squared{}, c.r, c.c)
		s, err := Solve(p, &Settings{Tolerance: 1e-5})
		if err != nil || s.Steps > c.steps || s.Factorisations > c.factors {
			t.Errorf("%v, %v: %d steps and %d factors, want %d and %d at most; %v", c.r, c.c, s.Steps, s.Factorisations,
				c.steps, c.factors, err)
		}
	}
}

// Where no certificate will do, the splitting ends: after a dozen penalties, beside twelve steps at most each time that
// Newton's method is tried.
func TestSplittingEnds(t *testing.T) {
	const d = 15
	for _, c := range []struct {
		r Regulariser
		c Constraint
	}{{L1{0.5}, Simplex{1}}, {L1{0.5}, NewBox(0.1)}, {GroupL1{Groups: []int{d}}, NewBox(0.1)}, {L2{0.5}, Ball{1}}} {
		o, m := must.Get(newObjective(illConditioned(1, 60, d, loss.Squared{}, c.r, c.c), 1)), newModel(d)
		for i := range d {
			m.h[i*d+i], m.bar[i] = 1+float64(i*i*i), float64(i%4)-1.7
		}
		s := newSplitting(o, m)
		s.renew(1)
		s.solve(0, 1)
		if most := 1 + 12 + 12*(1+m.steps/100); m.factors > most || m.steps > 10_000 {
			t.Errorf("%v, %v: %d factorisations in %d steps, at most %d", c.r, c.c, m.factors, m.steps, most)
		}
	}
}

// Face by face comes to the minimum of the model by itself, from the corners of the box too, and a step over a cone is
// where the model is least, whatever the step before was.
func TestStepsOfTheModelArrive(t *testing.T) {
	const d = 6
	rng := rand.New(rand.NewPCG(4, 1))
	for trial := range 40 {
		m := newModel(d)
		for range 2 * d {
			var row [d]float64
			for j := range row {
				row[j] = rng.NormFloat64()
			}
			for i := range d {
				floats.AddScaled(m.h[i*d:(i+1)*d], row[i], row[:])
			}
		}
		for j := range d {
			m.centre[j], m.bar[j] = []float64{-0.5, 0.5, 0}[(j+trial)%3], 5*rng.NormFloat64()
		}
		for _, r := range []Regulariser{None{}, L1{2}} {
			a := newActiveSet(m, r, NewBox(0.5))
			a.renew(0)
			copy(a.x, m.centre)
			copy(a.g, m.bar)
			norm := a.residual()
			if a.faceByFace(&norm, 1e-9); !(norm <= 1e-9) {
				t.Errorf("trial %d, %v: the residual is %g after %d steps", trial, r, norm, m.steps)
			}
		}
		cone := must.Get(NewCone(d, []matrix.Direction{{First: 0, Weights: []float64{1, -1}},
			{First: 3, Weights: []float64{0.5, 1, 0.5}}}))
		clear(m.h)
		for j := range d {
			m.h[j*d+j] = 2
		}
		s, want := &coneStep{m: m, c: cone, x: make([]float64, d)}, make([]float64, d)
		floats.AddScaledTo(want, m.centre, -0.5, m.bar)
		cone.Project(want, want)
		for k := range 2 {
			if s.solve(); !floats.EqualApprox(s.x, want, 1e-12) {
				t.Errorf("trial %d, step %d: %v, want %v", trial, k, s.x, want)
			}
		}
	}
}
