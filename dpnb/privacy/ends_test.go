package privacy_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// anyProfile is one of a kind of profile, and what is known of it in closed form.
type anyProfile struct {
	name string
	p    privacy.Profile
	// last is ln δ(+∞).
	last float64
	// reflects: δ_d(−ε) = 1 − e^−ε + e^−ε·δ_opposite(ε).
	reflects bool
}

func everyProfile() (all []anyProfile) {
	inf, add := math.Inf(-1), privacy.AddRemove
	gauss := privacy.GaussianProfile(1.3, add)
	sampled := must.Get(privacy.SubsampledGaussian{Sigma: 0.8, Sensitivity: 1, Rate: 0.1}.Profile(add))
	half := privacy.HalfNormal{K: 0.1, A: 0.5}
	rdp := func(c privacy.RDPCurve, err error) privacy.Profile { must.Do(err); return c.Profile() }
	lazily := func(p privacy.Profile, err error) privacy.Profile {
		return privacy.Lazy(add, func() (privacy.Profile, error) { return p, err })
	}
	return []anyProfile{
		{"Gaussian", gauss, inf, true},
		{"Gaussian of nothing", privacy.GaussianProfile(0, add), inf, true},
		{"Laplace", must.Get(privacy.Laplace{Scale: 0.8, Sensitivity: 1}.Profile(add)), inf, true},
		{"Laplace of nothing", must.Get(privacy.Laplace{Scale: 0.8}.Profile(add)), inf, true},
		{"pure ε", must.Get(privacy.Pure(0.7, add).Profile(add)), inf, true},
		{"(ε, δ)", must.Get(privacy.Approx{Epsilon: 0.7, Delta: 1e-3, Adj: add}.Profile(add)), math.Log(1e-3), true},
		{"nothing private", must.Get(privacy.NonPrivate{}.Profile(add)), 0, true},
		{"sampled", sampled, inf, true},
		{"sampled, everybody", must.Get(privacy.SubsampledGaussian{Sigma: 0.8, Sensitivity: 1, Rate: 1}.Profile(add)),
			inf, true},
		{"sampled, of nothing", must.Get(privacy.SubsampledGaussian{Sigma: 0.8, Rate: 0.5}.Profile(add)), inf, true},
		{"half-normal", must.Get(half.Profile(add)), inf, false},
		{"half-normal, flat", must.Get(privacy.HalfNormal{K: 0.1}.Profile(add)), inf, false},
		{"half-normal and Gaussian", must.Get(privacy.HalfNormalGaussian{HalfNormal: half, Mu: 0.3}.Profile(add)),
			inf, false},
		{"shifted Gaussian", must.Get(privacy.HalfNormalGaussian{HalfNormal: privacy.HalfNormal{K: 0.1}, Mu: 0.3}.
			Profile(add)), inf, false},
		{"half-normal, nearly flat, and Gaussian", must.Get(privacy.HalfNormalGaussian{
			HalfNormal: privacy.HalfNormal{K: 0.1, A: 1e-12}, Mu: 0.3}.Profile(add)), inf, false},
		{"Rényi", rdp(privacy.GaussianRDP(1.3, add), nil), inf, true},
		{"Rényi, nothing known", rdp(privacy.NonPrivate{}.RDP(add)), 0, true},
		{"best of several", must.Get(privacy.SelectionPoissonProfile(gauss, 3)), inf, true},
		{"best of several, δ left", must.Get(privacy.SelectionPoissonProfile(
			must.Get(privacy.Approx{Epsilon: 0.7, Delta: 1e-3, Adj: add}.Profile(add)), 3)), math.Log(3e-3), true},
		{"best of several sampled", must.Get(privacy.SelectionPoissonProfile(sampled, 3)), inf, true},
		{"by chords", privacy.Interpolated(gauss, 32), inf, false},
		{"when asked", lazily(gauss, nil), inf, true},
		{"when asked, without success", lazily(nil, errors.New("oh")), 0, true},
		{"replaced", must.Get(privacy.ConvertAdjacency(gauss, privacy.ReplaceOne)), inf, true},
		{"an approximate minimum", must.Get(privacy.ApproximateMinimum{Tolerance: 1, Lambda: 2, SigmaOut: 3}.
			Profile(add)), inf, true},
		{"an exact minimum", must.Get(privacy.ApproximateMinimum{Lambda: 2, SigmaOut: 3}.Profile(add)), inf, true},
	}
}

