package geometry_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// people are rows of a line, which most records have at its lower bound of −1, three indicators less their mean, and
// the bias, scaled to norm 1.
func people(n int, at float64, r *rand.Rand) *matrix.Affine {
	base := &matrix.CSR{N: n, D: 5, Starts: []int{0}}
	m := &matrix.Affine{Base: base, A: make([]float64, n), U: []float64{0, 1. / 3, 1. / 3, 1. / 3, 0}, Bias: bias}
	for i := range n {
		v := 2*r.Float64() - 1
		if r.Float64() < 0.8 {
			v = at
		}
		base.Columns, base.Values = append(base.Columns, 0, int32(1+r.IntN(3))), append(base.Values, v, 1)
		base.Starts = append(base.Starts, len(base.Values))
		m.A[i] = (1 - 1e-13) / math.Sqrt(v*v+2./3)
	}
	return m
}

// detailed is a fit whose rows may have products and cells.
func detailed(t testing.TB, l loss.Loss, at float64) geometry.Centred {
	m := around(t, l, 1, 4)
	m.Cells = []geometry.Number{{Feature: 0, Lower: -1, Width: 2, At: at}}
	m.Pairs = []matrix.Span{{First: 0, Len: 1}, {First: 1, Len: 3}}
	return m
}

// A record moves the sums by no more than what the noise is for, and some by as much; rows with products and cells are
// no longer than rows without, and some are as long (a likely value of 0 has no products). A tenth more is seen.
func TestDetailIsBounded(t *testing.T) {
	for _, at := range []float64{-1, 0} {
		rows := people(4000, at, rand.New(rand.NewPCG(3, 4)))
		m := detailed(t, loss.PseudoHuber{Threshold: 1}, at)
		labels := slices.Repeat([]float64{1}, 4000)
		var most, longest float64
		_, bound, out, b := geometry.Detailed(m, rows, labels)
		for i := range 200 {
			one := matrix.Select(rows, []int{i})
			sums, _, _, _ := geometry.Detailed(m, one, labels[:1])
			most = math.Max(most, floats.Norm(sums, 2))
		}
		if most > bound || at < 0 && most < 0.99*bound || bound < math.Sqrt(1.75) {
			t.Errorf("at %v a record adds %v, the noise is for %v", at, most, bound)
		}
		row := make([]float64, b.Width())
		for i := range 4000 {
			out.Row(row, i)
			longest = math.Max(longest, math.Sqrt(matrix.SumSquares(row)))
		}
		if limit := math.Hypot(1, bias); longest > limit || longest < 0.999*limit {
			t.Errorf("at %v the longest row is %v, want %v at most", at, longest, limit)
		}
		if matrix.MaxNorm(out) < longest {
			t.Errorf("rows say that none is longer than %v", matrix.MaxNorm(out))
		}
	}
}

// Of classes and of counts, too, a record moves the sums by no more than what the noise is for, and some by as much:
// half for the likely values, and of counts half for the label.
func TestDetailOfClassesAndCountsIsBounded(t *testing.T) {
	rows := people(200, -1, rand.New(rand.NewPCG(3, 4)))
	for most, square := range map[float64]float64{0: 1.25, 2: 1.5} {
		m := detailed(t, loss.Logistic{}, -1)
		m.Most = most
		_, bound, _, _ := geometry.Detailed(m, rows, slices.Repeat([]float64{most}, 200))
		longest := 0.0
		for i := range 200 {
			sums, _, _, _ := geometry.Detailed(m, matrix.Select(rows, []int{i}), []float64{most})
			longest = math.Max(longest, floats.Norm(sums, 2))
		}
		if longest > bound || longest < 0.99*bound || bound < math.Sqrt(square) {
			t.Errorf("counts up to %v: a record adds %v, the noise is for %v", most, longest, bound)
		}
	}
}

