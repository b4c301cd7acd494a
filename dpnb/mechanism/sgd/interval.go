package sgd

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Around has what is known of coefficients: centres, and the half widths of intervals about them, infinite where
// nothing is, and 0 of the first feature of a Reference. The levels stand one after the other.
type Around struct {
	Centre, Half []float64
	// Why says of each level why its intervals are infinite; "" where they are not.
	Why []string
}

const (
	// knownFrom is from how many times the noise of an entry of C_k on an eigenvalue of it is taken for known, and
	// lessBy by how much it may be less.
	knownFrom, lessBy = 3, 1
	// farthest is how far, in widths h_k, fits may be from each other in the mean square of a prediction for one
	// curvature to serve them all.
	farthest = 1
)

// Around returns intervals of a level such as 0.95, each by itself, from what was released: with H = C_k/(2h_k) and the
// means ḡ and θ̄ of noisy gradients and of where they were taken,
//
//	θ̄ − H⁻¹ḡ ± (z·√(H⁻¹VH⁻¹ + what the noise of H does to H⁻¹ḡ) + a bound on a bias),
//
// V the covariance of the mean of the noise, with τ(1−τ)G for the coefficients of the population that the records were
// drawn from; else, for the descent's on the same records without noise, with that of how far the gradient of finitely
// many records is from a linear function. The bias is what a density of the residuals does that is log-concave but not
// even.
//
// forms are the linear forms of the coefficients of a level that they are for, zero along Nowhere; nil is each
// coefficient.
//
// Coverage: at least the level in the limit of many records, whose labels have a density at the quantile. Errors:
// *privacy.ParamError for a level that is none.
// Proof: docs/theory/quantile_intervals.md#dpnb-quantile-intervals.
func (c Curvature) Around(released *Moments, level float64, population bool, forms [][]float64) (*Around, error) {
	if err := privacy.Within(level > 0 && level < 1, "Level", level,
		"a probability in (0, 1), for example 0.95"); err != nil {
		return nil, err
	}
	levels := len(c.Fit.Levels)
	d := len(released.Theta) / levels
	m := c.known(released, d)
	a := &Around{Why: make([]string, levels)}
	for k := range levels {
		if forms != nil {
			inside := make([][]float64, len(forms))
			for i, f := range forms {
				inside[i] = m.inside(f)
			}
			centre, half, why := c.around(m, k, level, population, inside)
			a.Centre, a.Half, a.Why[k] = append(a.Centre, centre...), append(a.Half, half...), why
			continue
		}
		each := make([][]float64, len(m.kept))
		for i, j := range m.kept {
			unit := make([]float64, d)
			unit[j] = 1
			each[i] = m.inside(unit)
		}
		centre, half, why := c.around(m, k, level, population, each)
		all := make([]float64, 2*d)
		for i, j := range m.kept {
			all[j], all[d+j] = centre[i], half[i]
		}
		a.Centre, a.Half, a.Why[k] = append(a.Centre, all[:d]...), append(a.Half, all[d:]...), why
	}
	return a, nil
}

