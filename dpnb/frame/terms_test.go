package frame_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// termed is a schema of every term, with a column of each kind missing at times.
func termed(t testing.TB) *frame.Schema {
	s := &frame.Schema{Fields: []frame.Field{frame.NumericField("age", 17, 90),
		frame.NumericField("pay", 0, 100).Typically(0), frame.NumericField("score", 0, 10).OrMissing(),
		frame.NumericField("hour", 0, 24).OrMissing(), frame.NumericField("visits", 0, 50).Typically(0).OrMissing(),
		frame.CategoricalField("city", "Bern", "Rome", "Oslo").Against("Rome"), frame.CategoricalField("sex", "f", "m"),
		frame.CategoricalField("y", "a", "b")}}
	return must.Get(s.With(columnsOf(s), frame.Term{Column: "pay", Line: true},
		frame.Term{Column: "score", Steps: []float64{2, 5}},
		frame.Term{Column: "hour", Periodic: true}, frame.Term{Column: "age", With: "sex"},
		frame.Term{Column: "age", With: "pay"}, frame.Term{Column: "visits", With: "hour"},
		frame.Term{Column: "city", With: "sex"}, frame.Term{Column: "city", With: "pay"},
		frame.Term{Column: "score", With: "city"}, frame.Term{Column: "hour", With: "city"},
		frame.Term{Column: "visits", With: "score"}))
}

func columnsOf(s *frame.Schema) (names []string) {
	for _, f := range s.Fields {
		names = append(names, f.Name)
	}
	return names
}

// person is a record of termed.
type person struct {
	age, pay, score, hour, visits float64
	city, sex                     string
}

// peopleOf is a table of them.
func peopleOf(t testing.TB, all []person) *frame.Table {
	columns := make([]frame.Column, 8)
	for k, name := range []string{"age", "pay", "score", "hour", "visits", "city", "sex", "y"} {
		if columns[k].Name = name; k > 4 {
			columns[k].Kind = frame.Categorical
		}
	}
	for _, p := range all {
		for k, v := range []float64{p.age, p.pay, p.score, p.hour, p.visits} {
			columns[k].Numbers = append(columns[k].Numbers, v)
		}
		for k, v := range []string{p.city, p.sex, "a"} {
			columns[5+k].Texts = append(columns[5+k].Texts, v)
		}
	}
	return must.Get(frame.NewTable(columns...))
}

// someone draws a person, with values that are beyond the bounds, missing or no category.
func someone(r *rand.Rand) person {
	number := func(upper float64) float64 {
		switch r.IntN(10) {
		case 0:
			return math.NaN()
		case 1:
			return upper * float64(r.IntN(3)-1)
		}
		return upper * r.Float64()
	}
	return person{number(90), number(100), []float64{0, 2, 4.9, 5, 10, math.NaN()}[r.IntN(6)], number(24), number(50),
		[]string{"Bern", "Rome", "Oslo", "Oslo", "?"}[r.IntN(5)], []string{"f", "m", "m"}[r.IntN(3)]}
}

// row is that of a record before it is scaled, computed otherwise: with hats or without.
func (p person) row(hats int) (row []float64) { return p.rowWith(hats, true) }

