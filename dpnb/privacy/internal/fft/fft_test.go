package fft

import (
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

func input(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Sin(float64(i*i%97)) + 0.1*float64(i%5)
	}
	return x
}

// Against gonum's transform, in the 2-norm that error bounds are stated in.
func TestAgainstGonum(t *testing.T) {
	for _, n := range []int{2, 4, 6, 8, 10, 12, 30, 48, 50, 64, 90, 100, 250, 256, 1024, 1080, 2430, 6250, 15360, 65536,
		60750} {
		x := input(n)
		got := make([]complex128, n/2+1)
		f := NewReal(n)
		f.Coefficients(got, x)
		want := fourier.NewFFT(n).Coefficients(nil, x)
		var diff, norm float64
		for i := range got {
			diff += math.Pow(cmplx.Abs(got[i]-want[i]), 2)
			norm += math.Pow(cmplx.Abs(want[i]), 2)
		}
		if r := math.Sqrt(diff / norm); r > 1e-15*math.Log2(float64(n)) {
			t.Errorf("n = %d: relative distance %g", n, r)
		}
		back := make([]float64, n)
		f.Sequence(back, got)
		diff, norm = 0, 0
		for i := range back {
			diff += math.Pow(back[i]/float64(n)-x[i], 2)
			norm += x[i] * x[i]
		}
		if r := math.Sqrt(diff / norm); r > 1e-15*math.Log2(float64(n)) {
			t.Errorf("n = %d: there and back, relative distance %g", n, r)
		}
	}
}

func TestRoots(t *testing.T) {
	for _, n := range []int{2, 10, 1000, 65536, 60750} {
		roots := NewRoots(n)
		for k := range n {
			w := roots.At(k)
			// The angle between −π and π.
			if d := cmplx.Abs(w - cmplx.Exp(complex(0, -2*math.Pi*float64(k-k*2/n*n)/float64(n)))); d > 1e-15 {
				t.Fatalf("n = %d: root %d off by %g", n, k, d)
			}
		}
	}
}

func BenchmarkCoefficients(b *testing.B) {
	for _, n := range []int{32768, 61440, 524288} {
		x := input(n)
		dst := make([]complex128, n/2+1)
		f := NewReal(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				f.Coefficients(dst, x)
			}
		})
		b.Run(fmt.Sprintf("gonum/%d", n), func(b *testing.B) {
			g := fourier.NewFFT(n)
			for b.Loop() {
				g.Coefficients(dst, x)
			}
		})
	}
}
