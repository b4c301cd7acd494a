package proportional

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
)

// independentResidual evaluates the equations of the logistic loss and link by a rule that shares nothing with the
// solver: midpoints in a variable that stretches p = prox(s) by a hyperbolic sine, the label's law by midpoints too.
func independentResidual(c Classification, p FixedPoint) float64 {
	total := math.Hypot(p.Alpha*c.Kappa, p.Sigma)
	slope, sd := p.Alpha*c.Kappa*c.Kappa/(total*total), c.Kappa*p.Sigma/total
	label := func(s float64) (prob, rise float64) {
		n := 40 + int(40*sd)
		h := 20 / float64(n)
		for i := range n {
			z := -10 + h*(float64(i)+0.5)
			g := 1 / (1 + math.Exp(-(slope*s + sd*z)))
			w := h * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
			prob += w * g
			rise += w * g * (1 - g)
		}
		return prob, rise
	}
	var slope2, signal, response float64
	unit := min(1, total)
	reach := math.Asinh((12*total+p.Gamma)/unit) + 1
	n := 3000
	h := 2 * reach / float64(n)
	for i := range n {
		x := -reach + h*(float64(i)+0.5)
		at, dp := unit*math.Sinh(x), unit*math.Cosh(x)*h
		q := 1 / (1 + math.Exp(-at)) // f′(p; −1), both labels by symmetry
		curv := 1 / (1 + math.Exp(-at)) / (1 + math.Exp(at))
		s := at + p.Gamma*q
		density := math.Exp(-s/total*s/total/2) / (total * math.Sqrt(2*math.Pi))
		if density == 0 {
			continue
		}
		prob, rise := label(s)
		slope2 += dp * density * 2 * (1 - prob) * q * q * (1 + p.Gamma*curv)
		signal += dp * density * 2 * rise * q * (1 + p.Gamma*curv)
		response += dp * density * 2 * (1 - prob) * curv
	}
	d := c.AspectRatio
	return max(math.Abs(p.Gamma*math.Sqrt(slope2/d+c.Nu*c.Nu)/p.Sigma-1),
		math.Abs(p.Gamma*(c.Lambda+response/d)-1),
		math.Abs(p.Gamma*signal/d/p.Alpha-1))
}

// What is reported as the residual is what another rule measures, over the whole range of the parameters. The first
// four were off by up to 6e-5.
func TestResidualIsWhatIsReported(t *testing.T) {
	testscale.Slow(t)
	r := rand.New(rand.NewPCG(31, 32))
	between := func(a, b float64) float64 { return a * math.Exp(r.Float64()*math.Log(b/a)) }
	cases := []Classification{
		logistic(0.0204325, 6.6952e-8, 102.139, 0.0263649),
		logistic(0.02, 1e-8, 100, 0.03), logistic(1e-3, 1e-7, 1e3, 0.02), logistic(0.05, 1e-9, 30, 0.01),
	}
	for range 8 {
		cases = append(cases, logistic(between(1e-4, 1e3), between(1e-9, 1e4), between(1e-3, 1e4), between(0.01, 10)))
	}
	worst := 0.0
	for _, c := range cases {
		ctx, stop := context.WithTimeout(t.Context(), endless)
		p, err := c.Solve(&Settings{Context: ctx})
		stop()
		if errors.Is(err, ErrAccuracy) {
			t.Logf("%+v: %v", c, err)
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		own := independentResidual(c, p)
		worst = math.Max(worst, own)
		if own > 1e-9 {
			t.Errorf("%+v: residual %.1e by another rule, reported as %.1e", c, own, p.Residual)
		}
	}
	t.Logf("largest residual by another rule %.1e", worst)
}

// The same for a regression by the pseudo-Huber loss, T²(√(1 + (p/T)²) − 1).
func TestRegressionResidualIsWhatIsReported(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	between := func(a, b float64) float64 { return a * math.Exp(r.Float64()*math.Log(b/a)) }
	for range 15 {
		limit := between(1e-2, 100)
		c := Regression{Loss: loss.PseudoHuber{Threshold: limit}, AspectRatio: between(1e-6, 1e3),
			Lambda: between(1e-9, 1e4),
			Nu:     between(1e-3, 1e4), Kappa: between(0.01, 10), Noise: Normal(0, between(1e-2, 10))}
		p, err := c.Solve(nil)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		sd := math.Hypot(p.RMSE, math.Sqrt(c.Noise.SecondMoment()))
		unit := min(sd/(1+p.Gamma), limit)
		reach := math.Asinh((12*sd+p.Gamma*limit)/unit) + 1
		const n = 8000
		h := 2 * reach / n
		var slope2, response float64
		for i := range n {
			x := -reach + h*(float64(i)+0.5)
			at, dp := unit*math.Sinh(x), unit*math.Cosh(x)*h
			v := 1 + at/limit*at/limit
			slope, curv := at/math.Sqrt(v), math.Pow(v, -1.5)
			z := (at + p.Gamma*slope) / sd
			w := dp * math.Exp(-z*z/2) / (sd * math.Sqrt(2*math.Pi))
			slope2 += w * slope * slope * (1 + p.Gamma*curv)
			response += w * curv
		}
		d, bias := c.AspectRatio, c.Lambda*c.Kappa
		own := max(math.Abs(p.Gamma*math.Sqrt(slope2/d+bias*bias+c.Nu*c.Nu)/p.RMSE-1),
			math.Abs(p.Gamma*(c.Lambda+response/d)-1))
		if own > 1e-9 {
			t.Errorf("%+v: residual %.1e by another rule, reported as %.1e", c, own, p.Residual)
		}
	}
}

// A search ends when its context does, and otherwise after a bounded number of evaluations.
func TestSolveStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := logistic(0.1, 1, 1, 1).Solve(&Settings{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}
