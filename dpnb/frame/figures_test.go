package frame

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// What schemas, tables and encodings say, and why others are refused, is as it was: testdata/said.txt.
func TestWhatIsSaid(t *testing.T) {
	var all strings.Builder
	say := func(name string, values ...any) {
		fmt.Fprintf(&all, "%s:", name)
		for _, v := range values {
			if text, ok := v.([]byte); ok {
				v = string(text)
			}
			fmt.Fprintf(&all, " %v", v)
		}
		all.WriteByte('\n')
	}
	dir := t.TempDir()
	must.Do(os.WriteFile(filepath.Join(dir, "list.csv"), []byte("c\na\nb\n"), 0o600))
	must.Do(os.WriteFile(filepath.Join(dir, "more.csv"), []byte("c\nd\n"), 0o600))
	must.Do(os.WriteFile(filepath.Join(dir, "two.csv"), []byte("c,d\na,b\n"), 0o600))
	number := `{"name":"n","type":"number","lower":1,"upper":9,`
	text := `{"name":"n","type":"category","categories":["a","b"],`
	hour := `{"name":"n","type":"hour of a date","layout":"2006-01-02 15","upper":24,"lower":0,`
	for _, field := range []string{number + `"typical":2}`, number + `"curve":"line","missing":true}`,
		number + `"curve":"bent"}`, number + `"steps":[2,5],"missing":true,"missingAs":3}`, number + `"steps":[]}`,
		number + `"steps":["x"]}`, number + `"missingAs":"x"}`, number + `"typical":"x"}`, number + `"period":8}`,
		number + `"period":7}`, number + `"period":8,"steps":[2]}`, number + `"cross":["m"],"monotone":"rising"}`,
		number + `"monotone":"falling"}`, number + `"monotone":"up"}`, number + `"else":"a"}`,
		number + `"reference":"a"}`, number + `"missingAs":10}`, number + `"typical":0}`, number + `"steps":[9]}`,
		number + `"steps":[1]}`, number + `"steps":[5,5]}`, number + `"of":"n"}`, number + `"of":"m"}`,
		number + `"layout":"2006"}`, number + `"cross":["n"]}`, number + `"patterns":[{"match":"x","as":"a"}]}`,
		strings.Replace(number, "number", "number, log", 1) + `"period":8}`,
		strings.Replace(number, "number", "number, log", 1) + `"typical":3}`,
		strings.Replace(number, "number", "number, open", 1) + `"missing":true}`,
		strings.Replace(number, "number", "number, open", 1) + `"typical":3}`,
		strings.Replace(number, "number", "number, open", 1) + `"curve":"line"}`, text + `"else":"b","missing":true}`,
		text + `"else":"c"}`, `{"name":"n","type":"category","categories":["<=1",">1"]}`, text + `"reference":"b"}`,
		text + `"reference":"A"}`, text + `"missingAs":1}`,
		text + `"steps":[2]}`, text + `"monotone":"rising","cross":["m"]}`, text + `"categoriesFrom":"list.csv"}`,
		text + `"patterns":[{"match":"^x","as":"a"},{"match":"z+$","as":"b"}]}`,
		text + `"patterns":[{"match":"(","as":"a"}]}`, text + `"patterns":[{"match":"x","as":"c"}]}`,
		`{"name":"n","type":"category","categories":["a"," a"]}`, `{"name":"n","type":"category","categories":[" "]}`,
		`{"name":"n","type":"category","categories":[]}`, `{"name":"n","type":"category","lower":1}`,
		`{"name":"n","type":"category","categoriesFrom":"list.csv"}`,
		`{"name":"n","type":"category","categoriesFrom":"two.csv"}`, `{"name":"n","type":"ignore"}`,
		`{"type":"ignore"}`,
		hour + `"missing":true}`, `{"name":"n","type":"hour of a date","layout":"2006-01-02 15"}`,
		`{"name":"n","type":"hour of a date","layout":"2006-01-02"}`,
		`{"name":"n","type":"year of a date","layout":"2006-01-02","lower":1990,"upper":2000,"typical":1995}`,
		`{"name":"n","type":"month of a date","layout":"02.01.2006"}`, `{"name":"n","type":"weekday of a date"}`,
		`{"name":"n","type":"weekday of a date","layout":"2006-01-02"}`,
		`{"name":"n","type":"date","layout":"2006-01-02","lower":"2020-01-31","upper":"2021-02-03",
			"steps":["2020-06-01"],"missingAs":"2020-02-01"}`,
		`{"name":"n","type":"date","layout":"2006-01-02","lower":"2020-31-01","upper":"2021-02-03"}`,
		`{"name":"n","type":"numb"}`, `{"name":"n","type":"number","lower":"1","upper":2}`, `{"type":"number"}`,
		`{"name":"n","type":"number","lower":2,"upper":1}`, `{"name":"n","type":"number","lower":0,"upper":1e-310}`,
		`{"name":"n","type":"number, log","lower":0,"upper":99}`, `{"name":"n","type":"number, log","lower":1e-300,
			"upper":1e300}`, `{"name":"n","type":"number","lower":1}`, `{"name":5}`, `{"name":"n","missing":1}`,
		`{"name":"n","type":"number","lower":0,"upper":1,"missing":true},{"name":"n","type":"ignore"}`, `[]`, `{`,
		`{"name":"n","type":"number","lower":{},"upper":1}`, `{"name":"n","lowr":1}`, ``} {
		s, err := ParseSchema(fmt.Appendf(nil, `{"version":1,"fields":[%s]}`, field), dir)
		if say("= "+field, err); err != nil {
			continue
		}
		for i := range s.Fields {
			f := &s.Fields[i]
			values, other := f.Words()
			say("is", values, "|", other, "|", f.WhatMissing(), "|", f.describe(), "|", f.Kind, f.Part, f.inWords())
		}
		say("ignores", s.Ignored, s.Open(), s.Inferred(), s.Like("N"), s.Like("m"), s.Fits([]string{"n", "m"}),
			s.Fits([]string{"N"}), string(must.Get(s.Text())))
	}
	for _, whole := range []string{"", "[]", `{"version":2,"fields":[]}`, `{"version":1}`, `{"version":"1"}`, "{",
		`{"version":1,"fields":1}`,
		`{"version":1,"fields":[{"name":"n"}], "x":1}`, "{} {}"} {
		_, err := ParseSchema([]byte(whole), dir)
		say("whole "+whole, err)
	}
	for _, f := range []Field{{}, {Name: "a", Kind: Numeric, Upper: 1, Part: Month}, {Name: "a", Kind: Numeric,
		Upper: 1,
		Part:  9}, {Name: "a", Kind: Categorical, Levels: []string{"x"}, Open: true}, NumericField("a", math.NaN(), 1),
		NumericField("a", -math.MaxFloat64, math.MaxFloat64), CategoricalField("a", "\xff"), CategoricalField("a", "b").
			OrElse("c"), {Name: "a", Kind: Numeric, Upper: 1, Rises: 2}, {Name: "a", Kind: Numeric, Upper: 1,
			Line:   true,
			Period: 1}, CategoricalField("a", "b").Typically(1), HourField("h", "15"), YearField("y", "2006", 1, 2),
		DateField("d", "2006-01-02", "2020-01-01", "x"), DateField("d", "2006-01-02", "2020-01-01", "2020-01-02")} {
		say("field", f.validate(), f.Name, f.Levels, f.Lower, f.Upper)
	}
	say("tasks", TwoClasses, Number, Count, ManyClasses, Task(7), Numeric, Categorical, FieldTypes())
	say("draft", must.Get(DraftSchema([]string{"a", `b"`, "<c>"})))

	const semi = "a;b;b\n1,5;x.;y\n\n#no;;\n\"q;\"\"r\";?;z.\n"
	for _, c := range []struct {
		text string
		s    CSVSettings
	}{{semi, CSVSettings{Comma: ';', NumberDuplicates: true, Decimal: ',', Comment: '#', TrimSuffix: "."}},
		{semi, CSVSettings{Comma: ';'}}, {semi, CSVSettings{Comma: ';', NumberDuplicates: true, PlainQuotes: true}},
		{"title\na,b\n1,2\n", CSVSettings{Skip: 1, Rename: map[string]string{"a": "c"}}},
		{"a,b\n1,2\n", CSVSettings{Skip: 3}}, {"a,b\n1,2\n", CSVSettings{Rename: map[string]string{"x": "c"}}},
		{"1,2\n3,4\n", CSVSettings{Header: []string{"a", "b"}, Missing: []string{"4"}}},
		{"1,2\n", CSVSettings{Header: []string{"a"}}}, {"a,b\n1\n", CSVSettings{}}, {"a,b\n1,2,3\n", CSVSettings{}},
		{"a\n\"1\n", CSVSettings{}}, {"a,b\n1,\"2\"3\n", CSVSettings{}}, {"", CSVSettings{}}, {"a,a\n", CSVSettings{}},
		{"a,\n1,2\n", CSVSettings{}}, {"a\n\xe4\n", CSVSettings{Encoding: "latin1"}},
		{"a\n\x80\n", CSVSettings{Encoding: "cp1252"}}, {"a\n\xe4\n", CSVSettings{}}, {"a\n",
			CSVSettings{Encoding: "x"}},
		{"\xff\xfea\x00\n\x001\x00\n\x00", CSVSettings{Encoding: "UTF-16"}}, {"\xef\xbb\xbfa\n1\n", CSVSettings{}},
		{"a\n1\n", CSVSettings{Comma: '"'}}, {"a\n1\n", CSVSettings{Decimal: '5'}}, {"a\n1\n", CSVSettings{Comma: ',',
			Decimal: ','}}, {"a\n1\n", CSVSettings{Thousands: '.'}}, {"a\n1\n", CSVSettings{Skip: -1}},
		{"a\n1\n", CSVSettings{Comment: ','}}, {"a;b\n1.234,5;x\n", CSVSettings{Comma: ';', Decimal: ',',
			Thousands: '.'}},
		{"a\n1\n", CSVSettings{ChunkRows: -1}}, {"a;b\n1;2\n", CSVSettings{}}, {"a\r\n1\r\n", CSVSettings{}},
		{"a\n1\n", CSVSettings{Comma: ',', Decimal: '.', Thousands: '\'', Comment: '#'}},
	} {
		table, err := ReadCSV(strings.NewReader(c.text), &c.s)
		if say(fmt.Sprintf("= %q %+v", c.text, c.s), err); err == nil {
			for _, name := range table.Names() {
				column := must.Get(table.Column(name))
				for i := range table.Rows() {
					say(name, column.Text(i), column.Number(i))
				}
			}
			say("as", table.Rows(), fmt.Sprintf("%+v", InferSchema(table).Fields))
		}
	}
	// What is public of how a file is read.
	for _, s := range []*CSVSettings{nil, {Comma: ',', Decimal: '.', ChunkRows: 7}, {Comma: ';', Decimal: ',',
		Thousands: '.', Comment: '#', Encoding: "latin1", ChunkRows: 7, Missing: []string{"?"}, TrimSuffix: " m"}} {
		of := must.Get(ScanCSV(filepath.Join(dir, "list.csv"), s))
		say("seen", of.Origin().Seen(), of.Origin().Told(), must.Get(Together(of, must.Get(ScanCSV(filepath.Join(dir,
			"more.csv"), s)))).Origin().Told())
	}
	// What does not fit, what is refused of settings, and what is said of what was done.
	public := &Schema{Fields: []Field{NumericField("n", 0, 10), LogField("l", 1, 100), CategoricalField("c", "x", "y",
		"z"),
		CategoricalField("two", "no", "yes"), NumericField("o", 0, 1).Unbounded(), MonthField("m", "2006-01-02")}}
	table := must.Get(ReadCSV(strings.NewReader("n,l,c,two,o,m\n3,10,x,no,7,2020-03-04\n-1,0,q,yes,?,2020-13-01\n,1e9,"+
		"z,maybe,-3,x\n11,5,,no,inf,\n"), nil))
	misfits, err := Misfits(table, public)
	say("misfits", err)
	for _, m := range misfits {
		say("misfit", fmt.Sprintf("%+v", m))
	}
	commas := must.Get(ReadCSV(strings.NewReader("n;two\n1.234,5;no\n0.7;yes\n3,5;maybe\n"), &CSVSettings{Comma: ';',
		Decimal: ','}))
	misfits, err = Misfits(commas, public)
	say("by marks", misfits, err)
	unread := must.Get(NewDesign(commas, public, DesignSettings{Label: "two", RowNorm: 1})).Encoding
	found := must.Get(unread.Unread(nil, commas, 0))
	say("unread", found)
	say("unread after three rows", must.Get(unread.Unread(found, commas, 3)))
	own := Column{Name: "x", Kind: Categorical, Texts: []string{"1.5", "none"}}
	err = own.ReadAs(Reading{Missing: []string{"none"}})
	say("read anew", err, own.Reading(), own.Number(0), own.Number(1))
	_, err = Misfits(table, nil)
	say("no schema", err)
	few := must.Get(table.Select("n", "l", "c", "two", "m"))
	for task := range ManyClasses + 1 {
		_, err := NewDesign(few, &Schema{Fields: public.Fields[:3]}, DesignSettings{Label: "two", Task: task})
		say("no field of the label", err)
	}
	for _, s := range []DesignSettings{{}, {Label: "q"}, {Label: "two", Task: 5}, {Label: "two", Task: -1},
		{Label: "n"},
		{Label: "two", RowNorm: -1}, {Label: "two", RowNorm: math.Inf(1)}, {Label: "two", ClipNorm: math.NaN()},
		{Label: "two", RowNorm: 1, ClipNorm: 1}, {Label: "two", Weights: "n"}, {Label: "two", Weights: "c",
			WeightBound: 1},
		{Label: "two", Weights: "two", WeightBound: 1}, {Label: "n", Task: Number, Weights: "n", WeightBound: 1},
		{Label: "c", Task: ManyClasses, ClassWeight: [2]float64{1, 1}}, {Label: "two", Weights: "w", WeightBound: 1},
		{Label: "two", InUnits: true}, {Label: "two", Centred: true, Curves: 2}, {Label: "two", Curves: 5},
		{Label: "two", Centred: true, Curves: 1 << 20}, {Label: "two", Positive: "maybe"}, {Label: "c"},
		{Label: "two", Task: Number}, {Label: "two", Task: Count}, {Label: "n", Task: ManyClasses},
		{Label: "two", Centred: true, InUnits: true, RowNorm: 1}, {Label: "two", RowNorm: 2}, {Label: "two",
			ClipNorm: 3},
		{Label: "two", Centred: true, RowNorm: 1, Curves: 5}, {Label: "two", Centred: true, InUnits: true,
			NoBias: true},
		{Label: "n", Task: Number, Centred: true, Weights: "l", WeightBound: 50}, {Label: "l", Task: Number,
			RowNorm: 1},
		{Label: "n", Task: Count, RowNorm: 1}, {Label: "c", Task: ManyClasses, RowNorm: 1, Positive: "y"},
		{Label: "two", Positive: "no", ClassWeight: [2]float64{0.5, 1}, RowNorm: 1},
		{Label: "two", ClassWeight: [2]float64{0.5, 2}, RowNorm: 1}} {
		d, err := NewDesign(few, public, s)
		if say(fmt.Sprintf("= design %+v", s), err); err != nil {
			continue
		}
		features, label := d.Encoding.WhatMissing(2)
		say("has", d.Features, d.Records(), d.Width(), d.RowNorm, d.Target, d.Labels, "|", features, "|", label)
		for _, step := range d.Steps {
			say("step", fmt.Sprintf("%+v", step))
		}
		_, _, err = d.Encoding.Units()
		e := d.Encoding
		say("knows", err, e.Centred(), e.Clipped(), e.Unscaled(), e.Open(), e.Free(), e.Columns(), e.Crossed(),
			e.References(), e.Coded(), e.Scales())
	}
	d, err := NewDesign(must.Get(table.Select("n", "o", "two")), public, DesignSettings{Label: "two", Centred: true})
	say("open", err, d.Features, d.RowNorm, fmt.Sprintf("%+v", d.Steps), d.Encoding.Open())
	lacking := &Schema{Fields: []Field{NumericField("n", 0, 10).OrMissing(), LogField("l", 1, 100).Typically(5).
		OrMissing(), CategoricalField("two", "no", "yes"), NumericField("o", 0, 1).Unbounded().OrMissing(),
		DateField("m", "2006-01-02", "2020-01-01", "2020-12-31")}}
	for _, terms := range [][]Term{nil, {{Column: "n", Periodic: true, Period: 10}}, {{Column: "n",
		Steps: []float64{4}}}} {
		for i, set := range []DesignSettings{{Centred: true, InUnits: true}, {Centred: true, InUnits: true, Curves: 4},
			{Centred: true}} {
			set.Label = "two"
			few := must.Get(table.Select([][]string{{"n", "l", "m", "two"}, {"n", "l", "m", "two"},
				{"n", "o", "two"}}[i]...))
			d := must.Get(NewDesign(few, must.Get(lacking.With(table.Names(), terms...)), set))
			say("missing is compared with", strings.Join(d.Encoding.MissingAgainst(), "; "))
			for _, c := range d.Encoding.Components(nil, 0) {
				if text := c.Text(2.34567); c.Field.Part != Days && text != "2.346" { // to the digit
					t.Errorf("2.34567 of %s is %s", c.Field.Name, text)
				}
				say("component", c.Field.Name, c.Text(2.34567), c.Text(18300.4), c.Bent, c.Deviation())
			}
		}
	}
	_, err = NewDesign(must.Get(table.Select("n", "o", "two")), public, DesignSettings{Label: "two", RowNorm: 1})
	say("scaled", err)
	for _, terms := range [][]Term{{{Column: "q"}}, {{Column: "n"}}, {{Column: "n", Line: true}, {Column: "n",
		Steps: []float64{
			3}}}, {{Column: "n", Rises: 1}, {Column: "n", Rises: -1}}, {{Column: "n", Rises: 2}}, {{Column: "c",
		Line: true}},
		{{Column: "n", Steps: []float64{11}}}, {{Column: "o", Line: true}}, {{Column: "l", Periodic: true}},
		{{Column: "n",
			With: "q"}}, {{Column: "n", With: "c"}, {Column: "n", Rises: 1}}, {{Column: "n", Periodic: true},
			{Column: "m",
				With: "c"}, {Column: "c", Rises: -1}}, {{Column: "n", Periodic: true, Period: 9}}} {
		s, err := public.With(table.Names(), terms...)
		if say(fmt.Sprintf("= terms %+v", terms), err); err == nil {
			d, err := NewDesign(few, s, DesignSettings{Label: "two", Centred: true, RowNorm: 1, Curves: 4})
			if say("design", err); err == nil {
				say("has", d.Features, fmt.Sprintf("%+v", d.Steps), d.Encoding.CrossedColumns(),
					d.Encoding.CrossedBare())
			}
		}
	}
	for _, p := range []string{"^a|b$", `\d{2,}x{3}?`, `[^a-c\n]`, `(?i)Ab`, `(?s).`, `\bx\B`, `(a*|b+?)c?`,
		`[[:^word:]]`,
		`x{2,5}`, `(?m)^$`, `[^\x00-\x{10FFFF}]`, `\A\z`, `(?P<n>q)`} {
		portable, err := Pattern{Match: p, As: "a"}.Portable()
		say("pattern "+p, portable.Match, err)
	}
	golden.Compare(t, "testdata/said.txt", strings.ReplaceAll(all.String(), dir, "DIR"))
}

