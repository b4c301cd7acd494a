package learn

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
)

// TestTunedSGDIsOfItsLoss: what was found for one learner is not taken for another at the same price.
func TestTunedSGDIsOfItsLoss(t *testing.T) {
	d := &frame.Design{RowNorm: 1}
	for _, l := range []Learner{Logistic{}, SVM{}} {
		p := l.spec()
		m := must.Get(tunedSGD(1000)(p, d, 1, 1e-6))
		if got, want := m.(sgd.Tuner).Base.Loss, p.loss(d.Target); got != want {
			t.Errorf("%s is fitted with %T, want %T", p.learner, got, want)
		}
	}
}