// rowWith is row, with or without the hats of crosses.
func (p person) rowWith(hats int, crossed bool) (row []float64) {
	share := func(v, lower, upper, fill float64) float64 {
		if math.IsNaN(v) {
			v = fill
		}
		return (math.Min(math.Max(v, lower), upper) - lower) / (upper - lower)
	}
	curve := func(u, typical, reach float64, less func(k int) float64) (z []float64) {
		z = append(z, (u-typical)/reach)
		for k := range hats {
			z = append(z, math.Max(0, 1-math.Abs(7*u-float64(k)))-less(k))
		}
		return z
	}
	indicators := func(k, of int) []float64 {
		z := make([]float64, of)
		for j := range z {
			if k >= 0 {
				z[j] = -1 / float64(of)
			}
		}
		if k >= 0 {
			z[k]++
		}
		return z
	}
	place := func(of string, all ...string) int {
		for k, v := range all {
			if v == of {
				return k
			}
		}
		return -1
	}
	age := curve(share(p.age, 17, 90, 53.5), 0.5, 0.5, func(int) float64 { return 1. / 8 })
	pay := []float64{share(p.pay, 0, 100, 0)}
	step := 3 // missing
	switch {
	case p.score < 2:
		step = 0
	case p.score < 5:
		step = 1
	case p.score >= 5:
		step = 2
	}
	score := indicators(step, 4)
	hour, none := make([]float64, 9), math.IsNaN(p.hour)
	for k := 1; k <= 4 && !none; k++ {
		at := 2 * math.Pi * float64(k) * share(p.hour, 0, 24, 0)
		w := 12 / math.Sqrt(205) / float64(k)
		hour[2*k-2], hour[2*k-1] = w*math.Cos(at), w*math.Sin(at)
	}
	typical := func(k int) float64 { return math.Max(0, 1-float64(k)) }
	visits := append(curve(share(p.visits, 0, 50, 0), 0, 1, typical), 0)
	if none {
		hour[8] = 1
	}
	if math.IsNaN(p.visits) {
		clear(visits)
		visits[len(visits)-1] = 1
	}
	city, sex := indicators(place(p.city, "Bern", "Rome", "Oslo"), 3), indicators(place(p.sex, "f", "m"), 2)
	for _, z := range [][]float64{age, pay, score, hour, visits, city, sex} {
		row = append(row, z...)
	}
	cross := func(a, b []float64, curved bool) {
		if curved && !crossed {
			a, curved = a[:1], false
		}
		if curved {
			for _, l := range b {
				row = append(row, a[0]*l)
			}
			for _, l := range b {
				for _, h := range a[1:] {
					row = append(row, h*l)
				}
			}
			return
		}
		for _, v := range a {
			for _, l := range b {
				row = append(row, v*l)
			}
		}
	}
	// In the order of the fields that they are said of.
	cross(age, sex, true)
	cross(age[:1], pay, false)
	cross(score, city, false)
	cross(hour[:8], city, false)
	cross(visits[:1], hour[:8], false)
	cross(visits[:1+hats], score, true)
	cross(city, sex, false)
	cross(pay, city, false)
	return row
}

