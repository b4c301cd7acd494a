package sgd

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

var deciles = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

func quantiles(levels []float64) Quantiles {
	return Quantiles{Levels: levels, RowNorm: 1, Steps: 20, NoiseMultiplier: 3, Update: Adaptive{Radius: 2, Steps: 20}}
}

// pinballs returns Σρ_{τ_k}(y − t_k), and joined the f̃ of Quantiles at the vertex that it picks.
func pinballs(levels, t []float64, y float64) (sum, joined float64) {
	at := vertex(t, 1, len(t), y)
	for k, tau := range levels {
		sum += math.Max(tau*(y-t[k]), (tau-1)*(y-t[k]))
		if joined -= tau * (t[k] - y); k >= at {
			joined += t[k] - y
		}
	}
	return sum, joined
}

// f̃ is convex, with the slopes v_j; no more than the sum of the pinball losses, and the same where nothing crosses;
// and pooled margins, which are in order, have no more loss than f̃. Sorted ones can have more.
func TestJointLoss(t *testing.T) {
	src := noise.NewSeeded(5)
	sorting := false
	for range 30_000 {
		levels, m, other := make([]float64, 1+src.IntN(6)), []float64(nil), []float64(nil)
		for k := range levels {
			levels[k] = src.Float64()
		}
		slices.Sort(levels)
		m, other = make([]float64, len(levels)), make([]float64, len(levels))
		src.Gaussian(m, 1)
		src.Gaussian(other, 1)
		y := src.Float64()
		sum, low := pinballs(levels, m, y)
		if low > sum+1e-12 {
			t.Fatalf("f̃ = %g above the losses %g", low, sum)
		}
		at := vertex(m, 1, len(m), y)
		tangent := low
		for k, tau := range levels {
			if tangent -= tau * (other[k] - m[k]); k >= at {
				tangent += other[k] - m[k]
			}
		}
		if _, there := pinballs(levels, other, y); there < tangent-1e-12 {
			t.Fatalf("f̃ = %g below its tangent %g", there, tangent)
		}
		pooled, sorted := slices.Clone(m), slices.Clone(m)
		Pool(pooled)
		slices.Sort(sorted)
		after, same := pinballs(levels, pooled, y)
		if !slices.IsSorted(pooled) || !(math.Abs(floats.Sum(pooled)-floats.Sum(m)) <= 1e-12) || after > low+1e-12 ||
			!(math.Abs(after-same) <= 1e-12) {
			t.Fatalf("%v pooled to %v: loss %g, f̃ was %g", m, pooled, after, low)
		}
		if s, _ := pinballs(levels, sorted, y); s > low+1e-9 {
			sorting = true
		}
	}
	if !sorting {
		t.Error("sorted margins never had more loss than f̃")
	}
}

// No vertex is longer than 1 in the norm of the noise, one is as long, the trace is within a hundredth of the least,
// and the standard deviations are as the page has them.
func TestLevelCovariance(t *testing.T) {
	for _, c := range []struct {
		levels []float64
		want   []float64
	}{
		{[]float64{0.5}, []float64{0.5}},
		{[]float64{0.9}, []float64{0.9}},
		{[]float64{0.05, 0.95}, []float64{0.95, 0.95}},
		{[]float64{0.1, 0.5, 0.9}, []float64{0.918, 0.752, 0.918}},
		{[]float64{0.100001, 0.5, 0.9}, []float64{0.918, 0.752, 0.918}}, // other levels, with noise of their own
		{deciles, []float64{1.067, 1.073, 1.056, 1.040, 1.033, 1.040, 1.056, 1.073, 1.067}},
	} {
		cov := must.Get(LevelCovariance(c.levels))
		for k, want := range c.want {
			if got := math.Sqrt(cov.At(k, k)); !(math.Abs(got-want) <= 6e-4) {
				t.Errorf("%v: %v at level %d, want %v", c.levels, got, k, want)
			}
		}
		j, k := jointNoise(c.levels), len(c.levels)
		longest := 0.0
		for v := range k + 1 {
			u := j.white[v*k : (v+1)*k]
			longest = math.Max(longest, floats.Norm(u, 2))
			for l, tau := range c.levels {
				got, want := floats.Dot(j.root[l*k:(l+1)*k], u), -tau
				if l >= v {
					want++
				}
				if !(math.Abs(got-want) <= 1e-9) {
					t.Fatalf("%v: vertex %d is decoded as %g at level %d, want %g", c.levels, v, got, l, want)
				}
			}
		}
		if longest > 1+1e-15 || longest < 1-1e-12 || !(j.gap <= jointGap) {
			t.Errorf("%v: the longest vertex has %v, the trace is %v times the least", c.levels, longest, j.gap)
		}
	}
}

