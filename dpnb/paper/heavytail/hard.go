package heavytail

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// Hard is one of the two instances of heavytail's lower bound (Theorem 4.1), for linear losses ⟨z, w⟩ on the ball of
// radius D/2: z is 0 but with the probability p, and else a·ν or, with the share q of these, −a·ν.
type Hard struct {
	Direction []float64
	P, A, Q   float64
}

// HardNonPrivate is z = ±G₂e₁ with means ±ρG₂, ρ = ½min(√(ln(1/ζ)/n), 1): few records do not tell the sign.
func HardNonPrivate(d, n int, g2, zeta float64, plus bool) Hard {
	rho := 0.5 * math.Min(math.Sqrt(math.Log(1/zeta)/float64(n)), 1)
	h := Hard{Direction: make([]float64, d), P: 1, A: g2, Q: (1 - rho) / 2}
	h.Direction[0] = 1
	if !plus {
		h.Q = 1 - h.Q
	}
	return h
}

// HardPrivate is z = G_k p^{−1/k}ν with probability p = (d ln 2 + ln(1/(4eζ)))/(nε), at most 1, and 0 else: pε n
// records or so are all that tells one ν of a packing of the sphere from the others. The paper's packing is of the
// ball, and its lemma G.1 wants one of the sphere; at d = 1 there are but two points, and ζ must be below 1/(4e²).
func HardPrivate(nu []float64, n int, epsilon, gk, k, zeta float64) Hard {
	p := (float64(len(nu))*math.Ln2 + math.Log(1/(4*math.E*zeta))) / (float64(n) * epsilon)
	p = math.Max(0, math.Min(p, 1))
	nu = append([]float64(nil), nu...)
	floats.Scale(1/floats.Norm(nu, 2), nu)
	return Hard{Direction: nu, P: p, A: gk * math.Pow(p, -1/k)}
}

// Mean returns E z.
func (h Hard) Mean() []float64 {
	mean := append([]float64(nil), h.Direction...)
	floats.Scale(h.P*h.A*(1-2*h.Q), mean)
	return mean
}

// Sample draws n records z.
func (h Hard) Sample(n int, src *noise.Seeded) *matrix.Dense {
	rows := matrix.NewDense(n, len(h.Direction), nil)
	for i := range n {
		scale := 0.0
		if src.Float64() < h.P {
			if scale = h.A; src.Float64() < h.Q {
				scale = -h.A
			}
		}
		floats.AddScaled(rows.Data[i*rows.D:(i+1)*rows.D], scale, h.Direction)
	}
	return rows
}

// Excess returns F(w) − min F over the ball of the radius.
func (h Hard) Excess(w []float64, radius float64) float64 {
	mean := h.Mean()
	return floats.Dot(mean, w) + radius*floats.Norm(mean, 2)
}

// LowerBound returns G₂D√(ln(1/ζ)/n) + G_kD((d + ln(1/ζ))/(nε))^{1−1/k}, at most G₂D: Theorem 4.1 without its constant
// c, which the paper does not state.
func LowerBound(d, n int, epsilon, g2, gk, k, diameter, zeta float64) float64 {
	more := math.Log(1 / zeta)
	return diameter * math.Min(g2, g2*math.Sqrt(more/float64(n))+
		gk*math.Pow((float64(d)+more)/(float64(n)*epsilon), 1-1/k))
}

// Exponent fits ln y = a + s·ln x by least squares, each mean with its standard error, and returns s with its own.
func Exponent(x []float64, y []sim.Summary) (slope, deviation float64) {
	var weight, meanX, meanY, square, cross float64
	w := make([]float64, len(x))
	for i, v := range y {
		w[i] = math.Pow(v.Mean/v.StdErr, 2)
		weight += w[i]
		meanX, meanY = meanX+w[i]*math.Log(x[i]), meanY+w[i]*math.Log(v.Mean)
	}
	meanX, meanY = meanX/weight, meanY/weight
	for i, v := range y {
		u := math.Log(x[i]) - meanX
		square, cross = square+w[i]*u*u, cross+w[i]*u*(math.Log(v.Mean)-meanY)
	}
	return cross / square, 1 / math.Sqrt(square)
}

// HardCell is the mean excess risk, G_k = 1, D = 2, of objective perturbation with C and Λ of the utility theorem on
// linear losses from HardPrivate with ζ = 1/(4e), so that a share p = d ln 2/(nε) of the records says anything at all,
// and G₂ = p^{1/2−1/k}.
func HardCell(k float64, d, n int, eps float64, fits int, seed uint64) (_ sim.Summary, err error) {
	defer measure.Catch(&err)
	nu := make([]float64, d)
	nu[0] = 1
	h := HardPrivate(nu, n, eps, 1, k, 0.25/math.E)
	m := measure.Must(pure.Config{Loss: loss.Affine{}, Epsilon: eps, Adjacency: privacy.ReplaceOne, Features: d,
		Records: n, Radius: 1, Moment: min(k, 1e3), MomentBound: 1, WorstCase: true,
		Lambda: math.Pow(h.P, 0.5-1/k) * math.Sqrt(2*float64(n)*(2+2/eps))}.Calibrate())
	ones := slices.Repeat([]float64{1}, n)
	return measure.Means(context.Background(), fits, noise.NewSeeded(seed), func(_ int, src *noise.Seeded) []float64 {
		return []float64{h.Excess(measure.Released(m, h.Sample(n, src), ones, src), 1)}
	})[0], nil
}
