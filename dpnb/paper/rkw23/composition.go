package rkw23

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// figureOne recomputes the figure, δ of the hockey-stick and of the RDP bound times a factor each, and each curve by
// its formula.
func figureOne(_ measure.Run, sticks, renyis float64) claim.Outcome {
	curve := measure.Must(loss.CurveOf(loss.Huber{Threshold: 1}, 1)) // L = β = 1
	ordered, off := true, 0.0
	measured := ""
	for _, c := range [][2]float64{{5, 20}, {10, 5}} {
		sigma, lambda := c[0], c[1]
		profiles := map[objective.Bound]*objective.Profile{}
		for _, b := range []objective.Bound{objective.KST12, objective.RKW23, objective.GaussianLower} {
			profiles[b] = measure.Must(objective.New(objective.Config{Curve: curve, Lambda: lambda, Sigma: sigma,
				Bound: b}))
		}
		law := objective.Config{Curve: curve, Lambda: lambda, Sigma: sigma, Bound: objective.RKW23}.Law()
		rdp := privacy.RDPCurve{Adj: privacy.AddRemove, Epsilon: renyiOf(law)}
		for _, eps := range []float64{0.1, 0.25, 0.5, 1, 1.5, 2} {
			lower := privacy.DeltaUpper(profiles[objective.GaussianLower], eps)
			stick := sticks * privacy.DeltaUpper(profiles[objective.RKW23], eps)
			renyi := renyis * math.Exp(math.Min(0, rdp.LogDeltaUpper(eps)))
			kst := privacy.DeltaUpper(profiles[objective.KST12], eps)
			ordered = ordered && lower <= stick && stick <= renyi && renyi <= kst*(1+1e-9)
			a := 1 / sigma
			for _, v := range [][2]float64{
				{stick, theorem31(1, lambda, a).Delta(eps)}, {lower, gaussianIntegral(a, eps)},
				{kst, math.Min(1, 2*math.Exp(-(eps*eps/(a*a)-4*eps)/8))},
				{renyi, byRenyi(theorem31(1, lambda, a), eps)},
			} {
				if v[1] > 1e-12 && (v[0] != kst || lambda >= 2/eps) { // Theorem 2.8 has a least λ
					off = math.Max(off, math.Abs(v[0]/v[1]-1))
				}
			}
			if eps == 1 {
				measured += fmt.Sprintf("σ = %g, λ = %g, ε = 1: lower %.2e, hockey-stick %.2e, RDP %.2e, Kifer et "+
					"al. %.2e; ", sigma, lambda, lower, stick, renyi, kst)
			}
		}
	}
	return claim.Decide(measured+"off their formulas by "+claim.Roughly(off, 1e-6),
		"order at 6 values of ε in each panel; 1e-6", ordered).As(off < 1e-6)
}

// gaussianIntegral is ∫(φ(x − μ) − e^ε φ(x))₊.
func gaussianIntegral(mu, eps float64) float64 {
	// p > e^ε q beyond the point where the loss μx − μ²/2 is ε.
	from := eps/mu + mu/2
	return measure.Integral(func(x float64) float64 { return measure.Phi(x-mu) - math.Exp(eps)*measure.Phi(x) },
		from, from+14, 60)
}

// fits returns the ε at δ of k fits by objective perturbation, L = β = 1, σ = 8, λ = 10, as in Figure 3: by convolving
// the loss of Theorem 3.1, and by Theorem 3.2.
func fits(k int, delta float64) (convolved pld.Bounds, renyi float64) {
	w := objective.Config{Slope: 1, Smoothness: 1, Lambda: 10, Sigma: 8, Bound: objective.RKW23}.Law()
	p := measure.Must(w.Profile(privacy.AddRemove))
	c := measure.Must(pld.New([]pld.Component{{Profile: p, Count: k}}, nil))
	all := measure.Must(privacy.ComposeRDP([]int{k}, privacy.RDPCurve{Adj: privacy.AddRemove, Epsilon: renyiOf(w)}))
	return measure.Must(c.EpsilonBounds(delta)), measure.Must(all.EpsilonUpper(delta))
}

func figureThree(run measure.Run, factor float64) claim.Outcome {
	below := true
	measured := ""
	for _, k := range measure.Over(run, []int{1, 4, 16}) {
		b, loose := fits(k, 1e-5)
		b.Upper, b.Lower = factor*b.Upper, factor*b.Lower
		// δ at the two ends, from sums over cells of the k-fold convolution.
		law := theorem31(1, 10, 0.125)
		low, high := composedDelta(law, k, b.Upper), composedDelta(law, k, b.Lower)
		below = below && b.Lower < b.Upper && b.Upper < loose && b.Upper-b.Lower < 2e-3*b.Upper &&
			low <= 1.005e-5 && high >= 0.995e-5
		measured += fmt.Sprintf("k = %d: ε in [%.4f, %.4f], RDP %.4f; ", k, b.Lower, b.Upper, loose)
	}
	return claim.Decide(measured[:len(measured)-2], "upper − lower below 2e-3·ε; δ by convolution within 0.5 %", below)
}

