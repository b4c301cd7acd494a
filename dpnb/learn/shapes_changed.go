package learn

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/internal/nnls"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
)

// changed returns s with other forms at its handles, which did says how, and by how much that moved it.
func (s *Shape) changed(did string, own []float64) *Shape {
	out := *s
	out.own, out.places = own, slices.Clone(s.places)
	most, at := 0.0, 0
	for k, v := range own {
		if by := math.Abs(s.to(v) - s.to(s.own[k])); by > most {
			most, at = by, k
		}
	}
	moved := "which changed nothing"
	if most > 0 {
		moved = fmt.Sprintf("by up to %.3g, at %s", most, s.handle(at))
	}
	out.did = append(slices.Clone(s.did), did+", "+moved)
	return &out
}

// editable returns s, or why it cannot be changed.
func (s *Shape) editable() *Shape {
	if s.Err() != nil {
		return s
	}
	if err := s.term.Fixed(); err != nil {
		return s.failed("dpnb: the shape of %s cannot be changed so: %w", s.Column(), err)
	}
	return s
}

func (s *Shape) handle(k int) string {
	if n := len(s.term.Knots); k >= n {
		return s.term.Categories[k-n]
	}
	return s.term.Text(s.term.Knots[k])
}

// ordered returns how many of the handles follow one another: the knots of a number, its intervals, or all categories.
func (s *Shape) ordered() int {
	switch n := len(s.term.Knots); {
	case n > 0:
		return n
	case s.term.Field.Cuts != nil: // being missing is not above all of them
		return len(s.term.Field.Cuts) + 1
	}
	return len(s.term.Categories)
}

// metric is in what shapes are near: the covariance of the noise of what is predicted at the handles that follow one
// another, all other columns at their mean, so that what is known well is moved little. Where it is not known it is as
// if the noise at each were by itself, in inverse proportion to the share of the records there.
func (s *Shape) metric() *mat.SymDense {
	n := s.ordered()
	c := mat.NewSymDense(n, nil)
	for k := range n {
		c.SetSym(k, k, 1/math.Max(s.term.Shares[k], 1e-4))
	}
	if s.noise != nil {
		c.CopySym(s.noise.SliceSym(0, n))
	}
	return c
}

// Monotone returns the nearest shape that does not fall (+1) or does not rise (−1): the likeliest that the same fit
// without noise has, by the law of the noise, if it is known that it does not. Where nothing is known of that law it is
// isotonic regression by the shares of the records. Categories are taken in the order of the schema.
//
// Proof that it is nearer to a truth that is monotone: docs/theory/curves.md#dpnb-projection.
func (s *Shape) Monotone(direction int) *Shape {
	return s.projected(direction, []float64{-1, 1}, map[int]string{1: "made to rise", -1: "made to fall"},
		"Monotone", "+1 does not fall, −1 does not rise")
}

// Convex returns the nearest shape of a number, as Monotone has it, that bends upwards everywhere (+1) or downwards
// (−1) on its scale.
func (s *Shape) Convex(direction int) *Shape {
	return s.projected(direction, []float64{1, -2, 1},
		map[int]string{1: "made to bend upwards", -1: "made to bend downwards"},
		"Convex", "it is of numbers; +1 bends upwards, −1 downwards")
}

// projected returns the nearest shape with differences, times the direction, that are not negative; second ones are of
// numbers alone. did says what either direction does, and want what the method of the name takes.
func (s *Shape) projected(direction int, difference []float64, did map[int]string, name, want string) *Shape {
	if s = s.editable(); s.Err() != nil {
		return s
	}
	if did[direction] == "" || len(difference) > 2 && len(s.term.Knots) == 0 {
		return s.failed("dpnb: %s(%d) of %q: %s", name, direction, s.Column(), want)
	}
	own, n := slices.Clone(s.own), s.ordered()
	if s.fine { // what they add between knots would still go up and down
		return s.failed("dpnb: %s has fine cells, with which no shape rises or bends as a whole: make the records "+
			"with Curves", s.Column())
	}
	floats.Scale(float64(direction), own[:n])
	if !nearest(own[:n], s.metric(), difference) {
		return s.failed("dpnb: the law of the noise in %q is not known well enough to say which such shape is nearest",
			s.Column())
	}
	floats.Scale(float64(direction), own[:n])
	return s.changed(did[direction], own)
}

