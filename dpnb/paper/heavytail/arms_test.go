package heavytail

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// Arm is a column of the table.
type Arm struct {
	Name string
	Fit  Fit
	// Pure says that it is ε-DP with δ = 0 and parameters from public numbers.
	Pure bool
	// tuned: Fit is of the best of nine pairs of step and number of steps on the true risk, in its favour, and thus not
	// private at all.
	tuned *Descent
	// slow ones have fewer draws where records are many.
	slow bool
	// far ones are left out there: with 10⁴ records they have ten times the default's risk and more.
	far bool
}

// told is the name of the arm that is the default with two more public numbers: it competes with none.
const told = "default, told"

// Arms returns the columns, the default first.
func Arms() []Arm {
	return []Arm{
		{Name: "default", Fit: Default, Pure: true},
		{Name: "theorem", Fit: WorstCase, Pure: true, slow: true},
		{Name: "output", Fit: Output, Pure: true, slow: true},
		{Name: "phases", Fit: Localisation, Pure: true, slow: true},
		{Name: "double", Fit: Double, Pure: true, slow: true},
		{Name: "printed", Fit: Printed, Pure: true, slow: true, far: true},
		{Name: "trivial", Fit: Trivial, Pure: true},
		{Name: "worst L", Fit: Lipschitz, slow: true, far: true},
		{Name: "descent*", tuned: &Descent{}},
		{Name: "descent* δ", tuned: &Descent{Approximate: true}, slow: true},
		{Name: "Gaussian δ", Fit: Gaussian, slow: true},
		{Name: "non-private", Fit: NonPrivate, slow: true},
		{Name: told, Fit: Told, Pure: true},
	}
}

// Trivial is w = 0.
var Trivial Fit = func(p Population, _ int, _ float64) (Solve, error) {
	return func(*matrix.Dense, []float64, *noise.Seeded) ([]float64, error) {
		return make([]float64, p.Features), nil
	}, nil
}

// Block is the part of the table whose fits see the same records: a population, of which Loss is not heeded, and a
// number of records, with several losses and ε.
type Block struct {
	Population
	Records  int
	Losses   []loss.Convex
	Epsilons []float64
	// Draws of records, and of the slow arms, which are compared with the default on these.
	Draws, SlowDraws int
	Seed             uint64
}

// Blocks returns the table's: Student's t and Pareto features, k = 2, 3, 4, d = 5, 50, n = 10³, 10⁴, 10⁵, the absolute,
// Huber and squared loss, ε = ½, 1, 4; those of many records last, a block for each loss.
func Blocks() (blocks []Block) {
	losses := []loss.Convex{loss.LeastAbsolute{}, loss.Huber{Threshold: 0.5}, loss.Squared{}}
	for _, size := range []struct {
		n, d, slow int
		losses     []loss.Convex
	}{{1e3, 5, 20, losses}, {1e3, 50, 20, losses}, {1e4, 5, 6, losses}, {1e4, 50, 4, losses}, {1e5, 50, 2, losses[:1]},
		{1e5, 5, 2, losses[:1]}, {1e5, 5, 2, losses[2:]}, {1e5, 5, 2, losses[1:2]}, {1e5, 50, 2, losses[2:]},
		{1e5, 50, 2, losses[1:2]}} {
		for _, pareto := range []bool{false, true} {
			for _, k := range []float64{2, 3, 4} {
				p := Population{Moment: k, Features: size.d, Pareto: pareto}
				blocks = append(blocks, Block{p, size.n, size.losses, []float64{0.5, 1, 4}, 20, size.slow, 14})
			}
		}
	}
	return blocks
}

// Row is a cell of the table.
type Row struct {
	Population, Arm string
	Records         int
	Epsilon         float64
	Pure            bool
	// Risk is the excess risk, Over what it is above the default's on the same records.
	Risk, Over sim.Summary
}

