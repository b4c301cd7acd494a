package frame_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Every value has a rule, which is said before a record is seen.
func TestRulesForWhatDoesNotFit(t *testing.T) {
	text := "age,pay,city,ward,plan\n" +
		"-1,abc,Paris,,plus\n" + // below; no number; unknown; missing
		"Inf,,,x,gold\n" + // above; missing; missing; unknown; unknown class
		"nan,1e999,Rome,b,\n" // missing; above; known; known; no class
	schema := &frame.Schema{Fields: []frame.Field{
		frame.NumericField("age", 0, 120), frame.NumericField("pay", 0, 100).OrMissingAs(10),
		frame.CategoricalField("city", "Bern", "Rome"), frame.CategoricalField("ward", "a",
			"b").OrMissing().OrElse("else"),
		frame.CategoricalField("plan", "basic", "plus"),
	}}
	d, err := frame.NewDesign(table(t, text), schema, frame.DesignSettings{Label: "plan", NoBias: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{
		// age, pay, Bern, Rome, a, b, else, missing
		0, 0.1, 0, 0, 0, 0, 0, 1,
		1, 0.1, 0, 0, 0, 0, 1, 0,
		0.5, 1, 0, 1, 0, 1, 0, 0,
	}
	if !floats.EqualApprox(dense(d).Data, want, 1e-15) {
		t.Errorf("rows %v, want %v", dense(d).Data, want)
	}
	if !floats.Equal(d.Labels, []float64{1, -1, -1}) {
		t.Errorf("labels %v: what is no class counts as the negative one", d.Labels)
	}
	var steps []string
	for _, s := range d.Steps {
		steps = append(steps, s.What)
	}
	all := strings.Join(steps, "\n")
	for _, said := range []string{"not a number counts as the middle of its bounds: 60 in age;",
		"missing or not a number counts as the schema says: 10 in pay;",
		"no category, or none, has no indicator in city;", "another text counts as else in ward",
		"what is missing has an indicator of its own in ward;", "anything else counts as basic"} {
		if !strings.Contains(all, said) {
			t.Errorf("no step says %q:\n%s", said, all)
		}
	}
	// The class for others can be stated.
	schema.Fields[4] = schema.Fields[4].OrElse("plus")
	if d, err = frame.NewDesign(table(t, text), schema, frame.DesignSettings{Label: "plan"}); err != nil ||
		!floats.Equal(d.Labels, []float64{1, 1, 1}) {
		t.Errorf("labels %v (%v), others count as plus", d.Labels, err)
	}
	// They count as that class whichever of both is the positive one, as is said.
	for _, other := range []string{"basic", "plus"} {
		for _, positive := range []string{"basic", "plus"} {
			schema.Fields[4].Else = other
			s := frame.DesignSettings{Label: "plan", Positive: positive}
			d = must.Get(frame.NewDesign(table(t, text), schema, s))
			want := []float64{-1, -1, -1}
			for i, class := range []string{"plus", other, other} {
				if class == positive {
					want[i] = 1
				}
			}
			said := d.Steps[len(d.Steps)-1].What
			if !floats.Equal(d.Labels, want) || !strings.Contains(said, "counts as "+other) {
				t.Errorf("with %s positive others, which count as %s, have labels %v; said is %s", positive, other,
					d.Labels, said)
			}
		}
	}
}

// What is said that a missing number counts as is how it is encoded: a row that has it is the same.
func TestWhatMissingIsEncodedAs(t *testing.T) {
	typical := frame.NumericField("typical", 0, 100).Typically(5)
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("middle", 0, 50), typical,
		frame.LogField("log", 1, 10_000), frame.NumericField("filled", 0, 9).OrMissingAs(2),
		frame.NumericField("own", 0, 9).OrMissing(), frame.CategoricalField("else", "a", "b").OrElse("b"),
		frame.NumericField("stepped", 0, 10).Typically(1), frame.CategoricalField("y", "0", "1")}}
	tab := table(t, "middle,typical,log,filled,own,else,stepped,y\n,,,,4.5,,,0\n25,5,100,2,4.5,b,1,0\n"+
		"25,50,100,2,4.5,b,5,0\n")
	for centred, want := range map[bool]string{
		true: "counts as the middle of its bounds: 25 in middle; a value that is missing or not a number counts as " +
			"its typical value: 5 in typical, 1 in stepped; a value that is missing or not a number counts as the " +
			"middle of its bounds on the logarithmic scale: 100 in log; a value that is missing or not a number " +
			"counts as the schema says: 2 in filled; what is missing or not a number has an indicator of its own in " +
			"own; another text, or none, counts as b in else",
		false: "counts as the middle of its bounds: 25 in middle, 50 in typical, 4.5 in own, 5 in stepped; a value",
	} {
		same := 2
		if schema.Fields[6].Cuts = nil; centred {
			schema.Fields[6].Cuts, same = []float64{3}, 1
		}
		d := must.Get(frame.NewDesign(tab, schema, frame.DesignSettings{Label: "y", Centred: centred}))
		row := func(i int) []float64 { return dense(d).Data[i*len(d.Features) : (i+1)*len(d.Features)] }
		if lacks, has := row(0), row(same); !floats.Equal(lacks, has) {
			t.Errorf("centred %v: %v, want %v", centred, lacks, has)
		}
		if said, _ := d.Encoding.WhatMissing(0); !strings.Contains(said, want) {
			t.Errorf("centred %v: %s", centred, said)
		}
		if said, label := d.Encoding.WhatMissing(1); centred && !strings.Contains(said, "5 in typical, and 1 more;") ||
			label != "anything else counts as 0" {
			t.Errorf("centred %v: %s; %s", centred, said, label)
		}
	}
}

