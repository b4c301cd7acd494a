package explore_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// Answers and their axes are called what was asked, and what is drawn stands where the numbers are: whiskers of a
// histogram at the middle of its places, on a logarithmic column at their geometric one, from one end of the interval
// to the other.
func TestShownAsAsked(t *testing.T) {
	df, free := people(400), learn.Simulate(1, 0)
	for want, q := range map[string]explore.Query{"Median of age": explore.MedianOf("age"),
		"0.9-quantile of age": explore.QuantilesOf("age", 0.9),
		"Quantiles of age":    explore.QuantilesOf("age", 0.5, 0.9)} {
		s := must.Get(q.Noise(learn.Seed(1)).Of(df, free))
		if text := s.Display().Text(); !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	for want, q := range map[string]explore.Query{"Records, with": explore.Count(),
		"Age, with": explore.MedianOf("age"), "Sum of age, with": explore.Sum("age"),
		"Mean of age, with": explore.Mean("age").By("city")} {
		drawn := must.Get(q.Noise(learn.Seed(1)).Of(df, free)).Illustration().Words()
		if !strings.Contains(drawn, want+" 95 % intervals") {
			t.Errorf("%q is not the axis of %s", want, drawn)
		}
	}
	pay := learn.FromTable(must.Get(frame.NewTable(frame.Column{Name: "pay", Numbers: []float64{1200, 5e4, 9e5}})))
	whole := pay.WithSchema(learn.Numeric("pay", 0, 1e6))
	text := must.Get(explore.Describe().Noise(learn.Seed(1)).Of(whole, free)).Display().Text()
	if !strings.Contains(text, "nearest value outside") {
		t.Errorf("a summary does not say what its quartiles miss: %s", text)
	}
	for _, c := range []struct {
		df      learn.DataFrame
		middles []float64
	}{{whole, []float64{500.5, 5.05e4, 5.5e5}},
		{pay.WithSchema(learn.Log("pay", 1, 1e6)), []float64{math.Sqrt(1e3), 1e4, math.Sqrt(1e11)}}} {
		s := must.Get(explore.Histogram("pay", 1, 1e3, 1e5, 1e6).Noise(learn.Seed(1)).Of(c.df, free))
		drawn := s.Illustration().Numbers()
		for i, r := range s.Rows() {
			for _, y := range []float64{r.Lower, r.Upper} {
				if want := fmt.Sprintf("(%.4g, %.4g)", c.middles[i], y); !strings.Contains(drawn, want) {
					t.Errorf("%s is not in\n%s", want, drawn)
				}
			}
		}
	}
}

// A number is shown with the first six digits of what its column can be, and its interval reaches as far in print.
func TestDigitsAreThoseOfTheColumn(t *testing.T) {
	pay := make([]float64, 20_000)
	for i := range pay {
		pay[i] = float64(max(0, i-12_000)) / 2
	}
	df := learn.FromTable(must.Get(frame.NewTable(frame.Column{Name: "pay", Numbers: pay}))).WithSchema(
		learn.Log("pay", 0, 10_000))
	s := must.Get(explore.QuantilesOf("pay", 0.25, 0.9).Noise(learn.Seed(1)).Of(df, learn.Simulate(1, 0)))
	for line := range strings.Lines(s.Display().Text()) {
		var level, value, lower, upper string
		if n, _ := fmt.Sscan(line, &level, &value, &lower, &upper); n < 4 || level != "0.25" {
			continue
		}
		r := s.Rows()[0]
		if r.Upper > 0.05 || value != "0.0" || lower != "0.0" || upper != "0.1" {
			t.Errorf("%+v is shown as %s", r, line)
		}
	}
}

// How precise an allowance is cannot be said of what needs a number of records without one, nor of none at all.
func TestWithinNeedsAPlan(t *testing.T) {
	b := learn.NewBudget(1, 1e-6, learn.Named(t.TempDir()))
	for _, q := range []explore.Query{explore.Mean("age"), explore.MedianOf("age"),
		explore.Mean("age").By("city")} {
		if p, err := q.Within(people(40), b.Share(0.1), 0.95); err == nil || !strings.Contains(err.Error(), "Planned") {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

// Dates are shown as dates, their intervals moved outwards to whole days, or to minutes where these are shorter; what
// is no date of them has its unit, and the edges of a histogram without any are whole days.
func TestDatesAreShownAsDates(t *testing.T) {
	var days []float64
	for i := range 4000 {
		days = append(days, float64(10000+i%2000))
	}
	df := learn.FromTable(must.Get(frame.NewTable(frame.Column{Name: "since", Numbers: days}))).
		WithSchema(learn.Date("since", "", "1997-05-19", "2002-11-08"))
	free := learn.Simulate(1, 0)
	for _, c := range []struct {
		q     explore.Query
		wants []string
	}{
		{explore.Mean("since"), []string{"  since  2000-0", "The mean of since is 2000-0", "between 2000-0"}},
		{explore.Sum("since"), []string{"since in days since 1970-01-01  4"}},
		{explore.QuantilesOf("since", 0.25, 0.5), []string{"  0.25  1998-1", "   0.5  2000-0", "at most 2000-0"}},
		{explore.Variance("since"), []string{"standard deviation, in days", " days from the mean"}},
		{explore.Histogram("since"), []string{"1997-05-19 to 1997-08-27", " to 2002-11-08"}},
		{explore.Histogram("since", 10000, 10000.5, 12000), []string{"1997-05-19 to 1997-05-19 12:00"}},
		{explore.Describe(), []string{"since: mean                         2000-0", "since: median"}},
	} {
		s := must.Get(c.q.Noise(learn.Seed(1)).Of(df, free))
		for _, want := range c.wants {
			if text := s.Display().Text(); !strings.Contains(text, want) {
				t.Errorf("%q is not in %s", want, text)
			}
		}
	}
	exact := must.Get(explore.Mean("since").Noise(learn.Seed(1)).Of(df, learn.Simulate(1e5, 0)))
	if text := exact.Display().Text(); !strings.Contains(text, "The mean of since is 2000-02-12 1") {
		t.Errorf("an interval of less than a day: %s", text)
	}
	lower, upper := exact.Interval()
	if !(lower < 10999.5 && 10999.5 < upper) {
		t.Errorf("%v is between %v and %v", 10999.5, lower, upper)
	}
	b := learn.NewBudget(1, 1e-6, learn.Named(t.TempDir()))
	price := must.Get(explore.Mean("since").Planned(1000).Within(df, b.Share(0.1), 0.95)).Display().Text()
	if !strings.Contains(price, " days (wherever the mean is; in the middle of its bounds ± 30.2) with 95 %") {
		t.Errorf("the price of a date: %s", price)
	}
}

// An ε by which a guarantee says next to nothing is said so wherever it is: to whom, and what he may learn.
func TestLargeEpsilonIsSaid(t *testing.T) {
	const said = "says next to nothing: who thinks it 1 in 1000 that a record was used may come to be as much as "
	b := learn.NewBudget(30, 1e-6, learn.Named(t.TempDir()))
	price := must.Get(explore.Mean("age").Planned(1000).Within(people(40), b.Share(0.9), 0.95))
	for name, text := range map[string]string{
		"an answer": must.Get(explore.Count().Of(people(40), b.Share(0.9))).Display().Text(),
		"a price":   price.Display().Text(),
		"a budget":  b.Display().Text(),
	} {
		if strings.Count(text, said) != 1 {
			t.Errorf("%s does not say once of a large ε: %s", name, text)
		}
	}
	few := must.Get(explore.Count().Of(people(40), b.Share(0.01))).Display().Text()
	if strings.Contains(few, said) {
		t.Errorf("of a small ε: %s", few)
	}
}

// The largest error that counts is written as people write such numbers.
func TestLargestErrorIsWrittenOut(t *testing.T) {
	pay := learn.FromTable(must.Get(frame.NewTable(frame.Column{Name: "pay", Numbers: []float64{12e3, 5e4, 19e4}},
		frame.Column{Name: "years", Numbers: []float64{1, 2, 3}}))).
		WithSchema(learn.Numeric("pay", 10e3, 200e3), learn.Numeric("years", 0, 50))
	m := must.Get(learn.Huber{Noise: learn.Seed(1)}.Fit(learn.Regression(pay, "pay"), learn.Simulate(1, 1e-6)))
	s := must.Get(explore.LossOf(m).Noise(learn.Seed(1)).Of(pay, learn.Simulate(1, 1e-6)))
	if text := s.Display().Text(); !strings.Contains(text, "An error of more than 95000, ") {
		t.Error(text)
	}
}
