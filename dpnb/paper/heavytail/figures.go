package heavytail

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// StepsFigure shows the noise in one of T steps with ε in all, d coordinates: isotropic Laplace noise of scale T/ε has
// √(d+1)·T/ε in each, Gaussian noise with δ = 10⁻⁵ a multiple of √T.
func StepsFigure(epsilon float64, d int) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	one := measure.Must(privacy.GaussianSigma(epsilon, Delta))
	t := figure.Geometric(1, 1000, 40)
	f := figure.New(fmt.Sprintf("Noise in one of T steps, ε = %s in all, %d coordinates", figure.Number(epsilon),
		d), "steps T", "standard deviation of a coordinate")
	f.Line("δ = 0: × T", t, figure.Values(t, func(t float64) float64 { return t * math.Sqrt(float64(d)+1) / epsilon }),
		figure.Orange)
	f.Line("δ = 1e-5: × √T", t, figure.Values(t, func(t float64) float64 { return math.Sqrt(t) * one }), figure.Blue)
	f.Alt = "Two straight lines on logarithmic axes: with δ = 0 the noise of a step grows in proportion to the " +
		"number of steps, with δ = 1e-5 like its root."
	return f.LogX(1, 10, 100, 1000).LogY(10, 100, 1000), nil
}

// DescentTable returns the excess risk of clipped noisy gradient descent after so many steps, the best of nine step
// sizes a factor of two apart, by true risk, with pure ε and with (ε, δ).
func DescentTable(p Population, n int, epsilon float64, steps []int, fits int, seed uint64) (
	pure, approximate []float64, err error) {
	defer measure.Catch(&err)
	for _, t := range steps {
		best := [2]float64{math.Inf(1), math.Inf(1)}
		for size := -4; size <= 4; size++ {
			for k := range best {
				m, _ := measure.Must2(p.Cell(Descent{t, math.Exp2(float64(size)), k == 1}.Fit, n, epsilon, fits, seed))
				best[k] = min(best[k], m)
			}
		}
		pure, approximate = append(pure, best[0]), append(approximate, best[1])
	}
	return pure, approximate, nil
}

// JacobianFigure shows how much a record's loss may curve for nothing at each slope, C = β = Λ = 1, beside ln cosh and
// Huber's loss of the curvature s.
func JacobianFigure(s float64) *figure.Figure {
	slope := figure.Span(0, 1, 100)
	f := figure.New("How much a record's loss may curve for nothing: C = β = Λ = 1", "slope |γ| of the record's loss",
		"curvature S")
	f.Line("free curve", slope, figure.Values(slope, func(g float64) float64 { return math.Expm1(1 - g) }), figure.Blue)
	f.Line(fmt.Sprintf("ln cosh, s = %g", s), slope, figure.Values(slope,
		func(g float64) float64 { return s * (1 - g*g) }), figure.Green)
	f.Line(fmt.Sprintf("Huber, s = %g", s), slope, figure.Values(slope, func(float64) float64 { return s }),
		figure.Orange)
	f.Alt = "Largest curvature against slope. The free curve falls from 1.72 at slope 0 to 0 at slope 1; ln cosh " +
		"lies below it; Huber's loss is level and crosses the free curve."
	return f.XRange(0, 1.25).YRange(0, 1.8)
}

// DensityFigure shows the log-ratio of the densities of the result with and without a record of the loss ln cosh, slope
// at most 1, no other record, Λ = β = 1, and its two parts: that of the noise and that of the determinant. It returns
// the largest.
func DensityFigure(s float64) (f *figure.Figure, largest float64) {
	w := figure.Span(-4, 4, 4000)
	record := func(w float64) (slope, curvature float64) {
		slope = math.Tanh(s * (w + 2.5)) // its kink is at −2.5
		return slope, s * (1 - slope*slope)
	}
	density := figure.Values(w, func(w float64) float64 { g, _ := record(w); return math.Abs(w) - math.Abs(w+g) })
	determinant := figure.Values(w, func(w float64) float64 { _, s := record(w); return math.Log1p(s) })
	both := make([]float64, len(w))
	for i := range both {
		both[i] = density[i] + determinant[i]
		largest = max(largest, math.Abs(both[i]))
	}
	f = figure.New("Privacy loss of one record, for every result", "result w", "log-ratio of densities")
	f.Dashed("noise", w, density, figure.Green).Dashed("determinant", w, determinant, figure.Gold)
	f.Line("both", w, both, figure.Blue)
	claimed := objective.PureParabola(1, 1, s, 1)
	f.Level("ε", -4, 4, claimed, figure.Gray).Level("−ε", -4, 4, -claimed, figure.Gray)
	f.Alt = "The log-ratio of the noise's densities is near 1 only where the determinant's is near 0, and their " +
		"sum stays between −1 and 1."
	return f.YRange(-1.3, 1.3), largest
}

