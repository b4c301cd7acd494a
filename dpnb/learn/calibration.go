package learn

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/logspace"
)

// calibration takes the log-odds s of the positive class to Slope·s + Intercept (Platt 1999).
type calibration struct {
	Slope, Intercept float64
	// How it was bought, with its own guarantee; and the warning of that answer.
	How, Warning string
}

func (c *calibration) valid() bool {
	sum := c.Slope + c.Intercept
	return c.Slope > 0 && !math.IsNaN(sum) && !math.IsInf(sum, 0)
}

func (c *calibration) words() string {
	return fmt.Sprintf("Its probabilities are calibrated: their log-odds s became %.4g·s %+.4g, by %s That is a "+
		"release beside the model's, of other records or of the same: whoever was in both is protected by both "+
		"together, as the budget counts them.", c.Slope, c.Intercept, c.How)
}

// logOdds returns the log-odds of the positive class of two at the margin t: t itself of a model without probabilities.
func (m *Model) logOdds(t float64) float64 {
	s := t
	if l, ok := m.link(); ok {
		margin := orElse(l.Margin, 1)
		s = logLogistic((margin+t)/l.Width) - logLogistic((margin-t)/l.Width)
	}
	if c := m.calibration; c != nil {
		s = c.Slope*s + c.Intercept
	}
	return s
}

// logLogistic is log σ(x), σ(x) = 1/(1 + e^{−x}).
func logLogistic(x float64) float64 { return -logspace.Add(0, -x) }

// positive reports whether the positive class of two is predicted at the margin t.
func (m *Model) positive(t float64) bool {
	if m.calibration == nil {
		return t > 0
	}
	return m.logOdds(t) > 0
}

// Calibrated returns the model with log-odds that are slope·s + intercept in place of s; how says where the two come
// from, warning what no guarantee covers of them. It is post-processing of the model and of these numbers, which must
// have been released: explore.Calibrated finds them from a released calibration curve.
//
// Errors: no model; one that predicts no probabilities of two classes, was fitted without privacy or is calibrated
// already; a slope that is not positive.
func (m *Model) Calibrated(slope, intercept float64, how, warning string) (*Model, error) {
	c := &calibration{Slope: slope, Intercept: intercept, How: how, Warning: warning}
	switch {
	case m.Err() != nil:
		return nil, m.Err()
	case m.release == nil:
		return nil, errors.New("dpnb: a fit without privacy is not calibrated: its coefficients were not released")
	case !m.probabilities || m.target.Task != frame.TwoClasses:
		return nil, errors.New("dpnb: a calibration is of the probabilities of two classes, which the model does not " +
			"predict: Logistic and SVM do")
	case m.calibration != nil:
		return nil, errors.New("dpnb: the model is calibrated already: calibrate the one that Fit returned")
	case !c.valid():
		return nil, fmt.Errorf("dpnb: a calibration with slope %v and intercept %v: want a positive and a finite "+
			"number",
			slope, intercept)
	}
	out := *m
	out.calibration = c
	return &out, nil
}
