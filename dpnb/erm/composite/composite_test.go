package composite

import (
	"fmt"
	"math"
	"testing"

	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
)

// setting is one problem of the table that all solvers are held against.
type setting struct {
	name string
	p    *Problem
	// modulus is λ + λ_min(Q), by gonum's eigenvalues.
	modulus float64
}

// random returns a problem with n records, d features and a Wishart Q.
func random(rng *rand.Rand, n, d int, l loss.Loss, r Regulariser, c Constraint) setting {
	rows := erm.NewDense(n, d, nil)
	for i := range rows.Data {
		rows.Data[i] = rng.NormFloat64()
	}
	p := &Problem{Rows: rows, Labels: make([]float64, n), Loss: l, Ridge: 0.1, Regulariser: r, Constraint: c,
		Centre: make([]float64, d), Linear: make([]float64, d), Quadratic: wishart(rng, d, 2*d, 1)}
	for i := range p.Labels {
		p.Labels[i] = math.Copysign(1, rng.NormFloat64())
		if _, ok := l.(loss.Squared); ok {
			p.Labels[i] = 3 * rng.NormFloat64()
		}
	}
	for j := range d {
		p.Centre[j] = rng.NormFloat64()
		p.Linear[j] = rng.NormFloat64()
	}
	name := l.Name()
	if r != nil {
		name += ", " + r.Name()
	}
	if c != nil {
		name += ", " + c.Name()
	}
	return setting{fmt.Sprintf("%s, d=%d", name, d), p, p.Ridge + least(p.Quadratic)}
}

func wishart(rng *rand.Rand, d, m int, scale float64) *mat.SymDense {
	g := mat.NewDense(d, m, nil)
	for i := range d {
		for j := range m {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var w mat.SymDense
	w.SymOuterK(scale, g)
	return &w
}

func least(q *mat.SymDense) float64 {
	var e mat.EigenSym
	if !e.Factorize(q, false) {
		panic("no eigenvalues")
	}
	return e.Values(nil)[0]
}

// table has every regulariser with every constraint, and two losses.
func table(d int, seed uint64) []setting {
	rng := rand.New(rand.NewPCG(seed, 1))
	regularisers := []Regulariser{nil, L1{4}, L2Squared{2}, L2{6}, GroupL1{3, []int{2, 1, d - 4}}}
	if d%2 == 0 {
		regularisers = append(regularisers, Nuclear{4, 2, d / 2})
	}
	lower, upper := make([]float64, d), make([]float64, d)
	for j := range d {
		lower[j], upper[j] = -0.4+0.1*float64(j%5), 0.3
	}
	lower[1] = math.Inf(-1)
	constraints := []Constraint{nil, NewBox(0.3), Box{Lower: lower, Upper: upper}, Ball{0.5}, Ball{50}, Simplex{1}}
	var all []setting
	for _, l := range []loss.Loss{loss.Squared{}, loss.Logistic{}} {
		for _, r := range regularisers {
			for _, c := range constraints {
				all = append(all, random(rng, 4*d, d, l, r, c))
			}
		}
	}
	return all
}

func TestSolveTable(t *testing.T) {
	for _, d := range []int{6, 15} {
		for _, s := range table(d, 3) {
			tol := 1e-6
			got, err := Solve(s.p, &Settings{Tolerance: tol, Modulus: s.modulus})
			if err != nil {
				t.Errorf("%s: %v", s.name, err)
				continue
			}
			t.Logf("%-50s %8.1e slack %8.1e passes %d steps %d fact %d", s.name, got.Certificate.Bound(), got.Certificate.Slack, got.Passes, got.Steps, got.Factorisations)
			_ = floats.Norm
		}
	}
}
