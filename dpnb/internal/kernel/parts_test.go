package kernel

import (
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// The upper triangle is copied to the lower, and nothing else is, of matrices smaller and larger than a tile.
func TestMirror(t *testing.T) {
	for _, d := range []int{1, 7, 32, 33, 65} {
		a := make([]float64, d*d)
		for i := range a {
			a[i] = float64(i + 1)
		}
		Mirror(a, d)
		for i := range d {
			for j := range d {
				if want := float64(min(i, j)*d + max(i, j) + 1); a[i*d+j] != want {
					t.Fatalf("d = %d: entry (%d, %d) is %v, want %v", d, i, j, a[i*d+j], want)
				}
			}
		}
	}
}

func TestPadded(t *testing.T) {
	for d, want := range map[int]int{0: 0, 1: 8, 7: 8, 8: 8, 9: 16, 64: 64, 65: 72} {
		if got := Padded(d); got != want {
			t.Errorf("%d is padded to %d, want %d", d, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a stride that is not padded is taken")
		}
	}()
	AddGram(make([]float64, 81), make([]float64, 9), 1, 9)
}

// hi + lo is the same sum after it was normalised, exactly, with hi the float64 next to it; lo may be longer.
func TestNormalise(t *testing.T) {
	hi, lo := []float64{1, -3, 0x1p60}, []float64{0x1p-53 * 1.5, 2, -1, 77}
	sum := func(k int) *big.Float {
		return new(big.Float).SetPrec(300).Add(big.NewFloat(hi[k]), big.NewFloat(lo[k]))
	}
	before := []*big.Float{sum(0), sum(1), sum(2)}
	Normalise2(hi, lo)
	for k, want := range before {
		if near, _ := want.Float64(); sum(k).Cmp(want) != 0 || hi[k] != near || lo[3] != 77 {
			t.Errorf("%v + %v, want %v", hi[k], lo[k], want)
		}
	}
}

// What bounds the rounding of a norm does so, by no more than was worked out; what is lost below the range of float64
// counts for as many records, features and terms as there are.
func TestRoundingBounds(t *testing.T) {
	for d, want := range map[int]float64{0: 8, 2: 13, 100: 258} {
		if got := NormError(d); got != want*0x1p-53 {
			t.Errorf("d = %d: %v u, want %v u", d, got/0x1p-53, want)
		}
	}
	x := make([]float64, 1000)
	square := new(big.Float).SetPrec(300)
	for i := range x {
		x[i] = math.Exp(math.Sin(float64(i)) * 3)
		v := new(big.Float).SetPrec(300).SetFloat64(x[i])
		square.Add(square, v.Mul(v, v))
	}
	exact := new(big.Float).SetPrec(300).Sqrt(square)
	off := new(big.Float).SetPrec(300).Sub(exact, big.NewFloat(floats.Norm(x, 2)))
	if rel, _ := off.Quo(off, exact).Float64(); !(math.Abs(rel) <= NormError(len(x))) {
		t.Errorf("the norm is off by %v of itself", rel)
	}
	for _, c := range []struct {
		n, d              int
		norm, curv, slope float64
		want              float64
	}{
		{1, 1, 0, 5, 9, 0x1p-1020}, {1, 1, 1, 0, 0.5, 2 * 0x1p-1020}, {3, 4, 2, 0, 5, 3 * 2 * 11 * 0x1p-1020},
		{2, 9, 3, 0x1p60, 1, 2 * (27*0x1p-1014 + 12*0x1p-1020)},
	} {
		if got := Underflow(c.n, c.d, c.norm, c.curv, c.slope); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
