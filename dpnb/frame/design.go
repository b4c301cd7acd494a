package frame

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Step is one thing that was done to the records, with what it assumed and what it costs in privacy. Its texts are of
// the schema and the settings alone.
type Step struct {
	// What was done, in words.
	What string
	// Assumes is what must be true for the guarantee to hold; empty if nothing.
	Assumes string
	// Cost in privacy, in words: "nothing: …" for a step that treats each record by itself.
	Cost string
}

const costNothing = "nothing: each record is treated by itself"

// DesignSettings says how records are made of a table.
type DesignSettings struct {
	// Label is the column to be predicted. It is in no feature.
	Label string
	// Task is what is to be learnt of it; zero is TwoClasses.
	Task Task
	// Positive is the category of a categorical label that becomes +1; empty means the last one of the schema.
	Positive string
	// RowNorm scales every row of features to this Euclidean norm; zero does not.
	RowNorm float64
	// ClipNorm scales down only rows that are longer; zero does not.
	ClipNorm float64
	// Centred has numbers about their typical value, of size at most 1, indicators less their mean over the categories,
	// and a constant of a third: what all records share then takes little of the norm of a row. docs/theory/geometry.md
	Centred bool
	// Curves is the number K ≥ 3 of hats (linear B-splines) that every number within bounds has beside its own feature,
	// so that what is learnt of it can bend; 0 is none. Rows are Centred then.
	Curves int
	// CrossedLines has crosses of numbers with categories be of lines, though numbers have hats of their own.
	CrossedLines bool `json:",omitempty"`
	// Additive says that rows are to have nothing of two columns, and no finer cells of a number, beside their own
	// features, whoever learns from them.
	Additive bool
	// InUnits has Centred rows as they are, no longer than any can be, in place of scaled, each by its own: a
	// coefficient then means the same in all rows.
	InUnits bool
	// Weights is the column of the records' weights, which is no feature, and WeightBound what a weight is at most; ""
	// is none. ClassWeight are those of the two classes in the order of their labels, at most 1; zero is none.
	Weights     string     `json:",omitempty"`
	WeightBound float64    `json:",omitempty"`
	ClassWeight [2]float64 `json:",omitzero"`
	// NoBias leaves out the constant feature 1 that is else appended after the rows were scaled.
	NoBias bool
}

// Design is a table made into records for learning.
type Design struct {
	Rows   matrix.Rows
	Labels []float64
	// Features names the columns of Rows.
	Features []string
	// RowNorm is a proved bound on ‖xᵢ‖₂ for every record that the schema and the settings allow, the bias included. It
	// does not depend on the data.
	RowNorm float64
	// Steps is what was done.
	Steps []Step
	// DataDependent says that bounds or categories were read off the data.
	DataDependent bool
	// RowsOfAPerson is how many rows a person may have (PerPerson); 0 says that each row is a person.
	RowsOfAPerson int
	// Person is the column that says whose row it is; "" if each row is a person.
	Person string
	Source Source
	// Target says what the labels stand for.
	Target Target
	// Encoding made the records, and makes others in the same way; nil if they were made otherwise.
	Encoding *Encoding
}

// Records returns the number of rows, which is private under add/remove-one.
func (d *Design) Records() int { n, _ := d.Rows.Dims(); return n }

// Width returns the number of features.
func (d *Design) Width() int {
	if d.Rows == nil { // Planned
		return len(d.Features)
	}
	_, width := d.Rows.Dims()
	return width
}

// NewDesign makes records for learning of a table: newEncoding for its columns, and its Design. One row of the table
// gives one row of the result, which depends on that row and on the schema only, so the step costs no privacy;
// Design.Steps says so one by one. A table without a row gives a design without one.
//
// Errors: *InputError as newEncoding. No record has one: what fits the schema badly follows the rules of its field
// (Field), and Misfits lists it.
func NewDesign(t *Table, schema *Schema, s DesignSettings) (*Design, error) {
	e, err := newEncoding(t.Names(), schema, s)
	if err != nil {
		return nil, err
	}
	return e.Design(t)
}

