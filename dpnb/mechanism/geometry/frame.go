package geometry

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// Bought is what Centred releases beside the coefficients, with what follows from it.
type Bought struct {
	// Count is n + noise, Records what is reckoned with: no fewer than 20.
	Count, Records float64
	// Curved says that rows have their hats; else those coefficients are zero, and what predicts must make rows
	// without them.
	Curved bool
	// RowNorm is R, Bias is e.
	RowNorm, Bias float64
	// Mean is m, of the features that rows have; Scale is c.
	Mean  []float64
	Scale float64
	// MeanError is the standard deviation of the noise in an entry of Mean; 0 is not known.
	MeanError float64 `json:",omitempty"`
	// Centre is ȳ and Unit T; 0 and 1 but for Numbers.
	Centre, Unit float64
	// Stretch multiplied the coefficients but the intercept's after the fit; Raw are those of the fit.
	Stretch float64
	Raw     []float64
	// Also is what the fit released beside them.
	Also any

	// kept are the features that rows have of those that they were given with; nil is all, as in a model (Used).
	kept []int `json:"-"`
}

// frame is where records are put.
type frame struct {
	Bought
	c *Centred
	d int
	// noise is the standard deviation of an entry of S, released is S.
	noise    float64
	released []float64
}

// frame returns the frame for a noisy number of records, without its mean.
func (c Centred) frame(count float64, d int) frame {
	f := frame{Bought: Bought{Count: count, Records: math.Max(fewest, count), Curved: true, Scale: 1, Unit: 1,
		RowNorm: c.RowNorm, Bias: c.Bias}, c: &c, d: d}
	hats := 0
	for _, s := range c.Curves {
		hats += s.Len
	}
	if all := math.Hypot(c.Mu, c.mu()); f.Records*all < c.Gate*float64(hats) {
		f.Curved, f.kept = false, matrix.Outside(c.Curves, d-1)
	}
	f.Mean = make([]float64, d-1)
	if !f.Curved {
		f.Mean = f.Mean[:len(f.kept)]
	}
	f.noise = c.sums(len(f.Mean)) * c.MeanSigma * (1 + 0x1p-48)
	return f
}

// choose returns the mechanism for the frame, and the stretch of its coefficients.
func (c Centred) choose(f frame) (mechanism.Mechanism, float64) {
	facts := mechanism.Facts{Records: f.Records, Mu: c.Mu, Directions: float64(c.Free)}
	if f.Curved {
		facts.Curves = c.Curves
		facts.Directions += float64(hatsOfACurve * len(c.Curves))
	}
	return c.Of.For(facts)
}

// unit writes z/R of the features that the frame has to dst: at most 1 long and, where hats are left out, as long as
// with them only if that is 1.
func (f *Bought) unit(dst, row []float64) {
	if f.kept == nil {
		for j := range dst {
			dst[j] = row[j] / f.RowNorm
		}
	} else {
		for j, k := range f.kept {
			dst[j] = row[k] / f.RowNorm
		}
		if norm := math.Sqrt(matrix.SumSquares(dst)); norm > 0x1p-400 {
			floats.Scale(shorter(len(dst))/norm, dst)
		}
	}
	if norm := math.Sqrt(matrix.SumSquares(dst)); norm > 1 {
		floats.Scale(shorter(len(dst))/norm, dst)
	}
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
	xi := noise.Exact(src).Normals(len(f.Mean) + f.more())
	total := f.total(rows, labels, workers)
	xi.AddRounded(total, f.noise, exact.Grid(f.noise))
	return total
}

// total returns S without its noise: a sum of what each record adds, a function of that record alone.
func (f *frame) total(rows matrix.Rows, labels []float64, workers int) []float64 {
	n, d := rows.Dims()
	parts := make([][]float64, (n+block-1)/block)
	parallel.Each(len(parts), workers, func(p int) {
		sum, row, z := make([]float64, len(f.Mean)+f.more()), make([]float64, d), make([]float64, len(f.Mean)+f.more())
		for i := p * block; i < min(n, (p+1)*block); i++ {
			rows.Row(row, i)
			f.unit(z[:len(f.Mean)], row)
			if f.c.Numbers {
				y := bounded(labels[i])
				z[len(f.Mean)], z[len(f.Mean)+1] = y/2, y*y/2
			}
			exact.Add(sum, 1, z, step)
		}
		parts[p] = sum
	})
	total := make([]float64, len(f.Mean)+f.more())
	for _, sum := range parts { // exact: the order does not matter
		floats.Add(total, sum)
	}
	return total
}

