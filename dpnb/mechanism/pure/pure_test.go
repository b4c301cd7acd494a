package pure

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

var _, _ mechanism.Mechanism = Objective{}, Output{}

func config() Config {
	return Config{Loss: loss.LeastAbsolute{}, Epsilon: 1, Adjacency: privacy.AddRemove, Features: 3, Records: 500,
		Radius: 2, LeastNorm: 1}
}

// records returns n records with heavy tails, with an intercept.
func records(n, d int, seed uint64) (*matrix.Dense, []float64) {
	r := rand.New(rand.NewPCG(seed, 5))
	rows, y := matrix.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		row := rows.Data[i*d : (i+1)*d]
		for j := range row[:d-1] {
			row[j] = r.NormFloat64() / math.Sqrt(r.ExpFloat64())
		}
		row[d-1] = 1
		y[i] = floats.Sum(row)/math.Sqrt(float64(d)) + 0.5*r.NormFloat64()/math.Sqrt(r.ExpFloat64())
	}
	return rows, y
}

// What was asked for is what it costs, to a millionth and never more, under both adjacencies, by both mechanisms; and
// replace-one at 2ε is add/remove at ε but for the solver's part.
func TestCalibrate(t *testing.T) {
	for _, eps := range []float64{1e-6, 0.1, 1, 7, 300} {
		for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			c := config()
			c.Epsilon, c.Adjacency = eps, adj
			m := must.Get(c.Calibrate())
			o := must.Get(c.CalibrateOutput())
			for _, m := range []mechanism.Mechanism{m, o} {
				p := must.Get(mechanism.Profile(m))
				if privacy.DeltaUpper(p, eps) != 0 || privacy.DeltaUpper(p, eps*(1-1e-6)) == 0 {
					t.Errorf("%v: δ(ε) = %g, just below %g", m, privacy.DeltaUpper(p, eps),
						privacy.DeltaUpper(p, eps*(1-1e-6)))
				}
			}
			if want := m.Clip / eps / 0.99; adj == privacy.AddRemove && !(math.Abs(m.Scale/want-1) <= 1e-9) {
				t.Errorf("β = %g, want %g", m.Scale, want)
			}
		}
	}
	c := config()
	m, _ := c.Calibrate()
	c.Adjacency, c.Epsilon = privacy.ReplaceOne, 2
	r, _ := c.Calibrate()
	if !(math.Abs(m.Scale/r.Scale-1) <= 1e-9) || !(math.Abs(m.Lambda/r.Lambda-1) <= 1e-9) || m.bend() != r.bend() &&
		!(math.Abs(m.bend().Smoothness()/r.bend().Smoothness()-1) <= 1e-9) {
		t.Errorf("add/remove at 1 %v, replace-one at 2 %v", m, r)
	}
	// The defaults of docs/theory/heavytail.md.
	c = Config{Loss: loss.LeastAbsolute{}, Epsilon: 1, Adjacency: privacy.AddRemove, Features: 50,
		Records: 100_000, Radius: 2, MomentBound: 8}
	m, err := c.Calibrate()
	if err != nil || m.Clip != 2 || !(math.Abs(m.Lambda-math.Sqrt(50_000)) <= 1e-9) {
		t.Errorf("C = %g, Λ = %g (%v)", m.Clip, m.Lambda, err)
	}
	c.WorstCase = true
	if m, err = c.Calibrate(); err != nil || !(math.Abs(m.Clip-4*math.Sqrt(2000)) <= 1e-9) ||
		!(math.Abs(m.Lambda-2*math.Sqrt(8e5*(2+0.7775046))) <= 1e-3) {
		t.Errorf("worst case: C = %g, Λ = %g (%v)", m.Clip, m.Lambda, err)
	}
}

// Both neighbours' solutions may be off by τ/Λ, which is paid for where it is as large as what a record moves.
func TestToleranceIsPaidFor(t *testing.T) {
	for adj, moved := range map[privacy.Adjacency]float64{privacy.AddRemove: 1, privacy.ReplaceOne: 2} {
		c := config()
		c.Adjacency, c.Clip, c.Lambda, c.Tolerance = adj, 1, 40, 0.3
		o := must.Get(c.CalibrateOutput())
		m := must.Get(c.Calibrate())
		for _, c := range []struct {
			m    mechanism.Mechanism
			want float64
		}{{o, (moved*o.Clip + 2*o.Tolerance) / o.Lambda / o.Scale},
			{m, moved*m.Clip/m.Scale + 2*m.Tolerance/(m.Lambda*m.OutputScale)}} {
			p := must.Get(mechanism.Profile(c.m))
			eps, err := privacy.EpsilonUpper(p, 0)
			if err != nil || !(eps >= c.want && eps <= c.want*(1+1e-9)) {
				t.Errorf("%v: ε = %v, want %v (%v)", c.m, eps, c.want, err)
			}
		}
	}
}

