package proportional

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// opaque hides which loss it is, so that the general paths are taken.
type opaque struct{ loss.Loss }

// The closed forms and the fast paths agree with the general ones.
func TestGeneralPathsAgree(t *testing.T) {
	for _, noise := range []Law{Normal(0.3, 0.5), Uniform(-2, 1), Mix([]float64{3, 1}, Point(0), Normal(2, 0.1))} {
		r := Regression{Loss: loss.Huber{Threshold: 0.7}, AspectRatio: 0.8, Lambda: 0.1, Nu: 0.3, Kappa: 1,
			Noise: noise}
		p := must.Get(r.Solve(nil))
		r.Loss = opaque{r.Loss}
		q, err := r.Solve(nil)
		if err != nil || !near(p.RMSE, q.RMSE, 1e-9) || !near(p.Gamma, q.Gamma, 1e-9) || !near(p.Direct, q.Direct,
			1e-9) {
			t.Errorf("Huber: %+v in closed form, %+v by quadrature, %v", p, q, err)
		}
	}
	c := logistic(0.6, 0.1, 0.2, 2)
	p := must.Get(c.Solve(nil))
	c.Loss = opaque{c.Loss}
	q, err := c.Solve(nil)
	if err != nil || !near(p.Alpha, q.Alpha, 1e-9) || !near(p.Sigma, q.Sigma, 1e-9) || !near(p.Gamma, q.Gamma, 1e-9) {
		t.Errorf("logistic: %+v fast, %+v general, %v", p, q, err)
	}
	r := Regression{Loss: loss.Huber{Threshold: 1}, AspectRatio: 0.4, Lambda: 0.2, Nu: 0.1, Kappa: 1}
	// A pseudo-Huber loss that never bends is the squared one.
	r.Noise = Normal(0, 0.5)
	r.Loss = loss.Squared{}
	a, err1 := r.Solve(nil)
	r.Loss = loss.PseudoHuber{Threshold: 1e5}
	b, err2 := r.Solve(nil)
	if err1 != nil || err2 != nil || !near(a.RMSE, b.RMSE, 1e-8) || !near(a.Gamma, b.Gamma, 1e-8) {
		t.Errorf("squared %+v, %v; pseudo-Huber %+v, %v", a, err1, b, err2)
	}
}

func TestLawOfACoordinate(t *testing.T) {
	p := FixedPoint{Alpha: 0.8, Sigma: 0.4, Kappa: 1}
	for name, prior := range map[string]Law{
		"mixed":   mixedPrior(0.3),
		"uniform": Uniform(-1, 2),
		"point":   Point(2),
	} {
		// The density integrates to one and to the distribution function.
		const h = 0.01
		var mass, second float64
		for x := -12.0; x < 12; x += h {
			d := p.Density(prior, x)
			mass += h * d
			second += h * d * x * x
			if !(math.Abs(mass-p.CDF(prior, x+h/2)) <= 1e-4) {
				t.Fatalf("%s: ∫density = %v, CDF(%v) = %v", name, mass, x, p.CDF(prior, x+h/2))
			}
		}
		want := 0.64*prior.SecondMoment() + 0.16
		if !(math.Abs(mass-1) <= 1e-9) || !near(second, want, 1e-6) {
			t.Errorf("%s: mass %v, second moment %v, want %v", name, mass, second, want)
		}
		// ℓ₂ is MSE, ℓ₁ below its root.
		mse := 0.04*prior.SecondMoment() + 0.16
		if l2 := p.LpError(prior, 2); !near(l2, mse, 1e-9) {
			t.Errorf("%s: ℓ₂ %v, want %v", name, l2, mse)
		}
		if l1 := p.LpError(prior, 1); !(l1 > 0.5*math.Sqrt(mse) && l1 < math.Sqrt(mse)) {
			t.Errorf("%s: ℓ₁ %v", name, l1)
		}
	}
	// E|N(0, 0.16)|³ = 0.4³·2√(2/π).
	if got := (FixedPoint{Alpha: 1, Sigma: 0.4}).LpError(Point(1), 3); !near(got, 0.064*2*math.Sqrt(2/math.Pi), 1e-11) {
		t.Errorf("third moment %v", got)
	}
}

