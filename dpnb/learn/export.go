package learn

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/mechanism/additive"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
)

// exportVersion is that of docs/export.md, which says what the keys mean and how other programs predict by them;
// exportDated that of models with dates or copies of columns, which a reader of the first would take for numbers, and
// exportDetailed that of models with steps, periods, crosses, products, cells or a calibration, exportPatterned that of
// models with patterns of texts.
const exportVersion, exportDated, exportDetailed, exportPatterned = 1, 2, 3, 4

const exportFormat = "dpnb linear model"

type exported struct {
	Format       string           `json:"format"`
	Version      int              `json:"version"`
	Title        string           `json:"title"`
	MadeWith     string           `json:"made_with"`
	Warning      string           `json:"warning,omitempty"`
	Guarantee    string           `json:"guarantee"`
	Columns      []exportedColumn `json:"columns"`
	Crosses      [][2]string      `json:"crosses,omitempty"`
	Row          exportedRow      `json:"row"`
	Centre       *exportedCentre  `json:"centre"`
	Coefficients [][]float64      `json:"coefficients"`
	Output       exportedOutput   `json:"output"`
}

// exportedColumn is how a value becomes features: of a number Lower to Fill, of a category Categories and Else.
type exportedColumn struct {
	Name    string  `json:"name"`
	Type    string  `json:"type"`
	Of      string  `json:"of,omitempty"`
	Date    string  `json:"date,omitempty"`
	Centred bool    `json:"centred"`
	Missing bool    `json:"missing_is_a_feature"`
	Lower   float64 `json:"lower"`
	Upper   float64 `json:"upper"`
	Scale   string  `json:"scale,omitempty"`
	Fill    float64 `json:"missing_share"`
	Typical float64 `json:"typical_share"`
	Reach   float64 `json:"reach"`
	Hats    int     `json:"hats"`
	About   string  `json:"hats_about,omitempty"`
	// Cuts are those of steps, among which one that is missing is in Step; Waves are the weights of a period's.
	Cuts  []float64 `json:"cuts,omitempty"`
	Step  int       `json:"missing_step,omitempty"`
	Waves []float64 `json:"waves,omitempty"`

	Patterns   []frame.Pattern `json:"patterns,omitempty"`
	Categories []string        `json:"categories,omitempty"`
	Else       string          `json:"else,omitempty"`
}

type exportedRow struct {
	Norm float64 `json:"norm"`
	Clip float64 `json:"clip"`
	Bias float64 `json:"bias"`
}

type exportedCentre struct {
	RowNorm float64   `json:"row_norm"`
	Mean    []float64 `json:"mean"`
	Scale   float64   `json:"scale"`
	Bias    float64   `json:"bias"`
	// Pairs are the first feature and the number of features of each column whose products rows have.
	Pairs       [][2]int        `json:"pairs,omitempty"`
	ProductNorm float64         `json:"product_norm,omitempty"`
	Cells       []exportedCells `json:"cells,omitempty"`
}

type exportedCells struct {
	Column string  `json:"column"`
	At     float64 `json:"at"`
	Middle int     `json:"middle"`
	Knots  int     `json:"knots"`
	Norm   float64 `json:"norm"`
}

type exportedCalibration struct {
	Slope     float64 `json:"slope"`
	Intercept float64 `json:"intercept"`
	How       string  `json:"how"`
}

type exportedOutput struct {
	Type    string    `json:"type"`
	Column  string    `json:"column"`
	Classes []string  `json:"classes,omitempty"`
	Link    string    `json:"link"`
	Width   float64   `json:"width,omitempty"`
	Margin  float64   `json:"margin,omitempty"`
	Lower   float64   `json:"lower"`
	Upper   float64   `json:"upper"`
	Scale   string    `json:"scale,omitempty"`
	Levels  []float64 `json:"levels,omitempty"`
	// Calibration is of the log-odds of two classes.
	Calibration *exportedCalibration `json:"calibration,omitempty"`
}

// Export writes the model to a JSON file of a documented form (docs/export.md), by which programs in other languages
// predict without this module. Save keeps all of a model, Export what a prediction needs.
//
// Errors: no model; one without privacy, whose coefficients were not released; one of step functions, or
// with crosses of lines; those of the file system.
func (m *Model) Export(path string) error {
	text, err := m.ExportText()
	if err != nil {
		return err
	}
	return atomicfile.Write(path, text)
}

