package rkw23

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// linearLoss is f(t) = t.
type linearLoss struct{ loss.Logistic }

func (linearLoss) ValueSlope(slope, t, _ []float64) (sum float64) {
	for i, v := range t {
		slope[i] = 1
		sum += v
	}
	return sum
}

func linearIsGaussian(_ measure.Run, factor float64) claim.Outcome {
	low, high := math.Inf(1), 0.0
	for _, c := range [][2]float64{{1, 1}, {0.1, 2}, {20, 5}, {5, 10}, {3, 0.5}} {
		s := audit.Scalar{Loss: linearLoss{}, ExtraX: 1, ExtraY: 1, Lambda: c[0], Sigma: c[1]}
		p, q := s.Cells(20_000)
		for _, eps := range auditedEpsilons {
			exact := measure.Stick(p, q, eps)
			if exact < 1e-12 {
				continue
			}
			r := exact / measure.GaussianDelta(factor/c[1], eps)
			low, high = math.Min(low, r), math.Max(high, r)
		}
	}
	return claim.Decide(fmt.Sprintf("exact/Gaussian δ from %.6f to %.6f", low, high), "1 − 1e-3 … 1: cells can only "+
		"lose", low > 1-1e-3 && high <= 1+1e-9)
}

func gaussianFormula(run measure.Run, delta, scale float64) claim.Outcome {
	var worst float64
	for mu, eps := range measure.Pairs(run, []float64{0.1, 0.5, 1, 3}, []float64{0, 0.1, 0.5, 1, 2, 4}) {
		exact := gaussianIntegral(mu, eps)
		if exact > 1e-15 {
			worst = math.Max(worst, math.Abs(delta*measure.GaussianDelta(scale*mu, eps)/exact-1))
		}
	}
	return claim.Decide("largest relative difference "+claim.Roughly(worst, 1e-9), "1e-9", worst < 1e-9)
}

// dominatingPair holds Lemma D.6's pair against its privacy loss, with the given sign of L in Q's exponent, and L times
// share.
func dominatingPair(run measure.Run, sign, share float64) claim.Outcome {
	mended, printed := pairOff(run, halfNormals, sign*share), pairOff(run, halfNormals, -sign*share)
	o := claim.Decide(fmt.Sprintf("largest difference %s with −(t + L)², %.2g with the printed −(t − L)²",
		claim.Roughly(mended, 1e-4), printed), "1e-4: the integrand has kinks", mended < 1e-4 && printed > 0.05)
	return o.Corrected("Q's exponent is −(t + L)², as in Lemma D.4")
}

// halfNormals are k and a of some laws of W = k + a²/2 + a|N|.
var halfNormals = [][2]float64{{0, 0.5}, {0.3, 0.5}, {1, 0.2}, {0.05, 1.5}}

// pairOff is the largest distance of ∫(p − e^ε q)₊ of Lemma D.6's pair, with a times share in q, from the released δ of
// its loss.
func pairOff(run measure.Run, cases [][2]float64, share float64) (worst float64) {
	for c, eps := range measure.Pairs(run, cases, []float64{0, 0.1, 0.5, 1, 2}) {
		pair := measure.Integral(func(t float64) float64 {
			return math.Max(0, 2*measure.Phi(t)-math.Exp(eps-c[0])*2*measure.Phi(t+share*c[1]))
		}, 0, 40, 160)
		worst = math.Max(worst, math.Abs(pair-measure.HalfNormal(c[0], c[1], eps)))
	}
	return worst
}

// crowd returns n records of norm 1 in d dimensions with mixed labels, and one more.
func crowd(rng *noise.Seeded, n, d int, lambda, sigma float64) *audit.Neighbours {
	rows, labels := matrix.NewDense(n+1, d, nil), make([]float64, n)
	rng.Gaussian(rows.Data, 1)
	measure.ScaleRows(rows, 1)
	for i := range labels {
		labels[i] = float64(1 - 2*(i%2))
	}
	extra := append([]float64(nil), rows.Data[n*d:]...)
	return &audit.Neighbours{Loss: loss.Logistic{}, Rows: matrix.NewDense(n, d, rows.Data[:n*d]), Labels: labels,
		Extra: extra, ExtraLabel: 1, Lambda: lambda, Sigma: sigma}
}

