package heavytail

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// slopes draws m linear losses of d coordinates with E‖z‖² = 1 or less and moments of up to k + ½: Student's, with a
// direction of its own each, or Pareto's, all along one axis.
func slopes(src *noise.Seeded, m, d int, k float64, pareto bool) *matrix.Dense {
	rows := matrix.NewDense(m, d, nil)
	for i := range m {
		z := rows.Data[i*d : (i+1)*d]
		if pareto {
			z[0] = math.Pow(src.Float64(), -1/(k+0.5))
			continue
		}
		src.Gaussian(z, 1)
		chi := distuv.Gamma{Alpha: (k + 0.5) / 2, Beta: 0.5, Src: src}.Rand()
		floats.Scale(math.Sqrt((k+0.5)/chi/float64(d)), z)
		z[0] += 0.5
	}
	return rows
}

// moment is the k-th moment's root of the lengths of 200,000 slopes.
func moment(d int, k float64, pareto bool) float64 {
	if pareto { // E z^k = (k+½)/½
		return math.Pow((k+0.5)/0.5, 1/k)
	}
	rows, sum := slopes(noise.NewSeeded(1), 200_000, d, k, false), 0.0
	for i := range 200_000 {
		sum += math.Pow(floats.Norm(rows.Data[i*d:(i+1)*d], 2), k) / 200_000
	}
	return math.Pow(sum, 1/k)
}

// PrimitiveFigure shows how far Algorithm 4, d = 5, and Algorithm 7, d = 1, end from the minimiser of m linear losses
// of Student's law with a ridge: the 0.7-quantile of λ‖w − ŵ_λ‖/G_k that (6) bounds, against mε/d, and returns a table
// of the slopes.
func PrimitiveFigure(fits int, seed uint64) (f *figure.Figure, table string, err error) {
	defer measure.Catch(&err)
	f = figure.New("How far a private fit of one block ends from the exact one, ε = 1", "mε/d",
		"λ · distance / G, 0.7-quantile")
	table = fmt.Sprintf("%-24s %10s %9s", "slope", "k = 2", "k = 4")
	for i, name := range []string{"Algorithm 4, printed", "Algorithm 4, exact", "Algorithm 7"} {
		table += fmt.Sprintf("\n%-24s ", name)
		for l, k := range []float64{2, 4} {
			d, sizes, lambda := 5, []int{80, 320, 1280}, 0.05
			if i == 2 {
				d, sizes, lambda = 1, []int{16, 64, 256}, 1e5 // so large that W₀ is well inside [−1, 1]
			}
			g := moment(d, k, false)
			var x, y []float64
			for _, m := range sizes {
				clip := g * math.Pow(float64(m)/float64(d), 1/k)
				far := measure.Must(sim.Trials(context.Background(), fits*(1+3*(i/2)), 0, noise.NewSeeded(seed),
					func(_, _ int, src *noise.Seeded) (float64, error) {
						if i < 2 {
							rows := slopes(src, (2-i)*m, d, k, false)
							return doubleDistance(pure.Constants(1-i), clip, lambda, 1, rows, src), nil
						}
						z := slopes(src, m, d, k, false).Data
						w, err := Algorithm7{C: clip, Lambda: lambda, Epsilon: 1}.Run(z, src)
						return math.Abs(w + floats.Sum(z)/float64(m)/lambda), err
					}))
				slices.Sort(far)
				x = append(x, float64(m)/float64(d))
				y = append(y, lambda/g*stat.Quantile(0.7, stat.Empirical, far, nil))
			}
			table += fmt.Sprintf(" %9.3f", math.Log(y[2]/y[0])/math.Log(x[2]/x[0]))
			f.Line(fmt.Sprintf("%s, k = %g", name, k), x, y, []figure.Color{figure.Orange, figure.Gold, figure.Green,
				figure.Blue, figure.Purple, figure.Sky}[2*i+l])
		}
	}
	f.Alt = "Straight falling lines on logarithmic axes, steeper with four moments than with two; those of the " +
		"printed constants and of Algorithm 7 are far above those of exact constants."
	return f.LogX(20, 60, 200).LogY(0.03, 0.1, 0.3, 1, 3, 10, 30), table, nil
}