// What encodings make of records and say of coefficients is as it was.
func TestFiguresStay(t *testing.T) {
	public := &Schema{Fields: []Field{NumericField("n", 0, 10).OrMissing(), LogField("l", 1, 100).Typically(5),
		CategoricalField("c", "x", "y", "z").OrMissing(), CategoricalField("two", "no", "yes"),
		NumericField("p", 0, 24), NumericField("s", -2, 4)}}
	var rows strings.Builder
	rows.WriteString("n,l,c,two,p,s\n")
	for i := range 12 {
		fmt.Fprintf(&rows, "%d,%d,%s,%s,%d,%g\n", i-1, 1+i*i, []string{"x", "y", "z", ""}[i%4], []string{"no",
			"yes"}[i%2],
			2*i, 0.5*float64(i)-2)
	}
	rows.WriteString("?,-5,q,maybe,x,inf\n")
	table := must.Get(ReadCSV(strings.NewReader(rows.String()), nil))
	terms := [][]Term{nil, {{Column: "n", Line: true}, {Column: "l", Steps: []float64{10, 40}}, {Column: "p",
		Periodic: true},
		{Column: "s", Rises: 1}, {Column: "c", Rises: -1}}, {{Column: "n", With: "c"}, {Column: "l", With: "s"},
		{Column: "p", Steps: []float64{6, 18}}, {Column: "p", With: "c"}}}
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		for i, s := range []DesignSettings{{Label: "two"}, {Label: "two", RowNorm: 2, Positive: "no"}, {Label: "s",
			Task: Number, ClipNorm: 0.8, NoBias: true}, {Label: "two", Centred: true, RowNorm: 1}, {Label: "two",
			Centred: true, RowNorm: 1, Curves: 4}, {Label: "p", Task: Count, Centred: true, InUnits: true, Curves: 3},
			{Label: "c", Task: ManyClasses, Centred: true, RowNorm: 3}, {Label: "l", Task: Number, Centred: true,
				RowNorm: 1,
				Weights: "p", WeightBound: 20, Curves: 5}, {Label: "two", Centred: true, RowNorm: 1, Curves: 4,
				CrossedLines: true, ClassWeight: [2]float64{0.5, 1}}, {Label: "two", Centred: true, Additive: true,
				ClipNorm: 1}} {
			for k, more := range terms {
				schema := must.Get(public.With(table.Names(), more...))
				d, err := NewDesign(table, schema, s)
				name := fmt.Sprintf("%d %d ", i, k)
				if put(name+"design", err); err != nil {
					continue
				}
				e := d.Encoding
				n, width := d.Rows.Dims()
				put(name+"size", n, width, d.RowNorm, d.Labels, d.Target, e.TypicalNorm(), e.TypicalProducts(),
					e.Bias(),
					e.Free())
				row := make([]float64, width)
				for r := range n {
					d.Rows.Row(row, r)
					if r%3 == 0 {
						say(name+"row", row...)
					}
				}
				mean := make([]float64, width)
				for r := range n {
					d.Rows.AddScaled(mean, []float64{1 / float64(n)}, r, r+1)
				}
				if !s.Centred || s.InUnits || s.RowNorm == 0 {
					mean = nil
				}
				scale, shift, err := e.Units()
				put(name+"units", scale, shift, err, e.CrossedColumns())
				norm, ok := e.Normed()
				put(name+"norm", norm, ok, e.Groups(), e.Blocks(), e.Curves(), e.CrossedCurves())
				for _, of := range [][]matrix.Direction{e.Held(), e.Nowhere()} {
					for _, way := range of {
						put(name+"direction", way.First, way.Weights)
					}
				}
				for _, effect := range e.Effects(mean, 0, nil) {
					put(name+"effect", effect.Weights, effect.Line)
				}
				if s.Centred {
					for c, part := range e.Components(mean, 0.01) {
						put(fmt.Sprint(name, "component ", c), part.Shares, part.Spread, part.Knots, part.Line(),
							part.Fixed())
						if part.Knots != nil {
							put("at", part.At(2.5).Weights, part.Between(2))
						}
						put("of", part.Of(0).Weights, part.Of(1).Weights)
					}
				}
				draws := 0.0
				imagined := e.Imagined(mean, 0.01, 0, 0, 3,
					func() float64 { draws += 0.377; return draws - math.Floor(draws) })
				for r := range 3 {
					imagined.Row(row, r)
					say(name+"imagined", row...)
				}
				for _, other := range []*Encoding{e.Plain(), e.Straight(), e.Uncrossed(), e.Weightless(), e.Clone()} {
					put(name+"other", len(other.Features), other.RowNorm, other.Equal(e))
				}
				effect, err := e.Contrast(mean, nil, "c", "z", "x")
				put(name+"contrast", err, effect.Weights)
			}
		}
	})
}
