package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// OneRun is an audit by a single release: each canary is in the data or not by a fair coin, and from the release it is
// guessed which are.
//
// Source: Steinke, Nasr, Jagielski 2023, arXiv:2305.08846, with our bound where δ > 0.
// Proof: docs/theory/audit.md#dpnb-audit-one-run.
type OneRun struct {
	Mechanism mechanism.Mechanism
	// Base has the records that are in for certain; Canaries those that are tossed for. Under replace-one, Instead has
	// the record in the place of each canary that is not in.
	Base, Canaries, Instead Data
	// Score is larger, as a rule, for a canary that is in.
	Score func(r *mechanism.Release, x []float64, label float64) float64
	// Guesses is how many canaries are guessed, half of them to be in: those of the largest scores, and of the smallest
	// to be out. Zero means all.
	Guesses int
}

// OneRunCertificate is what one run proves, with the words of Certificate.
type OneRunCertificate struct {
	Mechanism string
	// Right of Guesses guesses about Canaries were right.
	Canaries, Guesses, Right int
	Level                    float64
	Epsilon, Delta, Claimed  float64
	// PValue bounds the probability of so many right guesses under the claim; Refuted says that it is at most 1 −
	// Level.
	PValue  float64
	Refuted bool
}

// String says what was found and what it means.
func (c OneRunCertificate) String() string {
	return fmt.Sprintf("%s, one run: %d of %d guesses right; %s", c.Mechanism, c.Right, c.Guesses, found(c.Level,
		c.Epsilon, c.Delta, c.Claimed, c.Refuted))
}

// Run tosses the coins, runs the mechanism once and counts. Of the options Draws, Observe and Score have no part in it.
//
// Errors: *privacy.ParamError; *matrix.DataError for canaries of different shapes; as the mechanism's Run.
func (o OneRun) Run(options *Options, src *noise.Seeded) (*OneRunCertificate, error) {
	v, err := options.value()
	if err != nil {
		return nil, err
	}
	if src == nil {
		return nil, mechanism.ErrNoSource
	}
	canaries, err := o.Canaries.records()
	if err != nil {
		return nil, err
	}
	m := len(canaries)
	r := cmp.Or(o.Guesses, m)
	if err := cmp.Or(privacy.Within(m >= 1 && o.Score != nil, "Canaries", m, "at least 1, and a score of them"),
		privacy.Within(r >= 1 && r <= m, "Guesses", o.Guesses, "at most as many as canaries, or 0")); err != nil {
		return nil, err
	}
	in, coin := make([]bool, m), src.Stream(0)
	for i := range in {
		in[i] = coin.Uint64()&1 == 1
	}
	data, err := o.assembled(canaries, in)
	if err != nil {
		return nil, err
	}
	release, err := o.Mechanism.Run(data.Rows, data.Labels, src.Stream(1), &mechanism.Settings{Workers: v.Workers})
	if err != nil {
		return nil, err
	}
	if !release.Simulated() {
		return nil, errNotSimulated
	}
	scores, order := make([]float64, m), make([]int, m)
	for i, c := range canaries {
		order[i], scores[i] = i, o.Score(release, c[:len(c)-1], c[len(c)-1])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	right := 0
	for k, i := range order {
		if k < r/2 && !in[i] || k >= m-(r-r/2) && in[i] {
			right++
		}
	}
	claim := v.Claim
	if claim == nil {
		if claim, err = mechanism.Profile(o.Mechanism); err != nil {
			return nil, err
		}
	}
	return judge(o.Mechanism.String(), claim, m, r, right, v)
}

// judge holds the number of right guesses against the claim.
func judge(name string, claim privacy.Profile, m, r, right int, o Options) (*OneRunCertificate, error) {
	c := &OneRunCertificate{Mechanism: name, Canaries: m, Guesses: r, Right: right, Level: o.Level, Delta: o.Delta,
		PValue: 1}
	var err error
	if c.Claimed, err = privacy.EpsilonUpper(claim, o.Delta); err != nil {
		return nil, err
	}
	allowed := newTangents(claim, privacy.Remove, c.Claimed)
	for _, slope := range allowed.slope {
		eps := math.Log(slope)
		c.PValue = math.Min(c.PValue, OneRunBound(m, r, right, eps, privacy.DeltaUpper(claim, eps)))
	}
	c.Refuted = c.PValue <= 1-o.Level
	// Any ε at which so many right guesses are too unlikely is below the true one.
	low, high := 0.0, 50.0
	for range 50 {
		if mid := low + (high-low)/2; OneRunBound(m, r, right, mid, o.Delta) <= 1-o.Level {
			low = mid
		} else {
			high = mid
		}
	}
	c.Epsilon = low
	return c, nil
}

// assembled returns the base and the canaries that are in.
func (o OneRun) assembled(canaries [][]float64, in []bool) (Data, error) {
	adj := o.Mechanism.Describe().Adjacency
	all, err := o.Base.records()
	if err != nil {
		return Data{}, err
	}
	var instead [][]float64
	if adj == privacy.ReplaceOne {
		if instead, err = o.Instead.records(); err != nil {
			return Data{}, err
		}
		if len(instead) != len(canaries) {
			return Data{}, &matrix.DataError{Text: fmt.Sprintf("%d records instead of %d canaries", len(instead),
				len(canaries))}
		}
	}
	for i, c := range canaries {
		switch {
		case in[i]:
			all = append(all, c)
		case instead != nil:
			all = append(all, instead[i])
		}
	}
	width := len(canaries[0])
	rows, labels := matrix.NewDense(len(all), width-1, nil), make([]float64, len(all))
	for i, r := range all {
		if len(r) != width {
			return Data{}, &matrix.DataError{Text: "canaries and other records have different numbers of features"}
		}
		copy(rows.Data[i*(width-1):], r[:width-1])
		labels[i] = r[width-1]
	}
	return Data{rows, labels}, nil
}

// OneRunBound bounds the probability that of r guesses about m canaries at least v are right, if a mechanism is (ε, δ)
// for each:
//
//	P(Bin(r, q) ≥ v) + δ/(1 + e^ε)·(m − r + Σ_{k<r} max_j P(Bin(k, q) = j)),  q = e^ε/(1 + e^ε).
//
// Bound: upper, at most 1. Proof: docs/theory/audit.md#dpnb-audit-one-run.
func OneRunBound(m, r, v int, eps, delta float64) float64 {
	q := 1 / (1 + math.Exp(-eps))
	tail := 0.0
	switch {
	case v <= 0:
		return 1
	case v <= r:
		tail = mathext.RegIncBeta(float64(v), float64(r-v+1), q)
	}
	if delta > 0 {
		sum := float64(m - r)
		for k := range r {
			mode := math.Floor(float64(k+1) * q)
			sum += binomialMass(float64(k), math.Min(mode, float64(k)), q)
		}
		tail += delta * (1 - q) * sum
	}
	return math.Min(1, tail*(1+1e-9)+1e-12)
}

// binomialMass returns P(Bin(k, q) = j).
func binomialMass(k, j, q float64) float64 {
	lg := func(x float64) float64 { v, _ := math.Lgamma(x + 1); return v }
	log := lg(k) - lg(j) - lg(k-j)
	if j > 0 {
		log += j * math.Log(q)
	}
	if k > j {
		log += (k - j) * math.Log1p(-q)
	}
	return math.Exp(log)
}
