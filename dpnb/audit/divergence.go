package audit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Renyi returns the Rényi divergence D_α(P‖Q) of two vectors of probabilities for α > 1, a lower bound on that of the
// laws that were cut into cells. Cells in which Q has no mass that float64 can hold are left out, which lowers it.
func Renyi(p, q []float64, alpha float64) float64 {
	// In logarithms, from the largest term.
	var terms []float64
	top := math.Inf(-1)
	for i, v := range p {
		if v > 0 && q[i] > 0 {
			t := alpha*math.Log(v) + (1-alpha)*math.Log(q[i])
			terms = append(terms, t)
			top = math.Max(top, t)
		}
	}
	var sum float64
	for _, t := range terms {
		sum += math.Exp(t - top)
	}
	return (top + math.Log(sum)) / (alpha - 1)
}

// Radial is objective perturbation in Dimension d on Z = ∅ and Z′ = {z} for the loss ℓ(θ) = Slope·√(w² + ‖θ‖²), w =
// Slope/Smoothness, which is convex, has gradients of norm below Slope and Hessians below Smoothness, and is not a
// generalised linear model: its gradient follows the noise in every direction.
//
// The laws are radial: λ‖θ‖ under Z and λ‖θ‖ + ‖∇ℓ(θ)‖ under Z′ are σ times a χ_d variable, so that cells have exact
// probabilities. It shows that a dimension dependence, which generalised linear models are spared, is real.
type Radial struct {
	Dimension         int
	Slope, Smoothness float64
	Lambda, Sigma     float64
}

// Cells returns the probabilities of shells under Z and under Z′.
func (r Radial) Cells(count int) (without, with []float64) {
	d := float64(r.Dimension)
	w := r.Slope / r.Smoothness
	gradient := func(x float64) float64 { return r.Slope * x / math.Hypot(w, x) }
	top := r.Sigma * (math.Sqrt(d) + 12) / r.Lambda
	ends := make([][2]float64, count)
	for i := range ends {
		x := top * float64(i+1) / float64(count)
		ends[i] = [2]float64{r.Lambda * x / r.Sigma, (r.Lambda*x + gradient(x)) / r.Sigma}
	}
	return masses(ends, 0, func(a, b float64) float64 { return chiMass(d, a, b) })
}

// chiMass returns P(a < χ_d ≤ b), from whichever tail loses less.
func chiMass(d, a, b float64) float64 {
	if a*a > d {
		up := 0.0
		if !math.IsInf(b, 1) {
			up = mathext.GammaIncRegComp(d/2, b*b/2)
		}
		return math.Max(0, mathext.GammaIncRegComp(d/2, a*a/2)-up)
	}
	low := 0.0
	if a > 0 {
		low = mathext.GammaIncReg(d/2, a*a/2)
	}
	if math.IsInf(b, 1) {
		return 1 - low
	}
	return math.Max(0, mathext.GammaIncReg(d/2, b*b/2)-low)
}
