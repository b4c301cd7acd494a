package rkw23

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// T = 60·⌈n/256⌉ steps tell at the border of a batch whether a record is there.
func TestRKW23StepsFromPrivateN(t *testing.T) {
	steps := func(n float64) float64 { return 60 * math.Ceil(n/256) }
	few, many := steps(1536), steps(1537)
	// Where no record has anything, T plain steps leave N(0, T·c²) in each of k coordinates, c the same for both. With
	// X the sum of squares over c² the log-ratio of the densities is (k/2)log(T′/T) − X(1/T − 1/T′)/2.
	const k, eps = 2000.0, 8.0
	edge := 2 * (k/2*math.Log(many/few) - eps) / (1/few - 1/many)
	law := func(steps float64) float64 { return mathext.GammaIncReg(k/2, edge/(2*steps)) }
	delta := law(few) - math.Exp(eps)*law(many)
	if !(few == 360 && many == 420 && delta > 0.1) {
		t.Errorf("%g and %g steps: δ(%g) ≥ %.4g", few, many, eps, delta)
	}
	errata.Quote(t, "rkw23-43", "%.2f", delta)
	// A planning number gives both the same T, and nothing to tell.
	errata.Within(t, "the same number", law(few)-law(few), 0, 0)
}

// The best score on the test set is no estimate of the accuracy.
func TestRKW23BestOnTheTestSet(t *testing.T) {
	// Ten models of the same accuracy p that err independently on m records.
	const p, models = 0.7, 10
	best := func(m float64) float64 {
		law := distuv.Binomial{N: m, P: p}
		var mean float64
		for k := range int(m) {
			mean += 1 - math.Pow(law.CDF(float64(k)), models)
		}
		return mean / m
	}
	few, many := best(400), best(10_000)
	if !(few > p+0.02 && many > p+0.005 && many < few) {
		t.Errorf("the best of %d has %.4f on 400 records, %.4f on 10,000", models, few, many)
	}
	errata.Quotes(t, "rkw23-44", "%.3f", few, many)
}

// Honest DP-SGD as it is described is more accurate than what Tables 1 and 2 print of it.
func TestRKW23HonestColumns(t *testing.T) {
	defer measure.Fatal(t)
	record := measure.Must(recordedTables())
	for _, p := range Table2 {
		off, text := column(repeats(record, p.Set, p.Mechanism, p.Epsilon), p)
		if worse := p.Mechanism == honest && (p.Set == adultSet || p.Epsilon < 8); worse != (off > 4) {
			t.Errorf("%s, %s: %s", p.Set, p.Mechanism, text)
		}
		if p.Mechanism != honest {
			continue
		}
		mean := measure.Must(recordedInstead(p))
		errata.Quote(t, "rkw23-89", "%.1f", 100*mean)
		if p.Set == adultSet && p.Epsilon < 8 {
			p.Mechanism = asPrinted
			other := measure.Must(recordedInstead(p))
			errata.Quote(t, "rkw23-89", "%.1f", 100*(other-mean))
		}
	}
}
