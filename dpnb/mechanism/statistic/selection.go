package statistic

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// mostKeys is how many different keys a person may have in a Selection.
const mostKeys = 1000

// Selection releases keys that nobody has listed beforehand, each with a noisy number of the people who have it, if
// that is above a threshold T. A person has at most Keys different keys, and counts once for each. A key that a single
// person has is shown with a probability that δ covers, a key that nobody has never.
//
// Normal noise N(0, σ²): a neighbour has j keys of its own alone, each shown with probability τ = Φ̄((T − 1)/σ) at
// most, and shares the others, k − j, which are a Gaussian mechanism of μⱼ = √(k − j)/σ. So with a = (1 − τ)ʲ, in the
// two directions,
//
//	δ(ε) = max_j 1 − a + a·δ_G(ε − ln a; μⱼ),  δ(ε) = max_j δ_G(ε + ln a; μⱼ).
//
// Geometric noise of scale b that is cut to [−T, T] (drawn again if beyond), q = e^{−1/b}: a key shows at most (1/b,
// δ₁) of a person, δ₁ = q^T(1 − q)/(1 + q − 2q^{T+1}), and k of them (k/b, 1 − (1 − δ₁)^k). For one key a person no
// rule that decides by the number of people alone shows more keys at that (ε, δ), if δ₁ = δ.
//
// Source: Desfontaines, Voss, Gipson, Mandayam 2022, arXiv:2006.03684, for geometric noise; Korolova, Kenthapadi,
// Mishra, Ntoulas 2009 for thresholds. The profile of normal noise is ours. Proof: docs/theory/statistics.md.
type Selection struct {
	// Keys is k.
	Keys int
	// Sigma is σ and Scale is b: one of them is positive, the other zero.
	Sigma, Scale float64
	// Threshold is T: a multiple of the grid of normal noise, a whole number for geometric.
	Threshold float64
}

// SelectionConfig asks for a Selection that satisfies (ε, δ).
type SelectionConfig struct {
	// Keys is how many different keys a person may have.
	Keys int
	// Epsilon is in (0, 1000], Delta in (0, 1).
	Epsilon, Delta float64
	// Normal asks for normal noise, which composes best with other Gaussian mechanisms; else it is that of the two
	// which has the lower threshold.
	Normal bool
	// Own is the largest probability with which keys are shown that one person alone has, at most Delta; zero leaves it
	// to the threshold's sake.
	Own float64
}

// Calibrate returns the selection with the lowest threshold, of its law, that satisfies (ε, δ) under add/remove-one.
//
// Errors: *privacy.ParamError.
func (c SelectionConfig) Calibrate() (Selection, error) {
	own := cmp.Or(c.Own, c.Delta)
	if err := cmp.Or(checkKeys(c.Keys), privacy.CheckEpsilon(c.Epsilon),
		privacy.Within(c.Delta > 0, "Delta", c.Delta,
			"a number in (0, 1): what nobody has listed cannot be shown at δ = 0"),
		privacy.Within(own > 0 && own <= c.Delta, "Own", c.Own, "a positive number, at most Delta, or 0"),
		privacy.CheckGaussianDelta(c.Delta)); err != nil {
		return Selection{}, err
	}
	eps, delta := privacy.Typed(c.Epsilon, c.Delta)
	own = math.Nextafter(own, 0)
	best, err := normalSelection(c.Keys, eps, delta, own)
	if err != nil || c.Normal {
		return best, err
	}
	if g := geometricSelection(c.Keys, eps, own); g.Validate() == nil && g.Threshold < best.Threshold {
		return g, nil
	}
	return best, nil
}

// geometricSelection returns the one of k keys that is (ε, δ).
func geometricSelection(keys int, eps, delta float64) Selection {
	k := float64(keys)
	m := Selection{Keys: keys, Scale: k / eps * (1 + 1e-15)}
	// q^T ≤ δ₁(1 + q − 2q^{T+1})/(1 − q), from a T that is too small on.
	want := math.Log(-math.Expm1(math.Log1p(-delta) / k))
	rate := -math.Expm1(-1 / m.Scale)
	enough := func(t float64) bool { // where nothing is, NaN ends the search, and Validate refuses it
		m.Threshold = t
		return !(m.logEdge() > want)
	}
	lo := math.Max(1, math.Floor(m.Scale*(math.Log(rate)-want-math.Ln2))-1)
	hi := lo
	for step := 1.0; !enough(hi); step *= 2 {
		lo, hi = hi, hi+step
	}
	_, m.Threshold = univariate.Bisect(enough, lo, hi, func(lo, hi float64) float64 {
		return lo + math.Floor((hi-lo)/2)
	}, 0)
	return m
}

// logEdge returns ln δ₁, rounded up: the probability of noise T of a key.
func (m Selection) logEdge() float64 {
	q, t := math.Exp(-1/m.Scale), m.Threshold
	rate := -math.Expm1(-1 / m.Scale)
	// 1 + q − 2q^{T+1} = (1 − q) + 2q(1 − q^T)
	return -t/m.Scale + math.Log(rate/(rate-2*q*math.Expm1(-t/m.Scale))) + 1e-14*(1+t/m.Scale)
}

