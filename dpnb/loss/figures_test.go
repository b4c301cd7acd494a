package loss

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// Values, slopes, curvatures, constants, error bounds and curves of every loss are what they were.
func TestFiguresStay(t *testing.T) {
	golden.Figures(t, "testdata/figures.txt", 1e-11, func(say func(name string, values ...float64)) {
		for i, e := range losses() {
			sayLoss(say, fmt.Sprintf("%d %s", i, e.loss.Name()), e)
		}
		for i, l := range []Loss{
			Huber{0}, PseudoHuber{-1}, Softplus{Width: 0}, Softplus{Width: 1, Margin: -1}, SmoothedHinge{0},
			Poisson{-1},
			SmoothPinball{1.5, 1}, Pinball{1}, Linear{0}, Linear{-2}, Clipped(Logistic{}, 0),
			Absolute(smoothing.Gaussian{}, 0),
			Convolved{smoothing.Gaussian{}, 1, 1, 0}, Pinball{0.3}, Stacked{Huber{1}, Squared{}, []float64{1, 2}, 1},
		} {
			say(fmt.Sprintf("%d %s", i, l.Name()), l.Lipschitz(), l.Smoothness(), SlopeError(l), truth(l.ValidLabel(1)),
				truth(Attained(l)))
		}
		for _, b := range bends() {
			sayBend(say, b)
		}
		sayJoint(say)
		for _, x := range []float64{-9, -0.3, 1e-6, 0.3, 0.5, 0.7, 1} {
			h, excess, v := hazard(x)
			say(fmt.Sprint("functions ", x), dilog(x), h, excess, v, preciseHazard(dd.From(x)).Hi,
				preciseDensity(dd.From(x)).Hi,
				preciseExpm1(dd.From(x)).Hi, preciseLog1p(dd.From(math.Abs(x))).Hi, sigmoid(dd.From(x)).Hi)
		}
		for _, p := range []float64{1e-200, 1e-3, 0.3, 0.7, 0.99} {
			say(fmt.Sprint("of p ", p), probitArgument(p), probitCurvature(p), logit(p), logisticCurvature(p))
		}
	})
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func sayLoss(say func(name string, values ...float64), name string, e entry) {
	l := e.loss
	v := []float64{l.Lipschitz(), l.Smoothness(), SlopeError(l), truth(Attained(l)), truth(l.ValidLabel(e.outside[0]))}
	if s, ok := l.(SelfConcordant); ok {
		v = append(v, s.SelfConcordance())
	}
	p, precise := PreciseSlope(l)
	say(name, append(v, p.Relative, p.Absolute)...)
	for _, y := range e.labels[:2] {
		points := []float64{-30, -2.5, -0.4, 0.1, 0.9, 1.3, 2.6, 31}
		labels := make([]float64, len(points))
		for i := range labels {
			labels[i] = y
		}
		slope, curv := make([]float64, len(points)), make([]float64, len(points))
		v = []float64{l.ValueSlope(slope, points[:7], labels[:7]), BlockSlopes(l)(slope, points, labels)}
		l.Curvature(curv, points, labels)
		v = append(append(v, slope...), curv...)
		for _, t := range points[:7] {
			if precise {
				v = append(v, p.Slope(dd.Sum(t, 1e-20), y).Hi)
			}
			v = append(v, value(l, t, y))
		}
		say(fmt.Sprintf("%s, y = %g", name, y), v...)
	}
	for _, radius := range []float64{1, 0.3} {
		c, err := CurveOf(l, radius)
		if err != nil {
			continue
		}
		lo, hi := c.Range()
		v = []float64{lo, hi, c.Peak, c.Max(), c.Kappa(), c.Falls(), truth(c.Even())}
		for _, s := range []float64{0.05, 0.3, 0.7} {
			lower, upper := c.Bounds(lo+s*(hi-lo), lo+(s+0.25)*(hi-lo))
			v = append(v, c.SBar(s*hi), c.Clock(s*hi), c.SBar(s*lo), c.Clock(s*lo), lower, upper,
				math.Round(1e13*(1-lower/upper)))
		}
		cut := c.Clip(0.4 * hi)
		say(fmt.Sprintf("%s, curve of R = %g", name, radius), append(v, cut.Lo, cut.Hi, cut.Max(), cut.Kappa(),
			cut.Falls())...)
	}
}

func sayBend(say func(name string, values ...float64), b Bend) {
	name := b.String()
	for _, v := range []float64{1e-9, 0.05, 0.4, 3, 90} {
		gamma, curvature := b.At(v)
		precise, _ := b.preciseAt(dd.From(v))
		say(fmt.Sprintf("%s at %g", name, v), gamma, curvature, precise.Hi, b.Integral(v), b.Inverse(0.7*gamma),
			b.Bias(0.7*gamma),
			b.Curvature(0.7*gamma), b.Bias(b.c), b.Inverse(b.c), b.Lipschitz(), b.Smoothness())
	}
	for _, of := range []Convex{LeastAbsolute{}, Pinball{0.3}, Hinge{}, ReLU{}, Affine{}, Squared{}, Huber{0.5},
		Logistic{}, Softplus{Width: 0.5, Margin: 2}} {
		norms := []float64{0.4, 1.7, 0, 0x1p50}
		l := Extend(of, b, norms, []float64{1, -1, 1, 1}, []float64{0.1, 0, 0, 0.2})
		p, _ := PreciseSlope(l)
		all := []float64{l.Lipschitz(), l.Smoothness(), SlopeError(l), p.Relative, p.Absolute, truth(Extendable(of))}
		slope, curv := make([]float64, 4), make([]float64, 4)
		for _, t := range []float64{-2, 0.3, 1.1, 7} {
			at, records := []float64{t, t, t, t}, []float64{0, 1, 2, 3}
			all = append(all, l.ValueSlope(slope, at, records))
			l.Curvature(curv, at, records)
			all = append(all, slope[0], slope[1], slope[3], curv[0], curv[1], p.Slope(dd.From(t), 0).Hi,
				p.Slope(dd.From(t), 1).Hi)
			value, cut := Cut(of, 0.3, 0.8, t, 1)
			all = append(all, value, cut)
		}
		say(name+", "+of.Name(), all...)
	}
}

func sayJoint(say func(name string, values ...float64)) {
	for i, j := range []Joint{
		Softmax{3}, Softmax{1}, Maximum{0.5, [][]float64{{0, 1}, {0.5, -1}, {0, 0}}}, Maximum{0, [][]float64{{0}}},
		Sum(Logistic{}, Softplus{Width: 0.5}, SmoothPinball{0.3, 0.5}),
		Sum(Stacked{Huber{1}, Logistic{}, []float64{0.5, 3, -1}, 2}),
	} {
		name := fmt.Sprintf("joint %d %s", i, j.Name())
		p := j.Precise()
		say(name, float64(j.Forms()), j.Coupling(), j.Lipschitz(), j.Smoothness(), j.SlopeError(), p.Relative,
			p.Absolute,
			truth(p.Rounded), truth(j.ValidLabel(1)), truth(j.ValidLabel(2)), float64(Invalid(j, []float64{1, -1,
				0.5})))
		if math.IsNaN(j.Lipschitz()) {
			continue
		}
		k := j.Forms()
		for _, scale := range []float64{0.3, 5, 60} {
			at, slope, curv, high := make([]float64, k), make([]float64, k), make([]float64, k), make([]dd.Number, k)
			for f := range at {
				at[f] = scale * math.Sin(float64(1+2*f))
				high[f] = dd.From(at[f])
			}
			v := append([]float64{j.Derivatives(slope, curv, at, []float64{1})}, append(slope, curv...)...)
			p.Slopes(high, 1)
			say(fmt.Sprintf("%s at %g", name, scale), append(v, high[0].Hi, high[k-1].Hi)...)
		}
	}
}