// around is Around of one level. why says why there is no end to its intervals.
func (c Curvature) around(m knownMoments, k int, level float64, population bool, forms [][]float64) (centre,
	half []float64, why string) {
	d, tau, h := m.size(), c.Fit.Levels[k], m.Width[k]
	theta := m.Theta[k*d : (k+1)*d]
	centre, half = make([]float64, len(forms)), make([]float64, len(forms))
	for j, f := range forms {
		centre[j] = floats.Dot(f, theta)
	}
	none := func(why string) ([]float64, []float64, string) {
		floats.AddConst(math.Inf(1), half)
		return centre, half, why
	}
	if m.Tied[k] {
		return none("many targets are equal, or nearly, to the fit: there is no density")
	}
	values, vectors, ok := matrix.Eigen(mat.NewSymDense(d, m.Near[k*d*d:(k+1)*d*d]))
	if !ok {
		return none("the curvature has no eigenvalues")
	}
	gram, levels := mat.NewSymDense(d, m.Gram), len(c.Fit.Levels)
	last := c.Fit.sigmaAt(c.Fit.Update, c.Fit.Steps-1) *
		floats.Norm(c.Fit.shape(m.features).root[k*levels:(k+1)*levels], 2)
	variance := mat.NewSymDense(d, nil) // V
	if population {
		variance.ScaleSym(tau*(1-tau), gram)
	}
	for j := range d {
		variance.SetSym(j, j, math.Max(0, variance.At(j, j))+last*last/float64(c.Fit.Update.average()))
	}
	// b = H⁻¹ḡ is how far the descent has stopped from where its gradients point; distance bounds the square of how far
	// it is from what is covered.
	_, _, noise := c.scales()
	b, distance := mat.NewVecDense(d, nil), 0.0
	wide, lost, unknown := mat.NewSymDense(d, nil), make([]float64, len(forms)), 0
	for l, value := range values {
		u := vectors.ColView(l)
		// Noise that raises an eigenvalue by chance must not let it pass: G says what to expect.
		if !(value > knownFrom*noise && 2*h*m.Density[k]*mat.Inner(u, gram, u) > 0.5*knownFrom*noise) {
			unknown++
			distance += 4 * c.Fit.Update.Within() * c.Fit.Update.Within()
			for j := range lost {
				lost[j] += 2 * c.Fit.Update.Within() * math.Abs(mat.Dot(u, mat.NewVecDense(d, forms[j])))
			}
			continue
		}
		along, at := mat.Dot(u, mat.NewVecDense(d, m.Gradient[k*d:(k+1)*d]))*2*h/value, 2*h/(value-lessBy*noise)
		b.AddScaledVec(b, along, u)
		wide.SymRankOne(wide, at, u)
		distance += along*along + math.Max(0, mat.Inner(u, variance, u))*at*at
	}
	if unknown == d {
		return none("the curvature does not stand out of its noise")
	}
	for j, f := range forms {
		centre[j] -= floats.Dot(f, b.RawVector().Data)
	}
	moved, scatter := math.Sqrt(math.Max(0, mat.Inner(b, gram, b)/m.Records)), m.Scatter[k]
	bend := 0.0
	if !population {
		bend = crps(moved, scatter)
	}
	// slope bounds what a density that rises or falls across the iterates does to a prediction.
	slope := 0.5 * m.Density[k] / math.Min(tau, 1-tau) * (moved*moved + scatter*scatter)
	var product, sandwich, spread mat.Dense
	product.Mul(wide, variance)
	sandwich.Mul(&product, wide)
	spread.Mul(&sandwich, gram)
	if math.Sqrt(moved*moved+scatter*scatter+math.Max(0, mat.Trace(&spread))/m.Records) > farthest*h {
		return none("the noise moves the fit farther than the curvature is known for")
	}
	noise /= 2 * h
	z := math.Sqrt2 * math.Erfinv(level)
	for j, f := range forms {
		form := mat.NewVecDense(d, f)
		var at mat.VecDense
		at.MulVec(wide, form)
		along, flat := mat.Dot(&at, b), math.Max(0, mat.Inner(form, wide, form))
		v := math.Max(0, mat.Inner(form, &sandwich, form)) + bend*flat +
			0.5*noise*noise*(mat.Dot(&at, &at)*distance+along*along)
		half[j] = z*math.Sqrt(v) + slope*math.Sqrt(m.Records*m.Density[k]*flat) + lost[j]
		if half[j] >= c.Fit.Update.Within()*floats.Norm(f, 2) {
			half[j], why = math.Inf(1), "the curvature does not stand out of its noise in every direction"
		}
	}
	return centre, half, why
}

