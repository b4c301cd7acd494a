package geometry

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/internal/weight"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// Bought is what Centred releases beside the coefficients, with what follows from it.
type Bought struct {
	// Count is n + noise, Records what is reckoned with: no fewer than 20.
	Count, Records float64
	// Curved says that rows have their hats; else those coefficients are zero, and what predicts must make rows without
	// them.
	Curved bool
	// CrossedLines says that rows have hats, but not those of crosses.
	CrossedLines bool `json:",omitempty"`
	// RowNorm is R, Bias is e.
	RowNorm, Bias float64
	// Mean is m, of the features that rows have; Scale is c.
	Mean  []float64
	Scale float64
	// MeanError is the standard deviation of the noise in an entry of Mean; 0 is not known.
	MeanError float64 `json:",omitempty"`
	// Centre is ȳ and Unit T; 0 and 1 but for Numbers.
	Centre, Unit float64
	// Typical is about the mean of counts; 0 but for those.
	Typical float64 `json:",omitempty"`
	// Stretch multiplied the coefficients but the intercept's after the fit; Raw are those of the fit.
	Stretch float64
	Raw     []float64
	// Also is what the fit released beside them.
	Also any
	// Pairs are the columns of which rows have the products of every two features, after their own; nil if they have
	// none. Cells are the numbers that have cells, which follow those.
	Pairs []matrix.Span `json:",omitempty"`
	Cells []Number      `json:",omitempty"`

	// kept are the features that rows have of those that they were given with; nil is all, as in a model (Used).
	kept []int `json:"-"`
}

// frame is where records are put.
type frame struct {
	Bought
	c *Centred
	d int
	// scale is that of the noise in S, of which variance is that of an entry.
	scale, variance float64
	// worth is the μ of all.
	worth    float64
	released []float64
	// space is where S and the rows of the fit are. The variance of Laplace noise grows with the numbers that have it,
	// so that it is without the directions of left; with Gaussian noise it is everything.
	space space
	// may are the numbers of which it is asked how many records have their most likely value.
	may []Number
}

// frame returns the frame for a noisy number of records, without its mean. Products and cells are of rows in memory.
func (c Centred) frame(count float64, rows matrix.Rows) frame {
	_, d := rows.Dims()
	f := frame{Bought: Bought{Count: count, Records: math.Max(fewest, count), Curved: true, Scale: 1, Unit: 1,
		RowNorm: c.RowNorm, Bias: c.Bias}, c: &c, d: d}
	hats := hatsOf(c.Curves)
	f.Mean = make([]float64, d-1)
	if c.Law == mechanism.Laplace {
		f.space = without(f.left())
		hats = f.features() + 1
	}
	all := c.Law.Cost(1/c.Mu, 1/c.cost()) / math.Sqrt(c.Law.Variance(hats))
	f.worth = all
	if len(c.Curves) > 0 && f.Records*all < c.Gate*float64(hats) {
		own, crossed := c.Curves[:len(c.Curves)-c.Crossed], c.Curves[len(c.Curves)-c.Crossed:]
		hats = hatsOf(own)
		f.CrossedLines = c.Law == mechanism.Gaussian && hats > 0 && c.Crossed > 0 &&
			f.Records*all >= c.Gate*float64(hats)
		if f.Curved = f.CrossedLines; !f.Curved {
			crossed = c.Curves
		}
		f.kept = matrix.Outside(crossed, d-1)
		f.Mean = f.Mean[:len(f.kept)]
		if c.Law == mechanism.Laplace {
			f.space = without(f.left())
		}
	}
	if matrix.InMemory(rows) && f.Curved && c.Law == mechanism.Gaussian && d <= mostDetailed {
		pairs := len(c.Pairs) * (len(c.Pairs) - 1) / 2
		if count := products(c.Pairs); count > 0 && count <= mostProducts && f.Records*all >= pairsGate*float64(pairs) {
			f.Pairs, f.Mean = c.Pairs, append(f.Mean, make([]float64, count)...)
		}
		least := cellKnots / (1 - mostHaveIt)
		if f.Records >= recordsOfACell*least && f.Records*all >= least && unscaled(rows) != nil {
			f.may = c.Cells
		}
	}
	f.scale = c.sums(len(f.Mean), len(f.may) > 0) * c.MeanSigma * (1 + 0x1p-48)
	if c.Law == mechanism.Laplace {
		f.scale *= f.space.longer()
	}
	f.variance = f.scale * f.scale * c.Law.Variance(f.entries())
	return f
}

