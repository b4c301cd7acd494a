package composite

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Extreme sizes end in a certificate or an error, never in NaN or a hang.
func TestExtremes(t *testing.T) {
	testscale.Slow(t)
	certified := 0
	for _, scale := range []float64{1e-200, 1e-12, 1, 1e12, 1e120} {
		for _, r := range []Regulariser{nil, L1{0}, L1{1e100}, L1{1e-100}, L2{1e-100}, L2{1e100}, L2{0}, honest{L1{0}},
			honest{L1{1e50}}} {
			for _, c := range []Constraint{nil, NewBox(0), NewBox(1e-300), NewBox(1e200), Box{}, Ball{1e-200},
				Ball{1e200}, Simplex{1e-150}, Simplex{1e150}} {
				rng := rand.New(rand.NewPCG(1, 1))
				p := random(rng, 5, 3, loss.Squared{}, r, c).p
				for i := range p.Labels {
					p.Labels[i] *= scale
				}
				name := fmt.Sprintf("labels of size %v, %v, %v", scale, r, c)
				got, err := Solve(p, &Settings{MaxPasses: 60})
				var data *matrix.DataError
				switch {
				case errors.As(err, &data):
					continue
				case err != nil && !errors.Is(err, erm.ErrTolerance):
					t.Errorf("%s: %v", name, err)
					continue
				}
				if floats.HasNaN(got.Theta) || math.IsNaN(got.Certificate.Bound()) || got.Certificate.Bound() < 0 ||
					math.IsNaN(got.Certificate.Distance()) || math.IsNaN(got.Certificate.Gap()) {
					t.Errorf("%s: %v, %+v", name, got.Theta, got.Certificate)
				}
				if err == nil {
					certified++
				}
			}
		}
	}
	if certified < 200 {
		t.Errorf("only %d of them are solved", certified)
	}
}

// One record, one feature, and a problem that is all constraint.
func TestSmallest(t *testing.T) {
	p := &Problem{Problem: erm.Problem{Rows: matrix.NewDense(1, 1, []float64{2}), Labels: []float64{3},
		Loss: loss.Squared{}}}
	s, err := Solve(p, nil)
	if err != nil || !(math.Abs(s.Theta[0]-1.5) <= 1e-13) || !math.IsInf(s.Certificate.Distance(), 1) {
		t.Errorf("%+v, %v", s, err)
	}
	p.Constraint = Simplex{2}
	if s, err = Solve(p, nil); err != nil || s.Theta[0] != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}
