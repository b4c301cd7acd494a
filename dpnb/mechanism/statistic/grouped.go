package statistic

import (
	"cmp"
	"fmt"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Grouped is φ in the block of a record's group, and zero in all others: what is asked of a table is asked of each
// group. A record is in one group or in none, so that the norm of φ is what it was, however many groups there are.
//
// Proof: docs/theory/statistics.md.
type Grouped struct {
	Of Summand
	By Cells
}

// Validate implements Summand.
func (g Grouped) Validate() error {
	if g.Of == nil {
		return &privacy.ParamError{Name: "Of", Value: nil, Want: "what is to be summed"}
	}
	if err := cmp.Or(g.Of.Validate(), g.By.Validate()); err != nil {
		return err
	}
	return privacy.Within(g.Len() <= MostCells, "groups", g.By.Len(),
		fmt.Sprintf("at most 2²⁰ = 1,048,576 sums in all, and each group has %d", g.Of.Len()))
}

// String implements Summand.
func (g Grouped) String() string { return fmt.Sprintf("%v in each of %d groups", g.Of, g.By.Len()) }

// Columns implements Summand: those of the groups are the first.
func (g Grouped) Columns() int { return len(g.By) + g.Of.Columns() }

// Len implements Summand.
func (g Grouped) Len() int { return g.By.Len() * g.Of.Len() }

// Norm implements Summand.
func (g Grouped) Norm(law Law) float64 { return g.Of.Norm(law) }

// Error implements Summand: that of one group.
func (g Grouped) Error(m Sums) float64 { return g.Of.Error(m) }

// Sum implements Summand.
func (g Grouped) Sum(dst []float64, columns [][]float64) {
	// The records of each group in one piece, in their order.
	n := len(columns[0])
	at, from := make([]int, n), make([]int, g.By.Len()+1)
	for i := range n {
		if at[i] = g.By.of(columns, i); at[i] >= 0 {
			from[at[i]+1]++
		}
	}
	for c := range g.By.Len() {
		from[c+1] += from[c]
	}
	rest := columns[len(g.By):]
	sorted, next := make([][]float64, len(rest)), append([]int(nil), from...)
	for j := range sorted {
		sorted[j] = make([]float64, n)
	}
	for i, c := range at {
		if c < 0 {
			continue
		}
		for j, v := range rest {
			sorted[j][next[c]] = v[i]
		}
		next[c]++
	}
	part, k := make([][]float64, len(rest)), g.Of.Len()
	for c := range g.By.Len() {
		if from[c] == from[c+1] {
			continue
		}
		for j := range part {
			part[j] = sorted[j][from[c]:from[c+1]]
		}
		g.Of.Sum(dst[c*k:(c+1)*k], part)
	}
}
