package ours

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// exactSums compares the sums of neighbours, or, if broken, sums in float64, with what the record gives alone times
// factor.
func exactSums(run measure.Run, broken bool, factor float64) claim.Outcome {
	const d = 7
	sizes := measure.Sized(run.Size, []int{1, 2, 3, 4, 5, 6, 130}, []int{1, 2, 3, 4, 5, 6, 130, 7, 8, 63, 64, 65, 257,
		1023, 1030})
	rng := noise.NewSeeded(94)
	theta := make([]float64, d)
	rng.Gaussian(theta, 3)
	sums := []func(rows matrix.Rows, labels []float64, workers int) []float64{
		stepSum, func(rows matrix.Rows, labels []float64, _ int) []float64 {
			return curvatureSum(rows, labels, theta)
		},
	}
	if broken {
		sums = []func(matrix.Rows, []float64, int) []float64{floatSum}
	}
	pairs, wrong := 0, 0
	for _, n := range sizes {
		rows, labels := measure.UnitRecords(n, d, rng)
		for i := range labels {
			floats.Scale(0.5+0.5*rng.Float64(), rows.Data[i*d:(i+1)*d])
		}
		for _, at := range measure.Over(run, []int{0, n / 2, n - 1}) {
			others := make([]int, 0, n)
			for i := range n {
				if i != at {
					others = append(others, i)
				}
			}
			rest := slices.Delete(slices.Clone(labels), at, at+1)
			kinds := func(m *matrix.Dense) []matrix.Rows { return []matrix.Rows{m, m.Sparse()} }
			with, without, alone, none := kinds(rows), kinds(rows.Select(others)), kinds(rows.Select([]int{at})),
				kinds(matrix.NewDense(0, d, nil))
			for kind := range with {
				for _, sum := range sums {
					var s [4][]float64
					for k, in := range []struct {
						rows    matrix.Rows
						labels  []float64
						workers int
					}{{with[kind], labels, 3}, {without[kind], rest, 1}, {alone[kind], labels[at : at+1], 1},
						{none[kind], nil, 1}} {
						s[k] = sum(in.rows, in.labels, in.workers)
					}
					floats.Sub(s[0], s[1])
					floats.Sub(s[2], s[3])
					floats.Scale(factor, s[2])
					pairs++
					if !floats.Equal(s[0], s[2]) {
						wrong++
					}
				}
			}
		}
	}
	return claim.Decide(fmt.Sprintf("%d of %d pairs differ by something else", wrong, pairs), "0", wrong == 0)
}

// stepSum is the sum of clipped gradients, with noise that is the same for all, in a step of DP-SGD from θ = 0 with
// every record: the noise is on a grid on which all of it is exact.
func stepSum(rows matrix.Rows, labels []float64, workers int) []float64 {
	m := sgd.Descent{Loss: loss.Logistic{}, Clip: 0.4, Rate: 1, Steps: 1, NoiseMultiplier: 0x1p-10,
		PlannedRecords: 1024, Update: sgd.Plain{LearningRate: 1}}
	return measure.Must(m.Run(rows, labels, noise.NewSeeded(1), &mechanism.Settings{Workers: workers})).Coefficients
}

// curvatureSum is the released curvature of the logistic loss at theta, as stepSum.
func curvatureSum(rows matrix.Rows, labels, theta []float64) []float64 {
	fit := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Sigma: 1, Tolerance: 1e-6, OutputSigma: 1}
	m := measure.Must(interval.Curvature{Fit: fit, Sigma: 0x1p-12}.At(rows, labels, theta, noise.NewSeeded(1)))
	return mat.DenseCopyOf(m.Hessian).RawMatrix().Data
}

// floatSum is the sum of clipped gradients at zero as it must not be formed.
func floatSum(rows matrix.Rows, labels []float64, _ int) []float64 {
	n, d := rows.Dims()
	sum, norm := make([]float64, d), make([]float64, 1)
	for i := range n {
		rows.Norms(norm, i, i+1)
		rows.AddScaled(sum, []float64{-labels[i] * math.Min(0.5, 0.4/norm[0])}, i, i+1)
	}
	return sum
}

