package frame_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/weight"
)

// texts are the cells of a column of a table or a scan, in order.
func texts(s frame.Scanner, column string) (all []string) {
	tab := must.Get(frame.Collect(s, nil))
	c := must.Get(tab.Column(column))
	for i := range tab.Rows() {
		all = append(all, c.Text(i))
	}
	return all
}

func public(t *testing.T, text string) *frame.Table {
	t.Helper()
	tab := table(t, text)
	tab.Source.Public = true
	return tab
}

// A public table is sorted: numbers by size, before texts by their letters, what is missing last, whichever way, equal
// ones as they stood. A table that is not public is not.
func TestSorted(t *testing.T) {
	tab := public(t, "a,b\n10,x\nz,y\n9,z\n,u\n9,v\nc,w\n")
	for descending, want := range map[bool]string{false: "zvxwyu", true: "xzvywu"} {
		if got := strings.Join(texts(must.Get(frame.Sorted(tab, "a", descending)), "b"), ""); got != want {
			t.Errorf("descending %v: %s, want %s", descending, got, want)
		}
	}
	numbers := must.Get(frame.Sorted(public(t, "n,b\n3,x\n1,y\n2,z\n"), "n", false))
	if c := must.Get(numbers.Column("n")); c.Number(0) != 1 || c.Number(2) != 3 {
		t.Errorf("%v", texts(numbers, "n"))
	}
	if _, err := frame.Sorted(table(t, "a\n1\n"), "a", false); err == nil {
		t.Error("a table of records is sorted")
	}
}

