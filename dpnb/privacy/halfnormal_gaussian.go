package privacy

import (
	"cmp"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/recent"
)

// HalfNormalGaussian is the law of W + G: W a HalfNormal and, independent of it, G ~ N(μ²/2, μ²) the privacy loss of a
// μ-GDP Gaussian mechanism. It is the composition of objective perturbation with the Gaussian noise that hides how far
// the approximate minimiser is from the exact one.
type HalfNormalGaussian struct {
	HalfNormal
	// Mu ≥ 0 is the parameter of the Gaussian part, sensitivity/σ_out.
	Mu float64
}

// Validate returns a *ParamError if a field is out of range.
func (w HalfNormalGaussian) Validate() error {
	return cmp.Or(NotNegative("Mu", w.Mu), w.HalfNormal.Validate())
}

// Profile returns δ(ε) = E(1 − e^{ε−W−G})₊ = E δ_G(ε − W; μ) as the profile of both directions.
//
// Given ε, δ_G(ε − w; μ) is convex in s = e^{−w}. On a cell of |N| its conditional mean therefore lies between the
// value at the conditional mean of s (Jensen) and the chord over the cell's ends; both need only the masses P(cell) and
// E[s; cell], known in closed form. Cells are halved until the two sums agree to one part in 10⁶.
//
// Bound: Upper and Lower bracket the expectation, relative distance below 2e-6 for ln δ ≥ −1e4.
// Errors: *ParamError if a field or adj is out of range.
// Proof: docs/theory/gaussian.md.
func (w HalfNormalGaussian) Profile(adj Adjacency) (LowerProfile, error) {
	if err := cmp.Or(w.Validate(), adj.Validate()); err != nil {
		return nil, err
	}
	switch {
	case w.Mu == 0:
		return w.HalfNormal.Profile(adj)
	case w.A == 0:
		return shiftedProfile{GaussianProfile(w.Mu, adj), w.K}, nil
	}
	if low := w; w.A < leastGaussianSlope {
		w.A = leastGaussianSlope
		return between{symmetric(adj), shiftedProfile{GaussianProfile(low.Mu, adj), low.K},
			halfNormalGaussianProfile{symmetric(adj), w}}, nil
	}
	return halfNormalGaussianProfile{symmetric(adj), w}, nil
}

// leastGaussianSlope is the smallest slope for which cells are cut; as leastSlope.
const leastGaussianSlope = 1e-9

// between is a profile known from one below and one above it.
type between struct {
	symmetric
	below, above LowerProfile
}

func (p between) LogDeltaUpper(d Direction, eps float64) float64 {
	return p.above.LogDeltaUpper(d, eps)
}
func (p between) LogDeltaLower(d Direction, eps float64) float64 {
	return p.below.LogDeltaLower(d, eps)
}

type halfNormalGaussianProfile struct {
	symmetric
	w HalfNormalGaussian
}

func (p halfNormalGaussianProfile) LogDeltaUpper(_ Direction, eps float64) float64 {
	return p.w.bracket(eps).up
}

func (p halfNormalGaussianProfile) LogDeltaLower(_ Direction, eps float64) float64 {
	return p.w.bracket(eps).low
}

// brackets are the bounds of ln δ that were asked for last. They take milliseconds, and a mechanism that proves its δ
// before it runs asks for the same ones at every run.
var brackets = recent.Values[bracketKey, logBounds]{Kept: 4096}

type bracketKey struct {
	w   HalfNormalGaussian
	eps float64
}

type logBounds struct{ low, up float64 }

func (w HalfNormalGaussian) bracket(eps float64) logBounds {
	b, _ := brackets.Of(bracketKey{w, eps}, func() (b logBounds, _ error) {
		b.low, b.up = w.logDeltaBounds(eps)
		return b, nil
	})
	return b
}

// halfNormalNode is a value n of |N| with what the two cells it ends need of it.
type halfNormalNode struct {
	n        float64
	h        float64 // ln δ_G(ε − w; μ)
	tail     float64 // ln Φ̄(n)
	tiltTail float64 // ln Φ̄(n + a)
}

// halfNormalCell is an interval of |N| with its contribution, bounded.
type halfNormalCell struct {
	from, to     halfNormalNode
	lower, upper float64
}

func (w HalfNormalGaussian) node(eps, n float64) halfNormalNode {
	if math.IsInf(n, 1) {
		return halfNormalNode{n: n, h: 0, tail: math.Inf(-1), tiltTail: math.Inf(-1)}
	}
	return halfNormalNode{n, w.logInner(eps, n), normal.LogSurvival(n), normal.LogSurvival(n + w.A)}
}

