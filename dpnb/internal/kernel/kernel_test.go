package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"
)

func filled(n int, phase float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Sin(phase + 1.7*float64(i))
	}
	return x
}

// TestKernelsAgreeWithTheirDefinition runs over every remainder of rows and columns, and guards the memory behind the
// slices.
func TestKernelsAgreeWithTheirDefinition(t *testing.T) {
	const guard = 12345
	for n := range 11 {
		for d := range 21 {
			x, theta, w := filled(n*d, 1), filled(d, 2), filled(n, 3)
			dst := filled(n+4, 4)
			for i := n; i < n+4; i++ {
				dst[i] = guard
			}
			Margins(dst[:n], x, theta)
			sum := append(filled(d, 5), guard, guard, guard, guard)
			want := filled(d, 5)
			AddScaled(sum[:d], x, w)
			for i := range n {
				var m float64
				for j := range d {
					m += x[i*d+j] * theta[j]
					want[j] += w[i] * x[i*d+j]
				}
				if !(math.Abs(m-dst[i]) <= 1e-13) {
					t.Fatalf("n=%d d=%d: margin %d is %v, want %v", n, d, i, dst[i], m)
				}
			}
			for j := range d {
				if !(math.Abs(want[j]-sum[j]) <= 1e-13) {
					t.Fatalf("n=%d d=%d: sum %d is %v, want %v", n, d, j, sum[j], want[j])
				}
			}
			for _, v := range append(dst[n:n+4:n+4], sum[d:]...) {
				if v != guard {
					t.Fatalf("n=%d d=%d: wrote behind the end", n, d)
				}
			}
		}
	}
}

func TestAddGram(t *testing.T) {
	for _, d := range []int{8, 16, 24, 40} {
		for _, k := range []int{0, 1, 2, 7, 30} {
			a, c := filled(k*d, 1), filled(d*d, 2)
			want := filled(d*d, 2)
			AddGram(c, a, k, d)
			for i := range d {
				for j := i; j < d; j++ {
					for r := range k {
						want[i*d+j] += a[r*d+i] * a[r*d+j]
					}
					if !(math.Abs(want[i*d+j]-c[i*d+j]) <= 1e-13) {
						t.Fatalf("d=%d k=%d: (%d,%d) is %v, want %v", d, k, i, j, c[i*d+j], want[i*d+j])
					}
				}
			}
		}
	}
}

func BenchmarkKernels(b *testing.B) {
	const n, d = 64, 104
	x, theta, w := filled(n*d, 1), filled(d, 2), filled(n, 3)
	c := make([]float64, d*d)
	for name, f := range map[string]func(){
		"Margins":   func() { Margins(w, x, theta) },
		"AddScaled": func() { AddScaled(theta, x, w) },
		"AddGram":   func() { AddGram(c, x, n, d) },
	} {
		b.Run(fmt.Sprint(name, "/fast=", fast), func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
		})
	}
}

// Float32 of every kind come back as they are, at every remainder of the length.
func TestWiden(t *testing.T) {
	for n := range 37 {
		var raw []byte
		want := make([]float64, n)
		for i := range want {
			f := float32(math.Ldexp(math.Sin(float64(i+1)), []int{0, -140, 120, -20}[i%4]))
			want[i] = float64(f)
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
		}
		dst := append(make([]float64, n), 7)
		if Widen(dst[:n], raw); !slices.Equal(dst[:n], want) || dst[n] != 7 {
			t.Fatalf("%d numbers: %v, want %v", n, dst, want)
		}
	}
}

// Rows of float32 give the bits that they give when they are widened, at every remainder of rows and columns, and
// nothing is written beside.
func TestWideKernels(t *testing.T) {
	for n := range 11 {
		for d := range 21 {
			var raw []byte
			x := make([]float64, n*d)
			for i, v := range filled(n*d, 1) {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
				x[i] = float64(float32(v))
			}
			got, want := append(make([]float64, n), 7), make([]float64, n)
			theta, w := filled(d, 2), filled(n, 3)
			k := MarginsWide(got[:n], raw, theta)
			if Margins(want, x, theta); !slices.Equal(got[:k], want[:k]) || fast && d > 0 && k != n&^3 || got[n] != 7 {
				t.Fatalf("n=%d d=%d: %d margins %v, want %v", n, d, k, got, want)
			}
			sum, other := append(filled(d, 5), 7), filled(d, 5)
			k = AddScaledWide(sum[:d], raw, w)
			if AddScaled(other, x[:k*d], w[:k]); !slices.Equal(sum[:d], other) || sum[d] != 7 {
				t.Fatalf("n=%d d=%d: the sum of %d rows is %v, want %v", n, d, k, sum, other)
			}
		}
	}
}

// Rounded products have the bits of the definition, at every remainder of columns, and nothing is written beside. Those
// of fused multiplications are others: there are products next to the middle of two multiples.
func TestAddRounded(t *testing.T) {
	const h = 0x1p-20
	m := 0x1.8p52 * h
	for d := range 21 {
		for by := range 3 {
			stride := d + by
			x, w := filled(4*stride+4, 1), filled(3*by+1, 2)
			if d%2 == 1 {
				for j := range x {
					x[j] = (1 - 0x1p-30) * (float64(2*j) + 1.5) * h
				}
				for r := range w {
					w[r] = 1 + 0x1p-30
				}
			}
			dst := append(filled(d, 3), 7)
			for j := range dst[:d] {
				dst[j] = float64(int(dst[j]*100)) * h
			}
			want := slices.Clone(dst)
			k := AddRounded(dst[:d], x, stride, w, by, m)
			if fast && k != d&^3 || !fast && k != 0 {
				t.Fatalf("d=%d: %d entries", d, k)
			}
			for r := range 4 {
				for j := range k {
					want[j] += float64(float64(w[r*by]*x[r*stride+j])+m) - m
				}
			}
			if !slices.Equal(dst, want) {
				t.Fatalf("d=%d: %v, want %v", d, dst, want)
			}
		}
	}
}
