package ssp

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// cloud returns m models of d coordinates on a small lattice: spread evenly, in clumps or nearly all at one point.
func cloud(rng *noise.Seeded, m, d, size int) [][]int64 {
	all := make([][]int64, m)
	kind := rng.IntN(3)
	for i := range all {
		all[i] = make([]int64, d)
		for j := range all[i] {
			switch {
			case kind == 0:
				all[i][j] = int64(rng.IntN(size))
			case kind == 1:
				all[i][j] = int64(size / 3 * rng.IntN(3))
			case rng.IntN(4) == 0:
				all[i][j] = int64(rng.IntN(size))
			default:
				all[i][j] = int64(size / 2)
			}
		}
	}
	return all
}

// sorted returns the coordinates of models as TukeyEM.models has them.
func sorted(models [][]int64) [][]int64 {
	at := make([][]int64, len(models[0]))
	for j := range at {
		for _, p := range models {
			at[j] = append(at[j], p[j])
		}
		slices.Sort(at[j])
	}
	return at
}

// depth of a point by its definition, at most ⌊(m+1)/2⌋.
func depth(models [][]int64, y []int64) int {
	least := (len(models) + 1) / 2
	for j, v := range y {
		below, above := 0, 0
		for _, p := range models {
			if p[j] <= v {
				below++
			}
			if p[j] >= v {
				above++
			}
		}
		least = min(least, below, above)
	}
	return least
}

// lattice calls with for the points of {0, …, size−1}², which has all models.
func lattice(size int, with func(y []int64)) {
	for a := range size {
		for b := range size {
			with([]int64{int64(a), int64(b)})
		}
	}
}

// A_i is a box and V_i the number of its points; the test's distance is safe by the definition and moves by one at most
// when one model does.
func TestTukeyDistance(t *testing.T) {
	const size = 24
	rng := noise.NewSeeded(1)
	m := TukeyEM{RowNorm: 1, LabelBound: 1, Features: 2, Models: 24, TestScale: 1, Eta: 3, Delta: 0.05}
	moved := map[int64]int{}
	for range 400 {
		models := cloud(rng, m.Models, 2, size)
		boxes := m.boxes(sorted(models))
		volume, shallow, all := make([]int64, len(boxes)+1), 0.0, 0.0
		lattice(size, func(y []int64) {
			at := depth(models, y)
			for i := 1; i <= at; i++ {
				volume[i]++
			}
			if at >= m.shallowest() {
				w := math.Exp(0.5 * m.Eta * float64(at))
				if all += w; at == m.shallowest() {
					shallow += w
				}
			}
		})
		for i, b := range boxes {
			if b.volume.Int64() != volume[i+1] {
				t.Fatalf("A_%d has %v points, by definition %d", i+1, b.volume, volume[i+1])
			}
		}
		k := m.distance(boxes)
		if k >= 0 && shallow > m.Delta*all {
			t.Errorf("κ = %d, and %.3f of the weight is at depth t", k, shallow/all)
		}
		other := slices.Clone(models)
		other[rng.IntN(len(other))] = cloud(rng, 1, 2, size)[0]
		moved[m.distance(m.boxes(sorted(other)))-k]++
	}
	if len(moved) != 3 || moved[-1] == 0 || moved[0] == 0 || moved[1] == 0 {
		t.Errorf("κ moves by %v", moved)
	}
}

// Points are drawn with the probabilities of the definition: a chi-square test errs once in 10⁵ times.
func TestTukeyDrawsDeepPoints(t *testing.T) {
	const size, draws = 9, 20_000
	m := TukeyEM{RowNorm: 1, LabelBound: 1, Features: 2, Models: 12, TestScale: 1, Eta: 0.7, Delta: 0.05}
	for seed := range uint64(4) {
		rng := noise.NewSeeded(seed)
		models := cloud(rng, m.Models, 2, size)
		boxes, draw := m.boxes(sorted(models)), noise.Exact(rng)
		var counts, probability []float64
		var sum float64
		place := map[[2]int64]int{}
		lattice(size, func(y []int64) {
			if at := depth(models, y); at >= m.shallowest() {
				place[[2]int64(y)] = len(probability)
				probability = append(probability, math.Exp(0.5*m.Eta*float64(at)))
				sum += probability[len(probability)-1]
			}
		})
		counts = make([]float64, len(probability))
		for range draws {
			k, ok := place[[2]int64(m.deep(boxes, draw, rng))]
			if !ok {
				t.Fatal("a point is drawn that is not in A_t")
			}
			counts[k]++
		}
		var statistic float64
		for k, p := range probability {
			mean := draws * p / sum
			statistic += (counts[k] - mean) * (counts[k] - mean) / mean
		}
		if k := len(counts) - 1; k > 0 && mathext.GammaIncRegComp(0.5*float64(k), 0.5*statistic) < 1e-5 {
			t.Errorf("seed %d: χ² = %.1f of %d", seed, statistic, k)
		}
	}
}

