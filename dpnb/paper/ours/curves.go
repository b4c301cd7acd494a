package ours

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// Trainee is an invented person by age, hours of training, heat and load, whose points in a test have a known mean.
type Trainee [4]float64

// Points is that mean, the truth: age has a kink, training a plateau, heat and load act only together.
func (t Trainee) Points() float64 {
	return 45 - 0.8*max(0, t[0]-55) + 6*min(t[1], 4) + 12*t[2]*t[3]
}

// traineeFields are what is publicly known of trainees.
var traineeFields = []frame.Field{frame.NumericField("age", 20, 80), frame.NumericField("training", 0, 10),
	frame.NumericField("heat", -1, 1), frame.NumericField("load", -1, 1), frame.NumericField("points", 0, 100)}

// Trainees returns n of them, few of whom train much. The standard deviation of their points about the truth is 8.
func Trainees(n int, seed uint64) learn.DataFrame {
	all, points := trainees(n, seed)
	return traineeFrame(all, points, fmt.Sprintf("%d invented trainees, seed %d", n, seed))
}

func trainees(n int, seed uint64) (all []Trainee, points []float64) {
	src := noise.NewSeeded(seed)
	for range n {
		t := Trainee{20 + 60*src.Float64(), min(10, 2*src.ExpFloat64()), 2*src.Float64() - 1, 2*src.Float64() - 1}
		all, points = append(all, t), append(points, t.Points()+8*src.NormFloat64())
	}
	return all, points
}

func traineeFrame(all []Trainee, points []float64, name string) learn.DataFrame {
	columns := []frame.Column{{Name: "points", Numbers: points}}
	for k, f := range traineeFields[:4] {
		c := frame.Column{Name: f.Name, Numbers: make([]float64, len(all))}
		for i, t := range all {
			c.Numbers[i] = t[k]
		}
		columns = append(columns, c)
	}
	t := learn.Must(frame.NewTable(columns...)) // they are of one length
	t.Source = frame.Source{Name: name, Rows: len(all), Public: true, Invented: true}
	return learn.FromTable(t).WithSchema(traineeFields...)
}

// Along returns what a model, nil for the truth, predicts of a trainee of whom one column moves over x.
func Along(m *learn.Model, t Trainee, column int, x []float64) ([]float64, error) {
	all, truth := make([]Trainee, len(x)), make([]float64, len(x))
	for i, v := range x {
		t[column] = v
		all[i], truth[i] = t, t.Points()
	}
	if m == nil {
		return truth, nil
	}
	return m.Predict(traineeFrame(all, truth, "a trainee who changes"))
}

// centred returns what is predicted along a column of a usual trainee, less its mean over trainees.
func centred(m *learn.Model, column int, x []float64) []float64 {
	at := slices.Clone(x)
	all, _ := trainees(5000, 1)
	for _, t := range all {
		at = append(at, t[column])
	}
	y := measure.Must(Along(m, Trainee{50, 2, 0, 0}, column, at))
	floats.AddConst(-stat.Mean(y[len(x):], nil), y)
	return y[:len(x)]
}

// BesideTruth draws a shape of a column, unless it is nil, with the bands that it has, what models predict of a trainee
// who is usual but for that column, by their names, and the truth.
func BesideTruth(title string, column int, s *learn.Shape, models map[string]*learn.Model) (_ *figure.Figure,
	err error) {
	defer measure.Catch(&err)
	cut := func(v float64) float64 { return min(max(v, -30), 20) }
	f := figure.New(title, traineeFields[column].Name, "points").YRange(-30, 20)
	if s != nil {
		var at [6][]float64
		for _, p := range s.Points() {
			noise := cmp.Or(p.NoiseAtOnce, &learn.Span{Lower: p.Value, Upper: p.Value})
			people := cmp.Or(p.PopulationAtOnce, noise)
			for k, v := range []float64{p.At, cut(p.Value), cut(people.Lower), cut(people.Upper), cut(noise.Lower),
				cut(noise.Upper)} {
				at[k] = append(at[k], v)
			}
		}
		f.Band(at[0], at[2], at[3], figure.Orange).Band(at[0], at[4], at[5], figure.Blue)
		f.Line("shape", at[0], at[1], figure.Blue)
	}
	x := figure.Span(traineeFields[column].Lower, traineeFields[column].Upper, 240)
	for k, name := range append(slices.Sorted(maps.Keys(models)), "truth") {
		y := centred(models[name], column, x)
		if name == "truth" {
			f.Dashed(name, x, y, figure.Ink)
		} else {
			f.Line(name, x, y, []figure.Color{figure.Green, figure.Purple}[k%2])
		}
	}
	f.Height = 2.4
	return f, nil
}
