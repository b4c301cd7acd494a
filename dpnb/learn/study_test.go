package learn_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

var ridged = []proportional.Mechanism{proportional.Objective, proportional.Output}

func TestPredict(t *testing.T) {
	testscale.InTurn(t)
	errorAt := func(p learn.Study) float64 {
		t.Helper()
		p.Mechanisms = ridged[:1]
		f := p.Forecast()
		if f.Err() != nil {
			t.Fatal(f.Err())
		}
		if p.Noise == 0 {
			return f.Predictions[0].Quality().Error
		}
		return f.Predictions[0].Point.RMSE
	}
	for _, noise := range testscale.Some(0.5, 0) {
		plan := learn.Study{Records: 5000, Features: 50, Epsilon: 1, Noise: noise}
		at := errorAt(plan)
		more, fewer, looser := plan, plan, plan
		more.Records, fewer.Features, looser.Epsilon = 20_000, 10, 8
		for name, p := range map[string]learn.Study{"more records": more, "fewer features": fewer,
			"a larger ε": looser} {
			if v := errorAt(p); !(v < at) {
				t.Errorf("noise %g: %s do not help: %g, before %g", noise, name, v, at)
			}
		}
	}
	f := (learn.Study{Records: 5000, Features: 50, Epsilon: 1, Mechanisms: ridged}).Forecast()
	k := f.NonPrivate.Quality()
	if e := f.Predictions[0].Quality().Error; !(k.BestError < k.Error && k.Error < e &&
		e < f.Predictions[1].Quality().Error) {
		t.Errorf("order of errors: best %g, not private %g, objective %g", k.BestError, k.Error, e)
	}
	text := f.Display().Text()
	says(t, text, "objective perturbation", "output perturbation", "without privacy", "Nobody can do better",
		"independent and of equal variance")
	if strings.Contains(text, "step") {
		t.Errorf("steps of what takes none: %s", text)
	}
}

func TestPredictRefuses(t *testing.T) {
	good := learn.Study{Records: 100, Features: 5, Epsilon: 1}
	for name, change := range map[string]func(*learn.Study){
		"records": func(p *learn.Study) { p.Records = 0 }, "features": func(p *learn.Study) { p.Features = -1 },
		"epsilon": func(p *learn.Study) { p.Epsilon = -1 }, "delta": func(p *learn.Study) { p.Delta = 1.5 },
		"negative": func(p *learn.Study) { p.Delta = -1 }, "signal": func(p *learn.Study) { p.Signal = math.NaN() },
		"noise": func(p *learn.Study) { p.Noise = math.Inf(1) }, "threshold": func(p *learn.Study) { p.Threshold = 1 },
	} {
		p := good
		change(&p)
		p.Mechanisms = ridged[:1]
		err := p.Forecast().Err()
		if _, ok := errors.AsType[*privacy.ParamError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A regression in other units is the same regression: every figure is that of the other units times their ratio, to the
// last bits, and the ridge is the same.
func TestPredictIsFreeOfUnits(t *testing.T) {
	testscale.SkipUnlessFull(t)
	plan := learn.Study{Records: 2000, Features: 40, Epsilon: 1, Noise: 2, Signal: 3, Mechanisms: ridged}
	small := plan.Forecast()
	plan.Noise, plan.Signal = 20_000, 30_000
	large := plan.Forecast()
	if small.Err() != nil || large.Err() != nil {
		t.Fatal(small.Err(), large.Err())
	}
	pairs := [][2]proportional.Prediction{{small.NonPrivate, large.NonPrivate}}
	for i := range small.Predictions {
		pairs = append(pairs, [2]proportional.Prediction{small.Predictions[i], large.Predictions[i]})
	}
	for _, p := range pairs {
		a, b := p[0], p[1]
		if a.Lambda != b.Lambda || !(math.Abs(b.Nu-1e4*a.Nu) <= 1e-9*b.Nu) ||
			!(math.Abs(b.Point.RMSE/a.Point.RMSE-1e4) <= 1e-8) ||
			a.Point.Alpha != b.Point.Alpha {
			t.Errorf("%v: λ %g and %g, noise %g and %g, error %g and %g", a.Mechanism, a.Lambda, b.Lambda, a.Nu, b.Nu,
				a.Point.RMSE, b.Point.RMSE)
		}
	}
	if small.NonPrivate.Task.Kappa != 3 || large.Predictions[0].Task.Kappa != 30_000 {
		t.Errorf("the signal is %g and %g", small.NonPrivate.Task.Kappa, large.Predictions[0].Task.Kappa)
	}
}

// Where the best knob is an end of the search the table says so.
func TestPredictSaysWhatIsAnEdge(t *testing.T) {
	f := (learn.Study{Records: 50, Features: 2000, Epsilon: 1e-3, Mechanisms: ridged[1:]}).Forecast()
	if f.Err() != nil {
		t.Fatal(f.Err())
	}
	edge := f.NonPrivate.AtEdge
	for _, p := range f.Predictions {
		edge = edge || p.AtEdge
		t.Logf("%v λ = %g", p.Mechanism, p.Lambda)
	}
	if says := strings.Contains(f.Display().Text(), "At the edge of the range searched"); !edge || says != edge {
		t.Errorf("at the edge %v, and the table says so: %v", edge, says)
	}
}
