package learn

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/constrained"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/mechanism/qop"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
)

// affords refuses what takes memory for each record of a table that is scanned, if there is a
// MemoryLimit: by the mechanism alone, for how many records there are is private. Until free the limit is kept to.
func (d *Dataset) affords(m mechanism.Mechanism, learner string) (free func(), err error) {
	if d.where.MemoryLimit > 0 && !inPasses(m) {
		return nil, fmt.Errorf("dpnb: %s, by %s, holds something for every record in memory, which has a limit "+
			"(%s), and these scanned records may exceed it: Logistic, SVM, Linear, Huber, Poisson, "+
			"Softmax, OneVsRest, Quantile, Quantiles and Quadratic with a δ learn in passes over a file; or lift "+
			"the limit",
			learner, m.Describe().Name, wording.Of("MemoryLimit"))
	}
	return frame.KeepTo(d.where.MemoryLimit), nil
}

// inPasses reports whether a mechanism takes no memory for a record beside the file that has it.
func inPasses(m mechanism.Mechanism) bool {
	switch m := m.(type) {
	case mechanism.Group:
		return inPasses(m.Of)
	case mechanism.Replaced:
		return inPasses(m.Of)
	case geometry.Centred:
		return inPasses(m.Of)
	case objpert.Counted:
		return inPasses(m.Fit)
	case interval.Curvature:
		return inPasses(m.Fit)
	case multiclass.OneVsRest:
		return inPasses(m.Binary)
	case objpert.Objective, objpert.Output, constrained.Objective, multiclass.Softmax, sgd.Quantiles, sgd.Counted,
		sgd.Curvature, qop.Perturbation:
		return true
	}
	return false
}
