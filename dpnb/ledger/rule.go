package ledger

import (
	"math"
	"math/big"
	"strconv"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Rule is how δ is divided between the two ways in which releases add up: sums, that is Σε ≤ ε and Σδ ≤ δ₂, and
// squares, that is Σμ² ≤ μ², where μ is the largest at which a Gaussian mechanism is (ε, δ₁)-DP. A release is admitted
// if all entries together keep to the one or to the other, and the whole is then (ε, δ₁ + δ₂)-DP. The first entry
// decides, before anything was released.
// Proof: docs/theory/ledger.md, sections 1 to 3.
type Rule string

const (
	// Undecided is the rule of a budget from which nothing was spent.
	Undecided Rule = ""
	// Either gives nine tenths of δ to the sums and one to the squares.
	Either Rule = "either"
	// Squares gives all of δ to the squares: the first entry is a share, or one of known μ for which Either has too
	// little δ.
	Squares Rule = "gaussian"
	// Sums gives all of δ to the sums: there is no δ, nothing else covers the first entry, or it was asked for
	// (Config.Additive).
	Sums Rule = "sums"
)

// toSquares is the part of δ that Either gives to the squares. It costs each release of the sums a hundredth of its
// noise, and the squares an eighth of their ε.
var toSquares = big.NewRat(1, 10)

// kept is the part of the squares' δ for which releases need not be Gaussian, all in all.
const kept = 0x1p-20

// tails is the part of what is kept that one release may take: 4096 of them fit.
const tails = 0x1p-12

// account is a budget with its rule, which says what entries come to.
type account struct {
	Config
	rule Rule
}

// account returns the budget under a rule, which an additive one has from the beginning.
func (c Config) account(rule Rule) account {
	if c.Additive {
		rule = Sums
	}
	return account{c, rule}
}

// deltas returns the parts of δ, those of the sums exactly and of the squares rounded down.
func (a account) deltas() (sums *big.Rat, squares float64) {
	sums = decimal(a.Delta)
	switch a.rule {
	case Squares:
		return new(big.Rat), a.Delta
	case Sums:
		return sums, 0
	}
	part := new(big.Rat).Mul(sums, toSquares)
	return sums.Sub(sums, part), down(part, exact)
}

// mu returns what the squares are worth, and the δ that is kept for what is not Gaussian. No squares are worth 0.
func (a account) mu() (mu, slack float64) {
	_, delta := a.deltas()
	mu, _ = privacy.MuOf(a.Epsilon, delta*(1-2*kept)) // 0 without δ
	return mu, delta * kept
}

// decide returns the rule of a budget that begins with these entries.
func (a account) decide(first []Entry) Rule {
	if a.Additive {
		return Sums
	}
	for _, e := range first {
		if e.Shared && a.Delta > 0 {
			return Squares
		}
	}
	for _, a.rule = range []Rule{Either, Squares} {
		if a.Delta > 0 && a.covers(first) {
			return a.rule
		}
	}
	return Sums
}

// covers reports whether the entries keep to one of both ways.
func (a account) covers(entries []Entry) bool {
	t := a.tally(entries)
	if a.rule != Squares {
		delta, _ := a.deltas()
		if t.epsilon.Cmp(decimal(a.Epsilon)) <= 0 && t.delta.Cmp(delta) <= 0 {
			return true
		}
	}
	mu, slack := a.mu()
	return !t.unknown && t.square.Cmp(squared(mu)) <= 0 && t.slack.Cmp(exact(slack)) <= 0
}

// spent returns the (ε, δ) of all entries together, rounded up, the better of both ways. It is a statement about these
// costs. That the budget's (ε, δ) is kept to also where the costs were chosen by what was released is what covers says.
func (a account) spent(entries []Entry) (epsilon, delta float64) {
	if len(entries) == 0 {
		return 0, 0
	}
	t := a.tally(entries)
	epsilon, delta = math.Inf(1), up(t.delta)
	if delta <= a.Delta {
		epsilon = up(t.epsilon)
	}
	if squares := math.Min(delta, a.Delta); len(entries) > 1 || delta > a.Delta {
		if e := a.curve(t, squares); e < epsilon {
			epsilon, delta = e, squares
		}
	}
	switch {
	case epsilon <= a.Epsilon:
	case !a.covers(entries): // releases that were charged too little when they were admitted (file.doubt)
		epsilon, delta = up(t.epsilon), up(t.delta)
	default: // at the budget's δ it is not more
		epsilon, delta = math.Min(a.curve(t, a.Delta), a.Epsilon), a.Delta
	}
	return epsilon, delta
}

// curve returns the ε of a tally at δ by its squares, rounded up; +Inf if there is none.
func (a account) curve(t tally, delta float64) float64 {
	mu, _ := t.square.Float64()
	slack, _ := t.slack.Float64()
	left := delta*(1-4e-16) - slack*(1+4e-16)
	if t.unknown || !(left > 0) {
		return math.Inf(1)
	}
	eps, err := privacy.EpsilonUpper(privacy.GaussianProfile(math.Sqrt(mu)*(1+4e-16), a.Adjacency), left)
	if err != nil {
		return math.Inf(1)
	}
	return eps
}

// left returns the (ε, δ) that one further release can be, by the sums whatever it is or by the squares if it is a
// Gaussian mechanism of what Spend(ε) allows; rounded down.
func (a account) left(entries []Entry) (epsilon, delta float64) {
	if len(entries) == 0 {
		return a.Epsilon, a.Delta
	}
	t := a.tally(entries)
	if a.rule != Squares {
		d, _ := a.deltas()
		e := t.epsilon.Sub(decimal(a.Epsilon), t.epsilon)
		if d.Sub(d, t.delta); e.Sign() >= 0 && d.Sign() >= 0 {
			epsilon, delta = down(e, decimal), down(d, decimal)
		}
	}
	mu, slack := a.mu()
	free, _ := new(big.Rat).Sub(squared(mu), t.square).Float64()
	if t.unknown || free <= 0 || t.slack.Cmp(exact(slack)) > 0 {
		return epsilon, delta
	}
	p := privacy.GaussianProfile(math.Sqrt(free)*(1-4e-16), a.Adjacency)
	e, _ := univariate.Bisect(func(e float64) bool {
		return !(privacy.LogDeltaLower(p, e) > math.Log(a.deltaOf(e))*(1-1e-15))
	}, 0, a.Epsilon, univariate.Arithmetic, 0)
	if e > epsilon {
		return e, a.deltaOf(e)
	}
	return epsilon, delta
}

// used returns the part of the budget that entries take, by the way that takes less of it.
func (a account) used(entries []Entry) float64 {
	t := a.tally(entries)
	used := math.Inf(1)
	part := func(x, of *big.Rat) float64 { return up(new(big.Rat).Quo(x, of)) }
	if d, _ := a.deltas(); a.rule != Squares {
		used = part(t.epsilon, decimal(a.Epsilon))
		if t.delta.Sign() > 0 && d.Sign() > 0 {
			used = math.Max(used, part(t.delta, d))
		}
	}
	if mu, slack := a.mu(); mu > 0 && !t.unknown {
		used = math.Min(used, math.Max(part(t.square, squared(mu)), part(t.slack, exact(slack))))
	}
	return used
}

// deltaOf returns the δ of a release of ε: the same part of the sums' δ as ε is of the budget's, so that parts of a
// whole never add up to more than the whole; all of δ if the squares have all, or if the release is all that there is.
func (a account) deltaOf(epsilon float64) float64 {
	if a.rule == Squares || a.rule == Undecided && epsilon >= a.Epsilon {
		return a.Delta
	}
	part, _ := a.deltas()
	part.Mul(part, decimal(math.Min(epsilon, a.Epsilon))).Quo(part, decimal(a.Epsilon))
	return down(part, decimal)
}

// Part is what a part of a budget buys, for a release to be calibrated for.
type Part struct {
	// Epsilon and Delta are what the release may be alone.
	Epsilon, Delta float64
	// Mu is what a share may cost; zero for a part that was asked for by its ε.
	Mu float64
	// Squares says that it is by its μ alone that the release will be paid for.
	Squares bool
	// Tail is the largest slack that the release may have (privacy.AsGaussian), 0 where only sums count.
	Tail float64
}

// Spend returns the part of ε. δ is nine tenths of the same part of the budget's, or all of it if ε is all and nothing
// was spent yet, or if the budget began with a share; and the same part where there are only sums. What is released
// costs its ε and δ by the sums, and by the squares the μ² of what is released.
func (b *Budget) Spend(epsilon float64) Part {
	if !(epsilon > 0) || epsilon > 1e6 {
		return Part{Epsilon: epsilon}
	}
	a := b.account()
	_, slack := a.mu()
	return Part{Epsilon: epsilon, Delta: a.deltaOf(epsilon), Tail: slack * tails, Squares: a.rule == Squares}
}

// Share returns the part of the budget that is a fraction in (0, 1] of its μ²: k shares of 1/k never add up to more
// than the budget. Where there are only sums it is that fraction of ε and δ. An entry that pays for it says so
// (Entry.Shared).
//
// Errors: *privacy.ParamError for a fraction out of range.
func (b *Budget) Share(fraction float64) (Part, error) {
	if !(fraction > 0 && fraction <= 1) {
		return Part{}, &privacy.ParamError{Name: "Share", Value: fraction,
			Want: "a part of the budget in (0, 1], for example 0.1"}
	}
	a := b.account()
	part := decimal(fraction)
	part.Mul(part, decimal(a.Epsilon))
	if a.rule == Sums || a.Delta == 0 {
		return b.Spend(down(part, decimal)), nil
	}
	if a.rule == Undecided {
		a.rule = Squares
	}
	mu, slack := a.mu()
	p := Part{Squares: true, Tail: slack * tails, Delta: a.deltaOf(down(part, decimal))}
	// The largest μ with μ² ≤ fraction·μ_B², 1/k being no binary fraction: what k of them could exceed is far below the
	// part that a release leaves unused.
	p.Mu = mu * math.Sqrt(fraction) * (1 - 1e-15)
	var err error
	p.Epsilon, err = privacy.EpsilonUpper(privacy.GaussianProfile(p.Mu, a.Adjacency), p.Delta)
	return p, err
}

// down and up return the largest float64 that is at most x when read by as, and the smallest that is at least x when
// read as the decimal that it prints as.
func down(x *big.Rat, as func(float64) *big.Rat) float64 {
	f, _ := x.Float64()
	for f > 0 && as(f).Cmp(x) > 0 {
		f = math.Nextafter(f, 0)
	}
	return f
}

func up(x *big.Rat) float64 {
	f, _ := x.Float64()
	for decimal(f).Cmp(x) < 0 {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}

// decimal returns the shortest decimal that x is the float64 of: the number that a person typed.
func decimal(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', -1, 64))
	if !ok {
		panic("ledger: not a finite number")
	}
	return r
}

// exact returns x itself: a number that was computed.
func exact(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// squared returns x² exactly.
func squared(x float64) *big.Rat { r := exact(x); return r.Mul(r, r) }

func (r Rule) validate() error {
	switch r {
	case Undecided, Either, Squares, Sums:
		return nil
	}
	return &privacy.ParamError{Name: "Rule", Value: strconv.Quote(string(r)), Want: "one that this version knows"}
}
