// Package interval puts intervals on the coefficients that objective perturbation releases. The law of the noise is
// public, so that what it does to the coefficients can be said; how far it moves them depends on the curvature of the
// losses, which is private. There are three ways out:
//
//   - FromRelease: from the release and public facts alone, for the minimiser on
//     these records. Nothing is assumed and nothing is spent; the curvature is
//     taken to be no more than λ, so the intervals are wide.
//   - Minimiser and Population, with Moments for which a part of the budget was
//     spent (Curvature, Calibrate): as narrow as the noise allows where records
//     are many.
//   - the same with PublicCurvature, where public records of the same kind exist.
//
// An interval that used the curvature of the private records without paying for it would be a leak, however natural it
// looks: it is no function of the release.
//
// Derivations: docs/theory/intervals.md.
package interval
