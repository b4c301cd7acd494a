package ours

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/mechanism/ssp"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// softmaxOfThree is what is claimed of three classes.
func softmaxOfThree(lambda, sigma float64) (privacy.Profile, error) {
	return multiclass.Softmax{Classes: 3, RowNorm: 1, Lambda: lambda, Sigma: sigma, Tolerance: 1e-12,
		OutputSigma: 1}.Profile()
}

func vertexHolds(run measure.Run, claimed func(lambda, sigma float64) (privacy.Profile, error)) claim.Outcome {
	points := measure.Sized(run.Size, 220, 1000)
	var worst, single float64
	for _, c := range []struct{ lambda, sigma float64 }{{0.4, 2}, {2, 2}, {8, 2}, {0.6, 8}} {
		p := measure.Must(claimed(c.lambda, c.sigma))
		for _, s := range measure.Over(run, []audit.Softmax{
			{ExtraX: 1}, {ExtraX: 1, X: []float64{1, 1}, Y: []int{1, 2}, Weights: []float64{3 * c.sigma,
				3 * c.sigma}},
			{ExtraX: 1, X: []float64{1}, Y: []int{1}}, {ExtraX: 1, Tilt: [2]float64{0, 2 * c.sigma}},
		}) {
			s.Lambda, s.Sigma = c.lambda, c.sigma
			without, with := s.Cells(points)
			if off := math.Abs(floats.Sum(without)-1) + math.Abs(floats.Sum(with)-1); off > 1e-5 {
				continue // the cells are too large for these data
			}
			for _, eps := range []float64{0, 0.6 / c.sigma, 2 / c.sigma, 5 / c.sigma} {
				one := measure.GaussianDelta(math.Sqrt2/c.sigma, eps)
				remove, add := audit.HockeyStick(with, without, eps), audit.HockeyStick(without, with, eps)
				worst = math.Max(worst, math.Max(remove/math.Exp(p.LogDeltaUpper(privacy.Remove, eps)),
					add/math.Exp(p.LogDeltaUpper(privacy.Add, eps))))
				single = math.Max(single, add/one)
			}
		}
	}
	return claim.Decide(fmt.Sprintf("largest exact δ over the bound: %.3f; over that without K − 1, in add: %.2f",
		worst, single), "0.8 … 1, and above 1.5 for the control", worst > 0.8 && worst <= 1 && single > 1.5)
}

func softmaxNoise(run measure.Run, factor float64) claim.Outcome {
	leastRest, leastRank := math.Inf(1), math.Inf(1)
	var mostRest float64
	for classes, eps := range measure.Pairs(run, []int{3, 5, 10}, []float64{0.1, 1, 8}) {
		cfg := multiclass.Config{Classes: classes, RowNorm: 1, Epsilon: eps, Delta: 1e-5, Adjacency: privacy.AddRemove}
		joint := measure.Must(multiclass.CalibrateSoftmax(cfg, multiclass.Vertex))
		joint.Sigma *= factor
		rest := measure.Must(multiclass.CalibrateOneVsRest(cfg, loss.Logistic{}))
		leastRest = math.Min(leastRest, rest.Binary.Sigma/joint.Sigma)
		mostRest = math.Max(mostRest, rest.Binary.Sigma/joint.Sigma)
		if eps != 1 {
			continue
		}
		// At the same λ, which the bound by rank does not choose.
		cfg.Lambda = joint.Lambda
		rank := measure.Must(multiclass.CalibrateSoftmax(cfg, multiclass.RankK))
		leastRank = math.Min(leastRank, rank.Sigma/joint.Sigma)
	}
	return claim.Decide(fmt.Sprintf("σ of one-vs-rest over σ of softmax: %.2f to %.2f; by rank over ours at the same "+
		"λ and ε = 1: at least %.2f", leastRest, mostRest, leastRank), "1.07 to 2.1, above 1", leastRest > 1.07 &&
		mostRest < 2.1 && leastRank > 1)
}

