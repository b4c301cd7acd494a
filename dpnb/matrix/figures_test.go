package matrix

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
)

// What passes over rows of every kind compute, and what their rounding is bounded by, is what it was.
func TestFiguresStay(t *testing.T) {
	golden.Figures(t, "testdata/figures.txt", 1e-11, func(say func(name string, values ...float64)) {
		_, kinds := alike(600)
		for _, name := range slices.Sorted(maps.Keys(kinds)) {
			sayRows(say, name, kinds[name])
			directed, norms := Directions(kinds[name], 2)
			say(name+", directions", floats.Sum(norms), norms[5], math.Round(1e13*(1-MaxNorm(directed))))
			sayRows(say, name+", directed", directed)
		}
		dense := kinds["dense"]
		part := &Affine{Base: dense, A: []float64{-2, 0.5}, U: []float64{1, 0, 0, -1, 0.5}, W: []float64{0.3, -4},
			V: []float64{0, 3, 0, 0, 1}, Bias: -7}
		for _, longest := range []float64{0, 60} {
			part.Longest = longest
			say(fmt.Sprint("terms ", longest), Terms(part), Terms(HStack{Parts: []Rows{part, part}}), part.Terms(),
				Terms(&Affine{Base: part, U: part.U, Longest: longest}), Terms(&Affine{Base: dense}))
		}
		for _, n := range []int{3, 9, 8200, 20000} {
			x := make([]float64, n)
			for i := range x {
				x[i] = math.Sin(float64(i))
			}
			say(fmt.Sprint("of length ", n), SumSquares(x), ShortNorm(n)*0x1p537, Direct(x), SumSquares(x), x[1])
		}
		for _, s := range []float64{1e-310, 1e-200, 1e-140, 1, 1e140, 1e200, 1e308, 0, math.Inf(1), math.NaN()} {
			x := []float64{0.6 * s, -s, s / 3}
			say(fmt.Sprintf("direct %g", s), Direct(x), x[0], x[1], x[2], float64(Shorter(s/3)),
				float64(Shorter(-s*0.7)))
		}
		q := mat.NewSymDense(7, nil)
		Span{1, 5}.Roughen(q, 0.7)
		Span{0, 2}.Roughen(q, 9)
		say("rough", append(q.RawSymmetric().Data, largest([]float64{-3, 2}))...)
		spans := []Span{{1, 2}, {4, 1}, {6, 3}}
		for _, j := range Outside(spans, 12) {
			say(fmt.Sprint("outside ", j), float64(j))
		}
		rises := []bool{Rising(spans), Rising(spans[1:]), Rising([]Span{{0, 0}}), Rising([]Span{{3, 1}, {3, 1}}),
			Rising([]Span{{3, 1}, {4, 1}}), Rising([]Span{{3, 2}, {4, 1}})}
		for i, r := range rises {
			say(fmt.Sprint("rising ", i), map[bool]float64{true: 1}[r])
		}
		d := Direction{2, []float64{0.6, -0.8}}
		x := []float64{1, 2, 3, 4, 5}
		d.Add(x, 2)
		say("direction", append(x, d.Along(x))...)
		c := Complement([]Direction{{0, []float64{1}}, d}, 5)
		var p mat.Dense
		p.Mul(c, c.T()) // the columns themselves may have either sign
		for i := range 5 {
			say(fmt.Sprint("complement ", i), 1+p.At(i, i), 1+p.At(i, 2), 1+p.At(i, 3))
		}
	})
}

// sayRows tells what is computed of rows, over ranges within blocks, across them and of single records.
func sayRows(say func(name string, values ...float64), name string, r Rows) {
	n, d := r.Dims()
	theta, w := make([]float64, d), make([]float64, n)
	for j := range theta {
		theta[j] = math.Cos(float64(3 * j))
	}
	for i := range w {
		w[i] = math.Sin(float64(2 * i))
	}
	all := []float64{float64(n), float64(d), MaxNorm(r), Terms(r), float64(Nonzeros(r)),
		map[bool]float64{true: 1}[Made(r)],
		map[bool]float64{true: 1}[InMemory(r)]}
	for _, k := range [][2]int{{0, n}, {90, 110}, {250, 263}, {n - 1, n}} {
		margins, norms, sum := make([]float64, k[1]-k[0]), make([]float64, k[1]-k[0]), make([]float64, d)
		r.Margins(margins, theta, k[0], k[1])
		r.Norms(norms, k[0], k[1])
		r.AddScaled(sum, w[k[0]:k[1]], k[0], k[1])
		all = append(append(all, floats.Dot(margins, margins), floats.Sum(norms)), sum...)
	}
	say(name, append(all, floats.Sum(Densed(Select(r, []int{5, 500, 5})).Data))...)
}
