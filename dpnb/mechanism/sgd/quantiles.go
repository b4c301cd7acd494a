package sgd

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Quantiles is noisy gradient descent for quantile regression at K levels at once. With the margins t_k = xᵀθ_k of a
// record it descends on the convex
//
//	f̃ = max_j Σ_k (1{k>j} − τ_k)(t_k − y),  j = 0 … K,
//
// which is the sum of the K pinball losses wherever t₁ ≤ … ≤ t_K, and nowhere more. Its slopes at a record are one of
// K+1 vectors v_j = (1{k>j} − τ_k)_k, where those of the sum of the losses are one of 2ᴷ, and the noise has the
// covariance C between levels, of the least trace with v_jᵀC⁻¹v_j ≤ 1 for all j: nine deciles together have about the
// noise that one of them has alone. Each level moves by Adaptive.
//
// Fitted quantiles of a record that cross are put right by Pool, which costs nothing; their pinball loss is then at
// most f̃.
//
// Proof: docs/theory/quantiles.md#dpnb-quantiles-joint.
type Quantiles struct {
	// Levels are 0 < τ₁ < … < τ_K < 1, at most MaxLevels.
	Levels []float64
	// RowNorm is R: longer records are scaled down to it.
	RowNorm float64
	// Steps is T, NoiseMultiplier is σ: the noise multiplier of step k is σ·sₖ, sₖ the Spread of the rule, and all
	// steps together are as private as with σ in each.
	Steps           int
	NoiseMultiplier float64
	// Update moves each level. Its Steps are T; its Noise and Level are set here.
	Update Adaptive
	// Records is the number of records that were planned, which is public, or released with noise (Counted): where
	// their gradients hardly stand out of the noise, the rule is that of Adaptive.For. Zero is none, and Update all
	// there is.
	Records float64
}

// MaxLevels bounds the number of levels of Quantiles.
const MaxLevels = 99

// Cost returns what one run costs: that of T steps of multiplier σ. Gaussian mechanisms compose by Σ1/σₖ², and that is
// T/σ² (docs/theory/quantiles.md, section 2).
func (q Quantiles) Cost() Cost {
	return Cost{Rate: 1, NoiseMultiplier: q.NoiseMultiplier, Steps: q.Steps}
}

// ValidLevels returns a *privacy.ParamError unless the levels are in (0, 1) and rise.
func ValidLevels(levels []float64) error {
	bad := func(want string) error {
		return &privacy.ParamError{Name: "Levels", Value: levels, Want: want}
	}
	if len(levels) == 0 || len(levels) > MaxLevels {
		return bad(fmt.Sprintf("one to %d levels, for example 0.1, 0.5, 0.9", MaxLevels))
	}
	for k, tau := range levels {
		switch {
		case !(tau > 0 && tau < 1):
			return bad("levels between 0 and 1, both excluded")
		case k > 0 && tau == levels[k-1]:
			return bad(fmt.Sprintf("each level once: %g is there twice", tau))
		case k > 0 && tau < levels[k-1]:
			return bad(fmt.Sprintf("levels that rise: %g comes after %g", tau, levels[k-1]))
		case k > 0 && tau < levels[k-1]+1e-6 || tau < 1e-6 || tau > 1-1e-6:
			return bad("levels a millionth or more from each other and from 0 and 1")
		}
	}
	return nil
}

// Validate returns a *privacy.ParamError if a parameter is out of range.
func (q Quantiles) Validate() error {
	return cmp.Or(ValidLevels(q.Levels), q.Cost().Validate(), q.Update.validate(),
		privacy.Within(q.Update.Steps == q.Steps, "Update.Steps", q.Update.Steps, fmt.Sprintf("%d, as Steps", q.Steps)),
		privacy.Within(q.Records >= 0 && !math.IsInf(q.Records, 1), "Records", q.Records,
			"a finite number ≥ 0, 0 for no plan"),
		mechanism.Scales{{"RowNorm", q.RowNorm}, {"NoiseMultiplier × RowNorm", q.sigma()}}.Check())
}

