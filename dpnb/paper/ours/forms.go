package ours

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/convolution"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

func curvatureIsFree(run measure.Run, times [2]float64) claim.Outcome {
	const delta = 1e-5
	leastRatio, mostRatio := math.Inf(1), 0.0
	leastTight, mostTight := math.Inf(1), 0.0
	for _, eps := range []float64{0.2, 1, 3} {
		for _, l := range measure.Over(run, []loss.Loss{loss.Absolute(smoothing.Logistic{}, 0.5),
			loss.Absolute(smoothing.Laplacian{}, 0.5),
			loss.Convolved{Kernel: smoothing.Laplacian{}, Width: 1, Below: -1, Above: 0},
			loss.SmoothPinball{Tau: 0.5, Width: 0.25}, loss.SmoothPinball{Tau: 0.9, Width: 0.25}}) {
			const radius = 1.5
			curve := measure.Must(loss.CurveOf(l, radius))
			free := objective.Free{Curve: curve, Epsilon: eps}
			sigma := measure.Must(free.Sigma(delta))
			lambda := measure.Must(free.Lambda(sigma))
			sigma, lambda = sigma*times[0], lambda*times[1]
			ratio := conditionRatio(l, radius, eps, lambda, sigma)
			leastRatio, mostRatio = math.Min(leastRatio, ratio), math.Max(mostRatio, ratio)
			if _, ok := l.(loss.SmoothPinball); !ok || run.Size == claim.Quick && eps != 1 {
				continue
			}
			p := measure.Must(objective.New(objective.Config{Curve: curve, Lambda: lambda, Sigma: sigma,
				Bound: objective.Tight}))
			tight := privacy.DeltaUpper(p, eps) / delta
			leastTight, mostTight = math.Min(leastTight, tight), math.Max(mostTight, tight)
		}
	}
	return claim.Decide(fmt.Sprintf("the largest S̄ is %.4f to %.4f of the condition; Tight is %.3f to %.4f of δ",
		leastRatio, mostRatio, leastTight, mostTight), "", leastRatio > 0.98 && mostRatio < 1.002 &&
		leastTight > 0.45 && mostTight < 1.006)
}

// conditionRatio returns the largest S̄ over what Theorem 4 admits, at records of norm radius.
func conditionRatio(l loss.Loss, radius, eps, lambda, sigma float64) float64 {
	const n = 4000
	t, y, slope, curv := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range t {
		x := 2*(float64(i)+0.5)/n - 1
		t[i] = 3 * l.Lipschitz() / l.Smoothness() * math.Atanh(x)
	}
	l.ValueSlope(slope, t, y)
	l.Curvature(curv, t, y)
	low, high := 0.0, 0.0
	for _, s := range slope {
		low, high = math.Min(low, s), math.Max(high, s)
	}
	worst := 0.0
	for i, s := range slope {
		most := high
		if s < 0 {
			most = -low
		}
		gamma, side := radius*math.Abs(s), radius*most
		if most < 0.5*(high-low)*1e-3 || side-gamma < 1e-3*side {
			continue // a side without slopes, or so far out that the ends of the grid count
		}
		admitted := lambda * math.Expm1((side-gamma)*(eps/side+gamma/(2*sigma*sigma)))
		worst = math.Max(worst, radius*radius*curv[i]/admitted)
	}
	return worst
}

// climb returns the largest value of f found from a start, and where, by steps in single coordinates that shrink where
// none helps.
func climb(f func([]float64) float64, x []float64, step float64, tries int, src *noise.Seeded) ([]float64, float64) {
	best := f(x)
	for range tries {
		y := append([]float64(nil), x...)
		y[src.IntN(len(y))] += step * src.NormFloat64()
		if v := f(y); v > best {
			best, x = v, y
		} else {
			step *= 0.93
		}
	}
	return x, best
}

// planar is a setting of forms in the plane: the record's rows and labels and the others' curvature from free
// parameters.
func planar(l loss.Loss, m int, slanted bool, lambda, sigma float64, x []float64) audit.Forms {
	f := audit.Forms{Loss: l, Sigma: sigma, Ridges: [2]float64{lambda, lambda * (1 + math.Abs(x[3]))}, Turn: x[4]}
	for j := range m {
		angle := float64(j) * math.Pi / 2
		if slanted || m > 2 {
			angle += x[5+j]
		}
		f.Rows = append(f.Rows, [2]float64{math.Cos(angle), math.Sin(angle)})
		f.Labels = append(f.Labels, x[j]*sigma/lambda)
	}
	// ‖A‖₂ = 1.
	var a, b, c float64
	for _, r := range f.Rows {
		a, b, c = a+r[0]*r[0], b+r[0]*r[1], c+r[1]*r[1]
	}
	norm := math.Sqrt((a+c)/2 + math.Hypot((a-c)/2, b))
	for j := range f.Rows {
		f.Rows[j][0] /= norm
		f.Rows[j][1] /= norm
	}
	return f
}

