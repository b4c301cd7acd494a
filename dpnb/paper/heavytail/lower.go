package heavytail

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/sim"
)

func reduction(_ measure.Run, constant float64) claim.Outcome {
	src := noise.NewSeeded(29)
	const radius = 1.5
	var most float64
	for i := range 4000 {
		h := HardPrivate([]float64{1, 2, -1}, 1000, 1, 1, 2, 0.01)
		mean := h.Mean()
		m := floats.Norm(mean, 2)
		w := make([]float64, 3)
		src.Gaussian(w, 1)
		floats.Scale(radius*math.Pow(src.Float64(), float64(1+i%4*4))/floats.Norm(w, 2), w)
		if i%2 == 0 { // the wrong way
			floats.ScaleTo(w, floats.Norm(w, 2)/m, mean)
		}
		guess := append([]float64(nil), w...)
		floats.Scale(-m/floats.Norm(w, 2), guess)
		far := floats.Distance(guess, mean, 2)
		most = math.Max(most, far*far/(constant*m/(2*radius)*h.Excess(w, radius)))
	}
	return outcome(fmt.Sprintf("at most %.4f", most), most <= 1+1e-9 && most > 0.99)
}

// signError is the least average error of an ε-DP guess between N records +a and N records −a.
func signError(count int, epsilon float64) float64 {
	half := math.Exp(-epsilon * float64(count/2))
	if count%2 == 0 {
		return half / 2
	}
	return half / (1 + math.Exp(epsilon))
}

// binomial returns E f(N), N of the binomial law of n and p, to 1e-12 for 0 ≤ f ≤ 1.
func binomial(n int, p float64, f func(count int) float64) (mean float64) {
	if p >= 1 {
		return f(n)
	}
	law := distuv.Binomial{N: float64(n), P: p}
	for i := range n + 1 {
		weight := law.Prob(float64(i))
		if mean += weight * f(i); float64(i) > float64(n)*p && weight < 1e-13 {
			break
		}
	}
	return mean
}

// SignError returns the least probability, on the worse of the two, with which an ε-DP algorithm (replace-one) takes n
// records of HardPrivate in one dimension, a with probability p and else 0, for their negatives. The excess risk then
// is at least paD/2.
//
// Source: ours. Proof: docs/theory/localisation.md, heavytail-thm4.1.
func SignError(n int, p, epsilon float64) float64 {
	return binomial(n, p, func(count int) float64 { return signError(count, epsilon) })
}

// BestSign is the algorithm that attains SignError: the probability of the guess "+", sum being the number of records
// +a less that of records −a.
func BestSign(sum int, epsilon float64) float64 {
	if sum > 0 {
		return 1 - BestSign(-sum, epsilon)
	}
	return signError(-sum, epsilon)
}

// PackingError bounds from below the mean error, over size ≥ 2 points ν, with which an ε-DP algorithm tells the
// instances aν apart: E 1/(1 + e^{εN}/(size − 1)).
func PackingError(n int, p, epsilon, size float64) float64 {
	return binomial(n, p, func(count int) float64 { return 1 / (1 + math.Exp(epsilon*float64(count))/(size-1)) })
}

// Unavoidable returns the largest p ≤ 1 at which an error that falls in p is at least ζ, which it is at 0.
func Unavoidable(zeta float64, err func(p float64) float64) float64 {
	if err(1) >= zeta {
		return 1
	}
	p, _ := univariate.Bisect(func(p float64) bool { return err(p) < zeta }, 0, 1, univariate.Arithmetic, 1e-12)
	return p
}

// CoinError is the least probability, on the worse of the two, with which any algorithm takes n records of
// HardNonPrivate with mean ρ for those with −ρ.
func CoinError(n int, rho float64) float64 {
	return binomial(n, (1-rho)/2, func(wrong int) float64 {
		switch {
		case 2*wrong > n:
			return 1
		case 2*wrong == n:
			return 0.5
		}
		return 0
	})
}

// linearFit makes a point of the ball of radius 1 of linear losses, a row each.
type linearFit struct {
	name string
	fit  func(rows *matrix.Dense, src *noise.Seeded) []float64
}

