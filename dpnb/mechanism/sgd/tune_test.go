package sgd

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func tuner(t testing.TB) (u Tuner, rows *matrix.Dense, labels []float64) {
	t.Helper()
	rows, labels = simulated(800, 4, 1, 1)
	public, known := simulated(400, 4, 1, 2)
	return Tuner{
		Base: Descent{Loss: loss.Logistic{}, Clip: 1, Rate: 0.05, Steps: 60, NoiseMultiplier: 1,
			PlannedRecords: 800},
		Grid:     LearningRates(1e-6, 1, 7, func(eta float64) Update { return Adam{LearningRate: eta} }),
		MeanRuns: 15.4, Score: Holdout{Rows: public, Labels: known},
	}, rows, labels
}

func TestLearningRates(t *testing.T) {
	u, _, _ := tuner(t)
	for i, want := range []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1} {
		if got := u.Grid[i].(Adam).LearningRate; !(math.Abs(got-want) <= 1e-9*want) {
			t.Errorf("rate %d is %v, want %v", i, got, want)
		}
	}
}

// TestHonestTuning: the same answer at any number of workers, a rule of the grid, the guarantee of the selection, and a
// sensible rule on the whole.
func TestHonestTuning(t *testing.T) {
	testscale.InTurn(t)
	u, rows, labels := tuner(t)
	good, trials := 0, 2
	if testscale.Full() {
		trials = 3
	}
	calm := u
	calm.Base.NoiseMultiplier = 0.1
	for seed := range uint64(trials) {
		var first *mechanism.Release
		for _, workers := range []int{1, 3} {
			r := must.Get(calm.Run(rows, labels, noise.NewSeeded(seed), &mechanism.Settings{Workers: workers}))
			if first == nil {
				first = r
			} else if !floats.Equal(r.Coefficients, first.Coefficients) ||
				*r.Also.(*Selected) != *first.Also.(*Selected) {
				t.Error("the outcome depends on the number of workers")
			}
		}
		// By the public records' loss a rate that learns is told from one that does not; by their accuracy, hardly: the
		// direction is soon right.
		byLoss, holdout := calm, calm.Score.(Holdout)
		holdout.Loss = loss.Logistic{}
		byLoss.Score = holdout
		if r, err := byLoss.Run(rows, labels, noise.NewSeeded(seed), nil); err != nil {
			t.Fatal(err)
		} else if u := r.Also.(*Selected).Update; u != nil && u.(Adam).LearningRate > 1e-3 {
			good++
		}
		if got, ok := first.Seed(); !first.Simulated() || !ok || got != seed {
			t.Error("a simulation does not say so")
		}
		n, _ := u.Score.(Holdout).Rows.Dims()
		if want := float64(right(u.Score.(Holdout).Rows, u.Score.(Holdout).Labels, first.Coefficients)) / float64(
			n); first.Also.(*Selected).Score != want {
			t.Errorf("score %v, want %v", first.Also, want)
		}
	}
	if good < 2 {
		t.Errorf("in %d of %d trials only was a learning rate found that learns", good, trials)
	}
	// What is promised is more than one run costs.
	u.Base.NoiseMultiplier = 4
	r := must.Get(u.Run(rows, labels, noise.NewSeeded(1), nil))
	want := must.Get(u.Cost().Epsilon(1e-5))
	one, _ := u.Base.Cost().Epsilon(1e-5)
	d := privacy.DeltaUpper(r.Guarantee.Profile, want)
	if !(want > 1.5*one) || d > 1.05e-5 || d < 1e-6 {
		t.Errorf("δ = %v at the tuned ε = %v; one run has %v", d, want, one)
	}
	if !strings.Contains(strings.Join(r.Guarantee.Assumptions, ";"), "how many runs") {
		t.Error("the assumption about the number of runs is missing")
	}
}

// TestNoRun: with next to no runs expected there is none, and what is released does not depend on the records.
func TestNoRun(t *testing.T) {
	u, rows, labels := tuner(t)
	u.MeanRuns = 1e-9
	r := must.Get(u.Run(rows, labels, noise.NewSeeded(1), nil))
	if s := r.Also.(*Selected); floats.Norm(r.Coefficients, 2) != 0 || len(r.Coefficients) != 4 || s.Update != nil ||
		!math.IsInf(s.Score, -1) {
		t.Errorf("no run gives %v, %v", r.Coefficients, s)
	}
}

