package ours

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/ssp"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// boosting has a part of the noise in the rounds, and so many rounds of two paid for.
type boosting struct {
	part float64
	paid int
}

// boostedHolds audits releases, held against the formula with μ times a factor.
func boostedHolds(run measure.Run, by boosting, factor float64) claim.Outcome {
	const mu, rounds, n = 2.4, 2, 600
	m := ssp.Boosted{AdaSSP: ssp.AdaSSP{RowNorm: 1, LabelBound: 1, SigmaEigen: 12, SigmaGram: 12,
		SigmaCross: math.Sqrt(rounds) / mu, Failure: 0.05}, Clip: 0.5, Rounds: rounds}
	_, stated, _ := privacy.GaussianMu(measure.Must(mechanism.Profile(m)))
	formula := factor * math.Sqrt(2.0/144+float64(by.paid)/(m.SigmaCross*m.SigmaCross))
	rows, labels := matrix.NewDense(n+1, 1, slices.Repeat([]float64{1}, n+1)), make([]float64, n+1)
	labels[n] = 1
	pair := audit.Pair{Name: "600 records at 0, one more at 1", With: audit.Data{Rows: rows, Labels: labels},
		Without: audit.Data{Rows: matrix.NewDense(n, 1, rows.Data[:n]), Labels: labels[:n]}}
	off := math.Abs(stated/formula/(1+1e-5) - 1) // 10⁻⁵ is granted for rounding
	m.SigmaCross *= by.part
	c := measure.Must(audit.Mechanism(run, m, pair, &audit.Options{Draws: 24_000, Delta: 1e-5,
		Score: func(seen []float64) float64 { return seen[0] },
		Claim: privacy.GaussianProfile(formula*(1+1e-5), privacy.AddRemove)}, noise.NewSeeded(150)))
	return claim.Decide(fmt.Sprintf("μ off by %s; ε ≥ %.2f of %.2f, refuted: %v", claim.Roughly(off, 1e-6), c.Epsilon,
		c.Claimed, c.Refuted), "1e-6; not refuted, at least a quarter", !c.Refuted &&
		c.Epsilon >= 0.25*c.Claimed).As(off < 2e-6).Reaching(c.Epsilon / c.Claimed)
}

// tukeyLaw is the law of a release of one coefficient for given models, by definition.
type tukeyLaw struct {
	m      ssp.TukeyEM
	models []int64 // sorted
}

// depth of a point.
func (l tukeyLaw) depth(y int64) int {
	k := len(l.models)
	below := sort.Search(k, func(i int) bool { return l.models[i] > y })
	above := k - sort.Search(k, func(i int) bool { return l.models[i] >= y })
	return min((k+1)/2, below, above)
}

// passes returns the probability that the test is passed.
func (l tukeyLaw) passes() float64 {
	k := len(l.models)
	t, q := (k+3)/4, math.Exp(-1/l.m.TestScale)
	volume := func(i int) float64 { return math.Log(float64(l.models[k-i] - l.models[i-1] + 1)) }
	kappa := t - 1
	for ; kappa >= 0; kappa-- {
		safe := false
		for g := 1; t+g+kappa <= (k+1)/2; g++ {
			safe = safe || volume(t-kappa) <= math.Log(l.m.Delta)+0.5*l.m.Eta*float64(g)+volume(t+g+kappa)
		}
		if safe {
			break
		}
	}
	tau := 0
	for math.Pow(q, float64(tau+1))/(1+q) > l.m.Delta {
		tau++
	}
	if s := tau + 1 - kappa; s > 0 {
		return math.Pow(q, float64(s)) / (1 + q)
	}
	return 1 - math.Pow(q, float64(kappa-tau))/(1+q)
}

// of returns the probability of no draw and those of cells, each from … to.
func (l tukeyLaw) of(cells [][2]int64) []float64 {
	weights, sum := make([]float64, len(cells)), 0.0
	for i, c := range cells {
		if d := l.depth(c[0]); d >= (len(l.models)+3)/4 {
			weights[i] = float64(c[1]-c[0]+1) * math.Exp(0.5*l.m.Eta*float64(d-(len(l.models)+1)/2))
			sum += weights[i]
		}
	}
	p := l.passes()
	all := []float64{1 - p}
	for _, w := range weights {
		all = append(all, p*w/sum)
	}
	return all
}

// cellsOf returns the points at and the intervals between models, within which depths do not change.
func cellsOf(models ...[]int64) (cells [][2]int64) {
	at := slices.Concat(models...)
	slices.Sort(at)
	at = slices.Compact(at)
	for i, v := range at {
		if i > 0 && at[i-1]+1 < v {
			cells = append(cells, [2]int64{at[i-1] + 1, v - 1})
		}
		cells = append(cells, [2]int64{v, v})
	}
	return cells
}

