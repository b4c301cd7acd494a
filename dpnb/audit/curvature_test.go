package audit

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// pair has two records besides the one that differs; every label is xᵀθ⋆.
func pair(d, m int, l loss.Loss, sigma2 float64) *Curvature {
	src := noise.NewSeeded(11)
	anchor, tilt := make([]float64, d), make([]float64, d)
	src.Gaussian(anchor, 1)
	tilt[0] = 1
	c := &Curvature{Loss: l, Rows: matrix.NewDense(2, d, nil), Labels: make([]float64, 2), Anchor: anchor, Tilt: tilt,
		Sigma2: sigma2, Freedom: m}
	src.Gaussian(c.Rows.Data, 0.2)
	for i := range 2 {
		for j := range d {
			c.Labels[i] += c.Rows.Data[i*d+j] * anchor[j]
		}
	}
	unit := func(k int) Record {
		x := make([]float64, d)
		x[k] = 1
		return Record{x, anchor[k]}
	}
	c.First, c.Second = unit(0), unit(d-1)
	c.Second.X[d-1] = -1
	c.Second.Y *= -1
	return c
}

// The mean of q/p under p is the mass that q has where p has a density: all but a thousandth here.
func TestCurvatureDensity(t *testing.T) {
	testscale.Slow(t)
	for _, c := range []*Curvature{
		pair(1, 5, loss.Squared{}, 6), pair(2, 7, loss.Squared{}, 6), pair(3, 8, loss.PseudoHuber{Threshold: 0.1}, 4),
		pair(5, 12, loss.Huber{Threshold: 0.02}, 6),
	} {
		if c.Freedom == 5 {
			c.Second.X[0] = 0.5 // one dimension: another record than the first
			c.Second.Y = 0.5 * c.Anchor[0]
		}
		for range 2 {
			l := must.Get(c.Losses(3000, noise.NewSeeded(3)))
			var mean, square float64
			for _, v := range l {
				mean += math.Exp(-v)
				square += math.Exp(-2 * v)
			}
			n := float64(len(l))
			mean /= n
			err1 := math.Sqrt(math.Max(0, square/n-mean*mean) / n)
			if !(math.Abs(mean-1) <= 5*err1+0.005) || err1 > 0.05 || err1 == 0 {
				t.Errorf("d = %d, %s: E q/p = %.4f ± %.4f", len(c.Anchor), c.Loss.Name(), mean, err1)
			}
			c = c.Swap()
		}
	}
}

// In one dimension θ is a monotone function of a χ²_m variate.
func TestCurvatureScalar(t *testing.T) {
	c := pair(1, 4, loss.Squared{}, 2)
	c.Rows, c.Labels = matrix.NewDense(0, 1, nil), nil
	c.Anchor[0] = 0
	c.First, c.Second = Record{[]float64{1}, 0}, Record{[]float64{0}, 0}
	// θ = −1/(x² + 2W): density of θ is q(W)·dW/dθ, W = (−1/θ − x²)/2.
	for _, theta := range []float64{-0.5, -0.2, -0.05} {
		logq := func(x float64) float64 {
			w := (-1/theta - x*x) / 2
			return math.Log(w) - w/2
		}
		p, _ := c.logDensity(false, []float64{theta})
		q, _ := c.logDensity(true, []float64{theta})
		if want := logq(1) - logq(0); !(math.Abs(p-q-want) <= 1e-12) {
			t.Errorf("θ = %g: log ratio %.12g, want %.12g", theta, p-q, want)
		}
	}
	if p, _ := c.logDensity(false, []float64{0.1}); !math.IsInf(p, -1) {
		t.Error("a density on the other side")
	}
}

func TestMeanDeterminant(t *testing.T) {
	src := noise.NewSeeded(9)
	eig := []float64{0.5, 2, 7}
	var sum, square float64
	const n = 20_000
	for range n {
		w := noise.Wishart(src, 3, 6)
		for i, v := range eig {
			w.SetSym(i, i, w.At(i, i)+v)
		}
		d := mat.Det(w)
		sum += d
		square += d * d
	}
	mean := sum / n
	err := math.Sqrt((square/n - mean*mean) / n)
	if want := meanDeterminant(eig, 6); !(math.Abs(mean-want) <= 5*err) {
		t.Errorf("%.2f ± %.2f, want %.2f", mean, err, want)
	}
}

