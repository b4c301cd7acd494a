package frame_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

const people = `name,age,city,income
Ann,31,Bern,high
Bob,,Bern,low
Cid, 64 ,?,low
007,18,Rome,high
`

func peopleSchema() *frame.Schema {
	return &frame.Schema{Fields: []frame.Field{
		frame.NumericField("age", 18, 98).OrMissing(),
		frame.CategoricalField("city", "Bern", "Rome", "Oslo").OrMissing(),
		frame.CategoricalField("income", "low", "high"),
	}}
}

// dense returns the rows of a design that is in memory.
func dense(d *frame.Design) *matrix.Dense { return d.Rows.(*matrix.Dense) }

func table(t *testing.T, text string) *frame.Table {
	t.Helper()
	return must.Get(frame.ReadCSV(strings.NewReader(text), nil))
}

func TestReadCSV(t *testing.T) {
	tab := table(t, people)
	age, _ := tab.Column("age")
	if age.Number(0) != 31 || !math.IsNaN(age.Number(1)) || age.Number(2) != 64 || age.Text(2) != "64" {
		t.Errorf("age = %+v", age)
	}
	city, _ := tab.Column("city")
	if city.Text(0) != "Bern" || city.Text(2) != "" || city.Text(3) != "Rome" {
		t.Errorf("city = %+v", city)
	}
	// Texts stay what they are in the file, whatever else is in the column.
	for _, last := range []string{"x9", "9"} {
		id, _ := table(t, "id\n007\n8.10\n"+last+"\n").Column("id")
		if id.Text(0) != "007" || id.Text(1) != "8.10" || id.Text(2) != last {
			t.Errorf("id = %+v", id)
		}
	}
	for _, text := range []string{"a,b\n", "a,b", "\ufeffa,b\r\n"} {
		if tab := table(t, text); tab.Rows() != 0 || strings.Join(tab.Names(), "") != "ab" {
			t.Errorf("%q: %d rows of %q", text, tab.Rows(), tab.Names())
		}
	}
}

func TestDesign(t *testing.T) {
	tab := must.Get(table(t, people).Select("age", "city", "income"))
	d := must.Get(frame.NewDesign(tab, peopleSchema(), frame.DesignSettings{Label: "income"}))
	want := []float64{
		(31. - 18) / 80, 1, 0, 0, 0, 1,
		0.5, 1, 0, 0, 0, 1,
		(64. - 18) / 80, 0, 0, 0, 1, 1,
		0, 0, 1, 0, 0, 1,
	}
	if !floats.EqualApprox(dense(d).Data, want, 1e-15) {
		t.Errorf("rows = %v, want %v", dense(d).Data, want)
	}
	if !floats.Equal(d.Labels, []float64{1, -1, -1, 1}) || d.Target.Classes[1] != "high" {
		t.Errorf("labels = %v, classes %q", d.Labels, d.Target.Classes)
	}
	if got := strings.Join(d.Features, "|"); got != "age|city=Bern|city=Rome|city=Oslo|city missing|bias" {
		t.Errorf("features %s", got)
	}
	// Without scaling, two fields of size at most 1 and the bias: √3.
	if !(math.Abs(d.RowNorm-math.Sqrt(3)) <= 1e-12) {
		t.Errorf("RowNorm = %v", d.RowNorm)
	}
	for _, s := range d.Steps {
		if !strings.HasPrefix(s.Cost, "nothing") {
			t.Errorf("step %q costs %q", s.What, s.Cost)
		}
	}
}

