package objective

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// RankK accounts for a loss whose Hessian in θ has rank at most Rank (k = 1 for a GLM, m + 1 for the convolved losses
// of cop, the dimension for a general smooth loss), by
//
//	W = k ln(1 + s/λ) + a²/2 + aχ_k  (remove),  a²/2 + aχ_k  (add),  a = L/σ,
//	δ(ε) = E(1 − e^{ε−W})₊,
//
// χ_k the norm of a standard normal vector in ℝᵏ. k = 1 is DTZ24; k = d corrects Theorem G.2 of rkw23.
type RankK struct {
	// Rank is k ≥ 1.
	Rank int
	// Smoothness is s: the largest eigenvalue of ∇²ℓ(θ; z) in θ.
	Smoothness float64
	// Slope is L: the largest norm of ∇ℓ(θ; z) in θ.
	Slope float64
	// Trace, if positive, bounds the trace of ∇²ℓ: the sum of the logarithms is then at most k ln(1 + Trace/(kλ)),
	// which is used if it is less.
	Trace float64
	// Lambda and Sigma as in Config.
	Lambda, Sigma float64
}

// Validate returns a *ParamError for the first field that is out of range.
func (r RankK) Validate() error {
	return cmp.Or(privacy.Within(r.Rank >= 1, "Rank", r.Rank, "at least 1"),
		privacy.Positive("Smoothness", r.Smoothness), privacy.Positive("Slope", r.Slope),
		privacy.Positive("Lambda", r.Lambda), privacy.Positive("Sigma", r.Sigma),
		privacy.Within(r.Trace >= 0 && !math.IsInf(r.Trace, 1), "Trace", r.Trace,
			"0 (unknown) or a positive finite number"))
}

// String describes the event.
func (r RankK) String() string {
	return fmt.Sprintf("ObjectivePerturbation(rank %d, s=%g, L=%g, λ=%g, σ=%g)", r.Rank, r.Smoothness, r.Slope,
		r.Lambda, r.Sigma)
}

// Profile implements privacy.Event.
//
// Errors: *ParamError if a field is out of range; ErrUnsupported for any adjacency but add/remove-one, from which
// replace-one follows by conversion.
// Proof: docs/theory/objective_perturbation.md, section 9.
func (r RankK) Profile(adj privacy.Adjacency) (privacy.Profile, error) {
	if err := cmp.Or(r.Validate(), addRemoveOnly("rank-k bound", adj)); err != nil {
		return nil, err
	}
	return rankProfile{r}, nil
}

// shift returns the logarithmic term of the direction, rounded up.
func (r RankK) shift(d privacy.Direction) float64 {
	if d == privacy.Add {
		return 0
	}
	k := float64(r.Rank)
	v := k * math.Log1p(r.Smoothness/r.Lambda)
	if r.Trace > 0 {
		v = min(v, k*math.Log1p(r.Trace/(k*r.Lambda)))
	}
	return v * (1 + 1e-14)
}

type rankProfile struct{ r RankK }

func (p rankProfile) Adjacency() privacy.Adjacency { return privacy.AddRemove }

func (p rankProfile) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	switch {
	case math.IsNaN(eps):
		return 0
	case math.IsInf(eps, 0):
		return map[bool]float64{true: math.Inf(-1), false: 0}[eps > 0]
	}
	a := p.r.Slope / p.r.Sigma * (1 + 4e-16)
	return logDeltaChi(p.r.Rank, eps-p.r.shift(d), a)
}

// chiBins is the number of bins of the integrals over χ_k.
const chiBins = 2000

// logDeltaChi returns an upper bound on ln E(1 − e^{t − a²/2 − aχ_k})₊, from
//
//	E = (1 − e^{t−a²/2−ax₀})·Q(x₀) + ∫_{x₀}^∞ Q(x)·a·e^{t−a²/2−ax}dx,
//
// x₀ = max(0, (t − a²/2)/a), Q the tail of χ_k. Its hazard h = f/Q rises, so on a bin Q(x) ≤ Q(x_i)e^{−h_i(x−x_i)}, and
// the integral is closed. Relative error below 1e-4.
func logDeltaChi(k int, t, a float64) float64 {
	x0 := max(0, (t-0.5*a*a)/a)
	base := t - 0.5*a*a
	total := math.Inf(-1)
	if x0 == 0 && base < 0 {
		total = math.Log(-math.Expm1(base))
	}
	step := chiStep(k, x0)
	for i := 0; ; i++ {
		x := x0 + float64(i)*step
		logQ, h := chiTail(k, x)
		rate := h + a
		w := step
		if i == chiBins {
			w = math.Inf(1)
		}
		term := logQ + math.Log(a) + base - a*x + math.Log(-math.Expm1(-rate*w)/rate)
		total = logspace.Add(total, term)
		if i == chiBins {
			break
		}
	}
	return min(0, total+1e-11+1e-14*(math.Abs(base)+math.Abs(total)+a*x0))
}

