// Package wishart accounts for quadratic objective perturbation: the release of
//
//	θ = argmin_{θ ∈ C} Σᵢ ℓ(θ; zᵢ) + r(θ) + (σ²/2)(θ − θ̃⋆)ᵀ(W + cI)(θ − θ̃⋆),
//
// W = GGᵀ a d × d Wishart matrix of m > d degrees of freedom, with Gaussian noise of standard deviation σ̃ on the
// output that hides how far off the anchor θ̃⋆ and the solver are (Cortild and Cartis 2026, "qop").
//
// Everything here rests on interpolation: all losses that any record could have are minimal at one common point θ⋆.
// Without it there is no privacy at all.
//
// Adjacency is replace-one unless Setting says otherwise. The accountings, from the paper's to the sharpest, are proved
// in docs/theory/quadratic.md.
package wishart
