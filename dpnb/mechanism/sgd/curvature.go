package sgd

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Curvature runs Fit and then, at the θ_k of each level that it releases, what intervals are made of: with residuals r
// = y − xᵀθ_k,
//
//	how many |r| are in each of 16 public cells,
//	C_k = Σ 1{|r| ≤ h_k}·xxᵀ, of which C_k/(2h_k) estimates the curvature at θ_k, and G = Σ xxᵀ,
//
// each with Gaussian noise. h_k is chosen by the noisy counts. Rows longer than R are scaled down to it here too.
// Beside them it releases the mean of the noisy gradients that the descent has seen in its last half, which have been
// paid for.
//
// Proof: docs/theory/quantile_intervals.md#dpnb-quantile-intervals.
type Curvature struct {
	// Fit is the descent.
	Fit Quantiles
	// Share κ is which part of μ² of the whole the counts and matrices have.
	Share float64
	// References are features that add up, of which only differences are known.
	References []Reference
	// Nowhere are orthonormal directions in which no row has anything, References apart.
	Nowhere []matrix.Direction
}

// Reference says of features First … First+Count−1 that they add up to feature Sum, in every record or nearly:
// indicators of categories, and the constant.
type Reference struct {
	First, Count, Sum int
	// Left is the place among them of the one that is left out, from which others are differences.
	Left int `json:",omitempty"`
}

// Out returns which feature is left out.
func (r Reference) Out() int { return r.First + r.Left }

const (
	// countPart and gramPart are what the counts and G have of the share; the rest is the C_k's. What is not known of
	// C_k costs most: it is of the order of 2h·density smaller than G.
	countPart, gramPart = 0.1, 0.15
	// cells of |r|: the first is up to 2^−firstCell in the unit of the labels, each further one up to twice as far, the
	// last beyond 2^(cells−2−firstCell) = 4.
	cells, firstCell = 16, 12
)

// WithCurvature returns the release with its curvature that costs what q alone does: the share is taken from the
// descent, whose noise is larger by 1/√(1−κ). Records are not looked at: intervals are made of the mean of the last
// half of the iterates.
func (q Quantiles) WithCurvature(share float64, references ...Reference) Curvature {
	q.NoiseMultiplier *= (1 + 0x1p-48) / math.Sqrt(1-share)
	q.Records = 0
	return Curvature{Fit: q, Share: share, References: references}
}

func validShare(share float64) error {
	return privacy.Within(share > 0 && share < 1, "Share", share, "a number in (0, 1), for example 0.2")
}

// Cost is that of all of it: Gaussian mechanisms compose by μ², whatever each is chosen by, so that it is one descent
// with less noise.
func (c Curvature) Cost() Cost {
	cost := c.Fit.Cost()
	cost.NoiseMultiplier *= math.Sqrt(1-c.Share) * (1 - 0x1p-50)
	return cost
}

// mu is that of a part of the share, rounded down.
func (c Curvature) mu(part float64) float64 {
	return math.Sqrt(part*c.Share/(1-c.Share)*float64(c.Fit.Steps)) / c.Fit.NoiseMultiplier * (1 - 0x1p-48)
}

// scales returns the noise of a count, of an entry of G, and of one of C_k. One record is in one cell of each level,
// and adds a matrix of Frobenius norm at most R² to G and to each C_k.
func (c Curvature) scales() (count, gram, near float64) {
	r2 := c.Fit.RowNorm * c.Fit.RowNorm * (1 + 2*exact.OuterRounding)
	levels := math.Sqrt(float64(len(c.Fit.Levels))) * (1 + 0x1p-48)
	return levels / c.mu(countPart), r2 / c.mu(gramPart), levels * r2 / c.mu(1-countPart-gramPart)
}

// Validate returns a *privacy.ParamError if a parameter is out of range.
func (c Curvature) Validate() error {
	r2 := c.Fit.RowNorm * c.Fit.RowNorm
	count, gram, near := c.scales()
	return cmp.Or(c.Fit.Validate(), validShare(c.Share), privacy.Within(c.Fit.Records == 0, "Fit.Records",
		c.Fit.Records, "0: intervals are made of the mean of the last half of the iterates"),
		privacy.Within(c.Fit.Update.Shrink == nil, "Update.Shrink", c.Fit.Update.Shrink,
			"nil: what intervals cover has no regulariser"),
		privacy.Within(r2 >= 0x1p-400 && r2 <= 0x1p400, "RowNorm", c.Fit.RowNorm, "a number from 2^-200 to 2^200"),
		mechanism.Scales{{"Share", count}, {"Share", gram}, {"Share", near}}.Check())
}

// String describes the mechanism with its parameters.
func (c Curvature) String() string {
	count, gram, near := c.scales()
	return fmt.Sprintf("%v, and its curvature, with noise of %.4g on counts, %.4g and %.4g on matrices", c.Fit, count,
		gram, near)
}

