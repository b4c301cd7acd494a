package proportional

import (
	"cmp"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Descent is noisy gradient descent from β⁰ = 0,
//
//	βᵗ⁺¹ = βᵗ − η(Σᵢ f′(xᵢᵀβᵗ; yᵢ)xᵢ + λβᵗ + νξᵗ),  ξᵗ ~ N(0, I),
//
// full batches, η the Step, T the Steps. Either Noise (a regression) or Link (a classification) says where the labels
// come from.
//
// Source: dtz24, Theorems 7.1 and 7.2. Derivation: docs/theory/proportional.md#dtz24-thm7.1.
type Descent struct {
	Loss        loss.Loss
	AspectRatio float64
	// Step is η > 0. Without a step below 2/(s(1 + 1/√δ)² + λ), s the largest curvature, the iterates may grow without
	// bound.
	Step   float64
	Steps  int
	Lambda float64
	Nu     float64
	Kappa  float64
	// Noise is the law of ε₀⋆ for y = xᵀβ⋆ + ε⋆.
	Noise Law
	// Link is P(y = 1 | xᵀβ⋆) for labels ±1.
	Link Link
	// Expected takes gradients in expectation over the labels given xᵀβ⋆: the "conditional expectation" versions of
	// dtz24, for which Theorems 7.1 and 7.2 are proved. False takes the labels as they are drawn, for which the same
	// recursion is derived, not proved.
	Expected bool
}

// maxSteps is the largest number of steps that is supported.
const maxSteps = 64

// DescentSettings of Trajectory; nil is right.
type DescentSettings struct {
	// Points of the lattice in each replicate, a prime; zero means 16381 for up to 24 steps, 8191 for up to 40, 4093
	// beyond (the time grows like the cube of the steps).
	Points int
	// Replicates, with independent shifts, give the error estimate; zero means 4.
	Replicates int
	// Seed of the shifts.
	Seed uint64
}

// Moment describes the iterate βᵗ: coordinate by coordinate αβ⋆ + σZ. Its Gamma is zero: the functionals of training
// records are for minimisers.
type Moment struct {
	FixedPoint
	// Error is an estimate of the standard error that the quadrature gives RMSE².
	Error float64
}

// Validate returns a *privacy.ParamError for the first field out of range.
func (d Descent) Validate() error {
	if err := cmp.Or(privacy.Within((d.Link == nil) != (len(d.Noise.parts) == 0), "Link, Noise", "both or neither",
		"Noise for a regression or Link for a classification"), privacy.Positive("Step", d.Step),
		privacy.Within(d.Steps >= 1 && d.Steps <= maxSteps, "Steps", d.Steps, "a number from 1 to 64")); err != nil {
		return err
	}
	if d.Link != nil {
		return Classification{Loss: d.Loss, Link: d.Link, AspectRatio: d.AspectRatio, Lambda: d.Lambda, Nu: d.Nu,
			Kappa: d.Kappa}.Validate()
	}
	return Regression{Loss: d.Loss, AspectRatio: d.AspectRatio, Lambda: d.Lambda, Nu: d.Nu, Kappa: d.Kappa,
		Noise: d.Noise}.Validate()
}

// Trajectory returns the limits of β⁰, …, β^T, T + 1 of them.
//
// It is the recursion of Theorems 7.1 and 7.2 in scalar form (the second rows of the paper's 2 × 2 blocks are constant;
// see the theory page). Its expectations are over as many normal variables as there are steps: up to two steps by a
// product of trapezoidal rules if two of them agree to 1e-7; beyond, and where they do not (a loss with kinks), by
// randomly shifted lattices with an error estimate from the replicates. The same settings give the same digits.
//
// Errors: *privacy.ParamError. Iterates that diverge give +Inf or NaN.
func (d Descent) Trajectory(s *DescentSettings) ([]Moment, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	set := DescentSettings{}
	if s != nil {
		set = *s
	}
	if set.Points == 0 {
		switch {
		case d.Steps <= 24:
			set.Points = 16381
		case d.Steps <= 40:
			set.Points = 8191
		default:
			set.Points = 4093
		}
	}
	if set.Replicates == 0 {
		set.Replicates = 4
	}
	if set.Points < 100 || set.Points > 1<<20 || set.Replicates < 2 {
		return nil, &privacy.ParamError{Name: "Points, Replicates", Value: set,
			Want: "a prime from 101 to 1e6 and at least 2 replicates"}
	}
	row := d.row()
	dim := d.Steps + row.extra // ω⋆ and ω¹ … ω^{T−1}, and what the labels draw
	if runs, ok := d.byProduct(row, dim); ok {
		return d.moments(runs), nil
	}
	runs := make([]evolution, set.Replicates)
	parallel.Each(len(runs), 0, func(k int) {
		// A stream for each replicate: the result does not depend on how many run at once.
		r := rand.New(rand.NewPCG(set.Seed, 0x9e3779b97f4a7c15+uint64(k)))
		runs[k] = d.evolve(row, latticeNodes(dim, set.Points, r))
	})
	return d.moments(runs), nil
}

// byProduct evolves with two products of trapezoidal rules, for at most two normal variables. They differ in step and
// shift: if what they give agrees to 1e-7 both will do; if not (a loss with kinks, scores much wider than the loss)
// they are too coarse, and their difference says little of how wrong they are.
func (d Descent) byProduct(row rowModel, dim int) (runs []evolution, ok bool) {
	if dim > 2 {
		return nil, false
	}
	a, b := d.evolve(row, tensorNodes(dim, 0.18, 0)), d.evolve(row, tensorNodes(dim, 0.13, 0.31))
	for t := range a.alpha {
		if !near(a.alpha[t], b.alpha[t], 1e-7) || !near(a.cov[t][t], b.cov[t][t], 1e-7) {
			return nil, false
		}
	}
	return []evolution{a, b}, true
}

// near reports that a and b are equal to tol, relative to the larger.
func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*math.Max(math.Abs(a), math.Abs(b)) }

