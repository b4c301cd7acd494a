package statistic

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func selection(t *testing.T, c SelectionConfig) Selection {
	t.Helper()
	return must.Get(c.Calibrate())
}

// cutLaw is the law of what is shown of a key that n people have: nothing (first), or n + x.
func cutLaw(m Selection, n int) []float64 {
	q, most := math.Exp(-1/m.Scale), int(m.Threshold)
	var all float64
	for x := -most; x <= most; x++ {
		all += math.Pow(q, math.Abs(float64(x)))
	}
	law := make([]float64, 4*most+100)
	for x := -most; x <= most; x++ {
		p := math.Pow(q, math.Abs(float64(x))) / all
		if n == 0 || n+x <= most {
			law[0] += p
		} else {
			law[n+x] += p
		}
	}
	return law
}

// What is shown of n and of n + 1 people, written out, keeps to (ε, δ), in both directions, meets δ for some n, and
// with a threshold that is less by one does not keep to it.
func TestGeometricSelectionIsExact(t *testing.T) {
	for _, c := range []SelectionConfig{{Keys: 1, Epsilon: 1, Delta: 1e-5}, {Keys: 1, Epsilon: 0.3, Delta: 1e-3}} {
		m := selection(t, c)
		if m.Scale == 0 {
			t.Fatalf("%+v: the noise is normal", c)
		}
		event, _ := m.Event()
		profile, _ := event.Profile(privacy.AddRemove)
		claim := privacy.DeltaUpper(profile, c.Epsilon)
		if !(claim <= c.Delta) {
			t.Errorf("%+v: δ = %v is claimed", c, claim)
		}
		worst := func(m Selection) (most float64) {
			for n := range 3 * int(m.Threshold) {
				a, b := cutLaw(m, n), cutLaw(m, n+1)
				most = math.Max(most, math.Max(divergence(a, b, c.Epsilon), divergence(b, a, c.Epsilon)))
			}
			return most
		}
		if w := worst(m); w > claim*(1+1e-9) || w < claim*(1-1e-9) {
			t.Errorf("%+v: δ = %v, claimed is %v", c, w, claim)
		}
		m.Threshold--
		if w := worst(m); w <= c.Delta {
			t.Errorf("%+v: a lower threshold would do", c)
		}
	}
}

// The losses of k keys, 1/b each, are ε or less together, as real numbers.
func TestGeometricNoiseIsRoundedUp(t *testing.T) {
	for keys := 1; keys < 60; keys++ {
		for _, eps := range []float64{0.1, 0.3, 1, 2.7} {
			times := new(big.Float).SetPrec(200).SetFloat64(geometricSelection(keys, eps, 1e-6).Scale)
			if times.Mul(times, big.NewFloat(eps)).Cmp(big.NewFloat(float64(keys))) < 0 {
				t.Errorf("%d keys, ε = %v: ε·b = %v", keys, eps, times)
			}
		}
	}
}

// Several keys of a person that others have, too, cost what they show together: a count that a neighbour has one more
// of has a loss of 1/b with the probability 1/(1 + q), and that many times of so many keys.
func TestSeveralKeysCostTogether(t *testing.T) {
	for _, keys := range []int{1, 2, 3, 10} {
		const b = 2.0
		e := must.Get(Selection{Keys: keys, Scale: b, Threshold: 100}.Event())
		p := must.Get(e.Profile(privacy.AddRemove))
		all := math.Pow(1+math.Exp(-1/b), -float64(keys)) // that every key has the largest loss
		for _, eps := range []float64{0, 0.5, 0.9, 0.99} {
			eps *= float64(keys) / b
			if got, least := privacy.DeltaUpper(p, eps), all*-math.Expm1(eps-float64(keys)/b); got < least {
				t.Errorf("%d keys: δ(%v) = %v, and %v is lost", keys, eps, got, least)
			}
		}
		// Of as many that nobody else has, one is shown with the probability that δ is, whatever ε.
		m := Selection{Keys: keys, Scale: b, Threshold: 9}
		e = must.Get(m.Event())
		p = must.Get(e.Profile(privacy.AddRemove))
		shown := -math.Expm1(float64(keys) * math.Log(cutLaw(m, 1)[0]))
		if got := privacy.DeltaUpper(p, 100); !(got >= shown*(1-1e-12) && got <= shown*(1+1e-9)) {
			t.Errorf("%d keys: δ = %v, and one is shown with probability %v", keys, got, shown)
		}
	}
}

// The probability to be shown is the largest that (ε, δ) allows, δ being what the whole number T attains: p₀ = 0 and
// pₙ₊₁ = min(e^ε pₙ + δ, 1 − e^{−ε}(1 − pₙ − δ), 1), Theorem 1 of the paper.
func TestGeometricSelectionIsOptimal(t *testing.T) {
	const eps = 0.5
	m := selection(t, SelectionConfig{Keys: 1, Epsilon: eps, Delta: 1e-4})
	delta, p := math.Exp(m.logEdge()), 0.0
	for n := range 3 * int(m.Threshold) {
		if shown := 1 - cutLaw(m, n)[0]; !(math.Abs(shown-p) <= 1e-11) {
			t.Fatalf("%d people: shown with probability %v, %v is possible", n, shown, p)
		}
		p = math.Min(1, math.Min(math.Exp(eps)*p+delta, 1-math.Exp(-eps)*(1-p-delta)))
	}
}