// normalSelection returns the one of k keys that is (ε, δ) and shows what one person alone has with probability at most
// own.
func normalSelection(keys int, eps, delta, own float64) (best Selection, err error) {
	k := float64(keys)
	at := func(own float64) (Selection, error) {
		tau := -math.Expm1(math.Log1p(-own)/k) * (1 - 1e-12)
		z := normalTail(tau)
		m := Selection{Keys: keys}
		sigma, err := privacy.Calibrate(func(sigma float64) (bool, error) {
			m.Sigma, m.Threshold = sigma, 1+sigma*z
			return privacy.LogDeltaUpper(m.profile(), eps) <= math.Log(delta)*(1+1e-15), nil
		}, 1e-9)
		if err == nil {
			err = mechanism.Scales{{"Sigma", sigma}}.Check() // only such a one has a grid
		}
		if err != nil {
			return m, err
		}
		grid := exact.Grid(sigma)
		m.Sigma, m.Threshold = sigma, math.Ceil((1+sigma*z)/grid)*grid
		return m, m.Validate()
	}
	// A larger τ wants a larger σ: one key does best with all of δ for both, several with a part.
	for share := 1.0; share > 0.3; share -= 0.1 {
		m, e := at(math.Min(own, share*delta))
		if e == nil && (best.Threshold == 0 || m.Threshold < best.Threshold) {
			best = m
		}
		if err = e; keys == 1 {
			break
		}
	}
	if best.Threshold > 0 {
		err = nil
	}
	return best, err
}

func checkKeys(keys int) error {
	return privacy.Within(keys >= 1 && keys <= mostKeys, "Keys", keys, "at least 1 key a person, at most 1000")
}

// Validate returns a *privacy.ParamError if a parameter is out of range.
func (m Selection) Validate() error {
	if err := checkKeys(m.Keys); err != nil {
		return err
	}
	bad := func(want string) error {
		return &privacy.ParamError{Name: "Threshold", Value: m.Threshold, Want: want}
	}
	switch {
	case m.Scale == 0:
		if err := (mechanism.Scales{{"Sigma", m.Sigma}}).Check(); err != nil {
			return err
		}
		grid := exact.Grid(m.Sigma)
		if !(m.Threshold >= 1 && m.Threshold < 1<<53*grid && m.Threshold == math.Trunc(m.Threshold/grid)*grid) {
			return bad("at least 1, and a multiple of the grid of the noise")
		}
		return nil
	case m.Sigma != 0:
		return &privacy.ParamError{Name: "Sigma", Value: m.Sigma, Want: "0 beside a Scale: the noise is of one law"}
	case !(m.Threshold >= 1 && m.Threshold < 1<<50 && m.Threshold == math.Trunc(m.Threshold)):
		return bad("a whole number, at least 1")
	}
	return checkGeometric(m.Scale)
}

// Event implements mechanism.Mechanism.
func (m Selection) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.Scale == 0 {
		return mechanism.Known(m, m.profile(), nil)
	}
	k := float64(m.Keys)
	return privacy.Approx{Epsilon: math.Nextafter(k/m.Scale, math.Inf(1)), Adj: privacy.AddRemove,
		Delta: math.Min(1, -math.Expm1(k*math.Log1p(-math.Exp(m.logEdge())))*(1+1e-14))}, nil
}

// profile is that of normal noise, with parameters that need not be on the grid.
func (m Selection) profile() privacy.Profile {
	p := selectionProfile{logKept: math.Log1p(-normal.Survival((m.Threshold-1)/m.Sigma)*(1+1e-14)) * (1 + 1e-15)}
	for shared := range m.Keys + 1 {
		mu := math.Sqrt(float64(shared)) / m.Sigma
		if shared > 0 {
			mu *= 1 + 0x1p-50
		}
		p.shared = append(p.shared, privacy.GaussianProfile(mu, privacy.AddRemove))
	}
	return p
}

// Describe implements mechanism.Mechanism.
func (m Selection) Describe() mechanism.Description {
	each := "every person counts once, for one key"
	if m.Keys > 1 {
		each = fmt.Sprintf("every person counts once for each of at most %d keys", m.Keys)
	}
	d := mechanism.Description{Name: "selection of keys", Adjacency: privacy.AddRemove,
		Source: "Korolova, Kenthapadi, Mishra, Ntoulas 2009",
		Bound:  "normal noise and a threshold, their δ together (docs/theory/statistics.md)",
		Assumptions: []string{each, mechanism.Chosen("the threshold and the noise"),
			mechanism.ExactNoise, mechanism.Unseen}}
	if m.Scale > 0 {
		d.Source = "Desfontaines, Voss, Gipson, Mandayam 2022, arXiv:2006.03684"
		d.Bound = "geometric noise that is cut, and a threshold (docs/theory/statistics.md)"
	}
	return d
}

