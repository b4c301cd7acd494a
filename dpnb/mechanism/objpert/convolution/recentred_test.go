package convolution

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// σ grows by √(1 + s²) for an output noise of μ_out = s·μ.
func TestRoomOfTheOutputNoise(t *testing.T) {
	if over := outputRoom/math.Hypot(1, outputShare) - 1; !(over >= 0 && over <= 1e-8) {
		t.Errorf("σ grows by %v for a share of %v", outputRoom, outputShare)
	}
}

// Two stages satisfy (ε, δ) together, and either stage counts; the second is about the first one's release; where n is
// large their error is less than that of one stage.
func TestRecentred(t *testing.T) {
	testscale.InTurn(t)
	if !testscale.Full() { // all are searched for ten seconds
		defer func(all [4]float64, bent [3]float64) { growths, bends = all, bent }(growths, bends)
		growths, bends = [4]float64{2, 2, 2, 2}, [3]float64{3, 3, 3}
	}
	const n, eps = 1000, 1.0
	m := must.Get(CalibrateRecentred(config(smoothing.Logistic{}, eps, Predicted, n), 2))
	delta := func(m Recentred) float64 {
		p := must.Get(mechanism.Profile(m))
		return privacy.DeltaUpper(p, eps)
	}
	if got := delta(m); got > 1e-5 || got < 0.97e-5 {
		t.Errorf("δ = %g", got)
	}
	for i := range m.Stages {
		fewer := m
		fewer.Stages = m.Stages[i : i+1]
		if got := delta(fewer); got > 0.5e-5 {
			t.Errorf("without the other stage δ = %g: it does not count", got)
		}
	}
	if few, err := CalibrateRecentred(config(smoothing.Logistic{}, 0.2, Predicted, 100), 2); err != nil ||
		len(few.Stages) != 1 {
		t.Errorf("%d stages for a hundred records at ε = 0.2 (%v)", len(few.Stages), err)
	}
	one := must.Get(Calibrate(config(smoothing.Logistic{}, eps, Predicted, n)))
	var apart, apartOne float64
	for i := range 5 {
		src := noise.NewSeeded(uint64(40 + i))
		x, y := medians(n, src)
		r := must.Get(m.Run(x, y, src, nil))
		if first := r.Also.([][]float64); len(first) != 1 || floats.Distance(first[0], r.Coefficients, 2) == 0 {
			t.Errorf("the stages released %v and %v", first, r.Coefficients)
		}
		s := must.Get(one.Run(x, y, src, nil))
		apart += floats.Distance(r.Coefficients, truth, 2) / 5
		apartOne += floats.Distance(s.Coefficients, truth, 2) / 5
	}
	if apart > 0.8*apartOne {
		t.Errorf("two stages are %.3f from the truth, one %.3f", apart, apartOne)
	}
}

// Each stage minimises about what the one before released: with hardly any noise and a ridge that overwhelms the
// records, everything stays at the first centre.
func TestRecentredCentre(t *testing.T) {
	x, y := medians(20, noise.NewSeeded(2))
	stage := COP{Loss: Loss{Form: loss.Absolute(smoothing.Logistic{}, 1), Forms: 3, Norm: 4}, Lambda: 1e9, Sigma: 1e-3,
		Tolerance: 1e-5, OutputSigma: 1e-9}
	first := stage
	first.Centre = []float64{0.3, -0.2, 0, 0.1, 0.5}
	m := Recentred{Stages: []COP{first, stage, stage}, Radius: 1}
	r, err := m.Run(x, y, noise.NewSeeded(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if off := floats.Distance(r.Coefficients, first.Centre, 2); off > 1e-6 {
		t.Errorf("%v away from the centre", off)
	}
	m.Radius = 0.1 // moved into the ball after each stage but the last
	if r, err = m.Run(x, y, noise.NewSeeded(1), nil); err != nil ||
		!(math.Abs(floats.Norm(r.Coefficients, 2)-0.1) <= 1e-6) {
		t.Errorf("‖θ‖ = %v within 0.1 (%v)", floats.Norm(r.Coefficients, 2), err)
	}
	// The answer of a stage is that of the tilted objective itself.
	cx, cy, _ := stage.Loss.clip(x, y)
	weak := stage
	weak.Lambda, weak.Centre = 3, first.Centre
	got := must.Get(weak.Run(x, y, noise.NewSeeded(4), nil))
	pull := make([]float64, 5)
	floats.AddScaled(pull, -3, first.Centre)
	want, err := erm.Minimize(&erm.Problem{Rows: cx, Labels: cy, Loss: weak.Form, Lambda: 3, Linear: pull}, nil)
	if err != nil || floats.Distance(got.Coefficients, want.Theta, 2) > 1e-2 {
		t.Errorf("%v, want about %v (%v)", got.Coefficients, want.Theta, err)
	}
	// Two stages cost the composition of both: of a Gaussian mechanism's, where λ is large.
	two := Recentred{Stages: []COP{stage, stage}, Radius: 1}
	for i := range two.Stages {
		two.Stages[i].Forms, two.Stages[i].Sigma = 1, 40
		two.Stages[i] = two.Stages[i].finish(0)
	}
	p := must.Get(mechanism.Profile(two))
	least := privacy.DeltaUpper(privacy.GaussianProfile(math.Sqrt2*4/40, privacy.AddRemove), 0.5)
	if got := privacy.DeltaUpper(p, 0.5); got < least || got > 4.1*least {
		t.Errorf("δ(0.5) = %g of two stages, %g of two Gaussian mechanisms", got, least)
	}
	var bad *privacy.ParamError
	for _, m := range []Recentred{{Radius: 1}, {Stages: []COP{stage}, Radius: 0},
		{Stages: []COP{first, first}, Radius: 1}} {
		if err := m.Validate(); !errors.As(err, &bad) {
			t.Errorf("%v", err)
		}
	}
	free := stage
	free.Account = Entropic
	if err := (Recentred{Stages: []COP{free}, Radius: 1}).Validate(); err == nil {
		t.Error("a stage by another account")
	}
}
