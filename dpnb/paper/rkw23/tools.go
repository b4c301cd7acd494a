package rkw23

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// tools lists single formulas that the proofs of rkw23 use, and that are checked by themselves.
func tools() []claim.Claim {
	return []claim.Claim{
		{
			ID: "rkw23/rem3.3", Paper: "Redberg, Koskela, Wang 2023, Remark 3.3", Kind: claim.Theorem,
			Code:  []string{"privacy.HalfNormal.RDP", "privacy.HalfNormal.Profile"},
			Tests: []string{"privacy.TestHalfNormalRDPReference", "paper/rkw23.TestRKW23Remark33"},
			Proof: "gaussian#rkw23-rem3.3 febeb323", Errata: []string{"rkw23-25"},
			Check: "the pair of Lemma D.6 with (K, a) = (0, 0.5), (0.3, 0.5), (1, 0.2), (0.05, 1.5): ∫(p − e^ε q)₊ " +
				"and ln ∫p^α q^{1−α}/(α − 1) from the densities against the released profile and Rényi curve of its " +
				"loss; and with the printed exponent α", Expected: "equal to 1e-4 and 1e-9; otherwise far off",
			Run:  fromLosses(1, 1),
			Want: claim.HoldsWithCorrection,
			Scaled: []claim.Scaled{
				{Of: "δ", By: func(factor float64) claim.Check {
					return fromLosses(factor, 1)
				}},
				{Of: "D_α", By: func(factor float64) claim.Check {
					return fromLosses(1, factor)
				}},
			},
		},
		{
			ID: "rkw23/thmB.1", Paper: "Redberg, Koskela, Wang 2023, Theorem B.1", Kind: claim.Theorem,
			Code:  []string{"privacy.GaussianRDP", "privacy.RhoOfGaussian"},
			Tests: []string{"privacy.TestZCDPIsExact"},
			Proof: "gaussian#rkw23-thmB.1 f42a0ef9",
			Check: "ln ∫p^α q^{1−α}/(α − 1) by quadrature, μ = 0.1, 0.7, 2, α = 1.01 … 18, against the released " +
				"curve",
			Expected: "equal to 1e-9",
			Run:      gaussianOrders(1),
			Scaled:   []claim.Scaled{{Of: "ε(α)", By: gaussianOrders}},
		},
		{
			ID: "rkw23/lemD.4", Paper: "Redberg, Koskela, Wang 2023, Lemma D.4", Kind: claim.Theorem,
			Code: []string{"privacy.HalfNormal"}, Tests: []string{"privacy.TestHalfNormalProfileIsExact"},
			Proof: "gaussian#rkw23-lemD.4 8d2428a9", Errata: []string{"rkw23-3"},
			Check:    "quadrature of ∫(p − e^ε q)₊, L/σ = 0.2 … 1.5, ε = 0 … 2, against E(1 − e^{ε−W})₊",
			Expected: "equal to 1e-4", Run: pairWithoutCurvature(1),
			Scaled: []claim.Scaled{{Of: "L", By: pairWithoutCurvature}},
		},
		{
			ID: "rkw23/lemD.8", Paper: "Redberg, Koskela, Wang 2023, Lemma D.8", Kind: claim.Theorem,
			Code:  []string{"privacy/objective.RKW23"},
			Proof: "gaussian#rkw23-lemD.8 c00eea55", Errata: []string{"rkw23-63"},
			Check: "five g, c − µ = 0, 0.3, 2, s doubling from 0.25 to 4, by quadrature; control: c = µ − 1 and g " +
				"= 1",
			Expected: "never smaller at the larger s, equal for g = 1 and c = µ; smaller in the control",
			Run:      growsWithScale(1),
			Scaled:   []claim.Scaled{{Of: "the integral at the larger s", By: growsWithScale}},
		},
		{
			ID: "rkw23/secI", Paper: "Redberg, Koskela, Wang 2023, appendix I, second takeaway", Kind: claim.Theorem,
			Code:  []string{"privacy.HalfNormal.RDP", "privacy.GaussianRDP"},
			Tests: []string{"privacy.TestHalfNormalRDPReference"},
			Proof: "objective_perturbation#rkw23-secI 7b2250ee", Errata: []string{"rkw23-36"},
			Figure: "01_accounting#rdp-lambda",
			Check: "L = 1, σ = 2, 5, 10: the α from which on the released half-normal curve is within a tenth of the " +
				"Gaussian one, against √(20 ln 2)·σ, which it tends to; the first takeaway is rkw23/fig4",
			Expected: "rising with σ, within 0.1 of it",
			Run:      convergesLater(1),
			Scaled:   []claim.Scaled{{Of: "the half-normal curve", By: convergesLater}},
		},
		{
			ID: "rkw23/eqF.1", Paper: "Redberg, Koskela, Wang 2023, (F.1)–(F.3)", Kind: claim.Bound,
			Code:  []string{"erm.Minimize"},
			Proof: "solvers#rkw23-eqF.1 87ede89a",
			Check: "squared loss of records along one axis, for which the curvatures are nβ + λ and λ, and logistic " +
				"loss of records in all directions, at points on both axes and between; θ* by erm.Minimize",
			Expected: "all three hold; the first two are attained, the third to λ/(nβ + λ)",
			Run:      gradientBounds(1),
			Scaled:   []claim.Scaled{{Of: "the bounds", By: gradientBounds}},
		},
		{
			ID: "rkw23/secF.2", Paper: "Redberg, Koskela, Wang 2023, appendix F.2", Kind: claim.Theorem,
			Code: []string{"erm.SAG"}, Tests: []string{"paper/rkw23.TestRKW23AcceleratedDescent"},
			Proof: "solvers#rkw23-secF.2 cbbc333e", Errata: []string{"rkw23-65"},
			Check: "a quadratic with curvatures from λ = β = 1 to nβ + λ, n = 100 … 6,400: slopes of ln(count/ln n) " +
				"over ln n; SAG is counted in rkw23/thmF.1", Expected: "2 and 1.5, within 0.05",
			Run:    descentRates(1),
			Scaled: []claim.Scaled{{Of: "the exponents", By: descentRates}},
		},
	}
}

