package erm

import (
	"math/rand/v2"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"gonum.org/v1/gonum/floats"
)

// SAG is the stochastic average gradient method (Schmidt, Le Roux and Bach 2017) as in appendix F of Redberg, Koskela
// and Wang (2023): one ∇fᵢ for each step
//
//	θ ← θ − η·(Σⱼ sⱼxⱼ + b + (λ + ω)θ)/n,  sᵢ = ∇f(tᵢ; yᵢ),
//
// i drawn evenly, and the gradient is checked after every n steps. The ridge is exact. η = 1/(βR² + (λ + max ω)/n), β =
// sup λ_max(∇²f); until all records have been met, the sum is scaled by those that have. It needs O((n +
// βR²n/λ)·log(1/τ)) evaluations of f′.
//
// A step costs O(d), also on sparse rows. It runs on one processor.
//
// Proof: docs/theory/solvers.md#rkw23-thmF.1.
type SAG struct {
	// Seed of the order of the records; two runs with one seed are equal.
	Seed uint64
}

// Name returns "SAG".
func (SAG) Name() string { return "SAG" }

func (m SAG) run(r *search) error {
	if done, err := r.begin(); done || err != nil {
		return err
	}
	eta := r.stepSize()
	n := r.e.n
	rng := rand.New(rand.NewPCG(m.Seed, 0x5A6))
	one, sum := newOneRecord(r.e, r.e.n), make([]float64, r.e.size)
	met, count := make([]bool, n), 0
	scale := eta / float64(n)
	shrink := make([]float64, r.e.size)
	for j, v := range r.e.ridge {
		shrink[j] = 1 - scale*v
	}
	for r.left() > 1 {
		for range n {
			i := rng.IntN(n)
			one.change(r.x, i, true)
			one.add(sum, 1, i)
			if !met[i] {
				met[i] = true
				count++
			}
			floats.Mul(r.x, shrink)
			floats.AddScaled(r.x, -eta/float64(count), sum)
			if r.p.Linear != nil {
				floats.AddScaled(r.x, -scale, r.p.Linear)
			}
		}
		if r.epoch(n) {
			return nil
		}
	}
	return nil
}

// SVRG is the stochastic variance-reduced gradient method (Johnson and Zhang 2013): after each full gradient ∇J(θ̃),
// which is also the check, 2n steps
//
//	θ ← θ − η·[(f′ᵢ(θ) − f′ᵢ(θ̃))xᵢ + (λ + ω)(θ − θ̃)/n + ∇J(θ̃)/n],
//
// with η = 1/(4(βR² + (λ + max ω)/n)), i drawn evenly. A step costs O(d), also on sparse rows. It runs on one
// processor.
type SVRG struct {
	// Seed of the order of the records; two runs with one seed are equal.
	Seed uint64
}

// Name returns "SVRG".
func (SVRG) Name() string { return "SVRG" }

func (m SVRG) run(r *search) error {
	if done, err := r.begin(); done || err != nil {
		return err
	}
	eta := r.stepSize() / 4
	n := r.e.n
	rng := rand.New(rand.NewPCG(m.Seed, 0x52B))
	one, drift := newOneRecord(r.e, r.e.n), make([]float64, r.e.size)
	shrink := make([]float64, r.e.size)
	for j, v := range r.e.ridge {
		shrink[j] = 1 - eta*v/float64(n)
	}
	for r.left() > 3 {
		for i := range n {
			one.change(r.x, i, true)
		}
		// θ ← (1 − η(λ + ω)/n)θ − η·change·xᵢ − drift, drift = η(∇J(θ̃) − (λ + ω)θ̃)/n.
		floats.ScaleTo(drift, eta/float64(n), r.g)
		for j, v := range shrink {
			drift[j] -= (1 - v) * r.x[j]
		}
		for range 2 * n {
			i := rng.IntN(n)
			one.change(r.x, i, false)
			floats.Mul(r.x, shrink)
			floats.Sub(r.x, drift)
			one.add(r.x, -eta, i)
		}
		if r.epoch(3 * n) {
			return nil
		}
	}
	return nil
}

// stepSize returns 1/(βR² + (λ + max ω)/n), what the smoothness of one term allows.
func (r *search) stepSize() float64 {
	return 1 / (r.e.f.Smoothness()*r.e.maxNorm*r.e.maxNorm + floats.Max(r.e.ridge)/float64(r.e.n))
}

// epoch counts k single gradients and checks the full one. It reports whether the search is over.
func (r *search) epoch(k int) bool {
	r.e.gradients += k
	r.e.passes += k / r.e.n
	r.f, r.rounding = r.e.eval(r.g, r.x)
	return r.record() || !matrix.Finite(r.f)
}

// oneRecord computes single slopes, and keeps those of all records, as they were last met, unless it is made for none.
type oneRecord struct {
	e *evaluator
	// slopes has those of record i at [i·K : (i+1)·K]; t, s and c are of one record.
	slopes, t, s, c []float64
}

func newOneRecord(e *evaluator, kept int) *oneRecord {
	v := func(n int) []float64 { return make([]float64, n*e.k) }
	return &oneRecord{e, v(kept), v(1), v(1), v(1)}
}

// change writes by how much the slopes of record i at θ differ from those that are kept to c, and keeps the new ones if
// it is told to.
func (o *oneRecord) change(theta []float64, i int, keep bool) {
	e := o.e
	for k := range e.forms {
		f := &e.forms[k]
		f.rows.Margins(o.t[k:k+1], theta[f.lo:f.hi], i, i+1)
	}
	e.f.Derivatives(o.s, nil, o.t, e.p.Labels[i:i+1])
	copy(o.c, o.s)
	if len(o.slopes) == 0 {
		return
	}
	kept := o.slopes[i*e.k : (i+1)*e.k]
	for k, s := range o.s {
		o.c[k] -= kept[k]
		if keep {
			kept[k] = s
		}
	}
}

// add adds w times the gradient of record i for the slopes c to dst.
func (o *oneRecord) add(dst []float64, w float64, i int) {
	for k := range o.e.forms {
		o.c[k] *= w
		f := &o.e.forms[k]
		f.rows.AddScaled(dst[f.lo:f.hi], o.c[k:k+1], i, i+1)
	}
}