// Every profile is 1 at ε = −∞, and bounds nothing where ε is no number, what it leaves over at +∞, falls in
// between, and lies above its own lower bound; of a pair of distributions one side follows from the other.
func TestEveryProfileAtItsEnds(t *testing.T) {
	testscale.Slow(t)
	for _, c := range everyProfile() {
		for _, d := range privacy.Directions {
			at := func(eps float64) float64 { return c.p.LogDeltaUpper(d, eps) }
			if a, b := at(math.Inf(-1)), at(math.NaN()); a != 0 || !(b == 0 || math.IsNaN(b)) {
				t.Errorf("%s, %v: ln δ(−∞) = %v, ln δ(NaN) = %v", c.name, d, a, b)
			}
			last := at(math.Inf(1))
			if !(last == c.last || math.Abs(last-c.last) <= 1e-12 || c.last < 0 && last < -1e308) {
				t.Errorf("%s, %v: ln δ(∞) = %v, want %v", c.name, d, last, c.last)
			}
			lower, _ := c.p.(privacy.LowerProfile)
			both, _ := c.p.(interface {
				LogDeltaBounds(privacy.Direction, float64) (low, up float64)
			})
			best, step := strings.HasPrefix(c.name, "best"), 0.25 // a bound by one ε₁ need not fall, and takes its time
			if best {
				step = 3
			}
			before := 0.0
			for eps := -6.0; eps <= 6; eps += step {
				v := at(eps)
				if !(v <= before+1e-9) && !best {
					t.Errorf("%s, %v: ln δ(%v) = %v, and %v before", c.name, d, eps, v, before)
				}
				before = v
				if lower != nil {
					low := lower.LogDeltaLower(d, eps)
					if !(low <= v) || math.IsInf(low, -1) && v > -30 && eps < 1 {
						t.Errorf("%s, %v: ln δ(%v) between %v and %v", c.name, d, eps, low, v)
					}
					if both != nil {
						if a, b := both.LogDeltaBounds(d, eps); a != low || b != v {
							t.Errorf("%s, %v: at %v %v and %v, at once %v and %v", c.name, d, eps, low, v, a, b)
						}
					}
				}
				want := -math.Expm1(eps) + math.Exp(eps+c.p.LogDeltaUpper(d.Opposite(), -eps))
				if c.reflects && eps < 0 && !(math.Abs(math.Exp(v)-want) <= 1e-9) {
					t.Errorf("%s, %v: δ(%v) = %v, reflected %v", c.name, d, eps, math.Exp(v), want)
				}
			}
		}
		if a := c.p.Adjacency(); (a == privacy.ReplaceOne) != (c.name == "replaced") {
			t.Errorf("%s: %v", c.name, a)
		}
	}
}

// A constant more of loss moves a profile by that constant of ε.
func TestShiftedProfile(t *testing.T) {
	const k = 0.375
	gauss := privacy.GaussianProfile(0.3, privacy.AddRemove)
	p := must.Get(privacy.HalfNormalGaussian{HalfNormal: privacy.HalfNormal{K: k}, Mu: 0.3}.Profile(privacy.AddRemove))
	for _, eps := range []float64{-1, 0, 0.5, 2} {
		up, low := p.LogDeltaUpper(privacy.Add, eps), p.LogDeltaLower(privacy.Add, eps)
		want := gauss.LogDeltaUpper(privacy.Add, eps-k)
		if !(up >= want) || !(up-want <= 1e-12*math.Abs(want)+1e-15) || !(low <= want) ||
			!(want-low <= 1e-11*(1-want)) {
			t.Errorf("ε = %v: between %v and %v, want %v", eps, low, up, want)
		}
	}
}