func TestQualityLimits(t *testing.T) {
	c := logistic(1, 1, 0, 2)
	// β̂ = β⋆, and β̂ that knows nothing.
	exact := c.Quality(FixedPoint{Alpha: 1, Sigma: 1e-6, Kappa: 2})
	if !near(exact.Error, exact.BestError, 1e-6) || !near(exact.AUC, exact.BestAUC, 1e-6) ||
		exact.CalibrationError > 1e-6 {
		t.Errorf("β̂ = β⋆: %+v", exact)
	}
	blind := c.Quality(FixedPoint{Alpha: 1e-9, Sigma: 1, Kappa: 2})
	if !near(blind.Error, 0.5, 1e-6) || !near(blind.AUC, 0.5, 1e-6) {
		t.Errorf("β̂ independent: %+v", blind)
	}
	// Between them, by drawing.
	p := FixedPoint{Alpha: 0.7, Sigma: 0.9, Kappa: 2}
	q := c.Quality(p)
	r := rand.New(rand.NewPCG(1, 2))
	const n = 400_000
	var wrong, above, pairs, brier float64
	lastPlus, lastMinus := math.NaN(), math.NaN()
	for range n {
		z := r.NormFloat64()
		s := 1.4*z + 0.9*r.NormFloat64()
		y := 0.0
		if r.Float64() < c.Link.Prob(2*z) {
			y = 1
			lastPlus = s
		} else {
			lastMinus = s
		}
		if (s > 0) != (y > 0) {
			wrong += 1.0 / n
		}
		brier += (y - c.Link.Prob(s)) * (y - c.Link.Prob(s)) / n
		if lastPlus == lastPlus && lastMinus == lastMinus {
			pairs++
			if lastPlus > lastMinus {
				above++
			}
			lastPlus, lastMinus = math.NaN(), math.NaN()
		}
	}
	if !(math.Abs(wrong-q.Error) <= 4*0.5/math.Sqrt(n)) || !(math.Abs(above/pairs-q.AUC) <= 4*0.5/math.Sqrt(pairs)) ||
		!(math.Abs(brier-q.Brier) <= 4*0.3/math.Sqrt(n)) {
		t.Errorf("drawn: error %v, AUC %v, Brier %v; computed %+v", wrong, above/pairs, brier, q)
	}
	// The extrapolation of AUC for a very sharp score.
	if a, b := c.auc(59.9), c.auc(60.1); !(math.Abs(a-b) <= 1e-6) {
		t.Errorf("AUC jumps from %v to %v", a, b)
	}
}

func TestOutputNoise(t *testing.T) {
	p := must.Get(logistic(0.5, 0.4, 0, 1).Solve(nil))
	q := p.WithOutputNoise(0.5)
	if !near(q.MSE(), p.MSE()+0.25, 1e-14) || !near(q.Variance(), p.Variance()+0.25, 1e-14) || q.OnXi != 0.5 ||
		q.Overlap() != p.Overlap() {
		t.Errorf("%+v from %+v", q, p)
	}
	// The training records do not see it.
	c := logistic(0.5, 0.4, 0, 1)
	g := func(star, y, score float64) float64 { return y * score }
	if a, b := c.TrainingMoment(p, g), c.TrainingMoment(q, g); !near(a, b, 1e-9) {
		t.Errorf("training moment %v, with output noise %v", a, b)
	}
	r := Regression{Loss: loss.Huber{Threshold: 1}, AspectRatio: 0.4, Lambda: 0.2, Nu: 0.1, Kappa: 1,
		Noise: Normal(0, 1)}
	fit := must.Get(r.Solve(nil))
	if a, b := r.SlopeMoment(fit, 2), r.SlopeMoment(fit.WithOutputNoise(0.5), 2); !near(a, b, 1e-9) {
		t.Errorf("moment of slopes %v, with output noise %v", a, b)
	}
	if q.NoiseCorrelation() <= 0 || p.SignalCorrelation() <= q.SignalCorrelation() {
		t.Error("correlations")
	}
}

