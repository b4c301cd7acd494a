package ssp

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// unit returns a random vector of norm 1: a coordinate axis, one with equal entries, a few of them, or any.
func unit(rng *noise.Seeded, d int) []float64 {
	x := make([]float64, d)
	switch rng.IntN(4) {
	case 0:
		x[rng.IntN(d)] = 1
	case 1:
		for j := range x {
			x[j] = float64(2*rng.IntN(2) - 1)
		}
	case 2:
		for j := range x {
			x[j] = rng.NormFloat64() * float64(rng.IntN(2))
		}
		x[0] += 1e-3
	default:
		rng.Gaussian(x, 1)
	}
	floats.Scale(1/floats.Norm(x, 2), x)
	return x
}

// neighbours returns the moments of random records with and without one more.
func neighbours(rng *noise.Seeded, n, d int) (without, with moments) {
	x, y := matrix.NewDense(n+1, d, nil), make([]float64, n+1)
	for i := range y {
		copy(x.Data[i*d:], unit(rng, d))
		y[i] = 2*rng.Float64() - 1
		if i == 0 || rng.IntN(3) == 0 {
			y[i] = 1
		}
	}
	with = newMoments(x, y, 1, 1, 1)
	return newMoments(x.Select(index(1, n+1)), y[1:], 1, 1, 1), with
}

func index(lo, hi int) (i []int) {
	for k := lo; k < hi; k++ {
		i = append(i, k)
	}
	return i
}

// One record moves each release, in units of its noise, by at most the sensitivity that the accounting uses, and
// reaches it; noise that is too small off the diagonal is found out.
func TestSensitivitiesByBruteForce(t *testing.T) {
	rng := noise.NewSeeded(1)
	const d = 4
	f := Functional{Features: d, Noise: Laplace}
	var gram, half, cross, eigen, laplace, both, pair float64
	for range 4000 {
		a, b := neighbours(rng, 1+rng.IntN(8), d)
		var diag, off, l1 float64
		for i := range d {
			for j := i; j < d; j++ {
				v := b.gram.At(i, j) - a.gram.At(i, j)
				if i == j {
					diag += v * v
					l1 += math.Abs(0.5 * v)
				} else {
					off += v * v
					l1 += math.Abs(v)
				}
			}
		}
		q := floats.Distance(a.cross, b.cross, 2)
		var ea, eb mat.EigenSym
		ea.Factorize(a.gram, false)
		eb.Factorize(b.gram, false)
		gram = math.Max(gram, math.Sqrt(diag+2*off)) // off the diagonal σ/√2
		half = math.Max(half, math.Sqrt(diag+4*off)) // σ/2 would be too small
		cross = math.Max(cross, q)
		both = math.Max(both, math.Sqrt(diag+2*off+q*q))
		eigen = math.Max(eigen, math.Abs(floats.Min(eb.Values(nil))-floats.Min(ea.Values(nil))))
		pair = math.Max(pair, math.Abs(floats.Max(eb.Values(nil))-floats.Max(ea.Values(nil))))
		laplace = math.Max(laplace, l1+floats.Distance(a.cross, b.cross, 1))
	}
	for name, v := range map[string][3]float64{
		"XᵀX": {gram, 1, 0.9999}, "Xᵀy": {cross, 1, 0.9999}, "functional, Gaussian": {both, math.Sqrt2,
			0.9999 * math.Sqrt2},
		"functional, Laplace": {laplace, f.Sensitivity(), 0.9999 * (2 + 2)}, "smallest eigenvalue": {eigen, 1, 0.3},
		"largest": {pair, 1, 0.99},
	} {
		if v[0] > v[1]*inflation || v[0] < v[2] {
			t.Errorf("%s: moved by up to %.6f, claimed %.6f", name, v[0], v[1])
		}
	}
	if half < 1.2 {
		t.Errorf("too little noise off the diagonal is not found out: %g", half)
	}
	if (Functional{Features: d, Noise: Gaussian}).Sensitivity() < both {
		t.Error("the functional mechanism's Gaussian sensitivity is too small")
	}
	// In one dimension the smallest eigenvalue moves by all of ‖x‖².
	a, b := neighbours(rng, 3, 1)
	if moved := b.gram.At(0, 0) - a.gram.At(0, 0); !(math.Abs(moved-1) <= momentStep(1)) {
		t.Errorf("d = 1: moved by %g", moved)
	}
}

