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
	for _, c := range []struct {
		df      learn.DataFrame
		middles []float64
	}{{pay.WithSchema(learn.Numeric("pay", 0, 1e6)), []float64{500.5, 5.05e4, 5.5e5}},
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

// How precise an allowance is cannot be said of what needs a number of records without one, nor of none at all.
func TestWithinNeedsAPlan(t *testing.T) {
	b := learn.NewBudget(1, 1e-6, learn.Named(t.Name()))
	for _, q := range []explore.Query{explore.Mean("age"), explore.MedianOf("age"),
		explore.Mean("age").By("city")} {
		if p, err := q.Within(people(40), b.Share(0.1), 0.95); err == nil || !strings.Contains(err.Error(), "Planned") {
			t.Errorf("%+v, %v", p, err)
		}
	}
}
