package rkw23

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// discreteLaw draws a law on n points, whose logarithms are as far apart as spread says.
func discreteLaw(n int, spread float64, rng *noise.Seeded) []float64 {
	p := make([]float64, n)
	for i := range p {
		p[i] = math.Exp(spread * rng.NormFloat64())
	}
	floats.Scale(1/floats.Sum(p), p)
	return p
}

// largestEvent takes the divergence times a factor.
func largestEvent(_ measure.Run, factor float64) claim.Outcome {
	rng := noise.NewSeeded(24)
	var off float64
	for range 40 {
		p, q := discreteLaw(10, 0.7, rng), discreteLaw(10, 0.7, rng)
		for _, eps := range []float64{0, 0.3, 1, 2} {
			var most float64
			for event := range 1 << len(p) {
				var gain float64
				for i := range p {
					if event>>i&1 == 1 {
						gain += p[i] - math.Exp(eps)*q[i]
					}
				}
				most = math.Max(most, gain)
			}
			if most > 0 {
				off = math.Max(off, math.Abs(factor*audit.HockeyStick(p, q, eps)/most-1))
			}
		}
	}
	return claim.Decide("largest relative difference "+claim.Roughly(off, 1e-12), "1e-12", off < 1e-12,
		"the divergence is not what the worst event gains")
}

// pairs are pairs of laws of which a mechanism chooses one; as a profile it is the largest of theirs.
type pairs [][2][]float64

func (d pairs) Adjacency() privacy.Adjacency { return privacy.AddRemove }

func (d pairs) LogDeltaUpper(dir privacy.Direction, eps float64) float64 {
	var most float64
	for _, pq := range d {
		if dir == privacy.Add {
			pq[0], pq[1] = pq[1], pq[0]
		}
		most = math.Max(most, audit.HockeyStick(pq[0], pq[1], eps))
	}
	return math.Min(0, math.Log(most)+1e-13)
}

func (d pairs) LogDeltaLower(dir privacy.Direction, eps float64) float64 {
	return d.LogDeltaUpper(dir, eps) - 2e-13
}

// threeSteps is a mechanism of three steps with choices between three pairs, or none of three that are one, and its law
// and that of its neighbour over all outcomes.
func threeSteps(choice bool, rng *noise.Seeded) (d pairs, p, q []float64) {
	for range 3 {
		if d = append(d, [2][]float64{discreteLaw(4, 0.7, rng), discreteLaw(4, 0.7, rng)}); !choice {
			break
		}
	}
	p, q = []float64{1}, []float64{1}
	for range 3 {
		var nextP, nextQ []float64
		for i := range p {
			pair := d[i%4%len(d)] // by the outcome before
			for j := range pair[0] {
				nextP, nextQ = append(nextP, p[i]*pair[0][j]), append(nextQ, q[i]*pair[1][j])
			}
		}
		p, q = nextP, nextQ
	}
	return d, p, q
}

// composedAdaptively takes the bounds times a factor.
func composedAdaptively(run measure.Run, factor float64) claim.Outcome {
	rng := noise.NewSeeded(25)
	most, least, width := 0.0, math.Inf(1), 0.0
	for trial := range 12 {
		measure.Try(run.Err())
		choice := trial%2 == 0
		d, p, q := threeSteps(choice, rng)
		c := measure.Must(pld.New([]pld.Component{{Profile: d, Count: 3}}, nil))
		for _, eps := range []float64{0, 0.3, 1} {
			b := measure.Must(c.DeltaBounds(eps))
			exact := measure.Stick(p, q, eps)
			if exact < 1e-9 {
				continue
			}
			most = math.Max(most, exact/(factor*math.Exp(b.Upper)))
			if !choice {
				least = math.Min(least, exact/(factor*math.Exp(b.Lower)))
				width = math.Max(width, b.Upper-b.Lower)
			}
		}
	}
	return claim.Decide(fmt.Sprintf("exact over upper δ at most %.4f; without a choice exact over lower δ at "+
		"least %.4f, upper over lower δ at most 1 + %.0e", most, least, width), "at most 1, at least 1",
		most <= 1 && least >= 1, "an adaptive mechanism costs more than the product, or that is "+
			"another one").Reaching(most)
}