// The noise has the law that the sensitivities are measured by: variance σ² on the diagonal and σ²/2 off it; for the
// polynomial Laplace of 2b and b.
func TestNoiseLaws(t *testing.T) {
	const d, runs, sigma = 60, 40, 3.0
	const diagonals, pairs = runs * d, runs * d * (d - 1) / 2
	for name, src := range map[string]noise.Source{"secure": noise.NewSecure(), "seeded": noise.NewSeeded(2)} {
		var diag, off, ldiag, loff float64
		draw := noise.Exact(src)
		for range runs {
			g, l := mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
			addSymmetric(g, draw.SymmetricNormals(d), sigma)
			draw.SymmetricLaplaces(d).AddRounded(l, 2*sigma, sigma, exact.Grid(sigma))
			for i := range d {
				diag += g.At(i, i) * g.At(i, i) / diagonals
				ldiag += math.Abs(l.At(i, i)) / diagonals
				for j := i + 1; j < d; j++ {
					off += g.At(i, j) * g.At(i, j) / pairs
					loff += math.Abs(l.At(i, j)) / pairs
				}
			}
		}
		// ±5.5 standard deviations of each estimate: √(2/n) for a normal variance, √(1/n) for the mean of |Laplace|.
		for what, v := range map[string][3]float64{
			"diagonal":         {diag, sigma * sigma, math.Sqrt(2.0 / diagonals)},
			"off":              {off, sigma * sigma / 2, math.Sqrt(2.0 / pairs)},
			"Laplace diagonal": {ldiag, 2 * sigma, math.Sqrt(1.0 / diagonals)},
			"Laplace off":      {loff, sigma, math.Sqrt(1.0 / pairs)},
		} {
			if !(math.Abs(v[0]/v[1]-1) <= 5.5*v[2]) {
				t.Errorf("%s, %s: %g, want %g", name, what, v[0], v[1])
			}
		}
	}
}

// ‖E‖ ≤ B but for a probability of ρ, and B is no more than twice a typical ‖E‖.
func TestNoiseNorm(t *testing.T) {
	rng := noise.NewSeeded(4)
	for _, d := range []int{1, 5, 40} {
		m := AdaSSP{SigmaGram: 2, Failure: 0.1}
		above, mean := 0, 0.0
		const runs = 300
		for range runs {
			e := mat.NewSymDense(d, nil)
			addSymmetric(e, noise.Exact(rng).SymmetricNormals(d), 2)
			var eig mat.EigenSym
			eig.Factorize(e, false)
			norm := math.Max(floats.Max(eig.Values(nil)), -floats.Min(eig.Values(nil)))
			mean += norm / runs
			if norm > m.NoiseNorm(d) {
				above++
			}
		}
		// Binomial(300, 0.1) is above 50 with a probability below 1e-3.
		if above > 50 || d > 1 && m.NoiseNorm(d) > 2.5*mean {
			t.Errorf("d = %d: ‖E‖ > B in %d of %d, mean ‖E‖ %.3g, B = %.3g", d, above, runs, mean, m.NoiseNorm(d))
		}
	}
}

// The moments by the formula, at any number of workers, dense and sparse.
func TestMoments(t *testing.T) {
	rng := noise.NewSeeded(5)
	const n, d = 1000, 7
	x, y := matrix.NewDense(n, d, nil), make([]float64, n)
	rng.Gaussian(x.Data, 1)
	rng.Gaussian(y, 1)
	m := newMoments(x, y, 2, 3, 1)
	var want mat.Dense
	a := mat.NewDense(n, d, x.Data)
	want.Mul(a.T(), a)
	var size float64
	for i := range d {
		for j := i; j < d; j++ {
			if diff := math.Abs(m.gram.At(i, j) - want.At(i, j)/4); diff > 0.5*momentStep(d)*n {
				t.Errorf("XᵀX at %d, %d: %g, want %g", i, j, m.gram.At(i, j), want.At(i, j)/4)
			}
		}
		col := mat.Col(nil, i, a)
		size = math.Max(size, math.Abs(m.cross[i]-floats.Dot(col, y)/6))
	}
	if size > 0.5*momentStep(d)*n {
		t.Errorf("Xᵀy is off by %g", size)
	}
	for _, workers := range []int{2, 5} {
		for _, rows := range []matrix.Rows{x, x.Sparse()} {
			again := newMoments(rows, y, 2, 3, workers)
			if !mat.Equal(again.gram, m.gram) || !floats.Equal(again.cross, m.cross) {
				t.Errorf("%d workers, %T: other moments", workers, rows)
			}
		}
	}
}

