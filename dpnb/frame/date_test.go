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

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func staysSchema() *frame.Schema {
	return &frame.Schema{Fields: []frame.Field{
		frame.DateField("admitted", "02.01.2006", "01.01.2020", "31.12.2020"),
		frame.MonthField("born", "2006-01-02"),
		frame.WeekdayField("seen", "1/2/06").OrMissing(),
		frame.YearField("since", "2006", 1990, 2030).OrMissingAs(2010),
		frame.CategoricalField("ill", "no", "yes"),
	}}
}

const stays = "admitted,born,seen,since,ill\n01.01.2020,1970-03-01,11/22/26,2000,yes\n" +
	"31.12.2020,1970-12-31,,soon,no\nlater,x,5/4/20,1980,no\n31.12.2031,2000-02-30,NA,,no\n"

// Dates are days, years, months and weekdays by the field's own rule, whatever else is there.
func TestDates(t *testing.T) {
	tab := table(t, stays)
	d := must.Get(frame.NewDesign(tab, staysSchema(), frame.DesignSettings{Label: "ill", NoBias: true}))
	one := func(i int) (on []string, numbers []float64) {
		for j, name := range d.Features {
			v := dense(d).At(i, j)
			if name == "admitted" || name == "since" {
				numbers = append(numbers, v)
			} else if v == 1 {
				on = append(on, name)
			}
		}
		return on, numbers
	}
	for i, want := range []struct {
		on       string
		admitted float64
		since    float64
	}{{"born=March seen=Sunday", 0, 0.25}, {"born=December seen missing", 1, 0.5}, {"seen=Monday", 0.5, 0},
		{"seen missing", 1, 0.5}} {
		on, numbers := one(i)
		if strings.Join(on, " ") != want.on || numbers[0] != want.admitted || numbers[1] != want.since {
			t.Errorf("row %d: %v, %v, want %+v", i, on, numbers, want)
		}
	}
	m := must.Get(frame.Misfits(tab, staysSchema()))
	var said []string
	for _, x := range m {
		said = append(said, x.Column+" "+x.What)
	}
	want := []string{"admitted no date as 02.01.2006", "admitted above 2020-12-31", "born outside the categories",
		"since no date as 2006", "since below 1990"}
	if !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
	// The same dates as numbers of days, as Parquet has them.
	days := must.Get(frame.NewTable(frame.Column{Name: "x", Numbers: []float64{18262, 18262.75, math.NaN(), 1e300}}))
	v := must.Get(frame.NewValues(&frame.Schema{Fields: []frame.Field{frame.MonthField("x", "")}}, days.Names(),
		[]string{"x"}))
	if got, err := v.Of(days); err != nil || !slices.Equal(got[0], []float64{0, 0, -1, -1}) {
		t.Errorf("%v, %v", got, err)
	}
	bad := frame.DateField("x", "2006-01-02", "2020-01-01", "31.12.2020")
	if _, err := frame.NewValues(&frame.Schema{Fields: []frame.Field{bad}}, days.Names(), []string{"x"}); err == nil {
		t.Error("a bound that is no date is accepted")
	}
}

