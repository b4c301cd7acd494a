package learn

import (
	"fmt"
	"math"
	"strings"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/constrained"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// largestThreshold is the largest residual of labels and predictions in [−1, 1]: there is nothing to clip beyond.
const largestThreshold = 2

// withinThreshold refuses a threshold of a number within bounds that no residual passes: its noise is in proportion to
// it, and it was meant in the column's unit.
func (p spec) withinThreshold(t frame.Target) error {
	name, v := p.own.name, p.own.value
	if p.task != frame.Number || t.Open || name != "Clip" && name != "Threshold" || !(v > largestThreshold) {
		return nil
	}
	unit := fmt.Sprintf("half the width of the bounds of %s, %.4g", t.Name, t.HalfWidth())
	meant := fmt.Sprintf("for %.4g in its own unit it is %.4g", v, v/t.HalfWidth())
	if t.Log {
		unit = fmt.Sprintf("half the range of %s on its logarithmic scale, %.4g", t.Name, t.HalfWidth())
		meant = fmt.Sprintf("for a factor of %.4g it is %.4g", v, math.Log(v)/t.HalfWidth())
	}
	return &privacy.ParamError{Name: name, Value: v, Want: fmt.Sprintf("at most %d: its unit is %s, no residual "+
		"within the bounds is larger, and noise is in proportion; %s", largestThreshold, unit, meant)}
}

// threshold returns the residual beyond which a record counts by its absolute value, on the scale of the labels but in
// the unit of the column: of counts where it is clipped. It is 0 of losses without one.
func (m *Model) threshold() float64 {
	if m.release == nil {
		return 0
	}
	var of any
	if o, ok := perturbationOf(m.release.Fitted); ok {
		of = o.Loss
	} else if o, ok := m.release.Fitted.(constrained.Objective); ok {
		of = o.Loss
	} else if o, ok := m.release.Fitted.(pure.Objective); ok {
		of = o.Loss
	}
	at := 0.0
	if l, ok := of.(loss.Loss); ok {
		if base, level, ok := loss.Unclip(l); ok {
			at, l = level, base
		}
		switch l, _ := loss.Weightless(l); l := l.(type) {
		case loss.Huber:
			at = l.Threshold
		case loss.PseudoHuber:
			at = l.Threshold
		}
	}
	if m.target.Task == frame.Number { // that of counts is in their unit
		at *= m.target.HalfWidth()
		if b := m.bought(); b != nil {
			at *= b.Unit
		}
	}
	return at
}

// lopsided reports whether a number's mean, as it was bought, is in the outer quarters of the bounds, or nearer to one
// than a bell curve or an even spread can be; true where nothing is known of it.
func (m *Model) lopsided() bool {
	b := m.bought()
	return b == nil || math.Abs(b.Centre) > 0.5 || geometry.Skewed(b.Centre, b.Unit)
}

// thresholdWords is the threshold as it is said, of a number.
func (m *Model) thresholdWords() string {
	t, at := m.target, m.threshold()
	switch {
	case !t.Log:
		return fmt.Sprintf("± %.3g (%s)", at, t.Name)
	case t.Lower > 0:
		return fmt.Sprintf("a factor of %.3g (%s)", math.Exp(at), t.Name)
	}
	return fmt.Sprintf("a factor of %.3g (1 + %s − %g)", math.Exp(at), t.Name, t.Lower)
}

// factor is what an effect on a number on a logarithmic scale multiplies it by, as it is shown, then of those at its
// ends, if they are given: exp of it in half widths. ok is false of other targets and rows; a bias has none.
func (m *Model) factor(feature string, effect float64, ends ...float64) (said string, ok bool) {
	if m.target.Task != frame.Number || !m.target.Log || !m.encoding.Centred() {
		return "", false
	}
	of := func(v float64) string {
		v = math.Exp(v * m.target.HalfWidth())
		if math.IsInf(v, 1) {
			return "∞"
		}
		return strings.TrimSuffix(fmt.Sprintf("%#.3g", v), ".")
	}
	switch {
	case feature == "bias":
		return "", true
	case len(ends) == 2:
		return fmt.Sprintf("× %s, %s to %s", of(effect), of(ends[0]), of(ends[1])), true
	}
	return "× " + of(effect), true
}

// factorWords says what a factor is of; "" where there are none.
func (m *Model) factorWords() string {
	t := m.target
	if _, ok := m.factor("", 0); !ok {
		return ""
	}
	of := t.Name
	if !(t.Lower > 0) {
		of = fmt.Sprintf("1 + %s − %g", t.Name, t.Lower)
	}
	return fmt.Sprintf("Factor: what an effect multiplies %s by.", of)
}

// counted says how far residuals count in full, and what follows for effects and predictions; "" where all do.
func (m *Model) counted() string {
	if m.threshold() == 0 {
		return ""
	}
	return m.countedBeyond(m.thresholdWords(), m.lopsided())
}

// countedBeyond is counted with what it says of the threshold, and whether the target may be skewed.
func (m *Model) countedBeyond(beyond string, skewed bool) string {
	if m.target.Task == frame.Count {
		return fmt.Sprintf("A residual beyond %s counts as that much: where counts are often farther from their mean, "+
			"predictions are too low; a larger %s costs noise in proportion.", beyond, wording.Of("Clip"))
	}
	said := fmt.Sprintf("A residual beyond %s counts by its absolute value, not by its square: effects and "+
		"predictions are of that loss, between the mean and the median.", beyond)
	if m.target.Log || m.target.Open || !skewed { // where neither is to be had
		return said
	}
	mean := wording.Setting{Field: "Learner", Value: "linear", Go: "Linear"}.String()
	if m.learner != "Huber" {
		mean = fmt.Sprintf("%v with a large %v", wording.Setting{Field: "Learner", Value: "poisson", Go: "Poisson"},
			wording.Of("Clip"))
	}
	return said + fmt.Sprintf(" Of a skewed amount they can be far from those of the mean: %s in the schema suits it "+
		"better, or for its mean %s.", wording.Of("Log"), mean)
}

// counted is that of all models, each with its own threshold.
func (s *Models) counted() string {
	var beyond []string
	skewed := false
	for k, m := range s.Models {
		if m.threshold() == 0 {
			return ""
		}
		beyond, skewed = append(beyond, s.Groups[k]+" "+m.thresholdWords()), skewed || m.lopsided()
	}
	return s.Models[0].countedBeyond(strings.Join(beyond, ", "), skewed)
}
