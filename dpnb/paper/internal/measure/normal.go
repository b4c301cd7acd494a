package measure

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
)

// Phi is the density of the standard normal law.
func Phi(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }

// CDF is its distribution function.
func CDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// Survival is one minus CDF, without the cancellation.
func Survival(x float64) float64 { return 0.5 * math.Erfc(x/math.Sqrt2) }

// Integral is Gauss–Legendre's with 20 nodes in each of n equal pieces.
func Integral(f func(float64) float64, lo, hi float64, n int) float64 {
	var sum float64
	h := (hi - lo) / float64(n)
	for i := range n {
		sum += quad.Fixed(f, lo+float64(i)*h, lo+float64(i+1)*h, 20, quad.Legendre{}, 0)
	}
	return sum
}

// Cells are the probabilities of n equal cells of [lo, hi] and of the two rays outside, of a law with distribution
// function Φ(z(c)), z non-decreasing.
func Cells(z func(float64) float64, lo, hi float64, n int) []float64 {
	out := make([]float64, 0, n+2)
	prev := math.Inf(-1)
	for i := range n + 1 {
		x := z(lo + (hi-lo)*float64(i)/float64(n))
		out = append(out, Mass(prev, x))
		prev = x
	}
	return append(out, Mass(prev, math.Inf(1)))
}

func Mass(a, b float64) float64 {
	if a > 0 {
		return Survival(a) - Survival(b)
	}
	return CDF(b) - CDF(a)
}

// Stick is the larger of the two hockey-stick divergences. That of cells is a lower bound of that of the laws.
func Stick(p, q []float64, eps float64) float64 {
	return math.Max(audit.HockeyStick(p, q, eps), audit.HockeyStick(q, p, eps))
}

// Renyi is the larger of the two Rényi divergences of order alpha.
func Renyi(p, q []float64, alpha float64) float64 {
	return math.Max(audit.Renyi(p, q, alpha), audit.Renyi(q, p, alpha))
}

// Product is the law of two independent outcomes.
func Product(p, q []float64) []float64 {
	var out []float64
	for _, x := range p {
		for _, y := range q {
			out = append(out, x*y)
		}
	}
	return out
}

// Loss is the law of a privacy loss W = Least + A·χ with Rank degrees of freedom, of which all follows by quadrature
// alone.
type Loss struct{ Least, A, Rank float64 }

// HalfNormalLoss is the law of W = k + a²/2 + a|N|, which theorems state of objective perturbation with a = L/σ.
func HalfNormalLoss(k, a float64) Loss { return Loss{k + a*a/2, a, 1} }

// Mean is E f(W).
func (w Loss) Mean(f func(w float64) float64) float64 { return w.from(0, f) }

// Delta is E(1 − e^{ε−W})₊, from the kink on: W > ε.
func (w Loss) Delta(eps float64) float64 {
	return w.from(math.Max(0, (eps-w.Least)/w.A), func(v float64) float64 { return -math.Expm1(math.Min(0, eps-v)) })
}

// from is E f(W) over χ > from.
func (w Loss) from(from float64, f func(w float64) float64) float64 {
	log, _ := math.Lgamma(w.Rank / 2)
	return Integral(func(x float64) float64 {
		return math.Exp((w.Rank-1)*math.Log(x)-x*x/2-(w.Rank/2-1)*math.Ln2-log) * f(w.Least+w.A*x)
	}, from, from+math.Sqrt(w.Rank)+14, 400)
}

// Mean is a running mean with its standard error.
type Mean struct{ n, M, s float64 }

func (a *Mean) Add(x float64) {
	a.n++
	d := x - a.M
	a.M += d / a.n
	a.s += d * (x - a.M)
}

func (a *Mean) Err() float64 { return math.Sqrt(a.s / (a.n - 1) / a.n) }

// Indicator is 1 or 0.
func Indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Sign is 1 or −1.
func Sign(positive bool) float64 {
	if positive {
		return 1
	}
	return -1
}

func Sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// KinkedSigma returns the σ, to a thousandth, from which on no exact δ(ε) of neighbours under add/remove-one lies above
// δ: objective perturbation in one dimension at the ridge λ, one record of Huber's loss with L = β = 1 or none. Its
// slope has to be steep and to bend where noise decides on δ, so that the label is where noise is as rare as δ. The
// exact δ are sums over cells and so from below.
func KinkedSigma(lambda, eps, delta float64) float64 {
	type key struct{ lambda, eps, delta float64 }
	return Shared(key{lambda, eps, delta}, func() float64 { return kinkedSigma(lambda, eps, delta) })
}

func kinkedSigma(lambda, eps, delta float64) (least float64) {
	tail := math.Sqrt(2 * math.Log(1/delta))
	for _, before := range []float64{0.5, 1, 1.5} {
		enough := func(sigma float64) (bool, error) {
			s := audit.Scalar{Loss: loss.Huber{Threshold: 1}, ExtraX: 1, ExtraY: (tail - before) * sigma / lambda,
				Lambda: lambda, Sigma: sigma}
			without, with := s.Cells(6000)
			return Stick(with, without, eps) <= delta, nil
		}
		least = math.Max(least, Must(univariate.Smallest{Start: 1, Factor: 2, Most: math.Inf(1),
			Cut: univariate.Geometric, Tolerance: 1e-3}.Find(enough)))
	}
	return least
}

// ReplacedDelta is the larger δ(ε) of the two directions where the one record more of s has the label y or −y: both
// come from pairs of neighbours with the same cells of θ between the cuts.
func ReplacedDelta(s audit.Scalar, y float64, cuts []float64, eps float64) float64 {
	s.ExtraY = y
	_, p := s.CellsAt(cuts)
	s.ExtraY = -y
	_, q := s.CellsAt(cuts)
	return Stick(p, q, eps)
}