// linearFits are the mechanisms and baselines of ε-DP, replace-one, for n linear losses in d dimensions.
func linearFits(n, d int, epsilon, k float64) (all []linearFit) {
	config := pure.Config{Loss: loss.Affine{}, Epsilon: epsilon, Adjacency: privacy.ReplaceOne, Features: d, Records: n,
		Radius: 1, Moment: k, MomentBound: 1, WorstCase: true}
	ones := slices.Repeat([]float64{1}, n)
	run := func(name string, m mechanism.Mechanism, err error) {
		measure.Try(err)
		all = append(all, linearFit{name, func(rows *matrix.Dense, src *noise.Seeded) []float64 {
			w := measure.Released(m, rows, ones, src)
			if norm := floats.Norm(w, 2); norm > 1 {
				floats.Scale(1/norm, w)
			}
			return w
		}})
	}
	objective, err := config.Calibrate()
	run("objective", objective, err)
	output, err := config.CalibrateOutput()
	run("output", output, err)
	for _, constants := range []pure.Constants{pure.Exact, pure.Printed} {
		phases, err := pure.PhasesConfig{Config: config, Count: 2, Double: true, Constants: constants}.Calibrate()
		run("phases, "+constants.String(), phases, err)
	}
	clip := objective.Clip
	for _, g := range []Descent{{Steps: 1}, {Steps: 8}} {
		all = append(all, linearFit{fmt.Sprintf("descent, %d steps", g.Steps),
			func(rows *matrix.Dense, src *noise.Seeded) []float64 {
				scale := 2 * clip * float64(g.Steps) / epsilon
				return g.descend(d, scale, 1/(clip*math.Sqrt(float64(n))), 1, src, func(sum, _ []float64) {
					for i := range rows.N {
						z := rows.Data[i*d : (i+1)*d]
						floats.AddScaled(sum, min(1, clip/max(floats.Norm(z, 2), 1e-300)), z)
					}
				})
			}})
	}
	return all
}

// oneDimension adds to them those for one dimension.
func oneDimension(n int, epsilon, k float64) []linearFit {
	clip, lambda := math.Pow(float64(n)*epsilon, 1/k), math.Pow(float64(n)*epsilon, 1/k-1)
	net := measure.Must(Net(1, 1, 0.02))
	return append(linearFits(n, 1, epsilon, k), linearFit{"Algorithm 5", func(rows *matrix.Dense,
		src *noise.Seeded) []float64 {
		m := NetMechanism{Slopes: linearLosses(rows.Data), C: clip, Lambda: lambda, Centre: []float64{0},
			Step: 1 / lambda, W: interval, Sensitivity: 2 * clip / float64(n)}
		return net[draw(src, m.Probabilities(net, epsilon))]
	}}, linearFit{"Algorithm 7", func(rows *matrix.Dense, src *noise.Seeded) []float64 {
		return []float64{measure.Must(Algorithm7{C: clip, Lambda: lambda, Epsilon: epsilon}.Run(rows.Data, src))}
	}})
}

// packingShares returns how often each fit takes n records of one of the 2d instances ±eⱼ, of share p not 0, for those
// of another, over so many runs of each; the records' sum, which is not private, comes last.
func packingShares(fits []linearFit, n, d int, p float64, runs int, src *noise.Seeded) []float64 {
	fits = append(slices.Clip(fits), linearFit{"the sum", func(rows *matrix.Dense, _ *noise.Seeded) []float64 {
		sum := make([]float64, d)
		for i := range rows.N {
			floats.Sub(sum, rows.Data[i*d:(i+1)*d])
		}
		return sum
	}})
	shares := make([]float64, len(fits))
	for i := range runs * 2 * d {
		h := Hard{Direction: make([]float64, d), P: p, A: 1 / math.Sqrt(p)}
		axis, sign := i%d, 1-2*float64(i/d%2)
		h.Direction[axis] = sign
		rows := h.Sample(n, src)
		for k, f := range fits {
			w := f.fit(rows, src)
			at := 0
			for j := range w {
				if math.Abs(w[j]) > math.Abs(w[at]) {
					at = j
				}
			}
			if at != axis || w[at]*sign >= 0 {
				shares[k] += 1 / float64(runs*2*d)
			}
		}
	}
	return shares
}

// draw returns i with probability p[i].
func draw(src *noise.Seeded, p []float64) int {
	u := src.Float64()
	for i, q := range p {
		if u -= q; u < 0 {
			return i
		}
	}
	return len(p) - 1
}

