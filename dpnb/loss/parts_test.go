package loss

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// What other rooms ask of a loss is answered as its definition says.
func TestStatedOfLosses(t *testing.T) {
	weighted, oneSided := Weighted{Squared{}}, Convolved{smoothing.Logistic{}, 0.5, 0, 2}.Curve(3, 0)
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"a falling loss has no least value", Attained(Logistic{}), false},
		{"a weighted falling loss has none", Attained(Weighted{Logistic{}}), false},
		{"a weighted square has", Attained(weighted), true},
		{"a clipped weighted one, too", Attained(Clipped(weighted, 2)), true},
		{"slopes of both signs", Attained(Convolved{smoothing.Gaussian{}, 1, -1, 0.5}), true},
		{"slopes up to 0, of a kernel without end", Attained(Convolved{smoothing.Gaussian{}, 1, -1, 0}), false},
		{"slopes from 0, of a kernel without end", Attained(Convolved{smoothing.Gaussian{}, 1, 0, 1}), false},
		{"slopes up to 0, of a kernel with an end", Attained(Convolved{smoothing.Uniform{}, 1, -1, 0}), true},
		{"a weight goes", first(Weightless(weighted)), Loss(Squared{})},
		{"no weight stays", first(Weightless(Logistic{})), Loss(Logistic{})},
		{"|t − y| is 1-Lipschitz", LeastAbsolute{}.Lipschitz(), 1.0},
		{"the hinge is 1-Lipschitz", Hinge{}.Lipschitz(), 1.0},
		{"max(0, t − y) is 1-Lipschitz", ReLU{}.Lipschitz(), 1.0},
		{"κ of S̄ = κγ(L − γ), L = 6, S̄(3) = 18", oneSided.Kappa(), 2.0},
		{"S̄(3), of slopes up to 6 with density ½ per 0.5/3", oneSided.Sup(3), 18.0},
		{"an even curve", Absolute(smoothing.Logistic{}, 1).Curve(1, 0).Even(), true},
		{"a curve that is not", convolvedPinball(0.3, smoothing.Logistic{}, 1).Curve(1, 0).Even(), false},
		{"a weighted curve's name", Weighted{Huber{1}}.Curve(1, 0).String(),
			"weighted " + Huber{1}.Curve(1, 0).String()},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if of, ok := Terms(Sum(Logistic{}, Huber{1})); !ok || len(of) != 2 || of[0] != Loss(Logistic{}) {
		t.Errorf("terms %v, %v", of, ok)
	}
	if of, ok := Terms(Softmax{3}); ok || of != nil {
		t.Errorf("a soft maximum is the sum of %v", of)
	}
	e := Extend(LeastAbsolute{}, CoshBend(1, 2), []float64{1, 2, 3}, []float64{1, 2, 3}, nil)
	for y, want := range map[float64]bool{-1: false, 0: true, 1: true, 2: true, 3: false, 0.5: false} {
		if e.ValidLabel(y) != want {
			t.Errorf("%v is the number of a record: %v", y, !want)
		}
	}
	for name, f := range map[string]func(){
		"lengths that differ": func() { Extend(LeastAbsolute{}, CoshBend(1, 2), []float64{1}, []float64{1, 2}, nil) },
		"offsets too few": func() {
			Extend(LeastAbsolute{}, CoshBend(1, 2), []float64{1, 1}, []float64{1, 2}, []float64{1})
		},
		"a square":    func() { Extend(foreign{Squared{}}, CoshBend(1, 2), nil, nil, nil) },
		"a cut of it": func() { Cut(foreign{Squared{}}, 1, 1, 0, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", name)
				}
			}()
			f()
		}()
	}
}

func first(l Loss, _ bool) Loss { return l }

// A linear loss: the values, slopes and constants of c·t, with no curvature, in batches of which the last is stale.
func TestLinearLoss(t *testing.T) {
	l := Linear{Slope: -0.75}
	slope, curv := []float64{9, 9, 9}, []float64{9, 9, 9}
	value := l.ValueSlope(slope, []float64{2, -1, 4}, make([]float64, 3))
	l.Curvature(curv, []float64{2, -1, 4}, nil)
	if value != -0.75*5 || slope[0] != -0.75 || slope[2] != -0.75 || curv[0] != 0 || curv[2] != 0 ||
		l.Lipschitz() != 0.75 || l.Smoothness() != 0 || !l.ValidLabel(0) || l.ValidLabel(math.Inf(1)) ||
		(Linear{}).ValidLabel(0) || Attained(l) {
		t.Errorf("value %v, slopes %v, curvatures %v of %+v", value, slope, curv, l)
	}
	if v := l.precise().Slope(dd.From(3), 1); v != dd.From(-0.75) {
		t.Errorf("slope %v", v)
	}
}

// A sum with a term whose precise slope is not known takes its float64 slope, and says so.
func TestPreciseSumOfAForeignLoss(t *testing.T) {
	p := Sum(Logistic{}, foreign{Huber{1}}).(interface{ Precise() PreciseGradient }).Precise()
	at := []dd.Number{dd.From(0), dd.From(0.25)}
	p.Slopes(at, 1)
	own, _ := PreciseSlope(Logistic{})
	if !p.Rounded || at[0].Hi != -0.5 || at[1] != dd.From(-0.75) ||
		!(p.Relative == math.Max(own.Relative, 0x1p-50)) || p.Absolute < SlopeError(foreign{Huber{1}}) {
		t.Errorf("%+v: slopes %v", p, at)
	}
}

// γ's cost H*(γ) is the most that γv exceeds the smooth norm by, below C and at it; Li₂ has Euler's value at 1.
func TestBias(t *testing.T) {
	for _, b := range bends() {
		for _, part := range []float64{0.1, 0.5, 0.9, 1} {
			gamma := part * b.Lipschitz()
			most := 0.0
			for v := 0.0; v < 2000; v = 1.002*v + 1e-9 {
				most = math.Max(most, gamma*v-b.Integral(v))
			}
			if got := b.Bias(gamma); !(math.Abs(got-most) <= 1e-5*most) {
				t.Errorf("%v: H*(%v) = %v, want %v", b, gamma, got, most)
			}
		}
	}
	if v := dilog(1); v != 1.6449340668482264 {
		t.Errorf("Li₂(1) = %v", v)
	}
}
