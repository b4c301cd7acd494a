package heavytail

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// hardRecords are n linear losses, of which 2d/(nε) are not 0, at places that places draws: HardPrivate with its number
// of records and its places in proportion the same for every n.
func hardRecords(n, d int, epsilon, k float64, places *noise.Seeded) (rows *matrix.Dense, level float64) {
	rows = matrix.NewDense(n, d, nil)
	count := int(2 * float64(d) / epsilon)
	p := float64(count) / float64(n)
	for i := range count {
		at := int((float64(i) + places.Float64()) / float64(count) * float64(n))
		rows.Data[at*d] = math.Pow(p, -1/k)
	}
	return rows, math.Pow(p, 1-1/k) // the length of the mean
}

// PhasesCell is the mean excess risk, G_k = 1, D = 2, of Algorithm 1 with Algorithm 4, three phases with exact
// constants, on n linear losses of which 2d/(nε) are not 0. The draws are the same for every n, d and ε.
func PhasesCell(k float64, d, n int, eps float64, fits int, seed uint64) (_ sim.Summary, err error) {
	defer measure.Catch(&err)
	return phasesRisk(k, d, n, eps, 1, fits, seed, same), nil
}

// phasesRisk is PhasesCell with C ∝ m^{power/k}, for answers that go through instead.
func phasesRisk(k float64, d, n int, epsilon, power float64, fits int, seed uint64,
	instead func(float64) float64) sim.Summary {
	clip := math.Pow(float64(n)*epsilon/float64(2*d), power/k)
	m := measure.Must(pure.PhasesConfig{Config: pure.Config{Loss: loss.Affine{}, Epsilon: epsilon, Features: d,
		Records: n, Adjacency: privacy.ReplaceOne, Radius: 1, Moment: min(k, 1e3), MomentBound: 1, WorstCase: true,
		Clip: clip, Lambda: 2 * clip * float64(d) / epsilon}, Double: true, Ratio: 8}.Calibrate())
	ones := slices.Repeat([]float64{1}, n)
	return measure.Means(context.Background(), fits, noise.NewSeeded(seed), func(i int, src *noise.Seeded) []float64 {
		rows, level := hardRecords(n, d, epsilon, k, src)
		w := measure.Released(m, rows, ones, noise.NewSeeded(seed+1).Stream(i))
		return []float64{level * (1 + instead(w[0]))}
	})[0]
}

// same is the answer that a mechanism gives, and half one that does not look at the records: on hardRecords its risk
// has the theorem's slope, as that of every constant has there.
func same(w float64) float64 { return w }
func half(float64) float64   { return -0.5 }

// rate is what outputRate checks: slopes against factor times the theorem's, with C ∝ m^{power/k}, the movement of a
// block against share·ε, for answers that go through instead.
type rate struct {
	factor, power, share float64
	instead              func(float64) float64
}

func outputRate(run measure.Run, of rate) claim.Outcome {
	worst, idle := [3]float64{}, 0.0 // in n, ε and d
	var told string
	flattest := math.Inf(1)
	for _, k := range []float64{2, 3, 4} {
		want := of.factor * (1 - 1/k)
		steep := farSlope(k, run.Runs(40), of.instead, 38)
		flattest = math.Min(flattest, -steep/want)
		for axis, at := range [][2]float64{{256, 4096}, {1, 0.25}, {16, 64}} {
			var log [2]float64
			for j, v := range at {
				n, epsilon, d := moved(axis, v, 1024, 1, 2)
				risk := phasesRisk(k, d, n, epsilon, of.power, run.Runs(40), 38, of.instead)
				log[j] = math.Log(risk.Mean)
				idle = math.Max(idle, risk.Mean/math.Pow(2*float64(d)/epsilon/float64(n), 1-1/k))
			}
			slope := (log[1] - log[0]) / math.Log(at[1]/at[0])
			told += fmt.Sprintf("%s %.3f, ", []string{"n", "ε", "d"}[axis], slope)
			worst[axis] = math.Max(worst[axis], math.Abs(math.Abs(slope)/want-1))
		}
	}
	most, least := blockMoves()
	return outcome(fmt.Sprintf("slopes for k = 2, 3, 4: %srisk at most %.2f of that at w₀; %.2f times as "+
		"steep or more for |w ∓ 0.6|; moves %.5f to %.5f of ε", told, idle, flattest, least/of.share, most/of.share),
		flattest >= 1 && worst[0] < 0.02 && worst[1] < 0.02 && worst[2] < 0.1 && idle < 0.9 &&
			most/of.share <= 1 && least/of.share > 1-1e-4).Corrected("with as many phases as have records")
}

