package proportional

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Regression is objective perturbation in the linear model y = Xβ⋆ + ε⋆:
//
//	β̂ = argmin Σᵢ f(xᵢᵀβ; yᵢ) + (λ/2)‖β‖² + ν⟨ξ, β⟩.
//
// Nothing has a default but Nu, Kappa, whose zeros mean zero.
//
// Source: dtz24, Theorem 3.7. Derivation: docs/theory/proportional.md#dtz24-thm3.7.
type Regression struct {
	// Loss must depend on t − y only: Huber, PseudoHuber, Squared or your own.
	Loss loss.Loss
	// AspectRatio is the limit of d/n, written δ in the paper.
	AspectRatio float64
	// Lambda is the ridge λ ≥ 0 on the sum of the losses. At 0 there need not be a minimiser; ErrNoSolution says so.
	Lambda float64
	// Nu is the scale ν ≥ 0 of the linear term; 0 is not private.
	Nu float64
	// Kappa is κ = ‖β⋆‖/√d.
	Kappa float64
	// Noise is the law of ε₀⋆, a coordinate of ε⋆.
	Noise Law
}

// Validate returns a *privacy.ParamError for the first field out of range.
func (r Regression) Validate() error {
	if err := cmp.Or(checkScales(r.AspectRatio, r.Lambda, r.Nu, r.Kappa), r.Noise.Validate("Noise"),
		privacy.Within(r.Loss != nil && r.Loss.ValidLabel(0.5) && !math.IsNaN(r.Loss.Smoothness()), "Loss", r.Loss,
			"a loss for real labels whose parameters are in range")); err != nil {
		return err
	}
	// The theory is of residuals: f′(t; y) must be a function of t − y.
	t := []float64{-1.5, 0.25, 3, 40}
	y := []float64{0.75, -2, 3.5, 1}
	zero := make([]float64, len(t))
	v := make([]float64, len(t))
	a, b := make([]float64, len(t)), make([]float64, len(t))
	for i := range t {
		v[i] = t[i] - y[i]
	}
	r.Loss.ValueSlope(a, t, y)
	r.Loss.ValueSlope(b, v, zero)
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-9*(1+math.Abs(a[i])) {
			return &privacy.ParamError{Name: "Loss", Value: r.Loss.Name(),
				Want: "a loss of the residual t − y (use Classification for labels ±1)"}
		}
	}
	return nil
}

// MaxKappa is the largest signal that is supported. Beyond it a label is certain for nearly every record.
const MaxKappa = 50

func checkScales(ratio, lambda, nu, kappa float64) error {
	return cmp.Or(
		privacy.Within(ratio >= 1e-9 && ratio <= 1e4, "AspectRatio", ratio, "d/n between 1e-9 and 1e4"),
		privacy.Within(lambda == 0 || lambda >= 1e-9 && lambda <= 1e6, "Lambda", lambda,
			"0 or a ridge between 1e-9 and 1e6, on the sum of the losses"),
		privacy.Within(nu >= 0 && nu <= 1e6, "Nu", nu, "a number in [0, 1e6]"),
		privacy.Within(kappa >= 0 && kappa <= MaxKappa, "Kappa", kappa,
			"the standard deviation of the true score, in [0, 50]"))
}

// system returns the equations of r; see Solve.
func (r Regression) system() *regressionSystem {
	s := &regressionSystem{Regression: r}
	switch l := r.Loss.(type) {
	case loss.Huber:
		s.moments, s.bends = huberMoments(l.Threshold),
			func(gamma float64) []float64 { return []float64{-(1 + gamma) * l.Threshold, (1 + gamma) * l.Threshold} }
	case loss.Squared:
		s.moments, s.bends = huberMoments(math.Inf(1)), func(float64) []float64 { return nil }
	default:
		w := newScoreRule(r.Loss, 0)
		s.moments, s.uniform = w.normal, w.uniform
		s.bends = func(gamma float64) []float64 { return w.inverse(gamma, w.kinks) }
	}
	return s
}

// Solve returns the solution of
//
//	σ² = γ²(E f′(p)²/δ + λ²κ² + ν²),   γ = 1/(λ + χ),  χ = E[f″(p)/(1 + γf″(p))]/δ,
//
// p = prox_{γf}(σZ + ε₀⋆), for the paper's σ (the root mean squared error, RMSE) and τ = γ: (3.8) for the Huber loss,
// where the expectations have closed forms for normal and discrete noise and their mixtures, and the same system with
// the proximal operator of any other loss, by adaptive quadrature.
//
// For λ > 0 and (ν, κ, ε₀⋆) ≠ 0 there is exactly one solution: it is the saddle point of a function that is convex in
// (α, σ, η), strictly so in (α, σ), and concave in q, γ = η/q: the theory page derives that, Solve does not check it
// anew. It finds the solution from any start that was tried.
//
// Errors: *privacy.ParamError; ErrNoSolution where λ = 0 and the objective has no minimiser; ErrAccuracy if the
// residual, measured by a finer quadrature, stays above 1e-10.
func (r Regression) Solve(s *Settings) (FixedPoint, error) {
	if err := r.Validate(); err != nil {
		return FixedPoint{}, err
	}
	if r.Nu == 0 && r.Kappa*r.Lambda == 0 && r.Noise.SecondMoment() == 0 {
		return FixedPoint{}, fmt.Errorf("%w: %s", ErrNoSolution,
			"without noise, signal and perturbation the error is zero and γ is not determined")
	}
	return solve(r.system(), r.Lambda, s)
}

