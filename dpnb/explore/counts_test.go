package explore_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What is counted is what is there, to six standard deviations of the noise, in every way to ask and in order.
func TestCounts(t *testing.T) {
	testscale.Slow(t)
	df := people(5000) // ages 20 … 69, a hundred of each; even ones of Bern
	for name, c := range map[string]struct {
		q    explore.Query
		want []float64
	}{
		"count":                {explore.Count(), []float64{5000}},
		"by":                   {explore.Count().By("city"), []float64{2500, 2500}},
		"histogram":            {explore.Histogram("age", 10, 20, 30, 69), []float64{0, 1000, 4000}},
		"of categories":        {explore.Histogram("city"), []float64{2500, 2500}},
		"crosstab":             {explore.Crosstab("city"), []float64{2500, 2500}},
		"histogram by":         {explore.Histogram("age", 20, 23, 90).By("city"), []float64{200, 2300, 100, 2400}},
		"by both":              {explore.Crosstab("city").By("flag"), []float64{2500, 0, 0, 2500}},
		"between a few edges":  {explore.Histogram("age", 20, 21), []float64{200}}, // 21 is in: the last edge
		"20 places, of bounds": {explore.Histogram("age").By("city"), nil},
	} {
		for _, delta := range []float64{1e-6, 0} {
			b := fresh(1, delta)
			s, err := c.q.Noise(learn.Seed(1)).Of(df, b.Spend(0.5))
			if err != nil {
				t.Fatal(name, err)
			}
			var all float64
			for i, r := range s.Rows() {
				all += r.Value
				if c.want != nil &&
					!(math.Abs(r.Value-c.want[i]) <= 6*8) || !(r.Lower <= r.Value && r.Value <= r.Upper ||
					r.Value < 0) {
					t.Errorf("%s: %s is %+v, want %v", name, r.Name, r.Estimate, c.want[i])
				}
			}
			if c.want != nil && len(s.Rows()) != len(c.want) || c.want == nil && (len(s.Rows()) != 40 ||
				!(math.Abs(all-5000) <= 6*8*math.Sqrt(40))) {
				t.Errorf("%s: %d numbers, together %v", name, len(s.Rows()), all)
			}
			if got := spent(t, b); got != 0.5 {
				t.Errorf("%s: spent %v", name, got)
			}
			if _, err := s.Illustration().PNG(); err != nil {
				t.Error(name, err)
			}
			if df := s.DataFrame(); df.Err != nil || df.Nrow() != len(s.Rows()) {
				t.Error(name, df.Err)
			}
		}
	}
}

// The mean of each group is what the mean of its records is, at the price of one mean.
func TestMeanByGroup(t *testing.T) {
	b := fresh(1, 1e-6)
	s := must.Get(explore.Mean("age").By("city").Noise(learn.Seed(2)).Of(people(5000), b.Spend(0.5)))
	for i, want := range []float64{44, 45} {
		if r := s.Rows()[i]; !(math.Abs(r.Value-want) <= 0.6) || !(r.Lower < want && want < r.Upper) {
			t.Errorf("%+v, want %v", r, want)
		}
	}
	text := s.Display().Text()
	if spent(t, b) != 0.5 || !strings.Contains(text, "Mean of age by city") || !strings.Contains(text, "Rome") {
		t.Error(text)
	}
}

// The margin of all groups at once is that of each at the n-th root of the confidence.
func TestMarginOfAllGroups(t *testing.T) {
	edges := []float64{20, 30, 40, 50, 60, 70}
	margins := func(confidence float64) (one, all string) {
		s := must.Get(explore.Histogram("age", edges...).Confidence(confidence).Noise(learn.Seed(1)).Of(people(500),
			learn.Simulate(0.1, 0)))
		said := regexp.MustCompile(`it by at most (\d+);.* by more than (\d+)\.`).FindStringSubmatch(s.Display().Text())
		return said[1], said[2]
	}
	_, all := margins(0.9)
	if one, more := margins(math.Pow(0.9, 1./5)); one != all || more == all {
		t.Errorf("with 90 %% confidence none of 5 groups is moved by more than %s, and one at its fifth root by %s",
			all, one)
	}
}

