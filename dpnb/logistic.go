package dpnb

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Logistic is logistic regression for two classes by objective perturbation.
// The zero value is right: λ and the noise are chosen from (ε, δ) and the
// bound on the rows alone, and the noise is cryptographic.
type Logistic struct {
	// Lambda fixes the ridge λ of the sum objective Σℓ + (λ/2)‖θ‖²; zero has it
	// chosen. It must not be chosen by looking at the records.
	Lambda float64
	// Noise is the source of the noise; nil is noise.NewSecure().
	// Seed(s) makes the fit a reproducible simulation that protects nobody.
	Noise noise.Source
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
}

// Seed returns the reproducible noise of a seed, for simulations.
func Seed(seed uint64) noise.Source { return noise.NewSeeded(seed) }

// Model is a fitted two-class model.
type Model struct {
	// Release has the coefficients and the guarantee; nil for a fit without privacy.
	Release *mechanism.Release
	// Coefficients θ in the order of Features.
	coefficients []float64
	features     []string
	names        [2]string // negative, positive
	label        string
	dataWarning  string
	lambda       float64
}

// Fit releases a private model, or returns an error and releases nothing.
//
// The order is: everything is checked; the budget is charged; noise is drawn;
// the objective is minimised to a certified tolerance. An error of the first
// step leaves the ledger as it was; there are no refunds after the second.
func (l Logistic) Fit(data *Dataset, allowance Allowance) (*Model, error) {
	if err := data.Err(); err != nil {
		return nil, err
	}
	src := l.Noise
	if src == nil {
		src = noise.NewSecure()
	}
	if err := allowance.check(src); err != nil {
		return nil, err
	}
	d := data.design
	if err := twoClasses(d); err != nil {
		return nil, err
	}
	m, err := mechanism.CalibrateObjectivePerturbation(mechanism.CalibrationConfig{
		Loss: loss.Logistic{}, RowNorm: d.RowNorm, Epsilon: allowance.epsilon, Delta: allowance.delta,
		Adjacency: privacy.AddRemove, Lambda: l.Lambda,
	})
	if err != nil {
		return nil, err
	}
	if err := m.Check(d.Rows, d.Labels); err != nil {
		return nil, err
	}
	if err := allowance.charge("objective perturbation, logistic", src); err != nil {
		return nil, err
	}
	r, err := m.Run(d.Rows, d.Labels, src, &mechanism.Settings{Workers: l.Workers})
	if err != nil {
		return nil, err
	}
	r.Guarantee.Epsilon, r.Guarantee.Delta = allowance.epsilon, allowance.delta
	if r.Simulated && !allowance.simulation {
		if err := runlog.Append(runlog.KindSeed, runlog.Seed{Name: "noise", Seed: r.Seed}); err != nil {
			return nil, err
		}
	}
	model := newModel(d, r.Coefficients)
	model.Release, model.lambda = r, m.Lambda
	return model, nil
}

// FitWithoutPrivacy returns the ordinary fit, for comparison on public data.
// It protects nobody and says so wherever it is shown.
func (l Logistic) FitWithoutPrivacy(data *Dataset) (*Model, error) {
	if err := data.Err(); err != nil {
		return nil, err
	}
	d := data.design
	if err := twoClasses(d); err != nil {
		return nil, err
	}
	lambda := l.Lambda
	if lambda == 0 {
		lambda = 1
	}
	s, err := erm.Minimize(&erm.Problem{Rows: d.Rows, Labels: d.Labels, Loss: loss.Logistic{}, Ridge: lambda}, &erm.Settings{Workers: l.Workers})
	if err != nil {
		return nil, err
	}
	m := newModel(d, s.Theta)
	m.lambda = lambda
	return m, nil
}

// twoClasses refuses records of one class: no fit can tell classes apart that
// it has not seen.
func twoClasses(d *frame.Design) error {
	for _, y := range d.Labels {
		if y != d.Labels[0] {
			return nil
		}
	}
	return errors.New("dpnb: all records have the same label: there is nothing to tell apart; check the label column and the filter before it")
}

func newModel(d *frame.Design, theta []float64) *Model {
	m := &Model{coefficients: theta, features: d.Features, names: [2]string{d.Negative, d.Positive}, label: d.LabelName}
	if d.DataDependent {
		m.dataWarning = "Bounds or categories were READ OFF THE DATA: the guarantee does not cover that."
	}
	return m
}