// Rows runs some arms, the default among them, on so many workers. The best of the pure arms by the first draws has all
// of them, slow or not.
//
// Errors: ctx.Err(); that of a fit. An arm whose parameters are refused has no row.
func (b Block) Rows(ctx context.Context, arms []Arm, workers int) (_ []Row, err error) {
	defer measure.Catch(&err)
	type cell struct {
		p       Population
		eps     float64
		arm     Arm
		solve   Solve
		risk    func([]float64) float64
		stream  int // of its noise
		draws   int
		results []float64
	}
	var cells [][]*cell // by loss and ε
	for _, l := range b.Losses {
		p := b.Population
		p.Loss = l
		risk := p.Risk()
		for _, eps := range b.Epsilons {
			var same []*cell
			for _, arm := range arms {
				if arm.far && b.Records > 10_000 {
					continue
				}
				fit := arm.Fit
				if arm.tuned != nil {
					best := measure.Must(b.tune(ctx, p, eps, *arm.tuned, risk, workers))
					fit = best.Fit
				}
				solve, err := fit(p, b.Records, eps)
				if err != nil {
					continue
				}
				number := slices.IndexFunc(Arms(), func(a Arm) bool { return a.Name == arm.Name })
				c := &cell{p, eps, arm, solve, risk, number, b.Draws, make([]float64, b.Draws)}
				if arm.slow {
					c.draws = b.SlowDraws
				}
				same = append(same, c)
			}
			cells = append(cells, same)
		}
	}
	src := noise.NewSeeded(b.Seed)
	run := func(from int, wanted func(c *cell, draw int) bool) error {
		return parallel.For(ctx, b.Draws-from, workers, func(_, i int) error {
			i += from
			rows, y := b.Draw(src.Stream(i), b.Records)
			for _, c := range slices.Concat(cells...) {
				if wanted(c, i) {
					w := measure.Must(c.solve(rows, y, src.Stream(i).Stream(c.stream)))
					c.results[i] = c.risk(w)
				}
			}
			return nil
		})
	}
	measure.Try(run(0, func(c *cell, i int) bool { return i < c.draws }))
	more := map[*cell]bool{}
	for _, same := range cells {
		var best *cell
		for _, c := range same {
			if c.arm.Pure && c.arm.Name != "default" && c.arm.Name != told &&
				(best == nil || mean(c.results[:b.SlowDraws]) < mean(best.results[:b.SlowDraws])) {
				best = c
			}
		}
		if best != nil && best.draws < b.Draws {
			more[best], best.draws = true, b.Draws
		}
	}
	if len(more) > 0 {
		measure.Try(run(b.SlowDraws, func(c *cell, _ int) bool { return more[c] }))
	}
	var out []Row
	var base *cell
	for _, c := range slices.Concat(cells...) {
		if c.arm.Name == "default" {
			base = c
		}
		over := make([]float64, c.draws)
		for i := range over {
			over[i] = c.results[i] - base.results[i]
		}
		out = append(out, Row{c.p.String(), c.arm.Name, b.Records, c.eps, c.arm.Pure,
			sim.Summarize(c.results[:c.draws]), sim.Summarize(over)})
	}
	return out, nil
}

func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

// tune returns the pair of 2, 8, 32 steps and ⅓, 1, 3 times R/C that does best on records of its own.
func (b Block) tune(ctx context.Context, p Population, eps float64, g Descent, risk func([]float64) float64,
	workers int) (_ Descent, err error) {
	defer measure.Catch(&err)
	pilots := 1 + min(3, 10_000/b.Records)
	var tried []Descent
	for _, steps := range []int{2, 8, 32} {
		for _, step := range []float64{1.0 / 3, 1, 3} {
			tried = append(tried, Descent{steps, step, g.Approximate})
		}
	}
	sums := make([][]float64, len(tried))
	records := noise.NewSeeded(b.Seed).Stream(1_000_000)
	type data struct {
		rows *matrix.Dense
		y    []float64
	}
	drawn := make([]data, pilots)
	for k := range drawn {
		drawn[k].rows, drawn[k].y = p.Draw(records.Stream(k), b.Records)
	}
	err = parallel.For(ctx, len(tried), workers, func(_, i int) error {
		solve := measure.Must(tried[i].Fit(p, b.Records, eps))
		for k, at := range drawn {
			w := measure.Must(solve(at.rows, at.y, records.Stream(k).Stream(i)))
			sums[i] = append(sums[i], risk(w))
		}
		return nil
	})
	best := 0
	for i := range tried {
		if err == nil && mean(sums[i]) < mean(sums[best]) {
			best = i
		}
	}
	return tried[best], err
}

