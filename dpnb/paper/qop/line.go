package qop

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/constrained"
	"github.com/dpnb/notebooks/dpnb/mechanism/qop"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// line is Mechanism 3 in one dimension, where its law is an integral: one record of least squares, of curvature h = 1
// or 0 and minimal at 0, the regulariser gθ, an anchor that is off by a and a solver that ends τ above the minimum, on
// one side of the minimiser or on the other.
type line struct {
	freedom                     float64
	sigma2, sigmaOut, tau, a, g float64
}

// law returns the probabilities of the cells between the cuts, side being that on which the solver ends.
func (l line) law(h, side float64, cuts []float64) []float64 {
	const count = 200
	w, weight := make([]float64, count), make([]float64, count)
	spread := 9 * math.Sqrt(2*l.freedom)
	quad.Legendre{}.FixedLocations(w, weight, math.Max(0, l.freedom-spread), l.freedom+spread+40)
	chi := distuv.ChiSquared{K: l.freedom}
	cells := make([]float64, len(cuts)+1)
	for k, x := range w {
		p, full := weight[k]*chi.Prob(x), h+l.sigma2*x
		theta := (l.sigma2*x*l.a-l.g)/full + side*math.Sqrt(2*l.tau/full)
		prev := math.Inf(-1)
		for i, c := range cuts {
			z := (c - theta) / l.sigmaOut
			cells[i] += p * measure.Mass(prev, z)
			prev = z
		}
		cells[len(cuts)] += p * measure.Survival(prev)
	}
	return cells
}

// delta returns the larger δ(ε) of the two directions, for the side that is worse.
func (l line) delta(eps float64) (worst float64) {
	typical := l.sigma2 * l.freedom
	shift := math.Abs(l.a)/typical + 2*math.Sqrt(2*l.tau/typical) + math.Abs(l.g)/typical
	middle, width := l.a-l.g/typical, 3*shift+8*l.sigmaOut
	cuts := make([]float64, 301)
	for i := range cuts {
		cuts[i] = middle + width*(float64(i)/150-1)
	}
	for _, side := range []float64{-1, 1} {
		worst = math.Max(worst, measure.Stick(l.law(1, side, cuts), l.law(0, -side, cuts), eps))
	}
	return worst
}

func outputNoise(run measure.Run, share float64) claim.Outcome {
	const m = 10_000
	split := wishart.Split{Epsilon1: 0.02, Epsilon2: 1, Delta1: 2e-4, Delta2: 0.02, Delta3: 2e-4, Delta4: 2e-4}
	eps, delta := split.Total()
	solver, anchor, low, high := math.Inf(1), 0.0, math.Inf(1), 0.0
	worst := 0.0
	for _, s := range []wishart.Setting{
		{Accounting: wishart.Theorem31}, {Accounting: wishart.Spectral},
		{Accounting: wishart.Directional, Structure: wishart.LinearModel},
		{Accounting: wishart.Exact, Structure: wishart.LeastSquares},
	} {
		s.Wishart, s.Smoothness, s.Rank = wishart.Wishart{D: 1, M: m}, 1, 1
		for _, off := range measure.Over(run, [][2]float64{{1e-3, 0}, {1e-14, 0.1}}) {
			s.Accuracy, s.AnchorError = off[0], off[1]
			n := measure.Must(s.Noise(split))
			ratio := n.Sensitivity / statedSensitivity(s, split, n.Sigma2)
			low, high = math.Min(low, ratio), math.Max(high, ratio)
			l := line{freedom: m, sigma2: n.Sigma2, sigmaOut: share * n.SigmaOut, tau: s.Accuracy, a: s.AnchorError,
				g: n.SigmaOut * n.Sigma2 * m}
			reached := l.delta(eps) / delta
			worst = math.Max(worst, reached)
			if s.AnchorError == 0 {
				solver = math.Min(solver, reached)
			} else {
				anchor = math.Max(anchor, reached)
			}
		}
	}
	deviation, far := releasedNoise(run.Runs(2000), share)
	return claim.Decide(fmt.Sprintf("δ over the claimed: %.3f or more where the solver is off, %.3f where the "+
		"anchor is; sensitivity %.6f to %.6f of the formulas; noise %.3f of σ̃ (%+.1f standard errors)", solver,
		anchor, low, high, deviation, far), "0.7 … 1; at most 1; 1e-6; 4.5", worst <= 1 && solver > 0.7 &&
		math.Abs(far) < 4.5).As(low > 1-1e-6 && high < 1+1e-6).Reaching(worst)
}

// released is a mechanism in one dimension for the record (1, 1), with ω|θ| and noise by exact accounting; the solver
// is next to exact.
func released(weight, tau float64) qop.Perturbation {
	m := qop.Perturbation{Loss: loss.Squared{}, RowNorm: 1, Interpolation: qop.AssumeInterpolation([]float64{1}, 0),
		HiddenDimension: 5, Accuracy: tau, Adjacency: privacy.AddRemove, Split: wishart.Split{Epsilon1: 0.5,
			Epsilon2: 0.5, Delta1: 0.05, Delta2: 0.01, Delta3: 1e-6}}
	if weight > 0 {
		m.Regulariser = composite.L1{Weight: weight}
	}
	n := measure.Must(m.Setting().Noise(m.Split))
	m.Sigma2, m.OutputSigma = n.Sigma2, n.SigmaOut
	return m
}

