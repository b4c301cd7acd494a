package proportional

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

func logisticTask(ratio, kappa float64) Task {
	return Task{Loss: loss.Logistic{}, Link: LogisticLink{}, AspectRatio: ratio, Kappa: kappa, Radius: 1,
		Goal: SquaredError}
}

func huberTask(ratio float64) Task {
	return Task{Loss: loss.Huber{Threshold: 1}, Noise: Normal(0, 0.3), AspectRatio: ratio, Kappa: 1, Radius: 1,
		Goal: SquaredError}
}

// delta returns an upper bound on δ(ε) of what p describes with the noise times c, by an accountant that the prediction
// did not ask.
func delta(t *testing.T, p Prediction, c float64) float64 {
	t.Helper()
	var profile privacy.Profile
	adj := p.Target.Adjacency
	moves := p.Target.moves()
	l := p.Task.Loss.Lipschitz() * p.Task.Radius
	switch p.Mechanism {
	case Objective:
		curve := must.Get(p.Task.curve())
		cfg := objective.Config{Curve: curve, Lambda: p.Lambda, Sigma: c * p.Nu, Bound: objective.Tight}
		own, err := objective.Event{Config: cfg}.Profile(adj)
		if err != nil {
			base := must.Get(objective.New(cfg))
			own = must.Get(privacy.ConvertAdjacency(base, adj))
		}
		profile = own
	case Output:
		profile = privacy.GaussianProfile(moves*l/(p.Lambda*c*p.Nu), adj)
	case NoisyDescent:
		// The logistic loss: slopes 1/2 in the first step and 1 later.
		profile = privacy.GaussianProfile(moves*p.Task.Radius*math.Sqrt(0.25+float64(p.Steps-1))/(c*p.Nu), adj)
	}
	return privacy.DeltaUpper(profile, p.Target.Epsilon)
}

// What is predicted is predicted for a noise that keeps the promise, and hardly more than that.
func TestPredictionsKeepTheGuarantee(t *testing.T) {
	testscale.Slow(t)
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		for _, eps := range testscale.Some(0.3, 2) {
			g := Target{eps, 1e-5, adj}
			for _, m := range []Mechanism{Objective, Output, NoisyDescent} {
				var p Prediction
				var err error
				if m == NoisyDescent {
					p, err = logisticTask(0.05, 2).AtSteps(g, 2, 0.1, nil)
				} else {
					p, err = logisticTask(0.05, 2).At(m, g, 12, objective.Tight)
				}
				if err != nil {
					t.Fatal(err)
				}
				if d := delta(t, p, 1); d > 1e-5*(1+1e-7) {
					t.Errorf("%s at ε = %v, %v: δ = %v with ν = %v", m, eps, adj, d, p.Nu)
				}
				if d := delta(t, p, 0.98); d <= 1e-5 {
					t.Errorf("%s at ε = %v, %v: two per cent less noise would do: δ = %v", m, eps, adj, d)
				}
			}
		}
	}
	// Where the Gaussian case is not proved, the bound decides.
	g := Target{1, 1e-5, privacy.AddRemove}
	for _, task := range []Task{huberTask(0.1), logisticTask(0.1, 1)} {
		p := must.Get(task.At(Objective, g, 0.8, objective.DTZ24))
		if d := delta(t, p, 1); p.Gaussian || d > 1e-5 {
			t.Errorf("%s: δ = %v", task.Loss.Name(), d)
		}
	}
	p := must.Get(huberTask(0.1).At(Objective, Target{1, 1e-5, privacy.ReplaceOne}, 60, objective.DTZ24))
	if d := delta(t, p, 1); d > 1e-5 {
		t.Errorf("Huber, replace-one: δ = %v", d)
	}
}