// Rows with every term are those that the schema says, dense ones as sparse ones, none longer than is proved; nothing
// is in the directions that are said to have nothing, and in no others.
func TestRowsOfTerms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var all []person
	for range 400 {
		all = append(all, someone(r))
	}
	all = append(all, person{90, 100, 3, 5, 50, "Oslo", "f"}) // as long as a row can be
	table := peopleOf(t, all)
	for _, set := range []frame.DesignSettings{{RowNorm: 1, Curves: 8}, {RowNorm: 0.5, Curves: 8, NoBias: true},
		{InUnits: true, Curves: 8}, {ClipNorm: 0.7, Curves: 8}, {Curves: 8}, {RowNorm: 1}, {},
		{Curves: 8, CrossedLines: true}} {
		set.Label, set.Centred = "y", true
		d := must.Get(frame.NewDesign(table, termed(t), set))
		if _, sparse := d.Rows.(*matrix.Affine); sparse != (set.Curves > 0) {
			t.Fatalf("%+v: rows are %T", set, d.Rows)
		}
		_, width := d.Rows.Dims()
		norm, _ := d.Encoding.Normed()
		nowhere, most := d.Encoding.Nowhere(), 0.0
		features := mat.NewDense(len(all), width, nil)
		for i, p := range all {
			row := features.RawRowView(i)
			d.Rows.Row(row, i)
			want := p.rowWith(set.Curves, !set.CrossedLines)
			long, target := math.Sqrt(matrix.SumSquares(want)), norm
			if target == 0 || set.RowNorm == 0 && long < target {
				target = long
			}
			if !set.NoBias {
				want = append(want, 1./3*long/target)
			}
			if len(want) != width {
				t.Fatalf("%d features, want %d: %v", width, len(want), d.Features)
			}
			for j := range want {
				want[j] *= target / long
				if !(math.Abs(row[j]-want[j]) <= 1e-13) {
					t.Fatalf("%+v, record %d, %+v: %s is %v, want %v", set, i, p, d.Features[j], row[j], want[j])
				}
			}
			if most = math.Max(most, math.Sqrt(matrix.SumSquares(row))); most > d.RowNorm {
				t.Errorf("%+v, record %d: norm %v of at most %v", set, i, most, d.RowNorm)
			}
			for _, v := range nowhere {
				if of := v.Along(row); !(math.Abs(of) <= 1e-13) {
					t.Errorf("%+v, record %d: %v along a direction from %s on", set, i, of, d.Features[v.First])
				}
			}
		}
		if most < d.RowNorm*(1-1e-12) {
			t.Errorf("%+v: of at most %v no row is longer than %v", set, d.RowNorm, most)
		}
		gram := mat.NewSymDense(width, nil)
		for i, v := range nowhere {
			for j, u := range nowhere {
				x := make([]float64, width)
				v.Add(x, 1)
				want := 0.0
				if i == j {
					want = 1
				}
				if !(math.Abs(u.Along(x)-want) <= 1e-12) {
					t.Errorf("directions %d and %d have the product %v", i, j, u.Along(x))
				}
			}
		}
		gram.SymOuterK(1, features.T())
		var of mat.EigenSym
		of.Factorize(gram, false)
		none := 0
		for _, v := range of.Values(nil) {
			if v < 1e-9*gram.Trace() {
				none++
			}
		}
		if none != len(nowhere) {
			t.Errorf("%+v: rows have nothing in %d directions, and %d are said", set, none, len(nowhere))
		}
	}
}

