package composite

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Indices draws the records that Stochastic looks at: a source of its own, since what it draws is no noise for privacy.
// *noise.Seeded and *rand.Rand are such.
type Indices interface {
	// IntN returns a number that is uniform on 0 … n−1.
	IntN(n int) int
}

// StochasticSettings of Stochastic. Indices is required.
type StochasticSettings struct {
	// Indices is where the records are drawn from.
	Indices Indices
	// Iterations K; zero means 1,000, as in the paper's experiments.
	Iterations int
	// Step is ρ; zero means 1/Lip(n∇ℓ̃), with Lip = nβ·max‖xᵢ‖² + λ_max(Q) + λ.
	Step float64
	// Decay is the p of the relaxation λₖ = (k+1)^{−p}; zero means ½ + 2·0.001, the paper's.
	Decay float64
	// Joint takes the proximal map of r + ι_C in place of that of r, and none in place of the projection. The iterates
	// then lie in C, and what is drawn enters linearly: as printed, the projection sees single records, so that for a C
	// that is not affine the method settles off the minimiser, however long it runs. It is an error where the map is
	// not known.
	Joint bool
	// Modulus and Start are as in Settings.
	Modulus float64
	Start   []float64
}

// Stochastic runs the stochastic three-operator splitting
//
//	θₖ = prox_{ρr}(xₖ),
//	zₖ = proj_C(2θₖ − xₖ − ρ(n∇fᵢ(θₖ) + Q(θₖ−c) + b + λθₖ)),  i drawn anew,
//	xₖ₊₁ = xₖ + λₖ(zₖ − θₖ),
//
// K times, and returns proj_C(θ_K) with its certificate. It does not stop at a tolerance, so that Tolerance is 0 in the
// solution; look at Certificate.Bound. The paper returns θ_K, which need not lie in C: the normal cone is empty there
// and criterion (7) cannot hold. See Joint for what else there is to mend.
//
// It allocates before its loop and not in it.
//
// Errors: *matrix.DataError.
// Source: qop, Algorithm G.2; Davis and Yin 2017. Where it converges, and where not:
// docs/theory/composite.md#qop-algG.2.
func Stochastic(p *Problem, settings *StochasticSettings) (*Solution, error) {
	if settings == nil || settings.Indices == nil {
		return nil, dataError("a stochastic method needs Indices to draw the records from")
	}
	s := *settings
	if s.Iterations == 0 {
		s.Iterations = 1000
	}
	if s.Decay == 0 {
		s.Decay = 0.5 + 2*0.001
	}
	if s.Iterations < 0 || !(s.Step >= 0) || math.IsInf(s.Step, 1) || !matrix.Finite(s.Decay) {
		return nil, dataError("Iterations = %d, Step = %v, Decay = %v: want numbers that are not negative",
			s.Iterations, s.Step, s.Decay)
	}
	r, err := newSearch(p, Settings{Start: s.Start, Modulus: s.Modulus})
	if err != nil {
		return nil, err
	}
	if err := r.begin(); err != nil {
		return nil, err
	}
	if s.Step == 0 {
		s.Step = 1 / r.o.lipschitzOfOne()
	}
	t := newThreeOperators(r.o, s)
	if s.Joint {
		joint, ok := jointProx(r.o.r, r.o.c)
		if !ok {
			return nil, dataError("the proximal map of the %s regulariser over the %s is not known: "+
				"set Joint to false, or use Solve", r.o.r.Name(), r.o.c.Name())
		}
		t.first, t.second = joint, Everywhere{}.Project
	}
	copy(t.x, s.Start)
	for k := range s.Iterations {
		t.step(s.Indices.IntN(r.o.n), math.Pow(float64(k+1), -s.Decay))
	}
	t.finish(r)
	b := &r.best
	b.Passes, b.Steps, b.Tolerance = r.o.h.Passes(), s.Iterations, 0
	return b, nil
}

// threeOperators is the state of Algorithm G.2.
type threeOperators struct {
	o              *objective
	first          func(dst, v []float64, step float64)
	second         func(dst, v []float64)
	rho            float64
	x, theta, z, g []float64
}

func newThreeOperators(o *objective, s StochasticSettings) *threeOperators {
	v := func() []float64 { return make([]float64, o.d) }
	return &threeOperators{o: o, first: o.r.Prox, second: o.c.Project, rho: s.Step, x: v(), theta: v(), z: v(), g: v()}
}

// step is one iteration with record i and relaxation λ.
func (t *threeOperators) step(i int, lambda float64) {
	o := t.o
	t.first(t.theta, t.x, t.rho)
	o.h.Penalty(t.g, t.theta)
	o.h.AddRecord(t.g, t.theta, float64(o.n), i)
	for j, x := range t.theta {
		t.z[j] = 2*x - t.x[j] - t.rho*t.g[j]
	}
	t.second(t.z, t.z)
	for j, z := range t.z {
		t.x[j] += lambda * (z - t.theta[j])
	}
}

// finish gives the search the projection of θ_K, with the subgradient of r that its proximal map proves.
func (t *threeOperators) finish(r *search) {
	t.first(t.theta, t.x, t.rho)
	for j, x := range t.theta {
		r.pair.s[j] = (t.x[j] - x) / t.rho
	}
	t.o.c.Project(r.x, t.theta)
	r.value, r.rounding = t.o.eval(r.g, r.x)
	for j, g := range r.g {
		r.pair.v[j] = -g - r.pair.s[j]
	}
	r.best.Method = ""
	r.record()
	r.best.Method = "stochastic three-operator splitting"
}
