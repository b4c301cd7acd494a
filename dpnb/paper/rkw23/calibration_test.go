package rkw23_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/experiment"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/paper/rkw23"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// radius is the bound on rows of norm 1 with a bias.
var radius = math.Nextafter(math.Sqrt2, 2)

// The calibrated mechanism satisfies (ε, δ) by the paper's theorem, with a hundredth less of λ it does not, and it does
// by this project's own bound.
func TestRKW23Calibration(t *testing.T) {
	const delta = rkw23.Delta
	var last [2]float64
	for i, eps := range []float64{0.025, 0.1, 1, 8} {
		m := must.Get(rkw23.Calibration(radius, eps, delta))
		if m.Tolerance != 0.01 || m.OutputSigma != 0.15 || !(m.Lambda > m.Smoothness()) ||
			!(math.Abs(m.Smoothness()-0.5) <= 1e-9) {
			t.Errorf("ε = %v: %v", eps, m)
		}
		spent := func(lambda float64) float64 {
			// Theorem 4.1, by orders on a grid: a little above the best order.
			best := math.Inf(1)
			for alpha := 1.0002; alpha < 1e5; alpha *= 1.0005 {
				a := m.Lipschitz() / m.Sigma
				c := (alpha - 1) * a
				v := -math.Log1p(-m.Smoothness()/lambda) + a*a/2 + c*a/2 +
					math.Log(2*0.5*math.Erfc(-c/math.Sqrt2))/(alpha-1) + 2*0.01*0.01*alpha/(0.15*0.15*lambda*lambda)
				// Canonne, Kamath, Steinke 2020.
				best = math.Min(best, (alpha-1)*(v-eps)+alpha*math.Log1p(-1/alpha)-math.Log(alpha-1))
			}
			return math.Exp(best)
		}
		if d := spent(m.Lambda); d > delta*(1+1e-4) || d < 0.97*delta {
			t.Errorf("ε = %v: δ = %v at the calibrated λ = %v", eps, d, m.Lambda)
		}
		if d := spent(0.99 * m.Lambda); m.Lambda > 0.51 && d <= delta {
			t.Errorf("ε = %v: a smaller λ does as well", eps)
		}
		p, err := m.Profile()
		if err != nil || privacy.DeltaUpper(p, eps) > delta {
			t.Errorf("ε = %v: δ = %v by the release's own bound (%v)", eps, privacy.DeltaUpper(p, eps), err)
		}
		unit, _ := privacy.GaussianSigma(eps, delta)
		if f := m.Sigma / (unit * m.Lipschitz()); f < 1.2999 || f > 1.5 {
			t.Errorf("ε = %v: σ is %v times the Gaussian mechanism's", eps, f)
		}
		if i > 0 && !(m.Lambda < last[0] && m.Sigma < last[1]) {
			t.Errorf("ε = %v: λ or σ does not fall", eps)
		}
		last = [2]float64{m.Lambda, m.Sigma}
	}
	for _, bad := range [][3]float64{{0, 1, 1e-5}, {1, 0, 1e-5}, {1, 1, 0}, {1, 1, 1}, {1, math.NaN(), 1e-5}} {
		if _, err := rkw23.Calibration(bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

// realAdult makes the real files found, or skips.
func realAdult(t *testing.T) {
	t.Helper()
	dir := os.Getenv(dataset.DirEnv)
	if dir == "" {
		dir, _ = filepath.Abs("../../../../shared/data/adult")
	}
	if _, err := os.Stat(filepath.Join(dir, "adult.data")); err != nil {
		t.Skip("the Adult data are not here")
	}
	t.Setenv(dataset.DirEnv, dir)
}

// On the Adult data, encoded as published, Algorithm 1 has the accuracy of Table 2 within a percentage point (4 trials:
// two to three standard errors at ε = 0.1, more at larger ε), and this project's mechanism is not below.
func TestAlgorithmOneOnAdultAsPublished(t *testing.T) {
	testscale.InTurn(t)
	defer measure.Fatal(t)
	testscale.Slow(t)
	realAdult(t)
	set := measure.Must(experiment.AdultAsPublished())
	g := rkw23.Figure2([]experiment.Set{set})
	g.Epsilons, g.Trials = []float64{0.1, 1, 8}, 4
	cells := measure.Must(g.Run(context.Background()))
	for i := 0; i < len(cells); i += 2 {
		for _, p := range rkw23.Table2 {
			if p.Set == "Adult" && p.Mechanism == cells[i].Mechanism && p.Epsilon == cells[i].Epsilon &&
				!(math.Abs(cells[i].Mean-p.Value) <= 0.01) {
				t.Errorf("ε = %v: accuracy %v, published %v", p.Epsilon, cells[i].Mean, p.Value)
			}
		}
		if cells[i+1].Mean < cells[i].Mean-0.005 {
			t.Errorf("ε = %v: this project's mechanism has %v, Algorithm 1 %v", cells[i].Epsilon, cells[i+1].Mean,
				cells[i].Mean)
		}
	}
}

func small(t testing.TB) experiment.Set {
	t.Helper()
	s := must.Get(experiment.Synthetic("small", dataset.Clusters{Records: 1500, Features: 8, Informative: 5,
		Separation: 2, Seed: 1}))
	return s
}

// More ε, more accuracy, up to that of the fit without privacy; the same at any number of workers; and a mechanism from
// elsewhere.
func TestFigure2(t *testing.T) {
	defer measure.Fatal(t)
	set := small(t)
	plain := measure.Must(withoutPrivacy(set, 1))
	nothing := experiment.Mechanism{Name: "nothing", Fit: func(r *experiment.Records, _, _ float64,
		src *noise.Seeded) ([]float64, error) {
		_, d := r.Rows.Dims()
		theta := make([]float64, d)
		src.Gaussian(theta, 1)
		return theta, nil
	}}
	g := rkw23.Figure2([]experiment.Set{set}, nothing)
	g.Epsilons, g.Trials = []float64{0.1, 8}, 6
	cells := measure.Must(g.Run(context.Background()))
	if len(cells) != 6 || cells[0].Mechanism != "Algorithm 1" || cells[1].Mechanism != "dpnb" ||
		cells[2].Mechanism != "nothing" {
		t.Fatalf("%+v", cells)
	}
	for k := range 2 {
		if low, high := cells[k].Mean, cells[3+k].Mean; high < low || !(math.Abs(high-plain) <= 0.03) ||
			cells[k].StdErr == 0 {
			t.Errorf("%s: %v at ε = 0.1, %v at 8, %v without privacy", cells[k].Mechanism, low, high, plain)
		}
	}
	if cells[5].Mean > plain-0.1 {
		t.Errorf("noise alone has accuracy %v", cells[5].Mean)
	}
	g.Workers = 1
	if again, err := g.Run(context.Background()); err != nil || !reflect.DeepEqual(cells, again) {
		t.Errorf("one worker gives another result (%v)", err)
	}
	g.Epsilons = []float64{-1}
	if _, err := g.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "Algorithm 1, ε = -1") {
		t.Errorf("ε = −1: %v", err)
	}
}

// A quick look at Figure 2 on a population of one's own.
func ExampleFigure2() {
	set, err := experiment.Synthetic("clusters", dataset.Clusters{Records: 1500, Features: 8, Informative: 5,
		Separation: 2, Seed: 1})
	if err != nil {
		panic(err)
	}
	g := rkw23.Figure2([]experiment.Set{set})
	g.Epsilons, g.Trials = []float64{1}, 5
	cells, err := g.Run(context.Background())
	if err != nil {
		panic(err)
	}
	for _, c := range cells {
		fmt.Printf("%s: above 80 %%: %v\n", c.Mechanism, c.Mean > 0.8)
	}
	// Output:
	// Algorithm 1: above 80 %: true
	// dpnb: above 80 %: true
}

// On clusters that any method can tell apart, honest tuning pays for its runs.
func TestDPSGDIsTunedHonestlyAndDishonestly(t *testing.T) {
	testscale.InTurn(t)
	defer measure.Fatal(t)
	set := measure.Must(experiment.Synthetic("small", dataset.Clusters{Records: 3000, Features: 10, Informative: 5,
		Separation: 2, Seed: 3}))
	g := rkw23.Figure2([]experiment.Set{set}, rkw23.HonestDPSGD(5), rkw23.DishonestDPSGD(5))
	g.Epsilons, g.Trials = []float64{0.03}, 4
	cells := measure.Must(g.Run(context.Background()))
	mean := map[string]float64{}
	for _, c := range cells {
		mean[c.Mechanism] = c.Mean
	}
	t.Log(mean)
	if !(mean["dpnb"] > mean["honest DP-SGD"] && mean["dishonest DP-SGD"] > mean["honest DP-SGD"]) {
		t.Errorf("accuracies %v", mean)
	}
	bare := *set.Train
	bare.Public = nil
	if _, err := rkw23.HonestDPSGD(5).Fit(&bare, 1, 1e-5, noise.NewSeeded(1)); err == nil ||
		!strings.Contains(err.Error(), "public records") {
		t.Errorf("tuned without public records: %v", err)
	}
}

// withoutPrivacy returns the accuracy of the ordinary fit with ridge λ on s.
func withoutPrivacy(s experiment.Set, lambda float64) (float64, error) {
	sol, err := erm.Minimize(&erm.Problem{Rows: s.Train.Rows, Labels: s.Train.Labels, Loss: loss.Logistic{},
		Lambda: lambda}, &erm.Settings{Tolerance: 1e-3})
	if err != nil {
		return 0, err
	}
	return experiment.Accuracy(s.Test, sol.Theta)
}