// An effect is a difference between rows: those of people who differ in one column alone, in the mean over what it is
// crossed with.
func TestEffectsOfTerms(t *testing.T) {
	for _, set := range []frame.DesignSettings{{Curves: 8}, {RowNorm: 1, Curves: 8}} {
		set.Label, set.Centred = "y", true
		d := must.Get(frame.NewDesign(peopleOf(t, []person{{}}), termed(t), set))
		e := d.Encoding
		effects := map[string]frame.Effect{}
		for _, f := range e.Effects(nil, 0, nil) {
			effects[f.Name] = f
			for _, v := range e.Nowhere() {
				if of := v.Along(f.Weights); !(math.Abs(of) <= 1e-12) && f.Name != "bias" {
					t.Errorf("%s has %v where no row has anything", f.Name, of)
				}
			}
		}
		by := 1.0
		if set.RowNorm > 0 {
			by = set.RowNorm / e.TypicalNorm()
		}
		usual := person{40, 50, 3, 6, 10, "Oslo", "f"}
		// mean is that of rows of people who are spread evenly over all that is crossed.
		mean := func(set func(*person)) []float64 {
			sum, count := make([]float64, len(e.Features)-1), 0.0
			for i := range 128 {
				for _, score := range []float64{0, 2, 5, math.NaN()} {
					for _, city := range []string{"Bern", "Rome", "Oslo"} {
						for _, sex := range []string{"f", "m"} {
							u := float64(i) / 127
							p := person{17 + 73*u, 100 * u, score, 24 * u, 50 * u, city, sex}
							set(&p)
							floats.Add(sum, p.row(8))
							count++
						}
					}
				}
			}
			floats.Scale(1/count, sum)
			return sum
		}
		check := func(name string, parts ...[]float64) {
			t.Helper()
			f, ok := effects[name]
			if !ok {
				t.Fatalf("no effect %q in %v", name, reflect.ValueOf(effects).MapKeys())
			}
			for j := range e.Features[:len(e.Features)-1] {
				want := 0.0
				for k, row := range parts {
					want += by * row[j] * float64(1-2*(k%2))
				}
				if !(math.Abs(f.Weights[j]-want) <= 1e-12) {
					t.Fatalf("%s: %v for %s, want %v", name, f.Weights[j], e.Features[j], want)
				}
			}
		}
		check("sex=m", mean(func(p *person) { p.sex = "m" }), mean(func(p *person) { p.sex = "f" }))
		check("city=Oslo", mean(func(p *person) { p.city = "Oslo" }), mean(func(p *person) { p.city = "Rome" }))
		check("score=5 to 10", mean(func(p *person) { p.score = 7 }), mean(func(p *person) { p.score = 1 }))
		check("pay: 0 → 100", mean(func(p *person) { p.pay = 100 }), mean(func(p *person) { p.pay = 0 }))
		check("hour: 0 → 18", mean(func(p *person) { p.hour = 18 }), mean(func(p *person) { p.hour = 24 }))
		at := func(set func(*person)) []float64 { p := usual; set(&p); return p.row(8) }
		check("pay: 0 → 100, city=Bern", at(func(p *person) { p.pay, p.city, p.age = 100, "Bern", 53.5 }),
			at(func(p *person) { p.pay, p.city, p.age = 0, "Bern", 53.5 }))
		check("age: 17 → 90 × pay: 0 → 100", at(func(p *person) { p.age, p.pay = 90, 100 }),
			at(func(p *person) { p.age, p.pay = 17, 100 }), at(func(p *person) { p.age, p.pay = 17, 0 }),
			at(func(p *person) { p.age, p.pay = 90, 0 }))
		check("hour: 0 → 12, city=Bern", mean(func(p *person) { p.hour, p.city = 12, "Bern" }),
			mean(func(p *person) { p.hour, p.city = 0, "Bern" }))
		check("score=2 to 5 × city=Bern", at(func(p *person) { p.score, p.city = 3, "Bern" }),
			at(func(p *person) { p.score, p.city = 1, "Bern" }), at(func(p *person) { p.score, p.city = 1, "Rome" }),
			at(func(p *person) { p.score, p.city = 3, "Rome" }))
		// The line that is nearest to a curve is a sum of rows along it.
		along := effects["age: 17 → 90, sex=m"]
		sum := make([]float64, len(e.Features)-1)
		for k, w := range along.Places {
			floats.AddScaled(sum, w, at(func(p *person) { p.age, p.sex, p.pay = 17+73*float64(k)/127, "m", 50 }))
		}
		check("age: 17 → 90, sex=m", sum)
		c := must.Get(e.Contrast(nil, nil, "score", "missing", "0 to 2"))
		if effects["score missing"] = c; along.Unit != 73 {
			t.Errorf("a unit of %v", along.Unit)
		}
		check("score missing", mean(func(p *person) { p.score = math.NaN() }), mean(func(p *person) { p.score = 1 }))
	}
}