// What one record does to the whitened sums, as they are computed, is at most R for every kind of rows, and nearly that
// for the worst: the test sees a tenth less noise.
func TestOneRecordOfQuantiles(t *testing.T) {
	const n, d = 700, 5
	rows, labels := simulated(n, d, 1, 9)
	src := noise.NewSeeded(1)
	theta, k := make([]float64, d*len(deciles)), len(deciles)
	src.Gaussian(theta, 1)
	for j := range 40 {
		rows.Data[j*d+1], rows.Data[j*d+2], rows.Data[j*d+3], rows.Data[j*d+4] = 0, 0, 0, 0 // thin
	}
	sum := func(r matrix.Rows, n int) []float64 {
		all := newRecords(r, labels[:n], 1)
		s, c := newSuffixes(all, k, 2), jointNoise(deciles)
		s.sum(theta)
		dst := make([]float64, k*d)
		c.whiten(dst, s.totals, d, 1)
		return dst
	}
	dense := func(n int) matrix.Rows { return matrix.NewDense(n, d, rows.Data[:n*d]) }
	most := 0.0
	for i := 1; i < n; i += 7 {
		for _, scale := range []float64{1, 3} { // longer ones are scaled down
			floats.Scale(scale, rows.Data[i*d:(i+1)*d])
			with, without := sum(dense(i+1), i+1), sum(dense(i), i)
			most = math.Max(most, floats.Distance(with, without, 2))
			if !slices.Equal(with, sum(opaque{dense(i + 1)}, i+1)) {
				t.Fatal("rows of another type have another sum")
			}
		}
	}
	if most > 1+1e-6 || most < 0.95 {
		t.Errorf("a record moves the sums by %v, want 1 and hardly less", most)
	}
}

// opaque is rows of no known type.
type opaque struct{ matrix.Rows }

// One level is the descent on its pinball loss, where noise is so little that its spread over the steps does not
// matter; the workers change nothing; and without noise to speak of all levels are found.
func TestQuantilesDescend(t *testing.T) {
	rows, labels := simulated(9000, 4, 1, 3)
	one := quantiles([]float64{0.3})
	one.RowNorm, one.NoiseMultiplier = matrix.MaxNorm(rows), 1e-5
	a := must.Get(one.Run(rows, labels, noise.NewSeeded(2), nil))
	rule := one.Update
	rule.Noise, rule.Level = 0.7*one.sigma(), 0.3
	b, err := Descent{Loss: loss.Pinball{Tau: 0.3}, Clip: 0.7 * one.RowNorm, Rate: 1, Steps: 20, NoiseMultiplier: 1e-5,
		PlannedRecords: 1, Update: rule, Average: 10}.Run(rows, labels, noise.NewSeeded(2), nil)
	if err != nil || floats.Distance(a.Coefficients, b.Coefficients, 2) > 1e-4 {
		t.Errorf("one level: %v, by Descent %v (%v)", a.Coefficients, b.Coefficients, err)
	}
	var first []float64
	for _, workers := range []int{1, 2, 3} {
		r := must.Get(quantiles(deciles).Run(rows, labels, noise.NewSeeded(2), &mechanism.Settings{Workers: workers}))
		if first == nil {
			first = r.Coefficients
		} else if !slices.Equal(first, r.Coefficients) {
			t.Errorf("%d workers: other coefficients", workers)
		}
	}
	const n = 2001
	constant, spread := matrix.NewDense(n, 1, nil), make([]float64, n)
	for i := range spread {
		constant.Data[i], spread[i] = 1, float64(i)/n
	}
	q := quantiles(deciles)
	q.Steps, q.NoiseMultiplier = 192, 1e-3
	q.Update.Steps = 192
	r, err := q.Run(constant, spread, noise.NewSeeded(4), nil)
	if err != nil || !floats.EqualApprox(r.Coefficients, deciles, 0.02) {
		t.Errorf("deciles of even numbers: %v (%v)", r.Coefficients, err)
	}
}

// The noise that is said is that of the level with most: the largest of the standard deviations by the covariance that
// it is drawn from.
func TestNoiseThatIsSaid(t *testing.T) {
	q := quantiles([]float64{0.1, 0.3, 0.5, 0.9})
	shape, most := q.shape(5), 0.0
	for i := range 4 {
		variance := 0.0
		for _, v := range shape.root[4*i : 4*i+4] {
			variance += v * v
		}
		most = math.Max(most, variance)
	}
	if got, want := q.noiseScale(5), q.NoiseMultiplier*q.RowNorm*math.Sqrt(most); !(math.Abs(got/want-1) <= 1e-12) {
		t.Errorf("noise of %v, want %v", got, want)
	}
}

