package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
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

// ones is a source of which every bit is 1.
type ones struct{}

func (ones) Uint64() uint64 { return math.MaxUint64 }

// What some digits of an isotropic vector say holds for whatever the further ones are, here the largest: integers about
// Γ and about ‖N‖ enclose what more digits tell.
func TestIsotropicKnowsNoMoreThanItsDigits(t *testing.T) {
	for seed := range byte(20) {
		n := New(rand.NewChaCha8([32]byte{seed})).IsotropicLaplace(3)
		n.s.bits = ones{}
		for digits := 1; digits < 4; digits++ {
			k, ok := n.know(digits)
			more, _ := n.know(digits + 1)
			if !ok {
				continue
			}
			scaled := func(x *big.Int) *big.Int { return new(big.Int).Lsh(x, n.s.width) }
			if scaled(k.gamma).Cmp(more.gamma) > 0 || scaled(k.gammaAbove).Cmp(more.gammaAbove) < 0 {
				t.Errorf("Γ in [%v, %v] by %d digits, in [%v, %v] by one more", k.gamma, k.gammaAbove, digits,
					more.gamma, more.gammaAbove)
			}
			low, up := new(big.Int), new(big.Int)
			for _, l := range k.lower {
				above := new(big.Int).Add(l, big.NewInt(1))
				low.Add(low, new(big.Int).Mul(l, l))
				up.Add(up, above.Mul(above, above))
			}
			square := func(x *big.Int) *big.Int { return new(big.Int).Mul(x, x) }
			if square(k.least).Cmp(low) > 0 || square(k.largest).Cmp(up) < 0 {
				t.Errorf("‖N‖ in [%v, %v], its square in [%v, %v]", k.least, k.largest, low, up)
			}
		}
	}
}
