package smoothing

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Piecewise is a convex, piecewise linear function on the line,
//
//	p(x) = Σⱼ wⱼ|x − zⱼ| + ax + b,  wⱼ > 0:
//
// every convex function of finitely many pieces is one, the slope rising by 2wⱼ at zⱼ. Absolute, Positive, Pinball,
// SoftThreshold and Max make them.
type Piecewise struct {
	// Kinks zⱼ, rising, and their Weights wⱼ.
	Kinks, Weights []float64
	// Slope a and Offset b of what is linear.
	Slope, Offset float64
}

// Absolute returns |x|.
func Absolute() Piecewise { return Piecewise{Kinks: []float64{0}, Weights: []float64{1}} }

// Positive returns max(0, x), the hinge.
func Positive() Piecewise {
	return Piecewise{Kinks: []float64{0}, Weights: []float64{0.5}, Slope: 0.5}
}

// Pinball returns max(τx, (τ − 1)x), whose mean over residuals x is least at their τ-quantile. It panics unless 0 < τ <
// 1.
func Pinball(tau float64) Piecewise {
	if !(tau > 0 && tau < 1) {
		panic(fmt.Sprintf("smoothing: the level τ of a quantile is %v, want a number in (0, 1)", tau))
	}
	return Piecewise{Kinks: []float64{0}, Weights: []float64{0.5}, Slope: tau - 0.5}
}

// SoftThreshold returns max(0, |x| − τ), the ε-insensitive loss. It panics unless τ > 0.
func SoftThreshold(tau float64) Piecewise {
	if !(tau > 0) || math.IsInf(tau, 1) {
		panic(fmt.Sprintf("smoothing: the threshold is %v, want a positive finite number", tau))
	}
	return Piecewise{Kinks: []float64{-tau, tau}, Weights: []float64{0.5, 0.5}, Offset: -tau}
}

// Max returns the largest of the lines slopes[p]·x + offsets[p]. Lines that are nowhere the largest are left out.
//
// Errors: no line, slices of different lengths, numbers that are not finite.
func Max(slopes, offsets []float64) (Piecewise, error) {
	if len(slopes) == 0 || len(slopes) != len(offsets) {
		return Piecewise{}, fmt.Errorf("smoothing: %d slopes and %d offsets, want as many of each, at least one",
			len(slopes), len(offsets))
	}
	type line struct{ a, b float64 }
	lines := make([]line, len(slopes))
	for i := range lines {
		lines[i] = line{slopes[i], offsets[i]}
		if v := slopes[i] - slopes[i] + offsets[i] - offsets[i]; v != 0 {
			return Piecewise{}, fmt.Errorf("smoothing: line %d is %v·x + %v, want finite numbers",
				i, slopes[i], offsets[i])
		}
	}
	slices.SortFunc(lines, func(p, q line) int { return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b)) })
	// The upper envelope, from the least slope to the largest.
	var top []line
	var kinks []float64
	for _, l := range lines {
		for len(top) > 0 {
			last := top[len(top)-1]
			if last.a == l.a { // parallel, and not above
				top = top[:len(top)-1]
				if len(kinks) > 0 {
					kinks = kinks[:len(kinks)-1]
				}
				continue
			}
			x := (last.b - l.b) / (l.a - last.a)
			if len(kinks) > 0 && x <= kinks[len(kinks)-1] {
				top, kinks = top[:len(top)-1], kinks[:len(kinks)-1]
				continue
			}
			kinks = append(kinks, x)
			break
		}
		top = append(top, l)
	}
	p := Piecewise{Slope: (top[0].a + top[len(top)-1].a) / 2, Offset: (top[0].b + top[len(top)-1].b) / 2}
	for j, z := range kinks {
		p.Kinks, p.Weights = append(p.Kinks, z), append(p.Weights, (top[j+1].a-top[j].a)/2)
	}
	return p, nil
}

// Value returns p(x).
func (p Piecewise) Value(x float64) float64 {
	v := p.Slope*x + p.Offset
	for j, z := range p.Kinks {
		v += p.Weights[j] * math.Abs(x-z)
	}
	return v
}

// Slopes returns the least and the largest slope.
func (p Piecewise) Slopes() (least, largest float64) {
	least, largest = p.Slope, p.Slope
	for _, w := range p.Weights {
		least, largest = least-w, largest+w
	}
	return least, largest
}

// weight returns Σⱼwⱼ.
func (p Piecewise) weight() (total float64) {
	for _, w := range p.Weights {
		total += w
	}
	return total
}

// Convolve returns E p(x + μK). It panics unless the width μ is positive and finite.
func (p Piecewise) Convolve(k Kernel, width float64) Smooth {
	checkWidth(k, width)
	return Smooth{Function: p, Kernel: k, Width: width}
}

// Smooth is a convex function p convolved with a kernel,
//
//	p_μ(x) = E p(x + μK) = p(x) + μ·Σⱼ wⱼ·Gap(|x − zⱼ|/μ) ≥ p(x).
type Smooth struct {
	Function Piecewise
	Kernel   Kernel
	// Width is μ > 0.
	Width float64
}

// Value returns p_μ(x).
func (s Smooth) Value(x float64) float64 { return s.Function.Value(x) + s.Gap(x) }

// Gap returns p_μ(x) − p(x) ≥ 0, without the cancellation of the difference.
func (s Smooth) Gap(x float64) float64 {
	gap := 0.0
	for j, z := range s.Function.Kinks {
		gap += s.Function.Weights[j] * s.Width * s.Kernel.Gap(math.Abs(x-z)/s.Width)
	}
	return gap
}

// Slope returns p_μ′(x).
func (s Smooth) Slope(x float64) float64 {
	slope := s.Function.Slope
	for j, z := range s.Function.Kinks {
		slope += s.Function.Weights[j] * math.Copysign(1-2*s.Kernel.Tail(math.Abs(x-z)/s.Width), x-z)
	}
	return slope
}

// Curvature returns p_μ″(x).
func (s Smooth) Curvature(x float64) float64 {
	c := 0.0
	for j, z := range s.Function.Kinks {
		c += s.Function.Weights[j] * 2 / s.Width * s.Kernel.Density((x-z)/s.Width)
	}
	return c
}

// Smoothness returns a bound on the curvature, 2k(0)·Σⱼwⱼ/μ. It is attained where there is one kink.
func (s Smooth) Smoothness() float64 {
	return 2 * Peak(s.Kernel) * s.Function.weight() / s.Width
}

// LargestGap returns a bound on the gap, μ·Gap(0)·Σⱼwⱼ. It is attained where there is one kink.
func (s Smooth) LargestGap() float64 {
	return s.Width * s.Kernel.Gap(0) * s.Function.weight()
}