// Sums are taken to integers more than once of records of more than blockRows·flushBlocks, and then begin anew: every
// record is in them once.
func TestMomentsOfMillions(t *testing.T) {
	const n = blockRows*flushBlocks + blockRows + 1
	x := matrix.NewDense(n, 1, nil)
	for i := range x.Data {
		x.Data[i] = 0.5
	}
	m := moments{gram: mat.NewSymDense(1, nil)}
	cross := m.add(x, 1, 1, func(int, []float64) float64 { return 1 })
	if m.gram.At(0, 0) != n/4. || cross[0] != n/2. {
		t.Errorf("%d records: %v and %v", n, m.gram.At(0, 0), cross[0])
	}
}

// TestMomentsOfNeighboursDifferByTheRecord, exactly, for every remainder of four and of a block, wherever the record
// stands, and what it adds is no longer than is paid for. Sums of products in float64 are found out.
func TestMomentsOfNeighboursDifferByTheRecord(t *testing.T) {
	rng := noise.NewSeeded(6)
	const d = 5
	found := 0
	for _, n := range []int{1, 2, 3, 4, 5, 63, 64, 65, 66, 130} {
		x, y := matrix.NewDense(n, d, nil), make([]float64, n)
		for i := range n {
			copy(x.Data[i*d:], unit(rng, d))
			y[i] = 2*rng.Float64() - 1
		}
		for _, at := range []int{0, n / 2, n - 1} {
			others := append(index(0, at), index(at+1, n)...)
			rest := make([]float64, 0, n)
			for _, i := range others {
				rest = append(rest, y[i])
			}
			with := newMoments(x.Sparse(), y, 1, 1, 3)
			without := newMoments(x.Select(others), rest, 1, 1, 1)
			alone := newMoments(x.Select([]int{at}), y[at:at+1], 1, 1, 1)
			var size float64
			var a, b mat.SymDense
			a.SymOuterK(1, mat.NewDense(n, d, x.Data).T())
			if n > 1 {
				b.SymOuterK(1, mat.NewDense(n-1, d, x.Select(others).Data).T())
			} else {
				b.ReuseAsSym(d)
			}
			for j := range d {
				if with.cross[j]-without.cross[j] != alone.cross[j] {
					t.Errorf("n = %d, record %d: Xᵀy differs by something else", n, at)
				}
				for l := range d {
					v := alone.gram.At(j, l)
					if with.gram.At(j, l)-without.gram.At(j, l) != v {
						t.Errorf("n = %d, record %d: XᵀX differs by something else", n, at)
					}
					size += v * v
					if a.At(j, l)-b.At(j, l) != x.At(at, j)*x.At(at, l) {
						found++
					}
				}
			}
			if size > inflation*inflation || floats.Norm(alone.cross, 2) > inflation {
				t.Errorf("a record adds a matrix of norm %v", math.Sqrt(size))
			}
		}
	}
	if found < 100 {
		t.Errorf("sums in float64 are found out in %d entries only", found)
	}
}

// TestMomentStep: what rounding adds to the Frobenius norm, and to the ℓ₁ norm of the polynomial's coefficients, is at
// most half of what is granted.
func TestMomentStep(t *testing.T) {
	for d := 1; d < 1<<20; d = d*3/2 + 1 {
		h, k := momentStep(d), float64(d)
		l1 := h * (k/2 + k/4 + k*(k-1)/4)
		if h*k/2 > arithmetic/2 || l1 > arithmetic/2*(math.Sqrt(k)+k/2) || h < 1e-6*arithmetic/k {
			t.Errorf("d = %d: h = %g", d, h)
		}
		if most := blockRows * flushBlocks / h; d <= 1<<17 && most > 1<<53 {
			t.Errorf("d = %d: a sum in float64 may have %g steps", d, most)
		}
	}
}