// lossesAdd takes the loss of the second pair times a factor.
func lossesAdd(_ measure.Run, factor float64) claim.Outcome {
	rng := noise.NewSeeded(26)
	var off float64
	for range 40 {
		const n = 7
		var laws [4][]float64
		for k := range laws {
			laws[k] = discreteLaw(n, 0.7, rng)
		}
		p, q := measure.Product(laws[0], laws[1]), measure.Product(laws[2], laws[3])
		for _, eps := range []float64{-0.5, 0, 0.5, 1} {
			var mean float64
			for i := range n {
				for j := range n {
					w := math.Log(laws[0][i]/laws[2][i]) + factor*math.Log(laws[1][j]/laws[3][j])
					mean += laws[0][i] * laws[1][j] * math.Max(0, -math.Expm1(eps-w))
				}
			}
			off = math.Max(off, math.Abs(mean/audit.HockeyStick(p, q, eps)-1))
		}
	}
	return claim.Decide("largest relative difference "+claim.Roughly(off, 1e-12), "1e-12", off < 1e-12,
		"the divergence is not that mean")
}

// renyiAdds takes the composed curve times a factor.
func renyiAdds(_ measure.Run, factor float64) claim.Outcome {
	rng := noise.NewSeeded(25)
	most, off := 0.0, 0.0
	for trial := range 60 {
		choice := trial%2 == 0
		d, p, q := threeSteps(choice, rng)
		one := privacy.RDPCurve{Adj: privacy.AddRemove, Epsilon: func(alpha float64) (worst float64) {
			for _, pair := range d {
				worst = math.Max(worst, audit.Renyi(pair[0], pair[1], alpha))
			}
			return worst
		}}
		sum := measure.Must(privacy.ComposeRDP([]int{1, 2}, one, one))
		for _, alpha := range []float64{1.1, 2, 5, 20} {
			ratio := audit.Renyi(p, q, alpha) / (factor * sum.Epsilon(alpha))
			if choice {
				most = math.Max(most, ratio)
			} else {
				off = math.Max(off, math.Abs(ratio-1))
			}
		}
	}
	return claim.Decide(fmt.Sprintf("largest divergence over the sum %.4f; without a choice off by %s", most,
		claim.Roughly(off, 1e-9)), "at most 1; 1e-9", most <= 1 && off < 1e-9, "divergences do not "+
		"add").Reaching(most)
}

// twoRuns takes the bound's δ times a factor.
func twoRuns(run measure.Run, factor float64) claim.Outcome {
	const lambda, sigma = 5.0, 0.5
	first := audit.Scalar{Loss: loss.Logistic{}, ExtraX: 1, ExtraY: 1, Lambda: lambda, Sigma: sigma, Tilt: 25}
	p, q := first.Cells(600)
	// The second run answers the first, by which of 12 groups of cells the release is in.
	const groups = 12
	var secondP, secondQ [groups][]float64
	for g := range groups {
		lean := 2*float64(g)/(groups-1) - 1
		s := first
		for range 3 {
			s.X, s.Y = append(s.X, 1), append(s.Y, math.Copysign(1, lean))
		}
		s.Tilt += 5 * lean
		secondP[g], secondQ[g] = s.Cells(400)
	}
	law := stated{-math.Log(1 - 0.25/lambda), 1 / sigma}
	w := measure.Must(privacy.HalfNormal{K: law.k, A: law.a}.Profile(privacy.AddRemove))
	composition := measure.Must(pld.New([]pld.Component{{Profile: w, Count: 2}}, nil))
	single := measure.Must(objective.New(objective.Config{Slope: 1, Smoothness: 0.25, Lambda: lambda, Sigma: sigma,
		Bound: objective.RKW23}))
	var most, more, off float64
	for _, eps := range []float64{0, 2, 4, 6} {
		measure.Try(run.Err())
		var exact [2]float64
		for i := range p {
			g := i * groups / len(p)
			for j, r := range secondP[g] {
				one, two := p[i]*r, q[i]*secondQ[g][j]
				exact[0] += math.Max(0, one-math.Exp(eps)*two)
				exact[1] += math.Max(0, two-math.Exp(eps)*one)
			}
		}
		b := measure.Must(composition.DeltaBounds(eps))
		bound, worst := factor*math.Exp(b.Upper), math.Max(exact[0], exact[1])
		most = math.Max(most, worst/bound)
		more = math.Max(more, worst/privacy.DeltaUpper(single, eps))
		off = math.Max(off, math.Abs(bound/composedDelta(law, 2, eps)-1))
	}
	return claim.Decide(fmt.Sprintf("largest exact/bound %.3f, %.2f of one run; bound over convolution less 1: %s",
		most, more, claim.Roughly(off, 5e-3)), "at most 1; above 1; 5e-3", most <= 1 && more > 1,
		"two runs cost more than the bound, or no more than one, or the bound is another "+
			"one").As(off < 5e-3).Reaching(most)
}
