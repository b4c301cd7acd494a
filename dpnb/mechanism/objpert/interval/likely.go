package interval

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

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
	// Scores returns ρ with V ≈ ρM, V the covariance of the sum of the scores, where the factor is f.
	Scores func(f float64) float64
}

// Column is a run of features that are of one column.
type Column struct {
	matrix.Span
	Off float64
}

const (
	// usual is how far, relative to its independent columns, the curvature of records is off before that is estimated,
	// and doubtful the standard deviation of the logarithm of this.
	usual, doubtful = 0.15, 0.7
	// largest is the standard deviation of a coefficient of the population, of rows of norm 1, where nothing is known
	// of any.
	largest = 10
)

// Likely returns approximate intervals with a curvature M̃ that was released with noise, without the worst case over
// all that the noise may hide: M̃ is drawn towards what is expected of it, as far as the noise says, and what that
// leaves unknown is counted as more noise. Of the population (true) or of the same fit without noise.
//
// With E′ = M̂ − M of mean 0 and K = M, or M + Λ of the same fit,
//
//	aᵀ(θ⋆ − θ̃ − K̂⁻¹Λθ̃) = hᵀ(b + g + E′δ),   h = K̂⁻¹a,   Kδ = Λθ̃ + b + g
//
// (of the same fit without Λθ̃ and g), whose variance is hᵀ(σ²I + ρM̂)h + E(hᵀE′δ)².
//
// Coverage: near Level where columns are not far from independent, or records are many (docs/theory/intervals.md,
// section 6).
// Errors: as Minimiser.
func Likely(m objpert.Objective, theta []float64, mo *Moments, g Guess, population bool, s Settings) (*Intervals,
	error) {
	l, err := LikelyLaw(m, theta, mo, g, population, s)
	if err != nil {
		return nil, err
	}
	half := make([]float64, len(l.Centre))
	for j := range half {
		half[j] = l.Half(j, twoSided(1-s.Level))
	}
	iv := newIntervals(s.Level, l.Centre, half, 0)
	iv.Covers, iv.Basis = l.Covers, l.Basis
	return iv, nil
}

// Law is about the joint law of how far linear forms of released coefficients are off: they are Centre plus a normal
// vector, up to Slack.
type Law struct {
	// Centre are the forms, of the population corrected for the ridge; Slack is what the solver may have left of them.
	Centre, Slack []float64
	// Covers and Basis are those of Intervals.
	Covers, Basis string
	// h has the rows K̂⁻¹a, and all is the covariance of what they are multiplied with; given are the forms.
	h, given *mat.Dense
	all      *mat.SymDense
	output   float64
}

// Half returns half of the width of an interval for form j that reaches z standard deviations to each side.
func (l *Law) Half(j int, z float64) float64 {
	h := l.h.RowView(j)
	out := l.output * floats.Norm(l.given.RawRowView(j), 2)
	return z*math.Sqrt(math.Max(0, mat.Inner(h, l.all, h))+out*out) + l.Slack[j]
}

// Covariance returns that of n forms from one on.
func (l *Law) Covariance(first, n int) *mat.SymDense {
	part := func(of *mat.Dense) *mat.Dense {
		_, d := of.Dims()
		return mat.DenseCopyOf(of.Slice(first, first+n, 0, d).T())
	}
	var output mat.SymDense
	output.SymOuterK(l.output*l.output, part(l.given).T())
	out := within(l.all, part(l.h))
	out.AddSym(out, &output)
	return out
}

