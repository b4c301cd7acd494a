package geometry

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// What rows have beside their own features where there are records enough for it: cells of numbers most of whose values
// are one, and products of two columns. docs/theory/geometry.md, section 5.
const (
	// cellKnots is how many knots the cells of a number have; cellNorm is the norm of a record's cells, at most.
	cellKnots, cellNorm = 128, 0.3
	// mostHaveIt is the share of records with one value from which a number may have cells; the others must be
	// recordsOfACell for each, and worth μ of 1 for each.
	mostHaveIt, recordsOfACell = 0.5, 8
	// mostCells is how many numbers have cells, those with the most other records, and mostDetailed with how many
	// features rows may have cells or products.
	mostCells, mostDetailed = 4, 512
	// pairsGate is the n̂μ for each pair of columns from which rows have their products, whose norm is a part of that
	// of the features; mostProducts bounds their number.
	pairsGate, productNorm, mostProducts = 100, 0.5, 512
	// directions that count for the ridge.
	directionsOfCells, directionsOfPairs = 4, 16
)

// Number is where a number stands in rows before they are scaled: its line is in Feature, and (v − Lower)/Width of that
// is its share of the scale. At is the line at the value that many records may have.
type Number struct {
	Feature          int
	Lower, Width, At float64
}

// middle is the share of the scale of the value that many records have, and the knot that is put there.
func (n Number) middle() (float64, int) {
	at := (n.At - n.Lower) / n.Width
	return at, int(math.Round(at * (cellKnots - 1)))
}

// Knots says where the cells of n are, for who predicts by them elsewhere: the share of the scale that many records
// have and its knot, the number of knots, and the norm of a cell at a knot.
func (n Number) Knots() (at float64, middle, knots int, norm float64) {
	at, middle = n.middle()
	return at, middle, cellKnots, cellNorm
}

// ProductNorm is that of the products of a row, whose features are at most 1 long; 0 if it has none. The two together
// are then made shorter by √(1 + ProductNorm²).
func (b *Bought) ProductNorm() float64 {
	if len(b.Pairs) == 0 {
		return 0
	}
	return productNorm
}

// Cells calls use with the cells, fewer than cellKnots, that are not zero at a share u of the scale: hats between knots
// on either side of the value that many records have, of which that at this value is left out.
func (n Number) Cells(u float64, use func(cell int, v float64)) {
	at, middle := n.middle()
	if u = math.Min(math.Max(u, 0), 1); math.IsNaN(u) {
		u = at
	}
	place := float64(middle) + (u-at)/(1-at)*float64(cellKnots-1-middle)
	if u <= at {
		place = u / math.Max(at, 0x1p-1000) * float64(middle)
	}
	place = math.Min(math.Max(place, 0), cellKnots-1)
	first := min(int(place), cellKnots-2)
	for k, v := range [2]float64{1 - (place - float64(first)), place - float64(first)} {
		if k += first; v != 0 && k != middle {
			if k > middle {
				k--
			}
			use(k, v*cellNorm)
		}
	}
}

// on reports whether n is of rows with so many features, and its likely value on its scale.
func (n Number) on(features int) bool {
	at, _ := n.middle()
	return n.Feature >= 0 && n.Feature < features && n.Width > 0 && at >= 0 && at <= 1 && !math.IsInf(n.Lower, 0) &&
		!math.IsInf(n.Width, 1)
}

// unscaled returns what reads a number of a record as it was before its row was scaled, unless it is missing and has an
// indicator of that; nil where that is not known.
func unscaled(rows matrix.Rows) func(i int, n Number) (v float64, ok bool) {
	m, ok := rows.(*matrix.Affine)
	if !ok {
		return nil
	}
	switch base := m.Base.(type) {
	case *matrix.CSR:
		return func(i int, n Number) (float64, bool) { return base.Entry(i, n.Feature) }
	case *matrix.Dense: // that were stored
		if m.Aside == nil {
			return nil
		}
		return func(i int, n Number) (float64, bool) {
			v := base.At(i, m.Aside[n.Feature])
			return v, v < n.Lower+2*n.Width
		}
	}
	return nil
}

