package interval

import (
	"fmt"
	"math"
	"sort"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Guess is what is expected of the curvature at the released coefficients before it is measured. It is public, or a
// function of what was released.
type Guess struct {
	// Curvature is what M should be: that of records whose columns have the shares that were released and are
	// independent. Factor is the standard deviation of the factor by which all of it may be off.
	Curvature *mat.SymDense
	Factor    float64
	// Columns are the features of each column, none left out, with how far what is within a column is off, as usual is
	// of all else; zero is that.
	Columns []Column
	// Doubts are, relative, how far the entries on its diagonal are off by what is not known of how many records have a
	// feature, a standard deviation each; nil for not at all.
	Doubts []float64
	// Scores returns ρ with V ≈ ρM, V the covariance of the sum of the scores, where the curvature of the feature
	// Constant, which all records have alike, is f times what is expected: how they spread is not in it.
	Scores   func(f float64) float64
	Constant int
	// Sizes are the standard deviations of the coefficients of the population before anything is known.
	Sizes []float64
	// Normals returns what fills a vector with standard normal numbers, always the same for k. They simulate, and are
	// no noise of a release.
	Normals func(k int) func(z []float64)
}

// Column is a run of features that are of one column, Off those of a number.
type Column struct {
	matrix.Span
	Off float64
}

const (
	// usual is how far, relative to its independent columns, the curvature of records is off before that is estimated,
	// and doubtful the standard deviation of the logarithm of this; together is usual between two numbers, of which one
	// often says much of the other.
	usual, doubtful, together = 0.15, 0.7, 0.3
)

// Intervals returns those of a level, of all of the forms.
//
// Coverage: near level where columns are not far from independent, or records are many (docs/theory/intervals.md,
// section 6).
func (l *Law) Intervals(level float64) *Intervals {
	iv := newIntervals(level, l.Centre, l.Halves(0, len(l.Centre), level), 0)
	iv.Covers, iv.Basis = l.Covers, l.Basis
	return iv
}

// About returns the law of other forms of the same coefficients, from the same draws.
//
// Errors: *privacy.ParamError for forms of another length.
func (l *Law) About(forms [][]float64) (*Law, error) {
	p, out := *l.of, *l
	p.s.Forms, p.at, p.length = forms, nil, nil
	if err := p.ask(); err != nil {
		return nil, err
	}
	out.ask(&p)
	return &out, nil
}

// ask sets the forms of p, and what is said of them.
func (l *Law) ask(p *problem) {
	l.given, l.forms = p.given, new(mat.Dense)
	l.forms.Mul(p.given, l.vectors)
	l.Centre, l.Slack = p.at, nil
	for j := range l.Centre {
		l.Centre[j] += mat.Dot(l.forms.RowView(j), l.mean)
		l.Slack = append(l.Slack, p.m.Tolerance/p.m.Lambda*p.length[j])
	}
}

// Law is about the joint law of how far linear forms of released coefficients are off: they are Centre plus a vector of
// mean 0 that is normal given the curvature, of which there are draws, up to Slack.
type Law struct {
	// Centre are the forms, of the population corrected for the ridge; Slack is what the solver may have left of them.
	Centre, Slack []float64
	// Covers and Basis are those of Intervals.
	Covers, Basis string
	// given are the forms, and forms the same in the directions in which, in draw k, the vector is moved[k] and
	// roots[k] times a standard normal one; all is its covariance.
	forms, given *mat.Dense
	moved        []*mat.VecDense
	roots        []*mat.Dense
	all          *mat.SymDense
	output       float64
	// of is the problem, vectors the directions, and mean what is to be added to the released coefficients in these.
	of      *problem
	vectors *mat.Dense
	mean    *mat.VecDense
	// drawn returns the samples of each draw, the same for all forms.
	drawn func() []sample
}

// A sample has columns of standard normal numbers, in the directions and for the output noise.
type sample struct{ z, xi *mat.Dense }

// sampled returns n of them for coefficients by what Guess.Normals fills with.
func sampled(n, directions, coefficients int, fill func(z []float64)) (all []sample) {
	for range n {
		s := sample{mat.NewDense(directions, samples/n, nil), mat.NewDense(coefficients, samples/n, nil)}
		fill(s.z.RawMatrix().Data)
		fill(s.xi.RawMatrix().Data)
		all = append(all, s)
	}
	return all
}

// Halves returns half of the width of intervals, each of which has one of the n forms from first on with the level over
// the draws.
func (l *Law) Halves(first, n int, level float64) []float64 {
	_, d := l.forms.Dims()
	at, sd := mat.NewDense(n, len(l.roots), nil), mat.NewDense(n, len(l.roots), nil)
	forms := l.forms.Slice(first, first+n, 0, d)
	for k, root := range l.roots {
		var along mat.Dense
		along.Mul(forms, root)
		at.ColView(k).(*mat.VecDense).MulVec(forms, l.moved[k])
		for i := range n {
			sd.Set(i, k, math.Hypot(floats.Norm(along.RawRowView(i), 2),
				l.output*floats.Norm(l.given.RawRowView(first+i), 2)))
		}
	}
	halves := make([]float64, n)
	for i := range halves {
		halves[i] = half(at.RawRowView(i), sd.RawRowView(i), level) + l.Slack[first+i]
	}
	return halves
}

// half returns the h with P(|X| > h) = 1 − level for X that is as often normal about each of at with its sd. What is
// outside falls with h; Newton's method for its logarithm takes few steps.
func half(at, sd []float64, level float64) float64 {
	want, far := (1-level)*float64(len(sd)), 0.0
	for k, s := range sd {
		far = math.Max(far, math.Abs(at[k])+10*s)
	}
	lo, hi, h := 0.0, far, far/5
	for range 100 {
		outside, density := 0.0, 0.0
		for k, s := range sd {
			for _, z := range [...]float64{(h - at[k]) / s, (h + at[k]) / s} {
				outside += normal.Survival(z)
				density += normal.Density(z) / s
			}
		}
		if outside <= want {
			hi = h
		} else {
			lo = h
		}
		step := math.Log(outside/want) * outside / density
		if math.Abs(step) <= 1e-9*h || hi-lo <= 1e-9*hi {
			break
		}
		if h += step; !(lo < h && h < hi) {
			h = univariate.Arithmetic(lo, hi)
		}
	}
	return h * (1 + 1e-9)
}

// samples are those of a maximum, of which HalvesAtOnce takes a quantile: its level is off by 0.0024 at 0.95, a
// standard error. Each draw of the curvature has an equal part of them.
const samples = 8192

// HalvesAtOnce returns half-widths of n intervals, of the forms from first on that count, all of them c standard
// deviations, that have all of these forms at once with the level, over the draws and the samples by which c is found:
// bands that cover a curve everywhere. A form without variance does not count, nor one that counts says not to.
//
// Proof: docs/theory/curves.md#dpnb-bands.
func (l *Law) HalvesAtOnce(first, n int, counts func(k int) bool, level float64) []float64 {
	sd := make([]float64, n)
	for k := range n {
		a, out := l.forms.RowView(first+k), l.output*floats.Norm(l.given.RawRowView(first+k), 2)
		sd[k] = math.Sqrt(math.Max(0, mat.Inner(a, l.all, a)) + out*out)
	}
	top := floats.Max(sd)
	_, d := l.forms.Dims()
	_, wide := l.given.Dims()
	forms, given := mat.NewDense(n, d, nil), mat.NewDense(n, wide, nil)
	for k, s := range sd {
		if s > 1e-9*top && counts(k) {
			forms.RowView(k).(*mat.VecDense).ScaleVec(1/s, l.forms.RowView(first+k))
			given.RowView(k).(*mat.VecDense).ScaleVec(l.output/s, l.given.RowView(first+k))
		}
	}
	var largest []float64
	drawn := l.drawn()
	for k, root := range l.roots {
		var by, off, out mat.Dense
		var at mat.VecDense
		by.Mul(forms, root)
		off.Mul(&by, drawn[k].z)
		out.Mul(given, drawn[k].xi)
		at.MulVec(forms, l.moved[k])
		most := make([]float64, samples/len(l.roots))
		for i := range n {
			for j, v := range off.RawRowView(i) {
				most[j] = math.Max(most[j], math.Abs(at.AtVec(i)+v+out.At(i, j)))
			}
		}
		largest = append(largest, most...)
	}
	sort.Float64s(largest)
	c, halves := math.Inf(1), make([]float64, n)
	if at := int(math.Ceil(level * float64(len(largest)+1))); at <= len(largest) { // of one more, exchangeable
		c = largest[at-1]
	}
	for k, s := range sd {
		if halves[k] = l.Slack[first+k]; s > 0 {
			halves[k] += c * s
		}
	}
	return halves
}

// Covariance returns that of n forms from one on.
func (l *Law) Covariance(first, n int) *mat.SymDense {
	part := func(of *mat.Dense) *mat.Dense {
		_, d := of.Dims()
		return mat.DenseCopyOf(of.Slice(first, first+n, 0, d).T())
	}
	var output mat.SymDense
	output.SymOuterK(l.output*l.output, part(l.given).T())
	out := within(l.all, part(l.forms))
	out.AddSym(out, &output)
	return out
}

// LikelyLaw is the approximate law with a curvature M̃ that was released with noise, without the worst case over all
// that the noise may hide: M̃ is drawn towards what is expected of it, as far as the noise says, and what that leaves
// unknown is counted. Of the population (true) or of the same fit without noise. Of the population M is drawn from what
// is known of it, and given M
//
//	(M + Λ)θ̃ = Mθ⋆ − b − g,   b ~ N(0, σ²I),   g ~ N(0, ρM),   θ⋆ⱼ ~ N(0, Sizesⱼ²) beforehand
//
// and the law is that of all draws together. Of the same fit θ̂ = θ̃ + (M + Λ)⁻¹b, to first order. The forms are those
// of s, whose Level is not used. Moments of nil were not released: the curvature is then taken for what is expected of
// it, and that it may be off counts as more noise; there is no law for the population.
//
// Errors: as Minimiser.
func LikelyLaw(m objpert.Objective, theta []float64, mo *Moments, g Guess, population bool, s Settings) (*Law,
	error) {
	s.Linearise = true
	if g.Curvature == nil || g.Curvature.SymmetricDim() != len(theta) || g.Scores == nil || g.Normals == nil ||
		len(g.Sizes) != len(theta) || !(floats.Min(g.Sizes) > 0) {
		return nil, &privacy.ParamError{Name: "Guess", Value: "an incomplete one",
			Want: "the curvature that is expected, of as many coefficients, its scores, positive Sizes and Normals"}
	}
	measured := mo != nil
	if !measured && !population {
		mo = &Moments{Hessian: g.Curvature, HessianSigma: math.Inf(1)}
	}
	p, err := newProblem(m, theta, mo, s, false)
	if err != nil {
		return nil, err
	}
	c, err := p.estimate(g)
	if err != nil {
		return nil, err
	}
	l := &Law{of: p, vectors: c.vectors, output: m.OutputSigma, Covers: minimiserCovers, Basis: basisLikely}
	if population {
		l.population(c, p, g)
	} else {
		l.sameFit(c, p, g, !measured)
	}
	if err := l.centred(p.d); err != nil {
		return nil, err
	}
	l.drawn = sync.OnceValue(func() []sample { return sampled(len(l.roots), p.d, len(theta), g.Normals(0)) })
	l.ask(p)
	if population {
		l.Covers = populationCovers
	}
	if !measured {
		l.Basis = basisExpected
	}
	return l, nil
}

// draws says how many there are: about as many as take a second, between 32 and 512.
func draws(d int) int { return min(512, max(32, 64*100*100/(d*d))) }

// population fills l with draws of M and what follows from each; a root is nil where M has no eigenvalues.
func (l *Law) population(c estimate, p *problem, g Guess) {
	n := draws(p.d)
	at, pull := mat.NewVecDense(p.d, nil), mat.NewVecDense(p.d, nil)
	at.MulVec(c.vectors.T(), mat.NewVecDense(len(p.theta), p.theta))
	pull.MulVec(c.vectors.T(), mat.NewVecDense(len(p.theta), p.pull()))
	rho, before := p.sampling(g), mat.NewSymDense(p.d, nil)
	for j, size := range g.Sizes {
		before.SymRankOne(before, 1/(size*size), c.vectors.RowView(j))
	}
	l.moved, l.roots = make([]*mat.VecDense, n), make([]*mat.Dense, n)
	parallel.Each(n, 0, func(k int) {
		if values, vectors, ok := matrix.Eigen(c.draw(g.Normals(k + 1))); ok {
			l.moved[k], l.roots[k] = given(values, vectors, before, at, pull, p.m.Sigma, rho)
		}
	})
}

// centred sets the mean of the draws, takes it from each, and sets their covariance, in d directions.
func (l *Law) centred(d int) error {
	n, mean := len(l.roots), mat.NewVecDense(d, nil)
	l.all = mat.NewSymDense(d, nil)
	for k, root := range l.roots {
		if root == nil {
			return &privacy.ParamError{Name: "Moments.Hessian", Value: "a matrix without eigenvalues",
				Want: "finite entries"}
		}
		mean.AddScaledVec(mean, 1/float64(n), l.moved[k])
		var own mat.SymDense
		own.SymOuterK(1/float64(n), root)
		l.all.AddSym(l.all, &own)
	}
	for _, moved := range l.moved {
		moved.SubVec(moved, mean)
		l.all.SymRankOne(l.all, 1/float64(n), moved)
	}
	l.mean = mean
	return nil
}

// sameFit fills l with one normal law, to first order in what is not known of K: K̂(θ̂ − θ̃) is b + E′δ with Kδ = b, of
// variance σ² and E(hᵀE′δ)². A whole that is off is off by g.Factor, too. The root is nil where K̂ has no inverse.
func (l *Law) sameFit(c estimate, p *problem, g Guess, off bool) {
	l.moved, l.roots = []*mat.VecDense{mat.NewVecDense(p.d, nil)}, make([]*mat.Dense, 1)
	var k mat.SymDense
	var root mat.Cholesky
	k.AddSym(c.curvature, within(p.penalty(), c.vectors))
	inverse := mat.NewSymDense(p.d, nil)
	if !root.Factorize(&k) {
		return
	}
	if err := root.InverseTo(inverse); err != nil && math.IsInf(float64(err.(mat.Condition)), 1) {
		return
	}
	far := mat.NewSymDense(p.d, nil) // E δδᵀ
	far.SymOuterK(p.m.Sigma*p.m.Sigma, inverse)
	all := c.unknown(far)
	if off {
		whole := within(far, mat.DenseCopyOf(c.curvature))
		whole.ScaleSym(g.Factor*g.Factor, whole)
		all.AddSym(all, whole)
	}
	for i := range p.d {
		all.SetSym(i, i, all.At(i, i)+p.m.Sigma*p.m.Sigma)
	}
	if !root.Factorize(all) {
		return
	}
	var lower mat.TriDense
	root.LTo(&lower)
	l.roots[0] = new(mat.Dense)
	l.roots[0].Mul(inverse, &lower)
}

// draw returns a curvature from what is known of it.
func (c *estimate) draw(normals func(z []float64)) *mat.SymDense {
	d := c.curvature.SymmetricDim()
	m, z := mat.NewSymDense(d, nil), make([]float64, d)
	for i := range d {
		normals(z)
		for j := i; j < d; j++ {
			v := c.variance.At(i, j)
			if i != j {
				v /= 2
			}
			m.SetSym(i, j, c.curvature.At(i, j)+math.Sqrt(v)*z[j])
		}
	}
	return m
}

// given returns the mean of θ⋆ − θ̃ and a root of the covariance of θ⋆ given M, of which values are the eigenvalues:
// along an eigenvector of value v, Mθ⋆ is known up to the variance w = σ² + ρv, and before is what was known of θ⋆
// beforehand, the inverse of a covariance. Nil for a matrix that is not positive.
func given(values []float64, vectors *mat.Dense, before mat.Symmetric, at, pull *mat.VecDense, sigma, rho float64) (
	*mat.VecDense, *mat.Dense) {
	var pulled, moved mat.VecDense
	pulled.MulVec(vectors.T(), pull)
	for i, v := range values {
		v = math.Max(0, v)
		w := sigma*sigma + rho*v
		values[i] = v * v / w
		pulled.SetVec(i, v/w*pulled.AtVec(i))
	}
	var known mat.SymDense
	known.SymOuterK(1, composed(vectors, values))
	known.AddSym(&known, before)
	var factor mat.Cholesky
	if !factor.Factorize(&known) {
		return nil, nil
	}
	var lower, inverse mat.TriDense
	factor.LTo(&lower)
	if err := inverse.InverseTri(&lower); err != nil && math.IsInf(float64(err.(mat.Condition)), 1) {
		return nil, nil
	}
	root := mat.DenseCopyOf(inverse.T())
	moved.MulVec(vectors, &pulled)
	var prior mat.VecDense
	prior.MulVec(before, at)
	moved.SubVec(&moved, &prior)
	moved.MulVec(&inverse, &moved)
	moved.MulVec(root, &moved)
	return &moved, root
}

// composed returns V·√diag(values), of values that are not negative.
func composed(vectors *mat.Dense, values []float64) *mat.Dense {
	var out mat.Dense
	out.Apply(func(_, j int, v float64) float64 { return v * math.Sqrt(values[j]) }, vectors)
	return &out
}

const (
	basisLikely = "the curvature that was released with noise, shrunk towards that of independent columns as far as " +
		"its noise asks for (approximate: docs/theory/intervals.md, section 6)"
	basisExpected = "the curvature of independent columns with the shares that were released, with allowance for how " +
		"far it may be off (approximate: docs/theory/curves.md)"
)

// estimate is M̂ with what is not known of it, in the directions of the columns.
type estimate struct {
	// factor is that of what was expected.
	factor float64
	// vectors are orthonormal, each of one column's features, that of what is expected of the curvature within it.
	vectors   *mat.Dense
	curvature *mat.SymDense
	// variance has the variances q_ij of the entries of E′, of which those beside the diagonal have half.
	variance *mat.SymDense
}

// estimate draws M̃ towards what is expected, A. In the eigenvectors of A's blocks, of which the values are m, the
// curvature is taken as
//
//	M = A + √m·Z·√m,   Z symmetric, N(0, τ²) on the diagonal and N(0, τ²/2) beside it,
//
// as the noise is with τ² = σ²/(mᵢmⱼ); τ, one for each column that is Off, one between the main directions of two of
// these and one for all else, is the likeliest.
func (p *problem) estimate(g Guess) (estimate, error) {
	var c estimate
	values, column, err := c.directions(p, g)
	if err != nil {
		return c, err
	}
	expected, z := within(g.Curvature, c.vectors), within(p.mo.Hessian, c.vectors)
	c.factor = p.factor(expected, z, g.Factor)
	c.curvature, c.variance = z, mat.NewSymDense(p.d, nil)
	scale := func(i, j int) float64 { return math.Sqrt(c.factor * values[i] * c.factor * values[j]) }
	main := func(i int) bool { return g.Columns[column[i]].Off > 0 && (i+1 == p.d || column[i+1] != column[i]) }
	const others, numbers = -1, -2
	entries := map[int][]entry{} // by column, or one of these
	for i := range p.d {
		for j := i; j < p.d; j++ {
			of := others
			if column[i] == column[j] && g.Columns[column[i]].Off > 0 {
				of = column[i]
			} else if i != j && main(i) && main(j) {
				of = numbers
			}
			by := scale(i, j)
			entries[of] = append(entries[of], entry{i, j, (z.At(i, j) - c.factor*expected.At(i, j)) / by,
				math.Pow(p.mo.HessianSigma/by, 2), c.doubted(g, i, j) / math.Sqrt(values[i]*values[j])})
		}
	}
	for of, all := range entries {
		off := usual
		if of == numbers {
			off = together
		} else if of != others {
			off = g.Columns[of].Off
		}
		t := off * off
		if !math.IsInf(p.mo.HessianSigma, 1) {
			t = spread(all, off)
		}
		for _, e := range all {
			own := e.own(t)
			w, by := own/(own+e.noise), scale(e.i, e.j)
			a := c.factor * expected.At(e.i, e.j) / by
			z.SetSym(e.i, e.j, a+w*e.z)
			c.variance.SetSym(e.i, e.j, own*(1-w))
		}
	}
	c.floor()
	for i := range p.d {
		for j := i; j < p.d; j++ {
			by := scale(i, j)
			z.SetSym(i, j, by*z.At(i, j))
			c.variance.SetSym(i, j, by*by*c.variance.At(i, j))
		}
	}
	return c, nil
}

// directions sets the vectors, and returns what is expected of the curvature along each, at least that of
// a record, and the column of each.
func (c *estimate) directions(p *problem, g Guess) (values []float64, column []int, err error) {
	d := len(p.theta)
	c.vectors = mat.NewDense(d, p.d, nil)
	k := 0
	for of, span := range g.Columns {
		own := mat.NewDense(d, span.Len, nil) // orthonormal where the column has anything
		for j := range span.Len {
			own.Set(span.First+j, j, 1)
		}
		if p.s.Basis != nil {
			var inside mat.Dense
			inside.Mul(p.s.Basis.T(), own)
			lengths, vectors, _ := matrix.Eigen(within(unit(p.d), &inside))
			own = columns(own, vectors, lengths, 0.5)
		}
		if own == nil {
			continue
		}
		lengths, vectors, ok := matrix.Eigen(within(g.Curvature, own))
		if !ok {
			break
		}
		own = columns(own, vectors, lengths, math.Inf(-1))
		for j, v := range lengths {
			if k < p.d {
				c.vectors.SetCol(k, mat.Col(nil, j, own))
				values, column = append(values, math.Max(v, p.m.Smoothness())), append(column, of)
			}
			k++
		}
	}
	if k != p.d {
		return nil, nil, &privacy.ParamError{Name: "Guess.Columns", Value: g.Columns,
			Want: fmt.Sprintf("all of the features, with %d directions", p.d)}
	}
	return values, column, nil
}

// unit is the identity.
func unit(d int) *mat.SymDense {
	m := mat.NewSymDense(d, nil)
	for i := range d {
		m.SetSym(i, i, 1)
	}
	return m
}

// columns returns those columns of a·b whose value is more than least, nil for none.
func columns(a, b *mat.Dense, values []float64, least float64) *mat.Dense {
	first := sort.SearchFloat64s(values, least) // they rise
	if first == len(values) {
		return nil
	}
	var out mat.Dense
	n, _ := b.Dims()
	out.Mul(a, b.Slice(0, n, first, len(values)))
	return &out
}

// entry of Z with its noise, of which it has the variance on the diagonal, and the standard deviation of what Doubts
// leave open of it.
type entry struct {
	i, j            int
	z, noise, doubt float64
}

// own is the variance of an entry beside its noise, were it on the diagonal.
func (e entry) own(t float64) float64 {
	if e.i != e.j {
		return t + 2*e.doubt*e.doubt
	}
	return t + e.doubt*e.doubt
}

// doubted is the standard deviation of an entry of the expected curvature by g.Doubts.
func (c *estimate) doubted(g Guess, i, j int) float64 {
	var square float64
	for k, by := range g.Doubts {
		square += math.Pow(c.vectors.At(k, i)*c.vectors.At(k, j)*by*g.Curvature.At(k, k), 2)
	}
	return math.Sqrt(square)
}

// factor returns the factor of the expected curvature a that suits m, towards 1.
func (p *problem) factor(a, m *mat.SymDense, prior float64) float64 {
	var along, square float64
	for i := range p.d {
		for j := range p.d {
			along += a.At(i, j) * m.At(i, j)
			square += a.At(i, j) * a.At(i, j)
		}
	}
	// Beside the noise, a tenth for what is not of independent columns.
	v := p.mo.HessianSigma*p.mo.HessianSigma/square + 1e-4
	return math.Max(0.1, 1+(along/square-1)*prior*prior/(prior*prior+v))
}

// sampling returns ρ, the mean of what g has for the factors of the constant that the noise leaves.
func (p *problem) sampling(g Guess) float64 {
	const points = 9
	expected := g.Curvature.At(g.Constant, g.Constant)
	noise := p.mo.HessianSigma / expected
	drawn := g.Factor * g.Factor / (g.Factor*g.Factor + noise*noise)
	f := 1 + drawn*(p.mo.Hessian.At(g.Constant, g.Constant)/expected-1)
	mean := 0.0
	for k := range points {
		z := math.Sqrt2 * math.Erfinv((2*float64(k)+1)/points-1)
		mean += g.Scores(math.Max(0.1, f+math.Sqrt(drawn)*noise*z)) / points
	}
	return mean
}

// spread returns the likeliest τ² of entries, of which off is the usual τ.
func spread(entries []entry, off float64) float64 {
	best, most := 0.0, math.Inf(-1)
	for k := range 76 {
		t := 0.01 * math.Pow(10, float64(k)/30)
		l := -0.5 * math.Pow(math.Log(t/off)/doubtful, 2)
		for _, e := range entries {
			v := e.own(t*t) + e.noise
			if e.i != e.j {
				v /= 2
			}
			l -= 0.5 * (math.Log(v) + e.z*e.z/v)
		}
		if l > most {
			best, most = t, l
		}
	}
	return best * best
}

// floor leaves the scaled M̂ no eigenvalue below the standard deviation with which it is known.
func (c *estimate) floor() {
	z := c.curvature
	d := z.SymmetricDim()
	values, vectors, ok := matrix.Eigen(z)
	if !ok {
		return
	}
	for k, v := range values {
		var q float64
		for i := range d {
			for j := range d {
				q += c.variance.At(i, j) * math.Pow(vectors.At(i, k)*vectors.At(j, k), 2)
			}
		}
		if least := math.Max(1e-3, math.Sqrt(q)); v < least {
			z.SymRankOne(z, least-v, vectors.ColView(k))
		}
	}
}

// unknown returns the covariance of E′δ for δ with E δδᵀ = far.
func (c *estimate) unknown(far *mat.SymDense) *mat.SymDense {
	d := far.SymmetricDim()
	out := mat.NewSymDense(d, nil)
	for i := range d {
		var sum float64
		for j := range d {
			sum += c.variance.At(i, j) * far.At(j, j)
		}
		for j := i; j < d; j++ {
			v := c.variance.At(i, j) * far.At(i, j)
			if i == j {
				v += sum
			}
			out.SetSym(i, j, 0.5*v)
		}
	}
	return out
}

// penalty returns Λ.
func (p *problem) penalty() *mat.SymDense {
	d := len(p.theta)
	out := mat.NewSymDense(d, nil)
	if q := p.m.Quadratic(d); q != nil {
		out.CopySym(q)
	}
	for j, r := range p.m.Ridges(d) {
		out.SetSym(j, j, out.At(j, j)+r)
	}
	return out
}
