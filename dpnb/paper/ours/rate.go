package ours

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// hatFit is objective perturbation of so many hats, with the squared loss, on n records of which as many are at each of
// the places in [0, 1], four thirds as densely in its middle as at its ends, with labels truth(u) + N(0, scatter²):
// Λ = λI + wQ, Q the sum of squares of second differences, and noise of standard deviation σ.
type hatFit struct {
	truth                          func(u float64) float64
	n                              float64
	places, hats                   int
	lambda, weight, sigma, scatter float64
}

// hat returns which two hats there are at place i, and the second one's height.
func (f hatFit) hat(i int) (j int, second float64) {
	at := f.place(i) * float64(f.hats-1)
	j = min(int(at), f.hats-2)
	return j, at - float64(j)
}

func (f hatFit) place(i int) float64 {
	even := (float64(i) + 0.5) / float64(f.places)
	return even + math.Sin(2*math.Pi*even)/(14*math.Pi) // u′ from 6/7 to 8/7
}

// curveError has the parts of the mean of (1/n)Σ(f̃(uᵢ) − truth(uᵢ))².
type curveError struct{ bias, scatter, noise float64 }

func (e curveError) sum() float64 { return e.bias + e.scatter + e.noise }

// law is exact (docs/theory/curves.md, section 7): with G = HᵀH/n and A = nG + Λ, f̃ = HA⁻¹(Hᵀy − b).
func (f hatFit) law() curveError {
	g, h, each := mat.NewSymDense(f.hats, nil), mat.NewVecDense(f.hats, nil), 1/float64(f.places)
	for i := range f.places {
		j, s := f.hat(i)
		y := f.truth(f.place(i))
		g.SetSym(j, j, g.At(j, j)+(1-s)*(1-s)*each)
		g.SetSym(j, j+1, g.At(j, j+1)+(1-s)*s*each)
		g.SetSym(j+1, j+1, g.At(j+1, j+1)+s*s*each)
		h.SetVec(j, h.AtVec(j)+(1-s)*y*each)
		h.SetVec(j+1, h.AtVec(j+1)+s*y*each)
	}
	a := mat.NewSymDense(f.hats, nil)
	a.ScaleSym(f.n, g)
	matrix.Span{Len: f.hats}.Roughen(a, f.weight)
	for j := range f.hats {
		a.SetSym(j, j, a.At(j, j)+f.lambda)
	}
	var root mat.Cholesky
	measure.Ensure(root.Factorize(a), "the curvature of %d hats is singular", f.hats)
	var theta mat.VecDense
	var ag, square, noise mat.Dense
	measure.Try(root.SolveVecTo(&theta, h))
	measure.Try(root.SolveTo(&ag, g))
	square.Mul(&ag, &ag)
	measure.Try(root.SolveTo(&noise, ag.T())) // A⁻¹GA⁻¹
	e := curveError{scatter: f.scatter * f.scatter * f.n * mat.Trace(&square),
		noise: f.sigma * f.sigma * mat.Trace(&noise)}
	theta.ScaleVec(f.n, &theta)
	e.bias = f.missed(theta.RawVector().Data)
	return e
}

// missed is the mean squared distance of the curve with such values at its knots from the truth.
func (f hatFit) missed(theta []float64) (e float64) {
	for i := range f.places {
		j, s := f.hat(i)
		off := (1-s)*theta[j] + s*theta[j+1] - f.truth(f.place(i))
		e += off * off / float64(f.places)
	}
	return e
}

// bound is that of the theorem for the sine, of whose square and of whose second derivative's square these are the
// integrals, part by part.
func (f hatFit) bound(square, bend float64) curveError {
	h := 1 / float64(f.hats-1)
	// Of the records in a cell, and of G's least eigenvalue beside h/6.
	most, least := 7./6+1/(h*float64(f.places)), 0.83
	ridge := 6 * f.lambda / (least * h * f.n)
	hats := math.Min(float64(f.hats), 2+1.2*math.Pow(least*f.n/(96*f.weight*h*h*h), 0.25))
	return curveError{
		bias:    2*(most*math.Pow(h, 4)/48+4./3*f.weight*math.Pow(h, 3)/f.n)*bend + 2*ridge*ridge*square,
		scatter: f.scatter * f.scatter * float64(f.hats) / f.n,
		noise:   6 * f.sigma * f.sigma * hats / (least * h * f.n * f.n)}
}

