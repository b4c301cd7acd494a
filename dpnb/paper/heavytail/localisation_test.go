package heavytail

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// All answers are jets of the two functions that are left, whatever is asked.
func TestResisting(t *testing.T) {
	src := noise.NewSeeded(3)
	for range 20 {
		o := NewResisting(1, 0.5)
		for range 12 {
			y := o.l + (o.r-o.l)*src.Float64()
			j := o.Ask(y)
			if j.Slope == -1 || o.at[o.l].Slope >= -1 || o.at[o.r].Slope <= -1 {
				t.Fatalf("the minimum is given away at %v: %+v", y, j)
			}
		}
		l, r := o.at[o.l], o.at[o.r]
		mean := (r.Value - l.Value) / (o.r - o.l)
		if !(l.Slope < mean && mean < r.Slope) {
			t.Fatalf("no convex function has slopes %v and %v and between them %v", l.Slope, r.Slope, mean)
		}
		narrow, wide := o.Extended()
		if narrow == wide {
			t.Errorf("f_C(0) = %v is settled", narrow)
		}
	}
}

// A net covers, and the mechanism over it is near the minimiser when ε is large.
func TestNetMechanism(t *testing.T) {
	src := noise.NewSeeded(5)
	net := measure.Must(Net(2, 1, 0.1))
	for range 500 {
		x := []float64{2*src.Float64() - 1, 2*src.Float64() - 1}
		if floats.Norm(x, 2) > 1 {
			continue
		}
		near := math.Inf(1)
		for _, w := range net {
			near = math.Min(near, floats.Distance(w, x, 2))
		}
		if near > 0.1 {
			t.Fatalf("%v is %v from the net", x, near)
		}
	}
	if _, err := Net(8, 1, 0.01); err == nil {
		t.Error("a net of eight dimensions is made")
	}
	bowl := func(g, w []float64) float64 {
		floats.SubTo(g, w, []float64{0.3, -0.4})
		return 0.5 * floats.Dot(g, g)
	}
	m := NetMechanism{Slopes: []Function{bowl}, C: 5, Lambda: 1e-3, Centre: []float64{0, 0}, Step: 0.9,
		W: Exactly(composite.Ball{Radius: 1}), Sensitivity: 10}
	p := m.Probabilities(net, 1e4)
	if best := net[floats.MaxIdx(p)]; floats.Distance(best, []float64{0.3, -0.4}, 2) > 0.11 ||
		!(math.Abs(floats.Sum(p)-1) <= 1e-9) {
		t.Errorf("the likeliest point is %v", best)
	}
}

// The smoothed absolute loss is the mean over the ball, its gradient the derivative, its Hessian as steep as it says
// and no more; Algorithm 5 on it, with a step of public numbers, is ε-DP for a record replaced and near the minimiser.
func TestBallSmoothed(t *testing.T) {
	src := noise.NewSeeded(12)
	for _, d := range []int{1, 2, 5} {
		x, w, u, g := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
		for range 5 {
			src.Gaussian(x, 2)
			src.Gaussian(w, 0.3)
			const tau, draws = 0.4, 40_000
			f := BallSmoothed(x, 0.1, tau)
			got, norm, mean, square := f(g, w), floats.Norm(x, 2), 0.0, 0.0
			for range draws {
				src.Gaussian(u, 1)
				floats.Scale(tau*math.Pow(src.Float64(), 1/float64(d))/floats.Norm(u, 2), u)
				v := math.Abs(floats.Dot(x, w) + floats.Dot(x, u) - 0.1)
				mean, square = mean+v/draws, square+v*v/draws
			}
			if se := math.Sqrt((square-mean*mean)/draws) + 1e-12; !(math.Abs(got-mean) <= 5*se) {
				t.Errorf("d = %d: %.5f, over the ball %.5f ± %.5f", d, got, mean, se)
			}
			const h = 1e-5
			ahead, behind, other := slices.Clone(w), slices.Clone(w), make([]float64, d)
			floats.AddScaled(ahead, h/norm, x)
			floats.AddScaled(behind, -h/norm, x)
			along := floats.Dot(g, x) / norm
			if rise := (f(other, ahead) - f(other, behind)) / (2 * h); !(math.Abs(rise-along) <= 1e-5*norm) {
				t.Errorf("d = %d: derivative %.6f, gradient %.6f", d, rise, along)
			}
		}
		// Steepest where ⟨x,w⟩ = y: 2K‖x‖/τ.
		clear(x)
		x[0] = 3
		clear(w)
		f := BallSmoothed(x, 0, 0.4)
		w[0] = 1e-4
		f(g, w)
		want := 2 * map[int]float64{1: 0.5, 2: 2 / math.Pi, 5: 15.0 / 16}[d] * 9 / 3 / 0.4
		if got := g[0] / w[0]; !(math.Abs(got/want-1) <= 1e-3) || got > float64(d)*3/0.4*(1+1e-9) {
			t.Errorf("d = %d: a Hessian of %.4f, want %.4f", d, got, want)
		}
	}
	const n, epsilon, lambda, c, tau, d = 60, 1.0, 0.5, 2.0, 0.3, 2
	net := measure.Must(Net(d, 1, 0.15))
	worst := 0.0
	for k := range 8 {
		var all []Function
		for range n {
			x := make([]float64, d)
			src.Gaussian(x, 1)
			all = append(all, BallSmoothed(x, 0.5*x[0]+0.1*src.NormFloat64(), tau))
		}
		step := PublicStep(lambda, d, n, math.Sqrt(d), tau, 0.1)
		law := func(all []Function) []float64 {
			return NetMechanism{Slopes: all, C: c, Lambda: lambda, Centre: []float64{0, 0}, Step: step,
				W: Exactly(composite.Ball{Radius: 1}), Sensitivity: 2 * c / n}.Probabilities(net, epsilon)
		}
		p := law(all)
		if k == 0 {
			if best := net[floats.MaxIdx(p)]; floats.Distance(best, []float64{0.4, 0}, 2) > 0.2 { // shrunk by the ridge
				t.Errorf("the likeliest point is %v", best)
			}
		}
		// Replaced: steep one way for steep the other way.
		at := []float64{math.Cos(float64(k)), math.Sin(float64(k))}
		floats.Scale(1e3, at)
		all[0] = BallSmoothed(at, -1e6, tau)
		p = law(all)
		all[0] = BallSmoothed(at, 1e6, tau)
		for i, q := range law(all) {
			worst = math.Max(worst, math.Abs(math.Log(p[i]/q)))
		}
	}
	t.Logf("neighbours' laws differ by %.3f of ε", worst/epsilon)
	if worst > epsilon || worst < 0.6*epsilon {
		t.Errorf("neighbours' laws differ by %.3f of ε", worst/epsilon)
	}
}