// nearest replaces values g by those f at which ½(f − g)ᵀC⁻¹(f − g) is least of all with differences Df ≥ 0: by g +
// CDᵀλ, where λ ≥ 0 makes ½λᵀDCDᵀλ + λᵀDg least. Where Dg ≥ 0 they stay to the last bit. ok is false, and nothing is
// done, if C is singular as computed.
func nearest(values []float64, c *mat.SymDense, difference []float64) (ok bool) {
	n, m := len(values), len(values)-len(difference)+1
	if m < 1 {
		return true
	}
	d := mat.NewDense(m, n, nil)
	for i := range m {
		for j, v := range difference {
			d.Set(i, i+j, v)
		}
	}
	var dc, q mat.Dense
	dc.Mul(d, c)
	q.Mul(&dc, d.T())
	slope := mat.NewVecDense(m, nil)
	slope.MulVec(d, mat.NewVecDense(n, values))
	if mat.Min(slope) >= 0 {
		return true
	}
	multipliers, ok := nnls.Quadratic(&q, slope)
	if !ok {
		return false
	}
	var moved mat.VecDense
	moved.MulVec(dc.T(), multipliers)
	for k := range values {
		values[k] += moved.AtVec(k)
	}
	if len(difference) == 2 { // rounding
		for k := range n - 1 {
			values[k+1] = max(values[k+1], values[k])
		}
	}
	return true
}

// Smoothed returns a shape of a number that bends less: that with the least Σwₖ(f − was)² + by·Σ(Δ²f)²/8 over its
// knots, w the shares of the records there. A line stays as it is. Of a number with a period all places weigh the same.
func (s *Shape) Smoothed(by float64) *Shape {
	if s.Err() != nil {
		return s
	}
	n := len(s.term.Knots)
	if n == 0 || !(by >= 0) || math.IsInf(by, 1) {
		return s.failed("dpnb: Smoothed(%v) of %q: it is of numbers, by a finite weight ≥ 0", by, s.Column())
	}
	own, w := slices.Clone(s.own), s.term.Shares
	did := fmt.Sprintf("smoothed with a weight of %.3g", by)
	if s.term.Bent {
		at := s.term.Damped(own, by/8*float64(n-1))
		for k := range n {
			own[k] = at(float64(k) / float64(n-1))
		}
		out := s.changed(did, own)
		for k := range out.places { // and between them
			if p := &out.places[k]; p.below < n {
				p.detail = 0
				p.detail = at((float64(p.below)+p.part)/float64(n-1)) - p.form(own)
			}
		}
		return out
	}
	normal, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for k := range n {
		normal.SetSym(k, k, max(w[k], 1e-4))
		right.SetVec(k, max(w[k], 1e-4)*own[k])
	}
	matrix.Span{Len: n}.Roughen(normal, by/8)
	var c mat.Cholesky
	if !c.Factorize(normal) || c.SolveVecTo(mat.NewVecDense(n, own[:n]), right) != nil {
		return s.failed("dpnb: Smoothed(%v) of %q: the weight is too large", by, s.Column())
	}
	return s.changed(did, own)
}

// Bend says how much the curves of numbers bend, all together: Σw(f − line)² over knots and curves, w the shares of the
// records there, in multiples of its mean if the same fit without noise has straight lines. It is free. NaN where the
// law of the noise is not known or nothing can bend.
//
// Proof: docs/theory/curves.md#dpnb-bend.
func (s *Shapes) Bend() float64 {
	var all, noise float64
	for _, one := range s.All() {
		_, own, by := one.bend()
		all, noise = all+own, noise+by
	}
	return all / noise
}

// Straightened returns the shapes with less of what bends, for Model.With: with nothing of it where Bend is at most 1,
// with all of it from 1.5 on, and in between with the share 3 − 3/Bend. Curves that the noise has bent cost something
// where there is nothing that bends; what this gives and costs on real tables is in
// docs/theory/curves.md#dpnb-no-gate.
//
//	shapes, err := model.Shapes()
//	straighter, err := model.With(shapes.Straightened()...)
func (s *Shapes) Straightened() []*Shape {
	share := 3 - 3/s.Bend()
	if !(share < 1) {
		return s.All()
	}
	var out []*Shape
	for _, one := range s.All() {
		if bent, _, _ := one.bend(); bent != nil {
			own := slices.Clone(one.own)
			floats.AddScaled(own[:len(bent)], -min(1, 1-share), bent)
			one = one.changed(fmt.Sprintf("straightened, with %.2g of what bent", max(0, share)), own)
		}
		out = append(out, one)
	}
	return out
}

