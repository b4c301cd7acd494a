package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Options of an audit. Nil is right but for δ = 0.
type Options struct {
	// Draws is how many releases are drawn from each of the two data sets. A half of them, but at most 5,000, choose
	// the test, and the others are tested. Zero means 4,000, the least is 100.
	Draws int
	// Level of confidence of all that a certificate says together; zero means 0.99.
	Level float64
	// Delta at which ε is bounded.
	Delta float64
	// Claim is what the releases are held against; nil means the profile of the mechanism's event.
	Claim privacy.Profile
	// Observe is what is seen of a release; nil means all of it: its coefficients, every number and every truth value
	// that was released beside them, and the parameters that it says it ran with.
	Observe func(*mechanism.Release) []float64
	// Score, if not nil, is tried beside those that are learned: a density ratio that is known.
	Score func(observed []float64) float64
	// Workers as in mechanism.Settings. What is found does not depend on it.
	Workers int
}

func deltaBelowOne(name string, delta float64) error {
	return privacy.Within(delta >= 0 && delta < 1, name, delta, "a number in [0, 1)")
}

func (o *Options) value() (Options, error) {
	v := Options{}
	if o != nil {
		v = *o
	}
	v.Draws, v.Level = cmp.Or(v.Draws, 4000), cmp.Or(v.Level, 0.99)
	if v.Observe == nil {
		v.Observe = observed
	}
	return v, cmp.Or(privacy.Within(v.Draws >= 100, "Draws", v.Draws, "at least 100, or 0 for 4,000"),
		privacy.Within(v.Level > 0 && v.Level < 1, "Level", v.Level, "a number in (0, 1), or 0 for 0.99"),
		deltaBelowOne("Delta", v.Delta))
}

// mostTeaching is how many draws at most teach scores, and how many at most choose one.
const mostTeaching = 2500

// errNotSimulated is the error of an audit that met a release with noise of a secure source: an audit draws many, of
// which none was paid for.
var errNotSimulated = errors.New("audit: a release was drawn from a secure source; an audit simulates, with a seed " +
	"and without a budget")

// Certificate is what an audit of releases on one pair of neighbours found. It never says that a mechanism is private:
// another pair, or a better test, could tell more.
type Certificate struct {
	Mechanism, Pair string
	Adjacency       privacy.Adjacency
	// Draws from each data set that were tested, and the Level at which all of this holds but for Curve.
	Draws int
	Level float64
	// Epsilon is a lower bound on ε at Delta; Claimed is what the claim has there.
	Epsilon, Delta, Claimed float64
	// Refuted: the claim allows no test as good as the one that was found, at Level.
	Refuted bool
	// Direction, Score, Power and FalsePositive are those of the test that speaks most against the claim: the
	// probability of its set of releases is at least Power under the first data set and at most FalsePositive under the
	// second.
	Direction            privacy.Direction
	Score                string
	Power, FalsePositive float64
	// Excess is by how much Power is above what the claim allows; negative where it is not.
	Excess float64
	// Curve has the errors of that score at other thresholds, at Level of its own.
	Curve Curve
}

// String says what was found and what it means.
func (c Certificate) String() string {
	return fmt.Sprintf("%s on %s (%s): %s", c.Mechanism, c.Pair, c.Adjacency.Words(), found(c.Level, c.Epsilon, c.Delta,
		c.Claimed, c.Refuted))
}

// found says what a certificate found of ε, and what it means.
func found(level, epsilon, delta, claimed float64, refuted bool) string {
	verdict := "The claim is not refuted, which does not show that it holds."
	if refuted {
		verdict = "THE CLAIM IS REFUTED."
	}
	return fmt.Sprintf("with %g %% confidence ε ≥ %s at δ = %g, claimed %s. %s", 100*level,
		privacy.FormatDown(epsilon, 3), delta, privacy.FormatUp(claimed, 3), verdict)
}

