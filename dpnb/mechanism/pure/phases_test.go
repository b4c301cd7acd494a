package pure

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func phases(t *testing.T, change func(*PhasesConfig)) Phases {
	t.Helper()
	c := PhasesConfig{Config: config()}
	c.Records = 4000
	if change != nil {
		change(&c)
	}
	return must.Get(c.Calibrate())
}

// With much ε the phases come to where the losses' minimiser is, in all their forms.
func TestPhasesLearn(t *testing.T) {
	rows, labels := records(4000, 2, 3)
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		for _, double := range []bool{false, true} {
			for _, constants := range []Constants{Exact, Printed} {
				m := phases(t, func(c *PhasesConfig) {
					c.Epsilon, c.Adjacency, c.Double, c.Constants, c.Blocks = 200, adj, double, constants, 3
				})
				must.Do(m.Feasible(2, 4000))
				r, err := m.Run(rows, labels, noise.NewSeeded(5), nil)
				if err != nil {
					t.Fatal(m, err)
				}
				exact := phases(t, nil)
				p := exact.within(make([]float64, 2), 1)
				p.Lambda = 1e-3
				want := must.Get(p.minimise(curve(p.Clip, 0, p.Lambda), rows, labels, nil, 0, 1))
				if far := floats.Distance(r.Coefficients, want, 2); far > 0.25 {
					t.Errorf("%v: %.3f from the minimiser", m, far)
				}
			}
		}
	}
}

// Every record is in one block at most. By draws its block does not depend on what other records there are, as a cut by
// position does: with one record less all others keep theirs.
func TestBlocks(t *testing.T) {
	m := phases(t, func(c *PhasesConfig) { c.Blocks = 4; c.Constants = Printed })
	const n = 8000
	size := func(blocks [][]int) (all int) {
		seen := map[int]bool{}
		for _, b := range blocks {
			for _, i := range b {
				if seen[i] {
					t.Fatalf("record %d is in two blocks", i)
				}
				seen[i] = true
			}
		}
		return len(seen)
	}
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		m.Adjacency = adj
		for _, c := range []struct {
			constants Constants
			all       float64
			want      []float64 // of a block, by phase
		}{{Printed, n * 7 / 8, []float64{n / 8, n / 16, n / 32}}, {Exact, n, []float64{n / 8, n / 16, n / 16}}} {
			m.Constants = c.constants
			blocks := m.blocks(n, noise.Exact(noise.NewSeeded(1)))
			if all := float64(size(blocks)); !(math.Abs(all-c.all) <= 6*math.Sqrt(n)) {
				t.Errorf("%v, %v: %v of %d records are in blocks, want %v", adj, c.constants, all, n, c.all)
			}
			for b, part := range blocks {
				if want := c.want[b/4]; !(math.Abs(float64(len(part))-want) <= 6*math.Sqrt(want)) {
					t.Errorf("%v, %v: block %d has %d records, want %v", adj, c.constants, b, len(part), want)
				}
			}
		}
	}
}

// By draws any record can be in any block, the first one, too: where it stands says nothing.
func TestBlocksAreDrawn(t *testing.T) {
	m := phases(t, func(c *PhasesConfig) { c.Blocks = 4 })
	m.Adjacency = privacy.AddRemove
	const draws = 4000
	times := make([]float64, m.Count*m.Blocks)
	for seed := range uint64(draws) {
		for b, part := range m.blocks(1, noise.Exact(noise.NewSeeded(seed))) {
			times[b] += float64(len(part))
		}
	}
	for b, got := range times {
		share := math.Exp2(-float64(min(b/m.Blocks+1, m.Count-1))) / float64(m.Blocks)
		if want := share * draws; !(math.Abs(got-want) <= 5*math.Sqrt(want)) {
			t.Errorf("the first record is in block %d %v times, want %v", b, got, want)
		}
	}
}