// more is how many sums are of labels.
func (f *frame) more() int {
	if f.c.Numbers {
		return 2
	}
	return 0
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
	v := (f.noise / f.Records) * (f.noise / f.Records) // of one entry of S/n̂
	less := towards / (towards + float64(d-len(nowhere))*v) / f.Records
	f.MeanError = f.noise * less
	for j := range f.Mean {
		f.Mean[j] = mean[j] * less
	}
	if norm := math.Sqrt(matrix.SumSquares(f.Mean)); norm > longest {
		floats.Scale(longest/norm, f.Mean)
	}
	f.Scale = math.Sqrt(math.Max(leastScale, 1-matrix.SumSquares(f.Mean)))
	if !f.c.Numbers {
		return
	}
	v *= 4 // of 2S_y/n̂
	f.Centre = bounded(2*sums[d]/f.Records) * towardsLabel / (towardsLabel + v)
	w := towardsSpread / (towardsSpread + v)
	spreads := w*math.Max(0, 2*sums[d+1]/f.Records-f.Centre*f.Centre) + (1-w)*spread
	f.Unit = math.Min(math.Max(math.Sqrt(spreads)/2, leastUnit), mostUnit)
}

// nowhere returns the directions of the frame's features in which rows have nothing.
func (f *frame) nowhere() []matrix.Direction {
	if f.kept == nil {
		return f.c.Nowhere
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
	return out
}

// centred writes the row (clip(z/R − m, c)/c, e) to dst.
func (f *Bought) centred(dst, row []float64) {
	x := dst[:len(f.Mean)]
	f.unit(x, row)
	for j, m := range f.Mean {
		x[j] -= m
	}
	norm := math.Sqrt(matrix.SumSquares(x))
	if safe := shorter(len(x)); norm <= f.Scale*safe {
		floats.Scale(safe/f.Scale, x)
	} else {
		floats.Scale(safe/norm, x)
	}
	dst[len(x)] = f.Bias
}

// rows returns the centred rows: in memory if those are, else made as they are asked for.
func (f *frame) rows(rows matrix.Rows, workers int) matrix.Rows {
	n, _ := rows.Dims()
	v := f.view(rows)
	switch rows.(type) {
	case *matrix.Dense, *matrix.CSR:
		m := matrix.NewDense(n, v.d, nil)
		parallel.Each((n+block-1)/block, workers, func(p int) {
			v.with(p*block, min(n, (p+1)*block), func(b *matrix.Dense, from int) {
				copy(m.Data[from*v.d:], b.Data)
			})
		})
		return m
	}
	return v
}

// Placed returns rows (z, e) as the fit had them, made as they are asked for.
func (b *Bought) Placed(rows matrix.Rows) matrix.Rows { return b.view(rows) }

// Used has Placed take rows that are without the features that were left out.
func (b *Bought) Used() { b.kept = nil }

// Placing returns the coefficients of Placed rows whose linear form is what is predicted: (Tqθ_x, Tθ_e + ȳ/e) for θ =
// Raw.
func (b *Bought) Placing() []float64 {
	out := make([]float64, len(b.Raw))
	for j, v := range b.Raw {
		out[j] = b.Unit * b.Stretch * v
	}
	last := len(b.Raw) - 1
	out[last] = b.Unit*b.Raw[last] + b.Centre/b.Bias
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
	}
	return out
}

// unfold returns the coefficients of (z, e) that predict as Placing does for rows that are not clipped:
//
//	ȳ + T(q·(z/R − m)ᵀθ_x/c + eθ_e).
func (f *frame) unfold() []float64 {
	out, placing := make([]float64, f.d), f.Placing()
	out[f.d-1] = placing[len(f.Mean)]
	for j, m := range f.Mean {
		at := j
		if f.kept != nil {
			at = f.kept[j]
		}
		by := placing[j] / f.Scale
		out[at] = by / f.RowNorm
		out[f.d-1] -= by * m / f.Bias
	}
	return out
}

// Fits reports whether b can be of rows with so many features, and its numbers are in their ranges.
func (b *Bought) Fits(features int) bool {
	ok := len(b.Mean) == features-1 && len(b.Raw) == features && b.RowNorm > 0 && b.Bias > 0 && b.Scale > 0 &&
		b.Unit > 0 && b.Stretch > 0
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
	return &out
}