func TestBestIsBest(t *testing.T) {
	testscale.InTurn(t)
	g := Target{1, 1e-5, privacy.AddRemove}
	for _, task := range []Task{logisticTask(0.05, 1), huberTask(0.05), {Loss: loss.Logistic{}, Link: LogisticLink{},
		AspectRatio: 0.05, Kappa: 2, Radius: 1, Goal: Misclassification}} {
		limit := must.Get(task.NonPrivate())
		descent := must.Get(task.Best(NoisyDescent, g, objective.DTZ24))
		for _, c := range testscale.Some(0.8, 0.5, 1.25, 2) {
			other := must.Get(task.AtSteps(g, descent.Steps, c*descent.Step, nil))
			better, than := task.badness(other.Point), task.badness(descent.Point)
			if better < than-1e-3*math.Abs(than) {
				t.Errorf("%s: steps of %v are better than of %v: %v < %v", task.Loss.Name(), other.Step, descent.Step,
					better, than)
			}
		}
		for _, m := range []Mechanism{Objective, Output} {
			best := must.Get(task.Best(m, g, objective.DTZ24))
			for _, c := range testscale.Some(0.8, 0.2, 1.25, 5) {
				other, err := task.At(m, g, c*best.Lambda, objective.DTZ24)
				if err == nil && task.badness(other.Point) < task.badness(best.Point)*(1-math.Copysign(1e-4,
					task.badness(best.Point))) {
					t.Errorf("%s, %s: λ = %v is better than %v: %v < %v", task.Loss.Name(), m, other.Lambda,
						best.Lambda, task.badness(other.Point), task.badness(best.Point))
				}
			}
			if task.badness(best.Point) < task.badness(limit.Point) {
				t.Errorf("%s, %s: better than without privacy", task.Loss.Name(), m)
			}
			lax, err := task.Best(m, Target{300, 0.5, privacy.AddRemove}, objective.DTZ24)
			if err != nil || task.badness(lax.Point) > task.badness(best.Point) ||
				m == Objective && !(math.Abs(task.badness(lax.Point)-task.badness(limit.Point)) <= 2e-2*math.Abs(
					task.badness(limit.Point))) {
				t.Errorf("%s, %s: at ε = 300 %v, without privacy %v, %v", task.Loss.Name(), m, task.badness(lax.Point),
					task.badness(limit.Point), err)
			}
		}
	}
}

// Below the edge of the Gaussian case the tight accountant allows smaller ridges than the fast bound, and what is found
// keeps the guarantee.
func TestRefinement(t *testing.T) {
	testscale.Slow(t)
	g := Target{1, 1e-5, privacy.AddRemove}
	tasks := []Task{huberTask(0.01)}
	if testscale.Full() {
		tasks = append(tasks, logisticTask(0.01, 3))
	}
	for _, task := range tasks {
		fast := must.Get(task.Best(Objective, g, objective.DTZ24))
		tight := must.Get(task.Best(Objective, g, objective.Tight))
		if !(tight.Point.MSE() < 0.9*fast.Point.MSE()) || !(tight.Lambda < fast.Lambda) {
			t.Errorf("%s: λ = %v, MSE %v by DTZ24; %v, %v by Tight", task.Loss.Name(), fast.Lambda, fast.Point.MSE(),
				tight.Lambda, tight.Point.MSE())
		}
		if d := delta(t, tight, 1); d > 1e-5 {
			t.Errorf("%s: δ = %v", task.Loss.Name(), d)
		}
		rough, exact := 0.0, tight.Nu
		tm, err := task.terms(Objective, g)
		if err == nil {
			rough = tm.roughNoise(tight.Lambda, objective.Tight)
		}
		if rough < exact*(1-2e-5) || rough > exact*1.002 {
			t.Errorf("%s: rough noise %v for %v, %v", task.Loss.Name(), rough, exact, err)
		}
	}
}

func TestFrontier(t *testing.T) {
	testscale.Slow(t)
	targets := []Target{{0.3, 1e-5, privacy.AddRemove}, {1, 1e-5, privacy.AddRemove}, {4, 1e-5, privacy.AddRemove}}
	ratios := []float64{0.01, 0.03, 0.1, 0.3}
	for _, task := range []Task{logisticTask(1, 1), huberTask(1)} {
		for _, m := range []Mechanism{Objective, Output} {
			got := must.Get(task.Frontier(m, targets, ratios))
			for i := range got {
				for j, p := range got[i] {
					if i > 0 && p.Point.MSE() > got[i-1][j].Point.MSE() {
						t.Errorf("%s, %s: the error rises with ε at d/n = %v", task.Loss.Name(), m, ratios[j])
					}
					if j > 0 && p.Point.MSE() < got[i][j-1].Point.MSE() {
						t.Errorf("%s, %s: the error falls with d/n at ε = %v", task.Loss.Name(), m, targets[i].Epsilon)
					}
					alone := task
					alone.AspectRatio = ratios[j]
					best, err := alone.Best(m, targets[i], objective.DTZ24)
					if err != nil || !near(best.Point.MSE(), p.Point.MSE(), 1e-4) {
						t.Errorf("%s, %s, ε = %v, d/n = %v: %v in the frontier, %v alone", task.Loss.Name(), m,
							targets[i].Epsilon, ratios[j], p.Point.MSE(), best.Point.MSE())
					}
				}
			}
		}
	}
	if _, err := logisticTask(1, 1).Frontier(NoisyDescent, targets, ratios); err == nil {
		t.Error("a frontier of gradient descent")
	}
}

