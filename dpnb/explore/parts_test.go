package explore

import (
	"cmp"
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

// An AUC is the share of pairs in order, ties halved, and its interval ends where the noise of the weighted pairs does,
// half of the tied ones further out, all by definition.
func TestAUCByDefinition(t *testing.T) {
	const s, z = 1.5, 1.6448536269514722 // of 90 %
	// over is K: 1 for a positive above a negative, ½ for a tie.
	over := func(negative, positive int) float64 { return 0.5 + 0.5*float64(cmp.Compare(positive, negative)) }
	for _, c := range []struct{ negative, positive []float64 }{
		{[]float64{90, 50, 20, 3}, []float64{8, 20, 60, 70}}, {[]float64{20, 0, 31}, []float64{14, 25, 40}},
		{[]float64{400, 2}, []float64{3, 500}}, {[]float64{0.3, 0.2}, []float64{3, 500}},
		{[]float64{300, 200}, []float64{0.1, 0.5}},
	} {
		var N, P, ordered, tied float64
		for b, n := range c.negative {
			N, P = N+n, P+c.positive[b]
			for k, p := range c.positive {
				if ordered += n * p * over(b, k); k == b {
					tied += 0.5 * n * p
				}
			}
		}
		// beyond is how far the sum is from that of an AUC a, in widths of the noise.
		beyond := func(a float64) float64 {
			square := 0.0
			for b := range c.negative {
				var above, below float64
				for k := range c.negative {
					above += c.positive[k] * (over(b, k) - a)
					below += c.negative[k] * (over(k, b) - a)
				}
				square += above*above + below*below
			}
			return math.Abs(ordered-a*N*P) / (z * s * math.Sqrt(square))
		}
		e := noiseOf{deviation: s}.auc(c.negative, c.positive, 0.9)
		half := tied / (N * P)
		if !(math.Abs(e.Value-ordered/(N*P)) <= 1e-12) {
			t.Errorf("%v: %+v, want %v", c, e, ordered/(N*P))
		}
		for _, end := range []float64{e.Lower + half, e.Upper - half} {
			if by := beyond(end); !(math.Abs(by-1) <= 1e-6) && e.Lower > 0 && e.Upper < 1 {
				t.Errorf("%v: an end of %+v is %v widths off", c, e, by)
			}
		}
	}
	for _, c := range [][2][]float64{{{0, 0}, {3, 4}}, {{3, 4}, {0, 0}}, {{3, 4}, {-3, 2}}} {
		if e := (noiseOf{deviation: s}).auc(c[0], c[1], 0.9); e.Value != 0.5 || e.Lower != 0 || e.Upper != 1 {
			t.Errorf("of a class without records: %+v", e)
		}
	}
}

// What is promised of shares is half the width of the widest interval that any share can have.
func TestPrecisionOfOutcomes(t *testing.T) {
	m := statistic.Histogram{Of: statistic.Cells{{Levels: 9}}, Scale: 3}
	n, places := noiseIn(m), float64(len(probabilityEdges)-1)
	for _, c := range []struct {
		of               kind
		cells, others    float64
		records, counted float64
	}{{confusion, 3, 6, 500, 500}, {calibrating, 1, 1, 500, 500 / places}} {
		p, worst := outcomesPlan{of: c.of, classes: []string{"a", "b", "c"}}, 0.0
		for a := 0.0; a <= 1; a += 1. / 64 {
			worst = math.Max(worst, n.within(0.9, 1-a, c.cells, a, c.others)/c.counted)
		}
		if got, _ := p.precision(m, c.records, settings{confidence: 0.9}); !(math.Abs(got/worst-1) <= 1e-9) {
			t.Errorf("%v: ± %v, want %v", c.of, got, worst)
		}
		if got, _ := p.precision(m, 0, settings{confidence: 0.9}); !math.IsInf(got, 1) {
			t.Errorf("%v of no records: ± %v", c.of, got)
		}
	}
}

// A model of the other class is calibrated at the same places.
func TestPlacesOfProbabilities(t *testing.T) {
	last := len(probabilityEdges) - 1
	for i, p := range probabilityEdges {
		if !(math.Abs(p+probabilityEdges[last-i]-1) <= 1e-15) || i > 0 && p <= probabilityEdges[i-1] ||
			i == 0 && p != 0 {
			t.Errorf("%v is an edge, and %v is", p, probabilityEdges[last-i])
		}
	}
}

// Numbers have two digits of their interval; whole ones with a whole interval none after the point.
func TestDigitsOfEstimates(t *testing.T) {
	for want, e := range map[string]statistic.Estimate{"12": {Value: 12, Lower: 3, Upper: 20}, "12.0": {Value: 12,
		Lower: 3.5, Upper: 20}, "12.3": {Value: 12.34, Lower: 3, Upper: 20}, "0.123": {Value: 0.1234, Lower: 0.1,
		Upper: 0.2}, "0.12": {Value: 0.1234, Lower: -0.4, Upper: 0.6}, "2.500": {Value: 2.5, Lower: 2.5, Upper: 2.5},
		"123": {Value: 123.4, Lower: 20, Upper: 300}} {
		if got := (Row{Estimate: e}).figures(); got != want {
			t.Errorf("%+v: %s, want %s", e, got, want)
		}
	}
}

// Nothing is known of a number whose interval has all that is possible, but for rounding, in whatever unit it is; how
// large it can be is the bound that is further from 0.
func TestAllThatIsPossible(t *testing.T) {
	for _, unit := range []float64{1e-6, 1, 1e6} {
		for _, b := range [][2]float64{{0, 3}, {-7, 1}, {-2, -1}} {
			lower, upper, most := b[0]*unit, b[1]*unit, math.Max(math.Abs(b[0]), math.Abs(b[1]))*unit
			part := (upper - lower) / 1e13
			for _, c := range []struct {
				lower, upper float64
				unknown      bool
			}{{lower, upper, true}, {lower + part, upper, true}, {lower, upper - part, true},
				{lower - unit, upper, true}, {lower + 1e3*part, upper, false}, {lower, upper - 1e3*part, false}} {
				e := statistic.Estimate{Value: upper, Lower: c.lower, Upper: c.upper}
				r := Row{Estimate: e}.within(lower, upper)
				if r.unknown != c.unknown || r.most != most {
					t.Errorf("[%g, %g] of [%g, %g]: %v, at most %g", c.lower, c.upper, lower, upper, r.unknown, r.most)
				}
			}
		}
	}
}

// A date has its time where the interval is shorter than two days, and has not where that is of whole days; the ends
// are moved outwards.
func TestTimesOfDates(t *testing.T) {
	for _, c := range []struct {
		lower, value, upper float64
		want                [3]string
	}{
		{0.25, 1.3, 2.1875, [3]string{"1970-01-01 06:00", "1970-01-02 07:12", "1970-01-03 04:30"}},
		{0.25, 1.3, 2.25, [3]string{"1970-01-01", "1970-01-02", "1970-01-04"}},
		{-0.5, 1, 2, [3]string{"1969-12-31", "1970-01-02", "1970-01-03"}},
		{0, 1, 1, [3]string{"1970-01-01", "1970-01-02", "1970-01-02"}},
		{0.5, 0.5, 0.50001, [3]string{"1970-01-01 12:00", "1970-01-01 12:00", "1970-01-01 12:01"}},
	} {
		r := Row{Estimate: statistic.Estimate{Value: c.value, Lower: c.lower, Upper: c.upper}, days: true}
		lower, upper := r.bounds()
		if got := [3]string{lower, r.figures(), upper}; got != c.want {
			t.Errorf("%+v: %q, want %q", r.Estimate, got, c.want)
		}
	}
}

// As many cells as there may be are no reason; what else is wrong with them is.
func TestWhyCellsAreRefused(t *testing.T) {
	falling := statistic.Axis{Edges: []float64{0, 2, 1}}
	for levels, want := range map[int]string{statistic.MostCells / 2: "that rise",
		statistic.MostCells: "2097152 groups"} {
		if err := tooMany(statistic.Cells{{Levels: levels}, falling}, "a × b"); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
	if err := tooMany(statistic.Cells{{Levels: statistic.MostCells}}, "a"); err != nil {
		t.Error(err)
	}
}

// A figure has no dot for a value that the table does not show.
func TestUnknownValuesHaveNoDots(t *testing.T) {
	one := func(unknown bool) string {
		value := statistic.Estimate{Value: 1, Lower: 0, Upper: 2}
		s := &Statistic{title: "Means", rows: []Row{{Name: "a", Estimate: value, unknown: unknown}}}
		return s.Illustration().Words()
	}
	if known, not := one(false), one(true); !strings.Contains(known, "a 1 (0 to 2)") ||
		!strings.Contains(not, "a unknown (0 to 2)") {
		t.Errorf("%q and %q", known, not)
	}
}

// All that is possible of what is asked is to within half of its range: what is known without an answer.
func TestHalfOfAllThatIsPossible(t *testing.T) {
	mean := onePlan{what: "mean", number: statistic.Number{Lower: -1, Upper: 5}}
	sum := mean
	sum.what = "sum"
	for k, c := range []struct {
		of   plan
		want float64
	}{{mean, 3}, {groupsPlan{plan: mean}, 3}, {lossPlan{onePlan: mean}, 3}, {sum, math.Inf(1)},
		{momentsPlan{}, math.Inf(1)}, {momentsPlan{of: statistic.Moments{Products: true}}, 1}, {quantilesPlan{}, 0.5},
		{describePlan{}, 0.5}, {outcomesPlan{}, 0.5}, {countsPlan{}, math.Inf(1)}} {
		if got := wholeOf(c.of); got != c.want {
			t.Errorf("%d, %T: half of all is %v, want %v", k, c.of, got, c.want)
		}
	}
}