// bend returns what a shape is at its knots beside its nearest line, the sum of squares of that by the shares of the
// records, and its mean if it is noise alone; nothing for a shape that has no knots between its ends, fine cells or a
// period, or noise of unknown law.
func (s *Shape) bend() (bent []float64, all, noise float64) {
	n := len(s.term.Knots)
	if n < 3 || s.noise == nil || s.fine {
		return nil, 0, 0
	}
	x, w := make([]float64, n), make([]float64, n)
	for k := range x {
		x[k], w[k] = float64(k), max(s.term.Shares[k], 1e-4)
	}
	floats.Scale(2/floats.Sum(w), w) // gonum's are counts, and those of one record have no variance
	beside := func(y []float64) []float64 {
		a, b := stat.LinearRegression(x, y, w, false)
		for k := range y {
			y[k] -= a + b*x[k]
		}
		return y
	}
	c := mat.NewDense(n, n, nil)
	for k := range n {
		c.SetCol(k, beside(mat.Col(nil, k, s.noise.SliceSym(0, n))))
	}
	bent = beside(slices.Clone(s.own[:n]))
	for k := range n {
		all, noise = all+w[k]*bent[k]*bent[k], noise+w[k]*beside(mat.Row(nil, k, c))[k]
	}
	return bent, all, noise
}

// Rounded returns the shape with its value at each knot and each category at the nearest multiple of step, in the unit
// of the shape.
func (s *Shape) Rounded(step float64) *Shape {
	if s = s.editable(); s.Err() != nil {
		return s
	}
	if !(step > 0) || math.IsInf(step, 1) {
		return s.failed("dpnb: Rounded(%v) of %q wants a positive step", step, s.Column())
	}
	own := slices.Clone(s.own)
	for k, v := range own {
		var ok bool
		if own[k], ok = s.from(step * math.Round(s.to(v)/step)); !ok {
			return s.failed("dpnb: Rounded(%v) of %q: nothing has such a value at %s", step, s.Column(), s.handle(k))
		}
	}
	return s.changed(fmt.Sprintf("rounded to multiples of %.3g", step), own)
}

// Set returns the shape of a number with a value, in the unit of the shape, at the knots in [from, to]; between these
// and the next it is straight.
//
// Errors (in it): no knot there.
func (s *Shape) Set(from, to, value float64) *Shape {
	if s = s.editable(); s.Err() != nil {
		return s
	}
	var at []int
	var knots []string
	for k, v := range s.term.Knots {
		if knots = append(knots, s.term.Text(v)); from <= v && v <= to {
			at = append(at, k)
		}
	}
	if at == nil {
		return s.failed("dpnb: %q has no knot from %v to %v, and nothing to set there; its knots are at %s", s.Column(),
			from, to, strings.Join(knots, ", "))
	}
	where := "at " + knots[at[0]]
	if len(at) > 1 {
		where = fmt.Sprintf("from %s to %s", knots[at[0]], knots[at[len(at)-1]])
	}
	return s.set(at, value, fmt.Sprintf("set to %.4g %s", value, where))
}

// SetCategory returns the shape with a value, in the unit of the shape, at one category; "missing" is one where the
// schema allows it.
//
// Errors (in it): no such category.
func (s *Shape) SetCategory(name string, value float64) *Shape {
	if s = s.editable(); s.Err() != nil {
		return s
	}
	k := slices.Index(s.term.Categories, name)
	if k < 0 {
		return s.failed("dpnb: %q has no category %q: it has %s", s.Column(), name,
			strings.Join(s.term.Categories, ", "))
	}
	return s.set([]int{len(s.term.Knots) + k}, value, fmt.Sprintf("set to %.4g at %s", value, name))
}

func (s *Shape) set(at []int, value float64, did string) *Shape {
	t, ok := s.from(value)
	if !ok {
		return s.failed("dpnb: %q cannot be %v in %s: no change of the linear form does that", s.Column(), value,
			s.unit)
	}
	own := slices.Clone(s.own)
	for _, k := range at {
		own[k] = t
	}
	return s.changed(did, own)
}

