package rkw23

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Theorem 3.1: the shift must reduce ε, and the order of the second branch is e^{L²/(2σ²)}.
func TestRKW23Theorem31(t *testing.T) {
	// Logistic loss, one record of norm 1 and a tilt that holds its slope near 1.
	pair := audit.Scalar{Loss: loss.Logistic{}, ExtraX: 1, ExtraY: 1, Lambda: 0.5, Sigma: 2, Tilt: 10}
	without, with := pair.Cells(4000)
	exact := measure.Stick(with, without, 1)
	printed := objective.PrintedRKW23(1, 0.25, 0.5, 0.5)
	right := measure.HalfNormal(-math.Log1p(-0.25/0.5), 0.5, 1)
	lower := measure.GaussianDelta(0.5, 1)
	if !(exact > 10*printed && lower > 10*printed && exact <= right) {
		t.Errorf("exact %.4g, Gaussian %.4g, printed %.4g, corrected %.4g", exact, lower, printed, right)
	}
	errata.Quotes(t, "rkw23-1", "%.3e", exact, lower, printed, right)

	// The second branch, a = 2 and no shift: what is claimed to be E(1 − e^{ε−W})₊.
	const a, eps = 2.0, 0.1
	branch := func(order float64) float64 { return branchOff(a, eps, order) }
	want := 2 *
		measure.Integral(func(x float64) float64 { return measure.Phi(x) * math.Max(0, -math.Expm1(eps-a*a/2-a*x)) }, 0,
			12, 200)
	errata.Within(t, "order a²/2", branch(a*a/2), want, 1e-10)
	if branch(a*a) > want-0.05 {
		t.Errorf("order a²: %.4f is not below %.4f", branch(a*a), want)
	}
	errata.Quotes(t, "rkw23-1", "%.4f", want, branch(a*a))

	// A linear loss has no curvature, and its δ is the Gaussian mechanism's: the second error alone is below it.
	linear, below := measure.GaussianDelta(a, 1.9), objective.PrintedRKW23(1.9, 0, 1, a)
	if !(below < 0.75*linear) {
		t.Errorf("second error alone: printed %.4f, exact %.4f", below, linear)
	}
	errata.Quotes(t, "rkw23-1", "%.4f", below, linear)
}

// Theorem 3.2 at α = 1: the limit has E|X|, not log E e^{|X|}.
func TestRKW23AlphaOne(t *testing.T) {
	const k, a = 0.0, 0.5
	rdp := func(alpha float64) float64 {
		s := alpha - 1
		return k + a*a/2 + (s*s*a*a/2+math.Log(2*measure.CDF(s*a)))/s
	}
	limit := k + a*a/2 + a*math.Sqrt(2/math.Pi)
	printed := k + a*a/2 + math.Log(2*measure.Integral(
		func(x float64) float64 { return measure.Phi(x) * math.Exp(a*x) }, 0, 14, 100))
	errata.Within(t, "limit", rdp(1+1e-6), limit, 1e-6)
	errata.Within(t, "the printed value is that of α = 2", printed, rdp(2), 1e-10)
	if printed < limit+0.04 {
		t.Errorf("printed %.4f, limit %.4f", printed, limit)
	}
	errata.Quotes(t, "rkw23-2", "%.4f", limit, printed)
}