// sigma is the scale of the noise were it the same in each step, the product rounded up; sigmaAt is that in step k by a
// rule.
func (q Quantiles) sigma() float64 { return q.NoiseMultiplier * q.RowNorm * (1 + 0x1p-50) }

// noiseScale is the standard deviation of the noise in the gradient of the level that has most, were it the same in
// each step: of one level σR·max(τ, 1 − τ), as slopes are −τ or 1 − τ.
func (q Quantiles) noiseScale(d int) (most float64) {
	shape, k := q.shape(d), len(q.Levels)
	for level := range k {
		most = math.Max(most, q.sigma()*floats.Norm(shape.root[level*k:(level+1)*k], 2))
	}
	return most
}

func (q Quantiles) sigmaAt(rule Scheduled, k int) float64 {
	return q.sigma() * rule.Spread(k) * (1 + 0x1p-50)
}

// rule returns that of a level, noise being of the shape of that for d features. All levels have the same noise in a
// step, and so one signal, the mean of theirs.
func (q Quantiles) rule(level int, shape *joint, d int) Scheduled {
	k, signal := len(q.Levels), 0.0
	noise := func(l int) float64 { return floats.Norm(shape.root[l*k:(l+1)*k], 2) }
	for l, tau := range q.Levels {
		signal += Signal(q.Records, q.NoiseMultiplier*noise(l)/math.Max(tau, 1-tau), q.Steps, d) / float64(k)
	}
	u := q.Update
	u.Noise, u.Level = q.sigma()*noise(level), q.Levels[level]
	if q.Records == 0 {
		return u
	}
	return u.For(signal)
}

// String describes the mechanism with its parameters.
func (q Quantiles) String() string {
	mean := fmt.Sprintf("mean of the last %d iterates", q.Update.average())
	if q.Records > 0 {
		mean = fmt.Sprintf("n₀ = %.6g", q.Records)
	}
	return q.with(mean, q.Update)
}

// with describes the mechanism and the rule that it takes.
func (q Quantiles) with(mean string, rule Update) string {
	what := "quantile"
	if n := len(q.Levels); n > 1 {
		what = fmt.Sprintf("%d quantiles", n)
	}
	return fmt.Sprintf("noisy gradient descent (%s at τ = %s, R = %.5g, T = %d, σ = %.5g, %s, %s)",
		what, joined(q.Levels), q.RowNorm, q.Steps, q.NoiseMultiplier, mean, rule)
}

func joined(levels []float64) string {
	texts := make([]string, len(levels))
	for k, tau := range levels {
		texts[k] = strconv.FormatFloat(tau, 'g', -1, 64)
	}
	return strings.Join(texts, ", ")
}

// Describe implements mechanism.Mechanism.
func (q Quantiles) Describe() mechanism.Description {
	return mechanism.Description{
		Name: "noisy gradient descent", Adjacency: privacy.AddRemove, Bound: q.Cost().Bound(),
		Source: "Bassily, Smith, Thakurta 2014, with all records in each step; several levels: " +
			"docs/theory/quantiles.md",
		Assumptions: []string{
			mechanism.Chosen("all parameters"), mechanism.ExactNoise, mechanism.Unseen,
		},
	}
}

// Event implements mechanism.Mechanism; it is a Cost.
func (q Quantiles) Event() (privacy.Event, error) { return q.Cost(), q.Validate() }

// Feasible implements mechanism.Mechanism: nothing can fail.
func (q Quantiles) Feasible(int, int) error { return nil }

// Check implements mechanism.Mechanism.
func (q Quantiles) Check(rows matrix.Rows, labels []float64) error {
	p := erm.Problem{Rows: rows, Labels: labels, Loss: loss.Pinball{Tau: 0.5}, Lambda: 1}
	if err := p.Validate(); err != nil {
		return err
	}
	_, d := rows.Dims()
	return q.Update.fits(d)
}

