package heavytail

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// Localised is the density of heavytail's Algorithms 6 and 7 over an interval,
//
//	∝ exp(−(ε_EM/(2Δ))(F̂_{C,λ}(w) − F̂_{C,λ}(u₀))),  Δ = 2C·D₀/m, ε_EM = ε/4,
//
// with values that are known to within αin: the law that is sampled is within exp(±2·(ε_EM/(2Δ))·αin) of it everywhere.
// There is no log-concave sampler here; in one dimension the law is had by rejection, and more than that is refused.
type Localised struct {
	// Value of F̂_{C,λ}, as near as it is known.
	Value func(w float64) float64
	// Low and High end W₀; C, m and ε as above.
	Low, High  float64
	C, Epsilon float64
	Records    int
}

// Sensitivity returns Δ: how far replacing a record moves F̂_{C,λ}(w) − F̂_{C,λ}(u₀) at most, for w and u₀ in W₀.
func (l Localised) Sensitivity() float64 { return 2 * l.C * (l.High - l.Low) / float64(l.Records) }

// Potential returns (ε_EM/(2Δ))·F̂(w), but for a constant.
func (l Localised) Potential(w float64) float64 {
	return l.Epsilon / 4 / (2 * l.Sensitivity()) * l.Value(w)
}

// Sample draws by rejection from the uniform law on W₀: uniform returns numbers in (0, 1). The potential rises by at
// most ε m/16 from end to end, so that at least e^{−εm/16} of the draws are accepted, whatever the records are; it
// returns how many draws it took. least is the potential's minimum.
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

// Algorithm7 is heavytail's Algorithm 7 in one dimension, for linear losses zw on [−1, 1] with the ridge (λ/2)(w −
// w₀)²: an output perturbation at ε/2, then Localised over what is left of its ball.
type Algorithm7 struct {
	C, Lambda, Centre, Epsilon float64
}

// Mean returns the mean slope with C.
func (a Algorithm7) Mean(z []float64) (mean float64) {
	for _, v := range z {
		mean += math.Max(-a.C, math.Min(v, a.C)) / float64(len(z))
	}
	return mean
}

// Scale returns that of the first stage's noise, 6C/(λm) over ε/2.
func (a Algorithm7) Scale(m int) float64 { return 12 * a.C / (a.Lambda * float64(m) * a.Epsilon) }

// Second returns the second stage about the point of the first: its ball has the radius 600C/(λmε), which the paper
// calls the diameter.
func (a Algorithm7) Second(z []float64, at float64) Localised {
	radius, mean := 50*a.Scale(len(z)), a.Mean(z)
	return Localised{Value: func(w float64) float64 { return mean*w + 0.5*a.Lambda*(w-a.Centre)*(w-a.Centre) },
		Low: math.Max(-1, at-radius), High: math.Min(1, at+radius), C: a.C, Epsilon: a.Epsilon, Records: len(z)}
}

// Run returns a draw of both stages, and an error where Localised.Sample has one.
func (a Algorithm7) Run(z []float64, src *noise.Seeded) (float64, error) {
	best := func(low, high float64) float64 { // the minimiser over an interval
		return math.Max(low, math.Min(a.Centre-a.Mean(z)/a.Lambda, high))
	}
	at, scale := []float64{best(-1, 1)}, a.Scale(len(z))
	noise.Exact(src).IsotropicLaplace(1).AddRounded(at, scale, exact.Grid(scale))
	l := a.Second(z, math.Max(-1, math.Min(at[0], 1)))
	w, _, err := l.Sample(src.Float64, l.Potential(best(l.Low, l.High)))
	return w, err
}

// interval is [−1, 1].
var interval = Exactly(composite.Ball{Radius: 1})

// linearLosses are zw, of one variable.
func linearLosses(z []float64) (losses []Function) {
	for _, v := range z {
		losses = append(losses, func(g, w []float64) float64 {
			g[0] = v
			return v * w[0]
		})
	}
	return losses
}

// LocalisedBall is Localised in any dimension, over W₀ = B(Centre, Radius) ∩ B(0, 1): the density ∝ e^{−κF̂} with
// κ = (ε/4)/(2Δ), Δ = 2C·2Radius/m, of F̂ with the ridge λ > 0.
//
// The paper has a sampler for log-concave densities that is right up to a max-divergence and with a probability. This
// one is exact. At any point v with a subgradient g of F̂, strong convexity has F̂(w) ≥ F̂(v) − ‖g‖²/(2λ) + (λ/2)‖w −
// u‖², u = v − g/λ: draws of N(u, I/(κλ)) that lie in W₀ are accepted with the ratio of the two. If v is the minimiser,
// the mean share of draws in W₀ that is accepted is at least e^{−2Cκ√(d/(κλ))}, whatever the records are: with the
// radius of Algorithm 7 that is e^{−εm/69}, in every dimension, and 1 where losses are linear
// (docs/theory/localisation.md).
type LocalisedBall struct {
	// Value of F̂ and a subgradient, exactly; values that are within αin of it make a law that is within e^{±2κ·αin}.
	Value      Function
	Lambda     float64
	Centre     []float64
	Radius     float64
	C, Epsilon float64
	Records    int
}

