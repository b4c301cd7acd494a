package matrix

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// blocked are rows that are made block by block.
type blocked struct{ *Dense }

func (m blocked) Blocks(lo, hi int, use func(b *Dense, from int)) {
	for ; lo < hi; lo += 100 {
		end := min(lo+100, hi)
		use(NewDense(end-lo, m.D, m.Data[lo*m.D:end*m.D]), lo)
	}
}

// alike returns rows of every kind that are all the same n whole numbers in five columns.
func alike(n int) (*Dense, map[string]Rows) {
	r := rand.New(rand.NewPCG(8, 9))
	all := NewDense(n, 5, nil)
	for i := range all.Data {
		if r.IntN(3) > 0 {
			all.Data[i] = float64(r.IntN(13) - 6)
		}
	}
	part := func(lo, hi int) *Dense {
		p := NewDense(n, hi-lo, nil)
		for i := range n {
			copy(p.Data[i*p.D:(i+1)*p.D], all.Data[i*5+lo:i*5+hi])
		}
		return p
	}
	// Affine rows of all columns, and of some that their base has in another order: each less what is added again.
	of := func(kept []int) *Affine {
		m := &Affine{A: make([]float64, n), W: make([]float64, n), U: []float64{1, -2, 3, 0, 5},
			V: []float64{2, 0, -1, 4, 1}, Bias: 3, Kept: kept}
		width := 5
		if kept != nil {
			width = 6
		}
		base := NewDense(n, width, nil)
		for i := range n {
			m.A[i], m.W[i] = []float64{0.5, 2, -1}[r.IntN(3)], float64(r.IntN(5)-2)
			for j := range 5 {
				v := all.Data[i*5+j] - m.W[i]*m.V[j]
				if j == 4 {
					v -= m.Bias
				}
				switch v = v/m.A[i] + m.U[j]; {
				case kept == nil:
					base.Data[i*5+j] = v
				case kept[j] >= 0:
					base.Data[i*6+kept[j]] = v
				}
			}
			if kept != nil {
				base.Data[i*6+1] = 77 // of no column
			}
		}
		m.Base = base
		return m
	}
	moved := &Affine{Base: NewDense(n, 5, slices.Clone(all.Data)), Bias: -4}
	for i := range n {
		moved.Base.(*Dense).Data[i*5+4] += 4
	}
	short := newSingle(n, 5)
	for i := range n {
		short.set(i, all.Data[i*5:(i+1)*5])
	}
	padded := NewDense(n+7, 5, slices.Concat(make([]float64, 15), all.Data, make([]float64, 20)))
	return all, map[string]Rows{"dense": all, "sparse": all.Sparse(), "float32": short, "blocks": blocked{all},
		"others": other{all}, "beside": HStack{Parts: []Rows{part(0, 2).Sparse(), part(2, 3), part(3, 5)}},
		"affine": of(nil), "kept": of([]int{0, 2, 5, 4, 3}), "moved": moved,
		"stacked": Stack(5, Part{padded, 3, 100}, Part{padded, 100, 100}, Part{all.Sparse(), 97, 353},
			Part{padded, 356, n + 3})}
}

