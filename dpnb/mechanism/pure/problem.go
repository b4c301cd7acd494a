// Package pure has mechanisms of pure ε-DP, δ = 0, for records of any length: objective and output perturbation of
// smooth Lipschitz extensions. A release of theirs is total: no record is refused, no solver gives up, and nothing that
// is decided before the noise depends on the records. Proof: docs/theory/heavytail.md.
package pure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Problem is what both mechanisms minimise,
//
//	J(w) = Σᵢ f̃(⟨xᵢ,w⟩; yᵢ) + (Λ/2)‖w − w₀‖² [+ ⟨b,w⟩]  over ‖w − w₀‖ ≤ R,
//
// a sum over the records, with f̃ the smooth C-Lipschitz extension of the loss (loss.Extension). The ridge acts on
// every coordinate, an intercept included. None of its parameters may depend on the records.
type Problem struct {
	// Loss φ, loss.Extendable: it need have no bounded slope, and rows no bounded norm.
	Loss loss.Convex
	// Directions divides every record by its length, label and all, so that the loss is φ(⟨x̂,w⟩; y/‖x‖). Of the
	// absolute and the pinball loss that is a weight of 1/‖x‖: what is cut at C ≥ sup|φ′| is then nothing, while a
	// pinball loss of which one side alone is cut is one of another level.
	Directions bool
	// Clip is C: no record's gradient is longer.
	Clip float64
	// Radius is R, and Centre w₀; nil is the origin.
	Radius float64
	Centre []float64
	// Lambda is Λ.
	Lambda float64
	// Tolerance τ: the solver comes within τ/Λ of the minimiser.
	Tolerance float64
	// Records is the planned number n₀, by which the other parameters were chosen; 0 for none. It is the records' own
	// number nowhere, which may be private.
	Records int
	// Most is N: Check asks that τ can be reached with as many records, and so a release of no more is proved to be
	// made. Of more the first N count. Zero means MostRecords.
	Most int
}

// MostRecords is the N of every release whose tolerance nobody has fixed, and the largest there is.
const MostRecords = 1 << 28

// reach returns τ/Λ, rounded up.
func (p *Problem) reach() float64 { return p.Tolerance / p.Lambda * (1 + 0x1p-50) }

// validate checks all parameters, and that the extension's curvature is in range.
func (p *Problem) validate(bend func() loss.Bend) error {
	if p.Loss == nil {
		return &privacy.ParamError{Name: "Loss", Value: nil, Want: "a loss"}
	}
	if !loss.Extendable(p.Loss) {
		return fmt.Errorf("%w: the %s loss has no Lipschitz extension here, or parameters out of range; "+
			"those of a linear predictor have: absolute, pinball, hinge, ReLU, affine, Huber, squared, "+
			"logistic and softplus",
			privacy.ErrUnsupported, p.Loss.Name())
	}
	scales := mechanism.Scales{{"Clip", p.Clip}, {"Radius", p.Radius}, {"Lambda", p.Lambda}, {"Tolerance", p.Tolerance}}
	if err := scales.Check(); err != nil {
		return err
	}
	for _, w := range p.Centre {
		if !(math.Abs(w) <= 0x1p100) {
			return &privacy.ParamError{Name: "Centre", Value: w, Want: "finite coefficients"}
		}
	}
	return cmp.Or(privacy.Within(p.Records >= 0 && p.Records <= MostRecords, "Records", p.Records,
		fmt.Sprintf("the planned number of records, at most %d, or 0 for none", MostRecords)),
		privacy.Within(p.Most >= 0 && p.Most <= MostRecords, "Most", p.Most,
			fmt.Sprintf("the number of records that count, from 1 to %d, or 0 for that many", MostRecords)),
		mechanism.Scales{{"Lambda, times what bends,", bend().Smoothness()}}.Check())
}

// check is Check of a mechanism over p. It looks at parameters and shapes alone: no record is refused, and a tolerance
// that may be out of reach for as many records as count is.
func (p *Problem) check(m mechanism.Mechanism, rows matrix.Rows, labels []float64) error {
	if rows == nil {
		return &matrix.DataError{Text: "no rows"}
	}
	n, d := rows.Dims()
	switch {
	case d == 0:
		return &matrix.DataError{Text: "there are no features (d = 0)"}
	case len(labels) != n:
		return &matrix.DataError{Text: fmt.Sprintf("%d labels for %d records", len(labels), n)}
	case p.Centre != nil && len(p.Centre) != d:
		return &privacy.ParamError{Name: "Centre", Value: len(p.Centre),
			Want: fmt.Sprintf("%d coefficients, one for each feature", d)}
	}
	return m.Feasible(d, 0)
}

