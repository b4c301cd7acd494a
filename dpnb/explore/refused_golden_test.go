package explore_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// Why questions are refused, before anything is paid, and what prices are refused, is as it was: testdata/refused.txt.
func TestWhatIsRefused(t *testing.T) {
	df := learn.FromTable(must.Get(frame.NewTable(frame.Column{Name: "age", Numbers: []float64{20, 30, 40}},
		frame.Column{Name: "open", Numbers: []float64{1, 2, 3}}, frame.Column{Name: "town", Kind: frame.Categorical,
			Texts: []string{"Bern", "Rome", "Bern"}}, frame.Column{Name: "when", Kind: frame.Categorical,
			Texts: []string{"2020-01-01", "2021-05-03", "x"}}))).WithSchema(learn.Numeric("age", 17, 90),
		learn.Numeric("open", 0, 1).Unbounded(), learn.Categorical("town", "Bern", "Rome"),
		frame.YearField("when", "2006-01-02", 2000, 2030))
	var all strings.Builder
	say := func(values ...any) { fmt.Fprintln(&all, values...) }
	for i, q := range []explore.Query{{}, explore.Count(), explore.Mean("town"), explore.Mean("none"),
		explore.Mean("open"),
		explore.Mean("when"), explore.Sum("town"), explore.Variance("open"), explore.Correlations("age"),
		explore.Correlations(
			"age", "age"), explore.Correlations("age", "town"), explore.Correlations("age", "when"),
		explore.QuantilesOf("town"), explore.QuantilesOf("age", 0), explore.QuantilesOf("age", 1),
		explore.QuantilesOf("age",
			0.5, 0.5), explore.QuantilesOf("age", math.NaN()), explore.QuantilesOf("age", 0.9, 0.1),
		explore.MedianOf("open"),
		explore.Histogram("age", 20), explore.Histogram("age", 20, 20), explore.Histogram("age", 30, 20),
		explore.Histogram(
			"town", 1, 2), explore.Histogram("open"), explore.Histogram("open", 0, 1, 2), explore.Histogram("age", 10,
			200),
		explore.Crosstab(), explore.Crosstab("town"), explore.Crosstab("town", "town"), explore.Crosstab("town", "age"),
		explore.Crosstab("town", "when"), explore.Keys("town"), explore.Keys("age"), explore.Count().By("age"),
		explore.Count().By("town", "town"), explore.Count().By("none"), explore.Mean("age").By("town"),
		explore.Mean("age").By(
			"age"), explore.MedianOf("age").By("town"), explore.Histogram("age").By("town"),
		explore.Describe().By("town"),
		explore.Count().Confidence(0), explore.Count().Confidence(1), explore.Mean("age").Confidence(math.NaN()),
		explore.Count().ForPopulation(), explore.Mean("age").ForPopulation(), explore.Sum("age").ForPopulation(),
		explore.ConfusionOf(nil), explore.CalibrationOf(nil), explore.AUCOf(nil), explore.LossOf(nil),
		explore.Describe(),
		explore.Variance("when"), explore.Histogram("town", 1), explore.Histogram("age", 20).By("town"),
		explore.Crosstab("age", "age"), explore.Sum("age").By("town", "age"), explore.Keys("none")} {
		if say(i, q.Check(df), "|", q.Check(learn.DataFrame{})); q.Check(df) != nil {
			continue
		}
		for k, at := range [][2]float64{{0.5, 0.9}, {1e-9, 0.9}, {0, 0.9}, {math.Inf(1), 0.9}, {0.5, 1}, {0.2, 0.5}} {
			price, err := q.Planned(1000*(i%3)).Price(df, at[0], at[1])
			if say(i, k, err); err == nil {
				say(strings.TrimSpace(price.Display().Text()))
			}
		}
		_, err := q.Planned(1000).Within(df, learn.Simulate(1, 1e-6), 0.9)
		say(i, "within", err)
	}
	for _, a := range []learn.Allowance{learn.Simulate(-1, 1e-6), learn.Simulate(1, 2), learn.Simulate(0, 0)} {
		s, err := explore.Count().Noise(learn.Seed(1)).Of(df, a)
		say("allowance", err, s.Err(), s.Value(), len(s.Rows()), s.Names())
		say(s.Display().Text(), s.DataFrame().Err)
	}
	s := must.Get(explore.Count().Noise(learn.Seed(1)).Of(df, learn.Simulate(1, 1e-6)))
	for _, c := range []float64{0, 0.5, 0.99, 1} {
		wider, err := s.WithConfidence(c)
		if say("confidence", c, err); err == nil {
			low, high := wider.Interval()
			say(fmt.Sprintf("%.6g %.6g %.6g", wider.Value(), low, high))
		}
	}
	_, err := explore.Calibrated(nil, s)
	compared := explore.Beside(nil, s)
	say("put together", err, compared.Err())
	golden.Compare(t, "testdata/refused.txt", all.String())
}