// The sharp accountings against exact losses of real neighbours: δ at the ε for which σ² was calibrated stays below
// what was allowed, and comes close.
func TestCurvatureBelowAccounting(t *testing.T) {
	testscale.InTurn(t)
	for _, c := range []struct {
		structure wishart.Structure
		l         loss.Loss
		d, m      int
	}{
		{wishart.LeastSquares, loss.Squared{}, 2, 5}, {wishart.LeastSquares, loss.Squared{}, 4, 9},
		{wishart.LinearModel, loss.Squared{}, 3, 7}, {wishart.LinearModel, loss.Huber{Threshold: 0.2}, 3, 7},
		{wishart.AnyLoss, loss.Squared{}, 2, 6},
	} {
		const eps, delta = 0.5, 0.05
		s := wishart.Setting{Wishart: wishart.Wishart{D: c.d, M: c.m}, Smoothness: 1, Rank: 1, Structure: c.structure}
		split := wishart.Split{Epsilon1: eps, Delta1: delta}
		if c.structure == wishart.AnyLoss {
			split.Delta1, split.Delta3 = delta/2, delta/2
		}
		n := must.Get(s.Noise(split))
		best := 0.0
		for _, away := range []bool{false, true} {
			nb := pair(c.d, c.m, c.l, n.Sigma2)
			if h, ok := c.l.(loss.Huber); ok {
				// Pushed to where the loss bends.
				nb.Tilt[0] = 0.8 * h.Threshold * n.Sigma2 * float64(c.m-c.d+1)
			}
			if away { // the record against one that weighs nothing
				nb.Second.X = make([]float64, c.d)
				nb.Second.Y = 0
			}
			nb.Rows, nb.Labels = matrix.NewDense(0, c.d, nil), nil
			for range 2 {
				l := must.Get(nb.Losses(3000, noise.NewSeeded(21)))
				iv := DeltaOfLosses(l, eps, 1-1e-6, noise.NewSeeded(22))
				if iv.Lower > delta {
					t.Errorf("%+v: δ ≥ %.4f, allowed %.4f", c, iv.Lower, delta)
				}
				best = math.Max(best, iv.Estimate)
				nb = nb.Swap()
			}
		}
		if c.structure == wishart.LeastSquares && best < 0.5*delta {
			t.Errorf("%+v: largest δ %.5f: too weak a test", c, best)
		}
		t.Logf("%v %s d=%d m=%d: largest δ %.4f of %.4f", c.structure, c.l.Name(), c.d, c.m, best, delta)
		// Half the noise must be noticed for least squares, where the bound is near.
		if c.structure == wishart.LeastSquares {
			nb := pair(c.d, c.m, c.l, 0.4*n.Sigma2)
			nb.Rows, nb.Labels = matrix.NewDense(0, c.d, nil), nil
			nb.Second.X = make([]float64, c.d)
			nb.Second.Y = 0
			l := must.Get(nb.Swap().Losses(3000, noise.NewSeeded(21)))
			if iv := DeltaOfLosses(l, eps, 1-1e-6, noise.NewSeeded(22)); iv.Lower <= delta {
				t.Errorf("%+v: 0.4 of the noise goes unnoticed (δ = %.4f)", c, iv.Estimate)
			}
		}
	}
}

// Without a tilt θ = θ⋆, which has no density: that is said, not NaN.
func TestCurvatureWithoutTilt(t *testing.T) {
	c := pair(2, 5, loss.Squared{}, 1)
	c.Tilt = nil
	for j := range c.Anchor {
		c.Anchor[j] = 0
	}
	c.Rows, c.Labels = matrix.NewDense(0, 2, nil), nil
	c.First.Y, c.Second.Y = 0, 0
	if l, err := c.Losses(3, noise.NewSeeded(1)); err == nil {
		t.Errorf("losses %v", l)
	}
}
