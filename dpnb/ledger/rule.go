package ledger

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Rule is how the costs of releases add up.
type Rule string

const (
	// Added is basic composition: Σεᵢ ≤ ε and Σδᵢ ≤ δ. The rule of a budget without δ.
	Added Rule = ""
	// AsGaussians adds the squares of μ: a budget of (ε, δ) is worth the largest μ at
	// which a Gaussian mechanism is (ε, δ)-DP, and releases that are μᵢ-GDP but for a
	// probability of δᵢ′ go on while Σμᵢ² ≤ μ² and Σδᵢ′ is within the millionth of δ that
	// is kept for them. Needs δ > 0.
	// Proof: docs/theory/ledger.md, sections 1 and 2.
	AsGaussians Rule = "gaussian"
)

// kept is the part of δ for which releases need not be Gaussian, all in all.
const kept = 0x1p-20

// tails is the part of what is kept that one release may take: 4096 of them fit.
const tails = 0x1p-12

// rule says what entries come to. Sums are exact.
type rule interface {
	covers(entries []Entry) bool
	// spent and left are (ε, δ) of all entries together, rounded up, and of one further
	// release, rounded down.
	spent(entries []Entry) (epsilon, delta float64)
	left(entries []Entry) (epsilon, delta float64)
	used(entries []Entry) float64
}

// sums is the rule Added.
type sums struct{ Config }

func (r sums) total(entries []Entry) (eps, delta *big.Rat) {
	eps, delta = new(big.Rat), new(big.Rat)
	for _, e := range entries {
		eps.Add(eps, decimal(e.Epsilon))
		delta.Add(delta, decimal(e.Delta))
	}
	return eps, delta
}

func (r sums) covers(entries []Entry) bool {
	eps, delta := r.total(entries)
	return eps.Cmp(decimal(r.Epsilon)) <= 0 && delta.Cmp(decimal(r.Delta)) <= 0
}

func (r sums) spent(entries []Entry) (epsilon, delta float64) {
	e, d := r.total(entries)
	epsilon, _ = e.Float64()
	delta, _ = d.Float64()
	return epsilon, delta
}

func (r sums) left(entries []Entry) (epsilon, delta float64) {
	e, d := r.total(entries)
	epsilon, _ = e.Sub(decimal(r.Epsilon), e).Float64()
	delta, _ = d.Sub(decimal(r.Delta), d).Float64()
	return epsilon, delta
}

func (r sums) used(entries []Entry) float64 {
	e, _ := r.total(entries)
	used, _ := e.Quo(e, decimal(r.Epsilon)).Float64()
	return used
}

// squares is the rule AsGaussians.
type squares struct {
	Config
	// mu is the budget's μ, for the δ that is not kept; slack is what is kept.
	mu, slack float64
}

func (c Config) gaussian() squares {
	r := squares{Config: c, slack: c.Delta * kept}
	r.mu, _ = privacy.MuOf(c.Epsilon, c.Delta*(1-2*kept)) // c is valid
	return r
}

// total returns Σμ² and Σδ′; whole says that a release has taken the whole budget.
func (r squares) total(entries []Entry) (square, slack *big.Rat, whole bool) {
	square, slack = new(big.Rat), new(big.Rat)
	for _, e := range entries {
		mu := exact(e.Mu)
		square.Add(square, mu.Mul(mu, mu))
		slack.Add(slack, exact(e.Slack))
		whole = whole || e.Mu == 0
	}
	return square, slack, whole
}

func (r squares) covers(entries []Entry) bool {
	square, slack, whole := r.total(entries)
	if whole {
		return len(entries) == 1 && entries[0].Epsilon <= r.Epsilon && entries[0].Delta <= r.Delta
	}
	mu := exact(r.mu)
	return square.Cmp(mu.Mul(mu, mu)) <= 0 && slack.Cmp(exact(r.slack)) <= 0
}

func (r squares) spent(entries []Entry) (epsilon, delta float64) {
	if len(entries) == 0 {
		return 0, 0
	}
	if len(entries) == 1 && entries[0].Delta <= r.Delta {
		return entries[0].Epsilon, entries[0].Delta // what it is alone
	}
	square, slack, _ := r.total(entries)
	mu, _ := square.Float64()
	mu = math.Sqrt(mu) * (1 + 4e-16)
	gone, _ := slack.Float64()
	epsilon, err := privacy.EpsilonUpper(privacy.GaussianProfile(mu, r.Adjacency), r.Delta*(1-4e-16)-gone*(1+4e-16))
	if err != nil {
		epsilon = r.Epsilon
	}
	return math.Min(epsilon, r.Epsilon), r.Delta // the budget is what the filter promises
}