func sampledBelow(run measure.Run, factor float64) claim.Outcome {
	bound := scaled(factor, released(objective.RKW23))
	exact := boundHolds(run, nil, bound)
	samples := measure.Sized(run.Size, 2000, 100_000)
	rng := noise.NewSeeded(31)
	var ratio float64
	broken := false
	for k, d := range []int{2, 5, 10} {
		nb := crowd(rng.Stream(k), 20, d, 0.5, 1)
		for _, dir := range privacy.Directions {
			for j, eps := range measure.Over(run, []float64{0, 0.4}) {
				type key struct {
					dir           privacy.Direction
					k, j, samples int
				}
				iv := measure.Shared(key{dir, k, j, samples}, func() audit.Interval {
					return measure.Must(nb.DeltaInterval(dir, eps, samples, 1-1e-6, rng.Stream(100+10*k+j)))
				})
				stated := bound(0.5, 1, eps)
				ratio = math.Max(ratio, iv.Estimate/stated)
				broken = broken || iv.Lower > stated
			}
		}
	}
	off := offStated(run, bound, theorem31)
	return both(exact, claim.Decide(fmt.Sprintf("largest estimate/bound %.3f; bound over integral less 1: %s", ratio,
		claim.Roughly(off, 1e-6)), fmt.Sprintf("12 intervals of level 1 − 1e-6 from %d draws; 1e-6", samples),
		!broken).As(off < 1e-6).Reaching(ratio))
}

// reductionHolds holds the formula with γ² and r times factors against the ratio of densities.
func reductionHolds(_ measure.Run, times [2]float64) claim.Outcome {
	rng := noise.NewSeeded(32)
	var worst float64
	for k, d := range []int{3, 8} {
		nb := crowd(rng.Stream(k), 15, d, 0.4, 1.3)
		for i := range 200 {
			direct, parts := measure.Must2(nb.Decompose(rng.Stream(1000*k + i)))
			gauss := (times[0]*parts.Gamma*parts.Gamma + 2*parts.Gamma*parts.U) / (2 * nb.Sigma * nb.Sigma)
			worst = math.Max(worst, math.Abs(direct-gauss+math.Log1p(-times[1]*parts.R)))
		}
	}
	return claim.Decide("largest difference "+claim.Roughly(worst, 1e-10), "1e-8", worst < 1e-8)
}

// order is ln ∫p^α q^{1−α}/(α − 1) for normal densities of means 0 and −a, q times e^{−k}, cut to [lo, hi] and there
// times share.
func order(a, k, share, lo, hi, alpha float64) float64 {
	return math.Log(share*measure.Integral(func(x float64) float64 {
		return math.Exp((alpha-1)*k-alpha*x*x/2-(1-alpha)*(x+a)*(x+a)/2) / math.Sqrt(2*math.Pi)
	}, lo, hi, 200)) / (alpha - 1)
}

func fromLosses(_ measure.Run, sticks, orders float64) claim.Outcome {
	var stick, renyi, printed float64
	for _, c := range halfNormals {
		k, a := c[0], c[1]
		p := func(x float64) float64 { return 2 * measure.Phi(x) }
		q := func(x float64) float64 { return math.Exp(-k) * 2 * measure.Phi(x+a) }
		for _, eps := range []float64{0, 0.1, 0.5, 1, 2} {
			above := func(x float64) float64 { return math.Max(0, p(x)-math.Exp(eps)*q(x)) }
			exact := measure.Integral(above, 0, 20, 80)
			stick = math.Max(stick, math.Abs(sticks*measure.HalfNormal(k, a, eps)-exact))
		}
		for _, alpha := range []float64{1.1, 2, 8} {
			exact := order(a, k, 2, 0, 16+alpha*a, alpha)
			given := measure.Must(privacy.HalfNormal{K: k, A: a}.RDP(alpha))
			renyi = math.Max(renyi, math.Abs(orders*given/exact-1))
			printed = math.Max(printed, alpha*rdp(measure.HalfNormalLoss(k, a), alpha+1)/((alpha-1)*exact)-1)
		}
	}
	o := claim.Decide(fmt.Sprintf("δ off by %s, D_α by %s of itself; with the exponent α by %.1f of itself",
		claim.Roughly(stick, 1e-4), claim.Roughly(renyi, 1e-9), printed), "1e-4: the integrand has kinks; 1e-9; "+
		"above 0.5", stick < 1e-4 && renyi < 1e-9 && printed > 0.5)
	return o.Corrected("under the law of the release the exponent is α − 1; α is printed, which belongs to the " +
		"expectation under the neighbour")
}