// Mechanism runs m on both data sets of the pair and returns what the releases prove: with P and Q the laws of the
// release on the two and S any set of releases, P(S) ≤ e^ε Q(S) + δ(ε) for every ε, so that
//
//	ε ≥ ln (P(S) − δ)/Q(S),  and the claim is refuted if P(S) > min_ε e^ε Q(S) + δ(ε),
//
// with P(S) replaced by its lower and Q(S) by its upper Clopper–Pearson bound. S is where a score exceeds a threshold.
// A quarter of the draws teach scores (of means, covariances, frequencies), a quarter chooses one and its threshold, in
// each direction for either statement, and the others alone are tested: four sets, eight bounds, each at an eighth of 1
// − Level.
//
// Release k is drawn from stream k of src, so that workers do not matter.
//
// Errors: *privacy.ParamError for options; a pair that is no neighbours; errNotSimulated; as m's Run.
// Source: ours, after Jagielski, Ullman, Oprea 2020, arXiv:2006.07709. Proof: docs/theory/audit.md.
func Mechanism(ctx context.Context, m mechanism.Mechanism, pair Pair, options *Options, src *noise.Seeded) (
	*Certificate, error) {
	o, err := options.value()
	if err != nil {
		return nil, err
	}
	if src == nil {
		return nil, mechanism.ErrNoSource
	}
	adj := m.Describe().Adjacency
	if err := pair.check(adj, rowsOf(m)); err != nil {
		return nil, err
	}
	quarter := min(o.Draws/4, mostTeaching)
	half := 2 * quarter
	c := &Certificate{Mechanism: m.String(), Pair: pair.Name, Adjacency: adj, Draws: o.Draws - half, Level: o.Level,
		Delta: o.Delta, Excess: math.Inf(-1)}
	claim := o.Claim
	if claim == nil {
		if claim, err = mechanism.Profile(m); err != nil {
			return nil, err
		}
	}
	if claim.Adjacency() != adj {
		return nil, fmt.Errorf("%w: the claim is for %s, the mechanism for %s", privacy.ErrAdjacency,
			claim.Adjacency().Words(), adj.Words())
	}
	if c.Claimed, err = privacy.EpsilonUpper(claim, o.Delta); err != nil {
		return nil, err
	}
	var drawn [2][][]float64 // With, Without
	for side, data := range []Data{pair.With, pair.Without} {
		if drawn[side], err = draw(ctx, m, data, o, src.Stream(side)); err != nil {
			return nil, err
		}
	}
	level(drawn[0], drawn[1])
	scores := learn(drawn[0][:quarter], drawn[1][:quarter])
	if o.Score != nil {
		scores = append(scores, score{"given", o.Score})
	}
	each := 1 - (1-o.Level)/4 // of two-sided bounds, of each of which one side is used
	var allowed *tangents
	for _, dir := range privacy.Directions {
		if allowed == nil || !privacy.IsSymmetric(claim) {
			allowed = newTangents(claim, dir, c.Claimed)
		}
		p, q, sign := drawn[0], drawn[1], 1.0
		if dir == privacy.Add {
			p, q, sign = q, p, -1
		}
		// Scores of the draws that choose, and of those that test.
		var forEpsilon, forClaim choice
		for _, s := range scores {
			consider(s, s.values(p[quarter:half], sign), s.values(q[quarter:half], sign), c.Draws, o.Delta, allowed,
				&forEpsilon, &forClaim)
		}
		for _, t := range []choice{forEpsilon, forClaim} {
			if t.score.of == nil {
				continue
			}
			low := ClopperPearson(t.count(p[half:], sign), o.Draws-half, each).Lower
			high := ClopperPearson(t.count(q[half:], sign), o.Draws-half, each).Upper
			if low > o.Delta {
				c.Epsilon = math.Max(c.Epsilon, math.Log((low-o.Delta)/high))
			}
			if excess := low - allowed.at(high); excess > c.Excess {
				c.Excess, c.Direction, c.Score, c.Power, c.FalsePositive = excess, dir, t.score.name, low, high
				c.Curve = newCurve(t.score, drawn, quarter, half, dir, o.Level, allowed)
			}
		}
	}
	c.Refuted = c.Excess > 0
	return c, nil
}

// draw returns what is observed of o.Draws releases on the data.
func draw(ctx context.Context, m mechanism.Mechanism, data Data, o Options, src *noise.Seeded) ([][]float64, error) {
	seen := make([][]float64, o.Draws)
	settings := &mechanism.Settings{Workers: 1}
	err := parallel.For(ctx, o.Draws, o.Workers, func(_, k int) error {
		r, err := m.Run(data.Rows, data.Labels, src.Stream(k), settings)
		if err != nil {
			return err
		}
		if !r.Simulated() {
			return errNotSimulated
		}
		seen[k] = slices.Clone(o.Observe(r))
		return nil
	})
	return seen, err
}