// release returns the squared error of one release of m, of labels and noise of its own.
func (f hatFit) release(m objpert.Objective, rows matrix.Rows, src *noise.Seeded) float64 {
	labels, scatter := make([]float64, f.places), src.Stream(1)
	for i := range labels {
		labels[i] = f.truth(f.place(i)) + f.scatter*scatter.NormFloat64()
	}
	return f.missed(measure.Released(m, rows, labels, src.Stream(2)))
}

// hatsFor is the number of hats by the theorem's rule, K − 1 = 0.8(nμ/L)^power, whose power is ⅓: about the best for
// the sine, by the law.
func hatsFor(nMu, power float64) int {
	return 1 + int(math.Round(math.Max(2, 0.8*math.Pow(nMu, power))))
}

// sine is smooth, zigzag has twelve kinks at places that no knots follow.
func sine(u float64) float64 { return math.Sin(6*u) / 2 }

func zigzag(u float64) (y float64) {
	for j := range 12 {
		y += math.Pow(-1, float64(j)) * math.Abs(u-math.Mod(float64(j+1)*math.Phi, 1)) / 2
	}
	return y
}

// rate is what is claimed: of which truth, with hats by which power of nμ, and by which law where it is another.
type rate struct {
	truth func(u float64) float64
	power float64
	law   func(*hatFit)
}

// curveRate is the check; the noise of the law is taken times factor.
func curveRate(run measure.Run, v rate, factor float64) claim.Outcome {
	square, bend := 0.125-math.Sin(12)/96, 162-13.5*math.Sin(12) // ∫f² and ∫f″² of the sine
	var all []float64
	far, reached := 0.0, [3]float64{}
	reach := func(law, bound curveError) {
		for k, share := range []float64{law.bias / bound.bias, law.scatter / bound.scatter, law.noise / bound.noise} {
			reached[k] = math.Max(reached[k], share)
		}
	}
	for n, eps := range measure.Pairs(run, []int{2000, 10_000}, []float64{0.1, 1, 8}) {
		m := measure.Must(objpert.Calibrate(objpert.Config{Loss: loss.Huber{Threshold: 1}, RowNorm: 1, Epsilon: eps,
			Delta: 1e-6, Adjacency: privacy.AddRemove, Rule: objpert.LeastNoise}))
		nMu := float64(n) / measure.Must(privacy.GaussianSigma(eps, 1e-6))
		for arm := range 3 { // the rule's hats; twice as many, with a penalty on their bends; with ten times the ridge
			m, src := m, noise.NewSeeded(uint64(n)+uint64(100*eps)+uint64(arm))
			f := hatFit{truth: sine, n: float64(n), places: n, hats: 1 + min(arm+1, 2)*(hatsFor(nMu, v.power)-1),
				sigma: m.Sigma, scatter: 0.05}
			switch arm {
			case 1:
				f.weight = float64(n) * math.Pow(float64(f.hats-1), 3) * math.Pow(nMu, -4./3) / 5
				m.Penalty = m.Smoothing([]matrix.Span{{Len: f.hats}}, f.weight)
			case 2:
				m.Lambda *= 10
			}
			f.lambda = m.Lambda
			rows := matrix.NewDense(n, f.hats, nil)
			for i := range n {
				j, s := f.hat(i)
				rows.Data[i*f.hats+j], rows.Data[i*f.hats+j+1] = 1-s, s
			}
			reach(f.law(), f.bound(square, bend))
			claimed := f
			if v.law != nil {
				v.law(&claimed)
			}
			law := claimed.law()
			law.noise *= factor * factor
			ratios := make([]float64, run.Runs(40))
			for k := range ratios {
				ratios[k] = f.release(m, rows, src.Stream(k)) / law.sum()
			}
			mean, spread := stat.MeanStdDev(ratios, nil)
			far = math.Max(far, math.Abs(mean-1)/spread*math.Sqrt(float64(len(ratios))))
			all = append(all, ratios...)
		}
	}
	var nMu, bias, spread []float64
	for at := 1e5; at < 2e8; at *= math.Sqrt(10) {
		f := hatFit{truth: v.truth, n: at, places: 20_000, hats: hatsFor(at, v.power), sigma: 1, lambda: 1, scatter: 1}
		law := f.law()
		nMu, bias, spread = append(nMu, at), append(bias, law.bias), append(spread, law.noise)
		reach(law, f.bound(square, bend))
	}
	mean, deviation := stat.MeanStdDev(all, nil)
	unsure, bends, blurs := deviation/math.Sqrt(float64(len(all))), measure.Exponent(nMu, bias),
		measure.Exponent(nMu, spread)
	return claim.Decide(fmt.Sprintf("%.3f ± %.3f of the law, in single settings off by at most %.1f standard errors; "+
		"(nμ)^%.3f and (nμ)^%.3f; at most %.2f of the bounds", mean, unsure, far, bends, blurs, reached),
		"1 within four standard errors, 4.5 in each; −4/3 within 0.03; below 1",
		math.Abs(mean-1) < 4*unsure && far < 4.5 && math.Max(math.Abs(bends+4./3), math.Abs(blurs+4./3)) < 0.03 &&
			slices.Max(reached[:]) < 1)
}

