package rkw23

import (
	"context"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Every check must fail on a deliberately wrong implementation.
func TestChecksCanFail(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		run  func(context.Context, claim.Size) (claim.Outcome, error)
		want claim.Verdict
	}{
		"rkw23 without its shift":       {boundHolds(func(_, s, e float64) float64 { return measure.HalfNormal(0, 1/s, e) }, claim.Holds, ""), claim.Fails},
		"rkw23 as printed":              {boundHolds(printedRKW23, claim.Holds, ""), claim.Fails},
		"dtz24 with half the noise":     {boundHolds(func(l, s, e float64) float64 { return dtz24Bound(l, 2*s, e) }, claim.Holds, ""), claim.Fails},
		"dtz24 with one tail":           {boundHolds(func(l, s, e float64) float64 { return dtz24Bound(l, s, e) / 2 }, claim.Holds, ""), claim.Fails},
		"the printed theorem, mended":   {printedIsBroken(correctedRKW23), claim.Holds},
		"the printed theorem, harmless": {printedIsBroken(func(_, _, _ float64) float64 { return 1 }), claim.Holds},
		"another Gaussian":              {linearIsGaussian(func(s, e float64) float64 { return measure.GaussianDelta(1.01/s, e) }), claim.Fails},
		"a formula without its e^ε":     {gaussianFormula(func(m, e float64) float64 { return measure.GaussianDelta(m, e) * 1.0001 }), claim.Fails},
		"the pair with the wrong sign":  {dominatingPair(-1), claim.Fails},
		"samples against half a bound":  {sampledBelow(func(l, s, e float64) float64 { return correctedRKW23(l, s, e) / 5 }, 31), claim.Fails},
		"a reduction without the log":   {reductionHolds(func(g, u, _, s float64) float64 { return (g*g + 2*g*u) / (2 * s * s) }, 32), claim.Fails},
		"an RDP bound without its log":  {renyiHolds(func(_, s, a float64) float64 { return 0.5 * a / (s * s) }), claim.Fails},
		"the printed σ of 2012, × 0.4":  {kst12Holds(0.4), claim.Fails},
		"zCDP of a small a, replaced":   {zcdpOfAddRemove(0.4), claim.Holds},
		"add/remove taken for replace":  {replaceHolds(func(p privacy.Profile, e float64) (float64, error) { return 0.9 * privacy.DeltaUpper(p, e), nil }), claim.Fails},
		"the Gaussian case at Rσ/20":    {gaussianCase(0.05, 0.05, 41), claim.Fails},
		"a table of other figures":      {tableOf("Adult", -1), claim.NotCheckable},
		"a table within nothing":        {tableOf("Synthetic-L", 1e-6), claim.Fails},
		"H.1, a fifth of the bound":     {theoremH1(62, 0.2), claim.Fails},
		"section H.1, three quarters":   {sectionH1(63, 0.75), claim.Fails},
		"section H.1, twice the bound":  {sectionH1(63, 2), claim.Fails},
		"a search without a control":    {gaussianCase(1, 1, 41), claim.Fails},
	} {
		if o, err := c.run(ctx, claim.Quick); err != nil || o.Verdict != c.want {
			t.Errorf("%s: verdict %q, %v, want %q; measured %s", name, o.Verdict, err, c.want, o.Measured)
		}
	}
}

// A bound that is no probability must not pass for one that holds.
func TestImpossibleBoundsAreErrors(t *testing.T) {
	for name, b := range map[string]deltaBound{
		"NaN":           func(_, _, _ float64) float64 { return math.NaN() },
		"NaN mostly":    func(l, s, e float64) float64 { return map[bool]float64{true: 1, false: math.NaN()}[l == 5] },
		"negative":      func(_, _, _ float64) float64 { return -1 },
		"more than one": func(_, _, _ float64) float64 { return 1.5 },
	} {
		if o, err := boundHolds(b, claim.Holds, "")(context.Background(), claim.Quick); err == nil {
			t.Errorf("%s: verdict %q", name, o.Verdict)
		}
	}
}