// farSlope is the slope of ln mean risk in ln n, from 256 to 4,096, where every loss is |w − 0.6| or every one |w +
// 0.6|: no answer that does not look at the records comes nearer to both as n grows.
func farSlope(k float64, runs int, instead func(float64) float64, seed uint64) float64 {
	var log [2]float64
	for j, n := range []int{256, 4096} {
		clip := math.Pow(float64(n)/2, 1/k)
		m := measure.Must(pure.PhasesConfig{Config: pure.Config{Loss: loss.LeastAbsolute{}, Epsilon: 1, Features: 1,
			Records: n, Adjacency: privacy.ReplaceOne, Radius: 1, Moment: k, MomentBound: 1, WorstCase: true,
			Clip: clip, Lambda: 2 * clip}, Double: true, Ratio: 4, Count: int(math.Log2(float64(n))) - 1}.Calibrate())
		mean, rows := 0.0, matrix.NewDense(n, 1, slices.Repeat([]float64{1}, n))
		for i := range runs {
			at := 0.6 * float64(1-2*(i%2))
			w := measure.Released(m, rows, slices.Repeat([]float64{at}, n), noise.NewSeeded(seed+2).Stream(i))
			mean += math.Abs(instead(w[0])-at) / float64(runs)
		}
		log[j] = math.Log(mean)
	}
	return (log[1] - log[0]) / math.Log(16)
}

// blockMoves returns the most and the least of ε that a steep line that is replaced by its negative uses up, with a
// solver that does its worst, in a block with one stage and with two.
func blockMoves() (most, least float64) {
	least = math.Inf(1)
	for _, double := range []bool{false, true} {
		m := measure.Must(pure.PhasesConfig{Config: pure.Config{Loss: loss.Affine{}, Epsilon: 1, Features: 1,
			Records: 50, Adjacency: privacy.ReplaceOne, Radius: 1e3, Clip: 2, Lambda: 7}, Count: 1,
			Double: double}.Calibrate())
		line := func(slope float64) []audit.PureRecord {
			return []audit.PureRecord{{Direction: []float64{1}, Norm: 1, Label: slope}}
		}
		used := measure.Must(audit.BlockMove(m, line(-1e9), line(1e9)))
		most, least = math.Max(most, used), math.Min(least, used)
	}
	return most, least
}

// netPhase is the law over a net of one phase of Algorithm 1 with Algorithm 5, about a centre.
func netPhase(z []float64, net [][]float64, centre, lambda, epsilon, k, part float64) []float64 {
	m := float64(len(z))
	c := math.Pow(m*epsilon, 1/k)
	return NetMechanism{Slopes: linearLosses(z), C: c, Lambda: lambda * c / (m * epsilon), Centre: []float64{centre},
		Step: 1 / lambda, W: interval, Sensitivity: part * 2 * c / m}.Probabilities(net, epsilon)
}

