package dpnb_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

var ridged = []proportional.Mechanism{proportional.Objective, proportional.Output}

func TestPredict(t *testing.T) {
	errorAt := func(p dpnb.Plan) float64 {
		t.Helper()
		p.Mechanisms = ridged[:1]
		f := dpnb.Predict(p)
		if f.Err() != nil {
			t.Fatal(f.Err())
		}
		if p.Noise == 0 {
			return f.Predictions[0].Quality().Error
		}
		return f.Predictions[0].Point.RMSE
	}
	for _, noise := range []float64{0, 0.5} {
		plan := dpnb.Plan{Records: 5000, Features: 50, Epsilon: 1, Noise: noise}
		at := errorAt(plan)
		more, fewer, looser := plan, plan, plan
		more.Records, fewer.Features, looser.Epsilon = 20_000, 10, 8
		for name, p := range map[string]dpnb.Plan{"more records": more, "fewer features": fewer, "a larger ε": looser} {
			if v := errorAt(p); !(v < at) {
				t.Errorf("noise %g: %s do not help: %g, before %g", noise, name, v, at)
			}
		}
	}
	f := dpnb.Predict(dpnb.Plan{Records: 5000, Features: 50, Epsilon: 1, Mechanisms: ridged})
	k := f.NonPrivate.Quality()
	if e := f.Predictions[0].Quality().Error; !(k.BestError < k.Error && k.Error < e && e < f.Predictions[1].Quality().Error) {
		t.Errorf("order of errors: best %g, not private %g, objective %g", k.BestError, k.Error, e)
	}
	text := f.Display().Text()
	for _, want := range []string{"objective perturbation", "output perturbation", "without privacy", "Nobody can do better", "independent and of equal variance"} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
}

func TestPredictRefuses(t *testing.T) {
	good := dpnb.Plan{Records: 100, Features: 5, Epsilon: 1}
	for name, change := range map[string]func(*dpnb.Plan){
		"records": func(p *dpnb.Plan) { p.Records = 0 }, "features": func(p *dpnb.Plan) { p.Features = -1 },
		"epsilon": func(p *dpnb.Plan) { p.Epsilon = -1 }, "delta": func(p *dpnb.Plan) { p.Delta = 1.5 },
		"negative": func(p *dpnb.Plan) { p.Delta = -1 }, "signal": func(p *dpnb.Plan) { p.Signal = math.NaN() },
		"noise": func(p *dpnb.Plan) { p.Noise = math.Inf(1) }, "threshold": func(p *dpnb.Plan) { p.Threshold = 1 },
	} {
		p := good
		change(&p)
		p.Mechanisms = ridged[:1]
		err := dpnb.Predict(p).Err()
		if _, ok := errors.AsType[*privacy.ParamError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