// CellFeatures is how many features the cells are.
func (b *Bought) CellFeatures() int { return len(b.Cells) * (cellKnots - 1) }

// HasCells reports whether the number whose line is in a feature has cells.
func (b *Bought) HasCells(line int) bool {
	return slices.ContainsFunc(b.Cells, func(n Number) bool { return n.Feature == line })
}

// products is how many there are of two features of different columns.
func products(pairs []matrix.Span) (count int) {
	for a, s := range pairs {
		for _, t := range pairs[a+1:] {
			count += s.Len * t.Len
		}
	}
	return count
}

// multiply writes the products of x and y, features of rows, to dst: x_j·y_k for every two columns.
func multiply(dst, x, y []float64, pairs []matrix.Span) {
	at := 0
	for a, s := range pairs {
		for _, t := range pairs[a+1:] {
			other := y[t.First : t.First+t.Len]
			for _, v := range x[s.First : s.First+s.Len] {
				for k, w := range other {
					dst[at+k] = v * w
				}
				at += len(other)
			}
		}
	}
}

// Nowhere returns orthonormal directions of the products in which no row has anything: indicators of a category add up
// to nothing, and so do their products with anything.
func (b *Bought) Nowhere() (all []matrix.Direction) {
	at := len(b.Mean) - products(b.Pairs)
	for a, s := range b.Pairs {
		for _, t := range b.Pairs[a+1:] {
			for j := range s.Len {
				if t.Len > 1 {
					all = append(all, matrix.Direction{First: at + j*t.Len,
						Weights: slices.Repeat([]float64{1 / math.Sqrt(float64(t.Len))}, t.Len)})
				}
			}
			for k := 1; s.Len > 1 && k <= max(1, t.Len-1); k++ { // the same for all of s, orthogonal to those
				one := make([]float64, t.Len)
				if one[0] = 1; t.Len > 1 {
					for i := range k {
						one[i] = 1 / math.Sqrt(float64(k*(k+1)))
					}
					one[k] = -math.Sqrt(float64(k) / float64(k+1))
				}
				floats.Scale(1/math.Sqrt(float64(s.Len)), one)
				all = append(all, matrix.Direction{First: at, Weights: slices.Repeat(one, s.Len)})
			}
			at += s.Len * t.Len
		}
	}
	return all
}

// pair completes the first z features of a row, at most 1 long, by their products in the places after them, which are
// as long as productNorm if there are any, and scales both so that the row is no longer than 1. It returns by what the
// first were scaled.
func (b *Bought) pair(dst []float64, z int) float64 {
	multiply(dst[z:], dst, dst, b.Pairs)
	if norm := math.Sqrt(matrix.SumSquares(dst[z:])); norm > 0x1p-400 {
		floats.Scale(productNorm/norm, dst[z:])
	}
	by := shorter(2*len(dst)) / b.paired()
	floats.Scale(by, dst)
	return by
}

// detail reports whether rows have products or cells.
func (b *Bought) detail() bool { return len(b.Pairs)+len(b.Cells) > 0 }

// paired is how much shorter rows are for their products.
func (b *Bought) paired() float64 {
	if len(b.Pairs) == 0 {
		return 1
	}
	return math.Sqrt(1 + productNorm*productNorm)
}

// places are the features of rows that the first z of the frame are.
func (b *Bought) places(z int) []int {
	if b.kept != nil {
		return slices.Clone(b.kept[:z])
	}
	return upTo(z)
}

// upTo returns 0 … n − 1.
func upTo(n int) []int {
	all := make([]int, n)
	for j := range all {
		all[j] = j
	}
	return all
}

// Plain returns where a fit WITHOUT privacy has records to which their products or cells are added: the frame of exact
// sums, in which labels stay as they are, with the gates as at μ = 1; and the rows there. nil, where no gate opens.
func (c Centred) Plain(rows matrix.Rows, labels []float64) (*Bought, matrix.Rows) {
	n, _ := rows.Dims()
	c.Mu, c.MeanSigma, c.CountSigma, c.Planned = 1, math.MaxFloat32, math.MaxFloat32, 0
	f := c.frame(float64(n), rows)
	f.scale, f.variance = 0, 0
	f.centre(f.total(rows, labels, 0))
	if f.Centre, f.Unit, f.Stretch = 0, 1, 1; !f.detail() || f.kept != nil {
		return nil, nil
	}
	return &f.Bought, f.detailed(rows, 0)
}