// The bound on the row norm must hold for every row that can be, not only for those that are.
func TestRowNormHolds(t *testing.T) {
	text := "x,z,y\n"
	for _, x := range []string{"-1e300", "0", "0.3", "1", "7", "1e300", "5e-324", "2.7e-162"} {
		for _, z := range []string{"0", "1e-200", "2.7e-162", "0.999999999", "1"} {
			text += x + "," + z + ",a\n"
		}
	}
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("x", 0, 1), frame.NumericField("z", 0, 1),
		frame.CategoricalField("y", "a", "b")}}
	for _, s := range []frame.DesignSettings{{}, {RowNorm: 1}, {ClipNorm: 0.7}, {ClipNorm: 1},
		{RowNorm: 3, NoBias: true}, {NoBias: true}} {
		s.Label = "y"
		d := must.Get(frame.NewDesign(table(t, text), schema, s))
		norms := make([]float64, dense(d).N)
		d.Rows.Norms(norms, 0, dense(d).N)
		if m := floats.Max(norms); m > d.RowNorm || m < 0.99*d.RowNorm {
			t.Errorf("%+v: largest norm %.17g, RowNorm %.17g", s, m, d.RowNorm)
		}
	}
}

func TestDesignBadInput(t *testing.T) {
	base, _ := table(t, people).Select("age", "city", "income")
	for name, c := range map[string]struct {
		table    *frame.Table
		schema   func(*frame.Schema)
		settings frame.DesignSettings
		want     string
	}{
		"no such label": {base, nil, frame.DesignSettings{Label: "wage"}, `no column "wage"`},
		"no label":      {base, nil, frame.DesignSettings{}, "name the column"},
		"not in the schema": {table(t, people), nil, frame.DesignSettings{Label: "income"},
			`"name" is not in the schema`},
		"three classes": {base, func(s *frame.Schema) { s.Fields[2].Levels = append(s.Fields[2].Levels, "mid") },
			frame.DesignSettings{Label: "income"}, "two public categories"},
		"bounds": {base, func(s *frame.Schema) { s.Fields[0].Upper = math.Inf(1) },
			frame.DesignSettings{Label: "income"}, "not finite"},
		"no features": {table(t, "income\nlow\nhigh\n"), nil, frame.DesignSettings{Label: "income"}, "d = 0"},
		"huge bounds": {base, func(s *frame.Schema) { s.Fields[0].Lower, s.Fields[0].Upper = -1e308, 1e308 },
			frame.DesignSettings{Label: "income"}, "divide"},
		"two of one name": {base, func(s *frame.Schema) { s.Fields = append(s.Fields, s.Fields[0]) },
			frame.DesignSettings{Label: "income"}, "two fields"},
		"negative norm": {base, nil, frame.DesignSettings{Label: "income", RowNorm: -1}, "RowNorm"},
		"NaN norm":      {base, nil, frame.DesignSettings{Label: "income", ClipNorm: math.NaN()}, "ClipNorm"},
		"two norms":     {base, nil, frame.DesignSettings{Label: "income", RowNorm: 2, ClipNorm: 1}, "exclude"},
		"no positive": {base, nil, frame.DesignSettings{Label: "income", Positive: "huge"},
			`no category "huge"`},
		"empty category": {base, func(s *frame.Schema) { s.Fields[1].Levels = []string{"Bern", " "} },
			frame.DesignSettings{Label: "income"}, "OrMissing"},
		"filled beyond": {base, func(s *frame.Schema) { s.Fields[0] = s.Fields[0].OrMissingAs(99) },
			frame.DesignSettings{Label: "income"}, "not within"},
		"filled with NaN": {base, func(s *frame.Schema) { s.Fields[0] = s.Fields[0].OrMissingAs(math.NaN()) },
			frame.DesignSettings{Label: "income"}, "not within"},
		"filled category": {base, func(s *frame.Schema) { s.Fields[1] = s.Fields[1].OrMissingAs(1) },
			frame.DesignSettings{Label: "income"}, "OrElse"},
		"else of a number": {base, func(s *frame.Schema) { s.Fields[0] = s.Fields[0].OrElse("old") },
			frame.DesignSettings{Label: "income"}, "OrMissingAs"},
		"else not there": {base, func(s *frame.Schema) { s.Fields[1].Else = "Paris" },
			frame.DesignSettings{Label: "income"}, "not in the list of its categories"},
		"else as third class": {base, func(s *frame.Schema) { s.Fields[2] = s.Fields[2].OrElse("mid") },
			frame.DesignSettings{Label: "income"}, "two public categories"},
		"repeated categories": {base, func(s *frame.Schema) { s.Fields[1].Levels = []string{"Bern", "Rome", "Bern"} },
			frame.DesignSettings{Label: "income"}, "twice"},
	} {
		schema := peopleSchema()
		if c.schema != nil {
			c.schema(schema)
		}
		_, err := frame.NewDesign(c.table, schema, c.settings)
		var in *frame.InputError
		if !errors.As(err, &in) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: err = %v, want it to mention %q", name, err, c.want)
		}
	}
	if _, err := frame.NewDesign(base, nil, frame.DesignSettings{Label: "income"}); err == nil ||
		!strings.Contains(err.Error(), "public schema") {
		t.Errorf("no schema: %v", err)
	}
}