// Coefficients returns the coefficients as a dataframe with columns feature
// and coefficient.
func (m *Model) Coefficients() dataframe.DataFrame {
	return dataframe.New(series.New(m.features, series.String, coefficientColumns[0]), series.New(m.coefficients, series.Float, coefficientColumns[1]))
}

// coefficientColumns are the columns of Model.Coefficients.
var coefficientColumns = []string{"feature", "coefficient"}

// Theta returns a copy of the coefficients in the order of the features.
func (m *Model) Theta() []float64 { return append([]float64(nil), m.coefficients...) }

// Predict returns the probability of the positive class for every record of data.
//
// Errors: data's own, or other features than those of the fit.
func (m *Model) Predict(data *Dataset) ([]float64, error) {
	if err := m.matches(data); err != nil {
		return nil, err
	}
	rows := data.design.Rows
	p := make([]float64, rows.N)
	rows.Margins(p, m.coefficients, 0, rows.N)
	for i, t := range p {
		p[i] = 1 / (1 + math.Exp(-t))
	}
	return p, nil
}

// Score returns the share of the records of data whose class is predicted
// rightly. It is a fact about these records that no guarantee covers: score on
// records that may be known.
func (m *Model) Score(data *Dataset) (float64, error) {
	if err := m.matches(data); err != nil {
		return 0, err
	}
	return accuracy(data.design, m.coefficients), nil
}

func accuracy(d *frame.Design, theta []float64) float64 {
	t := make([]float64, d.Rows.N)
	d.Rows.Margins(t, theta, 0, d.Rows.N)
	right := 0
	for i, v := range t {
		if (v > 0) == (d.Labels[i] > 0) {
			right++
		}
	}
	return float64(right) / float64(len(t))
}

func (m *Model) matches(data *Dataset) error {
	if err := data.Err(); err != nil {
		return err
	}
	f := data.design.Features
	if len(f) != len(m.features) {
		return fmt.Errorf("dpnb: the model has %d features, these records have %d: make both with the same schema and options", len(m.features), len(f))
	}
	for j, name := range m.features {
		if f[j] != name {
			return fmt.Errorf("dpnb: feature %d is %q in the model and %q in these records: make both with the same schema and options", j+1, name, f[j])
		}
	}
	return nil
}

// Display shows the largest coefficients and the guarantee in words.
func (m *Model) Display() display.Item {
	it := display.Item{Header: []string{"feature", "coefficient"}}
	order := make([]int, len(m.coefficients))
	for j := range order {
		order[j] = j
	}
	sort.SliceStable(order, func(a, b int) bool {
		return math.Abs(m.coefficients[order[a]]) > math.Abs(m.coefficients[order[b]])
	})
	const most = 10
	for _, j := range order[:min(most, len(order))] {
		it.Rows = append(it.Rows, []string{m.features[j], fmt.Sprintf("%+.3f", m.coefficients[j])})
	}
	if n := len(order) - most; n > 0 {
		it.Notes = append(it.Notes, fmt.Sprintf("… and %d smaller coefficients; a positive one speaks for %s %s.", n, m.label, m.names[1]))
	}
	if m.Release == nil {
		it.Title = fmt.Sprintf("Logistic regression for %s, WITHOUT privacy", m.label)
		it.Warning = "NOT PRIVATE: these coefficients can give single records away. For comparison on public data only."
		it.Notes = append(it.Notes, fmt.Sprintf("λ = %.4g.", m.lambda))
		return it
	}
	r := m.Release
	it.Title = fmt.Sprintf("Private logistic regression for %s", m.label)
	it.Warning = join(r.Warning(), m.dataWarning)
	it.Notes = append(it.Notes,
		"Guarantee: "+r.Guarantee.Words(),
		fmt.Sprintf("How: %s. Bound: %s.", r.Mechanism, r.Guarantee.Bound),
		fmt.Sprintf("Certificate: the objective's gradient is at most τ = %s at the solution. The noise alone gives each coefficient a standard deviation of at most about σ/λ = %.2g.",
			privacy.FormatUp(r.Tolerance, 3), r.NoiseScale/m.lambda),
		"Assumes: "+joinList(r.Guarantee.Assumptions)+".")
	return it
}

// Norm returns ‖θ‖₂.
func (m *Model) Norm() float64 { return floats.Norm(m.coefficients, 2) }

func join(a, b string) string {
	if a != "" && b != "" {
		return a + " " + b
	}
	return a + b
}

func joinList(items []string) string {
	s := ""
	for i, it := range items {
		if i > 0 {
			s += "; "
		}
		s += it
	}
	return s
}
