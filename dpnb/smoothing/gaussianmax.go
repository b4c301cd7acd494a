package smoothing

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/quadrature"
)

// ErrRank says that the slopes of a Polyhedral point in too many directions.
var ErrRank = errors.New("smoothing: more than three dimensions of slopes; use Entropic")

// GaussianMax is a Polyhedral convolved with the Gaussian kernel, E f(x + μK). Only the span of the differences of
// slopes matters, of dimension r ≤ 3. In one direction of it the mean is exact, over the largest of P lines; over the
// others it is adaptive quadrature, whose estimate of its error is returned. Create it with Polyhedral.Gaussian.
type GaussianMax struct {
	f     Polyhedral
	width float64
	// basis has r orthonormal rows; in it slope p is alpha[p] more than slope 0. No two different slopes agree in the
	// first coordinate of alpha.
	basis [][]float64
	alpha [][]float64
	// order of the pieces by the first coordinate of alpha.
	order []int
}

// Gaussian returns f convolved with the Gaussian kernel of width μ. It panics unless μ is positive and finite.
//
// Errors: ErrRank.
func (f Polyhedral) Gaussian(width float64) (*GaussianMax, error) {
	checkWidth(Gaussian{}, width)
	m, pieces := f.Dim(), len(f.slopes)
	g := &GaussianMax{f: f, width: width}
	differences := mat.NewDense(pieces, m, nil)
	for p, a := range f.slopes {
		floats.SubTo(differences.RawRowView(p), a, f.slopes[0])
	}
	var svd mat.SVD
	if !svd.Factorize(differences, mat.SVDThin) {
		return nil, fmt.Errorf("smoothing: the slopes %v have no singular values", f.slopes)
	}
	var v mat.Dense
	svd.VTo(&v)
	for k, s := range svd.Values(nil) {
		if s > 1e-12*(1+f.Lipschitz()) {
			g.basis = append(g.basis, mat.Col(nil, k, &v))
		}
	}
	if len(g.basis) > 3 {
		return nil, ErrRank
	}
	g.separate(differences)
	for p := range f.slopes {
		g.alpha = append(g.alpha, make([]float64, len(g.basis)))
		for k, b := range g.basis {
			g.alpha[p][k] = floats.Dot(b, differences.RawRowView(p))
		}
		g.order = append(g.order, p)
	}
	if len(g.basis) > 0 {
		slices.SortStableFunc(g.order, func(p, q int) int { return cmp.Compare(g.alpha[p][0], g.alpha[q][0]) })
	}
	return g, nil
}

// separate turns the basis so that along its first vector slopes that differ are as far from equal as in the best of
// some directions.
func (g *GaussianMax) separate(differences *mat.Dense) {
	r := len(g.basis)
	if r < 2 {
		return
	}
	best, first := -1.0, make([]float64, r)
	for trial := range 200 {
		// Directions of a spiral on the half sphere; for r = 2 on the half circle.
		z, angle := (float64(trial)+0.5)/200, 2.399963*float64(trial)
		e := []float64{math.Cos(angle), math.Sin(angle)}
		if r == 3 {
			floats.Scale(math.Sqrt(1-z*z), e)
			e = append(e, z)
		}
		along := make([]float64, differences.RawMatrix().Cols)
		for k, b := range g.basis {
			floats.AddScaled(along, e[k], b)
		}
		least := math.Inf(1)
		for p := range g.f.slopes {
			for q := range p {
				if d := floats.Distance(g.f.slopes[p], g.f.slopes[q], 2); d > 1e-12*(1+g.f.Lipschitz()) {
					gap := floats.Dot(along, differences.RawRowView(p)) - floats.Dot(along, differences.RawRowView(q))
					least = math.Min(least, math.Abs(gap)/d)
				}
			}
		}
		if least > best {
			best = least
			copy(first, e)
		}
	}
	// Householder's reflection takes the first unit vector to first.
	h := slices.Clone(first)
	h[0]--
	norm := floats.Dot(h, h)
	turned := make([][]float64, r)
	for i := range turned {
		turned[i] = make([]float64, len(g.basis[0]))
		for k, b := range g.basis {
			entry := 0.0
			if i == k {
				entry = 1
			}
			if norm > 1e-30 {
				entry -= 2 * h[i] * h[k] / norm
			}
			floats.AddScaled(turned[i], entry, b)
		}
	}
	g.basis = turned
}

// Smoothness returns ρ·√(2/π)/μ, ρ the Radius of the slopes, which bounds the curvature: what the slopes have in common
// has none.
func (g *GaussianMax) Smoothness() float64 { return g.f.Radius() * math.Sqrt(2/math.Pi) / g.width }

// ValueGradient returns E f(x + μK), writes its gradient to grad, unless that is nil, and returns an estimate of the
// error of each, 1e-15 and their rounding where r ≤ 1.
func (g *GaussianMax) ValueGradient(grad, x []float64) (value, err float64) {
	checkLength(grad, x)
	offsets, top := make([]float64, len(g.f.slopes)), 0
	for p, a := range g.f.slopes {
		offsets[p] = (floats.Dot(a, x) + g.f.offsets[p]) / g.width
		if offsets[p] > offsets[top] {
			top = p
		}
	}
	// Relative to the piece that is largest at x the mean has no cancellation.
	value = offsets[top] * g.width
	for p := range offsets {
		if p != top {
			offsets[p] -= offsets[top]
		}
	}
	offsets[top] = 0
	r := len(g.basis)
	out := make([]float64, 1+r)
	err = g.mean(out, offsets, top, r-1, []float64{0, 0, 1e-11, 1e-10}[r])
	if grad != nil {
		copy(grad, g.f.slopes[top])
		for k, b := range g.basis {
			floats.AddScaled(grad, out[1+k], b)
		}
	}
	return value + g.width*out[0], (err + 1e-15) * math.Max(1, g.width) * (1 + g.f.Diameter())
}