// The sampler has the density that it says: means within five standard errors.
func TestLocalised(t *testing.T) {
	src := noise.NewSeeded(6)
	l := Localised{Value: func(w float64) float64 { return math.Abs(w - 0.2) }, Low: -1, High: 1, C: 1, Epsilon: 4,
		Records: 20}
	var sum, square, weight, mean float64
	const n = 20000
	draws := 0
	for range n {
		w, k := measure.Must2(l.Sample(src.Float64, l.Potential(0.2)))
		sum, square, draws = sum+w, square+w*w, draws+k
	}
	for i := range 20000 {
		w := -1 + (float64(i)+0.5)/10000
		p := math.Exp(-l.Potential(w))
		weight, mean = weight+p, mean+w*p
	}
	got := sum / n
	if se := math.Sqrt((square/n - got*got) / n); !(math.Abs(got-mean/weight) <= 5*se) {
		t.Errorf("mean %v ± %v, want %v", got, se, mean/weight)
	}
	if rate := float64(n) / float64(draws); rate < math.Exp(-l.Epsilon*float64(l.Records)/16) {
		t.Errorf("%v of the draws are accepted", rate)
	}
	l.Records = 1000
	if _, _, err := l.Sample(src.Float64, 0); err == nil {
		t.Error("a sampler that would not finish begins")
	}
}

