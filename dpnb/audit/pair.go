package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Data is a data set: rows of features with a label each.
type Data struct {
	Rows   matrix.Rows
	Labels []float64
}

// Pair is two neighbouring data sets: With has the canary, Without lacks it or, under replace-one, has another record
// in its place. Where a person has up to k records, neighbours differ in as many.
type Pair struct {
	Name          string
	With, Without Data
}

// records returns each row with its label behind it.
func (d Data) records() ([][]float64, error) {
	if d.Rows == nil {
		return nil, &matrix.DataError{Text: "no rows"}
	}
	n, width := d.Rows.Dims()
	if len(d.Labels) != n {
		return nil, &matrix.DataError{Text: fmt.Sprintf("%d labels for %d records", len(d.Labels), n)}
	}
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, width+1)
		d.Rows.Row(all[i][:width], i)
		all[i][width] = d.Labels[i]
	}
	return all, nil
}

// check returns an error unless the two are neighbours of whom at most rows records differ: what is measured on any
// other pair says nothing about a claim.
func (p Pair) check(adj privacy.Adjacency, rows int) error {
	with, err := p.With.records()
	if err != nil {
		return err
	}
	without, err := p.Without.records()
	if err != nil {
		return err
	}
	differ := 0
	if adj == privacy.ReplaceOne {
		if len(with) != len(without) {
			return fmt.Errorf("audit: %d and %d records are not neighbours under %s", len(with), len(without),
				adj.Words())
		}
		for i, r := range with {
			if !equal(r, without[i]) {
				differ++
			}
		}
	} else {
		// Without is With from which some records are taken, in its order.
		k := 0
		for _, r := range with {
			if k < len(without) && equal(r, without[k]) {
				k++
			} else {
				differ++
			}
		}
		if k < len(without) {
			return fmt.Errorf("audit: the pair %q are not neighbours under %s: Without must be With less its canary, "+
				"in the same order", p.Name, adj.Words())
		}
	}
	if differ < 1 || differ > rows {
		return fmt.Errorf("audit: the pair %q differs in %d records, neighbours here in at least 1 and at most %d",
			p.Name, differ, rows)
	}
	return nil
}

// equal compares records bit by bit, as one may hold what is no number.
func equal(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// Domain is what a record can be: of these numbers canaries are made.
type Domain struct {
	// Lower and Upper bound each feature. Both nil: the features are bounded by RowNorm alone.
	Lower, Upper []float64
	// RowNorm bounds ‖x‖₂; zero is no bound.
	RowNorm float64
	// Features is their number where there is no Lower and Upper.
	Features int
	// Labels that a record may have: the extreme ones, or all of a few.
	Labels []float64
	// Rows that a person may have, all of which are alike in a pair; zero is one.
	Rows int
}

// extremes returns the longest records: along each axis and the diagonal, in either sense, or the corners of the box
// and its middle.
func (d Domain) extremes() (all [][]float64) {
	if d.Lower == nil {
		for j := range d.Features {
			x := make([]float64, d.Features)
			x[j] = d.RowNorm
			all = append(all, x)
		}
		if d.Features > 1 {
			x := make([]float64, d.Features)
			for j := range x {
				x[j] = d.RowNorm / math.Sqrt(float64(d.Features)) * (1 - 1e-15)
			}
			all = append(all, x)
		}
		return all
	}
	// The corners, of the first few features in all combinations; the others go with the first.
	n := len(d.Lower)
	for bits := range 1 << min(n, 3) {
		x := make([]float64, n)
		for j := range x {
			at := j
			if j >= 3 {
				at = 0
			}
			if x[j] = d.Lower[j]; bits>>at&1 == 1 {
				x[j] = d.Upper[j]
			}
		}
		all = append(all, x)
	}
	return all
}

// Pairs returns neighbours that are likely to be told apart: an extreme record, beside none, beside several like it,
// and beside several that oppose it; under replace-one, an extreme record in the place of one that opposes it. The most
// telling of them is for Worst to find.
//
// Errors: *privacy.ParamError if there is no label or no feature, or for an adjacency that is none.
func (d Domain) Pairs(adj privacy.Adjacency) ([]Pair, error) {
	width := d.Features
	if d.Lower != nil {
		width = len(d.Lower)
	}
	if err := cmp.Or(
		privacy.Within(len(d.Labels) > 0, "Labels", d.Labels, "at least one label that a record may have"),
		privacy.Within(width >= 1 && len(d.Lower) == len(d.Upper), "Features", width,
			"at least 1, and bounds for each or none"),
		privacy.Within(d.Lower != nil || d.RowNorm > 0, "RowNorm", d.RowNorm,
			"positive where features have no bounds"), adj.Validate()); err != nil {
		return nil, err
	}
	data := func(records ...Record) Data {
		rows, labels := matrix.NewDense(len(records), width, nil), make([]float64, len(records))
		for i, r := range records {
			copy(rows.Data[i*width:], r.X)
			labels[i] = r.Y
		}
		return Data{rows, labels}
	}
	var pairs []Pair
	for _, x := range d.extremes() {
		for i, label := range d.Labels {
			canary := Record{x, label}
			far := Record{d.opposite(x), d.Labels[len(d.Labels)-1-i]} // a label farther from it, if there are two
			turned := Record{d.opposite(x), label}
			// and returns the records and a person's besides, each of them like r.
			and := func(of []Record, r Record) Data {
				return data(append(slices.Clone(of), slices.Repeat([]Record{r}, max(1, d.Rows))...)...)
			}
			for _, beside := range []struct {
				name string
				of   []Record
			}{
				{"alone", nil},
				{"beside four like it", slices.Repeat([]Record{canary}, 4)},
				{"beside forty opposed to it", slices.Repeat([]Record{turned}, 40)},
			} {
				name := fmt.Sprintf("x = %.3g, y = %g, %s", canary.X, canary.Y, beside.name)
				with := and(beside.of, canary)
				if adj == privacy.AddRemove {
					pairs = append(pairs, Pair{name, with, data(beside.of...)})
					continue
				}
				for _, other := range []Record{turned, {x, far.Y}, far} {
					if !equal(append(slices.Clone(other.X), other.Y), append(slices.Clone(x), label)) {
						pairs = append(pairs, Pair{fmt.Sprintf("%s, or x = %.3g, y = %g in its place", name, other.X,
							other.Y), with, and(beside.of, other)})
					}
				}
			}
		}
	}
	return pairs, nil
}

// opposite returns −x, or the corner across the box.
func (d Domain) opposite(x []float64) []float64 {
	o := make([]float64, len(x))
	for j, v := range x {
		if o[j] = -v; d.Lower != nil {
			o[j] = d.Lower[j] + d.Upper[j] - v
		}
	}
	return o
}

// rowsOf returns in how many records neighbours of m may differ.
func rowsOf(m mechanism.Mechanism) int {
	if g, ok := m.(mechanism.Group); ok {
		return g.Rows
	}
	return 1
}
