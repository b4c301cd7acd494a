package erm

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// SAG is the stochastic average gradient method (Schmidt, Le Roux and Bach 2017)
// as in appendix F of Redberg, Koskela and Wang (2023): one f′ᵢ for each step
//
//	θ ← θ − η·(Σⱼ sⱼxⱼ + b + (λ + ω)θ)/n,  sᵢ = f′(xᵢᵀθ; yᵢ),
//
// i drawn evenly, and the gradient is checked after every n steps. The ridge is
// exact. η = 1/(βR² + (λ + max ω)/n), β = sup f″; until all records have been met, the sum
// is scaled by those that have. It needs O((n + βR²n/λ)·log(1/τ)) evaluations of f′.
//
// A step costs O(d), also on sparse rows. It runs on one processor.
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
	n, d := r.e.n, r.e.d
	rng := rand.New(rand.NewPCG(m.Seed, 0x5A6))
	slopes, sum := make([]float64, n), make([]float64, d)
	met, count := make([]bool, n), 0
	var one oneRecord
	scale := eta / float64(n)
	shrink := make([]float64, d)
	for j, v := range r.e.ridge {
		shrink[j] = 1 - scale*v
	}
	for r.left() > 1 {
		for range n {
			i := rng.IntN(n)
			change := one.slope(r.p, r.x, i) - slopes[i]
			slopes[i] += change
			one.add(r.p, sum, change, i)
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

// SVRG is the stochastic variance-reduced gradient method (Johnson and Zhang
// 2013): after each full gradient ∇J(θ̃), which is also the check, 2n steps
//
//	θ ← θ − η·[(f′ᵢ(θ) − f′ᵢ(θ̃))xᵢ + (λ + ω)(θ − θ̃)/n + ∇J(θ̃)/n],
//
// with η = 1/(4(βR² + (λ + max ω)/n)), i drawn evenly. A step costs O(d), also on sparse
// rows. It runs on one processor.
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
	n, d := r.e.n, r.e.d
	rng := rand.New(rand.NewPCG(m.Seed, 0x52B))
	slopes, drift := make([]float64, n), make([]float64, d)
	var one oneRecord
	shrink := make([]float64, d)
	for j, v := range r.e.ridge {
		shrink[j] = 1 - eta*v/float64(n)
	}
	for r.left() > 3 {
		for i := range n {
			slopes[i] = one.slope(r.p, r.x, i)
		}
		// θ ← (1 − η(λ + ω)/n)θ − η·change·xᵢ − drift, drift = η(∇J(θ̃) − (λ + ω)θ̃)/n.
		floats.ScaleTo(drift, eta/float64(n), r.g)
		for j, v := range shrink {
			drift[j] -= (1 - v) * r.x[j]
		}
		for range 2 * n {
			i := rng.IntN(n)
			change := one.slope(r.p, r.x, i) - slopes[i]
			floats.Mul(r.x, shrink)
			floats.Sub(r.x, drift)
			one.add(r.p, r.x, -eta*change, i)
		}
		if r.epoch(3 * n) {
			return nil
		}
	}
	return nil
}

// stepSize returns 1/(βR² + (λ + max ω)/n), what the smoothness of one term allows.
func (r *search) stepSize() float64 {
	return 1 / (r.p.Loss.Smoothness()*r.e.maxNorm*r.e.maxNorm + floats.Max(r.e.ridge)/float64(r.e.n))
}

// epoch counts k single gradients and checks the full one. It reports whether
// the search is over.
func (r *search) epoch(k int) bool {
	r.e.gradients += k
	r.e.passes += k / r.e.n
	r.f, r.rounding = r.e.eval(r.g, r.x)
	return r.record() || !finite(r.f)
}

// oneRecord holds the buffers for a single record.
type oneRecord struct{ t, s [1]float64 }

func (o *oneRecord) slope(p *Problem, theta []float64, i int) float64 {
	p.Rows.Margins(o.t[:], theta, i, i+1)
	p.Loss.ValueSlope(o.s[:], o.t[:], p.Labels[i:i+1])
	return o.s[0]
}

func (o *oneRecord) add(p *Problem, dst []float64, w float64, i int) {
	o.s[0] = w
	p.Rows.AddScaled(dst, o.s[:], i, i+1)
}
