package audit

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// Two orthogonal rows are two lines: the quadrature in the plane and the sum of losses of cells agree, the latter a
// lower bound; a row turned together with the axes changes nothing.
func TestFormsAgainstProducts(t *testing.T) {
	l := loss.Absolute(smoothing.Logistic{}, 1)
	for _, d := range privacy.Directions {
		const ridge, sigma, eps = 0.5, 4.0, 0.3
		f := Forms{Loss: l, Rows: [][2]float64{{1, 0}, {0, 1}}, Labels: []float64{0, 2},
			Ridges: [2]float64{ridge, ridge}, Sigma: sigma}
		plane := f.Delta(d, eps, 300)
		one := Scalar{Loss: l, ExtraX: 1, Lambda: ridge, Sigma: sigma}
		two := one
		two.ExtraY = 2
		lines := ProductDelta([]Scalar{one, two}, d, eps, 3000)
		if r := lines / plane; r > 1.001 || r < 0.98 {
			t.Errorf("%v: %.6g in lines, %.6g in the plane", d, lines, plane)
		}
		cos, sin := math.Cos(0.7), math.Sin(0.7)
		f.Rows, f.Turn, f.Ridges = [][2]float64{{cos, sin}, {-sin, cos}}, 0.7, [2]float64{ridge, 2 * ridge}
		turned := f.Delta(d, eps, 300)
		f.Rows, f.Turn = [][2]float64{{1, 0}, {0, 1}}, 0
		if straight := f.Delta(d, eps, 300); !(math.Abs(turned/straight-1) <= 1e-3) {
			t.Errorf("%v: %.6g turned, %.6g not", d, turned, straight)
		}
		if other := (Forms{Loss: l, Rows: f.Rows, Labels: f.Labels, Ridges: [2]float64{1.1 * ridge, 1.1 * ridge},
			Sigma: sigma}).Delta(d, eps, 300); math.Abs(other/plane-1) < 0.005 {
			t.Errorf("%v: a ridge larger by a tenth changes %.6g to %.6g", d, plane, other)
		}
	}
}

// Far from its kink a row is linear: the Gaussian mechanism.
func TestFormsGaussian(t *testing.T) {
	l := loss.Absolute(smoothing.Logistic{}, 1)
	f := Forms{Loss: l, Rows: [][2]float64{{1, 0}}, Labels: []float64{1e4}, Ridges: [2]float64{1, 1}, Sigma: 3}
	want := privacy.DeltaUpper(privacy.GaussianProfile(1.0/3, privacy.AddRemove), 0.5)
	for _, d := range privacy.Directions {
		if got := f.Delta(d, 0.5, 400); !(math.Abs(got/want-1) <= 2e-3) {
			t.Errorf("%v: %.6g, want %.6g", d, got, want)
		}
		line := Scalar{Loss: l, ExtraX: 1, ExtraY: 1e4, Lambda: 1, Sigma: 3}
		if got := ProductDelta([]Scalar{line}, d, 0.5, 4000); got > want*1.0001 || got < 0.98*want {
			t.Errorf("%v, by cells: %.6g, want %.6g", d, got, want)
		}
	}
}
