package claim

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
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
	for name, run := range map[string]func(context.Context, Size) (Outcome, error){
		"clipped elsewhere": algorithmOne(1.02, 1, 61),
		"another noise":     algorithmOne(1, 1.25, 61),
		"another ridge":     linearRelease(1.01, 62),
		"4.1 without its τ": stoppedBelow(func(m mechanism.ObjectivePerturbation, d float64, _ bool) (float64, error) {
			return theorem41(m, d, false)
		}, 63),
		"4.1 much too loose": stoppedBelow(func(m mechanism.ObjectivePerturbation, d float64, w bool) (float64, error) {
			e, err := theorem41(m, d, w)
			return 3 * e, err
		}, 63),
		"E.1 without its τ": approximateBelow(func(a *audit.Approximate, s, alpha float64, _ bool) float64 {
			return approximateRDP(a, s, alpha, false)
		}),
		"E.1 that forgets a 2": approximateBelow(func(a *audit.Approximate, s, alpha float64, w bool) float64 {
			b := *a
			b.Tolerance /= 2
			return approximateRDP(&b, s, alpha, w)
		}),
		"f_C at another level":   clippedIsConvex(func(l loss.Loss, c float64) loss.Loss { return loss.Clipped(l, 1.01*c) }, 64),
		"f_C that jumps":         clippedIsConvex(func(l loss.Loss, c float64) loss.Loss { return jumping{loss.Clipped(l, c)} }, 64),
		"no clipping":            clippedIsConvex(func(l loss.Loss, _ float64) loss.Loss { return l }, 64),
		"pieces that do not fit": clippedIsSmooth(func(l loss.Loss, c float64) loss.Loss { return cutElsewhere{l, c} }, 65),
		"G.1 with ∇b = +∇²J": glmOversight(func(sign float64, j, l []float64, h, e *mat.SymDense, s float64) (float64, error) {
			var m mat.SymDense
			m.ScaleSym(-1, h)
			return perInstanceLoss(sign, j, l, &m, e, s)
		}, 66),
		"G.1 with the other sign": glmOversight(func(sign float64, j, l []float64, h, e *mat.SymDense, s float64) (float64, error) {
			return perInstanceLoss(-sign, j, l, h, e, s)
		}, 66),
	} {
		if o, err := run(ctx, Quick); err != nil || o.Verdict != Fails {
			t.Errorf("%s: verdict %q, %v; measured %s", name, o.Verdict, err, o.Measured)
		}
	}
}
