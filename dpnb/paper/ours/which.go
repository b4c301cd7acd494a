package ours

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpnb/notebooks/dpnb/frame"
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
		score, seconds float64
		refused        string
	}
	results := measure.Must(sim.Trials(ctx, draws, 0, noise.NewSeeded(seed), func(_, _ int, src *noise.Seeded) (
		all []result, err error) { // by ε and rival
		train, test := p.Data(task, src.Stream(0))
		for l, eps := range epsilons {
			for i, m := range rivals {
				start := time.Now()
				model, err := m.Fit(train, learn.Simulate(eps, whichDelta), src.Stream(1+100*l+i))
				r := result{seconds: time.Since(start).Seconds()}
				if err != nil {
					r.refused = err.Error()
				} else {
					r.score = measure.Must(model.Score(test))
				}
				all = append(all, r)
			}
		}
		return all, nil
	}))
	var rows []WhichRow
	for l, eps := range epsilons {
		first := l * len(rivals)
		for i, m := range rivals {
			row := WhichRow{Population: p.Name, Task: task, Epsilon: eps, Mechanism: m.Name(), Pure: m.Pure}
			var scores, over, seconds []float64
			for _, r := range results {
				at := r[first+i]
				row.Refused = at.refused
				scores, over = append(scores, at.score), append(over, at.score-r[first].score)
				seconds = append(seconds, at.seconds)
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

//go:embed which.tsv
var whichTable string

// WhichTable returns the table of this project: every population, task, mechanism and ε, 20 draws each. TestMakeWhich
// makes it.
func WhichTable() ([]WhichRow, error) { return readWhich(whichTable) }

// readWhich reads a table's lines below whichHeader.
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

// Population is one that mechanisms are compared on: what is public of it, and a law of records with a label of two
// classes and a value.
type Population struct {
	// Name, and About what it is like.
	Name, About string
	// Records to learn from, a public number, and Features, the constant left out.
	Records, Features int
	// Interpolated says that one θ⋆ predicts every value without error.
	Interpolated bool
	label, value string
	options      []learn.Option
	// draw returns records to learn from and records to score on.
	draw func(p Population, src *noise.Seeded) (train, test learn.DataFrame)
}

// testRecords is how many records of a generated population fits are scored on.
const testRecords = 4000

// Populations returns the census and eight that are generated.
func Populations() []Population {
	generated := func(name, about string, records, features int, law law) Population {
		return Population{Name: name, About: about, Records: records, Features: features,
			Interpolated: law.noise == nil, label: "label", value: "value",
			options: []learn.Option{learn.Uncentred(), learn.ClipNorm(1)},
			draw: func(p Population, src *noise.Seeded) (train, test learn.DataFrame) {
				return law.frame(p, p.Records, src.Stream(0)), law.frame(p, testRecords, src.Stream(1))
			}}
	}
	normal := func(src *noise.Seeded) float64 { return src.NormFloat64() }
	// student draws Student's t with ν degrees of freedom.
	student := func(nu int) func(src *noise.Seeded) float64 {
		return func(src *noise.Seeded) float64 {
			var s float64
			for range nu {
				z := src.NormFloat64()
				s += z * z
			}
			return src.NormFloat64() / math.Sqrt(s/float64(nu))
		}
	}
	uniform := func(src *noise.Seeded) float64 { return 2.4*src.Float64() - 1.2 }
	onehot := generated("one-hot", "five columns of twenty categories each", 20_000, 100, law{normal, normal, 0, 20})
	onehot.options = []learn.Option{learn.Uncentred(), learn.RowNorm(1)}
	return []Population{
		{Name: "Adult", About: "a census, 109 features of which most are categories", Records: 30_000, Features: 108,
			label: "income", value: "hours-per-week", options: []learn.Option{learn.Uncentred(), learn.RowNorm(1)},
			draw: func(Population, *noise.Seeded) (train, test learn.DataFrame) { return learn.Adult() }},
		generated("light", "normal features and errors", 10_000, 10, law{normal, normal, 0, 0}),
		generated("heavy", "Student's t: features with 3, errors with 2 degrees of freedom", 10_000, 10,
			law{student(3), student(2), 0, 0}),
		generated("correlated", "features that share nine tenths of their variance", 5000, 20,
			law{normal, normal, 0.9, 0}),
		generated("exact", "every value and label is predicted without error", 5000, 10, law{uniform, nil, 0, 0}),
		generated("wide", "one feature for every five records", 1000, 200, law{normal, normal, 0, 0}),
		onehot,
		generated("small", "few records", 500, 5, law{normal, normal, 0, 0}),
		generated("large", "many records of few features", 60_000, 5, law{normal, normal, 0, 0}),
	}
}

// law of generated records: features, which share a part of their variance or are indicators of so many levels, a score
// z of variance near one by alternating weights, the value z + noise/2, and a label that is yes where z and noise of a
// logistic law are positive.
type law struct {
	feature, noise func(src *noise.Seeded) float64
	shared         float64
	levels         int
}

// Bounds that are stated for the features and for the value: four deviations.
const featureBound, valueBound = 4.0, 4.0

// weight of feature j of d: θ⋆ before scales.
func weight(j, d int) float64 { return float64(1-2*(j%2)) / math.Sqrt(float64(d)) }

func (l law) frame(p Population, n int, src *noise.Seeded) learn.DataFrame {
	columns := p.Features
	if l.levels > 0 {
		columns = p.Features / l.levels
	}
	var all []frame.Column
	var fields []learn.Field
	z := make([]float64, n)
	names := make([]string, l.levels)
	for k := range names {
		names[k] = fmt.Sprintf("c%02d", k)
	}
	common := make([]float64, n)
	for i := range common {
		common[i] = src.NormFloat64()
	}
	for j := range columns {
		c := frame.Column{Name: fmt.Sprintf("x%d", j+1)}
		if l.levels > 0 {
			c.Kind, c.Texts = frame.Categorical, make([]string, n)
			fields = append(fields, learn.Categorical(c.Name, names...))
		} else {
			c.Numbers = make([]float64, n)
			fields = append(fields, learn.Numeric(c.Name, -featureBound, featureBound))
		}
		for i := range n {
			if l.levels > 0 {
				k := src.IntN(l.levels)
				c.Texts[i] = names[k]
				z[i] += math.Sin(float64(3*j+k)) * math.Sqrt(2/float64(columns))
				continue
			}
			x := math.Sqrt(l.shared)*common[i] + math.Sqrt(1-l.shared)*l.feature(src)
			c.Numbers[i] = math.Max(-featureBound, math.Min(featureBound, x))
			z[i] += weight(j, columns) * c.Numbers[i]
		}
		all = append(all, c)
	}
	value := frame.Column{Name: "value", Numbers: z}
	label := frame.Column{Name: "label", Kind: frame.Categorical, Texts: make([]string, n)}
	for i, v := range z {
		positive := v > 0
		if l.noise != nil {
			u := src.Float64()
			positive = 2*v+math.Log(u/(1-u)) > 0
			z[i] += 0.5 * l.noise(src)
		}
		label.Texts[i] = map[bool]string{false: "no", true: "yes"}[positive]
	}
	t, err := frame.NewTable(append(all, value, label)...)
	if err != nil {
		panic(err) // the columns are made above
	}
	t.Source = frame.Source{Name: "generated: " + p.Name, Rows: n, Public: true, Invented: true}
	return learn.FromTable(t).WithSchema(append(fields, learn.Numeric("value", -valueBound, valueBound),
		learn.Categorical("label", "no", "yes"))...)
}

// Data returns records of a task, drawn from src, and others to score on.
func (p Population) Data(task Task, src *noise.Seeded) (train, test *learn.Dataset) {
	a, b := p.draw(p, src)
	if task == Labels {
		return learn.Binary(a.Drop(p.value), p.label, p.options...), learn.Binary(b.Drop(p.value), p.label,
			p.options...)
	}
	return learn.Regression(a.Drop(p.label), p.value, p.options...), learn.Regression(b.Drop(p.label), p.value,
		p.options...)
}

// anchor returns what Quadratic may assume of an interpolated population: θ⋆ moved by a tenth.
func (p Population) anchor() learn.Interpolation {
	theta := make([]float64, p.Features+1)
	for j := range p.Features {
		theta[j] = weight(j, p.Features) * featureBound / valueBound
	}
	theta[0] += 0.1
	return learn.AssumeInterpolation(theta, 0.1)
}
