package qop

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// Settings of Figure 2 of qop (Cortild, Cartis 2026, appendix G.3).
const (
	Epsilon = 0.5
	Delta   = 0.01
	Trials  = 10
	// RowNorm is ξ√d, the bound on ‖x‖ that |xⱼ| ≤ ξ gives.
	RowNorm = qopBound * 10

	qopRecords    = 300
	qopDimension  = 100
	qopBound      = 5.0 // ξ
	qopWeight     = 1.0 // ω
	qopClip       = 10_000.0
	qopIterations = 1000
	// qopSpread is the standard deviation of each coordinate of the anchor's error.
	qopSpread = 0.31622776601683794
)

// Kappas are half-widths κ of the box C = [−κ, κ]ᵈ, over decades. The paper does not list its own.
var Kappas = []float64{0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000}

// Figure1Epsilons and Figure1Deltas are a grid for the data of Figure 1 (quadratic.Figure1), whose own is not given.
var (
	Figure1Epsilons = []float64{0.1, 0.2, 0.5, 1, 2, 5, 10}
	Figure1Deltas   = []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1}
)

// Task is the LASSO of appendix G.3 on the box [−κ, κ]ᵈ:
//
//	J(θ) = Σᵢ (xᵢᵀθ − yᵢ)²/2 + ω‖θ‖₁,  n = 300, d = 100, |xᵢⱼ| ≤ ξ = 5, ω = 1.
type Task struct {
	Rows   *matrix.Dense // n × d
	Labels []float64
	// Star is θ⋆, Anchor is drawn at N(0, 0.1·I) from it.
	Star, Anchor []float64
	Kappa        float64
}

// NewTask draws the data of appendix G.3: rows N(0, I), scaled so that the largest entry is ξ, θ⋆ ~ N(0, I), yᵢ =
// xᵢᵀθ⋆. A positive labelError adds N(0, labelError²) to each label, which breaks interpolation.
func NewTask(kappa, labelError float64, src *noise.Seeded) *Task {
	const n, d = qopRecords, qopDimension
	t := &Task{Rows: matrix.NewDense(n, d, nil), Labels: make([]float64, n), Star: make([]float64, d),
		Anchor: make([]float64, d), Kappa: kappa}
	src.Gaussian(t.Rows.Data, 1)
	floats.Scale(qopBound/math.Max(floats.Max(t.Rows.Data), -floats.Min(t.Rows.Data)), t.Rows.Data)
	src.Gaussian(t.Star, 1)
	src.Gaussian(t.Anchor, qopSpread)
	floats.Add(t.Anchor, t.Star)
	t.Rows.Margins(t.Labels, t.Star, 0, n)
	if labelError > 0 {
		errs := make([]float64, n)
		src.Gaussian(errs, labelError)
		floats.Add(t.Labels, errs)
	}
	return t
}

// Risk returns J(θ), a sum over the records.
func (t *Task) Risk(theta []float64) float64 {
	return lasso(t.Rows, t.Labels, theta, qopWeight)
}

// AnchorRisk returns the risk of the anchor's projection on the box: what costs no privacy at all.
func (t *Task) AnchorRisk() float64 {
	theta := make([]float64, len(t.Anchor))
	t.box().Project(theta, t.Anchor)
	return t.Risk(theta)
}

// LeastRisk returns the smallest risk on the box, to a certified distance.
func (t *Task) LeastRisk() (_ float64, err error) {
	defer measure.Catch(&err)
	s := measure.Must(composite.Solve(t.problem(loss.Squared{}), &composite.Settings{Workers: 1}))
	return t.Risk(s.Theta), nil
}

// Distance returns ‖θ̃⋆ − θ⋆‖, the smallest η that is true.
func (t *Task) Distance() float64 { return floats.Distance(t.Anchor, t.Star, 2) }

func (t *Task) box() composite.Box { return composite.NewBox(t.Kappa) }

func (t *Task) problem(l loss.Loss) *composite.Problem {
	return &composite.Problem{Problem: erm.Problem{Rows: t.Rows, Labels: t.Labels, Loss: l},
		Regulariser: composite.L1{Weight: qopWeight}, Constraint: t.box()}
}

