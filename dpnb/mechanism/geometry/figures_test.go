package geometry

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
)

func TestFiguresStay(t *testing.T) {
	fit := objpert.Objective{Loss: loss.PseudoHuber{Threshold: 1}, RowNorm: 1.1, Lambda: 2, Sigma: 3, Tolerance: 1e-11,
		OutputSigma: 1e-3}
	span := func(first, n int) matrix.Span { return matrix.Span{First: first, Len: n} }
	plain := Centred{Of: fit, CountSigma: 4, MeanSigma: 5, Mu: 0.8, RowNorm: 1, Bias: 0.3, Free: 5}
	numbers, counts, curved, laplace, whole := plain, plain, plain, plain, plain
	numbers.Numbers, counts.Most, whole.Whole = true, 7, 0.6
	curved.Curves, curved.Crossed, curved.Gate = []matrix.Span{span(0, 4), span(4, 5)}, 1, 9
	curved.Nowhere = []matrix.Direction{{First: 9, Weights: []float64{0.6, 0.8}}}
	curved.Held = []matrix.Direction{{First: 0, Weights: []float64{1, -1}}, {First: 5, Weights: []float64{1, 1}},
		{First: 8, Weights: []float64{1, 2}}}
	laplace, laplace.Law = curved, mechanism.Laplace
	planned := numbers
	planned.Planned, planned.CountSigma = 300, 0
	detailed := numbers
	detailed.Cells = []Number{{Feature: 0, Lower: -1, Width: 2, At: -0.4}}
	detailed.Pairs = []matrix.Span{span(0, 1), span(1, 2), span(3, 3)}
	of := map[string]Centred{"plain": plain, "numbers": numbers, "counts": counts, "whole": whole, "curved": curved,
		"laplace": laplace, "planned": planned, "detailed": detailed}
	names := []string{"plain", "numbers", "counts", "whole", "curved", "laplace", "planned", "detailed"}
	rng := noise.NewSeeded(3)
	dense, labels := matrix.NewDense(150, 12, nil), make([]float64, 150)
	for i := range labels {
		for j := range 11 {
			dense.Data[12*i+j] = 0.7 * (rng.Float64() - 0.4)
		}
		dense.Data[12*i+11], labels[i] = 0.3, 2*rng.Float64()-0.8
	}
	base := &matrix.CSR{N: 900, D: 7, Starts: []int{0}}
	people := &matrix.Affine{Base: base, A: make([]float64, base.N), U: make([]float64, 7), Bias: 0.3}
	for i := range base.N {
		v := -0.4
		if i%5 == 0 {
			v = math.Mod(0.37*float64(i), 2) - 1
		}
		base.Columns, base.Values = append(base.Columns, 0, int32(1+i%5)), append(base.Values, v, 0.5)
		base.Starts, people.A[i] = append(base.Starts, len(base.Values)), 0.8
	}
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		for _, name := range names {
			c := of[name]
			put(name, c.cost(), c.sums(5, false), c.sums(700, true), c.Validate(), c.Feasible(5, 0))
			for _, s := range []Share{Default, DefaultPure, {0.5, 0.5}, {0, 0.1}} {
				got, err := s.of(c)
				put(name+" shares", got, err)
				some, err := Calibrate(c, s, 1, 1e-6, func(beside, mu float64) (mechanism.Informed,
					func(float64) float64, error) {
					return fit, func(share float64) float64 { return fit.Part(share, beside) }, nil
				})
				put(name+" calibrated", some.CountSigma, some.MeanSigma, some.Mu, err)
				some, err = CalibratePure(c, s, 2, func(float64) (mechanism.Informed, error) { return fit, nil })
				put(name+" by Laplace noise", some.CountSigma, some.MeanSigma, some.Mu, err)
			}
			if name == "detailed" {
				continue
			}
			for _, count := range []float64{math.Inf(-1), 30, 60, 500, 1e6} {
				f := c.frame(count, dense)
				put(fmt.Sprint(name, " for ", count), f.Records, f.Curved, f.CrossedLines, f.scale, f.variance, f.worth,
					f.features(), f.entries(), f.more(), c.counting(&f), len(f.nowhere()), f.held(), f.space.longer())
				sums := f.total(dense, labels, 1)
				f.centre(f.space.from(sums))
				put("its sums", sums)
				row, made := make([]float64, 12), make([]float64, f.Width())
				dense.Row(row, 7)
				f.Bought.centred(made, row)
				put("its frame", f.Mean, f.Scale, f.Centre, f.Unit, f.Typical, f.MeanError, f.MeanRow(), made)
				m, stretch := c.choose(f)
				chosen := m.(objpert.Objective)
				put("its fit", chosen.Lambda, chosen.Penalty, stretch, f.scaled(labels)[3:5])
				placed := f.rows(dense, 1)
				placed.Margins(row[:2], made[:placedWidth(placed)], 4, 6)
				put("its rows", row[:2], matrix.MaxNorm(placed))
				f.Raw, f.Stretch = made, 1.2
				put("unfolded", f.unfold(), f.Placing())
			}
		}
		for _, count := range []float64{400, 3000, 9000} {
			f := detailed.frame(count, people)
			total := f.total(people, make([]float64, base.N), 1)
			for j := range total {
				total[j] *= count / float64(base.N)
			}
			f.centre(total)
			f.Stretch, f.Raw = 1.1, make([]float64, f.Width())
			for j := range f.Raw {
				f.Raw[j] = 1 / float64(j+1)
			}
			before := f.unfold()
			f.Change(0, []float64{0.5, -1, 2, 0.1, 3, 0, 1})
			put(fmt.Sprint("detail for ", count), sum(total), sum(f.Mean), f.Scale, len(f.Pairs), len(f.Cells),
				f.CellFeatures(), f.ProductNorm(), f.paired(), f.HasCells(0), f.HasProducts(0, 1), f.Fits(7, 1),
				f.Fits(6, 1),
				before, f.unfold())
			rows, margins := f.rows(people, 1), make([]float64, 11)
			rows.Margins(margins, f.Raw, 0, 11)
			form, shift := f.Form([]float64{0.1, 0, 0.2, 0, 0, -0.1, 1}, 0, []float64{0, 1, -1, 0, 0.5}, 0.4, 1.3)
			together := f.Together([]float64{0.7, 0, 0, 0, 0, 0}, []float64{0, 0.2, 0.3, 0, 0, 0}, 0.4, 1.3)
			put("its rows", margins, sum(form), shift, sum(together), matrix.MaxNorm(rows))
			m, stretch := detailed.choose(f)
			put("its fit", m.(objpert.Objective).Lambda, stretch, len(f.Bought.Nowhere()))
		}
		b, _ := detailed.Plain(people, make([]float64, base.N))
		put("plain", sum(b.Mean), b.Scale, len(b.Cells))
		for _, n := range []Number{{0, -1, 2, -0.4}, {0, 0, 1, 0}, {1, 2, 3, 5}} {
			at, middle, knots, norm := n.Knots()
			put("knots", at, middle, knots, norm, n.on(1), n.on(2))
			for _, u := range []float64{-1, 0, 0.1, 0.3, 0.305, 0.7, 1, math.NaN()} {
				n.Cells(u, func(cell int, v float64) { put(fmt.Sprint("cell at ", u), cell, v) })
			}
		}
		// Labels at a bound but for a few, and what is nearly so.
		wide, skewed, most := numbers, make([]float64, len(labels)), make([]float64, len(labels))
		wide.Wide = true
		for i := range skewed {
			if skewed[i], most[i] = -1, -1; i%25 == 0 {
				skewed[i], most[i] = 0.5, -0.8
			}
		}
		for _, count := range []float64{150, 500, 3000, 1e9} {
			for _, y := range [][]float64{skewed, most, labels} {
				f := wide.frame(count, dense)
				total := f.total(dense, y, 1)
				for j := range total {
					total[j] *= count / float64(len(labels))
				}
				f.centre(total)
				put(fmt.Sprint("wide for ", count), f.Centre, f.Unit, Skewed(f.Centre, f.Unit), f.Uncut())
			}
		}
		for _, part := range []float64{0.99, 1.01} {
			put("skewed", Skewed(1-part*skewedWithin*2*0.1, 0.1), Skewed(part*skewedWithin*2*0.1-1, 0.1))
		}
		for _, part := range []float64{0.99, 1.01} {
			put("uncut", (&Bought{Mean: []float64{0.3, 0.4}, Scale: 1.5 * part}).Uncut())
		}
		f := plain.frame(100, dense)
		pureOf := must.Get(CalibratePure(plain, Default, 2, func(float64) (mechanism.Informed, error) {
			return fit,
				nil
		}))
		put("rounded", golden.Rounded(f.scale, plain.sums(11, false)*plain.MeanSigma), golden.Rounded(1-shorter(3),
			0x1p-60),
			golden.Rounded(pureOf.MeanSigma, 1/(0.04*2)), golden.Rounded(f.space.longer(), 1))
		for _, c := range [][3]float64{{7, 0.3, 0.01}, {7, 0, 1e-6}, {7, 0.9, 10}, {0.2, -1, 0.3}, {1, 2, 1e-3}} {
			put("count", countOf(c[0], c[1], c[2]))
		}
		put("shorter", 1-shorter(3), 1-shorter(1e6))
	})
	golden.Figures(t, "testdata/solved.txt", 1e-6, func(say func(name string, values ...float64)) {
		for _, name := range names {
			if name == "laplace" || name == "counts" {
				continue
			}
			rows, y := matrix.Rows(dense), labels
			if name == "detailed" {
				rows, y = people, make([]float64, base.N)
			}
			c := of[name]
			c.RowNorm = 1.6
			r := must.Get(c.Run(rows, y, noise.NewSeeded(4), &mechanism.Settings{Workers: 1}))
			say(name, append(r.Coefficients, r.NoiseScale)...)
		}
	})
}

func placedWidth(rows matrix.Rows) int {
	_, d := rows.Dims()
	return d
}

// sum is what vectors of many numbers are held by.
func sum(v []float64) (all [2]float64) {
	for j, x := range v {
		all[0] += x
		all[1] += x * x * float64(j+1)
	}
	return all
}