// known returns the moments of coefficients that are known where those of a Reference are not, without the one of its
// features that is left out: of the others the difference from that, which is added to Sum's. A record in which they do
// not add up counts as one of that. kept has the places of what is left among d features.
func (c Curvature) known(m *Moments, d int) knownMoments {
	theta, out := slices.Clone(m.Theta), knownMoments{Moments: *m, features: d}
	for j := range d {
		if !slices.ContainsFunc(c.References, func(r Reference) bool { return r.Out() == j }) {
			out.kept = append(out.kept, j)
		}
	}
	for from := 0; from < len(theta); from += d {
		level := theta[from : from+d]
		for _, r := range c.References {
			first := level[r.Out()]
			floats.AddConst(-first, level[r.First:r.First+r.Count])
			level[r.Sum] += first
		}
	}
	// some keeps the entries of vectors of d, matrices those of rows and columns.
	some := func(v []float64) (of []float64) {
		for from := 0; from < len(v); from += d {
			for _, j := range out.kept {
				of = append(of, v[from+j])
			}
		}
		return of
	}
	matrices := func(v []float64) (of []float64) {
		for from := 0; from < len(v); from += d * d {
			for _, j := range out.kept {
				of = append(of, some(v[from+j*d:from+(j+1)*d])...)
			}
		}
		return of
	}
	out.Theta, out.Gradient, out.Gram, out.Near = some(theta), some(m.Gradient), matrices(m.Gram), matrices(m.Near)
	if out.basis = matrix.Complement(c.Nowhere, d); out.basis != nil {
		out.turn()
	}
	return out
}

// turn has the moments along the basis: noise that is equal in all directions is so along orthonormal ones.
func (m *knownMoments) turn() {
	d, p := m.basis.Dims()
	vectors := func(v []float64) (of []float64) {
		for one := range slices.Chunk(v, d) {
			of = append(of, m.inside(one)...)
		}
		return of
	}
	matrices := func(v []float64) (of []float64) {
		for one := range slices.Chunk(v, d*d) {
			var half mat.Dense
			turned := mat.NewDense(p, p, nil)
			half.Mul(m.basis.T(), mat.NewDense(d, d, one))
			turned.Mul(&half, m.basis)
			of = append(of, turned.RawMatrix().Data...)
		}
		return of
	}
	m.Theta, m.Gradient, m.Gram, m.Near = vectors(m.Theta), vectors(m.Gradient), matrices(m.Gram), matrices(m.Near)
}

// inside returns the form of the moments' coordinates that is that of all coefficients.
func (m *knownMoments) inside(form []float64) []float64 {
	if m.basis == nil {
		var out []float64
		for _, j := range m.kept {
			out = append(out, form[j])
		}
		return out
	}
	var out mat.VecDense
	out.MulVec(m.basis.T(), mat.NewVecDense(len(form), form))
	return out.RawVector().Data
}

// size is how many coordinates there are.
func (m *knownMoments) size() int {
	if m.basis == nil {
		return len(m.kept)
	}
	_, p := m.basis.Dims()
	return p
}

type knownMoments struct {
	Moments
	kept     []int
	features int // of all
	// basis is of the directions in which rows have anything; nil is all. There are no References then.
	basis *mat.Dense
}

// flattest returns the least eigenvalue of G, 0 if it is negative.
func (m knownMoments) flattest() float64 {
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(m.size(), m.Gram), false) {
		return 0
	}
	return math.Max(0, e.Values(nil)[0])
}

// crps is ∫(F(v) − 1{v > 0})² dv of the normal law with this mean and deviation:
//
//	s(z(2Φ(z) − 1) + 2φ(z) − 1/√π),  z = mean/s.
func crps(mean, deviation float64) float64 {
	if !(deviation > 0) {
		return math.Abs(mean)
	}
	z := mean / deviation
	return deviation * (z*(2*normal.CDF(z)-1) + 2*normal.Density(z) - 1/math.Sqrt(math.Pi))
}