// Solver is how a perturbed problem of Task is solved.
type Solver int

const (
	// Splitting is the paper's Algorithm G.2: 1,000 stochastic iterations from the origin, relaxation
	// (k+1)^(−1/2−0.002), step 1/Lip, projected on C at the end.
	Splitting Solver = iota
	// Certified is the minimiser to a proved distance from stationarity.
	Certified
)

func (s Solver) solve(p *composite.Problem, src *noise.Seeded) ([]float64, error) {
	find := func() (*composite.Solution, error) { return composite.Solve(p, &composite.Settings{Workers: 1}) }
	if s == Splitting {
		find = func() (*composite.Solution, error) {
			return composite.Stochastic(p, &composite.StochasticSettings{Indices: src, Iterations: qopIterations})
		}
	}
	solution, err := find()
	if err != nil {
		return nil, err
	}
	return solution.Theta, nil
}

// Mechanism learns θ of a Task.
type Mechanism = sim.Mechanism[*Task]

// Figure2 is the experiment of Figure 2 and Table 3 of qop: the risk J on one data set over boxes of growing κ, in ten
// runs of each mechanism. The score is J(θ); small is good. With a positive labelError interpolation is broken.
func Figure2(kappas []float64, labelError float64, seed uint64, mechanisms ...Mechanism) sim.Grid[*Task] {
	g := sim.Grid[*Task]{Mechanisms: mechanisms, Epsilons: []float64{Epsilon}, Delta: Delta, Trials: Trials, Seed: seed,
		Score: func(t *Task, theta []float64) (float64, error) { return t.Risk(theta), nil }}
	for _, kappa := range kappas {
		t := NewTask(kappa, labelError, noise.NewSeeded(seed))
		g.Tasks = append(g.Tasks, sim.Task[*Task]{Name: fmt.Sprintf("κ = %g", kappa), Train: t, Test: t})
	}
	return g
}

// Statistics are a row of Table 3 of qop over the cells of one mechanism: standard deviations of the runs and
// standard errors of their means.
type Statistics struct {
	Mechanism                                      string
	MeanStd, LargestStd, MeanStdErr, LargestStdErr float64
}

// Mean returns the mean risk of the mechanism on t in the runs of Figure2.
func (t *Task) Mean(m Mechanism, seed uint64) (_ float64, err error) {
	defer measure.Catch(&err)
	g := Figure2(nil, 0, seed, m)
	g.Tasks = []sim.Task[*Task]{{Name: "one", Train: t, Test: t}}
	cells := measure.Must(g.Run(context.Background()))
	return cells[0].Mean, nil
}

// Table3 returns the statistics of the cells that Figure2 gave, in the order of the mechanisms, divided by scale. The
// paper does not say whether its risks are sums or means over the records: scale n = 300 makes them means.
func Table3(cells []sim.Cell, scale float64) []Statistics {
	var out []Statistics
	index, count := map[string]int{}, map[string]float64{}
	for _, c := range cells {
		i, ok := index[c.Mechanism]
		if !ok {
			i = len(out)
			index[c.Mechanism] = i
			out = append(out, Statistics{Mechanism: c.Mechanism})
		}
		se := c.StdErr / scale
		std := se * math.Sqrt(float64(len(c.Scores)))
		s := &out[i]
		s.MeanStd, s.MeanStdErr = s.MeanStd+std, s.MeanStdErr+se
		s.LargestStd, s.LargestStdErr = math.Max(s.LargestStd, std), math.Max(s.LargestStdErr, se)
		count[c.Mechanism]++
	}
	for i := range out {
		out[i].MeanStd /= count[out[i].Mechanism]
		out[i].MeanStdErr /= count[out[i].Mechanism]
	}
	return out
}

// Published is Table 3 of qop, as printed.
var Published = []Statistics{
	{"LOP", 483.61, 7006.67, 152.931, 2215.71},
	{"LOP-Clip", 0.178999, 0.319758, 0.0566045, 0.101116},
	{"QOP", 0.0898344, 0.393671, 0.0284081, 0.12449},
}