// Two keys, one of a person alone, one of many: the exact laws of what is shown, the second a normal variate on a fine
// grid, keep to the profile in both directions, and meet it where that split is the worst. A threshold that is lower by
// a tenth does not keep to it.
func TestNormalSelectionProfile(t *testing.T) {
	m := selection(t, SelectionConfig{Keys: 2, Epsilon: 1, Delta: 1e-3, Normal: true})
	laws := func(m Selection, own, shared int) (with, without []float64) {
		tau := normal.Survival((m.Threshold - 1) / m.Sigma)
		ofOwn, none := []float64{math.Pow(1-tau, float64(own)), 1 - math.Pow(1-tau, float64(own))}, []float64{1, 0}
		shift := math.Sqrt(float64(shared))
		for x := -12 * m.Sigma; x < 12*m.Sigma; x += m.Sigma / 200 {
			p := normal.Mass((x-shift)/m.Sigma, (x+m.Sigma/200-shift)/m.Sigma)
			q := normal.Mass(x/m.Sigma, (x+m.Sigma/200)/m.Sigma)
			for i := range ofOwn {
				with, without = append(with, p*ofOwn[i]), append(without, q*none[i])
			}
		}
		return with, without
	}
	worst := func(m Selection, d privacy.Direction, eps float64) (most float64) {
		for own := range 3 {
			with, without := laws(m, own, 2-own)
			if d == privacy.Add {
				with, without = without, with
			}
			most = math.Max(most, divergence(with, without, eps))
		}
		return most
	}
	lower := m
	lower.Threshold *= 0.9
	shows := m // a key of one person, in three of ten cases
	shows.Threshold = 1 + 0.5*m.Sigma
	for _, m := range []Selection{m, shows} {
		for _, d := range privacy.Directions {
			for _, eps := range []float64{-0.5, 0, 0.5, 1, 1.5} {
				claim, exact := math.Exp(m.profile().LogDeltaUpper(d, eps)), worst(m, d, eps)
				if exact > claim*(1+1e-9) || exact < claim*(1-1e-3) {
					t.Errorf("%v, %v, ε = %v: δ = %v, claimed is %v", m, d, eps, exact, claim)
				}
			}
		}
	}
	if w := worst(lower, privacy.Remove, 1); w < 1.05*1e-3 {
		t.Errorf("with a threshold that is lower by a tenth δ = %v", w)
	}
}

// A key of one person is shown as often as τ says, to five standard errors, 7 % of it; one of nobody never.
func TestKeysOfOnePerson(t *testing.T) {
	const n = 100_000
	for _, m := range []Selection{
		selection(t, SelectionConfig{Keys: 1, Epsilon: 2, Delta: 0.05}),
		selection(t, SelectionConfig{Keys: 1, Epsilon: 2, Delta: 0.05, Normal: true}),
	} {
		counts := make([]int64, n)
		for i := range counts {
			counts[i] = int64(i % 2)
		}
		r := must.Get(m.Release(counts, noise.NewSeeded(3)))
		s := r.Also.(*Selected)
		tau := math.Exp(normal.LogSurvival((m.Threshold - 1) / m.Sigma))
		if m.Scale > 0 {
			tau = math.Exp(m.logEdge())
		}
		got := float64(len(s.Places)) / (n / 2)
		if z := (got - tau) / math.Sqrt(tau*(1-tau)/(n/2)); !(math.Abs(z) <= 5) {
			t.Errorf("%v: shown in %.5f, want %.5f (z = %.1f)", m, got, tau, z)
		}
		for i, at := range s.Places {
			if counts[at] == 0 || s.Counts[i] <= m.Threshold || i > 0 && at <= s.Places[i-1] {
				t.Fatalf("%v: shows key %d, of %d people, with %v", m, at, counts[at], s.Counts[i])
			}
		}
	}
}

// More keys a person want higher thresholds, and the law with the lower one is chosen.
func TestThresholds(t *testing.T) {
	last := 0.0
	for _, keys := range []int{1, 2, 5, 20, 100} {
		best := selection(t, SelectionConfig{Keys: keys, Epsilon: 1, Delta: 1e-5})
		gauss := selection(t, SelectionConfig{Keys: keys, Epsilon: 1, Delta: 1e-5, Normal: true})
		t.Logf("%3d keys a person: %v; %v", keys, best, gauss)
		if best.Threshold > gauss.Threshold || best.Threshold <= last {
			t.Errorf("%d keys: %v, %v, after %v", keys, best, gauss, last)
		}
		last = best.Threshold
	}
	small := selection(t, SelectionConfig{Keys: 3, Epsilon: 1, Delta: 1e-5, Own: 1e-7, Normal: true})
	if d := math.Exp(small.profile().LogDeltaUpper(privacy.Remove, 50)); d > 1e-7 {
		t.Errorf("keys of one person are shown with probability %v", d)
	}
}

