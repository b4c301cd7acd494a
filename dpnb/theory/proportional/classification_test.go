package proportional

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
)

type logisticCase struct {
	ID    string  `json:"id"`
	Delta float64 `json:"delta"`
	Lam   float64 `json:"lam"`
	Nu    float64 `json:"nu"`
	Kappa float64 `json:"kappa"`
	Alpha float64 `json:"alpha"`
	Sigma float64 `json:"sigma"`
	Gamma float64 `json:"gamma"`
}

func logistic(ratio, lambda, nu, kappa float64) Classification {
	return Classification{Loss: loss.Logistic{}, Link: LogisticLink{}, AspectRatio: ratio, Lambda: lambda, Nu: nu,
		Kappa: kappa}
}

func TestLogisticReference(t *testing.T) {
	for _, c := range readCases[logisticCase](t, "testdata/dtz24_logistic.json") {
		p, err := logistic(c.Delta, c.Lam, c.Nu, c.Kappa).Solve(nil)
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		off := maxAbs([]float64{p.Alpha/c.Alpha - 1, p.Sigma/c.Sigma - 1, p.Gamma/c.Gamma - 1})
		if off > 1e-7 {
			t.Errorf("%s: %v, %v, %v, want %v, %v, %v: off by %.1e", c.ID, p.Alpha, p.Sigma, p.Gamma, c.Alpha, c.Sigma,
				c.Gamma, off)
		}
		if own := independentResidual(logistic(c.Delta, c.Lam, c.Nu, c.Kappa), p); own > 1e-9 {
			t.Errorf("%s: residual %.1e by another rule", c.ID, own)
		}
	}
}

// The trapezoidal rule and the adaptive one know nothing of each other.
func TestTwoQuadratures(t *testing.T) {
	for _, kappa := range []float64{0, 0.3, 1, 5, 15, 20} {
		for _, sigma := range []float64{0.014, 0.5, 3, 15} {
			for _, gamma := range []float64{1e-3, 1, 30, 1e4} {
				for _, alpha := range []float64{0.01, 0.8} {
					s := newClassificationSystem(logistic(1, 1, 0, kappa))
					post := newPosterior(s.Link, kappa, alpha, sigma)
					total := math.Hypot(alpha*kappa, sigma)
					a := logisticMoments(&post, total, gamma, coarseTolerance)
					b := s.scoreMoments(&post, total, gamma, fineTolerance)
					if !near(a.slope2, b.slope2, 1e-11) || !near(a.signal, b.signal, 1e-11) ||
						!near(a.response, b.response, 1e-9) {
						t.Errorf("κ %v σ %v γ %v α %v: %v against %v", kappa, sigma, gamma, alpha, a, b)
					}
				}
			}
		}
	}
}

// Of a smooth loss the integral over scores and the one over their proximal points are the same.
func TestTwoSubstitutions(t *testing.T) {
	for _, kappa := range []float64{0, 1, 15} {
		for _, gamma := range []float64{1e-3, 1, 1e4} {
			s := newClassificationSystem(logistic(1, 1, 0, kappa))
			post, total := newPosterior(s.Link, kappa, 0.8, 0.5), math.Hypot(0.8*kappa, 0.5)
			a := s.adaptiveMoments(&post, total, gamma, fineTolerance)
			b := s.scoreMoments(&post, total, gamma, fineTolerance)
			if !near(a.slope2, b.slope2, 1e-9) || !near(a.signal, b.signal, 1e-9) ||
				!near(a.response, b.response, 1e-9) {
				t.Errorf("κ %v γ %v: %v against %v", kappa, gamma, a, b)
			}
		}
	}
}

func TestLogisticGrid(t *testing.T) {
	testscale.InTurn(t)
	count, continued, most := 0, 0, 0
	ratios := []float64{1e-3, 0.3, 1e3}
	if testscale.Full() {
		ratios = append(ratios, 1)
	}
	for _, ratio := range ratios {
		for _, lambda := range []float64{1e-6, 0.1, 1e3} {
			for _, nu := range []float64{0, 0.2, 5} {
				for _, kappa := range []float64{0.1, 1, 6} {
					c := logistic(ratio, lambda, nu, kappa)
					p, err := c.Solve(nil)
					if err != nil {
						t.Errorf("%+v: %v", c, err)
						continue
					}
					count++
					if p.Continued {
						continued++
					}
					most = max(most, p.Steps)
					s := FixedPoint{Alpha: p.Alpha + 1, Sigma: p.Sigma * 20, Gamma: p.Gamma / 10}
					q, err := c.Solve(&Settings{Start: &s})
					if err != nil || !near(p.Alpha, q.Alpha, 1e-7) || !near(p.Sigma, q.Sigma, 1e-7) ||
						!near(p.Gamma, q.Gamma, 1e-7) {
						t.Errorf("%+v: %+v, from elsewhere %+v, %v", c, p, q, err)
					}
				}
			}
		}
	}
	t.Logf("%d settings, %d by continuation, at most %d steps", count, continued, most)
}

