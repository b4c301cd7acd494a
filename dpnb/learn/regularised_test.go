package learn_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// The larger the weight the more coefficients are zero, whole columns of GroupL1; under the largest only the intercept
// is left, which is not shrunk by it; and the noise is what it is without.
func TestRegularised(t *testing.T) {
	df := learn.Patients(4000, 1).Drop("ill", "visits")
	data := learn.Regression(df, "pressure", learn.Uncentred(), learn.RowNorm(1))
	d := must.Get(data.Design())
	bias := len(d.Features) - 1
	zeros := func(theta []float64) (count int) {
		for _, v := range theta[:bias] {
			if math.Abs(v) < 1e-8 {
				count++
			}
		}
		return count
	}
	for name, at := range map[string]func(w float64) learn.Learner{
		"Linear":   func(w float64) learn.Learner { return learn.Linear{Regularise: learn.Regulariser{L1: w}} },
		"grouped":  func(w float64) learn.Learner { return learn.Linear{Regularise: learn.Regulariser{GroupL1: w}} },
		"Huber":    func(w float64) learn.Learner { return learn.Huber{Regularise: learn.Regulariser{L1: w}} },
		"Quantile": func(w float64) learn.Learner { return learn.Quantile{L1: w} },
	} {
		before := -1
		for _, w := range []float64{1, 30, 300, 1e5} {
			m, err := at(w).FitWithoutPrivacy(data)
			if err != nil {
				t.Fatal(name, w, err)
			}
			theta := m.Theta()
			if z := zeros(theta); z < before {
				t.Errorf("%s, ω = %g: %d zeros, %d at less", name, w, z, before)
			} else {
				before = z
			}
			at := map[string]float64{}
			for j, f := range d.Features {
				at[f] = theta[j]
			}
			if name == "grouped" && (at["smoker=no"] == 0) != (at["smoker=yes"] == 0) {
				t.Errorf("ω = %g: one category of smoker is zero and the other not", w)
			}
			if w == 1e5 {
				middle := stat.Mean(d.Labels, nil)
				if name == "Huber" || name == "Quantile" || math.Abs(theta[bias]-middle) < 0.005 {
					middle = theta[bias] // of these it is near it only
				}
				if before != bias || theta[bias] != middle ||
					!(math.Abs(theta[bias]-stat.Mean(d.Labels, nil)) <= 0.05) {
					t.Errorf("%s: %v is left under the largest weight", name, theta)
				}
			}
		}
	}
	free := must.Get(learn.Linear{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6)))
	m := must.Get(learn.Linear{Noise: learn.Seed(1), Regularise: learn.Regulariser{L1: 1e5}}.Fit(data,
		learn.Simulate(1, 1e-6)))
	if m.Lambda() != free.Lambda() || m.Release.NoiseScale != free.Release.NoiseScale {
		t.Errorf("λ = %g, σ = %g with the regulariser, %g and %g without", m.Lambda(), m.Release.NoiseScale,
			free.Lambda(), free.Release.NoiseScale)
	}
	if floats.Norm(m.Theta()[:bias], 2) > 1e-3 {
		t.Errorf("noise alone makes coefficients of %v", m.Theta())
	}
	if text := shown(t, m); !strings.Contains(text, "regulariser ℓ₁") ||
		!strings.Contains(text, fmt.Sprintf("%d of %d coefficients are zero", bias, bias+1)) {
		t.Errorf("nothing is said of the regulariser: %s", text)
	}
}
