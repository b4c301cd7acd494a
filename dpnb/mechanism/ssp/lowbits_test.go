package ssp

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// noisy is what a mechanism of this package makes its coefficients of: numbers that nobody sees, which tell at least as
// much as the coefficients do.
type noisy struct {
	name string
	// sums without noise and their scales: the matrix's upper triangle, the vector and, of AdaSSP, the smallest
	// eigenvalue.
	sums func(mo moments) []float64
	// scales of d features.
	scales []float64
	// release draws noise from src as the mechanism does and returns the noisy sums, and the coefficients that follow
	// from them.
	release func(mo moments, src noise.Source) (sums, theta []float64)
	run     func(rows matrix.Rows, labels []float64, src noise.Source) (*mechanism.Release, error)
}

func triangle(a *mat.SymDense) (x []float64) {
	for j := range a.SymmetricDim() {
		for l := j; l < a.SymmetricDim(); l++ {
			x = append(x, a.At(j, l))
		}
	}
	return x
}

// triangleScales returns the scales of the noise on and beside the diagonal.
func triangleScales(d int, diagonal, beside float64) (x []float64) {
	for j := range d {
		x = append(x, diagonal)
		for range d - 1 - j {
			x = append(x, beside)
		}
	}
	return x
}

func repeated(v float64, d int) []float64 { return slices.Repeat([]float64{v}, d) }

func attackedAdaSSP(m AdaSSP, d int) noisy {
	beside := m.SigmaGram / math.Sqrt2 * (1 + 0x1p-50)
	least := func(mo moments) float64 {
		e, err := smallestEigenvalue(mo.gram)
		if err != nil {
			panic(err)
		}
		return e
	}
	return noisy{
		name: "AdaSSP",
		sums: func(mo moments) []float64 { return slices.Concat(triangle(mo.gram), mo.cross, []float64{least(mo)}) },
		scales: slices.Concat(triangleScales(d, m.SigmaGram, beside), repeated(m.SigmaCross, d),
			[]float64{m.SigmaEigen}),
		release: func(mo moments, src noise.Source) ([]float64, []float64) {
			draw := noise.Exact(src)
			ofEigen, ofGram, ofCross := draw.Normals(1), draw.SymmetricNormals(d), draw.Normals(d)
			e := []float64{least(mo)}
			ofEigen.AddRounded(e, m.SigmaEigen, exact.Grid(m.SigmaEigen))
			addSymmetric(mo.gram, ofGram, m.SigmaGram)
			ofCross.AddRounded(mo.cross, m.SigmaCross, exact.Grid(m.SigmaCross))
			sums := slices.Concat(triangle(mo.gram), mo.cross, e)
			e[0] -= m.SigmaEigen * math.Sqrt(2*math.Log(1/m.Failure))
			ridge := math.Max(0, m.NoiseNorm(d)-math.Max(0, e[0]))
			theta, err := solveEigen(mo.gram, mo.cross, func(e float64) float64 {
				return 1 / math.Max(e+ridge,
					m.SigmaGram)
			})
			if err != nil {
				panic(err)
			}
			floats.Scale(m.LabelBound/m.RowNorm, theta)
			return sums, theta
		},
		run: func(rows matrix.Rows, labels []float64, src noise.Source) (*mechanism.Release, error) {
			return m.Run(rows, labels, src, &mechanism.Settings{Workers: 1})
		},
	}
}

