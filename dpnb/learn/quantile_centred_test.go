package learn

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// framedMinimum returns the effects of the quantile regression without noise in the frame that m was fitted in.
func framedMinimum(t *testing.T, m *Model, d *frame.Design) []float64 {
	t.Helper()
	b := m.bought()
	rows := b.Placed(d.Rows)
	n, width := rows.Dims()
	x := matrix.NewDense(n, width, nil)
	labels := make([]float64, n)
	for i := range n {
		rows.Row(x.Data[i*width:(i+1)*width], i)
		labels[i] = (d.Labels[i] - b.Centre) / b.Unit
	}
	p := spec{levels: m.levels}
	theta := must.Get(plainQuantiles(p, &frame.Design{Rows: x, Labels: labels, RowNorm: matrix.MaxNorm(x),
		Features: make([]string, width)}, 0))
	forms, shift := formsOf(m.encoding, m.effects(), b, 1)
	var out []float64
	for k := range m.levels {
		for j, f := range forms {
			out = append(out, floats.Dot(f, theta[k*width:(k+1)*width])+shift[j])
		}
	}
	return out
}

// Intervals of a centred model cover the effects of the same fit without noise in its frame, and those for the
// population those of the population from which the records were drawn, as often as they say, and have ends.
func TestCentredQuantileIntervalsCover(t *testing.T) {
	testscale.InTurn(t)
	fits := 4
	if testscale.Full() {
		fits = 150
	}
	type setting struct {
		levels  []float64
		epsilon float64
		n       int
		option  Option
	}
	for _, s := range testscale.Some(
		setting{[]float64{0.25, 0.5, 0.75}, 4, 8000, Curves()}, // which are straight for intervals
		setting{[]float64{0.5}, 4, 4000, Lines()},
		setting{[]float64{0.5}, 1, 10_000, Lines()},
	) {
		var own, ofPopulation, all, endless, width float64
		people := Patients(20_000, 7).Drop("ward", "visits", "ill")
		whole := must.Get(Regression(people, "pressure", Lines()).whole())
		for f := range fits {
			part := Patients(s.n, uint64(100+f)).Drop("ward", "visits", "ill")
			data := Regression(part, "pressure", s.option)
			m := must.Get(Quantiles{Levels: s.levels, CurvatureShare: 0.2, Noise: Seed(uint64(f))}.Fit(data,
				Simulate(s.epsilon, 1e-6)))
			here := must.Get(Regression(part, "pressure", Lines()).whole())
			mine, theirs := framedMinimum(t, m, here), framedMinimum(t, m, whole)
			iv := must.Get(m.Intervals(0.95))
			wide := must.Get(m.PopulationIntervals(0.95))
			for j := range mine {
				all++
				if iv.Lower[j] <= mine[j] && mine[j] <= iv.Upper[j] {
					own++
				}
				if wide.Lower[j] <= theirs[j] && theirs[j] <= wide.Upper[j] {
					ofPopulation++
				}
				if w := wide.Upper[j] - wide.Lower[j]; math.IsInf(w, 1) {
					endless++
				} else {
					width += w
				}
			}
		}
		t.Logf("τ = %v, ε = %g, n = %d: %.3f covered, of the population %.3f; %.3f endless, mean width %.3g, of %g",
			s.levels, s.epsilon, s.n, own/all, ofPopulation/all, endless/all, width/(all-endless), all)
		if own < 0.95*all || ofPopulation < 0.95*all || endless > 0.1*all {
			t.Errorf("τ = %v, ε = %g, n = %d: of %g, %g and %g are covered, %g have no end", s.levels, s.epsilon, s.n,
				all, own, ofPopulation, endless)
		}
	}
}

// A quantile of centred rows costs what was asked for and hardly less, with the curvature too, at each of its parts'
// shares; and predicts about as well as that without privacy.
func TestCentredQuantile(t *testing.T) {
	train, test := Patients(3000, 1).Drop("ward", "visits", "ill"), Patients(3000, 2)
	score := func(l Quantile, o Option) float64 {
		l.Noise = Seed(3)
		m := must.Get(l.Fit(Regression(train, "pressure", o), Simulate(0.3, 1e-6)))
		if d := privacy.DeltaUpper(m.Release.Guarantee.Profile, 0.3) / 1e-6; d > 1 || d < 0.99 {
			t.Errorf("δ is %v of what was asked for", d)
		}
		if c, ok := m.ran.(geometry.Centred); ok {
			mu := must.Get(privacy.MuOf(0.3, 1e-6))
			of := m.release.Fitted
			if k, ok := of.(sgd.Curvature); ok {
				of = k.Fit
			}
			steps := 192 / math.Pow(of.(sgd.Quantiles).NoiseMultiplier, 2)
			for part, want := range map[float64]float64{1 / (c.CountSigma * c.CountSigma): 0.01,
				1 / (c.MeanSigma * c.MeanSigma): 0.04, steps: 0.95 - l.CurvatureShare} {
				if got := part / (mu * mu); !(math.Abs(got/want-1) <= 1e-6) {
					t.Errorf("a part has %v of μ², want %v", got, want)
				}
			}
		} else if l.Radius == 0 {
			t.Errorf("%T", m.ran)
		}
		return must.Get(m.Score(test))
	}
	score(Quantile{Radius: 4}, Lines())
	for _, share := range []float64{0, 0.2} {
		for _, o := range []Option{Lines(), Curves()} {
			private := score(Quantile{CurvatureShare: share}, o)
			plain := must.Get(Quantile{}.FitWithoutPrivacy(Regression(train, "pressure", o)))
			if best, err := plain.Score(test); err != nil || share == 0 && private < best-0.015 || private < 0.36 {
				t.Errorf("R¹ = %.3f, without privacy %.3f (%v)", private, best, err)
			}
		}
	}
	// Of people with three rows each it is a Gaussian mechanism of a third of μ.
	if m, err := (Quantile{Noise: Seed(1)}).Fit(Regression(Patients(500, 1).PerPerson("ward", 3), "pressure",
		Lines()), Simulate(1, 1e-6)); err != nil {
		t.Error(err)
	} else if d := privacy.DeltaUpper(m.Release.Guarantee.Profile, 1) / 1e-6; d > 1 || d < 0.99 {
		t.Errorf("δ is %v of what was asked for, of people", d)
	}
	if _, err := (Quantile{CurvatureShare: 0.96, Noise: Seed(1)}).Fit(Regression(train, "pressure", Lines()),
		Simulate(1, 1e-6)); err == nil || !strings.Contains(err.Error(), "CurvatureShare") {
		t.Errorf("more than there is for the curvature: %v", err)
	}
}