// releasedNoise is the standard deviation of the releases about their exact minimiser, which is the anchor, over share
// times σ̃, and by how many standard errors it is off.
func releasedNoise(runs int, share float64) (ratio, far float64) {
	m := released(0, 1e-6)
	src := noise.NewSeeded(61)
	var square float64
	for k := range runs {
		theta := measure.Released(m, matrix.NewDense(1, 1, []float64{1}), []float64{1}, src.Stream(k))[0]
		z := (theta - 1) / (share * m.OutputSigma)
		square += z * z
	}
	square /= float64(runs)
	return math.Sqrt(square), (square - 1) / math.Sqrt(2/float64(runs))
}

func atoms(run measure.Run, share, shown float64) claim.Outcome {
	const m, eps, delta = 5, 0.5, 0.05
	s := wishart.Setting{Wishart: wishart.Wishart{D: 1, M: m}, Smoothness: 1, Rank: 1,
		Structure: wishart.LeastSquares, Adjacency: privacy.AddRemove}
	chi := distuv.ChiSquared{K: m}
	// θ = max(bound, 1 − ω/M), M = h + σ²W, so that all M up to some M₀ give the same θ.
	largest := func(sigma2 float64) (worst float64) {
		for k := range 100 {
			var p, q []float64
			at, with, without := sigma2*chi.Quantile((float64(k)+0.5)/100), 0.0, 0.0
			for range 400 {
				a, b := chi.CDF(math.Max(0, (at-1)/sigma2)), chi.CDF(at/sigma2)
				p, q = append(p, a-with), append(q, b-without)
				with, without = a, b
				at *= 1.01
			}
			worst = math.Max(worst, measure.Stick(append(p, 1-with), append(q, 1-without), eps)/delta)
		}
		return worst
	}
	sharp := measure.Must(s.Noise(wishart.Split{Epsilon1: eps, Delta1: delta}))
	s.Accounting = wishart.Theorem31
	printed := measure.Must(s.Noise(wishart.Split{Epsilon1: eps, Delta1: delta / 2, Delta3: delta / 2}))
	reached, slack := largest(share*sharp.Sigma2), largest(share*printed.Sigma2)
	type key struct {
		runs  int
		shown float64
	}
	law := measure.Shared(key{run.Runs(3000), shown}, func() (law [2]float64) {
		law[0], law[1] = shownLaw(run.Runs(3000), shown)
		return law
	})
	ks, zeros := law[0], law[1]
	return claim.Decide(fmt.Sprintf("δ over the claimed: %.4f at exact accounting's σ², %s at Theorem 3.1's; "+
		"√n·KS = %.2f, zeros off by %.1f standard errors", reached, claim.Roughly(slack, 1e-9), ks, zeros),
		"0.995 … 1 + 1e-9; 2.2; 4.5", reached > 0.995 && reached <= 1+1e-9 && slack <= 1 && ks < 2.2 &&
			zeros < 4.5).Reaching(reached)
}

// shownLaw is √n·KS of the σ²W that releases with ω|θ| show, σ² times share, where they are not zero, and by how many
// standard errors the number of zeros is off.
func shownLaw(runs int, share float64) (ks, zeros float64) {
	const weight = 6.0
	m := released(weight, 1e-13)
	chi := distuv.ChiSquared{K: 5}
	src := noise.NewSeeded(62)
	below := chi.CDF((weight - 1) / (share * m.Sigma2))
	var u []float64
	for k := range runs {
		theta := measure.Released(m, matrix.NewDense(1, 1, []float64{1}), []float64{1}, src.Stream(k))[0]
		if theta > 1e-3 {
			u = append(u, (chi.CDF((weight/(1-theta)-1)/(share*m.Sigma2))-below)/(1-below))
		}
	}
	n := float64(runs)
	return measure.Kolmogorov(u), math.Abs(n-float64(len(u))-n*below) / math.Sqrt(n*below*(1-below))
}

// statedSensitivity is formulas (7) to (9) of docs/theory/quadratic.md in one dimension, where λ_min(W) is a χ²
// variate.
func statedSensitivity(s wishart.Setting, split wishart.Split, sigma2 float64) float64 {
	chi := distuv.ChiSquared{K: float64(s.M)}
	ratio, eta := 1/sigma2, s.AnchorError
	if s.Accounting == wishart.Spectral {
		split.Delta3 += split.Delta1
	}
	alpha := chi.Quantile(split.Delta3)
	solver := func(least float64) float64 { return math.Sqrt(2 * s.Accuracy / (sigma2 * least)) }
	move, second := ratio, alpha-ratio
	switch s.Accounting {
	case wishart.Exact:
		return 2*solver(alpha) + ratio*eta/alpha
	case wishart.Theorem31:
		move, second = 2*ratio, alpha
	}
	stretch := chernoff(chi.K, split.Delta4)
	e1, e2 := math.Sqrt(stretch/alpha)*eta, math.Sqrt((stretch+move)/second)*eta
	near := math.Min((move*eta+(ratio+move)*e1)/second, (move*eta+(ratio+move)*e2)/alpha)
	return solver(alpha) + solver(second) + math.Min(e1+e2, near)
}

