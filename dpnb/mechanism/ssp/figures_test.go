package ssp

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestFiguresStay(t *testing.T) {
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		event := func(name string, m mechanism.Mechanism) {
			e, err := m.Event()
			if put(name+m.String(), e, err); err == nil {
				p := must.Get(e.Profile(privacy.AddRemove))
				put("its profile", p.LogDeltaUpper(privacy.Remove, 0.4), p.LogDeltaUpper(privacy.Add, 2))
			}
		}
		for _, eps := range []float64{0, 0.1, 1, 20, 1001} {
			for _, delta := range []float64{0, 1e-6} {
				name := fmt.Sprint(eps, " ", delta)
				for _, share := range []float64{0, 0.3, 1} {
					c := AdaSSPConfig{RowNorm: 2, LabelBound: 3, Epsilon: eps, Delta: delta, EigenShare: share,
						Adjacency: privacy.AddRemove}
					m, err := CalibrateAdaSSP(c)
					put("AdaSSP "+name, m, err)
					b, err := CalibrateBoosted(BoostedConfig{AdaSSPConfig: c})
					if put("boosted "+name, b, err); err == nil {
						put("its noise", m.NoiseNorm(1), m.NoiseNorm(30), m.mu())
						event(name, m)
						event(name, b)
					}
				}
				for _, d := range []int{0, 1, 7, 1<<20 + 1} {
					m, err := CalibrateFunctional(FunctionalConfig{RowNorm: 2, LabelBound: 3, Features: d, Epsilon: eps,
						Delta: delta, Adjacency: privacy.AddRemove})
					if put("functional "+name, m, m.Sensitivity(), m.Feasible(7, 0), err); err == nil {
						event(name, m)
					}
				}
				for _, records := range []int{100, 20_000, 1_000_000} {
					m, err := CalibrateTukeyEM(TukeyEMConfig{RowNorm: 2, LabelBound: 3, Features: 3, Records: records,
						Epsilon: eps, Delta: delta, Adjacency: privacy.AddRemove})
					if put(fmt.Sprint("TukeyEM ", name, " ", records), m, err); err == nil {
						event(name, m)
						put("it needs", m.Needed(), m.threshold(), m.shallowest())
					}
				}
			}
		}
		ada := AdaSSP{SigmaEigen: 2, SigmaGram: 3, SigmaCross: 4}
		boost := must.Get(CalibrateBoosted(BoostedConfig{AdaSSPConfig: AdaSSPConfig{RowNorm: 2, LabelBound: 3,
			Epsilon: 1,
			Delta:   1e-6, Adjacency: privacy.AddRemove}}))
		put("rounded", golden.Rounded(ada.mu(), math.Hypot(math.Hypot(1./2, 1./3), 1./4)*inflation),
			golden.Rounded(boost.SigmaCross, boost.SigmaGram*math.Sqrt(8)))
		em := TukeyEM{RowNorm: 2, LabelBound: 3, Features: 2, Models: 64, TestScale: 1, Eta: 1, Delta: 1e-4}
		for _, models := range []int{3, 4, 1 << 14, 1<<14 + 1} {
			m := em
			m.Models = models
			put("models", m.Validate(), m.shallowest(), m.threshold())
		}
		for _, x := range []float64{-700, -1, 0, 0.5, 3, 100} {
			mantissa, exponent := weight(x)
			f, _ := new(big.Float).SetInt(mantissa).Float64()
			put("weight", f, exponent)
		}
		at := [][]int64{make([]int64, 64), make([]int64, 64)}
		for i := range 64 {
			at[0][i], at[1][i] = int64(i*i), int64(100*i+i/32*3000)
		}
		boxes := em.boxes(at)
		for _, delta := range []float64{0.5, 1e-2, 1e-4, 1e-12} {
			em.Delta, em.Eta = delta, 2
			put("distance", em.distance(boxes), em.threshold())
		}
		put("boxes", boxes[5].from, boxes[5].to, boxes[5].volume.Int64(), len(boxes))
		for seed := range uint64(6) {
			put("deep", em.deep(boxes, noise.Exact(noise.NewSeeded(seed)), noise.NewSeeded(seed)))
		}
		put("step", momentStep(1), momentStep(1000), momentStep(1e9), inflation-1)
		put("eigenvalue", must.Get(smallestEigenvalue(mat.NewSymDense(2, []float64{3, 1, 1, 2}))),
			must.Get(smallestEigenvalue(mat.NewSymDense(2, []float64{3e12, 1, 1, 2e12}))),
			must.Get(smallestEigenvalue(mat.NewSymDense(2, []float64{1, 2, 2, 1}))))
	})
	golden.Figures(t, "testdata/solved.txt", 1e-6, func(say func(name string, values ...float64)) {
		rng := noise.NewSeeded(5)
		x, y := matrix.NewDense(2000, 3, nil), make([]float64, 2000)
		for i := range y {
			for j := range 3 {
				x.Data[3*i+j] = 2 * (rng.Float64() - 0.4)
			}
			y[i] = 0.9*x.Data[3*i] - 0.5*x.Data[3*i+2] + 0.3*(rng.Float64()-0.5)
		}
		m := newMoments(x, y, 2.1, 3, 1)
		say("moments", append(m.gram.RawSymmetric().Data, m.cross...)...)
		c := AdaSSPConfig{RowNorm: 2.1, LabelBound: 3, Epsilon: 1, Delta: 1e-6, Adjacency: privacy.AddRemove}
		f := FunctionalConfig{RowNorm: 2.1, LabelBound: 3, Features: 3, Epsilon: 1, Adjacency: privacy.AddRemove}
		pure := must.Get(CalibrateFunctional(f))
		f.Delta = 1e-6
		hard := must.Get(CalibrateAdaSSP(c))
		hard.SigmaGram, hard.SigmaEigen = 300, 50
		for _, m := range []mechanism.Mechanism{must.Get(CalibrateAdaSSP(c)), hard, pure,
			must.Get(CalibrateFunctional(f)),
			must.Get(CalibrateBoosted(BoostedConfig{AdaSSPConfig: c})), TukeyEM{RowNorm: 2.1, LabelBound: 3,
				Features: 3,
				Models:   100, TestScale: 0.5, Eta: 3, Delta: 1e-3}} {
			r := must.Get(m.Run(x, y, noise.NewSeeded(2), &mechanism.Settings{Workers: 1}))
			say(m.String(), append(golden.Numbers(math.Abs(r.NoiseScale), r.Also), r.Coefficients...)...)
		}
	})
}
