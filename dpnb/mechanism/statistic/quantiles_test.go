package statistic

import (
	"math"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// draws returns n numbers of a law.
func draws(law string, n int, src *noise.Seeded) []float64 {
	x := make([]float64, n)
	for i := range x {
		switch z := src.NormFloat64(); law {
		case "normal":
			x[i] = z
		case "lognormal":
			x[i] = math.Exp(z)
		case "heaps":
			x[i] = math.Round(3 * z)
			if src.IntN(2) == 0 {
				x[i] = 1
			}
		}
	}
	return x
}

// quantile returns the q-quantile of sorted x.
func quantile(x []float64, q float64) float64 {
	return x[max(0, min(len(x)-1, int(math.Ceil(q*float64(len(x))))-1))]
}

func released(m Quantiles, x []float64, src noise.Source) []float64 {
	tally := m.Tally()
	tally.Add([][]float64{x})
	return tally.Release(src)
}

// A release costs η for each round, and η/4 for the gaps and for the count.
func TestEveryRoundOfQuantilesIsPaidFor(t *testing.T) {
	for n, rounds := range map[int]float64{1: 1, 2: 2, 3: 2, 4: 3, 7: 3, 8: 4} {
		m := Quantiles{Of: Number{0, 1}, Eta: 0.5}
		for i := range n {
			m.Levels = append(m.Levels, float64(i+1)/float64(n+1))
		}
		e := must.Get(m.Event())
		p := must.Get(e.Profile(privacy.AddRemove))
		eps := 0.5 * (rounds + 0.25 + 0.25)
		// An exponential mechanism of range r has the μ of r/2-DP, which is about √(π/2)·r/2 for small ε.
		mu := math.Sqrt(0.5 * math.Pi * (rounds*0.25*0.25 + 0.0625*0.0625 + 0.125*0.125))
		if privacy.DeltaUpper(p, eps*(1+1e-12)) > 0 || privacy.DeltaUpper(p, eps*(1-1e-12)) == 0 ||
			!(math.Abs(e.(privacy.BoundedRange).Mu()/mu-1) <= 2e-3) {
			t.Errorf("%d levels: δ(%g) = %g, μ = %g, want %g", n, eps, privacy.DeltaUpper(p, eps),
				e.(privacy.BoundedRange).Mu(), mu)
		}
	}
}

// What is calibrated without a δ costs the ε that was asked for, and no more; levels that are none are refused.
func TestCalibratedQuantiles(t *testing.T) {
	m := Quantiles{Of: Number{0, 1}, Levels: []float64{0.25, 0.5, 0.75}}
	for _, eps := range []float64{0.1, 2} {
		got := must.Get(CalibrateQuantiles(m, eps, 0, false))
		e := must.Get(got.Event())
		p, err := e.Profile(privacy.AddRemove)
		if err != nil || privacy.DeltaUpper(p, eps) > 0 || privacy.DeltaUpper(p, eps*(1-1e-9)) == 0 {
			t.Errorf("ε = %g: δ = %g (%v)", eps, privacy.DeltaUpper(p, eps), err)
		}
	}
	many := make([]float64, mostLevels+1)
	for i := range many {
		many[i] = float64(i+1) / float64(mostLevels+2)
	}
	for name, levels := range map[string][]float64{"none": nil, "too many": many, "falling": {0.5, 0.4}, "0": {0},
		"1": {1}, "no number": {math.NaN()}, "too near": {0.5, 0.5 + 1e-7}} {
		if m.Levels, m.Eta = levels, 1; m.Validate() == nil {
			t.Errorf("levels are accepted: %s", name)
		}
	}
	if m.Levels = many[:mostLevels]; m.Validate() != nil {
		t.Errorf("%d levels: %v", mostLevels, m.Validate())
	}
}

// Quantiles are near those of the records, also where half of these are equal.
func TestQuantilesAreNear(t *testing.T) {
	for law, b := range map[string]Number{"normal": {-10, 10}, "lognormal": {0, 100}, "heaps": {-20, 20}} {
		for _, n := range []int{1000, 100_000} {
			m := must.Get(CalibrateQuantiles(Quantiles{Of: b, Levels: []float64{0.25, 0.5, 0.75}}, 1, 1e-5, false))
			src := noise.NewSeeded(7)
			x := draws(law, n, src)
			out := released(m, x, src)
			slices.Sort(x)
			for i, q := range m.Levels {
				got := out[2+2*i]
				// As many records off as the noise of all rounds moves it: 15/η.
				low, high := quantile(x, q-15/m.Eta/float64(n)), quantile(x, q+15/m.Eta/float64(n))
				if !(got > low-1e-4 && got < high+1e-4) {
					t.Errorf("%s, n = %d: the %g-quantile is %v, not in [%v, %v]", law, n, q, got, low, high)
				}
			}
			if !slices.IsSorted(out[1:]) {
				t.Errorf("%s: %v", law, out)
			}
		}
	}
}

// logs returns the logarithm of the probability of each point of a node, by its weights.
func (n *node) logs() map[int64]float64 {
	all, total := map[int64]float64{}, 0.0
	for _, s := range n.segments {
		for j := range s.to - s.from {
			w := n.weight(s.distance(j))
			all[s.from+j] = math.Ldexp(float64(w.hi), 64) + float64(w.lo)
			at := (s.from + j) / points
			all[s.from+j] *= float64(1 + n.round.more(at, at+1))
			total += all[s.from+j]
		}
	}
	for j, w := range all {
		all[j] = math.Log(w / total)
	}
	return all
}

// worstRange is the largest difference of log-ratios over neighbours, by the law of a node on few points: records at
// cells of it, η as the node is told.
func worstRange(told float64, trials int) (worst float64) {
	src := noise.NewSeeded(3)
	for range trials {
		var a, b sketch
		first := src.IntN(cells - 4)
		for range src.IntN(7) {
			key := uint32(first + src.IntN(4))
			a.add(key)
			b.add(key)
		}
		b.add(uint32(first + src.IntN(4)))
		lo := int64(first)*points + int64(src.IntN(points))
		hi := lo + 1 + int64(src.IntN(3*points))
		q := []float64{0.5, 0.25, 0.9, 0.03, src.Float64()*0.98 + 0.01}[src.IntN(5)]
		ra, rb := a.ranks(), b.ranks()
		round := roundNumbers{cell: []int64{int64(first), int64(first) + 2}, before: []uint64{0, 3, 5}}
		la, lb := ra.node(&round, lo, hi, q, told).logs(), rb.node(&round, lo, hi, q, told).logs()
		least, most := math.Inf(1), math.Inf(-1)
		for j, v := range la {
			least, most = math.Min(least, v-lb[j]), math.Max(most, v-lb[j])
		}
		worst = math.Max(worst, most-least)
	}
	return worst
}

// The range of a round is at most η, and is nearly reached: one that is a tenth larger would be seen.
func TestRangeOfANode(t *testing.T) {
	trials := 150
	if testscale.Full() {
		trials = 1500
	}
	const eta = 0.7
	if got := worstRange(eta, trials); got > eta || got < 0.95*eta {
		t.Errorf("η = %v, and log-ratios differ by %v", eta, got)
	}
	if got := worstRange(1.1*eta, trials); got <= eta {
		t.Errorf("log-ratios that are a tenth larger are not seen: %v", got)
	}
}

// A segment weighs what its points do, one by one, wherever it begins and ends; where two cuts are at one point, there
// is one.
func TestSegmentsWeighWhatTheirPointsDo(t *testing.T) {
	src := noise.NewSeeded(8)
	for trial := range 60 {
		var s sketch
		for range src.IntN(5) {
			s.add(uint32(10 + src.IntN(6)))
		}
		round := roundNumbers{cell: []int64{9, 10, 12, 13, 15}, before: []uint64{0, 2, 5, 9, 14, 15}}
		lo := 8*points + int64(src.IntN(5*points))
		if trial%4 > 0 { // at the first point of a cell, the next one, or the last
			lo = lo/points*points + []int64{0, 1, points - 1}[trial%4-1]
		}
		hi := lo + int64(src.IntN([]int{1, 40, 4 * points}[trial%3]))
		r := s.ranks()
		n := r.node(&round, lo, hi, 0.4, 0.5)
		var mass uint128
		at := lo
		for i, seg := range n.segments {
			var base uint64
			for j := seg.from; j < seg.to; j++ {
				base += 1 + round.more(j/points, j/points+1)
			}
			if mass = mass.plus(seg.most.times(base)); seg.from != at || n.base(seg) != base || n.mass[i] != mass {
				t.Errorf("[%d, %d): segment %d of %+v weighs %v up to it, want %v", lo, hi, i, seg, n.mass[i], mass)
			}
			at = seg.to
		}
		if at != max(hi, lo+1) {
			t.Errorf("[%d, %d) ends at %d", lo, hi, at)
		}
		if x := n.draw(noise.Exact(src), src); x < lo || x >= max(hi, lo+1) {
			t.Errorf("[%d, %d): %d is drawn", lo, hi, x)
		}
	}
}

// A point weighs ⌊2⁹²e^{−κd}⌋, 64 bits of it here, and from κd = 38 on no less.
func TestWeightsOfDistances(t *testing.T) {
	n := node{kappa: 0.5}
	for _, d := range []float64{0, 1, 2 * math.Ln2, 60, 75.9, 76, 77, 1e9, math.Inf(1)} {
		got, want := n.weight(d), math.Exp(-math.Min(0.5*d, 38))*0x1p92
		if w := float64(got.hi)*0x1p64 + float64(got.lo); !(math.Abs(w/want-1) <= 1e-10) {
			t.Errorf("at distance %v: %v, want %v", d, w, want)
		}
	}
}

// Multiples are counted while all of them are whole numbers that a count takes; others have no rounder ones.
func TestRoundNumbersFarOut(t *testing.T) {
	for _, c := range []struct {
		of   Number
		want int
	}{{Number{1<<40 - 1000, 1<<40 - 1}, 1000}, {Number{1<<40 - 1000, 1 << 40}, 0}, {Number{-1 << 40, 1000 - 1<<40}, 0},
		{Number{1 - 1<<40, 1000 - 1<<40}, 1000}, {Number{1 << 40, 1<<40 + 1000}, 0}} {
		m := Quantiles{Of: c.of}
		if r := m.roundNumbers(); len(r.cell) != c.want {
			t.Errorf("%v: %d round numbers, want %d", c.of, len(r.cell), c.want)
		}
	}
}

// What is drawn has the law of the weights, in heaps too.
func TestDrawsHaveTheLawOfTheWeights(t *testing.T) {
	var s sketch
	for range 40 {
		s.add(10)
	}
	s.add(11)
	s.add(13)
	r := s.ranks()
	round := roundNumbers{cell: []int64{8, 9, 10, 12, 14, 15}, before: []uint64{0, 2, 5, 9, 14, 15, 20}}
	n := r.node(&round, 8*points+300, 15*points+100, 0.6, 0.5)
	want := map[int64]float64{}
	for j, l := range n.logs() {
		want[j/128] += math.Exp(l)
	}
	src := noise.NewSeeded(5)
	draw := noise.Exact(src)
	const draws = 20_000
	got := map[int64]float64{}
	for range draws {
		got[n.draw(draw, src)/128]++
	}
	square, cellsSeen := 0.0, 0
	for j, p := range want {
		square += math.Pow(got[j]-draws*p, 2) / (draws * p)
		cellsSeen++
	}
	if z := (square - float64(cellsSeen-1)) / math.Sqrt(2*float64(cellsSeen-1)); !(math.Abs(z) <= 5) {
		t.Errorf("χ² of %d cells is %.1f standard deviations off", cellsSeen, z)
	}
}

func BenchmarkQuantiles(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		x := draws("lognormal", n, noise.NewSeeded(1))
		m, _ := CalibrateQuantiles(Quantiles{Of: Number{0, 100}, Levels: []float64{0.25, 0.5, 0.75}}, 1, 1e-5, false)
		b.Run(map[int]string{1000: "1e3", 100_000: "1e5"}[n], func(b *testing.B) {
			for b.Loop() {
				released(m, x, noise.NewSecure())
			}
		})
	}
}