func TestPredictRefuses(t *testing.T) {
	g := Target{1, 1e-5, privacy.AddRemove}
	squared := huberTask(0.1)
	squared.Loss = loss.Squared{}
	var param *privacy.ParamError
	for _, n := range [][2]int{{0, 5}, {5, 0}, {-1, 5}, {5, -1}} {
		if _, err := Predict(huberTask(0.1), n[0], n[1], g); !errors.As(err, &param) || param.Name != "n, d" {
			t.Errorf("%v: %v", n, err)
		}
	}
	if _, err := squared.Best(Output, g, objective.DTZ24); !errors.As(err, &param) {
		t.Errorf("squared loss: %v", err)
	}
	clipped := logisticTask(0.1, 1)
	clipped.Loss = loss.Clipped(loss.Probit{}, 1)
	if _, err := clipped.Best(Objective, g, objective.DTZ24); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("clipped probit: %v", err)
	}
	if _, err := clipped.Best(Output, g, objective.DTZ24); err != nil {
		t.Errorf("clipped probit, output: %v", err)
	}
	for _, change := range []func(*Task, *Target){
		func(_ *Task, g *Target) { g.Adjacency = 0 },
		func(_ *Task, g *Target) { g.Delta = 0 },
		func(_ *Task, g *Target) { g.Epsilon = -1 },
		func(t *Task, _ *Target) { t.Radius = 0 },
		func(t *Task, _ *Target) { t.Goal = 0 },
		func(t *Task, _ *Target) { t.Link = nil },
		func(t *Task, _ *Target) { t.Kappa = math.NaN() },
	} {
		task, g := logisticTask(0.1, 1), g
		change(&task, &g)
		for _, m := range []Mechanism{Objective, Output, NoisyDescent} {
			if _, err := task.Best(m, g, objective.DTZ24); !errors.As(err, &param) {
				t.Errorf("%s: %+v, %+v: %v", m, task, g, err)
			}
		}
	}
	if _, err := logisticTask(0.1, 1).At(Output, g, 0, objective.DTZ24); !errors.As(err, &param) {
		t.Errorf("λ = 0: %v", err)
	}
	if _, err := Predict(logisticTask(0.1, 1), 0, 1, g); !errors.As(err, &param) {
		t.Errorf("no records: %v", err)
	}
}

// At the smallest ridge that is taken for the Gaussian case the tight accountant, which does not know of it, finds no
// more than δ; well below it finds more.
func TestEdgeOfTheGaussianCase(t *testing.T) {
	testscale.Slow(t)
	task := logisticTask(0.05, 1)
	targets := []Target{{4, 1e-5, privacy.AddRemove}, {1, 1e-5, privacy.ReplaceOne}}
	if testscale.Full() {
		targets = append(targets, Target{0.3, 1e-5, privacy.AddRemove})
	}
	for _, g := range targets {
		tm := must.Get(task.terms(Objective, g))
		p := must.Get(task.At(Objective, g, tm.ridge, objective.DTZ24))
		if d := delta(t, p, 1); !p.Gaussian || d > 1e-5*(1+1e-7) {
			t.Errorf("%+v: δ = %v at the edge λ = %v, ν = %v", g, d, p.Lambda, p.Nu)
		}
		p.Lambda /= 4
		if d := delta(t, p, 1); d <= 1e-5 {
			t.Errorf("%+v: δ = %v at a quarter of the edge too", g, d)
		}
	}
}

// In the Gaussian case the bound does not matter: what is found is the same, and so is whether it is at an end.
func TestBoundsOfTheGaussianCase(t *testing.T) {
	task, g := logisticTask(2, 0.1), Target{0.01, 1e-5, privacy.AddRemove}
	a, b := must.Get(task.Best(Objective, g, objective.DTZ24)), must.Get(task.Best(Objective, g, objective.Tight))
	if !a.Gaussian || !a.AtEdge || !b.AtEdge || a.Lambda != b.Lambda || a.Nu != b.Nu || a.Point != b.Point {
		t.Errorf("λ = %v, at an end %t; λ = %v, at an end %t", a.Lambda, a.AtEdge, b.Lambda, b.AtEdge)
	}
}

// An end of what is searched is one of 24 steps, and of sizes from e⁻¹¹ to e³ of what never diverges.
func TestStepsAtAnEdge(t *testing.T) {
	task := huberTask(0.25) // of smoothness 1: that is 1/5
	for size, edge := range map[float64]bool{-11: true, -10.8: false, 0: false, 2.8: false, 2.95: true} {
		if task.stepsAtEdge(16, math.Exp(size)/5) != edge || !task.stepsAtEdge(24, math.Exp(size)/5) {
			t.Errorf("steps of e^%g: an edge, %v", size, !edge)
		}
	}
}

