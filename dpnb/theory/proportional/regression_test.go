package proportional

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/quadrature"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
)

type huberCase struct {
	ID       string  `json:"id"`
	Delta    float64 `json:"delta"`
	Lam      float64 `json:"lam"`
	Nu       float64 `json:"nu"`
	L        float64 `json:"L"`
	Kappa    float64 `json:"kappa"`
	SigmaEps float64 `json:"sigma_eps"`
	Sigma    float64 `json:"sigma"`
	Tau      float64 `json:"tau"`
}

func readCases[T any](t *testing.T, file string) []T {
	t.Helper()
	raw := must.Get(os.ReadFile(file))
	var doc struct{ Cases []T }
	must.Do(json.Unmarshal(raw, &doc))
	if len(doc.Cases) < 20 {
		t.Fatalf("%s has only %d cases", file, len(doc.Cases))
	}
	return doc.Cases
}

func TestHuberReference(t *testing.T) {
	for _, c := range readCases[huberCase](t, "testdata/dtz24_huber.json") {
		p, err := Regression{Loss: loss.Huber{Threshold: c.L}, AspectRatio: c.Delta, Lambda: c.Lam, Nu: c.Nu,
			Kappa: c.Kappa, Noise: Normal(0, c.SigmaEps)}.Solve(nil)
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		if !near(p.RMSE, c.Sigma, 1e-9) || !near(p.Gamma, c.Tau, 1e-9) {
			t.Errorf("%s: σ = %v, τ = %v, want %v, %v", c.ID, p.RMSE, p.Gamma, c.Sigma, c.Tau)
		}
	}
}