// Intervals cover what they are for, of smooth laws, in 95 of 100 cases or nearly, and are not so wide that they say
// nothing.
func TestIntervalsOfQuantilesCover(t *testing.T) {
	testscale.Slow(t)
	const trials = 40
	datasets := 3
	if testscale.Full() {
		datasets = 60
	}
	for law, b := range map[string]Number{"normal": {-10, 10}, "lognormal": {0, 100}} {
		for _, levels := range [][]float64{{0.5}, {0.25, 0.5, 0.75}} {
			for _, n := range []int{1000, 20_000} {
				m := must.Get(CalibrateQuantiles(Quantiles{Of: b, Levels: levels}, 1, 1e-6, false))
				covered, all := 0, 0
				var off, width float64
				for d := range datasets {
					src := noise.NewSeeded(uint64(d))
					x := draws(law, n, src)
					tally := m.Tally().(*quantilesTally)
					tally.Add([][]float64{x})
					slices.Sort(x)
					for range trials {
						e := m.Estimates((&quantilesTally{m, tally.sketch}).Release(src), 0.95, false)[len(levels)/2]
						want := quantile(x, 0.5)
						if e.Lower <= want && want <= e.Upper {
							covered++
						}
						all++
						off += math.Abs(e.Value - want)
						width += (e.Upper - e.Lower) / 2
					}
				}
				share := float64(covered) / float64(all)
				t.Logf("%s, n = %d, %v: covers %.3f, %.1f mean errors wide", law, n, levels, share, width/off)
				if share < 0.92 || width > 9*off {
					t.Errorf("%s, n = %d, %v: covers %.3f, %.1f mean errors wide", law, n, levels, share, width/off)
				}
			}
		}
	}
}

