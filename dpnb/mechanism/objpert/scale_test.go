package objpert_test

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Parameters on which a certificate or a rounding rests are refused, by name, where float64 would lose their digits,
// and accepted up to there.
func TestScalesOutOfRangeAreRefused(t *testing.T) {
	validate := map[string]func(name string, v float64) error{
		"objective": func(name string, v float64) error {
			m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Sigma: 1, Tolerance: 1, OutputSigma: 1}
			*map[string]*float64{"RowNorm": &m.RowNorm, "Lambda": &m.Lambda, "Sigma": &m.Sigma,
				"Tolerance": &m.Tolerance, "OutputSigma": &m.OutputSigma}[name] = v
			return m.Validate()
		},
		"softmax": func(name string, v float64) error {
			m := multiclass.Softmax{Classes: 3, RowNorm: 1, Lambda: 1, Sigma: 1, Tolerance: 1, OutputSigma: 1}
			*map[string]*float64{"RowNorm": &m.RowNorm, "Lambda": &m.Lambda, "Sigma": &m.Sigma,
				"Tolerance": &m.Tolerance, "OutputSigma": &m.OutputSigma}[name] = v
			return m.Validate()
		},
	}
	for mechanismName, f := range validate {
		for _, name := range []string{"RowNorm", "Lambda", "Sigma", "Tolerance", "OutputSigma"} {
			for _, v := range []float64{0, -1, math.NaN(), math.Inf(1), 5e-324, 0x1p-101, 0x1p101, math.MaxFloat64} {
				var p *privacy.ParamError
				if err := f(name, v); !errors.As(err, &p) || p.Name != name {
					t.Errorf("%s: %s = %g: %v", mechanismName, name, v, err)
				}
			}
			for _, v := range []float64{0x1p-49, 0x1p49} {
				if err := f(name, v); err != nil {
					t.Errorf("%s: %s = %g is refused: %v", mechanismName, name, v, err)
				}
			}
		}
	}
	var p *privacy.ParamError
	for name, l := range map[string]loss.Loss{"Lipschitz": loss.Huber{Threshold: 0x1p-101},
		"Smoothness": loss.Softplus{Width: 0x1p-103}} {
		m := objpert.Objective{Loss: l, RowNorm: 1, Lambda: 1, Sigma: 1, Tolerance: 1, OutputSigma: 1}
		if err := m.Validate(); !errors.As(err, &p) || p.Name != name {
			t.Errorf("%s: %v, want %s to be refused", l.Name(), err, name)
		}
	}
	for _, sigma := range []float64{0x1p-101, 0x1p101} {
		if err := (objpert.Count{Sigma: sigma}).Validate(); !errors.As(err, &p) {
			t.Errorf("a count with noise of %g: %v", sigma, err)
		}
	}
	for _, m := range []objpert.Output{{Sigma: 0x1p101}, {Scale: 0x1p-101}} {
		m.Loss, m.RowNorm, m.Lambda, m.Tolerance = loss.Logistic{}, 1, 1, 1
		if err := m.Validate(); !errors.As(err, &p) {
			t.Errorf("%v: %v", m, err)
		}
	}
}