// Terms come back from a file of the schema and from what is kept of an encoding, and rows made without them have none.
func TestTermsAreKept(t *testing.T) {
	s, path := termed(t), filepath.Join(t.TempDir(), "people.json")
	must.Do(s.Save(path))
	again, err := frame.LoadSchema(path)
	if err != nil || !reflect.DeepEqual(again, s) {
		t.Fatalf("%+v, want %+v (%v)", again, s, err)
	}
	d := must.Get(frame.NewDesign(peopleOf(t, []person{{}}), s, frame.DesignSettings{Label: "y", Centred: true,
		Curves:  8,
		RowNorm: 1}))
	text := must.Get(json.Marshal(d.Encoding.Kept()))
	var k frame.Kept
	must.Do(json.Unmarshal(text, &k))
	if e, err := k.Encoding(); err != nil || !e.Equal(d.Encoding) || !reflect.DeepEqual(e.Features, d.Features) {
		t.Errorf("not the same encoding (%v)", err)
	}
	if plain := d.Encoding.Plain(); len(plain.Features) != 5+5+1 || plain.Plain() != plain {
		t.Errorf("plain features %v", plain.Features)
	}
	straight := d.Encoding.Straight()
	var kept []string
	for _, j := range matrix.Outside(d.Encoding.Curves(), len(d.Features)) {
		kept = append(kept, d.Features[j])
	}
	if !reflect.DeepEqual(kept, straight.Features) {
		t.Errorf("without hats %v, want %v", straight.Features, kept)
	}
	var said []string
	for _, step := range d.Steps {
		said = append(said, step.What)
	}
	for _, want := range []string{"pay, a straight line (norm at most 1)",
		"score, in steps: 0 to 2, 2 to 5, 5 to 10 (norm at most 0.866)",
		"hour, with the period 24 (norm at most 1)", "age × sex, the products of what they have (norm at most 0.9682)",
		"visits × score, the products of what they have (norm at most 1.5)"} {
		if !strings.Contains(strings.Join(said, "\n"), want) {
			t.Errorf("%q is not in %q", want, said)
		}
	}
}

// What does not suit is refused by what is public.
func TestTermsThatDoNotSuit(t *testing.T) {
	fields := []frame.Field{frame.NumericField("age", 17, 90), frame.NumericField("pay", 0, 100),
		frame.LogField("wage", 1, 100), frame.NumericField("open", 0, 1).Unbounded(),
		frame.CategoricalField("sex", "f", "m"), frame.CategoricalField("y", "a", "b")}
	s := &frame.Schema{Fields: fields}
	columns := []string{"age", "pay", "wage", "sex", "y"}
	for want, terms := range map[string][]frame.Term{
		"no column \"aeg\"":     {{Column: "aeg", Line: true}},
		"no column \"open\"":    {{Column: "open", Line: true}},
		"between the bounds 17": {{Column: "age", Steps: []float64{17, 65}}},
		"and 90; 95 does not":   {{Column: "age", Steps: []float64{18, 95}}},
		"at least one cut":      {{Column: "age", Steps: nil}},
		"not one period of 24":  {{Column: "pay", Periodic: true, Period: 24}},
		"on its own scale":      {{Column: "wage", Periodic: true}},
		"has categories":        {{Column: "sex", Line: true}},
		"can have one of line":  {{Column: "age", Line: true}, {Column: "age", Steps: []float64{20}}},
		"itself or there twice": {{Column: "age", With: "age"}},
		"to be predicted":       {{Column: "age", With: "y"}},
		"are crossed twice":     {{Column: "age", With: "sex"}, {Column: "sex", With: "age"}},
		"no column \"sexe\"":    {{Column: "age", With: "sexe"}},
		"must rise and lie":     {{Column: "age", Steps: []float64{30, 30}}},
		"which is of centred":   {{Column: "age", Line: true}},
		"more than 16384": {{Column: "age", Steps: many(200)}, {Column: "pay", Steps: many(99)},
			{Column: "age", With: "pay"}},
		"cuts of steps must": {{Column: "age", Steps: []float64{math.NaN()}}},
	} {
		with, err := s.With(columns, terms...)
		set := frame.DesignSettings{Label: "y", Curves: 8 * centred(want), Centred: centred(want) == 1}
		if err == nil {
			_, err = frame.Planned(tableOf(t, columns), with, set)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", terms, err, want)
		}
	}
	if s.Fields[0].Line || s.Fields[0].Cuts != nil {
		t.Error("the schema was changed")
	}
}

func centred(want string) int {
	if want == "which is of centred" {
		return 0
	}
	return 1
}

// many are cuts.
func many(n int) (cuts []float64) {
	for k := range n {
		cuts = append(cuts, 17+73*(float64(k)+0.5)/float64(n))
	}
	return cuts
}

