package calculator

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Field is a parameter of a type of event.
type Field struct {
	// Name in JSON and, with "_" as "-", on the command line.
	Name string
	// Text says that the value is a word, not a number.
	Text bool
	// Optional fields may be left out; Default is then their value.
	Optional bool
	Default  float64
	// Help in a few words.
	Help string
}

// Values are the parameters of one event, by field name. Optional texts that were left out are absent.
type Values struct {
	Numbers map[string]float64
	Texts   map[string]string
}

// Type is a kind of event that can be asked about.
type Type struct {
	// Fields that it takes; "type" and "count" are understood for all.
	Fields []Field
	// Build makes the event; adj is the adjacency of the question. It must check ranges and return a
	// *privacy.ParamError.
	Build func(v Values, adj privacy.Adjacency) (privacy.Event, error)
	// Computed says that δ comes from a search, good to half a percent, and jumps by as much.
	Computed bool
}

// Calculator answers questions about events of its types. The zero value knows none; New knows those of package
// privacy.
type Calculator struct{ types map[string]Type }

var sensitivity = Field{Name: "sensitivity", Optional: true, Default: 1, Help: "add/remove-one sensitivity"}

// New returns a calculator of the mechanisms of package privacy.
func New() Calculator {
	c := Calculator{}
	c = c.With("gaussian", Type{
		Fields: []Field{{Name: "sigma", Help: "standard deviation of the noise"}, sensitivity},
		Build: func(v Values, _ privacy.Adjacency) (privacy.Event, error) {
			e := privacy.Gaussian{Sigma: v.Numbers["sigma"], Sensitivity: v.Numbers["sensitivity"]}
			return e, e.Validate()
		},
	})
	c = c.With("laplace", Type{
		Fields: []Field{{Name: "scale", Help: "scale b of the noise"}, sensitivity},
		Build: func(v Values, _ privacy.Adjacency) (privacy.Event, error) {
			e := privacy.Laplace{Scale: v.Numbers["scale"], Sensitivity: v.Numbers["sensitivity"]}
			return e, e.Validate()
		},
	})
	c = c.With("isotropic-laplace", Type{
		Fields: []Field{{Name: "scale", Help: "scale b of the noise"}, sensitivity},
		Build: func(v Values, _ privacy.Adjacency) (privacy.Event, error) {
			e := privacy.IsotropicLaplace{Scale: v.Numbers["scale"], Sensitivity: v.Numbers["sensitivity"]}
			return e, e.Validate()
		},
	})
	c = c.With("subsampled-gaussian", Type{
		Fields: []Field{
			{Name: "sigma", Help: "standard deviation of the noise"},
			{Name: "rate", Help: "Poisson sampling probability"}, sensitivity,
		},
		Build: func(v Values, _ privacy.Adjacency) (privacy.Event, error) {
			e := privacy.SubsampledGaussian{Sigma: v.Numbers["sigma"], Rate: v.Numbers["rate"],
				Sensitivity: v.Numbers["sensitivity"]}
			return e, e.Validate()
		},
	})
	c = c.With("approximate-minimum", Type{
		Fields: []Field{
			{Name: "tolerance", Help: "bound τ on the gradient's norm"},
			{Name: "lambda", Help: "strong convexity λ"},
			{Name: "sigma_out", Help: "standard deviation of the output noise"},
		},
		Build: func(v Values, _ privacy.Adjacency) (privacy.Event, error) {
			e := privacy.ApproximateMinimum{Tolerance: v.Numbers["tolerance"], Lambda: v.Numbers["lambda"],
				SigmaOut: v.Numbers["sigma_out"]}
			return e, e.Validate()
		},
	})
	return c.With("dp", Type{
		Fields: []Field{
			{Name: "event_epsilon", Help: "ε of an event of which no more is known"},
			{Name: "event_delta", Optional: true, Help: "δ of such an event"},
		},
		Build: func(v Values, adj privacy.Adjacency) (privacy.Event, error) {
			e := privacy.Approx{Epsilon: v.Numbers["event_epsilon"], Delta: v.Numbers["event_delta"], Adj: adj}
			return e, e.Validate()
		},
	})
}

// With returns a calculator that also knows t under name.
func (c Calculator) With(name string, t Type) Calculator {
	types := make(map[string]Type, len(c.types)+1)
	for k, v := range c.types {
		types[k] = v
	}
	types[name] = t
	return Calculator{types}
}

// Names returns the types' names, sorted.
func (c Calculator) Names() []string {
	var names []string
	for n := range c.types {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Fields returns every field of every type once, sorted by name.
func (c Calculator) Fields() []Field {
	var fields []Field
	for _, name := range c.Names() {
		for _, f := range c.types[name].Fields {
			if !slices.ContainsFunc(fields, func(g Field) bool { return g.Name == f.Name }) {
				fields = append(fields, f)
			}
		}
	}
	slices.SortFunc(fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return fields
}

// Line is one line of a composition: an event and how often it was run.
type Line struct {
	Type   string
	Values Values
	Count  int
}

// check returns l with defaults filled in.
//
// Errors: *privacy.ParamError for an unknown type, an unknown, missing or non-finite field.
func (c Calculator) check(l Line) (Line, error) {
	t, ok := c.types[l.Type]
	if !ok {
		return l, &privacy.ParamError{Name: "type", Value: l.Type, Want: "one of " + strings.Join(c.Names(), ", ")}
	}
	if l.Count < 1 || l.Count > maxCount {
		return l, &privacy.ParamError{Name: "count", Value: l.Count, Want: "an integer from 1 to 2⁵²"}
	}
	full := Values{Numbers: map[string]float64{}, Texts: map[string]string{}}
	for _, f := range t.Fields {
		number, isNumber := l.Values.Numbers[f.Name]
		text, isText := l.Values.Texts[f.Name]
		switch {
		case isNumber && f.Text:
			return l, &privacy.ParamError{Name: f.Name, Value: number, Want: "a word"}
		case isText && !f.Text:
			return l, &privacy.ParamError{Name: f.Name, Value: text, Want: "a number"}
		case isNumber && (math.IsNaN(number) || math.IsInf(number, 0)):
			return l, &privacy.ParamError{Name: f.Name, Value: number, Want: "a finite number"}
		case isNumber:
			full.Numbers[f.Name] = number
		case isText:
			full.Texts[f.Name] = text
		case !f.Optional:
			return l, &privacy.ParamError{Name: f.Name, Value: "missing", Want: fmt.Sprintf("a value: %s needs it (%s)",
				l.Type, f.Help)}
		case !f.Text:
			full.Numbers[f.Name] = f.Default
		}
	}
	known := func(name string) bool {
		return slices.ContainsFunc(t.Fields, func(f Field) bool { return f.Name == name })
	}
	for name := range l.Values.Numbers {
		if !known(name) {
			return l, unknownField(name, l.Type, t)
		}
	}
	for name := range l.Values.Texts {
		if !known(name) {
			return l, unknownField(name, l.Type, t)
		}
	}
	return Line{l.Type, full, l.Count}, nil
}

func unknownField(name, typ string, t Type) error {
	var names []string
	for _, f := range t.Fields {
		names = append(names, f.Name)
	}
	return &privacy.ParamError{Name: name, Value: "given", Want: fmt.Sprintf("only %s for %s",
		strings.Join(names, ", "), typ)}
}

// maxCount is the largest count, exact as a float, of which account can add two.
const maxCount = min(1<<52, math.MaxInt/2)
