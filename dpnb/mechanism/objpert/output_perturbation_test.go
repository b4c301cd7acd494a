package objpert_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func outputConfig() objpert.OutputConfig {
	return objpert.OutputConfig{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 2, Epsilon: 1, Delta: 1e-5}
}

// TestOutputPerturbationSensitivity: brute force over neighbours. One record more never moves the minimiser by more
// than L/λ, and nearly by that where its slope is at its largest and nothing else bends; approximate minimisers stay
// within (L + 2τ)/λ, and reach it.
func TestOutputPerturbationSensitivity(t *testing.T) {
	testscale.Slow(t)
	var worst, off float64
	rng := noise.NewSeeded(5)
	for _, l := range []loss.Loss{loss.Logistic{}, loss.Huber{Threshold: 1}, loss.Clipped(loss.SquaredHinge{}, 1)} {
		for _, lambda := range []float64{0.1, 1, 20} {
			for _, n := range []int{1, 6} {
				for _, still := range []bool{false, true} {
					rows, labels := records(n, 3, uint64(n))
					if still { // records that pull nowhere
						clear(rows.Data)
					}
					m := objpert.Output{Loss: l, RowNorm: 1, Lambda: lambda, Tolerance: 1e-9, Sigma: 1}
					base := minimiser(t, rows, labels, m)
					for range 20 {
						x := make([]float64, 3)
						rng.Gaussian(x, 1)
						floats.Scale(1/floats.Norm(x, 2), x)
						for _, y := range []float64{-1, 1} {
							if _, ok := l.(loss.Huber); ok {
								y *= 30 // so far off that its slope is the largest there is
							}
							more := matrix.NewDense(n+1, 3, append(append([]float64(nil), rows.Data...), x...))
							other := minimiser(t, more, append(append([]float64(nil), labels...), y), m)
							moved := floats.Distance(base, other, 2)
							ratio := moved / m.Sensitivity()
							if ratio > 1 {
								t.Fatalf("%s, λ = %v: moved by %v, claimed %v", l.Name(), lambda, moved,
									m.Sensitivity())
							}
							worst = math.Max(worst, ratio)
							// Each stopped as far short as τ allows, away from the other.
							away := make([]float64, 3)
							floats.SubTo(away, base, other)
							short := m
							short.Tolerance = 0.05 * lambda * moved
							a, b := stoppedShort(t, rows, labels, m, base, away, short.Tolerance),
								stoppedShort(t, more, append(append([]float64(nil), labels...), y), m, other, away,
									-short.Tolerance)
							off = math.Max(off, floats.Distance(a, b, 2)/short.Sensitivity())
						}
					}
				}
			}
		}
	}
	if off > 1 {
		t.Errorf("approximate minimisers are apart by %v of the claimed sensitivity", off)
	}
	if worst < 0.99 || off < 0.98 {
		t.Errorf("at most %v and %v of the claim was attained: these neighbours test little", worst, off)
	}
}

func minimiser(t *testing.T, rows matrix.Rows, labels []float64, m objpert.Output) []float64 {
	t.Helper()
	s := must.Get(erm.Minimize(&erm.Problem{Rows: rows, Labels: labels, Loss: m.Loss, Lambda: m.Lambda},
		&erm.Settings{Tolerance: m.Tolerance}))
	return s.Theta
}

// stoppedShort returns the point in the given direction from the minimiser at which ‖∇J‖ is |tau|, to the other side if
// tau is negative.
func stoppedShort(t *testing.T, rows matrix.Rows, labels []float64, m objpert.Output, at, direction []float64,
	tau float64) []float64 {
	t.Helper()
	p := erm.Problem{Rows: rows, Labels: labels, Loss: m.Loss, Lambda: m.Lambda}
	g, point := make([]float64, len(at)), make([]float64, len(at))
	lo, hi := 0.0, math.Abs(tau)/m.Lambda/floats.Norm(direction, 2)
	for range 50 {
		mid := 0.5 * (lo + hi)
		floats.AddScaledTo(point, at, math.Copysign(mid, tau), direction)
		erm.Evaluate(&p, g, point)
		if floats.Norm(g, 2) <= math.Abs(tau) {
			lo = mid
		} else {
			hi = mid
		}
	}
	floats.AddScaledTo(point, at, math.Copysign(lo, tau), direction)
	return point
}