// The mechanisms of the table alone.
var (
	// Told is Default where it is known how long a record is and how large a residual, typically.
	Told Fit = func(p Population, n int, eps float64) (Solve, error) { return run(p.told(n, eps).Calibrate()) }
	// WorstCase is objective perturbation with C and Λ of the utility theorem.
	WorstCase Fit = func(p Population, n int, eps float64) (Solve, error) {
		c := p.config(n, eps)
		c.WorstCase = true
		return run(c.Calibrate())
	}
	// Lipschitz is output perturbation with C a bound on all gradients: the longest that the records at hand can have,
	// which is read off them, in its favour. It is not private.
	Lipschitz Fit = func(p Population, n int, eps float64) (Solve, error) {
		return func(rows *matrix.Dense, y []float64, src *noise.Seeded) ([]float64, error) {
			c := p.config(n, eps)
			c.Clip = p.longest(rows, y)
			m, err := c.CalibrateOutput()
			if err != nil {
				return nil, err
			}
			solve, _ := run(m, nil)
			return solve(rows, y, src)
		}, nil
	}
	// Double is Localisation with two stages in a block (Algorithm 4).
	Double Fit = func(p Population, n int, eps float64) (Solve, error) {
		return run(pure.PhasesConfig{Config: p.loose(n, eps), Double: true}.Calibrate())
	}
)

// told is config with what is typical: √d, and what half of the |½e| are below.
func (p Population) told(n int, eps float64) pure.Config {
	c := p.config(n, eps)
	c.TypicalNorm, c.TypicalResidual = math.Sqrt(float64(p.Features)), p.law().Quantile(0.75)/2
	return c
}

// longest returns a bound on the norms of all gradients over the ball.
func (p Population) longest(rows *matrix.Dense, y []float64) (most float64) {
	slope := p.loss().Lipschitz()
	for i := range y {
		norm := floats.Norm(rows.Data[i*rows.D:(i+1)*rows.D], 2)
		most = max(most, norm*min(slope, math.Abs(y[i])+radius*norm))
	}
	return most
}

// problem is the sum of the losses, extended with a bend, and a ridge.
func (p Population) problem(rows *matrix.Dense, y []float64, bend loss.Bend, lambda float64) *erm.Problem {
	unit, norms := matrix.Directions(rows, 1)
	numbers := make([]float64, len(y))
	for i := range numbers {
		numbers[i] = float64(i)
	}
	return &erm.Problem{Rows: unit, Labels: numbers, Lambda: lambda, Loss: loss.Extend(p.loss(), bend, norms, y, nil)}
}

// NonPrivate minimises the loss itself but for the fourth digit.
var NonPrivate Fit = func(p Population, n int, eps float64) (Solve, error) {
	return func(rows *matrix.Dense, y []float64, _ *noise.Seeded) ([]float64, error) {
		c := 10 * math.Sqrt(float64(rows.D))
		lambda := 1e-5 * float64(len(y)) * c
		problem := &erm.Problem{Rows: rows, Labels: y, Lambda: lambda}
		if smooth, ok := p.loss().(loss.Loss); ok {
			problem.Loss = smooth
		} else {
			problem = p.problem(rows, y, loss.FreeBend(c, c/8, c/4), lambda)
		}
		s, err := erm.Minimize(problem, &erm.Settings{Workers: 1, Tolerance: 0.1 * lambda, MaxPasses: 100})
		if s == nil {
			return nil, err
		}
		return s.Theta, nil // to fewer digits where they are not to be had
	}, nil
}

