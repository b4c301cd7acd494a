package multiclass

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// vertexProfile bounds joint softmax objective perturbation together with its output noise by the K − 1 pure classes
// that a record's predicted probabilities can be drawn to. With A² = a² + μ², δ_G the Gaussian mechanism's profile, κ =
// (R²/λ − a²/4)₊ and S = κ(K−2)/(K−1):
//
//	add:    δ(ε) ≤ δ_G(ε; μ) + (K−1)δ_G(ε; A)
//	remove: δ(ε) ≤ δ_G(ε − κK/(K−1); μ) + (K−1)δ_G(ε − S; A)
//	remove: δ(ε) ≤ δ_G(ε − 2κ − S; μ) + (K−1)[δ_G(ε; A) + C(ε)]
//
// C being the price of two classes that are nearly equally tempting (see crowding). It is the bound of ours for K = 2
// too, where C = S = 0. The sum over classes is what it costs far out. Near ε = 0 the laws are no further apart than
// their Fisher information along the weight of the record says (turned), whatever K is: as μ that is what counts.
//
// Proof: docs/theory/multiclass.md, sections 3 to 5.
type vertexProfile struct {
	classes float64
	// a = √2·R/σ, mu = 2τ/(λσ_out), both rounded up.
	a, mu float64
	// kappa is κ, rounded up.
	kappa float64
	// angle is φ of turned, rounded up.
	angle float64
}

func newVertexProfile(classes int, radius, lambda, sigma, mu float64) vertexProfile {
	const up = 1 + 0x1p-49
	a := math.Sqrt2 * radius / sigma
	kappa := radius*radius/lambda*up - 0.25*a*a/up
	information := 1.0 // in units of a²: at a vertex, where there is no curvature
	if r := radius * sigma / lambda * up; r > 1 {
		information = 0.5 + 0.125*(r+1/r)*(r+1/r)
	}
	angle := math.Min(0.5*math.Hypot(a*math.Sqrt(information), mu)*(1+0x1p-40), math.Pi/2)
	return vertexProfile{classes: float64(classes), a: a * up, mu: mu, kappa: math.Max(0, kappa) * up, angle: angle}
}

// Adjacency returns privacy.AddRemove.
func (p vertexProfile) Adjacency() privacy.Adjacency { return privacy.AddRemove }

// LogDeltaUpper returns an upper bound on ln δ(ε).
func (p vertexProfile) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	switch {
	case math.IsNaN(eps) || math.IsInf(eps, -1):
		return 0
	case math.IsInf(eps, 1):
		return math.Inf(-1)
	}
	l := p.log(d, eps)
	// H_{e^ε}(P‖Q) = 1 − e^ε + e^ε·H_{e^{−ε}}(Q‖P) at ε ≤ 0, and δ falls with ε.
	at := math.Min(0, eps)
	// In logarithms throughout: δ may be below the smallest float64.
	other := logspace.Add(math.Log(-math.Expm1(at)), at+p.log(d.Opposite(), -at))
	return math.Min(math.Min(0, l), math.Min(widened(other), p.turned(eps)))
}

// turned returns an upper bound on ln δ(ε) of any two laws whose Bhattacharyya coefficient is at least cos φ,
//
//	δ(ε) = ½[1 − e^ε + √((1 − e^ε)² + 4e^ε sin²φ)],
//
// the largest P(A) − e^εQ(A) that two probabilities so near each other allow.
func (p vertexProfile) turned(eps float64) float64 {
	if math.Abs(eps) > 30 {
		return 0 // far out the classes by themselves are less
	}
	sin, less := math.Sin(p.angle), -math.Expm1(eps)
	root := math.Hypot(less, 2*math.Exp(eps/2)*sin)
	if less > 0 {
		return widened(math.Log(0.5 * (less + root)))
	}
	return widened(math.Ln2 + 2*math.Log(sin) + eps - math.Log(root-less))
}

// log returns the bound of the direction's own formula, for every real ε.
func (p vertexProfile) log(d privacy.Direction, eps float64) float64 {
	whole := math.Hypot(p.a, p.mu) * (1 + 0x1p-50)
	if d == privacy.Add || p.kappa == 0 {
		return p.sum(gaussian(eps, p.mu), gaussian(eps, whole))
	}
	shift := p.kappa * (p.classes - 2) / (p.classes - 1)
	best := p.sum(gaussian(below(eps, p.kappa*p.classes/(p.classes-1)), p.mu), gaussian(below(eps, shift), whole))
	if shift == 0 {
		return best
	}
	pair := logspace.Add(gaussian(eps, whole), math.Log(p.crowding(eps, shift, whole)))
	return math.Min(best, p.sum(gaussian(below(eps, 2*p.kappa+shift), p.mu), pair))
}