// A public table is joined by the same text, or else by the one key that is the same number.
func TestJoin(t *testing.T) {
	records := table(t, "code,k\n1,1\n 2 ,2\n3.0,3\n5,4\nx,5\n,6\n007,7\n")
	known := public(t, "code,name,size\n1.0,one,10\n2,two,20\n3,three,30\n5.0,five,50\n5.00,fife,55\nx,cross,7\n"+
		"7,seven,70\n")
	names := texts(must.Get(frame.Join(records, known, "code", frame.CategoricalField("name", "one", "two"))), "name")
	if want := []string{"one", "two", "three", "", "cross", "", "seven"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	joined := must.Get(frame.Collect(must.Get(frame.Join(records, known, "code",
		frame.NumericField("size", 0, 99))), nil))
	size := must.Get(joined.Column("size"))
	for i, want := range []float64{10, 20, 30, math.NaN(), 7, math.NaN(), 70} {
		if got := size.Number(i); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
	}
	for name, known := range map[string]*frame.Table{
		"not public": table(t, "code,name\n1,one\n"), "twice": public(t, "code,name\n1,one\n1,uno\n"),
		"without a key": public(t, "code,name\n1,one\n,none\n"), "no key": public(t, "name\none\n"),
		"no column": public(t, "code\n1\n"),
	} {
		if _, err := frame.Join(records, known, "code", frame.CategoricalField("name", "one")); err == nil {
			t.Errorf("%s: joined", name)
		}
	}
}

// The hour and the weekday of one date, a copy of it, with categories from a public file of lines or of a table.
func TestPartsOfOneDate(t *testing.T) {
	const layout = "2006-01-02 15:04:05"
	tab := table(t, "at,city,y\n2024-02-29 18:45:36,Bern,a\n2024-03-03 00:00:00,Oslo,b\n,Rome,a\n")
	dir := t.TempDir()
	must.Do(os.WriteFile(filepath.Join(dir, "lines.txt"), []byte("\xef\xbb\xbfBern\n\n Oslo \n"), 0o600))
	must.Do(os.WriteFile(filepath.Join(dir, "one.csv"), []byte("town\nBern\nOslo\n"), 0o600))
	must.Do(os.WriteFile(filepath.Join(dir, "two.csv"), []byte("n,city\n1,Bern\n2,Oslo\n"), 0o600))
	for _, from := range []string{"lines.txt", "one.csv", "two.csv"} {
		must.Do(os.WriteFile(filepath.Join(dir, "s.json"), []byte(`{"version":1,"fields":[{"name":"city",`+
			`"type":"category","categoriesFrom":"`+from+`"}]}`), 0o600))
		s, err := frame.LoadSchema(filepath.Join(dir, "s.json"))
		if err != nil || !slices.Equal(s.Fields[0].Levels, []string{"Bern", "Oslo"}) {
			t.Errorf("%s: %v, %v", from, s, err)
		}
	}
	schema := &frame.Schema{Fields: []frame.Field{frame.HourField("at", layout).OrMissingAs(6),
		frame.WeekdayField("day", layout).CopyOf("at").OrMissing(), frame.CategoricalField("y", "a", "b")},
		Ignored: []string{"city"}}
	d := must.Get(frame.NewDesign(must.Get(frame.Collect(must.Get(schema.Prepared(tab)), nil)), schema,
		frame.DesignSettings{Label: "y"}))
	rows := dense(d)
	for i, hour := range []float64{18.76, 0, 6} {
		if got := rows.Data[i*rows.D] * 24; !(math.Abs(got-hour) <= 1e-9) {
			t.Errorf("row %d: the hour is %v, want %v", i, got, hour)
		}
	}
	if rows.Data[1+3] != 1 || rows.Data[rows.D+1+6] != 1 || rows.Data[2*rows.D+1+7] != 1 { // Thursday, Sunday, none
		t.Errorf("weekdays %v", rows.Data)
	}
	if _, err := frame.NewDesign(table(t, "at,y\n2024-02-29,a\n"), &frame.Schema{Fields: []frame.Field{
		frame.HourField("at", "2006-01-02"), frame.CategoricalField("y", "a", "b")}},
		frame.DesignSettings{Label: "y"}); err == nil || !strings.Contains(err.Error(), "stands for its hour") {
		t.Errorf("hours of a layout without them: %v", err)
	}
}

// A label's number and back, half the width of its bounds, and the weight within it, which its class multiplies.
func TestLabelsOfTargets(t *testing.T) {
	number := frame.Target{Task: frame.Number, Lower: 2, Upper: 6}
	open, log := number, number
	open.Open, log.Log = true, true
	for _, c := range []struct {
		name         string
		t            frame.Target
		v, label     float64
		back, halves float64
	}{
		{"in the middle", number, 4, 0, 4, 2}, {"within", number, 5, 0.5, 5, 2}, {"above", number, 9, 1, 6, 2},
		{"open, within", open, 3, -0.5, 3, 2}, {"open, above", open, 10, 3, 10, 2},
		{"on the logarithmic scale", log, 6, 1, 6, 0.5 * math.Log(3)},
		{"a count", frame.Target{Task: frame.Count, Upper: 9}, 2.5, 2, 2, 4.5},
	} {
		if got := c.t.Label(c.v); !(math.Abs(got-c.label) <= 1e-14) {
			t.Errorf("%s: label %v, want %v", c.name, got, c.label)
		}
		if got := c.t.Value(c.label); !(math.Abs(got-c.back) <= 1e-14) {
			t.Errorf("%s: value %v, want %v", c.name, got, c.back)
		}
		if got := c.t.HalfWidth(); !(math.Abs(got-c.halves) <= 1e-14) {
			t.Errorf("%s: half the width is %v, want %v", c.name, got, c.halves)
		}
	}
	tab := table(t, "x,w,y\n1,1,a\n1,3,b\n1,8,b\n1,-2,a\n1,?,b\n")
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("x", 0, 1), frame.CategoricalField("y", "a", "b")}}
	for name, c := range map[string]struct {
		s    frame.DesignSettings
		want []float64
	}{
		"weights": {frame.DesignSettings{Weights: "w", WeightBound: 4}, []float64{0.25, 0.75, 1, 0, 0}},
		"weighted classes": {frame.DesignSettings{ClassWeight: [2]float64{0.5, 0.25}},
			[]float64{0.5, 0.25, 0.25, 0.5, 0.25}},
		"both": {frame.DesignSettings{Weights: "w", WeightBound: 4, ClassWeight: [2]float64{1, 0.5}},
			[]float64{0.25, 0.375, 0.5, 0, 0}},
	} {
		c.s.Label = "y"
		records := tab
		if c.s.Weights == "" {
			records = must.Get(tab.Select("x", "y"))
		}
		d := must.Get(frame.NewDesign(records, schema, c.s))
		for i, want := range c.want {
			if y, w := weight.Of(d.Labels[i]); w != want || (y == 1) != (i == 1 || i == 2 || i == 4) {
				t.Errorf("%s: label %d says %v with weight %v, want %v", name, i, y, w, want)
			}
		}
	}
}

