// Package population draws synthetic data sets whose number of features d is not small beside the number of records n,
// fits them, and measures the fits: the simulations that predictions of dpnb/theory/proportional are laid over.
//
// The scaling is that of dtz24 (Dwork, Tankala and Zhang 2024): rows xᵢ with independent, centred entries of variance
// 1/d, a signal β⋆ with coordinates of order one, so that scores xᵢᵀβ⋆ are of order one too. Objectives are sums over
// the records.
//
// Repetition k draws from stream k of the seed and from nothing else, so that the result depends neither on the number
// of workers nor, for the repetitions that there were, on how many are added.
package population