// Nine intervals in ten cover, to five standard errors of 400 counts; that a tenth of them less would is seen.
func TestIntervalsOfCountsCover(t *testing.T) {
	levels := make([]string, 400)
	for i := range levels {
		levels[i] = "city " + strings.Repeat("x", i%20) + strings.Repeat("y", i/20)
	}
	df := people(5000).WithSchema(learn.Categorical("city", append(levels, "Bern", "Rome")...))
	for _, delta := range []float64{1e-6, 0} {
		s := must.Get(explore.Histogram("city").Confidence(0.9).Noise(learn.Seed(5)).Of(df, fresh(1, delta).Spend(0.3)))
		covered := 0.0
		for _, r := range s.Rows()[:400] {
			if r.Lower <= 0 && 0 <= r.Upper {
				covered++
			}
		}
		// One side is cut at 0, as no count is less: that side never misses.
		if share := covered / 400; share < 0.95-5*0.011 {
			t.Errorf("δ = %v: %.3f cover", delta, share)
		}
		margin := 0.0
		for _, r := range s.Rows()[400:] {
			margin = math.Max(margin, math.Abs(r.Value-2500)/(0.5*(r.Upper-r.Lower)))
		}
		if margin > 4 {
			t.Errorf("δ = %v: off by %.1f margins", delta, margin)
		}
	}
}

// Each side of a count's interval is as long as the law of the noise says: geometric noise to the whole number, by its
// probabilities one by one, normal noise up to the rounding to whole numbers. (Counts alone do not show what one side
// lacks: the other covers, too.)
func TestBothSidesOfCountsAreOfTheLaw(t *testing.T) {
	edges := make([]float64, 51) // of a hundred records each
	for i := range edges {
		edges[i] = float64(20 + i)
	}
	for name, a := range map[string]learn.Allowance{
		"geometric": learn.Simulate(0.05, 0), "normal": fresh(1, 1e-6).Share(0.02)} {
		s := must.Get(explore.Histogram("age", edges...).Confidence(0.9).Noise(learn.Seed(6)).Of(people(5000), a))
		w, off := 0.0, 0.0
		if mu, _, normal := privacy.GaussianMu(s.Guarantee().Profile); normal {
			w, off = distuv.UnitNormal.Quantile(0.95)/mu, 1.5
		} else {
			q := math.Exp(-0.05)
			for in := (1 - q) / (1 + q); in < 0.9; w++ {
				in += 2 * (1 - q) / (1 + q) * math.Pow(q, w+1)
			}
		}
		lower, upper := 0, 0
		for _, r := range s.Rows() {
			if r.Value > w+1 {
				if lower++; !(math.Abs(r.Value-r.Lower-w) <= off+1e-9) {
					t.Errorf("%s: %+v begins %v below, want %v", name, r.Estimate, r.Value-r.Lower, w)
				}
			}
			if upper++; !(math.Abs(r.Upper-math.Max(0, r.Value)-w) <= off+1e-9) {
				t.Errorf("%s: %+v ends %v above, want %v", name, r.Estimate, r.Upper-r.Value, w)
			}
		}
		if lower < 20 || w < 20 {
			t.Errorf("%s: only %d of %d counts are above their margin of %v", name, lower, upper, w)
		}
	}
}

// A price is enough for what it is the price of, a tenth less is not, and what is shown of it is not less than it.
func TestPricesAreEnough(t *testing.T) {
	df := people(5000)
	for name, c := range map[string]struct {
		q      explore.Query
		within float64
	}{"count": {explore.Count(), 37}, "sum": {explore.Sum("age"), 4321},
		"mean":      {explore.Mean("age").Planned(5000), 0.37},
		"quantiles": {explore.QuantilesOf("age", 0.25, 0.5).Planned(5000), 0.013}} {
		price, err := c.q.Price(df, c.within, 0.95)
		if err != nil {
			t.Fatal(name, err)
		}
		var epsilon, mu float64
		text := price.Display().Text()
		_, after, _ := strings.Cut(text, "costs ε = ")
		if _, err := fmt.Sscanf(after, "%g of a budget", &epsilon); err != nil {
			t.Fatal(text)
		}
		_, after, _ = strings.Cut(strings.Join(strings.Fields(text), " "), "it costs μ = ")
		if _, err := fmt.Sscanf(after, "%g", &mu); err != nil {
			t.Fatal(text)
		}
		for _, f := range [][2]float64{{epsilon, price.Epsilon}, {mu, price.Mu}} {
			if !(f[0] >= f[1] && f[0] <= 1.1*f[1]) {
				t.Errorf("%s: %v is shown for %v:\n%s", name, f[0], f[1], text)
			}
		}
		if name != "count" && name != "sum" {
			continue // their intervals depend on more than the noise's law
		}
		for part, enough := range map[float64]bool{1: true, 0.9: false} {
			s := must.Get(c.q.Noise(learn.Seed(1)).Of(df, learn.Simulate(part*price.Epsilon, 0)))
			if lo, hi := s.Interval(); (hi-lo <= 2*c.within) != enough {
				t.Errorf("%s: %v of the price has an interval of %v, want ± %v", name, part, hi-lo, c.within)
			}
		}
	}
}