// A release is near the fit without noise, is that of records and noise alone, and of every number of workers.
func TestRun(t *testing.T) {
	testscale.Slow(t)
	rows, y := records(4000, 3, 1)
	for _, l := range []loss.Convex{loss.LeastAbsolute{}, loss.Pinball{Tau: 0.5}, loss.Huber{Threshold: 1},
		loss.Squared{}} {
		c := config()
		c.Loss, c.Records, c.Epsilon, c.MomentBound = l, 4000, 2, 4
		m := must.Get(c.Calibrate())
		o := must.Get(c.CalibrateOutput())
		for k, m := range []mechanism.Mechanism{m, o} {
			var first []float64
			for _, workers := range []int{1, 3} {
				r := must.Get(m.Run(rows, y, noise.NewSeeded(4), &mechanism.Settings{Workers: workers}))
				if first == nil {
					first = r.Coefficients
				} else if !slices.Equal(first, r.Coefficients) {
					t.Errorf("%v: another result with %d workers", m, workers)
				}
			}
			truth := []float64{1 / math.Sqrt(3), 1 / math.Sqrt(3), 1 / math.Sqrt(3)}
			if d := floats.Distance(first, truth, 2); d > []float64{0.15, 0.6}[k] {
				t.Errorf("%v: off by %.3f", m, d)
			}
		}
	}
}

// A centre moves the ball and the ridge: with labels shifted by it, the fit shifts with it.
func TestCentre(t *testing.T) {
	rows, y := records(800, 3, 2)
	c := config()
	c.Records, c.Epsilon = 800, 5
	m, _ := c.Calibrate()
	r := must.Get(m.Run(rows, y, noise.NewSeeded(1), nil))
	c.Centre = []float64{3, -40, 7}
	shifted := slices.Clone(y)
	for i := range shifted {
		shifted[i] += floats.Dot(c.Centre, rows.Data[3*i:3*i+3])
	}
	m, _ = c.Calibrate()
	s := must.Get(m.Run(rows, shifted, noise.NewSeeded(1), nil))
	floats.Sub(s.Coefficients, c.Centre)
	if d := floats.Distance(r.Coefficients, s.Coefficients, 2); d > 4*m.reach() {
		t.Errorf("off by %g", d)
	}
}

// Where the ball binds, neighbours' points are no farther apart than the sensitivity says, also if what adding a far
// centre rounds leaves the ball.
func TestFarCentre(t *testing.T) {
	for _, at := range []float64{0, 1e10, 1e16} {
		c := config()
		c.Features, c.Records, c.Radius, c.Adjacency, c.Centre = 1, 10, 1.1, privacy.ReplaceOne, []float64{at}
		c.Clip, c.Lambda = 1, 0.001
		m, err := c.CalibrateOutput()
		if err == nil {
			err = m.Feasible(1, 10)
		}
		if err != nil {
			t.Fatal(err)
		}
		var w [2]float64
		for k, y := range []float64{-1e30, 1e30} {
			v := must.Get(m.minimise(m.bend(), matrix.NewDense(1, 1, []float64{1}), []float64{y}, nil, 0, 1))
			w[k] = v[0]
		}
		if apart := w[1] - w[0]; apart < 2*c.Radius*(1-1e-9) || apart > m.Sensitivity() || apart < m.Sensitivity()/4 {
			t.Errorf("centre %g: %g apart, sensitivity %g", at, apart, m.Sensitivity())
		}
	}
}

