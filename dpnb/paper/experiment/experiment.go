// Package experiment has the experiments of the papers as functions that a notebook can call: data sets made ready,
// mechanisms calibrated as the paper says and as this project does, and the figures that were published.
package experiment

import (
	"fmt"
	"sync"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// Records are one part of a data set.
type Records struct {
	Rows   matrix.Rows
	Labels []float64
	// RowNorm bounds every row that there could be, the bias included.
	RowNorm float64
	// Public are records by which tuning selects. In the sets of this package they are the test part, as in rkw23: a
	// score on it is then optimistic for what was tuned.
	Public *Records
}

// Set is a data set in two parts.
type Set = sim.Task[*Records]

// Mechanism learns two classes. Mechanisms of other packages fit in by
//
//	experiment.Mechanism{Name: "mine", Fit: func(
//		r *experiment.Records, eps, delta float64, src *noise.Seeded) ([]float64, error) {
//		return mine(r.Rows, r.Labels, eps, delta, src)
//	}}
type Mechanism = sim.Mechanism[*Records]

// Accuracy returns the share of the records whose class θ predicts rightly. A margin of zero predicts −1.
func Accuracy(test *Records, theta []float64) (float64, error) {
	n, d := test.Rows.Dims()
	if len(theta) != d || n == 0 {
		return 0, fmt.Errorf("experiment: %d coefficients for %d records of %d features", len(theta), n, d)
	}
	t, right := make([]float64, n), 0
	test.Rows.Margins(t, theta, 0, n)
	for i, v := range t {
		if (v > 0) == (test.Labels[i] > 0) {
			right++
		}
	}
	return float64(right) / float64(n), nil
}

// Adult returns the Adult data as the notebooks use them: the schema of this project, every row scaled to norm 1, a
// bias appended. Where the files are not on this machine they are invented people (dataset.AdultLike), and the name
// says so.
func Adult() (Set, error) {
	return adult("Adult", dataset.AdultSchema(), false)
}

// AdultAsPublished returns the Adult data encoded as in the experiments of rkw23, which took them from Iyengar et al.
// 2019: records with missing values are left out, numbers divided by a bound (here a round public one, there the
// largest that occurs), categories as indicators; else as Adult. Dividing capital gains by their rare largest value
// costs about one percent of accuracy.
func AdultAsPublished() (Set, error) {
	schema := &frame.Schema{}
	upper := map[string]float64{"age": 90, "fnlwgt": 1.5e6, "education-num": 16, "capital-gain": 1e5,
		"capital-loss": 5000, "hours-per-week": 99}
	for _, f := range dataset.AdultSchema().Fields {
		f.Missing = false
		if b, ok := upper[f.Name]; ok {
			f = frame.NumericField(f.Name, 0, b)
		}
		schema.Fields = append(schema.Fields, f)
	}
	return adult("Adult, encoded as published", schema, true)
}

// Named returns the name of an experiment on Adult, which says so where the people are invented.
func Named(name string, train *frame.Table) string {
	if train.Source.Invented {
		return "Invented people in place of " + name
	}
	return name
}

func adult(name string, schema *frame.Schema, complete bool) (_ Set, err error) {
	defer measure.Catch(&err)
	train, test := measure.Must2(dataset.Adult())
	s := Set{Name: Named(name, train)}
	for _, part := range []struct {
		table *frame.Table
		to    **Records
	}{{train, &s.Train}, {test, &s.Test}} {
		t := part.table
		if complete {
			t = withoutMissing(t, schema)
		}
		*part.to = records(measure.Must(frame.NewDesign(t, schema, frame.DesignSettings{Label: "income", RowNorm: 1})))
	}
	s.Train.Public = s.Test
	return s, nil
}

// withoutMissing leaves out rows with a missing value.
func withoutMissing(t *frame.Table, schema *frame.Schema) *frame.Table {
	var columns []*frame.Column
	for _, f := range schema.Fields {
		columns = append(columns, measure.Must(t.Column(f.Name)))
	}
	return t.Filter(func(row int) bool {
		for _, c := range columns {
			if c.Text(row) == "" {
				return false
			}
		}
		return true
	})
}

func records(d *frame.Design) *Records {
	return &Records{Rows: d.Rows, Labels: d.Labels, RowNorm: d.RowNorm}
}

// Synthetic returns a population of clusters as a data set: four fifths to learn from, rows scaled to norm 1, a bias
// appended.
func Synthetic(name string, c dataset.Clusters) (_ Set, err error) {
	defer measure.Catch(&err)
	first, rest := measure.Must(c.Generate()).Split(0.8)
	train := measure.Must(first.Design(1))
	test := measure.Must(rest.Design(1))
	s := Set{Name: name, Train: records(train), Test: records(test)}
	s.Train.Public = s.Test
	return s, nil
}

// Calibrated is a mechanism that is calibrated from public numbers alone, once for each.
func Calibrated[M mechanism.Mechanism](name string, calibrate func(Key) (M, error)) Mechanism {
	calibration := Remembered(calibrate)
	return Mechanism{Name: name, Fit: func(train *Records, epsilon, delta float64, src *noise.Seeded) ([]float64,
		error) {
		m, err := calibration(train.Key(epsilon, delta))
		if err != nil {
			return nil, err
		}
		return train.Release(m, src)
	}}
}

// Release returns the coefficients of one run on the records.
func (r *Records) Release(m mechanism.Mechanism, src *noise.Seeded) (_ []float64, err error) {
	defer measure.Catch(&err)
	return measure.Released(m, r.Rows, r.Labels, src), nil
}

// Key is what a calibration depends on; Records is a public number of them.
type Key struct {
	RowNorm, Epsilon, Delta float64
	Records                 int
}

// Key is that of a calibration for the records.
func (r *Records) Key(epsilon, delta float64) Key {
	n, _ := r.Rows.Dims()
	return Key{r.RowNorm, epsilon, delta, n}
}

// Remembered calls f once for each key, by whichever goroutine comes first.
func Remembered[K comparable, V any](f func(K) (V, error)) func(K) (V, error) {
	var known sync.Map // key → func() (V, error)
	return func(k K) (V, error) {
		once, _ := known.LoadOrStore(k, sync.OnceValues(func() (V, error) { return f(k) }))
		return once.(func() (V, error))()
	}
}

// CountShare is the part of μ² that counting the records has in Counted.
const CountShare = 0.01

// Counted is this project's logistic regression: a noisy count of the records, then objective perturbation with the
// ridge for so many, at no more noise than the Gaussian mechanism's.
func Counted() Mechanism {
	return Calibrated("dpnb", func(k Key) (objpert.Counted, error) {
		return objpert.CalibrateCounted(objpert.Config{Loss: loss.Logistic{}, RowNorm: k.RowNorm,
			Epsilon: k.Epsilon, Delta: k.Delta, Adjacency: privacy.AddRemove}, CountShare, true)
	})
}
