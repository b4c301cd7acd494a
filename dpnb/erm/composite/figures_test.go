package composite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

func TestFiguresStay(t *testing.T) {
	const d = 6
	x, y := matrix.NewDense(90, d, nil), make([]float64, 90)
	for i := range y {
		for j := range d {
			x.Data[d*i+j] = math.Sin(float64(7*i+3*j*j)) / (1 + float64(j))
		}
		y[i] = math.Copysign(1, 2*x.Data[d*i]-3*x.Data[d*i+2]+math.Cos(float64(5*i)))
	}
	affine := must.Get(NewAffine(mat.NewDense(2, d, []float64{1, 1, 0, 0, 0, 0, 0, 1, 2, 0, 0, -1}), []float64{0.3,
		0.5}))
	cone := must.Get(NewCone(d, []matrix.Direction{{First: 0, Weights: []float64{-1, 1}}, {First: 1,
		Weights: []float64{-1, 1}},
		{First: 3, Weights: []float64{1, 0, -2}}}))
	regularisers := []Regulariser{None{}, L1{1.5}, L2{1.5}, GroupL1{1.2, []int{2, 1, 2}}, L1{-1}, GroupL1{1, []int{9}}}
	constraints := []Projector{Everywhere{}, NewBox(0.3), Box{Lower: []float64{-1, 0, -0.2, 0.1, -3, 0},
		Upper: []float64{2, 0.2, 0.2, 0.1, 0, 9}}, Ball{0.6}, Simplex{0.9}, affine, cone, Ball{-1}, Simplex{-1},
		NewBox(-1)}
	points := [][]float64{{0.3, 0.1, -0.4, 0, 0.2, -0.05}, {0, 0, 0, 0, 0, 0}, {0.3, 0.3, 0.3, 0, 0, 0}, {9, -8, 7, 1,
		-3, 4}}
	g := []float64{2, -0.7, 0.4, -1.8, 0.3, 1.1}
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		for i, r := range regularisers {
			if put(fmt.Sprint("regulariser ", i), r.Validate(d), r.Lipschitz(d)); r.Validate(d) != nil {
				continue
			}
			for _, theta := range points {
				prox, nearest, s := make([]float64, d), make([]float64, d), append([]float64(nil), g...)
				r.Prox(prox, theta, 0.2)
				r.Nearest(nearest, g, theta)
				slack, rounding := r.Gap(s, theta)
				put("at a point", r.Value(theta), prox, nearest, slack, rounding, s)
			}
		}
		for i, c := range constraints {
			if put(fmt.Sprint("constraint ", i), c.Validate(d), c.Validate(d+1)); c.Validate(d) != nil {
				continue
			}
			for _, theta := range points {
				at, nearest, v := make([]float64, d), make([]float64, d), append([]float64(nil), g...)
				c.Project(at, theta)
				inside := append([]float64(nil), at...)
				for j, x := range inside { // to zero what is nothing but rounding
					inside[j] = math.Round(1e12*x) / 1e12
				}
				c.Nearest(nearest, g, at)
				slack, _ := c.Gap(v, theta)
				norm, pair := 0.0, newPair(d)
				for _, x := range nearest {
					norm = math.Hypot(norm, x)
				}
				put("at a point", c.Contains(theta), c.Contains(at), inside, norm, slack, pair.rounding(g))
				if len(nearest) > 0 && i < 5 {
					put("edge", shift(c, at))
				}
				for k, r := range regularisers[:4] {
					distance, exact := JointDistance(r, c, g, at)
					_, joint := jointProx(r, c)
					put(fmt.Sprint("with ", k), math.Round(1e9*distance)/1e9, exact, joint, structural(r, c),
						intervals(r, c))
				}
			}
		}
		put("edges", edge(1), edge(1000), up(1, 50)-1, Usable(d, L1{1}, cone), Usable(d, nil, cone), Usable(d, L1{-1},
			nil))
		for _, c := range []Certificate{{Residual: 2, Rounding: 1, Modulus: 0.5}, {Residual: 2, Slack: 3, Shift: 0.1,
			Modulus: 2},
			{Residual: 1}} {
			put("certificate", c.Bound(), c.Gap(), c.Distance())
		}
		for _, q := range []*mat.SymDense{mat.NewSymDense(2, []float64{2, 1, 1, 3}), mat.NewSymDense(2, []float64{1,
			2, 2, 1}),
			mat.NewSymDense(1, []float64{1e-300}), mat.NewSymDense(2, []float64{1e6, 0, 0, 1e-8}), mat.NewSymDense(2,
				[]float64{1e9, 0, 0, 1e-9})} {
			put("least eigenvalue", golden.Numbers(LeastEigenvalue(q)))
		}
		of := append([]float64(nil), g...)
		slack, rounding := affine.Gap(of, points[3])
		miss, missed := affine.miss(points[3])
		put("affine", affine.norms, affine.least, affine.shift(points[3]), affine.span(make([]float64, d), g), slack,
			rounding,
			miss, missed, golden.Rounded(affine.norms[0], math.Sqrt2))
		face, moved := cone.face(points[3])
		on, off := cone.face(points[2])
		put("cone", cone.norms, cone.longest, cone.least, face, moved, on, off, cone.rounding(g),
			golden.Rounded(cone.norms[2],
				math.Sqrt(5)), golden.Rounded(edge(3), 25*unit))
		put("rounded", golden.Rounded(up(3, 9), 3), golden.Rounded(Certificate{Residual: 3, Modulus: 0.5}.Gap(), 9),
			golden.Rounded(Certificate{Residual: 3, Modulus: 0.5}.Distance(), 6))
		put("descent", passesOfDescent(10, 1e-6, 50), passesOfDescent(1e-9, 1e-6, 1), powerMethod([]float64{2, 1, 1,
			3}, 2, 3))
		p := &Problem{Problem: erm.Problem{Rows: x, Labels: y, Loss: loss.Logistic{}, Lambda: 2}}
		o := must.Get(newObjective(p, 1))
		grad := make([]float64, d)
		value, erred := o.eval(grad, points[0])
		put("objective", value, erred, grad, o.lipschitzOfOne())
		m := newModel(d)
		o.h.Hessian(m.h, points[0])
		copy(m.centre, points[1])
		copy(m.bar, grad)
		m.estimateTop()
		m.gradient(grad, points[0])
		put("model", grad, m.value(grad, points[0]), m.top)
		s := newSplitting(o, m)
		s.renew(0.5)
		s.step()
		primal, dual := s.step()
		put("splitting", s.penalty, primal, dual, s.x)
		for i, change := range []func(s *Settings){func(*Settings) {}, func(s *Settings) { s.Start = []float64{1} },
			func(s *Settings) { s.Modulus = -1 }, func(s *Settings) { s.Tolerance = math.NaN() }} {
			set := &Settings{}
			change(set)
			put(fmt.Sprint("settings ", i), checkSettings(p, set))
		}
	})
	golden.Figures(t, "testdata/solved.txt", 1e-6, func(say func(name string, values ...float64)) {
		for k, l := range []loss.Loss{loss.Logistic{}, loss.Squared{}} {
			for i, r := range regularisers[:4] {
				for j, c := range constraints[:7] {
					if j == 6 && i > 0 {
						continue
					}
					p := &Problem{Problem: erm.Problem{Rows: x, Labels: y, Loss: l, Lambda: 0.7,
						Linear: []float64{1, -2, 0, 0.5, 1, -1}}, Regulariser: r, Constraint: c}
					if k == 1 {
						p.Quadratic = mat.NewSymDense(d, nil)
						for a := range d {
							p.Quadratic.SetSym(a, a, float64(1+a))
						}
						p.Centre = []float64{1, 0, -1, 0, 0.5, 0}
					}
					if j == 6 {
						p.Regulariser = nil
					}
					set := &Settings{Tolerance: 1e-8, Workers: 1}
					if j == 5 { // of which no more is certified
						set.Tolerance = 2e-6
					}
					sol, err := Solve(p, set)
					if err != nil {
						t.Fatal(k, i, j, err)
					}
					theta := sol.Theta
					for a, x := range theta { // what is zero but for the solver
						theta[a] = math.Round(1e9*x)/1e9 + 1
					}
					say(fmt.Sprint(sol.Method, k, i, j), append(theta, sol.Value)...)
				}
			}
		}
		p := &Problem{Problem: erm.Problem{Rows: x, Labels: y, Loss: loss.Logistic{}, Lambda: 0.7},
			Regulariser: L1{0.3},
			Constraint:  Ball{1}}
		for _, joint := range []bool{false, true} {
			sol := must.Get(Stochastic(p, &StochasticSettings{Indices: rand.New(rand.NewPCG(1, 2)), Iterations: 300,
				Joint: joint}))
			say(fmt.Sprint("stochastic ", joint), append(sol.Theta, sol.Value)...)
		}
		within := must.Get(Within(p, Settings{Tolerance: 1e-9}))
		say("within", within...)
	})
}
