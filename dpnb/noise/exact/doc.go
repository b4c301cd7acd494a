// Package exact draws noise and samples whose laws are exact: real normal, exponential and Laplace variates of which
// only the digits that are looked at are ever drawn, sums of a value and such a variate that are rounded correctly to a
// public grid, random subsets and choices. No function is evaluated and nothing is idealised: if the bits are
// independent and fair, the law of what is returned is the one that is stated.
//
// What a mechanism does with it, src its noise.Source:
//
//	err := mechanism.Scales{{"Sigma", sigma}}.Check() // in Validate, before the charge
//	draw := noise.Exact(src)                   // one for each run
//	b := make([]float64, d)
//	eta := draw.FillNormal(b, sigma)           // ‖b − b*‖₂ ≤ eta, b* exactly N(0, σ²I)
//	xi := draw.Normals(d)                      // first digits now, more where needed
//	…                                          // theta, from the records
//	xi.AddRounded(theta, sigma, exact.Grid(sigma))
//
// AddRounded replaces each θⱼ by g·round((θⱼ + σNⱼ)/g) of the real numbers (beyond ±2⁵³g by the float64 next to it):
// post-processing of the idealised mechanism, whatever float64 number θⱼ is. The same with Laplaces (scale·Laplace),
// and with IsotropicLaplace, whose density is proportional to exp(−‖z‖₂/scale).
//
//	eta := draw.IsotropicLaplace(d).Fill(b, scale) // the same of that law, in an objective
//	draw.AddRounded(dst, sigma, grid)             // Normals(len(dst)) at once
//	draw.SymmetricNormals(d).AddRounded(m, sigma, sigma/√2, grid)
//	draw.Subset(dst, rate, n)   // Poisson sample of 0 … n−1, rate a float64
//	draw.Poisson(mean), draw.Below(n)
//	h := exact.Step(bound, bits)                  // 2^(⌊log₂ bound⌋ − bits)
//	exact.AddRows(sum, w, x, h) // adds products, each to the nearest multiple of h: such sums are exact
//	exact.NewTotal(d, h)        // sums of sums, for any number of records
//
// A Sampler holds bits that it has not used yet: make one for each run, never keep it. Time depends on what is drawn,
// and to a probability of 2⁻⁴² a coordinate on the value that noise is added to.
//
// Source: Karney 2016, ACM Transactions on Mathematical Software 42(1), 3, for the normal and the exponential variate.
// Proof: docs/theory/release.md.
package exact