// detailed returns the rows of a frame that have products or cells.
func (b *Bought) detailed(rows matrix.Rows, workers int) matrix.Rows {
	n, d := rows.Dims()
	z, longest := len(b.Mean)-products(b.Pairs), math.Hypot(1, b.Bias)
	own := &matrix.Affine{Base: rows, A: make([]float64, n), W: make([]float64, n), V: b.Mean[:z], Kept: b.places(z)}
	pairs := &matrix.Affine{Base: matrix.NewDense(n, len(b.Mean)-z, nil), A: make([]float64, n), U: b.Mean[z:],
		Longest: longest}
	cells := &matrix.CSR{N: n, D: b.CellFeatures() + 1, Starts: make([]int, n+1)}
	last := &matrix.Affine{Base: cells, A: make([]float64, n), Bias: b.Bias, Longest: longest}
	number := unscaled(rows)
	if number == nil && len(b.Cells) > 0 {
		panic(&matrix.DataError{Text: "numbers are not known before rows were scaled, from which cells are made"})
	}
	parts := make([]matrix.CSR, (n+block-1)/block)
	parallel.Each(len(parts), workers, func(p int) {
		x, part := make([]float64, len(b.Mean)), &parts[p]
		each(rows, p*block, min(n, (p+1)*block), func(i int, row []float64) {
			by := b.unit(x, row)
			copy(pairs.Base.(*matrix.Dense).Data[i*(len(x)-z):], x[z:])
			k := b.move(x)
			floats.Scale(k, x)
			square, before := matrix.SumSquares(x), len(part.Values)
			for c, one := range b.Cells {
				v, ok := number(i, one)
				if !ok {
					continue
				}
				one.Cells((v-one.Lower)/one.Width, func(cell int, v float64) {
					square += v * v
					part.Columns = append(part.Columns, int32(c*(cellKnots-1)+cell))
					part.Values = append(part.Values, v)
				})
			}
			cells.Starts[i+1] = len(part.Values) - before
			t := shorter(d+len(x)) / math.Max(1, math.Sqrt(square)) * (1 - 0x1p-46)
			own.A[i], own.W[i], pairs.A[i], last.A[i] = by*k*t, -k*t, k*t, t
		})
	})
	for i := range n {
		cells.Starts[i+1] += cells.Starts[i]
	}
	for _, part := range parts {
		cells.Columns, cells.Values = append(cells.Columns, part.Columns...), append(cells.Values, part.Values...)
	}
	all := matrix.HStack{Parts: []matrix.Rows{own, pairs, last}, Longest: longest}
	switch {
	case len(b.Pairs) == 0:
		all.Parts = []matrix.Rows{own, last}
	case len(b.Cells) == 0: // the bias is beside the products
		pairs.Kept, pairs.U, pairs.Bias = append(upTo(len(b.Mean)-z), -1), append(slices.Clone(pairs.U), 0), b.Bias
		all.Parts = []matrix.Rows{own, pairs}
	}
	return all
}

// MeanRow is the mean of the rows without their bias, as it was bought, products apart.
func (b *Bought) MeanRow() []float64 {
	mean := slices.Clone(b.Mean[:len(b.Mean)-products(b.Pairs)])
	floats.Scale(b.RowNorm*b.paired(), mean)
	return mean
}

// MeanRowError is the standard deviation of the noise in an entry of MeanRow; 0 is not known.
func (b *Bought) MeanRowError() float64 { return b.RowNorm * b.paired() * b.MeanError }