func TestOutputCalibration(t *testing.T) {
	for _, eps := range []float64{0.1, 1, 8} {
		for _, delta := range []float64{1e-5, 1e-12, 0} {
			c := outputConfig()
			c.Epsilon, c.Delta = eps, delta
			m := must.Get(objpert.CalibrateOutput(c))
			p, err := mechanism.Profile(m)
			if err != nil {
				t.Fatal(err)
			}
			if d := privacy.DeltaUpper(p, eps); d > delta || d < 0.999*delta {
				t.Errorf("ε = %v: δ = %v, asked for %v", eps, d, delta)
			}
			m.Sigma, m.Scale = 0.999*m.Sigma, 0.999*m.Scale
			if p, err = mechanism.Profile(m); err != nil || privacy.DeltaUpper(p, eps) <= delta {
				t.Errorf("ε = %v, δ = %v: less noise goes unnoticed (%v)", eps, delta, err)
			}
		}
	}
}

// TestOutputRun: the release is the minimiser plus noise of the stated law.
func TestOutputRun(t *testing.T) {
	rows, labels := records(60, 3, 2)
	for _, delta := range []float64{1e-5, 0} {
		c := outputConfig()
		c.Delta = delta
		m := must.Get(objpert.CalibrateOutput(c))
		center := minimiser(t, rows, labels, m)
		const draws = 3000
		var square float64
		root := noise.NewSeeded(1)
		for i := range draws {
			r := must.Get(m.Run(rows, labels, root.Stream(i), &mechanism.Settings{Workers: 1}))
			d := floats.Distance(r.Coefficients, center, 2)
			square += d * d / draws
			if i == 0 && (!r.Simulated() || r.Guarantee.Adjacency != privacy.AddRemove || r.Tolerance != m.Tolerance) {
				t.Errorf("the release says %+v", r)
			}
		}
		want, spread := 3*m.Sigma*m.Sigma, math.Sqrt(2.0/3/draws)
		if delta == 0 {
			want, spread = 12*m.Scale*m.Scale, math.Sqrt(1.5/draws) // E = d(d+1)b²
		}
		if !(math.Abs(square/want-1) <= 5*spread) {
			t.Errorf("δ = %v: E‖z‖² = %v, want %v", delta, square, want)
		}
	}
}

func TestOutputRefuses(t *testing.T) {
	rows, labels := records(20, 3, 2)
	m := must.Get(objpert.CalibrateOutput(outputConfig()))
	var param *privacy.ParamError
	for name, change := range map[string]func(*objpert.OutputConfig){
		"λ": func(c *objpert.OutputConfig) { c.Lambda = 0 }, "ε": func(c *objpert.OutputConfig) { c.Epsilon = 0 },
		"δ": func(c *objpert.OutputConfig) { c.Delta = 1 }, "τ": func(c *objpert.OutputConfig) { c.Tolerance = -1 },
	} {
		c := outputConfig()
		change(&c)
		if _, err := objpert.CalibrateOutput(c); !errors.As(err, &param) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := outputConfig()
	c.Loss = loss.Squared{}
	if _, err := objpert.CalibrateOutput(c); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("a loss of unbounded slope: %v", err)
	}
	c.Clip = 1
	if _, err := objpert.CalibrateOutput(c); err != nil {
		t.Errorf("clipped: %v", err)
	}
	both := m
	both.Scale = 1
	if err := both.Validate(); !errors.As(err, &param) {
		t.Errorf("two kinds of noise: %v", err)
	}
	long := matrix.NewDense(1, 3, []float64{1, 1, 1})
	var data *matrix.DataError
	if _, err := m.Run(long, []float64{1}, noise.NewSeeded(1), nil); !errors.As(err, &data) {
		t.Errorf("a record too long: %v", err)
	}
	if _, err := m.Run(rows, labels, nil, nil); err == nil {
		t.Error("no source of noise, and no error")
	}
	short := m
	short.Tolerance = 1e-29
	r, err := short.Run(rows, labels, noise.NewSeeded(1), nil)
	if r != nil || !errors.Is(err, erm.ErrTolerance) {
		t.Errorf("τ was missed: %v, %v", r, err)
	}
	if err != nil && strings.ContainsAny(strings.ReplaceAll(err.Error(), "1e-29", ""), "0123456789") {
		t.Errorf("the error tells figures of the records: %v", err)
	}
}