// netRisk is the mean risk of Algorithm 1 with Algorithm 5, by its exact law, where every loss is w, or every one −w,
// which is the same for it and not for instead.
func netRisk(net [][]float64, n, k float64, phases int, instead func(float64) float64) (mean float64) {
	law := make([]float64, len(net))
	law[len(net)/2] = 1
	const epsilon = 0.25
	for t := 1; t <= phases; t++ {
		next, m := make([]float64, len(net)), n/math.Exp2(float64(t))
		c := math.Pow(m*epsilon, 1/k)
		lambda := 2 * math.Pow(4, float64(t-1)) * c / (m * epsilon)
		for i, p := range law {
			if p < 1e-15 {
				continue
			}
			// One record stands for all.
			for j, q := range (NetMechanism{Slopes: linearLosses([]float64{1}), C: c, Lambda: lambda, Centre: net[i],
				Step: 1 / lambda, W: interval, Sensitivity: 2 * c / m}).Probabilities(net, epsilon) {
				next[j] += p * q
			}
		}
		law = next
	}
	for j, p := range law {
		mean += p * (1 + (instead(net[j][0])-instead(-net[j][0]))/2)
	}
	return mean
}

// netted is what netRate checks of Algorithm 1 with Algorithm 5: the slope of the risk against factor times the
// theorem's, and the exact law of two phases with part of the sensitivity. Where all losses are alike there are as many
// phases as stated, or, if that is 0, as have records. Answers go through instead.
type netted struct {
	factor, part float64
	phases       int
	instead      func(float64) float64
}

func netRate(run measure.Run, of netted) claim.Outcome {
	net := measure.Must(Net(1, 1, 0.02))
	worst, idle, told, runs, flattest := 0.0, 0.0, "", run.Runs(40), math.Inf(1)
	for _, k := range []float64{2, 3, 4} {
		var log [2]float64
		for j, n := range []int{256, 4096} {
			mean := 0.0
			for i := range runs {
				places, draws, at := noise.NewSeeded(39).Stream(i), noise.NewSeeded(40).Stream(i), 0.0
				rows, level := hardRecords(n, 1, 0.25, k, places)
				for t := 1; t <= 3; t++ {
					z := rows.Data[n-n>>(t-1) : n-n>>t]
					at = net[draw(draws, netPhase(z, net, at, 2*math.Pow(4, float64(t-1)), 0.25, k, of.part))][0]
				}
				mean += level * (1 + of.instead(at)) / float64(runs)
				idle += (1 + of.instead(at)) / float64(6*runs)
			}
			log[j] = math.Log(mean)
		}
		slope := (log[1] - log[0]) / math.Log(16)
		told += fmt.Sprintf("%.3f, ", slope)
		worst = math.Max(worst, math.Abs(-slope/(of.factor*(1-1/k))-1))
		risk := func(n float64) float64 {
			return netRisk(net, n, k, cmp.Or(of.phases, int(math.Log2(n))-1), of.instead)
		}
		slope = math.Log(risk(65536)/risk(4096)) / math.Log(16)
		flattest = math.Min(flattest, -slope/(of.factor*(1-1/k)))
	}
	// Two phases, of four records and two.
	const epsilon = 1.0
	law := func(z []float64) []float64 {
		all := make([]float64, len(net))
		for i, p := range netPhase(z[:4], net, 0, 1, epsilon, 2, of.part) {
			for j, q := range netPhase(z[4:], net, net[i][0], 4, epsilon, 2, of.part) {
				all[j] += p * q
			}
		}
		return all
	}
	ratio := 0.0
	for i := range 6 {
		for _, rest := range []float64{-9, 0.3, 9} {
			z := slices.Repeat([]float64{rest}, 6)
			z[i] = 9
			p := law(z)
			z[i] = -9
			for j, q := range law(z) {
				ratio = math.Max(ratio, math.Abs(math.Log(p[j]/q)))
			}
		}
	}
	return outcome(fmt.Sprintf("slopes for k = 2, 3, 4: %srisk %.2f of that at w₀; %.2f times as steep or more "+
		"where all are alike; laws %.4f of ε apart", told, idle, flattest, ratio/epsilon), flattest >= 1 &&
		worst < 0.02 && idle < 0.95 && ratio <= epsilon && ratio > 0.55*epsilon).Reaching(ratio / epsilon)
}