func gaussianOrders(_ measure.Run, factor float64) claim.Outcome {
	var off float64
	for _, mu := range []float64{0.1, 0.7, 2} {
		curve := privacy.GaussianRDP(mu, privacy.AddRemove)
		for _, alpha := range []float64{1.01, 1.5, 3, 10, 18} {
			exact := order(mu, 0, 1, (alpha-1)*mu-14, (alpha-1)*mu+14, alpha)
			off = math.Max(off, math.Abs(factor*curve.Epsilon(alpha)/exact-1))
		}
	}
	return claim.Decide("largest relative difference "+claim.Roughly(off, 1e-9), "1e-9", off < 1e-9)
}

func pairWithoutCurvature(run measure.Run, factor float64) claim.Outcome {
	off := pairOff(run, [][2]float64{{0, 0.2}, {0, 0.5}, {0, 1}, {0, 1.5}}, factor)
	return claim.Decide("largest difference "+claim.Roughly(off, 1e-4), "1e-4: the integrand has kinks", off < 1e-4)
}

func growsWithScale(_ measure.Run, factor float64) claim.Outcome {
	least, equal := math.Inf(1), 0.0
	integral := func(c, s float64, g func(x float64) float64) float64 {
		return measure.Integral(func(z float64) float64 { return measure.Phi(z) * g(s*z-c) }, c/s, c/s+14, 200)
	}
	one := func(float64) float64 { return 1 }
	for _, g := range []func(x float64) float64{one, func(x float64) float64 { return x }, // x is the distance to c
		func(x float64) float64 { return -math.Expm1(-x) }, func(x float64) float64 { return x * x * x },
		func(x float64) float64 { return math.Exp(x / 2) }} {
		for _, c := range []float64{0, 0.3, 2} {
			for s := 0.25; s < 4; s *= 2 {
				small, large := integral(c, s, g), factor*integral(c, 2*s, g)
				if small > 1e-14 {
					least = math.Min(least, large/small)
				}
			}
		}
	}
	for s := 0.25; s < 4; s *= 2 {
		equal = math.Max(equal, math.Abs(factor*integral(0, 2*s, one)/integral(0, s, one)-1))
	}
	control := integral(-1, 2, one) / integral(-1, 0.5, one)
	return claim.Decide(fmt.Sprintf("smallest ratio 1 − %s; g = 1 and c = µ off by %s; control %.2f",
		claim.Roughly(1-least, 1e-9), claim.Roughly(equal, 1e-9), control), "1e-9; 1e-9; below 1",
		least > 1-1e-9 && equal < 1e-9 && control < 1)
}

func convergesLater(_ measure.Run, factor float64) claim.Outcome {
	ok, before := true, 0.0
	measured := ""
	for _, sigma := range []float64{2, 5, 10} {
		alpha := 1.0
		for {
			alpha += 0.05
			half := measure.Must(privacy.HalfNormal{A: 1 / sigma}.RDP(alpha))
			if factor*half <= 1.1*privacy.GaussianRDP(1/sigma, privacy.AddRemove).Epsilon(alpha) || alpha > 100 {
				break
			}
		}
		// ln(2Φ(u))/(α − 1), u = (α − 1)/σ, is at its limit from there on: (α − 1)α = 20σ² ln 2·(1 − 1e-4).
		want := 0.5 + math.Sqrt(0.25+20*sigma*sigma*math.Ln2)
		ok = ok && alpha > before && math.Abs(alpha-want) < 0.1
		before = alpha
		measured += fmt.Sprintf("σ = %g: α = %.1f for %.1f; ", sigma, alpha, want)
	}
	return claim.Decide(measured[:len(measured)-2], "0.1", ok)
}

