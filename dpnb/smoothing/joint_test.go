package smoothing

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// TestNormOfKernels: closed forms, m = 1, where it is E|K|, and E‖(K₁, K₂)‖₂ of the Laplacian law, ∫∫ in polar
// coordinates = 2·∫₀^{π/2} (cos φ + sin φ)^{−3} dφ = 1.6232…
func TestNormOfKernels(t *testing.T) {
	for _, k := range allKernels()[:5] {
		if got, want := (Product{k, 1}).Moment(2), k.Gap(0); !scalar.EqualWithinRel(got, want, 1e-11) {
			t.Errorf("%s: E|K| = %v, want %v", k.Name(), got, want)
		}
		if got, want := (Product{k, 1}).Moment(1.1), k.Gap(0); !scalar.EqualWithinRel(got, want, 1e-10) {
			t.Errorf("%s: E|K| = %v, want %v", k.Name(), got, want)
		}
	}
	for _, m := range []float64{2, 7} {
		above, _ := math.Lgamma((m + 1) / 2)
		below, _ := math.Lgamma(m / 2)
		if got, want := (Product{Gaussian{}, int(m)}).Moment(2),
			math.Sqrt2*math.Exp(above-below); !scalar.EqualWithinRel(got, want, 1e-11) {
			t.Errorf("m = %v: E‖N‖₂ = %v, want %v", m, got, want)
		}
	}
	polar := 0.0
	const n = 20000
	for i := range n {
		phi := (float64(i) + 0.5) * math.Pi / 2 / n
		polar += 2 * math.Pow(math.Cos(phi)+math.Sin(phi), -3) * math.Pi / 2 / n
	}
	if got := (Product{Laplacian{}, 2}).Moment(2); !scalar.EqualWithinRel(got, polar, 1e-8) {
		t.Errorf("E‖K‖₂ = %v of two Laplacian variates, want %v", got, polar)
	}
	// The mean distance of a point of the square [−1, 1]² from its centre.
	if got, want := (Product{Uniform{}, 2}).Moment(2), (math.Sqrt2+math.Asinh(1))/3; !scalar.EqualWithinRel(got, want,
		1e-11) {
		t.Errorf("E‖K‖₂ = %v of two uniform variates, want %v", got, want)
	}
}

// TestDrawsOfJointKernels: E‖K‖_p for p = 1, 1.5 and 2 and the variance of a coordinate within 5 standard errors, which
// is failed by chance once in 30,000 times.
func TestDrawsOfJointKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, m := range []int{1, 3, 10} {
		for _, k := range append(TableOne(m), Product{Logistic{}, m}) {
			const n = 20000
			var sum, squares [4]float64
			v := make([]float64, m)
			want := [4]float64{k.Moment(1), k.Moment(2), k.Coordinate().Variance(), k.Moment(1.5)}
			for range n {
				k.Draw(v, rng.Float64)
				for i, x := range [4]float64{floats.Norm(v, 1), floats.Norm(v, 2), v[0] * v[0], floats.Norm(v, 1.5)} {
					sum[i] += x
					squares[i] += (x - want[i]) * (x - want[i])
				}
			}
			for i := range sum {
				if off := math.Abs(sum[i]/n-want[i]) / (math.Sqrt(squares[i]) / n); off > 5 {
					t.Errorf("%s, m = %d: moment %d is off by %.1f standard errors", k.Name(), m, i, off)
				}
			}
		}
	}
}

// TestSteepness: the integral ∫|⟨∇k, δ⟩| = E|⟨∇ln k(K), δ⟩| of draws is never above the constants, and reaches them
// along an axis.
func TestSteepness(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, m := range []int{1, 2, 5} {
		for _, k := range TableOne(m) {
			score := func(dst, v []float64) {
				switch copy(dst, v); k.Name() {
				case "exponential":
					floats.Scale(1/floats.Norm(v, 2), dst)
				case "Laplacian":
					for j := range dst {
						dst[j] = math.Copysign(1, v[j])
					}
				}
			}
			_, beta := k.Steepness()
			for trial := range 4 {
				const n = 20000
				delta, v, s := make([]float64, m), make([]float64, m), make([]float64, m)
				delta[0] = 1
				if trial > 0 {
					for j := range delta {
						delta[j] = rng.NormFloat64()
					}
					floats.Scale(1/floats.Norm(delta, 2), delta)
				}
				sum, squares := 0.0, 0.0
				for range n {
					k.Draw(v, rng.Float64)
					score(s, v)
					x := math.Abs(floats.Dot(s, delta))
					sum, squares = sum+x, squares+x*x
				}
				mean := sum / n
				se := math.Sqrt(math.Max(1e-30, squares/n-mean*mean) / n)
				if mean > beta+5*se+1e-12 || trial == 0 && mean < beta-5*se-1e-12 {
					t.Errorf("%s, m = %d, δ = %.2v: %v ± %v, the constant is %v", k.Name(), m, delta, mean, se, beta)
				}
			}
		}
	}
}

// The constants are no smaller than what is met: the ball about a triangle of slopes, the curvature of two planes and
// of envelopes of the norm, and how steep the uniform kernel of a square is along its diagonal.
func TestConstantsAreAttained(t *testing.T) {
	half := math.Sqrt(3) / 2
	triangle := mustPolyhedral(t, [][]float64{{5, 1}, {5 - half, -0.5}, {5 + half, -0.5}}, make([]float64, 3))
	if r := triangle.Radius(); !(r >= 1-1e-12 && r <= 1.01) {
		t.Errorf("a triangle with corners at a distance of 1 is within a ball of radius %v", r)
	}
	planes := mustGaussian(t, mustPolyhedral(t, [][]float64{{1}, {-1}}, []float64{0, 0}), 0.6)
	if got, want := planes.Smoothness(), 2*Peak(Gaussian{})/0.6; !scalar.EqualWithinRel(got, want, 1e-14) {
		t.Errorf("two planes: curvature %v, |x| has %v", got, want)
	}
	for _, d := range distances(math.Sqrt2) {
		e := must.Get(NewNormEnvelope(2, d, 0.6))
		grad := make([]float64, 2)
		e.ValueGradient(grad, []float64{1e-6, 0})
		if c := grad[0] / 1e-6; !scalar.EqualWithinRel(e.Smoothness(), c, 1e-6) {
			t.Errorf("%s: curvature %v at 0, bound %v", d.Name(), c, e.Smoothness())
		}
	}
	// Moved by s along its diagonal a square of side 2 has a share (1 − s/√8)² in common with itself.
	const s = 1e-6
	met := 2 * (1 - math.Pow(1-s/math.Sqrt(8), 2)) / s
	if _, beta := (Product{Uniform{}, 2}).Steepness(); !scalar.EqualWithinRel(beta, met, 1e-6) {
		t.Errorf("the kernel of a square has a steepness of %v, and %v is said", met, beta)
	}
}
