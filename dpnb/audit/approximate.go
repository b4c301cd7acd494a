package audit

import "math"

// Solver is how an approximate minimiser is chosen by somebody who wants the neighbours to be told apart.
type Solver int

const (
	// PushedApart stops where the gradient is τ one way on Z and τ the other way on Z′.
	PushedApart Solver = iota
	// Marked writes the dataset into the digits: on Z it stops at even multiples of a small step, on Z′ at odd ones.
	// Without output noise they would be told apart with certainty.
	Marked
)

// Approximate is Algorithm 1 of rkw23 on two neighbours in one dimension: the mechanism of Scalar whose solver stops
// where it will, as long as |J′(θ) + b| ≤ Tolerance, followed by N(0, OutputSigma²).
type Approximate struct {
	Scalar
	// Tolerance is τ > 0, OutputSigma is σ_out > 0.
	Tolerance, OutputSigma float64
	Solver                 Solver
}

// Cells returns the probabilities of cells of the release under Z and Z′, up to 1e-32: ratios of smaller ones, which
// Rényi divergences of orders far above 5 are made of, mean nothing. What the solver returns is a multiple of a step so
// small that its gradient stays within τ, so that the law of the release is a mixture of as many Gaussians, and
// whatever is computed from the cells is a lower bound for an algorithm that the theorem covers. It costs about
// 600·(κσ/λτ) × count values of Φ, κ the largest curvature of J.
func (a *Approximate) Cells(count int) (without, with []float64) {
	kappa := a.Lambda
	for i, x := range a.X {
		w := 1.0
		if a.Weights != nil {
			w = a.Weights[i]
		}
		kappa += w * x * x * a.Loss.Smoothness()
	}
	kappa += a.ExtraX * a.ExtraX * a.Loss.Smoothness()
	push, step := 0.98*a.Tolerance, 0.04*a.Tolerance/kappa
	if a.Solver == Marked {
		push, step = 0, a.Tolerance/(1.5*kappa)
	}
	t, slope := make([]float64, len(a.X)+1), make([]float64, len(a.X)+1)
	reach := 12*a.Sigma + push
	lo, hi := a.bracket(-reach, reach, 1.2, t, slope)
	// Cell k of the minimiser is ((k−½)·step, (k+½)·step) about k·step.
	first, last := int(math.Floor(lo/step)), int(math.Ceil(hi/step))
	var cuts []float64
	for k := first; k < last; k++ {
		cuts = append(cuts, (float64(k)+0.5)*step)
	}
	// The slope of the extra record says which way it pushes; b ∓ push does more.
	apart, sign := a.Scalar, push
	if without, with := a.gradients(0, t, slope); with < without {
		sign = -push
	}
	apart.Tilt = a.Tilt - sign
	without, _ = apart.CellsAt(cuts)
	apart.Tilt = a.Tilt + sign
	_, with = apart.CellsAt(cuts)

	from := float64(first)*step - 12*a.OutputSigma
	width := (float64(last)*step + 12*a.OutputSigma - from) / float64(count)
	return a.release(without, first, 0, step, from, width, count), a.release(with, first, 1, step, from, width, count)
}

// release returns the cells of what the solver returned plus output noise. The solver returns k·step, or, Marked, the
// next multiple of the wanted parity.
func (a *Approximate) release(p []float64, first, parity int, step, from, width float64, count int) []float64 {
	out := make([]float64, count+2)
	edges := make([]float64, count+1)
	for i, mass := range p {
		if mass < 1e-45 {
			continue
		}
		k := first + i
		if a.Solver == Marked && (k&1) != parity {
			k++
		}
		x := float64(k) * step
		lo := max(0, int((x-13*a.OutputSigma-from)/width))
		hi := min(count, int((x+13*a.OutputSigma-from)/width)+1)
		for j := lo; j <= hi; j++ {
			edges[j] = (from + float64(j)*width - x) / a.OutputSigma
		}
		for j := lo; j < hi; j++ {
			out[j+1] += mass * normalMass(edges[j], edges[j+1])
		}
	}
	return out
}