// logDeltaBounds returns the bracket of ln E δ_G(ε − W; μ).
func (w HalfNormalGaussian) logDeltaBounds(eps float64) (low, up float64) {
	const (
		tolerance = 1e-6
		maxCells  = 1 << 16
	)
	if math.IsInf(eps, -1) {
		return 0, 0
	}
	if math.IsInf(eps, 1) {
		return math.Inf(-1), math.Inf(-1)
	}
	// Beyond top the mass of |N| is e^{−40} of what decides.
	edge := math.Max(0, (eps-w.K-0.5*w.A*w.A-0.5*w.Mu*w.Mu)/w.A)
	top := math.Sqrt(edge*edge + 80)
	const start = 32
	cells := make([]halfNormalCell, 0, 512)
	from := w.node(eps, 0)
	for i := 1; i <= start; i++ {
		to := w.node(eps, top*float64(i)/start)
		cells = append(cells, w.cell(eps, from, to))
		from = to
	}
	last := w.cell(eps, from, w.node(eps, math.Inf(1)))
	gap := math.Inf(1)
	for {
		low, up = last.lower, last.upper
		for i := range cells {
			low = logspace.Add(low, cells[i].lower)
			up = logspace.Add(up, cells[i].upper)
		}
		n := len(cells)
		if up-low <= tolerance || 2*n > maxCells || math.IsInf(up, -1) {
			break
		}
		if n > 1<<10 && up-low > 0.7*gap {
			break // what remains is rounding, of which narrower cells have more
		}
		gap = up - low
		limit := up + math.Log(0.5*tolerance/float64(n))
		for i := 0; i < n; i++ {
			c := cells[i]
			if c.upper <= limit || c.upper+math.Log(-math.Expm1(c.lower-c.upper)) <= limit {
				continue
			}
			n := c.from.n + 0.5*(c.to.n-c.from.n)
			if n <= c.from.n || n >= c.to.n {
				continue
			}
			mid := w.node(eps, n)
			cells[i] = w.cell(eps, c.from, mid)
			cells = append(cells, w.cell(eps, mid, c.to))
		}
		if len(cells) == n {
			break // nothing left to halve: what remains is rounding
		}
	}
	// Every ε − w is rounded, which is no worse than one shift of ε by as much. The loss has a log-concave law of a
	// spread above 0.6a and μ, so that ln δ falls by less than its own size over a fraction of that.
	shift := 5e-16 * (math.Abs(eps) + w.K + w.A*(0.5*w.A+top))
	slope := 1 + 4*(2+math.Abs(up))/math.Hypot(0.6*w.A, w.Mu)
	slack := 1e-9 + 1e-14*math.Abs(up) + shift*slope
	return roundDown(math.Min(low, up), slack), roundUp(up, slack)
}

// logInner returns ln δ_G(ε − w; μ) at |N| = n.
func (w HalfNormalGaussian) logInner(eps, n float64) float64 {
	return logDeltaGaussian(eps-(w.K+w.A*(0.5*w.A+n)), w.Mu)
}

// cell bounds the contribution of the interval between two nodes. Its mass is the difference of two tails, whose
// logarithms err by their own last places: the narrower the cell, the more of it that is. What is not known of the mean
// of s goes to the side of each bound.
func (w HalfNormalGaussian) cell(eps float64, from, to halfNormalNode) halfNormalCell {
	mass := math.Ln2 + logDifference(from.tail, to.tail)
	tilt := math.Ln2 + 0.5*w.A*w.A + logDifference(from.tiltTail, to.tiltTail)
	part := math.Min(-math.Expm1(to.tail-from.tail), -math.Expm1(to.tiltTail-from.tiltTail))
	miss := (4e-15 + 4e-16*(math.Abs(from.tail)+math.Abs(from.tiltTail)+0.5*w.A*w.A+w.A*from.n)) / part
	// s is e^{−a|N|} relative to its value at from; its conditional mean:
	mean := math.Exp(tilt - mass + w.A*from.n)
	end := math.Exp(-w.A * (to.n - from.n))
	mean = math.Min(1, math.Max(end, mean))
	share := 0.0 // the weight of the end to in the chord
	if end < 1 {
		share = math.Min(1, (1-mean+miss)/(1-end))
	}
	h := logspace.Add(math.Log1p(-share)+from.h, math.Log(share)+to.h)
	jensen := w.logInner(eps, from.n-math.Log(math.Min(1, mean*(1+miss)))/w.A)
	return halfNormalCell{from: from, to: to, lower: mass - miss + math.Min(jensen, h), upper: mass + miss + h}
}

// logDifference returns ln(e^a − e^b), a ≥ b.
func logDifference(a, b float64) float64 { return a + math.Log(-math.Expm1(b-a)) }

// shiftedProfile is the profile of a loss that is larger by the constant k.
type shiftedProfile struct {
	LowerProfile
	k float64
}

func (p shiftedProfile) LogDeltaUpper(d Direction, eps float64) float64 {
	return p.LowerProfile.LogDeltaUpper(d, math.Nextafter(eps-p.k, math.Inf(-1)))
}

func (p shiftedProfile) LogDeltaLower(d Direction, eps float64) float64 {
	return p.LowerProfile.LogDeltaLower(d, math.Nextafter(eps-p.k, math.Inf(1)))
}

// Symmetric reports that both directions have the same profile.
func (p shiftedProfile) Symmetric() bool { return true }