// The noise is what a block's sensitivity asks for: a linear loss moves the minimiser by C/Λ, and ε is that over the
// scale, to a thousandth.
func TestPhasesNoise(t *testing.T) {
	for _, c := range []struct {
		adj       privacy.Adjacency
		double    bool
		constants Constants
		times     float64 // C/(Λε)
	}{
		{privacy.AddRemove, false, Exact, 1}, {privacy.ReplaceOne, false, Exact, 2},
		{privacy.AddRemove, true, Exact, 2}, {privacy.ReplaceOne, true, Exact, 4},
		{privacy.ReplaceOne, false, Printed, 6}, {privacy.ReplaceOne, true, Printed, 12},
	} {
		m := phases(t, func(p *PhasesConfig) { p.Adjacency, p.Double, p.Constants = c.adj, c.double, c.constants })
		for phase := 1; phase <= m.Count; phase++ {
			p := m.within(nil, phase)
			got := m.scale(p) / (p.Clip / (p.Lambda * m.Epsilon))
			if got < c.times || got > c.times*1.001 {
				t.Errorf("%v, phase %d: noise of %v C/(Λε), want %v", m, phase, got, c.times)
			}
			if c.constants == Printed {
				continue
			}
			// A stage's part of ε, as a real number, is enough for how far a record moves its result.
			paid := new(big.Float).SetPrec(200).SetFloat64(m.scale(p))
			paid.Mul(paid, big.NewFloat(m.Epsilon)).Quo(paid, big.NewFloat(m.stages()))
			if moved := (Output{Problem: p, Adjacency: c.adj}).Sensitivity(); paid.Cmp(big.NewFloat(moved)) < 0 {
				t.Errorf("%v, phase %d: %v is paid for, moved is %v", m, phase, paid, moved)
			}
		}
	}
}

// The second stage has the noise of its own ball, which is larger than the first one's where the first noise leads far
// away: without records it is all there is, and the bits say what it should be.
func TestSecondStageHasNoiseForItsBall(t *testing.T) {
	for _, epsilon := range []float64{0.5, 8, 300} {
		m := phases(t, func(c *PhasesConfig) {
			c.Double, c.Count, c.Epsilon, c.Lambda, c.Tolerance = true, 1, epsilon, 1e-4, 1e-7
		})
		const d = 3
		p := m.within(make([]float64, d), 1)
		for seed := range uint64(20) {
			got := must.Get(m.block(matrix.NewDense(0, d, nil), nil, p, noise.Exact(noise.NewSeeded(seed)), 1))
			draw, ball, scale := noise.Exact(noise.NewSeeded(seed)), p, 0.0
			stage := func(at []float64) []float64 {
				scale = min(p.Clip/p.Lambda, 2*ball.Radius) * 2 / epsilon
				draw.IsotropicLaplace(d).AddRounded(at, scale, exact.Grid(scale))
				return at
			}
			w := stage(make([]float64, d))
			project(w, p.Centre, p.Radius)
			ball.Radius, ball.Centre = min(m.localRadius(p, d), 2*p.Radius), w
			want := make([]float64, d)
			project(want, w, ball.Radius)
			project(stage(want), w, ball.Radius)
			if off := floats.Distance(got, want, 2); !(off <= 0.02*(p.Radius+scale)) {
				t.Errorf("ε = %g: %v, which is %g from %v, with noise of %.4g", epsilon, got, off, want, scale)
			}
		}
	}
}

