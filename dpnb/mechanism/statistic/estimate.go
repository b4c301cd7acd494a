package statistic

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// Estimate is a number with an interval.
type Estimate struct{ Value, Lower, Upper float64 }

// ratio is what was released of Σx and of the number n of records, |x| ≤ 1, from which the mean m of x is estimated.
// The interval is Fieller's: sum − m·count is noise alone, of a law that is known for each m, so that the m at which it
// is not too large are a confidence set, however few records there are.
type ratio struct {
	sum, count float64
	// Gaussian noise in both; or laplace > 0 is the scale of the noise in count + sum and in count − sum, halved.
	sumDeviation, countDeviation, laplace float64
	confidence                            float64
	sampling                              bool
}

// deviation returns that of the noise in the count.
func (q ratio) deviation() float64 {
	if q.laplace > 0 {
		return 2 * q.laplace
	}
	return q.countDeviation
}

// within returns the half-width of an interval around m·count for sum.
func (q ratio) within(m float64) float64 {
	miss := 1 - q.confidence
	if !q.sampling {
		return q.noise(m, miss)
	}
	// Independent draws of variance at most 1 − m², of as many as there may be.
	records := math.Max(0, q.count+3*q.deviation())
	if q.laplace > 0 {
		miss /= 2
		return q.noise(m, miss) + normalQuantile(miss)*math.Sqrt(records*(1-m*m))
	}
	return normalQuantile(miss) * math.Hypot(math.Hypot(q.sumDeviation, m*q.countDeviation),
		math.Sqrt(records*(1-m*m)))
}

// noise returns what |noise of sum − m·count| exceeds with probability miss.
func (q ratio) noise(m, miss float64) float64 {
	if q.laplace == 0 {
		return normalQuantile(miss) * math.Hypot(q.sumDeviation, m*q.countDeviation)
	}
	a, b := q.laplace*(1-m), q.laplace*(1+m)
	_, t := univariate.Bisect(func(t float64) bool { return laplaceTail(a, b, t) <= miss }, 0,
		(a+b)*(1-math.Log(miss))*2, univariate.Arithmetic, 1e-12)
	return t
}

// normalQuantile returns the z with P(|N(0, 1)| > z) = miss.
func normalQuantile(miss float64) float64 { return -distuv.UnitNormal.Quantile(0.5 * miss) }

// laplaceTail returns P(|aX + bY| > t) for X, Y independent of density e^{−|x|}/2, t ≥ 0:
//
//	(a²e^{−t/a} − b²e^{−t/b})/(a² − b²),  and (1 + t/2a)e^{−t/a} where a = b.
func laplaceTail(a, b, t float64) float64 {
	a, b = math.Max(a, b), math.Min(a, b)
	switch {
	case a-b < 1e-5*a:
		a = 0.5 * (a + b)
		return (1 + 0.5*t/a) * math.Exp(-t/a)
	case b == 0:
		return math.Exp(-t / a)
	}
	return (a*a*math.Exp(-t/a) - b*b*math.Exp(-t/b)) / ((a - b) * (a + b))
}

// solve returns the mean in [−1, 1] and its interval, the smallest that has the whole confidence set.
func (q ratio) solve() Estimate {
	// Of fewer records than the noise in their number nothing is known; the middle is as good.
	m := math.Max(-1, math.Min(1, q.sum/math.Max(q.count, q.deviation())))
	possible := func(m float64) bool {
		off := math.Abs(q.sum - m*q.count)
		if q.laplace > 0 && !q.sampling {
			return laplaceTail(q.laplace*(1-m), q.laplace*(1+m), off) >= 1-q.confidence
		}
		return off <= q.within(m)
	}
	// end goes from m towards −side to where the set ends, just beyond.
	end := func(side float64) float64 {
		if possible(-side) {
			return -side
		}
		out, _ := univariate.Bisect(func(x float64) bool { return x >= side*m || possible(side*x) }, -1, side*m,
			univariate.Arithmetic, 0)
		return side * out
	}
	return Estimate{m, end(1), end(-1)}
}