// hatsOf is how many hats there are.
func hatsOf(curves []matrix.Span) (hats int) {
	for _, s := range curves {
		hats += s.Len
	}
	return hats
}

// features is how many coordinates rows have, the bias apart.
func (f *frame) features() int { return len(f.Mean) - len(f.space.gone) }

// entries is how many numbers S has.
func (f *frame) entries() int { return f.features() + f.more() }

// bent are the curves that rows have.
func (c Centred) bent(f *frame) []matrix.Span {
	switch {
	case !f.Curved:
		return nil
	case f.CrossedLines:
		return c.Curves[:len(c.Curves)-c.Crossed]
	}
	return c.Curves
}

// counting is how many directions count, without cells and products.
func (c Centred) counting(f *frame) float64 { return float64(c.Free + hatsOfACurve*len(c.bent(f))) }

// choose returns the mechanism for the frame, and the stretch of its coefficients.
func (c Centred) choose(f frame) (mechanism.Mechanism, float64) {
	facts := mechanism.Facts{Records: f.Records, Mu: c.Mu / math.Sqrt(c.Law.Variance(f.features()+1)),
		Directions: c.counting(&f), Features: f.features() + f.CellFeatures() + 1, Bias: c.Bias, Typical: f.Typical,
		BaseRate: c.BaseRate, Nowhere: f.nowhere(), Held: f.held()}
	facts.Curves = c.bent(&f)
	if facts.Directions += float64(directionsOfCells * len(f.Cells)); len(f.Pairs) > 0 {
		facts.Directions += directionsOfPairs
	}
	return c.Of.For(facts)
}

// unit writes z/R of the features that the frame has to dst: at most 1 long and, where hats are left out, as long as
// with them only if that is 1. It returns about what the row is multiplied by.
func (f *Bought) unit(dst, row []float64) (by float64) {
	if len(f.Pairs) > 0 {
		plain, own := Bought{RowNorm: f.RowNorm, kept: f.kept}, len(row)-1
		if f.kept != nil {
			own = len(f.kept)
		}
		by = plain.unit(dst[:own], row)
		return by * f.pair(dst, own)
	}
	by = 1 / f.RowNorm
	scale := func(norm float64) {
		by *= shorter(len(dst)) / norm
		floats.Scale(shorter(len(dst))/norm, dst)
	}
	if f.kept == nil {
		floats.ScaleTo(dst, by, row[:len(dst)])
	} else {
		for j, k := range f.kept {
			dst[j] = row[k] * by
		}
		if norm := math.Sqrt(matrix.SumSquares(dst)); norm > 0x1p-400 {
			scale(norm)
		}
	}
	if norm := math.Sqrt(matrix.SumSquares(dst)); norm > 1 {
		scale(norm)
	}
	return by
}

// shorter is so little below 1 that d numbers scaled to it are no longer than 1: a computed norm errs by at most
// (d/2+2)u relatively, or 3e-13 of many, and the products by a few u.
func shorter(d int) float64 { return 1 - math.Min(float64(d+8)*0x1p-53, 4e-13) }

// bounded is a label of Numbers.
func bounded(y float64) float64 { return min(max(y, -1), 1) }

// block is how many rows are added up at a time.
const block = 4096

// sums returns S.
func (f *frame) sums(rows matrix.Rows, labels []float64, src noise.Source, workers int) []float64 {
	xi := f.c.Law.Draw(f.entries(), src)
	total := f.total(rows, labels, workers)
	xi.AddRounded(total, f.scale, exact.Grid(f.scale))
	return f.space.from(total)
}

