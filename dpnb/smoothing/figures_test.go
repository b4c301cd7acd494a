package smoothing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Kernels, smooth functions, envelopes and their constants are what they were, and what errors are bounded by.
func TestFiguresStay(t *testing.T) {
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		sayKernels(say)
		sayLines(say)
		sayEnvelopes(say)
		sayPolyhedra(say)
	})
}

func sayKernels(say func(name string, values ...float64)) {
	for _, k := range append(Kernels(), Free{0.1}, Free{3}, NewExponential(1), NewExponential(4)) {
		v := []float64{k.Variance(), Peak(k)}
		for _, x := range []float64{-6, -1.2, -0.3, 0, 0.4, 1, 1.3, 1.5, 2, 4.9, 5.1, 12, 38} {
			v = append(v, k.Density(x), k.Tail(x), k.Gap(math.Abs(x)))
		}
		say(k.Name(), append(v, k.Draw(1e-6), k.Draw(0.3), k.Draw(0.5001), k.Draw(0.99))...)
	}
	uniform := rand.New(rand.NewPCG(5, 6)).Float64
	for _, m := range []int{1, 3} {
		for _, j := range append(TableOne(m), Product{Uniform{}, m}, Product{Cosine{}, m}, Product{Logistic{}, m}) {
			beta1, beta2 := j.Steepness()
			drawn := make([]float64, m)
			j.Draw(drawn, uniform)
			say(fmt.Sprintf("joint %s %d", j.Name(), m), append(drawn, beta1, beta2, j.Moment(1), j.Moment(2),
				j.Moment(1.4),
				j.Coordinate().Variance(), float64(j.Dim()))...)
		}
	}
	for _, z := range []complex128{0.1, 2 + 1i, 30 - 4i, 0.5i} {
		l, d, shift := transform(z, 1.3)
		far, _, farShift := transform(z/10, 21)
		e := erfcx(z)
		say(fmt.Sprint("transform ", z), real(l), imag(l), real(d), imag(d), shift, real(far), imag(far), farShift,
			real(e), imag(e))
	}
	say("trilogarithm", trilogarithm(0.1), trilogarithm(0.9), trilogarithm(1))
}

func sayLines(say func(name string, values ...float64)) {
	for i, p := range []Piecewise{
		Absolute(), Positive(), Pinball(0.2), SoftThreshold(0.7), must.Get(Max([]float64{1}, []float64{2})),
		must.Get(Max([]float64{-1, 2, 0.3, 0.3, 0.5, -1}, []float64{0, -1, 0.5, 0.2, -9, 0.1})),
	} {
		least, largest := p.Slopes()
		say(fmt.Sprint("line ", i), append(append([]float64{p.Slope, p.Offset, least, largest}, p.Kinks...),
			p.Weights...)...)
		for _, k := range Kernels() {
			s := p.Convolve(k, 0.4)
			v := []float64{s.Smoothness(), s.LargestGap()}
			for _, x := range []float64{-1.7, -0.5, 0.05, 0.6, 2} {
				v = append(v, 3+p.Value(x), 3+s.Value(x), s.Gap(x), s.Slope(x), s.Curvature(x))
			}
			say(fmt.Sprintf("line %d, %s", i, k.Name()), v...)
		}
		for _, d := range []Distance{Quadratic{2.5}, HuberDistance{2.5}, Hellinger{2.5}} {
			e := must.Get(p.Envelope(d, 0.3))
			low, high := e.Range()
			v := []float64{e.Smoothness(), low, high, d.Reach(), d.Inverse(0.7), conjugate(d, 0.7),
				truth(checkDistance(d, 0.3, 2.6) == nil)}
			for _, x := range []float64{-1.7, -0.5, 0.05, 0.2, 0.6, 2} {
				v = append(v, 3+e.Value(x), e.Slope(x), e.Curvature(x), d.Height(math.Abs(x)), d.Slope(math.Abs(x)),
					d.Curvature(math.Abs(x)))
			}
			say(fmt.Sprintf("line %d, envelope by %s", i, d.Name()), v...)
		}
	}
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// points are of three coordinates, from small to large.
var points = [][]float64{{0, 0, 0}, {0.01, -0.02, 0.005}, {0.4, -0.1, 0.2}, {-1.5, 0.3, 2}, {6, -5, 0.1}, {40, 1, -30}}

func sayEnvelopes(say func(name string, values ...float64)) {
	for _, d := range []Distance{Quadratic{1}, HuberDistance{1.9}, Hellinger{1.9}} {
		e := must.Get(NewNormEnvelope(3, d, 0.5))
		low, high := e.Range()
		v, grad := []float64{e.Smoothness(), low, high}, make([]float64, 3)
		for _, x := range points {
			v = append(v, e.ValueGradient(grad, x), e.scale(x))
			v = append(v, grad...)
		}
		say("norm by "+d.Name(), v...)
	}
	for _, k := range Kernels() {
		n := Norm{k, 0.3}
		v, grad, curv := []float64{n.Smoothness(), n.LargestGap(4)}, make([]float64, 3), make([]float64, 3)
		for _, x := range points[:5] {
			v = append(v, n.ValueGradient(grad, x), n.Gap(x))
			n.Curvature(curv, x)
			v = append(append(v, grad...), curv...)
		}
		say("norm by "+k.Name(), v...)
	}
	for _, z := range []float64{-1, 0.5, 2, 60} {
		b := must.Get(NewBowl(z, 0.6))
		v, grad := []float64{b.Smoothness(3)}, make([]float64, 3)
		for _, x := range points {
			value, _ := b.ValueGradient(grad, x)
			v = append(v, 3+value, 3+grad[0], 3+grad[1])
		}
		say(fmt.Sprint("bowl ", z), v...)
	}
}

func sayPolyhedra(say func(name string, values ...float64)) {
	for i, c := range [][][]float64{
		{{1, 0, 0}}, {{1, 0.5, 0}, {-1, 0.2, 0}}, {{0, 0, 0}, {1, 0, 0.3}, {0, 1.2, 0}},
		{{1, 0, 0}, {-0.5, 0.8, 0}, {-0.5, -0.9, 0}, {0.1, 0.1, 0}, {1, 0, 0}}, {{0, 0, 0}, {1, 0, 0.2}, {0, 0.9, 0},
			{0.1, 0, 1.1}},
	} {
		offsets := []float64{0, 0.3, -0.2, 0.1, 0.05}[:len(c)]
		f := must.Get(NewPolyhedral(c, offsets))
		e, g := f.Entropic(0.4), must.Get(f.Gaussian(0.5))
		say(fmt.Sprint("polyhedral ", i), f.Lipschitz(), f.Diameter(), f.Radius(), float64(f.Pieces()), e.Smoothness(),
			g.Smoothness(), float64(len(g.basis)))
		var v []float64
		grad := make([]float64, 3)
		for j, x := range points[1:] {
			v = append(v, f.Value(x), e.ValueGradient(grad, x))
			v = append(v, 3+grad[0], 3+grad[1], 3+grad[2])
			if i < 4 || j == 0 {
				value, err := g.ValueGradient(grad, x)
				v = append(v, value, math.Floor(math.Log10(err)), 3+grad[0], 3+grad[1], 3+grad[2])
			}
		}
		say(fmt.Sprintf("polyhedral %d, values", i), v...)
	}
	f := must.Get(NewBowlPieces(2, 0.7))
	say("pieces of a bowl", float64(f.Pieces()), f.Value([]float64{1, -2}), f.Value([]float64{0.1, 0.2}))
}