// sum returns ln(e^own + (K−1)e^each), rounded up.
func (p vertexProfile) sum(own, each float64) float64 {
	return widened(logspace.Add(own, math.Log(p.classes-1)+each))
}

// widened returns the logarithm l plus what rounding may have taken from it.
func widened(l float64) float64 {
	if math.IsInf(l, -1) {
		return l
	}
	return l + 1e-12 + 1e-15*math.Abs(l)
}

const (
	// crowdingCells cut the range of the most tempting class's loss, crowdingSteps that of its distance to the next.
	crowdingCells = 200
	crowdingSteps = 32
)

// crowding returns an upper bound on
//
//	C(ε) = ∫ φ(z) w(A²/2 + Az) E[s | z] dz,
//
// what is lost by a second class being tempting as well: s ≤ min{S, κΣ_j g(Δ_j)} over K − 2 classes, g(Δ) = (1 −
// Δ₊/2κ)²₊, with Δ normal given z of mean aρz/2, ρ = a/A, and variance a²(3/4 + μ²/4A²); w(x) = e^{ε−x} for x ≥ ε and 1
// − (ε−x)/S for ε − S ≤ x ≤ ε.
//
// On each cell w and E[s | z], which falls with z, are taken at their largest, and so are the masses, each the
// difference of two tails.
func (p vertexProfile) crowding(eps, shift, whole float64) float64 {
	x0 := eps - shift
	z0 := (x0 - 0.5*whole*whole) / whole
	if !(z0 <= 30 && z0 > -1e300) {
		return 1 // beyond what plain float64 tails are for: the other bound serves
	}
	kink := (eps - 0.5*whole*whole) / whole
	// The rising part by itself, then what the normal law and w still give.
	top := kink + 14/math.Max(1, kink)
	z0 -= 1e-12*(1+math.Abs(z0)) + 1e-15*(math.Abs(eps)+shift+whole*whole)/whole
	// past returns A²/2 + Az − ε, rounded up.
	past := func(z float64) float64 {
		return 0.5*whole*whole + whole*z - eps + 1e-15*(math.Abs(eps)+whole*whole+whole*math.Abs(z))
	}
	var total float64
	tail := normal.Survival(z0)
	cell := func(from, to float64) {
		next := 0.0
		if !math.IsInf(to, 1) {
			next = normal.Survival(to)
		}
		w := 1.0
		if to < kink {
			w = math.Min(1, math.Max(0, 1+past(to)/shift))
		} else if from > kink {
			w = math.Min(1, math.Exp(-past(from)+2e-15*(math.Abs(eps)+whole*whole+whole*math.Abs(from))))
		}
		total += (tail - next + 2e-15*tail) * w * p.meanExcess(from, shift, whole)
		tail = next
	}
	const half = crowdingCells / 2
	for i := range half {
		cell(z0+(kink-z0)*float64(i)/half, z0+(kink-z0)*float64(i+1)/half)
	}
	for i := range half {
		cell(kink+(top-kink)*float64(i)/half, kink+(top-kink)*float64(i+1)/half)
	}
	cell(top, math.Inf(1))
	return total * (1 + 1e-9)
}

// meanExcess returns an upper bound on E[s | z], from steps above g.
func (p vertexProfile) meanExcess(z, shift, whole float64) float64 {
	scale := p.a * math.Sqrt(0.75+0.25*(p.mu/whole)*(p.mu/whole))
	mean := 0.5 * p.a * (p.a / whole) * z
	var sum float64
	for k := range crowdingSteps {
		at := 1 - float64(k)/crowdingSteps
		next := 1 - float64(k+1)/crowdingSteps
		edge := 2 * p.kappa * float64(k+1) / crowdingSteps
		sum += (at*at - next*next) * normal.Survival((mean-edge)/scale)
	}
	return math.Min(shift, p.kappa*(p.classes-2)*sum*(1+1e-12))
}

// gaussian returns ln δ_G(ε; μ), rounded up.
func gaussian(eps, mu float64) float64 {
	return privacy.GaussianProfile(mu, privacy.AddRemove).LogDeltaUpper(privacy.Remove, eps)
}

// below returns eps − shift, rounded down.
func below(eps, shift float64) float64 {
	return math.Nextafter(eps-shift, math.Inf(-1))
}
