package ours

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/internal/numeral"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

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
	mean, most                    float64 // lost to the best
	wins, losses, cells, notAtAll int
	seconds                       float64
	worstPopulation               string
}

func (c Cells) standings() (all []standing) {
	for _, name := range c.names(byMechanism) {
		s := standing{mechanism: name}
		for _, r := range c {
			switch {
			case r.Mechanism != name:
				continue
			case r.Refused != "":
				s.notAtAll++
				continue
			}
			l := c.lost(r)
			s.mean += l
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
	it := display.Item{Title: fmt.Sprintf("%s: %s lost to the best mechanism, over %s", told[c[0].Task].words, score,
		numeral.Count(c.count(), "cell")), Header: []string{"mechanism", "lost, mean", "lost, worst", "better in",
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
		"records that no fit has seen, in the mean of %d draws of records and noise, the same for all.", score,
		c.draws())
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

// count returns how many populations at an ε there are.
func (c Cells) count() int {
	return len(c.names(func(r WhichRow) string { return fmt.Sprint(r.Population, r.Epsilon) }))
}

func (c Cells) draws() int {
	n := 0
	for _, r := range c {
		n = max(n, r.Score.N)
	}
	return n
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
		least := math.Inf(1)
		for _, r := range c {
			if r.Mechanism == s.mechanism && r.Refused == "" {
				least = math.Min(least, c.lost(r))
			}
		}
		names = append(names, called(s.mechanism))
		lo, mid, hi = append(lo, least), append(mid, s.mean), append(hi, s.most)
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
		it.Row(p.Name, fmt.Sprint(p.Records), fmt.Sprint(p.Features), fmt.Sprintf("%.2g",
			float64(p.Features)/float64(p.Records)), p.About)
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
