package cop

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Minimum is a point of the least risk.
type Minimum struct {
	Theta []float64
	// Risk at Theta; no point has less than Risk − Gap.
	Risk, Gap float64
}

// tilted is J(θ) = Σᵢ f(yᵢ − Aᵢθ) + (λ/2)‖θ‖² + bᵀθ.
type tilted struct {
	*Records
	Smooth
	Lambda float64
	Linear []float64
}

// at returns J(θ), and writes its gradient, and its Hessian unless hess is nil.
func (o *tilted) at(theta, grad []float64, hess *mat.SymDense) float64 {
	d := o.Dimension
	var g, u [forms]float64
	var h [forms * forms]float64
	var bends []float64
	if hess != nil {
		bends = h[:]
		hess.Zero()
	}
	value := 0.0
	for j, t := range theta {
		grad[j] = o.Lambda*t + o.Linear[j]
		value += 0.5*o.Lambda*t*t + o.Linear[j]*t
		if hess != nil {
			hess.SetSym(j, j, o.Lambda)
		}
	}
	for i := range o.N {
		a := o.residuals(u[:], theta, i)
		value += o.Bend(g[:], bends, u[:])
		for j, v := range g {
			floats.AddScaled(grad, -v, a[j*d:(j+1)*d])
		}
		if hess == nil {
			continue
		}
		raw := hess.RawSymmetric()
		for j := range forms {
			for l := range forms {
				if c := h[j*forms+l]; c != 0 {
					for p, x := range a[j*d : (j+1)*d] {
						floats.AddScaled(raw.Data[p*raw.Stride+p:p*raw.Stride+d], c*x, a[l*d+p:(l+1)*d])
					}
				}
			}
		}
	}
	return value
}

// errNotMinimised is the error of a solver that stops above its tolerance.
var errNotMinimised = errors.New("cop: the minimiser was not found to the tolerance")

// search moves theta to the least of J along theta − t·step, t > 0, and returns t. J′ along the line rises; a t at
// which it is half as large as at 0 or less is bracketed and then found by false position (Illinois), Newton's t = 1
// first.
func (o *tilted) search(theta, step []float64) float64 {
	from, along := make([]float64, forms*o.N), make([]float64, forms*o.N)
	for i := range o.N {
		a := o.residuals(from[forms*i:forms*(i+1)], theta, i)
		for j := range forms {
			along[forms*i+j] = floats.Dot(a[j*o.Dimension:(j+1)*o.Dimension], step)
		}
	}
	var still, moving float64 // of the quadratic part
	for j, s := range step {
		still -= s * (o.Lambda*theta[j] + o.Linear[j])
		moving += o.Lambda * s * s
	}
	slope := func(t float64) float64 {
		var g, u [forms]float64
		sum := still + t*moving
		for i := range o.N {
			for j := range u {
				u[j] = from[forms*i+j] + t*along[forms*i+j]
			}
			o.Bend(g[:], nil, u[:])
			sum += floats.Dot(g[:], along[forms*i:forms*(i+1)])
		}
		return sum
	}
	start := slope(0)
	if !(start < 0) {
		return 0
	}
	lo, hi, below, above := 0.0, 1.0, start, slope(1)
	for above < 0.5*start && hi < 0x1p60 {
		lo, below, hi = hi, above, 4*hi
		above = slope(hi)
	}
	best, found := hi, above
	for k := 0; k < 60 && math.Abs(found) > -0.5*start && hi-lo > 1e-15*hi; k++ {
		best = (lo*above - hi*below) / (above - below)
		if found = slope(best); found > 0 {
			hi, above, below = best, found, below/2
		} else {
			lo, below, above = best, found, above/2
		}
	}
	floats.AddScaled(theta, -best, step)
	return best
}

// minimise runs Newton's method with an exact line search from theta, in place, until ‖∇J‖ ≤ tolerance, and returns
// that norm. With λ > 0 the minimiser is within ‖∇J‖/λ.
func (o *tilted) minimise(theta []float64, tolerance float64) (norm float64, err error) {
	d := o.Dimension
	grad := make([]float64, d)
	hess := mat.NewSymDense(d, nil)
	step := mat.NewVecDense(d, nil)
	for range 400 {
		o.at(theta, grad, hess)
		if norm = floats.Norm(grad, 2); norm <= tolerance {
			return norm, nil
		}
		// Where no record bends, the Hessian is nearly singular; a damped one has a step.
		var chol mat.Cholesky
		for damp := 0.0; !chol.Factorize(hess); damp = math.Max(2*damp, 1e-12*mat.Trace(hess)+1e-300) {
			for j := range d {
				hess.SetSym(j, j, hess.At(j, j)+damp)
			}
		}
		if err := chol.SolveVecTo(step, mat.NewVecDense(d, grad)); err != nil {
			var ill mat.Condition
			if !errors.As(err, &ill) {
				return norm, err
			}
		}
		if o.search(theta, step.RawVector().Data) == 0 {
			break
		}
	}
	return norm, errNotMinimised
}

// minimise returns the fit without privacy. The envelope e_w of the loss, w small, has f − w′ ≤ e_w ≤ f with w′ = Gap:
// so the least of Σe_w, which Newton's method finds to what its gradient and a ball certify, is a lower bound for that
// of Σf.
func (r *Records) minimise() (Minimum, error) {
	theta := make([]float64, r.Dimension)
	best := Minimum{Risk: math.Inf(1)}
	for w := 1.0; w > 1e-6; w *= 0.2 {
		// A ridge so small that it moves the risk by less than the envelope does.
		o := tilted{Records: r, Smooth: r.Loss.Envelope(w), Lambda: 1e-6 * w * float64(r.N),
			Linear: make([]float64, r.Dimension)}
		norm, err := o.minimise(theta, 1e-3*w*float64(r.N))
		if err != nil {
			return best, err
		}
		n := float64(r.N)
		least := (o.at(theta, make([]float64, r.Dimension), nil) - norm*norm/(2*o.Lambda)) / n
		// The ridge at the minimiser of Σf, which is taken to lie within ten times R_θ.
		least -= 0.5 * o.Lambda / n * 100 * r.Radius() * r.Radius()
		if risk := r.Risk(theta); risk-least < best.Gap || math.IsInf(best.Risk, 1) {
			best = Minimum{append([]float64(nil), theta...), risk, risk - least}
		}
	}
	return best, nil
}