func lowerBound(run measure.Run, open bool, factor float64) claim.Outcome {
	const n, epsilon, k, zeta = 100, 0.5, 2.0, 0.1
	src := noise.NewSeeded(34)
	p := Unavoidable(zeta, func(p float64) float64 { return SignError(n, p, epsilon) })
	all := oneDimension(n, epsilon, k)
	sign := linearFit{"sign of the sum", func(rows *matrix.Dense, src *noise.Seeded) []float64 {
		return []float64{-math.Copysign(1, floats.Sum(rows.Data)+1e-9*(src.Float64()-0.5))}
	}}
	if open {
		all = append(all, sign)
	}
	best := linearFit{"the best sign", func(rows *matrix.Dense, src *noise.Seeded) []float64 {
		sum := 0
		for _, v := range rows.Data {
			sum += cmp.Compare(v, 0)
		}
		return []float64{measure.Sign(src.Float64() >= BestSign(sum, epsilon))}
	}}
	// How often the excess risk of one of the two instances is paD/2 or more, D = 2: the worse of them.
	worse := func(of linearFit, samples int, pair [2]Hard) float64 {
		worst := 0.0
		for _, h := range pair {
			many := 0
			for range samples {
				w := of.fit(h.Sample(n, src), src)
				if h.Excess(w, 1) >= math.Abs(h.Mean()[0])*(1-1e-12) {
					many++
				}
			}
			worst = math.Max(worst, float64(many)/float64(samples))
		}
		return worst
	}
	samples := run.Runs(40_000)
	room := 4.5 * math.Sqrt(zeta*(1-zeta)/float64(samples)) // of the larger of two shares
	pair := [2]Hard{{Direction: []float64{1}, P: p, A: math.Pow(p, -1/k)},
		{Direction: []float64{-1}, P: p, A: math.Pow(p, -1/k)}}
	exact := worse(best, samples, pair)
	least, who := math.Inf(1), ""
	for _, of := range all {
		if share := worse(of, samples/80, pair); share < least {
			least, who = share, of.name
		}
	}
	rho := Unavoidable(zeta, func(rho float64) float64 { return CoinError(n, rho) })
	coin := worse(sign, samples, [2]Hard{{Direction: []float64{1}, P: 1, A: 1, Q: (1 - rho) / 2},
		{Direction: []float64{-1}, P: 1, A: 1, Q: (1 - rho) / 2}})
	// In more dimensions: the points ±eⱼ are told apart no better than by the bound, but by the records' sum.
	packed, packedBy, beyond := math.Inf(1), "", true
	for _, d := range []int{2, 8} {
		const records, share = 60, 0.05
		fits := linearFits(records, d, 1, k)
		runs := run.Runs(4000) / (2 * d)
		shares := packingShares(fits, records, d, share, runs, src)
		floor := factor * PackingError(records, share, 1, float64(2*d))
		slack := 4 * math.Sqrt(floor/float64(runs*2*d)) / floor
		for i, s := range shares {
			if last := i == len(shares)-1; last && !open {
				beyond = beyond && s < floor*(1-slack) // not private
				continue
			}
			if s/floor+slack < packed {
				packed, packedBy = s/floor+slack, append(fits, linearFit{name: "the sum"})[i].name
			}
		}
	}
	c, bound := lowerConstant(run), factor*zeta
	return outcome(fmt.Sprintf("the best sign %.3f of ζ, the others at least %.2f (%s), without privacy %.3f; in "+
		"2 and 8 dimensions at least %.2f (%s); c ≥ %.3f", exact/bound, least/bound, who, coin/bound, packed,
		packedBy, c), math.Abs(exact-bound) < room && least > bound-9*room && math.Abs(coin-bound) < 1.2*room &&
		packed > 1 && beyond && c > 0.2).Corrected("over packings of the sphere, and with its constant")
}

// lowerConstant returns the least c of the theorem in one dimension over a grid, G₁ = G₂ = G_k = 1.
func lowerConstant(run measure.Run) float64 {
	c := math.Inf(1)
	for n, epsilon := range measure.Pairs(run, []int{1, 3, 30, 1000}, []float64{0.01, 0.1, 1}) {
		for _, zeta := range []float64{0.2, 0.1, 1e-2, 1e-4} {
			rho := Unavoidable(zeta, func(rho float64) float64 { return CoinError(n, rho) })
			p := Unavoidable(zeta, func(p float64) float64 { return SignError(n, p, epsilon) })
			for _, k := range []float64{2, 3, 6} {
				// Each instance has the excess risk |mean|·D/2 with probability ζ.
				level := math.Max(rho, math.Pow(p, 1-1/k)) / 2
				c = math.Min(c, level/LowerBound(1, n, epsilon, 1, 1, k, 1, zeta))
			}
		}
	}
	return c
}

// Hard is one of the two instances of heavytail's lower bound (Theorem 4.1), for linear losses ⟨z, w⟩ on the ball of
// radius D/2: z is 0 but with the probability p, and else a·ν or, with the share q of these, −a·ν.
type Hard struct {
	Direction []float64
	P, A, Q   float64
}

