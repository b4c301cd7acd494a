// Package loss has the scalar losses f(t; y) of generalised linear models, t = xᵀθ, and the joint ones of several
// linear forms, with the constants that privacy and optimisation need. It enters smoothing; every other room may enter
// it.
package loss

// Loss is a convex, differentiable scalar loss f(t; y) of the linear predictor t = xᵀθ and the label y. The methods
// work on batches, so that a pass over the records costs one call for each block and not one for each record.
//
// Slices of one call have equal lengths; implementations do not keep them, and read t[i] before they write slope[i] or
// curv[i], so that the output may be the slice t itself.
//
// A loss whose parameter is out of range has NaN constants and no valid label, so that no fit and no mechanism accepts
// it.
type Loss interface {
	// Name is how the loss is called in tables and reports.
	Name() string
	// ValueSlope writes f′(tᵢ; yᵢ) to slope and returns Σ f(tᵢ; yᵢ).
	ValueSlope(slope, t, y []float64) float64
	// Curvature writes f″(tᵢ; yᵢ) to curv (where f′ has a kink: either side's).
	Curvature(curv, t, y []float64)
	// Lipschitz returns sup |f′| over all t and all labels, +Inf if there is none.
	Lipschitz() float64
	// Smoothness returns sup f″ over all t and all labels, +Inf if there is none.
	Smoothness() float64
	// ValidLabel reports whether y is a label that the loss is made for.
	ValidLabel(y float64) bool
	// Labels says in words which labels those are.
	Labels() string
}

// SlopeError returns a bound, beyond 8·2⁻⁵³|f′|, on the error of the slopes that l computes: zero for most, +Inf where
// there is none. Whoever certifies a gradient must add it, times ‖x‖, for each record.
func SlopeError(l Loss) float64 {
	if r, ok := l.(interface{ slopeError() float64 }); ok {
		return r.slopeError()
	}
	return 0
}

// SelfConcordant is a Loss with |f‴| ≤ q·f″, so that over a way of length r its curvature changes by a factor of at
// most e^{qr} (Bach 2010, Electronic Journal of Statistics 4). One with kinks in its slope, as Huber's, is not, nor is
// one that is Clipped.
type SelfConcordant interface {
	Loss
	// SelfConcordance returns the least q, +Inf if there is none.
	SelfConcordance() float64
}

// Attained reports whether every label of l has a t at which f is least. The logistic loss and others like it fall for
// ever.
func Attained(l Loss) bool {
	of, _, _ := Unclip(l)
	of, _ = Weightless(of)
	if c, ok := of.(Convolved); ok {
		return c.attained()
	}
	_, never := of.(interface{ unattained() })
	return !never
}

// BlockSlopes returns the ValueSlope that is best for blocks of many records, with slopes that are not t itself: that
// of l, or for the logistic loss one by vectors, whose digits differ in the last place.
func BlockSlopes(l Loss) func(slope, t, y []float64) float64 {
	if b, ok := l.(interface {
		blockSlopes(slope, t, y []float64) float64
	}); ok {
		return b.blockSlopes
	}
	return l.ValueSlope
}