// Prox solves its equation, for any loss, label and γ.
func FuzzProx(f *testing.F) {
	f.Add(0.3, 1.0, uint8(0))
	f.Add(-40.0, 1e6, uint8(3))
	f.Add(1e5, 1e-6, uint8(5))
	losses := []loss.Loss{loss.Logistic{}, loss.Probit{}, loss.SquaredHinge{}, loss.SmoothedHinge{Width: 0.1},
		loss.Huber{Threshold: 0.5},
		loss.PseudoHuber{Threshold: 2}, loss.Squared{}, loss.Softplus{Width: 0.01}, loss.Clipped(loss.Probit{}, 1)}
	f.Fuzz(func(t *testing.T, s, gamma float64, which uint8) {
		if !(gamma > 1e-9 && gamma < 1e9) || !(math.Abs(s) < 1e9) {
			t.Skip()
		}
		l := losses[int(which)%len(losses)]
		for _, y := range []float64{1, -1} {
			p, slope := []float64{0}, []float64{0}
			Prox(p, slope, l, gamma, []float64{s}, []float64{y})
			// Where f′ jumps by rounding, or rises fast, p is right to its last place: the residual may be γs·ulp(p).
			tol := 1e-13*(math.Abs(s)+gamma*math.Abs(slope[0])) + (1+gamma*l.Smoothness())*2e-15*math.Abs(p[0])
			if r := p[0] + gamma*slope[0] - s; !(math.Abs(r) <= tol) {
				t.Errorf("%s, y = %v, γ = %v, s = %v: p = %v, residual %v", l.Name(), y, gamma, s, p[0], r)
			}
		}
	})
}

// The scalar version for the logistic loss, from no guess and from bad ones.
func TestLogisticProx(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		gamma := math.Exp(20*r.Float64() - 8)
		s := (r.Float64() - 0.5) * math.Exp(8*r.Float64())
		guess := math.NaN()
		if r.IntN(2) == 0 {
			guess = s - gamma*r.Float64()
		}
		p, want, slope := logisticProx(gamma, s, guess), []float64{0}, []float64{0}
		Prox(want, slope, loss.Logistic{}, gamma, []float64{s}, []float64{-1})
		if !(math.Abs(p-want[0]) <= 1e-12*(1+math.Abs(p))) {
			t.Fatalf("γ = %v, s = %v, guess %v: %v, want %v", gamma, s, guess, p, want[0])
		}
	}
}