// The threshold is the least at which data with κ = 0 pass with probability δ at most.
func TestTukeyThreshold(t *testing.T) {
	for _, m := range []TukeyEM{{TestScale: 0.3, Delta: 0.4}, {TestScale: 3, Delta: 1e-6},
		{TestScale: 40, Delta: 1e-12}} {
		q := math.Exp(-1 / m.TestScale)
		pass := func(tau int64) float64 { return math.Pow(q, float64(tau+1)) / (1 + q) }
		if tau := m.threshold(); pass(tau) > m.Delta || tau > 0 && pass(tau-1) <= m.Delta*(1-1e-6) {
			t.Errorf("%+v: τ = %d, passed with %g", m, tau, pass(tau))
		}
	}
}

// Where fits are few they are told so; a plane is found, and coefficients are 0 where the test fails.
func TestTukeyFits(t *testing.T) {
	c := TukeyEMConfig{RowNorm: 2, LabelBound: 3, Features: 3, Records: 40_000, Epsilon: 1, Delta: 1e-6,
		Adjacency: privacy.AddRemove}
	m := must.Get(CalibrateTukeyEM(c))
	e, err := m.Event()
	cost, ok := e.(privacy.Approx)
	if err != nil || !ok || cost.Epsilon > 1 || cost.Epsilon < 0.999 || cost.Delta > 1e-6 || cost.Delta < 0.999e-6 {
		t.Errorf("%v (%v)", e, err)
	}
	rng := noise.NewSeeded(5)
	x, y := randomPlane(rng, 40_000, []float64{0.5, -1, 0.25})
	r, err := m.Run(x, y, rng, nil)
	if err != nil || !r.Also.(*Tested).Passed {
		t.Fatalf("%v, %+v", err, r)
	}
	for j, want := range []float64{0.5, -1, 0.25} {
		if !(math.Abs(r.Coefficients[j]-want) <= 0.05) {
			t.Errorf("θ = %v", r.Coefficients)
		}
	}
	m.Models = 300 // too few for ε = 1, however many records they have
	if r, err = m.Run(x, y, rng, nil); err != nil || r.Also.(*Tested).Passed ||
		slices.ContainsFunc(r.Coefficients, func(v float64) bool { return v != 0 }) {
		t.Errorf("300 models: %v, %v", err, r)
	}
	c.Records = 300
	if _, err := CalibrateTukeyEM(c); err == nil {
		t.Error("300 records are enough for 3 features")
	}
	bad := map[string]TukeyEMConfig{}
	for name, change := range map[string]func(*TukeyEMConfig){"ε": func(c *TukeyEMConfig) { c.Epsilon = 0 },
		"δ": func(c *TukeyEMConfig) { c.Delta = 0 }, "δ too large": func(c *TukeyEMConfig) { c.Delta = 0.6 },
		"adjacency": func(c *TukeyEMConfig) { c.Adjacency = privacy.ReplaceOne },
		"features":  func(c *TukeyEMConfig) { c.Features = 0 }, "models": func(c *TukeyEMConfig) { c.Models = 3 }} {
		c := c
		c.Records = 40_000
		change(&c)
		bad[name] = c
	}
	for name, c := range bad {
		if _, err := CalibrateTukeyEM(c); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// A run on records of another length is refused before it is paid for.
func TestTukeyIsForItsFeatures(t *testing.T) {
	if a, b := (TukeyEM{Models: 8}).shallowest(), (TukeyEM{Models: 9}).shallowest(); a != 2 || b != 3 {
		t.Errorf("a quarter of 8 and of 9 models: %d and %d", a, b)
	}
	m := TukeyEM{Features: 3}
	for features, allowed := range map[int]bool{2: false, 3: true, 4: false} {
		if err := m.Feasible(features, 100); (err == nil) != allowed {
			t.Errorf("%d features: %v", features, err)
		}
	}
}

// Each round of the boosted form is paid for, and a record moves its sum by 1 at most.
func TestBoostedPaysForItsRounds(t *testing.T) {
	for _, rounds := range []int{1, 2, 8, 50} {
		m := must.Get(CalibrateBoosted(BoostedConfig{AdaSSPConfig: AdaSSPConfig{RowNorm: 1, LabelBound: 1, Epsilon: 1,
			Delta: 1e-6, Adjacency: privacy.AddRemove}, Rounds: rounds}))
		p := must.Get(mechanism.Profile(m))
		_, mu, _ := privacy.GaussianMu(p)
		want := math.Sqrt(1/(m.SigmaEigen*m.SigmaEigen) + 1/(m.SigmaGram*m.SigmaGram) +
			float64(rounds)/(m.SigmaCross*m.SigmaCross))
		if d := privacy.DeltaUpper(p, 1); d > 1e-6 || d < 0.99e-6 || mu < want || mu > 1.0001*want {
			t.Errorf("%d rounds: δ(1) = %g, μ = %g, want %g", rounds, d, mu, want)
		}
	}
}

// Without noise the rounds lead to Huber's fit, which is least squares where no residual is clipped.
func TestBoostedConverges(t *testing.T) {
	x, y := randomPlane(noise.NewSeeded(2), 2000, []float64{0.5, -0.6, 0.25})
	m := Boosted{AdaSSP: AdaSSP{RowNorm: 2, LabelBound: 3, SigmaEigen: 1e-9, SigmaGram: 1e-9, SigmaCross: 1e-9,
		Failure: 0.05}, Clip: 6, Rounds: 3}
	for clip, within := range map[float64]float64{6: 1e-6, 1.5: 1e-2, 0.6: 0.2} {
		m.Clip = clip
		r := must.Get(m.Run(x, y, noise.NewSeeded(1), nil))
		ls := must.Get(m.AdaSSP.Run(x, y, noise.NewSeeded(1), nil))
		for j, v := range ls.Coefficients {
			if !(math.Abs(r.Coefficients[j]-v) <= within) {
				t.Errorf("clipped at %g: %v, least squares %v", clip, r.Coefficients, ls.Coefficients)
			}
		}
	}
}

// A record moves the sum of a round by the clipping level at most, whatever its label: without noise that is all of θ
// that one record of norm R makes.
func TestBoostedClips(t *testing.T) {
	m := Boosted{AdaSSP: AdaSSP{RowNorm: 1, LabelBound: 1, SigmaEigen: 1e-9, SigmaGram: 1e-9, SigmaCross: 1e-9,
		Failure: 0.05}, Clip: 0.25, Rounds: 1}
	x := matrix.NewDense(1, 1, []float64{1})
	for y, want := range map[float64]float64{1: 0.25, -1: -0.25, 0.5: 0.25, 0.2: 0.2} {
		r, err := m.Run(x, []float64{y}, noise.NewSeeded(1), nil)
		if err != nil || !(math.Abs(r.Coefficients[0]-want) <= 1e-6) {
			t.Errorf("a label of %g: %v, want %g (%v)", y, r.Coefficients, want, err)
		}
	}
}

// The test and the draw are both paid for.
func TestTukeyCosts(t *testing.T) {
	m := TukeyEM{RowNorm: 1, LabelBound: 1, Features: 1, Models: 16, TestScale: 2, Eta: 0.7, Delta: 0.1}
	event, err := m.Event()
	want := 0.5 + 0.7 + math.Log(1/0.9)
	if a := event.(privacy.Approx); err != nil || a.Epsilon < want || a.Epsilon > want+2e-8 || a.Delta < 0.1 ||
		a.Delta > 0.1+1e-15 || a.Adj != privacy.AddRemove {
		t.Errorf("%v (%v), want ε = %g", event, err, want)
	}
	for _, eps := range []float64{0.001, 0.003, 0.1, 10} {
		m := must.Get(CalibrateTukeyEM(TukeyEMConfig{RowNorm: 1, LabelBound: 1, Features: 1, Records: 1e6, Models: 1000,
			Epsilon: eps, Delta: 1e-6, Adjacency: privacy.AddRemove}))
		if event, err := m.Event(); err != nil || event.(privacy.Approx).Epsilon > eps {
			t.Errorf("%v (%v), asked for ε = %g", event, err, eps)
		}
	}
}

// With many models η is cut to what the integers of the draw have room for, and with few it is not.
func TestTukeyWeightsAreShort(t *testing.T) {
	for _, models := range []int{1000, 1 << 14} {
		m, err := CalibrateTukeyEM(TukeyEMConfig{RowNorm: 1, LabelBound: 1, Features: 1, Records: 1e6, Models: models,
			Epsilon: 100, Delta: 1e-6, Adjacency: privacy.AddRemove})
		if most := float64(1<<17) / float64(models); err != nil || m.Eta > most || m.Eta < math.Min(most, 9) {
			t.Errorf("%d models: %v (%v)", models, m, err)
		}
	}
}

// Each record goes to each part equally often, wherever it stands.
func TestTukeyDealsByChance(t *testing.T) {
	m := TukeyEM{Models: 5}
	draw := noise.Exact(noise.NewSeeded(8))
	const runs = 5000
	var counts [3][5]float64
	for range runs {
		for p, at := range m.deal(3, draw) {
			for _, i := range at {
				counts[i][p]++
			}
		}
	}
	for i, of := range counts {
		for p, n := range of {
			if !(math.Abs(n-runs/5) <= 4.5*math.Sqrt(runs*0.16)) {
				t.Errorf("record %d is in part %d %g times of %d", i, p, n, runs)
			}
		}
	}
}

// How many models it takes is what calibration without a number of them chooses at least, and one more than are allowed
// where more would be.
func TestModelsThatAreNeeded(t *testing.T) {
	c := TukeyEMConfig{RowNorm: 1, LabelBound: 1, Features: 2, Records: 10_000_000, Epsilon: 1, Delta: 1e-6,
		Adjacency: privacy.AddRemove}
	m := must.Get(CalibrateTukeyEM(c))
	least := m.Needed()
	if least < 100 || least > m.Models || m.needed(least) != least || m.needed(least+1) != least {
		t.Errorf("%d models are needed, and there are %d", least, m.Models)
	}
	m.Features = 4000
	if got := m.Needed(); got != 1<<14+1 {
		t.Errorf("of 4000 features %d models are needed", got)
	}
}

// In one dimension boxes are the intervals between the k-th smallest and the k-th largest model.
func TestBoxesInOneDimension(t *testing.T) {
	for n, want := range map[int][][2]int64{1: {{2, 2}}, 2: {{2, 5}}, 5: {{2, 40}, {5, 11}, {7, 7}}} {
		all := TukeyEM{}.boxes([][]int64{[]int64{2, 5, 7, 11, 40}[:n]})
		for i, b := range all {
			if w := want[i]; b.from[0] != w[0] || b.to[0] != w[1] || b.volume.Int64() != w[1]-w[0]+1 {
				t.Errorf("of %d models: box %d is %+v, want %v", n, i, b, w)
			}
		}
		if len(all) != len(want) {
			t.Errorf("of %d models: %d boxes", n, len(all))
		}
	}
}

// Where a part has no record in a direction, its fit is that of the others, and 0 there.
func TestFitsOfPartsWithoutADirection(t *testing.T) {
	rows := matrix.NewDense(6, 2, []float64{1, 0, 0.5, 0, 0.25, 0, 0, 1, 1, 0, 0, 0.5})
	m := TukeyEM{RowNorm: 1, LabelBound: 1, Features: 2}
	at := m.models(rows, []float64{0.8, 0.4, 0.2, -0.5, 0.3, -0.25}, [][]int{{0, 1, 2}, {3, 5}, {}}, 1)
	for j, want := range [][]float64{{0, 0, 0.8}, {-0.5, 0, 0}} {
		for i, v := range at[j] {
			if got := float64(v) * latticeStep; !(math.Abs(got-want[i]) <= 1e-6) {
				t.Errorf("coefficient %d: %g at place %d, want %g", j, got, i, want[i])
			}
		}
	}
}