// rowsOf is the account of forms in a direction: in Add its variables are without the logarithm.
func rowsOf(d privacy.Direction, lambda, sigma float64, forms ...objective.Form) objective.Rows {
	if d == privacy.Add {
		lambda = 1e12
	}
	return objective.Rows{Forms: forms, Lambda: lambda, Sigma: sigma}
}

func rowsAudited(run measure.Run, factor float64) claim.Outcome {
	src := noise.NewSeeded(81)
	points, tries := 140, run.Runs(8)
	worst := map[privacy.Direction]float64{}
	for _, k := range []smoothing.Kernel{smoothing.Logistic{}, smoothing.Gaussian{}} {
		l := loss.Absolute(k, 1)
		curve := measure.Must(loss.CurveOf(l, 1))
		for m := 1; m <= 3; m++ {
			for _, at := range []struct{ ratio, a, eps float64 }{{0.02, 0.4, 1}, {0.3, 0.3, 0.5}, {1, 0.3, 1},
				{5, 0.35, 0.3}} {
				lambda, sigma := at.ratio*l.Smoothness(), math.Sqrt(float64(m))/at.a
				for _, d := range measure.Over(run, privacy.Directions[:]) {
					r := rowsOf(d, lambda, sigma*factor, objective.Form{Curve: curve, Count: m})
					p := measure.Must(r.Profile(privacy.AddRemove))
					bound := math.Exp(p.LogDeltaUpper(d, at.eps))
					start := make([]float64, 8)
					src.Gaussian(start[5:], 0.4)
					setting := func(x []float64) audit.Forms {
						return planar(l, m, m == 2 && at.ratio > 0.5, lambda, sigma, x)
					}
					x, v := climb(func(x []float64) float64 { return setting(x).Delta(d, at.eps, points) },
						start, 0.7, tries, src)
					if v > 0.97*bound { // to a thousandth
						v = setting(x).Delta(d, at.eps, 4*points)
					}
					worst[d] = math.Max(worst[d], v/bound)
				}
			}
		}
	}
	besideLogistic(run, worst, factor, tries, src)
	return audited(worst, 0.9, 1.001)
}

// besideLogistic is rowsAudited for |aᵀθ| smoothed and the logistic loss of zᵀθ, a and z unit vectors at every angle:
// radii √(1+c) and √(1+1/c), c = 1.
func besideLogistic(ctx context.Context, worst map[privacy.Direction]float64, factor float64, tries int,
	src *noise.Seeded) {
	l := loss.Absolute(smoothing.Logistic{}, 1)
	a := measure.Must(loss.CurveOf(l, math.Sqrt2))
	z := measure.Must(loss.CurveOf(loss.Logistic{}, math.Sqrt2))
	for _, ratio := range []float64{0.3, 3} {
		const sigma, eps = 6.0, 0.5
		lambda := ratio * l.Smoothness()
		for _, d := range measure.Over(ctx, privacy.Directions[:]) {
			r := rowsOf(d, lambda, sigma*factor, objective.Form{Curve: a, Count: 1}, objective.Form{Curve: z, Count: 1})
			p := measure.Must(r.Profile(privacy.AddRemove))
			_, v := climb(func(x []float64) float64 {
				return audit.Forms{Loss: loss.Stacked{First: l, Second: loss.Logistic{},
					Table: []float64{x[0] * sigma / lambda, 1}, Split: 1}, Rows: [][2]float64{{1, 0}, {math.Cos(x[1]),
					math.Sin(x[1])}}, Labels: []float64{0, 1}, Ridges: [2]float64{lambda,
					lambda * (1 + math.Abs(x[2]))}, Turn: x[3], Sigma: sigma}.Delta(d, eps, 140)
			}, []float64{0, 2.5, 0, 0}, 0.7, tries, src)
			worst[d] = math.Max(worst[d], v/math.Exp(p.LogDeltaUpper(d, eps)))
		}
	}
}