// Run implements mechanism.Mechanism. The coefficients are those of the first level, then of the second, and so on.
func (q Quantiles) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(q, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	r.Coefficients = q.descend(newPassed(rows, labels, q.RowNorm), noise.Exact(src), settings.Value().Workers, nil)
	_, d := rows.Dims()
	r.NoiseScale = q.noiseScale(d)
	if rule, ok := q.rule(0, q.shape(d), d).(weakSignal); ok {
		r.Mechanism = q.with(fmt.Sprintf("n₀ = %.6g, weighted mean of the iterates", q.Records), rule)
	}
	return r, nil
}

// shape is the noise between levels for d features. Whitened sums err by 2⁻²⁶R an entry (whiten): neighbours' differ by
// 2⁻²⁵√(Kd)·R more than by u_j⊗x, which is paid for here.
func (q Quantiles) shape(d int) *joint {
	c := jointNoise(q.Levels)
	c.scale(1 - 0x1p-24*math.Sqrt(float64(c.levels*d)) - 0x1p-40)
	return c
}

// descend runs the T steps on checked records. If trail is not nil it is called in the steps of which the mean is
// released, before θ_k of a level is moved by its noisy gradient g.
func (q Quantiles) descend(r *records, draw *exact.Sampler, workers int, trail func(level int, theta,
	g []float64)) []float64 {
	k, d := len(q.Levels), r.d
	shape := q.shape(d)
	s := newSuffixes(r, k, workers)
	theta, average := make([]float64, k*d), make([]float64, k*d)
	white, g := make([]float64, k*d), make([]float64, d)
	updates, rule := make([]stepper, k), q.rule(0, shape, d)
	for i := range updates {
		updates[i] = q.rule(i, shape, d).start(d)
	}
	xi := draw.Normals(k * d)
	for t := range q.Steps {
		if t > 0 {
			xi.Redraw()
		}
		s.sum(theta)
		shape.whiten(white, s.totals, d, q.RowNorm)
		sigma, weight := q.sigmaAt(rule, t), rule.Weight(t)
		xi.AddRounded(white, sigma, exact.Grid(sigma))
		for i, u := range updates {
			clear(g)
			for l := range k {
				floats.AddScaled(g, shape.root[i*k+l], white[l*d:(l+1)*d])
			}
			if trail != nil && weight > 0 {
				trail(i, theta[i*d:(i+1)*d], g)
			}
			u.step(theta[i*d:(i+1)*d], g)
		}
		if weight > 0 {
			floats.AddScaled(average, weight, theta)
		}
	}
	for i := range k {
		project(average[i*d:(i+1)*d], rule.Within())
	}
	return average
}

// suffixes sums records by how many of their margins are taken to be above the label.
type suffixes struct {
	*records
	levels int
	theta  []float64
	// totals[j·d:] is Σ round_h(xᵢ) over the records of vertex j; the parts those of chunks.
	totals []float64
	parts  [][]float64
	held   []int // records in a part that are not in exact yet
	mutex  sync.Mutex
	exact  *exact.Total
	deal   *parallel.Dealer
	margin [][]float64 // of a worker, a block's, level by level
	row    [][]float64
	room   [][]float64
	copies [][]float64
}

const (
	// suffixChunk is how many records a worker takes at a time, suffixBlock how many margins are computed at once.
	suffixChunk, suffixBlock = 4096, 256
	// A part of so many records is exact: each entry of theirs is below 2²⁶h.
	suffixMost = 1 << 26
)

func newSuffixes(r *records, levels, workers int) *suffixes {
	width := (levels + 1) * r.d
	s := &suffixes{records: r, levels: levels, totals: make([]float64, width), exact: exact.NewTotal(width, r.step)}
	chunks := (r.n + suffixChunk - 1) / suffixChunk
	workers = parallel.Workers(chunks, workers)
	for range workers {
		s.parts = append(s.parts, make([]float64, width))
		s.margin = append(s.margin, make([]float64, levels*suffixBlock))
		s.row = append(s.row, make([]float64, r.d))
		s.room = append(s.room, make([]float64, suffixBlock))
	}
	s.held, s.copies = make([]int, workers), make([][]float64, workers)
	s.deal = parallel.NewDealer(workers, chunks, s.chunk)
	return s
}