// A noise is not computed from a sensitivity that is not known.
func TestNoiseNeedsASensitivity(t *testing.T) {
	g := Target{1, 1e-5, privacy.AddRemove}
	var param *privacy.ParamError
	for name, change := range map[string]func(*Task){
		"no radius":       func(t *Task) { t.Radius = 0 },
		"negative radius": func(t *Task) { t.Radius = -1 },
		"radius NaN":      func(t *Task) { t.Radius = math.NaN() },
		"radius infinite": func(t *Task) { t.Radius = math.Inf(1) },
		"no loss":         func(t *Task) { t.Loss = nil },
		"squared loss":    func(t *Task) { t.Loss = loss.Squared{} },
		"threshold 0":     func(t *Task) { t.Loss = loss.Huber{} },
	} {
		task := logisticTask(0.1, 1)
		change(&task)
		if nu, err := task.descentNoise(g, 2); !errors.As(err, &param) {
			t.Errorf("%s: noise of descent %v, %v", name, nu, err)
		}
		for _, m := range []Mechanism{Objective, Output} {
			if terms, err := task.terms(m, g); !errors.As(err, &param) {
				t.Errorf("%s: terms of %v %v, %v", name, m, terms, err)
			}
		}
	}
}

// Of rows twice as long each is paid for: the noise is twice as much.
func TestLongRowsArePaidFor(t *testing.T) {
	long := logisticTask(0.05, 2)
	long.Radius = 2
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		g := Target{1, 1e-5, adj}
		for _, p := range []Prediction{must.Get(long.At(Output, g, 12, objective.DTZ24)),
			must.Get(long.At(Objective, g, 60, objective.DTZ24)),
			must.Get(long.AtSteps(g, 2, 0.1, &DescentSettings{Points: 509}))} {
			if d, less := delta(t, p, 1), delta(t, p, 0.98); d > 1e-5*(1+1e-7) || less <= 1e-5 {
				t.Errorf("%s, %v: δ = %v with ν = %v, %v with two per cent less", p.Mechanism, adj, d, p.Nu, less)
			}
		}
	}
}

// Where the number of records has to be public for the guarantee, and is not by the adjacency, that is said.
func TestAPublicCountIsAssumed(t *testing.T) {
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		p := must.Get(logisticTask(0.05, 1).At(Output, Target{1, 1e-5, adj}, 2, objective.DTZ24))
		said := strings.Join(p.Assumptions(), "\n")
		if strings.Contains(said, "the exact count is private") != (adj == privacy.AddRemove) {
			t.Errorf("%v: %s", adj, said)
		}
	}
}

// A descent needs other things than a minimiser, for the figures and for the guarantee.
func TestAssumptionsOfMechanisms(t *testing.T) {
	for m, descends := range map[Mechanism]bool{NoisyDescent: true, Output: false, Objective: false} {
		said := strings.Join(Prediction{Mechanism: m, Task: logisticTask(0.05, 1), Target: Target{1, 1e-5,
			privacy.AddRemove}}.Assumptions(), "\n")
		for _, text := range []string{"recursion of gradient descent is derived, not proved",
			", labels ±1, a start at 0, noise in the sum of the gradients at every step; and"} {
			if strings.Contains(said, text) != descends {
				t.Errorf("%s: %s", m, said)
			}
		}
		for _, text := range []string{"the minimiser is exact", ", an exact minimiser, λ and noise"} {
			if strings.Contains(said, text) == descends {
				t.Errorf("%s: %s", m, said)
			}
		}
	}
}

// What is not private names no ε, of all things 0.
func TestAssumptionsWithoutPrivacy(t *testing.T) {
	p := must.Get(logisticTask(0.05, 1).NonPrivate())
	said := strings.Join(p.Assumptions(), "\n")
	if strings.Contains(said, "ε = ") || strings.Contains(said, "δ = ") || strings.Contains(said, "guarantee") {
		t.Error(said)
	}
}

func BenchmarkFrontier(b *testing.B) {
	var targets []Target
	var ratios []float64
	for k := range 50 {
		targets = append(targets, Target{0.1 * math.Pow(100, float64(k)/49), 1e-5, privacy.AddRemove})
		ratios = append(ratios, 0.01*math.Pow(1000, float64(k)/49))
	}
	for _, m := range []Mechanism{Objective, Output} {
		b.Run(m.String(), func(b *testing.B) {
			for b.Loop() {
				must.Get(logisticTask(1, 1).Frontier(m, targets, ratios))
			}
		})
	}
}

// Where more steps than are looked at would be better still, the most are taken, and it is said.
func TestLongestDescent(t *testing.T) {
	testscale.Slow(t)
	p := must.Get(huberTask(0.3).Best(NoisyDescent, Target{10, 1e-5, privacy.AddRemove}, objective.DTZ24))
	if p.Steps != 24 || !p.AtEdge {
		t.Errorf("%d steps, at the edge of what was looked at: %t", p.Steps, p.AtEdge)
	}
}
