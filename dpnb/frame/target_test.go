package frame_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

const visits = `age,city,visits,plan
30,Bern,0,basic
40,Rome,7,plus
50,Bern,25,full
60,Rome,3,basic
`

func visitSchema() *frame.Schema {
	return &frame.Schema{Fields: []frame.Field{
		frame.NumericField("age", 20, 70),
		frame.CategoricalField("city", "Bern", "Rome"),
		frame.NumericField("visits", 0, 10),
		frame.CategoricalField("plan", "full", "basic", "plus", "none"),
	}}
}

func TestTargets(t *testing.T) {
	tab := table(t, visits)
	for name, c := range map[string]struct {
		settings frame.DesignSettings
		schema   func(*frame.Schema)
		want     []float64
		step     string
	}{
		"number": {frame.DesignSettings{Label: "age", Task: frame.Number}, nil, []float64{-0.6, -0.2, 0.2, 0.6},
			"age ∈ [20, 70] moved into its bounds"},
		"moved": {frame.DesignSettings{Label: "visits", Task: frame.Number}, nil, []float64{-1, 0.4, 1, -0.4},
			"[0, 10]"},
		"count": {frame.DesignSettings{Label: "visits", Task: frame.Count}, nil, []float64{0, 7, 10, 3},
			"count visits ∈ [0, 10]"},
		"several": {frame.DesignSettings{Label: "plan", Task: frame.ManyClasses}, nil, []float64{1, 2, 0, 1},
			"4 public categories"},
		"log number": {frame.DesignSettings{Label: "visits", Task: frame.Number},
			func(s *frame.Schema) { s.Fields[2] = frame.LogField("visits", 0, 7) }, []float64{-1, 1, 1, 1.0 / 3},
			"log scale"},
	} {
		schema := visitSchema()
		if c.schema != nil {
			c.schema(schema)
		}
		d, err := frame.NewDesign(tab, schema, c.settings)
		if err != nil {
			t.Fatal(name, err)
		}
		if !floats.EqualApprox(d.Labels, c.want, 1e-14) {
			t.Errorf("%s: labels %v, want %v", name, d.Labels, c.want)
		}
		last := d.Steps[len(d.Steps)-1]
		if !strings.Contains(last.What, c.step) || !strings.HasPrefix(last.Cost, "nothing") ||
			!strings.Contains(last.Assumes, "public") {
			t.Errorf("%s: step %+v", name, last)
		}
		if d.Target.Name != c.settings.Label || d.Target.Task != c.settings.Task {
			t.Errorf("%s: target %+v", name, d.Target)
		}
		// One row at a time gives the same: it costs nothing.
		for i := range tab.Rows() {
			one, err := frame.NewDesign(tab.Slice(i, i+1), schema, c.settings)
			if err != nil || one.Labels[0] != d.Labels[i] {
				t.Errorf("%s: the label of row %d depends on other rows (%v)", name, i, err)
			}
		}
	}
}

// Labels of numbers lie in [−1, 1] whatever the number and its bounds, and Value gives the number back.
func TestTargetThereAndBack(t *testing.T) {
	for _, g := range []frame.Target{
		{Task: frame.Number, Lower: 0, Upper: 99}, {Task: frame.Number, Lower: -1e-300, Upper: 1e-300},
		{Task: frame.Number, Lower: -8e307, Upper: 8e307}, {Task: frame.Number, Lower: 1e4, Upper: 1.5e6, Log: true},
		{Task: frame.Number, Lower: 0.1, Upper: 0.3, Log: true}, {Task: frame.Count, Lower: 0, Upper: 9},
	} {
		for k := 0; k <= 100; k++ {
			share := float64(k) / 100
			v := g.Lower + share*(g.Upper-g.Lower)
			y := g.Label(v)
			if g.Task == frame.Number && !(y >= -1 && y <= 1) {
				t.Errorf("%+v: label %v of %v", g, y, v)
			}
			if g.Task == frame.Count {
				v = math.RoundToEven(v)
			}
			if back := g.Value(y); !(math.Abs(back-v) <= 1e-12*(g.Upper-g.Lower)) || back < g.Lower || back > g.Upper {
				t.Errorf("%+v: %v came back as %v", g, v, back)
			}
		}
		if g.Label(math.MaxFloat64) != g.Label(g.Upper) || g.Label(-math.MaxFloat64) != g.Label(g.Lower) {
			t.Errorf("%+v: values beyond the bounds are not moved", g)
		}
		if g.Task == frame.Number && (g.Value(1.7) != g.Upper || g.Value(-3) != g.Lower) {
			t.Errorf("%+v: predictions beyond the bounds are not moved", g)
		}
	}
}

