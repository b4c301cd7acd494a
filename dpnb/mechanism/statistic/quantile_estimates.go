package statistic

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/noise"
)

// rankDeviations returns bounds on the standard deviations of how many records the levels are found off, where records
// are about evenly dense from one to the next: each by its own round, and by where its round begins and ends.
func (m Quantiles) rankDeviations() []float64 {
	k := len(m.Levels)
	off, kappa := make([]float64, k+2), m.kappas()
	m.inRounds(func(lo, i, hi int, q float64) {
		off[i] = math.Hypot(math.Sqrt2/kappa[i-1], (1-q)*off[lo]+q*off[hi])
	})
	return off[1 : k+1]
}

// mostOdds is the logarithm of how much wider than what a record takes up an empty range may be for Estimates to take
// it into account.
const mostOdds = 7

// kappas returns by what factor, as a logarithm, a point of each level is less likely for each record that it is
// further off.
func (m Quantiles) kappas() []float64 {
	kappa := make([]float64, len(m.Levels))
	m.inRounds(func(_, i, _ int, q float64) { kappa[i-1] = m.Eta / (2 * math.Max(q, 1-q)) })
	return kappa
}

// ranksOff returns how many records, at most, each level is found off with the given confidence; with sampling, off
// what it is for the population of which so many records are drawn. The noise of several rounds has tails that are no
// heavier than those of one, and √k is by how much k records are more or less where they lie by chance.
func (m Quantiles) ranksOff(confidence, records float64, sampling bool) []float64 {
	off := m.rankDeviations()
	for i, s := range off {
		z, q := normalQuantile(1-confidence), m.Levels[i]
		off[i] = 1 + math.Hypot(s/math.Sqrt2*math.Log(1-confidence), z*math.Sqrt(s))
		if sampling {
			off[i] = math.Hypot(off[i], z*math.Sqrt(records*q*(1-q)))
		}
	}
	return off
}

// Estimates returns the quantiles, in units of the column, from what was released, with intervals. An interval goes as
// far as the noise may have moved the quantile, in records, at the lower one of the densities that are seen to its left
// and to its right: from the level to those that were released in the gaps, and beyond these at theirs.
//
// Where fewer records are beyond a level than the noise of its round may pass over, the bound may have been found in
// its place: the interval then goes from there to the gap before it.
//
// How often intervals cover is known by simulation (docs/theory/statistics.md); where records lie in few heaps, or are
// very unevenly dense within a gap, it is less.
func (m Quantiles) Estimates(released []float64, confidence float64, sampling bool) []Estimate {
	k := len(m.Levels)
	level := m.ends()
	// The distribution function by what was released, from bound to bound.
	share, at := []float64{0}, []float64{m.Of.Lower}
	for i := range 2*k + 1 {
		q := level[(i+1)/2]
		if i%2 == 0 {
			q = 0.5 * (level[i/2] + level[i/2+1])
		}
		share, at = append(share, q), append(at, released[1+i])
	}
	share, at = append(share, 1), append(at, m.Of.Upper)
	count := math.Max(1, released[0]-2/(shareOfCount*m.Eta))
	// walk goes from place i in a direction as far as a share of the records may be.
	walk := func(i, step int, left float64) float64 {
		x := at[i]
		for j := i; j+step >= 0 && j+step < len(at) && left > 0; j += step {
			gap, width := math.Abs(share[j+step]-share[j]), math.Abs(at[j+step]-at[j])
			if part := left / gap; part < 1 {
				x += float64(step) * part * width
			} else {
				x = at[j+step]
			}
			left -= gap
		}
		return x
	}
	all := make([]Estimate, k)
	cell := 2 * m.Of.half() / (cells - 1)
	slowest, kappa, round := make([]float64, k), m.kappas(), m.roundNumbers()
	// moved is how many records a quantile was found off because it is a round number, which has more weight than the
	// points that the noise would choose among.
	moved, most := make([]float64, k), 0.0
	for i := range k {
		j := 2*i + 2 // its place among the released
		slowest[i] = math.Max((at[j]-at[j-1])/(share[j]-share[j-1]), (at[j+1]-at[j])/(share[j+1]-share[j]))
		own := int64(m.cell(at[j]))
		if more := float64(round.more(own, own+1)); more > 0 && slowest[i] > 0 {
			moved[i] = math.Max(0, math.Log(more*cell*kappa[i]*count/(2*slowest[i]))) / kappa[i]
		}
		most = math.Max(most, moved[i])
	}
	for i, ranks := range m.ranksOff(confidence, count, sampling) {
		j := 2*i + 2
		ranks += math.Max(moved[i], 0.5*(moved[i]+most))
		left, down, up := ranks/count, m.Of.Lower, m.Of.Upper
		// beyond reports whether the noise may pass over all records of a share.
		beyond := func(share float64) bool { return kappa[i]*count*share < mostOdds-math.Log(1-confidence) }
		all[i] = Estimate{Value: at[j],
			Lower: math.Max(m.Of.Lower, math.Min(walk(j, -1, left), at[j]-left*slowest[i])-cell),
			Upper: math.Min(m.Of.Upper, math.Max(walk(j, 1, left), at[j]+left*slowest[i])+cell)}
		if beyond(m.Levels[i]) {
			all[i].Lower, all[i].Upper = down, math.Max(all[i].Upper, at[j+1])
		}
		if beyond(1 - m.Levels[i]) {
			all[i].Lower, all[i].Upper = math.Min(all[i].Lower, at[j-1]), up
		}
	}
	return all
}

// imagined is how many releases HalfWidths takes the mean of.
const imagined = 32

// HalfWidths returns half the width of the interval that Estimates shows for each level, in shares of the records and
// on average over imagined releases of so many records, spread evenly between the bounds. It is several times ranksOff
// and at most ½, the width of all of the range: an interval needs the densities on either side, which have a quarter of
// the η of a level, and reaches to the bound where the noise may pass over all records beyond.
func (m Quantiles) HalfWidths(confidence, records float64, sampling bool) []float64 {
	k := len(m.Levels)
	kappa, src := m.kappas(), noise.NewSeeded(1) // the same for every η, which Price searches for
	half := make([]float64, k)
	// find draws where a level is found that is at a share of [lo, hi], as a share of all records.
	find := func(lo, hi, share, kappa float64) float64 {
		left, right := kappa*records*share*(hi-lo), kappa*records*(1-share)*(hi-lo)
		u := float64(src.Uint64()>>11) * 0x1p-53 * (math.Expm1(-left) + math.Expm1(-right))
		off := math.Log1p(u) // left of it
		if u < math.Expm1(-left) {
			off = -math.Log1p(u - math.Expm1(-left))
		}
		return math.Max(lo, math.Min(hi, lo+share*(hi-lo)+off/(kappa*records)))
	}
	cut, released := make([]float64, k+2), make([]float64, 2*k+2)
	cut[k+1], released[0] = 1, records
	even := Quantiles{Of: Number{Upper: 1}, Levels: m.Levels, Eta: m.Eta}
	for range imagined {
		m.inRounds(func(lo, i, hi int, q float64) { cut[i] = find(cut[lo], cut[hi], q, kappa[i-1]) })
		for i := range k + 1 {
			released[1+2*i] = find(cut[i], cut[i+1], 0.5, shareOfGaps*m.Eta)
			if i < k {
				released[2+2*i] = cut[i+1]
			}
		}
		for i, e := range even.Estimates(released, confidence, sampling) {
			half[i] += (e.Upper - e.Lower) / 2 / imagined
		}
	}
	return half
}
