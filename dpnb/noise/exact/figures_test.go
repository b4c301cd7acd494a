package exact

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
)

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Grids, steps, tables and the errors that are stated of noise are what they were.
func TestFiguresStay(t *testing.T) {
	golden.Figures(t, "testdata/figures.txt", 1e-12, func(say func(name string, values ...float64)) {
		for _, x := range []float64{Least, Least * 0.99, 1e-9, 0.3, 1, 1.5, 2, 1e5, Largest, Largest * 1.01} {
			m, e := dyadic(x)
			v := []float64{float64(m), float64(e), truth(validScale(x)), Step(x, 0), Step(x, 26), outerStep(x, 1),
				outerStep(x, 70),
				truth(validGrid(x, 0x1p-20)), truth(validGrid(x, 1)), truth(validGrid(x, x)), truth(validGrid(x,
					Step(x, 53)))}
			if validScale(x) {
				r := newRounder(x, Grid(x))
				v = append(v, Grid(x), float64(r.significand), float64(r.exponent), float64(r.grid))
			}
			say(fmt.Sprint("scale ", x), v...)
		}
		for _, rate := range []float64{1e-12, 1e-4, 0.001, 1.0 / 64, 0.03, 0.06} {
			b := newBinomial(rate)
			b.extend()
			b.extend()
			say(fmt.Sprint("binomial ", rate), float64(b.log), float64(b.places), float64(b.m.BitLen()),
				float64(b.n.BitLen()),
				float64(b.first[0]), float64(b.first[1]), float64(b.first[2]), float64(b.word(b.sums[1], 1)))
		}
		for _, x := range []float64{0, 1.5, -1.5, 0.3, -0.3, 1e-30, -1e-30, 1 - 0x1p-53} {
			for _, n := range []int{60, 64, 100, 120} {
				v, inexact := fixed(x, n)
				whole, left := floor(x, -n/2)
				at, _ := whole.Float64()
				say(fmt.Sprintf("fixed %g %d", x, n), float64(v.hi), float64(v.lo), truth(inexact),
					float64(power(n).hi),
					float64(power(n).lo), float64(v.high(n-max(0, n-100)-min(0, n-64))), at, truth(left))
			}
		}
		for _, d := range []int{1, 5, 40} {
			for _, sigma := range []float64{1e-9, 0.7, 3e4} {
				of := func() *Sampler { return New(rand.NewPCG(uint64(d), 9)) }
				dst := make([]float64, d)
				v := []float64{of().FillNormal(dst, sigma), dst[0], of().IsotropicLaplace(d).Fill(dst, sigma), dst[0]}
				of().AddRounded(dst, sigma, Grid(sigma))
				v = append(v, dst[d-1])
				of().Laplaces(d).AddRounded(dst, sigma, Step(sigma, 3))
				v = append(v, dst[d-1])
				of().IsotropicLaplace(d).AddRounded(dst, sigma, Step(sigma, 9))
				v = append(v, dst[d-1])
				of().Geometrics(dst, math.Max(sigma, 0.1))
				say(fmt.Sprintf("noise of %d, %g", d, sigma), append(v, dst[d-1])...)
			}
		}
		s := New(rand.NewPCG(1, 9))
		for _, rate := range []float64{0, 1e-3, 0.05, 0.3, 1} {
			chosen := s.Subset(nil, rate, 1000)
			sum := 0.0
			for _, i := range chosen {
				sum += float64(i)
			}
			say(fmt.Sprint("subset ", rate), float64(len(chosen)), sum, float64(s.Poisson(1+9*rate)),
				float64(s.Below(1000)))
		}
		x := []float64{0.1, -0.77, 1.3, 0.5, 2.25, 0, 0.01, -3}
		add, rows, outer, total := make([]float64, 4), make([]float64, 4), make([]float64, 16), NewTotal(4, 0x1p-7)
		Add(add, 0.3, x[:4], 0x1p-7)
		AddSparse(add, 0.3, []int32{3, 1}, x, 0x1p-7)
		AddRows(rows, []float64{0.3, -0.7}, x, 0x1p-7)
		AddOuter(outer, x, 2, 4, 0x1p-7)
		total.Add(add)
		total.Add(rows)
		all := append(append(append([]float64{}, add...), rows...), outer...)
		total.Write(add)
		preRound(x, 0x1p-5)
		o := NewOuter(4, 9)
		o.Add(x, 2)
		say("sums", append(append(append(all, add...), x...), o.Matrix().RawSymmetric().Data...)...)
		say("outer", o.step, OuterRounding, leastGeometric, largestGeometric)
	})
}
