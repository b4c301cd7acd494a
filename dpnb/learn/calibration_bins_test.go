package learn

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
)

// Every probability is in one bin of a tenth, 1 in the last.
func TestCalibrationBins(t *testing.T) {
	var e Evaluation
	e.calibrate([]frame.Column{{Numbers: []float64{0, 0.099, 0.1, 0.55, 0.56, 1, 1}}}, []int{0, 1, 0, 1, 0, 1, 1})
	want := map[int]CalibrationBin{0: {Count: 2, Predicted: 0.0495, Observed: 0.5}, 1: {Count: 1, Predicted: 0.1},
		5: {Count: 2, Predicted: 0.555, Observed: 0.5}, 9: {Count: 2, Predicted: 1, Observed: 1}}
	for b, got := range e.Calibration {
		w := want[b]
		if got.Count != w.Count || w.Count > 0 && (!(math.Abs(got.Predicted-w.Predicted) <= 1e-12) ||
			got.Observed != w.Observed) || got.Lower != float64(b)/10 || got.Upper != float64(b+1)/10 {
			t.Errorf("bin %d: %+v, want %+v", b, got, w)
		}
	}
}
