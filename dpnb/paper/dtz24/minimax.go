package dtz24

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

// Minimax is the pair of problems of the Convex Gaussian Minimax Theorem (dtz24, Theorem 2.8) for the min-max form of
// objective perturbation with the Huber loss (Lemma 3.11): over ‖u‖ ≤ A and v ∈ [−L, L]ⁿ,
//
//	Q  = ⟨Gu, v⟩/√d + ψ,   Q′ = (‖u‖⟨h, v⟩ + ‖v‖⟨g, u⟩)/√d + ψ,
//	ψ  = (λ/2)‖u‖² + ⟨w, u⟩ − ½‖v‖² + ⟨ε, v⟩,
//
// G, g and h standard normal. ψ is convex in u and concave in v.
type Minimax struct {
	// Threshold L, Lambda λ > 0, Radius A.
	Threshold, Lambda, Radius float64
	// Shift is w (length d): λβ⋆ + νξ. Noise is ε (length n).
	Shift, Noise []float64
}

// NewMinimax returns the problem of n records and d ≥ 2 features with L = 1, λ = ½, A = 50√d and w ~ N(0, (½)² + (⅕)²),
// ε ~ N(0, 1) drawn once: then ψ is fixed, as the theorem has it.
func NewMinimax(n, d int, seed uint64) Minimax {
	r := noise.NewSeeded(seed)
	m := Minimax{Threshold: 1, Lambda: 0.5, Radius: 50 * math.Sqrt(float64(d)), Shift: make([]float64, d),
		Noise: make([]float64, n)}
	r.Gaussian(m.Shift, math.Hypot(0.5, 0.2))
	r.Gaussian(m.Noise, 1)
	return m
}

// Primary returns min_u max_v Q for the matrix G (n×d), which it scales by 1/√d: the maximum over v is Σ H_L(ε +
// Gu/√d), so that it is a minimisation of the Huber loss. Within ‖u‖ ≤ A it is that of a larger ridge where the ball is
// too small.
func (m Minimax) Primary(s *population.Solver, g *matrix.Dense) (_ float64, err error) {
	defer measure.Catch(&err)
	floats.Scale(1/math.Sqrt(float64(g.D)), g.Data)
	labels := make([]float64, g.N)
	for i, e := range m.Noise {
		labels[i] = -e
	}
	p := &erm.Problem{Rows: g, Labels: labels, Loss: loss.Huber{Threshold: m.Threshold}, Lambda: m.Lambda,
		Linear: m.Shift}
	var u []float64
	within := func(more float64) (bool, error) { // the multiplier of the ball
		p.Lambda = m.Lambda + more
		u, err = s.Minimize(p, 1e-9)
		return err == nil && floats.Norm(u, 2) <= m.Radius*(1+1e-9), err
	}
	if !measure.Must(within(0)) {
		measure.Must(within(measure.Must(univariate.Smallest{Start: m.Lambda, Factor: 2, Most: math.Inf(1),
			Cut: univariate.Arithmetic, Tolerance: 1e-12}.Find(within))))
	}
	t, slope := make([]float64, g.N), make([]float64, g.N)
	g.Margins(t, u, 0, g.N)
	return p.Loss.ValueSlope(slope, t, labels) + 0.5*m.Lambda*floats.Dot(u, u) + floats.Dot(m.Shift, u), nil
}

// Auxiliary returns min_u max_v Q′ for g (length d) and h (length n). It needs two scalars only, r = ‖u‖ and ρ = ‖v‖
// (docs/theory/proportional_simulation.md):
//
//	min_{0≤r≤A} max_{0≤ρ≤L√n} (λ/2)r² − ½ρ² + F(ρ) − r‖w + ρg/√d‖,
//	F(ρ) = max ⟨rh/√d + ε, v⟩ over ‖v‖ ≤ ρ, |vᵢ| ≤ L,
//
// convex in r and concave in ρ. It needs d ≥ 2: in one dimension the sphere ‖u‖ = r is two points, and minimum and
// maximum cannot be exchanged.
func (m Minimax) Auxiliary(g, h []float64) float64 {
	s := newAuxiliary(m, g, h)
	r := fallingRoot(func(r float64) float64 { return -s.derivative(r) }, 0, m.Radius)
	s.inner(r)
	return s.value(r)
}

// auxiliary is the inner maximisation at one r.
type auxiliary struct {
	Minimax
	g, h   []float64 // divided by √d
	gg, gw float64   // ‖g‖², ⟨g, w⟩
	ww     float64
	a, v   []float64
	rho, c float64
}

func newAuxiliary(m Minimax, g, h []float64) *auxiliary {
	s := &auxiliary{Minimax: m, g: slices.Clone(g), h: slices.Clone(h), a: make([]float64, len(h)),
		v: make([]float64, len(h))}
	c := 1 / math.Sqrt(float64(len(g)))
	floats.Scale(c, s.g)
	floats.Scale(c, s.h)
	s.gg, s.gw, s.ww = floats.Dot(s.g, s.g), floats.Dot(s.g, m.Shift), floats.Dot(m.Shift, m.Shift)
	return s
}