// composedDelta is δ(ε) of the sum of k independent W, a power of two, by convolution of cells of 1/400 standard
// deviation.
func composedDelta(w measure.Loss, k int, eps float64) float64 {
	const cells = 3200
	h := 8.0 / cells
	law := make([]float64, cells)
	for i := range law {
		law[i] = 2 * measure.Mass(float64(i)*h, float64(i+1)*h)
	}
	at := 0.5 * h // of |N| in the first cell
	for n := k; n > 1; n /= 2 {
		sum := make([]float64, min(2*len(law)-1, 4*cells))
		for i, p := range law {
			if p < 1e-14 {
				continue
			}
			for j, q := range law[:min(len(law), len(sum)-i)] {
				sum[i+j] += p * q
			}
		}
		law, at = sum, 2*at
	}
	var delta float64
	for i, p := range law {
		v := float64(k)*w.Least + w.A*(at+float64(i)*h)
		delta += p * math.Max(0, -math.Expm1(eps-v))
	}
	return delta
}

// profileBound is a bound on δ(ε) under replace-one by the profile under add/remove-one.
type profileBound func(p privacy.Profile, eps float64) float64

// groupOfTwo is Lemma 2.7, times a factor; composed is what is released under replace-one, its δ times a factor.
func groupOfTwo(factor float64) profileBound {
	return func(p privacy.Profile, eps float64) float64 {
		g := measure.Must(privacy.ReplaceByGroup(privacy.Approx{Epsilon: eps / 2,
			Delta: privacy.DeltaUpper(p, eps/2), Adj: privacy.AddRemove}))
		measure.Ensure(g.Epsilon == eps, "%v by the group of two where %v is meant", g, eps)
		return factor * g.Delta
	}
}

func composed(factor float64) profileBound {
	return func(p privacy.Profile, eps float64) float64 {
		return factor * privacy.DeltaUpper(measure.Must(privacy.ConvertAdjacency(p, privacy.ReplaceOne)), eps)
	}
}

// attained returns the largest δ of three laws P, R, Q over a bound on it: each neighbour is (ε, δ) from the next, and
// P and Q are (2ε, (1 + e^ε)δ) apart. On two points P = ((1 + e^ε)δ, …), R = (δ, …), Q = (0, 1).
func attained(bound profileBound) (ratio float64) {
	for _, c := range [][2]float64{{0, 0.1}, {0.3, 0.01}, {1, 1e-3}, {2, 1e-5}} {
		eps, delta := c[0], c[1]
		p := measure.Must(privacy.Approx{Epsilon: eps, Delta: delta, Adj: privacy.AddRemove}.Profile(privacy.AddRemove))
		two := (1 + math.Exp(eps)) * delta
		first, middle, last := []float64{two, 1 - two}, []float64{delta, 1 - delta}, []float64{0, 1}
		for _, pair := range [][2][]float64{{first, middle}, {middle, last}} {
			d := measure.Stick(pair[0], pair[1], eps)
			measure.Ensure(d <= delta*(1+1e-9), "the laws are δ = %v apart at ε = %v, want %v", d, eps, delta)
		}
		claimed := bound(p, 2*eps)
		ratio = math.Max(ratio, measure.Stick(first, last, 2*eps)/claimed)
	}
	return ratio
}

// replaceHolds holds a replace-one bound against exact divergences of datasets that differ in a replaced record, and
// against laws that attain it.
func replaceHolds(run measure.Run, bound profileBound) claim.Outcome {
	curve := measure.Must(loss.CurveOf(loss.Logistic{}, 1))
	var ratio float64
	for _, lambda := range []float64{0.5, 2} {
		p := measure.Must(objective.New(objective.Config{Curve: curve, Lambda: lambda, Sigma: 2,
			Bound: objective.Tight}))
		for _, eps := range measure.Over(run, []float64{0, 0.3, 1, 2}) {
			stated := bound(p, eps)
			for others, label := range measure.Pairs(run, []int{0, 3}, []float64{-1, 1}) {
				ratio = math.Max(ratio, replacedDelta(lambda, 2, others, label, eps)/stated)
			}
		}
	}
	sharp := attained(bound)
	return claim.Decide(fmt.Sprintf("largest exact/claimed δ %.4f; of laws that attain it %.6f", ratio, sharp),
		"at most 1 + 1e-9; above 1 − 1e-6", ratio <= 1 && ratio > 0 && sharp <= 1+1e-9 && sharp > 1-1e-6).
		Reaching(math.Max(ratio, sharp))
}