// RateFigure shows excess risk against n for the printed algorithm, localisation with exact constants, one output
// perturbation and the default, and returns a table of it.
func RateFigure(p Population, sizes []int, epsilon float64, fits int, seed uint64) (f *figure.Figure, table string,
	err error) {
	defer measure.Catch(&err)
	arms := []struct {
		name  string
		fit   Fit
		color figure.Color
	}{{"printed", Printed, figure.Orange}, {"localised, exact constants", Localisation, figure.Gold},
		{"one output perturbation", Output, figure.Green}, {"default", Default, figure.Blue}}
	f = figure.New(fmt.Sprintf("Median regression, %d features with %g moments, ε = %g, δ = 0", p.Features, p.Moment,
		epsilon), "records n", "excess risk")
	table = "excess risk        "
	for _, n := range sizes {
		table += fmt.Sprintf("%17d", n)
	}
	for _, a := range arms {
		var x, mean, lo, hi []float64
		table += fmt.Sprintf("\n%-26s", a.name)
		for _, n := range sizes {
			m, se := measure.Must2(p.Cell(a.fit, n, epsilon, fits, seed))
			x, mean = append(x, float64(n)), append(mean, m)
			lo, hi = append(lo, max(m-2*se, 0.5*m)), append(hi, m+2*se)
			table += fmt.Sprintf("  %.4f ± %.4f", m, se)
		}
		f.Line(a.name, x, mean, a.color).Whiskers(x, lo, hi, a.color)
		f.Alt += fmt.Sprintf("; %s: from %.2g to %.2g", a.name, mean[0], mean[len(mean)-1])
	}
	trivial := p.Excess(make([]float64, p.Features))
	f.Level("w = 0", float64(sizes[0]), float64(sizes[len(sizes)-1]), trivial, figure.Gray)
	f.Alt = fmt.Sprintf("Excess risk against the number of records on logarithmic axes, %.2g where nothing is fitted",
		trivial) + f.Alt
	return f.LogX(300, 1000, 3000, 10000, 100000).LogY(0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3), table, nil
}

// Cell is the mean excess risk of so many fits of n linear losses that nobody can learn faster.
type Cell func(k float64, d, n int, eps float64, fits int, seed uint64) (sim.Summary, error)

// exponents returns those of a cell in n, ε and d, with their standard errors, and of n the risks.
func exponents(cell Cell, k float64, fits int, seed uint64) (slope, se [3]float64, risks []sim.Summary) {
	for axis, x := range [][]float64{slopeSizes, {0.03, 0.1, 0.3, 1}, {20, 40, 80, 160}} {
		var y []sim.Summary
		for _, v := range x {
			n, eps, d := moved(axis, v, 3000, 1, 20)
			y = append(y, measure.Must(cell(k, d, n, eps, fits, seed)))
		}
		if slope[axis], se[axis] = Exponent(x, y); axis == 0 {
			risks = y
		}
	}
	return slope, se, risks
}

// Slopes returns the exponents in n, ε and d of a cell for each k, beside those of (4), and of n the risks.
func Slopes(cell Cell, moments []float64, fits int, seed uint64) (risks [][]sim.Summary, table string, err error) {
	defer measure.Catch(&err)
	table = fmt.Sprintf("%4s  %8s  %14s  %14s  %14s", "k", "1 − 1/k", "in n", "in ε", "in d")
	for _, k := range moments {
		table += fmt.Sprintf("\n%4s  %8.3f", order(k), 1-1/k)
		slope, se, of := exponents(cell, k, fits, seed)
		for axis, v := range slope {
			table += fmt.Sprintf("  %6.3f ± %.3f", v, 2*se[axis])
		}
		risks = append(risks, of)
	}
	return risks, table, nil
}

// moved returns n, ε and d with v in the place of one of them, in this order.
func moved(axis int, v float64, n int, eps float64, d int) (int, float64, int) {
	switch axis {
	case 0:
		n = int(v)
	case 1:
		eps = v
	default:
		d = int(v)
	}
	return n, eps, d
}

// slopeSizes are the numbers of records of Slopes.
var slopeSizes = []float64{300, 1000, 3000, 10000}

// order writes k.
func order(k float64) string { return strings.Replace(fmt.Sprint(k), "+Inf", "∞", 1) }

