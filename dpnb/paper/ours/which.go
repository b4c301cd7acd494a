package ours

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// Task is what is learnt of a population.
type Task string

// Tasks: two classes, least squares, median regression. Scores are accuracy, R² and R¹ (Model.Score).
const (
	Labels Task = "labels"
	Values Task = "values"
	Median Task = "median"
)

// Tasks in the order of the table.
var Tasks = []Task{Labels, Values, Median}

// Of the table: every mechanism has δ = 10⁻⁶, or 0.
const whichDelta = 1e-6

// Epsilons returns those of the table: of the census, where a draw takes long, one.
func (p Population) Epsilons() []float64 {
	if p.Name == "Adult" {
		return []float64{1}
	}
	return []float64{0.3, 1, 3}
}

// Rival is a mechanism in the table with what one must believe to use it.
type Rival struct {
	learn.Mechanism
	// Pure says that δ = 0.
	Pure bool
	// Assumes, in a few words; "" for nothing but bounds on rows and targets.
	Assumes string
}

// Rivals returns the mechanisms of a task on a population, all tuned by public numbers alone; the first is what a
// learner's zero value runs.
func (p Population) Rivals(task Task) []Rival {
	of := func(name string, l func(src noise.Source) learn.Learner) Rival {
		return Rival{Mechanism: learn.MechanismOf(name, l)}
	}
	known := func(name string) Rival {
		i := slices.IndexFunc(learn.AllMechanisms, func(m learn.Mechanism) bool { return m.Name() == name })
		return Rival{Mechanism: learn.AllMechanisms[i]}
	}
	pure := func(r Rival) Rival { r.Pure = true; return r }
	assuming := func(what string, m learn.Mechanism) Rival { return Rival{Mechanism: m, Assumes: what} }
	const aNumber = "a public number of records"
	sgd := assuming(aNumber+"; a learning rate found on Adult", known("DP-SGD, learning rate not paid for").Mechanism)
	switch task {
	case Labels:
		return []Rival{
			of("Logistic", func(s noise.Source) learn.Learner { return learn.Logistic{Noise: s, Workers: 1} }),
			of("SVM", func(s noise.Source) learn.Learner { return learn.SVM{Noise: s, Workers: 1} }),
			pure(of("Logistic, pure", func(s noise.Source) learn.Learner {
				return learn.Logistic{Noise: s, Workers: 1, Pure: true}
			})),
			known("output perturbation"), known("noisy gradient descent"), sgd,
			assuming(aNumber, learn.TunedSGD(p.Records)),
		}
	case Values:
		all := []Rival{
			of("Linear", func(s noise.Source) learn.Learner { return learn.Linear{Noise: s, Workers: 1} }),
			of("Huber", func(s noise.Source) learn.Learner { return learn.Huber{Noise: s, Workers: 1} }),
			pure(of("Linear, pure", func(s noise.Source) learn.Learner {
				return learn.Linear{Noise: s, Workers: 1, Pure: true}
			})),
			known("AdaSSP"), known("boosted AdaSSP"), known("functional mechanism"),
			assuming(aNumber, learn.TukeyEM(p.Records)),
			known("output perturbation"), known("noisy gradient descent"), sgd,
		}
		if p.Interpolated {
			all = append(all, assuming("interpolation near an anchor", learn.MechanismOf("Quadratic",
				func(s noise.Source) learn.Learner {
					return learn.Quadratic{Interpolation: p.anchor(), Records: p.Records, Noise: s, Workers: 1}
				})))
		}
		return all
	}
	return []Rival{
		of("Median", func(s noise.Source) learn.Learner { return learn.Median{Noise: s, Workers: 1} }),
		pure(of("Median, pure", func(s noise.Source) learn.Learner {
			return learn.Median{Noise: s, Workers: 1, Pure: true}
		})),
		pure(of("HeavyTails", func(s noise.Source) learn.Learner { return learn.HeavyTails{Noise: s, Workers: 1} })),
		assuming(aNumber, learn.ConvolvedMedian(p.Records)),
	}
}

// WhichRow is a cell of the table: one mechanism on one population at one ε.
type WhichRow struct {
	Population string
	Task       Task
	Epsilon    float64
	Mechanism  string
	Pure       bool
	// Score on records that were not learnt from; Over is that less the first mechanism's, draw by draw.
	Score, Over sim.Summary
	// Seconds of a fit on one processor, a mean: of the machine and not to be repeated.
	Seconds float64
	// Refused says why there are no scores, from public numbers.
	Refused string
}

