// Package google asks Google's privacy-on-beam what it has in common with package explore: counts, sums, means and
// quantiles, by public groups, of the records of a file. The whole pipeline is theirs, from the bounding of
// contributions to the noise, and so are its proof and its randomness: noise is drawn where the workers are, from the
// system's generator by their library, secured for floats in their way. It has no seed, and nothing of it can be
// repeated. What is ours is the price, which a ledger is charged before.
package google

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/differential-privacy/privacy-on-beam/v3/pbeam"

	"github.com/dpnb/notebooks/dpnb/beam/runner"
	"github.com/dpnb/notebooks/dpnb/beam/tally"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Kind is what is asked.
type Kind string

// The questions that privacy-on-beam has, of those of package explore.
const (
	Count     Kind = "count"
	Sum       Kind = "sum"
	Mean      Kind = "mean"
	Quantiles Kind = "quantiles"
)

// Question is what is asked of the records of a file.
type Question struct {
	Kind Kind
	// Column of numbers with public bounds; empty for a Count.
	Column string
	// By is a column of public categories, each of which is answered, at the price of one; empty for all records at
	// once.
	By string
	// Levels of Quantiles, in (0, 1).
	Levels []float64
	// Gaussian has noise of that law, where their default is Laplace noise. It spends δ.
	Gaussian bool
}

// price is a question with its (ε, δ), as a mechanism that a ledger can be charged for: of their pipeline no more is
// known than that it is (ε, δ), under adding or removing a privacy unit. With Laplace noise and public groups it is
// pure.
type price struct {
	Question
	Epsilon, Delta float64
}

// Validate implements mechanism.Mechanism.
func (p price) Validate() error {
	known := p.Kind == Count && p.Column == "" || (p.Kind == Sum || p.Kind == Mean || p.Kind == Quantiles) &&
		p.Column != ""
	switch {
	case !known:
		return &privacy.ParamError{Name: "Kind", Value: p.Kind, Want: "count, or sum, mean or quantiles of a column"}
	case p.Kind == Quantiles == (len(p.Levels) == 0):
		return &privacy.ParamError{Name: "Levels", Value: p.Levels, Want: "one or more, for quantiles alone"}
	case !(p.Epsilon > 0x1p-50) || p.Epsilon > 50:
		return &privacy.ParamError{Name: "Epsilon", Value: p.Epsilon, Want: "a number in (2⁻⁵⁰, 50]"}
	case p.Gaussian != (p.Delta > 0) || p.Delta >= 1:
		return &privacy.ParamError{Name: "Delta", Value: p.Delta, Want: "a number in (0, 1) for Gaussian noise, else 0"}
	}
	for _, q := range p.Levels {
		if !(q > 0 && q < 1) {
			return &privacy.ParamError{Name: "Levels", Value: q, Want: "numbers in (0, 1)"}
		}
	}
	return nil
}

// Event implements mechanism.Mechanism.
func (p price) Event() (privacy.Event, error) {
	return privacy.Approx{Epsilon: p.Epsilon, Delta: p.Delta, Adj: privacy.AddRemove}, p.Validate()
}

// String describes the question.
func (p price) String() string {
	return fmt.Sprintf("%s of privacy-on-beam at ε = %s, δ = %s", p.Kind, privacy.FormatUp(p.Epsilon, 5),
		privacy.FormatUp(p.Delta, 5))
}

// Describe implements mechanism.Mechanism.
func (p price) Describe() mechanism.Description {
	return mechanism.Description{Name: "privacy-on-beam, " + string(p.Kind), Adjacency: privacy.AddRemove,
		Source: "Google, privacy-on-beam v3.0.0", Bound: "(ε, δ) as that library states it; we have not proved it",
		Assumptions: []string{"Google's privacy-on-beam does what it says, its noise and its floats included",
			mechanism.Chosen("groups and bounds"),
			"the machines that run the pipeline show nobody what it computes before the noise, nor any draw but the " +
				"one that is returned", mechanism.Unseen}}
}

// Feasible implements mechanism.Mechanism.
func (p price) Feasible(int, int) error { return p.Validate() }

// Check implements mechanism.Mechanism.
func (p price) Check(matrix.Rows, []float64) error { return p.Validate() }

// Run implements mechanism.Mechanism: it is run by a pipeline, not here.
func (p price) Run(matrix.Rows, []float64, noise.Source, *mechanism.Settings) (*mechanism.Release, error) {
	return nil, errors.New("google: it is run by a pipeline")
}

// Answer is what was released.
type Answer struct {
	// Numbers are those of each group, in the order of its public categories: one, or one for each level.
	Numbers [][]float64
	Groups  []string
	// Epsilon and Delta are what the release is alone.
	Epsilon, Delta float64
}

// Ask pays for a question about a table and has it answered by a pipeline on where's runner, in one attempt: a second
// one would draw again. df is the table that the driver sees, with its schema, t the same for the workers, dir a folder
// that they share.
//
// A job of theirs has one environment: the first worker does it all.
//
// Errors: before the charge, of public things alone, a runner that cannot be reached, a table in which people have
// several rows, a question without bounds or groups, an allowance that does not cover it. After it, what the pipeline
// failed of: there are no refunds.
func (q Question) Ask(ctx context.Context, where runner.Where, df learn.DataFrame, t tally.Table, dir string,
	a learn.Allowance) (*Answer, error) {
	_, schema, err := df.Known()
	if err != nil {
		return nil, err
	}
	if person, _ := df.Person(); person != "" {
		return nil, fmt.Errorf("google: each row is a privacy unit here, and %q says whose they are", person)
	}
	w, groups, err := q.work(schema, t)
	if err != nil {
		return nil, err
	}
	on, err := runner.Open(ctx, where)
	if err != nil {
		return nil, err
	}
	defer on.Close()
	on.Attempts = 1
	m, alone, err := a.Pay(noise.NewSecure(), string(q.Kind)+" by privacy-on-beam", df,
		func(epsilon, delta float64, _ bool) (mechanism.Mechanism, error) {
			p := price{q, epsilon, delta}
			if !q.Gaussian {
				p.Delta = 0
			}
			return p, p.Validate()
		}, nil)
	if err != nil {
		return nil, err
	}
	draws, err := run(ctx, on, w, m.(price), 1, dir)
	if err != nil {
		return nil, err
	}
	return &Answer{draws[0], groups, alone.Epsilon, alone.Delta}, nil
}