// audited is the outcome of exact divergences over a bound.
func audited(worst map[privacy.Direction]float64, least, most float64) claim.Outcome {
	top := math.Max(worst[privacy.Add], worst[privacy.Remove])
	return claim.Decide(fmt.Sprintf("largest exact δ over the bound: %.4f when adding, %.4f when removing",
		worst[privacy.Add], worst[privacy.Remove]), fmt.Sprintf("from %g to %g", least, most), top >= least &&
		top <= most)
}

func entropicAudited(run measure.Run, factor float64) claim.Outcome {
	src := noise.NewSeeded(82)
	worst := map[privacy.Direction]float64{}
	l := loss.Absolute(smoothing.Logistic{}, 1)
	temperature, _, _, _ := l.SoftMaximum()
	for m := 1; m <= 3; m++ {
		for _, eps := range []float64{0.3, 1} {
			sigma := 3.5 * math.Sqrt(float64(m))
			lambda := objective.EntropicLambda(temperature, sigma)
			wide := sigma * factor
			p := measure.Must(objective.Entropic{Vertices: []objective.Vertex{{Norm: math.Sqrt(float64(m)),
				Count: math.Pow(2, float64(m))}}, Temperature: temperature,
				Lambda: objective.EntropicLambda(temperature, wide), Sigma: wide}.Profile(privacy.AddRemove))
			for _, d := range measure.Over(run, privacy.Directions[:]) {
				// From where the loss is all but linear.
				start := []float64{25, 25, 25, 0, 0, 0, 0, 0}
				_, v := climb(func(x []float64) float64 {
					return planar(l, m, false, lambda, sigma, x).Delta(d, eps, 140)
				}, start, 8, run.Runs(12), src)
				worst[d] = math.Max(worst[d], v/math.Exp(p.LogDeltaUpper(d, eps)))
			}
		}
	}
	return audited(worst, 0.3, 1.006)
}

// recentringAudited holds the composition of two stages, at the noise factor·σ, or without the first one, against the
// exact joint law of both releases at σ.
func recentringAudited(run measure.Run, firstFree bool, factor float64) claim.Outcome {
	worst := map[privacy.Direction]float64{}
	l := loss.Absolute(smoothing.Logistic{}, 1)
	curve := measure.Must(loss.CurveOf(l, 1))
	points := measure.Sized(run.Size, 250, 500)
	for ratio, eps := range measure.Pairs(run, [][2]float64{{0.05, 0.05}, {1, 1}, {0.3, 3}, {3, 20}},
		[]float64{0.3, 1}) {
		sigma := [2]float64{5, 4}
		lambda := [2]float64{ratio[0] * l.Smoothness(), ratio[1] * l.Smoothness()}
		for _, d := range measure.Over(run, privacy.Directions[:]) {
			var stages objective.Stages
			for i := range 2 {
				if i > 0 || !firstFree {
					stages = append(stages, rowsOf(d, lambda[i], sigma[i]*factor, objective.Form{Curve: curve,
						Count: 1}))
				}
			}
			p := measure.Must(stages.Profile(privacy.AddRemove))
			top := 0.0
			for _, label := range []float64{0, 0.5, 1, 2, 3} {
				top = math.Max(top, twoStages(l, label*sigma[0]/lambda[0], lambda, sigma,
					2*sigma[0]/lambda[0], d, eps, points))
			}
			worst[d] = math.Max(worst[d], top/math.Exp(p.LogDeltaUpper(d, eps)))
		}
	}
	return audited(worst, 0.5, 1.006)
}

// twoStages returns δ(ε) of two stages in one dimension, the second about the first one's release moved to |θ| ≤
// radius, on one record with the label and on none.
func twoStages(l loss.Loss, label float64, lambda, sigma [2]float64, radius float64, d privacy.Direction,
	eps float64, points int) float64 {
	t, slope, curv := make([]float64, points), make([]float64, points), make([]float64, points)
	y := slices.Repeat([]float64{label}, points)
	const reach = 8.5
	h := 2 * reach / float64(points)
	// logs returns ln densities of u = λ(θ − c)/σ without and with the record.
	logs := func(stage int, centre float64) (without, with []float64) {
		without, with = make([]float64, points), make([]float64, points)
		for i := range t {
			t[i] = centre + (-reach+h*(float64(i)+0.5))*sigma[stage]/lambda[stage]
		}
		l.ValueSlope(slope, t, y)
		l.Curvature(curv, t, y)
		for i := range t {
			u := -reach + h*(float64(i)+0.5)
			v := u + slope[i]/sigma[stage]
			without[i], with[i] = -u*u/2, -v*v/2+math.Log1p(curv[i]/lambda[stage])
		}
		return without, with
	}
	sum := 0.0
	first0, first1 := logs(0, 0)
	for i := range points {
		theta := (-reach + h*(float64(i)+0.5)) * sigma[0] / lambda[0]
		second0, second1 := logs(1, math.Max(-radius, math.Min(radius, theta)))
		for k := range points {
			p, q := first1[i]+second1[k], first0[i]+second0[k]
			if d == privacy.Add {
				p, q = q, p
			}
			if p > q+eps {
				sum -= math.Exp(p) * math.Expm1(q+eps-p)
			}
		}
	}
	return sum * h * h / (2 * math.Pi)
}