// limit is N.
func (p *Problem) limit() int { return cmp.Or(p.Most, MostRecords) }

// first returns the records that count: all of them, but no more than N. A place among all is no property of a record
// alone: where there are more than N, one that comes or goes takes another with it, which costs ε once more.
func (p *Problem) first(rows matrix.Rows, labels []float64) (matrix.Rows, []float64) {
	n, _ := rows.Dims()
	if n <= p.limit() {
		return rows, labels
	}
	index := make([]int, p.limit())
	for i := range index {
		index[i] = i
	}
	return matrix.Select(rows, index), labels[:p.limit()]
}

// run is Run of a mechanism over p that perturbs the objective by noise of the scale inner, unless that is 0, and what
// comes out by noise of the scale outer. Both are drawn before the records are read, the second as far as its first
// digits.
func (p *Problem) run(m mechanism.Mechanism, bend loss.Bend, inner, outer float64, rows matrix.Rows, labels []float64,
	src noise.Source, settings *mechanism.Settings) (*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	_, d := rows.Dims()
	rows, labels = p.first(rows, labels)
	draw, scale := noise.Exact(src), outer
	var b []float64
	var eta float64
	if inner > 0 {
		b, scale = make([]float64, d), inner
		eta = draw.IsotropicLaplace(d).Fill(b, inner)
	}
	xi := draw.IsotropicLaplace(d)
	if r.Coefficients, err = p.minimise(bend, rows, labels, b, eta, settings.Value().Workers); err != nil {
		return nil, err
	}
	xi.AddRounded(r.Coefficients, outer, exact.Grid(outer))
	r.Tolerance, r.NoiseScale = p.Tolerance, scale*math.Sqrt(float64(d)+1)
	return r, nil
}

// u is half the distance of 1 from the next float64.
const u = 0x1p-53

// least returns the smallest tolerance that the solver's last resort is proved to reach with so many records and
// features: twice the sum of its error, of blur, which is Λ times what the linear term's error moves, and of what
// rounding to float64 and adding w₀ take.
func (p *Problem) least(bend loss.Bend, features, records int, blur float64) float64 {
	e := erm.WithinError(records, features, p.Clip, bend.Smoothness(), p.Lambda, p.Radius)
	return 2 * (e + blur + 4*u*(p.Radius+floats.Norm(p.Centre, 2))*p.Lambda)
}

// feasible refuses a tolerance that is below the least for N records, or for as many as are planned.
func (p *Problem) feasible(records int, least func(records int) float64) error {
	records = max(records, p.limit())
	if least := least(records); !(p.Tolerance >= least) {
		return &privacy.ParamError{Name: "Tolerance", Value: p.Tolerance,
			Want: fmt.Sprintf("at least %.2g, which is what arithmetic here is proved to reach for %d records; a "+
				"larger Lambda helps, and so do fewer records (Most)", least, records)}
	}
	return nil
}

// settle chooses τ where it is not given: so that a release of MostRecords is proved to be made, and no larger for more
// records that are planned. Of one that is given it finds the largest N, at least the planned number, of which Check
// will say whether it can be.
func (p *Problem) settle(least func(records int) float64) {
	if p.Tolerance == 0 {
		p.Tolerance, p.Most = max(tolerance*p.Clip, 2*least(MostRecords)), MostRecords
		return
	}
	beyond := func(i int) bool { return !(p.Tolerance >= least(i+1)) }
	p.Most = max(sort.Search(MostRecords, beyond), p.Records)
}

// target returns how near to the minimiser the solver is to come: within reach, less what adding w₀ rounds.
func (p *Problem) target() float64 {
	return p.reach()*(1-0x1p-40) - 0x1p-52*(p.Radius+floats.Norm(p.Centre, 2))
}