// What predicts has the rows of the fit, whether these are made all at once or block by block.
func TestDetailIsPlacedAsItWasFitted(t *testing.T) {
	rows := people(700, -1, rand.New(rand.NewPCG(5, 6)))
	_, _, out, b := geometry.Detailed(detailed(t, loss.PseudoHuber{Threshold: 1}, -1), rows, make([]float64, 700))
	if want, got := matrix.Densed(out), matrix.Densed(b.Placed(rows)); !slices.Equal(want.Data, got.Data) {
		t.Error("rows are placed where the fit did not have them")
	}
}

// A prediction is a function of its record alone, to the last bit, in whatever block it is made.
func TestPlacedMarginsAreOfTheirRecord(t *testing.T) {
	const n = 700
	rows := people(n, -1, rand.New(rand.NewPCG(5, 6)))
	_, _, _, b := geometry.Detailed(detailed(t, loss.PseudoHuber{Threshold: 1}, -1), rows, make([]float64, n))
	theta, all, one := make([]float64, b.Width()), make([]float64, n), make([]float64, 1)
	for j := range theta {
		theta[j] = math.Sin(float64(j))
	}
	matrix.MarginsAlone(b.Placed(rows), all, theta, 0, n)
	for i := range n {
		matrix.MarginsAlone(b.Placed(matrix.Select(rows, []int{i})), one, theta, 0, 1)
		if one[0] != all[i] {
			t.Fatalf("record %d has %v alone and %v among others", i, one[0], all[i])
		}
	}
}

// Cells are hats between knots: they add up to their norm but next to the value that has none, and a share of the scale
// that is twice as fine is told apart.
func TestCells(t *testing.T) {
	for _, n := range []geometry.Number{{Lower: -1, Width: 2, At: -1}, {Lower: 0, Width: 1, At: 0.25},
		{Lower: 0, Width: 1, At: 1}} {
		seen := map[int]bool{}
		for _, far := range []float64{math.NaN(), math.Inf(1), -1e300, -1e9, 7} {
			n.Cells(far, func(cell int, v float64) {
				if cell < 0 || cell > 126 || !(v > 0 && v <= 0.3) {
					t.Errorf("cell %d has %v at %v", cell, v, far)
				}
			})
		}
		for u := 0.0; u <= 1; u += 1. / 4096 {
			sum := 0.0
			n.Cells(u, func(cell int, v float64) {
				if seen[cell] = true; cell < 0 || cell > 126 || v <= 0 {
					t.Fatalf("cell %d has %v at %v", cell, v, u)
				}
				sum += v
			})
			if far := math.Abs(u-(n.At-n.Lower)/n.Width) > 2./127; far &&
				!(math.Abs(sum-0.3) <= 1e-12) || sum > 0.3+1e-12 {
				t.Errorf("cells at %v add up to %v", u, sum)
			}
		}
		n.Cells((n.At-n.Lower)/n.Width, func(cell int, v float64) {
			if v > 1e-12 {
				t.Errorf("the likely value has %v in cell %d", v, cell)
			}
		})
		if len(seen) != 127 {
			t.Errorf("%d cells are reached", len(seen))
		}
	}
}

// With records enough cells and products are there, else not, and not where rows are not in memory: all of it by what
// was released. An effect is what predictions differ by between records that are not clipped.
func TestDetailOpensByWhatWasBought(t *testing.T) {
	for _, c := range []struct {
		n            int
		cells, pairs bool
	}{{300, false, false}, {4000, false, true}, {20000, true, true}} {
		r := rand.New(rand.NewPCG(7, 8))
		rows, labels := people(c.n, -1, r), make([]float64, c.n)
		for i := range labels {
			labels[i] = 0.2 * r.NormFloat64()
		}
		m := detailed(t, loss.PseudoHuber{Threshold: 1}, -1)
		out := must.Get(m.Run(rows, labels, noise.NewSeeded(1), nil))
		b := out.Also.(*geometry.Bought)
		if (len(b.Cells) > 0) != c.cells || (len(b.Pairs) > 0) != c.pairs {
			t.Errorf("%d records: %d cells and %d pairs", c.n, len(b.Cells), len(b.Pairs))
		}
		if !b.Fits(5, 1) || len(out.Coefficients) != 5 {
			t.Errorf("%d records: the release does not fit its rows", c.n)
		}
		flat, err := m.Run(matrix.Densed(rows), labels, noise.NewSeeded(1), nil)
		if err != nil || len(flat.Also.(*geometry.Bought).Cells) > 0 {
			t.Errorf("cells without knowing the numbers: %v", err)
		}
	}
}

