// Package proportional predicts, without running it, what private learning costs when the number of features d is not
// small beside the number of records n: in the limit n → ∞ with d/n → AspectRatio.
//
// The setting, after Dwork, Tankala and Zhang 2024 (dtz24): rows xᵢ with independent, centred, subgaussian entries of
// variance 1/d (so that ‖xᵢ‖ ≈ 1), a signal β⋆ with ‖β⋆‖²/d → κ², so that κ is the standard deviation of the true score
// xᵢᵀβ⋆, and labels from a linear model (Regression) or a binary one (Classification). Objective perturbation minimises
// the *sum*
//
//	Σᵢ f(xᵢᵀβ; yᵢ) + (λ/2)‖β‖² + ν⟨ξ, β⟩,  ξ ~ N(0, I);
//
// output perturbation adds noise to the minimiser for ν = 0; noisy gradient descent (Descent) adds it to every
// gradient. What comes out is described by three numbers (α, σ, γ): coordinate by coordinate
//
//	β̂ⱼ ≈ αβ⋆ⱼ + √(σ² − γ²ν²)·Zⱼ − γνξⱼ,  Z ~ N(0, 1).
//
// Derivations: docs/theory/proportional.md.
package proportional
