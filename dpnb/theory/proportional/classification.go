package proportional

import (
	"cmp"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Classification is objective perturbation in a model of labels yᵢ = ±1 that depend on the true score xᵢᵀβ⋆ through a
// Link:
//
//	β̂ = argmin Σᵢ f(xᵢᵀβ; yᵢ) + (λ/2)‖β‖² + ν⟨ξ, β⟩.
type Classification struct {
	// Loss is any convex loss for labels ±1: Logistic for the paper's theorem.
	Loss loss.Loss
	// Link of the labels.
	Link Link
	// AspectRatio is the limit of d/n.
	AspectRatio float64
	// Lambda is the ridge λ ≥ 0 on the sum of the losses. At 0 there need not be a minimiser; ErrNoSolution says so.
	Lambda float64
	// Nu is the scale ν ≥ 0 of the linear term; 0 is not private.
	Nu float64
	// Kappa is κ = ‖β⋆‖/√d, the standard deviation of the true score.
	Kappa float64
}

// Validate returns a *privacy.ParamError for the first field out of range.
func (c Classification) Validate() error {
	if err := cmp.Or(checkScales(c.AspectRatio, c.Lambda, c.Nu, c.Kappa), privacy.Within(c.Loss != nil &&
		c.Loss.ValidLabel(1) && c.Loss.ValidLabel(-1) && !math.IsNaN(c.Loss.Smoothness()), "Loss", c.Loss,
		"a loss for labels ±1 whose parameters are in range")); err != nil {
		return err
	}
	var v [2]float64
	drawn := true
	for _, t := range []float64{-20, -1, 0, 1, 20} {
		c.Loss.ValueSlope(v[:], []float64{t, t}, []float64{1, -1})
		drawn = drawn && v[0] < v[1]
	}
	return cmp.Or(privacy.Within(drawn, "Loss", c.Loss.Name(),
		"a loss with f′(t; +1) < f′(t; −1), so that the label draws the score to its side"),
		privacy.Within(c.Link != nil && c.Link.Width() > 0, "Link", c.Link, "a link such as LogisticLink{}"))
}

// Solve returns the solution of
//
//	σ² = γ²(E f′(p)²/δ + ν²),
//	α  = −(γ/δ)·E[Σ_y P′_y(κZ₁) f′(p_y; y)],
//	γ  = 1/(λ + χ),  χ = E[f″(p)/(1 + γf″(p))]/δ,
//
// p_y = prox_{γf(·;y)}(ακZ₁ + σZ₂), y = ±1 with probability P_y(κZ₁). For the logistic loss and link this is (4.3),
// written so that nothing cancels.
//
// The expectations over (Z₁, Z₂) are taken as one over the score s = ακZ₁ + σZ₂ of the average over Z₁ given s: one
// proximal operator for each s. Both are trapezoidal rules, which converge faster here than Gauss and Hermite's; for
// other losses, or scores much wider than the loss, the outer one is adaptive.
//
// For λ > 0 there is exactly one solution (derived on the theory page, not checked anew), and Solve finds it from any
// start that was tried. Errors: *privacy.ParamError; ErrNoSolution where λ = 0 and there is no minimiser (for ν = 0 and
// the logistic loss: beyond the threshold of Candès and Sur); ErrAccuracy if the residual, measured by a finer
// quadrature, stays above 1e-10.
func (c Classification) Solve(s *Settings) (FixedPoint, error) {
	if err := c.Validate(); err != nil {
		return FixedPoint{}, err
	}
	return solve(newClassificationSystem(c), c.Lambda, s)
}

// classificationSystem has the unknowns (ln σ, ln γ, ln α). α > 0: with f′(t; 1) ≤ f′(t; −1), which Validate asks for,
// f′(p₊; 1) ≤ f′(p₋; −1), and the link rises.
type classificationSystem struct {
	Classification
	logistic  bool          // logistic loss
	symmetric bool          // both labels give the same expectations
	rules     [2]*scoreRule // for the labels 1 and −1
}

func newClassificationSystem(c Classification) *classificationSystem {
	s := &classificationSystem{Classification: c, rules: [2]*scoreRule{newScoreRule(c.Loss, 1),
		newScoreRule(c.Loss, -1)}}
	_, s.logistic = c.Loss.(loss.Logistic)
	s.symmetric = marginLoss(c.Loss) && symmetricLink(c.Link)
	return s
}

// marginLoss reports that f(t; y) = f(yt; 1), as far as a few points tell; if it errs nothing is wrong but a factor of
// two in time, or it is caught below 1e-9.
func marginLoss(l loss.Loss) bool {
	t := []float64{-7.3, -1.1, -0.2, 0, 0.37, 1.9, 11}
	y, minus, neg := make([]float64, len(t)), make([]float64, len(t)), make([]float64, len(t))
	a, b := make([]float64, len(t)), make([]float64, len(t))
	for i := range t {
		y[i], minus[i], neg[i] = 1, -t[i], -1
	}
	l.ValueSlope(a, t, y)
	l.ValueSlope(b, minus, neg)
	for i := range a {
		if math.Abs(a[i]+b[i]) > 1e-12*(1+math.Abs(a[i])) {
			return false
		}
	}
	return true
}

func symmetricLink(l Link) bool {
	for _, t := range []float64{0, 0.3, 1.7, 5} {
		if math.Abs(l.Prob(t)+l.Prob(-t)-1) > 1e-14 {
			return false
		}
	}
	return true
}

func (s *classificationSystem) size() int            { return 3 }
func (s *classificationSystem) ridge(lambda float64) { s.Lambda = lambda }

func (s *classificationSystem) unknowns(x []float64, p FixedPoint) {
	x[0], x[1], x[2] = math.Log(p.Sigma), math.Log(p.Gamma), math.Log(math.Max(p.Alpha, 1e-9))
}

// moments are the three expectations of Solve.
type moments struct {
	slope2   float64 // E f′(p)²
	signal   float64 // E Σ_y P′_y f′(p_y; y)
	response float64 // E f″/(1 + γf″)
	relErr   float64
}

// trapezoidLimit is how wide, in units of the loss, a score may be for the trapezoidal rule; beyond it the rule would
// need thousands of nodes.
const trapezoidLimit = 25

func (s *classificationSystem) moments(alpha, sigma, gamma, tol float64) moments {
	post := newPosterior(s.Link, s.Kappa, alpha, sigma)
	total := math.Hypot(alpha*s.Kappa, sigma)
	if s.logistic && s.symmetric && total < trapezoidLimit && math.Abs(post.slope)*total < trapezoidLimit {
		return logisticMoments(&post, total, gamma, tol)
	}
	if finite(s.Loss.Smoothness()) {
		return s.scoreMoments(&post, total, gamma, tol)
	}
	return s.adaptiveMoments(&post, total, gamma, tol)
}

// logisticMoments is the trapezoidal rule for the logistic loss and a symmetric link; y = −1 stands for both labels. As
// a function of complex s, prox is analytic for |Im s| < π, whatever γ: its branch points, where 1 + γρ″(p) = 0, have
// ρ′(p) real and outside [0, 1], hence Im s = π.
func logisticMoments(post *posterior, total, gamma, tol float64) moments {
	h := math.Min(0.5*total, 0.45)
	// The link, averaged over t⋆ given s, is analytic for |Im s| < width/slope and at least as smooth as a normal
	// density with the deviation sd/slope.
	if m := math.Abs(post.slope); m > 0 {
		h = math.Min(h, math.Max(0.45*post.link.Width()/math.Pi, 0.6*post.sd)/m)
	}
	if tol < coarseTolerance {
		h *= 0.6
	}
	k := int(math.Ceil(normalRange * total / h))
	var m moments
	p := math.NaN()
	for i := -k; i <= k; i++ {
		s := h * float64(i)
		w := normal.Density(s/total) * h / total
		right, slope := post.at(s)
		p = logisticProx(gamma, s, p)
		q := 1 / (1 + math.Exp(-p)) // f′(p; −1)
		curv := q * (1 - q)
		wrong := 2 * (1 - right) // both labels
		m.slope2 += w * wrong * q * q
		m.signal -= w * 2 * slope * q
		m.response += w * wrong * curv / (1 + gamma*curv)
	}
	return m
}

// logisticProx is the root of p + γ/(1 + e^{−p}) = s by Newton's method inside a bracket; near is a guess or NaN.
func logisticProx(gamma, s, near float64) float64 {
	lo, hi := s-gamma, s
	p := near
	if !(p > lo && p < hi) {
		p = s - gamma/(1+math.Exp(-s)*(1+0.25*gamma))
		if !(p > lo && p < hi) {
			p = 0.5 * (lo + hi)
		}
	}
	last := math.Inf(1)
	for range 200 {
		q := 1 / (1 + math.Exp(-p))
		r := p + gamma*q - s
		if r > 0 {
			hi = p
		} else {
			lo = p
		}
		d := r / (1 + gamma*q*(1-q))
		next := p - d
		if math.Abs(d) < 1e-8+4e-16*math.Abs(p) {
			return next // the error is now below d²/2, because |ρ‴| ≤ ρ″
		}
		// Steps that do not halve may go to and fro: halve the bracket then.
		if !(next > lo && next < hi) || math.Abs(d) > 0.5*last {
			next = 0.5 * (lo + hi)
		}
		last = math.Abs(next - p)
		p = next
	}
	return p
}

// sum adds the three expectations of moments over the labels.
func (s *classificationSystem) sum(of func(r *scoreRule) (v []float64, relErr float64)) (m moments) {
	rules, times := s.rules[:], 1.0
	if s.symmetric {
		rules, times = rules[1:], 2
	}
	for _, r := range rules {
		v, relErr := of(r)
		m.slope2 += times * v[0]
		m.signal += times * v[1]
		m.response += times * v[2]
		m.relErr = math.Max(m.relErr, relErr)
	}
	return m
}

// adaptiveMoments is for losses whose slope may jump. For a loss with kinks the response is taken by parts, E[W f′(p)′]
// = E[(sW/S² − W′)(f′(p) − f′(p₀))], because f″ jumps; without, it is E W f″/(1 + γf″), which loses no digits where
// f′(p) hardly differs from f′(p₀).
func (s *classificationSystem) adaptiveMoments(post *posterior, total, gamma, tol float64) moments {
	return s.sum(func(r *scoreRule) ([]float64, float64) {
		_, h0 := r.at(gamma, 0)
		return r.integrate(3, gamma, r.breaks(0, total, gamma), tol, func(score []float64, out [][]float64) {
			for i, h := range r.slope {
				z := score[i] / total
				w := normal.Density(z) / total
				prob, d := post.ofLabel(r.label, score[i])
				out[0][i] = w * prob * h * h
				out[1][i] = w * d * h
				if r.smooth() {
					out[2][i] = w * prob * r.curv[i] / (1 + gamma*r.curv[i])
				} else {
					out[2][i] = w * (z/total*prob - post.slope*d) * (h - h0)
				}
			}
		})
	})
}

func (s *classificationSystem) residual(res, x []float64, tol float64) float64 {
	const far = 30
	if math.Abs(x[0]) > far || math.Abs(x[1]) > far || math.Abs(x[2]) > far || math.IsNaN(x[0]+x[1]+x[2]) {
		res[0], res[1], res[2] = math.Inf(1), math.Inf(1), math.Inf(1)
		return 0
	}
	gamma := math.Exp(x[1])
	m := s.moments(math.Exp(x[2]), math.Exp(x[0]), gamma, tol)
	res[0] = x[1] + 0.5*math.Log(m.slope2/s.AspectRatio+s.Nu*s.Nu) - x[0]
	res[1] = x[1] + math.Log(s.Lambda+m.response/s.AspectRatio)
	res[2] = x[1] + math.Log(-m.signal/s.AspectRatio) - x[2]
	return m.relErr
}

// start takes the loss as quadratic around zero.
func (s *classificationSystem) start(x []float64) {
	curv, slope := make([]float64, 2), make([]float64, 2)
	zero, y := make([]float64, 2), []float64{1, -1}
	s.Loss.Curvature(curv, zero, y)
	s.Loss.ValueSlope(slope, zero, y)
	c := math.Min(math.Max(0.5*(curv[0]+curv[1]), 1e-3), 1e3)
	if curv[0] == 0 {
		c = math.Min(s.Loss.Smoothness(), 1) // flat at zero: the bend is elsewhere
	}
	gamma := ridgeGamma(c, s.AspectRatio, math.Max(s.Lambda, 1e-3*c/s.AspectRatio))
	g := 0.5 * (math.Abs(slope[0]) + math.Abs(slope[1]))
	k := 1 / (1 + gamma*c)
	x[0] = math.Log(gamma * math.Sqrt(k*g*g*k/s.AspectRatio+s.Nu*s.Nu))
	x[1] = math.Log(gamma)
	post := newPosterior(s.Link, s.Kappa, 0, 1)
	_, d := post.at(0)
	x[2] = math.Log(gamma / s.AspectRatio * d * 2 * g * k)
}

func (s *classificationSystem) point(x []float64) FixedPoint {
	sigma, gamma, alpha := math.Exp(x[0]), math.Exp(x[1]), math.Exp(x[2])
	m := s.moments(alpha, sigma, gamma, fineTolerance)
	return FixedPoint{
		Alpha: alpha, Sigma: sigma, Gamma: gamma, RMSE: math.Hypot((1-alpha)*s.Kappa, sigma),
		Kappa: s.Kappa, Direct: gamma * math.Sqrt(m.slope2/s.AspectRatio), OnXi: -gamma * s.Nu,
	}
}
