package kernel

import (
	"math"
	"testing"
)

func TestExpNegAbs(t *testing.T) {
	x := []float64{0, math.Copysign(0, -1), 1e-300, 0.34657359, 0.3466, 1, -1, 36.7, 707.9, -700}
	for v := -50.0; v < 50; v += 0.0137 {
		x = append(x, v)
	}
	dst := make([]float64, len(x))
	ExpNegAbs(dst, x)
	worst := 0.0
	for i, v := range x {
		want := math.Exp(-math.Abs(v))
		worst = math.Max(worst, math.Abs(dst[i]-want)/want)
	}
	if worst > 0x1p-51 {
		t.Errorf("relative error %v", worst)
	}
	for _, n := range []int{3, 4} { // by the scalar and by the vector code
		in := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300}[:n]
		out := make([]float64, n)
		ExpNegAbs(out, in)
		if !math.IsNaN(out[0]) {
			t.Errorf("e^NaN = %v", out[0])
		}
		for _, v := range out[1:] {
			if !(v >= 0 && v <= 1e-307) {
				t.Errorf("e^−∞ = %v", v)
			}
		}
	}
}

// oneByOne is Logistic with an exponential and a logarithm of the library for each record.
func oneByOne(slope, t, y []float64) (sum float64) {
	for i, ti := range t {
		m := y[i] * ti
		e := math.Exp(-math.Abs(m))
		slope[i] = -y[i] * (e / (1 + e))
		if m < 0 {
			slope[i] = -y[i] * (1 - e/(1+e))
		}
		sum += math.Log1p(e) + math.Max(0, -m)
	}
	return sum
}

func TestLogistic(t *testing.T) {
	for _, n := range []int{1, 3, 4, 511, 513, 2000} {
		for _, size := range []float64{1e-3, 1, 30, 600, 1e5} {
			x, y := filled(n, size), make([]float64, n)
			for i := range x {
				x[i] *= size
				y[i] = float64(1 - 2*(i%2))
			}
			a, b := make([]float64, n), make([]float64, n)
			va, vb := Logistic(a, x, y), oneByOne(b, x, y)
			if !(math.Abs(va-vb) <= 1e-14*vb) {
				t.Errorf("n=%d, size %v: value %v, want %v", n, size, va, vb)
			}
			for i := range a {
				if !(math.Abs(a[i]-b[i]) <= 8*0x1p-53*math.Abs(b[i])+1e-307) {
					t.Fatalf("n=%d, size %v: slope %v, want %v", n, size, a[i], b[i])
				}
			}
		}
	}
	// The tail keeps its digits.
	if v := Logistic(make([]float64, 1), []float64{40}, []float64{1}); !(math.Abs(v-math.Exp(-40)) <= 1e-15*v) {
		t.Errorf("log(1+e⁻⁴⁰) = %v", v)
	}
	if v := Logistic(make([]float64, 4), []float64{1, 1, 1, math.NaN()}, []float64{1, 1, 1, 1}); !math.IsNaN(v) {
		t.Errorf("NaN became %v", v)
	}
}

func BenchmarkLogistic(b *testing.B) {
	n := 256
	t, y, s := filled(n, 1), make([]float64, n), make([]float64, n)
	for i := range t {
		t[i] *= 5
		y[i] = math.Copysign(1, math.Sin(float64(i*i)))
	}
	for name, f := range map[string]func(slope, t, y []float64) float64{"kernel": Logistic, "one by one": oneByOne} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f(s, t, y)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/record")
		})
	}
}
