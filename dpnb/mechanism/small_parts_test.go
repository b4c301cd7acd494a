package mechanism_test

import (
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/permit"
	"github.com/dpnb/notebooks/dpnb/internal/testing/apart"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// A record of which the norm is admitted, and may be off by its rounding, is no longer than Radius says, which is
// longer by no more than the sensitivities are to pay for. An error of half of NormSlack is seen.
func TestRadius(t *testing.T) {
	for _, r := range []float64{1e-30, 0.3, 1, 7e9} {
		admitted := r * (1 + mechanism.NormSlack)
		if err := mechanism.CheckNorm(admitted, r); err != nil {
			t.Error(err)
		}
		if got := mechanism.Radius(r); got < admitted*(1+0.5*mechanism.NormSlack) || got > r*(1+3*mechanism.NormSlack) {
			t.Errorf("R = %v: %v", r, got)
		}
		if mechanism.CheckNorm(r*(1+1.5*mechanism.NormSlack), r) == nil {
			t.Errorf("R = %v: longer records are admitted", r)
		}
	}
}

// The words have the numbers, rounded up, and what they mean.
func TestGuaranteeInWords(t *testing.T) {
	g := mechanism.Guarantee{Epsilon: 0.5, Delta: 1.2345e-6, Adjacency: privacy.AddRemove}
	for _, part := range []string{"ε = 0.5,", "δ = 1.24e-06)", "adding or removing any one record", "≤ 1.65,",
		"of δ."} {
		if !strings.Contains(g.Words(), part) {
			t.Errorf("%q lacks %q", g.Words(), part)
		}
	}
	if g.Epsilon = 0; !strings.Contains(g.Words(), "no (ε, δ)") {
		t.Error(g.Words())
	}
}

// What is left for the solver and what the noise is off by are no more than τ, as real numbers, and nearly all of it.
// An error of a few last places of τ is seen.
func TestRemaining(t *testing.T) {
	src := noise.NewSeeded(1)
	for range 1000 {
		tau := src.Float64()
		eta := 0.1 * tau * src.Float64()
		sum := new(big.Float).SetPrec(200).SetFloat64(mechanism.Tightened(tau, eta))
		sum.Add(sum, new(big.Float).SetFloat64(eta))
		if all, _ := sum.Float64(); sum.Cmp(big.NewFloat(tau)) > 0 || all < tau*(1-0x1p-48) {
			t.Fatalf("τ = %v, η = %v: %v in all", tau, eta, sum)
		}
	}
}

// Ridge, margin and stretch of the rule by hand: 30 directions of 1000 records at μ = 0.5 have a = 0.12.
func TestRule(t *testing.T) {
	f := mechanism.Facts{Records: 1000, Mu: 0.5, Directions: 30}
	counts, few := f, f
	counts.Typical, few.Records = 0.5, 100
	for k, c := range [][2]float64{
		{f.Margin(), 0.12}, {few.Margin(), 1}, {f.Ridge(0.25, false, 1), 0.03}, {f.Ridge(0.25, true, 0.12), 0.7906},
		{f.Stretch(10, true), 1.3}, {f.Stretch(100, true), 3}, {f.Stretch(10, false), 1 + 0.3/(1.3*1.3*1.3)},
		{few.Stretch(10, false), 1}, {counts.Stretch(10, true), 1.6},
	} {
		if !(math.Abs(c[0]-c[1]) <= 1e-12) {
			t.Errorf("number %d of the rule is %v, want %v", k, c[0], c[1])
		}
	}
}

// What is said depends on what is protected, and on whether there is a δ; a large δ is warned of, and a usual one not.
func TestGuaranteeOfOthersInWords(t *testing.T) {
	for _, c := range []struct {
		g    mechanism.Guarantee
		part string
	}{
		{mechanism.Guarantee{Epsilon: 1, Delta: 1e-6, Adjacency: privacy.ReplaceOne}, "replacing any one record"},
		{mechanism.Guarantee{Epsilon: 1, Delta: 1e-6, Adjacency: privacy.AddRemove, Rows: 3},
			"any one person with all of up to 3 rows"},
		{mechanism.Guarantee{Epsilon: 1, Delta: 1e-6, Adjacency: privacy.AddRemove}, "removing any one record"},
		{mechanism.Guarantee{Epsilon: 1, Delta: 1e-6, Adjacency: privacy.AddRemove, Rows: 1},
			"adding or removing any one person, of whose rows one counts, changes"},
		{mechanism.Guarantee{Epsilon: 1, Delta: 1e-6, Adjacency: privacy.ReplaceOne, Rows: 1},
			"replacing any one person, of whose rows one counts, changes"},
		{mechanism.Guarantee{Epsilon: 1, Adjacency: privacy.AddRemove}, "without exception."},
		{mechanism.Guarantee{Epsilon: 1, Delta: 1e-6, Adjacency: privacy.AddRemove}, "up to a probability of δ."},
		{mechanism.Guarantee{Epsilon: 21, Adjacency: privacy.AddRemove}, "≤ exp(21),"},
	} {
		if !strings.Contains(c.g.Words(), c.part) {
			t.Errorf("%q lacks %q", c.g.Words(), c.part)
		}
	}
	for delta, warns := range map[float64]bool{0: false, 9.9e-4: false, 1e-3: true, 0.5: true} {
		if text := (mechanism.Guarantee{Epsilon: 1, Delta: delta}).Warning(); (text != "") != warns {
			t.Errorf("δ = %v: %q", delta, text)
		}
	}
}

// copying has a copy of its own.
type copying struct{ X []float64 }

func (c *copying) CloneAlso() any { return &copying{append([]float64(nil), c.X...)} }

// A copy of a release has the same numbers, in no memory of the release.
func TestCloneOfARelease(t *testing.T) {
	r := &mechanism.Release{Coefficients: []float64{1, 2}, Guarantee: mechanism.Guarantee{Assumptions: []string{"a"}},
		Also: &copying{[]float64{3}}, Mechanism: "m"}
	c := r.Clone()
	if !reflect.DeepEqual(r, c) || apart.Shared(r, c) != nil {
		t.Errorf("%+v, and %+v shares %q", r, c, apart.Shared(r, c))
	}
	if also := mechanism.CloneAlso(7); also != 7 {
		t.Errorf("what has no copy is %v", also)
	}
}

// Whoever thinks it 1 in 1000 that a record was used has odds e^ε times as large afterwards, at most: from ε = 10 on a
// guarantee says what that comes to, upwards, and of a δ of a thousandth what it is.
func TestGuaranteeWarns(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta float64
		want           []string
	}{
		{9.99, 0.000999, nil}, {10, 1e-6, []string{"ε = 10 ", "as 95.67 % sure"}},
		{12.5, 1e-6, []string{"ε = 12.5 ", "as 99.63 % sure"}}, {800, 1e-6, []string{"ε = 800 ", "as 100 % sure"}},
		{1, 0.001, []string{"δ = 0.001 is large"}}, {10, 0.01, []string{"as 95.67 % sure of it. δ = 0.01 is large"}},
	} {
		got := mechanism.Guarantee{Epsilon: c.epsilon, Delta: c.delta}.Warning()
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("ε = %v, δ = %v: %q has no %q", c.epsilon, c.delta, got, want)
			}
		}
		if c.want == nil && got != "" || c.delta < 0.001 && strings.Contains(got, "δ") ||
			c.epsilon < 10 && strings.Contains(got, "ε") {
			t.Errorf("ε = %v, δ = %v: %q", c.epsilon, c.delta, got)
		}
	}
}