// Numbers that cannot have cells are not asked for: that would cost noise. Half of the records must be eight for each
// cell, however little noise there is, and worth one for each.
func TestCellsAreAskedFor(t *testing.T) {
	m, rows := detailed(t, loss.PseudoHuber{Threshold: 1}, -1), people(50, -1, rand.New(rand.NewPCG(1, 2)))
	for _, c := range []struct {
		records, worth float64
		asked          int
	}{{2047, 100, 0}, {2049, 100, 1}, {20_000, 1, 1}, {20_000, 1e-3, 0}} {
		m := m
		m.Mu, m.MeanSigma, m.CountSigma = m.Mu*c.worth, m.MeanSigma/c.worth, m.CountSigma/c.worth
		if got := geometry.Asked(m, c.records, rows); got != c.asked {
			t.Errorf("of %v records %d numbers are asked for at μ = %g, want %d", c.records, got, m.Mu, c.asked)
		}
	}
}

// Rows have products from a hundred n̂μ for each pair of columns on, and no more of them than there may be.
func TestPairsAreBought(t *testing.T) {
	m, rows := detailed(t, loss.PseudoHuber{Threshold: 1}, -1), people(50, -1, rand.New(rand.NewPCG(1, 2)))
	one, three := m.Pairs[0], m.Pairs[1]
	for _, c := range []struct {
		pairs []matrix.Span
		many  float64
	}{{[]matrix.Span{one, three}, 1}, {[]matrix.Span{one, one, three}, 3}, {[]matrix.Span{one, one, one, three}, 6}} {
		m.Pairs = c.pairs
		_, worth := geometry.Paired(m, 1, rows)
		for share, want := range map[float64]bool{0.99: false, 1.01: true, 100: true} {
			if got, _ := geometry.Paired(m, share*100*c.many/worth, rows); got != want {
				t.Errorf("%v pairs at %v of what they are worth: %v", c.many, share, got)
			}
		}
	}
	for last, want := range map[int]bool{32: true, 33: false} {
		m.Pairs = []matrix.Span{{First: 0, Len: 16}, {First: 0, Len: last}}
		if got, _ := geometry.Paired(m, 1e9, rows); got != want {
			t.Errorf("16·%d products: %v", last, got)
		}
	}
	m.Pairs = []matrix.Span{three}
	if got, _ := geometry.Paired(m, 1e9, rows); got {
		t.Error("one column alone has products, which would only make rows shorter")
	}
	m.Pairs = []matrix.Span{one, three}
	for d, want := range map[int]bool{512: true, 513: false} {
		if got, _ := geometry.Paired(m, 1e9, matrix.NewDense(0, d, nil)); got != want {
			t.Errorf("products of rows of %d features: %v", d, got)
		}
	}
}

