package explore_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// All questions with the noise of one seed, with δ and without, their figures and their prices are as they were: what
// is shown, in words and numbers, is in testdata/shown.txt.
func TestWhatIsShown(t *testing.T) {
	testscale.Slow(t)
	var since, age, pay []float64
	var town, flag []string
	for i := range 400 {
		since, age = append(since, float64(10000+i*i%2000)), append(age, float64(20+i*i%50))
		pay, town = append(pay, float64(1+i*i*i%997)), append(town, []string{"Bern", "Rome", "Oslo"}[i*i%7%3])
		flag = append(flag, []string{"yes", "no"}[i%3%2])
	}
	df := learn.FromTable(must.Get(frame.NewTable(frame.Column{Name: "since", Numbers: since},
		frame.Column{Name: "age", Numbers: age}, frame.Column{Name: "pay", Numbers: pay},
		frame.Column{Name: "town", Kind: frame.Categorical, Texts: town},
		frame.Column{Name: "flag", Kind: frame.Categorical, Texts: flag}))).
		WithSchema(learn.Date("since", "", "1997-05-19", "2002-11-08"), learn.Numeric("age", 17, 90),
			learn.Log("pay", 1, 1000), learn.Categorical("town", "Bern", "Rome", "Oslo"),
			learn.Categorical("flag", "yes", "no"))
	ill, ages := learn.Binary(df, "flag"), learn.Regression(df, "age")
	two := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(ill, learn.Simulate(5, 1e-6)))
	three := must.Get(learn.Softmax{Noise: learn.Seed(1)}.Fit(learn.Classes(df, "town"), learn.Simulate(5, 1e-6)))
	line := must.Get(learn.Linear{Noise: learn.Seed(1)}.Fit(ages, learn.Simulate(5, 1e-6)))
	var all strings.Builder
	for _, q := range []explore.Query{explore.Count(), explore.Count().By("town", "flag"), explore.Mean("age"),
		explore.Mean("age").By("town"), explore.Mean("since"), explore.Sum("pay"), explore.Variance("pay"),
		explore.Correlations("age", "pay", "since"), explore.Describe(), explore.QuantilesOf("age", 0.1, 0.5),
		explore.MedianOf("since"), explore.Histogram("age"), explore.Histogram("pay"), explore.Histogram("since"),
		explore.Histogram("town"), explore.Crosstab("town", "flag"), explore.ConfusionOf(two),
		explore.ConfusionOf(three), explore.CalibrationOf(two), explore.AUCOf(two), explore.LossOf(two),
		explore.LossOf(line), explore.Variance("age").By("flag"), explore.Variance("pay").By("town"),
		explore.Sum("pay").By("flag", "town"), explore.Correlations("age", "pay")} {
		for i, delta := range []float64{1e-6, 0} {
			q := q.Noise(learn.Seed(1))
			if i > 0 {
				q = q.Confidence(0.8)
				if wide := q.ForPopulation(); wide.Check(df) == nil {
					q = wide
				}
			}
			s := must.Get(q.Of(df, learn.Simulate(3, delta)))
			fmt.Fprintf(&all, "== %s\n%s%s\n", s.Display().Text(), s.Illustration().Numbers(),
				golden.Written(s.Illustration().SVG()))
			for _, records := range []int{0, 400} {
				price, err := q.Planned(records).Price(df, 5, 0.9)
				fmt.Fprintln(&all, price.Display().Text(), err)
				price, err = q.Planned(records).Within(df, fresh(1, delta).Share(0.1), 0.9)
				fmt.Fprintln(&all, price.Display().Text(), err)
			}
		}
	}
	for _, m := range []*learn.Model{two, three, line} {
		measured := must.Get(explore.LossOf(m).Noise(learn.Seed(1)).Of(df, learn.Simulate(3, 1e-6)))
		study := learn.StudyOf(ill, 400, 3, 1e-6)
		if m == line {
			study = learn.StudyOf(ages, 400, 3, 1e-6)
		}
		study.Mechanisms = []proportional.Mechanism{proportional.Output}
		c := explore.Beside(study.Forecast(), measured)
		fmt.Fprintf(&all, "== %s\n%s%s\n", c.Display().Text(), c.Illustration().Numbers(),
			golden.Written(c.Illustration().SVG()))
	}
	// A model of a group, of its records and of all where nothing says which these are.
	groups := must.Get(learn.FitBy(learn.Logistic{Noise: learn.Seed(1)}, df, "town",
		func(part learn.DataFrame) *learn.Dataset { return learn.Binary(part, "flag") }, learn.Simulate(50, 1e-6)))
	for _, of := range []learn.DataFrame{df, df.Drop("town")} {
		s := must.Get(explore.AUCOf(groups.Of("Rome")).Noise(learn.Seed(1)).Of(of, learn.Simulate(9, 1e-6)))
		fmt.Fprintf(&all, "== %s\n", s.Display().Text())
	}
	// Of many numbers the first.
	codes := make([]string, 104)
	for i := range codes {
		codes[i] = fmt.Sprint("code ", i)
	}
	many := learn.FromTable(must.Get(frame.NewTable(frame.Column{Name: "code", Kind: frame.Categorical,
		Texts: codes}))).WithSchema(learn.Categorical("code", codes...))
	text := must.Get(explore.Histogram("code").Noise(learn.Seed(1)).Of(many, learn.Simulate(9, 0))).Display().Text()
	fmt.Fprintf(&all, "== %s\n", text[strings.Index(text, "code 98 "):])
	price := must.Get(explore.Count().Price(df, 5, 0.9))
	for _, epsilon := range []float64{1000, 0.01} {
		fmt.Fprintln(&all, price.In(fresh(epsilon, 0)).Display().Text())
	}
	// What is assumed is the same for most.
	text = regexp.MustCompile("(?m)^Assumes: .*\n").ReplaceAllString(all.String(), "")
	golden.Compare(t, "testdata/shown.txt", text)
}