// The middle of a logarithmic scale is a root, and shown with few digits; what the schema states is shown as it is.
func TestMiddleOfALogScaleIsShort(t *testing.T) {
	for want, f := range map[string]frame.Field{"122470": frame.LogField("x", 10_000, 1_500_000),
		"99.005": frame.LogField("x", 0, 10_000), "122474.4871": frame.LogField("x", 1, 1e6).OrMissingAs(122474.4871)} {
		_, other := f.Words()
		if said := f.WhatMissing(); !strings.Contains(said, "counts as "+want+":") ||
			!strings.HasPrefix(other, want+", ") {
			t.Errorf("%s: %s; %s", want, said, other)
		}
	}
}

func TestRulesForTargets(t *testing.T) {
	tab := table(t, "x,y\n1,abc\n1,\n1,Inf\n1,-7\n1,2.5\n1,3.5\n")
	for name, c := range map[string]struct {
		field frame.Field
		task  frame.Task
		want  []float64
	}{
		"number":        {frame.NumericField("y", 0, 5), frame.Number, []float64{0, 0, 1, -1, 0, 0.4}},
		"number filled": {frame.NumericField("y", 0, 5).OrMissingAs(5), frame.Number, []float64{1, 1, 1, -1, 0, 0.4}},
		"count":         {frame.NumericField("y", 0, 5), frame.Count, []float64{2, 2, 5, 0, 2, 4}},
		"count filled":  {frame.NumericField("y", 0, 5).OrMissingAs(0), frame.Count, []float64{0, 0, 5, 0, 2, 4}},
		"classes": {frame.CategoricalField("y", "2.5", "-7", "Inf"), frame.ManyClasses,
			[]float64{0, 0, 2, 1, 0, 0}},
		"classes, else": {frame.CategoricalField("y", "2.50", "-7.0", "x").OrElse("x"), frame.ManyClasses,
			[]float64{2, 2, 2, 1, 0, 2}},
	} {
		schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("x", 0, 1), c.field}}
		d, err := frame.NewDesign(tab, schema, frame.DesignSettings{Label: "y", Task: c.task})
		if err != nil {
			t.Fatal(name, err)
		}
		if !floats.EqualApprox(d.Labels, c.want, 1e-15) {
			t.Errorf("%s: labels %v, want %v", name, d.Labels, c.want)
		}
		last := d.Steps[len(d.Steps)-1].What
		if !strings.Contains(last, " counts as ") {
			t.Errorf("%s: the last step is %q", name, last)
		}
	}
}