// sum fills totals at theta. Sums of multiples of h are exact, so that it does not matter which worker added what.
func (s *suffixes) sum(theta []float64) {
	s.theta = theta
	s.exact.Clear()
	s.deal.Run()
	for worker := range s.parts {
		s.flush(worker)
	}
	s.exact.Write(s.totals)
}

// flush moves what a worker has summed to the integers.
func (s *suffixes) flush(worker int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.exact.Add(s.parts[worker])
	clear(s.parts[worker])
	s.held[worker] = 0
}

func (s *suffixes) chunk(worker, chunk int) {
	if s.held[worker] += suffixChunk; s.held[worker] > suffixMost {
		s.flush(worker)
	}
	end := min((chunk+1)*suffixChunk, s.n)
	for lo := chunk * suffixChunk; lo < end; {
		hi := lo + 1
		for hi < end && hi < lo+suffixBlock && s.thinAt(hi) == s.thinAt(lo) {
			hi++
		}
		s.block(worker, lo, hi)
		lo = hi
	}
}

// block adds the records from lo to hi, all of them thin or none, each to its vertex. What a record adds is a function
// of it and of θ alone.
func (s *suffixes) block(worker, lo, hi int) {
	part, margin, row := s.parts[worker], s.margin[worker], s.row[worker]
	rows, first := s.made(&s.copies[worker], lo, hi)
	d, n, weights := s.d, hi-lo, s.weights(s.room[worker], lo, hi, rows, first)
	for k := range s.levels {
		t, theta := margin[k*n:(k+1)*n], s.theta[k*d:(k+1)*d]
		if s.thinAt(lo) {
			s.thin.Margins(t, theta, lo, hi)
		} else {
			matrix.MarginsAlone(rows, t, theta, first, first+n)
		}
	}
	dense, _ := rows.(*matrix.Dense)
	for i := lo; i < hi; i++ {
		at := vertex(margin[i-lo:], n, s.levels, s.labels[i])
		sum, weight := part[at*d:(at+1)*d], math.Min(1, weights[i-lo])
		switch {
		case s.thinAt(i):
			from, to := s.thin.Starts[i], s.thin.Starts[i+1]
			exact.AddSparse(sum, weight, s.thin.Columns[from:to], s.thin.Values[from:to], s.step)
		case dense != nil:
			exact.Add(sum, weight, dense.Data[(first+i-lo)*d:(first+i-lo+1)*d], s.step)
		default:
			rows.Row(row, i)
			exact.Add(sum, weight, row, s.step)
		}
	}
}

// vertex returns the j that maximises Σ_{k>j}(t_k − y), t_k = margins[k·stride]: of margins in order the number of
// those that are not above y.
func vertex(margins []float64, stride, levels int, y float64) int {
	best, at, sum := 0.0, levels, 0.0
	for k := levels - 1; k >= 0; k-- {
		if sum += margins[k*stride] - y; sum > best {
			best, at = sum, k
		}
	}
	return at
}

// whiten writes Σ_j u_j ⊗ totals_j to dst, cut to ±2²⁸R, of which the last digit is 2⁻²⁵R: each entry errs by half of
// that, and to cut moves no two sums apart. The sum itself is one of double-doubles, whose error is far below.
func (c *joint) whiten(dst, totals []float64, d int, rowNorm float64) {
	k, most := c.levels, 0x1p28*rowNorm
	for l := range k {
		for f := range d {
			var sum dd.Number
			for j := range k + 1 {
				p, e := dd.TwoProd(c.white[j*k+l], totals[j*d+f])
				sum = sum.Add(dd.Sum(p, e))
			}
			dst[l*d+f] = math.Max(-most, math.Min(most, sum.Float()))
		}
	}
}
