package proportional

import (
	"math"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// midpoints sums f over a law by brute force: 2·10⁴ cells of each uniform part, and of ±12 standard deviations of each
// normal one.
func midpoints(l Law, f func(x float64) float64) (sum float64) {
	const n = 20000
	for _, p := range l.parts {
		lo, hi := p.a, p.b
		if !p.uniform {
			if lo, hi = p.a-12*p.b, p.a+12*p.b; p.b == 0 {
				sum += p.weight * f(p.a)
				continue
			}
		}
		for i := range n {
			x := lo + (hi-lo)*(float64(i)+0.5)/n
			density := 1 / (hi - lo)
			if !p.uniform {
				z := (x - p.a) / p.b
				density = math.Exp(-z*z/2) / (math.Sqrt(2*math.Pi) * p.b)
			}
			sum += p.weight * f(x) * density * (hi - lo) / n
		}
	}
	return sum
}

// Moments of laws, and of their multiples, are those of their densities; so is what a slope is on average.
func TestLaws(t *testing.T) {
	mixed := Mix([]float64{1, 3}, Uniform(-1, 2), Normal(0.5, 0.7))
	for _, l := range []Law{Normal(0.3, 2), Point(-1.5), Uniform(0.25, 3), mixed} {
		for _, c := range []float64{1, 2.5, -1.5, 0} {
			m := l.scaled(c)
			mean := midpoints(l, func(x float64) float64 { return c * x })
			second := midpoints(l, func(x float64) float64 { return c * c * x * x })
			if !(math.Abs(m.Mean()-mean) <= 1e-8) || !(math.Abs(m.SecondMoment()-second) <= 1e-8*(1+second)) {
				t.Errorf("%v times %v: %v and %v, want %v and %v", l, c, m.Mean(), m.SecondMoment(), mean, second)
			}
		}
		x, w := l.nodes()
		var sum float64
		for i := range x {
			sum += w[i] * math.Cos(x[i])
		}
		if want := midpoints(l, math.Cos); !(math.Abs(sum-want) <= 1e-8) {
			t.Errorf("%v: E cos X = %v, want %v", l, sum, want)
		}
	}
	for _, l := range []Law{Normal(0.3, 1), Mix([]float64{1, 1}, Normal(0, 0.5), Point(2)), mixed} {
		for _, of := range []loss.Loss{loss.Huber{Threshold: 0.8}, loss.PseudoHuber{Threshold: 0.8}} {
			v := []float64{-3, -0.4, 0, 1.1, 2.6}
			g, curv := make([]float64, len(v)), make([]float64, len(v))
			Descent{Loss: of, Noise: l}.averagedSlope()(g, curv, v)
			for i, at := range v {
				one, out := make([]float64, 1), make([]float64, 1)
				slope := midpoints(l, func(e float64) float64 {
					of.ValueSlope(out, []float64{at}, []float64{e})
					return out[0]
				})
				bend := midpoints(l, func(e float64) float64 {
					of.Curvature(one, []float64{at}, []float64{e})
					return one[0]
				})
				_, huber := of.(loss.Huber)
				tol := 1e-7
				if huber { // its curvature jumps, and where there are uniform parts nodes are as far apart as they are
					if tol = 1e-3; len(l.parts) > 1 && l.parts[0].uniform {
						tol = 5e-2
					}
				}
				if !(math.Abs(g[i]-slope) <= tol) || !(math.Abs(curv[i]-bend) <= tol) {
					t.Errorf("%s, %v, at %v: slope %v and curvature %v, want %v and %v", of.Name(), l, at, g[i],
						curv[i], slope, bend)
				}
			}
		}
	}
	if cut, inside := clippedMean(0.3, 0, 0.5); cut != 0.3 || inside != 1 {
		t.Errorf("a point within is cut to %v, %v", cut, inside)
	}
	if cut, inside := clippedMean(-3, 0, 0.5); cut != -0.5 || inside != 0 {
		t.Errorf("a point beyond is cut to %v, %v", cut, inside)
	}
}

// A prediction in other units is the prediction of the same regression in these units.
func TestInUnits(t *testing.T) {
	const u = 4
	g := Target{1, 1e-5, privacy.AddRemove}
	for _, m := range []Mechanism{Objective, Output} {
		task := huberTask(0.1)
		own := must.Get(task.At(m, g, 0.8, objective.DTZ24)).InUnits(u)
		task.Loss = loss.Huber{Threshold: task.Loss.(loss.Huber).Threshold * u}
		task.Noise, task.Kappa = task.Noise.scaled(u), task.Kappa*u
		other := must.Get(task.At(m, g, 0.8, objective.DTZ24))
		for name, v := range map[string][2]float64{
			"ν": {own.Nu, other.Nu}, "the error": {own.Point.RMSE, other.Point.RMSE},
			"σ": {own.Point.Sigma, other.Point.Sigma}, "κ": {own.Point.Kappa, other.Point.Kappa},
			"the direct part": {own.Point.Direct, other.Point.Direct}, "on ξ": {own.Point.OnXi, other.Point.OnXi},
			"the size of β": {own.Task.Kappa, other.Task.Kappa}, "λ": {own.Lambda, other.Lambda},
			"the error of the minimiser": {own.fit.RMSE, other.fit.RMSE},
			"the threshold":              {own.Task.Loss.Lipschitz(), other.Task.Loss.Lipschitz()},
			"the noise":                  {own.Task.Noise.SecondMoment(), other.Task.Noise.SecondMoment()},
		} {
			if !(math.Abs(v[0]-v[1]) <= 1e-5*math.Abs(v[1])) {
				t.Errorf("%v: %s is %v in other units, and %v", m, name, v[0], v[1])
			}
		}
	}
}

func TestLimits(t *testing.T) {
	for _, d := range []Descent{{Loss: loss.Huber{Threshold: 1}, Noise: Normal(0, 1)},
		{Loss: loss.Logistic{}, Link: LogisticLink{}}} {
		d.Step, d.Steps, d.AspectRatio, d.Lambda, d.Nu, d.Kappa = 1, 1, 1, 1, 1, 1
		limits.Check(t, d, Descent.Validate, limits.In("Steps", 1, maxSteps), limits.Positive("Step"),
			limits.In("AspectRatio", 1e-9, 1e4), limits.In("Lambda", 1e-9, 1e6, 0), limits.In("Nu", 0, 1e6),
			limits.In("Kappa", 0, MaxKappa))
		task := Task{Loss: d.Loss, AspectRatio: 1, Kappa: 1, Noise: d.Noise, Link: d.Link, Radius: 1,
			Goal: SquaredError}
		limits.Check(t, task, Task.Validate, limits.In("Radius", 1, math.MaxFloat64))
	}
}

// The first step of a classification is at 0, where labels may draw unequally; a later one, and every one of a
// regression, is anywhere.
func TestSlopesOfSteps(t *testing.T) {
	for _, tau := range []float64{0.3, 0.7} {
		task := Task{Loss: loss.SmoothPinball{Tau: tau, Width: 0.01}, Link: LogisticLink{}}
		if one, three := task.slopes(1), task.slopes(3); !near(one, 0.7, 1e-9) || !near(three, 0.7*math.Sqrt(3), 1e-9) {
			t.Errorf("τ = %g: %v and %v", tau, one, three)
		}
	}
	half := logisticTask(1, 1)
	if one, three := half.slopes(1), half.slopes(3); !near(one, 0.5, 1e-12) || !near(three, 1.5, 1e-12) {
		t.Errorf("logistic loss: %v and %v", one, three)
	}
	huber := huberTask(1)
	if one, three := huber.slopes(1), huber.slopes(3); !near(one, 1, 1e-12) || !near(three, math.Sqrt(3), 1e-12) {
		t.Errorf("Huber's loss: %v and %v", one, three)
	}
}

// Kinks are found to the ends of where they are looked for.
func TestKinksFarOut(t *testing.T) {
	for _, at := range []float64{1e-3, 0.7, 1, 50, 1e5, 1.6e6} {
		got := kinks(loss.Huber{Threshold: at}, 0)
		if len(got) != 2 || !near(got[0], -at, 1e-8) || !near(got[1], at, 1e-8) {
			t.Errorf("Huber's loss of %g: %v", at, got)
		}
	}
}

// What is tried in vain leaves nothing but its cost.
func TestBackTo(t *testing.T) {
	w := newton{n: 2, left: 9, tol: 1, x: vector{1, 2}}
	kept := w
	w.x, w.res, w.steps, w.left, w.tol = vector{3, 4}, vector{5}, 6, 2, 7
	w.backTo(kept)
	if w.x != kept.x || w.res != kept.res || w.tol != 1 || w.steps != 6 || w.left != 2 {
		t.Errorf("%+v", w)
	}
}

// Where the true scores are all 0 labels are a coin's: moments over the training records are those of one proximal
// operator at normal scores.
func TestTrainingMomentsWithoutASignal(t *testing.T) {
	c := Classification{Loss: loss.Logistic{}, Link: LogisticLink{}, AspectRatio: 0.4, Lambda: 0.3, Nu: 0.2}
	p := FixedPoint{Sigma: 0.8, Gamma: 0.5, Direct: 0.8}
	for name, m := range map[string]struct {
		g    func(u, y, s float64) float64
		want float64
	}{
		"1":    {func(u, y, s float64) float64 { return 1 }, 1},
		"y":    {func(u, y, s float64) float64 { return y }, 0},
		"u":    {func(u, y, s float64) float64 { return u * u }, 0},
		"both": {func(u, y, s float64) float64 { return (s*y + 1) * (s*y + 1) }, math.NaN()},
	} {
		if name == "both" {
			m.want = midpoints(Normal(0, 0.8), func(s float64) float64 {
				at, slope := make([]float64, 1), make([]float64, 1)
				Prox(at, slope, c.Loss, 0.5, []float64{s}, []float64{1})
				return (at[0] + 1) * (at[0] + 1)
			})
		}
		if got := c.TrainingMoment(p, m.g); !(math.Abs(got-m.want) <= 1e-7) {
			t.Errorf("%s: %v, want %v", name, got, m.want)
		}
	}
}

// After Broyden's correction the Jacobian has the last step's slope along it and what it had across; without a step it
// stays what it was.
func TestBroyden(t *testing.T) {
	w := newton{n: 2, x: vector{1, 2}, res: vector{0.5, -1}}
	w.jac[0], w.jac[1] = [3]float64{1, 2}, [3]float64{3, 4}
	old := w.jac
	if w.broyden(w.x, w.res); w.jac != old {
		t.Errorf("without a step: %v", w.jac)
	}
	moved, res := vector{1.5, 3}, vector{2, 5}
	w.broyden(moved, res)
	for i, row := range w.jac[:2] {
		along, across := 0.5*row[0]+row[1], row[0]-0.5*row[1]
		if want := old[i][0] - 0.5*old[i][1]; !(math.Abs(along-(res[i]-w.res[i])) <= 1e-14) ||
			!(math.Abs(across-want) <= 1e-14) {
			t.Errorf("equation %d: %v", i, row)
		}
	}
}

// Newton's equations are solved with pivots, and are said to have no solution where they have none that is finite.
func TestDirection(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		jac  [maxUnknowns]vector
		step vector
		ok   bool
	}{
		{[3]vector{{0, 2, 0}, {4, 0, 0}, {0, 1, 1}}, vector{-0.5, -0.5, -2.5}, true},
		{[3]vector{{1, 2}, {2, 4}}, vector{}, false}, {[3]vector{{inf}}, vector{}, false},
		{[3]vector{{1, 0, 0}, {0, inf, 0}, {0, 0, 1}}, vector{}, false},
		{[3]vector{{math.NaN()}}, vector{}, false},
	} {
		w := newton{n: 3, res: vector{1, 2, 3}}
		for i, row := range c.jac {
			w.jac[i] = row
		}
		if step, ok := w.direction(); ok != c.ok || ok && step != c.step {
			t.Errorf("%v: %v, %v", c.jac, step, ok)
		}
	}
}

// Slopes far out are those of labels 1 and −1.
func TestRangeOfSlopes(t *testing.T) {
	for _, c := range []struct {
		l     loss.Loss
		slope []float64
		bound float64
	}{{loss.Logistic{}, []float64{-1, 0, 0, 1}, 1}, {loss.SmoothedHinge{Width: 0.5}, []float64{-1, 0, 0, 1}, 1},
		{loss.Squared{}, []float64{math.Inf(-1), math.Inf(1), math.Inf(-1), math.Inf(1)}, math.Inf(1)}} {
		v, bound := Classification{Loss: c.l}.slopeRange()
		if !slices.Equal(v, c.slope) || bound != c.bound {
			t.Errorf("%s: %v of %v, want %v of %v", c.l.Name(), v, bound, c.slope, c.bound)
		}
	}
}