// TestRulesAreDrawnEvenly and independently, and the number of runs is Poisson.
func TestRulesAreDrawnEvenly(t *testing.T) {
	u, rows, labels := tuner(t)
	u.Base.Steps, u.MeanRuns = 1, 2
	u.Grid = []Update{Plain{1e-3}, Plain{2e-3}}
	const trials = 1500
	var none, first float64
	for seed := range uint64(trials) {
		r := must.Get(u.Run(rows, labels, noise.NewSeeded(seed), &mechanism.Settings{Workers: 1}))
		switch r.Also.(*Selected).Update {
		case nil:
			none++
		case u.Grid[0]:
			first++
		}
	}
	if p := math.Exp(-2); !(math.Abs(none/trials-p) <= 5*math.Sqrt(p*(1-p)/trials)) {
		t.Errorf("no run in %v of %d trials, want %v", none, trials, p*trials)
	}
	// After one step from zero the two rules predict alike, so that they tie.
	if p := 0.5; !(math.Abs(first/(trials-none)-p) <= 5*math.Sqrt(p*(1-p)/(trials-none))) {
		t.Errorf("the first rule was selected in %v of %v trials", first, trials-none)
	}
}

// A score with the noise of a step costs what one step more does, of one run and of the best of several, by either
// accounting.
func TestScoreCostsAsAStep(t *testing.T) {
	for _, runs := range []float64{0, 3} {
		for _, accounting := range []Accounting{Sharpest, Renyi} {
			with := Cost{Rate: 1, NoiseMultiplier: 8, Steps: 1, ScoreMultiplier: 8, MeanRuns: runs,
				Accounting: accounting}
			without := with
			without.Steps, without.ScoreMultiplier = 2, 0
			for what, figure := range map[string]func(Cost) (float64, error){
				"ε": func(c Cost) (float64, error) { return c.Epsilon(1e-5) },
				"δ": func(c Cost) (float64, error) {
					p, err := c.Profile(privacy.AddRemove)
					if err != nil {
						return 0, err
					}
					return privacy.DeltaUpper(p, 1), nil
				},
			} {
				have, err := figure(with)
				want, wrong := figure(without)
				if err != nil || wrong != nil || !(math.Abs(have/want-1) < 0.01) {
					t.Errorf("%v: %s = %v, of two steps %v (%v, %v)", with, what, have, want, err, wrong)
				}
			}
		}
	}
}

func TestPrivateScore(t *testing.T) {
	testscale.Slow(t)
	u, rows, labels := tuner(t)
	u.Score = Training{Sigma: 20}
	if c := u.Cost(); c.ScoreMultiplier != 20 {
		t.Errorf("the score's noise is not paid for: %v", c)
	}
	public := u
	public.Score = Holdout{Rows: rows, Labels: labels}
	a := must.Get(u.Cost().Epsilon(1e-5))
	if b, err := public.Cost().Epsilon(1e-5); err != nil || !(b < a) {
		t.Errorf("a private score costs nothing: %v and %v (%v)", a, b, err)
	}
	r := must.Get(u.Run(rows, labels, noise.NewSeeded(2), nil))
	exact := float64(right(rows, labels, r.Coefficients))
	if r.Also.(*Selected).Score == exact || !(math.Abs(r.Also.(*Selected).Score-exact) <= 120) {
		t.Errorf("score %v, exact %v", r.Also.(*Selected).Score, exact)
	}
}

