package statistic

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Law is the law of the noise in each sum.
type Law int

const (
	// Gaussian noise N(0, Scale²), for (ε, δ): the sums are a Gaussian mechanism of μ = Norm/Scale exactly.
	Gaussian Law = iota + 1
	// Laplace noise of density exp(−|z|/Scale)/(2·Scale), for pure ε = Norm/Scale.
	Laplace
)

// Summand is φ, of which Sums adds up the values: a function of one record alone, whatever it holds, with values in ℝᵏ.
type Summand interface {
	fmt.Stringer
	// Validate returns a *privacy.ParamError if a parameter is out of range.
	Validate() error
	// Columns is how many numbers a record has, Len is k.
	Columns() int
	Len() int
	// Norm bounds ‖φ‖₂ of every record there can be for Gaussian noise, ‖φ‖₁ for Laplace noise: rounded up, of what Sum
	// adds and not of what it stands for. It is at most 1 + 1e-6: scale φ.
	Norm(law Law) float64
	// Error is a number by which m with one law is compared with m with another: the standard deviation, typically, of
	// the noise in what is estimated.
	Error(m Sums) float64
	// Sum adds φ of each record to dst, each entry a multiple of step of at most 1: see round. columns[j][i] is number
	// j of record i, of at most mostRows records.
	Sum(dst []float64, columns [][]float64)
}

// step is of what each entry of φ is a multiple, so that sums are exact in any order: of 2²⁹ records. Larger ones are
// cut to that, which moves no two of them apart.
const step = 0x1p-24

// mostRows is how many records Summand.Sum takes at once: their sums are exact in float64.
const mostRows = 1 << 20

// round returns the multiple of step that is nearest to x, |x| ≤ 1.
func round(x float64) float64 {
	const m = 0x1.8p52 * step
	return float64(x+m) - m
}

// Sums releases Σ φ(record) + noise: independent noise in each of the k sums, drawn exactly, each rounded to the public
// grid exact.Grid(Scale).
//
// Source: Dwork, McSherry, Nissim, Smith 2006 for Laplace noise; Balle, Wang 2018 for Gaussian. Proof:
// docs/theory/statistics.md.
type Sums struct {
	Of Summand
	// Law and Scale of the noise in each sum.
	Law   Law
	Scale float64
}

// LeastNoise returns the sums of what of makes for a law, with the noise that is proved to satisfy (ε, δ) under
// add/remove-one: Laplace noise where δ = 0; Gaussian noise where the ledger counts μ, of which it costs least; else
// the law with the smaller Error.
//
// Errors: *privacy.ParamError.
func LeastNoise(of func(law Law) Summand, epsilon, delta float64, countsMu bool) (Sums, error) {
	if delta == 0 {
		return CalibrateSums(of(Laplace), Laplace, epsilon, delta)
	}
	g, err := CalibrateSums(of(Gaussian), Gaussian, epsilon, delta)
	if err != nil || countsMu {
		return g, err
	}
	l, err := CalibrateSums(of(Laplace), Laplace, epsilon, delta)
	if err == nil && l.Of.Error(l) < g.Of.Error(g) {
		return l, nil
	}
	return g, nil
}

// CalibrateSums returns the sums with the least noise of the given law that is proved to satisfy (ε, δ) under
// add/remove-one; Laplace noise spends no δ.
//
// Errors: *privacy.ParamError.
func CalibrateSums(of Summand, law Law, epsilon, delta float64) (Sums, error) {
	m := Sums{Of: of, Law: law, Scale: 1}
	if err := m.Validate(); err != nil {
		return m, err
	}
	if m.Law == Laplace {
		if !(epsilon > 0) || math.IsInf(epsilon, 1) {
			return m, &privacy.ParamError{Name: "Epsilon", Value: epsilon, Want: "a positive finite number"}
		}
		m.Scale = of.Norm(Laplace) / math.Nextafter(epsilon, 0) * (1 + 0x1p-50)
		return m, m.Validate()
	}
	sigma, err := privacy.GaussianSigma(epsilon, delta)
	if err != nil {
		return m, err
	}
	m.Scale = sigma * of.Norm(Gaussian) * (1 + 0x1p-50)
	return m, m.Validate()
}