func gradientBounds(_ measure.Run, factor float64) claim.Outcome {
	const n = 20
	var low, high, gap float64 // bounds over what they bound
	for _, c := range []struct {
		l      loss.Loss
		x      func(i int) (a, b float64)
		lambda float64
	}{
		{loss.Huber{Threshold: 1e6}, func(int) (float64, float64) { return 1, 0 }, 0.5},
		{loss.Huber{Threshold: 1e6}, func(int) (float64, float64) { return 1, 0 }, 1e4},
		{loss.Logistic{}, func(i int) (float64, float64) { return math.Sincos(float64(i)) }, 0.5},
	} {
		p := &erm.Problem{Rows: matrix.NewDense(n, 2, nil), Labels: make([]float64, n), Loss: c.l, Lambda: c.lambda}
		rows := p.Rows.(*matrix.Dense)
		for i := range n {
			rows.Data[2*i], rows.Data[2*i+1] = c.x(i)
			p.Labels[i] = float64(1 - 2*(i%2))
		}
		best := measure.Must(erm.Minimize(p, &erm.Settings{Tolerance: 1e-9}))
		value := func(theta []float64) (f float64, gradient []float64) {
			t, slope := make([]float64, n), make([]float64, n)
			rows.Margins(t, theta, 0, n)
			f = c.l.ValueSlope(slope, t, p.Labels) + c.lambda/2*floats.Dot(theta, theta)
			gradient = []float64{c.lambda * theta[0], c.lambda * theta[1]}
			rows.AddScaled(gradient, slope, 0, n)
			return f, gradient
		}
		least, _ := value(best.Theta)
		top := n*c.l.Smoothness() + c.lambda
		for k := range 9 {
			sin, cos := math.Sincos(float64(k) * math.Pi / 16)
			theta := []float64{best.Theta[0] + 3*cos, best.Theta[1] + 3*sin}
			f, g := value(theta)
			norm := floats.Norm(g, 2)
			low, high = math.Max(low, factor*norm/top/3), math.Max(high, 3*factor/(norm/c.lambda))
			gap = math.Max(gap, factor*c.lambda*norm*norm/(2*top*top)/(f-least))
		}
	}
	return claim.Decide(fmt.Sprintf("‖∇f‖/(nβ + λ) over the distance at most %.4f, the distance over ‖∇f‖/λ %.4f, the "+
		"third bound over f − f* %.4f", low, high, gap), "at most 1 + 1e-6, above 0.99", math.Max(low, math.Max(high,
		gap)) <= 1+1e-6 && math.Min(low, math.Min(high, gap)) > 0.99).Reaching(math.Max(low, math.Max(high, gap)))
}

func descentRates(run measure.Run, factor float64) claim.Outcome {
	var x []float64
	var counts [2][]float64
	for n := 100.0; n <= 6400; n *= 2 {
		measure.Try(run.Err())
		x = append(x, n)
		curvature := []float64{1, math.Sqrt(n + 1), n + 1}
		root := math.Sqrt(1 / (n + 1))
		for k, momentum := range []float64{0, (1 - root) / (1 + root)} {
			theta, before := []float64{1, 1, 1}, []float64{1, 1, 1}
			steps := 0.0
			for ; ; steps++ {
				var norm float64
				for j, c := range curvature {
					norm = math.Hypot(norm, c*theta[j])
				}
				if norm <= 1/n {
					break
				}
				for j, c := range curvature {
					y := theta[j] + momentum*(theta[j]-before[j])
					before[j], theta[j] = theta[j], y-c*y/(n+1)
				}
			}
			counts[k] = append(counts[k], n*steps/math.Log(n))
		}
	}
	plain, fast := measure.Exponent(x, counts[0]), measure.Exponent(x, counts[1])
	return claim.Decide(fmt.Sprintf("slopes %.3f and %.3f", plain, fast), "2 ± 0.05, 1.5 ± 0.05",
		math.Abs(plain-2*factor) < 0.05 && math.Abs(fast-1.5*factor) < 0.05)
}
