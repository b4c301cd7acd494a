package exact

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Two sums that are joined are the sum of all matrices, whatever was moved to integers before.
func TestJoin(t *testing.T) {
	x := []float64{0.5, -0.25, 0.125, 1, -1, 0.75, 0.25, 0.25}
	all, a, b := NewOuter(2, 4), NewOuter(2, 4), NewOuter(2, 4)
	all.Add(x, 4)
	a.Add(x[:4], 2)
	b.Add(x[4:6], 1)
	b.flush()
	b.Add(x[6:], 1)
	a.Join(b)
	if got, want := a.Matrix(), all.Matrix(); !mat.Equal(got, want) || want.At(0, 0) == 0 {
		t.Errorf("%v, want %v", mat.Formatted(got), mat.Formatted(want))
	}
	total := NewTotal(2, 0.5)
	total.Add([]float64{1, -2})
	before := slices.Clone(total.Counts())
	if total.Clear(); !slices.Equal(before, []int64{2, -4}) || !slices.Equal(total.Counts(), []int64{0, 0}) {
		t.Errorf("%v, cleared %v", before, total.Counts())
	}
}

// A symmetric matrix gets as much noise beside its diagonal as on it, of the scales that are given.
func TestSymmetricNoise(t *testing.T) {
	const d = 24
	for name, draw := range map[string]func(*Sampler, int) *Symmetric{
		"normal": (*Sampler).SymmetricNormals, "Laplace": (*Sampler).SymmetricLaplaces,
	} {
		m := mat.NewSymDense(d, nil)
		draw(New(rand.NewPCG(3, 1)), d).AddRounded(m, 1, 8, 0x1p-20)
		var on, off float64
		for i := range d {
			on += math.Abs(m.At(i, i)) / d
			for j := range i {
				off += math.Abs(m.At(i, j)) * 2 / (d * (d - 1))
			}
		}
		if !(on > 0.4 && on < 1.6) || !(off > 5 && off < 11) { // 0.80 and 1 times the scale; 4 standard errors and more
			t.Errorf("%s: %v on the diagonal, %v beside it", name, on, off)
		}
	}
}

// Fractions in fixed point: m·2^e is moved up by whole words, within one and below the last bit.
func TestFixed(t *testing.T) {
	for _, c := range []struct {
		x       float64
		n       int
		hi      int64
		lo      uint64
		inexact bool
	}{
		{0.5, 125, 1 << 60, 0, false}, {-0.5, 125, -1 << 60, 0, false}, {0.75, 117, 3 << 51, 0, false},
		{0.5, 64, 0, 1 << 63, false}, {0.5, 65, 1, 0, false}, {-0.25, 64, -1, 3 << 62, false},
		{0x1p-60, 59, 0, 0, true},
		{-0x1p-60, 59, -1, math.MaxUint64, true}, {0x1p-200, 64, 0, 0, true}, {0, 100, 0, 0, false},
		{0x1.8p-10, 10, 0, 1, true}, {-0x1.8p-10, 10, -1, math.MaxUint64 - 1, true},
	} {
		if v, inexact := fixed(c.x, c.n); v != (int128{c.hi, c.lo}) || inexact != c.inexact {
			t.Errorf("⌊%v·2^%d⌋ = %v, inexact %v", c.x, c.n, v, inexact)
		}
	}
}

// What is out of range panics, and what is at its ends does not.
func TestRanges(t *testing.T) {
	s := New(rand.NewPCG(1, 1))
	for name, c := range map[string]struct {
		f      func()
		panics bool
	}{
		"a scale below 2^-120": {func() { s.Normals(1).AddRounded([]float64{0}, 0x1p-121, 0x1p-140) }, true},
		"a scale of 2^-120":    {func() { s.Normals(1).AddRounded([]float64{0}, 0x1p-120, 0x1p-140) }, false},
		"a scale of 2^120":     {func() { s.Normals(1).AddRounded([]float64{0}, 0x1p120, 0x1p100) }, false},
		"a scale above 2^120":  {func() { s.Normals(1).AddRounded([]float64{0}, 0x1p121, 0x1p100) }, true},
		"a grid of no power":   {func() { s.Normals(1).AddRounded([]float64{0}, 1, 0.375) }, true},
		"a grid above it":      {func() { s.Normals(1).AddRounded([]float64{0}, 1, 2) }, true},
		"a grid as wide":       {func() { s.Normals(1).AddRounded([]float64{0}, 1, 1) }, false},
		"a grid of 2^-53":      {func() { s.Normals(1).AddRounded([]float64{0}, 1, 0x1p-53) }, false},
		"a grid below":         {func() { s.Normals(1).AddRounded([]float64{0}, 1, 0x1p-54) }, true},
		"a total of thirds":    {func() { NewTotal(1, 0.3) }, true},
		"none below 0":         {func() { s.Below(0) }, true},
		"one below 1":          {func() { s.Below(1) }, false},
		"a rate above 1":       {func() { s.Subset(nil, 1.5, 3) }, true},
		"a rate of 1":          {func() { s.Subset(nil, 1, 3) }, false},
		"no mean":              {func() { s.Poisson(0) }, true},
		"a mean above 1e6":     {func() { s.Poisson(1.1e6) }, true},
	} {
		func() {
			defer func() {
				if p := recover(); (p != nil) != c.panics {
					t.Errorf("%s: %v", name, p)
				}
			}()
			c.f()
		}()
	}
}
