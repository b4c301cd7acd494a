package rkw23

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/loss"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
)

// jumping is a clipped loss as printed, without f(u_L) and f(u_H).
type jumping struct{ loss.Loss }

func (j jumping) ValueSlope(slope, t, y []float64) float64 {
	of, level, _ := loss.Unclip(j.Loss)
	v := j.Loss.ValueSlope(slope, t, y)
	for i := range t {
		if slope[i] == level || slope[i] == -level {
			inside, _ := at(of, y[i], edge(of, y[i], slope[i]))
			v -= inside
		}
	}
	return v
}

// The checks of the algorithm and of clipping fail on versions that are wrong.
func TestAlgorithmChecksCanFail(t *testing.T) {
	ctx := context.Background()
	type check = func(context.Context, claim.Size) (claim.Outcome, error)
	claim41 := func(factor float64, with bool) check {
		return stoppedBelow(func(m objpert.Objective, delta float64, _ bool) (float64, error) {
			eps, err := theorem41(m, delta, with)
			return factor * eps, err
		}, 63)
	}
	claimE1 := func(share float64) check {
		return approximateBelow(func(a *audit.Approximate, s, alpha float64, with bool) float64 {
			other := *a
			other.Tolerance *= share
			return approximateRDP(&other, s, alpha, with)
		})
	}
	formula := func(hessian, sign float64) check {
		return glmOversight(func(added float64, gradJ, gradL []float64, h, e *mat.SymDense, sigma float64) (float64, error) {
			var scaled mat.SymDense
			scaled.ScaleSym(hessian, h)
			return perInstanceLoss(sign*added, gradJ, gradL, &scaled, e, sigma)
		}, 66)
	}
	for name, run := range map[string]check{
		"clipped elsewhere":       algorithmOne(1.02, 1, 61),
		"another noise":           algorithmOne(1, 1.25, 61),
		"another ridge":           linearRelease(1.01, 62),
		"4.1 without its τ":       claim41(1, false),
		"4.1 much too loose":      claim41(3, true),
		"E.1 without its τ":       claimE1(0),
		"E.1 that forgets a 2":    claimE1(0.5),
		"f_C at another level":    clippedIsConvex(func(l loss.Loss, c float64) loss.Loss { return loss.Clipped(l, 1.01*c) }, 64),
		"f_C that jumps":          clippedIsConvex(func(l loss.Loss, c float64) loss.Loss { return jumping{loss.Clipped(l, c)} }, 64),
		"no clipping":             clippedIsConvex(func(l loss.Loss, _ float64) loss.Loss { return l }, 64),
		"pieces that do not fit":  clippedIsSmooth(func(l loss.Loss, c float64) loss.Loss { return cutElsewhere{l, c} }, 65),
		"G.1 with ∇b = +∇²J":      formula(-1, 1),
		"G.1 with the other sign": formula(1, -1),
	} {
		if o, err := run(ctx, claim.Quick); err != nil || o.Verdict != claim.Fails {
			t.Errorf("%s: verdict %q, %v; measured %s", name, o.Verdict, err, o.Measured)
		}
	}
}