// total returns S without its noise: a sum of what each record adds, a function of that record alone.
func (f *frame) total(rows matrix.Rows, labels []float64, workers int) []float64 {
	n, _ := rows.Dims()
	parts, number, k := make([][]float64, (n+block-1)/block), unscaled(rows), f.entries()
	ones := slices.Repeat([]float64{1}, batch)
	parallel.Each(len(parts), workers, func(p int) {
		sum, z, all := make([]float64, k), make([]float64, len(f.Mean)+f.more()), make([]float64, batch*k)
		lo, hi := p*block, min(n, (p+1)*block)
		each(rows, lo, hi, func(i int, row []float64) {
			at := (i - lo) % batch
			own := all[at*k : (at+1)*k]
			if len(f.space.gone) == 0 {
				z = own
			}
			f.unit(z[:len(f.Mean)], row)
			switch y := 0.0; {
			case f.c.Numbers:
				y = bounded(labels[i])
				z[len(f.Mean)], z[len(f.Mean)+1] = y/2, y*y/2
			case f.c.Most > 0:
				y = min(max(labels[i], 0), f.c.Most)
				z[len(f.Mean)] = 0.5 * y / f.c.Most
			}
			for j, one := range f.may {
				z[len(z)-len(f.may)+j] = 0
				if v, ok := number(i, one); ok && v == one.At {
					z[len(z)-len(f.may)+j] = 0.5 / math.Sqrt(float64(len(f.may)))
				}
			}
			if len(f.space.gone) > 0 {
				copy(own, f.space.to(z))
			}
			if at == batch-1 || i == hi-1 {
				exact.AddRows(sum, ones[:at+1], all, step)
			}
		})
		parts[p] = sum
	})
	all := exact.NewTotal(k, step) // of however many records, in any order
	for _, sum := range parts {
		all.Add(sum)
	}
	total := make([]float64, k)
	all.Write(total)
	return total
}

// batch is how many rows are made at a time.
const batch = 64

// each calls use with the rows lo ≤ i < hi.
func each(rows matrix.Rows, lo, hi int, use func(i int, row []float64)) {
	_, d := rows.Dims()
	if m, ok := rows.(*matrix.Dense); ok {
		for i := lo; i < hi; i++ {
			use(i, m.Data[i*d:(i+1)*d:(i+1)*d])
		}
		return
	}
	room := make([]float64, min(batch, hi-lo)*d)
	for ; lo < hi; lo += batch {
		end := min(lo+batch, hi)
		matrix.Block(rows, room, lo, end)
		for i := lo; i < end; i++ {
			use(i, room[(i-lo)*d:(i-lo+1)*d])
		}
	}
}

// more is how many sums are of labels, and of records that have the most likely value of a number.
func (f *frame) more() int {
	switch {
	case f.c.Numbers:
		return 2 + len(f.may)
	case f.c.Most > 0:
		return 1 + len(f.may)
	}
	return len(f.may)
}