// Sur and Candès 2019 print, at d/n = 0.2 and κ² = 5, α = 1.4994, σ = 4.7436 (their design has entries of variance 1/n,
// so that our σ is √0.2 times it) and λ = 3.0269, our γ.
func TestMaximumLikelihood(t *testing.T) {
	testscale.Slow(t)
	p := must.Get(logistic(0.2, 0, 0, math.Sqrt(5)).Solve(nil))
	if !(math.Abs(p.Alpha-1.4994) <= 6e-5) || !(math.Abs(p.Sigma/math.Sqrt(0.2)-4.7436) <= 6e-5) ||
		!(math.Abs(p.Gamma-3.0269) <= 6e-5) {
		t.Errorf("α = %v, σ = %v, γ = %v", p.Alpha, p.Sigma/math.Sqrt(0.2), p.Gamma)
	}
	// The limits ν → 0 and λ → 0 are reached.
	for _, c := range []Classification{logistic(0.2, 1e-8, 0, math.Sqrt(5)), logistic(0.2, 0, 1e-5, math.Sqrt(5))} {
		q, err := c.Solve(nil)
		if err != nil || !near(p.Alpha, q.Alpha, 1e-6) || !near(p.Sigma, q.Sigma, 1e-6) ||
			!near(p.Gamma, q.Gamma, 1e-6) {
			t.Errorf("%+v: %+v, %v", c, q, err)
		}
	}
	for _, c := range []Classification{logistic(0.33, 0, 0, math.Sqrt(5)), logistic(0.51, 0, 0, 0),
		logistic(0.2, 0, 3, math.Sqrt(5))} {
		if _, err := c.Solve(nil); !errors.Is(err, ErrNoSolution) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	// Without signal the threshold is 1/2 (Cover).
	if ok, _ := logistic(0.499, 0, 0, 0).exists(); !ok {
		t.Error("no minimiser at d/n = 0.499 without signal")
	}
}

// probit is a link of one's own.
type probit struct{}

func (probit) Prob(t float64) float64  { return normal.CDF(t) }
func (probit) Slope(t float64) float64 { return normal.Density(t) }
func (probit) Width() float64          { return 2 }
func (probit) String() string          { return "probit" }

// Any loss: the least-squares classifier has a solution in closed form.
func TestOtherLosses(t *testing.T) {
	c := logistic(0.4, 0.3, 0.2, 1.5)
	c.Loss = loss.Squared{}
	p := must.Get(c.Solve(nil))
	// f = (t − y)²/2 is a regression of y on x with slope E P′·2 and noise.
	post := newPosterior(c.Link, c.Kappa, 0, 1)
	_, d := post.at(0)
	gamma := ridgeGamma(1, c.AspectRatio, c.Lambda)
	alpha := 2 * d * gamma / (c.AspectRatio * (1 + gamma))
	noise := 1 - 2*2*d*alpha*c.Kappa*c.Kappa + alpha*alpha*c.Kappa*c.Kappa
	k := gamma / (1 + gamma)
	sigma2 := (k*k*noise/c.AspectRatio + gamma*gamma*c.Nu*c.Nu) / (1 - k*k/c.AspectRatio)
	if !near(p.Alpha, alpha, 1e-9) || !near(p.Gamma, gamma, 1e-9) || !near(p.Sigma, math.Sqrt(sigma2), 1e-9) {
		t.Errorf("squared: %+v, want %v, %v, %v", p, alpha, math.Sqrt(sigma2), gamma)
	}
	for _, l := range []loss.Loss{loss.Probit{}, loss.SquaredHinge{}, loss.SmoothedHinge{Width: 0.5},
		loss.Softplus{Width: 0.3}, loss.Clipped(loss.Probit{}, 1.5)} {
		for _, link := range []Link{LogisticLink{}, probit{}} {
			c := c
			c.Loss, c.Link = l, link
			p, err := c.Solve(nil)
			if err != nil {
				t.Errorf("%s, %s: %v", l.Name(), link, err)
				continue
			}
			t.Logf("%s, %s: α %.4f σ %.4f γ %.4f residual %.1e steps %d", l.Name(), link, p.Alpha, p.Sigma, p.Gamma,
				p.Residual, p.Steps)
		}
	}
	r := Regression{Loss: loss.PseudoHuber{Threshold: 1}, AspectRatio: 0.5, Lambda: 0.1, Nu: 0.2, Kappa: 1,
		Noise: Normal(0, 0.5)}
	if _, err := r.Solve(nil); err != nil {
		t.Error(err)
	}
}

func BenchmarkLogistic(b *testing.B) {
	for b.Loop() {
		must.Get(logistic(0.5, 0.5, 0.2, 1).Solve(nil))
	}
}

// Far from every solution, and where there is no number, nothing is solved.
func TestFarIsNoSolution(t *testing.T) {
	s, res := newClassificationSystem(logistic(1, 1, 0, 1)), make([]float64, 3)
	for j := range 3 {
		for _, v := range []float64{31, -31, math.NaN(), 29} {
			x := make([]float64, 3)
			x[j] = v
			s.residual(res, x, 1e-6)
			far := math.IsInf(res[0], 1) && math.IsInf(res[1], 1) && math.IsInf(res[2], 1)
			if far != (v != 29) {
				t.Errorf("at %v the residual is %v", x, res)
			}
		}
	}
}