// order is ln ∫p^α q^{1−α}/(α − 1) for normal densities of means 0 and −a, q times e^{−k}, cut to [lo, hi] and there
// times share.
func order(a, k, share, lo, hi, alpha float64) float64 {
	return math.Log(share*measure.Integral(func(x float64) float64 {
		return math.Exp((alpha-1)*k-alpha*x*x/2-(1-alpha)*(x+a)*(x+a)/2) / math.Sqrt(2*math.Pi)
	}, lo, hi, 200)) / (alpha - 1)
}

// fromLosses takes the released δ and Rényi divergence times factors.
func fromLosses(sticks, orders float64) claim.Check {
	return measure.Check(func(context.Context, claim.Size) claim.Outcome {
		var stick, renyi, printed float64
		for _, c := range []stated{{0, 0.5}, {0.3, 0.5}, {1, 0.2}, {0.05, 1.5}} {
			p := func(x float64) float64 { return 2 * measure.Phi(x) }
			q := func(x float64) float64 { return math.Exp(-c.k) * 2 * measure.Phi(x+c.a) }
			for _, eps := range []float64{0, 0.1, 0.5, 1, 2} {
				exact := integrate(func(x float64) float64 { return math.Max(0, p(x)-math.Exp(eps)*q(x)) }, 0, 20)
				stick = math.Max(stick, math.Abs(sticks*measure.HalfNormal(c.k, c.a, eps)-exact))
			}
			for _, alpha := range []float64{1.1, 2, 8} {
				exact := order(c.a, c.k, 2, 0, 16+alpha*c.a, alpha)
				given := measure.Must(privacy.HalfNormal{K: c.k, A: c.a}.RDP(alpha))
				renyi = math.Max(renyi, math.Abs(orders*given/exact-1))
				printed = math.Max(printed, alpha*c.rdp(alpha+1)/((alpha-1)*exact)-1)
			}
		}
		o := claim.Decide(fmt.Sprintf("δ off by %s, D_α by %s of itself; with the exponent α by %.1f of itself",
			claim.Roughly(stick, 1e-4), claim.Roughly(renyi, 1e-9), printed), "1e-4: the integrand has kinks; 1e-9; "+
			"above 0.5", stick < 1e-4 && renyi < 1e-9 && printed > 0.5,
			"a divergence is not that of the loss, or the printed exponent would do")
		return o.Corrected("under the law of the release the exponent is α − 1; α is printed, which belongs to the " +
			"expectation under the neighbour")
	})
}

