package heavytail

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
)

// NetMechanism is heavytail's Algorithm 5: the exponential mechanism over a net, with the clipped projected gradient as
// the score. It is here to be looked at: its probabilities are floats, and a net of d dimensions has (3D/η)^d points.
type NetMechanism struct {
	// Slopes are the gradients of smooth losses, of every record.
	Slopes []Function
	// C clips them, Lambda and Centre are of the ridge (λ/2)‖w − w₀‖², a mean's.
	C, Lambda float64
	Centre    []float64
	// Step is γ.
	Step float64
	W    Domain
	// Sensitivity of the score; the paper's is 2C/n.
	Sensitivity float64
}

// Score returns ‖(w − Π_W(w − γ(g_C(w) + λ(w − w₀))))/γ‖, g_C the mean of clipped gradients.
func (m NetMechanism) Score(w []float64) float64 {
	d := len(w)
	g, mean := make([]float64, d), make([]float64, d)
	for _, f := range m.Slopes {
		f(g, w)
		scale := 1.0
		if norm := floats.Norm(g, 2); norm > m.C {
			scale = m.C / norm
		}
		floats.AddScaled(mean, scale/float64(len(m.Slopes)), g)
	}
	for j := range d {
		mean[j] = w[j] - m.Step*(mean[j]+m.Lambda*(w[j]-m.Centre[j]))
	}
	m.W.Project(mean, mean, 1e-12)
	return floats.Distance(w, mean, 2) / m.Step
}

// Probabilities returns the law of the result over the points of a net, at ε.
func (m NetMechanism) Probabilities(net [][]float64, epsilon float64) []float64 {
	p := make([]float64, len(net))
	for i, w := range net {
		p[i] = -epsilon / (2 * m.Sensitivity) * m.Score(w)
	}
	shift := floats.LogSumExp(p)
	for i := range p {
		p[i] = math.Exp(p[i] - shift)
	}
	return p
}

// Net returns an η-net of the ball of the radius: the points of a cubic grid that are near it, projected.
//
// Errors: if it would have more than a million points.
func Net(d int, radius, eta float64) ([][]float64, error) {
	side := 2 * eta / math.Sqrt(float64(d))
	k := int(math.Ceil(radius / side))
	if float64(d)*math.Log(float64(2*k+1)) > math.Log(1e6) {
		return nil, fmt.Errorf("heavytail: a net of (3D/η)^d points is out of reach at d = %d, η = %.3g", d, eta)
	}
	var net [][]float64
	at := make([]int, d)
	for i := range at {
		at[i] = -k
	}
	for {
		w := make([]float64, d)
		for j, v := range at {
			w[j] = float64(v) * side
		}
		if norm := floats.Norm(w, 2); norm <= radius+eta {
			if norm > radius {
				floats.Scale(radius/norm, w)
			}
			net = append(net, w)
		}
		j := 0
		for ; j < d; j++ {
			if at[j]++; at[j] <= k {
				break
			}
			at[j] = -k
		}
		if j == d {
			return net, nil
		}
	}
}

// BallSmoothed returns f^τ(w) = E|⟨x, w + τU⟩ − y|, U uniform in the unit ball of R^d, with its gradient: heavytail's
// smoothing for Algorithm 5 (section E.2). With s = ⟨x,w⟩ − y and c = τ‖x‖ it is E|s + cV|, V a coordinate of U, of
// density K(1 − v²)^{(d−1)/2}, K = Γ(d/2 + 1)/(√π Γ((d+1)/2)); its slope is sgn(s)·I_{s²/c²}(½, (d+1)/2), I the
// incomplete beta function, and its Hessian at most 2K‖x‖/τ, below the paper's d‖x‖/τ from d = 2 on.
func BallSmoothed(x []float64, y, tau float64) Function {
	d, norm := float64(len(x)), floats.Norm(x, 2)
	a, _ := math.Lgamma(d/2 + 1)
	b, _ := math.Lgamma((d + 1) / 2)
	k, c := math.Exp(a-b)/math.Sqrt(math.Pi), tau*norm
	return func(g, w []float64) float64 {
		s := floats.Dot(x, w) - y
		slope, more := math.Copysign(1, s), 0.0
		if rest := 1 - s*s/(c*c); rest > 0 {
			slope *= mathext.RegIncBeta(0.5, (d+1)/2, 1-rest)
			more = 2 * k * c / (d + 1) * math.Pow(rest, (d+1)/2)
		}
		floats.ScaleTo(g, slope, x)
		return s*slope + more
	}
}

// PublicStep is γ = 1/(λ + H) with H = (dG₂/τ)√(n/ρ), which bounds the smoothed losses' curvature but with probability
// ρ: of public numbers alone, where the printed step has the curvature of the records (erratum heavytail-83).
func PublicStep(lambda float64, d, n int, g2, tau, rho float64) float64 {
	return 1 / (lambda + float64(d)*g2/tau*math.Sqrt(float64(n)/rho))
}
