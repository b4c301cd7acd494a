package interval

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Intervals on the coefficients of several classes cover what the fit would have been without noise: with hardly any
// records, where the noise is all there is, about as often as they say if there is one dimension.
func TestClassesCover(t *testing.T) {
	testscale.InTurn(t)
	const classes, reps, level = 3, 150, 0.9
	for _, n := range []int{1, 200} {
		for _, d := range []int{1, 4} {
			c := multiclass.Config{Classes: classes, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove}
			s := must.Get(multiclass.CalibrateSoftmax(c, multiclass.Vertex))
			o := must.Get(multiclass.CalibrateOneVsRest(c, loss.Logistic{}))
			x, _ := records(n, make([]float64, d), noise.NewSeeded(3))
			against, places := make([]float64, n), make([]float64, n)
			for i := range places {
				if places[i], against[i] = float64(i%classes), -1; places[i] == 0 {
					against[i] = 1
				}
			}
			all := must.Get(erm.Minimize(&erm.Problem{Rows: x, Labels: places, Joint: loss.Softmax{Classes: classes},
				Lambda: s.Lambda}, nil))
			first := must.Get(erm.Minimize(&erm.Problem{Rows: x, Labels: against, Loss: loss.Logistic{},
				Lambda: o.Binary.Lambda}, nil))
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
				r = must.Get(o.Run(x, places, src, nil))
				iv = must.Get(FromRelease(o, r.Coefficients, level))
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

// Forms have intervals as wide as their length says, those of single coefficients those of FromRelease; along a basis
// noise has as many dimensions as the basis.
func TestFormsFromRelease(t *testing.T) {
	const d, level = 4, 0.9
	basis := mat.NewDense(d, 2, nil)
	basis.Set(0, 0, 1)
	basis.Set(1, 1, 1)
	one := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 2, Sigma: 3, Tolerance: 1e-9, OutputSigma: 1e-9}
	for classes, m := range map[int]mechanism.Mechanism{
		3: multiclass.Softmax{Classes: 3, RowNorm: 1, Lambda: 2, Sigma: 3, Tolerance: 1e-9, OutputSigma: 1e-9},
		2: multiclass.OneVsRest{Classes: 2, Binary: one},
	} {
		theta := make([]float64, classes*d)
		for j := range theta {
			theta[j] = float64(j)
		}
		each := must.Get(FromRelease(m, theta, level))
		few := must.Get(FromRelease(m, theta[:2*classes], level))
		forms := [][]float64{{1, 0, 0, 0}, {0, 3, -4, 0}}
		iv := must.Get(FormsFromRelease(m, theta, Settings{Level: level, Forms: forms}))
		along := must.Get(FormsFromRelease(m, theta, Settings{Level: level, Forms: forms[:1], Basis: basis}))
		for c := range classes {
			t0 := theta[c*d : (c+1)*d]
			half := (each.Upper[c*d] - each.Lower[c*d]) / 2
			for k, want := range [][3]float64{{t0[0], half}, {3*t0[1] - 4*t0[2], 5 * half}} {
				if at := 2*c + k; !(math.Abs(iv.Estimate[at]-want[0]) <= 1e-12) ||
					!(math.Abs((iv.Upper[at]-iv.Lower[at])/2/want[1]-1) <= 1e-9) {
					t.Errorf("class %d, form %d: %v from %v to %v, want %v ± %v", c, k, iv.Estimate[at], iv.Lower[at],
						iv.Upper[at], want[0], want[1])
				}
			}
			if got, want := along.Upper[c]-along.Lower[c], few.Upper[c]-few.Lower[c]; !(math.Abs(got/want-1) <= 1e-9) {
				t.Errorf("class %d along a basis: a width of %v, want %v", c, got, want)
			}
		}
		if _, err := FormsFromRelease(m, theta, Settings{Level: level, Forms: [][]float64{{1, 2}}}); err == nil {
			t.Error("a form of two numbers is taken for one of four")
		}
		if _, err := FormsFromRelease(m, theta[:d+1], Settings{Level: level, Forms: forms}); err == nil {
			t.Error("coefficients of one class and a part of another are taken")
		}
	}
}