// Products have nothing along the directions that are said to be nowhere, which are orthonormal and as many as
// indicators that add up to nothing make.
func TestProductsHaveNothingNowhere(t *testing.T) {
	_, _, _, b := geometry.Detailed(detailed(t, loss.PseudoHuber{Threshold: 1}, -1),
		people(50, -1, rand.New(rand.NewPCG(9, 1))), make([]float64, 50))
	some := *b
	some.Pairs = []matrix.Span{{First: 0, Len: 2}, {First: 2, Len: 1}, {First: 3, Len: 4}, {First: 7, Len: 3}}
	some.Mean = make([]float64, 10+2+8+6+4+3+12)
	for _, c := range []struct {
		b    *geometry.Bought
		many int
	}{{b, 1}, {&some, 1 + 5 + 4 + 1 + 1 + 6}} {
		all := c.b.Nowhere()
		if len(all) != c.many {
			t.Errorf("%d directions, want %d", len(all), c.many)
		}
		for i, u := range all {
			x := make([]float64, len(c.b.Mean))
			u.Add(x, 1)
			for j, v := range all {
				if got := v.Along(x); !(math.Abs(got-map[bool]float64{true: 1}[i == j]) <= 1e-14) {
					t.Errorf("directions %d and %d: %v", i, j, got)
				}
			}
		}
	}
	r, z := rand.New(rand.NewPCG(2, 2)), make([]float64, 10)
	for range 20 {
		for _, span := range some.Pairs {
			mean := 0.0
			for j := range span.Len {
				z[span.First+j] = r.NormFloat64()
				mean += z[span.First+j] / float64(span.Len)
			}
			for j := range span.Len {
				if span.Len > 1 {
					z[span.First+j] -= mean
				}
			}
		}
		x := append(slices.Clone(z), geometry.Products(some.Pairs, z)...)
		for k, v := range some.Nowhere() {
			if !(math.Abs(v.Along(x)) <= 1e-12) {
				t.Errorf("a row has %v along direction %d", v.Along(x), k)
			}
		}
	}
}

// A record whose number is missing, with an indicator of that, has no cells and does not count as having the likely
// value; no more numbers than mostCells have cells; and what cannot be is no model.
func TestDetailOfOddRecords(t *testing.T) {
	rows := people(40, 0, rand.New(rand.NewPCG(1, 1)))
	base := rows.Base.(*matrix.CSR)
	lost := &matrix.CSR{N: 1, D: 5, Starts: []int{0, 1}, Columns: []int32{1}, Values: []float64{1}}
	m := detailed(t, loss.PseudoHuber{Threshold: 1}, 0)
	some := []int{slices.IndexFunc(base.Values, func(v float64) bool { return v == 0 }) / 2}
	sums, _, _, b := geometry.Detailed(m, matrix.Select(rows, some), []float64{0})
	if have := sums[len(sums)-1]; have != 0.5 {
		t.Errorf("a record with the likely value adds %v", have)
	}
	one := &matrix.Affine{Base: lost, A: []float64{1}, U: rows.U, Bias: bias}
	sums, _, out, _ := geometry.Detailed(m, one, []float64{0})
	row := make([]float64, b.Width())
	out.Row(row, 0)
	if first := len(b.Mean); sums[len(sums)-1] != 0 || floats.Norm(row[first:first+127], 2) != 0 {
		t.Errorf("a missing number adds %v and has cells %v", sums[len(sums)-1], row[first:])
	}
	for range 9 {
		m.Cells = append(m.Cells, m.Cells[0])
	}
	if _, _, _, b := geometry.Detailed(m, rows, make([]float64, 40)); len(b.Cells) != 4 {
		t.Errorf("%d numbers have cells", len(b.Cells))
	}
	b.Raw = make([]float64, b.Width())
	b.Stretch = 1
	if !b.Fits(5, 1) {
		t.Fatal("what is right does not fit")
	}
	for name, spoil := range map[string]func(b *geometry.Bought){
		"far columns": func(b *geometry.Bought) { b.Pairs[1].First = 100 },
		"no columns":  func(b *geometry.Bought) { b.Pairs[0].First = -5 },
		"far cells":   func(b *geometry.Bought) { b.Cells[0].Feature = 4 },
		"no scale":    func(b *geometry.Bought) { b.Cells[0].Width = 0 },
		"off scale":   func(b *geometry.Bought) { b.Cells[0].At = -3 },
		"no number":   func(b *geometry.Bought) { b.Cells[0].Lower = math.NaN() },
		"no curves":   func(b *geometry.Bought) { b.Curved = false },
	} {
		other := b.CloneAlso().(*geometry.Bought)
		if spoil(other); other.Fits(5, 1) {
			t.Errorf("%s: fits", name)
		}
	}
}