// What is wrong with a group is said from public knowledge, before anything is spent.
func TestGroupsAreRefusedBeforeTheCharge(t *testing.T) {
	levels := make([]string, 1<<11)
	for i := range levels {
		levels[i] = "street " + strings.Repeat("a", i%50) + strings.Repeat("b", i/50)
	}
	df := people(100)
	street := df.WithSchema(learn.Numeric("age", 17, 90), learn.Categorical("city", levels...),
		learn.Categorical("flag", levels...))
	for name, c := range map[string]struct {
		df   learn.DataFrame
		q    explore.Query
		want string
	}{
		"a key that is not public":     {df, explore.Count().By("street"), `Keys("street")`},
		"a number as a group":          {df, explore.Mean("age").By("age"), "is a number"},
		"a column twice":               {df, explore.Count().By("city", "city"), "twice"},
		"a column in both":             {df, explore.Histogram("city").By("city"), "twice"},
		"nothing to cross":             {df, explore.Crosstab(), "Count()"},
		"nothing to group by":          {df, explore.Count().By(), "By() wants"},
		"edges of categories":          {df, explore.Histogram("city", 1, 2), "no edges"},
		"one edge":                     {df, explore.Histogram("age", 20), "one edge"},
		"edges that fall":              {df, explore.Histogram("age", 30, 20), "rise"},
		"no bounds and no edges":       {df, explore.Histogram("income"), "Unbounded"},
		"four million groups":          {street, explore.Count().By("city", "flag"), "at most 1048576"},
		"four million means":           {street, explore.Mean("age").By("city", "flag"), "at most 1048576"},
		"a column that the table lost": {df.Drop("city"), explore.Count().By("city"), `no column "city"`},
	} {
		b := fresh(1, 1e-6)
		s, err := c.q.Of(c.df, b.Spend(0.5))
		if err == nil || s != nil || !strings.Contains(err.Error(), c.want) || spent(t, b) != 0 {
			t.Errorf("%s: %v, %v spent", name, err, spent(t, b))
		}
	}
}

// Whether anybody has a category, a missing value or one that nobody knows makes no difference to what is shown but for
// the numbers.
func TestGroupsAreThoseOfTheSchema(t *testing.T) {
	of := func(texts ...string) []explore.Row {
		table := must.Get(frame.NewTable(frame.Column{Name: "city", Kind: frame.Categorical, Texts: texts}))
		df := learn.FromTable(table).WithSchema(learn.Categorical("city", "Bern", "Rome").OrMissing())
		s := must.Get(explore.Count().By("city").Noise(learn.Seed(1)).Of(df, learn.Simulate(20, 1e-6)))
		return s.Rows()
	}
	first := of("Bern", "", "Urk", "Rome", "Rome")
	if len(first) != 3 || first[0].Value != 1 || first[1].Value != 2 || first[2].Value != 1 {
		t.Errorf("%+v", first)
	}
	if none := of(); len(none) != 3 || none[2].Name != "(missing)" {
		t.Errorf("%+v", none)
	}
}

// With k rows a person a count has k times the noise, and says whom it is about.
func TestCountsOfPeopleWithSeveralRows(t *testing.T) {
	table := must.Get(people(600).Table())
	id := frame.Column{Name: "id"}
	for i := range table.Rows() {
		id.Numbers = append(id.Numbers, float64(i/3))
	}
	city, _ := table.Column("city")
	table = must.Get(frame.NewTable(id, *city))
	all := learn.FromTable(table).WithSchema(learn.Categorical("city", "Bern", "Rome"))
	width := map[int]float64{}
	for _, k := range []int{1, 2, 3} {
		b := fresh(1, 1e-6)
		s := must.Get(explore.Count().By("city").Noise(learn.Seed(1)).Of(all.PerPerson("id", k), b.Spend(0.5)))
		var sum float64
		for _, r := range s.Rows() {
			sum += r.Value
			width[k] = r.Upper - r.Lower
		}
		if !(math.Abs(sum-200*float64(k)) <= 6*float64(k)*12) {
			t.Errorf("k = %d: %v rows", k, sum)
		}
		who := "any one person, of whose rows one counts,"
		if k > 1 {
			who = "any one person with all of up to"
		}
		if text := s.Display().Text(); !strings.Contains(text, who) {
			t.Error(text)
		}
		if g := s.Guarantee(); privacy.DeltaUpper(g.Profile, 0.5) > g.Delta*(1+1e-9) || spent(t, b) != 0.5 {
			t.Errorf("k = %d: δ(½) = %v, stated is %v", k, privacy.DeltaUpper(g.Profile, 0.5), g.Delta)
		}
	}
	if r := width[3] / width[2]; !(math.Abs(r-1.5) <= 0.1) {
		t.Errorf("three rows have %.3f of the noise of two", r)
	}
}