// regressionSystem has the unknowns (ln σ, ln γ).
type regressionSystem struct {
	Regression
	// moments writes E f′(p)² and E[f″/(1+γf″)] of s ~ N(mean, sd²) to dst.
	moments func(dst []float64, mean, sd, gamma, tol float64) (relErr float64)
	// uniform does the same for s = U + sd·Z, U uniform on [lo, hi]; nil if moments is a closed form, which is as well
	// integrated over.
	uniform func(dst []float64, lo, hi, sd, gamma, tol float64) (relErr float64)
	// bends returns where f′(prox(s)) has kinks.
	bends func(gamma float64) []float64
	out   [2]float64
}

func (s *regressionSystem) ridge(lambda float64) { s.Lambda = lambda }

// expectations returns E f′² and χδ, and an estimate of their relative error.
func (s *regressionSystem) expectations(sigma, gamma, tol float64) (slope2, response, relErr float64) {
	// The common case without a closure.
	if len(s.Noise.parts) == 1 && !s.Noise.parts[0].uniform {
		p := s.Noise.parts[0]
		relErr = s.moments(s.out[:], p.a, math.Hypot(p.b, sigma), gamma, tol)
		return s.out[0], s.out[1], relErr
	}
	s.out = [2]float64{}
	var at [2]float64
	for _, p := range s.Noise.parts {
		var e float64
		switch {
		case p.weight == 0:
			continue
		case !p.uniform:
			e = s.moments(at[:], p.a, math.Hypot(p.b, sigma), gamma, tol)
		case s.uniform != nil && p.b-p.a > 1e-4*sigma: // else differences of Φ cancel
			e = s.uniform(at[:], p.a, p.b, sigma, gamma, tol)
		default:
			// What is integrated over has itself an error of about tol, which the outer rule must not chase.
			one := p
			one.weight = 1
			outer := tol
			if s.uniform != nil {
				outer = 100 * tol
			}
			e = Law{[]part{one}}.convolved(at[:], sigma, outer, s.bends(gamma), func(dst []float64, mean, sd float64) {
				s.moments(dst, mean, sd, gamma, tol)
			})
		}
		for c, v := range at {
			s.out[c] += p.weight * v
		}
		relErr = math.Max(relErr, e)
	}
	return s.out[0], s.out[1], relErr
}

func (s *regressionSystem) residual(res, x []float64, tol float64) float64 {
	sigma, gamma := math.Exp(x[0]), math.Exp(x[1])
	a, c, relErr := s.expectations(sigma, gamma, tol)
	fixed := s.Lambda*s.Lambda*s.Kappa*s.Kappa + s.Nu*s.Nu
	res[0] = x[1] + 0.5*math.Log(a/s.AspectRatio+fixed) - x[0]
	res[1] = x[1] + math.Log(s.Lambda+c/s.AspectRatio)
	return relErr
}

// start is the solution for a loss that is quadratic with the curvature at zero: exact for the squared loss.
func (s *regressionSystem) start(x []float64) {
	curv := []float64{0}
	s.Loss.Curvature(curv, []float64{0}, []float64{0})
	c := math.Min(math.Max(curv[0], 1e-3), 1e3)
	gamma := ridgeGamma(c, s.AspectRatio, s.Lambda)
	fixed := s.Lambda*s.Lambda*s.Kappa*s.Kappa + s.Nu*s.Nu
	k := c / (1 + gamma*c)
	noise := s.Noise.SecondMoment()
	if l := s.Loss.Lipschitz(); k*k*noise > l*l {
		noise = l * l / (k * k)
	}
	q := gamma * gamma * k * k / s.AspectRatio
	v := gamma * gamma * fixed / math.Max(1-q, 1e-6)
	v += q * noise / math.Max(1-q, 1e-6)
	if l := s.Loss.Lipschitz(); !math.IsInf(l, 1) {
		v = math.Min(v, gamma*gamma*(l*l/s.AspectRatio+fixed))
	}
	x[0], x[1] = 0.5*math.Log(math.Max(v, 1e-300)), math.Log(gamma)
}

// ridgeGamma solves γ(λ + c/(δ(1+γc))) = 1.
func ridgeGamma(c, ratio, lambda float64) float64 {
	// δλc·γ² + (δλ + c − δc)γ − δ = 0
	a, b := ratio*lambda*c, ratio*lambda+c-ratio*c
	if a == 0 {
		return ratio / math.Max(b, 1e-9*c)
	}
	root := math.Sqrt(b*b + 4*a*ratio)
	if b > 0 {
		return 2 * ratio / (b + root)
	}
	return (root - b) / (2 * a)
}

