package explore_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// people is a table of two columns, with what is publicly known of them.
func people(rows int) learn.DataFrame {
	ages, cities := make([]float64, rows), make([]string, rows)
	for i := range rows {
		ages[i], cities[i] = float64(20+i%50), []string{"Bern", "Rome"}[i%2]
	}
	t, err := frame.NewTable(frame.Column{Name: "age", Numbers: ages},
		frame.Column{Name: "city", Kind: frame.Categorical, Texts: cities},
		frame.Column{Name: "flag", Kind: frame.Categorical, Texts: cities})
	if err != nil {
		panic(err)
	}
	return learn.FromTable(t).WithSchema(learn.Numeric("age", 17, 90), learn.Categorical("city", "Bern", "Rome"),
		learn.Categorical("flag", "Bern", "Rome"),
		learn.Numeric("weight", 30, 200), learn.Numeric("income", 0, 1).Unbounded())
}

var budgets int

// fresh returns a budget of its own.
func fresh(epsilon, delta float64) *learn.Budget {
	budgets++
	return learn.NewBudget(epsilon, delta, learn.Named(fmt.Sprint("explore", budgets)))
}

func spent(t *testing.T, b *learn.Budget) float64 {
	t.Helper()
	s := must.Get(b.State())
	return s.SpentEpsilon
}

func TestMean(t *testing.T) {
	for _, delta := range []float64{1e-6, 0} {
		b := fresh(1, delta)
		s := must.Get(explore.Mean("age").Noise(learn.Seed(1)).Of(people(5000), b.Spend(0.5)))
		lo, hi := s.Interval()
		if !(math.Abs(s.Value()-44.5) <= 0.5) || !(lo < 44.5 && 44.5 < hi && hi-lo < 1) {
			t.Errorf("the mean is %v in [%v, %v]", s.Value(), lo, hi)
		}
		if got := spent(t, b); got != 0.5 {
			t.Errorf("spent %v", got)
		}
		text := s.Display().Text()
		if !strings.Contains(text, "add/remove-one") || !strings.Contains(text, "SIMULATION") {
			t.Error(text)
		}
		if df := s.DataFrame(); df.Err != nil || df.Nrow() != 1 {
			t.Error(df.Err)
		}
		if _, err := s.Illustration().PNG(); err != nil {
			t.Error(err)
		}
		bars := must.Get(explore.Histogram("age").Noise(learn.Seed(1)).Of(people(500), b.Spend(0.2)))
		for _, f := range []*figure.Figure{s.Illustration(), bars.Illustration()} {
			if !strings.HasPrefix(f.Words(), "SIMULATION") {
				t.Errorf("a figure says %q", f.Words())
			}
		}
	}
}

// What is wrong is said before anything is spent, whatever is in the records.
func TestErrorsComeBeforeTheCharge(t *testing.T) {
	for name, c := range map[string]struct {
		q    explore.Query
		want string
	}{
		"a column that is nowhere":      {explore.Mean("height"), "not in the schema"},
		"a column that the table lacks": {explore.Mean("weight"), `no column "weight"`},
		"a column of categories":        {explore.Mean("city"), "categories"},
		"a column without bounds":       {explore.Mean("income"), "Unbounded"},
		"a quantile outside":            {explore.QuantilesOf("age", 0.5, 1), "(0, 1)"},
		"quantiles that fall":           {explore.QuantilesOf("age", 0.5, 0.4), "rising"},
		"no quantile":                   {explore.QuantilesOf("age"), "at least one level"},
		"a quantile of categories":      {explore.MedianOf("city"), "categories"},
		"a sum without bounds":          {explore.Sum("income"), "Unbounded"},
		"a confidence that is none":     {explore.Mean("age").Confidence(95), "between 0 and 1"},
		"a confidence of nothing":       {explore.Mean("age").Confidence(0), "between 0 and 1"},
		"a confidence of certainty":     {explore.Mean("age").Confidence(1), "between 0 and 1"},
		"no query":                      {explore.Query{}, "empty query"},
	} {
		for _, rows := range []int{0, 1, 100} {
			b := fresh(1, 1e-6)
			s, err := c.q.Of(people(rows), b.Spend(0.5))
			if err == nil || s != nil || !strings.Contains(err.Error(), c.want) || spent(t, b) != 0 {
				t.Errorf("%s: %v, %v spent", name, err, spent(t, b))
			}
		}
	}
	if _, err := explore.Mean("age").Of(people(10), fresh(1, 1e-6).Spend(2)); err == nil {
		t.Error("a budget was overspent")
	}
}