// doubleDistance is how far Algorithm 4 ends from −z̄/λ; of the rows the printed constants take the first half.
func doubleDistance(constants pure.Constants, clip, lambda, epsilon float64, rows *matrix.Dense,
	src *noise.Seeded) float64 {
	m, d := rows.N, rows.D
	if constants == pure.Printed {
		m /= 2
	}
	best := make([]float64, d)
	for i := range m {
		floats.AddScaled(best, -1/(lambda*float64(m)), rows.Data[i*d:(i+1)*d])
	}
	a := measure.Must(pure.PhasesConfig{Config: pure.Config{Loss: loss.Affine{}, Epsilon: epsilon, Features: d,
		Records: rows.N, Adjacency: privacy.ReplaceOne, Radius: 1e5, Clip: clip, Lambda: lambda * float64(m)}, Count: 1,
		Double: true, Constants: constants}.Calibrate())
	return floats.Distance(measure.Released(a, rows, slices.Repeat([]float64{1}, rows.N), src), best, 2)
}

// doubleOutput holds the law of Algorithm 4 against its noise, and how often it is within the bound of (6), times
// factors.
func doubleOutput(run measure.Run, times [2]float64) claim.Outcome {
	const d, m, epsilon, lambda = 20, 200, 1.0, 0.05
	src := noise.NewSeeded(36)
	// within returns how often the answer is no farther than far(C) from −z̄/λ.
	within := func(constants pure.Constants, g, k float64, draw func(n int) *matrix.Dense, runs int,
		far func(clip float64) float64) (share float64) {
		n := m
		if constants == pure.Printed {
			n = 2 * m // of which it takes half
		}
		clip := g * math.Pow(m*epsilon/d, 1/k)
		for range runs {
			if doubleDistance(constants, clip, lambda, epsilon, draw(n), src) <= far(clip) {
				share += 1 / float64(runs)
			}
		}
		return share
	}
	runs := run.Runs(800)
	exact := within(pure.Printed, 1, 2, func(n int) *matrix.Dense {
		rows := slopes(src, n, d, 2, false)
		for i := range n {
			z := rows.Data[i*d : (i+1)*d]
			floats.Scale(1/floats.Norm(z, 2), z)
		}
		return rows
	}, runs, func(clip float64) float64 {
		return times[0] * 12 * clip / (lambda * m * epsilon) * mathext.GammaIncRegInv(d, 0.7)
	})
	z, least := (exact-0.7)/math.Sqrt(0.21/float64(runs)), 1.0
	for k, pareto := range measure.Pairs(run, []float64{2, 3, 4}, []bool{false, true}) {
		for _, constants := range []pure.Constants{pure.Printed, pure.Exact} {
			g, constant := moment(d, k, pareto), 12.0
			if constants == pure.Exact {
				constant = 4
			}
			bound := times[1] * (constant*mathext.GammaIncRegInv(d, 0.8)/d + 20*kappa(k)) * g / lambda *
				math.Pow(d/(m*epsilon), 1-1/k)
			draw := func(n int) *matrix.Dense { return slopes(src, n, d, k, pareto) }
			share := within(constants, g, k, draw, run.Runs(60), func(float64) float64 { return bound })
			least = math.Min(least, share)
		}
	}
	return outcome(fmt.Sprintf("within the noise's 0.7-quantile %.3f, %+.1f standard errors; within c_erm's "+
		"bound at least %.2f", exact, z, least), math.Abs(z) < 4 && least >= 0.7).Corrected("by the Gamma law, " +
		"without the localised set in the bias")
}