// Lemma D.6: with (t − L)² the pair (P, Q) does not have the loss that is claimed, and its divergence is too small.
func TestRKW23LemmaD6(t *testing.T) {
	const L, sigma, k, eps = 1.0, 2.0, 0.2876820724517809, 0.3 // k = log(4/3): β = 1/4, λ = 1
	p := func(x float64) float64 { return 2 / sigma * measure.Phi(x/sigma) }
	q := func(sign float64) func(float64) float64 {
		return func(x float64) float64 { return math.Exp(-k) * 2 / sigma * measure.Phi((x+sign*L)/sigma) }
	}
	for _, x := range []float64{0, 0.5, 3, 9} {
		want := k + L*L/(2*sigma*sigma) + L*x/(sigma*sigma)
		errata.Within(t, "loss with +", math.Log(p(x)/q(1)(x)), want, 1e-12)
		// With −, the last term enters with the other sign and the constant too.
		errata.Within(t, "loss with −", math.Log(p(x)/q(-1)(x)), k+L*L/(2*sigma*sigma)-L*x/(sigma*sigma), 1e-12)
	}
	delta := func(q func(float64) float64) float64 {
		return measure.Integral(func(x float64) float64 { return math.Max(0, p(x)-math.Exp(eps)*q(x)) }, 0, 30, 3000)
	}
	claimed := measure.HalfNormal(k, L/sigma, eps)
	errata.Within(t, "δ with +", delta(q(1)), claimed, 1e-6)
	if delta(q(-1)) > claimed/10 {
		t.Errorf("with −: %.4g against %.4g", delta(q(-1)), claimed)
	}
	errata.Quotes(t, "rkw23-3", "%.4f", claimed, delta(q(-1)))
	// And Q is no probability: the mass left for −∞ is negative once λ is large.
	left := 1 - math.Exp(math.Log1p(-0.25/10))*measure.Integral(
		func(x float64) float64 { return 2 / sigma * measure.Phi((x-L)/sigma) }, 0, 40, 400)
	if left > -0.1 {
		t.Errorf("mass at −∞: %.4f", left)
	}
	errata.Quote(t, "rkw23-3", "%.4f", left)
}

// Appendices C and G.2: L²/(2σ²) and (L/σ)χ_d.
func TestRKW23AppendixG2(t *testing.T) {
	// (1/s) log E e^{s c χ_d}, by quadrature over the density of χ_d.
	term := func(d int, c, s float64) float64 {
		lg, _ := math.Lgamma(float64(d) / 2)
		norm := (float64(d)/2-1)*math.Ln2 + lg
		return math.Log(measure.Integral(func(x float64) float64 {
			return math.Exp(s*c*x + float64(d-1)*math.Log(x) - x*x/2 - norm)
		}, 1e-9, 40, 400)) / s
	}
	const L, sigma, s = 1.0, 5.0, 3.0
	const d = 10
	// L‖b‖/σ², b = σ·(standard normal), drawn.
	src := noise.NewSeeded(4)
	b := make([]float64, d)
	var mgf measure.Mean
	for range 200_000 {
		src.Gaussian(b, sigma)
		var sq float64
		for _, v := range b {
			sq += v * v
		}
		mgf.Add(math.Exp(s * L * math.Sqrt(sq) / (sigma * sigma)))
	}
	drawn, se := math.Log(mgf.M)/s, mgf.Err()/mgf.M/s
	errata.Within(t, "L/σ", drawn, term(d, L/sigma, s), 4*se)
	for _, printed := range []float64{term(d, L*L/(sigma*sigma), s), term(d, L/(sigma*sigma), s)} {
		if printed > drawn-50*se {
			t.Errorf("printed %.4f, drawn %.4f ± %.4f", printed, drawn, se)
		}
	}
	errata.Quotes(t, "rkw23-4", "%.3f", drawn, term(d, L*L/(sigma*sigma), s))

	// A linear loss, the Gaussian mechanism: D_α = αL²/(2σ²) exactly. As λ → ∞ the first term vanishes, and the printed
	// theorem lies below.
	const alpha = 10.0
	exact := alpha * L * L / (2 * sigma * sigma)
	printed := L/(2*sigma*sigma) + term(1, L*L/(sigma*sigma), alpha-1)
	right := L*L/(2*sigma*sigma) + term(1, L/sigma, alpha-1)
	if !(printed < exact/2 && exact <= right) {
		t.Errorf("printed %.4f, exact %.4f, corrected %.4f", printed, exact, right)
	}
	errata.Quotes(t, "rkw23-4", "%.4f", exact, printed, right)

	// The last line of C at α → 1, L = 20, σ = 2: Kullback–Leibler L²/(2σ²) = 50.
	lineC := 20.0/(2*4) + 10*math.Sqrt(2/math.Pi)
	if lineC > 50 {
		t.Errorf("line of C: %.4f", lineC)
	}
	errata.Quote(t, "rkw23-4", "%.2f", lineC)
}