func TestHoldoutLoss(t *testing.T) {
	u, rows, labels := tuner(t)
	score := must.Get(Holdout{Rows: rows.Sparse(), Labels: labels, Loss: loss.Logistic{}}.bind(rows, labels))
	if got := score(make([]float64, 4), nil); !(math.Abs(got+math.Ln2) <= 1e-12) {
		t.Errorf("at zero the score is %v, want −ln 2", got)
	}
	if got := score([]float64{math.NaN(), 0, 0, 0}, nil); !math.IsInf(got, -1) {
		t.Errorf("at NaN the score is %v", got)
	}
	const public = "the records of the score are public: no guarantee covers them"
	u.Score = struct{ Holdout }{Holdout{Rows: rows, Labels: labels}}
	if a := u.Describe().Assumptions; !slices.Contains(a, public) {
		t.Errorf("a score that embeds Holdout rests on %q", a)
	}
	u.Score = Holdout{Rows: matrix.NewDense(2, 3, nil), Labels: []float64{1, -1}}
	var data *matrix.DataError
	if err := u.Check(rows, labels); !errors.As(err, &data) {
		t.Errorf("public records of another width: %v", err)
	}
}

func TestTunerRefuses(t *testing.T) {
	var param *privacy.ParamError
	for name, change := range map[string]func(*Tuner){
		"a bad rule": func(u *Tuner) { u.Grid = append(u.Grid, Plain{-1}) },
		"no mean":    func(u *Tuner) { u.MeanRuns = 0 },
		"free score": func(u *Tuner) { u.Score = Training{} },
	} {
		u, rows, labels := tuner(t)
		change(&u)
		if _, err := u.Run(rows, labels, noise.NewSeeded(1), nil); !errors.As(err, &param) {
			t.Errorf("%s: %v", name, err)
		}
	}
	u, rows, labels := tuner(t)
	one := matrix.NewDense(rows.N, 1, nil)
	for name, own := range map[string]matrix.Rows{"the same": rows,
		"the same numbers":      &matrix.Dense{N: rows.N, D: rows.D, Data: rows.Data},
		"what they are made of": &matrix.Affine{Base: rows, Bias: 1},
		"with another column":   matrix.HStack{Parts: []matrix.Rows{one, rows}}} {
		u.Score = Holdout{Rows: own, Labels: labels}
		if _, err := u.Run(rows, labels, noise.NewSeeded(1), nil); !errors.As(err, &param) {
			t.Errorf("%s: the training records are taken for public ones: %v", name, err)
		}
	}
}

// TestDishonest: it says so, quotes the cost of one run, and its own guarantee is that of what was done.
func TestDishonest(t *testing.T) {
	u, rows, labels := tuner(t)
	u.MeanRuns = 0 // plays no part
	r := must.Get(u.RunDishonestly(rows, labels, noise.NewSeeded(1), nil))
	if w := r.Warning(); !strings.Contains(w, "DISHONEST") || !strings.Contains(w, "7 runs") || !strings.Contains(w,
		"SIMULATION") {
		t.Errorf("the warning reads %q", w)
	}
	if said := fmt.Sprintf("%+v", r.Guarantee); !strings.Contains(said, "7 runs composed") {
		t.Errorf("the guarantee reads %s", said)
	}
	one := must.Get(r.OneRun.Epsilon(1e-5))
	if d := privacy.DeltaUpper(r.Guarantee.Profile, one); d < 1e-4 {
		t.Errorf("at the ε of one run the release is said to have δ = %v", d)
	}
	seven := r.OneRun
	seven.Steps *= 7
	all, err := seven.Epsilon(1e-5)
	if err != nil {
		t.Fatal(err)
	}
	if d := privacy.DeltaUpper(r.Guarantee.Profile, all); !(math.Abs(d-1e-5) <= 1e-6) {
		t.Errorf("δ = %v at the ε of seven runs", d)
	}
	u.Score = Training{}
	r = must.Get(u.RunDishonestly(rows, labels, noise.NewSeeded(1), nil))
	if d := privacy.DeltaUpper(r.Guarantee.Profile, 100); d != 1 {
		t.Errorf("a score that reads the records leaves δ = %v", d)
	}
	if r.Score != float64(right(rows, labels, r.Coefficients)) {
		t.Error("the exact score is not exact")
	}
	// A noisy score of each run is paid for, too: seven Gaussian mechanisms of σ are one of σ/√7.
	u.Score, u.Base.Clip = Training{Sigma: 5}, 2
	r = must.Get(u.RunDishonestly(rows, labels, noise.NewSeeded(1), nil))
	if want := 2 * u.Base.NoiseMultiplier; r.NoiseScale != want {
		t.Errorf("the sum of gradients has noise of %v, said is %v", want, r.NoiseScale)
	}
	seven.ScoreMultiplier = 5 / math.Sqrt(7)
	if d := privacy.DeltaUpper(r.Guarantee.Profile, must.Get(seven.Epsilon(1e-5))); !(math.Abs(d-1e-5) <= 1e-6) {
		t.Errorf("δ = %v at the ε of seven runs and their scores", d)
	}
}