// Every setting of a wide grid is solved, from nothing and from bad starts.
func TestHuberGrid(t *testing.T) {
	count, continued, slowest := 0, 0, 0
	for _, ratio := range []float64{1e-3, 0.1, 0.5, 0.999, 1, 1.001, 3, 1e3} {
		for _, lambda := range []float64{1e-6, 1e-3, 0.1, 1, 30, 1e3} {
			for _, nu := range []float64{0, 1e-3, 0.2, 10} {
				for _, threshold := range []float64{0.01, 1, 10} {
					for _, noise := range []Law{Normal(0, 0.2), Point(0),
						Mix([]float64{1, 1}, Point(-3), Normal(3, 1))} {
						r := Regression{Loss: loss.Huber{Threshold: threshold}, AspectRatio: ratio, Lambda: lambda,
							Nu: nu, Kappa: 1, Noise: noise}
						p, err := r.Solve(nil)
						if err != nil {
							t.Errorf("%+v: %v", r, err)
							continue
						}
						count++
						if p.Continued {
							continued++
						}
						slowest = max(slowest, p.Steps)
						if p.Residual > 1e-10 {
							t.Errorf("%+v: residual %v", r, p.Residual)
						}
						for _, s := range []FixedPoint{{RMSE: p.RMSE * 30, Gamma: p.Gamma / 20},
							{RMSE: 1e-3, Gamma: 1e3}, {RMSE: 1e4, Gamma: 1e-4}} {
							q, err := r.Solve(&Settings{Start: &s})
							if err != nil {
								t.Errorf("%+v from %+v: %v", r, s, err)
							} else if !near(p.RMSE, q.RMSE, 1e-7) || !near(p.Gamma, q.Gamma, 1e-7) {
								t.Errorf("%+v: two solutions (%v, %v) and (%v, %v)", r, p.RMSE, p.Gamma, q.RMSE,
									q.Gamma)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d settings, %d by continuation, at most %d steps", count, continued, slowest)
}

// Without a ridge there is a least-squares fit for d < n only, and the solution is known.
func TestNoRidge(t *testing.T) {
	least := Regression{Loss: loss.Squared{}, AspectRatio: 0.25, Noise: Normal(0, 0.5), Kappa: 1, Nu: 0.3}
	p := must.Get(least.Solve(nil))
	// (XᵀX)⁻¹ has trace d·δ/(1−δ), (XᵀX)⁻² d·δ²/(1−δ)³.
	want := math.Sqrt(0.25*0.25/0.75 + 0.09*0.0625/math.Pow(0.75, 3))
	if !near(p.RMSE, want, 1e-12) || !near(p.Gamma, 0.25/0.75, 1e-12) || !near(p.Alpha, 1, 1e-12) {
		t.Errorf("least squares: %+v, want RMSE %v", p, want)
	}
	least.AspectRatio = 1.01
	if _, err := least.Solve(nil); !errors.Is(err, ErrNoSolution) {
		t.Errorf("least squares at d > n: %v", err)
	}
	huber := Regression{Loss: loss.Huber{Threshold: 1}, AspectRatio: 0.5, Noise: Normal(0, 0.5)}
	// The largest ν with a minimiser.
	lo, hi := 0.0, 10.0
	for range 40 {
		huber.Nu = 0.5 * (lo + hi)
		if ok, _ := huber.exists(); ok {
			lo = huber.Nu
		} else {
			hi = huber.Nu
		}
	}
	huber.Nu = lo * 0.99
	if _, err := huber.Solve(nil); err != nil {
		t.Errorf("just below the edge ν = %v: %v", lo, err)
	}
	huber.Nu = lo * 1.01
	if _, err := huber.Solve(nil); !errors.Is(err, ErrNoSolution) {
		t.Errorf("just above the edge ν = %v: %v", lo, err)
	}
	t.Logf("Huber(1), d/n = 1/2, λ = 0: a minimiser for ν < %.4f", lo)
}

// integral is Kronrod's rule on panels of equal width.
func integral(lo, hi float64, panels int, f func(x float64) float64) float64 {
	return quadrature.Panels(f, lo, hi, panels)
}

// Cut squares and the share inside, by the definition: also where the cut is far out in the tail and narrow.
func TestTruncated(t *testing.T) {
	for _, mean := range []float64{0, 0.3, -3, 6, -9} {
		for _, a := range []float64{1e-6, 1e-3, 0.004_99, 0.005_01, 0.1, 2, 30} {
			second, inside := truncated(mean, 1, a)
			density := func(s float64) float64 { return normal.Density(s - mean) }
			wantInside := integral(-a, a, 200, density)
			// a² less what is missing inside.
			wantSecond := a*a - integral(-a, a, 200, func(s float64) float64 { return (a*a - s*s) * density(s) })
			if !near(inside, wantInside, 1e-11) || !near(second, wantSecond, 1e-11) {
				t.Errorf("mean %v, cut %v: %v and %v, want %v and %v", mean, a, second, inside, wantSecond, wantInside)
			}
		}
	}
}

// The score bends between the end of a panel of the noise and its first node, where no rule sees it: the residual that
// is reported has to be the true one.
func TestBendBesideAPanel(t *testing.T) {
	const lambda = 100
	for k := range 5 {
		limit := 0.25 / (1 + 1/float64(lambda)) * (1 - 1e-4*float64(k))
		r := Regression{Loss: loss.Huber{Threshold: limit}, AspectRatio: 1e3, Lambda: lambda, Kappa: 1e-6,
			Noise: Uniform(-1, 1)}
		p := must.Get(r.Solve(nil))
		var at [2]float64
		var second, inside float64
		// Panels that end where the score bends, and around it.
		a, w := (1+p.Gamma)*limit, 10*p.RMSE
		ends := []float64{-1, -a - w, -a + w, 0, a - w, a + w, 1}
		for i := 1; i < len(ends); i++ {
			second += integral(ends[i-1], ends[i], 60, func(u float64) float64 {
				at[0], at[1] = truncated(u, p.RMSE, a)
				return 0.5 * at[0]
			})
			inside += integral(ends[i-1], ends[i], 60, func(u float64) float64 {
				at[0], at[1] = truncated(u, p.RMSE, a)
				return 0.5 * at[1]
			})
		}
		c := 1 / (1 + p.Gamma)
		one := p.Gamma*math.Sqrt(c*c*second/r.AspectRatio+lambda*lambda*r.Kappa*r.Kappa)/p.RMSE - 1
		two := p.Gamma*(lambda+c*inside/r.AspectRatio) - 1
		if maxAbs([]float64{one, two}) > 1e-10 {
			t.Errorf("L = %v: residuals %.1e and %.1e, %.1e reported", limit, one, two, p.Residual)
		}
	}
}

func BenchmarkHuber(b *testing.B) {
	r := Regression{Loss: loss.Huber{Threshold: 1}, AspectRatio: 0.5, Lambda: 0.1, Nu: 0.2, Kappa: 1,
		Noise: Normal(0, 0.2)}
	for b.Loop() {
		must.Get(r.Solve(nil))
	}
}