// The experiments have ‖x‖ = √2, so that the smoothness in θ is 1/2.
func TestRKW23Bias(t *testing.T) {
	const lambda, x = 1.0, math.Sqrt2
	curv := []float64{0}
	loss.Logistic{}.Curvature(curv, []float64{0}, []float64{1})
	ratio := math.Log1p(curv[0] * x * x / lambda) // the change-of-variables term at xᵀθ = 0, Z = ∅
	printed, right := -math.Log1p(-0.25/lambda), -math.Log1p(-0.5/lambda)
	if !(ratio > printed && ratio <= right && ratio <= math.Log1p(0.5/lambda)+1e-15) {
		t.Errorf("term %.4f, with 1/4 %.4f, with 1/2 %.4f", ratio, printed, right)
	}
	errata.Quotes(t, "rkw23-5", "%.4f", ratio, printed, right)
}

// log(1 + β/λ) does for every λ what |log(1 − β/λ)| does for λ > β.
func TestRKW23EveryLambda(t *testing.T) {
	var worst float64
	for _, lambda := range []float64{0.05, 0.1, 0.2} { // all below β = 1/4
		for _, tilt := range []float64{-5, 0, 5} {
			pair := audit.Scalar{Loss: loss.Logistic{}, ExtraX: 1, ExtraY: 1, Lambda: lambda, Sigma: 1, Tilt: tilt}
			without, with := pair.Cells(4000)
			for _, eps := range []float64{0, 0.5, 1, 2} {
				worst = math.Max(worst, measure.Stick(with, without, eps)/measure.HalfNormal(math.Log1p(0.25/lambda), 1,
					eps))
				if !math.IsNaN(objective.PrintedRKW23(eps, 0.25, lambda, 1)) {
					t.Errorf("the printed bound speaks of λ = %g < β", lambda)
				}
			}
		}
	}
	if !(worst <= 1 && worst > 0.3) {
		t.Errorf("largest exact/bound %.4f", worst)
	}
	errata.Quote(t, "rkw23-6", "%.3f", worst)
	less, more := math.Log1p(0.25/0.3), -math.Log1p(-0.25/0.3)
	errata.Quotes(t, "rkw23-6", "%.3f", less, more)
}

// Remark 3.3: under P the exponent is α − 1, as in Definition 2.6.
func TestRKW23Remark33(t *testing.T) {
	const a, alpha = 0.5, 4.0
	// W = a²/2 + aN under P, the Gaussian mechanism.
	moment := func(s float64) float64 {
		return math.Log(measure.Integral(func(x float64) float64 { return measure.Phi(x) * math.Exp(s*(a*a/2+a*x)) },
			-14, 18, 200)) / (alpha - 1)
	}
	errata.Within(t, "exponent α − 1", moment(alpha-1), alpha*a*a/2, 1e-10)
	if moment(alpha) < 1.5*alpha*a*a/2 {
		t.Errorf("exponent α: %.4f", moment(alpha))
	}
	errata.Quotes(t, "rkw23-25", "%.4f", alpha*a*a/2, moment(alpha))
}

// Theorem E.2 leaves out f(u_L) and f(u_H): the clipped loss jumps.
func TestRKW23Clipping(t *testing.T) {
	const c = 0.5 // C/‖x‖; the logistic loss has f′(0) = −1/2, so u_L = 0
	f := func(u float64) float64 { return math.Log1p(math.Exp(-u)) }
	clipped := func(offset float64) func(float64) float64 {
		return func(u float64) float64 {
			if u < 0 {
				return -c*u + offset
			}
			return f(u)
		}
	}
	// Convexity on a grid: no second difference below zero.
	least := func(g func(float64) float64) float64 {
		v := math.Inf(1)
		for u := -2.0; u <= 2; u += 0.25 {
			v = math.Min(v, g(u-0.25)-2*g(u)+g(u+0.25))
		}
		return v
	}
	printed, right := least(clipped(0)), least(clipped(f(0)))
	if !(printed < -0.4 && right >= -1e-15) {
		t.Errorf("least second difference: printed %.4f, corrected %.2g", printed, right)
	}
	errata.Quotes(t, "rkw23-26", "%.4f", f(0), printed)

	// The gradient, ‖x‖ = 1, with the printed factor min{1, C/|xᵀθ|}: not cut where |xᵀθ| ≤ C, and too long beyond.
	gradient := func(slope, u float64) float64 { return math.Abs(slope) * math.Min(1, c/math.Abs(u)) }
	small := gradient(-measure.Sigmoid(0.4), -0.4)
	poisson := gradient(math.Exp(20)-3, 20) // f′ = e^u − y, y = 3
	if !(small > c && poisson > 1e6*c) {
		t.Errorf("gradients of %.4g and %.4g with C = %g", small, poisson, c)
	}
	errata.Quotes(t, "rkw23-26", "%.2f %.1e·C", small, poisson/c)
}