// pull is ‖w + ρg‖.
func (s *auxiliary) pull(rho float64) float64 {
	return math.Sqrt(math.Max(0, s.ww+rho*(2*s.gw+rho*s.gg)))
}

// at sets v to c·a cut to [−L, L], which is where ⟨a, v⟩ is largest for its norm ρ.
func (s *auxiliary) at(c float64) {
	var sq float64
	for i, a := range s.a {
		v := math.Max(-s.Threshold, math.Min(s.Threshold, c*a))
		s.v[i] = v
		sq += v * v
	}
	s.c, s.rho = c, math.Sqrt(sq)
}

// inner maximises over ρ: the derivative −ρ + ρ/c − r⟨w + ρg, g⟩/‖w + ρg‖ falls in ρ, and so in c.
func (s *auxiliary) inner(r float64) {
	smallest := math.Inf(1)
	for i, h := range s.h {
		s.a[i] = r*h + s.Noise[i]
		smallest = math.Min(smallest, math.Abs(s.a[i]))
	}
	top := math.Log(s.Threshold / math.Max(smallest, 1e-12)) // all of v at its limits
	c := math.Exp(fallingRoot(func(logC float64) float64 {
		s.at(math.Exp(logC))
		return -s.rho + s.rho/s.c - r*(s.gw+s.rho*s.gg)/math.Max(s.pull(s.rho), 1e-300)
	}, math.Min(-30, top-1), top))
	s.at(c)
}

func (s *auxiliary) value(r float64) float64 {
	return 0.5*s.Lambda*r*r - 0.5*s.rho*s.rho + floats.Dot(s.a, s.v) - r*s.pull(s.rho)
}

// derivative of the maximum by r, which rises with r.
func (s *auxiliary) derivative(r float64) float64 {
	s.inner(r)
	return s.Lambda*r + floats.Dot(s.h, s.v) - s.pull(s.rho)
}

// fallingRoot returns where the falling function f crosses zero in [lo, hi], or the end next to it: the secant with
// Illinois' correction.
func fallingRoot(f func(float64) float64, lo, hi float64) float64 {
	a, b := f(lo), f(hi)
	if a <= 0 {
		return lo
	}
	if b >= 0 {
		return hi
	}
	side := 0
	for range 200 {
		x := (lo*b - hi*a) / (b - a)
		if !(x > lo && x < hi) {
			x = 0.5 * (lo + hi)
		}
		y := f(x)
		if math.Abs(y) < 1e-12 || hi-lo < 1e-12*(1+math.Abs(hi)) {
			return x
		}
		if y > 0 {
			lo, a = x, y
			if side > 0 {
				b *= 0.5
			}
			side = 1
		} else {
			hi, b = x, y
			if side < 0 {
				a *= 0.5
			}
			side = -1
		}
	}
	return 0.5 * (lo + hi)
}

// Optima are optimum values of independent draws, in rising order: primary problems with G, auxiliary ones with g and
// h.
type Optima struct{ Primary, Auxiliary []float64 }

// Draw solves both problems the given number of times.
//
// Errors: fewer than two features; erm.ErrTolerance, wrapped; ctx.Err().
func (m Minimax) Draw(ctx context.Context, draws int, seed uint64) (Optima, error) {
	n, d := len(m.Noise), len(m.Shift)
	if n < 1 || d < 2 {
		return Optima{}, fmt.Errorf("experiment: %d records of %d features, want at least one of at least two", n, d)
	}
	return drawOptima(ctx, draws, seed, func(r *noise.Seeded, s *population.Solver) (float64, float64, error) {
		x, g, h := matrix.NewDense(n, d, nil), make([]float64, d), make([]float64, n)
		r.Gaussian(x.Data, 1)
		r.Gaussian(g, 1)
		r.Gaussian(h, 1)
		p, err := m.Primary(s, x)
		return p, m.Auxiliary(g, h), err
	})
}