// momentNoise whitens xxᵀ by noise of deviation 1 on the diagonal and 1/√2, times a factor, off it, and holds that
// against the noise of released matrices: of no record's curvature.
func momentNoise(run measure.Run, factor float64) claim.Outcome {
	rng, off := noise.NewSeeded(51), factor/math.Sqrt2
	least, most, control := math.Inf(1), 0.0, 0.0
	for k := range 2000 {
		x := make([]float64, 1+k%7)
		rng.Gaussian(x, 1)
		floats.Scale(1/floats.Norm(x, 2), x)
		var shift, half float64
		for i, a := range x {
			shift += a * a * a * a
			half += a * a * a * a
			for _, b := range x[:i] {
				shift += a * a * b * b / (off * off)
				half += a * a * b * b / 0.25
			}
		}
		least, most, control = math.Min(least, math.Sqrt(shift)), math.Max(most, math.Sqrt(shift)),
			math.Max(control, math.Sqrt(half))
	}
	const d, sigma = 5, 3.0
	draws := run.Runs(1000)
	fit := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Sigma: 1, Tolerance: 1e-6, OutputSigma: 1}
	var diagonal, beside float64
	for k := range draws {
		m := measure.Must(interval.Curvature{Fit: fit, Sigma: sigma}.At(matrix.NewDense(0, d, nil), nil,
			make([]float64, d), rng.Stream(k)))
		for i := range d {
			v := m.Hessian.At(i, i) / sigma
			diagonal += v * v / d
			for j := range i {
				v := m.Hessian.At(i, j) / (sigma * off)
				beside += v * v / (d * (d - 1) / 2)
			}
		}
	}
	n := float64(draws)
	farOn, farOff := math.Abs(diagonal/n-1)/math.Sqrt(2/(n*d)), math.Abs(beside/n-1)/math.Sqrt(2/(n*d*(d-1)/2))
	return claim.Decide(fmt.Sprintf("from %.6f to %.6f; control up to %.2f; variances of released noise off by %.1f "+
		"standard errors on the diagonal, %.1f off it", least, most, control, farOn, farOff),
		"1 ± 1e-9, and above 1.2 for the control; 4.5", least > 1-1e-9 && most < 1+1e-9 && control > 1.2 &&
			farOn < 4.5 && farOff < 4.5)
}

// adaSSPAccounting holds the μ of the calibrated mechanism, its σ times a factor, against the Gaussian mechanism's and
// against the formula, and the noise of fits against σ times shown.
func adaSSPAccounting(run measure.Run, factor, shown float64) claim.Outcome {
	m := measure.Must(ssp.CalibrateAdaSSP(ssp.AdaSSPConfig{RowNorm: 1, LabelBound: 1, Epsilon: 1, Delta: 1e-5,
		Adjacency: privacy.AddRemove}))
	m.SigmaEigen, m.SigmaGram, m.SigmaCross = factor*m.SigmaEigen, factor*m.SigmaGram, factor*m.SigmaCross
	unit := measure.Must(privacy.GaussianSigma(1, 1e-5))
	ratio := func(m ssp.AdaSSP) float64 {
		_, mu, ok := privacy.GaussianMu(measure.Must(mechanism.Profile(m)))
		measure.Ensure(ok, "claim: AdaSSP's profile is not Gaussian")
		return mu * unit
	}
	whole := ratio(m)
	// R = 1 and |y| ≤ 1: every sensitivity is one.
	formula := unit * math.Hypot(1/m.SigmaEigen, math.Hypot(1/m.SigmaGram, 1/m.SigmaCross))
	var most float64
	for _, free := range []ssp.AdaSSP{
		{SigmaEigen: 1e9, SigmaGram: m.SigmaGram, SigmaCross: m.SigmaCross}, {SigmaEigen: m.SigmaEigen,
			SigmaGram: 1e9, SigmaCross: m.SigmaCross},
		{SigmaEigen: m.SigmaEigen, SigmaGram: m.SigmaGram, SigmaCross: 1e9},
	} {
		free.RowNorm, free.LabelBound, free.Failure = 1, 1, m.Failure
		most = math.Max(most, ratio(free))
	}
	var far float64
	type key struct{ runs int }
	noise := measure.Shared(key{run.Runs(4000)}, func() (all [2][4]float64) {
		all[0], all[1] = noiseOfFits(run.Runs(4000))
		return all
	})
	variances, entries := noise[0], noise[1]
	for k, v := range variances {
		far = math.Max(far, math.Abs(v/(shown*shown)-1)/math.Sqrt(2/entries[k]))
	}
	return claim.Decide(fmt.Sprintf("μ over the Gaussian's: %.5f, by the formula %.5f; with one release free: at most "+
		"%.3f; variances of the noise over the stated ones: %.3f (λ_min), %.3f and %.3f (XᵀX), %.3f (Xᵀy), within "+
		"%.1f standard errors", whole, formula, most, variances[0], variances[1], variances[2], variances[3], far),
		"1 ± 1e-4 each, below 0.97; 4.5", math.Abs(whole-1) < 1e-4 && most < 0.97 &&
			far < 4.5).As(math.Abs(formula-1) < 1e-4)
}

