package ssp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// TukeyEM draws coefficients that are deep among those of m ordinary fits. Each record goes to one of m parts by
// chance, each part is fitted by least squares, and the fits are rounded to a public lattice. The depth of a lattice
// point is the smallest number of fits on either side of it, over all coordinates; A_i, the points of depth i or more,
// is a box.
//
//  1. Test: κ is by how many fits at least the data are away from some on which the points of
//     depth t = ⌈m/4⌉ could weigh more than δ. If κ + noise is at most a threshold τ, the
//     release is 0, with Tested.Passed false. Data with κ ≤ 0 pass with probability at most δ.
//  2. Draw: a point of A_t, with a probability proportional to e^{η·depth/2}.
//
// The release is (ε, δ)-DP, ε = 1/TestScale + η + ln(1/(1 − δ)). It is total: there are no records for which it fails.
// It needs no bound on what is fitted; LabelBound and RowNorm are its unit.
//
// Source: Amin, Joseph, Ribero, Vassilvitskii 2023, arXiv:2208.07353, Algorithm 2; the lattice, the test by κ with one
// δ for both steps, and add/remove-one are ours.
// Proof: docs/theory/linear_rivals.md.
type TukeyEM struct {
	// RowNorm is R: every record has ‖x‖₂ ≤ R, the bias included. LabelBound is
	// Y: every label has |y| ≤ Y.
	RowNorm, LabelBound float64
	// Features is d, Models is m ≥ 4.
	Features, Models int
	// TestScale is that of the two-sided geometric noise of the test, Eta is η.
	TestScale, Eta float64
	// Delta is δ in (0, 1/2].
	Delta float64
}

// Tested is what TukeyEM releases beside the coefficients.
type Tested struct {
	// Passed is false if the fits lie too far apart for their number; the coefficients are then 0.
	Passed bool
}

// TukeyEMConfig asks for a TukeyEM that satisfies (ε, δ).
type TukeyEMConfig struct {
	RowNorm, LabelBound float64
	Features            int
	// Records is a public number of records to plan for. It has no part in the guarantee.
	Records int
	// Models is m; zero has it chosen: one for every 4·d planned records, at most 4000 and at least as many as fits of
	// a normal law need to pass the test.
	Models         int
	Epsilon, Delta float64
	Adjacency      privacy.Adjacency
}

const (
	// latticeStep is that of the lattice and latticeHalf its range in steps: 2¹², in units of Y/R.
	latticeStep, latticeHalf = 0x1p-20, 1 << 32
	// tukeySlack is what rounding may add to η, and to each ratio of two weights, relatively.
	tukeySlack = 1e-8
	// fewestRecords of a part, for each feature: with fewer a fit is mostly noise.
	fewestRecords = 2
	// mostModels and mostWeight, the largest of η·Models, keep the integers of the draw short.
	mostModels, mostWeight = 1 << 14, 1 << 17
)

// CalibrateTukeyEM returns the mechanism for (ε, δ) that needs the fewest models to pass its test.
//
// Errors: *privacy.ParamError, for Records too where they are too few for so many features; one that wraps
// privacy.ErrUnsupported for an adjacency other than add/remove-one.
func CalibrateTukeyEM(c TukeyEMConfig) (TukeyEM, error) {
	m := TukeyEM{RowNorm: c.RowNorm, LabelBound: c.LabelBound, Features: c.Features, Models: 4, TestScale: 1, Eta: 1,
		Delta: c.Delta * (1 - 1e-4)}
	if c.Models != 0 {
		m.Models = c.Models
	}
	if err := cmp.Or(m.Validate(),
		privacy.Within(c.Epsilon > 0x1p-10 && c.Epsilon <= 1e3, "Epsilon", c.Epsilon, "a number in (2⁻¹⁰, 1000]"),
		mechanism.OnlyAddRemove(c.Adjacency, "deep points are")); err != nil {
		return m, err
	}
	total := c.Epsilon*(1-1e-6) - tukeySlack + math.Log1p(-m.Delta)
	if !(total > 0) {
		return m, &privacy.ParamError{Name: "Delta", Value: c.Delta, Want: "less than 1 − e^−ε"}
	}
	most := max(4, c.Records/(fewestRecords*c.Features))
	fewest := math.MaxInt
	for share := 0.15; share < 0.9; share += 0.1 {
		try := m
		try.TestScale, try.Eta = 1/(share*total), (1-share)*total
		if need := try.needed(min(fewest, mostModels+1)); need < fewest {
			fewest, m.TestScale, m.Eta = need, try.TestScale, try.Eta
		}
	}
	if c.Models == 0 && fewest > most {
		return m, &privacy.ParamError{Name: "Records", Value: c.Records, Want: fmt.Sprintf("more records: TukeyEM "+
			"needs %d models, each of %d records or more, for %d features at this ε", fewest, fewestRecords*c.Features,
			c.Features)}
	}
	if c.Models == 0 {
		m.Models = max(fewest, min(c.Records/(4*c.Features), 4000))
	}
	m.Eta = math.Min(m.Eta, mostWeight/float64(m.Models))
	return m, m.Validate()
}