// centre sets the mean, the scale and, of Numbers, the centre and unit of the labels by the sums. All of it is
// post-processing.
func (f *frame) centre(sums []float64) {
	f.released = sums
	d := len(f.Mean)
	mean := slices.Clone(sums[:d])
	nowhere := f.nowhere()
	for _, v := range nowhere {
		v.Add(mean, -v.Along(mean))
	}
	v := f.variance / (f.Records * f.Records) // of one entry of S/n̂
	directions := d - len(nowhere)
	if len(f.space.gone) > 0 {
		directions = f.features()
	}
	less := towards / (towards + float64(directions)*v) / f.Records
	f.MeanError = math.Sqrt(f.variance) * less
	for j := range f.Mean {
		f.Mean[j] = mean[j] * less
	}
	if norm := math.Sqrt(matrix.SumSquares(f.Mean)); norm > longest {
		floats.Scale(longest/norm, f.Mean)
	}
	square := matrix.SumSquares(f.Mean)
	f.Scale = math.Sqrt(math.Max(leastScale, 1-square))
	if whole := f.c.Whole; whole > 0 {
		room := math.Max(1, f.Records*f.worth/(wholeGate*f.c.counting(f)))
		f.Scale = math.Sqrt(room * math.Max(leastScale, whole*whole-square))
		f.Scale = math.Min(f.Scale, 1+math.Sqrt(square)) // beyond which is no row
	}
	type open struct {
		Number
		others float64
	}
	var all []open
	for j, one := range f.may {
		have := 2 * math.Sqrt(float64(len(f.may))) * sums[len(sums)-len(f.may)+j] / f.Records
		others := f.Records * (1 - have)
		if have >= mostHaveIt && others >= recordsOfACell*cellKnots && others*f.worth >= cellKnots {
			all = append(all, open{one, others})
		}
	}
	slices.SortStableFunc(all, func(a, b open) int { return cmp.Compare(b.others, a.others) })
	for _, one := range all[:min(len(all), mostCells)] {
		f.Cells = append(f.Cells, one.Number)
	}
	v *= 4 // of 2S_y/n̂
	if most := f.c.Most; most > 0 {
		f.Typical = countOf(most, 2*sums[d]/f.Records, v)
	}
	if !f.c.Numbers {
		return
	}
	f.Centre = bounded(2*sums[d]/f.Records) * towardsLabel / (towardsLabel + v)
	w := towardsSpread / (towardsSpread + v)
	spreads := w*math.Max(0, 2*sums[d+1]/f.Records-f.Centre*f.Centre) + (1-w)*spread
	f.Unit = math.Min(math.Max(math.Sqrt(spreads)/2, leastUnit), mostUnit)
	if f.c.Wide && Skewed(f.Centre, f.Unit) {
		f.Unit = math.Min(f.Unit*math.Min(math.Max(f.Records*f.worth/wideGate, 1), widest), mostUnit)
	}
}

// Skewed reports whether a number in [−1, 1] with this mean, and a standard deviation of twice the unit, is nearer to a
// bound than one can be that is a bell curve or spread evenly.
func Skewed(centre, unit float64) bool { return 1-math.Abs(centre) < skewedWithin*2*unit }

// countOf returns about the mean of counts up to most, of which share, with noise of variance v, is what it was
// released to be: towards a quarter of most as the noise grows, and no less than what the noise lets be told from none.
func countOf(most, share, v float64) float64 {
	const prior = 0.25
	w := prior * prior / (prior*prior + v)
	least := math.Min(prior, math.Max(math.Sqrt(v), 0.1/most))
	return most * math.Max(w*math.Min(math.Max(share, 0), 1)+(1-w)*prior, least)
}

// left are the directions that the frame is without: those in which rows have nothing, and the roughest of curves.
// Those of curves that a number has for each category are in part the former: they are made orthogonal.
func (f *frame) left() []matrix.Direction {
	out := f.nowhere()
	if f.Curved {
		for _, s := range f.c.Curves {
			for _, v := range roughest(s, s.Len-2-hatsOfACurve) {
				if v, ok := apart(v, out, len(f.Mean)); ok {
					out = append(out, v)
				}
			}
		}
	}
	return out
}

// nowhere returns the directions of the frame's features in which rows have nothing.
func (f *frame) nowhere() []matrix.Direction {
	if f.kept == nil {
		return slices.Concat(f.c.Nowhere, f.Bought.Nowhere())
	}
	place := map[int]int{}
	for j, k := range f.kept {
		place[k] = j
	}
	var out []matrix.Direction
	for _, v := range f.c.Nowhere {
		at, first := place[v.First]
		_, last := place[v.First+len(v.Weights)-1]
		if first && last {
			out = append(out, matrix.Direction{First: at, Weights: v.Weights})
		}
	}
	return append(out, f.Bought.Nowhere()...)
}