// noiseOfFits is what fits of AdaSSP show of its noise: the variances of λ_min, of XᵀX on the diagonal and off it, and
// of Xᵀy, over σ₁², σ₂², σ₂²/2 and σ₃², and from how many entries each is computed. Only θ is released, so that all
// noise but one kind is made next to nothing.
func noiseOfFits(runs int) (variances, entries [4]float64) {
	rng := noise.NewSeeded(98)
	fit := func(d, each int, m ssp.AdaSSP, k int) []float64 { // records e_j, so many of each, label 1 for e₁
		rows, labels := matrix.NewDense(d*each, d, nil), make([]float64, d*each)
		for i := range rows.N {
			rows.Data[i*d+i%d] = 1
			if i%d == 0 {
				labels[i] = 1
			}
		}
		m.RowNorm, m.LabelBound = 1, 1
		return measure.Released(m, rows, labels, rng.Stream(k))
	}
	add := func(k int, z float64) {
		variances[k] += z * z
		entries[k]++
	}
	const little, each, sigma = 1e-6, 300.0, 0.5
	for k := range runs {
		// XᵀX + E for E: (each·I + E)θ = each·e₁, θ being e₁ but for 1/600.
		theta := fit(3, each, ssp.AdaSSP{SigmaEigen: little, SigmaGram: sigma, SigmaCross: little, Failure: 0.05}, 3*k)
		add(1, each*(1-theta[0])/(sigma*theta[0]))
		add(2, each*theta[1]*math.Sqrt2/(sigma*theta[0]))
		add(2, each*theta[2]*math.Sqrt2/(sigma*theta[0]))
		// Xᵀy: each·θ = each·e₁ + noise.
		theta = fit(3, each, ssp.AdaSSP{SigmaEigen: little, SigmaGram: little, SigmaCross: sigma, Failure: 0.05}, 3*k+1)
		add(3, each*(theta[0]-1)/sigma)
		add(3, each*theta[1]/sigma)
		add(3, each*theta[2]/sigma)
		// λ_min = 43 in one dimension, by the ridge B + 37σ₁ − (43 + σ₁N), which a ρ of 1e-300 lets neither end of the
		// ridge's formula cut; XᵀX has a variance of 0.09 besides.
		m := ssp.AdaSSP{SigmaEigen: 1, SigmaGram: 0.3, SigmaCross: little, Failure: 1e-300}
		theta = fit(1, 43, m, 3*k+2)
		add(0, (43/theta[0]-m.NoiseNorm(1)-math.Sqrt(2*math.Log(1/m.Failure)))/math.Sqrt(1.09))
	}
	for k := range variances {
		variances[k] /= entries[k]
	}
	return variances, entries
}
