package wishart

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

type wishartCase struct {
	D, M                   int
	Delta1, Delta3, Delta4 float64
	P, LogD, Alpha, Alpha1 float64
	Beta                   *float64
	F2                     float64
	Sigma2                 float64 `json:"sigma2_L1_eps05_rho1"`
}

func wishartCases(t *testing.T) []wishartCase {
	raw := must.Get(os.ReadFile("testdata/wishart.json"))
	var f struct{ Cases []wishartCase }
	must.Do(json.Unmarshal(raw, &f))
	if len(f.Cases) < 13 {
		t.Fatalf("%d cases", len(f.Cases))
	}
	return f.Cases
}

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s = %.15g, want %.15g", what, got, want)
	}
}

func TestConstantsReference(t *testing.T) {
	for _, c := range wishartCases(t) {
		w := Wishart{D: c.D, M: c.M}
		k := must.Get(w.Constants(c.Delta1, c.Delta3, c.Delta4))
		near(t, "ln D", w.LogD(), c.LogD, 1e-9)
		near(t, "α", k.Alpha, c.Alpha, 1e-9)
		near(t, "α₁", k.Alpha1, c.Alpha1, 1e-8)
		near(t, "f(2)", k.F(2), c.F2, 1e-9)
		if c.Beta != nil {
			near(t, "β", k.Beta, *c.Beta, 1e-9)
		} else if !math.IsInf(k.Beta, 1) {
			t.Errorf("β = %g at δ₄ = 0", k.Beta)
		}
		if k.Alpha > c.Alpha*(1+1e-9) || k.Mu != float64(c.M) || k.P != c.P {
			t.Errorf("%+v", k)
		}
	}
}

// Far corners: the bounds that define the constants are met, from the safe side.
func TestConstantsCorners(t *testing.T) {
	for _, c := range []struct {
		d, m           int
		delta1, delta3 float64
	}{
		{1, 2, 1e-12, 1e-12}, {1, 20000, 1e-12, 1e-3}, {2000, 2001, 1e-12, 1e-12}, {2000, 4000, 1e-12, 1e-12},
		{2000, 20000, 1e-12, 1e-12},
		{2000, 20000, 1e-3, 1e-12}, {2000, 20000, 1e-12, 0.5}, {500, 600, 1e-12, 1e-4}, {3, 4, 0.9, 0.9},
		{3, 5, 0.99, 0.5},
	} {
		w := Wishart{D: c.d, M: c.m}
		k := must.Get(w.Constants(c.delta1, c.delta3, 1e-12))
		if got := w.LogSmallestBelow(k.Alpha); got > math.Log(c.delta3) || got < math.Log(c.delta3)-1e-8 {
			t.Errorf("%+v: ln P(λ < α) ≤ %.12g, want %.12g", c, got, math.Log(c.delta3))
		}
		want := math.Log(c.delta1 * (1 - c.delta3))
		if got := w.LogD() + logGammaBetween(k.Alpha/2, k.Alpha1/2, w.P()); !(got <= want+1e-6 && got > want-1e-2) &&
			!math.IsInf(k.Alpha1, 1) {
			t.Errorf("%+v: α₁ = %g: ln P(between) ≤ %.12g, want %.12g", c, k.Alpha1, got, want)
		}
		if k.Beta < float64(c.m) {
			t.Errorf("%+v: β = %g below m", c, k.Beta)
		}
	}
}

// The constant D is the limit of λ_min's density at zero: it follows from the normalisers K of the joint density of
// eigenvalues of Wishart(d, m) and, for those that are left, Wishart(d−1, m+1).
func TestLogDFromNormalisers(t *testing.T) {
	gammaD := func(d int, x float64) float64 {
		s := float64(d*(d-1)) / 4 * math.Log(math.Pi)
		for i := 1; i <= d; i++ {
			s += lgamma(x + float64(1-i)/2)
		}
		return s
	}
	k := func(d, m int) float64 {
		if d == 0 {
			return 0
		}
		return float64(d*d)/2*math.Log(math.Pi) - float64(d*m)/2*math.Ln2 - gammaD(d, float64(m)/2) - gammaD(d,
			float64(d)/2)
	}
	for _, c := range [][2]int{{1, 2}, {1, 7}, {2, 3}, {2, 9}, {5, 10}, {12, 24}, {40, 41}, {100, 150}} {
		w := Wishart{D: c[0], M: c[1]}
		want := k(c[0], c[1]) - k(c[0]-1, c[1]+1)
		if got := w.LogD() - math.Ln2 - (w.P()-1)*math.Ln2; !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
			t.Errorf("%v: %.12g, from the normalisers %.12g", c, got, want)
		}
	}
}