// A form of a row is what is predicted of it, and an effect what predictions differ by between rows that are not
// clipped, cells included; of products it is the slope at the mean row, of a row whose products have the norm that is
// said to be typical.
func TestFormsOfDetail(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	m := detailed(t, loss.PseudoHuber{Threshold: 1}, -1)
	base := &matrix.CSR{N: 2, D: 5, Starts: []int{0, 2, 4}, Columns: []int32{0, 1, 0, 2},
		Values: []float64{-0.5, 1, 0.25, 1}}
	rows := &matrix.Affine{Base: base, A: []float64{0.2, 0.2}, U: []float64{0, 1. / 3, 1. / 3, 1. / 3, 0}, Bias: bias}
	_, _, _, b := geometry.Detailed(m, rows, make([]float64, 2))
	b.Unit, b.Centre, b.Stretch = 0.3, 0.2, 1
	paired := b.CloneAlso().(*geometry.Bought)
	b.Pairs, b.Mean, paired.Cells = nil, b.Mean[:4], nil
	weights, places, theta := make([]float64, 5), make([]float64, 9), make([]float64, b.Width())
	one, other := make([]float64, 5), make([]float64, 5)
	rows.Row(one, 0)
	rows.Row(other, 1)
	floats.SubTo(weights, other, one)
	places[2], places[5] = -1, 1
	form, _ := b.Form(weights, 0, places, 1, 1)
	for j := range theta {
		theta[j] = r.NormFloat64()
	}
	got := make([]float64, 2)
	b.Placed(rows).Margins(got, theta, 0, 2)
	if want := b.Unit * (got[1] - got[0]); !(math.Abs(floats.Dot(form, theta)-want) <= 1e-9) {
		t.Errorf("a form of cells is %v, predictions differ by %v", floats.Dot(form, theta), want)
	}
	places[2], places[5] = 1, 0
	form, shift := b.Form(one, 0, places, 1, 1)
	if want := b.Centre + b.Unit*got[0]; !(math.Abs(floats.Dot(form, theta)+shift-want) <= 1e-9) {
		t.Errorf("the form of a row is %v, its prediction %v", floats.Dot(form, theta)+shift, want)
	}

	const typical, norm = 0.4, 0.5
	form, _ = paired.Form(weights, 0, nil, typical, 1)
	beside := func(h float64) []float64 {
		z := slices.Clone(paired.Mean[:4])
		floats.Scale(math.Sqrt(1+norm*norm), z)
		floats.AddScaled(z, h, weights[:4])
		return geometry.Products(paired.Pairs, z)
	}
	for j, v := range beside(0.5) {
		want := (v - beside(-0.5)[j]) * norm / typical / math.Sqrt(1+norm*norm) * paired.Unit / paired.Scale
		if !(math.Abs(form[4+j]-want) <= 1e-12) {
			t.Errorf("product %d has %v in a form, want %v", j, form[4+j], want)
		}
	}
}

// Rows that were moved and scaled before are what Placed makes of each of them, with all features and with some left
// out, and none is longer than 1 beside the bias.
func TestRowsThatWereMovedAreBounded(t *testing.T) {
	for gate, features := range map[float64]int{0: 5, 1e12: 3} {
		rows, m := people(2000, -1, rand.New(rand.NewPCG(5, 6))), around(t, loss.Logistic{}, 1, 4)
		m.Curves, m.Gate = []matrix.Span{{First: 1, Len: 2}}, gate
		_, _, out, b := geometry.Detailed(m, rows, make([]float64, 2000))
		n, d := out.Dims()
		if n != 2000 || d != features {
			t.Fatalf("%d rows of %d features, want %d", n, d, features)
		}
		placed, row, want, longest := b.Placed(rows), make([]float64, d), make([]float64, d), 0.0
		for i := range n {
			out.Row(row, i)
			placed.Row(want, i)
			if !floats.EqualApprox(row, want, 1e-13) {
				t.Fatalf("row %d is %v, want %v", i, row, want)
			}
			longest = math.Max(longest, math.Sqrt(matrix.SumSquares(row[:d-1])))
		}
		if longest > 1 || longest < 0.999 {
			t.Errorf("the longest row is %v, want 1 at most", longest)
		}
	}
}