// SmallestSingular draws Gordon's own example, ψ = 0 over unit spheres: the primary optimum is the smallest singular
// value of a Gaussian n×n matrix, the auxiliary one ‖h‖ − ‖g‖. The spheres are not convex, so that part (a) of Theorem
// 2.8 applies to it and part (b) does not. As n grows the first is of the order 1/√n and the second has the sign of a
// coin, so that the factor 2 is attained.
//
// Reflections leave the law of a Gaussian matrix as it is, and make it one with entries χ_n … χ_1 on the diagonal and
// χ_{n−1} … χ_1 above it, all independent.
func SmallestSingular(ctx context.Context, n, draws int, seed uint64) (Optima, error) {
	if n < 1 {
		return Optima{}, errors.New("experiment: a matrix has a row at least")
	}
	return drawOptima(ctx, draws, seed, func(r *noise.Seeded, _ *population.Solver) (float64, float64, error) {
		square := func(k int) float64 { return distuv.Gamma{Alpha: float64(k) / 2, Beta: 0.5, Src: r}.Rand() }
		var squares []float64 // of the entries, along the band
		for k := n; k > 0; k-- {
			if squares = append(squares, square(k)); k > 1 {
				squares = append(squares, square(k-1))
			}
		}
		// A singular value is below x where a sequence of Sturm's for the matrix (0, B; Bᵀ, 0) has more than n signs.
		below := func(x float64) bool {
			negative, pivot := 1, -x
			for _, b := range squares {
				if pivot = -x - b/pivot; pivot < 0 {
					negative++
				}
			}
			return negative > n
		}
		_, least := univariate.Bisect(below, 1e-9, 10*math.Sqrt(float64(n)), univariate.Geometric, 1e-11)
		return least, math.Sqrt(square(n)) - math.Sqrt(square(n)), nil
	})
}

// TwoPoints draws an example in which part (b) of Theorem 2.8 fails for want of convexity: ψ = 0, u on the unit sphere
// of R^d, d ≥ 2, v = ±1. The primary optimum is min_u |⟨G, u⟩| = 0, the auxiliary one |h| − ‖g‖.
func TwoPoints(ctx context.Context, d, draws int, seed uint64) (Optima, error) {
	return drawOptima(ctx, draws, seed, func(r *noise.Seeded, _ *population.Solver) (float64, float64, error) {
		g := make([]float64, d)
		r.Gaussian(g, 1)
		return 0, math.Abs(r.NormFloat64()) - floats.Norm(g, 2), nil
	})
}

func drawOptima(ctx context.Context, draws int, seed uint64, one func(*noise.Seeded, *population.Solver) (float64,
	float64, error)) (_ Optima, err error) {
	defer measure.Catch(&err)
	if draws < 2 {
		return Optima{}, fmt.Errorf("experiment: %d draws, want at least 2", draws)
	}
	out := Optima{make([]float64, draws), make([]float64, draws)}
	root := noise.NewSeeded(seed)
	measure.Try(repeat(ctx, draws, func(k int, s *population.Solver) (err error) {
		out.Primary[k], out.Auxiliary[k], err = one(root.Stream(k), s)
		return err
	}))
	slices.Sort(out.Primary)
	slices.Sort(out.Auxiliary)
	return out, nil
}

// repeat calls one for 0, 1, …, repetitions − 1 on all processors, a solver for each.
//
// Errors: the first of one, by k; ctx.Err().
func repeat(ctx context.Context, repetitions int, one func(k int, s *population.Solver) error) error {
	solvers := make([]population.Solver, parallel.Workers(repetitions, 0))
	return parallel.For(ctx, repetitions, 0, func(w, k int) error { return one(k, &solvers[w]) })
}

// Comparison is how P(primary < t) compares with P(auxiliary < t), or both tails above t, over thresholds t.
type Comparison struct {
	// Excess is the largest (P − k·P′)/s.e. over the thresholds: above about 4 the inequality P ≤ k·P′ is refuted.
	Excess float64
	// Ratio is the largest P/P′ where P′ is at least 5 %.
	Ratio float64
}

// Compare holds P(primary < t) (above: P(primary > t)) against k times the same of the auxiliary problem at the 5, 10,
// …, 95 % quantiles of the two samples and just beside them. Theorem 2.8 says that k = 2 suffices.
func (o Optima) Compare(k float64, above bool) Comparison {
	share := func(sorted []float64, t float64) float64 {
		below, _ := slices.BinarySearch(sorted, t)
		if above {
			end := below
			for end < len(sorted) && sorted[end] == t {
				end++
			}
			return float64(len(sorted)-end) / float64(len(sorted))
		}
		return float64(below) / float64(len(sorted))
	}
	c := Comparison{Excess: math.Inf(-1)}
	n := float64(len(o.Primary))
	for _, sample := range [][]float64{o.Primary, o.Auxiliary} {
		for q := 1; q < 20; q++ {
			at := sample[q*len(sample)/20]
			for _, t := range []float64{math.Nextafter(at, math.Inf(-1)), at, math.Nextafter(at, math.Inf(1))} {
				p, aux := share(o.Primary, t), share(o.Auxiliary, t)
				// One more of each keeps the standard error from being zero.
				s := math.Sqrt((p*(1-p) + k*k*aux*(1-aux) + (1+k*k)/n) / n)
				c.Excess = math.Max(c.Excess, (p-k*aux)/s)
				if aux >= 0.05 {
					c.Ratio = math.Max(c.Ratio, p/aux)
				}
			}
		}
	}
	return c
}