// repeated returns models: so many at each place.
func repeated(counts ...[2]int64) (models []int64) {
	for _, c := range counts {
		models = append(models, slices.Repeat([]int64{c[0]}, int(c[1]))...)
	}
	return models
}

// largestEpsilon returns the ε at which the two laws have a hockey-stick divergence of δ.
func largestEpsilon(p, q []float64, delta float64) float64 {
	lo, _ := univariate.Bisect(func(eps float64) bool { return measure.Stick(p, q, eps) <= delta }, 0, 50,
		univariate.Arithmetic, 0)
	return lo
}

// occupied returns the probability of each number of parts that have one of j records.
func occupied(parts, j int) []float64 {
	p := make([]float64, j+1)
	p[0] = 1
	for range j {
		for r := j; r >= 0; r-- {
			p[r] *= float64(r) / float64(parts)
			if r > 0 {
				p[r] += p[r-1] * float64(parts-r+1) / float64(parts)
			}
		}
	}
	return p
}

// tukeyHolds holds the exact law against the event's ε times a factor, and releases with scale and η times others
// against the law.
func tukeyHolds(run measure.Run, times [3]float64) claim.Outcome {
	base := ssp.TukeyEM{RowNorm: 1, LabelBound: 1, Features: 1}
	var ratios []float64
	for _, c := range []struct {
		models           int
		scale, eta, beta float64
		one, other       []int64
	}{ // told apart by the test, and by the draw
		{150, 0.25, 0.2, 0.05, repeated([2]int64{0, 114}, [2]int64{1e6, 36}),
			repeated([2]int64{0, 113}, [2]int64{1e6, 37})},
		{400, 10, 4, 1e-3, repeated([2]int64{0, 198}, [2]int64{4000, 3}, [2]int64{1e6, 199}),
			repeated([2]int64{0, 199}, [2]int64{4000, 3}, [2]int64{1e6, 198})},
	} {
		m := base
		m.Models, m.TestScale, m.Eta, m.Delta = c.models, c.scale, c.eta, c.beta
		event := measure.Must(m.Event())
		cells := cellsOf(c.one, c.other)
		eps := largestEpsilon(tukeyLaw{m, c.one}.of(cells), tukeyLaw{m, c.other}.of(cells), c.beta)
		ratios = append(ratios, eps/(times[0]*event.(privacy.Approx).Epsilon))
	}
	// Records x = 1, y = 1: the models of the parts that have any are at 2²⁰ steps, the others at 0.
	const one = 1 << 20
	far := 0.0
	src := noise.NewSeeded(151)
	try := func(m ssp.TukeyEM, records, runs int, expected func(l tukeyLaw) float64,
		shown func(r *mechanism.Release) bool) {
		want := 0.0
		for r, p := range occupied(m.Models, records) {
			want += p * expected(tukeyLaw{m, repeated([2]int64{0, int64(m.Models - r)}, [2]int64{one, int64(r)})})
		}
		ones, count := slices.Repeat([]float64{1}, records), 0
		rows := matrix.NewDense(records, 1, ones)
		m.TestScale, m.Eta = times[1]*m.TestScale, times[2]*m.Eta
		for range measure.To(run, runs) {
			if shown(measure.Must(m.Run(rows, ones, src, &mechanism.Settings{Workers: 1}))) {
				count++
			}
		}
		n := float64(runs)
		far = math.Max(far, math.Abs(float64(count)-n*want)/math.Sqrt(n*want*(1-want)))
	}
	test, draw := base, base
	test.Models, test.TestScale, test.Eta, test.Delta = 16, 0.5, 9, 0.01
	draw.Models, draw.TestScale, draw.Eta, draw.Delta = 200, 0.1, 1.11, 0.5
	passed := func(r *mechanism.Release) bool { return r.Also.(*ssp.Tested).Passed }
	for _, records := range []int{1, 2} {
		try(test, records, run.Runs(12_000), tukeyLaw.passes, passed)
	}
	try(draw, 94, run.Runs(1500), func(l tukeyLaw) float64 {
		return l.of([][2]int64{{0, 0}, {1, one}})[1]
	}, func(r *mechanism.Release) bool { return passed(r) && r.Coefficients[0] == 0 })
	return claim.Decide(fmt.Sprintf("ε attained over claimed: %.3f by the test, %.3f by the draw; releases within "+
		"%.1f standard errors", ratios[0], ratios[1], far), "0.9 to 1; 4.5", slices.Max(ratios) <= 1 &&
		slices.Min(ratios) >= 0.9 && far <= 4.5)
}