// deviation returns that of the noise in each sum.
func (m Sums) deviation() float64 {
	if m.Law == Laplace {
		return math.Sqrt2 * m.Scale
	}
	return m.Scale
}

// Validate implements mechanism.Mechanism.
func (m Sums) Validate() error {
	if err := cmp.Or(privacy.Within(m.Of != nil, "Of", nil, "what is to be summed"),
		privacy.Within(m.Law == Gaussian || m.Law == Laplace, "Law", int(m.Law), "Gaussian or Laplace")); err != nil {
		return err
	}
	return cmp.Or(m.Of.Validate(), mechanism.Scales{{"Scale", m.Scale}}.Check())
}

// Event implements mechanism.Mechanism.
func (m Sums) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.Law == Laplace {
		return privacy.Laplace{Scale: m.Scale, Sensitivity: m.Of.Norm(Laplace)}, nil
	}
	return privacy.Gaussian{Sigma: m.Scale, Sensitivity: m.Of.Norm(Gaussian)}, nil
}

// String describes the mechanism with its parameters.
func (m Sums) String() string {
	if m.Law == Laplace {
		return fmt.Sprintf("%v, with Laplace noise of scale b = %.5g", m.Of, m.Scale)
	}
	return fmt.Sprintf("%v, with Gaussian noise of σ = %.5g", m.Of, m.Scale)
}

// Describe implements mechanism.Mechanism.
func (m Sums) Describe() mechanism.Description {
	d := mechanism.Description{Name: "noisy sums", Source: "Dwork, McSherry, Nissim, Smith 2006",
		Adjacency: privacy.AddRemove, Assumptions: assumptions,
		Bound: "Laplace noise at the ℓ₁ norm of what a record adds (docs/theory/statistics.md)"}
	if m.Law == Gaussian {
		d.Source = "Balle, Wang 2018, arXiv:1805.06530"
		d.Bound = "Gaussian noise at the ℓ₂ norm of what a record adds (docs/theory/statistics.md)"
	}
	return d
}

// Feasible implements mechanism.Mechanism: sums are always released.
func (m Sums) Feasible(int, int) error { return m.Validate() }

// Check implements mechanism.Mechanism: it looks at shapes alone.
func (m Sums) Check(rows matrix.Rows, labels []float64) error { return check(m, rows, labels) }

// Run implements mechanism.Mechanism: Coefficients are the k sums.
func (m Sums) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := run(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	r.NoiseScale = m.deviation()
	return r, nil
}

// Columns implements Mechanism.
func (m Sums) Columns() int { return m.Of.Columns() }

// Tally implements Mechanism.
func (m Sums) Tally() Tally {
	return &sumsTally{m, exact.NewTotal(m.Of.Len(), step), make([]float64, m.Of.Len())}
}

type sumsTally struct {
	Sums
	total *exact.Total
	part  []float64
}

// Add implements Tally.
func (t *sumsTally) Add(columns [][]float64) {
	part := make([][]float64, len(columns))
	for lo, n := 0, len(columns[0]); lo < n; lo += mostRows {
		for j, c := range columns {
			part[j] = c[lo:min(n, lo+mostRows)]
		}
		clear(t.part)
		t.Of.Sum(t.part, part)
		t.total.Add(t.part)
	}
}

// Each implements Tally: sums in steps.
func (t *sumsTally) Each(f func(place int, count int64)) {
	for j, c := range t.total.Counts() {
		if c != 0 {
			f(j, c)
		}
	}
}

// Count implements Tally.
func (t *sumsTally) Count(place int, count int64) { t.total.Counts()[place] += count }

// Release implements Tally.
func (t *sumsTally) Release(src noise.Source) []float64 {
	sums := t.part
	t.total.Write(sums)
	draw := noise.Exact(src)
	z := draw.Normals(len(sums))
	if t.Law == Laplace {
		z = draw.Laplaces(len(sums))
	}
	z.AddRounded(sums, t.Scale, exact.Grid(t.Scale))
	return sums
}