// The noise of the steps, as it is drawn, costs what Cost says: Σ1/σₖ² = T/σ², by any rule. A share of the early steps
// that is off by a tenth, and not made up for, is seen. Iterates have weights that add up to 1.
func TestSpreadOfNoise(t *testing.T) {
	for _, steps := range []int{1, 2, 3, 5, 20, 191, 192, 1000} {
		for _, records := range []float64{0, 1, 40, 200} {
			q := quantiles([]float64{0.5})
			q.Steps, q.Update.Steps, q.Records = steps, steps, records
			rule := q.rule(0, q.shape(5), 5)
			sum, weight := 0.0, 0.0
			for k := range steps {
				v := q.NoiseMultiplier * q.RowNorm / q.sigmaAt(rule, k)
				sum += v*v - 1
				weight += rule.Weight(k)
			}
			if rest := -sum / float64(steps); !(rest >= 0 && rest < 1e-12) || !(math.Abs(weight-1) <= 1e-12) {
				t.Errorf("T = %d, %v: Σσ²/σₖ² is T less %g of it, weights add up to %g", steps, rule, rest, weight)
			}
		}
	}
	q := quantiles([]float64{0.5})
	rule := q.rule(0, q.shape(5), 5)
	if early, late := q.sigmaAt(rule, 0), q.sigmaAt(rule, 19); !(math.Abs(early*early/(late*late)-1.5) <= 1e-9) {
		t.Errorf("noise %g, then %g", early, late)
	}
}

// Few records, planned or counted, have steps that do not look at gradients; many, and those of whom nobody knows how
// many there are, have Adaptive's. The signal of one level is ½nμ/√d.
func TestFaintWhereRecordsAreFew(t *testing.T) {
	q := quantiles([]float64{0.9})
	mu := math.Sqrt(20) / 3
	for records, want := range map[float64]float64{0: -1, 10: 0.5 * 10 * mu / 2, 24: 0.5 * 24 * mu / 2, 25: -1} {
		q.Records = records
		got := -1.0
		if f, ok := q.rule(0, q.shape(4), 4).(weakSignal); ok {
			got = f.Signal
		}
		if !(math.Abs(got-want) <= 1e-5) {
			t.Errorf("%g records: a signal of %g, want %g (−1 is Adaptive)", records, got, want)
		}
	}
	c := quantiles([]float64{0.5}).WithCount(0.04)
	if sigma := c.sigma(); !(math.Abs(sigma/(3/math.Sqrt(20*0.04))-1) <= 1e-9) {
		t.Errorf("noise of the count %g", sigma)
	}
	// Fewer than its noise, which is 3.35, say no more than that.
	for noisy, want := range map[float64]float64{-40: 3, 0.2: 3, 3.2: 3, 3.6: 4, 7.4: 7} {
		if got := c.at(noisy).Records; got != want {
			t.Errorf("a count of %g stands for %g records, want %g", noisy, got, want)
		}
	}
	rows, labels := simulated(20, 4, 1, 3)
	r := must.Get(c.Run(rows, labels, noise.NewSeeded(1), nil))
	fitted, ok := r.Fitted.(Quantiles)
	if !ok || !(math.Abs(fitted.Records-20) <= 6*c.sigma()) || !strings.Contains(r.Mechanism, "steps of fixed size") {
		t.Errorf("fitted %v by %s", r.Fitted, r.Mechanism)
	}
	// Both together cost what Cost says, as they are drawn: with a tenth less noise in the count it is more.
	parts := 1 / (c.sigma() * c.sigma())
	rule := fitted.rule(0, fitted.shape(4), 4)
	for k := range fitted.Steps {
		parts += 1 / (fitted.sigmaAt(rule, k) * fitted.sigmaAt(rule, k))
	}
	if whole := 20 / 9.0; parts > whole*(1+1e-14) || parts < whole*(1-1e-9) {
		t.Errorf("μ² = %v of the parts, %v of the whole", parts, whole)
	}
	want := privacy.DeltaUpper(privacy.GaussianProfile(mu, privacy.AddRemove), 2)
	if got := privacy.DeltaUpper(r.Guarantee.Profile, 2); got < want*(1-1e-9) || got > want*(1+1e-9) {
		t.Errorf("δ(2) = %g of both, want %g", got, want)
	}
}

