package composite

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
)

// objective computes the smooth terms of J and their gradient. It allocates
// when it is made.
type objective struct {
	p     *Problem
	n, d  int
	data  *erm.Evaluator
	r     Regulariser
	c     Projector
	ridge float64
	// q is Q in full, row by row; nil if there is none. qNorm bounds ‖Q‖_F.
	q     []float64
	qNorm float64
	// delta is θ − c, turn is Qδ.
	delta, turn []float64
}

// newObjective wants a problem that is valid.
func newObjective(p *Problem, workers int) (*objective, error) {
	data, err := erm.NewEvaluator(p.records(), workers)
	if err != nil {
		return nil, err
	}
	o := &objective{p: p, data: data, r: p.regulariser(), c: p.projector(), ridge: p.Lambda}
	o.n, o.d = p.Rows.Dims()
	o.delta, o.turn = make([]float64, o.d), make([]float64, o.d)
	if p.Quadratic != nil {
		o.q = full(p)
		o.qNorm = floats.Norm(o.q, 2) * (1 + kernel.NormError(o.d*o.d))
	}
	return o, nil
}

// full returns Q with both triangles.
func full(p *Problem) []float64 {
	raw := p.Quadratic.RawSymmetric()
	d := raw.N
	q := make([]float64, d*d)
	for i := range d {
		copy(q[i*d+i:(i+1)*d], raw.Data[i*raw.Stride+i:i*raw.Stride+d])
	}
	mirror(q, d)
	return q
}

// mirror copies the upper triangle of a d×d matrix to the lower, tile by tile.
func mirror(a []float64, d int) {
	const tile = 32
	for ib := 0; ib < d; ib += tile {
		for jb := ib; jb < d; jb += tile {
			for i := ib; i < min(ib+tile, d); i++ {
				for j := max(jb, i+1); j < min(jb+tile, d); j++ {
					a[j*d+i] = a[i*d+j]
				}
			}
		}
	}
}

// eval writes the gradient of J − r to grad and returns J(θ) (without ι_C) and a
// bound on the Euclidean norm of the error of the gradient:
//
//   - that of the records (erm.Evaluator);
//   - (d+3)u‖Q‖_F‖θ−c‖ for Q(θ−c): u for each difference, (d+2)u for the sum;
//   - 5u of the norms of the four terms, which are added one by one;
//   - (1+√d)2⁻¹⁰²⁰ + d²·2⁻¹⁰⁷⁴ for what underflows in Qδ and in the sum.
func (o *objective) eval(grad, theta []float64) (value, rounding float64) {
	value, rounding = o.data.Gradient(grad, theta)
	return o.others(grad, theta, value, rounding)
}

// refine is eval with the records' part of the gradient in double-double arithmetic,
// whose error does not grow with their number. grad must be what eval wrote at θ.
func (o *objective) refine(grad, theta []float64) (rounding float64) {
	_, rounding = o.others(grad, theta, 0, o.data.Refine(grad, theta))
	return rounding
}

// others adds all but the records' part to grad, of which they are given, to its value
// and to the bound on its error.
func (o *objective) others(grad, theta []float64, value, rounding float64) (float64, float64) {
	early := floats.Norm(grad, 2)
	if o.q != nil {
		o.away(theta)
		kernel.Margins(o.turn, o.q, o.delta)
		value += 0.5 * floats.Dot(o.delta, o.turn)
		early += floats.Norm(o.turn, 2)
		rounding += float64(o.d+3) * unit * o.qNorm * floats.Norm(o.delta, 2)
		floats.Add(grad, o.turn)
	}
	norm := floats.Norm(theta, 2)
	value += 0.5*o.ridge*norm*norm + o.r.Value(theta)
	early += o.ridge * norm
	if o.p.Linear != nil {
		value += floats.Dot(o.p.Linear, theta)
		early += floats.Norm(o.p.Linear, 2)
		floats.Add(grad, o.p.Linear)
	}
	if o.ridge != 0 {
		floats.AddScaled(grad, o.ridge, theta)
	}
	d := float64(o.d)
	return value, 1.01 * (rounding + 5*unit*early + (1+math.Sqrt(d))*0x1p-1020 + d*d*0x1p-1074)
}

// away writes θ − c to delta.
func (o *objective) away(theta []float64) {
	copy(o.delta, theta)
	if o.p.Centre != nil {
		floats.Sub(o.delta, o.p.Centre)
	}
}

// hessian writes that of the smooth terms at θ to h, in full.
func (o *objective) hessian(h, theta []float64) {
	o.data.Hessian(h, theta)
	if o.q != nil {
		for i := range o.d {
			floats.Add(h[i*o.d+i:(i+1)*o.d], o.q[i*o.d+i:(i+1)*o.d])
		}
	}
	for j := range o.d {
		h[j*o.d+j] += o.ridge
	}
	mirror(h, o.d)
}

// lipschitz bounds the Lipschitz constant of the gradient.
func (o *objective) lipschitz() float64 {
	r := o.data.MaxNorm()
	return (float64(o.n)*o.p.Loss.Smoothness()*r*r + o.qNorm + o.ridge) * (1 + 16*unit)
}