// broken is a table that cannot be read to its end.
type broken struct {
	*frame.Table
	scans *int
}

func (b broken) Scan(columns []string, f func(*frame.Table) error) error {
	*b.scans++
	return errors.Join(b.Table.Scan(columns, f), errors.New("line 7 is cut short"))
}

// A table that cannot be read costs nothing, and none is read that the budget does not pay for.
func TestReadingComesBeforeTheCharge(t *testing.T) {
	known := people(500).Drop("flag").WithSchema(learn.Numeric("age", 17, 90),
		learn.Categorical("city", "Bern", "Rome"))
	fitted := must.Get(learn.Logistic{}.Fit(learn.Binary(known, "city", learn.Lines()), fresh(9, 1e-6).Spend(9)))
	for name, q := range map[string]explore.Query{"count": explore.Count(), "means": explore.Mean("age").By("city"),
		"summary": explore.Describe(), "keys": explore.Keys("city"), "a model": explore.LossOf(fitted),
		"an AUC": explore.AUCOf(fitted)} {
		scans := 0
		df := learn.FromScanner(broken{must.Get(known.Table()), &scans}, nil).WithSchema(
			learn.Numeric("age", 17, 90), learn.Categorical("city", "Bern", "Rome"))
		b := fresh(1, 1e-6)
		if s, err := q.Of(df, b.Share(0.3)); s != nil || err == nil || !strings.Contains(err.Error(), "cut short") ||
			spent(t, b) != 0 || scans != 1 {
			t.Errorf("%s: %v, %v spent after %d scans", name, err, spent(t, b), scans)
		}
		must.Get(q.Of(known, b.Share(0.6)))
		if _, err := q.Of(df, b.Share(0.5)); err == nil || scans != 1 {
			t.Errorf("%s: %d scans for more than there is: %v", name, scans, err)
		}
	}
}

func TestQuantilesAndSums(t *testing.T) {
	df, src := people(20_000), learn.Seed(2)
	q := must.Get(explore.QuantilesOf("age", 0.25, 0.5, 0.75).Noise(src).Of(df, fresh(1, 1e-6).Spend(0.5)))
	for i, want := range []float64{32, 44, 57} {
		if r := q.Rows()[i]; !(math.Abs(r.Value-want) <= 1.1) || !(r.Lower-1 <= want && want <= r.Upper+1) {
			t.Errorf("%+v, want about %v", r, want)
		}
	}
	total, err := explore.Sum("age").Noise(src).Of(df, fresh(1, 1e-6).Spend(0.5))
	if err != nil || !(math.Abs(total.Value()-20_000*44.5) <= 3000) {
		t.Errorf("the sum is %v, %v", total.Value(), err)
	}
}

// A price is enough for the precision that it was asked for, and four fifths of it are not.
func TestPrices(t *testing.T) {
	df := people(5000)
	for name, c := range map[string]struct {
		q      explore.Query
		within float64
	}{
		"mean": {explore.Mean("age"), 0.5}, "sum": {explore.Sum("age"), 5000},
	} {
		p, err := c.q.Planned(5000).Price(df, c.within, 0.9)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, share := range []float64{1, 0.8} {
			s, err := c.q.Confidence(0.9).Noise(learn.Seed(3)).Of(df, learn.Simulate(share*p.Epsilon, 0))
			if err != nil {
				t.Fatal(name, err)
			}
			lo, hi := s.Interval()
			// Of a mean that is not at a bound the price is for a wider one.
			if (share == 1) != (hi-lo <= 2*c.within*1.02) && !(name == "mean" && share < 1) {
				t.Errorf("%s: at %g of the price the interval is ± %g, want %g", name, share, (hi-lo)/2, c.within)
			}
		}
	}
	p, err := explore.MedianOf("age").Planned(5000).Price(df, 0.01, 0.95)
	if err != nil || !(p.Epsilon > 0.01 && p.Epsilon < 1 && p.Mu > 0 && p.Mu < p.Epsilon) {
		t.Errorf("%+v, %v", p, err)
	}
	if text := p.Display().Text(); !strings.Contains(text, "median of age to within ± 0.01 of the records (± 0.5") {
		t.Error(text)
	}
	if _, err := explore.MedianOf("age").Planned(5000).Price(df, 0.5, 0.95); err == nil {
		t.Error("all of the range has a price")
	}
	few := explore.QuantilesOf("age", 0.25, 0.5, 0.75).Planned(100)
	price := must.Get(few.Within(people(100), fresh(1, 1e-6).Spend(0.02), 0.95))
	s := must.Get(few.Noise(learn.Seed(1)).Of(people(100), fresh(1, 1e-6).Spend(0.02)))
	if text := s.Display().Text(); price.Within < 0.45 || !strings.Contains(text, "This share buys nothing: with") {
		t.Errorf("± %v is promised, and the answer says %s", price.Within, text)
	}
	for name, q := range map[string]explore.Query{"no plan": explore.Mean("age"), "nothing": {}} {
		if _, err := q.Price(df, 1, 0.9); err == nil {
			t.Errorf("%s has a price", name)
		}
	}
	for _, within := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := explore.Mean("age").Planned(100).Price(df, within, 0.9); err == nil {
			t.Errorf("± %v has a price", within)
		}
	}
}

