package loss

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// Convolved is a loss with a kink at the label, for real labels, convolved with a kernel k of width w. With v = t − y,
// slopes a ≤ 0 ≤ b, a < b, below and above the label, and F the distribution function of k:
//
//	f = E max(a(v + wK), b(v + wK)),  f′ = a + (b − a)·F(v/w),  f″ = (b − a)·k(v/w)/w.
//
// sup |f′| = max(−a, b), sup f″ = (b − a)·k(0)/w. Slopes ∓1 make the absolute loss (Absolute), −τ and 1−τ the pinball
// loss, −1 and 0 the part of the residual above 0. The kernels are those of smoothing.Kernels and, for slopes ∓b,
// smoothing.Free; with the logistic kernel of width 2h it is SmoothPinball of width h.
//
// Which kernel costs a private fit least is not which is nearest to the loss: docs/theory/smoothing.md.
type Convolved struct {
	// Kernel k, in its standard width.
	Kernel smoothing.Kernel
	// Width w > 0, in the unit of the labels.
	Width float64
	// Below and Above are the slopes a and b.
	Below, Above float64
}

// The methods of Loss.

func (c Convolved) Lipschitz() float64        { return inRange(c.scale(), max(-c.Below, c.Above)) }
func (c Convolved) ValidLabel(y float64) bool { return positive(c.scale()) && finite(y) }

// Absolute returns the absolute loss |t − y| convolved with a kernel: Huber's loss for the uniform kernel, log cosh for
// the logistic one.
func Absolute(k smoothing.Kernel, width float64) Convolved { return Convolved{k, width, -1, 1} }

// Name returns "convolved(kernel, w=…, slopes … and …)".
func (c Convolved) Name() string {
	kernel := "no kernel"
	if c.Kernel != nil {
		kernel = c.Kernel.Name()
	}
	return fmt.Sprintf("convolved(%s, w=%g, slopes %.4g and %.4g)", kernel, c.Width, c.Below, c.Above)
}

// facts is what the accounting must know of a kernel, each with its proof in docs/theory/smoothing.md.
type facts struct {
	// hazard is sup k(v)/P(K > v), +Inf for a tail lighter than exponential.
	hazard float64
	// concordance is the least q with |k(u)/k(v)| ≤ e^{q|u−v|}, +Inf if there is none.
	concordance float64
	// logConcave density.
	logConcave bool
	// compact support.
	compact bool
}

// facts returns what is known of the kernel; ok is false if nothing is.
func (c Convolved) facts() (f facts, ok bool) {
	none := math.Inf(1)
	switch k := c.Kernel.(type) {
	case smoothing.Uniform, smoothing.Cosine:
		return facts{none, none, true, true}, true
	case smoothing.Gaussian:
		return facts{none, none, true, false}, true
	case smoothing.Logistic:
		return facts{2, 2, true, false}, true
	case smoothing.Laplacian:
		return facts{1, 1, true, false}, true
	case smoothing.Free:
		// k/P(K > v) = e/((1−e)·ln(1/(1−e))), e = c·e^{−v}, and −k′/k = 1/(1−e) fall in v.
		return facts{math.Expm1(k.Epsilon) / k.Epsilon, math.Exp(k.Epsilon), false, false},
			positive(k.Epsilon) && c.Below == -c.Above
	}
	return facts{}, false
}

// kernel is 1 where the kernel is known and has good parameters, else NaN.
func (c Convolved) kernel() float64 {
	if _, ok := c.facts(); !ok {
		return math.NaN()
	}
	return 1
}

// slopes is b − a where a and b are in range, else NaN.
func (c Convolved) slopes() float64 {
	if c.Below <= 0 && c.Above >= 0 && finite(c.Below) && finite(c.Above) {
		return c.Above - c.Below
	}
	return math.NaN()
}

// scale is w where the parameters are in range, else NaN.
func (c Convolved) scale() float64 { return inRange(c.kernel(), inRange(c.slopes(), c.Width)) }

// slope returns f′ at v.
func (c Convolved) slope(v float64) float64 {
	if tail := (c.Above - c.Below) * c.Kernel.Tail(math.Abs(v)/c.Width); v < 0 {
		return c.Below + tail
	} else {
		return c.Above - tail
	}
}

func (c Convolved) ValueSlope(slope, t, y []float64) float64 {
	var sum float64
	slope, y = slope[:len(t)], y[:len(t)]
	gap := 0.5 * (c.Above - c.Below) * c.Width
	for i, ti := range t {
		v := ti - y[i]
		sum += math.Max(c.Below*v, c.Above*v) + gap*c.Kernel.Gap(math.Abs(v)/c.Width)
		slope[i] = c.slope(v)
	}
	return sum
}

func (c Convolved) Curvature(curv, t, y []float64) {
	curv, y = curv[:len(t)], y[:len(t)]
	most := (c.Above - c.Below) / c.Width
	for i, ti := range t {
		curv[i] = most * c.Kernel.Density((ti-y[i])/c.Width)
	}
}

// Smoothness returns (b − a)·k(0)/w.
func (c Convolved) Smoothness() float64 {
	if !positive(c.scale()) {
		return math.NaN()
	}
	return (c.Above - c.Below) * smoothing.Peak(c.Kernel) / c.Width
}

