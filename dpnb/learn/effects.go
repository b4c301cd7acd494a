package learn

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/additive"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
)

// shown returns the names and values of the coefficients that a model shows. Where rows are centred, single
// coefficients mean nothing, as indicators add up to nothing and a curve has many: then they are effects.
func shown(e *frame.Encoding, theta []float64, also any) (names []string, values []float64) {
	if of, ok := also.(*additive.Cells); ok {
		return cellNames(e, of), theta
	}
	if !e.Centred() {
		return e.Features, theta
	}
	effects := e.Effects()
	for _, f := range effects {
		names = append(names, f.Name)
	}
	for one := range slices.Chunk(theta, len(e.Features)) {
		for _, f := range effects {
			values = append(values, floats.Dot(f.Weights, one))
		}
	}
	return names, values
}

// linear returns the coefficients of the linear forms that are predicted, of rows that are placed where that was
// bought.
func (m *Model) linear() []float64 {
	if m.theta != nil {
		return m.theta
	}
	return m.coefficients
}

// forms returns the effects of a model as linear forms aᵀθ + shift of the coefficients of its fit, stretched by q: with
// those of features Tqθ_f/(cR), and that of the bias Tθ_e + (ȳ − Σ_f Tqθ_f m_f/c)/e.
func (m *Model) forms(b *geometry.Bought, q float64) (forms [][]float64, shift []float64) {
	by := b.Unit * q / b.Scale
	for _, f := range m.encoding.Effects() {
		last := len(f.Weights) - 1
		a, ofBias := make([]float64, last+1), f.Weights[last]
		for j := range last {
			a[j] = by * (f.Weights[j]/b.RowNorm - ofBias*b.Mean[j]/b.Bias)
		}
		a[last] = b.Unit * ofBias
		forms, shift = append(forms, a), append(shift, ofBias*b.Centre/b.Bias)
	}
	return forms, shift
}

// intervalsOfEffects are intervals for the effects of m, by find.
func (m *Model) intervalsOfEffects(b *geometry.Bought, level, q float64,
	find func(fit objpert.Objective, theta []float64, s interval.Settings) (*interval.Intervals, error)) (*Intervals,
	error) {
	forms, shift := m.forms(b, q)
	fit, _ := m.ObjectivePerturbation()
	iv, err := find(fit, b.Raw,
		interval.Settings{Level: level, Linearise: true, Forms: forms,
			Basis: matrix.Complement(m.encoding.Nowhere(), len(m.encoding.Features))})
	if err == nil {
		floats.Add(iv.Estimate, shift)
		floats.Add(iv.Lower, shift)
		floats.Add(iv.Upper, shift)
	}
	return m.intervals(iv, err)
}

// hingeOf returns the loss with the margin that the release was fitted with.
func hingeOf(l loss.Softplus, r *mechanism.Release) loss.Softplus {
	var of any
	if o, ok := perturbationOf(r.Fitted); ok {
		of = o.Loss
	} else if o, ok := r.Fitted.(pure.Objective); ok {
		of = o.Loss
	}
	if used, ok := of.(loss.Softplus); ok {
		return used
	}
	return l
}