// Wherever the values of a column are, its variance is known at least as well as its price says, and hardly better
// where all are at a bound; where they are spread evenly it is known as well as is said of these.
func TestPricesOfVariances(t *testing.T) {
	const n = 5000
	for name, c := range map[string]struct {
		value     func(i int) float64
		from, far float64 // half the width of the interval, in parts of the price
	}{
		"at the upper bound":  {func(int) float64 { return 90 }, 0.9, 1.1},
		"at the lower bound":  {func(int) float64 { return 17 }, 0.9, 1.1},
		"mostly at the lower": {func(i int) float64 { return 17 + 50*float64(max(0, i%10-8)) }, 0.6, 1.05},
		"evenly":              {func(i int) float64 { return 17 + 73*(float64(i)+0.5)/n }, 0.2, 0.22},
	} {
		ages := make([]float64, n)
		for i := range ages {
			ages[i] = c.value(i)
		}
		df := learn.FromTable(must.Get(frame.NewTable(frame.Column{Name: "age", Numbers: ages}))).WithSchema(
			learn.Numeric("age", 17, 90))
		q, b := explore.Variance("age").Planned(n), fresh(1, 1e-6)
		p := must.Get(q.Within(df, b.Share(0.2), 0.95))
		var halves []float64
		for seed := range 20 {
			s := must.Get(q.Noise(learn.Seed(uint64(seed))).Of(df, b.Share(0.2).Simulated()))
			r := s.Rows()[0]
			halves = append(halves, math.Max(r.Upper-r.Value, r.Value-r.Lower)/p.Within)
		}
		slices.Sort(halves)
		if median := halves[10]; !(median >= c.from && median <= c.far) {
			t.Errorf("%s: %v of the price, want %v to %v", name, median, c.from, c.far)
		}
	}
	if p, err := explore.Variance("age").Price(people(9), 5, 0.95); err == nil {
		t.Errorf("a price without a number of records: %v", p)
	}
}

// An interval that is all that is possible is said to be, and no number of which nothing is known is given as one.
func TestWhatBuysNothingIsSaid(t *testing.T) {
	df := people(400).Drop("flag").WithSchema(learn.Numeric("age", 17, 90), learn.Categorical("city", "Bern", "Rome"))
	two := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(learn.Binary(df, "city", learn.Lines()),
		learn.Simulate(5, 1e-6)))
	line := must.Get(learn.Linear{Noise: learn.Seed(1)}.Fit(learn.Regression(df, "age"), learn.Simulate(5, 1e-6)))
	for name, q := range map[string]explore.Query{"mean": explore.Mean("age"), "variance": explore.Variance("age"),
		"quantiles": explore.QuantilesOf("age", 0.2, 0.5), "summary": explore.Describe(),
		"means": explore.Mean("age").By("city"), "error": explore.LossOf(two), "AUC": explore.AUCOf(two),
		"confusion": explore.ConfusionOf(two), "error of numbers": explore.LossOf(line)} {
		for _, epsilon := range []float64{1e-4, 50} {
			s := must.Get(q.Noise(learn.Seed(4)).Of(df, learn.Simulate(epsilon, 0)))
			text := s.Display().Text()
			nothing := strings.Contains(text, "his share buys nothing")
			if nothing != (epsilon < 1) && name != "confusion" ||
				strings.Contains(text, "is –") {
				t.Errorf("%s at ε = %v: %s", name, epsilon, text)
			}
		}
	}
}

