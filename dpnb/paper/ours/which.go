package ours

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/numeral"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// Task is what is learnt of a population.
type Task string

// Tasks: two classes, least squares, median regression. Scores are accuracy, R² and R¹ (Model.Score).
const (
	Labels Task = "labels"
	Values Task = "values"
	Median Task = "median"
)

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

// named is a mechanism of learn.AllMechanisms by its name.
func named(name string) learn.Mechanism {
	i := slices.IndexFunc(learn.AllMechanisms, func(m learn.Mechanism) bool { return m.Name() == name })
	return learn.AllMechanisms[i]
}

// Rivals returns the mechanisms of a task on a population, all tuned by public numbers alone; the first is what a
// learner's zero value runs.
func (p Population) Rivals(task Task) []Rival {
	of := func(name string, l func(src noise.Source) learn.Learner) Rival {
		return Rival{Mechanism: learn.MechanismOf(name, l)}
	}
	known := func(name string) Rival { return Rival{Mechanism: named(name)} }
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

// Cells are rows of one task, of the table or of a comparison of one's own, to be shown.
type Cells []WhichRow

// Of returns the cells of a task.
func (c Cells) Of(task Task) Cells {
	return slices.DeleteFunc(slices.Clone(c), func(r WhichRow) bool { return r.Task != task })
}

// At returns the cells at an ε.
func (c Cells) At(epsilon float64) Cells {
	return slices.DeleteFunc(slices.Clone(c), func(r WhichRow) bool { return r.Epsilon != epsilon })
}

// names returns what by says of the cells, each once, in their order.
func (c Cells) names(by func(WhichRow) string) (names []string) {
	for _, r := range c {
		if !slices.Contains(names, by(r)) {
			names = append(names, by(r))
		}
	}
	return names
}

func byMechanism(r WhichRow) string  { return r.Mechanism }
func byPopulation(r WhichRow) string { return r.Population }

// called is a mechanism as a column has room for it.
func called(name string) string {
	return strings.ReplaceAll(name, "DP-SGD, learning rate not paid for", "DP-SGD, fixed rate")
}

// lost returns by how much the row is below the best of its population at its ε.
func (c Cells) lost(r WhichRow) float64 {
	best := r.Score.Mean
	for _, o := range c {
		if o.Population == r.Population && o.Task == r.Task && o.Epsilon == r.Epsilon && o.Refused == "" {
			best = math.Max(best, o.Score.Mean)
		}
	}
	return best - r.Score.Mean
}

// standing is what a mechanism did over all cells.
type standing struct {
	mechanism                     string
	pure                          bool
	least, mean, most             float64 // lost to the best
	wins, losses, cells, notAtAll int
	seconds                       float64
	worstPopulation               string
}

func (c Cells) standings() (all []standing) {
	for _, name := range c.names(byMechanism) {
		s := standing{mechanism: name, least: math.Inf(1)}
		for _, r := range c {
			switch {
			case r.Mechanism != name:
				continue
			case r.Refused != "":
				s.notAtAll++
				continue
			}
			l := c.lost(r)
			s.mean, s.least = s.mean+l, math.Min(s.least, l)
			s.seconds += r.Seconds
			s.cells++
			s.pure = r.Pure
			if l > s.most {
				s.most, s.worstPopulation = l, r.Population
			}
			if r.Winner() {
				s.wins++
			}
			if r.Over.Mean < -2*r.Over.StdErr {
				s.losses++
			}
		}
		if s.cells > 0 {
			s.mean /= float64(s.cells)
			s.seconds /= float64(s.cells)
		}
		all = append(all, s)
	}
	return all
}

// assumes returns what one must believe to use a mechanism of a task.
func assumes(task Task, name string) string {
	for _, p := range Populations() {
		for _, r := range p.Rivals(task) {
			if r.Name() == name {
				return cmp.Or(r.Assumes, "bounds")
			}
		}
	}
	return "–"
}

// Display says for each mechanism how far it is below the best of its cell, in the mean and at worst, how often it is
// better or worse than the first one by more than two standard errors, and how long a fit takes. What must be known
// beside bounds, and whose δ is 0, stands below.
func (c Cells) Display() display.Item {
	if len(c) == 0 {
		return display.Item{Title: "No cells."}
	}
	all, score, first := c.standings(), told[c[0].Task].short, called(c[0].Mechanism)
	cells := len(c.names(func(r WhichRow) string { return fmt.Sprint(r.Population, r.Epsilon) }))
	draws := slices.MaxFunc(c, func(a, b WhichRow) int { return a.Score.N - b.Score.N }).Score.N
	it := display.Item{Title: fmt.Sprintf("%s: %s lost to the best mechanism, over %s", told[c[0].Task].words, score,
		numeral.Count(cells, "cell")), Header: []string{"mechanism", "lost, mean", "lost, worst", "better in",
		"worse in", "refused in", "seconds"}}
	var pure []string
	known := map[string][]string{}
	for _, s := range all {
		worst, mean, took := "–", "–", "–"
		if s.cells > 0 {
			mean, worst, took = fmt.Sprintf("%.3f", s.mean), fmt.Sprintf("%.3f", s.most), fmt.Sprintf("%.2g", s.seconds)
			if s.worstPopulation != "" {
				worst += " (" + s.worstPopulation + ")"
			}
		}
		if s.pure {
			pure = append(pure, called(s.mechanism))
		}
		if a := assumes(c[0].Task, s.mechanism); a != "bounds" {
			known[a] = append(known[a], called(s.mechanism))
		}
		it.Row(called(s.mechanism), mean, worst, fmt.Sprint(s.wins), fmt.Sprint(s.losses), fmt.Sprint(s.notAtAll), took)
	}
	it.Note("A cell is one population at one ε. Lost: %s of the cell's best mechanism less that of this one, on "+
		"records that no fit has seen, in the mean of %d draws of records and noise, the same for all.", score, draws)
	it.Note("Better, worse: the number of cells in which the mechanism differs from %s by more than two standard "+
		"errors; refused: in which it refuses to run. Seconds: of a fit, on a busy machine, and only to compare.",
		first)
	it.Note("δ = %g; for %s δ = 0. All parameters are from public numbers. All must know bounds.", whichDelta,
		strings.Join(pure, " and "))
	for _, what := range slices.Sorted(maps.Keys(known)) {
		it.Note("To be known as well: %s (%s).", what, strings.Join(known[what], "; "))
	}
	return it
}

// told are the words for a task, what its score is, and that without what explains it.
var told = map[Task]struct{ words, score, short string }{Labels: {"Two classes", "accuracy", "accuracy"},
	Values: {"A number (least squares)", "R²", "R²"},
	Median: {"A number (its median)", "R¹ (as R², of absolute errors)", "R¹"}}

// Figure draws for each mechanism how far it is below the best of a cell: the range over the cells and, as a dot, the
// mean. The first one is the learner's default.
func (c Cells) Figure() *figure.Figure {
	if len(c) == 0 {
		return nil
	}
	var names, words []string
	var lo, mid, hi []float64
	for _, s := range c.standings() {
		if s.cells == 0 {
			continue
		}
		names = append(names, called(s.mechanism))
		lo, mid, hi = append(lo, s.least), append(mid, s.mean), append(hi, s.most)
		words = append(words, fmt.Sprintf("%s %.3f on average and %.3f at worst", called(s.mechanism), s.mean, s.most))
	}
	score := told[c[0].Task].short
	f := figure.New(told[c[0].Task].words+": how far below the best mechanism",
		score+" lost: range over the cells, and mean", "")
	f.Intervals(names, lo, mid, hi, figure.Blue)
	f.XRange(-0.02*slices.Max(hi), 1.05*slices.Max(hi))
	f.Alt = score + " lost to the best mechanism of each population and ε: " + strings.Join(words, "; ")
	return f
}

// Scores returns a table of scores, a column for each population; ▲ and ▼ are better and worse than the first mechanism
// by more than two standard errors.
func (c Cells) Scores() display.Item {
	it := display.Item{Title: "Scores", Header: append([]string{"mechanism"}, c.names(byPopulation)...)}
	if len(c) > 0 {
		it.Title = fmt.Sprintf("%s, ε = %g: mean %s in each population", told[c[0].Task].words, c[0].Epsilon,
			told[c[0].Task].score)
	}
	for _, name := range c.names(byMechanism) {
		cells := []string{called(name)}
		for _, p := range it.Header[1:] {
			i := slices.IndexFunc(c, func(r WhichRow) bool { return r.Mechanism == name && r.Population == p })
			switch {
			case i < 0 || c[i].Refused != "":
				cells = append(cells, "–")
			case c[i].Winner():
				cells = append(cells, fmt.Sprintf("%.3f\u00a0▲", c[i].Score.Mean))
			case c[i].Over.Mean < -2*c[i].Over.StdErr:
				cells = append(cells, fmt.Sprintf("%.3f\u00a0▼", c[i].Score.Mean))
			default:
				cells = append(cells, fmt.Sprintf("%.3f", c[i].Score.Mean))
			}
		}
		it.Row(cells...)
	}
	it.Note("▲ better, ▼ worse than the first row by more than two standard errors; – refused, or not applicable.")
	return it
}

// PopulationsShown returns the populations as a table, Features without the constant.
func PopulationsShown() display.Item {
	it := display.Item{Title: "Populations", Header: []string{"name", "records", "features", "d/n", "what it is like"}}
	for _, p := range Populations() {
		it.Rowf("%s | %d | %d | %.2g | %s", p.Name, p.Records, p.Features, float64(p.Features)/float64(p.Records),
			p.About)
	}
	return it
}

// PopulationCalled returns the population of a name.
//
// Errors: there is none of that name.
func PopulationCalled(name string) (Population, error) {
	all := Populations()
	i := slices.IndexFunc(all, func(p Population) bool { return p.Name == name })
	if i < 0 {
		var names []string
		for _, p := range all {
			names = append(names, p.Name)
		}
		return Population{}, fmt.Errorf("ours: no population %q; there are %s", name, strings.Join(names, ", "))
	}
	return all[i], nil
}

// enough is how many records for each feature, times ε, the chart asks for.
const enough = 10

// LostByForecast returns what a private logistic fit loses of what can be learnt, by the forecast, at perFeature/ε
// records for each feature: its share of wrong answers less that of a fit without privacy, over the same for a coin.
//
// Errors: numbers out of range.
func LostByForecast(perFeature, epsilon float64) (float64, error) {
	const features = 1000
	f := learn.Study{Records: int(math.Round(features * perFeature / epsilon)), Features: features, Epsilon: epsilon,
		Delta: whichDelta, Mechanisms: []proportional.Mechanism{proportional.Objective}}.Forecast()
	if f.Err() != nil {
		return 0, f.Err()
	}
	plain, private := f.NonPrivate.Quality().Error, f.Predictions[0].Quality().Error
	return (private - plain) / (0.5 - plain), nil
}

// WhichChart is what the table comes to at an ε, as a chart of decisions.
func WhichChart(epsilon float64) *figure.Figure {
	say := func(question, yes string) figure.Decision { return figure.Decision{Question: question, Yes: yes} }
	return figure.Decisions(fmt.Sprintf("Which mechanism at ε = %g?", epsilon), []figure.Decision{
		say("No linear score xᵀθ,\nor a loss that is not convex?", "DP-SGD, outside the learners\nof this project"),
		// By the forecast; TestTheChartGoesByTheForecast.
		say(fmt.Sprintf("Fewer than %.0f records\nfor each feature (%d/ε)?", math.Ceil(enough/epsilon), enough),
			"Fewer features first: three tenths\nof what can be learnt are lost, or more"),
		say("Heavy tails, and numbers\nwithout public bounds?", "HeavyTails\n(its δ is 0)"),
		say("Must δ be 0?", "SVM, Huber or Median\nwith Pure: true"),
		say("Two classes?", "SVM; Logistic if you\nneed probabilities"),
		say("A median or a quantile\n(a loss with a kink)?", "Median or Quantile"),
		say("Is every value predicted exactly,\nnear coefficients you know?",
			"Quadratic may be used,\nand Huber is better here"),
	}, "A number, a smooth loss:\nHuber")
}
