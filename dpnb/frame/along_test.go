package frame_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// A column of any kind changes at each of its handles by just what is asked, in a row of the typical norm: between two
// values as its effects say, and, by the bias, altogether. Without a bias no mean can be changed.
func TestChangedColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, set := range []frame.DesignSettings{{Curves: 8}, {RowNorm: 1, Curves: 8}, {Curves: 8, NoBias: true}} {
		set.Label, set.Centred = "y", true
		table := peopleOf(t, []person{{}})
		e := must.Get(frame.NewDesign(table, termed(t), set)).Encoding
		by := 1.0
		if set.RowNorm > 0 {
			by = set.RowNorm / e.TypicalNorm()
		}
		for _, c := range e.Components(nil, 0) {
			want := make([]float64, len(c.Shares))
			for j := range want {
				if want[j] = r.NormFloat64(); c.Bent { // a wave, whose mean is not zero
					want[j] = 2 + 3*math.Sin(4*math.Pi*float64(j)/float64(len(c.Knots)-1))
				}
			}
			if !c.Crossed {
				t.Errorf("%s is not said to be crossed", c.Field.Name)
			}
			change, ok := c.Changed(want)
			if ok != (e.Bias() > 0) {
				t.Fatalf("%+v, %s: %v", set, c.Field.Name, ok)
			}
			// What is the same in all rows, of which the bias alone is more than nothing where the column has no say.
			mean := floats.Dot(c.Of(0).Weights, change)
			for j := range want {
				if got := floats.Dot(c.Of(j).Weights, change) - mean; !(math.Abs(got-want[j]+want[0]) <= 1e-9) {
					t.Errorf("%+v, %s: handle %d changes by %v beside the first, want %v", set, c.Field.Name, j, got,
						want[j]-want[0])
				}
			}
			if !ok {
				continue
			}
			// A record that has the first handle: its own features and the bias make the change.
			own, got := (person{city: "Bern", sex: "f"}).row(8), change[len(change)-1]*e.Bias()
			for k, v := range own {
				got += by * v * change[k]
			}
			if !(math.Abs(got-want[0]) <= 1e-9) {
				t.Errorf("%+v, %s: at the first handle it changes by %v, want %v", set, c.Field.Name, got, want[0])
			}
			if want[0]++; c.Bent { // waves change everywhere or nowhere
				if _, ok := c.Changed(want); ok {
					t.Errorf("one handle of %s changes alone", c.Field.Name)
				}
			}
		}
		few := &frame.Schema{Fields: []frame.Field{frame.NumericField("age", 17, 90), frame.NumericField("pay", 0, 100),
			frame.NumericField("visits", 0, 50), frame.CategoricalField("y", "a", "b")}}
		few = must.Get(few.With(columnsOf(few), frame.Term{Column: "age", With: "visits"}))
		one := []float64{1}
		table = must.Get(frame.NewTable(frame.Column{Name: "age", Numbers: one},
			frame.Column{Name: "pay", Numbers: one}, frame.Column{Name: "visits", Numbers: one},
			frame.Column{Name: "y", Kind: frame.Categorical, Texts: []string{"a"}}))
		for _, c := range must.Get(frame.NewDesign(table, few, set)).Encoding.Components(nil, 0) {
			if c.Crossed != (c.Field.Name != "pay") {
				t.Errorf("%s is crossed: %v", c.Field.Name, c.Crossed)
			}
		}
		// Without a bias what has the mean of zero is allowed.
		c := e.Components(nil, 0)[len(e.Components(nil, 0))-1]
		if _, ok := c.Changed([]float64{1, -1}); !ok {
			t.Errorf("%+v: %s cannot be changed by a contrast", set, c.Field.Name)
		}
	}
}