func (s *regressionSystem) point(x []float64) FixedPoint {
	sigma, gamma := math.Exp(x[0]), math.Exp(x[1])
	a, c, _ := s.expectations(sigma, gamma, fineTolerance)
	chi := c / s.AspectRatio
	alpha := gamma * chi // = 1 − γλ, without cancellation
	return FixedPoint{
		Alpha: alpha, Sigma: gamma * math.Sqrt(a/s.AspectRatio+s.Nu*s.Nu), Gamma: gamma, RMSE: sigma,
		Kappa: s.Kappa, Direct: gamma * math.Sqrt(a/s.AspectRatio), OnXi: -gamma * s.Nu,
	}
}

// huberMoments are the closed forms for the Huber loss with threshold L, at L = ∞ for the squared loss: with A =
// (1+γ)L, f′(p) = s/(1+γ) cut to [−L, L] and f″/(1+γf″) = 1{|s| < A}/(1+γ).
func huberMoments(threshold float64) func(dst []float64, mean, sd, gamma, tol float64) float64 {
	return func(dst []float64, mean, sd, gamma, _ float64) float64 {
		a := (1 + gamma) * threshold
		k := 1 / (1 + gamma)
		m2, inside := truncated(mean, sd, a)
		dst[0], dst[1] = k*k*m2, k*inside
		return 0
	}
}

// truncated returns E[min(s², a²)] and P(|s| < a) for s ~ N(mean, sd²).
func truncated(mean, sd, a float64) (second, inside float64) {
	if math.IsInf(a, 1) {
		return mean*mean + sd*sd, 1
	}
	if sd == 0 {
		if math.Abs(mean) < a {
			return mean * mean, 1
		}
		return a * a, 0
	}
	lo, hi := (-a-mean)/sd, (a-mean)/sd
	inside = normal.Mass(lo, hi)
	outside := normal.CDF(lo) + normal.Survival(hi)
	pl, ph := normal.Density(lo), normal.Density(hi)
	second = (mean*mean+sd*sd)*inside + 2*mean*sd*(pl-ph) + a*a*outside
	if inside > 0 {
		second += sd * sd * (lo*pl - hi*ph)
	}
	if h := a / sd; h < 5e-3 {
		// The terms above cancel: E min(s², a²) = a² − E(a² − s²)₊, and the density is nearly flat inside: its
		// expansion in Hermite's polynomials.
		m2 := mean / sd * (mean / sd)
		he2, he4 := (m2-1)*h*h, ((m2-6)*m2+3)*h*h*h*h
		flat := normal.Density(mean / sd)
		second = a*a - sd*sd*flat*4*h*h*h/3*(1+he2/10+he4/280)
		inside = flat * 2 * h * (1 + he2/6 + he4/120)
	}
	return second, inside
}

// normal does the same for any loss of the residual, s ~ N(mean, sd²). For a loss with kinks the response E[f″/(1+γf″)]
// = E[(f′(p))′] is taken as E[(f′(p) − f′(p₀))Z]/sd, p₀ = prox at the mean (integration by parts), because f′(p) is
// continuous where f″ jumps. Without kinks nothing is taken by parts, which would lose digits where sd is small.
func (r *scoreRule) normal(dst []float64, mean, sd, gamma, tol float64) float64 {
	p0, h0 := r.at(gamma, mean)
	if sd == 0 {
		curv := []float64{0}
		r.loss.Curvature(curv, []float64{p0}, r.labels[:1])
		dst[0], dst[1] = h0*h0, curv[0]/(1+gamma*curv[0])
		return 0
	}
	v, relErr := r.integrate(2, gamma, r.breaks(mean, sd, gamma), tol, func(s []float64, out [][]float64) {
		for i, h := range r.slope {
			z := (s[i] - mean) / sd
			density := normal.Density(z) / sd
			out[0][i] = density * h * h
			if r.smooth() {
				out[1][i] = density * r.curv[i] / (1 + gamma*r.curv[i])
			} else {
				out[1][i] = density * z * (h - h0) / sd
			}
		}
	})
	copy(dst, v)
	return relErr
}

// uniform is for s = U + sd·Z: the density of s is a difference of Φ, and the response is −∫f′(p)·density′.
func (r *scoreRule) uniform(dst []float64, lo, hi, sd, gamma, tol float64) float64 {
	mid := 0.5 * (lo + hi)
	_, h0 := r.at(gamma, mid)
	breaks := r.breaks(mid, (0.5*(hi-lo)+normalRange*sd)/normalRange, gamma)
	breaks = appendBetween(breaks, breaks[0], breaks[len(breaks)-1], around(sd, lo, hi)...)
	slices.Sort(breaks)
	v, relErr := r.integrate(2, gamma, breaks, tol, func(s []float64, out [][]float64) {
		for i, h := range r.slope {
			a, b := (s[i]-hi)/sd, (s[i]-lo)/sd
			out[0][i] = normal.Mass(a, b) / (hi - lo) * h * h
			out[1][i] = (normal.Density(a) - normal.Density(b)) / (sd * (hi - lo)) * (h - h0)
		}
	})
	copy(dst, v)
	return relErr
}
