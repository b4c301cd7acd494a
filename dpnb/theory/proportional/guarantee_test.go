package proportional

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

func TestZCDP(t *testing.T) {
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		g := Target{1, 1e-5, adj}
		m := 1.0
		if adj == privacy.ReplaceOne {
			m = 2
		}
		// Theorem 7.1(a): T·2L²R²/ν² under replace-one.
		for _, steps := range []int{1, 3} {
			p := must.Get(huberTask(0.5).AtSteps(g, steps, 0.1, &DescentSettings{Points: 509}))
			want := float64(steps) * m * m / (2 * p.Nu * p.Nu)
			if rho, err := p.ZCDP(); err != nil || !near(rho.Value, want, 1e-12) || rho.Adj != adj {
				t.Errorf("%d steps of descent: %v, %v", steps, rho, err)
			}
		}
		p := must.Get(logisticTask(0.5, 1).At(Output, g, 2, objective.DTZ24))
		if rho, err := p.ZCDP(); err != nil || !near(rho.Value, m*m/(2*4*p.Nu*p.Nu), 1e-12) {
			t.Errorf("output: %v, %v", rho, err)
		}
		p = must.Get(logisticTask(0.5, 1).At(Objective, g, 20, objective.DTZ24))
		if rho, err := p.ZCDP(); err != nil || !near(rho.Value, m*m/(2*p.Nu*p.Nu), 1e-12) {
			t.Errorf("objective: %v, %v", rho, err)
		}
	}
	p := must.Get(huberTask(0.5).At(Objective, Target{1, 1e-5, privacy.AddRemove}, 5, objective.DTZ24))
	want := math.Log1p(1.0/5) + 1/(2*p.Nu*p.Nu) + math.Sqrt(2/math.Pi)/p.Nu
	if rho, err := p.ZCDP(); err != nil || !near(rho.Value, want, 1e-12) {
		t.Errorf("Huber: %v, want %v, %v", rho, want, err)
	}
	long := logisticTask(0.5, 1)
	long.Radius = 3
	out := must.Get(long.At(Output, Target{1, 1e-5, privacy.AddRemove}, 2, objective.DTZ24))
	if rho, err := out.ZCDP(); err != nil || !near(rho.Value, 9/(2*4*out.Nu*out.Nu), 1e-12) {
		t.Errorf("output, rows of norm 3: %v, %v", rho, err)
	}
	// Just above the edge Theorem A makes it the Gaussian mechanism at ε = 4, and at no other.
	g := Target{4, 1e-5, privacy.AddRemove}
	edge := must.Get(logisticTask(0.05, 1).terms(Objective, g)).ridge
	one := must.Get(logisticTask(0.05, 1).At(Objective, g, edge, objective.DTZ24))
	want = math.Log1p(0.25/edge) + 1/(2*one.Nu*one.Nu) + math.Sqrt(2/math.Pi)/one.Nu
	if rho, err := one.ZCDP(); err != nil || !one.Gaussian || !near(rho.Value, want, 1e-12) {
		t.Errorf("at the edge: %v, want %v, %v", rho, want, err)
	}
	p.Target.Adjacency = privacy.ReplaceOne
	if _, err := p.ZCDP(); err == nil {
		t.Error("Huber under replace-one has a ρ")
	}
}

// Half a prediction has no guarantee: without steps ρ was NaN.
func TestZCDPRefuses(t *testing.T) {
	g := Target{1, 1e-5, privacy.AddRemove}
	for name, p := range map[string]Prediction{
		"no steps":   {Mechanism: NoisyDescent, Task: logisticTask(0.5, 1), Target: g, Nu: 1},
		"no noise":   {Mechanism: NoisyDescent, Task: logisticTask(0.5, 1), Target: g, Steps: 1},
		"no ridge":   {Mechanism: Output, Task: logisticTask(0.5, 1), Target: g, Nu: 1},
		"no radius":  {Mechanism: Output, Task: Task{Loss: logisticTask(1, 1).Loss}, Target: g, Nu: 1, Lambda: 1},
		"no privacy": {Task: logisticTask(0.5, 1), Lambda: 1},
	} {
		if rho, err := p.ZCDP(); err == nil {
			t.Errorf("%s: %v", name, rho)
		}
	}
}

// What is predicted at a guarantee happens: one step of descent, whose noise is that of slopes up to 1/2.
func TestOneStepSimulation(t *testing.T) {
	task := logisticTask(0.05, 2)
	p := must.Get(task.Best(NoisyDescent, Target{1, 1e-5, privacy.AddRemove}, objective.DTZ24))
	if p.Steps != 1 {
		t.Fatalf("%d steps", p.Steps)
	}
	d := Descent{Loss: task.Loss, Link: task.Link, AspectRatio: 0.05, Step: p.Step, Steps: 1, Nu: p.Nu, Kappa: 2}
	within(t, "ε = 1, d/n = 0.05, κ = 2", descended(t, d, 2000, 30, 31).Of(1, population.MSE), p.Point.MSE())
}
