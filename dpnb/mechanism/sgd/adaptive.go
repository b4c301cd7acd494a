package sgd

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Adaptive moves θ by steps in proportion to a radius that is known to hold the answer, and in inverse proportion to
// the root of the mean square of the gradients so far, the earlier ones of which count less and less. With u = g/σₖ, σₖ
// the noise of an entry of g in step k = 0 … T−1,
//
//	V = Σᵢ βᵏ⁻ⁱuᵢuᵢᵀ/Σᵢ βᵏ⁻ⁱ,  β = 1 − 6/T (0 for T < 7),  q = the largest tr V/d so far,
//
// an eigenvector e of V with the eigenvalue v ∨ 1 and ρ = (1 − 1.5/v)₊, which is 0 where there is nothing but noise,
//
//	θ ← θ − r/(sₖ√(dT)) Σₑ [1.4(0.02 + (1−k/T)²)ρ + 1.54(1 ∨ q)^{−a}(1−ρ)] (eᵀu/√v) e,
//	a = 2.4τ(1−τ),  then ‖θ‖ ≤ b by projection.
//
// Where signal prevails steps shrink to nothing; where noise does they stay, and are those that are best for a descent
// that never leaves the noise, q^{−a} times as large after signal has been seen: the mean of the iterates takes the
// noise off. Neither the number of records nor the size of their slopes need be known. From 25 features on, and with
// Shrink, V is its diagonal, without the factor 1.4, and then θⱼ ← sign(θⱼ)·max(|θⱼ| − ωⱼ·(θⱼ's step for g = 1), 0).
//
// With a Ridge, which is for centred rows, a = 0.6, and after each step θ ← (I + AP)⁻¹θ, A the size of the step for g =
// 1 and P the ridge and the penalties on second differences of Curves (Quantiles.For).
//
// It is meant for Rate 1, the mean of the iterates by Weight, the last half of them, and noise of sₖ = Spread(k) times
// that of equal steps. Where the number of records is known, see For.
//
// Source: after AdaGrad and Adam (Duchi, Hazan, Singer 2011; Kingma, Ba 2015); docs/theory/quantiles.md.
type Adaptive struct {
	// Radius is r > 0, which the steps are in proportion to.
	Radius float64
	// Ball is b > 0, which the coefficients stay within; zero is r. Where there is signal they go farther than r if
	// they are let, and where there is none steps of r seldom lead beyond it.
	Ball float64
	// Steps is T, as in Descent.
	Steps int
	// Noise is the standard deviation of the noise in an entry of g, were it the same in all steps; zero is none.
	// Quantiles sets it.
	Noise float64
	// Level is τ of a quantile that is sought, which Quantiles sets; zero is ½.
	Level float64
	// Shrink is ω ≥ 0 of a regulariser Σωⱼ|θⱼ|, in the unit of g; nil is none.
	Shrink []float64
	// Ridge is ρ ≥ 0 of a ridge ρ·Noise²/T on all coefficients but the last: Noise²/T is the variance of the noise in
	// the mean of all gradients. Zero is none. Curves are runs of features of which second differences have eight times
	// as much.
	Ridge  float64
	Curves []matrix.Span
}

const (
	// memories is how often the mean square is renewed in all steps, about.
	memories = 6
	// earlyShare is what the first half of the steps has of the budget: their noise is wasted on the way, where that of
	// the others is what is left in the mean of their iterates.
	earlyShare = 0.4
	// wholeMost is the most features for a V that is not diagonal: it must be known from the T/6 gradients that count.
	wholeMost = 24
)

// Spread implements Scheduled.
func (u Adaptive) Spread(k int) float64 {
	early, all := float64(u.Steps/2), float64(u.Steps)
	switch {
	case u.Steps < 2:
		return 1
	case k < u.Steps/2:
		return math.Sqrt(early/(earlyShare*all)) * (1 + 0x1p-50)
	}
	return math.Sqrt((all-early)/((1-earlyShare)*all)) * (1 + 0x1p-50)
}

// Weight implements Scheduled: the mean is that of the last half of the iterates.
func (u Adaptive) Weight(k int) float64 {
	if k < u.Steps/2 {
		return 0
	}
	return 1 / float64(u.average())
}

// average is the number of iterates of which the mean is released.
func (u Adaptive) average() int { return u.Steps - u.Steps/2 }

// Within implements Scheduled.
func (u Adaptive) Within() float64 { return cmp.Or(u.Ball, u.Radius) }

// String describes the rule. Two that move θ in different ways say so: a release that goes on is told by it.
func (u Adaptive) String() string {
	of := ""
	if u.Within() != u.Radius {
		of = fmt.Sprintf(" of r = %.4g", u.Radius)
	}
	return fmt.Sprintf("adaptive steps%s within ‖θ‖ ≤ %.4g", of, u.Within()) + u.shrinking()
}

func (u Adaptive) shrinking() string {
	s := ""
	if u.Ridge > 0 {
		s = fmt.Sprintf(", a ridge of %.4g times the noise", u.Ridge)
	}
	if n := len(u.Curves); n > 0 {
		s += fmt.Sprintf(", %d smooth curves", n)
	}
	if u.Shrink == nil {
		return s
	}
	return s + fmt.Sprintf(", ℓ₁ with ω ≤ %.4g", slices.Max(u.Shrink))
}

// soften is the proximal step of Shrink, step(j) being the size of the step of θⱼ for g = 1.
func (u Adaptive) soften(theta []float64, step func(j int) float64) {
	for j, w := range u.Shrink {
		theta[j] = math.Copysign(math.Max(math.Abs(theta[j])-step(j)*w, 0), theta[j])
	}
}