// held returns the directions along which coefficients are held, of the frame's features.
func (f *frame) held() (out []matrix.Direction) {
	if f.kept == nil {
		return f.c.Held
	}
	for _, v := range f.c.Held {
		own := matrix.Direction{First: len(f.kept)}
		for j, k := range f.kept {
			if k >= v.First && k < v.First+len(v.Weights) {
				own.First = min(own.First, j)
				own.Weights = append(own.Weights, v.Weights[k-v.First])
			}
		}
		same := func(o matrix.Direction) bool {
			return o.First == own.First && slices.Equal(o.Weights, own.Weights)
		}
		if len(own.Weights) > 0 && !slices.ContainsFunc(out, same) {
			out = append(out, own)
		}
	}
	return out
}

// centred writes the row (clip(z/R − m, c)/c, e) of a frame without detail to dst: to the last bit that of the factors
// that rows keeps, as how many records there are decides which of the two is taken.
func (f *Bought) centred(dst, row []float64) {
	x := dst[:len(f.Mean)]
	by := f.unit(x, row)
	k := f.move(x)
	if f.kept == nil {
		copy(x, row)
	}
	for j, from := range f.kept {
		x[j] = row[from]
	}
	floats.Scale(by*k, x)
	floats.AddScaled(x, -k, f.Mean)
	dst[len(x)] = f.Bias
}

// move takes the mean from x, z/R, and returns what the difference is to be multiplied by: with it, times what made z/R
// of a row, a sum of that row and of the mean is as computed no longer than 1, as it errs by 12·2⁻⁵³/c at most, c² ≥
// leastScale: four roundings of a product of up to three factors and a difference, as many of z/R as it was computed,
// and the rest of the sum and of what it has of the mean.
func (f *Bought) move(x []float64) float64 {
	floats.Sub(x, f.Mean)
	return f.scaleOf(x) * (1 - 0x1p-46)
}

// scaleOf returns what z/R − m is to be multiplied by.
func (f *Bought) scaleOf(x []float64) float64 {
	return shorter(len(x)) / math.Max(f.Scale, math.Sqrt(matrix.SumSquares(x)))
}

// Uncut reports whether no row is longer than what rows are scaled to.
func (f *Bought) Uncut() bool { return f.Scale >= 1+math.Sqrt(matrix.SumSquares(f.Mean)) }

// rows returns the centred rows: as those that were given, moved and scaled, where there is room for the factors of
// each; in the coordinates of a space dense, if the given ones are in memory; else made as they are asked for.
func (f *frame) rows(rows matrix.Rows, workers int) matrix.Rows {
	n, _ := rows.Dims()
	v := f.view(rows)
	switch {
	case f.detail():
		return f.detailed(rows, workers)
	case len(f.space.gone) > 0:
		if v.in, v.d = &f.space, f.features()+1; !matrix.InMemory(rows) {
			return v
		}
		m := matrix.NewDense(n, v.d, nil)
		parallel.Each((n+block-1)/block, workers, func(p int) {
			v.Blocks(p*block, min(n, (p+1)*block), func(b *matrix.Dense, from int) {
				copy(m.Data[from*v.d:], b.Data)
			})
		})
		return m
	case n > mostMoved && !matrix.InMemory(rows):
		return v
	}
	m := &matrix.Affine{Base: rows, A: make([]float64, n), W: make([]float64, n), V: append(slices.Clone(f.Mean), 0),
		Bias: f.Bias, Longest: v.MaxNorm()}
	m.Kept = append(f.places(len(f.Mean)), -1)
	scales := []float64(nil) // of rows that were moved and scaled before: both at once
	if own, ok := rows.(*matrix.Affine); ok && own.Kept == nil && own.W == nil && own.A != nil && own.U != nil {
		m.Base, m.U, scales = own.Base, make([]float64, len(m.V)), own.A
		for j, k := range m.Kept[:len(f.Mean)] {
			m.U[j] = own.U[k]
		}
	}
	parallel.Each((n+block-1)/block, workers, func(p int) {
		x := make([]float64, len(f.Mean))
		each(rows, p*block, min(n, (p+1)*block), func(i int, row []float64) {
			by, k := f.unit(x, row), f.move(x)
			if m.A[i], m.W[i] = by*k, -k; scales != nil {
				m.A[i] *= scales[i]
			}
		})
	})
	return m
}