// A schema that is saved and loaded is the same; what is wrong in a file is named.
func TestSchemaFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schema.json")
	s := staysSchema()
	s.Fields = append(s.Fields, frame.LogField("income", 1, 1e6), frame.NumericField("wealth", 0, 9).Unbounded(),
		frame.CategoricalField("city", "Bern", "Rome").OrElse("other"),
		frame.NumericField("age", 0, 99).OrMissingAs(40))
	must.Do(s.Save(path))
	got, err := frame.LoadSchema(path)
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := frame.InferSchema(table(t, stays)).Save(path); err == nil || !strings.Contains(err.Error(), "read off") {
		t.Errorf("what was read off the data is saved: %v", err)
	}
	x := `{"name":"a","type":"category","categories":["x"]}`
	for text, want := range map[string]string{
		"":                               "schema.json",
		`[],"version":2`:                 "version 2",
		`[]`:                             "no fields",
		`[],"feilds":[]`:                 "feilds",
		`[` + x + `,` + x + `]`:          "two fields",
		`[{"name":"a","type":"nombre"}]`: "number, log",
		`[{"name":"a","type":"number","lower":1}]`:                                  `"a"`,
		`[{"name":"a","type":"number","lower":2,"upper":1}]`:                        `"a"`,
		`[{"name":"a","type":"category","categories":["x"],"lower":2}]`:             `"a"`,
		`[{"name":"a","type":"number","lower":0,"upper":1,"categories":["x"]}]`:     `"a"`,
		`[{"name":"a","type":"category"}]`:                                          `"a"`,
		`[{"name":"a","type":"date, in days","lower":"31.01.2020","upper":2}]`:      `lower is "31.01.2020"`,
		`[{"name":"a","type":"number","lower":"2020-01-31","upper":2}]`:             "want a number",
		`[{"name":"a","type":"category","categories":["x","y"],"else":"z"}]`:        `"z" (else)`,
		"[\n" + x + ",\n" + `{"name":"b","type":"category","kategories":["x"]}]`:    "line 3: field 2",
		"[\n" + x + ",\n\n" + `{"name":"b","type":"number","lower":[1],"upper":2}]`: `line 4: field 2`,
		"[" + x + ",\n" + `{"name":"b",` + "\n" + `"missing":"no"}]`:                "missing is a string",
		"[" + x + ",\n" + `{"name":"b",` + "\n" + `"missing":["no"]}]`:              "missing is an array",
		"[\n" + x + ",\n" + `{"name":"b",` + "\n" + `"type":"number",,}]`:           "line 4: invalid character",
		"[\n" + x + ",\n\n" + x + `]`:                                               "line 4: the schema has two",
		"[\n" + x + ",\n" + `{"name":"b, c","type":""},{"name":"d","type":"","upper":null}]`: "line 3: nothing is " +
			`said yet of "b, c", "d": fill it in, or have dpnb schema check`,
		"[\n" + x + ",":  "line 2:",
		`[` + x + `]} {`: "behind the end",
	} {
		must.Do(os.WriteFile(path, []byte(`{"version":1,"fields":`+text+"}"), 0o600))
		var in *frame.InputError
		if _, err := frame.LoadSchema(path); !errors.As(err, &in) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to mention %q", text, err, want)
		}
	}
	if _, err := frame.LoadSchema(path + "x"); err == nil || !strings.Contains(err.Error(), "schema.jsonx") {
		t.Errorf("%v", err)
	}
	err = s.Fits([]string{"admitted", "born", "seen", "since", "ill", "income", "wealth", "town", "age"})
	if err == nil || !strings.Contains(err.Error(), `"city"`) || !strings.Contains(err.Error(), `"town"`) {
		t.Errorf("%v", err)
	}
}

