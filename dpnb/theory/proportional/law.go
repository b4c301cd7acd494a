package proportional

import (
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/quadrature"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Law is a law on the real line with a finite second moment: of the noise ε₀⋆ of a regression, or of a coordinate of
// β⋆. Make one with Normal, Point, Uniform and Mix. The zero value is invalid.
type Law struct{ parts []part }

// part is one component of a mixture: normal with mean a and standard deviation b, or uniform on [a, b].
type part struct {
	uniform bool
	weight  float64
	a, b    float64
}

// Normal returns N(mean, sd²); sd = 0 is a point.
func Normal(mean, sd float64) Law {
	return Law{[]part{{weight: 1, a: mean, b: sd}}}
}

// Point returns the law that is always x.
func Point(x float64) Law { return Normal(x, 0) }

// Uniform returns the uniform law on [lo, hi].
func Uniform(lo, hi float64) Law {
	return Law{[]part{{uniform: true, weight: 1, a: lo, b: hi}}}
}

// Mix returns the mixture of laws with weights, which are scaled to sum one. It panics if the lengths differ.
func Mix(weights []float64, laws ...Law) Law {
	if len(weights) != len(laws) {
		panic("proportional: as many weights as laws")
	}
	var total float64
	for _, w := range weights {
		total += w
	}
	var m Law
	for i, l := range laws {
		for _, p := range l.parts {
			p.weight *= weights[i] / total
			m.parts = append(m.parts, p)
		}
	}
	return m
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Validate returns a *privacy.ParamError, under the given name, unless the law is a probability law with finite
// parameters.
func (l Law) Validate(name string) error {
	bad := func(want string) error { return &privacy.ParamError{Name: name, Value: "a law", Want: want} }
	if len(l.parts) == 0 {
		return bad("a law made with Normal, Point, Uniform or Mix")
	}
	for _, p := range l.parts {
		switch {
		case !(p.weight >= 0) || !finite(p.weight):
			return bad("weights ≥ 0 with a positive sum")
		case !finite(p.a) || !finite(p.b):
			return bad("finite parameters")
		case !p.uniform && p.b < 0:
			return bad("a standard deviation ≥ 0")
		case p.uniform && !(p.a < p.b):
			return bad("an interval with lo < hi")
		}
	}
	return nil
}

// breaks cuts the interval into panels, finer in the middle and around zero.
func (p part) breaks() []float64 {
	const n = 16
	out := make([]float64, 0, n+2)
	for i := range n + 1 {
		out = append(out, p.a+(p.b-p.a)*float64(i)/n)
	}
	out[n] = p.b
	for i := 1; i < len(out); i++ {
		if out[i-1] < 0 && out[i] > 0 {
			return append(out[:i:i], append([]float64{0}, out[i:]...)...)
		}
	}
	return out
}

// breaksAround adds to breaks the bends and what lies a few sd from them.
func (p part) breaksAround(bends []float64, sd float64) []float64 {
	breaks := appendBetween(p.breaks(), p.a, p.b, around(sd, bends...)...)
	slices.Sort(breaks)
	return breaks
}

// Mean returns E X.
func (l Law) Mean() float64 {
	return l.moment(func(p part) float64 { return 0.5 * (p.a + p.b) }, func(p part) float64 { return p.a })
}

// SecondMoment returns E X².
func (l Law) SecondMoment() float64 {
	return l.moment(func(p part) float64 { return (p.a*p.a + p.a*p.b + p.b*p.b) / 3 },
		func(p part) float64 { return p.a*p.a + p.b*p.b })
}

func (l Law) moment(ofUniform, ofNormal func(part) float64) (sum float64) {
	for _, p := range l.parts {
		of := ofNormal
		if p.uniform {
			of = ofUniform
		}
		sum += p.weight * of(p)
	}
	return sum
}

// convolved writes to dst the mixture, over the law of X, of a function of the normal law of X + sd·N: f(mean, sd) for
// its components. Uniform parts are integrated over adaptively, cut around the bends, the means where f
// changes within a few sd: a panel might not see one that lies between its end and its first node. It returns an
// estimate of the relative error of that.
func (l Law) convolved(dst []float64, sd, tol float64, bends []float64,
	f func(dst []float64, mean, sd float64)) float64 {
	clear(dst)
	at := make([]float64, len(dst))
	var worst float64
	for _, p := range l.parts {
		if p.weight == 0 {
			continue
		}
		if !p.uniform {
			f(at, p.a, math.Hypot(p.b, sd))
			for c, v := range at {
				dst[c] += p.weight * v
			}
			continue
		}
		v, e := quadrature.Adaptive(len(dst), func(x []float64, out [][]float64) {
			for i, t := range x {
				f(at, t, sd)
				for c, v := range at {
					out[c][i] = v / (p.b - p.a)
				}
			}
		}, p.breaksAround(bends, sd), tol)
		for c := range dst {
			dst[c] += p.weight * v[c]
		}
		worst = math.Max(worst, e)
	}
	return worst
}

// expect is convolved for a function of one value.
func (l Law) expect(sd float64, f func(mean, sd float64) float64) float64 {
	var out [1]float64
	l.convolved(out[:], sd, 1e-11, nil, func(dst []float64, mean, sd float64) { dst[0] = f(mean, sd) })
	return out[0]
}

// scaled returns the law of c·X.
func (l Law) scaled(c float64) Law {
	out := Law{make([]part, len(l.parts))}
	for i, p := range l.parts {
		switch {
		case !p.uniform:
			p.a, p.b = c*p.a, math.Abs(c)*p.b
		case c == 0:
			p = part{weight: p.weight}
		default:
			p.a, p.b = min(c*p.a, c*p.b), max(c*p.a, c*p.b)
		}
		out.parts[i] = p
	}
	return out
}
