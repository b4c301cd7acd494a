package objpert

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// labelled is a loss with labels to try it on.
type labelled struct {
	loss   loss.Loss
	labels []float64
}

// withCurve is every kind of loss that has a curve.
func withCurve() []labelled {
	signs, reals, counts := []float64{-1, 1}, []float64{-1, 0, 2}, []float64{0, 1, 3}
	return []labelled{
		{loss.Logistic{}, signs},
		{loss.Softplus{Width: 0.4}, signs},
		{loss.SmoothedHinge{Width: 0.4}, signs},
		{loss.Huber{Threshold: 1.3}, reals},
		{loss.PseudoHuber{Threshold: 1.3}, reals},
		{loss.Clipped(loss.Logistic{}, 0.3), signs},
		{loss.Clipped(loss.Logistic{}, 0.8), signs},
		{loss.Clipped(loss.Softplus{Width: 0.4}, 0.7), signs},
		{loss.Clipped(loss.SmoothedHinge{Width: 0.4}, 0.7), signs},
		{loss.Clipped(loss.SquaredHinge{}, 0.7), signs},
		{loss.Clipped(loss.Probit{}, 0.5), signs},
		{loss.Clipped(loss.Probit{}, 2.5), signs},
		{loss.Clipped(loss.Squared{}, 1.1), reals},
		{loss.Clipped(loss.Huber{Threshold: 1.3}, 0.6), reals},
		{loss.Clipped(loss.PseudoHuber{Threshold: 1.3}, 0.6), reals},
		{loss.Clipped(loss.Poisson{MaxCount: 3}, 1.3), counts},
		{loss.Clipped(loss.Poisson{MaxCount: 3}, 2.5), counts},
	}
}

// uncovered compares a curve with the pairs (γ, S) of records of norm at most r, and says where it does not cover them,
// or is never reached.
func uncovered(c objective.Curve, l labelled, r float64) string {
	lo, hi := c.Range()
	rng := rand.New(rand.NewPCG(9, 10))
	s, h := make([]float64, 1), make([]float64, 1)
	const bins = 20
	var reached [bins]float64
	for i := range 60000 {
		norm := r * math.Pow(rng.Float64(), 0.1)
		if i%4 == 0 {
			norm = r
		}
		y := l.labels[rng.IntN(len(l.labels))]
		t, label := []float64{3 * rng.NormFloat64()}, []float64{y}
		l.loss.ValueSlope(s, t, label)
		l.loss.Curvature(h, t, label)
		gamma, curvature := norm*s[0], norm*norm*h[0]
		if objective.OneSigned(c) {
			gamma = math.Abs(gamma) // one sign for each label
		}
		if gamma < lo || gamma > hi {
			return fmt.Sprintf("γ = %v outside [%v, %v]", gamma, lo, hi)
		}
		bar := c.SBar(gamma)
		if curvature > bar*(1+1e-10)+1e-13 {
			return fmt.Sprintf("S = %v at γ = %v, where S̄ = %v", curvature, gamma, bar)
		}
		if curvature > c.Max()*(1+1e-10) {
			return fmt.Sprintf("S = %v above the maximum %v", curvature, c.Max())
		}
		if b := int((gamma - lo) / (hi - lo) * bins); b < bins {
			reached[b] = math.Max(reached[b], curvature/math.Max(bar, 1e-9))
		}
	}
	for b := 1; b < bins-1; b++ {
		if reached[b] < 0.9 {
			return fmt.Sprintf("S̄ is never reached around γ = %v: %v of it", lo+(hi-lo)*(float64(b)+0.5)/bins,
				reached[b])
		}
	}
	return ""
}

// scaled is a curve with its S̄ multiplied.
type scaled struct {
	objective.Curve
	factor float64
}

func (s scaled) SBar(gamma float64) float64 { return s.factor * s.Curve.SBar(gamma) }
func (s scaled) Max() float64               { return s.factor * s.Curve.Max() }

// The accountant's curve covers every record that the loss can make of ‖x‖ ≤ R, and is reached; L and s are the loss's.
// A curve for a smaller radius, or with less curvature, is found out.
func TestCurvesCoverTheLosses(t *testing.T) {
	testscale.InTurn(t)
	for _, l := range withCurve() {
		for _, r := range testscale.Some(math.Sqrt2, 1, 0.5) {
			c, err := loss.CurveOf(l.loss, r)
			if err != nil {
				t.Fatalf("%s has no curve", l.loss.Name())
			}
			if fault := uncovered(c, l, r); fault != "" {
				t.Errorf("%s, R = %v: %s", l.loss.Name(), r, fault)
			}
			if d := objective.Slope(c) / (r * l.loss.Lipschitz()); !(math.Abs(d-1) <= 1e-14) {
				t.Errorf("%s: L is %v of the loss's", l.loss.Name(), d)
			}
			if d := c.Max() / (r * r * l.loss.Smoothness()); !(math.Abs(d-1) <= 1e-9) {
				t.Errorf("%s: s is %v of the loss's", l.loss.Name(), d)
			}
			small, _ := loss.CurveOf(l.loss, 0.95*r)
			if uncovered(small, l, r) == "" {
				t.Errorf("%s: a radius that is too small passes", l.loss.Name())
			}
			if uncovered(scaled{c, 0.97}, l, r) == "" {
				t.Errorf("%s: a curvature that is too small passes", l.loss.Name())
			}
		}
	}
}

// Losses without a curve have none: no tighter bound may be claimed for them.
func TestNoCurveIsInvented(t *testing.T) {
	for _, l := range []loss.Loss{
		loss.Squared{}, loss.SquaredHinge{}, loss.Probit{}, loss.Poisson{MaxCount: 3},
		loss.Clipped(loss.Poisson{}, 1), loss.Huber{Threshold: -1}, loss.Clipped(loss.Squared{}, -1),
		loss.Clipped(loss.Softplus{}, 0.5), foreign{loss.Logistic{}}, loss.Clipped(foreign{loss.Logistic{}}, 0.5),
	} {
		if c, err := loss.CurveOf(l, 1); err == nil {
			t.Errorf("%s has the curve %v", l.Name(), c)
		}
	}
}

type foreign struct{ loss.Loss }

// Only losses whose curvature vanishes where the slope is largest are Gaussian, however large λ is.
func TestGaussianOnlyWhereProved(t *testing.T) {
	for _, l := range withCurve() {
		m := Objective{Loss: l.loss, RowNorm: 1, Lambda: 1e9, Sigma: 1, Tolerance: 1, OutputSigma: 1}
		_, logistic := l.loss.(loss.Logistic)
		_, softplus := l.loss.(loss.Softplus)
		if m.Gaussian() != (logistic || softplus) {
			t.Errorf("%s: Gaussian() = %v", l.loss.Name(), m.Gaussian())
		}
	}
	// The threshold of softplus is λ ≥ ratio·(R/h)σ: it moves with h.
	for _, h := range []float64{0.1, 1, 4} {
		m := Objective{Loss: loss.Softplus{Width: h}, RowNorm: 1, Sigma: 10, Tolerance: 1, OutputSigma: 1}
		if m.Lambda = 0.27 * 10 / h; m.Gaussian() {
			t.Errorf("h = %v: λ = %v is not enough", h, m.Lambda)
		}
		if m.Lambda = 0.281 * 10 / h; !m.Gaussian() {
			t.Errorf("h = %v: λ = %v is enough", h, m.Lambda)
		}
	}
}
