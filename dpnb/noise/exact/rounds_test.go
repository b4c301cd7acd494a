package exact

import (
	"math"
	"math/big"
	"testing"
)

// A number is rounded down to a multiple of 2^unit, below zero too, and it is said where it was none.
func TestFloor(t *testing.T) {
	for _, x := range []float64{0, 1, 1.5, -1.5, 0.75, -0x1p-70, 1e30, math.Pi} {
		for _, unit := range []int{-60, -1, 0, 2} {
			v, inexact := floor(x, unit)
			step := new(big.Float).SetMantExp(big.NewFloat(1), unit)
			at := new(big.Float).SetPrec(300).Mul(new(big.Float).SetPrec(300).SetInt(v), step)
			above := new(big.Float).SetPrec(300).Add(at, step)
			of := big.NewFloat(x)
			if at.Cmp(of) > 0 || above.Cmp(of) <= 0 || inexact != (at.Cmp(of) != 0) {
				t.Errorf("⌊%g/2^%d⌋ = %v, inexact %v", x, unit, v, inexact)
			}
		}
	}
}

// Noise is added once, and to as many numbers as it has variates.
func TestNoiseIsUsedOnce(t *testing.T) {
	panics := func(what string, f func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s is accepted", what)
			}
		}()
		f()
	}
	s := seeded(1, 64)
	n := s.Normals(2)
	panics("noise for two numbers, for three", func() { n.AddRounded(make([]float64, 3), 1, 0x1p-20) })
	n.AddRounded(make([]float64, 2), 1, 0x1p-20)
	panics("noise that was used", func() { n.AddRounded(make([]float64, 2), 1, 0x1p-20) })
}

// A number below the unit of the noise decides a cell where the first digit of the noise ends at the border of two:
// with what is next to ½g of noise a number of 2⁻¹²⁰ may be rounded up, and only further digits tell.
func TestPartBelowTheUnitCounts(t *testing.T) {
	r, s := newRounder(1, 0x1p-20), New(nil) // no digit is drawn
	next := func() *variate { return &variate{fraction: number{first: 1<<43 - 1, known: 1}} }
	if k, ok := r.fast(0, s, next()); k != 0 || !ok {
		t.Errorf("0 with less than half a cell becomes %d, %v", k, ok)
	}
	if k, ok := r.fast(0x1p-120, s, next()); ok {
		t.Errorf("2^-120 with next to half a cell is decided to be %d", k)
	}
	if k, ok := r.fast(-0x1p-120, s, next()); k != 0 || !ok {
		t.Errorf("-2^-120 with less than half a cell becomes %d, %v", k, ok)
	}
}