// A coefficient's unit: what a feature is of the column's value, of plain and of centred records.
func TestUnits(t *testing.T) {
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("age", 20, 70).OrMissing(),
		frame.CategoricalField("city", "Bern", "Rome"), frame.NumericField("pay", 10, 20).Typically(12),
		frame.CategoricalField("y", "a", "b")}}
	tab := table(t, "age,city,pay,y\n30,Bern,11,a\n,Rome,20,b\n")
	for _, centred := range []bool{false, true} {
		d := must.Get(frame.NewDesign(tab, schema, frame.DesignSettings{Label: "y", Centred: centred}))
		scale, shift := must.Two(d.Encoding.Units())
		row := make([]float64, len(d.Features))
		d.Rows.Row(row, 0)
		sizes := d.Encoding.Groups()
		if total := sizes[0] + sizes[1] + sizes[2]; len(sizes) != 3 || total+1 != len(row) || len(scale) != len(row) {
			t.Fatalf("%v features of %v", sizes, d.Features)
		}
		values := map[int]float64{0: 30, sizes[0]: 1, sizes[0] + 1: 0, sizes[0] + sizes[1]: 11, len(row) - 1: 1}
		for j, v := range values {
			if got := scale[j] * (v - shift[j]); !(math.Abs(got-row[j]) <= 1e-14) {
				t.Errorf("centred %v: %s of %v is %v, want %v", centred, d.Features[j], v, got, row[j])
			}
		}
		if f, ok := d.Encoding.Field("pay"); !ok || f.Upper != 20 {
			t.Errorf("pay is %+v, %v", f, ok)
		}
		if _, ok := d.Encoding.Field("y"); ok {
			t.Error("the label is a column of features")
		}
		if !d.Encoding.Unscaled() {
			t.Error("no norm, and scaled")
		}
	}
	for name, c := range map[string]frame.DesignSettings{"scaled": {RowNorm: 1}, "clipped": {ClipNorm: 1}} {
		c.Label = "y"
		d := must.Get(frame.NewDesign(tab, schema, c))
		if _, _, err := d.Encoding.Units(); err == nil || d.Encoding.Unscaled() {
			t.Errorf("%s: rows have units", name)
		}
	}
}

// A scan whose rows a verb changes has as many as are counted then; whole chunks are handed over once, and a last one
// that is full leaves nothing behind. A number without bounds has no terms, be it one.
func TestRowsOfVerbs(t *testing.T) {
	tab := table(t, "a,b\n1,2\n3,4\n5,6\n7,8\n")
	derived := must.Get(frame.DeriveNumber(scanned(t, "a,b\n1,2\n3,4\n"), "c",
		func(frame.Row) float64 { return 1 }, "a"))
	if n := derived.Origin().Rows; n != 0 || tab.Source.Rows != 4 {
		t.Errorf("%d rows before a scan, %d of a table", n, tab.Source.Rows)
	}
	for _, f := range []frame.Field{{Line: true}, {Cuts: []float64{1}}, {Period: 2}, {Cross: []string{"b"}}} {
		f.Name, f.Lower, f.Upper, f.Open = "a", 0, 9, true
		s := &frame.Schema{Fields: []frame.Field{f, frame.NumericField("b", 0, 9),
			frame.CategoricalField("y", "p", "q")}}
		_, err := frame.NewDesign(table(t, "a,b,y\n1,2,p\n"), s, frame.DesignSettings{Label: "y", Centred: true})
		if err == nil || !strings.Contains(err.Error(), "no bounds") {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