// A price of a share that buys no more than is known without looking says so, by public numbers; one that buys some
// does not, nor does one of what has no bounds.
func TestAPriceOfNothingIsSaid(t *testing.T) {
	df := people(400).Drop("flag").WithSchema(learn.Numeric("age", 17, 90), learn.Categorical("city", "Bern", "Rome"))
	two := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(learn.Binary(df, "city"), learn.Simulate(1, 1e-6)))
	for name, q := range map[string]explore.Query{"AUC": explore.AUCOf(two), "error": explore.LossOf(two),
		"confusion": explore.ConfusionOf(two), "calibration": explore.CalibrationOf(two), "mean": explore.Mean("age"),
		"by": explore.Mean("age").By("city"), "median": explore.MedianOf("age"), "count": explore.Count(),
		"sum": explore.Sum("age"), "variance": explore.Variance("age")} {
		q = q.Noise(learn.Seed(1))
		unbounded := name == "count" || name == "sum" || name == "variance"
		for records, nothing := range map[int]bool{20: !unbounded, 1_000_000: false} {
			price := must.Get(q.Planned(records).Within(df, fresh(1, 1e-6).Share(0.001), 0.95))
			if text := price.Display().Text(); strings.HasPrefix(text, "This share buys nothing: ± ") != nothing ||
				strings.HasPrefix(text, "This buys ") == nothing {
				t.Errorf("%s of %d: %s", name, records, text)
			}
		}
	}
}

func TestVariancesCorrelationsAndSummaries(t *testing.T) {
	testscale.Slow(t)
	rows := 20_000
	ages, hours := make([]float64, rows), make([]float64, rows)
	for i := range rows {
		ages[i] = 20 + 60*float64(i%1000)/1000
		hours[i] = 100 - ages[i] + 10*float64(i%7)/7
	}
	table := must.Get(frame.NewTable(frame.Column{Name: "age", Numbers: ages}, frame.Column{Name: "hours",
		Numbers: hours}))
	df := learn.FromTable(table).WithSchema(learn.Numeric("age", 17, 90), learn.Numeric("hours", 0, 100))
	for name, c := range map[string]struct {
		q     explore.Query
		wants []float64
		near  float64
	}{
		"variance":     {explore.Variance("age"), []float64{300, math.Sqrt(300)}, 6},
		"correlations": {explore.Correlations("age", "hours"), []float64{-0.986}, 0.03},
		"summary": {explore.Describe(), []float64{20_000, 50, math.Sqrt(300), 35, 50, 65, 54.3, 17.6, 39.4, 54.3, 69},
			12},
	} {
		for _, a := range []learn.Allowance{learn.Simulate(2, 1e-6), fresh(3, 1e-6).Spend(2),
			fresh(8, 1e-6).Share(0.9)} {
			s, err := c.q.Noise(learn.Seed(9)).Of(df, a)
			if err != nil {
				t.Fatal(name, err)
			}
			if len(s.Rows()) != len(c.wants) {
				t.Fatalf("%s: %+v", name, s.Rows())
			}
			for i, r := range s.Rows() {
				far := math.Abs(r.Value-c.wants[i]) > c.near+0.003*c.wants[i]
				if far || !(r.Lower <= r.Value && r.Value <= r.Upper) {
					t.Errorf("%s: %+v, want about %v", name, r, c.wants[i])
				}
			}
			if _, err := s.Illustration().PNG(); err != nil {
				t.Error(name, err)
			}
			if text := s.Display().Text(); name == "correlations" && !strings.Contains(text, "of age, hours;") {
				t.Errorf("the strongest correlation, which is negative, is not said: %s", text)
			}
		}
		if p, err := c.q.Planned(rows).Price(df, 0.2, 0.9); err != nil || !(p.Epsilon > 0 && p.Mu > 0) {
			if name != "variance" {
				t.Errorf("%s: %+v, %v", name, p, err)
			}
		}
		if _, err := c.q.ForPopulation().Of(df, fresh(1, 0).Spend(1)); err == nil {
			t.Errorf("%s is of a population", name)
		}
	}
	if _, err := explore.Correlations("age").Of(df, fresh(1, 0).Spend(1)); err == nil {
		t.Error("one column is correlated")
	}
	// From −1 to 1 is all that a correlation can be, and what is assumed of the guarantee stands below.
	s := must.Get(explore.Correlations("age", "hours").Noise(learn.Seed(1)).Of(df, learn.Simulate(1e-6, 0)))
	text, assumed := s.Display().Text(), s.Guarantee().Assumptions
	for _, want := range append([]string{"buys nothing", "between -1 and 1", "Assumes: "}, assumed...) {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) || len(assumed) == 0 {
			t.Errorf("it does not say %q: %s", want, text)
		}
	}
}