// Needed returns how many models it takes, by needed, at this ε and δ; 2¹⁴ + 1 if more than are allowed.
func (m TukeyEM) Needed() int { return m.needed(mostModels + 1) }

// needed returns how many models, below limit, of a normal law with independent coordinates pass the test with three
// deviations of its noise to spare; limit if it takes more.
func (m TukeyEM) needed(limit int) int {
	tau := float64(m.threshold()) + 3*math.Sqrt2*m.TestScale
	// spread is ln of the distance between the quantiles of depth u on both sides.
	spread := func(u float64) float64 { return math.Log(math.Erfinv(1 - 2*u)) }
	for k := 8.0; k < float64(limit); k = math.Ceil(1.05 * k) {
		deep := math.Ceil(k/4) + tau
		for g := 1.0; deep+g <= 0.49*k && tau < k/4-1; g += math.Ceil(k / 100) {
			room := math.Log(m.Delta) + 0.5*m.Eta*g
			if float64(m.Features)*(spread((k/4-tau)/k)-spread((deep+g)/k)) <= room {
				return int(k)
			}
		}
	}
	return limit
}

// threshold returns the least τ with P(N > τ) ≤ δ, N the noise of the test: P(N > τ) = q^{τ+1}/(1 + q), q =
// e^{−1/TestScale}.
func (m TukeyEM) threshold() int64 {
	q := math.Exp(-1 / m.TestScale)
	return int64(math.Max(0, math.Ceil(-m.TestScale*(math.Log(m.Delta)+math.Log1p(q))*(1+1e-9)-1+1e-9)))
}

// Validate returns a *privacy.ParamError if a parameter is out of range.
func (m TukeyEM) Validate() error {
	return cmp.Or((mechanism.Scales{{"RowNorm", m.RowNorm}, {"LabelBound", m.LabelBound}}).Check(),
		privacy.Within(m.Features >= 1 && m.Features <= 1<<12, "Features", m.Features, "at least 1 and at most 4096"),
		privacy.Within(m.Models >= 4 && m.Models <= mostModels, "Models", m.Models, "at least 4 and at most 2¹⁴"),
		privacy.Within(m.TestScale >= 0x1p-10 && m.TestScale <= 0x1p20, "TestScale", m.TestScale,
			"a number from 2⁻¹⁰ to 2²⁰"),
		privacy.Within(m.Eta >= 0x1p-20 && m.Eta <= mostWeight/float64(m.Models), "Eta", m.Eta,
			"a number from 2⁻²⁰ to 2¹⁷/Models"),
		privacy.Within(m.Delta > 0x1p-1000 && m.Delta <= 0.5, "Delta", m.Delta, "a number in (2⁻¹⁰⁰⁰, 1/2]"))
}

// Event implements mechanism.Mechanism: (ε, δ) and no more is proved.
//
// Proof: docs/theory/linear_rivals.md, section 2.
func (m TukeyEM) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	eps := (1/m.TestScale+m.Eta-math.Log1p(-m.Delta))*(1+0x1p-48) + tukeySlack
	return privacy.Approx{Epsilon: eps, Delta: math.Nextafter(m.Delta, 1), Adj: privacy.AddRemove}, nil
}

// Describe implements mechanism.Mechanism.
func (m TukeyEM) Describe() mechanism.Description {
	return mechanism.Description{
		Name: "TukeyEM", Also: "whether its test was passed",
		Source:    "Amin, Joseph, Ribero, Vassilvitskii 2023, arXiv:2208.07353, Algorithm 2",
		Adjacency: privacy.AddRemove, Bound: "a test and an exponential mechanism (docs/theory/linear_rivals.md)",
		Assumptions: assumptions(m.RowNorm, m.LabelBound),
	}
}

// Feasible implements mechanism.Mechanism.
func (m TukeyEM) Feasible(features, _ int) error {
	return privacy.Within(features == m.Features, "Features", m.Features,
		fmt.Sprintf("%d, as many as the records have", features))
}