// What releases with noise cost together is the root of the sum of the squares of their μ, or the sum of their ε, and
// rounded up; noise of Laplace's law has more variance the more numbers it hides.
func TestLaws(t *testing.T) {
	for _, c := range []struct {
		law       mechanism.Law
		scales    []float64
		cost      float64
		one, five float64 // variance of one number, and of each of five
	}{
		{mechanism.Gaussian, []float64{0.5, 0.5, 0.5, 0.5}, 4, 1, 1}, {mechanism.Gaussian, nil, 0, 1, 1},
		{mechanism.Laplace, []float64{2, 4, 0.125}, 8.75, 2, 6}, {mechanism.Laplace, nil, 0, 2, 6},
	} {
		if got := c.law.Cost(c.scales...); got < c.cost || got > c.cost*(1+1e-13) || c.cost > 0 && got == c.cost {
			t.Errorf("%v noise of %v costs %v, want %v", c.law, c.scales, got, c.cost)
		}
		if c.law.Variance(1) != c.one || c.law.Variance(5) != c.five {
			t.Errorf("%v noise has variance %v and %v", c.law, c.law.Variance(1), c.law.Variance(5))
		}
		if err := c.law.Validate(); err != nil || (mechanism.Laplace+1).Validate() == nil {
			t.Errorf("%v: %v", c.law, err)
		}
	}
}

// A release is of the source that it is stamped with, by a permit only; without one its origin stays unknown, and it
// protects nobody.
func TestStamp(t *testing.T) {
	for _, p := range []permit.Permit{{}, permit.New()} {
		for _, seeded := range []bool{false, true} {
			r, src := &mechanism.Release{}, noise.Source(noise.NewSecure())
			if seeded {
				src = noise.NewSeeded(5)
			}
			r.Stamp(p, src)
			seed, ok := r.Seed()
			if given := permit.Given(p); r.Simulated() != (seeded || !given) || ok != (seeded && given) ||
				ok && seed != 5 {
				t.Errorf("permit %v, seed %v: simulated: %v, seed %d, %v", given, seeded, r.Simulated(), seed, ok)
			}
		}
	}
}