func TestTargetBadInput(t *testing.T) {
	number := frame.DesignSettings{Label: "visits", Task: frame.Number}
	count := frame.DesignSettings{Label: "visits", Task: frame.Count}
	several := frame.DesignSettings{Label: "plan", Task: frame.ManyClasses}
	for name, c := range map[string]struct {
		text     string
		field    *frame.Field
		settings frame.DesignSettings
		want     string
	}{
		"categories": {visits, &frame.Field{Name: "visits", Kind: frame.Categorical, Levels: []string{"0", "3"}},
			number, "lists categories"},
		"bounds":         {visits, &frame.Field{Name: "visits", Lower: 3, Upper: 3}, number, "lower < upper"},
		"broken bound":   {visits, &frame.Field{Name: "visits", Lower: 0, Upper: 2.5}, count, "whole numbers"},
		"negative bound": {visits, &frame.Field{Name: "visits", Lower: -1, Upper: 2}, count, "whole numbers"},
		"broken fill": {visits, func() *frame.Field {
			f := frame.NumericField("visits", 0,
				9).OrMissingAs(2.5)
			return &f
		}(), count, "whole number"},
		"log count": {visits, &frame.Field{Name: "visits", Lower: 0, Upper: 2, Log: true}, count,
			"logarithmic"},
		"one class": {visits, &frame.Field{Name: "plan", Kind: frame.Categorical, Levels: []string{"basic"}},
			several, "at least two"},
		"numeric classes": {visits, &frame.Field{Name: "plan", Lower: 0, Upper: 1}, several, "one of several classes"},
		"positive number": {visits, nil, frame.DesignSettings{Label: "visits", Task: frame.Number, Positive: "3"},
			"Positive"},
		"no such task": {visits, nil, frame.DesignSettings{Label: "visits", Task: 9}, "Task"},
		"not in the schema": {visits, &frame.Field{Name: "visits"}, frame.DesignSettings{Label: "age",
			Task: frame.Number}, "public bounds"},
	} {
		schema := visitSchema()
		if name == "not in the schema" {
			schema.Fields = schema.Fields[1:]
			c.field = nil
		}
		for i := range schema.Fields {
			if c.field != nil && schema.Fields[i].Name == c.field.Name {
				schema.Fields[i] = *c.field
			}
		}
		_, err := frame.NewDesign(table(t, c.text), schema, c.settings)
		var in *frame.InputError
		if !errors.As(err, &in) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: err = %v, want it to mention %q", name, err, c.want)
		}
	}
}

// Bounds of a target that were read off the data are marked.
func TestInferredTargetIsMarked(t *testing.T) {
	tab := table(t, visits)
	for _, s := range []frame.DesignSettings{{Label: "visits", Task: frame.Number},
		{Label: "visits", Task: frame.Count}, {Label: "plan", Task: frame.ManyClasses}} {
		d := must.Get(frame.NewDesign(tab, frame.InferSchema(tab), s))
		if last := d.Steps[len(d.Steps)-1]; !d.DataDependent || !strings.Contains(last.Cost, "NOT COVERED") {
			t.Errorf("%v: %+v", s.Task, last)
		}
	}
}