// What is predicted of rows that are not clipped changes by what the changed coefficients make of them, of each form by
// its own; products and cells stay as they are.
func TestChangedForms(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	rows, row := people(3, -1, r), make([]float64, 5)
	_, _, _, b := geometry.Detailed(detailed(t, loss.PseudoHuber{Threshold: 1}, -1), rows, make([]float64, 3))
	b.Unit, b.Centre, b.Stretch, b.RowNorm = 0.3, 0.2, 1.7, 1.5
	b.Raw = make([]float64, 2*b.Width())
	for j := range b.Raw {
		b.Raw[j] = r.NormFloat64()
	}
	predicted := func(form int) []float64 {
		all := make([]float64, 3)
		b.Placed(rows).Margins(all, b.Placing()[form*b.Width():(form+1)*b.Width()], 0, 3)
		return all
	}
	before := [][]float64{predicted(0), predicted(1)}
	change := []float64{0.5, -1, 2, 0.1, 3}
	b.Change(1, change)
	for form := range 2 {
		for i, v := range predicted(form) {
			rows.Row(row, i)
			want := before[form][i] + float64(form)*floats.Dot(change, row)
			if !(math.Abs(v-want) <= 1e-12) {
				t.Errorf("form %d of row %d: %v, want %v", form, i, v, want)
			}
		}
	}
}

// What two columns make together beyond each by itself is what their products say of rows that differ in both.
func TestTogetherByProducts(t *testing.T) {
	rows := people(50, -1, rand.New(rand.NewPCG(6, 5)))
	_, _, _, b := geometry.Detailed(detailed(t, loss.PseudoHuber{Threshold: 1}, -1), rows, make([]float64, 50))
	const typical, stretch = 0.4, 1.3
	b.Unit, b.RowNorm = 0.3, 1.5
	one, other := []float64{0.7, 0, 0, 0, 0}, []float64{0, 0.2, -0.5, 0.3, 0}
	products := func(a, b0 float64) []float64 {
		z := slices.Clone(b.Mean[:4])
		floats.AddScaled(z, a/b.RowNorm, one[:4])
		floats.AddScaled(z, b0/b.RowNorm, other[:4])
		return geometry.Products(b.Pairs, z)
	}
	got := b.Together(one, other, typical, stretch)
	norm := b.ProductNorm()
	for j, v := range products(1, 1) {
		want := (v - products(1, 0)[j] - products(0, 1)[j] + products(0, 0)[j]) * norm / typical /
			math.Sqrt(1+norm*norm) * b.Unit * stretch / b.Scale
		if !(math.Abs(got[4+j]-want) <= 1e-12) {
			t.Errorf("product %d has %v, want %v", j, got[4+j], want)
		}
		got[4+j] = 0
	}
	if floats.Norm(got, 2) != 0 || !b.HasProducts(0, 1) || !b.HasProducts(1, 0) || b.HasProducts(0, 0) ||
		b.HasProducts(0, 2) {
		t.Errorf("features have %v together; products of %v", got, b.Pairs)
	}
	if b.Pairs, b.Mean = nil, b.Mean[:4]; floats.Norm(b.Together(one, other, typical, stretch), 2) != 0 ||
		b.HasProducts(0, 1) {
		t.Error("products where there are none")
	}
}

