package learn

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/logscale"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// Bands draws the predicted quantiles against one numeric feature over its public bounds, with bands between those that
// belong together. The other features are held fixed at the given values, by name, as a text or a number; otherwise a
// number at the middle of its bounds and a category at the schema's first. These values are listed under the axis, or,
// if there are many, in the figure's Alt. No record is read, so the figure shows nothing but what was released.
//
//	bands, err := model.Bands("age", map[string]any{"smoker": "yes"})
//	dpnb.Show(bands, err)
//
// Errors: no model, one of no quantiles, a feature that is not a number, a name that is no feature.
func (m *Model) Bands(feature string, held map[string]any) (*figure.Figure, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	if m.levels == nil {
		return nil, fmt.Errorf("dpnb: bands are of predicted quantiles (Quantiles); this is a %s", m.title)
	}
	f, ok := m.encoding.Field(feature)
	if !ok || f.Kind != frame.Numeric {
		return nil, fmt.Errorf("dpnb: bands are drawn against a numeric feature: %q is not one of %s", feature,
			wording.Names(m.Columns()))
	}
	const points = 101
	x := make([]float64, points)
	for i := range x {
		x[i] = logscale.Place(f.Lower, f.Upper, float64(i)/(points-1), f.Log)
	}
	table, at, err := m.along(feature, x, held)
	if err != nil {
		return nil, err
	}
	q, err := m.PredictQuantiles(DataFrame{records: table})
	if err != nil {
		return nil, err
	}
	title := "Quantiles of " + m.target.Name
	if m.release != nil {
		title = "Private quantiles of " + m.target.Name
	}
	fig := figure.New(title+" against "+feature, axisOf(feature, at), m.target.Name).Warn(m.warning())
	last := len(q) - 1
	for k := range (last + 1) / 2 {
		fig.Band(x, q[k], q[last-k], figure.Blue)
	}
	var ends []string
	for k, name := range levelNames(m.levels) {
		fig.Line("τ = "+name, x, q[k], figure.Blue)
		ends = append(ends, fmt.Sprintf("τ = %s from %.4g to %.4g", name, q[k][0], q[k][points-1]))
	}
	if f.Log && f.Lower > 0 {
		fig.LogX()
	}
	fig.Alt = fmt.Sprintf("predicted quantiles of %s, %s from %g to %g: %s",
		m.target.Name, feature, f.Lower, f.Upper, strings.Join(ends, ", "))
	if len(at) > 0 {
		fig.Alt += "; held at " + strings.Join(at, ", ")
	}
	return fig, nil
}

// Figure draws the intervals: for several quantiles those of one feature against the level τ, else those of all
// features, for which feature is "". An interval without ends is not drawn.
//
// Errors: no intervals, a feature that the model does not have, "" where there are several levels or classes.
func (iv *Intervals) Figure(feature string) (*figure.Figure, error) {
	if iv == nil {
		return nil, errNoIntervals
	}
	m, d := iv.model, len(iv.model.features)
	title := fmt.Sprintf("Intervals of level %g, %s for %s", iv.own.Level, m.title, m.target.Name)
	var at []int // the coefficients that are drawn
	var words []string
	var lower, estimate, upper []float64
	place := slices.IndexFunc(m.features, func(name string) bool { // "age: 18 → 90" is that of age
		return name == feature || strings.HasPrefix(name, feature+": ")
	})
	several := len(iv.own.Estimate) > d
	for j := range iv.own.Estimate {
		if (feature == "" || j%d == place) && !math.IsInf(iv.own.Upper[j]-iv.own.Lower[j], 0) {
			at, lower, upper = append(at, j), append(lower, iv.own.Lower[j]), append(upper, iv.own.Upper[j])
			estimate = append(estimate, iv.own.Estimate[j])
			name := strings.TrimLeft(m.part(j)+" ", " ") + m.features[j%d]
			words = append(words, fmt.Sprintf("%s %.3g to %.3g", name, iv.own.Lower[j], iv.own.Upper[j]))
		}
	}
	switch {
	case feature == "" && several, feature != "" && (place < 0 || len(m.levels) < 2):
		return nil, fmt.Errorf("dpnb: a figure of intervals has one feature of several quantiles (one of %s), or all "+
			"of a model with one set of coefficients (\"\")", strings.Join(m.features, ", "))
	case len(at) == 0:
		return nil, fmt.Errorf("dpnb: there is nothing to draw: no interval has ends (Show says why)")
	}
	var fig *figure.Figure
	if feature == "" {
		fig = figure.New(title, "coefficient", "")
		names := make([]string, len(at))
		for i, j := range at {
			names[i] = m.features[j]
		}
		fig.Intervals(names, lower, estimate, upper, figure.Blue).Vertical("0", 0, len(at), figure.Gray)
	} else {
		fig = figure.New(title, "level τ", "coefficient of "+feature)
		x := make([]float64, len(at))
		for i, j := range at {
			x[i] = m.levels[j/d]
		}
		fig.Band(x, lower, upper, figure.Blue).Line("", x, estimate, figure.Blue).Dots("", x, estimate, figure.Blue)
	}
	fig.Alt = title + ": " + strings.Join(words, ", ")
	return fig.Warn(m.warning()), nil
}

// axisOf is the label of the axis: with where the others are held if that fits under the plot, and else with how many
// of them are. The alternative text has them all.
func axisOf(feature string, at []string) string {
	const fits = 80 // characters: a label has no wider room, and takes it from the plot
	long := feature + ", at " + strings.Join(at, ", ")
	switch {
	case len(at) == 0:
		return feature
	case utf8.RuneCountInString(long) <= fits:
		return long
	}
	return fmt.Sprintf("%s (%d other columns held)", feature, len(at))
}

// along returns records that differ in the feature alone, and where the others are held.
func (m *Model) along(feature string, x []float64, held map[string]any) (*frame.Table, []string, error) {
	columns := []frame.Column{{Name: feature, Numbers: x}}
	var at []string
	names := m.Columns()
	for name := range held {
		if name == feature || !slices.Contains(names, name) {
			return nil, nil, fmt.Errorf("dpnb: %q cannot be held fixed: it is not one of the other features (%s)", name,
				strings.Join(names, ", "))
		}
	}
	for _, name := range names {
		if name == feature {
			continue
		}
		f, _ := m.encoding.Field(name)
		v, given := held[name]
		if f.Kind == frame.Numeric {
			number := logscale.Place(f.Lower, f.Upper, 0.5, f.Log)
			switch v := v.(type) {
			case float64:
				number = v
			case int:
				number = float64(v)
			default:
				if given {
					return nil, nil, fmt.Errorf("dpnb: %s is a number, and held at %v", name, v)
				}
			}
			columns, at = append(columns, frame.Column{Name: name, Numbers: slices.Repeat([]float64{number}, len(x))}),
				append(at, fmt.Sprintf("%s %.4g", name, number))
			continue
		}
		text := f.Levels[0]
		if given {
			if text, ok := v.(string); !ok || !slices.Contains(f.Levels, text) {
				return nil, nil, fmt.Errorf("dpnb: %s has no category %v; it has %s", name, v,
					strings.Join(f.Levels, ", "))
			}
			text = v.(string)
		}
		columns, at = append(columns, frame.Column{Name: name, Kind: frame.Categorical,
			Texts: slices.Repeat([]string{text}, len(x))}), append(at, name+" "+text)
	}
	table, err := frame.NewTable(columns...)
	return table, at, err
}
