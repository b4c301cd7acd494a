package frame_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Rows that are kept as what they are made of are scaled to their norm from a thirty-second on, shorter ones as if they
// had that.
func TestShortRowsStayShort(t *testing.T) {
	table := must.Get(frame.NewTable(frame.Column{Name: "x", Numbers: []float64{0, 1e-4, 5e-3, 1e-2, 0.5}},
		frame.Column{Name: "y", Kind: frame.Categorical, Texts: []string{"a", "b", "a", "b", "a"}}))
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("x", 0, 1).Typically(0),
		frame.CategoricalField("y", "a", "b")}}
	rows := func(set frame.DesignSettings) (all [5][9]float64) {
		set.Label, set.Centred, set.NoBias, set.Curves = "y", true, true, 8
		d := must.Get(frame.NewDesign(table, schema, set))
		for i := range all {
			d.Rows.Row(all[i][:], i)
		}
		return all
	}
	plain, scaled := rows(frame.DesignSettings{InUnits: true}), rows(frame.DesignSettings{RowNorm: 1})
	short, long := 0, 0
	for i, row := range plain {
		norm := math.Sqrt(matrix.SumSquares(row[:]))
		if norm < 1./32 {
			short++
		} else if norm < 1./16 {
			long++
		}
		for j, v := range row {
			if want := v / math.Max(norm, 1./32); !(math.Abs(scaled[i][j]-want) <= 1e-12) {
				t.Errorf("record %d, of norm %v: %v is scaled to %v, want %v", i, norm, v, scaled[i][j], want)
			}
		}
	}
	if short < 2 || long < 1 {
		t.Errorf("%d short rows, and %d hardly longer", short, long)
	}
}

// Rows without a bias that are kept in full are as long as they are said to be, with a last feature, too.
func TestFullRowsWithoutBias(t *testing.T) {
	table := must.Get(frame.NewTable(frame.Column{Name: "a", Numbers: []float64{0.2, 3, 70}},
		frame.Column{Name: "x", Numbers: []float64{-5, 0.4, 1e6}},
		frame.Column{Name: "y", Kind: frame.Categorical, Texts: []string{"a", "b", "a"}}))
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("a", 0, 100),
		frame.NumericField("x", -1, 1), frame.CategoricalField("y", "a", "b")}}
	d := must.Get(frame.NewDesign(table, schema, frame.DesignSettings{Label: "y", Centred: true, NoBias: true,
		RowNorm: 2}))
	row := make([]float64, len(d.Features))
	for i := range 3 {
		d.Rows.Row(row, i)
		if norm := math.Sqrt(matrix.SumSquares(row)); norm > 2 || norm < 2-1e-9 {
			t.Errorf("row %d of %v has the norm %v", i, d.Features, norm)
		}
	}
}

// The scales of numbers lead back to their shares, and products have the norm that is said of a typical row.
func TestScales(t *testing.T) {
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("a", 0, 10),
		frame.NumericField("b", -5, 15).Typically(0),
		frame.CategoricalField("c", "x", "z"), frame.CategoricalField("y", "n", "p")}}
	var all []frame.Column
	for _, c := range []string{"a", "b"} {
		all = append(all, frame.Column{Name: c, Numbers: []float64{0, 2.5}})
	}
	for _, c := range []string{"c", "y"} {
		all = append(all, frame.Column{Name: c, Kind: frame.Categorical, Texts: []string{"x", "z"}})
	}
	table := must.Get(frame.NewTable(all...))
	for _, additive := range []bool{false, true} {
		d := must.Get(frame.NewDesign(table, schema, frame.DesignSettings{Label: "y", Centred: true, Curves: 8,
			RowNorm:  1,
			Additive: additive}))
		scales := d.Encoding.Scales()
		if additive {
			if scales != nil || d.Encoding.Blocks() != nil {
				t.Error("an additive encoding has scales or blocks")
			}
			continue
		}
		base := matrix.Densed(d.Rows.(*matrix.Affine).Base)
		for i, want := range [][]float64{{0, 0.25}, {0.25, 0.375}} {
			for k, s := range scales {
				v := base.At(i, s.Feature)
				if u := (v - s.Lower) / s.Width; !(math.Abs(u-want[k]) <= 1e-15) || (i == 0) != (v == s.At) {
					t.Errorf("record %d: share %v, want %v; %v of %v", i, u, want[k], v, s.At)
				}
			}
		}
		if got := fmt.Sprint(d.Encoding.Blocks()); got != "[{0 1} {9 1} {18 2}]" {
			t.Errorf("blocks %s", got)
		}
		// (½ of 1/3·4 …): squares of the line of a 1/3, of b (1/64 + 27/64)·16/27, of c 1/2.
		a, b, c := 1./3, (1./64+27./64)/3*16/9, 0.5
		want := math.Sqrt(a*b+a*c+b*c) / math.Pow(d.Encoding.TypicalNorm(), 2)
		if got := d.Encoding.TypicalProducts(); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("products of %v, want %v", got, want)
		}
	}
}