// Describe implements mechanism.Mechanism.
func (c Curvature) Describe() mechanism.Description {
	d := c.Fit.Describe()
	d.Also, d.Bound = "with its curvature", "composition of Gaussian mechanisms, exact"
	return d
}

// Event implements mechanism.Mechanism; it is a Cost.
func (c Curvature) Event() (privacy.Event, error) { return c.Cost(), c.Validate() }

// Feasible implements mechanism.Mechanism: nothing can fail.
func (c Curvature) Feasible(int, int) error { return nil }

// Check implements mechanism.Mechanism.
func (c Curvature) Check(rows matrix.Rows, labels []float64) error {
	_, d := rows.Dims()
	return cmp.Or(c.Within(d), c.Fit.Check(rows, labels))
}

// Within returns a *privacy.ParamError for References and Nowhere that are not among d features.
func (c Curvature) Within(d int) error {
	for _, r := range c.References {
		if r.First < 0 || r.Count < 1 || r.Count > d || r.First > d-r.Count || r.Sum < 0 || r.Sum >= d ||
			r.Left < 0 || r.Left >= r.Count {
			return &privacy.ParamError{Name: "References", Value: r, Want: fmt.Sprintf("places among %d features", d)}
		}
	}
	for _, v := range c.Nowhere {
		if v.First < 0 || len(v.Weights) == 0 || v.First > d-len(v.Weights) {
			return &privacy.ParamError{Name: "Nowhere", Value: v, Want: fmt.Sprintf("over the %d features", d)}
		}
	}
	return nil
}

// Moments is what Curvature releases beside the coefficients, with what the noisy gradients of the descent say. The
// levels stand one after the other, matrices by rows.
type Moments struct {
	// Theta is the mean of the iterates of the last half, Gradient that of the noisy gradients at them: K·d.
	Theta, Gradient []float64
	// Scatter is, of each level, the root of the mean square of xᵀ(θ_t − Theta), in the mean over these t and, by G,
	// over the records.
	Scatter []float64
	// Records is the noisy number of records; Width has the h_k, and Density about the density of the residuals at 0:
	// the part of the records that h_k was chosen for, over 2h_k.
	Records        float64
	Width, Density []float64
	// Tied says of a level that about a fifth of the labels or more are within 2⁻¹² of the fit.
	Tied []bool
	// Gram is G, d×d; Near has the C_k, K·d×d.
	Gram, Near []float64
}

// CloneAlso returns a copy, for who is shown a release.
func (m *Moments) CloneAlso() any {
	out := *m
	for _, v := range []*[]float64{&out.Theta, &out.Gradient, &out.Scatter, &out.Width, &out.Density, &out.Gram,
		&out.Near} {
		*v = slices.Clone(*v)
	}
	out.Tied = slices.Clone(m.Tied)
	return &out
}

// Fits reports whether m has the lengths of so many levels and features.
func (m *Moments) Fits(levels, d int) bool {
	all := levels * d
	return levels > 0 && len(m.Theta) == all && len(m.Gradient) == all && len(m.Scatter) == levels &&
		len(m.Width) == levels && len(m.Density) == levels && len(m.Tied) == levels &&
		len(m.Gram) == d*d && len(m.Near) == all*d
}

// Run implements mechanism.Mechanism. Also is a *Moments.
func (c Curvature) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	release, err := mechanism.Begin(c, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	r, draw, workers := newPassed(rows, labels, c.Fit.RowNorm), noise.Exact(src), settings.Value().Workers
	levels, d, m := len(c.Fit.Levels), r.d, float64(c.Fit.Update.average())
	out := &Moments{Theta: make([]float64, levels*d), Gradient: make([]float64, levels*d)}
	squares := make([]*mat.SymDense, levels) // Σθ_tθ_tᵀ/m
	for k := range squares {
		squares[k] = mat.NewSymDense(d, nil)
	}
	theta := c.Fit.descend(r, draw, workers, func(k int, theta, g []float64) {
		floats.AddScaled(out.Theta[k*d:(k+1)*d], 1/m, theta)
		floats.AddScaled(out.Gradient[k*d:(k+1)*d], 1/m, g)
		squares[k].SymRankOne(squares[k], 1/m, mat.NewVecDense(d, theta))
	})
	release.Coefficients, release.NoiseScale, release.Also = theta, c.Fit.noiseScale(d), out
	ofCount, ofGram, ofNear := c.scales()

	counts := r.counts(theta, levels)
	draw.Normals(len(counts)).AddRounded(counts, ofCount, exact.Grid(ofCount))
	for k := range levels {
		n := floats.Sum(counts[k*cells : (k+1)*cells])
		out.Records += math.Max(1, n) / float64(levels)
	}
	gram := r.outers(theta, []float64{math.Inf(1)}, c.Fit.RowNorm, workers)[0]
	draw.SymmetricNormals(d).AddFrobenius(gram, ofGram)
	out.Gram = square(gram)
	least := c.known(out, d).flattest()
	for k, tau := range c.Fit.Levels {
		own := counts[k*cells : (k+1)*cells]
		part := share(tau, out.Records, 4*knownFrom*ofNear/least)
		h := window(own, part*out.Records)
		out.Width, out.Density = append(out.Width, h), append(out.Density, part/(2*h))
		out.Tied = append(out.Tied, own[0] > 0.2*out.Records+3*ofCount)
	}
	for _, near := range r.outers(theta, out.Width, c.Fit.RowNorm, workers) {
		draw.SymmetricNormals(d).AddFrobenius(near, ofNear)
		out.Near = append(out.Near, square(near)...)
	}
	for k, s := range squares {
		mean := mat.NewVecDense(d, out.Theta[k*d:(k+1)*d])
		s.SymRankOne(s, -1, mean)
		var product mat.Dense
		product.Mul(gram, s)
		out.Scatter = append(out.Scatter, math.Sqrt(math.Max(0, mat.Trace(&product)/out.Records)))
	}
	return release, nil
}