// LikelyLaw is the law by which Likely has intervals, of the forms of s, whose Level it does not use. Moments of nil
// were not released: the curvature is then taken for what is expected of it, and that it may be off counts as more
// noise; there is no law for the population.
//
// Errors: as Likely.
func LikelyLaw(m objpert.Objective, theta []float64, mo *Moments, g Guess, population bool, s Settings) (*Law,
	error) {
	s.Linearise = true
	if g.Curvature == nil || g.Curvature.SymmetricDim() != len(theta) || g.Scores == nil {
		return nil, &privacy.ParamError{Name: "Guess", Value: "a matrix of another size",
			Want: "the curvature that is expected, and its scores"}
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
	ridge := mat.NewVecDense(p.d, nil)
	k, noise := mat.NewSymDense(p.d, nil), mat.NewSymDense(p.d, nil)
	k.CopySym(c.curvature)
	if population {
		rho := g.Scores(c.factor)
		noise.ScaleSym(rho, c.curvature)
		ridge.MulVec(c.vectors.T(), mat.NewVecDense(len(theta), p.pull()))
		var at mat.VecDense
		at.MulVec(c.vectors.T(), mat.NewVecDense(len(theta), theta))
		size := sizeOf(c.curvature, &at, ridge, m.Sigma*m.Sigma, rho)
		ridge.AddScaledVec(ridge, -1/(size*size), &at)
		for i := range p.d {
			k.SetSym(i, i, k.At(i, i)+1/(size*size))
			noise.SetSym(i, i, noise.At(i, i)+1/(size*size))
		}
	} else {
		k.AddSym(k, within(p.penalty(), c.vectors))
	}
	for i := range p.d {
		noise.SetSym(i, i, noise.At(i, i)+m.Sigma*m.Sigma)
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		return nil, &privacy.ParamError{Name: "Moments.Hessian", Value: "a matrix without eigenvalues",
			Want: "finite entries"}
	}
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil && math.IsInf(float64(err.(mat.Condition)), 1) {
		return nil, err
	}
	var moved mat.VecDense
	moved.MulVec(&inverse, ridge)
	far := within(noise, mat.DenseCopyOf(&inverse)) // E δδᵀ
	far.SymRankOne(far, 1, &moved)
	all := c.unknown(far)
	if !measured {
		off := within(far, mat.DenseCopyOf(c.curvature))
		off.ScaleSym(g.Factor*g.Factor, off)
		all.AddSym(all, off)
	}
	all.AddSym(all, noise)
	l := &Law{Centre: append([]float64(nil), p.at...), h: new(mat.Dense), given: p.given, all: all,
		output: m.OutputSigma, Covers: minimiserCovers, Basis: basisLikely}
	l.h.Mul(c.forms, &inverse)
	for j := range l.Centre {
		l.Centre[j] += mat.Dot(l.h.RowView(j), ridge)
		l.Slack = append(l.Slack, m.Tolerance/m.Lambda*p.length[j])
	}
	if population {
		l.Covers = populationCovers
	}
	if !measured {
		l.Basis = basisExpected
	}
	return l, nil
}

// sizeOf returns the standard deviation of a coefficient of the population where nothing is known of it, by those of
// which something is. In the eigenvectors of M, where it is v,
//
//	Mθ̃ + Λθ̃ = Mθ⋆ − b − g  is  N(0, s²v² + σ² + ρv)  for θ⋆ of N(0, s²),
//
// and the size is the largest s, at most largest, of which the logarithm of the likelihood is less than that of the
// likeliest by 1.92 at most: the upper end of an interval of 95 %.
func sizeOf(m *mat.SymDense, at, pull *mat.VecDense, variance, rho float64) float64 {
	const steps = 60 // down to a thousandth of largest
	values, vectors, ok := eigen(m)
	if !ok {
		return largest
	}
	var y, along mat.VecDense
	y.MulVec(m, at)
	y.AddVec(&y, pull)
	along.MulVec(vectors.T(), &y)
	size := func(k int) float64 { return largest * math.Pow(10, float64(k-steps)/20) }
	var likely [steps + 1]float64
	for k := range likely {
		for i, v := range values {
			w := size(k)*size(k)*v*v + variance + rho*math.Max(0, v)
			likely[k] -= 0.5 * (math.Log(w) + along.AtVec(i)*along.AtVec(i)/w)
		}
	}
	k, most := steps, slices.Max(likely[:])
	for likely[k] < most-1.92 {
		k--
	}
	return size(k)
}

const (
	basisLikely = "the curvature that was released with noise, drawn towards that of independent columns as far as " +
		"the noise says (approximate: docs/theory/intervals.md, section 6)"
	basisExpected = "the curvature of independent columns with the shares that were released, with allowance for how " +
		"far it may be off (approximate: docs/theory/curves.md)"
)

// estimate is M̂ with what is not known of it, in the directions of the columns.
type estimate struct {
	// factor is that of what was expected.
	factor float64
	// vectors are orthonormal, each of one column's features, that of what is expected of the curvature within it;
	// forms are those that are asked for, in these.
	vectors, forms *mat.Dense
	curvature      *mat.SymDense
	// variance has the variances q_ij of the entries of E′, of which those beside the diagonal have half.
	variance *mat.SymDense
}

// estimate draws M̃ towards what is expected, A. In the eigenvectors of A's blocks, of which the values are m, the
// curvature is taken as
//
//	M = A + √m·Z·√m,   Z symmetric, N(0, τ²) on the diagonal and N(0, τ²/2) beside it,
//
// as the noise is with τ² = σ²/(mᵢmⱼ); τ, one for each column that is Off and one for all else, is the likeliest.
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
	entries := map[int][]entry{} // by column, or −1
	for i := range p.d {
		for j := i; j < p.d; j++ {
			of := -1
			if column[i] == column[j] && g.Columns[column[i]].Off > 0 {
				of = column[i]
			}
			by := scale(i, j)
			entries[of] = append(entries[of], entry{i, j, (z.At(i, j) - c.factor*expected.At(i, j)) / by,
				math.Pow(p.mo.HessianSigma/by, 2)})
		}
	}
	for of, all := range entries {
		off := usual
		if of >= 0 {
			off = g.Columns[of].Off
		}
		t := off * off
		if !math.IsInf(p.mo.HessianSigma, 1) {
			t = spread(all, off)
		}
		for _, e := range all {
			w, by := t/(t+e.noise), scale(e.i, e.j)
			a := c.factor * expected.At(e.i, e.j) / by
			z.SetSym(e.i, e.j, a+w*e.z)
			c.variance.SetSym(e.i, e.j, t*(1-w))
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

// directions sets the vectors and the forms, and returns what is expected of the curvature along each, at least that of
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
			lengths, vectors, _ := eigen(within(unit(p.d), &inside))
			own = columns(own, vectors, lengths, 0.5)
		}
		if own == nil {
			continue
		}
		lengths, vectors, ok := eigen(within(g.Curvature, own))
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
	c.forms = new(mat.Dense)
	c.forms.Mul(p.given, c.vectors)
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

// entry of Z with its noise, of which it has the variance on the diagonal.
type entry struct {
	i, j     int
	z, noise float64
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

// spread returns the likeliest τ² of entries, of which off is the usual τ.
func spread(entries []entry, off float64) float64 {
	best, most := 0.0, math.Inf(-1)
	for k := range 76 {
		t := 0.01 * math.Pow(10, float64(k)/30)
		l := -0.5 * math.Pow(math.Log(t/off)/doubtful, 2)
		for _, e := range entries {
			v := t*t + e.noise
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
	values, vectors, ok := eigen(z)
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
