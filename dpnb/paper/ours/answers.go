package ours

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// asked is a question whose true answer is known.
type asked struct {
	name     string
	question explore.Query
	// row of the answer, and the truth of it.
	row   int
	truth float64
	// redraw has the records drawn anew for each trial: the truth is of their population. sharp says that the law of
	// the answer is known exactly and continuous, so that intervals cover as often as they say and no more often.
	redraw, sharp bool
}

// residents are invented records: ages, incomes, which are skewed, and a city that both depend on.
type residents struct {
	age, income, here []float64
	city, rich        []string
}

var residentCities = []string{"Bern", "Lima", "Oslo", "Rome"}

// incomeQuantile is that of the incomes of the population; more than 200 is 200.
func incomeQuantile(p float64) float64 { return 40 * math.Exp(0.6*distuv.UnitNormal.Quantile(p)) }

// shareOfLima is P(1/4 ≤ 0.7V + 0.3U < 1/2) of uniform U and V: the density rises to 1/0.7 at 0.3 and stays there.
const shareOfLima = (0.3*0.3-0.25*0.25)/(2*0.7*0.3) + (0.5-0.3)/0.7

func drawResidents(n int, src *noise.Seeded) (r residents) {
	for range n {
		u := src.Float64()
		r.age = append(r.age, 18+72*math.Pow(src.Float64(), 1.5))
		r.income = append(r.income, math.Min(200, incomeQuantile(u)))
		at := min(3, int(4*(0.7*src.Float64()+0.3*u)))
		r.city = append(r.city, residentCities[at])
		r.here = append(r.here, map[bool]float64{true: 1}[at == 1])
		r.rich = append(r.rich, map[bool]string{true: "yes", false: "no"}[r.income[len(r.income)-1] > 50])
	}
	return r
}

func (r residents) frame() learn.DataFrame {
	t := measure.Must(frame.NewTable(frame.Column{Name: "age", Numbers: r.age}, frame.Column{Name: "income",
		Numbers: r.income}, frame.Column{Name: "here", Numbers: r.here}, frame.Column{Name: "city",
		Kind: frame.Categorical, Texts: r.city}, frame.Column{Name: "rich", Kind: frame.Categorical, Texts: r.rich}))
	return learn.FromTable(t).WithSchema(learn.Numeric("age", 18, 90), learn.Numeric("income", 0, 200),
		learn.Numeric("here", 0, 1), learn.Categorical("city", residentCities...),
		learn.Categorical("rich", "no", "yes"))
}

// of returns the numbers of those in a city.
func (r residents) of(x []float64, city string) (some []float64) {
	for i, v := range x {
		if r.city[i] == city {
			some = append(some, v)
		}
	}
	return some
}

// questions are those that are asked of r, which df has; of a model that was fitted to it as well.
func (r residents) questions(df learn.DataFrame) []asked {
	sorted := slices.Sorted(slices.Values(r.income))
	count := func(in func(i int) bool) (n float64) {
		for i := range r.age {
			if in(i) {
				n++
			}
		}
		return n
	}
	m := measure.Must(learn.Logistic{Noise: learn.Seed(1)}.Fit(learn.Binary(df.Drop("income"), "rich"),
		learn.Simulate(20, 1e-6)))
	seen := measure.Must(m.Evaluate(df))
	quantile := func(p float64) float64 { return stat.Quantile(p, stat.Empirical, sorted, nil) }
	return []asked{
		{name: "count", question: explore.Count(), truth: float64(len(r.age))},
		{name: "sum", question: explore.Sum("age"), truth: floats.Sum(r.age), sharp: true},
		{name: "mean", question: explore.Mean("income"), truth: stat.Mean(r.income, nil), sharp: true},
		{name: "mean of a group", question: explore.Mean("income").By("city"),
			truth: stat.Mean(r.of(r.income, residentCities[0]), nil), sharp: true},
		{name: "median", question: explore.QuantilesOf("income", 0.5), truth: quantile(0.5)},
		{name: "ninth decile", question: explore.QuantilesOf("income", 0.1, 0.5, 0.9), row: 2, truth: quantile(0.9)},
		{name: "cell of a histogram", question: explore.Histogram("income", 0, 20, 40, 60, 100, 200), row: 1,
			truth: count(func(i int) bool { return r.income[i] >= 20 && r.income[i] < 40 })},
		{name: "cell of a table", question: explore.Crosstab("city"), row: 2,
			truth: count(func(i int) bool { return r.city[i] == residentCities[2] })},
		{name: "standard deviation", question: explore.Variance("income"), row: 1,
			truth: stat.PopStdDev(r.income, nil)},
		{name: "correlation", question: explore.Correlations("age", "income"),
			truth: stat.Correlation(r.age, r.income, nil)},
		{name: "share predicted wrongly", question: explore.LossOf(m), truth: 1 - seen.Accuracy, sharp: true},
		{name: "accuracy by a table", question: explore.ConfusionOf(m), truth: seen.Accuracy},
		{name: "AUC", question: explore.AUCOf(m), truth: seen.AUC},
		{name: "share of the population", question: explore.Mean("here").ForPopulation(), truth: shareOfLima,
			redraw: true},
		{name: "median of the population", question: explore.QuantilesOf("income", 0.5).ForPopulation(),
			truth: incomeQuantile(0.5), redraw: true},
	}
}

var answerLevels = [...]float64{0.5, 0.9, 0.95}