// Nothing about records stops a release: none at all, huge ones, and ones that are no numbers.
func TestPhasesAreTotal(t *testing.T) {
	m := phases(t, func(c *PhasesConfig) { c.Double, c.Blocks = true, 2 })
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct{ x, y []float64 }{
		"none": {nil, nil}, "one": {[]float64{1, 2}, []float64{3}},
		"odd": {[]float64{nan, 1, inf, 2, 1e300, 1e300, 1e-300, 0, 1, 1}, []float64{1, 2, -1e300, nan, 5}},
	} {
		r, err := m.Run(matrix.NewDense(len(c.y), 2, slices.Clone(c.x)), c.y, noise.NewSeeded(2), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if norm := floats.Norm(r.Coefficients, 2); !(norm <= m.Radius*(1+1e-12)) {
			t.Errorf("%s: ‖w‖ = %v", name, norm)
		}
	}
}

func TestPhasesRefuse(t *testing.T) {
	for name, spoil := range map[string]func(*PhasesConfig){
		"ε":       func(c *PhasesConfig) { c.Epsilon = 0 },
		"too few": func(c *PhasesConfig) { c.Records, c.Count, c.Blocks = 100, 7, 4 },
		"phases":  func(c *PhasesConfig) { c.Count = 41 },
		"ratio":   func(c *PhasesConfig) { c.Ratio = 0.5 },
		"radius":  func(c *PhasesConfig) { c.Radius = -1 },
		"far":     func(c *PhasesConfig) { c.Constants, c.Tolerance = Printed, 1e3 },
	} {
		c := PhasesConfig{Config: config()}
		spoil(&c)
		if _, err := c.Calibrate(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	c := PhasesConfig{Config: config(), Count: 1}
	if _, err := c.Calibrate(); err != nil {
		t.Errorf("one phase: %v", err)
	}
}

// central finds the crowd and leaves those that are far.
func TestCentral(t *testing.T) {
	crowd := [][]float64{{50, 50}, {1, 0}, {-90, 3}, {1.1, 0}, {1, 0.1}, {0.9, 0}}
	if p := central(crowd); floats.Distance(p, []float64{1, 0}, 2) > 0.11 {
		t.Errorf("central is %v", p)
	}
	// By Euclidean distance: the middle one is 5 and 4.9 from the others.
	if p := central([][]float64{{3, 4}, {0, 0}, {-4.9, 0}}); p[0] != 0 {
		t.Errorf("central is %v", p)
	}
	if p := central([][]float64{{7}}); p[0] != 7 {
		t.Errorf("of one: %v", p)
	}
}

// What is calibrated can be solved for at these sizes, and nothing is lost by it; with ridges that grow by 10⁵ from
// phase to phase it cannot, which is said, and not made good by a tolerance without use.
func TestPhasesAreFeasible(t *testing.T) {
	for _, c := range []struct {
		adj     privacy.Adjacency
		records int
		ratio   float64
		ok      bool
	}{
		{privacy.AddRemove, 200, 4, true}, {privacy.AddRemove, 20_000, 4, true},
		{privacy.AddRemove, 100_000, 32, true}, {privacy.AddRemove, 100_000, 1e5, false},
		{privacy.ReplaceOne, 200, 4, true}, {privacy.ReplaceOne, 100_000, 4, true},
		{privacy.ReplaceOne, 100_000, 32, true}, {privacy.ReplaceOne, 10_000_000, 4, true},
	} {
		m := phases(t, func(p *PhasesConfig) {
			p.Features, p.Records, p.Ratio = 50, c.records, c.ratio
			p.Count, p.Blocks, p.Double = 4, 3, true
			p.Adjacency, p.WorstCase, p.MomentBound = c.adj, true, 7
		})
		err := m.Feasible(50, c.records)
		if (err == nil) != c.ok || c.ok && m.Tolerance > farthest*m.Clip {
			t.Errorf("%+v: %v, τ = %.2g C, %.2g C can be reached", c, err, m.Tolerance/m.Clip,
				m.least(50)(MostRecords)/m.Clip)
		}
	}
}

// The clip of the worst case is G(mε/d)^{1/k}, with one feature too.
func TestClipOfTheWorstCase(t *testing.T) {
	for _, d := range []int{1, 2, 7} {
		m := phases(t, func(c *PhasesConfig) {
			c.Features, c.WorstCase, c.Moment, c.MomentBound, c.Epsilon = d, true, 4, 3, 0.5
		})
		want := 3 * math.Pow(float64(m.planned(1))*0.5/float64(d), 0.25)
		if !(math.Abs(m.Clip/want-1) <= 1e-12) {
			t.Errorf("%d features: clipped at %v, want %v", d, m.Clip, want)
		}
	}
}