// HardNonPrivate is z = ±G₂e₁ with means ±ρG₂, ρ = ½min(√(ln(1/ζ)/n), 1): few records do not tell the sign.
func HardNonPrivate(d, n int, g2, zeta float64, plus bool) Hard {
	rho := 0.5 * math.Min(math.Sqrt(math.Log(1/zeta)/float64(n)), 1)
	h := Hard{Direction: make([]float64, d), P: 1, A: g2, Q: (1 - rho) / 2}
	h.Direction[0] = 1
	if !plus {
		h.Q = 1 - h.Q
	}
	return h
}

// HardPrivate is z = G_k p^{−1/k}ν with probability p = (d ln 2 + ln(1/(4eζ)))/(nε), at most 1, and 0 else: pε n
// records or so are all that tells one ν of a packing of the sphere from the others. The paper's packing is of the
// ball, and its lemma G.1 wants one of the sphere; at d = 1 there are but two points, and ζ must be below 1/(4e²).
func HardPrivate(nu []float64, n int, epsilon, gk, k, zeta float64) Hard {
	p := (float64(len(nu))*math.Ln2 + math.Log(1/(4*math.E*zeta))) / (float64(n) * epsilon)
	p = math.Max(0, math.Min(p, 1))
	nu = append([]float64(nil), nu...)
	floats.Scale(1/floats.Norm(nu, 2), nu)
	return Hard{Direction: nu, P: p, A: gk * math.Pow(p, -1/k)}
}

// Mean returns E z.
func (h Hard) Mean() []float64 {
	mean := append([]float64(nil), h.Direction...)
	floats.Scale(h.P*h.A*(1-2*h.Q), mean)
	return mean
}

// Sample draws n records z.
func (h Hard) Sample(n int, src *noise.Seeded) *matrix.Dense {
	rows := matrix.NewDense(n, len(h.Direction), nil)
	for i := range n {
		scale := 0.0
		if src.Float64() < h.P {
			if scale = h.A; src.Float64() < h.Q {
				scale = -h.A
			}
		}
		floats.AddScaled(rows.Data[i*rows.D:(i+1)*rows.D], scale, h.Direction)
	}
	return rows
}

// Excess returns F(w) − min F over the ball of the radius.
func (h Hard) Excess(w []float64, radius float64) float64 {
	mean := h.Mean()
	return floats.Dot(mean, w) + radius*floats.Norm(mean, 2)
}

// LowerBound returns G₂D√(ln(1/ζ)/n) + G_kD((d + ln(1/ζ))/(nε))^{1−1/k}, at most G₂D: Theorem 4.1 without its constant
// c, which the paper does not state.
func LowerBound(d, n int, epsilon, g2, gk, k, diameter, zeta float64) float64 {
	more := math.Log(1 / zeta)
	return diameter * math.Min(g2, g2*math.Sqrt(more/float64(n))+
		gk*math.Pow((float64(d)+more)/(float64(n)*epsilon), 1-1/k))
}

// Exponent fits ln y = a + s·ln x by least squares, each mean with its standard error, and returns s with its own.
func Exponent(x []float64, y []sim.Summary) (slope, deviation float64) {
	a, b, w := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	for i, v := range y {
		a[i], b[i], w[i] = math.Log(x[i]), math.Log(v.Mean), math.Pow(v.Mean/v.StdErr, 2)
	}
	_, slope = stat.LinearRegression(a, b, w, false)
	return slope, 1 / math.Sqrt(stat.PopVariance(a, w)*floats.Sum(w))
}

// HardCell is the mean excess risk, G_k = 1, D = 2, of objective perturbation with C and Λ of the utility theorem on
// linear losses from HardPrivate with ζ = 1/(4e), so that a share p = d ln 2/(nε) of the records says anything at all,
// and G₂ = p^{1/2−1/k}.
func HardCell(k float64, d, n int, eps float64, fits int, seed uint64) (_ sim.Summary, err error) {
	defer measure.Catch(&err)
	nu := make([]float64, d)
	nu[0] = 1
	h := HardPrivate(nu, n, eps, 1, k, 0.25/math.E)
	m := measure.Must(pure.Config{Loss: loss.Affine{}, Epsilon: eps, Adjacency: privacy.ReplaceOne, Features: d,
		Records: n, Radius: 1, Moment: min(k, 1e3), MomentBound: 1, WorstCase: true,
		Lambda: math.Pow(h.P, 0.5-1/k) * math.Sqrt(2*float64(n)*(2+2/eps))}.Calibrate())
	ones := slices.Repeat([]float64{1}, n)
	return measure.Means(context.Background(), fits, noise.NewSeeded(seed), func(_ int, src *noise.Seeded) []float64 {
		return []float64{h.Excess(measure.Released(m, h.Sample(n, src), ones, src), 1)}
	})[0], nil
}