// Also where its fields are taken out and stated as a schema.
func TestInferredSchemaIsMarked(t *testing.T) {
	tab, _ := table(t, people).Select("age", "city", "income")
	inferred := frame.InferSchema(tab)
	stated := &frame.Schema{Fields: slices.Clone(inferred.Fields)}
	stated.Fields[0] = stated.Fields[0].OrMissing()
	for _, schema := range []*frame.Schema{inferred, stated,
		{Fields: append(stated.Fields, frame.NumericField("no such column", 0, 1))},
		{DataDependent: true, Fields: []frame.Field{frame.NumericField("age", 0, 100),
			frame.CategoricalField("city", "Bern", "Rome", "Oslo"), frame.CategoricalField("income", "low", "high")}}} {
		d := must.Get(frame.NewDesign(tab, schema, frame.DesignSettings{Label: "income"}))
		marked := false
		for _, s := range d.Steps {
			marked = marked || strings.Contains(s.Cost, "NOT COVERED")
		}
		again, err := d.Encoding.Kept().Encoding()
		unmarked := d.Encoding.Clone()
		if unmarked.DataDependent = false; d.Encoding.Equal(unmarked) || !d.Encoding.Equal(again) {
			t.Error("bounds read off the data and stated ones are one encoding")
		}
		if !d.DataDependent || !marked || err != nil || !again.DataDependent {
			t.Errorf("bounds read off the data are not marked (%v)", err)
		}
	}
}

// Categories of a column of numbers are named by the shortest text of a number; one that is not listed has none.
func TestCategoriesOfNumbers(t *testing.T) {
	tab := must.Get(frame.NewTable(frame.Column{Name: "x", Numbers: []float64{1, 2.5, math.Copysign(0, -1), 7,
		math.NaN()}},
		frame.Column{Name: "y", Numbers: []float64{0, 1, 0, 1, 0}}))
	schema := &frame.Schema{Fields: []frame.Field{frame.CategoricalField("x", "0", "1", "2.5").OrMissing(),
		frame.CategoricalField("y", "0", "1")}}
	d := must.Get(frame.NewDesign(tab, schema, frame.DesignSettings{Label: "y", NoBias: true}))
	for i, want := range [][]float64{{0, 1, 0, 0}, {0, 0, 1, 0}, {1, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 1}} {
		row := make([]float64, len(d.Features))
		d.Rows.Row(row, i)
		if !slices.Equal(row, want) {
			t.Errorf("row %d is %v of %v, want %v", i, row, d.Features, want)
		}
	}
}

// Bounds that are read off are those of the finite numbers; a column of one number has a unit around it, and one of
// none a unit around zero.
func TestInferredBounds(t *testing.T) {
	tab := table(t, "several,one,none\n3,7,\n-1.5,7,?\n,7,\n+Inf,7,\n")
	for i, want := range [][2]float64{{-1.5, 3}, {6.5, 7.5}, {-0.5, 0.5}} {
		f := frame.InferSchema(tab).Fields[i]
		if f.Kind != frame.Numeric || [2]float64{f.Lower, f.Upper} != want || f.Missing != (i != 1) {
			t.Errorf("%s: %+v, want bounds %v", f.Name, f, want)
		}
	}
}