// No record is refused, and one that cannot count has no part: not a number, infinite, far too long, an impossible
// label, no record at all, one class only. Nor does the solver give up where the planned number is far off, or the
// passes are limited.
func TestTotal(t *testing.T) {
	rows, y := records(60, 3, 3)
	inf := math.Inf(1)
	for _, l := range []loss.Convex{loss.LeastAbsolute{}, loss.Squared{}, loss.Logistic{}, loss.Hinge{}} {
		labels := slices.Clone(y)
		if !l.ValidLabel(0.5) {
			for i := range labels {
				labels[i] = 1 // one class only
			}
		}
		c := config()
		c.Loss, c.MomentBound = l, 4
		m := must.Get(c.Calibrate())
		run := func(rows *matrix.Dense, labels []float64) []float64 {
			r, err := m.Run(rows, labels, noise.NewSeeded(9), &mechanism.Settings{MaxPasses: 1})
			if err != nil {
				t.Fatalf("%s: %v", l.Name(), err)
			}
			return r.Coefficients
		}
		want := run(rows, labels)
		for k, bad := range [][4]float64{{math.NaN(), 1, 1, 1}, {inf, 1, 1, 1}, {1, 1, -inf, -1}, {1, 1, 1,
			math.NaN()}, {1, 0, 1, inf}, {0, 0, 0, 1}} {
			more := matrix.NewDense(61, 3, append(slices.Clone(rows.Data), bad[:3]...))
			got := run(more, append(slices.Clone(labels), bad[3]))
			if d := floats.Distance(got, want, 2); d > 0 {
				t.Errorf("%s: record %d counts, and moves the fit by %g", l.Name(), k, d)
			}
		}
		for _, long := range []float64{1e-300, 1e30, 1e300, math.MaxFloat64} {
			more := matrix.NewDense(61, 3, append(slices.Clone(rows.Data), long, -long, long))
			run(more, append(slices.Clone(labels), 1))
		}
		run(matrix.NewDense(0, 3, nil), nil)
		run(matrix.NewDense(1, 3, []float64{1, 2, 3}), labels[:1])
	}
}

// Noise of any size can be solved for: what a sampler may draw with probability e^{−10³⁰}.
func TestHugeNoise(t *testing.T) {
	rows, y := records(60, 3, 3)
	m, _ := config().Calibrate()
	for _, size := range []float64{1e5, 1e15, 1e30, 1e60} {
		b := []float64{size, -2 * size, 0.5 * size}
		w := must.Get(m.minimise(m.bend(), rows, y, b, 4*0x1p-53*floats.Norm(b, 2), 1))
		for j := range b {
			if want := -b[j] / floats.Norm(b, 2) * m.Radius; !(math.Abs(w[j]-want) <= 1e-2*1e5/size+1e-9) {
				t.Errorf("‖b‖ = %g: coefficient %d is %g, want about %g", size, j, w[j], want)
			}
		}
	}
}

// Whatever is out of range is refused by public numbers, with its name.
func TestRefuses(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	var bad *privacy.ParamError
	for name, change := range map[string]func(*Config){
		"ε = 0": func(c *Config) { c.Epsilon = 0 }, "ε < 0": func(c *Config) { c.Epsilon = -1 },
		"ε none": func(c *Config) { c.Epsilon = nan },
		"R = 0":  func(c *Config) { c.Radius = 0 }, "R infinite": func(c *Config) { c.Radius = inf },
		"G < 0":  func(c *Config) { c.MomentBound = -1 },
		"G none": func(c *Config) { c.MomentBound = nan }, "k = 1": func(c *Config) { c.Moment = 1 },
		"k < 1":                       func(c *Config) { c.Moment = 0.5 },
		"no G for an unbounded slope": func(c *Config) { c.Loss = loss.Squared{} },
		"worst case without G":        func(c *Config) { c.WorstCase = true },
		"no C":                        func(c *Config) { c.LeastNorm = 0 }, "n₀ = 0": func(c *Config) { c.Records = 0 },
		"no adjacency": func(c *Config) { c.Adjacency = 0 },
		"centre":       func(c *Config) { c.Centre = []float64{1, nan, 1} },
		"τ < 0":        func(c *Config) { c.Tolerance = -1 },
		"no loss":      func(c *Config) { c.Loss = nil },
	} {
		c := config()
		change(&c)
		if _, err := c.Calibrate(); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := c.CalibrateOutput(); !errors.As(err, &bad) {
			t.Errorf("%s: output perturbation: %v", name, err)
		}
	}
	for _, l := range []loss.Convex{loss.Poisson{MaxCount: 10}, loss.Probit{}, loss.Pinball{Tau: 2}, loss.Huber{}} {
		c := config()
		c.Loss = l
		if _, err := c.Calibrate(); !errors.Is(err, privacy.ErrUnsupported) {
			t.Errorf("%s: %v", l.Name(), err)
		}
	}
	m, _ := config().Calibrate()
	if err := m.Feasible(3, 500); err != nil {
		t.Error(err)
	}
	m.Tolerance = 1e-16
	if err := m.Feasible(3, 500); !errors.As(err, &bad) {
		t.Errorf("a tolerance that nothing reaches: %v", err)
	}
	m, _ = config().Calibrate()
	rows, y := records(5, 2, 1)
	m.Centre = []float64{1, 2, 3}
	if _, err := m.Run(rows, y, noise.NewSeeded(1), nil); !errors.As(err, &bad) {
		t.Errorf("a centre of another length: %v", err)
	}
	if _, err := m.Run(rows, y[1:], noise.NewSeeded(1), nil); err == nil {
		t.Error("labels of another number")
	}
	if _, err := m.Run(rows, y, nil, nil); !errors.Is(err, mechanism.ErrNoSource) {
		t.Errorf("no source: %v", err)
	}
}