func clippedLinear(run measure.Run, sigma, level float64) claim.Outcome {
	const clip = 2.0
	cfg := constrained.Config{Loss: loss.ClippedAt(loss.Squared{}, clip, 1), RowNorm: 1, Dimension: 1, Epsilon: 0.5,
		Delta: 0.01, Adjacency: privacy.AddRemove}
	m := measure.Must(constrained.Calibrate(cfg))
	p := measure.Must(m.Profile())
	var worst, plain float64
	for _, eps := range []float64{0.1, 0.5, 0.8} {
		claimed := [2]float64{math.Exp(p.LogDeltaUpper(privacy.Remove, eps)),
			math.Exp(p.LogDeltaUpper(privacy.Add, eps))}
		gaussian := measure.GaussianDelta(clip/m.Sigma, eps)
		for _, y := range []float64{-1, 0.5, 1, 2, 3, 10, 100} {
			s := audit.Scalar{Loss: loss.ClippedAt(loss.Squared{}, clip*level, 1), ExtraX: 1, ExtraY: y,
				Lambda: m.Lambda, Sigma: sigma * m.Sigma}
			without, with := s.Cells(2000)
			worst = math.Max(worst, math.Max(audit.HockeyStick(with, without, eps)/claimed[0],
				audit.HockeyStick(without, with, eps)/claimed[1]))
			s.Lambda *= 1e4 // so that curvature costs nothing
			without, with = s.Cells(2000)
			plain = math.Max(plain, measure.Stick(without, with, eps)/gaussian)
		}
	}
	cfg.Dimension = 40
	m = measure.Must(constrained.Calibrate(cfg))
	far := shownNoise(m, sigma, run.Runs(100))
	return claim.Decide(fmt.Sprintf("largest exact δ: %.3f of the accountant's, %.4f of the Gaussian mechanism's at "+
		"the large Δ; the variance of a is off by %+.1f standard errors", worst, plain, far), "1; 0.99 … 1.001; 4.5",
		worst <= 1 && plain > 0.99 && plain < 1.001 && math.Abs(far) < 4.5).Reaching(worst)
}

// shownNoise is by how many standard errors the variance of the noise a that releases show differs from that of σ times
// factor.
func shownNoise(m constrained.Objective, factor float64, runs int) float64 {
	src := noise.NewSeeded(64)
	const n, d = 10, 40
	rows, labels, _ := interpolating(n, d, src.Stream(0))
	var square float64
	t, slope := make([]float64, n), make([]float64, n)
	for k := range runs {
		a := measure.Released(m, rows, labels, src.Stream(k+1))
		rows.Margins(t, a, 0, n)
		floats.Scale(-m.Lambda, a)
		m.Loss.ValueSlope(slope, t, labels)
		floats.Scale(-1, slope)
		rows.AddScaled(a, slope, 0, n)
		square += floats.Dot(a, a)
	}
	count := float64(runs * d)
	return (square/(count*factor*factor*m.Sigma*m.Sigma) - 1) / math.Sqrt(2/count)
}

func meanRatio(run measure.Run, factor float64) claim.Outcome {
	draws := run.Runs(3000)
	src := noise.NewSeeded(63)
	var far float64
	for k, c := range measure.Over(run, []struct {
		l    loss.Loss
		d, m int
	}{{loss.Squared{}, 1, 4}, {loss.Squared{}, 3, 7}, {loss.Squared{}, 5, 10}, {loss.Huber{Threshold: 1}, 2, 6},
		{loss.Huber{Threshold: 0.05}, 3, 6}}) {
		pair := replacedRecord(c.l, c.d, c.m, 1)
		pair.First, pair.Second = audit.Record{X: make([]float64, c.d)}, pair.First
		told := *pair
		told.Sigma2 *= factor
		var mean measure.Mean
		type key struct{ k, draws int }
		thetas := measure.Shared(key{k, draws}, func() (all [][]float64) {
			for r := range draws {
				all = append(all, measure.Must(pair.Draw(false, src.Stream(k).Stream(r))))
			}
			return all
		})
		for _, theta := range thetas {
			mean.Add(math.Exp(-measure.Must(told.LossAt(theta))))
		}
		far = math.Max(far, math.Abs(mean.M-1)/mean.Err())
	}
	return claim.Decide(fmt.Sprintf("means within %.1f standard errors of 1", far), "4.5", far < 4.5)
}