// share is which part of the records C_k is to be made of. The rule of Hall and Sheather (1988) for quantiles has twice
//
//	n^{−1/3}·z^{2/3}·(1.5φ(q)²/(2q² + 1))^{1/3},  q = Φ⁻¹(τ), z = 1.96;
//
// noise may ask for more, at most half of the records, or 1.2·min(τ, 1−τ) of them, where the density is still about
// that at the quantile.
func share(tau, records, noisy float64) float64 {
	q := math.Sqrt2 * math.Erfinv(2*tau-1)
	f := normal.Density(q)
	rule := 2 * math.Pow(1.96*1.96*1.5*f*f/(2*q*q+1)/records, 1.0/3)
	return math.Min(math.Max(rule, noisy), math.Min(0.5, 1.2*math.Min(tau, 1-tau)))
}

// window returns the h within which so many residuals are by noisy counts of |r|, taking them as even within a cell.
func window(counts []float64, want float64) float64 {
	below, lower, upper := 0.0, 0.0, math.Exp2(-firstCell)
	for _, n := range counts[:cells-1] {
		if n = math.Max(0, n); below+n >= want {
			return math.Max(lower+(want-below)/n*(upper-lower), math.Exp2(-firstCell))
		}
		below, lower, upper = below+n, upper, 2*upper
	}
	return lower
}

func square(m *mat.SymDense) []float64 {
	d := m.SymmetricDim()
	out := make([]float64, 0, d*d)
	for i := range d {
		for j := range d {
			out = append(out, m.At(i, j))
		}
	}
	return out
}

// counts returns how many |y − xᵀθ_k| are in each cell, level by level; one that is no number is in the last.
func (r *records) counts(theta []float64, levels int) []float64 {
	out, t := make([]float64, levels*cells), make([]float64, suffixBlock)
	for k := range levels {
		for lo := 0; lo < r.n; lo += suffixBlock {
			hi := min(lo+suffixBlock, r.n)
			matrix.MarginsAlone(r.rows, t[:hi-lo], theta[k*r.d:(k+1)*r.d], lo, hi)
			for i := lo; i < hi; i++ {
				cell, far := 0, math.Abs(r.labels[i]-t[i-lo])
				for edge := math.Exp2(-firstCell); cell < cells-1 && !(far <= edge); edge *= 2 {
					cell++
				}
				out[k*cells+cell]++
			}
		}
	}
	return out
}

// outers returns Σxxᵀ of the records with residuals of at most a width, level by level, rows longer than R scaled down
// to it. What a record adds is a function of it, of θ and of the widths alone.
func (r *records) outers(theta, width []float64, rowNorm float64, workers int) []*mat.SymDense {
	sums := make([]*mat.SymDense, len(width))
	parallel.Each(len(sums), workers, func(k int) {
		sum := exact.NewOuter(r.d, rowNorm*rowNorm)
		x, t, room := make([]float64, suffixBlock*r.d), make([]float64, suffixBlock), make([]float64, suffixBlock)
		var copies []float64
		for lo := 0; lo < r.n; lo += suffixBlock {
			hi, kept := min(lo+suffixBlock, r.n), 0
			rows, first := r.made(&copies, lo, hi)
			matrix.MarginsAlone(rows, t[:hi-lo], theta[k*r.d:(k+1)*r.d], first, first+hi-lo)
			weights := r.weights(room, lo, hi, rows, first)
			for i := lo; i < hi; i++ {
				if math.Abs(r.labels[i]-t[i-lo]) <= width[k] {
					row := x[kept*r.d : (kept+1)*r.d]
					rows.Row(row, first+i-lo)
					floats.Scale(math.Min(1, weights[i-lo]), row)
					kept++
				}
			}
			sum.Add(x, kept)
		}
		sums[k] = sum.Matrix()
	})
	return sums
}