// However near to its typical value a record is in everything, the sums of a pass over all records lose no digits for
// it: what rows are summed of is bounded by public numbers.
func TestNearRecordsAreSummedSafely(t *testing.T) {
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("a", 0, 1).Typically(0),
		frame.CategoricalField("c", "x", "z"), frame.CategoricalField("y", "n", "p")}}
	table := must.Get(frame.NewTable(frame.Column{Name: "a", Numbers: []float64{1e-40, 1e-7, 0, 1}},
		frame.Column{Name: "c", Kind: frame.Categorical, Texts: []string{"?", "?", "?", "x"}},
		frame.Column{Name: "y", Kind: frame.Categorical, Texts: []string{"n", "p", "n", "p"}}))
	d := must.Get(frame.NewDesign(table, schema, frame.DesignSettings{Label: "y", Centred: true, Curves: 8,
		RowNorm: 1}))
	if terms := matrix.Terms(d.Rows); terms > 32*3 {
		t.Errorf("rows are summed of numbers of %v", terms)
	}
}

// Shapes are counted from their mean over the records, those without a number among them, and so are the places of
// their cells.
func TestTermsAreCountedFromTheirMean(t *testing.T) {
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("a", 0, 1).OrMissing(),
		frame.NumericField("b", 0, 1).Typically(0), frame.CategoricalField("c", "x", "z").OrMissing(),
		frame.CategoricalField("y", "n", "p")}}
	table := must.Get(frame.NewTable(frame.Column{Name: "a", Numbers: []float64{0.1, math.NaN(), 0.3}},
		frame.Column{Name: "b", Numbers: []float64{0, 0, 1}},
		frame.Column{Name: "c", Kind: frame.Categorical, Texts: []string{"x", "", "x"}},
		frame.Column{Name: "y", Kind: frame.Categorical, Texts: []string{"n", "p", "n"}}))
	d := must.Get(frame.NewDesign(table, schema, frame.DesignSettings{Label: "y", Centred: true, Curves: 8,
		ClipNorm: 9}))
	_, width := d.Rows.Dims()
	mean, row := make([]float64, width), make([]float64, width)
	for i := range 3 {
		d.Rows.Row(row, i)
		for j, v := range row {
			mean[j] += v / 3
		}
	}
	for _, term := range d.Encoding.Components(mean[:width-1], 0) {
		var shares, places float64
		sum := make([]float64, width)
		for k, w := range term.Shares {
			of := term.Of(k)
			shares += w
			for j, v := range of.Weights {
				sum[j] += w * v
			}
			for _, v := range of.Places {
				places += w * v
			}
		}
		if !(math.Abs(shares-1) <= 1e-12) || !(math.Abs(places) <= 1e-12) || matrix.SumSquares(sum) > 1e-24 {
			t.Errorf("%s: shares of %v, a mean of %v and of %v for places", term.Field.Name, shares, sum, places)
		}
	}
}

// A missing number has its indicator and nothing else. Of a stored record it is so far beyond its scale that it is told
// from every number, and the others are as they were before rows were scaled.
func TestStoredScales(t *testing.T) {
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("a", 0, 10).OrMissing(),
		frame.CategoricalField("y", "n", "p")}}
	table := must.Get(frame.NewTable(frame.Column{Name: "a", Numbers: []float64{2.5, math.NaN(), 99}},
		frame.Column{Name: "y", Kind: frame.Categorical, Texts: []string{"n", "p", "n"}}))
	set := frame.DesignSettings{Label: "y", Centred: true, Curves: 8, RowNorm: 1}
	d := must.Get(frame.NewDesign(table, schema, set))
	row := make([]float64, len(d.Features))
	d.Rows.Row(row, 1)
	if matrix.SumSquares(row[:9]) > 1e-24 {
		t.Errorf("a missing number has %v beside its indicator", row)
	}
	stored := must.Get(d.Encoding.Stored(table, frame.Storage{Dir: t.TempDir(), Double: true}))
	rows, s := stored.Rows.(*matrix.Affine), d.Encoding.Scales()[0]
	base := matrix.Densed(rows.Base)
	for i, want := range []float64{0.25, 3, 1} {
		if u := (base.At(i, rows.Aside[s.Feature]) - s.Lower) / s.Width; !(math.Abs(u-want) <= 1e-12) {
			t.Errorf("record %d is at a share %v of the scale, want %v", i, u, want)
		}
	}
}

// What is remembered of shares is of the mean and of the noise that was asked for, and not what a caller makes of it.
func TestRememberedShares(t *testing.T) {
	table := must.Get(frame.NewTable(frame.Column{Name: "c", Kind: frame.Categorical, Texts: []string{"a", "b"}},
		frame.Column{Name: "y", Kind: frame.Categorical, Texts: []string{"a", "b"}}))
	schema := &frame.Schema{Fields: []frame.Field{frame.CategoricalField("c", "a", "b"),
		frame.CategoricalField("y", "a", "b")}}
	d := must.Get(frame.NewDesign(table, schema, frame.DesignSettings{Label: "y", Centred: true, NoBias: true,
		RowNorm: 1}))
	for range 2 {
		for _, c := range []struct{ mean, off, want float64 }{{0.3, 0, 0.71}, {0.3, 0.5, 0.94}, {0.1, 0, 0.57}} {
			shares := d.Encoding.Components([]float64{c.mean, -c.mean}, c.off)[0].Shares
			if !(math.Abs(shares[0]-c.want) <= 0.05) {
				t.Errorf("mean %v, noise %v: shares %v, want about %v", c.mean, c.off, shares, c.want)
			}
			shares[0] = -1
		}
	}
}