// A descent that always points one way ends on the ball, or, in a wide one, at about 6.38r: its steps are those of r
// whatever the ball is. Its words say which, for a release that goes on is told by them. Where records are few the ball
// is r again.
func TestBall(t *testing.T) {
	told := map[string]bool{}
	for _, c := range []struct{ radius, ball, want, off float64 }{
		{1, 0, 1, 1e-12}, {1, 1.1, 1.1, 1e-12}, {1, 2, 2, 1e-12}, {1, 50, 6.38, 0.01}, {2, 50, 12.76, 0.01},
	} {
		u := Adaptive{Radius: c.radius, Ball: c.ball, Steps: 192}
		s, theta := u.start(1), []float64{0}
		for range u.Steps {
			s.step(theta, []float64{-1})
		}
		if !(math.Abs(theta[0]-c.want) <= c.off) {
			t.Errorf("%v: %g from 0, want %g", u, theta[0], c.want)
		}
		told[u.String()] = true
		if f := u.For(1); f.Within() != c.radius {
			t.Errorf("%v: within %g of few records", f, f.Within())
		}
	}
	if len(told) != 5 {
		t.Errorf("five rules are told as %d: %v", len(told), told)
	}
}

// With ℓ₁ the steps come to the minimiser of Σρ(y − θ) + ω|θ|: for labels that are even in [0, 1) and τ = ½ that is θ =
// ½ − ω/n.
func TestShrink(t *testing.T) {
	const n = 2001
	rows, labels := matrix.NewDense(n, 1, nil), make([]float64, n)
	for i := range labels {
		rows.Data[i], labels[i] = 1, float64(i)/n
	}
	for omega, want := range map[float64]float64{0: 0.5, 0.2 * n: 0.3, 2 * n: 0} {
		q := quantiles([]float64{0.5})
		q.Steps, q.NoiseMultiplier = 192, 1e-3
		q.Update = Adaptive{Radius: 2, Steps: 192, Shrink: []float64{omega}}
		r, err := q.Run(rows, labels, noise.NewSeeded(4), nil)
		if err != nil || !(math.Abs(r.Coefficients[0]-want) <= 0.02) {
			t.Errorf("ω = %g: %v, want %g (%v)", omega, r.Coefficients, want, err)
		}
	}
}

// What is out of range is refused; so are records that are no numbers.
func TestQuantilesRefuse(t *testing.T) {
	rows, labels := simulated(50, 3, 1, 1)
	var param *privacy.ParamError
	for name, change := range map[string]func(*Quantiles){
		"none":        func(q *Quantiles) { q.Levels = nil },
		"zero":        func(q *Quantiles) { q.Levels = []float64{0, 0.5} },
		"one":         func(q *Quantiles) { q.Levels = []float64{0.5, 1} },
		"NaN":         func(q *Quantiles) { q.Levels = []float64{math.NaN()} },
		"falling":     func(q *Quantiles) { q.Levels = []float64{0.5, 0.4} },
		"twice":       func(q *Quantiles) { q.Levels = []float64{0.5, 0.5} },
		"nearly":      func(q *Quantiles) { q.Levels = []float64{0.5, 0.5 + 1e-9} },
		"many":        func(q *Quantiles) { q.Levels = make([]float64, 100) },
		"other steps": func(q *Quantiles) { q.Update.Steps = 3 },
		"shrink":      func(q *Quantiles) { q.Update.Shrink = []float64{1, -1, 1} },
		"few weights": func(q *Quantiles) { q.Update.Shrink = []float64{1} },
	} {
		q := quantiles([]float64{0.2, 0.5})
		change(&q)
		if _, err := q.Run(rows, labels, noise.NewSeeded(1), nil); !errors.As(err, &param) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var data *matrix.DataError
	labels[3] = math.Inf(1)
	if _, err := quantiles(deciles).Run(rows, labels, noise.NewSeeded(1), nil); !errors.As(err, &data) {
		t.Errorf("an infinite label: %v", err)
	}
}

// Fixed steps are as long as those that noise alone takes over the radius: T of them, each of a gradient of the noise's
// length in its own direction, come to r; a signal makes them shorter by √(1 + (τ(1−τ)s/4)²), and noise is spread so
// that the gradients of all steps cost what they were to.
func TestFixedSteps(t *testing.T) {
	for _, c := range []struct{ level, signal, want float64 }{{0.5, 0, 2}, {0.5, 8, 2 / math.Sqrt(1.25)},
		{0.1, 8, 2 / math.Sqrt(1+0.18*0.18)}} {
		const d, steps = 5, 36
		u := Adaptive{Radius: 2, Steps: steps, Level: c.level, Noise: 3}
		f := u.For(c.signal)
		s, spread, sum := f.start(d), 0.0, 0.0
		for k := range steps {
			theta, g := make([]float64, d), make([]float64, d)
			g[k%d] = 3 * f.Spread(k) * math.Sqrt(d)
			s.step(theta, g)
			sum += theta[k%d] * theta[k%d]
			spread += 1 / (f.Spread(k) * f.Spread(k))
		}
		if !(math.Abs(math.Sqrt(sum)-c.want) <= 1e-12) || !(math.Abs(spread-steps) <= 1e-9) {
			t.Errorf("%+v: %v, want %v; Σs⁻² is %v", c, math.Sqrt(sum), c.want, spread)
		}
	}
}