// tableOf is a table without rows.
func tableOf(t *testing.T, names []string) *frame.Table {
	var columns []frame.Column
	for _, name := range names {
		columns = append(columns, frame.Column{Name: name, Numbers: []float64{}})
	}
	table, err := frame.NewTable(columns...)
	if err != nil {
		t.Fatal(fmt.Errorf("%v: %w", names, err))
	}
	return table
}

// A column that must rise has neither products nor cells; a schema's file says it, and no other word.
func TestRisesOfAColumn(t *testing.T) {
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("age", 0, 1), frame.NumericField("pay", 0, 1),
		frame.CategoricalField("y", "x", "z")}}
	columns := []string{"age", "pay", "y"}
	with := must.Get(schema.With(columns, frame.Term{Column: "pay", Rises: -1}))
	path := filepath.Join(t.TempDir(), "schema.json")
	must.Do(with.Save(path))
	again, err := frame.LoadSchema(path)
	if err != nil || !reflect.DeepEqual(again, with) {
		t.Errorf("%v, want %v (%v)", again, with, err)
	}
	rises := must.Get(schema.With(columns, frame.Term{Column: "pay", Rises: 1}))
	if _, err := rises.With(columns, frame.Term{Column: "pay", Rises: 1}); err != nil {
		t.Errorf("said twice: %v", err)
	}
	if _, err := rises.With(columns, frame.Term{Column: "pay", Rises: -1}); err == nil {
		t.Error("a column is to rise and to fall")
	}
	for want, s := range map[string]*frame.Schema{"0 to 1": schema, "0 to 1, rising": rises, "0 to 1, falling": with} {
		if values, _ := s.Fields[1].Words(); values != want {
			t.Errorf("%q, want %q", values, want)
		}
	}
	text := must.Get(os.ReadFile(path))
	must.Do(os.WriteFile(path, bytes.Replace(text, []byte("falling"), []byte("sinking"), 1), 0o600))
	if _, err := frame.LoadSchema(path); err == nil || !strings.Contains(err.Error(), "sinking") {
		t.Errorf("%v", err)
	}
	table := must.Get(frame.NewTable(frame.Column{Name: "age", Numbers: []float64{0, 1}},
		frame.Column{Name: "pay", Numbers: []float64{0, 1}},
		frame.Column{Name: "y", Kind: frame.Categorical, Texts: []string{"x", "z"}}))
	d := must.Get(frame.NewDesign(table, with, frame.DesignSettings{Label: "y", Centred: true, Curves: 8, RowNorm: 1}))
	e := d.Encoding
	if b, s := e.Blocks(), e.Scales(); len(b) != 1 || b[0].First != 0 || len(s) != 1 || s[0].Feature != 0 {
		t.Errorf("products of %v, cells of %v", b, s)
	}
	// Coefficients of a line that falls are allowed, and those of one that rises are not.
	held, theta := e.Held(), make([]float64, len(e.Features))
	theta[9] = -1
	for _, v := range held {
		if !(v.Along(theta) > 0) || len(held) != 7 {
			t.Errorf("%v of a line that falls, %d directions", v.Along(theta), len(held))
		}
	}
	theta[9], theta[12] = 0, 1 // a hat has one that rises
	if along := held[1].Along(theta); !(along < 0) || !(held[2].Along(theta) > 0) {
		t.Errorf("%v where a hat rises", along)
	}
}

