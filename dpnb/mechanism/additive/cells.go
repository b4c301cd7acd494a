package additive

import (
	"cmp"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Column is a column of a table in rows of features: from First on Len indicators of its categories, or one feature of
// a Number in [0, 1], beyond which it counts as the nearer end.
type Column struct {
	First, Len int
	Number     bool
}

// Cells are the public places in which the records of each column are: twice Bins intervals of equal length of a
// number, the categories of others; a record of no category is in none.
type Cells struct {
	Columns []Column
	Bins    int
}

// mostCells bounds those of a column.
const mostCells = math.MaxInt16

func (c Cells) validate() error {
	if err := cmp.Or(privacy.Within(c.Bins >= 1 && c.Bins <= mostCells/2, "Bins", c.Bins, "a number from 1 to 16,383"),
		privacy.Within(len(c.Columns) > 0 && len(c.Columns) <= mostCells, "Columns", len(c.Columns),
			"at least one column, at most 32,767")); err != nil {
		return err
	}
	for _, column := range c.Columns {
		if column.First < 0 || column.Len < 1 || column.Len > mostCells || column.Number && column.Len != 1 {
			return &privacy.ParamError{Name: "Columns", Value: column,
				Want: "features of the rows, one of a number, at least one of categories"}
		}
	}
	return nil
}

// size is how many cells a column has.
func (c Cells) size(of Column) int {
	if of.Number {
		return 2 * c.Bins
	}
	return of.Len
}

// first is the place of the first cell of column k among all.
func (c Cells) first(k int) (at int) {
	for _, of := range c.Columns[:k] {
		at += c.size(of)
	}
	return at
}

// Len returns how many cells all columns have.
func (c Cells) Len() int { return c.first(len(c.Columns)) }

// width is how many features rows must have.
func (c Cells) width() (d int) {
	for _, of := range c.Columns {
		d = max(d, of.First+of.Len)
	}
	return d
}

// Each calls f with the column and the place in it of every cell, in their order.
func (c Cells) Each(f func(of Column, place, cells int)) {
	for _, of := range c.Columns {
		for k := range c.size(of) {
			f(of, k, c.size(of))
		}
	}
}

// of returns the cell of every record, column by column, −1 for none.
func (c Cells) of(rows matrix.Rows, workers int) [][]int16 {
	n, d := rows.Dims()
	out := make([][]int16, len(c.Columns))
	for k := range out {
		out[k] = make([]int16, n)
	}
	parallel.Each((n+block-1)/block, workers, func(p int) {
		row := make([]float64, d)
		for i := p * block; i < min(n, (p+1)*block); i++ {
			rows.Row(row, i)
			for k, of := range c.Columns {
				out[k][i] = c.place(of, row)
			}
		}
	})
	return out
}

// place returns the cell of a row.
func (c Cells) place(of Column, row []float64) int16 {
	if of.Number {
		cells := 2 * c.Bins
		return int16(min(int(min(max(row[of.First], 0), 1)*float64(cells)), cells-1))
	}
	for k, v := range row[of.First : of.First+of.Len] {
		if v > 0 {
			return int16(k)
		}
	}
	return -1
}

// Placed returns rows as indicators of their cells, of which coefficients are the values of f_k there.
func (c Cells) Placed(rows matrix.Rows) matrix.Rows {
	n, _ := rows.Dims()
	of := c.of(rows, 0)
	out := &matrix.CSR{N: n, D: c.Len(), Starts: make([]int, 1, n+1)}
	firsts := make([]int, len(of))
	for k := range firsts {
		firsts[k] = c.first(k)
	}
	for i := range n {
		for k, cells := range of {
			if cells[i] >= 0 {
				out.Columns, out.Values = append(out.Columns, int32(firsts[k]+int(cells[i]))), append(out.Values, 1)
			}
		}
		out.Starts = append(out.Starts, len(out.Values))
	}
	return out
}
