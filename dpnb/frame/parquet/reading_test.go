package parquet_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// A file of any form that is written as Parquet gives the same records: marks in numbers, encoding, skipped lines, new
// names, dates, texts that mean "missing" and, listed as a category, mean themselves.
func TestACSVFileSurvives(t *testing.T) {
	text := "a title\nage;wage;born;city;code;grade\n" +
		"41,5;1.234,5;03.04.1981;Z\xfcrich;NA;1,50\n" +
		"-;12;31.12.1999;Bern;-;2\n" +
		"-9;99.999;never;Gen\xe8ve;NA;3,0\n"
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	must.Do(os.WriteFile(path, []byte(text), 0o600))
	s := must.Get(frame.ScanCSV(path, &frame.CSVSettings{Comma: ';', Decimal: ',', Thousands: '.', Encoding: "Latin-1",
		Skip: 1, Rename: map[string]string{"wage": "pay"}, Missing: []string{"-", "NA", "-9"}, ChunkRows: 2}))
	first := func(r frame.Row) string { return fmt.Sprintf("%.1s", r.Text("city")) }
	s = must.Get(frame.DeriveText(s, "first", first, "city"))
	whole := must.Get(frame.Collect(s, nil))
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("age", 0, 100), frame.NumericField("pay", 0, 1e5),
		frame.DateField("born", "02.01.2006", "01.01.1900", "01.01.2020"),
		frame.CategoricalField("city", "Zürich", "Bern", "Genève"),
		frame.CategoricalField("code", "NA", "X").OrMissing(),
		frame.CategoricalField("grade", "1.5", "2", "3"), frame.CategoricalField("first", "Z", "B", "G")}}
	design := func(s frame.Scanner) *frame.Design {
		t.Helper()
		table := must.Get(frame.Collect(s, nil))
		return must.Get(frame.NewDesign(table, schema, frame.DesignSettings{Label: "pay", Task: frame.Number}))
	}
	want := design(s)
	if want.Labels[0] != 2*(1234.5/1e5)-1 {
		t.Fatalf("labels %v", want.Labels)
	}
	for _, from := range []frame.Scanner{s, whole} {
		out := filepath.Join(dir, "a.parquet")
		must.Do(parquet.Write(out, from))
		back := must.Get(parquet.Open(out, nil))
		same(t, back, whole, nil)
		got := design(back)
		if !reflect.DeepEqual(got.Rows, want.Rows) || !reflect.DeepEqual(got.Labels, want.Labels) {
			t.Errorf("%v %v, want %v %v", got.Rows, got.Labels, want.Rows, want.Labels)
		}
	}
}

// Which texts mean "missing" is kept by itself, too.
func TestMissingSurvives(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	text := frame.Column{Name: "x", Kind: frame.Categorical, Texts: []string{"-9", "7"}}
	must.Do(text.ReadAs(frame.Reading{Missing: []string{"-9"}}))
	must.Do(parquet.Write(path, must.Get(frame.NewTable(text))))
	back := must.Get(must.Get(frame.Collect(must.Get(parquet.Open(path, nil)), nil)).Column("x"))
	if got, want := back.Reading(), text.Reading(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A reading comes back from JSON, and one that contradicts itself is refused.
func TestReadingThereAndBack(t *testing.T) {
	for _, r := range []frame.Reading{{}, {Decimal: ',', Missing: []string{"-9", "NA"}},
		{Decimal: '.', Thousands: '\''}} {
		text := must.Get(json.Marshal(r))
		var back frame.Reading
		var c frame.Column
		err := json.Unmarshal(text, &back)
		if err = errors.Join(err, c.ReadAs(back)); err != nil || !reflect.DeepEqual(c.Reading(), r) {
			t.Errorf("%+v became %+v, %v", r, c.Reading(), err)
		}
	}
	if err := new(frame.Column).ReadAs(frame.Reading{Decimal: ',', Thousands: ','}); err == nil {
		t.Error("marks that are the same")
	}
}
