package interval

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Intervals on the coefficients of several classes cover what the fit would have been without noise: with hardly any
// records, where the noise is all there is, about as often as they say if there is one dimension.
func TestClassesCover(t *testing.T) {
	const classes, reps, level = 3, 150, 0.9
	for _, n := range []int{1, 200} {
		for _, d := range []int{1, 4} {
			c := multiclass.Config{Classes: classes, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove}
			s := must.Get(multiclass.CalibrateSoftmax(c, multiclass.Vertex))
			o, err := multiclass.CalibrateOneVsRest(c, loss.Logistic{})
			if err != nil {
				t.Fatal(err)
			}
			x, _ := records(n, make([]float64, d), noise.NewSeeded(3))
			against, places := make([]float64, n), make([]float64, n)
			for i := range places {
				if places[i], against[i] = float64(i%classes), -1; places[i] == 0 {
					against[i] = 1
				}
			}
			all, err := erm.Minimize(&erm.Problem{Rows: x, Labels: places, Joint: loss.Softmax{Classes: classes},
				Lambda: s.Lambda}, nil)
			if err != nil {
				t.Fatal(err)
			}
			first, err := erm.Minimize(&erm.Problem{Rows: x, Labels: against, Loss: loss.Logistic{},
				Lambda: o.Binary.Lambda}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var joint, single, narrow float64
			for k := range reps {
				src := noise.NewSeeded(uint64(k + 1))
				r := must.Get(s.Run(x, places, src, nil))
				iv, err := FromRelease(s, r.Coefficients, level)
				if err != nil || !iv.Proved {
					t.Fatal(iv, err)
				}
				if v := all.Theta[0]; iv.Lower[0] <= v && v <= iv.Upper[0] {
					joint++
				}
				if half := 0.5 * (iv.Upper[0] - iv.Lower[0]); math.Abs(iv.Estimate[0]-all.Theta[0]) <= 0.45*half {
					narrow++
				}
				if r, err = o.Run(x, places, src, nil); err != nil {
					t.Fatal(err)
				}
				if iv, err = FromRelease(o, r.Coefficients, level); err != nil {
					t.Fatal(err)
				}
				if v := first.Theta[0]; iv.Lower[0] <= v && v <= iv.Upper[0] {
					single++
				}
			}
			// Four standard errors.
			if least := reps*level - 4*math.Sqrt(reps*level*(1-level)); joint < least || single < least {
				t.Errorf("n = %d, d = %d: %v and %v of %d covered", n, d, joint, single, reps)
			}
			if n == 1 && d == 1 && narrow > 0.85*reps {
				t.Errorf("less than half the width covers %v of %d", narrow, reps)
			}
		}
	}
	s, _ := multiclass.CalibrateSoftmax(multiclass.Config{Classes: 3, RowNorm: 1, Epsilon: 1, Delta: 1e-5,
		Adjacency: privacy.AddRemove}, multiclass.Vertex)
	for _, theta := range [][]float64{nil, {1}, {1, 2, math.NaN()}, {1, 2, 3, 4}} {
		if _, err := FromRelease(s, theta, 0.9); err == nil {
			t.Errorf("%v is accepted", theta)
		}
	}
	for _, l := range []float64{0, 1, math.NaN()} {
		if _, err := FromRelease(s, []float64{1, 2, 3}, l); err == nil {
			t.Errorf("level %v is accepted", l)
		}
	}
}

// The widths for softmax allow for the farthest of the ball that noise b of all classes leaves, whose mean over the
// classes is none, and for little more: (|b_cj| + √(1 − 1/K)‖b‖)/(2λ).
func TestClassesAllowForTheFarthest(t *testing.T) {
	const classes, d, reps, level = 4, 20, 2000, 0.9
	m := multiclass.Softmax{Classes: classes, RowNorm: 1, Lambda: 2, Sigma: 3, Tolerance: 1e-9, OutputSigma: 1e-9}
	iv := must.Get(FromRelease(m, make([]float64, classes*d), level))
	src, b, covered := noise.NewSeeded(8), make([]float64, classes*d), 0.0
	for range reps {
		src.Gaussian(b, m.Sigma)
		square, first := 0.0, 0.0
		for j := range d {
			mean := (b[j] + b[d+j] + b[2*d+j] + b[3*d+j]) / classes
			for c := range classes {
				square += (b[c*d+j] - mean) * (b[c*d+j] - mean)
			}
			if j == 0 {
				first = math.Abs(b[0] - mean)
			}
		}
		if (first+math.Sqrt((1-1./classes)*square))/(2*m.Lambda) <= iv.Upper[0] {
			covered++
		}
	}
	if off := covered - level*reps; !(math.Abs(off) <= 4*math.Sqrt(reps*level*(1-level))+0.01*reps) {
		t.Errorf("%v of %d are within", covered, reps)
	}
}