// work is what the pipeline is told.
func (q Question) work(s *frame.Schema, t tally.Table) (w work, groups []string, err error) {
	w, groups = work{Table: t, Groups: 1}, []string{""}
	if q.By != "" {
		f, ok := s.Field(q.By)
		if !ok || f.Kind != frame.Categorical {
			return w, nil, fmt.Errorf("google: the schema has no categories of %q", q.By)
		}
		groups, w.By = f.Levels, true
		w.Groups, w.Columns, w.Fields = len(groups), append(w.Columns, q.By), append(w.Fields, *f)
	}
	if q.Column != "" {
		f, ok := s.Field(q.Column)
		if !ok || f.Kind != frame.Numeric || f.Open {
			return w, nil, fmt.Errorf("google: the schema has no bounds of %q", q.Column)
		}
		w.Lower, w.Upper = f.Lower, f.Upper
		w.Columns, w.Fields = append(w.Columns, q.Column), append(w.Fields, *f)
	}
	return w, groups, nil
}

// run has a pipeline answer a question so many times over, with independent noise: each would have to be paid for. The
// result is by draw and group.
func run(ctx context.Context, on *runner.Session, w work, p price, draws int, dir string) ([][][]float64, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(dir, "google-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) // of what was released
	parts, err := w.parts()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "released")
	var wrong error
	err = on.Run(ctx, "dpnb google", func(scope beam.Scope, worker int) {
		if worker > 0 {
			beam.Impulse(scope)
			return
		}
		list := make([]int, parts)
		for k := range list {
			list[k] = k
		}
		records := beam.ParDo(scope, &readPart{string(text)}, beam.Reshuffle(scope, beam.CreateList(scope, list)))
		var all []beam.PCollection
		for draw := range draws {
			released, err := ask(scope, w, p, records)
			if err != nil {
				wrong = err
				return
			}
			all = append(all, beam.ParDo(scope, &number{draw}, released))
		}
		together := beam.GroupByKey(scope, beam.AddFixedKey(scope, beam.Flatten(scope, all...)))
		beam.ParDo0(scope, &writeAll{path}, together)
	})
	if err := errors.Join(wrong, err); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the pipeline has left nothing: %w", err)
	}
	var released []answer
	if err := json.Unmarshal(b, &released); err != nil {
		return nil, err
	}
	out := make([][][]float64, draws)
	for k := range out {
		out[k] = make([][]float64, w.Groups)
	}
	for _, r := range released {
		out[r.Draw][r.Group] = r.Numbers
	}
	for _, draw := range out {
		for _, numbers := range draw {
			if len(numbers) != max(1, len(p.Levels)) {
				return nil, fmt.Errorf("the pipeline has released %d of %d numbers of a group", len(numbers),
					max(1, len(p.Levels)))
			}
		}
	}
	return out, nil
}

// ask is the part of the pipeline that is Google's: of (id, record), to (group, numbers).
func ask(s beam.Scope, w work, p price, records beam.PCollection) (beam.PCollection, error) {
	spec, err := pbeam.NewPrivacySpec(pbeam.PrivacySpecParams{AggregationEpsilon: p.Epsilon, AggregationDelta: p.Delta})
	if err != nil {
		return beam.PCollection{}, err
	}
	var law pbeam.NoiseKind = pbeam.LaplaceNoise{}
	if p.Gaussian {
		law = pbeam.GaussianNoise{}
	}
	groups := make([]int, w.Groups)
	for k := range groups {
		groups[k] = k
	}
	private := pbeam.MakePrivate(s, records, spec)
	if p.Kind == Count {
		counts := pbeam.Count(s, pbeam.ParDo(s, groupOf, private), pbeam.CountParams{NoiseKind: law,
			MaxPartitionsContributed: 1, MaxValue: 1, PublicPartitions: groups, AllowNegativeOutputs: true})
		return beam.ParDo(s, answerOfCount, counts), nil
	}
	valued := pbeam.ParDo(s, groupAndValue, private)
	switch p.Kind {
	case Sum:
		return beam.ParDo(s, answerOfNumber, pbeam.SumPerKey(s, valued, pbeam.SumParams{NoiseKind: law,
			MaxPartitionsContributed: 1, MinValue: w.Lower, MaxValue: w.Upper, PublicPartitions: groups})), nil
	case Mean:
		return beam.ParDo(s, answerOfNumber, pbeam.MeanPerKey(s, valued, pbeam.MeanParams{NoiseKind: law,
			MaxPartitionsContributed: 1, MaxContributionsPerPartition: 1, MinValue: w.Lower, MaxValue: w.Upper,
			PublicPartitions: groups})), nil
	}
	return beam.ParDo(s, answerOfNumbers, pbeam.QuantilesPerKey(s, valued, pbeam.QuantilesParams{NoiseKind: law,
		MaxPartitionsContributed: 1, MaxContributionsPerPartition: 1, MinValue: w.Lower, MaxValue: w.Upper,
		PublicPartitions: groups, Ranks: p.Levels})), nil
}