// String describes the mechanism with its parameters.
func (m TukeyEM) String() string {
	return fmt.Sprintf("TukeyEM (‖x‖ ≤ %.5g, |y| ≤ %.5g, d = %d, %d models, test noise of scale %.5g, η = %.5g)",
		m.RowNorm, m.LabelBound, m.Features, m.Models, m.TestScale, m.Eta)
}

// Check implements mechanism.Mechanism.
func (m TukeyEM) Check(rows matrix.Rows, labels []float64) error {
	if err := checkRecords(rows, labels, m.RowNorm, m.LabelBound); err != nil {
		return err
	}
	if d := rowsOf(rows); d != m.Features {
		return &matrix.DataError{Text: fmt.Sprintf("the records have %d features, the models %d", d, m.Features)}
	}
	return nil
}

// Run implements mechanism.Mechanism. It never fails after the check.
func (m TukeyEM) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	draw := noise.Exact(src)
	test := make([]float64, 1)
	draw.Geometrics(test, m.TestScale)
	n, _ := rows.Dims()
	boxes := m.boxes(m.models(rows, labels, m.deal(n, draw), settings.Value().Workers))
	passed := m.distance(boxes)+int64(test[0]) > m.threshold()
	r.Coefficients, r.Also = make([]float64, m.Features), &Tested{passed}
	if passed {
		for j, v := range m.deep(boxes, draw, src) {
			r.Coefficients[j] = float64(v) * latticeStep
		}
		floats.Scale(m.LabelBound/m.RowNorm, r.Coefficients)
	}
	r.NoiseScale = math.Sqrt2 * math.Exp(-0.5/m.TestScale) / -math.Expm1(-1/m.TestScale) // √(2q)/(1 − q), q = e^(−1/b)
	return r, nil
}

// deal returns the places of the records of each part, each record's part being drawn by itself.
func (m TukeyEM) deal(n int, draw *exact.Sampler) [][]int {
	parts := make([][]int, m.Models)
	for i := range n {
		p := draw.Below(m.Models)
		parts[p] = append(parts[p], i)
	}
	return parts
}

// models returns, for each coordinate in rising order, those of the fits of the parts on the lattice. What a part's fit
// is depends on its records alone; without records it is 0.
func (m TukeyEM) models(rows matrix.Rows, labels []float64, parts [][]int, workers int) [][]int64 {
	d := m.Features
	at := make([][]int64, d)
	for j := range at {
		at[j] = make([]int64, len(parts))
	}
	fit := func(_, p int) error {
		gram, cross, x := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil), make([]float64, d)
		for _, i := range parts[p] {
			rows.Row(x, i)
			for j := range x {
				x[j] /= m.RowNorm
			}
			v := mat.NewVecDense(d, x)
			gram.SymRankOne(gram, 1, v)
			cross.AddScaledVec(cross, labels[i]/m.LabelBound, v)
		}
		for j := range d { // directions without records have coefficients near 0
			gram.SetSym(j, j, gram.At(j, j)+1e-9*float64(1+len(parts[p])))
		}
		var c mat.Cholesky
		var theta mat.VecDense
		if !c.Factorize(gram) {
			return nil // rounding alone leads here: the fit is 0
		}
		_ = c.SolveVecTo(&theta, cross) // all it can say is that digits are lost
		for j := range d {
			v := theta.AtVec(j) / latticeStep
			if math.IsNaN(v) {
				v = 0
			}
			at[j][p] = int64(math.Round(math.Max(-latticeHalf, math.Min(latticeHalf, v))))
		}
		return nil
	}
	if err := parallel.For(context.Background(), len(parts), workers, fit); err != nil {
		panic(err) // no task fails
	}
	for j := range at {
		slices.Sort(at[j])
	}
	return at
}

// box is A_i, from its ends in each coordinate, and how many lattice points it has.
type box struct {
	from, to []int64
	volume   *big.Int
}

// boxes returns A_1 … A_⌊(m+1)/2⌋: deeper points count as of that depth.
func (m TukeyEM) boxes(at [][]int64) []box {
	k := len(at[0])
	all := make([]box, 0, (k+1)/2)
	for i := range (k + 1) / 2 {
		b := box{make([]int64, len(at)), make([]int64, len(at)), big.NewInt(1)}
		var side big.Int
		for j, sorted := range at {
			b.from[j], b.to[j] = sorted[i], sorted[k-1-i]
			b.volume.Mul(b.volume, side.SetInt64(b.to[j]-b.from[j]+1))
		}
		all = append(all, b)
	}
	return all
}

// shallowest returns t.
func (m TukeyEM) shallowest() int { return (m.Models + 3) / 4 }