// answerSettings are where coverage is counted; the quick form is without the largest table.
var answerSettings = func() (all []answerSetting) {
	for _, n := range []int{200, 2_000, 20_000} {
		for _, epsilon := range []float64{0.1, 1} {
			for _, delta := range []float64{0, 1e-6} {
				all = append(all, answerSetting{n, epsilon, delta})
			}
		}
	}
	return all
}()

type answerSetting struct {
	n              int
	epsilon, delta float64
}

func (s answerSetting) String() string {
	return fmt.Sprintf("n = %d, ε = %g, δ = %g", s.n, s.epsilon, s.delta)
}

// tails is how many intervals of a question, by level, had the truth in them, above them and below them.
type tails struct{ runs, in, above, below [len(answerLevels)]float64 }

func (t *tails) add(o tails) {
	for l := range answerLevels {
		t.runs[l] += o.runs[l]
		t.in[l] += o.in[l]
		t.above[l] += o.above[l]
		t.below[l] += o.below[l]
	}
}

// off returns by how many standard errors the shares of intervals that cover, and of those that miss on either side,
// are from what they should be: the lowest of those that cover, and the farthest of all on any side.
func (t tails) off() (lowest, farthest float64) {
	for l, level := range answerLevels {
		z := func(k, p float64) float64 { return (k - p*t.runs[l]) / math.Sqrt(p*(1-p)*t.runs[l]) }
		in, miss := z(t.in[l], level), (1-level)/2
		lowest = math.Min(lowest, in)
		for _, v := range []float64{in, z(t.above[l], miss), z(t.below[l], miss)} {
			farthest = math.Max(farthest, math.Abs(v))
		}
	}
	return lowest, farthest
}

func (t tails) String() string {
	var parts []string
	for l, level := range answerLevels {
		share := func(k float64) float64 { return 100 * k / t.runs[l] }
		parts = append(parts, fmt.Sprintf("%g %%: %.1f (%.1f, %.1f)", 100*level, share(t.in[l]), share(t.below[l]),
			share(t.above[l])))
	}
	return strings.Join(parts, ", ")
}

// ask asks one question so many times in a setting; of its intervals so many times the width is counted.
func (s answerSetting) ask(ctx context.Context, q asked, fixed learn.DataFrame, runs int, wide float64,
	root *noise.Seeded) (total tails) {
	for _, t := range measure.Must(sim.Trials(ctx, runs, 0, root, func(_, _ int, src *noise.Seeded) (t tails, _ error) {
		df := fixed
		if q.redraw {
			df = drawResidents(s.n, src.Stream(1)).frame()
		}
		answer, err := q.question.Noise(src).Of(df, learn.Simulate(s.epsilon, s.delta))
		if err != nil {
			return t, fmt.Errorf("%s: %w", q.name, err)
		}
		for l, level := range answerLevels {
			at := measure.Must(answer.WithConfidence(level))
			t.runs[l] = 1
			switch r := at.Rows()[q.row]; {
			case q.truth > r.Value+wide*(r.Upper-r.Value):
				t.above[l] = 1
			case q.truth < r.Value-wide*(r.Value-r.Lower):
				t.below[l] = 1
			default:
				t.in[l] = 1
			}
		}
		return t, nil
	})) {
		total.add(t)
	}
	return total
}

// answersCover takes intervals of the questions whose law is known exactly as factor times as wide as they are, and
// those of one question as seven tenths of it.
func answersCover(run measure.Run, narrow string, factor float64) claim.Outcome {
	settings, runs := measure.Sized(run.Size, answerSettings[:8], answerSettings), measure.Sized(run.Size, 150, 300)
	root := noise.NewSeeded(71)
	pooled, exact := map[string]*tails{}, tails{}
	var names, notes []string
	var worst struct {
		z     float64
		where string
	}
	for i, s := range settings {
		fixed := drawResidents(s.n, root.Stream(i))
		df := fixed.frame()
		questions := fixed.questions(df)
		for k, q := range questions {
			wide := 1.0
			if q.sharp {
				wide = factor
			} else if q.name == narrow {
				wide = 0.7
			}
			t := s.ask(run, q, df, runs, wide, root.Stream(i).Stream(k))
			if lowest, _ := t.off(); lowest < worst.z {
				worst.z, worst.where = lowest, q.name+", "+s.String()
			}
			notes = append(notes, fmt.Sprintf("%s, %v: %v", q.name, s, t))
			if pooled[q.name] == nil {
				pooled[q.name], names = new(tails), append(names, q.name)
			}
			pooled[q.name].add(t)
			if q.sharp {
				exact.add(t)
			}
		}
	}
	lowest := 0.0
	var measured []string
	for _, name := range names {
		z, _ := pooled[name].off()
		lowest = math.Min(lowest, z)
		measured = append(measured, name+" "+pooled[name].String())
	}
	_, farthest := exact.off()
	return claim.Decide(fmt.Sprintf("%d intervals of known law: %v; in %d settings together: %s", int(exact.runs[0]),
		exact, len(settings), strings.Join(measured, "; ")), fmt.Sprintf("standard errors: known law within %.1f of 4 "+
		"on both sides, others at worst %.1f (together) and %.1f (%s) below what they say", farthest, -lowest, -worst.z,
		worst.where), farthest < 4 && lowest > -3.5 && worst.z > -4.5).InFull(run.Size, notes)
}