// describe fills RowNorm and Steps.
func (e *Encoding) describe() {
	s := &e.settings
	assume, cost := "the bounds and categories are public: known without the data", costNothing
	if slices.ContainsFunc(e.fields, func(f Field) bool { return f.Typical != nil }) {
		assume = "the bounds, typical values and categories are public: known without the data"
	}
	if e.DataDependent {
		assume = "nothing: bounds and categories were READ OFF THE DATA"
		cost = "NOT COVERED by any guarantee"
	}
	var numeric, open, categorical []string
	for i := range e.fields {
		if f := &e.fields[i]; f.Open {
			open = append(open, f.describe())
		} else if f.Kind == Numeric && !(s.Centred && (f.Cuts != nil || f.Period != 0)) { // those are said as terms
			numeric = append(numeric, f.describe())
		} else {
			categorical = append(categorical, f.describe())
		}
	}
	if len(numeric) > 0 {
		to := "scaled to [0, 1]"
		if s.Centred {
			to = "scaled to [−1, 1] about their middle or typical value"
		}
		if s.Curves > 0 {
			to += fmt.Sprintf(", with %d splines each", s.Curves)
		}
		what := "numbers moved into their bounds and " + to + ": " + strings.Join(numeric, "; ")
		e.Steps = append(e.Steps, Step{what, assume, cost})
	}
	if len(open) > 0 {
		what := "numbers scaled so that where most are becomes [0, 1]: " + strings.Join(open, "; ")
		e.Steps = append(e.Steps, Step{what, strings.Replace(assume, "bounds", "scales", 1), cost})
	}
	if len(categorical) > 0 {
		as := "indicators"
		if s.Centred {
			as = "indicators less 1/K, K the number of categories"
		}
		e.Steps = append(e.Steps, Step{"categories as " + as + ": " + strings.Join(categorical, "; "), assume, cost})
	}
	if what, ok := e.termStep(); ok {
		e.Steps = append(e.Steps, Step{what, strings.Replace(assume, "bounds", "terms, bounds", 1), cost})
	}
	if rules, _ := e.WhatMissing(0); rules != "" {
		e.Steps = append(e.Steps, Step{"rule for values that do not fit, if there are any: " + rules, "", cost})
	}
	norm := math.Sqrt(float64(len(e.fields))) // each field contributes at most 1 to ‖x‖²
	if s.Centred {
		norm = e.longest()
	}
	switch {
	case s.RowNorm > 0:
		norm = s.RowNorm
		e.Steps = append(e.Steps, Step{fmt.Sprintf("every row scaled to norm %g", norm), "", costNothing})
	case s.ClipNorm > 0 && s.ClipNorm < norm*(1-0x1p-40): // else no row is longer
		norm = s.ClipNorm
		e.Steps = append(e.Steps, Step{fmt.Sprintf("rows longer than %g scaled down to it", s.ClipNorm), "",
			costNothing})
	}
	if len(open) > 0 {
		norm = math.Inf(1)
	}
	e.RowNorm = norm
	if !s.NoBias {
		e.RowNorm = math.Nextafter(math.Hypot(norm, e.Bias()), math.Inf(1))
		e.Steps = append(e.Steps, Step{fmt.Sprintf("bias %.4g appended: ‖x‖ ≤ %.4g", e.Bias(), e.RowNorm), "",
			costNothing})
	}
	label := e.Target.describe(assume, cost)
	label.What += "; " + e.labelRule()
	e.Steps = append(e.Steps, label)
	if w := s.Weights; w != "" {
		e.Steps = append(e.Steps, Step{fmt.Sprintf("weighted by %s/%g, which counts as 0 where it is missing, "+
			"negative or no number and as 1 where it is more",
			w, s.WeightBound), "the bound is public: known without the data",
			costNothing})
	}
	if c := s.ClassWeight; c != [2]float64{} {
		e.Steps = append(e.Steps, Step{fmt.Sprintf("records of %s weigh %.4g, those of %s "+
			"%.4g", e.Target.Classes[0], c[0],
			e.Target.Classes[1], c[1]), "the weights are public: chosen without the data", costNothing})
	}
}

// WhatMissing says what values of features count as that are missing or do not fit their fields, and then the label's:
// the same whether there are any or not. Of columns for which the same is done it names as many as most, 0 being all.
func (e *Encoding) WhatMissing(most int) (features, label string) {
	var said []string
	columns := map[string][]string{}
	add := func(what, column string) {
		if columns[what] == nil {
			said = append(said, what)
		}
		columns[what] = append(columns[what], column)
	}
	for i := range e.encoders {
		f := e.encoders[i].field
		switch {
		case f.Kind == Categorical && f.Missing:
			add("what is missing has an indicator of its own in", f.Name)
			if f.Else != "" {
				add("another text counts as", fmt.Sprintf("%s in %s", f.Else, f.Name))
			} else {
				add("a text that is no category has no indicator in", f.Name)
			}
		case f.Kind == Categorical && f.Else != "":
			add("another text, or none, counts as", fmt.Sprintf("%s in %s", f.Else, f.Name))
		case f.Kind == Categorical:
			add("a text that is no category, or none, has no indicator in", f.Name)
		case e.encoders[i].more:
			add("what is missing or not a number has an indicator of its own in", f.Name)
		default:
			v, why := f.missingAs()
			switch {
			case f.Fill != nil:
				why = "the schema says"
			case f.Typical != nil && !f.Open && e.settings.Centred:
				v, why = *f.Typical, "its typical value"
			}
			add(fmt.Sprintf("a value that is missing or not a number counts as %s:", why),
				fmt.Sprintf("%s in %s", f.shown(v), f.Name))
		}
	}
	for k, what := range said {
		of := columns[what]
		if n := len(of) - most; most > 0 && n > 0 {
			of = append(slices.Clone(of[:most]), fmt.Sprintf("and %d more", n))
		}
		said[k] += " " + strings.Join(of, ", ")
	}
	return strings.Join(said, "; "), e.labelRule()
}

func quoteAll(texts []string) string {
	q := make([]string, len(texts))
	for i, t := range texts {
		q[i] = fmt.Sprintf("%q", t)
	}
	return join(q)
}

func join(texts []string) string { return strings.Join(texts, ", ") }
