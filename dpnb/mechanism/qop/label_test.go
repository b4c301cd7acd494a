package qop

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Labels xᵀθ⋆ in float64 and in twice the precision give gradients that differ by less than what the solver's tolerance
// leaves room for.
func TestUnseenCoversRoundedLabels(t *testing.T) {
	const d = 30
	for seed := range uint64(5) {
		rows, labels, star := interpolated(200, d, seed)
		unit := 1.0
		if seed == 4 { // longer records and a longer θ⋆, by a power of two: the same digits
			unit = 1 << 10
			floats.Scale(unit, rows.Data)
			floats.Scale(unit, star)
			floats.Scale(unit*unit, labels)
		}
		m := Perturbation{Loss: loss.Squared{}, RowNorm: unit, Interpolation: AssumeInterpolation(star, 0)}
		diff := make([]float64, d)
		for i := range labels {
			x := rows.Data[i*d : (i+1)*d]
			// The label's error, by exact products.
			exact, low := -labels[i], 0.0
			for j, v := range x {
				p := v * star[j]
				low += math.FMA(v, star[j], -p)
				s := exact + p
				b := s - exact
				low += (exact - (s - b)) + (p - b)
				exact = s
			}
			for j, v := range x {
				diff[j] += v * (exact + low)
			}
		}
		var norm float64
		for _, v := range diff {
			norm = math.Hypot(norm, v)
		}
		bent := m
		bent.Loss = loss.SmoothedHinge{Width: 0.25}
		if r := bent.unseen(200) / m.unseen(200); !(math.Abs(r/4-1) <= 1e-12) {
			t.Errorf("four times the curvature needs %v times the room", r)
		}
		long := m
		long.RowNorm *= 4
		if r := long.unseen(200) / m.unseen(200); !(math.Abs(r/16-1) <= 1e-12) {
			t.Errorf("rows four times as long need %v times the room", r)
		}
		if !(norm > 0) || norm > m.unseen(200) {
			t.Errorf("the gradients differ by %g, room is left for %g", norm, m.unseen(200))
		}
	}
}

// The solver and the matrix have the tolerance together, and nearly all of it.
func TestSharesOfTheTolerance(t *testing.T) {
	for _, tolerance := range []float64{1e-9, 0.3, 7} {
		if a, b := shares(tolerance); !(a > 0 && b > 0) || a+b > tolerance || a+b < 0.999*tolerance {
			t.Errorf("%g and %g of %g", a, b, tolerance)
		}
	}
}

// What is released does not tell the number of records.
func TestToleranceIsNotOfTheRecords(t *testing.T) {
	rows, labels, star := interpolated(50, 4, 1)
	c := config(star, 0)
	c.Adjacency = privacy.AddRemove
	m := must.Get(Calibrate(c))
	all := must.Get(m.Run(rows, labels, noise.NewSeeded(1), nil))
	fewer, err := m.Run(matrix.NewDense(49, 4, rows.Data[:49*4]), labels[:49], noise.NewSeeded(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if all.Tolerance != fewer.Tolerance || m.unseen(50) == m.unseen(49) {
		t.Errorf("%.17g with 50 records, %.17g with 49", all.Tolerance, fewer.Tolerance)
	}
	// An accuracy that rounded labels cannot have is missed as any other.
	tiny := c
	tiny.Accuracy = 1e-34
	m = must.Get(Calibrate(tiny))
	if _, err = m.Run(rows, labels, noise.NewSeeded(1), nil); !errors.Is(err, erm.ErrTolerance) {
		t.Errorf("τ = 1e-34: %v", err)
	}
}

// Output noise below the last digit of θ hides nothing.
func TestOutputNoiseMustShow(t *testing.T) {
	testscale.Slow(t)
	c := config([]float64{1e20, 0, 0, 0}, 0)
	c.HiddenDimension = 9
	if _, err := Calibrate(c); err == nil {
		t.Error("noise that rounding swallows was accepted")
	}
	c.Accuracy = 1e34
	if _, err := Calibrate(c); err != nil {
		t.Error(err)
	}
}