// TestCalibratedTuner: what Calibrate returns satisfies what was asked for, with more noise than one run needs.
func TestCalibratedTuner(t *testing.T) {
	u, _, _ := tuner(t)
	u.Accounting = Renyi
	c := must.Get(u.Calibrate(1, 1e-5))
	eps, err := c.Cost().Epsilon(1e-5)
	if err != nil || eps > 1 || eps < 0.99 {
		t.Errorf("ε = %v after calibration (%v)", eps, err)
	}
	one, err := u.Base.Cost().CalibrateNoise(1, 1e-5)
	if err != nil || one.NoiseMultiplier > c.Base.NoiseMultiplier {
		t.Errorf("one run wants σ = %v, tuning %v (%v)", one.NoiseMultiplier, c.Base.NoiseMultiplier, err)
	}
}

// TestTheBestIsReleased: without sampling and next to no noise the runs are known beforehand, and the one that is
// released is the best of them.
func TestTheBestIsReleased(t *testing.T) {
	u, rows, labels := tuner(t)
	u.Base.Rate, u.Base.NoiseMultiplier, u.Base.Steps = 1, 1e-9, 5
	u.Grid = []Update{Plain{1e-3}, Plain{1}, Plain{1e3}, Plain{30}}
	u.Score = Holdout{Rows: u.Score.(Holdout).Rows, Labels: u.Score.(Holdout).Labels, Loss: loss.Logistic{}}
	score := must.Get(u.Score.bind(rows, labels))
	want := math.Inf(-1)
	for _, rule := range u.Grid {
		run := u.Base
		run.Update = rule
		r := must.Get(run.Run(rows, labels, noise.NewSeeded(1), nil))
		want = math.Max(want, score(r.Coefficients, nil))
	}
	u.MeanRuns = 200
	honest := must.Get(u.Run(rows, labels, noise.NewSeeded(1), nil))
	dishonest := must.Get(u.RunDishonestly(rows, labels, noise.NewSeeded(1), nil))
	if !(math.Abs(honest.Also.(*Selected).Score-want) <= 1e-6) || !(math.Abs(dishonest.Score-want) <= 1e-6) {
		t.Errorf("released are the scores %v and %v, the best is %v", honest.Also.(*Selected).Score, dishonest.Score,
			want)
	}
}

// TestRunsAreIndependent: five runs of one rule do better than the first alone.
func TestRunsAreIndependent(t *testing.T) {
	u, rows, labels := tuner(t)
	u.Score = Holdout{Rows: u.Score.(Holdout).Rows, Labels: u.Score.(Holdout).Labels, Loss: loss.Logistic{}}
	better := 0
	for seed := range uint64(10) {
		one := must.Get(u.best(rows, labels, []int{4}, noise.NewSeeded(seed), 1))
		five := must.Get(u.best(rows, labels, []int{4, 4, 4, 4, 4}, noise.NewSeeded(seed), 1))
		if five.score < one.score {
			t.Errorf("five runs, of which the first is %v, have the best score %v", one.score, five.score)
		}
		if five.score > one.score {
			better++
		}
	}
	if better < 4 {
		t.Errorf("in %d of 10 trials only are five runs better than one", better)
	}
}

// Rows are the same if they are in the same memory, of whatever kind they are, were it a single number.
func TestSameRecords(t *testing.T) {
	for n := range 3 {
		one, other := matrix.NewDense(n, 1, make([]float64, n)), matrix.NewDense(n, 1, make([]float64, n))
		if sameRecords(one, one) != (n > 0) || sameRecords(one, matrix.NewDense(n, 1, one.Data)) != (n > 0) ||
			sameRecords(one, other) {
			t.Errorf("%d rows: the same as others, or others than themselves", n)
		}
	}
}