// ExportText is what Export writes.
func (m *Model) ExportText() ([]byte, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	if m.release == nil {
		return nil, errors.New("dpnb: a fit without privacy is not exported: its coefficients can give records away")
	}
	k, also := m.encoding.Kept(), m.also()
	if _, steps := also.(*additive.Cells); steps {
		return nil, errors.New("dpnb: step functions have no place in the exported form, of linear models: Save has " +
			"all")
	}
	if m.encoding.CrossedBare() {
		return nil, errors.New("dpnb: two numbers that are crossed, or a line of a number for each category where " +
			"the number has a curve, have no place in the exported form: Save has all")
	}
	g := m.release.Guarantee
	out := exported{Format: exportFormat, Version: exportVersion,
		Title: "Private " + m.title + " for " + m.ofWhat(), MadeWith: m.source.Module, Warning: m.warning(),
		Guarantee: g.Words(),
		Row:       exportedRow{Norm: k.Settings.RowNorm, Clip: k.Settings.ClipNorm, Bias: m.encoding.Bias()}}
	coded := m.encoding.Coded()
	for i, f := range k.Fields {
		if f.Part != frame.NoDate || f.Of != "" {
			out.Version = max(out.Version, exportDated)
		}
		if f.Cuts != nil || f.Period != 0 || f.Cross != nil || m.calibration != nil {
			out.Version = max(out.Version, exportDetailed)
		}
		c := exportedOf(f, coded[i])
		for _, p := range f.Patterns {
			p, err := p.Portable()
			if err != nil {
				return nil, err
			}
			c.Patterns, out.Version = append(c.Patterns, p), exportPatterned
		}
		out.Columns = append(out.Columns, c)
	}
	for _, x := range m.encoding.CrossedColumns() {
		out.Crosses = append(out.Crosses, [2]string{k.Fields[x[0]].Name, k.Fields[x[1]].Name})
	}
	theta, width := m.linear(), len(m.encoding.Features)
	if b, ok := also.(*geometry.Bought); ok {
		theta, width = b.Placing(), b.Width()
		out.Centre = &exportedCentre{RowNorm: b.RowNorm, Mean: b.Mean, Scale: b.Scale, Bias: b.Bias,
			ProductNorm: b.ProductNorm()}
		for _, s := range b.Pairs {
			out.Centre.Pairs = append(out.Centre.Pairs, [2]int{s.First, s.Len})
		}
		for _, n := range b.Cells {
			c := exportedCells{Column: m.encoding.Features[n.Feature]} // the line of a number has its name
			c.At, c.Middle, c.Knots, c.Norm = n.Knots()
			out.Centre.Cells = append(out.Centre.Cells, c)
		}
		if len(b.Pairs)+len(b.Cells) > 0 {
			out.Version = max(out.Version, exportDetailed)
		}
	}
	for one := range slices.Chunk(theta, width) {
		out.Coefficients = append(out.Coefficients, one)
	}
	out.Output = m.exportedOutput()
	text, err := json.MarshalIndent(out, "", " ")
	return append(text, '\n'), err
}

// scaleOf is the name of a number's scale.
func scaleOf(log, open bool) string {
	switch {
	case open:
		return "open"
	case log:
		return "log"
	}
	return "linear"
}

// exportedOf says how a column is encoded.
func exportedOf(f frame.Field, of frame.Coded) exportedColumn {
	c := exportedColumn{Name: f.Name, Of: f.Of, Type: "category", Centred: of.Centred, Missing: of.Missing}
	if f.Part != frame.NoDate {
		c.Date = [...]string{frame.Days: "days", frame.Year: "year", frame.Month: "month", frame.Weekday: "weekday",
			frame.Hour: "hour"}[f.Part]
	}
	if f.Kind == frame.Categorical {
		c.Categories, c.Else = f.Levels, f.Else
		return c
	}
	c.Type, c.Lower, c.Upper, c.Scale = "number", f.Lower, f.Upper, scaleOf(f.Log, f.Open)
	c.Fill, c.Typical, c.Reach, c.Hats = of.Fill, of.Typical, cmp.Or(of.Reach, 1), of.Hats
	c.Cuts, c.Step, c.Waves = f.Cuts, of.MissingStep, of.Waves
	if of.Centred && !f.Open {
		if c.About = "mean"; f.Typical != nil {
			c.About = "typical"
		}
	}
	return c
}

func (m *Model) exportedOutput() exportedOutput {
	t := m.target
	out := exportedOutput{Column: t.Name, Classes: t.Classes, Lower: t.Lower, Upper: t.Upper, Levels: m.levels,
		Scale: scaleOf(t.Log, t.Open)}
	switch {
	case t.Task == frame.TwoClasses:
		out.Type, out.Link = "two classes", "none"
		if m.probabilities {
			out.Link = "logistic"
			if l, ok := m.link(); ok {
				out.Link, out.Width, out.Margin = "hinge", l.Width, orElse(l.Margin, 1)
			}
		}
		if c := m.calibration; c != nil {
			out.Calibration = &exportedCalibration{c.Slope, c.Intercept, c.How}
		}
	case t.Task == frame.ManyClasses:
		if out.Type, out.Link = "several classes", "softmax"; m.apart {
			out.Link = "one against the others"
		}
	case t.Task == frame.Count:
		out.Type, out.Link = "count", "log"
	case len(m.levels) > 1:
		out.Type, out.Link = "quantiles", "none"
	default:
		out.Type, out.Link = "number", "none"
	}
	return out
}