// What says how a column is written says what rows of termed have (person.row).
func TestCodedColumns(t *testing.T) {
	set := frame.DesignSettings{Label: "y", Centred: true, Curves: 8}
	e := must.Get(frame.NewDesign(peopleOf(t, []person{{}}), termed(t), set)).Encoding
	var all []string
	for _, c := range e.Coded()[:5] {
		all = append(all, fmt.Sprintf("%v %.3g %.3g %.3g %d %d %.3g", c.Missing, c.Fill, c.Typical, c.Reach, c.Hats,
			c.MissingStep, c.Waves))
	}
	want := "false 0.5 0.5 0.5 8 0 [], false 0 0 1 0 0 [], true 0.5 0.5 0.5 0 3 [], true 0.5 0.5 0.5 0 0 " +
		"[0.838 0.419 0.279 0.21], true 0 0 1 8 0 []"
	if got := strings.Join(all, ", "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// What two columns do together is what records say that differ in both, in each and in neither, whichever is named
// first; of columns that are not crossed it is nothing.
func TestTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	e := must.Get(frame.NewDesign(peopleOf(t, []person{{}}), termed(t), frame.DesignSettings{Label: "y", Centred: true,
		Curves: 8})).Encoding
	theta := make([]float64, len(e.Features))
	for j := range theta {
		theta[j] = r.NormFloat64()
	}
	at := map[string]frame.Component{}
	for _, c := range e.Components(nil, 0) {
		at[c.Field.Name] = c
	}
	age, sex, city, pay := at["age"], at["sex"], at["city"], at["pay"]
	apart := func(c frame.Component, i, j int) frame.Effect {
		w := make([]float64, len(theta))
		return frame.Effect{Weights: floats.SubTo(w, c.Of(i).Weights, c.Of(j).Weights)}
	}
	both := func(a person, change ...func(p *person)) float64 {
		var all []person
		for k := range 4 {
			p := a
			for i, f := range change {
				if k>>i&1 == 1 {
					f(&p)
				}
			}
			all = append(all, p)
		}
		d := must.Get(e.Design(peopleOf(t, all)))
		f := make([]float64, 4)
		d.Rows.Margins(f, theta, 0, 4)
		return f[3] - f[2] - f[1] + f[0]
	}
	base := person{age: age.Knots[2], pay: 30, score: 4, hour: 7, visits: 3, city: "Bern", sex: "f"}
	older := func(p *person) { p.age = age.Knots[5] }
	male := func(p *person) { p.sex = "m" }
	oslo := func(p *person) { p.city = "Oslo" }
	for _, c := range []struct {
		a, b   frame.Component
		i, j   int
		change func(p *person)
	}{{age, sex, 1, 0, male}, {age, city, 2, 0, oslo}} {
		one, other := apart(c.a, 5, 2), apart(c.b, c.i, c.j)
		want := both(base, older, c.change)
		for k, w := range [][]float64{c.a.Together(one, c.b, other), c.b.Together(other, c.a, one)} {
			if got := floats.Dot(w, theta); !(math.Abs(got-want) <= 1e-9) {
				t.Errorf("%s and %s (%d): %v together, want %v", c.a.Field.Name, c.b.Field.Name, k, got, want)
			}
		}
		crossed := c.b.Field.Name == "sex"
		if c.a.CrossedWith(c.b) != crossed || c.b.CrossedWith(c.a) != crossed || crossed != (math.Abs(want) > 1e-9) {
			t.Errorf("%s and %s: %v together", c.a.Field.Name, c.b.Field.Name, want)
		}
	}
	if !pay.CrossedWith(city) || pay.CrossedWith(sex) {
		t.Error("pay is crossed with city, and not with sex")
	}
}

// Numbers between knots are spread evenly on the scale, and the knots are among them to the last bit. Values of a
// period are damped to the curve f that makes Σ(f − was)² + c·Σ(Δ²f)² least: f + c·Δ⁴f is what they were.
func TestBetweenAndDamped(t *testing.T) {
	e := must.Get(frame.NewDesign(peopleOf(t, []person{{}}), termed(t), frame.DesignSettings{Label: "y", Centred: true,
		Curves: 8})).Encoding
	for _, c := range e.Components(nil, 0) {
		n := len(c.Knots) - 1
		if c.Field.Kind != frame.Numeric || n < 2 || c.Field.Cuts != nil {
			continue
		}
		all := c.Between(3)
		if len(all) != 3*n+1 {
			t.Fatalf("%s: %d numbers between %d knots", c.Field.Name, len(all), n+1)
		}
		for i, v := range all {
			a := c.Field.Lower + (c.Field.Upper-c.Field.Lower)*float64(i)/float64(3*n)
			if !(math.Abs(v-a) <= 1e-12*c.Field.Upper) || i%3 == 0 && v != c.Knots[i/3] {
				t.Errorf("%s: number %d is %v, want %v", c.Field.Name, i, v, a)
			}
		}
		if !c.Bent {
			continue
		}
		was := make([]float64, n+1)
		for j := range was {
			u := 2 * math.Pi * float64(j) / float64(n)
			was[j] = 2 + 3*math.Sin(2*u) - math.Cos(u) + 0.5*math.Cos(3*u)
		}
		for _, by := range []float64{0, 0.7, 5} {
			f := c.Damped(was, by)
			at := func(j int) float64 { return f(float64((j+n)%n) / float64(n)) }
			for j := range n {
				fourth := at(j-2) - 4*at(j-1) + 6*at(j) - 4*at(j+1) + at(j+2)
				if got := at(j) + by*fourth; !(math.Abs(got-was[j]) <= 1e-9) {
					t.Errorf("%s damped by %v: place %d had %v, want %v", c.Field.Name, by, j, got, was[j])
				}
			}
		}
	}
}

// Of a number with a period the effects are those of its quarters, each against the beginning.
func TestQuarters(t *testing.T) {
	e := must.Get(frame.NewDesign(peopleOf(t, []person{{}}), termed(t), frame.DesignSettings{Label: "y", Centred: true,
		Curves: 8})).Encoding
	var names []string
	for _, f := range e.Effects(nil, 0, nil) {
		if f.Periodic && len(names) < 3 { // crosses follow
			names = append(names, f.Name)
		}
	}
	if got := strings.Join(names, ", "); got != "hour: 0 → 6, hour: 0 → 12, hour: 0 → 18" {
		t.Error(got)
	}
}
