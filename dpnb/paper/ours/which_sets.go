package ours

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Population is one that mechanisms are compared on: what is public of it, and a law of records with a label of two
// classes and a value.
type Population struct {
	// Name, and About what it is like.
	Name, About string
	// Records to learn from, a public number, and Features, the constant left out.
	Records, Features int
	// Interpolated says that one θ⋆ predicts every value without error.
	Interpolated bool
	label, value string
	options      []learn.Option
	// draw returns records to learn from and records to score on.
	draw func(p Population, src *noise.Seeded) (train, test learn.DataFrame)
}

// testRecords is how many records of a generated population fits are scored on.
const testRecords = 4000

// Populations returns the census and eight that are generated.
func Populations() []Population {
	generated := func(name, about string, records, features int, law law) Population {
		return Population{Name: name, About: about, Records: records, Features: features,
			Interpolated: law.noise == nil, label: "label", value: "value",
			options: []learn.Option{learn.Uncentred(), learn.ClipNorm(1)},
			draw: func(p Population, src *noise.Seeded) (train, test learn.DataFrame) {
				return law.frame(p, p.Records, src.Stream(0)), law.frame(p, testRecords, src.Stream(1))
			}}
	}
	normal := func(src *noise.Seeded) float64 { return src.NormFloat64() }
	// student draws Student's t with ν degrees of freedom.
	student := func(nu int) func(src *noise.Seeded) float64 {
		return func(src *noise.Seeded) float64 {
			var s float64
			for range nu {
				z := src.NormFloat64()
				s += z * z
			}
			return src.NormFloat64() / math.Sqrt(s/float64(nu))
		}
	}
	uniform := func(src *noise.Seeded) float64 { return 2.4*src.Float64() - 1.2 }
	onehot := generated("one-hot", "five columns of twenty categories each", 20_000, 100, law{normal, normal, 0, 20})
	onehot.options = []learn.Option{learn.Uncentred(), learn.RowNorm(1)}
	return []Population{
		{Name: "Adult", About: "a census, 109 features of which most are categories", Records: 30_000, Features: 108,
			label: "income", value: "hours-per-week", options: []learn.Option{learn.Uncentred(), learn.RowNorm(1)},
			draw: func(Population, *noise.Seeded) (train, test learn.DataFrame) { return learn.Adult() }},
		generated("light", "normal features and errors", 10_000, 10, law{normal, normal, 0, 0}),
		generated("heavy", "Student's t: features with 3, errors with 2 degrees of freedom", 10_000, 10,
			law{student(3), student(2), 0, 0}),
		generated("correlated", "features that share nine tenths of their variance", 5000, 20,
			law{normal, normal, 0.9, 0}),
		generated("exact", "every value and label is predicted without error", 5000, 10, law{uniform, nil, 0, 0}),
		generated("wide", "one feature for every five records", 1000, 200, law{normal, normal, 0, 0}),
		onehot,
		generated("small", "few records", 500, 5, law{normal, normal, 0, 0}),
		generated("large", "many records of few features", 60_000, 5, law{normal, normal, 0, 0}),
	}
}

// law of generated records: features, which share a part of their variance or are indicators of so many levels, a score
// z of variance near one by alternating weights, the value z + noise/2, and a label that is yes where z and noise of a
// logistic law are positive.
type law struct {
	feature, noise func(src *noise.Seeded) float64
	shared         float64
	levels         int
}

// Bounds that are stated for the features and for the value: four deviations.
const featureBound, valueBound = 4.0, 4.0

// weight of feature j of d: θ⋆ before scales.
func weight(j, d int) float64 { return float64(1-2*(j%2)) / math.Sqrt(float64(d)) }

func (l law) frame(p Population, n int, src *noise.Seeded) learn.DataFrame {
	columns := p.Features
	if l.levels > 0 {
		columns = p.Features / l.levels
	}
	var all []frame.Column
	var fields []learn.Field
	z := make([]float64, n)
	names := make([]string, l.levels)
	for k := range names {
		names[k] = fmt.Sprintf("c%02d", k)
	}
	common := make([]float64, n)
	for i := range common {
		common[i] = src.NormFloat64()
	}
	for j := range columns {
		c := frame.Column{Name: fmt.Sprintf("x%d", j+1)}
		if l.levels > 0 {
			c.Kind, c.Texts = frame.Categorical, make([]string, n)
			fields = append(fields, learn.Categorical(c.Name, names...))
		} else {
			c.Numbers = make([]float64, n)
			fields = append(fields, learn.Numeric(c.Name, -featureBound, featureBound))
		}
		for i := range n {
			if l.levels > 0 {
				k := src.IntN(l.levels)
				c.Texts[i] = names[k]
				z[i] += math.Sin(float64(3*j+k)) * math.Sqrt(2/float64(columns))
				continue
			}
			x := math.Sqrt(l.shared)*common[i] + math.Sqrt(1-l.shared)*l.feature(src)
			c.Numbers[i] = math.Max(-featureBound, math.Min(featureBound, x))
			z[i] += weight(j, columns) * c.Numbers[i]
		}
		all = append(all, c)
	}
	value := frame.Column{Name: "value", Numbers: z}
	label := frame.Column{Name: "label", Kind: frame.Categorical, Texts: make([]string, n)}
	for i, v := range z {
		positive := v > 0
		if l.noise != nil {
			u := src.Float64()
			positive = 2*v+math.Log(u/(1-u)) > 0
			z[i] += 0.5 * l.noise(src)
		}
		label.Texts[i] = map[bool]string{false: "no", true: "yes"}[positive]
	}
	t, err := frame.NewTable(append(all, value, label)...)
	if err != nil {
		panic(err) // the columns are made above
	}
	t.Source = frame.Source{Name: "generated: " + p.Name, Rows: n, Public: true, Invented: true}
	return learn.FromTable(t).WithSchema(append(fields, learn.Numeric("value", -valueBound, valueBound),
		learn.Categorical("label", "no", "yes"))...)
}

// Data returns records of a task, drawn from src, and others to score on.
func (p Population) Data(task Task, src *noise.Seeded) (train, test *learn.Dataset) {
	a, b := p.draw(p, src)
	if task == Labels {
		return learn.Binary(a.Drop(p.value), p.label, p.options...), learn.Binary(b.Drop(p.value), p.label,
			p.options...)
	}
	return learn.Regression(a.Drop(p.label), p.value, p.options...), learn.Regression(b.Drop(p.label), p.value,
		p.options...)
}

// anchor returns what Quadratic may assume of an interpolated population: θ⋆ moved by a tenth.
func (p Population) anchor() learn.Interpolation {
	theta := make([]float64, p.Features+1)
	for j := range p.Features {
		theta[j] = weight(j, p.Features) * featureBound / valueBound
	}
	theta[0] += 0.1
	return learn.AssumeInterpolation(theta, 0.1)
}