// Products of columns are made of the line of a number, all waves of one with a period and the indicators of steps, and
// of no cross; cells are of numbers with hats alone.
func TestProductsOfTerms(t *testing.T) {
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("age", 0, 1), frame.NumericField("hour", 0, 24),
		frame.NumericField("pay", 0, 1), frame.NumericField("rent", 0, 1), frame.CategoricalField("y", "x", "z")}}
	columns := []string{"age", "hour", "pay", "rent", "y"}
	with := must.Get(schema.With(columns, frame.Term{Column: "age", Steps: []float64{0.2, 0.7}},
		frame.Term{Column: "hour", Periodic: true}, frame.Term{Column: "pay", Line: true},
		frame.Term{Column: "age", With: "rent"}))
	var all []frame.Column
	for _, name := range columns[:4] {
		all = append(all, frame.Column{Name: name, Numbers: []float64{0, 1}})
	}
	table := must.Get(frame.NewTable(append(all,
		frame.Column{Name: "y", Kind: frame.Categorical, Texts: []string{"x", "z"}})...))
	d := must.Get(frame.NewDesign(table, with, frame.DesignSettings{Label: "y", Centred: true, Curves: 8, RowNorm: 1}))
	if got := fmt.Sprint(d.Encoding.Blocks()); got != "[{0 3} {3 8} {11 1} {12 1}]" {
		t.Errorf("blocks %s", got)
	}
	if got := d.Encoding.Scales(); len(got) != 1 || got[0].Feature != 12 {
		t.Errorf("scales %v", got)
	}
	want, squares := 0.0, []float64{2. / 3, 1, 1. / 3, 1. / 3}
	for i, a := range squares {
		for _, b := range squares[:i] {
			want += a * b
		}
	}
	want = math.Sqrt(want) / math.Pow(d.Encoding.TypicalNorm(), 2)
	if got := d.Encoding.TypicalProducts(); !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("products of %v, want %v", got, want)
	}
}

// A table is not the public list of its own categories, by whatever name, unless it is public itself.
func TestOwnListIsRefused(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	table := write("people.csv", "city,y\nBern,yes\nRome,no\n")
	must.Do(os.Symlink(table, filepath.Join(dir, "list.csv")))
	write("towns.txt", "Bern\nRome\nOslo\n")
	for list, own := range map[string]bool{"people.csv": true, "list.csv": true, "towns.txt": false} {
		schema := must.Get(frame.LoadSchema(write("schema.json", `{"version":1,"fields":[{"name":"city",
			"type":"category","categoriesFrom":"`+list+`","else":"Rome"},
			{"name":"y","type":"category","categories":["no","yes"]}]}`)))
		for _, public := range []bool{false, true} {
			read := must.Get(frame.ReadCSVFile(table, nil))
			read.Source.Public = public
			_, err := schema.Prepared(read)
			if (err != nil) != (own && !public) || err != nil && !strings.Contains(err.Error(), "the table itself") {
				t.Errorf("%s, public %v: %v", list, public, err)
			}
		}
	}
}

// A draft is refused until its blanks are filled in, and then is a schema.
func TestDraft(t *testing.T) {
	text := string(must.Get(frame.DraftSchema([]string{"age", `a "b"`})))
	if _, err := frame.ParseSchema([]byte(text), ""); err == nil {
		t.Error("blanks are taken")
	}
	for _, f := range []string{`"type": "number", "lower": 0, "upper": 9`,
		`"type": "ignore", "lower": null, "upper": null`} {
		text = strings.Replace(text, `"type": "", "lower": null, "upper": null`, f, 1)
	}
	s, err := frame.ParseSchema([]byte(strings.ReplaceAll(text, `, "categories": null`, "")), "")
	if err != nil || s.Fields[0].Name != "age" || s.Fields[0].Upper != 9 {
		t.Errorf("%v, %v\n%s", s, err, text)
	}
}

// A line of names that is wrong because it has another separator says so, whatever stands between quotation marks.
func TestQuotedSeparators(t *testing.T) {
	for text, want := range map[string]string{"\"x,1\";\"y\"\n1;2\n": "semicolons",
		"\"x;1\",a\"b\n": "quotation mark"} {
		_, err := frame.ReadCSV(strings.NewReader(text), nil)
		if err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "semicolons") != (want == "semicolons") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