// Sharpness returns κ.
func (l LocalisedBall) Sharpness() float64 {
	return l.Epsilon / 4 / (2 * 2 * l.C * 2 * math.Min(l.Radius, 1)) * float64(l.Records)
}

// Sample returns a draw and how many it took, v being any point, best near the minimiser.
//
// Errors: by public numbers, where it may take more than 10⁷ at the minimiser.
func (l LocalisedBall) Sample(src *noise.Seeded, v []float64) (w []float64, draws int, err error) {
	d, kappa := len(v), l.Sharpness()
	s := 1 / math.Sqrt(kappa*l.Lambda)
	if most := 2 * l.C * kappa * s * math.Sqrt(float64(d)); most > math.Log(1e7) {
		return nil, 0, fmt.Errorf("heavytail: rejection may take e^%.0f draws; there is no other exact sampler here",
			most)
	}
	g, u, rest := make([]float64, d), make([]float64, d), make([]float64, d)
	floor := l.Value(g, v) - 0.5*floats.Dot(g, g)/l.Lambda
	floats.AddScaledTo(u, v, -1/l.Lambda, g)
	for w = make([]float64, d); ; {
		draws++
		src.Gaussian(w, s)
		square := 0.5 * l.Lambda * floats.Dot(w, w)
		floats.Add(w, u)
		if floats.Distance(w, l.Centre, 2) > l.Radius || floats.Norm(w, 2) > 1 {
			continue
		}
		if math.Log(src.Float64()) <= kappa*(floor+square-l.Value(rest, w)) {
			return w, draws, nil
		}
	}
}

// Algorithm7Ball is heavytail's Algorithm 7 for linear losses ⟨z, w⟩ on the unit ball of d dimensions with the ridge
// (λ/2)‖w − w₀‖²: an output perturbation at ε/2, then LocalisedBall over what is left of its ball.
type Algorithm7Ball struct {
	C, Lambda float64
	Centre    []float64
	Epsilon   float64
}

// Objective returns F̂ of the rows z, each cut to the length C.
func (a Algorithm7Ball) Objective(z *matrix.Dense) Function {
	mean := make([]float64, z.D)
	for i := range z.N {
		row := z.Data[i*z.D : (i+1)*z.D]
		floats.AddScaled(mean, math.Min(1, a.C/math.Max(a.C, floats.Norm(row, 2)))/float64(z.N), row)
	}
	return func(g, w []float64) float64 {
		floats.SubTo(g, w, a.Centre)
		value := 0.5*a.Lambda*floats.Dot(g, g) + floats.Dot(mean, w)
		floats.Scale(a.Lambda, g)
		floats.Add(g, mean)
		return value
	}
}

// Second returns the second stage about the point of the first, whose noise has the scale 12C/(λmε): its ball has the
// radius 600Cd/(λmε), and d·scale is the mean length of that noise.
func (a Algorithm7Ball) Second(z *matrix.Dense, at []float64) LocalisedBall {
	return LocalisedBall{Value: a.Objective(z), Lambda: a.Lambda, Centre: at,
		Radius: 50 * a.scale(z.N) * float64(z.D), C: a.C, Epsilon: a.Epsilon, Records: z.N}
}

func (a Algorithm7Ball) scale(m int) float64 {
	return Algorithm7{C: a.C, Lambda: a.Lambda, Epsilon: a.Epsilon}.Scale(m)
}

// Run returns a draw of both stages, with how many of the second it took.
//
// Errors: as LocalisedBall.Sample.
func (a Algorithm7Ball) Run(z *matrix.Dense, src *noise.Seeded) (w []float64, draws int, err error) {
	best, g := make([]float64, z.D), make([]float64, z.D)
	a.Objective(z)(g, best)
	floats.Scale(-1/a.Lambda, g) // the minimiser, and on the ball its projection: level sets are spheres about it
	unit := composite.Ball{Radius: 1}
	unit.Project(best, g)
	at, scale := append([]float64(nil), best...), a.scale(z.N)
	noise.Exact(src).IsotropicLaplace(z.D).AddRounded(at, scale, exact.Grid(scale))
	unit.Project(at, at)
	return a.Second(z, at).Sample(src, best)
}

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
	at := slices.Repeat([]int{-k}, d)
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