// Without privacy rows are placed about their very mean, labels stay as they are, and of few records there is nothing.
func TestPlain(t *testing.T) {
	rows := people(4000, -1, rand.New(rand.NewPCG(3, 4)))
	m := detailed(t, loss.PseudoHuber{Threshold: 1}, -1)
	b, out := m.Plain(rows, make([]float64, 4000))
	if b == nil || len(b.Pairs) != 2 || b.Centre != 0 || b.Unit != 1 || b.Stretch != 1 {
		t.Fatalf("%+v", b)
	}
	if want, got := matrix.Densed(out), matrix.Densed(b.Placed(rows)); !slices.Equal(want.Data, got.Data) {
		t.Error("rows are placed where the fit did not have them")
	}
	want, row := make([]float64, 5), make([]float64, 5)
	for i := range 4000 {
		rows.Row(row, i)
		floats.AddScaled(want, 1./4000, row)
	}
	if got := b.MeanRow(); !(floats.Distance(got, want[:4], 2) <= 1e-6) {
		t.Errorf("about %v, the mean is %v", got, want[:4])
	}
	for n, opens := range map[int]bool{5: false, 99: false, 101: true} { // a pair of columns asks for n·μ = 100
		if b, _ := m.Plain(people(n, -1, rand.New(rand.NewPCG(3, 4))), make([]float64, n)); (b != nil) != opens {
			t.Errorf("of %d records: %+v", n, b)
		}
	}
	for _, s := range []geometry.Share{{Count: 0, Mean: 0.1}, {Count: 0.1, Mean: 0}, {Count: 0.5, Mean: 0.5},
		{Count: -0.1, Mean: 0.5}} {
		c := geometry.Centred{RowNorm: 1, Bias: bias, Free: 5}
		if _, err := geometry.Calibrate(c, s, 1, 1e-6, nil); err == nil {
			t.Errorf("%+v is taken for shares of a budget", s)
		}
	}
}

// With products and without, the noise in MeanRow is as MeanRowError says (of 1,200 entries with a standard error of a
// fiftieth: √1.25 too little is seen), and rows are cut as Cut says, in the mean within a hundredth.
func TestMeanRow(t *testing.T) {
	rows, row := people(4000, 9, rand.New(rand.NewPCG(3, 4))), make([]float64, 5)
	for _, paired := range []bool{true, false} {
		m := detailed(t, loss.PseudoHuber{Threshold: 1}, -1)
		if m.Cells = nil; !paired {
			m.Pairs = nil
		}
		const runs = 300
		var entries [4][]float64
		var b *geometry.Bought
		for seed := range uint64(runs) {
			b = geometry.About(m, rows, make([]float64, 4000), noise.NewSeeded(seed))
			for j, v := range b.MeanRow() {
				entries[j] = append(entries[j], v/b.MeanRowError())
			}
		}
		var square float64
		for _, of := range entries {
			square += stat.Variance(of, nil) / 4
		}
		if !(math.Abs(math.Sqrt(square)-1) <= 0.07) || (len(b.Pairs) > 0) != paired {
			t.Errorf("products of %v: MeanRow has %v of its noise", b.Pairs, math.Sqrt(square))
		}
		out, placed, got, want := b.Placed(rows), make([]float64, b.Width()), 0.0, 0.0
		norm := math.Sqrt(1 + b.ProductNorm()*b.ProductNorm())
		for i := range 4000 {
			rows.Row(row, i)
			out.Row(placed, i)
			off := floats.Distance(row[:4], b.MeanRow(), 2)
			got += floats.Norm(placed[:4], 2) * b.RowNorm * norm * b.Scale / off / 4000
			want += b.Cut(off*off) / 4000
		}
		if !(got < 0.97) || !(math.Abs(want/got-1) <= 0.01) {
			t.Errorf("products of %v: rows are cut to %v in the mean, not %v", b.Pairs, got, want)
		}
	}
}