// Where rounding hides on which side of the end of its range ε is, a sampled Gaussian's δ is bounded by that a little
// inside, and from below nothing is known.
func TestSampledGaussianAtItsEdge(t *testing.T) {
	p := must.Get(privacy.SubsampledGaussian{Sigma: 1, Sensitivity: 1, Rate: 0.5}.Profile(privacy.AddRemove))
	low := p.(privacy.LowerProfile)
	edge := math.Ln2
	inside := p.LogDeltaUpper(privacy.Add, edge*(1-1e-6))
	at := p.LogDeltaUpper(privacy.Add, edge)
	if !(at <= inside+1e-9) || !(at > inside-1) || !math.IsInf(low.LogDeltaLower(privacy.Add, edge), -1) {
		t.Errorf("ln δ = %v at the edge, %v inside", at, inside)
	}
	if beyond := p.LogDeltaUpper(privacy.Add, edge*1.01); !math.IsInf(beyond, -1) {
		t.Errorf("ln δ = %v beyond it", beyond)
	}
	steep := must.Get(privacy.SubsampledGaussian{Sigma: 1, Sensitivity: 1, Rate: 1 - 1e-12}.Profile(privacy.AddRemove))
	if v := steep.LogDeltaUpper(privacy.Add, -math.Log(1e-12)); !(v <= 0) || math.IsInf(v, -1) {
		t.Errorf("ln δ = %v at a steep edge", v)
	}
}

// Rényi curves at order 1 and where everybody is drawn, or beyond the last binomial sum: those of the Gaussian, αμ²/2.
func TestRenyiOfSampledGaussians(t *testing.T) {
	curve := func(rate float64) func(float64) float64 {
		return must.Get(privacy.SubsampledGaussian{Sigma: 2, Sensitivity: 3, Rate: rate}.RDP(privacy.AddRemove)).Epsilon
	}
	for alpha, rates := range map[float64][]float64{1: {1}, 1.5: {1}, 7: {1}, 1024: {1, 0.1}, 5000: {0.01}} {
		for _, q := range rates {
			want := alpha * 2.25 / 2
			if got := curve(q)(alpha); !(got >= want && got <= want*(1+1e-14)) {
				t.Errorf("rate %v, α = %v: %v, want %v", q, alpha, got, want)
			}
		}
	}
	if a, b := curve(0.1)(1), curve(0.1)(2); a != b && !(math.Abs(a-b) <= 1e-12*b) {
		t.Errorf("α = 1: %v, α = 2: %v", a, b)
	}
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		if got, err := privacy.ParseAdjacency(adj.String()); got != adj || err != nil {
			t.Errorf("%v is %v, %v", adj, got, err)
		}
	}
	if _, err := privacy.ParseAdjacency("both"); err == nil {
		t.Error("a word is an adjacency")
	}
	if v := must.Get(privacy.Pure(0, privacy.AddRemove).RDP(privacy.AddRemove)).Epsilon(3); v != 0 {
		t.Errorf("ε(3) of ε = 0 is %v", v)
	}
	small, one := must.Get(privacy.Laplace{Scale: 1, Sensitivity: 2}.RDP(privacy.AddRemove)).Epsilon, math.Exp(-2.0)+1
	if got := small(1); !(math.Abs(got-one) <= 1e-13) { // E|x| − … = μ + e^−μ − 1
		t.Errorf("ε(1) of Laplace is %v, want %v", got, one)
	}
	nothing := must.Get(privacy.Laplace{Scale: 1}.RDP(privacy.AddRemove)).Epsilon
	if got := nothing(3); got != 0 {
		t.Errorf("ε(3) of Laplace noise on nothing is %v", got)
	}
}

// A probability is at most 1 where its logarithm is all but 0, and what moves nothing costs nothing at ε = 0.
func TestNoMoreThanOneAndNoLessThanNothing(t *testing.T) {
	for _, x := range []float64{-1e-300, -1e-20, -1e-17} {
		if p := privacy.ExpUp(x); p != 1 {
			t.Errorf("e^%g is %v", x, p)
		}
	}
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		if d := privacy.DeltaUpper(must.Get(privacy.Laplace{Scale: 0.8}.Profile(adj)), 0); d != 0 {
			t.Errorf("Laplace noise on what nobody moves, %v: δ(0) = %v", adj, d)
		}
	}
}