// gaussianOrders takes the released curve times a factor.
func gaussianOrders(factor float64) claim.Check {
	return measure.Check(func(context.Context, claim.Size) claim.Outcome {
		var off float64
		for _, mu := range []float64{0.1, 0.7, 2} {
			curve := privacy.GaussianRDP(mu, privacy.AddRemove)
			for _, alpha := range []float64{1.01, 1.5, 3, 10, 18} {
				exact := order(mu, 0, 1, (alpha-1)*mu-14, (alpha-1)*mu+14, alpha)
				off = math.Max(off, math.Abs(factor*curve.Epsilon(alpha)/exact-1))
			}
		}
		return claim.Decide("largest relative difference "+claim.Roughly(off, 1e-9), "1e-9", off < 1e-9,
			"the curve is not the divergence")
	})
}

// pairWithoutCurvature takes L times a factor.
func pairWithoutCurvature(factor float64) claim.Check {
	return measure.Check(func(context.Context, claim.Size) claim.Outcome {
		off := pairOff([]stated{{0, 0.2}, {0, 0.5}, {0, 1}, {0, 1.5}}, factor)
		return claim.Decide("largest difference "+claim.Roughly(off, 1e-4), "1e-4: the integrand has kinks", off < 1e-4,
			"the pair has another loss")
	})
}

// growsWithScale takes the integral at the larger s times a factor.
func growsWithScale(factor float64) claim.Check {
	return measure.Check(func(context.Context, claim.Size) claim.Outcome {
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
			least > 1-1e-9 && equal < 1e-9 && control < 1, "an integral falls with s, or the condition c ≥ µ is "+
				"idle")
	})
}

// convergesLater takes the half-normal curve times a factor.
func convergesLater(factor float64) claim.Check {
	return measure.Check(func(context.Context, claim.Size) claim.Outcome {
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
		return claim.Decide(measured[:len(measured)-2], "0.1", ok, "the curves meet elsewhere")
	})
}

// gradientBounds takes lower bounds times a factor and divides the upper one by it.
func gradientBounds(factor float64) claim.Check {
	return measure.Check(func(context.Context, claim.Size) claim.Outcome {
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
		return claim.Decide(fmt.Sprintf("‖∇f‖/(nβ + λ) over the distance at most %.4f, the distance over ‖∇f‖/λ "+
			"%.4f, the "+
			"third bound over f − f* %.4f", low, high, gap), "at most 1 + 1e-6, above 0.99", math.Max(low,
			math.Max(high, gap)) <= 1+1e-6 && math.Min(low, math.Min(high, gap)) > 0.99,
			"a bound is broken, or none is near it").Reaching(math.Max(low, math.Max(high, gap)))
	})
}

// descentRates takes the exponents times a factor.
func descentRates(factor float64) claim.Check {
	return measure.Check(func(ctx context.Context, _ claim.Size) claim.Outcome {
		var x []float64
		var counts [2][]float64
		for n := 100.0; n <= 6400; n *= 2 {
			measure.Try(ctx.Err())
			x = append(x, math.Log(n))
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
				counts[k] = append(counts[k], math.Log(n*steps/math.Log(n)))
			}
		}
		_, plain := stat.LinearRegression(x, counts[0], nil, false)
		_, fast := stat.LinearRegression(x, counts[1], nil, false)
		return claim.Decide(fmt.Sprintf("slopes %.3f and %.3f", plain, fast), "2 ± 0.05, 1.5 ± 0.05",
			math.Abs(plain-2*factor) < 0.05 && math.Abs(fast-1.5*factor) < 0.05, "the counts grow otherwise")
	})
}