// Mirrored releases have mirrored intervals, also where so few records are beyond a level that the noise may pass over
// them all: these reach to the bound.
func TestIntervalsOfQuantilesAreEven(t *testing.T) {
	m := must.Get(CalibrateQuantiles(Quantiles{Of: Number{-10, 10}, Levels: []float64{0.03, 0.97}}, 1, 0, false))
	for _, n := range []float64{100, 1000, 1e6} {
		e := m.Estimates([]float64{n, -2.71, -1.92, 0, 1.92, 2.71}, 0.95, false)
		low, high := e[0], e[1]
		if !(math.Abs(low.Lower+high.Upper) <= 0.01) || !(math.Abs(low.Upper+high.Lower) <= 0.01) ||
			(low.Lower == -10) != (n < 1e6) {
			t.Errorf("%v records: %v and %v", n, low, high)
		}
	}
	// So have those that go past what was released, through a gap of fewer records than there are within.
	median := Quantiles{Of: Number{-10, 10}, Levels: []float64{0.5}, Eta: 0.2}
	for _, n := range []float64{100, 140, 200, 300} {
		if e := median.Estimates([]float64{n, -0.1, 0, 0.1}, 0.95, true)[0]; !(math.Abs(e.Lower+e.Upper) <= 1e-6) {
			t.Errorf("%v records: %v", n, e)
		}
	}
	// A round number may be in the place of others; one beside it has the interval of any other.
	width := func(x float64) float64 {
		e := m.Estimates([]float64{1e5, -2.71, x, 0, 1.92, 2.71}, 0.95, false)[0]
		return e.Upper - e.Lower
	}
	const cell = 20. / (cells - 1)
	if at, beside, far := width(-2), width(-2-cell), width(-2-5*cell); !(math.Abs(beside-far) <= 1e-3) ||
		!(at > beside+0.01) {
		t.Errorf("a round number has an interval of %v, one beside it %v, another %v", at, beside, far)
	}
	// In another unit, in which the same numbers are round, intervals are the same.
	thousands := m
	thousands.Of = Number{-10_000, 10_000}
	one := m.Estimates([]float64{1e5, -2.71, -2, 0, 1.92, 2.71}, 0.95, false)
	for i, e := range thousands.Estimates([]float64{1e5, -2710, -2000, 0, 1920, 2710}, 0.95, false) {
		if w := one[i]; !(math.Abs(e.Lower/1000-w.Lower) <= 1e-3) || !(math.Abs(e.Upper/1000-w.Upper) <= 1e-3) {
			t.Errorf("in thousands %v, else %v", e, w)
		}
	}
}

