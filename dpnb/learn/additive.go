package learn

import (
	"errors"
	"fmt"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/additive"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// additiveSteps is DP-EBM as its paper has it. It learns from the columns, whatever their rows are made for.
var additiveSteps = mechanismFunc{"DP-EBM", func(data *Dataset, a Allowance, src noise.Source) (*Model, error) {
	if data.Err() == nil && data.design.Encoding != nil && !data.design.Encoding.Open() {
		data = data.encoded(data.design.Encoding.Plain())
	}
	return changed("DP-EBM", func(p *spec) { p.instead(boostedSteps) }, frame.TwoClasses, frame.Number).Fit(data, a,
		src)
}}

// boostedSteps chooses DP-EBM: residuals of numbers, which are in [−1, 1], are clipped at 1, as those of classes are.
func boostedSteps(p spec, d *frame.Design, epsilon, delta float64) (mechanism.Mechanism, error) {
	if d.Encoding == nil || d.Encoding != d.Encoding.Plain() {
		return nil, errors.New("dpnb: DP-EBM learns from the columns of a table: make the records from one, or " +
			"without RowNorm, ClipNorm and Curves")
	}
	return chosen(additive.Config{Columns: columnsOf(d.Encoding), Classes: p.task == frame.TwoClasses, Clip: 1,
		Epsilon: epsilon, Delta: delta}.Calibrate())
}

// columnsOf returns where the columns are in plain rows. That a number is missing is a column of its own.
func columnsOf(e *frame.Encoding) (columns []additive.Column) {
	at, names := 0, e.Columns()
	for k, size := range e.Groups() {
		if f, _ := e.Field(names[k]); f.Kind == frame.Numeric {
			columns = append(columns, additive.Column{First: at, Len: 1, Number: true})
			at, size = at+1, size-1
		}
		if size > 0 {
			columns = append(columns, additive.Column{First: at, Len: size})
		}
		at += size
	}
	return columns
}

// cellNames returns the names of cells: of a number its bounds, in the column's own unit.
func cellNames(e *frame.Encoding, of *additive.Cells) (names []string) {
	of.Each(func(c additive.Column, place, cells int) {
		name := e.Features[c.First+min(place, c.Len-1)]
		if f, ok := e.Field(name); ok && c.Number {
			scale := frame.Target{Task: frame.Number, Lower: f.Lower, Upper: f.Upper, Log: f.Log}
			end := func(k int) float64 { return scale.Value(2*float64(k)/float64(cells) - 1) }
			name = fmt.Sprintf("%s from %.4g to %.4g", name, end(place), end(place+1))
		}
		names = append(names, name)
	})
	return names
}
