package smoothing_test

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// The pinball loss, smoothed by two kernels of the same curvature: the uniform one is the nearest, and needs nothing
// beyond its width.
func ExamplePiecewise_Convolve() {
	loss := smoothing.Pinball(0.9)
	for _, k := range []smoothing.Kernel{smoothing.Uniform{}, smoothing.Gaussian{}} {
		s := loss.Convolve(k, smoothing.Peak(k)) // curvature 1
		fmt.Printf("%-8s curvature %.0f; above the loss by %.4f at 0, %.4f at ½\n", k.Name(), s.Smoothness(), s.Gap(0),
			s.Gap(0.5))
	}
	// Output:
	// uniform  curvature 1; above the loss by 0.1250 at 0, 0.0000 at ½
	// Gaussian curvature 1; above the loss by 0.1592 at 0, 0.0200 at ½
}

// epanechnikov is a kernel of somebody else: ¾(1 − v²) on [−1, 1].
type epanechnikov struct{}

func (epanechnikov) Name() string { return "Epanechnikov" }

func (epanechnikov) Density(v float64) float64 { return 0.75 * math.Max(0, 1-v*v) }

func (epanechnikov) Tail(v float64) float64 {
	r := math.Max(0, 1-v)
	return r * r * (2 + math.Min(v, 1)) / 4
}

func (epanechnikov) Gap(v float64) float64 {
	r := math.Max(0, 1-v)
	return r * r * r * (3 + math.Min(v, 1)) / 8
}

func (epanechnikov) Variance() float64 { return 0.2 }

func (epanechnikov) Draw(u float64) float64 { return 2 * math.Sin(math.Asin(2*u-1)/3) }

// Any even density will do that knows its tail and the integral of that.
func ExampleKernel() {
	g := smoothing.Norm{Kernel: epanechnikov{}, Width: 0.5}
	grad := make([]float64, 2)
	fmt.Printf("%.4f, slopes", g.ValueGradient(grad, []float64{0.25, -2}))
	fmt.Printf(" %.4f\n", grad)
	// Output: 2.2773, slopes [0.6875 -1.0000]
}

// Moreau's envelope is below the function, the one by Hellinger's distance above it.
func ExamplePiecewise_Envelope() {
	for _, d := range []smoothing.Distance{smoothing.Quadratic{Beta: 1}, smoothing.Hellinger{Beta: 1}} {
		e, err := smoothing.Absolute().Envelope(d, 0.5)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %.3f at 0, %.3f at 1\n", d.Name(), e.Value(0), e.Value(1))
	}
	_, err := smoothing.Absolute().Envelope(smoothing.Hellinger{Beta: 0.5}, 0.5)
	fmt.Println(err)
	// Output:
	// quadratic: 0.000 at 0, 0.750 at 1
	// Hellinger: 0.500 at 0, 1.118 at 1
	// smoothing: slopes up to 1, and the Hellinger distance has none beyond 0.5: raise β to the largest slope
}

// The largest of three affine functions in the plane: its mean over a Gaussian kernel, and the entropic smoothing,
// which takes no integral.
func ExamplePolyhedral() {
	f, err := smoothing.NewPolyhedral([][]float64{{1, 0}, {0, 1}, {-1, -1}}, []float64{0, 0, 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, grad := []float64{0.2, 0.1}, make([]float64, 2)
	g, err := f.Gaussian(0.3)
	if err != nil {
		fmt.Println(err)
		return
	}
	value, off := g.ValueGradient(grad, x)
	fmt.Printf("%.3f → %.6f, gradient %.4f, off by less than 1e-9: %v\n", f.Value(x), value, grad, off < 1e-9)
	fmt.Printf("entropic %.6f, gradient %.4f\n", f.Entropic(0.3).ValueGradient(grad, x), grad)
	// Output:
	// 0.200 → 0.525823, gradient [-0.0785 -0.1961], off by less than 1e-9: true
	// entropic 0.499807, gradient [0.0000 -0.1043]
}