// choice is a set of releases, those whose score is above a threshold, and what it promised.
type choice struct {
	score     score
	threshold float64
	promise   float64
}

// count returns how many of the observations are in the set.
func (c choice) count(x [][]float64, sign float64) (k int) {
	for _, v := range x {
		if sign*c.score.of(v) > c.threshold {
			k++
		}
	}
	return k
}

// consider updates both choices by the score: p and q are scores of draws that are not tested, n is how many will be.
func consider(s score, p, q []float64, n int, delta float64, allowed *tangents, forEpsilon, forClaim *choice) {
	slices.Sort(p)
	slices.Sort(q)
	for _, t := range thresholds(p, q) {
		up, uq := share(p, t), share(q, t)
		// What the test will probably show.
		low, high := expected(up, len(p), n, -1), expected(uq, len(q), n, 1)
		if low > delta {
			better(forEpsilon, choice{s, t, math.Log((low - delta) / high)})
		}
		// By how many standard errors the claim will probably be missed.
		excess, se := low-allowed.at(high), math.Sqrt((up*(1-up)+uq*(1-uq)+1/float64(n))/float64(n))
		better(forClaim, choice{s, t, excess / se})
	}
}

func better(best *choice, c choice) {
	if best.score.of == nil || c.promise > best.promise {
		*best = c
	}
}

// expected returns where a confidence bound from n draws will be if a share was seen in m: two and a half standard
// errors of the n away, and one of the m, since the best of many shares that were seen flatters.
func expected(seen float64, m, n int, side float64) float64 {
	// A share of 0 or 1 in m draws says little more than one of a half in m.
	centre := (seen*float64(m) + 0.5) / (float64(m) + 1)
	errors := 2.5/math.Sqrt(float64(n)) + 1/math.Sqrt(float64(m))
	return math.Max(0.1/float64(n), math.Min(1, centre+side*errors*math.Sqrt(centre*(1-centre))))
}

// exceeding returns how many of sorted values are above t, and share which part of them.
func exceeding(sorted []float64, t float64) int {
	k, found := slices.BinarySearch(sorted, t)
	for found && k < len(sorted) && sorted[k] == t {
		k++
	}
	return len(sorted) - k
}

func share(sorted []float64, t float64) float64 {
	return float64(exceeding(sorted, t)) / float64(len(sorted))
}

// thresholds returns quantiles of both samples, dense in their tails.
func thresholds(p, q []float64) (all []float64) {
	for _, sorted := range [][]float64{p, q} {
		n := len(sorted)
		for k := range 25 {
			at := int(float64(n) * 0.5 * math.Pow(0.8, float64(k)))
			all = append(all, sorted[min(at, n-1)], sorted[max(n-1-at, 0)])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// tangents bound what a claim allows: P(S) ≤ min_ε e^ε Q(S) + δ(ε), over some ε, of which each is a proof.
type tangents struct{ slope, offset []float64 }

const tangentCount = 100

// newTangents reads the profile at ε from 0 to somewhat above the one that is claimed, beyond which no number of draws
// that one can make would tell.
func newTangents(p privacy.Profile, dir privacy.Direction, claimed float64) *tangents {
	top := 1 + 1.2*claimed
	if math.IsInf(top, 1) {
		top = 50
	}
	t := &tangents{}
	add := func(eps float64) {
		if delta := privacy.ExpUp(p.LogDeltaUpper(dir, eps)); delta < 1 {
			t.slope, t.offset = append(t.slope, math.Exp(eps)), append(t.offset, delta)
		}
	}
	for k := range tangentCount + 1 {
		add(top * math.Pow(float64(k)/tangentCount, 1.5))
	}
	if !math.IsInf(claimed, 1) {
		add(claimed)
	}
	return t
}

// at returns the most that the claim allows P(S) to be where Q(S) ≤ q.
func (t *tangents) at(q float64) float64 {
	best := 1.0
	for i, s := range t.slope {
		best = math.Min(best, s*q+t.offset[i])
	}
	return best
}
