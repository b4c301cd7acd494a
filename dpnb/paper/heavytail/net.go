package heavytail

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// NetMechanism is heavytail's Algorithm 5: the exponential mechanism over a net, with the
// clipped projected gradient as the score. It is here to be looked at: its probabilities
// are floats, and a net of d dimensions has (3D/η)^d points.
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

// Net returns an η-net of the ball of the radius: the points of a cubic grid that are near
// it, projected.
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

// Localised is the density of heavytail's Algorithms 6 and 7 over an interval,
//
//	∝ exp(−(ε_EM/(2Δ))(F̂_{C,λ}(w) − F̂_{C,λ}(u₀))),  Δ = 2C·D₀/m, ε_EM = ε/4,
//
// with values that are known to within αin: the law that is sampled is within
// exp(±2·(ε_EM/(2Δ))·αin) of it everywhere. There is no log-concave sampler here; in one
// dimension the law is had by rejection, and more than that is refused.
type Localised struct {
	// Value of F̂_{C,λ}, as near as it is known.
	Value func(w float64) float64
	// Low and High end W₀; C, m and ε as above.
	Low, High  float64
	C, Epsilon float64
	Records    int
}

// Potential returns (ε_EM/(2Δ))·F̂(w), but for a constant.
func (l Localised) Potential(w float64) float64 {
	delta := 2 * l.C * (l.High - l.Low) / float64(l.Records)
	return l.Epsilon / 4 / (2 * delta) * l.Value(w)
}

// Sample draws by rejection from the uniform law on W₀: uniform returns numbers in (0, 1).
// The potential rises by at most ε m/16 from end to end, so that at least e^{−εm/16} of the
// draws are accepted, whatever the records are; it returns how many draws it took.
//
// Errors: where that may be fewer than one in 10⁷.
func (l Localised) Sample(uniform func() float64, least float64) (w float64, draws int, err error) {
	if rise := l.Epsilon * float64(l.Records) / 16; rise > math.Log(1e7) {
		return 0, 0, fmt.Errorf("heavytail: rejection may take e^%.0f draws; there is no other exact sampler here",
			rise)
	}
	for draws = 1; ; draws++ {
		w = l.Low + (l.High-l.Low)*uniform()
		if math.Log(uniform()) <= least-l.Potential(w) {
			return w, draws, nil
		}
	}
}