// The interval of a mean covers it with exactly the stated confidence, however few records there are: one that is a
// tenth narrower would be seen.
func TestIntervalsOfMeansCover(t *testing.T) {
	trials, laws := 3000, []Law{Gaussian} // the tails of Laplace noise are slow
	if testscale.Full() {
		trials, laws = 12_000, []Law{Gaussian, Laplace}
	}
	b := Number{-1, 3}
	for _, law := range laws {
		for _, n := range []int{1, 1000} {
			m := must.Get(CalibrateSums(Means{Of: []Number{b}, For: law}, law, 0.5, 1e-6))
			src := noise.NewSeeded(uint64(n))
			x := make([]float64, n)
			for i := range x {
				x[i] = 2
			}
			covered, narrower := 0, 0
			for range trials {
				tally := m.Tally()
				tally.Add([][]float64{x})
				out := tally.Release(src)
				means := m.Of.(Means)
				if e := means.Estimates(m.Scale, out, 0.95, false)[0]; e.Lower <= 2 && 2 <= e.Upper {
					covered++
				}
				if e := means.Estimates(0.9*m.Scale, out, 0.95, false)[0]; e.Lower <= 2 && 2 <= e.Upper {
					narrower++
				}
			}
			// Four standard errors; where few records are, the bounds cut the set and cover more.
			se := 4 * math.Sqrt(0.05*0.95/float64(trials))
			share, less := float64(covered)/float64(trials), float64(narrower)/float64(trials)
			if share < 0.95-se || n == 1000 && share > 0.95+se {
				t.Errorf("law %d, n = %d: covers %.4f", law, n, share)
			}
			if n == 1000 && less > 0.95-se {
				t.Errorf("law %d: a tenth less covers %.4f and is not seen", law, less)
			}
		}
	}
}

