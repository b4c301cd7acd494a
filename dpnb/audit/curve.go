package audit

import (
	"cmp"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Curve is the errors of a score at several thresholds, each with an interval, and what a claim allows them to be: a
// receiver's curve with its band.
type Curve struct {
	Points []Errors
	// Level is that of all intervals of the curve together.
	Level float64
}

// Errors are those of the test “above a threshold”: the share of the second law that is above, and that of the first
// that is not. Power is one less the latter.
type Errors struct {
	Threshold            float64
	FalsePositive, Power Interval
	// Allowed is the most power that the claim admits at the estimated share of false positives; NaN without a claim.
	Allowed float64
}

// newCurve measures the score on the draws that test.
func newCurve(s score, drawn [2][][]float64, quarter, half int, dir privacy.Direction, level float64,
	allowed *tangents) Curve {
	p, q, sign := drawn[0], drawn[1], 1.0
	if dir == privacy.Add {
		p, q, sign = q, p, -1
	}
	cuts := curveCuts(s.values(p[quarter:half], sign), s.values(q[quarter:half], sign))
	tested, other := s.values(p[half:], sign), s.values(q[half:], sign)
	slices.Sort(tested)
	slices.Sort(other)
	c := bandAt(tested, other, cuts, level)
	for i := range c.Points {
		c.Points[i].Allowed = allowed.at(c.Points[i].FalsePositive.Estimate)
	}
	return c
}

// curveCuts are quantiles of the second sample, from a half to its largest value and below.
func curveCuts(p, q []float64) []float64 {
	slices.Sort(q)
	slices.Sort(p)
	n := len(q)
	var cuts []float64
	for _, f := range []float64{0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001} {
		if k := n - 1 - int(f*float64(n)); f*float64(n) >= 1 && k >= 0 {
			cuts = append(cuts, q[k])
		}
	}
	// Between the two where they hardly overlap: what few of the second exceed.
	m := len(p)
	for _, f := range []float64{0.95, 0.5} {
		cuts = append(cuts, p[min(m-1, int((1-f)*float64(m)))])
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// bandAt measures sorted scores at cuts that do not depend on them.
func bandAt(p, q, cuts []float64, level float64) Curve {
	c := Curve{Level: level}
	each := 1 - (1-level)/float64(2*max(1, len(cuts)))
	for _, t := range cuts {
		c.Points = append(c.Points, Errors{Threshold: t, FalsePositive: ClopperPearson(exceeding(q, t), len(q), each),
			Power: ClopperPearson(exceeding(p, t), len(p), each), Allowed: math.NaN()})
	}
	return c
}

// Attack measures a membership inference attack by the scores that it gave to persons who were in the data (in) and to
// persons who were not (out), larger for those that it takes to be in: each from a release of its own. The thresholds
// come from a quarter of the scores, which are then left out. claim, if not nil, says what power is allowed, in the
// direction Remove.
//
// Errors: *privacy.ParamError for fewer than 40 scores of either, or a level outside (0, 1).
// Proof: docs/theory/audit.md#dpnb-audit-curve.
func Attack(in, out []float64, level float64, claim privacy.Profile) (Curve, error) {
	n := min(len(in), len(out))
	if err := cmp.Or(privacy.Within(n >= 40, "scores", n, "at least 40 of either"),
		privacy.Fraction("level", level)); err != nil {
		return Curve{}, err
	}
	p, q := slices.Clone(in), slices.Clone(out)
	i, j := len(p)/4, len(q)/4
	cuts := curveCuts(p[:i], q[:j])
	slices.Sort(p[i:])
	slices.Sort(q[j:])
	c := bandAt(p[i:], q[j:], cuts, level)
	if claim != nil {
		allowed := newTangents(claim, privacy.Remove, 20)
		for k := range c.Points {
			c.Points[k].Allowed = allowed.at(c.Points[k].FalsePositive.Estimate)
		}
	}
	return c, nil
}

// Allowed returns the most power that a claim admits at each share of false positives: the curve that no attack can be
// above.
func Allowed(claim privacy.Profile, falsePositives []float64) []float64 {
	allowed := newTangents(claim, privacy.Remove, 20)
	power := make([]float64, len(falsePositives))
	for i, q := range falsePositives {
		power[i] = allowed.at(q)
	}
	return power
}
