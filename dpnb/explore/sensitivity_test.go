package explore

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// The tests here go the whole way that a question goes, from the texts of a file to what is released: of a table and of
// its neighbours by the noise of one seed, so that what is released differs by what the person adds, and that is
// compared with what the ledger was charged.

// asTable reads records as a file has them.
func asTable(header []string, records [][]string) *frame.Table {
	var b strings.Builder
	must.Do(csv.NewWriter(&b).WriteAll(append([][]string{header}, records...)))
	return must.Get(frame.ReadCSV(strings.NewReader(b.String()), nil))
}

var askedHeader = []string{"who", "a", "b", "c", "day", "city", "flag"}

var askedSchema = []learn.Field{
	learn.Numeric("a", -3, 7), learn.Log("b", 0.5, 4000), learn.Numeric("c", -1e9, 12).OrMissingAs(12),
	frame.DateField("day", "02.01.2006", "2001-01-01", "2003-12-31"),
	learn.Categorical("city", "Bern", "Rome", "3").OrMissing(), learn.Categorical("flag", "no", "yes").OrElse("no"),
}

// askedTexts are what records have in each column: values at the bounds and beyond them, and texts that are none.
var askedTexts = [][]string{nil, {"-3", "7", "2", "99", "-1e999", "NaN", "", "x", "0x1p2", "6.999999999999999"},
	{"0.5", "4000", "44.72135954999579", "0", "inf", "?", "1e-320"},
	{"-1000000000", "12", "-499999994", "1e300", "NA", "-0"},
	{"01.01.2001", "31.12.2003", "2.1.2001", "", "31.02.2002"},
	{"Bern", "Rome", "3.0", "", "\xff\xfe", "Oslo", " Rome\t"}, {"yes", "no", "YES", "a\"b\nc,"}}

// askedPerson returns rows of one person, whose name is written with spaces here and there: at random, or all with the
// text of each column at the same place.
func askedPerson(rng *noise.Seeded, who string, rows, place int) (out [][]string) {
	for j := range rows {
		r := []string{[]string{who, who + "\t", "\u00a0" + who, "  " + who + "\u2003"}[j%4]}
		for _, texts := range askedTexts[1:] {
			if at := place; at >= 0 {
				r = append(r, texts[at])
			} else {
				r = append(r, texts[rng.IntN(len(texts))])
			}
		}
		out = append(out, r)
	}
	return out
}

// askedTable is a table of records whose people have up to so many rows; 0 says that each row is a person.
func askedTable(records [][]string, rows int) learn.DataFrame {
	df := learn.FromTable(asTable(askedHeader, records)).WithSchema(askedSchema...)
	if rows == 0 {
		return df.Drop("who")
	}
	return df.PerPerson("who", rows)
}

// crowd are the people whom the one is added to; some have more rows than count.
func crowd(rng *noise.Seeded) (all [][]string) {
	for i := range 20 {
		all = append(all, askedPerson(rng, fmt.Sprint("p", i/2*2), 1+i%4, -1)...)
	}
	return all
}

// neighbours calls f with the crowd and one more person, whose rows, twice as many as count, are anywhere in it: all at
// the lower bounds, all at the upper ones, and at random.
func neighbours(rng *noise.Seeded, crowd [][]string, rows int, f func(all [][]string)) {
	for _, place := range []int{0, 1, -1} {
		all := slices.Clone(crowd)
		for _, r := range askedPerson(rng, "the one", max(1, 2*rows), place) {
			all = slices.Insert(all, rng.IntN(len(all)+1), r)
		}
		f(all)
	}
}

// costOf is what the difference of two releases by the same noise costs in units of that noise, which is rounded to a
// grid of it, and what was charged: μ or ε.
func costOf(m statistic.Mechanism, g privacy.Profile, differ []float64) (cost, charged float64) {
	_, charged, ok := privacy.GaussianMu(g)
	norm := 2.0
	if !ok {
		charged, norm = must.Get(privacy.EpsilonUpper(g, 0)), 1
	}
	scale := 0.0
	switch m := m.(type) {
	case statistic.Sums:
		scale = m.Scale
	case statistic.Histogram:
		scale = m.Sigma + m.Scale // of which one is zero
	}
	return floats.Norm(differ, norm) / scale, charged
}