func localisedMechanism(run measure.Run, factor float64) claim.Outcome {
	// A line as steep as it may be: the mean above the least is 1, at most.
	l := Localised{Value: func(w float64) float64 { return w }, Low: 0, High: 1, C: 1, Epsilon: 1, Records: 256}
	var sum, weight float64
	const cells = 100_000
	for i := range cells {
		potential := l.Potential((float64(i) + 0.5) / cells)
		sum, weight = sum+potential*math.Exp(-potential), weight+math.Exp(-potential)
	}
	boltzmann := factor * sum / weight
	ratio := algorithm7Ratio(1)
	// Runs.
	const m, lambda, epsilon = 100, 5, 1.0
	src := noise.NewSeeded(37)
	g := moment(1, 2, false)
	a := Algorithm7{C: g * math.Sqrt(m*epsilon), Lambda: lambda, Epsilon: epsilon}
	rate := g / lambda * math.Sqrt(1/(m*epsilon))
	var far []float64
	for range run.Runs(400) {
		rows := slopes(src, m, 1, 2, false)
		w := measure.Must(a.Run(rows.Data, src))
		far = append(far, math.Abs(w-math.Max(-1, math.Min(-floats.Sum(rows.Data)/m/lambda, 1)))/rate)
	}
	c, share := 877+20*kappa(2), 0.0
	slices.Sort(far)
	needs := stat.Quantile(0.7, stat.Empirical, far, nil)
	for _, v := range far {
		if v <= c {
			share += 1 / float64(len(far))
		}
	}
	// In more dimensions the potential of linear losses is half a χ² of d degrees of freedom.
	off, inBall := 0.0, 1.0
	for _, d := range []int{2, 5, 20} {
		potential, within := algorithm7Potentials(d, run.Runs(200), src)
		se := math.Sqrt(2 / float64(d*run.Runs(200)))
		off = math.Max(off, math.Abs(factor*2*potential/float64(d)-1)/se)
		inBall = math.Min(inBall, within)
	}
	return outcome(fmt.Sprintf("mean potential %.5f; densities %.4f of ε(1/6 + 1/4); within the bound %.2f, for "+
		"0.7 a c of %.2f is enough; d = 2, 5, 20: mean potentials within %.1f standard errors of d/2, within the "+
		"bound %.2f at least", boltzmann, ratio, share, needs, off, inBall),
		math.Abs(boltzmann-1) < 1e-3 && ratio <= 1 && ratio > 0.55 && share >= 0.7 && off < 4 && inBall >= 0.7).
		Corrected("with the diameter of W₀ twice what is printed")
}

// algorithm7Potentials returns, over so many runs of Algorithm 7 on 100 Student slopes of d coordinates, where W₀ is
// well inside the ball, the mean potential of the answer above its least, and how often it is within the bound of (6).
func algorithm7Potentials(d, runs int, src *noise.Seeded) (mean, within float64) {
	const m, lambda, epsilon, k = 100, 1e5, 1.0, 2.0
	g := moment(d, k, false)
	a := Algorithm7Ball{C: g * math.Pow(m*epsilon/float64(d), 1/k), Lambda: lambda, Centre: make([]float64, d),
		Epsilon: epsilon}
	bound := (877 + 20*kappa(k)) * g / lambda * math.Pow(float64(d)/(m*epsilon), 1-1/k)
	slope, best := make([]float64, d), make([]float64, d)
	for range runs {
		z := slopes(src, m, d, k, false)
		w, _ := measure.Must2(a.Run(z, src))
		f := a.Objective(z)
		f(slope, make([]float64, d))
		floats.AddScaledTo(best, make([]float64, d), -1/lambda, slope)
		mean += a.Second(z, best).Sharpness() * (f(slope, w) - f(slope, best)) / float64(runs)
		clear(best) // the minimiser of what is not cut
		for i := range m {
			floats.AddScaled(best, -1/(lambda*m), z.Data[i*d:(i+1)*d])
		}
		if floats.Distance(w, best, 2) <= bound {
			within += 1 / float64(runs)
		}
	}
	return mean, within
}