func TestGotaThereAndBack(t *testing.T) {
	tab := table(t, people)
	records := tab.DataFrame(peopleSchema()).Records()
	back, err := frame.FromDataFrame(func(texts ...dataframe.LoadOption) dataframe.DataFrame {
		return dataframe.LoadRecords(records, append(texts, dataframe.WithTypes(map[string]series.Type{
			"age": series.Float}))...)
	})
	if err != nil {
		t.Fatal(err)
	}
	if b := back.DataFrame(peopleSchema()).Records(); !reflect.DeepEqual(records, b) {
		t.Errorf("%q became %q", records, b)
	}
	if c, _ := back.Column("age"); c.Kind != frame.Numeric {
		t.Error("a type that was given is not kept")
	}
	_, err = frame.FromDataFrame(func(texts ...dataframe.LoadOption) dataframe.DataFrame {
		return dataframe.LoadRecords(records, texts...).Select("nothing")
	})
	if err == nil {
		t.Error("an errored dataframe is accepted")
	}
}

func adultFile(tb testing.TB) string {
	for _, dir := range []string{os.Getenv("DPNB_DATA"), "../../data", "../../../shared/data/adult"} {
		path := filepath.Join(dir, "adult.data")
		if _, err := os.Stat(path); dir != "" && err == nil {
			return path
		}
	}
	tb.Skip("the Adult data are not here; fetch them with: go run ./dpnb/cmd/dpnb data adult")
	return ""
}

func TestAdult(t *testing.T) {
	tab := must.Get(frame.ReadCSVFile(adultFile(t), dataset.AdultCSV()))
	d := must.Get(frame.NewDesign(tab, dataset.AdultSchema(), frame.DesignSettings{Label: "income", RowNorm: 1}))
	if dense(d).N != 32561 || dense(d).D != 109 {
		t.Errorf("Adult is %d × %d, want 32561 × 109", dense(d).N, dense(d).D)
	}
	pos := 0
	for _, y := range d.Labels {
		if y == 1 {
			pos++
		}
	}
	if pos != 7841 { // adult.names: 24.09 % of 32561 earn more than 50K
		t.Errorf("%d positive labels, want 7841", pos)
	}
}

// A header of one column that looks like several with another separator is refused with a word on it; what records hold
// is not looked at, and the header of a good file neither.
func TestOtherSeparatorsAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"age;city;happy\n30;Bern;yes\n": "semicolons", "age\tcity\n30\tBern\n": "tabs", "age;city\n": "semicolons",
		"age\n30;40\n": "", "age;years,city\n1,Bern\n": "", "age\n30\n": "",
	} {
		_, err := frame.ReadCSV(strings.NewReader(text), nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := frame.ReadCSV(strings.NewReader("a;b\n"), &frame.CSVSettings{Header: []string{"a;b"}}); err != nil {
		t.Errorf("a name that was given: %v", err)
	}
}

// What is done to a copy of a schema, by whatever it points to, leaves the schema as it was.
func TestCloneSharesNothing(t *testing.T) {
	s := &frame.Schema{Fields: []frame.Field{frame.NumericField("age", 0, 9).OrMissingAs(3).Typically(4),
		frame.CategoricalField("city", "Bern")}}
	c := s.Clone()
	var shared func(name string, a, b reflect.Value)
	shared = func(name string, a, b reflect.Value) {
		switch a.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			if !a.IsNil() && a.Pointer() == b.Pointer() {
				t.Errorf("%s is shared", name)
			}
		}
		switch a.Kind() {
		case reflect.Struct:
			for i := range a.NumField() {
				shared(name+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
			}
		case reflect.Slice:
			for i := range a.Len() {
				shared(name, a.Index(i), b.Index(i))
			}
		}
	}
	shared("Schema", reflect.ValueOf(*s), reflect.ValueOf(*c))
	if !reflect.DeepEqual(s, c) {
		t.Errorf("%+v, want %+v", c, s)
	}
}