func (r squares) left(entries []Entry) (epsilon, delta float64) {
	if len(entries) == 0 {
		return r.Epsilon, r.Delta
	}
	square, slack, whole := r.total(entries)
	mu := exact(r.mu)
	free, _ := mu.Sub(mu.Mul(mu, mu), square).Float64()
	if whole || free <= 0 || slack.Cmp(exact(r.slack)) >= 0 {
		return 0, 0
	}
	return privacy.EpsilonLower(privacy.GaussianProfile(math.Sqrt(free)*(1-4e-16), r.Adjacency), r.Delta), r.Delta
}

func (r squares) used(entries []Entry) float64 {
	square, _, whole := r.total(entries)
	if whole {
		return 1
	}
	mu := exact(r.mu)
	used, _ := square.Quo(square, mu.Mul(mu, mu)).Float64()
	return used
}

// Part is what a part of a budget buys, for a release to be calibrated for.
type Part struct {
	// Epsilon and Delta are what the release may be alone.
	Epsilon, Delta float64
	// Mu is what it may cost under AsGaussians, and Tail the largest slack; zero else.
	Mu, Tail float64
}

// Spend returns the part of ε. Under AsGaussians δ is the budget's and the cost is the
// μ² of what is released, that of (ε, δ) for a Gaussian mechanism: Mu is zero, as
// nothing is asked of it. Else δ is the same part of the budget's, rounded so that parts
// of a whole never add up to more than the whole.
func (b *Budget) Spend(epsilon float64) Part {
	c := b.Config()
	if !(epsilon > 0) || epsilon > 1e6 {
		return Part{Epsilon: epsilon}
	}
	if c.Rule == AsGaussians {
		return Part{Epsilon: epsilon, Delta: c.Delta, Tail: c.Delta * kept * tails}
	}
	whole := decimal(c.Delta)
	whole.Mul(whole, decimal(epsilon)).Quo(whole, decimal(c.Epsilon))
	return Part{Epsilon: epsilon, Delta: down(whole, decimal)}
}

// Share returns the part of the budget that a fraction in (0, 1] of it is: of ε and δ,
// or under AsGaussians of μ². k shares of 1/k never add up to more than the budget.
//
// Errors: *privacy.ParamError for a fraction out of range.
func (b *Budget) Share(fraction float64) (Part, error) {
	if !(fraction > 0 && fraction <= 1) {
		return Part{}, &privacy.ParamError{Name: "Share", Value: fraction,
			Want: "a part of the budget in (0, 1], for example 0.1"}
	}
	c := b.Config()
	if c.Rule != AsGaussians {
		part := decimal(fraction)
		return b.Spend(down(part.Mul(part, decimal(c.Epsilon)), decimal)), nil
	}
	r := c.gaussian()
	p := Part{Delta: c.Delta, Tail: r.slack * tails}
	// The largest μ with μ² ≤ fraction·μ_B², 1/k being no binary fraction: what k of them
	// could exceed is far below the part that a release leaves unused.
	p.Mu = r.mu * math.Sqrt(fraction) * (1 - 1e-15)
	var err error
	p.Epsilon, err = privacy.EpsilonUpper(privacy.GaussianProfile(p.Mu, c.Adjacency), c.Delta)
	return p, err
}

// down returns the largest float64 that is at most x when read by as.
func down(x *big.Rat, as func(float64) *big.Rat) float64 {
	f, _ := x.Float64()
	for f > 0 && as(f).Cmp(x) > 0 {
		f = math.Nextafter(f, 0)
	}
	return f
}

// decimal returns the shortest decimal that x is the float64 of: the number
// that a person typed.
func decimal(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', -1, 64))
	if !ok {
		panic("ledger: not a finite number")
	}
	return r
}

// exact returns x itself: a number that was computed.
func exact(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

func (r Rule) validate(delta float64) error {
	switch {
	case r != Added && r != AsGaussians:
		return &privacy.ParamError{Name: "Rule", Value: strconv.Quote(string(r)), Want: fmt.Sprintf("%q or %q", Added,
			AsGaussians)}
	case r == AsGaussians && delta == 0:
		return &privacy.ParamError{Name: "Delta", Value: 0.0, Want: "a δ > 0 for a budget that composes as Gaussians"}
	}
	return nil
}
