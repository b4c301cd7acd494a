package audit

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// PureLaw is the law of the minimiser w of objective perturbation with noise of density ∝ e^{−‖b‖/β} over all of R^d:
// it has the density ∝ e^{−‖b(w)‖/β} det ∇²J(w), b(w) = −∇J(w).
type PureLaw struct {
	Loss loss.Convex
	Bend loss.Bend
	// Scale is β, Lambda Λ.
	Scale, Lambda float64
}

// PureRecord is a direction of norm 1, with the length of the row and its label.
type PureRecord struct {
	Direction   []float64
	Norm, Label float64
}

// LogRatio returns ln p′(w)/p(w), p of the records and p′ of them and one more: exact, but for rounding.
func (l PureLaw) LogRatio(records []PureRecord, more PureRecord, w []float64) float64 {
	d := len(w)
	b, hessian := floats.ScaleTo(make([]float64, d), -l.Lambda, w), mat.NewSymDense(d, nil)
	for j := range d {
		hessian.SetSym(j, j, l.Lambda)
	}
	add := func(r PureRecord) {
		e := loss.Extend(l.Loss, l.Bend, []float64{r.Norm}, []float64{r.Label}, nil)
		m, slope, curvature := []float64{floats.Dot(r.Direction, w)}, []float64{0}, []float64{0}
		e.ValueSlope(slope, m, []float64{0})
		e.Curvature(curvature, m, []float64{0})
		floats.AddScaled(b, -slope[0], r.Direction)
		hessian.SymRankOne(hessian, curvature[0], mat.NewVecDense(d, r.Direction))
	}
	log := func() float64 {
		var c mat.Cholesky
		c.Factorize(hessian)
		return -floats.Norm(b, 2)/l.Scale + c.LogDet()
	}
	for _, r := range records {
		add(r)
	}
	before := log()
	add(more)
	return log() - before
}

// Worst returns the largest |ln p′/p| in one dimension, of no record and one, over lengths, labels and outputs on a
// grid that is fine where noise and slope have one sign.
func (l PureLaw) Worst() float64 {
	worst := 0.0
	c, width := l.Bend.Lipschitz(), l.Bend.Lipschitz()/l.Bend.Smoothness()
	for _, norm := range []float64{0.3, 1, 30} {
		for _, output := range []float64{-3 * c / l.Lambda, 3 * c / l.Lambda} {
			for k := -400; k <= 400; k++ {
				// The distance of the output from where the record's loss bends.
				off := math.Copysign(width*math.Expm1(math.Abs(float64(k))/30)/10, float64(k))
				r := PureRecord{Direction: []float64{1}, Norm: norm, Label: norm * (output - off)}
				worst = math.Max(worst, math.Abs(l.LogRatio(nil, r, []float64{output})))
			}
		}
	}
	return worst
}

// BlockMove returns the part of ε = m.Epsilon that the answers of the one block of m use up between two datasets, at
// most: in each stage how far the minimiser moves, with a solver that does its worst, over the scale of the noise. The
// minimisers are those of m itself, with noise that is all but none. One feature.
//
// Errors: m's.
func BlockMove(m pure.Phases, a, b []PureRecord) (part float64, err error) {
	quiet := m
	quiet.Epsilon = 1e6
	run := func(m pure.Phases, records []PureRecord) (*mechanism.Release, error) {
		rows, labels := matrix.NewDense(len(records), 1, nil), make([]float64, len(records))
		for i, r := range records {
			rows.Data[i], labels[i] = r.Norm*r.Direction[0], r.Label
		}
		return m.Run(rows, labels, noise.NewSeeded(1), &mechanism.Settings{Workers: 1})
	}
	var at [2]float64
	for i, records := range [][]PureRecord{a, b} {
		r, err := run(quiet, records)
		if err != nil {
			return 0, err
		}
		at[i] = r.Coefficients[0]
	}
	loud, err := run(m, a)
	if err != nil {
		return 0, err
	}
	part = (math.Abs(at[0]-at[1]) + 2*m.Tolerance/m.Lambda) / (loud.NoiseScale / math.Sqrt2) / m.Epsilon
	if m.Double {
		part *= 2
	}
	return part, nil
}
