package erm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/kernel"
)

// penalty is what the objective has beside the records,
//
//	½Σ(λ + ωⱼ)θⱼ² + ½(θ−c)ᵀQ(θ−c) + bᵀθ.
type penalty struct {
	p *Problem
	// ridge is λ + ω.
	ridge []float64
	// q is Q in full, row by row; nil if there is none. qNorm bounds ‖Q‖_F.
	q     []float64
	qNorm float64
	// pull is the gradient without b; delta is θ − c, turn is Qδ.
	pull, delta, turn []float64
}

func newPenalty(p *Problem, size int) *penalty {
	e := &penalty{p: p, ridge: make([]float64, size), pull: make([]float64, size)}
	for j := range e.ridge {
		if e.ridge[j] = p.Lambda; p.Shrinkage != nil {
			e.ridge[j] += p.Shrinkage[j]
		}
	}
	if p.Quadratic != nil {
		raw := p.Quadratic.RawSymmetric()
		e.q, e.delta, e.turn = make([]float64, size*size), make([]float64, size), make([]float64, size)
		for i := range size {
			copy(e.q[i*size+i:(i+1)*size], raw.Data[i*raw.Stride+i:i*raw.Stride+size])
		}
		kernel.Mirror(e.q, size)
		e.qNorm = floats.Norm(e.q, 2) * (1 + kernel.NormError(size*size))
	}
	return e
}

// add adds the gradient at θ to grad and returns the value and a bound on the Euclidean norm of the error that this
// makes:
//
//   - (D+3)u‖Q‖_F‖θ−c‖ for Q(θ−c): u for each difference, (D+2)u for the sum;
//   - 4u of the norms of (λ + ω)θ and b, a product and three sums, and 5u with Q(θ−c);
//   - (1+√D)2⁻¹⁰²⁰ + D²·2⁻¹⁰⁷⁴ for what underflows in Qδ.
func (e *penalty) add(grad, theta []float64) (value, rounding float64) {
	floats.MulTo(e.pull, e.ridge, theta)
	value = 0.5 * floats.Dot(e.pull, theta)
	rounding = 4 * unit * floats.Norm(e.pull, 2)
	if e.q != nil {
		e.turns(theta)
		value += 0.5 * floats.Dot(e.delta, e.turn)
		d := float64(len(theta))
		rounding += unit*(floats.Norm(e.pull, 2)+5*floats.Norm(e.turn, 2)) + (d+3)*unit*e.qNorm*floats.Norm(e.delta, 2)
		rounding += (1+math.Sqrt(d))*0x1p-1020 + d*d*0x1p-1074
		floats.Add(e.pull, e.turn)
	}
	// It comes last and as one: its terms may be large and cancel.
	if e.p.Linear == nil {
		floats.Add(grad, e.pull)
		return value, rounding
	}
	size := floats.Norm(e.p.Linear, 2)
	if e.q != nil {
		rounding += unit * size
	}
	for j, b := range e.p.Linear {
		grad[j] += b + e.pull[j]
	}
	return value + floats.Dot(e.p.Linear, theta), rounding + 4*unit*size
}

// turns writes θ − c to delta and Qδ to turn.
func (e *penalty) turns(theta []float64) {
	copy(e.delta, theta)
	if e.p.Centre != nil {
		floats.Sub(e.delta, e.p.Centre)
	}
	kernel.Margins(e.turn, e.q, e.delta)
}

// precise adds the gradient at x to g in double-double arithmetic, and returns a bound on the error: a product and
// three sums, 16u² of the norms of all terms, grad's included; 3u² for each difference and 1.1(D+3)²u² for the sum
// (kernel.Dot2) in Q(x−c).
func (e *penalty) precise(g, x dd.Vector) (rounding float64) {
	d := float64(len(e.ridge))
	early := floats.Norm(g.Hi, 2)
	var delta dd.Vector
	if e.q != nil {
		delta = dd.NewVector(len(e.ridge))
		for j := range e.ridge {
			if delta.Set(j, x.At(j)); e.p.Centre != nil {
				delta.Set(j, x.At(j).AddFloat(-e.p.Centre[j]))
			}
		}
		rounding = 1.1 * (d + 4) * (d + 4) * unit * unit * e.qNorm * floats.Norm(delta.Hi, 2)
		rounding += 4 * ((1+math.Sqrt(d))*0x1p-1020 + d*d*0x1p-1074)
	}
	for j := range e.ridge {
		ridge := dd.From(e.p.Lambda)
		if e.p.Shrinkage != nil {
			ridge = dd.Sum(e.p.Lambda, e.p.Shrinkage[j])
		}
		pull := x.At(j).Mul(ridge)
		e.pull[j] = pull.Hi
		if e.q != nil {
			t := kernel.Dot2(e.q[j*len(e.ridge):(j+1)*len(e.ridge)], delta.Hi, delta.Lo)
			pull, e.turn[j] = pull.Add(t), t.Hi
		}
		if e.p.Linear != nil {
			pull = pull.AddFloat(e.p.Linear[j])
		}
		g.Set(j, g.At(j).Add(pull))
	}
	early += floats.Norm(e.pull, 2)
	if e.q != nil {
		early += floats.Norm(e.turn, 2)
	}
	if e.p.Linear != nil {
		early += floats.Norm(e.p.Linear, 2)
	}
	return rounding + 16*unit*unit*early
}

// product writes the Hessian times v to dst.
func (e *penalty) product(dst, v []float64) {
	floats.MulTo(dst, e.ridge, v)
	if e.q != nil {
		kernel.Margins(e.turn, e.q, v)
		floats.Add(dst, e.turn)
	}
}

// addHessian adds it to the upper triangles h, each of the given order and stride, that follow each other on the
// diagonal.
func (e *penalty) addHessian(h []float64, order, stride int) {
	size := len(e.ridge)
	for j, r := range e.ridge {
		at := j % order
		h[j*stride+at] += r
		if e.q != nil {
			floats.Add(h[j*stride+at:j*stride+order], e.q[j*size+j:j*size+j+order-at])
		}
	}
}

// diagonal returns that of the Hessian.
func (e *penalty) diagonal() []float64 {
	v := slices.Clone(e.ridge)
	for j := range v {
		if e.q != nil {
			v[j] += e.q[j*len(v)+j]
		}
	}
	return v
}

// largest bounds the largest eigenvalue of the Hessian.
func (e *penalty) largest() float64 { return slices.Max(e.ridge) + e.qNorm }
