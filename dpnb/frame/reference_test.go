package frame_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

func married() *frame.Schema {
	return &frame.Schema{Fields: []frame.Field{frame.NumericField("age", 17, 90),
		frame.CategoricalField("marital", "Never", "Married", "Divorced").Against("Married").OrMissing(),
		frame.CategoricalField("rich", "no", "yes")}}
}

func marriedTable(t *testing.T) *frame.Table {
	t.Helper()
	return must.Get(frame.NewTable(frame.Column{Name: "age", Numbers: []float64{17, 90, 50, 60}},
		frame.Column{Name: "marital", Kind: frame.Categorical,
			Texts: []string{"Never", "Married", "Divorced", "Married"}},
		frame.Column{Name: "rich", Kind: frame.Categorical, Texts: []string{"no", "yes", "no", "yes"}}))
}

// The reference is the one that was stated, in a file of the schema and in a codebook too; one that is no category is
// an error before there are records.
func TestReference(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	must.Do(married().Save(path))
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), `"reference": "Married"`) {
		t.Errorf("%s (%v)", text, err)
	}
	s := must.Get(frame.LoadSchema(path))
	d := must.Get(frame.NewDesign(marriedTable(t), s, frame.DesignSettings{Label: "rich", Centred: true, RowNorm: 1}))
	var names []string
	for _, e := range d.Encoding.Effects(nil, 0, nil) {
		names = append(names, e.Name)
	}
	if got := strings.Join(names, "|"); got !=
		"age: 17 → 90|marital=Never|marital=Divorced|marital missing|bias" {
		t.Error(got)
	}
	if r := d.Encoding.References(); len(r) != 1 || r[0] != "marital=Married" {
		t.Error(r)
	}
	for _, f := range []frame.Field{frame.CategoricalField("m", "a", "bee").Against("beee"),
		frame.NumericField("m", 0, 1).Against("a")} {
		err := (&frame.Schema{Fields: []frame.Field{f}}).Validate()
		if err == nil || !strings.Contains(err.Error(), `"`+f.Reference+`"`) {
			t.Errorf("%v", err)
		}
	}
}

// A contrast is the difference of two effects, and what is none is an error.
func TestContrast(t *testing.T) {
	s := frame.DesignSettings{Label: "rich", Centred: true, RowNorm: 1}
	d := must.Get(frame.NewDesign(marriedTable(t), married(), s))
	all := d.Encoding.Effects(nil, 0, nil)
	c := must.Get(d.Encoding.Contrast(nil, nil, "marital", "Divorced", "Never"))
	floats.Sub(all[2].Weights, all[1].Weights)
	if floats.Distance(all[2].Weights, c.Weights, 2) > 1e-15 || c.Name != "marital: Never → Divorced" {
		t.Errorf("%v, want %v", c, all[2].Weights)
	}
	for _, bad := range [][3]string{{"age", "a", "b"}, {"marital", "Wed", "Never"}, {"marital", "Never", ""},
		{"city", "a", "b"}} {
		if _, err := d.Encoding.Contrast(nil, nil, bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("%v is a contrast", bad)
		}
	}
}

// Of rows in units, none of which is scaled, an effect is the difference of two rows to the last bit.
func TestInUnits(t *testing.T) {
	s := frame.DesignSettings{Label: "rich", Centred: true, InUnits: true}
	d := must.Get(frame.NewDesign(marriedTable(t), married(), s))
	norm, ok := d.Encoding.Normed()
	if !(norm > d.Encoding.TypicalNorm()) || !ok || !d.Encoding.Clipped() ||
		matrix.MaxNorm(matrix.Densed(d.Rows)) > d.RowNorm ||
		strings.Contains(fmt.Sprint(d.Encoding.Steps), "scaled down") {
		t.Errorf("norm %v, of typical %v, %v", norm, d.Encoding.TypicalNorm(), d.Encoding.Steps)
	}
	rows := d.Rows.(*matrix.Dense)
	a, b := make([]float64, rows.D), make([]float64, rows.D)
	rows.Row(a, 2)
	rows.Row(b, 3)
	theta := []float64{1.5, 0.2, -0.3, 0.7, 0.1, 2}
	all := d.Encoding.Effects(nil, 0, nil)
	want := floats.Dot(theta, a) - floats.Dot(theta, b)
	got := floats.Dot(all[2].Weights, theta) + floats.Dot(all[0].Weights, theta)*(50.-60)/73
	if !(math.Abs(got-want) <= 1e-14) {
		t.Errorf("the difference of two rows is %v, by effects %v", want, got)
	}
	again, err := d.Encoding.Kept().Encoding()
	if err != nil || !again.Equal(d.Encoding) {
		t.Errorf("is kept otherwise (%v)", err)
	}
	s.RowNorm = 1
	if _, err := frame.NewDesign(marriedTable(t), married(), s); err == nil {
		t.Error("rows in units are scaled")
	}
}