// moments returns the means over the runs with their standard errors.
func (d Descent) moments(runs []evolution) []Moment {
	out := make([]Moment, d.Steps+1)
	m := float64(len(runs))
	for t := range out {
		var alpha, variance, mse, square float64
		for _, e := range runs {
			v := (1-e.alpha[t])*(1-e.alpha[t])*d.Kappa*d.Kappa + e.cov[t][t]
			alpha += e.alpha[t] / m
			variance += e.cov[t][t] / m
			mse += v / m
			square += v * v / m
		}
		out[t] = Moment{
			FixedPoint: FixedPoint{Alpha: alpha, Sigma: math.Sqrt(math.Max(variance, 0)),
				Direct: math.Sqrt(math.Max(variance, 0)), RMSE: math.Sqrt(mse), Kappa: d.Kappa},
			Error: math.Sqrt(math.Max(square-mse*mse, 0) / (m - 1)),
		}
	}
	return out
}

// evolution is the state: θᵗ = αₜβ⋆ + Gₜ with cov[t][s] = E GₜGₛ.
type evolution struct {
	alpha []float64
	cov   [][]float64
}

// evolve runs the recursion with one set of nodes:
//
//	rows:    ηᵗ = ωᵗ − η Σ_{k<t} Rθ(t,k)gᵏ,  gᵗ = f′(ηᵗ), (ω⋆, ω) ~ N(0, E θθ),
//	         Rg(t,s) = E ∂gᵗ/∂ωˢ/δ,  Cg(t,s) = E gᵗgˢ/δ,  mₜ = E ∂gᵗ/∂ω⋆/δ,
//	columns: θᵗ⁺¹ = (1 − ηλ)θᵗ − η[νξᵗ + uᵗ + Σ_{s≤t} Rg(t,s)θˢ + mₜβ⋆],  u ~ N(0, Cg),
//	         Rθ(t,k) = −∂θᵗ/∂(ηuᵏ).
func (d Descent) evolve(row rowModel, n nodes) evolution {
	T := d.Steps
	p := row.paths(n)
	size := len(p.weight)
	square := func() [][]float64 {
		m := make([][]float64, T+1)
		for i := range m {
			m[i] = make([]float64, T+1)
		}
		return m
	}
	e := evolution{alpha: make([]float64, T+1), cov: square()}
	rTheta, rG, cG, chol := square(), square(), square(), square()
	g, curv, star := make([][]float64, T), make([][]float64, T), make([][]float64, T)
	resp := make([][][]float64, T) // resp[k][s] = g′ᵏ·∂ηᵏ/∂ωˢ, point by point
	eta, deriv := make([]float64, size), make([]float64, size)
	shrink := 1 - d.Step*d.Lambda
	for t := range T {
		// Row t of the Cholesky factor of the covariance of (ω⋆, ω¹, …): its first column belongs to ω⋆.
		for s := 0; s <= t && t > 0; s++ {
			var c float64
			if s == 0 {
				chol[t][0] = e.alpha[t] * d.Kappa
				continue
			}
			c = e.alpha[t]*e.alpha[s]*d.Kappa*d.Kappa + e.cov[t][s]
			for k := range s {
				c -= chol[t][k] * chol[s][k]
			}
			switch {
			case s == t:
				chol[t][t] = math.Sqrt(math.Max(c, 0))
			case chol[s][s] > 1e-9*(1e-300+math.Abs(chol[s][0])+chol[s][s]):
				chol[t][s] = c / chol[s][s]
			}
		}
		clear(eta)
		for s := range t + 1 {
			if c := chol[t][s]; c != 0 {
				p.addCoordinate(eta, row.coordinate(s), c)
			}
		}
		for k := range t {
			axpy(eta, -d.Step*rTheta[t][k], g[k])
		}
		g[t], curv[t], star[t] = make([]float64, size), make([]float64, size), make([]float64, size)
		row.slopes(g[t], curv[t], star[t], eta, p)
		resp[t] = make([][]float64, t+1)
		response := make([]float64, t+1)
		for s := range t + 1 {
			r := make([]float64, size)
			if s == t {
				copy(r, curv[t])
			} else {
				for k := s; k < t; k++ {
					axpy(r, -d.Step*rTheta[t][k], resp[k][s])
				}
				for i, c := range curv[t] {
					r[i] *= c
				}
			}
			resp[t][s] = r
			response[s] = p.mean(r)
			rG[t][s] = response[s] / d.AspectRatio
			cG[t][s] = p.meanProduct(g[t], g[s]) / d.AspectRatio
			cG[s][t] = cG[t][s]
		}
		// The response to the true score.
		clear(deriv)
		for k := range t {
			axpy(deriv, -d.Step*rTheta[t][k], star[k])
		}
		for i, c := range curv[t] {
			star[t][i] += c * deriv[i] // now the total derivative of gᵗ
		}
		m := row.signal(p, g[t], star[t], response) / d.AspectRatio
		// Columns.
		next := shrink * e.alpha[t]
		for s := range t + 1 {
			next -= d.Step * rG[t][s] * e.alpha[s]
		}
		e.alpha[t+1] = next - d.Step*m
		for k := range t + 1 {
			if k == t {
				rTheta[t+1][k] = 1
				continue
			}
			v := shrink * rTheta[t][k]
			for s := k + 1; s <= t; s++ {
				v -= d.Step * rG[t][s] * rTheta[s][k]
			}
			rTheta[t+1][k] = v
		}
		// cov(t+1, s) = η² Σ Rθ(t+1,k)Rθ(s,l)(Cg(k,l) + ν²1{k=l})
		half := make([]float64, t+1)
		for l := range half {
			for k := range t + 1 {
				half[l] += rTheta[t+1][k] * cG[k][l]
			}
			half[l] += rTheta[t+1][l] * d.Nu * d.Nu
		}
		for s := 1; s <= t+1; s++ {
			var c float64
			for l := range s {
				c += rTheta[s][l] * half[l]
			}
			e.cov[t+1][s] = d.Step * d.Step * c
			e.cov[s][t+1] = e.cov[t+1][s]
		}
	}
	return e
}

// axpy adds c·x to y.
func axpy(y []float64, c float64, x []float64) {
	if c != 0 {
		floats.AddScaled(y, c, x[:len(y)])
	}
}