// density returns that of Algorithm 7's answer at w, but for a constant, by quadrature over the first stage in parts
// between the places where it has a kink or an end.
func (a Algorithm7) density(z []float64, w float64) (p float64) {
	const points, cells = 60, 20
	scale, best := a.Scale(len(z)), a.Centre-a.Mean(z)/a.Lambda
	ends := []float64{best - 40*scale, best, best + 40*scale, -1, 1, w - 50*scale, w + 50*scale}
	slices.Sort(ends)
	for part := range len(ends) - 1 {
		width := (ends[part+1] - ends[part]) / points
		for i := range points {
			at := ends[part] + width*(float64(i)+0.5)
			l := a.Second(z, math.Max(-1, math.Min(at, 1)))
			if w < l.Low || w > l.High || math.Abs(at-best) > 40*scale {
				continue
			}
			weight := 0.0
			for j := range cells {
				weight += math.Exp(-l.Potential(l.Low+(l.High-l.Low)*(float64(j)+0.5)/cells)) * (l.High - l.Low) / cells
			}
			p += width * math.Exp(-math.Abs(at-best)/scale-l.Potential(w)) / weight
		}
	}
	return p
}

// algorithm7Ratio is the largest log ratio of the densities of Algorithm 7 at ε over 1/6 + 1/4, four records of slopes
// ±C of which one is replaced, where the ball of the first stage is well inside W.
func algorithm7Ratio(epsilon float64) float64 {
	worst, a := 0.0, Algorithm7{C: 1, Lambda: 1000, Epsilon: epsilon}
	for _, other := range []float64{1, -1} {
		for i := range 41 {
			w := 60 * a.Scale(4) * (float64(i)/20 - 1)
			p, q := a.density([]float64{1, other, other, 1}, w), a.density([]float64{-1, other, other, 1}, w)
			if p > 0 && q > 0 {
				worst = math.Max(worst, math.Abs(math.Log(p/q)))
			}
		}
	}
	return worst / (1.0/6 + 1.0/4)
}

// byOracle minimises an extended objective by biased subgradients of f_C, and the joint one by Algorithm 3. byOracle
// claims the number of steps times factor.
func byOracle(_ measure.Run, bias, factor float64) claim.Outcome {
	const alpha, c, lambda, center = 0.2, 1.0, 1.0, 0.2
	e := OnBall{Loss: loss.LeastAbsolute{}, C: c, Radius: 1}
	gap, count, told := 0.0, 0, ""
	same, steps := true, int(math.Round(factor*math.Pow(4*2*(2*c+2*lambda)/alpha, 2)))
	for _, slope := range []float64{3, 3e6} {
		x := [][]float64{{slope}, {-slope / 2}}
		y := []float64{0.3 * slope, 0.4 * slope}
		phi := func(g, w []float64) float64 {
			value, part := 0.5*lambda*(w[0]-center)*(w[0]-center), []float64{0}
			sum := lambda * (w[0] - center)
			for i := range x {
				value += e.At(part, w, x[i], y[i]) / 2
				sum += part[0] / 2
			}
			g[0] = sum
			return value
		}
		least, g := math.Inf(1), []float64{0}
		for i := range 2001 {
			w := float64(i)/1e3 - 1
			if v := phi(g, []float64{w}); v < least {
				least = v
			}
		}
		// Within B of the minimum 0 is a subgradient to within B.
		biased := func(g, w []float64) float64 {
			v := phi(g, w)
			if v-least <= bias*alpha {
				g[0] = 0
			}
			return v
		}
		w, t := Biased(interval, biased, []float64{-1}, alpha, 2, 2*c+2*lambda)
		gap = math.Max(gap, (phi(g, w)-least)/alpha)
		same, count = same && t == steps, t
		losses := []Function{absolute(x[0], y[0]), absolute(x[1], y[1])}
		_, taken, err := Joint{Losses: losses, C: c, Lambda: lambda, Centre: []float64{center}}.Minimise(interval,
			interval, []float64{-1}, alpha, 2, 20_000)
		told += fmt.Sprintf(" %d", taken)
		measure.Ensure((err != nil) == (slope > 1e3), "by Algorithm 3, at slopes of %g: %v", slope, err)
	}
	return outcome(fmt.Sprintf("gap %.2f of α after %d steps for both slopes; of Algorithm 3%s at most", gap, count,
		told), gap <= 1 && same)
}
