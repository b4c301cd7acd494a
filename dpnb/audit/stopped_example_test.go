package audit_test

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// A mechanism whose solver may stop early, on neighbours that differ in a record with a label out of reach: what 5,000
// runs show, and what is claimed.
func ExampleStopped_EpsilonLower() {
	m := objpert.Objective{Loss: loss.ClippedAt(loss.Squared{}, 1, 1), RowNorm: 1,
		Lambda: 20, Sigma: 2, Tolerance: 2, OutputSigma: 0.2}
	s := audit.Stopped{Mechanism: m, Pushed: true,
		Rows: matrix.NewDense(1, 1, []float64{0}), Labels: []float64{0}, Extra: []float64{1}, ExtraLabel: 1e6}
	shown, err := s.EpsilonLower(0.1, 5000, 0.999, noise.NewSeeded(2))
	if err != nil {
		panic(err)
	}
	p, err := m.Profile()
	if err != nil {
		panic(err)
	}
	claimed, err := privacy.EpsilonUpper(p, 0.1)
	if err != nil {
		panic(err)
	}
	fmt.Println("above 1:", shown > 1, "below the claim:", shown < claimed)
	// Output:
	// above 1: true below the claim: true
}

// The same in closed form: a linear loss, for which the release is Gaussian.
func ExampleApproximate() {
	a := audit.Approximate{Tolerance: 2, OutputSigma: 0.2, Solver: audit.PushedApart,
		Scalar: audit.Scalar{Loss: loss.Huber{Threshold: 1}, ExtraX: 1, ExtraY: 1e6, Lambda: 20, Sigma: 2}}
	without, with := a.Cells(500)
	gaussian := privacy.GaussianProfile(math.Hypot(0.5, 1), privacy.AddRemove)
	fmt.Printf("δ(1) ≥ %s, claimed %s\n", privacy.FormatDown(audit.HockeyStick(with, without, 1), 2),
		privacy.FormatUp(privacy.DeltaUpper(gaussian, 1), 2))
	// Output:
	// δ(1) ≥ 0.16, claimed 0.18
}