// mean writes to out the mean over the first level + 1 coordinates of v of
//
//	max_p(offsets[p] + ⟨α_p − α_top, v⟩) and of α_p − α_top at the largest p,
//
// v standard normal, the other coordinates being in the offsets already.
func (g *GaussianMax) mean(out, offsets []float64, top, level int, tol float64) (err float64) {
	switch {
	case level < 0:
		clear(out)
		return 0
	case level == 0:
		g.meanOfLines(out, offsets, top)
		return 0
	}
	shifted, part := make([]float64, len(offsets)), make([]float64, len(out))
	values, err := quadrature.Adaptive(len(out), func(v []float64, to [][]float64) {
		for i, t := range v {
			for p := range shifted {
				shifted[p] = offsets[p] + (g.alpha[p][level]-g.alpha[top][level])*t
			}
			inner := g.mean(part, shifted, top, level-1, tol/10)
			_ = inner // ten times below what the rule over v is asked for
			density := Gaussian{}.Density(t)
			for c := range part {
				to[c][i] = part[c] * density
			}
		}
	}, g.breaks(offsets, level), tol)
	copy(out, values)
	return err + tol/10
}

// breaks returns where the integrand of the last of level + 1 coordinates v may have a kink in a derivative: at the
// heights at which level + 2 pieces meet. From a dozen pieces on, in three dimensions, they are left to the adaptive
// rule.
func (g *GaussianMax) breaks(offsets []float64, level int) []float64 {
	at := []float64{-9, -4, -1.5, 0, 1.5, 4, 9}
	if level > 1 && len(offsets) > 12 {
		return at
	}
	meeting := make([]int, 0, level+2)
	var choose func(from int)
	choose = func(from int) {
		if len(meeting) == level+2 {
			if v := g.height(meeting, offsets, level); v > -9 && v < 9 {
				at = append(at, v)
			}
			return
		}
		for p := from; p < len(offsets); p++ {
			meeting = append(meeting, p)
			choose(p + 1)
			meeting = meeting[:len(meeting)-1]
		}
	}
	choose(0)
	slices.Sort(at)
	return at
}

// height returns the last coordinate of the point at which the pieces are equal, NaN if there is no such point or
// another piece is larger there: by elimination, with the last coordinate left.
func (g *GaussianMax) height(pieces []int, offsets []float64, level int) float64 {
	var rows [3][4]float64
	n, last := level+1, pieces[level+1]
	for i, p := range pieces[:n] {
		for j := range n {
			rows[i][j] = g.alpha[p][j] - g.alpha[last][j]
		}
		rows[i][n] = offsets[last] - offsets[p]
	}
	for j := range n {
		pivot := j
		for i := j + 1; i < n; i++ {
			if math.Abs(rows[i][j]) > math.Abs(rows[pivot][j]) {
				pivot = i
			}
		}
		rows[j], rows[pivot] = rows[pivot], rows[j]
		for i := range n {
			if i != j {
				factor := rows[i][j] / rows[j][j]
				for k := j; k <= n; k++ {
					rows[i][k] -= factor * rows[j][k]
				}
			}
		}
	}
	at := func(p int) float64 {
		v := offsets[p]
		for j := range n {
			v += g.alpha[p][j] * rows[j][n] / rows[j][j]
		}
		return v
	}
	for p := range offsets {
		if !(at(p) <= at(last)+1e-9*(1+math.Abs(at(last)))) {
			return math.NaN()
		}
	}
	return rows[level][n] / rows[level][level]
}

// meanOfLines is the mean over one coordinate, exactly: the lines' upper envelope from the piece that is largest at 0,
// and at each kink away from it the rise of the slope times what a normal variate is beyond it in the mean.
func (g *GaussianMax) meanOfLines(out, offsets []float64, top int) {
	envelope := make([]int, 0, len(offsets))
	kinks := make([]float64, 0, len(offsets))
	for _, p := range g.order {
		keep := true
		for len(envelope) > 0 {
			last := envelope[len(envelope)-1]
			rise := g.alpha[p][0] - g.alpha[last][0]
			if rise <= 0 { // the same slope
				if keep = offsets[p] > offsets[last]; !keep {
					break
				}
			} else {
				z := (offsets[last] - offsets[p]) / rise
				if len(kinks) == 0 || z > kinks[len(kinks)-1] {
					kinks = append(kinks, z)
					break
				}
			}
			envelope = envelope[:len(envelope)-1]
			if len(kinks) > 0 {
				kinks = kinks[:len(kinks)-1]
			}
		}
		if keep {
			envelope = append(envelope, p)
		}
	}
	at := 0
	for at < len(kinks) && kinks[at] < 0 {
		at++
	}
	out[0] = offsets[envelope[at]]
	for c := range out[1:] {
		out[1+c] = g.alpha[envelope[at]][c] - g.alpha[top][c]
	}
	add := func(beyond float64, from, to int) {
		out[0] += math.Abs(g.alpha[to][0]-g.alpha[from][0]) * Gaussian{}.Gap(beyond) / 2
		tail := Gaussian{}.Tail(beyond)
		for c := range out[1:] {
			out[1+c] += tail * (g.alpha[to][c] - g.alpha[from][c])
		}
	}
	for j := at; j < len(kinks); j++ {
		add(kinks[j], envelope[j], envelope[j+1])
	}
	for j := at - 1; j >= 0; j-- {
		add(-kinks[j], envelope[j+1], envelope[j])
	}
}