// Labels returns the range of the labels in words.
func (c Convolved) Labels() string {
	switch {
	case !positive(c.kernel()):
		return "none: first set Kernel to one of smoothing.Kernels, or, for slopes of one size, to smoothing.Free " +
			"with ε > 0"
	case !positive(c.slopes()):
		return "none: first set Below to a slope ≤ 0 and Above to a larger one ≥ 0"
	}
	return labelsOr(finiteLabels, "Width", c.Width)
}

// attained: a slope that does not change sign is 0 somewhere only where the kernel ends.
func (c Convolved) attained() bool {
	f, _ := c.facts()
	return f.compact || c.Below < 0 && c.Above > 0
}

// slopeError: v/w is off by 2·2⁻⁵³ of itself, which moves F by v·k(v) ≤ 0.4 times that, a tail of at most ½ by 16
// roundings of its own, and the difference of two terms rounds.
func (c Convolved) slopeError() float64 { return 0x1p-48 * (c.Above - c.Below) }

// clip: f′ is ∓level where F = (∓level − a)/(b − a).
func (c Convolved) clip(level float64) clipping {
	at := func(slope, end float64) float64 {
		if !(slope > c.Below && slope < c.Above) {
			return end
		}
		return c.Width * c.quantile((slope-c.Below)/(c.Above-c.Below), (c.Above-slope)/(c.Above-c.Below))
	}
	k := residualClip(at(-level, math.Inf(-1)), at(level, math.Inf(1)), c.Smoothness())
	k.slopeError = 2 * c.slopeError()
	return k
}

// quantile returns F⁻¹ of below = 1 − above, from the smaller of the two.
func (c Convolved) quantile(below, above float64) float64 {
	if below <= above {
		return c.Kernel.Draw(below)
	}
	return -c.Kernel.Draw(above)
}

// Curve implements Curved: γ ∈ [aR, bR], S̄(γ) = (b − a)R²·k(F⁻¹(u))/w at γ = (a + (b−a)u)R. k∘F⁻¹ is concave for a
// log-concave k, and falls in |u − ½| for every kernel, so that with slopes that include 0 the curvature at slope p,
// over p², does not rise in |p|: the supremum is at ‖x‖ = R.
func (c Convolved) Curve(radius, _ float64) *Curve {
	f, ok := c.facts()
	if !ok {
		return nil
	}
	lo, hi := c.Below*radius, c.Above*radius
	if hi == 0 {
		lo, hi = 0, -lo // one sign: reflected
	}
	span := hi - lo
	quantile := func(gamma float64) float64 {
		return c.quantile(math.Max(0, gamma-lo)/span, math.Max(0, hi-gamma)/span)
	}
	curve := &Curve{
		Name: fmt.Sprintf("%s, R=%g", c.Name(), radius),
		Lo:   lo, Hi: hi, Peak: 0.5 * (lo + hi), Symmetric: lo == -hi,
		Sup: func(gamma float64) float64 {
			return span * (radius / c.Width) * c.Kernel.Density(quantile(gamma))
		},
		Antiderivative: func(gamma float64) float64 { return c.Width / radius * quantile(gamma) },
	}
	if !math.IsInf(f.hazard, 1) {
		curve.Fall = f.hazard * radius / c.Width
	}
	if (c.Kernel == smoothing.Logistic{}) && lo == 0 {
		curve.Quadratic = 2 * radius / (span * c.Width)
	}
	return curve
}

// SelfConcordance returns what the kernel has, over w: 2 for the logistic kernel, 1 for the Laplacian one, +Inf for
// those of lighter tails.
func (c Convolved) SelfConcordance() float64 {
	f, _ := c.facts()
	return f.concordance / c.Width
}

// SoftMaximum returns t, a and b of f = t·ln(e^{av/t} + e^{bv/t}) and a constant, v = t − y: with the logistic kernel t
// = (b − a)w/2. ok is false for every other kernel.
func (c Convolved) SoftMaximum() (temperature, below, above float64, ok bool) {
	return 0.5 * (c.Above - c.Below) * c.Width, c.Below, c.Above, (c.Kernel == smoothing.Logistic{}) &&
		positive(c.scale())
}

// precise: the tail, of at most ½, errs by what dd.Exp and a quotient do, or as preciseHazard; none is known for the
// cosine and the free kernel.
func (c Convolved) precise() Precise {
	var tail func(dd.Number) dd.Number // at v ≥ 0
	absolute := preciseError
	switch c.Kernel.(type) {
	case smoothing.Uniform:
		tail = func(v dd.Number) dd.Number { return below(v.Neg().AddFloat(1), math.Inf(1)).Scale(0.5) }
	case smoothing.Gaussian:
		absolute = 0x1p-78
		tail = func(v dd.Number) dd.Number { return preciseDensity(v).Div(preciseHazard(v)) }
	case smoothing.Logistic:
		tail = func(v dd.Number) dd.Number { return sigmoid(v.Scale(-2)) }
	case smoothing.Laplacian:
		tail = func(v dd.Number) dd.Number { return dd.Exp(v.Neg()).Scale(0.5) }
	default:
		return Precise{}
	}
	span := dd.Sum(c.Above, -c.Below)
	slope := func(t dd.Number, y float64) dd.Number {
		v := t.AddFloat(-y).Div(dd.From(c.Width))
		if v.Hi < 0 {
			return tail(v.Neg()).Mul(span).AddFloat(c.Below)
		}
		return tail(v).Mul(span).Neg().AddFloat(c.Above)
	}
	return Precise{Relative: preciseError, Absolute: absolute * (c.Above - c.Below), Slope: slope}
}
