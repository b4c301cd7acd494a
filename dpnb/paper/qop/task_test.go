package qop_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/paper/qop"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
	"github.com/dpnb/notebooks/dpnb/sim"
)

func TestTask(t *testing.T) {
	q := qop.NewTask(2, 0, noise.NewSeeded(1))
	largest := 0.0
	for _, v := range q.Rows.Data {
		largest = math.Max(largest, math.Abs(v))
	}
	if !(math.Abs(largest-5) <= 1e-12) {
		t.Errorf("largest entry %v, not ξ = 5", largest)
	}
	norm := 0.0
	for _, v := range q.Star {
		norm += math.Abs(v)
	}
	if r := q.Risk(q.Star); !(math.Abs(r-norm) <= 1e-9) {
		t.Errorf("risk of θ⋆ is %v, not ω‖θ⋆‖₁ = %v: no interpolation", r, norm)
	}
	broken := qop.NewTask(2, 0.5, noise.NewSeeded(1))
	if r := broken.Risk(broken.Star) - norm; r < 150*0.25/2 || r > 600*0.25/2 {
		t.Errorf("label errors of variance 1/4 add %v to the risk of θ⋆", r)
	}
	least, err := q.LeastRisk()
	if err != nil || !(least < q.AnchorRisk()) {
		t.Errorf("least risk %v, anchor's %v, %v", least, q.AnchorRisk(), err)
	}
}

func means(t *testing.T, g sim.Grid[*qop.Task]) map[string]float64 {
	t.Helper()
	cells := measure.Must(g.Run(context.Background()))
	out := map[string]float64{}
	for _, c := range cells {
		out[c.Task+" "+c.Mechanism] = c.Mean
	}
	return out
}

// What is released with its noise is worse than the anchor, and exact accounting without noise better.
func TestQOPAgainstAnchor(t *testing.T) {
	testscale.Slow(t)
	g := qop.Figure2([]float64{10}, 0, 3, append(qop.Releases(), qop.Curved("exact", wishart.Exact, 15,
		qop.Certified))...)
	g.Trials = 4
	m, anchor := means(t, g), g.Tasks[0].Train.AnchorRisk()
	if !(m["κ = 10 QOP"] > 1.3*anchor) || !(m["κ = 10 LOP about the anchor"] < 1.1*anchor) ||
		!(m["κ = 10 exact"] < 0.97*anchor) {
		t.Errorf("%v, anchor %v", m, anchor)
	}
	q := measure.Must(qop.WithOutputNoise(g.Tasks[0].Train))
	p, err := mechanism.Profile(q)
	if err != nil || privacy.DeltaUpper(p, qop.Epsilon) > qop.Delta {
		t.Errorf("δ = %v, %v", privacy.DeltaUpper(p, qop.Epsilon), err)
	}
}

func TestTable3(t *testing.T) {
	cells := []sim.Cell{{Mechanism: "a", Scores: make([]float64, 4), Summary: sim.Summary{StdErr: 1}},
		{Mechanism: "b", Scores: make([]float64, 4), Summary: sim.Summary{StdErr: 5}},
		{Mechanism: "a", Scores: make([]float64, 4), Summary: sim.Summary{StdErr: 3}}}
	got := qop.Table3(cells, 2)
	want := []qop.Statistics{{"a", 2, 3, 1, 1.5}, {"b", 5, 5, 2.5, 2.5}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%v, want %v", got, want)
	}
}

// Figure 2 of qop with the paper's own solver, two boxes, three runs.
func ExampleFigure2() {
	g := qop.Figure2([]float64{10, 100}, 0, 1, qop.AsPrinted(qop.Splitting)...)
	g.Trials = 3
	cells, err := g.Run(context.Background())
	if err != nil {
		panic(err)
	}
	for _, c := range cells {
		fmt.Printf("%s, %s: a risk of 10^%.0f\n", c.Task, c.Mechanism, math.Log10(c.Mean))
	}
	// Output:
	// κ = 10, LOP: a risk of 10^6
	// κ = 10, LOP-Clip: a risk of 10^6
	// κ = 10, QOP: a risk of 10^3
	// κ = 100, LOP: a risk of 10^8
	// κ = 100, LOP-Clip: a risk of 10^7
	// κ = 100, QOP: a risk of 10^3
}