// In two dimensions the answer has the density that it says, of absolute losses cut on the ball, wherever draws are
// from: the means of a coordinate and of the value, by quadrature, within five standard errors. A density whose κ is
// less by a tenth is told apart. Linear losses reject nothing but outside W₀.
func TestLocalisedBall(t *testing.T) {
	testscale.InTurn(t)
	const m, runs = 5, 6000
	src := noise.NewSeeded(9)
	e := OnBall{Loss: loss.LeastAbsolute{}, C: 1, Radius: 1}
	x, y := [][]float64{{1, 2}, {-1, 0.5}, {0.3, 3}, {2, -2}, {0.5, 0}}, []float64{0.5, 0.2, -0.4, 0.7, 3}
	value := func(g, w []float64) float64 {
		part, sum := make([]float64, 2), 1.5*floats.Dot(w, w)
		floats.ScaleTo(g, 3, w)
		for i := range x {
			sum += e.At(part, w, x[i], y[i]) / m
			floats.AddScaled(g, 1.0/m, part)
		}
		return sum
	}
	l := LocalisedBall{Value: value, Lambda: 3, Centre: []float64{0.6, 0.3}, Radius: 0.7, C: 1, Epsilon: 100,
		Records: m}
	means := func(kappas [2]float64) (of [2][2]float64) {
		var total [2]float64
		g, w := make([]float64, 2), make([]float64, 2)
		for i := range 400 * 400 {
			w[0], w[1] = (float64(i%400)+0.5)/200-1, (float64(i/400)+0.5)/200-1
			if floats.Norm(w, 2) > 1 || floats.Distance(w, l.Centre, 2) > l.Radius {
				continue
			}
			v := value(g, w)
			for i, kappa := range kappas {
				p := math.Exp(-kappa * v)
				total[i], of[i][0], of[i][1] = total[i]+p, of[i][0]+p*w[0], of[i][1]+p*v
			}
		}
		for i := range of {
			of[i][0], of[i][1] = of[i][0]/total[i], of[i][1]/total[i]
		}
		return of
	}
	both := means([2]float64{l.Sharpness(), 0.9 * l.Sharpness()})
	want, less := both[0], both[1]
	for _, v := range [][]float64{{0.1, 0}, {0.3, 0.2}} {
		var sum, square [2]float64
		for range runs {
			w, _ := measure.Must2(l.Sample(src, v))
			for k, x := range [2]float64{w[0], value(make([]float64, 2), w)} {
				sum[k] += x / runs
				square[k] += x * x / runs
			}
		}
		told := 0.0
		for k := range sum {
			se := math.Sqrt((square[k] - sum[k]*sum[k]) / runs)
			if !(math.Abs(sum[k]-want[k]) <= 5*se) {
				t.Errorf("from %v: mean %d is %v ± %v, want %v", v, k, sum[k], se, want[k])
			}
			told = math.Max(told, math.Abs(less[k]-sum[k])/se)
		}
		if told < 5 {
			t.Errorf("a κ less by a tenth is %.1f standard errors off", told)
		}
	}
	z := slopes(src, 100, 20, 2, false)
	a := Algorithm7Ball{C: 1, Lambda: 1e5, Centre: make([]float64, 20), Epsilon: 1}
	if _, draws, err := a.Run(z, src); err != nil || draws > 1 {
		t.Errorf("linear losses took %d draws: %v", draws, err)
	}
	l.Records = 1e6
	if _, _, err := l.Sample(src, []float64{0, 0}); err == nil {
		t.Error("a sampler that would not finish begins")
	}
}

// The hard instances have the moments and means that they should.
func TestHard(t *testing.T) {
	src := noise.NewSeeded(7)
	for name, h := range map[string]Hard{
		"private": HardPrivate([]float64{3, 4}, 200, 0.5, 1, 3, 0.01), "non-private": HardNonPrivate(2, 100, 1, 0.05,
			true)} {
		const n = 100000
		rows := h.Sample(n, src)
		mean, moment := make([]float64, 2), 0.0
		for i := range n {
			z := rows.Data[2*i : 2*i+2]
			floats.AddScaled(mean, 1.0/n, z)
			moment += math.Pow(floats.Norm(z, 2), 3) / n
		}
		if floats.Distance(mean, h.Mean(), 2) > 0.03 || moment > 1.1 {
			t.Errorf("%s: mean %v, want %v; third moment %v", name, mean, h.Mean(), moment)
		}
		best := append([]float64(nil), h.Mean()...)
		floats.Scale(-2/floats.Norm(best, 2), best)
		if e := h.Excess(best, 2); !(math.Abs(e) <= 1e-12) {
			t.Errorf("%s: the best point has an excess of %v", name, e)
		}
	}
}

// BallSmoothed returns f^τ(w) = E|⟨x, w + τU⟩ − y|, U uniform in the unit ball of R^d, with its gradient: heavytail's
// smoothing for Algorithm 5 (section E.2). With s = ⟨x,w⟩ − y and c = τ‖x‖ it is E|s + cV|, V a coordinate of U, of
// density K(1 − v²)^{(d−1)/2}, K = Γ(d/2 + 1)/(√π Γ((d+1)/2)); its slope is sgn(s)·I_{s²/c²}(½, (d+1)/2), I the
// incomplete beta function, and its Hessian at most 2K‖x‖/τ, below the paper's d‖x‖/τ from d = 2 on.
func BallSmoothed(x []float64, y, tau float64) Function {
	d, norm := float64(len(x)), floats.Norm(x, 2)
	a, _ := math.Lgamma(d/2 + 1)
	b, _ := math.Lgamma((d + 1) / 2)
	k, c := math.Exp(a-b)/math.Sqrt(math.Pi), tau*norm
	return func(g, w []float64) float64 {
		s := floats.Dot(x, w) - y
		slope, more := math.Copysign(1, s), 0.0
		if rest := 1 - s*s/(c*c); rest > 0 {
			slope *= mathext.RegIncBeta(0.5, (d+1)/2, 1-rest)
			more = 2 * k * c / (d + 1) * math.Pow(rest, (d+1)/2)
		}
		floats.ScaleTo(g, slope, x)
		return s*slope + more
	}
}

// PublicStep is γ = 1/(λ + H) with H = (dG₂/τ)√(n/ρ), which bounds the smoothed losses' curvature but with probability
// ρ: of public numbers alone, where the printed step has the curvature of the records (erratum heavytail-83).
func PublicStep(lambda float64, d, n int, g2, tau, rho float64) float64 {
	return 1 / (lambda + float64(d)*g2/tau*math.Sqrt(float64(n)/rho))
}