func (u Adaptive) validate() error {
	err := cmp.Or(privacy.Positive("Radius", u.Radius), privacy.NotNegative("Update.Ball", u.Ball),
		privacy.Within(u.Steps >= 1, "Update.Steps", u.Steps, "the number of steps of the descent"),
		privacy.NotNegative("Update.Noise", u.Noise),
		privacy.Within(u.Level >= 0 && u.Level < 1, "Update.Level", u.Level, "a level in (0, 1), or 0 for ½"),
		privacy.NotNegative("Update.Ridge", u.Ridge), privacy.Within(matrix.Rising(u.Curves), "Update.Curves", u.Curves,
			"runs of features that rise and do not overlap"),
		privacy.Within(u.Shrink == nil || len(u.Shrink) > 0, "Shrink", u.Shrink, "a weight for each feature, or nil"))
	for _, w := range u.Shrink {
		err = cmp.Or(err, privacy.NotNegative("Shrink", w))
	}
	return err
}

// fits reports whether the rule is for d features.
func (u Adaptive) fits(d int) error {
	var last matrix.Span
	if n := len(u.Curves); n > 0 {
		last = u.Curves[n-1]
	}
	return cmp.Or(privacy.Within(u.Shrink == nil || len(u.Shrink) == d, "Shrink", len(u.Shrink),
		fmt.Sprintf("%d weights, one for each feature", d)),
		privacy.Within(len(u.Curves) == 0 || last.First+last.Len < d, "Update.Curves", last,
			fmt.Sprintf("of the %d features but the last", d)))
}

func (u Adaptive) start(d int) stepper {
	u.Level = cmp.Or(u.Level, 0.5)
	s := &adaptive{Adaptive: u, whole: d <= wholeMost && u.Shrink == nil, unit: make([]float64, d)}
	if s.squares = make([]float64, d); s.whole {
		s.moments, s.along = mat.NewSymDense(d, nil), make([]float64, d)
	}
	return s
}

type adaptive struct {
	Adaptive
	whole   bool
	unit    []float64     // g/σₖ
	squares []float64     // Σβᵏ⁻ⁱu²
	moments *mat.SymDense // Σβᵏ⁻ⁱuuᵀ, if whole
	along   []float64
	weight  float64 // Σβᵏ⁻ⁱ
	signal  float64 // q
	taken   int
}

func (s *adaptive) step(theta, g []float64) {
	horizon, d := float64(s.Steps), float64(len(g))
	spread := s.Spread(s.taken)
	noise := s.Noise * spread
	floor := 1.0
	if !(noise > 0) {
		noise, floor = 1, 0
	}
	for j, x := range g {
		s.unit[j] = x / noise
	}
	beta := math.Max(0, 1-memories/horizon)
	s.weight = beta*s.weight + 1
	for j, x := range s.unit {
		s.squares[j] = beta*s.squares[j] + x*x
	}
	left := 1 - math.Min(1, float64(s.taken)/horizon)
	s.taken++
	s.signal = math.Max(s.signal, floats.Sum(s.squares)/s.weight/d)
	power := 2.4 * s.Level * (1 - s.Level)
	if s.Ridge > 0 {
		power = calmed
	}
	rest := 1.54 * math.Pow(math.Max(1, s.signal), -power)
	size := s.Radius / (spread * math.Sqrt(d*horizon))
	// by is the step for u = 1 along a direction of mean square v.
	by := func(v, signal float64) float64 {
		v = math.Max(v, floor)
		if !(v > 0) {
			return 0
		}
		share := math.Max(0, 1-1.5*floor/v)
		return size * (share*signal*(0.02+left*left) + (1-share)*rest) / math.Sqrt(v)
	}
	if s.whole && s.turned(theta, beta, noise, by) {
		project(theta, s.Within())
		return
	}
	along := func(j int) float64 { return by(s.squares[j]/s.weight, 1) }
	sizes := func(j int) float64 { return along(j) / noise }
	for j, x := range s.unit {
		theta[j] -= along(j) * x
	}
	s.damp(theta, nil, sizes)
	s.soften(theta, sizes)
	project(theta, s.Within())
}

// turned moves θ along the eigenvectors of V; false, and θ as it was, if they are not found.
func (s *adaptive) turned(theta []float64, beta, noise float64, by func(v, signal float64) float64) bool {
	d := len(theta)
	s.moments.ScaleSym(beta, s.moments)
	s.moments.SymRankOne(s.moments, 1, mat.NewVecDense(d, s.unit))
	values, vectors, ok := matrix.Eigen(s.moments)
	if !ok {
		return false
	}
	sizes := mat.NewDiagDense(d, nil)
	for l := range values {
		s.along[l] = 0
		for j, x := range s.unit {
			s.along[l] += vectors.At(j, l) * x
		}
		// Until d gradients have been seen, and beyond rounding, a small value is none.
		v := math.Max(values[l]/s.weight, floats.Sum(s.squares)/(s.weight*(s.weight+1)*float64(d)))
		size := by(v, 1.4)
		s.along[l] *= size
		sizes.SetDiag(l, size/noise)
	}
	for j := range theta {
		for l, x := range s.along {
			theta[j] -= vectors.At(j, l) * x
		}
	}
	if s.Ridge > 0 {
		var half, whole mat.Dense
		half.Mul(vectors, sizes)
		whole.Mul(&half, vectors.T())
		s.damp(theta, &whole, nil)
	}
	return true
}