// Did says what was changed, in the order in which it was done.
func (s *Shape) Did() []string { return slices.Clone(s.did) }

// edit is a change of a shape: by how much at its handles, in the linear form.
type edit struct {
	Column string
	Part   int
	Change []float64
	Did    []string
}

func (e edit) words(m *Model) string {
	return e.Column + m.ofPart(e.Part) + ": " + strings.Join(e.Did, "; ")
}

// With returns the model with shapes that were changed, of which others stay as they are: of every record of the
// typical norm the linear form changes by just what they do. It is post-processing: what was promised stays, and
// nothing is paid. It predicts, scores, has shapes and a card, and is saved and loaded as other models are; it has no
// intervals, which Unedited has.
//
//	edited, err := model.With(model.Shape("age").Monotone(+1))
//
// Errors: a shape with an error, of another model, or two of one column; a calibrated model, whose calibration would no
// longer be its own.
func (m *Model) With(shapes ...*Shape) (*Model, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	if m.calibration != nil {
		return nil, errors.New("dpnb: the model is calibrated: change its shapes first, and calibrate it then")
	}
	edits := slices.Clone(m.edits)
	for k, s := range shapes {
		if err := s.Err(); err != nil {
			return nil, err
		}
		same := func(o *Shape) bool { return o.Column() == s.Column() && o.part == s.part }
		switch {
		case s.model != m &&
			!(slices.Equal(s.model.coefficients, m.coefficients) && s.model.encoding.Equal(m.encoding)):
			return nil, fmt.Errorf("dpnb: the shape of %q is of another model", s.Column())
		case slices.ContainsFunc(shapes[:k], same):
			return nil, fmt.Errorf("dpnb: there are two shapes of %q: change one further", s.Column())
		case len(s.did) == 0:
			continue
		}
		change := slices.Clone(s.own)
		floats.Sub(change, s.was)
		edits = append(edits, edit{s.Column(), s.part, change, slices.Clone(s.did)})
	}
	return m.Unedited().edited(edits)
}

// Unedited returns the model as it was released, before its shapes were changed.
func (m *Model) Unedited() *Model {
	if m.Err() == nil && m.base != nil {
		return m.base
	}
	return m
}

// edited returns m with edits, none of which it has.
func (m *Model) edited(edits []edit) (*Model, error) {
	out := *m
	out.base, out.edits, out.once = m, edits, ""
	out.coefficients, out.theta = slices.Clone(m.coefficients), slices.Clone(m.theta)
	effects, terms, d := m.effects(), m.terms(), len(m.encoding.Features)
	b := m.bought()
	if m.release != nil {
		r := m.release.Clone()
		if b != nil {
			b = b.CloneAlso().(*geometry.Bought)
			r.Also = b
		}
		out.keep(r)
	} else if b != nil {
		b = b.CloneAlso().(*geometry.Bought)
		out.plain = b
	}
	forms := max(1, len(m.coefficients)/max(1, len(effects)))
	for _, e := range edits {
		at := slices.Index(m.encoding.Columns(), e.Column)
		if at < 0 || len(e.Change) != len(terms[at].Shares) || e.Part < 0 || e.Part >= forms ||
			floats.HasNaN(e.Change) || math.IsInf(floats.Norm(e.Change, math.Inf(1)), 1) {
			return nil, errors.New("the model has changes of shapes that are not its own")
		}
		change, ok := terms[at].Changed(e.Change)
		if !ok {
			return nil, fmt.Errorf("dpnb: %s cannot be changed so: without a bias (NoBias) no mean can be, and waves "+
				"with a period change everywhere or nowhere", e.Column)
		}
		for k, f := range effects {
			out.coefficients[e.Part*len(effects)+k] += floats.Dot(f.Weights, change)
		}
		switch {
		case b != nil:
			b.Change(e.Part, change)
		case out.theta != nil:
			floats.Add(out.theta[e.Part*d:(e.Part+1)*d], change)
		}
	}
	if out.plain != nil {
		out.theta = out.plain.Placing()
	}
	if out.release != nil {
		out.release.Coefficients = out.coefficients
		out.keep(out.release)
	}
	return &out, nil
}
