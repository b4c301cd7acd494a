// Package objective accounts for objective perturbation of generalized linear models: the release of
//
//	argmin_θ  Σᵢ ℓ(θ; zᵢ) + r(θ) + (λ/2)‖θ‖² + bᵀθ,   b ~ N(0, σ²I),
//
// ℓ(θ; (x, y)) = f(xᵀθ; y), f convex with a bounded slope, ‖x‖ ≤ R, r convex and independent of the data, the sum not
// divided by n, and the ridge λ acting on every coordinate, an intercept included.
//
// A loss enters through its Curve: the range of γ = ‖x‖f′ and the largest curvature S̄(γ) at each slope. The bounds,
// each at most the one before, are KST12, RKW23, DTZ24, Pointwise, Integral and Tight; Tight is the exact worst case
// over all datasets, dimensions and convex r, enclosed between certified upper and lower values. Adjacency is
// add/remove-one throughout.
//
// Proofs: docs/theory/objective_perturbation.md.
package objective