// Appendix H.1 bounds f where it uses bounds on f″.
func TestRKW23AppendixH1(t *testing.T) {
	// One dimension, n records x = 1 and half the labels each way: the excess of the objective at its perturbed
	// minimiser, E over b, in the limit of small b.
	const n, lambda, sigma = 100.0, 1.0, 0.1
	value := func(theta float64) float64 {
		return n/2*(math.Log1p(math.Exp(theta))+math.Log1p(math.Exp(-theta))) + lambda/2*theta*theta
	}
	excess := measure.Integral(func(z float64) float64 {
		b := sigma * z
		lo, _ := univariate.Bisect(func(theta float64) bool { // J′(θ) + b = 0
			return n*(measure.Sigmoid(theta)-0.5)+lambda*theta+b >= 0
		}, -5, 5, univariate.Arithmetic, 0)
		return measure.Phi(z) * (value(lo) - value(0))
	}, -10, 10, 40)
	bound := func(c, upper float64) float64 { return upper / (c * c) * sigma * sigma / (n + lambda) }
	// |θ| ≤ 1 throughout. A constant added to the loss changes nothing but the printed bound; in terms of f″ ∈ [c, C],
	// c ≤ 1 ≤ C, the bound holds.
	loss1 := math.Log1p(math.Exp(-1.0))
	printed := bound(100+loss1, 100+loss1+1)
	right := bound(measure.Sigmoid(1)*measure.Sigmoid(-1), 1)
	if !(printed < excess/10 && excess <= right) {
		t.Errorf("printed %.3g, excess %.3g, with f″ %.3g", printed, excess, right)
	}
	errata.Quotes(t, "rkw23-35", "%.2e", excess, printed, right)
	// With c ≤ f″ alone, by ‖∇‖² in the metric of cXᵀX + λI: no C, and any c.
	sharper := sigma * sigma / 2 / (measure.Sigmoid(1)*measure.Sigmoid(-1)*n + lambda)
	if !(excess <= sharper && sharper < right) {
		t.Errorf("excess %.3g, with c alone %.3g, with C %.3g", excess, sharper, right)
	}
	errata.Quote(t, "rkw23-35", "%.2e", sharper)
}

// Footnote 4: adding |N(0, σ²)| is not a private mechanism.
func TestRKW23HalfNormalMechanism(t *testing.T) {
	// f(Z) = 0, f(Z′) = 1, σ = 5: outputs below 1 have probability zero under Z′.
	const sigma = 5.0
	src := noise.NewSeeded(36)
	b := []float64{0}
	var below measure.Mean
	for range 100_000 {
		src.Gaussian(b, sigma)
		below.Add(measure.Indicator(math.Abs(b[0]) < 1))
	}
	exact := math.Erf(1 / sigma / math.Sqrt2) // δ(ε) for every ε
	errata.Within(t, "share that gives Z away", below.M, exact, 4*below.Err())
	if meant := measure.HalfNormal(0, 1/sigma, 2); meant > exact/1e6 {
		t.Errorf("δ(2) of the loss that is meant: %.3g", meant)
	} else {
		errata.Quote(t, "rkw23-36", "%.1e", meant)
	}
	errata.Quote(t, "rkw23-36", "%.3f", exact)
}