// pieceFunctions are a bowl, ‖x‖_∞ in the plane and three pieces on the line.
func pieceFunctions() (all []smoothing.Polyhedral) {
	all = append(all, measure.Must(smoothing.NewBowlPieces(2, 0.5)))
	for _, f := range []struct {
		a [][]float64
		b []float64
	}{
		{[][]float64{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}, make([]float64, 4)},
		{[][]float64{{-0.4}, {0.5}, {1}}, []float64{0, 0, -0.3}},
	} {
		all = append(all, measure.Must(smoothing.NewPolyhedral(f.a, f.b)))
	}
	return all
}

// piecesAudited holds the profile of C-OP of pieces, σ and λ times factors, against exact divergences at σ and λ.
func piecesAudited(run measure.Run, times [2]float64) claim.Outcome {
	src := noise.NewSeeded(83)
	functions := pieceFunctions()
	worst := map[privacy.Direction]float64{}
	for f, eps := range measure.Pairs(run, functions, []float64{0.3, 1}) {
		for _, charge := range measure.Over(run, []float64{0, 0.3, 0.9}) {
			const w = 1.0
			sigma := 3.5 * f.Lipschitz() / eps
			rank := math.Min(float64(f.Dim()), float64(f.Pieces()-1))
			// About the λ at which that is charged.
			lambda := 2 * sigma * sigma / w
			if charge > 0 {
				lambda = f.Radius() * f.Radius() / (rank * w * math.Expm1(charge*eps/rank))
			}
			m := convolution.COP{Loss: convolution.Loss{Pieces: &smoothing.Entropic{Function: f, Width: w},
				Forms: f.Dim(), Norm: 1}, Lambda: lambda * times[1], Sigma: sigma * times[0], Tolerance: 1e-12,
				OutputSigma: 1, Account: convolution.Entropic}
			p := measure.Must(mechanism.Profile(m))
			for _, d := range privacy.Directions {
				v := 0.0
				// The record's kinks among the answers, and far away from them.
				for _, start := range []float64{0, -3, -25} {
					_, found := climb(func(x []float64) float64 {
						return planarPieces(f, w, lambda, sigma, x).Delta(d, eps, 200)
					}, []float64{start, start, 0, 0, 0, 0}, 0.7, run.Runs(4), src)
					v = math.Max(v, found)
				}
				worst[d] = math.Max(worst[d], v/math.Exp(p.LogDeltaUpper(d, eps)))
			}
		}
	}
	a, r := worst[privacy.Add], worst[privacy.Remove]
	return claim.Decide(fmt.Sprintf("largest exact δ over the bound: %.4f when adding, %.4f when removing", a, r),
		"0.95 to 1.006", math.Min(a, r) >= 0.95 && math.Max(a, r) <= 1.006)
}

// planarPieces is a record with A = diag(1, x₄ ∧ 1) turned by x₅ and labels x₀, x₁, among others of curvature x₂ in a
// direction x₃.
func planarPieces(f smoothing.Polyhedral, w, lambda, sigma float64, x []float64) audit.Forms {
	s := math.Min(1, math.Exp(x[4]))
	cos, sin := math.Cos(x[5]), math.Sin(x[5])
	rows := [2][2]float64{{cos, sin}, {-s * sin, s * cos}}
	soft := loss.Maximum{Temperature: w}
	form := audit.Forms{Labels: []float64{0}, Sigma: sigma, Ridges: [2]float64{lambda, lambda * (1 + math.Abs(x[2]))},
		Turn: x[3]}
	for p := range f.Pieces() {
		a, b := f.Piece(p)
		var v [2]float64
		for j, c := range a {
			floats.AddScaled(v[:], c, rows[j][:])
			b -= c * x[j] * (sigma/lambda + w)
		}
		form.Rows, soft.Offsets = append(form.Rows, v), append(soft.Offsets, []float64{b})
	}
	form.Joint = soft
	return form
}
