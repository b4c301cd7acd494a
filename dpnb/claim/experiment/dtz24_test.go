package experiment

import (
	"context"
	"math"
	"reflect"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/sim"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

func TestShapes(t *testing.T) {
	for _, share := range dtz24Shares(19) {
		n, d := shape(share)
		if math.Abs(float64(n*d)/DTZ24Entries-1) > 0.05 || math.Abs(float64(n)/float64(n+d)-share) > 0.02 {
			t.Errorf("n/(n+d) = %.2f: %d×%d", share, n, d)
		}
	}
}

// Every figure has its panels, curves and dots; a dot does not depend on workers;
// ν costs what the corollaries say.
func TestDTZ24Figures(t *testing.T) {
	ctx := context.Background()
	scale := Scale{Dots: 3, Repetitions: 10, Curve: 3, Workers: 1}
	printed := func(ctx context.Context, s Scale) ([]Panel, error) { return DTZ24Figure6(ctx, s, DTZ24Step) }
	for k, draw := range []func(context.Context, Scale) ([]Panel, error){DTZ24Figure3, DTZ24Figure4, DTZ24Figure5, printed} {
		panels, err := draw(ctx, scale)
		if err != nil {
			t.Fatal(err)
		}
		more := scale
		more.Workers = 3
		again, err := draw(ctx, more)
		if err != nil || !reflect.DeepEqual(panels, again) {
			t.Errorf("figure %d depends on the workers, %v", k+3, err)
		}
		if len(panels) != 4 {
			t.Fatalf("figure %d has %d panels", k+3, len(panels))
		}
		for _, p := range panels {
			for _, c := range p.Curves {
				if len(c.Dots) != 3 || len(c.Theory.X) != 3 || len(c.Theory.Y) != 3 || c.Name == "" {
					t.Errorf("figure %d, %s, %s: %d dots, %d points", k+3, p.Title, c.Name, len(c.Dots), len(c.Theory.X))
				}
			}
		}
		if k == 2 {
			for c := range panels[0].Curves {
				without, with := panels[0].Curves[c].Dots[1].Predicted, panels[1].Curves[c].Dots[1].Predicted
				if math.Abs(with-without-0.25) > 1e-12 {
					t.Errorf("output noise ½ adds %v to the error", with-without)
				}
			}
		}
	}
	for _, bad := range []Scale{{Dots: -1}, {Repetitions: 1}, {Curve: 1}} {
		if _, err := DTZ24Figure3(ctx, bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := DTZ24Figure3(gone, scale); err == nil {
		t.Error("a cancelled figure goes on")
	}
}

func TestGraphs(t *testing.T) {
	for _, g := range append(DTZ24Figure1(), DTZ24Figure2()...) {
		if len(g.X) != 601 || len(g.Y) != 601 || g.Name == "" {
			t.Errorf("%q has %d points", g.Name, len(g.X))
		}
	}
}

func TestGridOfSettings(t *testing.T) {
	grid := DTZ24Grid(1000)
	if len(grid) < 60 {
		t.Errorf("%d settings", len(grid))
	}
	seen := map[string]bool{}
	for _, s := range grid {
		seen[s.String()] = true
	}
	if len(seen) != len(grid) {
		t.Error("a setting is there twice")
	}
	for kind := range Kind(kinds) {
		p, err := Setting{kind, population.Sparse, 120, 60}.Run(context.Background(), 20, 5)
		if err != nil || len(p) < 4 {
			t.Errorf("%s: %d measures, %v", kind, len(p), err)
		}
		for _, v := range p {
			if math.Abs(v.StandardErrors()) > 5 {
				t.Errorf("%s: %s = %v, predicted %v", kind, v.Measure, v.Simulated, v.Predicted)
			}
		}
	}
	if _, err := (Setting{Kind(kinds), population.Sparse, 10, 5}).Run(context.Background(), 2, 1); err == nil {
		t.Error("an unknown kind is accepted")
	}
}

func TestRate(t *testing.T) {
	if got := Rate([]float64{1, 10, 100}, []float64{3, 0.3, 0.03}); math.Abs(got+1) > 1e-12 {
		t.Errorf("rate %v", got)
	}
	if d, z := (Dot{Predicted: 1, Simulated: sim.Summary{Mean: 1.5, StdErr: 0.25}}).Deviation(); d != 0.5 || z != 2 {
		t.Errorf("deviation %v, %v", d, z)
	}
}

// What is prepared from the public half is what the theory assumes, up to its own
// chance; where its assumptions hold it predicts, and where they do not it is near.
func TestWhitened(t *testing.T) {
	const d = 8
	w, err := WhitenedAdult(d, 2)
	if err != nil {
		t.Fatal(err)
	}
	n, columns := w.Pool.Rows.Dims()
	if columns != d || w.Pool.RowNorm != 2 || n < 500 {
		t.Fatalf("%d records of %d features, norm %v", n, columns, w.Pool.RowNorm)
	}
	if norm := erm.MaxNorm(w.Pool.Rows); norm > 2*(1+1e-12) {
		t.Errorf("a row has norm %v", norm)
	}
	x, positive := w.Pool.Rows.(*erm.Dense), 0
	for j := range d {
		var mean, square float64
		for i := range n {
			mean += x.At(i, j) / float64(n)
			square += x.At(i, j) * x.At(i, j) * d / float64(n)
		}
		if math.Abs(mean) > 0.2/math.Sqrt(d) || math.Abs(square-1) > 0.3 {
			t.Errorf("feature %d has mean %v and d times variance %v", j, mean, square)
		}
	}
	for _, y := range w.Pool.Labels {
		if y > 0 {
			positive++
		}
	}
	if share := float64(positive) / float64(n); math.Abs(share-0.5) > 0.08 {
		t.Errorf("%.2f of the labels are positive", share)
	}
	f, err := w.Forecast(context.Background(), 250, 4, 1e-5, 40, 1)
	if err != nil {
		t.Fatal(err)
	}
	if z := (f.GaussianRows.MSE.Mean - f.PredictedMSE) / f.GaussianRows.MSE.StdErr; math.Abs(z) > 4.5 {
		t.Errorf("Gaussian rows: squared error %v, predicted %v", f.GaussianRows.MSE, f.PredictedMSE)
	}
	if math.Abs(f.GaussianRows.Error.Mean-f.PredictedError) > 0.02 || math.Abs(f.Real.Error.Mean-f.PredictedError) > 0.15 {
		t.Errorf("errors %v and %v, predicted %v", f.GaussianRows.Error, f.Real.Error, f.PredictedError)
	}
	for _, bad := range []int{0, n + 1} {
		if _, err := w.Forecast(context.Background(), bad, 4, 1e-5, 2, 1); err == nil {
			t.Errorf("%d records are accepted", bad)
		}
	}
	if _, err := WhitenedAdult(10_000, 2); err == nil {
		t.Error("more features than there are")
	}
	if _, err := WhitenedAdult(5, 0.5); err == nil {
		t.Error("a radius below 1 is accepted")
	}
}
