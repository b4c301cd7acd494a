package ssp

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Boosted is AdaSSP in rounds, each of which fits what the rounds before it left over.
// λ_min(XᵀX) and XᵀX are released once, as by AdaSSP; then, with c the clipping level,
//
//	q_t = Σ clip(yᵢ − xᵢᵀθ_{t−1}, ±c)·xᵢ + noise,  θ_t = θ_{t−1} + (1/t)·(A + ridge·I)⁺q_t,  t = 1 … T.
//
// A record moves q_t by R·c at most, whatever its label, so that a small c costs little noise; the sum is the gradient
// of Huber's loss, which the fit bends to. The steps 1/t make θ_T the mean of T full steps: the noise of the rounds
// averages out. All releases together have μ² = 1/σ₁² + 1/σ₂² + T/σ₃².
//
// SigmaCross is σ₃, in units of R·c, of each round.
//
// Source: Tang et al. 2023, arXiv:2303.03451, Algorithm 2; the steps 1/t, the joint accounting and what AdaSSP has of
// ours. Proof: docs/theory/linear_rivals.md.
type Boosted struct {
	AdaSSP
	// Clip is c > 0, in units of the label.
	Clip float64
	// Rounds is T, from 1 to 1000.
	Rounds int
}

// BoostedConfig asks for a Boosted that satisfies (ε, δ).
type BoostedConfig struct {
	AdaSSPConfig
	// Clip is c; zero means LabelBound/2.
	Clip float64
	// Rounds is T; zero means 8.
	Rounds int
}

// CalibrateBoosted returns the mechanism with the least noise that is proved to satisfy (ε, δ): what is not for the
// smallest eigenvalue, XᵀX and the rounds together share by halves.
//
// Errors: as CalibrateAdaSSP.
func CalibrateBoosted(c BoostedConfig) (Boosted, error) {
	base, err := CalibrateAdaSSP(c.AdaSSPConfig)
	if err != nil {
		return Boosted{}, err
	}
	m := Boosted{AdaSSP: base, Clip: cmp.Or(c.Clip, 0.5*c.LabelBound), Rounds: cmp.Or(c.Rounds, 8)}
	m.SigmaCross *= math.Sqrt(float64(m.Rounds)) * (1 + 0x1p-48)
	return m, m.Validate()
}

// Validate returns a *privacy.ParamError if a parameter is out of range.
func (m Boosted) Validate() error {
	return cmp.Or(m.AdaSSP.Validate(),
		privacy.Within(m.Rounds >= 1 && m.Rounds <= 1000, "Rounds", m.Rounds, "a number from 1 to 1000"),
		mechanism.Scales{{"Clip", m.Clip}}.Check())
}

// Event implements mechanism.Mechanism: the Gaussian mechanism of μ.
//
// Proof: docs/theory/linear_rivals.md, section 1.
func (m Boosted) Event() (privacy.Event, error) {
	all := m.AdaSSP
	all.SigmaCross /= math.Sqrt(float64(m.Rounds)) * (1 + 0x1p-50)
	return all.event(m)
}

// Describe implements mechanism.Mechanism.
func (m Boosted) Describe() mechanism.Description {
	d := m.AdaSSP.Describe()
	d.Name, d.Source = "boosted AdaSSP", "Tang et al. 2023, arXiv:2303.03451, Algorithm 2"
	d.Bound = "Gaussian mechanisms composed: μ² adds, each round's included (docs/theory/linear_rivals.md)"
	return d
}

// String describes the mechanism with its parameters.
func (m Boosted) String() string {
	return fmt.Sprintf("boosted %v, %d rounds, residuals clipped at %.5g", m.AdaSSP, m.Rounds, m.Clip)
}

// Run implements mechanism.Mechanism. It fails after its noise was drawn only as AdaSSP does.
func (m Boosted) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	return m.run(m, rows, labels, src, settings)
}

// run is Run of a mechanism that does what m does.
func (m Boosted) run(of mechanism.Mechanism, rows matrix.Rows, labels []float64, src noise.Source,
	settings *mechanism.Settings) (*mechanism.Release, error) {
	r, err := mechanism.Begin(of, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	level, workers := m.Clip/m.LabelBound, settings.Value().Workers
	d, draw := rowsOf(rows), noise.Exact(src)
	ofEigen, ofGram, ofCross := draw.Normals(1), draw.SymmetricNormals(d), draw.Normals(d)
	theta := make([]float64, d)
	// residual is a function of the record and of what was released: |residual| ≤ 1.
	residual := func(i int, x []float64) float64 {
		return math.Max(-1, math.Min(1, (labels[i]/m.LabelBound-floats.Dot(x, theta))/level))
	}
	mo := moments{gram: mat.NewSymDense(d, nil)}
	q := mo.add(rows, m.RowNorm, workers, residual)
	solve, err := m.solver(mo.gram, ofEigen, ofGram)
	if err != nil {
		return nil, err
	}
	for t := range m.Rounds {
		if t > 0 {
			ofCross.Redraw()
			q = moments{}.add(rows, m.RowNorm, workers, residual)
		}
		ofCross.AddRounded(q, m.SigmaCross, exact.Grid(m.SigmaCross))
		floats.AddScaled(theta, level/float64(t+1), solve(q))
	}
	floats.Scale(m.LabelBound/m.RowNorm, theta)
	r.Coefficients = theta
	r.NoiseScale = m.SigmaCross * m.RowNorm * m.Clip
	return r, nil
}