// Which fits every rival of a task on so many draws from the population, with the records of a draw the same for all,
// at every ε, and compares them with the first. A mechanism that refuses says so in its row; what is not for a
// population at all has none. Draw k is of stream k of the seed.
func (p Population) Which(ctx context.Context, task Task, epsilons []float64, draws int, seed uint64) (_ []WhichRow,
	err error) {
	defer measure.Catch(&err)
	rivals := p.Rivals(task)
	type result struct {
		scores, seconds [][]float64 // by ε and rival
		refused         [][]string
	}
	root := noise.NewSeeded(seed)
	results := measure.Must(sim.Trials(ctx, draws, 0, root, func(_, _ int, src *noise.Seeded) (r result, err error) {
		train, test := p.Data(task, src.Stream(0))
		for l, eps := range epsilons {
			scores, seconds, refused := make([]float64, len(rivals)), make([]float64, len(rivals)),
				make([]string, len(rivals))
			for i, m := range rivals {
				start := time.Now()
				model, err := m.Fit(train, learn.Simulate(eps, whichDelta), src.Stream(1+100*l+i))
				seconds[i] = time.Since(start).Seconds()
				if err != nil {
					refused[i] = err.Error()
					continue
				}
				scores[i] = measure.Must(model.Score(test))
			}
			r.scores, r.seconds, r.refused = append(r.scores, scores), append(r.seconds, seconds), append(r.refused,
				refused)
		}
		return r, nil
	}))
	var rows []WhichRow
	for l, eps := range epsilons {
		for i, m := range rivals {
			row := WhichRow{Population: p.Name, Task: task, Epsilon: eps, Mechanism: m.Name(), Pure: m.Pure}
			var scores, over, seconds []float64
			for _, r := range results {
				row.Refused = r.refused[l][i]
				scores, over = append(scores, r.scores[l][i]), append(over, r.scores[l][i]-r.scores[l][0])
				seconds = append(seconds, r.seconds[l][i])
			}
			if row.Refused == "" {
				row.Score, row.Over, row.Seconds = sim.Summarize(scores), sim.Summarize(over),
					sim.Summarize(seconds).Mean
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// Winner says whether the row is better than the first mechanism by more than two standard errors.
func (r WhichRow) Winner() bool {
	return r.Refused == "" && r.Over.Mean > 2*r.Over.StdErr && r.Over.Mean > 0
}

const whichHeader = "population\ttask\tε\tmechanism\tpure\tdraws\tscore\ts.e.\tover the first\ts.e.\tseconds\n"

// WriteWhich writes rows as lines of a table, with tabs.
func WriteWhich(w io.Writer, rows []WhichRow) error {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%s\t%s\t%g\t%s\t%v\t", r.Population, r.Task, r.Epsilon, r.Mechanism, r.Pure)
		if r.Refused != "" {
			fmt.Fprintf(&b, "0\t%s\n", r.Refused)
			continue
		}
		fmt.Fprintf(&b, "%d\t%.5f\t%.5f\t%.5f\t%.5f\t%.2g\n", r.Score.N, r.Score.Mean, r.Score.StdErr, r.Over.Mean,
			r.Over.StdErr, r.Seconds)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

//go:embed which.tsv
var whichTable string

// WhichTable returns the table of this project: every population, task, mechanism and ε, 20 draws each. TestMakeWhich
// makes it.
func WhichTable() ([]WhichRow, error) { return readWhich(whichTable) }

// readWhich reads what WriteWhich has written below whichHeader.
func readWhich(text string) (rows []WhichRow, err error) {
	_, text, _ = strings.Cut(text, whichHeader)
	for line := range strings.Lines(text) {
		c := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(c) < 7 {
			return nil, fmt.Errorf("ours: a line of %d columns: %q", len(c), line)
		}
		number := func(i int) float64 {
			v, e := strconv.ParseFloat(c[i], 64)
			err = errors.Join(err, e)
			return v
		}
		r := WhichRow{Population: c[0], Task: Task(c[1]), Epsilon: number(2), Mechanism: c[3], Pure: c[4] == "true"}
		if n := int(number(5)); n == 0 {
			r.Refused = c[6]
		} else if len(c) == 11 {
			r.Score = sim.Summary{Mean: number(6), StdErr: number(7), N: n}
			r.Over = sim.Summary{Mean: number(8), StdErr: number(9), N: n}
			r.Seconds = math.Abs(number(10))
		}
		rows = append(rows, r)
	}
	return rows, err
}
