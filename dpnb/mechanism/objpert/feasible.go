package objpert

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Feasibility is what is known, before there are records, of whether a fit by objective perturbation can be certified.
// Where it cannot, the budget would be charged, the noise drawn, and nothing released. Parameters and public numbers
// alone decide, so that a refusal says nothing of the records.
type Feasibility struct {
	// Lipschitz L and Smoothness s of one record's loss; Lambda λ, the largest ridge of a coefficient, Sigma σ and
	// Tolerance τ of the mechanism.
	Lipschitz, Smoothness, Lambda, Sigma, Tolerance float64
	// Features is d, Coefficients how many directions the noise has: d, of K classes (K − 1)d.
	Features, Coefficients int
	// Centred is K where the noise is centred over K classes, which costs (K + 2)u‖b‖ more; else zero.
	Centred int
	// Records is the number n that was planned, if that is public; zero: nothing is said of it.
	Records int
}

// mostBend is the largest sσ/(λL) at which every trial of a fit came to an end; the first that did not, of 20 records
// at ε = 20, had 1.4·10⁵.
const mostBend = 3e4

// manyRecords is up to how many records a fit must be hopeless to be refused where nothing is said of their number.
const manyRecords = 1_000_000

// Validate returns a *privacy.ParamError if a fit must be expected to fail. With ‖b‖ ≈ σ√d, u = 2⁻⁵³ and Λθ + b =
// −Σf′x, Λ ⪯ λI, so that λ‖θ‖ ≥ ‖b‖ − nL − τ at a solution, the solver's bound on rounding is at least
//
//	n(d+3)²u²s‖θ‖
//
// for records of the largest norm, in double-double arithmetic. Refused is
//
//	(1)  12uσ√d > τ: the noise itself has fewer digits than τ wants (4u for b, a float64
//	     vector next to an exactly normal one, u for rounding θ, about b/λ, to float64,
//	     and 7u to spare), and (K+2)u more where it is centred over K classes;
//	(2)  n(d+3)²u²s(σ√d − nL)/λ > τ: the coefficients, about σ/λ, are too large for
//	     margins to be formed to τ; with n as planned, else if that holds for
//	     every n up to a million.
//
// (2) is no proof for shorter records, nor (1) for many of them; there is little in such a fit but noise.
func (a Feasibility) Validate() error {
	const u = 0x1p-53
	b := a.Sigma * math.Sqrt(float64(max(1, a.Coefficients)))
	least := 12.0
	if a.Centred > 0 {
		least += float64(a.Centred + 2)
	}
	if !(least*u*b <= a.Tolerance) {
		return &privacy.ParamError{Name: "Sigma", Value: a.Sigma,
			Want: fmt.Sprintf("less: float64 rounds noise of this size by more than τ = %.3g allows, so that no fit "+
				"could be certified; take a larger Lambda (this one, λ = %.3g, asks for so much noise), ε or Tolerance",
				a.Tolerance, a.Lambda)}
	}
	margins := func(n float64) bool { // whether they err by too much
		d := float64(a.Features + 3)
		return n*d*d*u*u*a.Smoothness*(b-n*a.Lipschitz)/a.Lambda > a.Tolerance
	}
	hopeless := margins(1) && margins(manyRecords) // concave in n: for all between, too
	if a.Records > 0 {
		hopeless = margins(float64(a.Records))
	}
	return privacy.Within(!hopeless, "Lambda", a.Lambda,
		fmt.Sprintf("more: the noise makes coefficients of about σ/λ = %.3g, with which no arithmetic here "+
			"can certify τ = %.3g; a larger Lambda (or none, to have it chosen) or Tolerance can be "+
			"certified", a.Sigma/a.Lambda, a.Tolerance))
}

// Feasibility returns what is known of fits with so many features; records is the planned number of them if that is
// public, else 0.
func (m Objective) Feasibility(features, records int) Feasibility {
	return Feasibility{Lipschitz: m.Lipschitz(), Smoothness: m.Smoothness(), Lambda: m.Stiffest(),
		Sigma: m.Sigma, Tolerance: m.Tolerance,
		Features: features, Coefficients: features, Records: records}
}

// Feasible implements mechanism.Mechanism.
func (m Objective) Feasible(features, records int) error {
	return m.Feasibility(features, records).Sure()
}

// Sure is Validate for who pays first, and for a fit that has come to an end in every trial, for whatever records.
// Refused is also
//
//	(3)  sσ/(λL) > 3·10⁴·max(1, nL/(σk)), n = Records and k = Coefficients: where no
//	     records are against it, noise makes coefficients of about σ/λ, and margins that
//	     many times as wide as the range L/(Rs) in which the loss bends. Solvers then lose
//	     their way from the flat to the bend, for some few records and not for many,
//	     which hold nL/√k of the noise's σ√k.
//
// (3) is experience, no proof. A λ that is chosen has sσ/(λL) ≤ 2.
func (a Feasibility) Sure() error {
	if err := a.Validate(); err != nil {
		return err
	}
	held := float64(a.Records) * a.Lipschitz / (a.Sigma * float64(max(1, a.Coefficients)))
	if bend := a.Smoothness * a.Sigma / (a.Lambda * a.Lipschitz); !(bend <= mostBend*math.Max(1, held)) {
		return &privacy.ParamError{Name: "Lambda", Value: a.Lambda,
			Want: fmt.Sprintf("more: the noise makes coefficients of about σ/λ = %.3g where there are not many "+
				"records to hold them, and such a fit may not come to an end; take a larger Lambda (or none, to have "+
				"it chosen), or state how many Records are planned where that can be", a.Sigma/a.Lambda)}
	}
	return nil
}
