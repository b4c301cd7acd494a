package dtz24

import (
	"context"
	"math"
	"reflect"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

func TestShapes(t *testing.T) {
	for k := range 19 {
		share := float64(k+1) / 20
		n, d := shape(share)
		if !(math.Abs(float64(n*d)/Entries-1) <= 0.05) || !(math.Abs(float64(n)/float64(n+d)-share) <= 0.02) {
			t.Errorf("n/(n+d) = %.2f: %d×%d", share, n, d)
		}
	}
}

// A dot of a figure does not depend on workers; ν costs what the corollaries say.
func TestDTZ24Figures(t *testing.T) {
	testscale.InTurn(t)
	ctx := context.Background()
	scale := Scale{Dots: 3, Repetitions: 10, Curve: 3, Workers: 1}
	printed := func(ctx context.Context, s Scale) ([]Panel, error) { return Figure6(ctx, s, Step) }
	for k, draw := range []func(context.Context, Scale) ([]Panel, error){Figure3, Figure4, Figure5, printed} {
		panels := measure.Must(draw(ctx, scale))
		more := scale
		more.Workers = 3
		again, err := draw(ctx, more)
		if err != nil || !reflect.DeepEqual(panels, again) {
			t.Errorf("figure %d depends on the workers, %v", k+3, err)
		}
		if k == 2 {
			for c := range panels[0].Curves {
				without, with := panels[0].Curves[c].Dots[1].Predicted, panels[1].Curves[c].Dots[1].Predicted
				if !(math.Abs(with-without-0.25) <= 1e-12) {
					t.Errorf("output noise ½ adds %v to the error", with-without)
				}
			}
		}
	}
	for _, bad := range []Scale{{Dots: -1}, {Repetitions: 1}, {Curve: 1}} {
		if _, err := Figure3(ctx, bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Figure3(gone, scale); err == nil {
		t.Error("a cancelled figure goes on")
	}
}

// The step of Figure 6 as printed is too large for the Huber loss below d/n = 0.484, where its product with the largest
// eigenvalue of XᵀX, (1 + 1/√δ)², is 2: there the error grows with the steps, with the other step it falls.
func TestPrintedStepOfFigure6(t *testing.T) {
	testscale.Slow(t)
	product := func(aspect float64) float64 { return Step(aspect) * math.Pow(1+1/math.Sqrt(aspect), 2) }
	if !(product(0.483) > 2 && product(0.486) < 2) {
		t.Errorf("the product is %v at 0.483, %v at 0.486", product(0.483), product(0.486))
	}
	stable := func(aspect float64) float64 { return 0.5 / (1 + 1/aspect) } // the error falls at every δ
	for k, step := range []func(float64) float64{Step, stable} {
		panels := measure.Must(Figure6(context.Background(), Scale{Dots: 9, Curve: 2, Repetitions: 100}, step))
		c := panels[0].Curves
		last := len(c) - 1
		for i := range c[0].Dots {
			aspect := float64(c[0].Dots[i].Features) / float64(c[0].Dots[i].Records)
			if aspect > 0.4 && aspect < 0.5 {
				continue // it takes more steps than there are
			}
			early, late := c[1].Dots[i], c[last].Dots[i]
			if grows := late.Predicted > early.Predicted; grows != (k == 0 && aspect < 0.45) {
				t.Errorf("step %d, d/n = %.2f: the predicted error goes from %v to %v", k, aspect, early.Predicted,
					late.Predicted)
			}
			if grows := late.Simulated.Mean > early.Simulated.Mean; grows != (k == 0 && aspect < 0.45) {
				t.Errorf("step %d, d/n = %.2f: the simulated error goes from %v to %v", k, aspect, early.Simulated,
					late.Simulated)
			}
		}
	}
}