func TestSelectionRefuses(t *testing.T) {
	for name, c := range map[string]SelectionConfig{
		"no keys": {Epsilon: 1, Delta: 1e-5}, "too many": {Keys: mostKeys + 1, Epsilon: 1, Delta: 1e-5},
		"no ε": {Keys: 1, Delta: 1e-5}, "no δ": {Keys: 1, Epsilon: 1},
		"more of its own than δ":   {Keys: 1, Epsilon: 1, Delta: 1e-5, Own: 1e-4},
		"noise beyond float64":     {Keys: 1, Epsilon: 1e-300, Delta: 1e-300, Normal: true},
		"noise beyond float64, of": {Keys: 2, Epsilon: 1e-300, Delta: 1e-300, Normal: true},
	} {
		if _, err := c.Calibrate(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	m := must.Get(SelectionConfig{Keys: 1, Epsilon: 1, Delta: 1e-5}.Calibrate())
	for key, ok := range map[float64]bool{0: true, 7: true, 1<<53 - 1: true, 1 << 53: false, -1: false, 0.5: false,
		math.NaN(): false, math.Inf(1): false} {
		if err := m.Check(matrix.NewDense(2, 1, nil), []float64{3, key}); (err == nil) != ok {
			t.Errorf("the key %v: %v", key, err)
		}
	}
}

// The threshold is the smallest whole number that suffices, found at once where δ is far more than ε.
func TestGeometricThresholdIsTheSmallest(t *testing.T) {
	for _, c := range []struct{ eps, delta float64 }{{1e-12, 1e-10}, {1e-9, 0.1}, {1e-3, 1e-6}, {1, 1e-9}, {8, 0.4}} {
		m := geometricSelection(3, c.eps, c.delta)
		want, less := math.Log(-math.Expm1(math.Log1p(-c.delta)/3)), m
		less.Threshold--
		if m.logEdge() > want || m.Threshold > 1 && less.logEdge() <= want {
			t.Errorf("ε = %g, δ = %g: T = %v", c.eps, c.delta, m.Threshold)
		}
	}
	for _, eps := range []float64{0, 5e-324, 1e-310} {
		if m := geometricSelection(3, eps, 1e-10); m.Validate() == nil {
			t.Errorf("ε = %g: %+v", eps, m)
		}
	}
}

// Keys that many have are shown by their numbers, in rising order, with about as many people as have them; those that
// few have are not. Labels that are no keys are refused.
func TestSelectionOfRecords(t *testing.T) {
	m := must.Get(SelectionConfig{Keys: 1, Epsilon: 2, Delta: 1e-6}.Calibrate())
	var labels []float64
	for key, people := range map[float64]int{3: 500, 11: 900, 4: 1, 1 << 30: 700} {
		for range people {
			labels = append(labels, key)
		}
	}
	r := must.Get(m.Run(matrix.NewDense(len(labels), 1, nil), labels, noise.NewSeeded(4), nil))
	s := r.Also.(*Selected)
	if !slices.Equal(s.Places, []int{3, 11, 1 << 30}) || !s.Simulated() {
		t.Fatalf("shown: %+v", s)
	}
	for i, want := range []float64{500, 900, 700} {
		if !(math.Abs(s.Counts[i]-want) <= 20) {
			t.Errorf("key %d has %v people, want about %v", s.Places[i], s.Counts[i], want)
		}
	}
	for _, bad := range []float64{-1, 0.5, 1 << 53, math.NaN()} {
		if m.Check(matrix.NewDense(1, 1, nil), []float64{bad}) == nil {
			t.Errorf("%v is a key", bad)
		}
	}
	if err := m.Check(matrix.NewDense(1, 1, nil), []float64{1<<53 - 1}); err != nil {
		t.Error(err)
	}
}

// With sampling a level is off by what k of n draws vary by, too: √(nq(1−q)) times the quantile, beside the noise.
func TestRanksOffWithSampling(t *testing.T) {
	m := Quantiles{Of: Number{0, 1}, Levels: []float64{0.25, 0.5}, Eta: 4}
	alone, with := m.ranksOff(0.95, 10000, false), m.ranksOff(0.95, 10000, true)
	for i, q := range m.Levels {
		own := 1.959963984540054 * math.Sqrt(10000*q*(1-q))
		if want := math.Hypot(alone[i], own); !(math.Abs(with[i]-want) <= 1e-9*want) || alone[i] <= 1 {
			t.Errorf("level %v: %v, want %v; %v without", q, with[i], want, alone[i])
		}
	}
	// Of a deviation that is large the law of Laplace is nearly all.
	m.Eta = 1e-3
	for i, s := range m.rankDeviations() {
		if beyond := math.Exp(-math.Sqrt2 / s * m.ranksOff(0.95, 0, false)[i]); beyond > 0.05 || beyond < 0.045 {
			t.Errorf("level %v: with a probability of %v it is farther off", m.Levels[i], beyond)
		}
	}
}