// minimise returns a point within reach of the minimiser, with b linear, which may be off by eta; nil is none. It
// always does.
func (p *Problem) minimise(
	bend loss.Bend, rows matrix.Rows, labels, b []float64, eta float64, workers int,
) ([]float64, error) {
	unit, norms := matrix.Directions(rows, workers)
	n, d := unit.Dims()
	numbers := make([]float64, n)
	for i := range numbers {
		numbers[i] = float64(i)
	}
	labels = slices.Clone(labels)
	for i, norm := range norms {
		if norm > 0 {
			if p.Directions {
				labels[i], norms[i] = labels[i]/norm, 1
			}
			labels[i] += p.shift(bend, norms[i])
		}
	}
	var offsets []float64
	if p.Centre != nil {
		offsets = make([]float64, n)
		row := make([]float64, d)
		for i := range offsets {
			rows.Row(row, i)
			matrix.Direct(row)                     // float32 would be too short for a centre that is far away
			offsets[i] = floats.Dot(row, p.Centre) // of this record alone, to the last bit
		}
	}
	if b == nil {
		b = make([]float64, d)
	}
	problem := erm.Problem{Rows: unit, Labels: numbers, Lambda: p.Lambda, Linear: b,
		Loss: loss.Extend(p.Loss, bend, norms, labels, offsets)}
	w, err := erm.MinimizeWithin(&problem, p.Radius, p.target(), eta, workers)
	if err != nil {
		return nil, err
	}
	if p.Centre != nil {
		floats.Add(w, p.Centre)
	}
	return w, nil
}

// shift is what is added to the label of a record of length ρ of a pinball loss, so that what is bent has the level of
// what has a kink. In the margin its slope falls short of ρ(1 − τ) to the right of the kink by H*(ρ(1 − τ)) in sum, as
// of ρτ to the left by H*(ρτ), and where residuals have a density that hardly changes so far the mean of the slopes
// vanishes where it should if the kink moves by the difference over the slope's range ρ, and the label by the
// difference. Where C cuts a side, there is no such place, and nothing moves. A function of ρ and public numbers: the
// record's loss is one of the same class.
func (p *Problem) shift(bend loss.Bend, norm float64) float64 {
	q, ok := p.Loss.(loss.Pinball)
	if !ok || q.Tau == 0.5 || !(norm*q.Lipschitz() <= p.Clip*(1+0x1p-40)) {
		return 0
	}
	return bend.Bias(norm*q.Tau) - bend.Bias(norm*(1-q.Tau))
}

// curve returns the free curve of C, β and Λ, but never one that bends more than that of C/β = 8, which would make
// Newton's method slow and the extension hardly nearer.
func curve(c, beta, lambda float64) loss.Bend { return loss.FreeBend(c, max(beta, c/8), lambda) }

// assumptions of all mechanisms, with how the parameters were chosen: those that counted names by a noisy count.
func (p *Problem) assumptions(adjacency privacy.Adjacency, counted ...string) []string {
	rest := fmt.Sprintf(", the %s loss, its parameters and the scales of the columns", p.Loss.Name())
	chosen := mechanism.Chosen("C, R, Λ, τ, the noise" + rest)
	if len(counted) > 0 {
		own := slices.DeleteFunc([]string{"C", "R", "Λ", "τ", "β", "the output noise"}, func(name string) bool {
			return slices.Contains(counted, name)
		})
		chosen = mechanism.ChosenFrom("the noisy count", strings.Join(own, ", ")+rest, counted...)
	}
	more := "adding or removing one then changes two that count, and costs 2ε"
	if adjacency == privacy.ReplaceOne {
		more = "replacing one then costs no more"
	}
	return []string{
		chosen,
		"records are of any length: one with a number that is not finite, or with a label that is not " +
			"" + p.Loss.Labels() + ", counts as none",
		fmt.Sprintf("a release of at most %d records is proved to be made; of more records the first %d count, and %s",
			p.limit(), p.limit(), more),
		mechanism.ExactNoise,
		"the adversary does not observe the time taken",
	}
}

// String describes the problem in a few words.
func (p *Problem) String() string {
	return fmt.Sprintf("%s loss, gradients of at most C = %.5g, ‖w‖ ≤ %.5g, Λ = %.5g, τ = %.3g", p.Loss.Name(),
		p.Clip, p.Radius, p.Lambda, p.Tolerance)
}
