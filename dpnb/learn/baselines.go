package learn

import (
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/mechanism"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/ssp"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// runnable is what mechanisms for records of one linear form have in common.
type runnable interface {
	Check(rows matrix.Rows, labels []float64) error
	Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (*mechanism.Release, error)
}

// ready prepares a mechanism whose parameters are chosen.
func ready(m runnable, entry string, lambda float64, p plan, d *frame.Design) prepared {
	return prepared{
		entry: entry + ", " + p.entry, lambda: lambda,
		check: func() error { return m.Check(d.Rows, d.Labels) },
		run:   func(src noise.Source) (*mechanism.Release, error) { return m.Run(d.Rows, d.Labels, src, p.settings()) },
	}
}

// adaSSP prepares adaptive sufficient-statistics perturbation; the labels of a
// number are in [−1, 1].
func adaSSP(p plan, d *frame.Design, epsilon, delta float64) (prepared, error) {
	c := ssp.AdaSSPConfig{RowNorm: d.RowNorm, LabelBound: 1, Epsilon: epsilon, Delta: delta, Adjacency: privacy.AddRemove}
	m, err := ssp.CalibrateAdaSSP(c)
	return ready(m, "AdaSSP", 0, p, d), err
}

// functional prepares the functional mechanism with Gaussian noise.
func functional(p plan, d *frame.Design, epsilon, delta float64) (prepared, error) {
	c := ssp.FunctionalConfig{RowNorm: d.RowNorm, LabelBound: 1, Features: d.Rows.D, Epsilon: epsilon, Delta: delta, Adjacency: privacy.AddRemove}
	m, err := ssp.CalibrateFunctional(c)
	return ready(m, "functional mechanism", 0, p, d), err
}
