// Package loss has the scalar losses f(t; y) of generalised linear models,
// t = xᵀθ, with the constants that privacy and optimisation need.
package loss

// Loss is a convex, differentiable scalar loss f(t; y) of the linear
// predictor t = xᵀθ and the label y. The methods work on batches, so that a
// pass over the records costs one call for each block and not one for each record.
//
// Slices of one call have equal lengths; implementations do not keep them.
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