// mostMoved is of how many stored records the factors are kept in memory, two numbers each.
const mostMoved = 1 << 23

// Placed returns rows (z, e) as the fit had them, made as they are asked for.
func (b *Bought) Placed(rows matrix.Rows) matrix.Rows { return b.view(rows) }

// Used has Placed take rows that are without the features that were left out.
func (b *Bought) Used() { b.kept = nil }

// Width is how many coefficients a linear form of centred rows has. Raw has those of one form after another.
func (b *Bought) Width() int { return len(b.Mean) + b.CellFeatures() + 1 }

// Placing returns the coefficients of Placed rows whose linear forms are what is predicted: of each form (Tqθ_x, Tθ_e +
// ȳ/e) for θ = Raw.
func (b *Bought) Placing() []float64 {
	out := make([]float64, len(b.Raw))
	for j, v := range b.Raw {
		if out[j] = b.Unit * b.Stretch * v; j%b.Width() == b.Width()-1 {
			out[j] = b.Unit*v + b.Centre/b.Bias
		}
	}
	return out
}

// scaled returns the labels in the frame.
func (f *frame) scaled(labels []float64) []float64 {
	if !f.c.Numbers {
		return labels
	}
	out := make([]float64, len(labels))
	for i, y := range labels {
		out[i] = (bounded(y) - f.Centre) / f.Unit
		if f.c.Weighted {
			_, w := weight.Of(y)
			out[i] = weight.With(out[i], w)
		}
	}
	return out
}

// whole returns coefficients of rows in the space, of each form, as those of rows with all features.
func (f *frame) whole(theta []float64) []float64 {
	var all []float64
	if f.detail() {
		return theta
	}
	for one := range slices.Chunk(theta, f.features()+1) {
		all = append(all, f.space.from(one)...)
	}
	return all
}

// unfold returns the coefficients of (z, e) that predict as Placing does for rows that are not clipped, of each form
//
//	ȳ + T(q·(z/R − m)ᵀθ_x/c + eθ_e),
//
// products and cells apart.
func (f *frame) unfold() []float64 {
	var all []float64
	for placing := range slices.Chunk(f.Placing(), f.Width()) {
		out := make([]float64, f.d)
		out[f.d-1] = placing[len(placing)-1]
		own := f.places(len(f.Mean) - products(f.Pairs))
		for j, m := range f.Mean {
			by := placing[j] / f.Scale
			if out[f.d-1] -= by * m / f.Bias; j < len(own) {
				out[own[j]] = by / (f.RowNorm * f.paired())
			}
		}
		all = append(all, out...)
	}
	return all
}

// Fits reports whether b can be of so many linear forms of rows with so many features, and its numbers are in their
// ranges.
func (b *Bought) Fits(features, forms int) bool {
	ok := len(b.Mean) == features-1+products(b.Pairs) && len(b.Raw) == b.Width()*forms && b.RowNorm > 0 &&
		b.Bias > 0 && b.Scale > 0 && matrix.Rising(b.Pairs) && len(b.Cells) <= mostCells && (b.Curved || !b.detail()) &&
		b.Unit > 0 && b.Stretch > 0
	if n := len(b.Pairs); n > 0 {
		ok = ok && b.Pairs[n-1].First+b.Pairs[n-1].Len < features
	}
	for _, n := range b.Cells {
		ok = ok && n.on(features-1)
	}
	all := []float64{b.Count, b.RowNorm, b.Bias, b.Scale, b.Unit, b.Stretch, b.Centre, b.MeanError}
	for _, v := range slices.Concat(all, b.Mean, b.Raw) {
		ok = ok && !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return ok
}

// CloneAlso returns a copy, for who is shown a release.
func (b *Bought) CloneAlso() any {
	out := *b
	out.Mean, out.Raw, out.kept = slices.Clone(b.Mean), slices.Clone(b.Raw), slices.Clone(b.kept)
	out.Pairs, out.Cells = slices.Clone(b.Pairs), slices.Clone(b.Cells)
	out.Also = mechanism.CloneAlso(b.Also)
	return &out
}
