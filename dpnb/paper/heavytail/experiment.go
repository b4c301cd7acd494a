package heavytail

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Population is regression with heavy tails: x is an elliptical t vector of d coordinates of
// variance 1, y = ⟨x,w*⟩ + ½e with ‖w*‖ = 1 and e of Student's t law, both of k + ½ degrees
// of freedom, so that moments below that exist. The loss is |y − ⟨x,w⟩|, over ‖w‖ ≤ 2.
type Population struct {
	// Moment is k ≥ 2, Features d.
	Moment   float64
	Features int
}

func (p Population) degrees() float64 { return p.Moment + 0.5 }

// unit is what a t variate is multiplied by to have variance 1.
func (p Population) unit() float64 { return math.Sqrt((p.degrees() - 2) / p.degrees()) }

// MomentBound returns G_k = (E‖x‖^k)^{1/k}.
func (p Population) MomentBound() float64 {
	// ‖x‖ = unit·√ν·χ_d/χ_ν; E χ_m^k = 2^{k/2}Γ((m+k)/2)/Γ(m/2).
	log := func(m, k float64) float64 {
		a, _ := math.Lgamma((m + k) / 2)
		b, _ := math.Lgamma(m / 2)
		return k/2*math.Ln2 + a - b
	}
	k, nu := p.Moment, p.degrees()
	return p.unit() * math.Sqrt(nu) * math.Exp((log(float64(p.Features), k)+log(nu, -k))/k)
}

// truth returns w*.
func (p Population) truth() []float64 {
	w := make([]float64, p.Features)
	for j := range w {
		w[j] = 1 / math.Sqrt(float64(p.Features))
	}
	return w
}

// Draw returns n records.
func (p Population) Draw(src *noise.Seeded, n int) (*matrix.Dense, []float64) {
	d, nu, truth := p.Features, p.degrees(), p.truth()
	chi := distuv.Gamma{Alpha: nu / 2, Beta: 0.5, Src: src}
	rows, y := matrix.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		row := rows.Data[i*d : (i+1)*d]
		src.Gaussian(row, 1)
		floats.Scale(p.unit()*math.Sqrt(nu/chi.Rand()), row)
		y[i] = floats.Dot(row, truth) + 0.5*src.NormFloat64()*math.Sqrt(nu/chi.Rand())
	}
	return rows, y
}

// Excess returns F(w) − F(w*). As x is elliptical, ⟨x,w − w*⟩ is ‖w − w*‖ times one of its
// coordinates; given that, the mean over e is in closed form.
func (p Population) Excess(w []float64) float64 {
	const strata = 4000
	law := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: p.degrees()}
	nu, off := p.degrees(), floats.Distance(w, p.truth(), 2)
	peak := law.Prob(0)
	var sum float64
	for i := range strata {
		// The upper half of the law of x₁; the outer strata are as heavy as they come.
		s := 2 * off * p.unit() * law.Quantile(0.5+0.5*(float64(i)+0.5)/strata)
		// E|s + e| − E|e| = s(2F(s) − 1) − 2∫₀^s uf(u)du.
		sum += s*(2*law.CDF(s)-1) - 2*nu/(nu-1)*(peak-law.Prob(s)*(1+s*s/nu))
	}
	return 0.5 * sum / strata
}

// Fit is a mechanism of the experiment for n records at ε.
type Fit func(p Population, n int, eps float64) (mechanism.Mechanism, error)

// The mechanisms of the experiment, all under replace-one as in the paper.
var (
	// Default is objective perturbation with C = G/4.
	Default Fit = func(p Population, n int, eps float64) (mechanism.Mechanism, error) {
		return p.config(n, eps).Calibrate()
	}
	// WorstCase is objective perturbation with C and Λ of the utility theorem.
	WorstCase Fit = func(p Population, n int, eps float64) (mechanism.Mechanism, error) {
		c := p.config(n, eps)
		c.WorstCase = true
		return c.Calibrate()
	}
	// Output is one output perturbation.
	Output Fit = func(p Population, n int, eps float64) (mechanism.Mechanism, error) {
		return p.config(n, eps).CalibrateOutput()
	}
)

// Printed is the paper's algorithm with its own constants: four phases of three blocks, each
// with two stages, ridges that grow by 32. Its ⌈log₂ n⌉ phases would leave blocks empty.
var Printed Fit = func(p Population, n int, eps float64) (mechanism.Mechanism, error) {
	c := pure.PhasesConfig{Config: p.config(n, eps), Count: 4, Blocks: 3, Ratio: 32, Double: true,
		Constants: pure.Printed}
	c.WorstCase = true
	return c.Calibrate()
}

// Localisation is localisation with exact constants, one stage, and three phases of one
// block.
var Localisation Fit = func(p Population, n int, eps float64) (mechanism.Mechanism, error) {
	return p.Phased(n, eps, 3)
}

// Phased is Localisation with so many phases.
func (p Population) Phased(n int, eps float64, phases int) (mechanism.Mechanism, error) {
	return pure.PhasesConfig{Config: p.config(n, eps), Count: phases}.Calibrate()
}

func (p Population) config(n int, eps float64) pure.Config {
	return pure.Config{Loss: loss.LeastAbsolute{}, Epsilon: eps, Adjacency: privacy.ReplaceOne,
		Features: p.Features, Records: n,
		Radius: 2, Moment: p.Moment, MomentBound: p.MomentBound()}
}

// Cell is a cell of the table: the mean excess risk of so many fits, each with records of its
// own, and its standard error.
//
// Errors: the mechanism's.
func (p Population) Cell(fit Fit, n int, eps float64, fits int, seed uint64) (mean, deviation float64, err error) {
	m, err := fit(p, n, eps)
	if err != nil {
		return 0, 0, err
	}
	risks := make([]float64, fits)
	err = parallel.For(context.Background(), fits, 0, func(_, i int) error {
		src := noise.NewSeeded(seed).Stream(i)
		rows, y := p.Draw(src, n)
		r, err := m.Run(rows, y, src, &mechanism.Settings{Workers: 1})
		if err != nil {
			return err
		}
		risks[i] = p.Excess(r.Coefficients)
		return nil
	})
	for _, v := range risks {
		mean += v / float64(fits)
	}
	for _, v := range risks {
		deviation += (v - mean) * (v - mean) / float64(fits*max(1, fits-1))
	}
	return mean, math.Sqrt(deviation), err
}