// What one person adds to the answer to any question is what is charged for it, to a millionth: a sensitivity that is
// further off, or a record that changes how another is read, is seen.
func TestAPersonAddsWhatIsCharged(t *testing.T) {
	testscale.Slow(t)
	rng := noise.NewSeeded(1)
	crowd, budgets := crowd(rng), 0
	learnt := askedTable(crowd, 0).Drop("b")
	model := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(learn.Binary(learnt, "flag"), learn.Simulate(5, 1e-3)))
	number := must.Get(learn.Linear{Noise: learn.Seed(1)}.Fit(learn.Regression(learnt, "a"), learn.Simulate(5, 1e-3)))
	for name, q := range map[string]Query{
		"count": Count(), "count by": Count().By("city", "flag"), "histogram": Histogram("b"),
		"days": Histogram("day").By("flag"), "between edges": Histogram("a", -3, 0, 7).By("city"),
		"categories": Histogram("city"), "crosstab": Crosstab("city", "flag"), "mean": Mean("a"),
		"mean by": Mean("c").By("city"), "mean of dates": Mean("day"), "sum": Sum("c"),
		"sum by": Sum("a").By("flag", "city"), "variance": Variance("b"), "variance by": Variance("a").By("flag"),
		"correlations": Correlations("a", "b", "c", "day"), "confusion": ConfusionOf(model),
		"calibration": CalibrationOf(model), "AUC": AUCOf(model), "error of classes": LossOf(model),
		"error of numbers": LossOf(number),
	} {
		for _, rows := range []int{0, 3} {
			for _, pure := range []bool{false, true} {
				ask := func(records [][]string) (*released, *Statistic) {
					a := learn.Simulate(40, 0)
					if !pure {
						budgets++
						a = learn.NewBudget(60, 1e-5, learn.Named(fmt.Sprint("sensitivity", budgets))).Share(0.5)
					}
					p, err := q.Noise(learn.Seed(7)).prepared(askedTable(records, rows))
					if err != nil {
						t.Fatal(name, err)
					}
					r := must.Get(p.release(a))
					return r, must.Get(p.answered(q, r))
				}
				without, _ := ask(crowd)
				reached := 0.0
				neighbours(rng, crowd, rows, func(all [][]string) {
					with, s := ask(all)
					floats.Sub(with.Numbers, without.Numbers)
					cost, charged := costOf(collector(with.ran), s.Guarantee().Profile, with.Numbers)
					reached = math.Max(reached, cost/charged)
				})
				if !(reached <= 1+1e-6) || reached < 1-1e-6 && (pure || name != "error of numbers") {
					t.Errorf("%s, pure: %v, %d rows: a person adds %v of what is charged", name, pure, rows, reached)
				}
			}
		}
	}
}

// What one person adds to the counts that quantiles, summaries and Keys are drawn from is one for each row that counts,
// of each column, and what a summary adds up is what is charged.
func TestAPersonIsInAsManyCellsAsCount(t *testing.T) {
	rng := noise.NewSeeded(2)
	crowd := crowd(rng)
	for _, rows := range []int{0, 1, 3} {
		for name, q := range map[string]Query{"quantiles": QuantilesOf("b", 0.1, 0.5), "median": MedianOf("c"),
			"summary": Describe()} {
			sums := 0
			tallied := func(records [][]string) (map[int]float64, statistic.Mechanism) {
				p := must.Get(q.planned(askedTable(records, rows)))
				m, counts := must.Get(p.calibrate(1, 1e-6, false)), map[int]float64{}
				tally := m.Tally()
				must.Do(addUp(tally, p.records, p.columns(), p.read))
				tally.Each(func(place int, n int64) { counts[place] = float64(n) })
				return counts, m
			}
			without, _ := tallied(crowd)
			neighbours(rng, crowd, rows, func(all [][]string) {
				with, m := tallied(all)
				want := float64(max(1, rows))
				if s, ok := m.(statistic.Summary); ok {
					sums = s.Sums().Of.Len()
					var added []float64
					for place := range sums {
						added = append(added, (with[place]-without[place])*0x1p-24)
					}
					norm := map[statistic.Law]float64{statistic.Gaussian: 2, statistic.Laplace: 1}[s.Law]
					most := want * s.Sums().Of.Norm(s.Law)
					if n := floats.Norm(added, norm); n > most || n < 0.3*most {
						t.Errorf("%d rows: a person adds %v to the sums of a summary, charged are %v", rows, n, most)
					}
					want *= float64(len(s.Of))
				}
				total := 0.0
				for place, n := range with {
					if place >= sums {
						total += math.Abs(n - without[place])
					}
				}
				for place, n := range without {
					if _, there := with[place]; place >= sums && !there {
						total += n
					}
				}
				if total != want {
					t.Errorf("%s, %d rows: a person changes counts by %v", name, rows, total)
				}
			})
		}
		p := must.Get(Keys("city").prepared(askedTable(crowd, rows))).(*fittedKeys)
		without := must.Get(count(p.records, p.columns))
		neighbours(rng, crowd, rows, func(all [][]string) {
			p := must.Get(Keys("city").prepared(askedTable(all, rows))).(*fittedKeys)
			more := int64(0)
			for key, n := range must.Get(count(p.records, p.columns)) {
				if more += n - without[key]; n < without[key] || n > without[key]+1 {
					t.Errorf("%d rows: a person changes the count of %q by %d", rows, key, n-without[key])
				}
			}
			if more > int64(max(1, rows)) {
				t.Errorf("%d rows: a person is counted for %d keys", rows, more)
			}
		})
	}
}
