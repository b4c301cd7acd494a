package statistic

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Means is φ for the means of d columns, x ∈ [−1, 1] being a number in units of its bounds (Number.unit): the records
// are counted beside the sums.
//
// For Gaussian noise φ = (√s₀, √s·x₁, …, √s·x_d) with s₀ = 1/(2 + 2√d) and s = (1 − s₀)/d, of norm at most 1. Whatever
// the means are, and all of the same size, the noise in them has at most 4/3 of the variance that it would have with
// the s₀ that suits them best.
//
// For Laplace noise φ = (½(1+x₁), ½(1−x₁), …)/d, of ℓ₁ norm 1: the two sums of a column are the vertices of what one
// record can do to count and sum, of which no smaller body holds all.
//
// Proof: docs/theory/statistics.md.
type Means struct {
	Of []Number
	// For is the law of the noise for which φ is made.
	For Law
}

// mostColumns is how many columns a statistic may have.
const mostColumns = 1 << 12

// Validate implements Summand.
func (m Means) Validate() error {
	if err := cmp.Or(privacy.Within(m.For == Gaussian || m.For == Laplace, "For", int(m.For), "Gaussian or Laplace"),
		privacy.Within(len(m.Of) > 0 && len(m.Of) <= mostColumns, "columns", len(m.Of),
			fmt.Sprintf("at least one, and at most %d", mostColumns))); err != nil {
		return err
	}
	for _, b := range m.Of {
		if err := b.validate(); err != nil {
			return err
		}
	}
	return nil
}

// String implements Summand.
func (m Means) String() string {
	if len(m.Of) == 1 {
		return "a count and a sum"
	}
	return fmt.Sprintf("a count and sums of %d columns", len(m.Of))
}

// Columns implements Summand.
func (m Means) Columns() int { return len(m.Of) }

// Len implements Summand.
func (m Means) Len() int {
	if m.For == Laplace {
		return 2 * len(m.Of)
	}
	return len(m.Of) + 1
}

// weights returns √s₀ and √s, or 0 and 1/d for Laplace noise, as multiples of step.
func (m Means) weights() (count, each float64) {
	d := float64(len(m.Of))
	if m.For == Laplace {
		return 0, round(1 / d)
	}
	s0 := 1 / (2 + 2*math.Sqrt(d))
	return round(math.Sqrt(s0)), round(math.Sqrt((1 - s0) / d))
}

// Norm implements Summand: each entry is largest at |x| = 1, rounded or not, and two of Laplace noise add up to what
// the column has.
func (m Means) Norm(law Law) float64 {
	count, each := m.weights()
	d := float64(len(m.Of))
	if law == Laplace || m.For == Laplace {
		return (count + d*each) * (1 + 0x1p-50)
	}
	return math.Sqrt(count*count+d*each*each) * (1 + 0x1p-50)
}

// Error implements Summand: that of count times mean, at a mean halfway to a bound.
func (m Means) Error(s Sums) float64 {
	count, each := m.weights()
	if m.For == Laplace {
		return 2 * math.Sqrt(1.25) * s.Scale / each
	}
	return math.Hypot(1/each, 0.5/count) * s.Scale
}

// Sum implements Summand.
func (m Means) Sum(dst []float64, columns [][]float64) {
	count, each := m.weights()
	if m.For == Laplace {
		for j, b := range m.Of {
			for _, v := range columns[j] {
				part := round(0.5 * (1 + b.unit(v)) * each)
				dst[2*j] += part
				dst[2*j+1] += each - part
			}
		}
		return
	}
	dst[0] += count * float64(len(columns[0]))
	for j, b := range m.Of {
		for _, v := range columns[j] {
			dst[1+j] += round(each * b.unit(v))
		}
	}
}

// Estimates returns the means of the columns, in their own units, from what Sums released with m, each with an interval
// that covers the mean of the records, moved into their bounds, with at least the given confidence, whatever they are.
//
// With sampling it covers the mean of the population that the records are independent draws of, in the limit of many
// records: its variance is at most (Upper − mean)(mean − Lower).
func (m Means) Estimates(scale float64, released []float64, confidence float64, sampling bool) []Estimate {
	count, each := m.weights()
	q := m.ratio(scale, confidence, sampling)
	all := make([]Estimate, len(m.Of))
	for j, b := range m.Of {
		if m.For == Laplace {
			// By this column's sums alone: others have noise of their own.
			up, down := released[2*j]/each, released[2*j+1]/each
			q.sum, q.count = up-down, up+down
		} else {
			q.sum, q.count = released[1+j]/each, released[0]/count
		}
		e := q.solve()
		all[j] = Estimate{b.Value(e.Value), b.Value(e.Lower), b.Value(e.Upper)}
	}
	return all
}

// ratio returns what is known of the mean of a column but for what was released.
func (m Means) ratio(scale, confidence float64, sampling bool) ratio {
	count, each := m.weights()
	q := ratio{confidence: confidence, sampling: sampling}
	if m.For == Laplace {
		q.laplace = scale / each
	} else {
		q.sumDeviation, q.countDeviation = scale/each, scale/count
	}
	return q
}

// Precision returns half the width of the widest interval that Estimates is to give for so many records, whatever the
// means are, and of the widest where every mean is in the middle of its bounds.
func (m Means) Precision(scale, records, confidence float64, sampling bool) (widest, middle float64) {
	q := m.ratio(scale, confidence, sampling)
	q.count = records
	for _, b := range m.Of {
		middle = math.Max(middle, q.within(0)/records*b.half())
		// Between the middle and a bound, noise rises and what chance does falls.
		for _, x := range []float64{0, 0.25, 0.5, 0.75, 1} {
			widest = math.Max(widest, q.within(x)/records*b.half())
		}
	}
	return widest, middle
}