// Gaussian is objective perturbation with (ε, Delta), of the ln cosh extension: Gaussian noise and curvature that is
// free at ε by dpnb/free-curvature, C and Λ of the default. Replace-one is one record less and one more, each with ε/2
// and δ/(1 + e^{ε/2}).
var Gaussian Fit = func(p Population, n int, eps float64) (_ Solve, err error) {
	defer measure.Catch(&err)
	m := measure.Must(p.config(n, eps).Calibrate())
	c := m.Clip
	free := objective.Free{Epsilon: eps / 2, Curve: coshCurve(c, 1)}
	sigma := measure.Must(free.Sigma(Delta / (1 + math.Exp(eps/2))))
	unit := measure.Must(free.Lambda(sigma))
	return func(rows *matrix.Dense, y []float64, src *noise.Seeded) ([]float64, error) {
		b := make([]float64, rows.D)
		src.Gaussian(b, sigma)
		problem := p.problem(rows, y, loss.CoshBend(c, m.Lambda/unit), m.Lambda)
		problem.Linear = b
		return erm.MinimizeWithin(problem, radius, 1e-5*c/m.Lambda, 0, 1)
	}, nil
}

// coshCurve is S̄(γ) = s(1 − γ²/C²) on [−C, C], that of loss.CoshBend.
func coshCurve(c, s float64) *loss.Curve {
	return &loss.Curve{Name: "ln cosh", Lo: -c, Hi: c, Symmetric: true, Fall: 2 * s / c,
		Sup:            func(g float64) float64 { return s * (1 - g/c) * (1 + g/c) },
		Antiderivative: func(g float64) float64 { return c / s * math.Atanh(g/c) }}
}

// tableHeader names the columns of a table in a file.
const tableHeader = "population\tn\tε\tarm\tpure\tdraws\trisk\ts.e.\tover default\ts.e."

// WriteTable writes rows, a line each.
func WriteTable(w io.Writer, rows []Row) (err error) {
	defer measure.Catch(&err)
	for _, r := range rows {
		measure.Must(fmt.Fprintf(w, "%s\t%d\t%g\t%s\t%v\t%d\t%.5g\t%.3g\t%.5g\t%.3g\n", r.Population, r.Records,
			r.Epsilon, r.Arm, r.Pure, r.Risk.N, r.Risk.Mean, r.Risk.StdErr, r.Over.Mean, r.Over.StdErr))
	}
	return nil
}

// ReadTable reads what WriteTable wrote, below a header.
func ReadTable(text string) (rows []Row, err error) {
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if line == "" || line == tableHeader || strings.HasPrefix(line, "#") {
			continue
		}
		var r Row
		fields := strings.Split(line, "\t")
		if len(fields) != 10 {
			return nil, fmt.Errorf("heavytail: line %d has %d fields", i+1, len(fields))
		}
		r.Population, r.Arm = fields[0], fields[3]
		numbers := strings.Join(slices.Concat(fields[1:3], fields[4:]), " ")
		if _, err := fmt.Sscan(numbers, &r.Records, &r.Epsilon, &r.Pure, &r.Risk.N, &r.Risk.Mean, &r.Risk.StdErr,
			&r.Over.Mean, &r.Over.StdErr); err != nil {
			return nil, fmt.Errorf("heavytail: line %d: %w", i+1, err)
		}
		r.Over.N = r.Risk.N
		rows = append(rows, r)
	}
	return rows, nil
}

// Worse returns the rows of pure arms that beat the default by more than so many standard errors of the difference on
// the same records.
func Worse(rows []Row, errors float64) (worse []Row) {
	for _, r := range rows {
		if r.Pure && r.Arm != "default" && r.Arm != told && r.Over.Mean < -errors*r.Over.StdErr &&
			!math.IsNaN(r.Over.StdErr) {
			worse = append(worse, r)
		}
	}
	return worse
}