// Feasible implements mechanism.Mechanism.
func (m Selection) Feasible(int, int) error { return nil }

// String describes the mechanism with its parameters.
func (m Selection) String() string {
	return fmt.Sprintf("selection of keys (%d a person, counts above %.6g, %s)", m.Keys, m.Threshold,
		m.counts().law())
}

// Deviation returns the standard deviation of the noise of a key, before it is selected.
func (m Selection) Deviation() float64 { return m.counts().Deviation() } // of noise that is cut, a little less

// counts is a histogram with the noise of m.
func (m Selection) counts() Histogram { return Histogram{Sigma: m.Sigma, Scale: m.Scale} }

// Margin returns w with the noise of one key in [−w, w] with at least this probability, before it is selected. It
// panics unless 0 < confidence < 1.
func (m Selection) Margin(confidence float64) float64 {
	return m.counts().Margin(confidence)
}

// Selected is what a Selection releases.
type Selected struct {
	// Places of the keys that are shown, in the order of those that were counted.
	Places []int
	// Counts are the noisy numbers of people of each, all above the threshold.
	Counts []float64
	origin noise.Origin
}

// Simulated reports whether the noise could be known to somebody.
func (s *Selected) Simulated() bool { return s.origin.Simulated() }

// Check implements mechanism.Mechanism: a label is the number of a key.
func (m Selection) Check(rows matrix.Rows, labels []float64) error {
	if rows == nil {
		return &matrix.DataError{Text: "no rows"}
	}
	if n, _ := rows.Dims(); n != len(labels) {
		return &matrix.DataError{Text: fmt.Sprintf("%d labels for %d records", len(labels), n)}
	}
	for i, y := range labels {
		if !(y >= 0 && y < 1<<53 && y == math.Trunc(y)) {
			return &matrix.DataError{Text: fmt.Sprintf("the label of record %d is no key: want a whole number from 0 "+
				"on", i)}
		}
	}
	return nil
}

// Run implements mechanism.Mechanism: the keys are numbers, and Places has those shown.
func (m Selection) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	people := map[int]int64{}
	for _, y := range labels {
		people[int(y)]++
	}
	keys := slices.Sorted(maps.Keys(people))
	counts := make([]int64, len(keys))
	for i, key := range keys {
		counts[i] = people[key]
	}
	selected := m.noisy(r, counts, src)
	for i, at := range selected.Places {
		selected.Places[i] = keys[at]
	}
	return r, nil
}

// Release releases which of the keys are shown, with noisy counts: Also is a *Selected. counts has the numbers of
// people of the keys that somebody has, in an order that is the keys' own, as that of their texts; that of the records
// or of a map would show what nobody pays for.
//
// Errors, before any noise is drawn: as Validate; ErrNoSource.
func (m Selection) Release(counts []int64, src noise.Source) (*mechanism.Release, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	r, err := mechanism.Begin(m, matrix.NewDense(0, 1, nil), nil, src, nil)
	if err != nil {
		return nil, err
	}
	m.noisy(r, counts, src)
	return r, nil
}

func (m Selection) noisy(r *mechanism.Release, counts []int64, src noise.Source) *Selected {
	draw, s := noise.Exact(src), &Selected{origin: noise.OriginOf(src)}
	r.Also, r.NoiseScale = s, m.Deviation()
	x := make([]float64, 1)
	for i, c := range counts {
		if c < 1 {
			continue // nobody has it
		}
		if x[0] = float64(c); m.Scale == 0 {
			draw.AddRounded(x, m.Sigma, exact.Grid(m.Sigma))
		} else {
			for draw.Geometrics(x, m.Scale); math.Abs(x[0]) > m.Threshold; {
				draw.Geometrics(x, m.Scale)
			}
			x[0] += float64(c)
		}
		if x[0] > m.Threshold {
			s.Places, s.Counts = append(s.Places, i), append(s.Counts, x[0])
		}
	}
	return s
}

// selectionProfile is the profile of Selection with normal noise.
type selectionProfile struct {
	// logKept is ln(1 − τ); shared[i] is what i shared keys show.
	logKept float64
	shared  []privacy.LowerProfile
}

// Adjacency implements privacy.Profile.
func (p selectionProfile) Adjacency() privacy.Adjacency { return privacy.AddRemove }

// LogDeltaUpper implements privacy.Profile: of Remove, P has the person.
func (p selectionProfile) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	most := math.Inf(-1)
	for i, g := range p.shared {
		a := p.logKept * float64(len(p.shared)-1-i) // ln of (1 − τ)ʲ
		at := eps + a
		if d == privacy.Remove {
			at = eps - a
		}
		l := g.LogDeltaUpper(d, at-0x1p-52*math.Abs(at))
		if d == privacy.Remove {
			l = logspace.Add(math.Log(-math.Expm1(a)), a+l)
			l += 4e-15 + 1e-15*math.Abs(l)
		}
		most = math.Max(most, l)
	}
	return math.Min(0, most)
}

// Symmetric reports that the two directions differ.
func (p selectionProfile) Symmetric() bool { return false }