// RateFigure draws what curves, DP-EBM and a fit with hats by the theorem's rule miss of the sine, in the mean over
// draws of the noise and in per cent of its variance, at every ε, δ = 10⁻⁶: n records, whose labels have noise of a
// standard deviation of 0.05. The rule's fit, and that of the zigzag, are by their law, with slopes of at most 0.2,
// about half of the standard deviation of the labels, as the learner has them.
func RateFigure(n int, epsilons []float64, draws int, seed uint64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	src := noise.NewSeeded(seed)
	u, y, truth := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range u {
		u[i] = (float64(i) + 0.5) / float64(n)
		truth[i] = sine(u[i])
		y[i] = truth[i] + 0.05*src.NormFloat64()
	}
	table := measure.Must(frame.NewTable(frame.Column{Name: "u", Numbers: u}, frame.Column{Name: "y", Numbers: y}))
	table.Source = frame.Source{Name: "a sine", Rows: n, Public: true, Invented: true}
	people := learn.FromTable(table).WithSchema(frame.NumericField("u", 0, 1), frame.NumericField("y", -1, 1))
	f := figure.New("What is missed of a smooth curve", "ε", "missed, % of the curve's variance").
		LogX().LogY()
	for _, l := range []struct {
		name  string
		truth func(float64) float64
		color figure.Color
	}{{"theory: hats by the rule", sine, figure.Gray}, {"theory: a curve with kinks", zigzag, figure.Purple}} {
		var missed []float64
		for _, eps := range epsilons {
			sigma := 0.2 * measure.Must(privacy.GaussianSigma(eps, 1e-6))
			fit := hatFit{truth: l.truth, n: float64(n), places: n, hats: hatsFor(float64(n)/sigma, 1./3),
				lambda: sigma, sigma: sigma, scatter: 0.05}
			var all []float64
			for i := range n {
				all = append(all, l.truth(fit.place(i)))
			}
			missed = append(missed, 100*fit.law().sum()/stat.PopVariance(all, nil))
		}
		f.Dashed(l.name, epsilons, missed, l.color)
	}
	curves := learn.MechanismOf("curves", func(src noise.Source) learn.Learner { return learn.Huber{Noise: src} })
	for k, m := range []learn.Mechanism{named("DP-EBM"), curves} {
		var missed []float64
		for _, eps := range epsilons {
			missed = append(missed, measure.Means(context.Background(), draws, src.Stream(k), func(_ int,
				src *noise.Seeded) []float64 {
				model := measure.Must(m.Fit(learn.Regression(people, "y", learn.Curves(), learn.InUnits()),
					learn.Simulate(eps, 1e-6), src))
				off := measure.Must(model.Predict(people))
				floats.Sub(off, truth)
				return []float64{100 * floats.Dot(off, off) / float64(n) / stat.PopVariance(truth, nil)}
			})[0].Mean)
		}
		f.Dots([]string{"DP-EBM", "curves of eight hats"}[k], epsilons, missed,
			[]figure.Color{figure.Orange, figure.Blue}[k])
	}
	return f, nil
}