// searched is the least of f over [lo, hi], convex there, and where it is: by thirds.
func searched(f func(float64) float64, lo, hi float64) (least, at float64) {
	for range 120 {
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if f(a) < f(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return f((lo + hi) / 2), (lo + hi) / 2
}

// proxCases are the losses of the two theorems, as functions of one variable, with what Prox says of them.
func proxCases() map[string]struct {
	f, conjugate func(float64) float64
	domain       [2]float64 // of the conjugate
	prox         func(gamma, x float64) float64
} {
	by := func(l loss.Loss, y float64) func(gamma, x float64) float64 {
		return func(gamma, x float64) float64 {
			p, slope := []float64{0}, []float64{0}
			Prox(p, slope, l, gamma, []float64{x}, []float64{y})
			return p[0]
		}
	}
	type c = struct {
		f, conjugate func(float64) float64
		domain       [2]float64
		prox         func(gamma, x float64) float64
	}
	return map[string]c{
		"Huber": {func(t float64) float64 {
			if a := math.Abs(t); a > 0.7 {
				return 0.7*a - 0.245
			}
			return t * t / 2
		}, func(v float64) float64 { return v * v / 2 }, [2]float64{-0.7, 0.7}, by(loss.Huber{Threshold: 0.7}, 0)},
		"logistic": {func(t float64) float64 { return math.Max(0, t) + math.Log1p(math.Exp(-math.Abs(t))) },
			func(v float64) float64 { return v*math.Log(v) + (1-v)*math.Log1p(-v) }, [2]float64{1e-12, 1 - 1e-12},
			by(loss.Logistic{}, -1)},
	}
}

// Lemma 2.25: what Prox leaves of x is the proximal point of the conjugate, found by a search that knows no Prox.
func TestProxOfTheConjugate(t *testing.T) {
	for name, c := range proxCases() {
		for x := -6.0; x <= 6; x += 0.37 {
			_, want := searched(func(v float64) float64 { return c.conjugate(v) + (x-v)*(x-v)/2 }, c.domain[0],
				c.domain[1])
			if got := x - c.prox(1, x); !(math.Abs(got-want) <= 1e-6) {
				t.Errorf("%s, x = %g: x − prox = %v, of the conjugate %v", name, x, got, want)
			}
		}
	}
}

// Lemma 2.26: both derivatives of the envelope, as differences of one that is found by a search that knows no Prox.
func TestEnvelopeDerivatives(t *testing.T) {
	for name, c := range proxCases() {
		envelope := func(x, tau float64) float64 {
			least, _ := searched(func(p float64) float64 { return c.f(p) + (x-p)*(x-p)/(2*tau) }, -20, 20)
			return least
		}
		for _, tau := range []float64{0.3, 1, 4} {
			for x := -5.0; x <= 5; x += 0.37 {
				const h = 1e-3
				pull := (x - c.prox(tau, x)) / tau
				if d := (envelope(x+h, tau) - envelope(x-h, tau)) / (2 * h); !(math.Abs(d-pull) <= 2e-3) {
					t.Errorf("%s, x = %g, τ = %g: ∂/∂x is %v, want %v", name, x, tau, d, pull)
				}
				if d := (envelope(x, tau+h) - envelope(x, tau-h)) / (2 * h); !(math.Abs(d+pull*pull/2) <= 2e-3) {
					t.Errorf("%s, x = %g, τ = %g: ∂/∂τ is %v, want %v", name, x, tau, d, -pull*pull/2)
				}
			}
		}
	}
}

func TestKinks(t *testing.T) {
	for _, c := range []struct {
		loss loss.Loss
		y    float64
		want []float64
	}{
		{loss.Huber{Threshold: 0.7}, 0, []float64{-0.7, 0.7}},
		{loss.Huber{Threshold: 1e-3}, 2, []float64{1.999, 2.001}},
		{loss.SmoothedHinge{Width: 0.01}, 1, []float64{0.99, 1}},
		{loss.SquaredHinge{}, -1, []float64{-1}},
		{loss.Clipped(loss.Logistic{}, 0.4), 1, []float64{math.Log(0.6 / 0.4)}},
		{loss.Logistic{}, 1, nil}, {loss.Probit{}, -1, nil}, {loss.Squared{}, 0, nil},
		{loss.PseudoHuber{Threshold: 0.01}, 0, nil}, {loss.Softplus{Width: 1e-3}, 1, nil},
	} {
		got := kinks(c.loss, c.y)
		ok := len(got) == len(c.want)
		for i := range got {
			ok = ok && math.Abs(got[i]-c.want[i]) < 1e-12
		}
		if !ok {
			t.Errorf("%s, y = %v: kinks %v, want %v", c.loss.Name(), c.y, got, c.want)
		}
	}
}

func TestLattice(t *testing.T) {
	// A smooth function of many variables: far better than drawing at random.
	r := rand.New(rand.NewPCG(3, 4))
	n := latticeNodes(8, 8191, r)
	var sum, product float64
	for i, w := range n.w {
		var a float64
		for j := range 8 {
			a += n.z[j][i] / float64(j+1)
		}
		sum += w * math.Cos(a)
		product += w * n.z[0][i] * n.z[0][i]
	}
	var v float64
	for j := range 8 {
		v += 1 / float64((j+1)*(j+1))
	}
	if d := math.Abs(sum - math.Exp(-v/2)); d > 5e-4 {
		t.Errorf("E cos is off by %v", d)
	}
	if !(math.Abs(product-1) <= 5e-3) {
		t.Errorf("E z² = %v", product)
	}
	// The multiplier that was chosen is better than one that is not.
	if latticeError(8191, korobov(8191)) > 0.8*latticeError(8191, 2) {
		t.Error("the search for a multiplier found nothing")
	}
	ten := tensorNodes(2, 0.18, 0.5)
	var mass, fourth float64
	for i, w := range ten.w {
		mass += w
		fourth += w * math.Pow(ten.z[1][i], 4)
	}
	if !(math.Abs(mass-1) <= 1e-12) || !(math.Abs(fourth-3) <= 1e-11) {
		t.Errorf("product rule: mass %v, fourth moment %v", mass, fourth)
	}
}

func TestDescentIsReproducible(t *testing.T) {
	d := Descent{Loss: loss.Logistic{}, Link: LogisticLink{}, AspectRatio: 0.5, Step: 1, Steps: 5, Nu: 0.2, Kappa: 2}
	a := must.Get(d.Trajectory(&DescentSettings{Points: 509}))
	b, _ := d.Trajectory(&DescentSettings{Points: 509})
	other, _ := d.Trajectory(&DescentSettings{Points: 509, Seed: 1})
	if a[5] != b[5] || a[5] == other[5] {
		t.Errorf("%+v, again %+v, with another seed %+v", a[5], b[5], other[5])
	}
	if !(math.Abs(a[5].MSE()-other[5].MSE()) <= 6*(a[5].Error+other[5].Error)) {
		t.Errorf("two seeds differ by more than their errors: %v ± %v, %v ± %v", a[5].MSE(), a[5].Error, other[5].MSE(),
			other[5].Error)
	}
	for _, set := range []DescentSettings{{Points: 97}, {Points: 1<<20 + 7}, {Points: 509, Replicates: 1}} {
		if _, err := d.Trajectory(&set); err == nil {
			t.Errorf("%+v is taken", set)
		}
	}
	if at := leastOf(3, func(k int) float64 { return -float64(k) }); at != 3 {
		t.Errorf("of four the fourth is the least, not that at %d", at)
	}
}

func TestRefusals(t *testing.T) {
	good := Regression{Loss: loss.Huber{Threshold: 1}, AspectRatio: 1, Lambda: 1, Nu: 1, Kappa: 1, Noise: Normal(0, 1)}
	for name, change := range map[string]func(*Regression){
		"ratio":        func(r *Regression) { r.AspectRatio = 0 },
		"λ":            func(r *Regression) { r.Lambda = -1 },
		"λ NaN":        func(r *Regression) { r.Lambda = math.NaN() },
		"ν":            func(r *Regression) { r.Nu = math.Inf(1) },
		"κ":            func(r *Regression) { r.Kappa = 51 },
		"no noise":     func(r *Regression) { r.Noise = Law{} },
		"bad sd":       func(r *Regression) { r.Noise = Normal(0, -1) },
		"bad interval": func(r *Regression) { r.Noise = Uniform(1, 1) },
		"bad weights":  func(r *Regression) { r.Noise = Mix([]float64{1, -1}, Point(0), Point(1)) },
		"threshold":    func(r *Regression) { r.Loss = loss.Huber{} },
		"labels":       func(r *Regression) { r.Loss = loss.Logistic{} },
		"no loss":      func(r *Regression) { r.Loss = nil },
	} {
		r := good
		change(&r)
		var param *privacy.ParamError
		if _, err := r.Solve(nil); !errors.As(err, &param) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := logistic(1, 1, 1, 1)
	c.Link = nil
	if _, err := c.Solve(nil); err == nil {
		t.Error("no link")
	}
	c = logistic(1, 1, 1, 1)
	c.Loss = loss.Poisson{MaxCount: 3}
	if _, err := c.Solve(nil); err == nil {
		t.Error("a loss for counts")
	}
	none := Regression{Loss: loss.Squared{}, AspectRatio: 0.5, Lambda: 1, Noise: Point(0)}
	if _, err := none.Solve(nil); !errors.Is(err, ErrNoSolution) {
		t.Errorf("nothing random: %v", err)
	}
}

// steep is |t − 0.3|, whose slope jumps, and counts how often it is asked.
type steep struct {
	loss.Loss
	asked *int
}

func (s steep) ValueSlope(slope, t, _ []float64) float64 {
	*s.asked++
	for i, v := range t {
		slope[i] = math.Copysign(1, v-0.3)
	}
	return 0
}

func (steep) Curvature(curv, t, _ []float64) { clear(curv[:len(t)]) }

// Where a slope jumps the search ends when its bracket is two neighbours.
func TestProxOfAJump(t *testing.T) {
	asked, s := 0, []float64{-0.41, -0.1, 0.2, 0.3, 0.35, 0.9, 1.27}
	p, slope := make([]float64, len(s)), make([]float64, len(s))
	Prox(p, slope, steep{asked: &asked}, 1, s, make([]float64, len(s)))
	for i, v := range p {
		if !(math.Abs(v-0.3) <= 1e-16) {
			t.Errorf("of %v: %v", s[i], v)
		}
	}
	if asked > 200 {
		t.Errorf("%d evaluations", asked)
	}
}