func attackedFunctional(m Functional) noisy {
	d, diagonal, beside := m.Features, m.Scale, m.Scale/math.Sqrt2*(1+0x1p-50)
	deviation := m.Scale / math.Sqrt2
	if m.Noise == Laplace {
		diagonal, beside, deviation = 2*m.Scale, m.Scale, math.Sqrt2*m.Scale
	}
	return noisy{
		name: fmt.Sprintf("functional mechanism, %s noise", map[Noise]string{Laplace: "Laplace",
			Gaussian: "normal"}[m.Noise]),
		sums:   func(mo moments) []float64 { return slices.Concat(triangle(mo.gram), mo.cross) },
		scales: slices.Concat(triangleScales(d, diagonal, beside), repeated(m.Scale, d)),
		release: func(mo moments, src noise.Source) ([]float64, []float64) {
			draw := noise.Exact(src)
			matrix, vector := draw.SymmetricNormals, draw.Normals
			if m.Noise == Laplace {
				matrix, vector = draw.SymmetricLaplaces, draw.Laplaces
			}
			ofGram, ofCross := matrix(d), vector(d)
			if m.Noise == Laplace {
				ofGram.AddRounded(mo.gram, diagonal, beside, exact.Grid(m.Scale))
			} else {
				addSymmetric(mo.gram, ofGram, m.Scale)
			}
			ofCross.AddRounded(mo.cross, m.Scale, exact.Grid(m.Scale))
			theta, err := solveEigen(mo.gram, mo.cross, func(e float64) float64 {
				if e += 4 * deviation; e >= deviation {
					return 1 / e
				}
				return 0
			})
			if err != nil {
				panic(err)
			}
			floats.Scale(m.LabelBound/m.RowNorm, theta)
			return slices.Concat(triangle(mo.gram), mo.cross), theta
		},
		run: func(rows matrix.Rows, labels []float64, src noise.Source) (*mechanism.Release, error) {
			return m.Run(rows, labels, src, &mechanism.Settings{Workers: 1})
		},
	}
}

// The coefficients are a function of noisy sums alone, which nobody sees. The attack is given those sums, all of them,
// which is more than any adversary has; that the released coefficients follow from them, bit by bit, is checked in
// every run. DPNB_LOWBITS asks for so many runs, and for 109 features besides 20.
func TestLowBits(t *testing.T) {
	testscale.Slow(t)
	runs, shapes := 60, []int{20}
	if !testscale.Full() {
		runs = 30
	}
	if n, err := strconv.Atoi(os.Getenv("DPNB_LOWBITS")); err == nil {
		runs, shapes = n, []int{20, 109}
	}
	const epsilon, delta, n = 0.1, 1e-5, 200
	for _, d := range shapes {
		ssp := must.Get(CalibrateAdaSSP(AdaSSPConfig{RowNorm: 1, LabelBound: 1,
			Epsilon: epsilon, Delta: delta, Adjacency: privacy.AddRemove}))
		all := []noisy{attackedAdaSSP(ssp, d)}
		for _, law := range []Noise{Gaussian, Laplace} {
			c := FunctionalConfig{RowNorm: 1, LabelBound: 1, Features: d, Epsilon: epsilon,
				Adjacency: privacy.AddRemove}
			if law == Gaussian {
				c.Delta = delta
			}
			m := must.Get(CalibrateFunctional(c))
			all = append(all, attackedFunctional(m))
		}
		rng := noise.NewSeeded(3)
		rows, labels := matrix.NewDense(n+1, d, nil), make([]float64, n+1)
		for i := range labels {
			x := unit(rng, d)
			floats.Scale(0.99, x)
			copy(rows.Data[i*d:], x)
			labels[i] = 2*rng.Float64() - 1
		}
		data := func(with bool) (*matrix.Dense, []float64) {
			if with {
				return rows, labels
			}
			return rows.Select(index(0, n)), labels[:n]
		}
		for _, a := range all {
			sums := func(with bool, _ *noise.Seeded) ([]float64, error) {
				x, y := data(with)
				return a.sums(newMoments(x, y, 1, 1, 1)), nil
			}
			attack := audit.LowBits{Scales: a.scales, Sums: sums, Release: func(with bool, src *noise.Seeded) (
				[]float64, error) {
				x, y := data(with)
				released, theta := a.release(newMoments(x, y, 1, 1, 1), src.Stream(0))
				r, err := a.run(x, y, src.Stream(0))
				if err == nil && !slices.Equal(theta, r.Coefficients) {
					err = fmt.Errorf("other coefficients follow from the sums than are released")
				}
				return released, err
			}}
			if a.name != "AdaSSP" && a.scales[0] > a.scales[len(a.scales)-1] {
				attack.Allowed = 1 / (1 + math.Exp(-epsilon)) // Laplace noise: pure ε
			}
			found, planted, err := audit.LowBitsCase{Name: fmt.Sprintf("%s, d = %d", a.name, d), Attack: attack,
				Fault: audit.FloatSum}.Check(t.Context(), runs)
			if t.Logf("%s, d = %d: %v; in float64: %v", a.name, d, found, planted); err != nil {
				t.Error(err)
			}
		}
	}
}