// A noisy number of an empty group is no better known for being far below 0: its interval reaches as far as that of 0,
// and is never shown as 0 to 0.
func TestIntervalsOfNegativeCounts(t *testing.T) {
	var edges []float64
	for i := range 101 {
		edges = append(edges, 100+float64(i)/10)
	}
	s := must.Get(explore.Histogram("age", edges...).Noise(learn.Seed(3)).Of(people(10), learn.Simulate(0.1, 0)))
	negative, widest := 0, 0.0
	for _, r := range s.Rows() {
		if r.Value < 0 {
			negative, widest = negative+1, math.Max(widest, r.Upper)
		}
	}
	for _, r := range s.Rows() {
		if r.Value < 0 && (r.Lower != 0 || r.Upper != widest || r.Upper < 10) {
			t.Errorf("%+v, and other intervals of negative counts end at %v", r.Estimate, widest)
		}
	}
	if negative < 20 || !strings.Contains(s.Display().Text(), "its interval is that of 0") {
		t.Errorf("%d of %d are negative", negative, len(s.Rows()))
	}
}

// The bars of a column on a logarithmic scale are equal in width on the axis that is drawn: between equal factors on a
// logarithmic one, where the bounds are positive.
func TestHistogramOfLogarithmicColumn(t *testing.T) {
	for _, c := range []struct {
		lower, upper float64
		names        [2]string // of the first place and the last
	}{
		{1e3, 1e6, [2]string{"1000 to 1412.54", "707946 to 1e+06"}},
		{0, 100, [2]string{"0 to 5", "95 to 100"}},
	} {
		table := must.Get(frame.NewTable(frame.Column{Name: "pay", Numbers: []float64{1200, 5e4, 9e5}}))
		df := learn.FromTable(table).WithSchema(learn.Log("pay", c.lower, c.upper))
		s := must.Get(explore.Histogram("pay").Noise(learn.Seed(1)).Of(df, fresh(1, 0).Spend(1)))
		if rows := s.Rows(); rows[0].Name != c.names[0] || rows[len(rows)-1].Name != c.names[1] {
			t.Errorf("from %v: %s, …, %s", c.lower, rows[0].Name, rows[len(rows)-1].Name)
		}
		if _, err := s.Illustration().PNG(); err != nil {
			t.Error(err)
		}
	}
}

// A price in shares of a budget, and what a share buys, are each other's inverse: the share that a precision costs buys
// it, and a tenth less does not. What cannot be bought is refused.
func TestPricesInShares(t *testing.T) {
	df := people(5000)
	for name, q := range map[string]explore.Query{"count": explore.Count(), "sum": explore.Sum("age"),
		"mean": explore.Mean("age").Planned(5000), "groups": explore.Mean("age").By("city").Planned(800)} {
		for _, delta := range []float64{0, 1e-6} {
			b := learn.NewBudget(1, delta, learn.Named(t.TempDir()))
			bought, err := q.Within(df, b.Share(0.05), 0.95)
			if err != nil {
				t.Fatal(name, err)
			}
			price, err := q.Price(df, bought.Within, 0.95)
			if err != nil {
				t.Fatal(name, err)
			}
			share, err := b.ShareOf(price.Epsilon, price.Mu)
			if err != nil || !(share > 0.049 && share < 0.051) {
				t.Errorf("%s, δ = %g: ± %g costs %g of the budget, which a twentieth buys (%v)", name, delta,
					bought.Within, share, err)
			}
			for part, enough := range map[float64]bool{1: true, 0.9: false} {
				again, err := q.Within(df, b.Share(part*share), 0.95)
				if err != nil || again.Within <= bought.Within*(1+1e-4) != enough {
					t.Errorf("%s, δ = %g: %v of the share buys ± %g, want ± %g (%v)", name, delta, part, again.Within,
						bought.Within, err)
				}
			}
			text, shown := price.In(b).Display().Text(), 0.0 // is enough, and of three digits
			if _, tail, ok := strings.Cut(text, "a share of "); ok {
				fmt.Sscan(strings.Fields(tail)[0], &shown)
			}
			if shown < share || shown > 1.01*share {
				t.Errorf("%s: the share is %v: %s", name, share, text)
			}
			if text := bought.Display().Text(); !strings.Contains(text, "This buys the ") {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
	b := learn.NewBudget(0.01, 0, learn.Named(t.TempDir()))
	if _, err := b.ShareOf(0.02, 0.02); err == nil || !strings.Contains(err.Error(), "2") {
		t.Errorf("twice the budget: %v", err)
	}
	if _, err := explore.Count().Within(df, learn.Simulate(1, 0), 0.95); err == nil {
		t.Error("a simulation has a price")
	}
}