// groupHolds is replaceHolds and, of zCDP, that ρ becomes 4ρ times a factor: for normal laws, which attain it, and for
// chains of three laws on five points.
func groupHolds(run measure.Run, bound profileBound, factor float64) claim.Outcome {
	o := replaceHolds(run, bound)
	// The least ρ of a pair of laws, from α near 1 on.
	rho := func(p, q []float64) (most float64) {
		for x := 1e-4; x < 50; x *= 1.3 {
			most = math.Max(most, measure.Renyi(p, q, 1+x)/(1+x))
		}
		return most
	}
	normal := func(mean float64) []float64 {
		return measure.Cells(func(c float64) float64 { return c - mean }, -40, 40, 4000)
	}
	const mu = 0.5
	attained := rho(normal(-mu), normal(mu)) / (4 * mu * mu / 2)
	var most float64
	rng := noise.NewSeeded(27)
	for range 300 {
		var laws [3][]float64
		for k := range laws {
			laws[k] = discreteLaw(5, 1, rng)
		}
		// The middle law is nearly between the others, where the bound is nearest.
		for i := range laws[1] {
			laws[1][i] = math.Sqrt(laws[0][i]*laws[2][i]) * (1 + 0.05*rng.Float64())
		}
		floats.Scale(1/floats.Sum(laws[1]), laws[1])
		most = math.Max(most, rho(laws[0], laws[2])/(4*math.Max(rho(laws[0], laws[1]), rho(laws[1], laws[2]))))
	}
	attained, most = attained/factor, most/factor
	o.Measured += fmt.Sprintf("; ρ of two neighbours on over 4ρ: normal %.6f, others at most %.3f", attained, most)
	o.Interval += "; 1 ± 1e-4; at most 1"
	if o.Verdict == claim.Holds && !(math.Abs(attained-1) < 1e-4 && most <= 1) {
		o.Verdict, o.Note = claim.Fails, "ρ grows otherwise"
	}
	return o
}

// replacedDelta returns δ(ε), from below, where one record (1, +1) stands for (1, −1) beside others of a label.
func replacedDelta(lambda, sigma float64, others int, label, eps float64) float64 {
	base := audit.Scalar{Loss: loss.Logistic{}, ExtraX: 1, Lambda: lambda, Sigma: sigma}
	for range others {
		base.X, base.Y = append(base.X, 1), append(base.Y, label)
	}
	width := (10*sigma + float64(others) + 1) / lambda
	type key struct {
		lambda, sigma, label, eps float64
		others                    int
	}
	return measure.Shared(key{lambda, sigma, label, eps, others}, func() float64 {
		return measure.ReplacedDelta(base, 1, figure.Span(-width, width, 8000), eps)
	})
}

// discreteLaw draws a law on n points, whose logarithms are as far apart as spread says.
func discreteLaw(n int, spread float64, rng *noise.Seeded) []float64 {
	p := make([]float64, n)
	for i := range p {
		p[i] = math.Exp(spread * rng.NormFloat64())
	}
	floats.Scale(1/floats.Sum(p), p)
	return p
}

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
	return claim.Decide("largest relative difference "+claim.Roughly(off, 1e-12), "1e-12", off < 1e-12)
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

func composedAdaptively(run measure.Run, factor float64) claim.Outcome {
	rng := noise.NewSeeded(25)
	most, least, width := 0.0, math.Inf(1), 0.0
	for trial := range measure.To(run, 12) {
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
		most <= 1 && least >= 1).Reaching(most)
}

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
	return claim.Decide("largest relative difference "+claim.Roughly(off, 1e-12), "1e-12", off < 1e-12)
}

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
		claim.Roughly(off, 1e-9)), "at most 1; 1e-9", most <= 1 && off < 1e-9).Reaching(most)
}

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
	law := theorem31(0.25, lambda, 1/sigma)
	w := measure.Must(privacy.HalfNormal{K: -math.Log(1 - 0.25/lambda), A: law.A}.Profile(privacy.AddRemove))
	composition := measure.Must(pld.New([]pld.Component{{Profile: w, Count: 2}}, nil))
	single := measure.Must(objective.New(objective.Config{Slope: 1, Smoothness: 0.25, Lambda: lambda, Sigma: sigma,
		Bound: objective.RKW23}))
	var most, more, off float64
	for _, eps := range measure.Over(run, []float64{0, 2, 4, 6}) {
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
		most, more, claim.Roughly(off, 5e-3)), "at most 1; above 1; 5e-3", most <= 1 && more > 1).
		As(off < 5e-3).Reaching(most)
}
