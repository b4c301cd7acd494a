package main

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// learners by name; what suits the target is "suited".
var learners = map[string]learn.Learner{suited: nil}

func init() {
	for _, l := range learn.Learners() {
		learners[strings.ToLower(reflect.TypeOf(l).Name())] = l
	}
}

const suited = "suited"

func learnerNames() string { return strings.Join(slices.Sorted(maps.Keys(learners)), ", ") }

// learnerFlags are the fields of learners that have a flag, by its name.
var learnerFlags = map[string]string{"levels": "Levels", "threshold": "Threshold", "lambda": "Lambda", "clip": "Clip",
	"tau": "Tau", "smooth": "Smooth", "records": "Records", "curvature-share": "CurvatureShare"}

// configured returns a learner with the noise, and with the values of the flags that were given: one that the learner
// does not have is refused.
func configured(l learn.Learner, name string, src noise.Source, f *pflag.FlagSet) (learn.Learner, error) {
	of := reflect.New(reflect.TypeOf(l)).Elem()
	of.Set(reflect.ValueOf(l))
	if src != nil {
		of.FieldByName("Noise").Set(reflect.ValueOf(src))
	}
	var err error
	f.Visit(func(given *pflag.Flag) {
		field, known := learnerFlags[given.Name]
		switch to := of.FieldByName(field); {
		case !known:
		case !to.IsValid():
			err = errors.Join(err, fmt.Errorf("--%s is not for %s", given.Name, name))
		case given.Value.Type() == "float64Slice":
			v, e := f.GetFloat64Slice(given.Name)
			to.Set(reflect.ValueOf(v))
			err = errors.Join(err, e)
		default:
			v, e := strconv.ParseFloat(given.Value.String(), 64)
			if e == nil && !(v > 0) && given.Name != "curvature-share" { // which means that it is chosen
				e = fmt.Errorf("--%s %s: give it a positive number, or leave it out to have it chosen", given.Name,
					given.Value)
			}
			to.Set(reflect.ValueOf(v).Convert(to.Type()))
			err = errors.Join(err, e)
		}
	})
	return of.Interface().(learn.Learner), err
}

// termFlags are the terms of columns.
type termFlags struct{ line, steps, periodic, rising, falling, cross []string }

func (t *termFlags) add(f *pflag.FlagSet) {
	f.StringSliceVar(&t.line, "line", nil, "`columns` of numbers that are learnt as straight lines")
	f.StringArrayVar(&t.steps, "steps", nil, "`column=cut,cut` of a number learnt as levels between public cuts")
	f.StringArrayVar(&t.periodic, "periodic", nil, "`column`, or column=period, whose curve ends as it begins")
	f.StringSliceVar(&t.rising, "rising", nil, "`columns` that are learnt so that they rise")
	f.StringSliceVar(&t.falling, "falling", nil, "`columns` that are learnt so that they fall")
	f.StringArrayVar(&t.cross, "cross", nil, "`column,column` that are learnt together, beside each by itself")
}

func (t *termFlags) options() (opts []learn.Option, err error) {
	for _, column := range t.line {
		opts = append(opts, learn.Line(column))
	}
	for k, s := range append(slices.Clone(t.steps), t.periodic...) {
		column, list, said := strings.Cut(s, "=")
		if !said && k < len(t.steps) {
			return nil, fmt.Errorf("--steps %s: say where its steps are, as in --steps age=18,65", s)
		}
		var numbers []float64
		for text := range strings.SplitSeq(list, ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil && said {
				return nil, fmt.Errorf("--steps and --periodic: in %q, %q is not a number", s, text)
			}
			numbers = append(numbers, v)
		}
		if k < len(t.steps) {
			opts = append(opts, learn.Steps(column, numbers...))
		} else {
			opts = append(opts, learn.Periodic(column, numbers[0])) // 0 if none was said
		}
	}
	for _, column := range t.rising {
		opts = append(opts, learn.Rising(column))
	}
	for _, column := range t.falling {
		opts = append(opts, learn.Falling(column))
	}
	for _, s := range t.cross {
		column, with, _ := strings.Cut(s, ",")
		if strings.Count(s, ",") != 1 {
			return nil, fmt.Errorf("--cross %s: want two columns, as in age,sex; and --cross again for another two", s)
		}
		opts = append(opts, learn.Cross(column, with))
	}
	return opts, nil
}

// weightFlags say how much records count.
type weightFlags struct {
	column  string
	classes []string
}

func (w *weightFlags) add(f *pflag.FlagSet) {
	f.StringVar(&w.column, "weights", "", "`column=bound` of weights, as of a survey, with their public bound")
	f.StringArrayVar(&w.classes, "class-weight", nil, "`class=weight`: how much each record of a class counts; one "+
		"that is not named weighs 1")
}

func (w *weightFlags) options() (opts []learn.Option, err error) {
	parts := func(flag, text, example string) (name string, v float64, err error) {
		at := strings.LastIndexByte(text, '=')
		if at > 0 {
			if v, err = strconv.ParseFloat(text[at+1:], 64); err == nil {
				return text[:at], v, nil
			}
		}
		return "", 0, fmt.Errorf("--%s %s: want a name and a number, as in %s", flag, text, example)
	}
	if w.column != "" {
		column, bound, err := parts("weights", w.column, "weight=20")
		if err != nil {
			return nil, err
		}
		opts = append(opts, learn.WeightsFrom(column, bound))
	}
	classes := map[string]float64{}
	for _, text := range w.classes {
		class, v, err := parts("class-weight", text, "yes=5")
		if err != nil {
			return nil, err
		}
		if classes[class] != 0 {
			return nil, fmt.Errorf("--class-weight %s: %s has two weights", text, class)
		}
		classes[class] = v
	}
	if len(classes) > 0 {
		opts = append(opts, learn.ClassWeights(classes))
	}
	return opts, nil
}