// A category that is listed is that category, also where its text is one for missing.
func TestListedBeforeMissing(t *testing.T) {
	schema := &frame.Schema{Fields: []frame.Field{frame.CategoricalField("land", "NA", "US").OrMissing(),
		frame.CategoricalField("y", "a", "b")}}
	d := must.Get(frame.NewDesign(table(t, "land,y\nNA,a\nUS,b\n?,a\n"), schema, frame.DesignSettings{Label: "y",
		NoBias: true}))
	if !floats.Equal(dense(d).Data, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}) {
		t.Errorf("rows %v", dense(d).Data)
	}
}

func TestMisfits(t *testing.T) {
	tab := table(t, "age,city,extra\n31,Bern,1\n\n-4,Paris,2\nold,,3\n,Rome,4\n200,Bern ,5\n201,Parma,6\n")
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("age", 0, 120),
		frame.CategoricalField("city", "Bern", "Rome").OrMissing(),
		frame.CategoricalField("gone", "a")}}
	got := must.Get(frame.Misfits(tab, schema))
	type row struct {
		column, what string
		count        int
		lines, texts string
	}
	want := []row{
		{"age", "below 0", 1, "[4]", "[-4]"}, {"age", "no number", 1, "[5]", "[old]"},
		{"age", "missing", 1, "[6]", "[]"},
		{"age", "above 120", 2, "[7 8]", "[200 201]"}, {"city", "outside the categories", 2, "[4 8]", "[Paris Parma]"},
		{"extra", "the column is not in the schema", 0, "[]", "[]"}, {"gone", "the table has no such column", 0, "[]",
			"[]"},
	}
	if len(got) != len(want) {
		t.Fatalf("%d misfits, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		g := got[i]
		if (row{g.Column, g.What, g.Count, fmt.Sprint(g.Lines), fmt.Sprint(g.Texts)}) != w {
			t.Errorf("misfit %d is %+v, want %+v", i, g, w)
		}
	}
	if got, _ = frame.Misfits(table(t, "x,city,age\n"), schema); len(got) != 3 || got[1].Column != "city" ||
		got[1].What != "THERE ARE NO RECORDS" || got[1].Count != 0 {
		t.Errorf("of a file without records: %+v", got)
	}
	// Lines stay those of the file when rows are left out.
	if got, _ = frame.Misfits(tab.Filter(func(i int) bool { return i > 3 }), schema); len(got) < 2 ||
		fmt.Sprint(got[1].Lines) != "[7 8]" {
		t.Errorf("after a filter: %+v", got)
	}
}

// A schema that writes categories or numbers otherwise than the file fits nothing, and the keeper hears why.
func TestMisfitsOfAColumn(t *testing.T) {
	text := "ill,pay,age\n" + strings.Repeat("No,\"1,5\",40\nYes,\"2,5\",41\n", 3)
	for kind, s := range map[string]frame.Scanner{"memory": table(t, text), "scan": scanned(t, text)} {
		got, err := frame.Misfits(s, &frame.Schema{Fields: []frame.Field{frame.CategoricalField("ill", "no", "yes"),
			frame.NumericField("pay", 0, 10), frame.NumericField("age", 0, 120)}})
		if err != nil || len(got) != 4 {
			t.Fatalf("%s: %+v, %v", kind, got, err)
		}
		for i, want := range []string{"NOT ONE", "but for capital letters", "NOT ONE", "it is one with Decimal: ','"} {
			if !strings.Contains(got[i].What, want) || got[i].Count != 6 {
				t.Errorf("%s: %+v, want %q of all", kind, got[i], want)
			}
		}
	}
}