// Rows of every kind are the rows that they are made of, in whatever way they are asked for, whichever records are
// asked for; what is asked for goes to as many places, and to no others.
func TestEveryKindOfRows(t *testing.T) {
	const n = 600
	all, kinds := alike(n)
	theta, w := []float64{3, -1, 2, 5, -4}, make([]float64, n)
	for i := range w {
		w[i] = float64(i%7 - 3)
	}
	for name, rows := range kinds {
		for _, r := range [][2]int{{0, n}, {0, 256}, {90, 110}, {97, 353}, {350, 360}, {n - 1, n}, {9, 9}, {1, 7}} {
			lo, hi := r[0], r[1]
			margins, norms, sum := make([]float64, hi-lo), make([]float64, hi-lo), []float64{1, 2, 3, 4, 5}
			for i := lo; i < hi; i++ {
				for j, v := range all.Data[i*5 : (i+1)*5] {
					margins[i-lo] += v * theta[j]
					norms[i-lo] += v * v
					sum[j] += w[i-lo] * v
				}
				norms[i-lo] = math.Sqrt(norms[i-lo])
			}
			ask := func(what string, want []float64, f func(dst []float64)) {
				t.Helper()
				dst := append(make([]float64, len(want)), 99, 99, 99)
				if f(dst); !slices.Equal(dst, append(want, 99, 99, 99)) {
					t.Errorf("%s, %s of %d to %d: %v, want %v", name, what, lo, hi, dst, want)
				}
			}
			ask("margins", margins, func(dst []float64) { rows.Margins(dst, theta, lo, hi) })
			ask("margins, each alone,", margins, func(dst []float64) { MarginsAlone(rows, dst, theta, lo, hi) })
			ask("norms", norms, func(dst []float64) { rows.Norms(dst, lo, hi) })
			ask("the block", slices.Clone(all.Data[lo*5:hi*5]), func(dst []float64) { Block(rows, dst, lo, hi) })
			got := []float64{1, 2, 3, 4, 5}
			if rows.AddScaled(got, w[:hi-lo], lo, hi); !slices.Equal(got, sum) {
				t.Errorf("%s, sums of %d to %d: %v, want %v", name, lo, hi, got, sum)
			}
		}
		longest := 0.0
		for i := range n {
			longest = math.Max(longest, math.Sqrt(SumSquares(all.Data[i*5:(i+1)*5])))
		}
		if got := MaxNorm(rows); got < longest || got > longest*(1+1e-12) {
			t.Errorf("%s: the longest has norm %v, want %v", name, got, longest)
		}
		some := Densed(Select(rows, []int{599, 3, 3, 100}))
		for k, i := range []int{599, 3, 3, 100} {
			if !slices.Equal(some.Data[k*5:(k+1)*5], all.Data[i*5:(i+1)*5]) {
				t.Errorf("%s: row %d is selected as %v", name, i, some.Data[k*5:(k+1)*5])
			}
		}
		if rows, d := rows.Dims(); rows != n || d != 5 {
			t.Errorf("%s: %d × %d", name, rows, d)
		}
	}
	for _, known := range []float64{0.5, 50} { // what is known is believed
		if got := MaxNorm(&Affine{Base: all, Longest: known}); !(math.Abs(got-known) <= 1e-9) {
			t.Errorf("a norm known to be at most %v is %v", known, got)
		}
	}
	entries := kinds["sparse"].(*CSR)
	for i := range 9 {
		for j := range 5 {
			if v, ok := entries.Entry(i, j); v != all.At(i, j) || ok != (v != 0) {
				t.Errorf("entry %d, %d is %v, %v", i, j, v, ok)
			}
		}
	}
}

// Parts that are no rows of theirs and data of another size are misuse; what looks at a record that is elsewhere fails
// as a *ReadError, so that nothing is computed of zeros that stand for it.
func TestWhatIsNotThere(t *testing.T) {
	m, far, x := NewDense(3, 2, nil), Elsewhere{N: 3, D: 2}, make([]float64, 3)
	for name, f := range map[string]func(){
		"another width": func() { Stack(3, Part{m, 0, 1}) }, "before the first": func() { Stack(2, Part{m, -1, 1}) },
		"beyond the last": func() { Stack(2, Part{m, 2, 4}) }, "no records": func() { NewDense(-1, 2, nil) },
		"no features": func() { NewDense(2, -1, nil) }, "less data": func() { NewDense(2, 2, make([]float64, 3)) },
		"far margins": func() { far.Margins(x, x, 0, 3) }, "far sums": func() { far.AddScaled(x, x, 0, 3) },
		"far norms": func() { far.Norms(x, 0, 3) }, "a far row": func() { far.Row(x, 1) },
	} {
		func() {
			defer func() {
				if _, read := recover().(*ReadError); read != strings.Contains(name, "far") {
					t.Errorf("%s: a read error is %v", name, read)
				}
			}()
			f()
			t.Errorf("%s: nothing is said", name)
		}()
	}
	NewDense(0, 0, nil)
	Stack(2, Part{m, 0, 3})
}