// chiStep returns a bin so that chiBins of them cover what matters beyond x0.
func chiStep(k int, x0 float64) float64 {
	_, h := chiTail(k, max(x0, math.Sqrt(float64(k))))
	reach := 40 / (h + 1)
	if c := math.Sqrt(float64(k)); x0 < c {
		reach += c - x0 + 8
	}
	return reach / chiBins
}

// chiTail returns an upper bound on ln P(χ_k > x) up to 1e-13·k, and a lower bound on the hazard rate there. With y =
// x²/2 the tail is a finite sum:
//
//	k even: e^{−y} Σ_{j<k/2} yʲ/j!,   k odd: erfc(√y) + e^{−y} Σ_{j≤(k−1)/2} y^{j−1/2}/Γ(j+1/2).
func chiTail(k int, x float64) (logQ, hazard float64) {
	if x <= 0 {
		return 0, 0
	}
	y := 0.5 * x * x
	logy := math.Log(y)
	logDensity := -y + float64(k-1)*math.Log(x) - (0.5*float64(k)-1)*math.Ln2
	lg, _ := math.Lgamma(0.5 * float64(k))
	logDensity -= lg
	logQ = math.Inf(-1)
	// From the largest j down, by ratios.
	half := 0.0
	if k%2 == 1 {
		half = 0.5
		logQ = math.Ln2 + logSurvival(x)
	}
	n := k / 2 // terms j = 0 … n−1 (even), j = 1 … n (odd) with exponent j − ½
	if n > 0 {
		top := float64(n) - 1 // exponent of the last even term
		if half > 0 {
			top = float64(n) - half
		}
		lgTop, _ := math.Lgamma(top + 1)
		sum, term := 0.0, 1.0
		for e := top; ; e-- {
			sum += term
			if e < 1 || term < 1e-18*sum {
				break
			}
			term *= e / y
			if sum > 1e280 {
				break
			}
		}
		logQ = logspace.Add(logQ, -y+top*logy-lgTop+math.Log(sum))
		if sum > 1e280 {
			logQ = 0 // y far below k: the tail is one
		}
	}
	logQ = min(0, logQ)
	slack := 1e-13 * float64(k)
	return min(0, logQ+slack), max(0, math.Exp(logDensity-logQ)*(1-1e-9)-1e-12)
}

// RDP returns the Rényi bound of order α > 1 of the remove direction,
//
//	ε(α) = k ln(1+s/λ) + a²/2 + ln E e^{(α−1)aχ_k}/(α−1),
//
// which bounds the add direction too, rounded up.
//
// Errors: *ParamError if a field or α is out of range.
func (r RankK) RDP(alpha float64) (float64, error) {
	if err := cmp.Or(r.Validate(), privacy.Within(alpha > 1 && !math.IsInf(alpha, 1), "Alpha", alpha,
		"a finite number > 1")); err != nil {
		return 0, err
	}
	a := r.Slope / r.Sigma
	s := (alpha - 1) * a
	// E e^{sχ} = 1 + ∫ s e^{sx}Q(x)dx.
	total := 0.0 // ln 1
	reach := math.Sqrt(float64(r.Rank)) + s + 12
	const bins = 4 * chiBins
	step := reach / bins
	for i := 0; i <= bins; i++ {
		x := float64(i) * step
		logQ, h := chiTail(r.Rank, x)
		rate, w := h-s, step
		if i == bins {
			if rate <= 0 {
				return math.Inf(1), nil // never at this reach; refuse rather than guess
			}
			w = math.Inf(1)
		}
		part := w
		if rate != 0 {
			part = -math.Expm1(-rate*w) / rate
		}
		total = logspace.Add(total, logQ+math.Log(s)+s*x+math.Log(part))
	}
	v := r.shift(privacy.Remove) + 0.5*a*a + (total+1e-11+1e-14*s*reach)/(alpha-1)
	return v * (1 + 1e-14), nil
}