func TestGamma(t *testing.T) {
	for _, p := range []float64{0.5, 1, 1.5, 6.5, 50.5, 9000.5} {
		for _, share := range []float64{1e-3, 0.1, 0.5, 0.9, 1, 1.1, 3} {
			x := share * p
			log, _ := logLowerGamma(x, p)
			if v := mathext.GammaIncReg(p, x); v > 1e-280 {
				if !(math.Abs(log-lgamma(p)-math.Log(v)) <= 1e-9) {
					t.Errorf("γ(%g, %g): %g, want %g", x, p, log-lgamma(p), math.Log(v))
				}
			}
			if log < lgamma(p)-1e-6 {
				near(t, "inverse", inverseLowerGamma(log, p), x, 1e-9)
			}
		}
		// Far below the range of float64: γ(x, p) → x^p/p.
		y := -1e5
		x := inverseLowerGamma(y, p)
		if log, _ := logLowerGamma(x, p); x > 0 && !(math.Abs(log-y) <= 1e-9*1e5) {
			t.Errorf("p = %g: γ(γ⁻¹) off by %g", p, log-y)
		}
	}
	for _, nu := range []float64{1, 2, 13, 101, 20000} {
		for _, delta := range []float64{0.3, 1e-3, 1e-12} {
			c := chiLowerQuantile(nu, math.Log(delta))
			if got := logChiBelow(nu, c); got > math.Log(delta) || got < math.Log(delta)-1e-8 {
				t.Errorf("χ²_%g: lower quantile at %g is %g, ln P = %g", nu, delta, c, got)
			}
			c = chiUpperQuantile(nu, math.Log(delta))
			if got, _ := logChiAbove(nu, c); got > math.Log(delta) {
				t.Errorf("χ²_%g: upper quantile at %g is %g, ln P = %g", nu, delta, c, got)
			}
		}
	}
}

func TestWishartRefuses(t *testing.T) {
	var p *privacy.ParamError
	for _, w := range []Wishart{{D: 0, M: 3}, {D: 3, M: 3}, {D: 3, M: 2}, {D: -1, M: 1}} {
		if _, err := w.Constants(0.1, 0.1, 0.1); !errors.As(err, &p) {
			t.Errorf("%+v: %v", w, err)
		}
	}
	for _, d := range [][3]float64{{0, 0.1, 0.1}, {0.1, 0, 0.1}, {0.1, 1, 0.1}, {0.1, 0.1, 1}, {math.NaN(), 0.1, 0.1},
		{0.1, 0.1, -1}} {
		if _, err := (Wishart{D: 2, M: 4}).Constants(d[0], d[1], d[2]); !errors.As(err, &p) {
			t.Errorf("%v: %v", d, err)
		}
	}
}

// Where less is left beyond α than the mass of the interval, there is no end to it.
func TestGapWithoutAnEnd(t *testing.T) {
	for _, c := range []struct {
		w           Wishart
		alpha, mass float64
	}{{Wishart{D: 40, M: 50}, 100, 1e-6}, {Wishart{D: 1, M: 5}, 10, 0.3}, {Wishart{D: 3, M: 10}, 300, 1e-6}} {
		if g := c.w.gap(c.alpha, c.mass); !math.IsInf(g, 1) {
			t.Errorf("%+v: %v beyond %v", c.w, g, c.alpha)
		}
	}
	if g := (Wishart{D: 1, M: 5}).gap(1, 0.3); !(g > 2.2 && g < 2.3) {
		t.Errorf("%v", g)
	}
}