// Cut is by what a row without its bias is multiplied whose distance from MeanRow has this square, as rows are cut at
// Scale. Its products, P long, are as far from their mean m as those of rows are on average: E|p − m|² = P² − |m|².
func (b *Bought) Cut(square float64) float64 {
	unit, z := b.RowNorm*b.paired(), len(b.Mean)-products(b.Pairs)
	product := b.ProductNorm() / b.paired()
	square = square/(unit*unit) + math.Max(0, product*product-matrix.SumSquares(b.Mean[z:]))
	return math.Min(1, b.Scale/math.Sqrt(square))
}

// Form returns a and the shift of the linear form aᵀθ + shift of the coefficients θ of the fit that an effect is: a
// difference, of weights in the features of rows and the constant, between records that have the typical norm, all else
// as in the mean; of the number whose line is in feature line also of weights at places, evenly spaced over its scale,
// for its cells. Products are taken to have the norm typical before they are brought to theirs. A stretch multiplies
// all but the intercept, and coefficients are those of labels in their unit: with those of features Tqθ_f/(cR), that of
// the constant is Tθ_e + (ȳ − Σ_f Tqθ_f m_f/c)/e.
func (b *Bought) Form(weights []float64, line int, places []float64, typical, stretch float64) (a []float64,
	shift float64) {
	a = make([]float64, b.Width())
	features, constant := len(weights)-1, weights[len(weights)-1]
	paired := b.paired()
	change, mean := make([]float64, features), make([]float64, features) // from the mean row, and that
	for j, w := range weights[:features] {
		mean[j] = b.Mean[j] * paired
		change[j] = w/b.RowNorm - constant/b.Bias*mean[j]
		a[j] = change[j] / paired
	}
	if len(b.Pairs) > 0 {
		one, other := a[features:len(b.Mean)], make([]float64, len(b.Mean)-features)
		multiply(one, change, mean, b.Pairs)
		multiply(other, mean, change, b.Pairs)
		floats.Add(one, other)
		floats.Scale(productNorm/(typical*paired), one)
	}
	floats.Scale(b.Unit*stretch/b.Scale, a)
	for c, n := range b.Cells {
		if n.Feature != line {
			continue
		}
		for p, w := range places {
			n.Cells(float64(p)/float64(len(places)-1), func(cell int, v float64) {
				a[len(b.Mean)+c*(cellKnots-1)+cell] += b.Unit * stretch * w * v
			})
		}
	}
	a[len(a)-1] = b.Unit * constant
	return a, b.Centre * constant / b.Bias
}

// HasProducts reports whether rows have the products of the two columns whose first features are these.
func (b *Bought) HasProducts(first, other int) bool {
	has := func(at int) bool {
		return slices.ContainsFunc(b.Pairs, func(s matrix.Span) bool { return s.First == at })
	}
	return first != other && has(first) && has(other)
}

// Together is what Form does not have, which takes all else as in the mean: by how much more the products of two
// differences, each of one column's features, make together than each by itself.
func (b *Bought) Together(one, other []float64, typical, stretch float64) []float64 {
	a := make([]float64, b.Width())
	if len(b.Pairs) == 0 {
		return a
	}
	at := len(b.Mean) - products(b.Pairs)
	swapped := make([]float64, len(b.Mean)-at)
	multiply(a[at:], one, other, b.Pairs)
	multiply(swapped, other, one, b.Pairs)
	floats.Add(a[at:len(b.Mean)], swapped)
	floats.Scale(productNorm*b.Unit*stretch/(typical*b.paired()*b.Scale*b.RowNorm*b.RowNorm), a)
	return a
}

// Change changes the coefficients of one form, in Raw, so that the form of rows that are not clipped changes by the
// change of the coefficients of their features and constant: it is ȳ + T(q·(z/R − m)ᵀθ/c + eθ_e).
func (b *Bought) Change(form int, change []float64) {
	last, by, long := len(change)-1, b.Scale/(b.Unit*b.Stretch), b.RowNorm*b.paired()
	raw := b.Raw[form*b.Width() : (form+1)*b.Width()]
	constant := change[last] * b.Bias
	for j, v := range change[:last] {
		raw[j] += by * long * v
		constant += long * v * b.Mean[j]
	}
	raw[len(raw)-1] += constant / (b.Unit * b.Bias)
}
