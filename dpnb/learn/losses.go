package learn

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Losses are the losses of a released model on individual records. Each lies within public bounds and depends on its
// record alone, so that their mean can be asked for privately:
//
//	classes          0 where the class is predicted rightly, 1 where it is not;
//	numbers, counts  min(|y − ŷ|, h), h half the width of the public bounds, in the unit of the
//	                 target; on a logarithmic scale (Log) that of the logarithm.
type Losses struct {
	model *Model
	// Most is the largest loss: 1 or h.
	Most float64
	// Classes says that the loss is of classes.
	Classes bool
}

// Losses returns the losses of m, for a private mean of them.
//
// Errors: no model; one that was fitted without privacy, or with noise that can be subtracted, unless simulated says
// that the answer is a simulation itself: what is said of its losses would give away what the model does; several
// quantiles.
func (m *Model) Losses(simulated bool) (*Losses, error) {
	switch {
	case m.Err() != nil:
		return nil, m.Err()
	case m.release == nil:
		return nil, errors.New("dpnb: the model was fitted without privacy: its losses reveal more about its " +
			"records than the price of their mean covers; Score is for public data")
	case m.release.Simulated() && !simulated:
		return nil, errors.New("dpnb: the model is a simulation, whose noise can be subtracted: nothing would " +
			"protect a release of its losses; fit it with secure noise, or ask with a seed (Noise)")
	case m.levels != nil:
		return nil, errors.New("dpnb: the loss of several quantiles has no private mean: fit one level, by " +
			wording.Setting{Field: "Learner", Value: "quantile --tau 0.5", Go: "Quantile{Tau: 0.5}"}.String() +
			", whose error has one")
	}
	held := *m
	l := &Losses{model: &held, Most: 1, Classes: m.target.Classes != nil}
	if !l.Classes {
		l.Most = m.target.HalfWidth()
	}
	return l, nil
}

// Target is the name of the column that the model predicts.
func (l *Losses) Target() string { return l.model.target.Name }

// Records returns about how many records the model was fitted to, if a noisy count was released with it; else 0.
func (l *Losses) Records() float64 {
	if b := l.model.bought(); b != nil {
		return b.Records
	}
	return 0
}

// Logarithmic says that the loss of a number is on a logarithmic scale.
func (l *Losses) Logarithmic() bool { return l.model.target.Log }

// Columns are those from which a loss is computed.
func (l *Losses) Columns() []string {
	return append(slices.Clone(l.model.Columns()), l.model.target.Name)
}

// ManyClasses says that there are more than two.
func (l *Losses) ManyClasses() bool { return len(l.model.target.Classes) > 2 }

// Warning is a caveat about the model's own guarantee, or "".
func (l *Losses) Warning() string { return l.model.dataWarning }

// Of returns the losses of the rows of a chunk. Records with a missing value or label have the one that the schema's
// rule gives them.
func (l *Losses) Of(chunk *frame.Table) ([]float64, error) {
	d, err := l.model.encoding.Design(chunk)
	if err != nil {
		return nil, err
	}
	m, out := l.model, make([]float64, len(d.Labels))
	eachMargins(d, m.linear(), m.also(), func(i int, t []float64, stride, parts int) {
		if m.calibration != nil { // it is by these that it decides
			t = []float64{m.logOdds(t[0])}
		}
		out[i] = l.Most * (1 - recordScore(m.target.Task, m.target, d.Labels[i], t, stride, parts))
	})
	return out, nil
}

// Outcomes are what became of records of classes: the place of the class that each is of and of the one that was
// predicted, and the log-odds of the positive class of two, log(p/(1 − p)); those of a model without probabilities are
// xᵀθ. Each is a function of its record alone.
func (l *Losses) Outcomes(chunk *frame.Table) (class, predicted, logOdds []float64, err error) {
	d, err := l.model.encoding.Design(chunk)
	if err != nil {
		return nil, nil, nil, err
	}
	m, n := l.model, len(d.Labels)
	two := m.target.Task == frame.TwoClasses
	class, predicted, logOdds = make([]float64, n), make([]float64, n), make([]float64, n)
	eachMargins(d, m.linear(), m.also(), func(i int, t []float64, stride, parts int) {
		if class[i] = d.Labels[i]; two {
			class[i] = (class[i] + 1) / 2
			if logOdds[i] = m.logOdds(t[0]); m.positive(t[0]) {
				predicted[i] = 1
			}
			return
		}
		predicted[i] = float64(largest(t, stride, parts))
	})
	return class, predicted, logOdds, nil
}

// Usual returns the log-odds of the positive class of two, in their order, of records that nobody has, smeared by a
// quarter of their deviation. Their columns are independent: of three quarters with the shares that were released of
// where records are, and of the others, as these may be mostly noise, all over their scales. It is a function of what
// was released. Where rows are not centred, nothing was, and they are normal with a deviation of 2.
func (l *Losses) Usual() []float64 {
	m, src := l.model, noise.NewSeeded(1)
	all := make([]float64, 0, imagined)
	draw := func(mean []float64, off float64, n int) {
		rows := m.encoding.Imagined(mean, off, lessUsual, lessUsual, n, src.Float64)
		eachMargins(&frame.Design{Rows: rows}, m.linear(), m.also(), func(_ int, t []float64, _, _ int) {
			all = append(all, m.logOdds(t[0]))
		})
	}
	smear := 2.0
	if m.encoding.Centred() {
		if b := m.bought(); b != nil {
			draw(meanRow(b), meanError(b), imagined*3/4)
		}
		draw(nil, 0, imagined-len(all))
		mean, deviation := stat.MeanStdDev(all, nil)
		smear = math.Max(deviation/4, 1e-6*(1+math.Abs(mean)))
	}
	all = all[:imagined]
	for i := range all {
		all[i] += smear * distuv.UnitNormal.Quantile(src.Float64())
	}
	slices.Sort(all)
	return all
}

// TargetClasses are the classes that the model tells apart, in the order of their places; nil of numbers and counts.
func (l *Losses) TargetClasses() []string { return slices.Clone(l.model.target.Classes) }

// Probabilities says that the model predicts probabilities.
func (l *Losses) Probabilities() bool { return l.model.probabilities }

// String names the model by what was released.
func (l *Losses) String() string {
	text := fmt.Sprintf("%s %v", l.model.title, l.model.linear())
	if c := l.model.calibration; c != nil {
		text += fmt.Sprintf(" calibrated %v %v", c.Slope, c.Intercept)
	}
	return fmt.Sprintf("%s of coefficients %x", l.model.title, sha256.Sum256([]byte(text)))
}