// TestSmallestEigenvalueOfLargeMoments: beyond the norm for which the computed eigenvalue's error is paid for, the
// matrix is scaled down; below it nothing is.
func TestSmallestEigenvalueOfLargeMoments(t *testing.T) {
	of := func(size float64) float64 {
		a := mat.NewSymDense(2, []float64{size, 0, 0, 2 * size})
		return must.Get(smallestEigenvalue(a))
	}
	most := 0.25 * arithmetic / (32 * 0x1p-53)
	for size, want := range map[float64]float64{1: 1, 1e6: 1e6, 1e15: most / math.Sqrt(5)} {
		if got := of(size); !(math.Abs(got/want-1) <= 1e-12) {
			t.Errorf("%g for diag(1, 2)·%g, want %g", got, size, want)
		}
	}
}

// A bound on the norm the inverse of which overflows.
func TestMomentsOfTinyRecords(t *testing.T) {
	const r = 1e-310
	x := matrix.NewDense(3, 2, []float64{r, 0, 0, r, -r, 0})
	m := newMoments(x, []float64{1, 1, -1}, r, 1, 1)
	if a, b := m.gram.At(0, 0), m.gram.At(0, 1); a != 2 || b != 0 || m.cross[0] != 2 || m.cross[1] != 1 {
		t.Errorf("XᵀX = %v, %v, …, Xᵀy = %v", a, b, m.cross)
	}
}

// Noise in several coefficients: a shift that is spread over them never costs more than the same in one, at any ε. A
// claim of nine tenths of it is found out.
func TestSpreadLaplaceShiftsCostLess(t *testing.T) {
	testscale.Slow(t)
	of := func(c float64) privacy.Profile {
		return must.Get(privacy.Laplace{Scale: 1, Sensitivity: c}.Profile(privacy.AddRemove))
	}
	for _, c := range []float64{0.1, 1, 6} {
		found := false
		for _, share := range []float64{0.5, 0.2, 0.03} {
			both := must.Get(pld.New([]pld.Component{{Profile: of(share * c), Count: 1},
				{Profile: of((1 - share) * c), Count: 1}}, nil))
			for k := range 20 {
				eps := c * float64(k) / 20
				b := must.Get(both.DeltaBounds(eps))
				if claim := privacy.LogDeltaUpper(of(c), eps); b.Lower > claim {
					t.Errorf("ℓ₁ shift %g, %g of it in one: ln δ(%g) ≥ %g, claimed %g", c, share, eps, b.Lower, claim)
				}
				found = found || b.Lower > privacy.LogDeltaUpper(of(0.9*c), eps)
			}
		}
		if !found {
			t.Errorf("ℓ₁ shift %g: too small a claim is not found out", c)
		}
	}
}

// randomPlane returns n records of norm 2 at most, labels xᵀθ + noise within ±3.
func randomPlane(rng *noise.Seeded, n int, theta []float64) (*matrix.Dense, []float64) {
	d := len(theta)
	x, y := matrix.NewDense(n, d, nil), make([]float64, n)
	for i := range y {
		row := x.Data[i*d : (i+1)*d]
		copy(row, unit(rng, d))
		floats.Scale(1.9, row)
		y[i] = math.Max(-3, math.Min(3, floats.Dot(row, theta)+0.2*rng.NormFloat64()))
	}
	return x, y
}

// gone are rows that cannot be read any longer.
type gone struct{ *matrix.Dense }

func (gone) Row([]float64, int) { panic(&matrix.ReadError{Err: errors.New("gone")}) }

// Rows that cannot be read are an error to whoever reads, not the end of the program.
func TestRowsThatAreGone(t *testing.T) {
	rows := gone{matrix.NewDense(200, 2, nil)}
	sigmas := AdaSSP{RowNorm: 1, LabelBound: 1, SigmaEigen: 1, SigmaGram: 1, SigmaCross: 1, Failure: 0.05}
	for _, m := range []mechanism.Mechanism{sigmas, Boosted{sigmas, 0.5, 2}, TukeyEM{RowNorm: 1, LabelBound: 1,
		Features: 2, Models: 8, TestScale: 1, Eta: 1, Delta: 0.1}} {
		for workers := 1; workers <= 2; workers++ {
			err := func() (err error) {
				defer matrix.Reading(&err)()
				_, err = m.Run(rows, make([]float64, 200), noise.NewSeeded(1), &mechanism.Settings{Workers: workers})
				return err
			}()
			if read := (*matrix.ReadError)(nil); !errors.As(err, &read) {
				t.Errorf("%v: %v", m, err)
			}
		}
	}
}