// Every answer of numbers says what a missing one counts as, that number is the one that is computed with, and the
// words do not depend on whether any is missing.
func TestWhatMissingNumbersCountAsIsSaid(t *testing.T) {
	table := func(missing float64) learn.DataFrame {
		columns := []frame.Column{{Name: "city", Kind: frame.Categorical}}
		for _, name := range []string{"age", "pay", "gain", "wide"} {
			c := frame.Column{Name: name}
			for range 1000 {
				c.Numbers = append(c.Numbers, missing)
			}
			columns = append(columns, c)
		}
		for range 1000 {
			columns[0].Texts = append(columns[0].Texts, "Bern")
		}
		all := must.Get(frame.NewTable(columns...))
		return learn.FromTable(all).WithSchema(learn.Numeric("age", 17, 90), learn.Numeric("pay", 0, 9).OrMissingAs(7),
			learn.Log("gain", 0, 99), learn.Numeric("wide", 0, 4).Unbounded(), learn.Categorical("city", "Bern"))
	}
	const age, pay = "A missing age, or one that is not a number, counts as 53.5: the middle", "counts as 7: so says"
	const gain, wide = "counts as 9: the middle of its bounds on the logarithmic", "counts as 2: the middle of where"
	for name, c := range map[string]struct {
		q    explore.Query
		want []string
		// first is the answer's first number where all values are missing.
		first float64
	}{
		"mean":         {explore.Mean("age"), []string{age}, 53.5},
		"pay":          {explore.Mean("pay"), []string{pay}, 7},
		"by":           {explore.Mean("pay").By("city"), []string{pay}, 7},
		"sum":          {explore.Sum("pay"), []string{pay}, 7000},
		"variance":     {explore.Variance("age"), []string{age}, 0},
		"median":       {explore.MedianOf("gain"), []string{gain}, 9},
		"bars":         {explore.Histogram("age", 53, 54), []string{age}, 1000},
		"open bars":    {explore.Histogram("wide", 1.9, 2.1), []string{wide}, 1000},
		"correlations": {explore.Correlations("age", "pay"), []string{age, pay}, 0},
		"summary":      {explore.Describe(), []string{age, pay, gain}, 1000},
		"cities":       {explore.Histogram("city"), nil, 1000},
		"count":        {explore.Count(), nil, 1000},
	} {
		words := ""
		for _, value := range []float64{math.NaN(), 5} {
			s, err := c.q.Noise(learn.Seed(1)).Of(table(value), fresh(1000, 1e-6).Spend(900))
			if err != nil {
				t.Fatal(name, err)
			}
			if math.IsNaN(value) && !(math.Abs(s.Value()-c.first) <= 0.01*(1+math.Abs(c.first))) {
				t.Errorf("%s: %v, want %v", name, s.Value(), c.first)
			}
			var said []string
			for _, n := range s.Display().Notes {
				if strings.Contains(n, "issing") {
					said = append(said, n)
				}
			}
			if len(said) != len(c.want)+min(1, len(c.want)) {
				t.Fatalf("%s: %q, want %q", name, said, c.want)
			}
			for i, w := range c.want {
				if !strings.Contains(said[i], w) {
					t.Errorf("%s: %q, want %q", name, said[i], w)
				}
			}
			if text := fmt.Sprint(said); words == "" {
				words = text
			} else if text != words {
				t.Errorf("%s: %q, without missing ones %q", name, words, text)
			}
		}
	}
}

// An answer whose δ is large says so, as a model does.
func TestAnswersOfALargeDelta(t *testing.T) {
	for _, delta := range []float64{1e-6, 0.5} {
		s := must.Get(explore.Mean("age").Of(people(500), fresh(1, delta).Spend(1)))
		if w := s.Display().Warning; strings.Contains(w, "is large") != (delta == 0.5) {
			t.Errorf("δ = %v: %q", delta, w)
		}
	}
}