// What the noise of sum − m·count exceeds by chance is where its tail has that probability, for either law.
func TestNoiseOfARatio(t *testing.T) {
	for _, m := range []float64{-0.9, 0, 0.4} {
		for _, miss := range []float64{0.3, 0.05, 1e-6} {
			at := ratio{laplace: 2}.noise(m, miss)
			if got := laplaceTail(2*(1-m), 2*(1+m), at); !(math.Abs(got/miss-1) <= 1e-6) {
				t.Errorf("m = %g: beyond %g with probability %g, want %g", m, at, got, miss)
			}
			at = ratio{sumDeviation: 2, countDeviation: 3}.noise(m, miss)
			if got := math.Erfc(at / math.Hypot(2, 3*m) / math.Sqrt2); !(math.Abs(got/miss-1) <= 1e-6) {
				t.Errorf("m = %g: beyond %g with probability %g, want %g", m, at, got, miss)
			}
			// With what chance does to so many records, and to three deviations of their noise more.
			q := ratio{sumDeviation: 2, countDeviation: 3, count: 100, confidence: 1 - miss, sampling: true}
			at = q.within(m)
			if got := math.Erfc(at / math.Sqrt(4+9*m*m+109*(1-m*m)) / math.Sqrt2); !(math.Abs(got/miss-1) <= 1e-6) {
				t.Errorf("m = %g, of a sample: beyond %g with probability %g, want %g", m, at, got, miss)
			}
		}
	}
}

// What is promised of intervals before is what intervals are, of records that are spread evenly.
func TestHalfWidths(t *testing.T) {
	testscale.Slow(t)
	const n, trials = 4000, 60
	for _, c := range []struct {
		levels []float64
		eta    float64
	}{{[]float64{0.5}, 0.05}, {[]float64{0.25, 0.5, 0.75}, 0.2}, {[]float64{0.25, 0.5, 0.75}, 0.01}} {
		m := Quantiles{Of: Number{0, math.Pi}, Levels: c.levels, Eta: c.eta}
		tally, x := m.Tally().(*quantilesTally), make([]float64, n)
		for i := range x {
			x[i] = math.Pi * (float64(i) + 0.5) / n
		}
		tally.Add([][]float64{x})
		got, src := make([]float64, len(c.levels)), noise.NewSeeded(5)
		for range trials {
			for i, e := range m.Estimates((&quantilesTally{m, tally.sketch}).Release(src), 0.95, false) {
				got[i] += (e.Upper - e.Lower) / 2 / math.Pi / trials
			}
		}
		want := m.HalfWidths(0.95, n, false)
		for i := range got {
			if !(got[i] >= 0.9*want[i] && got[i] <= 1.3*want[i]) { // round numbers make them wider
				t.Errorf("η = %g, level %g: ± %.4f, promised %.4f", c.eta, c.levels[i], got[i], want[i])
			}
		}
	}
}