func TestCodebook(t *testing.T) {
	s := must.Get(frame.ReadCodebook(table(t, "name,type,lower,upper,categories,missing,missingAs,layout\n"+
		"age,number,0,120,,,40,\nward,category,,,A|B | C,yes,,\nadmitted,\"date, in days\",18262,18627,,,,02.01.2006\n"+
		"born,month of a date,,,,,,2006-01-02\nname,ignore,,,,,,\n")))
	month := frame.MonthField("born", "2006-01-02")
	want := &frame.Schema{Fields: []frame.Field{frame.NumericField("age", 0, 120).OrMissingAs(40),
		frame.CategoricalField("ward", "A", "B", "C").OrMissing(),
		frame.DateField("admitted", "02.01.2006", "01.01.2020", "31.12.2020"), month}, Ignored: []string{"name"}}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v, want %+v", s, want)
	}
	for text, want := range map[string]string{
		"name,type,unit\na,number,m\n":                         "unit",
		"name,type,lower\na,number,0\n":                        `"a"`,
		"name,type,lower,upper\na,number,x,1\n":                `"a"`,
		"name,type,categories,missing\na,category,x,perhaps\n": "perhaps",
	} {
		if _, err := frame.ReadCodebook(table(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Bounds of dates may be dates or numbers of days, in Go and in files, in which they are dates again.
func TestBoundsOfDates(t *testing.T) {
	want := frame.DateField("day", "02.01.2006", "31.01.2020", "29.02.2024")
	if want.Lower != 18292 || want.Upper != 19782 {
		t.Fatalf("%+v", want)
	}
	for _, ends := range [][2]string{{"2020-01-31", "2024-02-29"}, {"18292", " 19782 "}} {
		if f := frame.DateField("day", "02.01.2006", ends[0], ends[1]); !reflect.DeepEqual(f, want) {
			t.Errorf("%v: %+v", ends, f)
		}
	}
	if f := frame.DateField("day", "", "2020-01-31", "19782"); f.Lower != want.Lower || f.Upper != want.Upper {
		t.Errorf("without a layout: %+v", f)
	}
	moment := frame.DateField("at", "2006-01-02 15:04:05.000", "2020-01-31 12:00:00.500", "2020-01-31 18:00:00.000")
	if want := 18292.5 + 0.5/86400; !(math.Abs(moment.Lower-want) <= 1e-10) || moment.Upper != 18292.75 {
		t.Errorf("from %.17g to %v, want %.17g to 18292.75", moment.Lower, moment.Upper, want)
	}
	path := filepath.Join(t.TempDir(), "schema.json")
	for i, text := range []string{`"lower": 18292, "upper": 19782, "missingAs": 19000, "missing": true`,
		`"lower": "2020-01-31", "upper": "29.02.2024", "missingAs": "2022-01-08", "missing": true`} {
		text = `{"version": 1, "fields": [{"name": "day", "type": "date, in days", "layout": "02.01.2006", ` + text +
			"}]}"
		must.Do(os.WriteFile(path, []byte(text), 0o600))
		s, err := frame.LoadSchema(path)
		if err != nil || !reflect.DeepEqual(s.Fields[0], want.OrMissingAs(19000)) {
			t.Fatalf("%d: %+v (%v)", i, s, err)
		}
		must.Do(s.Save(path))
		if saved, err := os.ReadFile(path); err != nil || !strings.Contains(string(saved), `"lower": "2020-01-31"`) {
			t.Errorf("%s (%v)", saved, err)
		}
	}
	halves := &frame.Schema{Fields: []frame.Field{want}}
	halves.Fields[0].Lower = 18292.25
	must.Do(halves.Save(path))
	if again, err := frame.LoadSchema(path); err != nil || !reflect.DeepEqual(again, halves) {
		t.Errorf("%+v (%v)", again, err)
	}
	if values, other := want.Words(); values != "a date: 2020-01-31 to 2024-02-29" ||
		other != "2022-02-14, the middle of its bounds; beyond: the bound" {
		t.Errorf("%q, %q", values, other)
	}
}

// Dates in texts need a layout, and one in numbers of days needs none: by the format of the file alone, and before
// anything is paid for, of a table that is scanned too.
func TestDatesWithoutLayout(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	must.Do(os.WriteFile(path, []byte("day,ill\n2020-01-31,no\n"), 0o600))
	scan := must.Get(frame.ScanCSV(path, nil))
	days := must.Get(frame.NewTable(frame.Column{Name: "day", Numbers: []float64{18292}},
		frame.Column{Name: "ill", Kind: frame.Categorical, Texts: []string{"no"}}))
	for _, f := range []frame.Field{frame.DateField("day", "", "2020-01-01", "2020-12-31"),
		frame.MonthField("day", ""), frame.YearField("day", "", 2000, 2030)} {
		s := &frame.Schema{Fields: []frame.Field{f, frame.CategoricalField("ill", "no", "yes")}}
		v := must.Get(frame.NewValues(s, scan.Names(), []string{"day"}))
		_, misfits := frame.Misfits(scan, s)
		planned := must.Get(frame.Planned(scan, s, frame.DesignSettings{Label: "ill"}))
		_, design := planned.Encoding.Stored(scan, frame.Storage{Dir: t.TempDir()})
		for i, err := range []error{v.Check(scan), v.Check(table(t, "day,ill\n")), misfits, design} {
			var in *frame.InputError
			if !errors.As(err, &in) || !strings.Contains(err.Error(), "layout") {
				t.Errorf("%v, %d: %v", f.Part, i, err)
			}
		}
		if err := v.Check(days); err != nil {
			t.Error(err)
		}
		if _, err := frame.NewDesign(days, s, frame.DesignSettings{Label: "ill"}); err != nil {
			t.Error(err)
		}
	}
}

// A layout that writes nothing of a date reads none: every date would count as missing without a word.
func TestLayoutsWithoutADate(t *testing.T) {
	for _, layout := range []string{"YYYY-MM-DD", "dd.mm.yyyy", "15:04", "2019-11-23", "3112.1999", "%Y-%m-%d",
		"2006 Monday"} {
		for _, f := range []frame.Field{frame.DateField("d", layout, "2000-01-01", "2020-01-01"),
			frame.YearField("d", layout, 2000, 2020), frame.MonthField("d", layout), frame.WeekdayField("d", layout)} {
			err := (&frame.Schema{Fields: []frame.Field{f}}).Validate()
			fine := layout == "2006 Monday" && (f.Part == frame.Days || f.Part == frame.Year) ||
				layout[2] == '1' && f.Part == frame.Month // 1 stands for the month
			if fine != (err == nil) || err != nil && !strings.Contains(err.Error(), "2006-01-02") {
				t.Errorf("%v by %q: %v", f.Part, layout, err)
			}
		}
	}
	for _, layout := range []string{"2006-01-02", "02.01.06", "Jan 2 2006 15:04", "2006-002", "_2/1/2006", "20060102"} {
		if err := (&frame.Schema{Fields: []frame.Field{frame.WeekdayField("d", layout)}}).Validate(); err != nil {
			t.Error(err)
		}
	}
	if err := (&frame.Schema{Fields: []frame.Field{frame.MonthField("d", "January")}}).Validate(); err != nil {
		t.Error(err)
	}
}

// A place between two days is written as a day of a long time, and else with its hour.
func TestDatesBetweenDays(t *testing.T) {
	for last, want := range map[string]string{"2023-12-31": "2023-04-15", "2023-02-01": "2023-04-15 06:51"} {
		f := frame.DateField("day", "2006-01-02", "2023-01-01", last)
		if got := (frame.Component{Field: f}).Text(19462.28571); got != want {
			t.Errorf("until %s: %s, want %s", last, got, want)
		}
	}
}

// Numbers are days since 1970, with the time as a share of the day, before it, too; what is too far from it is no date.
func TestPartsOfDays(t *testing.T) {
	days := []float64{0, 0.25, -0.5, 59, 11016 + 1./24, -1, 1e8, -1e8, 1e8 + 1, -1e8 - 1, math.NaN()}
	column := func(name string) frame.Column { return frame.Column{Name: name, Numbers: days} }
	tab := must.Get(frame.NewTable(column("d"), column("h"), column("y"), column("m"), column("w")))
	none := len(days) - 3
	schema := &frame.Schema{Fields: []frame.Field{frame.DateField("d", "", "-2e8", "2e8").OrMissingAs(7),
		frame.HourField("h", "").OrMissingAs(7), frame.YearField("y", "", -300_000, 300_000).OrMissingAs(7),
		frame.MonthField("m", "").OrMissing(), frame.WeekdayField("w", "").OrMissing()}}
	v := must.Get(frame.NewValues(schema, tab.Names(), tab.Names()))
	got := must.Get(v.Of(tab))
	want := [][]float64{slices.Clone(days), {0, 6, 12, 0, 1, 0, 0, 0}, {1970, 1970, 1969, 1970, 2000, 1969, 275760,
		-271821}, {0, 0, 11, 2, 1, 11, 8, 3}, {3, 3, 2, 6, 1, 2, 5, 1}}
	for k, name := range tab.Names() {
		for i := range days {
			var w float64
			switch {
			case i < none:
				w = want[k][i]
			case k < 3:
				w = 7
			case !math.IsNaN(days[i]): // in no category
				w = -1
			default:
				w = []float64{12, 7}[k-3]
			}
			if !(math.Abs(got[k][i]-w) <= 1e-11*math.Abs(w)) || w == math.Trunc(w) && i < 4 && got[k][i] != w {
				t.Errorf("%s of day %v: %v, want %v", name, days[i], got[k][i], w)
			}
		}
	}
}
