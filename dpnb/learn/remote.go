package learn

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
)

// PassesBy moves the passes over the records of a scanned table remote: to returns, for the records in their files, an
// erm.Source of the same records. Everything else stays here: the noise, the ledger, the solver and the release, which
// is the same. The guarantee requires that this source adds up over these records and no others.
//
// It sees the points of the solver, from which the noise can be computed: what it keeps of them is as private as the
// records, and a fit that is lost while it runs does not resume (FitOnce).
//
// Learners whose fits are more than passes over the file's own records and labels are refused before anything is
// charged, and so is a table in memory.
func PassesBy(to func(rows stored.Records) (matrix.Rows, error)) Option {
	return func(o *options) { o.remote = to }
}

// moved replaces the rows of a design by those elsewhere.
func (o *options) moved(d *frame.Design) (err error) {
	if o.remote != nil {
		d.Rows, err = o.remote(d.Rows.(stored.Records))
	}
	return err
}

// movable refuses a mechanism that is not made of passes, if the records are elsewhere.
func movable(d *frame.Design, m mechanism.Mechanism) error {
	if _, remote := d.Rows.(erm.Source); !remote {
		return nil
	}
	of := m
	if g, ok := of.(mechanism.Group); ok {
		of = g.Of
	}
	if c, ok := of.(objpert.Counted); ok {
		of = c.Fit
	}
	switch of.(type) {
	case objpert.Objective, objpert.Output, multiclass.Softmax:
		return nil
	}
	return fmt.Errorf("dpnb: %s needs individual records or changes their labels, and these records are added up "+
		"remote: fit it on this machine, or take Logistic, SVM, Linear, Huber, Poisson or Softmax with a δ",
		m.Describe().Name)
}
