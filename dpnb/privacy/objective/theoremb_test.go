package objective

import (
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// Theorem B by interval arithmetic: every row of the table of thresholds, and larger ratios, which are quick; the rows
// themselves (half a minute) run if DPNB_PROVE is set.
func TestTheoremB(t *testing.T) {
	type row struct{ ratio, from float64 }
	rows := []row{{1, 0}, {0.5, 0}}
	if testscale.Full() {
		rows = append(rows, row{0.3, 0}, row{0.25, 1})
	}
	if os.Getenv("DPNB_PROVE") != "" {
		for _, r := range thresholds {
			rows = append(rows, row{r.Ratio, r.From})
		}
	}
	for _, r := range rows {
		boxes, ok := ProveGaussianCase(r.ratio, r.from, math.Inf(1), 400_000)
		t.Logf("λ ≥ %g·κLσ for L/σ ≥ %g: %d boxes, proved %v", r.ratio, r.from, boxes, ok)
		if !ok {
			t.Errorf("ratio %g from %g is not proved", r.ratio, r.from)
		}
	}
}

// What is false is not proved: below the true threshold, about 0.27 as L/σ → 0.
func TestTheoremBCanFail(t *testing.T) {
	testscale.InTurn(t)
	// The same window, a true ratio and a false one with twice the boxes: the thresholds there are 0.228 and 0.152.
	for _, c := range []struct {
		ratio, from, to float64
		boxes           int
		holds           bool
	}{
		{0.28, 1, 1.02, 3000, true}, {0.22, 1, 1.02, 6000, false},
		{0.2, 3.9, 3.92, 3000, true}, {0.14, 3.9, 3.92, 6000, false},
	} {
		if !testscale.Full() && !c.holds {
			c.boxes /= 6
		}
		if _, ok := ProveGaussianCase(c.ratio, c.from, c.to, c.boxes); ok != c.holds {
			t.Errorf("ratio %v on L/σ in [%v, %v]: proved %v, want %v", c.ratio, c.from, c.to, ok, c.holds)
		}
	}
}

// The interval bounds of both sides contain their values at random points.
func TestProverSides(t *testing.T) {
	for _, c := range []struct{ c, m, x float64 }{
		{3, 0.5, 1.2}, {12, 0.4, 3}, {2, 1.5, 0.3}, {0.5, 2, 0.2}, {-0.3, 1, 0.5}, {1, 5, 0.1},
	} {
		phi := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
		rate := func(y float64) float64 { return phi(c.c-y) * max(0, 1-c.m*y) }
		if c.c > c.m {
			best := 0.0
			for i := 0; i <= 10000; i++ {
				best = max(best, rate(c.x*float64(i)/10000)-phi(c.c))
			}
			got := gainBound(point(c.c), c.m, c.x, c.c-c.x)
			if got < best || c.c < 8 && got > best*1.001+1e-9 {
				t.Errorf("%+v: gain bound %g, value %g", c, got, best)
			}
		} else {
			worst := math.Inf(1)
			for i := 0; i <= 10000; i++ {
				worst = min(worst, phi(c.c)-rate(c.x+3*float64(i)/10000))
			}
			if got := lossBound(point(c.c), c.m, c.x); got > worst || got < worst*0.999-1e-9 {
				t.Errorf("%+v: loss bound %g, value %g", c, got, worst)
			}
		}
	}
}

// Theorem B against the optimal control solved without it.
func TestTheoremBAgainstTheLattice(t *testing.T) {
	logistic, _ := Logistic(1)
	for _, sigma := range []float64{0.5, 2, 15} {
		ratio := thresholdRatio(1 / sigma)
		g := &grids{problem: &problem{curve: logistic, lambda: ratio * sigma, sigma: sigma}}
		for _, e := range []float64{0.3, 0.8, 1.5} {
			lo, up := g.removeAt(e / sigma)
			_, gauss := gaussBounds(e / sigma)(1 / sigma)
			if lo > gauss+1e-9 {
				t.Errorf("σ=%g e=%g: certified lower value %g above the Gaussian %g", sigma, e, lo, gauss)
			}
			if up < gauss-1e-9 {
				t.Errorf("σ=%g e=%g: upper value %g below the Gaussian %g", sigma, e, up, gauss)
			}
		}
	}
}

// Theorem A is applied from its λ on, κL²/(ε + L²/(2σ²)), and not a hair below; Theorem B likewise from its own.
func TestEdgesOfTheTheorems(t *testing.T) {
	logistic, _ := Logistic(2) // L = 2 and κ = 1
	for _, sigma := range []float64{0.5, 2, 15} {
		for _, eps := range []float64{0, 0.3, 4} {
			edge := 4 / (eps + 2/(sigma*sigma))
			for factor, applies := range map[float64]bool{1 - 1e-9: false, 1 + 1e-9: true} {
				p := &problem{curve: logistic, lambda: factor * edge, sigma: sigma}
				if p.gaussianAt(eps) != applies {
					t.Errorf("σ = %g, ε = %g: Theorem A at %v of its λ: %v", sigma, eps, factor, !applies)
				}
			}
		}
		edge := thresholdRatio(2/sigma) * 2 * sigma
		if IsGaussian(logistic, edge*(1-1e-9), sigma) || !IsGaussian(logistic, edge*(1+1e-9), sigma) {
			t.Errorf("σ = %g: Theorem B is not applied from %v on", sigma, edge)
		}
	}
}

// What the sum over the cells loses to rounding is granted to it.
func TestAddHalfIsRounded(t *testing.T) {
	logistic, _ := Logistic(1)
	p := &problem{curve: logistic, lambda: 0.3, sigma: 1.5}
	cells := p.start(16)
	slices.Reverse(cells)
	h := p.newAddHalf(0.2, 0, cells)
	_, up := h.value(math.Inf(1))
	if sum := floats.Sum(h.flat); !(up >= sum*(1+5e-13) && up <= sum*(1+2e-12)) {
		t.Errorf("at most %v, the cells make %v", up, sum)
	}
}