// counting counts the bits that are asked of a source.
type counting struct {
	noise.Source
	drawn int
}

func (c *counting) Uint64() uint64 { c.drawn++; return c.Source.Uint64() }

// What may be out of reach is refused by Check and by Run, before a bit is drawn, whatever the records are; for one
// number that may count it may be out of reach and not for another. How many there are matters to nobody.
func TestAttainability(t *testing.T) {
	var bad *privacy.ParamError
	rows, y := records(50, 3, 1)
	none := matrix.NewDense(0, 3, nil)
	m, _ := config().Calibrate()
	o, _ := config().CalibrateOutput()
	p := phases(t, nil)
	for _, most := range []int{500, MostRecords} {
		m.Most, o.Most, p.Most = most, most, most
		m.Tolerance, o.Tolerance, p.Tolerance = 1.1*m.least(3)(500), 1.1*o.least(3)(500), p.least(3)(500)
		if most > 500 {
			p.Tolerance *= 0.99 // it hardly depends on their number
		}
		for _, m := range []mechanism.Mechanism{m, o, p} {
			for _, data := range []*matrix.Dense{rows, none} {
				n, _ := data.Dims()
				src := &counting{Source: noise.NewSeeded(1)}
				err := m.Check(data, y[:n])
				_, ran := m.Run(data, y[:n], src, nil)
				if most == 500 && (err != nil || ran != nil) {
					t.Errorf("%v: %v, %v", m, err, ran)
				}
				if most > 500 && (!errors.As(err, &bad) || !errors.As(ran, &bad) || src.drawn > 0) {
					t.Errorf("%v: %v, %v, %d words drawn", m, err, ran, src.drawn)
				}
			}
		}
	}
	m.Records = -1
	if err := m.Validate(); !errors.As(err, &bad) {
		t.Errorf("a planned number of −1: %v", err)
	}
	m.Records, m.Most = 500, MostRecords+1
	if err := m.Validate(); !errors.As(err, &bad) || bad.Name != "Most" {
		t.Errorf("more than may count: %v", err)
	}
}

// Replace-one costs no more than twice add/remove-one, and what the solver may do is counted once: under the free curve
// 2C/β + 2τ/(Λς), for outputs 2C/Λ + 2r; with ln cosh the Jacobian is paid for once, too.
func TestReplaceOne(t *testing.T) {
	c := config()
	c.Tolerance = 0.01 // so that the solver's part is seen
	m, _ := c.Calibrate()
	o, _ := c.CalibrateOutput()
	cosh := m
	cosh.Cosh = 3 * m.Lambda * m.Clip / m.Scale
	replaced := func(m Objective) Objective { m.Adjacency = privacy.ReplaceOne; return m }
	solver := 2 * m.Tolerance / m.Lambda / m.OutputScale
	if got, want := replaced(m).Epsilon(), 2*m.Epsilon()-solver; !(math.Abs(got/want-1) <= 1e-12) || solver < 1e-3 {
		t.Errorf("replace-one %g, want %g, the solver's part being %g", got, want, solver)
	}
	if got, want := replaced(cosh).Epsilon(), cosh.Epsilon()+m.Clip/m.Scale; !(math.Abs(got/want-1) <= 1e-12) ||
		got > 2*cosh.Epsilon()-solver-0.1 {
		t.Errorf("ln cosh: replace-one %g, want %g, add/remove-one %g", got, want, cosh.Epsilon())
	}
	other := o
	other.Adjacency = privacy.ReplaceOne
	if got, want := other.Sensitivity(), o.Sensitivity()+o.Clip/o.Lambda; !(math.Abs(got/want-1) <= 1e-9) {
		t.Errorf("output: replace-one moves by %g, want %g", got, want)
	}
	for _, m := range []mechanism.Mechanism{m, o, phases(t, nil)} {
		event := must.Get(m.Event())
		own, _ := mechanism.Profile(m)
		p := must.Get(event.Profile(privacy.ReplaceOne))
		for _, eps := range []float64{0.3, 0.9, 1.2} {
			if half, got := privacy.DeltaUpper(own, eps), privacy.DeltaUpper(p, 2*eps); (half > 0) != (got > 0) {
				t.Errorf("%v: δ(%g) = %g, read for replace-one δ(%g) = %g", m, eps, half, 2*eps, got)
			}
		}
	}
}