// Theorem H.1: another minimiser with clipping, another optimal λ, and no n.
func TestRKW23TheoremH1(t *testing.T) {
	// Records x = 1, three of five labels +1: L(θ) of the loss that is not clipped; the clipped one has its minimiser
	// where 0.6·s(−θ) = 0.4·C.
	const n, lambda, sigma, clip = 10_000.0, 100.0, 1.0, 0.1
	value := func(theta float64) float64 {
		return n * (0.6*math.Log1p(math.Exp(-theta)) + 0.4*math.Log1p(math.Exp(theta)))
	}
	excess := measure.Integral(func(z float64) float64 {
		lo, _ := univariate.Bisect(func(at float64) bool {
			return n*(-0.6*math.Min(clip, measure.Sigmoid(-at))+0.4*math.Min(clip, measure.Sigmoid(at)))+lambda*at+
				sigma*z >= 0
		}, -10, 10, univariate.Arithmetic, 0)
		return measure.Phi(z) * (value(lo) - value(math.Log(1.5)))
	}, -8, 8, 40)
	printed := func(n, d, beta, lambda, sigma, norm float64) float64 {
		return (n*beta+lambda)*d*sigma*sigma/(2*lambda*lambda) + lambda*norm*norm/2
	}
	bound := printed(n, 1, 0.25, lambda, sigma, math.Log(1.5))
	if !(excess > 100*bound) {
		t.Errorf("excess %.4g, bound %.4g", excess, bound)
	}
	errata.Quotes(t, "rkw23-41", "%.0f %.1f", excess, bound)

	// n = 1000, d = 10, ‖θ⋆‖ = 2, L = 1, ε = 1, σ = 5.
	const norm, noise, d = 2.0, 5.0, 10.0
	at := printed(1000, d, 0.25, d/norm, noise, norm)
	best := math.Cbrt(2 * 1000 * 0.25 * d * noise * noise / (norm * norm))
	least := printed(1000, d, 0.25, best, noise, norm)
	sharper := noise * math.Sqrt(d) * norm / 2
	if !(at > 10*least && sharper < least) {
		t.Errorf("%.4g at the printed λ, %.4g at %.3g, %.4g without n", at, least, best, sharper)
	}
	errata.Quotes(t, "rkw23-41", "%.0f %.1f", at, least, sharper)
}

// T = 60·⌈n/256⌉ steps tell at the border of a batch whether a record is there.
func TestRKW23StepsFromPrivateN(t *testing.T) {
	steps := func(n float64) float64 { return 60 * math.Ceil(n/256) }
	few, many := steps(1536), steps(1537)
	// Where no record has anything, T plain steps leave N(0, T·c²) in each of k coordinates, c the same for both. With
	// X the sum of squares over c² the log-ratio of the densities is (k/2)log(T′/T) − X(1/T − 1/T′)/2.
	const k, eps = 2000.0, 8.0
	edge := 2 * (k/2*math.Log(many/few) - eps) / (1/few - 1/many)
	law := func(steps float64) float64 { return mathext.GammaIncReg(k/2, edge/(2*steps)) }
	delta := law(few) - math.Exp(eps)*law(many)
	if !(few == 360 && many == 420 && delta > 0.1) {
		t.Errorf("%g and %g steps: δ(%g) ≥ %.4g", few, many, eps, delta)
	}
	errata.Quote(t, "rkw23-43", "%.2f", delta)
	// A planning number gives both the same T, and nothing to tell.
	errata.Within(t, "the same number", law(few)-law(few), 0, 0)
}

// The best score on the test set is no estimate of the accuracy.
func TestRKW23BestOnTheTestSet(t *testing.T) {
	// Ten models of the same accuracy p that err independently on m records.
	const p, models = 0.7, 10
	best := func(m float64) float64 {
		law := distuv.Binomial{N: m, P: p}
		var mean float64
		for k := range int(m) {
			mean += 1 - math.Pow(law.CDF(float64(k)), models)
		}
		return mean / m
	}
	few, many := best(400), best(10_000)
	if !(few > p+0.02 && many > p+0.005 && many < few) {
		t.Errorf("the best of %d has %.4f on 400 records, %.4f on 10,000", models, few, many)
	}
	errata.Quotes(t, "rkw23-44", "%.3f", few, many)
}

// Honest DP-SGD as it is described is more accurate than what Tables 1 and 2 print of it.
func TestRKW23HonestColumns(t *testing.T) {
	defer measure.Fatal(t)
	record := measure.Must(recordedTables())
	for _, p := range Table2 {
		off, text := column(repeats(record, p.Set, p.Mechanism, p.Epsilon), p)
		if worse := p.Mechanism == honest && (p.Set == adultSet || p.Epsilon < 8); worse != (off > 4) {
			t.Errorf("%s, %s: %s", p.Set, p.Mechanism, text)
		}
		if p.Mechanism != honest {
			continue
		}
		mean := recordedInstead(p)
		errata.Quote(t, "rkw23-89", "%.1f", 100*mean)
		if p.Set == adultSet && p.Epsilon < 8 {
			p.Mechanism = asPrinted
			other := recordedInstead(p)
			errata.Quote(t, "rkw23-89", "%.1f", 100*(other-mean))
		}
	}
}