func exactSample(run measure.Run, factor float64) claim.Outcome {
	draws := measure.Sized(run.Size, 2000, 20_000)
	s := noise.Exact(noise.NewSeeded(95))
	worst := 0.0
	off := func(z float64) { worst = math.Max(worst, math.Abs(z)) }
	// square is χ² of counts against one probability each, standardised.
	square := func(counts []float64, p func(k int) float64) float64 {
		var total, of, cells float64
		for _, c := range counts {
			of += c
		}
		for k, c := range counts {
			if want := of * p(k); want > 5 {
				total += (c - want) * (c - want) / want
				cells++
			}
		}
		return (total - cells) / math.Sqrt(2*cells)
	}
	for _, c := range []struct {
		rate float64
		n    int
	}{{256.0 / 48_842, 48_842}, {0.3, 1000}} {
		places := make([]float64, c.n)
		var in []int
		var members, pairs float64
		for range draws {
			in = s.Subset(in[:0], c.rate*factor, c.n)
			members += float64(len(in))
			for j, i := range in {
				places[i]++
				if j > 0 && in[j-1] == i-1 {
					pairs++
				}
			}
		}
		all := float64(draws) * float64(c.n)
		off((members - all*c.rate) / math.Sqrt(all*c.rate*(1-c.rate)))
		// Overlapping pairs: the variance is at most that of 1 + 2·rate of them.
		together := float64(draws) * float64(c.n-1) * c.rate * c.rate
		off((pairs - together) / math.Sqrt(together*(1+2*c.rate)))
		var total float64
		for _, v := range places {
			want := float64(draws) * c.rate
			total += (v - want) * (v - want) / (want * (1 - c.rate))
		}
		off((total - float64(c.n)) / math.Sqrt(2*float64(c.n)))
	}
	const mean, choices = 15.4, 11
	counts, chosen := make([]float64, 60), make([]float64, choices)
	for range draws {
		counts[min(len(counts)-1, s.Poisson(mean*factor))]++
		chosen[s.Below(choices)]++
	}
	off(square(counts, func(k int) float64 {
		gamma, _ := math.Lgamma(float64(k) + 1)
		return math.Exp(float64(k)*math.Log(mean) - mean - gamma)
	}))
	off(square(chosen, func(int) float64 { return 1.0 / choices }))
	return claim.Decide(fmt.Sprintf("off by at most %.1f standard deviations, %d draws", worst, draws), "5.5",
		worst < 5.5)
}

func exactNormal(run measure.Run, factor float64) claim.Outcome {
	draws := measure.Sized(run.Size, 200_000, 1_000_000)
	u := make([]float64, draws)
	noise.Exact(noise.NewSeeded(91)).FillNormal(u, 1)
	const cells = 256
	var count [cells]float64
	for i, v := range u {
		u[i] = measure.CDF(v * factor)
		count[min(cells-1, int(u[i]*cells))]++
	}
	var square float64
	want := float64(draws) / cells
	for _, c := range count {
		square += (c - want) * (c - want) / want
	}
	z := (square - (cells - 1)) / math.Sqrt(2*(cells-1))
	ks := measure.Kolmogorov(u)
	return claim.Decide(fmt.Sprintf("√n·KS = %.2f, χ² off by %.1f standard deviations, %d draws", ks, z, draws),
		"2.7; 5.5", ks < 2.7 && math.Abs(z) < 5.5)
}

func exactRelease(run measure.Run, factor float64) claim.Outcome {
	runs := measure.Sized(run.Size, 4000, 40_000)
	x, y := []float64{1, -0.5, 0.8, 1, -1}, []float64{1, 1, -1, 1, -1}
	rows := matrix.NewDense(5, 1, x)
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 0.5, Sigma: 2, Tolerance: 1e-8, OutputSigma: 1e-6}
	grid := exact.Grid(m.OutputSigma)
	root := noise.NewSeeded(92)
	u, off, square := make([]float64, runs), 0, 0.0
	for i := range measure.To(run, runs) {
		theta := measure.Released(m, rows, y, root.Stream(i))[0]
		if k := theta / grid; k != math.Trunc(k) {
			off++
		}
		gradient := m.Lambda * theta
		for j, v := range x {
			gradient -= y[j] * v / (1 + math.Exp(y[j]*v*theta))
		}
		z := gradient / (factor * m.Sigma)
		square += z * z
		u[i] = measure.CDF(z)
	}
	ks := measure.Kolmogorov(u)
	z := (square/float64(runs) - 1) / math.Sqrt(2/float64(runs))
	return claim.Decide(fmt.Sprintf("√n·KS = %.2f, variance off by %.1f standard errors, %d of %d off the grid", ks, z,
		off, runs), "2.7; 5.5; 0", ks < 2.7 && math.Abs(z) < 5.5 && off == 0)
}

// lowBits attacks releases, of which a share are as they should be and the others float64 sums.
func lowBits(run measure.Run, share float64) claim.Outcome {
	const seed = 93
	shapes := measure.Sized(run.Size, [][2]int{{200, 20}}, [][2]int{{500, 20}, {2000, 109}})
	var worst, planted float64
	planted = 1
	var bad []string
	for _, shape := range shapes {
		cases := measure.Must(audit.LowBitsCases(shape[0], shape[1], 0.1))
		for _, c := range cases {
			attack := c.Attack
			if exact := attack.Release; c.Fault != nil {
				broken := attack.With(c.Fault).Release
				attack.Release = func(with bool, src *noise.Seeded) ([]float64, error) {
					if src.Stream(math.MaxInt32).Float64() < share {
						return exact(with, src)
					}
					return broken(with, src)
				}
			}
			found := measure.Must(attack.Run(run, 300, noise.NewSeeded(seed)))
			if found.Broken() {
				bad = append(bad, c.Name)
			}
			worst = math.Max(worst, math.Max(found.Preimages, found.LastBits)-found.Allowed)
			if c.Fault == nil {
				continue
			}
			found = measure.Must(attack.With(c.Fault).Run(run, 300, noise.NewSeeded(seed+1)))
			planted = math.Min(planted, found.Preimages)
		}
	}
	return claim.Decide(fmt.Sprintf("right in at most %.1f %% more than is allowed; float64 sums named in %.1f %% or "+
		"more", 100*worst, 100*planted), "14.4 %; at least 90 %", len(bad) == 0 && planted > 0.9,
		"told apart: "+strings.Join(bad, ", "))
}