// weight returns e^{x}·(1 ± 1e-9) as mantissa·2^exponent, for |x| up to 2¹⁷.
func weight(x float64) (mantissa *big.Int, exponent int) {
	whole := math.Floor(x / math.Ln2)
	f := math.Ldexp(math.Exp(math.FMA(-whole, math.Ln2, x)), 60)
	mantissa, _ = new(big.Float).SetFloat64(f).Int(nil)
	return mantissa, int(whole) - 60
}

// distance returns κ = max{k ≥ 0: V_{t−k} ≤ δe^{ηg/2}·V_{t+g+k} for some g ≥ 1}, −1 if there is none. V_i is the number
// of points of A_i. It is computed in integers, with constants that are public.
func (m TukeyEM) distance(boxes []box) int64 {
	t := m.shallowest()
	safe := func(k int) bool {
		for g := len(boxes) - t - k; g >= 1; g-- {
			c, e := weight(math.Log(m.Delta)*(1+1e-9) + 0.5*m.Eta*float64(g)*(1-1e-12) - 1e-7)
			small, large := new(big.Int).Set(boxes[t-k-1].volume), new(big.Int).Mul(c, boxes[t+g+k-1].volume)
			if e < 0 {
				small.Lsh(small, uint(-e))
			} else {
				large.Lsh(large, uint(e))
			}
			if small.Cmp(large) <= 0 {
				return true
			}
		}
		return false
	}
	lo, hi := -1, t-1 // safe at lo, or it is −1; the largest k that is safe is at most hi
	for lo < hi {
		if mid := (lo + hi + 1) / 2; safe(mid) {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return int64(lo)
}

// deep draws a point of A_t with a probability proportional to e^{η·depth/2}: first the depth, then the first
// coordinate that is not deeper, then all coordinates.
func (m TukeyEM) deep(boxes []box, draw *exact.Sampler, src noise.Source) []int64 {
	t, deepest := m.shallowest(), len(boxes)
	weights := make([]*big.Int, 0, deepest-t+1)
	_, least := weight(0)
	for i := t; i <= deepest; i++ {
		shell := new(big.Int).Set(boxes[i-1].volume)
		if i < deepest {
			shell.Sub(shell, boxes[i].volume)
		}
		c, e := weight(0.5 * m.Eta * float64(i-t))
		weights = append(weights, shell.Lsh(shell.Mul(shell, c), uint(e-least)))
	}
	i := t + choose(weights, src)
	outer := boxes[i-1]
	point := make([]int64, m.Features)
	uniform := func(from, to int64) int64 { return from + int64(draw.Below(int(to-from+1))) }
	if i == deepest {
		for j := range point {
			point[j] = uniform(outer.from[j], outer.to[j])
		}
		return point
	}
	// Points of A_i outside A_{i+1}, by the first coordinate j outside: before it inside, after it anywhere.
	inner := boxes[i]
	length := func(b box, j int) *big.Int { return big.NewInt(b.to[j] - b.from[j] + 1) }
	before, after := big.NewInt(1), new(big.Int).Set(outer.volume)
	first := make([]*big.Int, m.Features)
	for j := range first {
		after.Quo(after, length(outer, j))
		first[j] = new(big.Int).Sub(length(outer, j), length(inner, j))
		first[j].Mul(first[j], before).Mul(first[j], after)
		before.Mul(before, length(inner, j))
	}
	at := choose(first, src)
	for j := range point {
		switch {
		case j < at:
			point[j] = uniform(inner.from[j], inner.to[j])
		case j > at:
			point[j] = uniform(outer.from[j], outer.to[j])
		default: // left or right of the inner box
			left := inner.from[j] - outer.from[j]
			k := int64(draw.Below(int(left + outer.to[j] - inner.to[j])))
			if point[j] = outer.from[j] + k; k >= left {
				point[j] = inner.to[j] + 1 + k - left
			}
		}
	}
	return point
}

// choose returns i with a probability of exactly weights[i] over their sum, which is positive.
func choose(weights []*big.Int, src noise.Source) int {
	total := new(big.Int)
	for _, w := range weights {
		total.Add(total, w)
	}
	words := (total.BitLen() + 63) / 64
	spare := uint(64*words - total.BitLen())
	for {
		u, word := new(big.Int), new(big.Int)
		for range words {
			u.Or(u.Lsh(u, 64), word.SetUint64(src.Uint64()))
		}
		if u.Rsh(u, spare); u.Cmp(total) >= 0 {
			continue
		}
		for i, w := range weights {
			if u.Cmp(w) < 0 {
				return i
			}
			u.Sub(u, w)
		}
	}
}