// Imagined records have the mean that was asked for, with hats and without, and rows as others have.
func TestImagined(t *testing.T) {
	schema := married()
	for _, set := range []frame.DesignSettings{{Curves: 8, RowNorm: 1}, {RowNorm: 2}, {InUnits: true}} {
		set.Label, set.Centred = "rich", true
		d := must.Get(frame.NewDesign(marriedTable(t), schema, set))
		width := len(d.Features)
		// A mean that rows can have: that of other imagined rows.
		start := make([]float64, width-1)
		start[width-5], start[width-3], start[0] = 0.1, -0.1, -0.05
		src := noise.NewSeeded(1)
		mean := columnMeans(matrix.Densed(d.Encoding.Imagined(start, 0, 0, 0, 20000, src.Float64)))
		rows := d.Encoding.Imagined(mean[:width-1], 0, 0, 0, 20000, src.Float64)
		if off := floats.Distance(columnMeans(matrix.Densed(rows)), mean, 2); off > 0.06*d.RowNorm {
			t.Errorf("%+v: the mean is off by %v", set, off)
		}
		if long := matrix.MaxNorm(matrix.Densed(rows)); long > d.RowNorm {
			t.Errorf("%+v: rows of %v, want %v at most", set, long, d.RowNorm)
		}
	}
}

func columnMeans(rows *matrix.Dense) []float64 {
	mean := make([]float64, rows.D)
	for i := range rows.N {
		floats.AddScaled(mean, 1/float64(rows.N), rows.Data[i*rows.D:(i+1)*rows.D])
	}
	return mean
}

// Where rows are cut, an effect is the difference between two that are, and of a number the slope of the line that is
// nearest to what is left of it: here all rows are equally far from the mean beside the column.
func TestEffectsOfRowsThatAreCut(t *testing.T) {
	schema := &frame.Schema{Fields: []frame.Field{frame.CategoricalField("a", "x", "y", "z").Against("y"),
		frame.CategoricalField("b", "u", "v"), frame.CategoricalField("rich", "no", "yes")}}
	column := func(name, texts string) frame.Column {
		return frame.Column{Name: name, Kind: frame.Categorical, Texts: strings.Fields(texts)}
	}
	table := must.Get(frame.NewTable(column("a", "x y z x y z"), column("b", "u u u v v v"),
		column("rich", "no yes no yes no yes")))
	d := must.Get(frame.NewDesign(table, schema, frame.DesignSettings{Label: "rich", Centred: true, InUnits: true}))
	mean := []float64{0.5 - 1./3, 0.3 - 1./3, 0.2 - 1./3, 0, 0} // shares of ½, 0.3, 0.2; of b a half each
	const longest = 0.9
	cut := func(square float64) float64 { return math.Min(1, longest/math.Sqrt(square)) }
	of := func(record int) []float64 {
		row := make([]float64, d.Width())
		d.Rows.Row(row, record)
		row = row[:len(mean)]
		floats.Sub(row, mean)
		floats.Scale(cut(floats.Dot(row, row)), row)
		return row[:3]
	}
	for _, f := range d.Encoding.Effects(mean, 0, cut) {
		if f.Name != "a=x" && f.Name != "a=z" {
			continue
		}
		record := map[string]int{"a=x": 0, "a=z": 2}[f.Name]
		want := of(record)
		floats.Sub(want, of(1))
		if !floats.EqualApprox(f.Weights[:3], want, 1e-9) {
			t.Errorf("%s: %v, want %v", f.Name, f.Weights[:3], want)
		}
		c := must.Get(d.Encoding.Contrast(mean, cut, "a", f.Name[2:], "y"))
		if !floats.EqualApprox(c.Weights[:3], want, 1e-9) {
			t.Errorf("%s as a contrast: %v, want %v", f.Name, c.Weights[:3], want)
		}
	}
	// A missing number is compared with the one at which all else of its column is 0.
	schema.Fields[0] = frame.NumericField("a", 0, 10).Typically(4).OrMissing()
	table = must.Get(frame.NewTable(column("a", "? 4 9 ? 4 9"), column("b", "u u u v v v"),
		column("rich", "no yes no yes no yes")))
	d = must.Get(frame.NewDesign(table, schema, frame.DesignSettings{Label: "rich", Centred: true, InUnits: true}))
	for _, mean = range [][]float64{{0.3, 0, 0, 0}, {0.1, 0.6, 0, 0}} { // hardly one is missing, and six in ten
		want, zero := of(0), of(1)
		for j := range 2 {
			want[j] -= zero[j]
		}
		if f := d.Encoding.Effects(mean, 0, cut)[1]; f.Name != "a missing" || !floats.EqualApprox(f.Weights[:2],
			want[:2], 1e-9) {
			t.Errorf("%s: %v, want %v", f.Name, f.Weights[:2], want[:2])
		}
	}
	// Rows that miss it are beside other columns, too: of b, whose halves are a half each.
	mean = []float64{0, 0.6, 0, 0}
	square := 0.0
	for record, share := range []float64{0.6, 0.4} { // 4, which counts as 0
		row := make([]float64, d.Width())
		d.Rows.Row(row, record)
		floats.Sub(row[:2], mean[:2])
		square += share * floats.Dot(row[:2], row[:2])
	}
	half := func(square float64) float64 { return cut(4 * square) }
	if f, want := d.Encoding.Effects(mean, 0, half)[2], half(square+0.5); !(math.Abs(f.Weights[3]-want) <= 0.02) {
		t.Errorf("%s: %v, want about %v", f.Name, f.Weights, want)
	}
}