// SlopesFigure draws the risks of Slopes against n.
func SlopesFigure(cell Cell, moments []float64, fits int, seed uint64) (f *figure.Figure, table string, err error) {
	defer measure.Catch(&err)
	risks, table := measure.Must2(Slopes(cell, moments, fits, seed))
	f = figure.New("Linear losses that nobody can learn faster, d = 20, ε = 1", "records n", "excess risk")
	for i, k := range moments {
		mean := make([]float64, len(slopeSizes))
		for j, s := range risks[i] {
			mean[j] = s.Mean
		}
		f.Line(fmt.Sprintf("k = %s: slope −%.2f", order(k), 1-1/k), slopeSizes, mean,
			[]figure.Color{figure.Orange, figure.Gold, figure.Green, figure.Blue}[i%4])
	}
	f.Alt = "Straight lines on logarithmic axes, the steeper the more moments there are."
	return f.LogX(300, 1000, 3000, 10000).LogY(0.001, 0.003, 0.01, 0.03, 0.1, 0.3), table, nil
}

// Floor is the mean excess risk, G_k = 1, D = 2, that no ε-DP algorithm (replace-one) avoids on the worse of the two
// instances ±a of one dimension, n records of which a share p are not 0, a = p^{−1/k}, at the worst p: an answer w is
// as good as the sign that is −1 with probability (1 − w)/2, which errs with at least SignError.
func Floor(n int, k, epsilon float64) (risk, p float64) {
	for _, q := range figure.Geometric(0.01, 30, 200) {
		at := min(1, q/(float64(n)*epsilon))
		if r := 2 * math.Pow(at, 1-1/k) * SignError(n, at, epsilon); r > risk {
			risk, p = r, at
		}
	}
	return risk, p
}

// FloorFigure shows Floor against n, and the mean risk there of objective and output perturbation, of Algorithms 1 and
// 4 with exact constants and with the printed ones, and of the sign of the records' sum, which is not private.
func FloorFigure(k, epsilon float64, sizes []int, fits int, seed uint64) (f *figure.Figure, table string, err error) {
	defer measure.Catch(&err)
	n, floor, idle := make([]float64, len(sizes)), make([]float64, len(sizes)), make([]float64, len(sizes))
	risks := make([][]float64, 5)
	names := []string{"objective", "one output", "Alg. 1 + 4, exact", "Alg. 1 + 4, printed", "sum, not private"}
	for i, size := range sizes {
		var p float64
		n[i] = float64(size)
		floor[i], p = Floor(size, k, epsilon)
		all := append(linearFits(size, 1, epsilon, k)[:4], linearFit{"", func(rows *matrix.Dense,
			_ *noise.Seeded) []float64 {
			return []float64{float64(cmp.Compare(0, floats.Sum(rows.Data)))}
		}})
		h := Hard{Direction: []float64{1}, P: p, A: math.Pow(p, -1/k)}
		idle[i] = h.Excess([]float64{0}, 1)
		for j, of := range all {
			risk := measure.Means(context.Background(), fits, noise.NewSeeded(seed), func(_ int,
				src *noise.Seeded) []float64 {
				return []float64{h.Excess(of.fit(h.Sample(size, src), src), 1)}
			})
			risks[j] = append(risks[j], risk[0].Mean)
		}
	}
	f = figure.New(fmt.Sprintf("The worst case of Theorem 4.1: one sign, k = %s, ε = %g", order(k), epsilon),
		"records n", "mean excess risk")
	table = fmt.Sprintf("%-19s", "n")
	for _, size := range sizes {
		table += fmt.Sprintf("  %9d", size)
	}
	row := func(name string, y []float64) {
		slope := math.Log(y[len(y)-1]/y[0]) / math.Log(n[len(n)-1]/n[0])
		table += fmt.Sprintf("\n%-19s", name)
		for _, v := range y {
			table += fmt.Sprintf("  %9.4f", v)
		}
		table += fmt.Sprintf("  slope %6.3f", slope)
		f.Alt += fmt.Sprintf("; %s: from %.2g to %.2g", name, y[0], y[len(y)-1])
	}
	row("no ε-DP below", floor)
	f.Band(n, figure.Values(n, func(float64) float64 { return 1e-3 }), floor, figure.Gray)
	f.Line("no ε-DP algorithm below", n, floor, figure.Ink)
	row("w = 0", idle)
	f.Dashed("w = 0", n, idle, figure.Gray)
	for j, color := range []figure.Color{figure.Blue, figure.Green, figure.Gold, figure.Orange, figure.Purple} {
		row(names[j], risks[j])
		f.Line(names[j], n, risks[j], color)
	}
	f.Alt = "Mean excess risk against the number of records on logarithmic axes" + f.Alt
	return f.LogX(n...).LogY(0.003, 0.01, 0.03, 0.1, 0.3, 1), table, nil
}

