package learn

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What is allowed of each parameter ends where it is said to: the last values within are taken, the first beyond are
// refused by the name of the parameter.
func TestLimitsOfParameters(t *testing.T) {
	const tiny = math.SmallestNonzeroFloat64
	below1, nan, inf := math.Nextafter(1, 0), math.NaN(), math.Inf(1)
	huber := func(v float64) error { return HeavyTails{Loss: HuberLoss, Threshold: v, Tau: 0}.valid() }
	own := func(v float64) error { return spec{own: parameter{"Own", v}}.valid() }
	design := &frame.Design{Rows: matrix.NewDense(1, 3, nil), Features: []string{"a", "b", "c"}}
	sized := func(r Regulariser) error { _, _, err := r.sizes(design); return err }
	for _, c := range []struct {
		name          string
		of            func(v float64) error
		taken, beyond []float64
	}{
		{"Tau", func(v float64) error { return HeavyTails{Loss: PinballLoss, Tau: v}.valid() },
			[]float64{tiny, 0.5, below1}, []float64{0, -tiny, 1, nan}},
		{"Tau", func(v float64) error { return HeavyTails{Tau: v}.valid() }, []float64{0}, []float64{0.5, -1, nan}},
		{"Threshold", func(v float64) error { return HeavyTails{Threshold: v}.valid() }, []float64{0},
			[]float64{1, nan}},
		{"Threshold", huber, []float64{0, 1, 1e300}, nil},
		{"MomentBound", func(v float64) error { return HeavyTails{Moment: v}.valid() }, []float64{0},
			[]float64{2, nan}},
		{"MomentBound", func(v float64) error { return HeavyTails{Moment: v, MomentBound: 1}.valid() },
			[]float64{0, 2}, nil},
		{"Phases", func(v float64) error { return HeavyTails{Phases: int(v)}.valid() }, []float64{0}, []float64{1, -1}},
		{"Phases", func(v float64) error { return HeavyTails{Method: ByLocalisation, Phases: int(v)}.valid() },
			[]float64{0, 1, 7}, nil},
		{"Workers", func(v float64) error { return spec{workers: int(v)}.valid() }, []float64{0, 1, 9},
			[]float64{-1}},
		{"Own", own, []float64{0, tiny, math.MaxFloat64}, []float64{-tiny, nan, inf, -inf}},
		{"CurvatureShare", func(v float64) error { return spec{curvatureShare: v}.validShare() },
			[]float64{0, tiny, below1}, []float64{-tiny, 1, nan, inf}},
		{"L1", func(v float64) error { return sized(Regulariser{L1: v}) }, []float64{0, tiny, 1e300},
			[]float64{-tiny, nan, inf}},
		{"Ball", func(v float64) error { return sized(Regulariser{Ball: v, L1: 1}) }, []float64{0, tiny},
			[]float64{-tiny, nan, inf}},
	} {
		for _, v := range c.taken {
			if err := c.of(v); err != nil {
				t.Errorf("%s = %v: %v", c.name, v, err)
			}
		}
		for _, v := range c.beyond {
			if p, ok := errors.AsType[*privacy.ParamError](c.of(v)); !ok || p.Name != c.name {
				t.Errorf("%s = %v: %v", c.name, v, c.of(v))
			}
		}
	}
	for name, r := range map[string]Regulariser{"two bounds": {Ball: 1, Box: 1}, "a ball of one sign": {Ball: 1,
		NonNegative: true}, "a box of one sign": {Box: 1, NonNegative: true}, "two weights": {L1: 1, GroupL1: 1},
		"groups of no table": {GroupL1: 1}} {
		if sized(r) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, r := range []Regulariser{{}, {NonNegative: true}, {L1: 2, Ball: 1}, {L1: 2, Box: 1}} {
		if w, groups, err := r.sizes(design); err != nil || w != r.L1 || len(groups) != 3 {
			t.Errorf("%+v: %v, %v, %v", r, w, groups, err)
		}
	}
}
