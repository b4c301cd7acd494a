package interval

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestFiguresStay(t *testing.T) {
	fit := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1.1, Lambda: 2, Sigma: 1.5, Tolerance: 1e-4,
		OutputSigma: 2e-3}
	shrunk := fit
	shrunk.Penalty, shrunk.Centre = objpert.Penalty{Shrinkage: 3}.Smoothing([]matrix.Span{{First: 0, Len: 3}}, 2), 0.3
	x, y := records(400, []float64{1, -1, 0.5, 0.2}, noise.NewSeeded(3))
	theta := []float64{0.8, -0.9, 0.4, 0.1}
	golden.Figures(t, "testdata/figures.txt", 1e-7, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		for _, alpha := range []float64{1e-12, 1e-10, 1e-5, 0.05, 0.4, 0.9} {
			q := []any{twoSided(alpha), oneSided(alpha), squaresQuantile([]float64{3, 0.5, 1}, alpha),
				topEigenvalue(3, 2, alpha), topEigenvalue(3, 0, alpha), fit.Sigma}
			for _, d := range []int{1, 2, 7, 300} {
				q = append(q, chiQuantile(d, alpha), ballQuantile(d, alpha), ballHalfWidth(fit, d, alpha),
					ballHalfWidths(shrunk, d, alpha)[0], ballHalfWidths(shrunk, d, alpha)[d-1])
			}
			put(fmt.Sprint("quantiles ", alpha), q...)
		}
		for _, u := range []float64{0, 1e-9, 0.3, -0.3, 40, math.Inf(1), math.Inf(-1)} {
			put(fmt.Sprint("shrink ", u), shrink(u))
		}
		for _, a := range [][4]float64{{0, 0, 1, 1}, {0, 2, 0, 1}, {0, 2, 0.5, 1}, {0, 2, 3, 1}, {1, 0, 1, 2},
			{1, 5, 0.7, 2}, {1e-3, 5, 0.7, 20}} {
			put(fmt.Sprint("radius ", a), radius(a[0], a[1], a[2], a[3]))
		}
		for _, l := range []loss.Loss{loss.Logistic{}, loss.Huber{Threshold: 1}, loss.Softplus{Width: 0.5},
			loss.Weighted{Of: loss.Logistic{}}, loss.PseudoHuber{Threshold: 1}} {
			q, ok := curvatureChange(l)
			put("curvature changes by "+l.Name(), q, ok)
		}
		put("half", half([]float64{0.1, -0.3}, []float64{1, 0.4}, 0.95), half([]float64{0}, []float64{2}, 0.5),
			half([]float64{5, 5}, []float64{0.1, 3}, 0.999), draws(1), draws(40), draws(1000))
		put("goroutines", goroutines(100, 8, 3, false), goroutines(100, 8, 3000, false), goroutines(100, 8, 3000, true),
			goroutines(2, 8, 3, true))
		iv := newIntervals(0.9, []float64{0.5, 3, -4, math.NaN(), 1}, []float64{1, 0.5, 1, 1, math.Inf(1)}, 2)
		put("bounded", iv.Estimate[:3], iv.Lower, iv.Upper, iv.Width())
		for _, share := range []Share{{}, {Curvature: 0.1}, {Curvature: 0.1, Scores: 0.2},
			{Curvature: 0.9, Scores: 0.1}} {
			for _, reserved := range []float64{0, 0.3} {
				c := config(loss.Logistic{}, 1)
				c.Reserved = reserved
				of, k, err := Calibrate(c, share)
				put(fmt.Sprint("calibrated ", share, reserved), err, of.Sigma, of.OutputSigma, k.Sigma, k.ScoreSigma)
				if err != nil {
					continue
				}
				p := must.Get(k.WithGaussian(0.3))
				s, l2 := k.sensitivities()
				nominal := s / k.Sigma
				if k.ScoreSigma > 0 {
					nominal = math.Hypot(nominal, l2/k.ScoreSigma)
				}
				put("rounded", golden.Rounded(k.Mu(), nominal), golden.Rounded(s, k.Fit.Smoothness()))
				put("its cost", k.Mu(), s, l2, must.Get(k.WithGaussian(0)).LogDeltaUpper(privacy.Add, 1),
					p.LogDeltaUpper(privacy.Add, 1))
			}
		}
		for _, m := range []mechanism.Mechanism{fit, shrunk, Curvature{Fit: fit, Sigma: 1},
			multiclass.OneVsRest{Classes: 2, Binary: fit}, multiclass.Softmax{Classes: 2, RowNorm: 1, Lambda: 2,
				Sigma: 3, Tolerance: 1e-4, OutputSigma: 0.01}} {
			iv, err := FromRelease(m, theta, 0.9)
			put("from the release", iv, err)
			forms := [][]float64{[]float64{1, -2, 0.5, 0}[:len(theta)/noiseClasses(m)]}
			iv, err = FormsFromRelease(m, theta, Settings{Level: 0.9, Forms: forms})
			put("forms", iv, err)
		}
		for _, scores := range []bool{false, true} {
			h, v := moments(fit, x, y, theta, scores, 1)
			put("moments", h.RawSymmetric().Data)
			if scores {
				put("scores", v.RawSymmetric().Data)
			}
		}
		of := must.Get(PublicCurvature(fit, x, nil, theta, 1000))
		known := must.Get(PublicCurvature(fit, x, y, theta, 1000))
		put("public", of.Hessian.At(0, 1), known.Hessian.At(0, 1), known.Scores.At(0, 1))
	})
	golden.Figures(t, "testdata/intervals.txt", 1e-6, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		basis := mat.NewDense(4, 3, []float64{1 / math.Sqrt2, 0, 0, -1 / math.Sqrt2, 0, 0, 0, 1, 0, 0, 0, 1})
		for _, records := range []float64{30, 3e4, 1e8} {
			public := must.Get(PublicCurvature(fit, x, y, theta, records))
			noisy := *public
			noisy.HessianSigma, noisy.Scores, noisy.ScoreSigma = 3, nil, 0
			scored := *public
			scored.HessianSigma, scored.ScoreSigma = 3, 2
			for i, mo := range []*Moments{public, &noisy, &scored} {
				for j, s := range []Settings{{Level: 0.95}, {Level: 0.95, Linearise: true}, {Level: 0.8, NormBound: 3},
					{Level: 0.95, Forms: [][]float64{{1, -1, 0, 0}}, Basis: basis}} {
					for k, m := range []objpert.Objective{fit, shrunk} {
						name := fmt.Sprint(records, " ", i, j, k)
						iv, err := Minimiser(m, theta, mo, s)
						put("minimiser "+name, iv, err)
						iv, err = Population(m, theta, mo, s)
						put("population "+name, iv, err)
					}
				}
			}
			for k, m := range []objpert.Objective{fit, shrunk} {
				g := guessed(public.Hessian, 0.8)
				span := func(first, n int) matrix.Span { return matrix.Span{First: first, Len: n} }
				g.Columns = []Column{{span(0, 2), 0.2}, {span(2, 1), 0.1}, {Span: span(3, 1)}}
				g.Scores, g.Constant = func(f float64) float64 { return 1 + 0.2*f }, 3
				for i, mo := range []*Moments{nil, &noisy} {
					for _, population := range []bool{false, true} {
						s := Settings{Level: 0.9, Forms: [][]float64{{1, 0, 0, 0}, {1, -1, 0, 0}, {0.2, 0.3, 1, 1}}}
						l, err := LikelyLaw(m, theta, mo, g, population, s)
						name := fmt.Sprint(records, " ", k, i, population)
						if put("likely "+name, err); err != nil {
							continue
						}
						put("law "+name, l.Centre, l.Slack, l.Halves(0, 3, 0.9), l.Halves(1, 2, 0.5),
							l.HalvesAtOnce(0, 3, func(k int) bool { return k != 1 }, 0.9),
							l.Covariance(0, 3).RawSymmetric().Data, l.Intervals(0.9).Width(),
							must.Get(l.About(s.Forms[1:2])).Intervals(0.9).Width())
					}
				}
				if p, err := newProblem(m, theta, &noisy, Settings{Level: 0.9, Linearise: true}, true); err == nil {
					put("problem", p.values, p.slack, p.off, p.k, p.shrinkage(), p.ridge(), p.sampling(g),
						must.Get(p.scores()).top)
				}
			}
		}
	})
}

// noiseClasses is how many classes a mechanism has noise for.
func noiseClasses(m mechanism.Mechanism) int {
	of, _ := noiseOf(m)
	return of.classes
}