// OnsetFigure shows the excess risk of the default over that of ε = 10⁶ on the same records, against nε²/d², for
// several d. By leading order it is 1 + c·d²/(nε²): noise costs d(d/(nε))², sampling d/n.
func OnsetFigure(moment float64, features, sizes []int, epsilons []float64, fits int, seed uint64) (
	_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	f := figure.New(fmt.Sprintf("What pure ε costs, %g moments", moment), "nε²/d²",
		"excess risk over that without noise")
	for i, d := range features {
		p := Population{Moment: moment, Features: d}
		color := []figure.Color{figure.Blue, figure.Green, figure.Orange, figure.Purple}[i%4]
		var x, y []float64
		for _, n := range sizes {
			free, _ := measure.Must2(p.Cell(Default, n, 1e6, fits, seed))
			for _, eps := range epsilons {
				m, _ := measure.Must2(p.Cell(Default, n, eps, fits, seed))
				x, y = append(x, float64(n)*math.Pow(eps/float64(d), 2)), append(y, m/free)
			}
		}
		f.Dots("", x, y, color).Note(fmt.Sprintf("d = %d", d), 100, 50/math.Pow(1.6, float64(i)), color)
	}
	f.Alt = "Dots of different numbers of features fall about one curve: far above 1 at the left, it falls in " +
		"proportion to nε²/d² and settles at 1."
	return f.LogX(0.1, 1, 10, 100, 1000).LogY(1, 3, 10, 30), nil
}

// MisjudgedFigure shows the excess risk of the default with a G that is wrong by factors, for several losses.
func MisjudgedFigure(p Population, losses []loss.Convex, factors []float64, n int, epsilon float64, fits int,
	seed uint64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	f := figure.New(fmt.Sprintf("The price of a wrong G: n = %d, d = %d, ε = %g", n, p.Features, epsilon),
		"G stated over G", "excess risk over that with G")
	for i, l := range losses {
		p.Loss = l
		right, _ := measure.Must2(p.Cell(Default, n, epsilon, fits, seed))
		var y []float64
		for _, factor := range factors {
			m, _ := measure.Must2(p.Cell(Misjudged(factor), n, epsilon, fits, seed))
			y = append(y, m/right)
		}
		name := strings.NewReplacer("huber(T=", "Huber, T = ", ")", "").Replace(l.Name())
		f.Line(name, factors, y, []figure.Color{figure.Blue, figure.Green, figure.Orange}[i%3])
		f.Alt += fmt.Sprintf("; %s: %.2g at the left end, %.2g at the right end", name, y[0], y[len(y)-1])
	}
	f.Alt = "Excess risk, of that with the right G, against the factor by which G is wrong" + f.Alt
	return f.LogX(0.01, 0.1, 1, 10, 100).LogY(1, 2, 5, 10, 50), nil
}

// DimensionFigure shows the length of the noise that hides a vector of length 1, by its coordinates.
func DimensionFigure(epsilon float64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	sigma := measure.Must(privacy.GaussianSigma(epsilon, Delta))
	d := figure.Span(1, 60, 59)
	f := figure.New(fmt.Sprintf("Noise of one release at ε = %g", epsilon), "coordinates d",
		"root mean square of the noise's length")
	f.Line("δ = 0", d, figure.Values(d, func(d float64) float64 { return math.Sqrt(d*(d+1)) / epsilon }), figure.Orange)
	f.Line("δ = 1e-5", d, figure.Values(d, func(d float64) float64 { return sigma * math.Sqrt(d) }), figure.Blue)
	cross := sigma*sigma*epsilon*epsilon - 1
	f.Note(fmt.Sprintf("equal at d = %.0f", cross), cross+3, 0.7*sigma*math.Sqrt(cross), figure.Gray)
	f.Alt = "Length of the noise against the number of coordinates: a straight line for δ = 0, a root for " +
		"δ = 1e-5; they cross at about 13 coordinates."
	return f, nil
}

// Households writes a file of invented households: spending = 1000 + 0.3·income + 25·age + noise of heavy tails. One
// income in a hundred is 40 times larger; one is missing, one infinite.
func Households(n int, seed uint64) (path string, err error) {
	defer measure.Catch(&err)
	src := noise.NewSeeded(seed)
	file := measure.Must(os.CreateTemp("", "households-*.csv"))
	fmt.Fprintln(file, "income,age,spending")
	for i := range n {
		income, age := 20000*math.Exp(0.8*src.NormFloat64()), 18+60*src.Float64()
		if i%100 == 0 {
			income *= 40
		}
		spending := 1000 + 0.3*income + 25*age + 1500*src.NormFloat64()/math.Sqrt(src.ExpFloat64())
		text := fmt.Sprintf("%.0f", income)
		if i == 7 {
			text = ""
		} else if i == 8 {
			text = "Inf"
		}
		fmt.Fprintf(file, "%s,%.0f,%.0f\n", text, age, spending)
	}
	return file.Name(), file.Close()
}
