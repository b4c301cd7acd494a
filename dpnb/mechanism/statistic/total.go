package statistic

import "math"

// Total is φ for the sum of a column: the number in units of the bound that is further from 0.
type Total struct{ Of Number }

// Validate implements Summand.
func (t Total) Validate() error { return t.Of.validate() }

// String implements Summand.
func (t Total) String() string { return "a sum" }

// Columns implements Summand.
func (t Total) Columns() int { return 1 }

// Len implements Summand.
func (t Total) Len() int { return 1 }

// most returns the bound that is further from 0.
func (t Total) most() float64 { return math.Max(math.Abs(t.Of.Lower), math.Abs(t.Of.Upper)) }

// Norm implements Summand.
func (t Total) Norm(Law) float64 { return 1 }

// Error implements Summand.
func (t Total) Error(m Sums) float64 { return m.deviation() }

// Sum implements Summand: a number that is missing counts as the middle of the bounds.
func (t Total) Sum(dst []float64, columns [][]float64) {
	most := t.most()
	for _, v := range columns[0] {
		if math.IsNaN(v) {
			v = t.Of.middle()
		}
		dst[0] += round(math.Max(t.Of.Lower, math.Min(t.Of.Upper, v)) / most)
	}
}

// Estimate returns the sum in the unit of the column with an interval that covers it with the given confidence exactly.
func (t Total) Estimate(m Sums, released []float64, confidence float64) Estimate {
	half := normalQuantile(1-confidence) * m.Scale
	if m.Law == Laplace {
		half = -m.Scale * math.Log(1-confidence)
	}
	most := t.most()
	return Estimate{released[0] * most, (released[0] - half) * most, (released[0] + half) * most}
}