// What stands before a number is cut, also after a minus sign.
func TestTrimPrefix(t *testing.T) {
	s := must.Get(frame.ReadCSV(strings.NewReader("x,y\n£39.57,£ 3\n-£12,- £ 4\n£-7,£\n5,a£5\n"),
		&frame.CSVSettings{TrimPrefix: "£"}))
	want := map[string][]string{"x": {"39.57", "-12", "-7", "5"}, "y": {"3", "-4", "", "a£5"}}
	for name, texts := range want {
		c, _ := s.Column(name)
		if !slices.Equal(c.Texts, texts) {
			t.Errorf("%s: %q, want %q", name, c.Texts, texts)
		}
	}
}

// A text that is no number, and one that is no category, says by which settings it would be one, or be missing.
func TestMisfitsNameTheSetting(t *testing.T) {
	for text, want := range map[string]string{
		"1'347.71": `Thousands: '\''`, "1347,71": "Decimal: ','", "1,347": "Decimal: ',', or Thousands: ','",
		"1,347.5": "Thousands: ','", "1.347,5": "Decimal: ',' and Thousands: '.'", "12 €": `TrimSuffix: " €"`,
		"£39.57": `TrimPrefix: "£"`, "-£39.57": `TrimPrefix: "£"`,
		"CHF 1'200.50": `Thousands: '\'' and TrimPrefix: "CHF"`,
		"£-3 net":      `TrimPrefix: "£" and TrimSuffix: " net"`, "£": "",
		"109 967,14 €": `Decimal: ',' and Thousands: ' ' and TrimSuffix: " €"`, "n/a": `Missing: []string{"n/a"}`,
		"–": `Missing: []string{"–"}`, "twelve": "", "€": "", "1'34": "",
	} {
		tab := must.Get(frame.NewTable(frame.Column{Name: "x", Kind: frame.Categorical, Texts: []string{"1", text}}))
		got := must.Get(frame.Misfits(tab, &frame.Schema{Fields: []frame.Field{frame.NumericField("x", 0, 1e9)}}))
		if want != "" && !strings.HasPrefix(want, "Missing") {
			want = "; it is one with " + want
		} else if want != "" {
			want = `; if it means "missing": set ` + want
		}
		if len(got) != 1 || got[0].What != "no number"+want {
			t.Errorf("%s: %+v, want %q", text, got, want)
		}
	}
}

// The shortcuts of reading say what the library says.
func TestNumbersAreReadAsByStrconv(t *testing.T) {
	texts := append(slices.Clone(oddTexts), "0", "00", "123456789012345", "1234567890123456", "12a", "1.5", " 12",
		"12\u00a0", "-3", "٣")
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"x", "y"})
	for _, text := range texts {
		_ = w.Write([]string{text, "1"})
	}
	w.Flush()
	tab := must.Get(frame.ReadCSV(strings.NewReader(b.String()), &frame.CSVSettings{Missing: []string{"121", "31"}}))
	x, _ := tab.Column("x")
	for i, text := range texts {
		text = strings.TrimSpace(text)
		want, err := strconv.ParseFloat(text, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || text == "121" || text == "31" {
			want = math.NaN()
		}
		if got := x.Number(i); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%q is read as %v, want %v", text, got, want)
		}
	}
}

// Spaces around a category do not count, in the one for others neither.
func TestElseWithSpaces(t *testing.T) {
	schema := &frame.Schema{Fields: []frame.Field{
		frame.CategoricalField("a", "x", "z").OrElse(" other"), frame.CategoricalField("y", "0", "1")}}
	d := must.Get(frame.NewDesign(table(t, "a,y\nw,1\n"), schema, frame.DesignSettings{Label: "y", NoBias: true}))
	if dense(d).At(0, 0) != 0 || dense(d).At(0, 2) != 1 {
		t.Errorf("another text is encoded as %v", dense(d).Data)
	}
}