// Rows that are all cut to half of themselves have half of every effect, straight lines and curves alike.
func TestEffectsOfRowsThatAreHalved(t *testing.T) {
	for _, hats := range []int{0, 8} {
		d := must.Get(frame.NewDesign(marriedTable(t), married(), frame.DesignSettings{Label: "rich", Centred: true,
			InUnits: true, Curves: hats}))
		mean := make([]float64, d.Width()-1)
		mean[0] = 0.2
		whole := d.Encoding.Effects(mean, 0, nil)
		for i, f := range d.Encoding.Effects(mean, 0, func(float64) float64 { return 0.5 }) {
			want := 0.5
			if f.Name == "bias" {
				want = 1
			}
			floats.AddScaled(f.Weights, -want, whole[i].Weights)
			if got := floats.Norm(f.Weights, 2); got > 1e-9 {
				t.Errorf("%d hats: %s differs from %v of it by %v", hats, f.Name, want, got)
			}
		}
	}
}

// Where a number is missing says nothing of where those are that are there: its effect, its shares and its place on the
// scale are those of the same records without the missing ones.
func TestMissingNumbersAreNowhere(t *testing.T) {
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("age", 0, 100).OrMissing(),
		frame.CategoricalField("rich", "no", "yes")}}
	of := func(hats int, missing bool) (effect []float64, shares []float64) {
		rng, ages, texts := noise.NewSeeded(3), make([]float64, 4000), make([]string, 4000)
		for i := range ages {
			ages[i], texts[i] = 20+5*rng.NormFloat64(), []string{"no", "yes"}[i%2]
			if missing && i%5 < 2 {
				ages[i] = math.NaN()
			}
		}
		table := must.Get(frame.NewTable(frame.Column{Name: "age", Numbers: ages},
			frame.Column{Name: "rich", Kind: frame.Categorical, Texts: texts}))
		d := must.Get(frame.NewDesign(table, schema, frame.DesignSettings{Label: "rich", Centred: true, InUnits: true,
			Curves: hats}))
		mean, row := make([]float64, d.Width()-1), make([]float64, d.Width())
		for i := range ages {
			d.Rows.Row(row, i)
			floats.AddScaled(mean, 1/float64(len(ages)), row[:len(mean)])
		}
		c := d.Encoding.Components(mean, 0)[0]
		return d.Encoding.Effects(mean, 0, nil)[0].Weights[:1+hats], c.Shares[:len(c.Knots)]
	}
	for _, hats := range []int{0, 8} {
		effect, shares := of(hats, false)
		missing, lost := of(hats, true)
		floats.Scale(1/0.6, lost)
		if !floats.EqualApprox(missing, effect, 0.02*floats.Norm(effect, 2)) ||
			!floats.EqualApprox(lost, shares, 0.02) {
			t.Errorf("%d hats: %.3f and shares %.3f, where none is missing %.3f and %.3f", hats, missing, lost, effect,
				shares)
		}
	}
}