// What the solver is asked for, and two roundings of a number as large as R + ‖w₀‖, are within τ/Λ as real numbers. An
// error of one part in 10¹² is seen.
func TestTargetLeavesRoomForRounding(t *testing.T) {
	for _, p := range []Problem{{Tolerance: 1e-6, Lambda: 3, Radius: 2}, {Tolerance: 0.7, Lambda: 0.1, Radius: 5,
		Centre: []float64{3, -4}}, {Tolerance: 1e-9, Lambda: 7, Radius: 1, Centre: []float64{1e3, 0}}} {
		all := new(big.Float).SetPrec(200).SetFloat64(0x1p-53 * 1.99 * (p.Radius + floats.Norm(p.Centre, 2)))
		all.Add(all, new(big.Float).SetFloat64(p.target()))
		all.Mul(all, new(big.Float).SetFloat64(p.Lambda))
		if all.Cmp(big.NewFloat(p.Tolerance)) > 0 || p.target() < p.Tolerance/p.Lambda*(1-1e-2) {
			t.Errorf("%+v: Λ·(the target and rounding) = %v", p, all)
		}
	}
}

// What is told of records and residuals costs no ε: the release is that of the same parameters without a stretch, times
// that from the centre. The factor is 1 + Λ/H of little noise, and falls with 1 + N².
func TestStretch(t *testing.T) {
	rows, y := records(800, 3, 2)
	c := config()
	c.MomentBound, c.Centre, c.Radius = 6, []float64{1, 0, -2}, 3
	plain := must.Get(c.Calibrate())
	c.TypicalNorm, c.TypicalResidual = 1.5, 0.4
	m := must.Get(c.Calibrate())
	if m.Lambda != larger*plain.Lambda || m.Scale != plain.Scale || m.Epsilon() > c.Epsilon {
		t.Errorf("%v\n%v", m, plain)
	}
	bends := 0.4 * 500 * 1.5 * 1.5 / (3 * 0.4) // C = G/4
	off := 3.0 * 1.5 / bends / 1.5
	if want := (1 + m.Lambda/bends) / (1 + off*off); !(math.Abs(m.Stretch-want) <= 1e-12) {
		t.Errorf("stretch %g, want %g", m.Stretch, want)
	}
	straight := m
	straight.Stretch = 0
	var at [2][]float64
	for k, m := range []Objective{m, straight} {
		r := must.Get(m.Run(rows, y, noise.NewSeeded(5), nil))
		at[k] = r.Coefficients
	}
	for j, w := range c.Centre {
		if want := w + m.Stretch*(at[1][j]-w); !(math.Abs(at[0][j]-want) <= 1e-12) {
			t.Errorf("coefficient %d is %g, want %g", j, at[0][j], want)
		}
	}
	for _, wrong := range []func(c *Config){
		func(c *Config) { c.TypicalNorm = 0 }, func(c *Config) { c.TypicalResidual = 0 },
		func(c *Config) { c.TypicalNorm = math.Inf(1) }, func(c *Config) { c.TypicalResidual = -1 },
		func(c *Config) { c.WorstCase = true }} {
		c := c
		wrong(&c)
		var p *privacy.ParamError
		if _, err := c.Calibrate(); !errors.As(err, &p) || !strings.HasPrefix(p.Name, "Typical") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	m.Stretch = math.NaN()
	if err := m.Validate(); err == nil {
		t.Error("a stretch that is no number")
	}
}
