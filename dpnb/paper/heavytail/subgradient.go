package heavytail

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// Domain is a closed convex set that can be projected on, as nearly as one asks.
type Domain interface {
	// Project writes to dst, which may be v, a point of the set within xi of the one that is nearest to v.
	Project(dst, v []float64, xi float64)
}

// exactly is a Domain with an exact projection, any of those of erm/composite.
type exactly struct {
	of interface{ Project(dst, v []float64) }
}

// Exactly returns a set that is projected on without error.
func Exactly(of interface{ Project(dst, v []float64) }) Domain { return exactly{of} }

func (e exactly) Project(dst, v []float64, _ float64) { e.of.Project(dst, v) }

// NearBall is W ∩ B(w₀, r), w₀ ∈ W, with the projection of heavytail, Lemmas 2.8 and C.6: of a point y it is Π_W((y +
// μw₀)/(1 + μ)) for the μ ≥ 0 at which that is r from w₀, found by bisection in [0, ‖y − w₀‖/r].
type NearBall struct {
	W      Domain
	Centre []float64
	Radius float64
}

// Project implements Domain. It takes ⌈log₂(1 + ‖y − w₀‖²/(rξ))⌉ projections on W or fewer.
func (b NearBall) Project(dst, y []float64, xi float64) { b.Certified(dst, y, xi) }

// Certified is Project, and returns a bound on the distance to the nearest point, at most ξ: W's own error and the
// smaller of (μ − μ₀)‖y − w₀‖/((1 + μ)(1 + μ₀)), μ₀ being too small, and, where W has none, √(μ(r² − ‖x − w₀‖²)/(2 +
// μ)), of the duality gap; rounding aside.
func (b NearBall) Certified(dst, y []float64, xi float64) (bound float64) {
	w, far := b.Centre, floats.Distance(y, b.Centre, 2)
	// W's own error is a tenth of what is allowed, or none.
	own := 0.1 * xi
	if _, ok := b.W.(exactly); ok {
		own = 0
	}
	at := func(mu float64) float64 {
		for j := range dst {
			dst[j] = (y[j] + mu*w[j]) / (1 + mu)
		}
		b.W.Project(dst, dst, 0.1*xi)
		return floats.Distance(dst, w, 2)
	}
	y = append([]float64(nil), y...) // dst may be y
	if at(0) <= b.Radius {
		return own
	}
	lo, hi, near := 0.0, far/b.Radius, 0.0 // of w₀, which is not farther in than the point at hi
	for {
		if bound = (hi - lo) / (1 + hi) * far / (1 + lo); own == 0 {
			bound = math.Min(bound, math.Sqrt(hi/(2+hi)*math.Max(0, (b.Radius-near)*(b.Radius+near))))
		}
		mid := lo + (hi-lo)/2
		if bound <= xi-own || mid == lo || mid == hi {
			at(hi)
			return bound + own
		}
		if r := at(mid); r > b.Radius {
			lo = mid
		} else {
			hi, near = mid, r
		}
	}
}

// product is K₀ × W^m, points one after the other.
type product struct {
	first, others Domain
	d             int
}

func (p product) Project(dst, v []float64, xi float64) {
	of := p.first
	xi /= math.Sqrt(float64(len(v) / p.d))
	for at := 0; at < len(v); at += p.d {
		of.Project(dst[at:at+p.d], v[at:at+p.d], xi)
		of = p.others
	}
}

// Function is a convex function: it returns its value at x and writes a subgradient to g.
type Function func(g, x []float64) float64

// Subgradient is heavytail's Algorithm 3: the adaptive projected subgradient method, which knows neither the Lipschitz
// constant of Φ nor its minimum and stops with a proof that its answer is within alpha of it. diameter bounds that of
// K, x is a point of K to start from.
//
//	S_t = Σ‖g_s‖²,  η_t = D/√S_t,  x_{t+1} within min(D, αη_t/(6D)) of Π_K(x_t − η_t g_t),
//
// and the mean of the iterates is returned as soon as 3D√S_t ≤ αt.
//
// Errors: if it has not stopped after so many steps, which no data make it exceed that have an L with (3DL/α)² steps or
// fewer.
// Source: heavytail, Proposition 2.9. Proof: docs/theory/localisation.md.
func Subgradient(k Domain, phi Function, x []float64, alpha, diameter float64, most int) (point []float64, steps int,
	err error) {
	x = append([]float64(nil), x...)
	g, mean := make([]float64, len(x)), make([]float64, len(x))
	var sum float64
	for t := 1; t <= most; t++ {
		phi(g, x)
		square := floats.Dot(g, g)
		if square == 0 {
			return x, t, nil
		}
		floats.Add(mean, x)
		sum += square
		eta := diameter / math.Sqrt(sum)
		if 3*diameter*math.Sqrt(sum) <= alpha*float64(t) {
			floats.Scale(1/float64(t), mean)
			return mean, t, nil
		}
		floats.AddScaled(x, -eta, g)
		k.Project(x, x, math.Min(diameter, alpha*eta/(6*diameter)))
	}
	return nil, most, fmt.Errorf("heavytail: Algorithm 3 has not stopped after %d steps; a larger α or a smaller set "+
		"needs fewer", most)
}

// Biased is the projected subgradient method of heavytail's Lemma D.5 on a Φ whose subgradients are off by bias and at
// most lipschitz long: T = ⌈(4DL/α)²⌉ steps of D/(L√T), projected to min(D, αη/(6D)), and their mean, within α if bias
// ≤ α/4.
func Biased(k Domain, phi Function, x []float64, alpha, diameter, lipschitz float64) (point []float64, steps int) {
	steps = int(math.Ceil(16 * (diameter * lipschitz / alpha) * (diameter * lipschitz / alpha)))
	eta := diameter / (lipschitz * math.Sqrt(float64(steps)))
	x = append([]float64(nil), x...)
	g, mean := make([]float64, len(x)), make([]float64, len(x))
	for range steps {
		phi(g, x)
		floats.Add(mean, x)
		floats.AddScaled(x, -eta, g)
		k.Project(x, x, math.Min(diameter, alpha*eta/(6*diameter)))
	}
	floats.Scale(1/float64(steps), mean)
	return mean, steps
}

// Joint is the objective of heavytail's (10), of w and one y for each record,
//
//	Φ(w, y₁ … y_m) = (1/m)Σ[f(y_i, z_i) + C‖w − y_i‖] + (λ/2)‖w − w₀‖²,
//
// whose minimum over K × W^m is that of the extended objective F̂_{C,λ} over K, at the same w (Lemma 2.7). It needs no
// value of the extension.
type Joint struct {
	Losses []Function
	C      float64
	Lambda float64
	Centre []float64
}

// Start returns the point with w and all y at x.
func (j Joint) Start(x []float64) []float64 {
	var at []float64
	for range len(j.Losses) + 1 {
		at = append(at, x...)
	}
	return at
}

// At is Φ as a Function.
func (j Joint) At(g, u []float64) float64 {
	d, m := len(j.Centre), float64(len(j.Losses))
	w, gw := u[:d], g[:d]
	var value float64
	for i := range gw {
		far := w[i] - j.Centre[i]
		value += 0.5 * j.Lambda * far * far
		gw[i] = j.Lambda * far
	}
	for i, f := range j.Losses {
		y, gy := u[(i+1)*d:(i+2)*d], g[(i+1)*d:(i+2)*d]
		value += f(gy, y) / m
		floats.Scale(1/m, gy)
		if r := floats.Distance(w, y, 2); r > 0 {
			value += j.C * r / m
			for l := range gw {
				pull := j.C / m * (w[l] - y[l]) / r
				gw[l] += pull
				gy[l] -= pull
			}
		}
	}
	return value
}

// Minimise returns a w ∈ K with F̂_{C,λ}(w) within alpha of its minimum over K ⊂ W, by Algorithm 3 on Joint, from the
// point x of K.
//
// Errors: as Subgradient.
func (j Joint) Minimise(k, w Domain, x []float64, alpha, diameter float64, most int) ([]float64, int, error) {
	d := len(j.Centre)
	u, steps, err := Subgradient(product{k, w, d}, j.At, j.Start(x), alpha,
		diameter*math.Sqrt(float64(len(j.Losses)+1)), most)
	return u[:min(d, len(u))], steps, err
}

// ExtendedAt returns f_C(w) = inf_{y∈W} f(y) + C‖w − y‖ from above, to within alpha, by Algorithm 3: for a loss of
// which nothing is known but values and subgradients.
//
// Errors: as Subgradient.
func ExtendedAt(f Function, w []float64, k Domain, c, alpha, diameter float64, most int) (_ float64, err error) {
	defer measure.Catch(&err)
	g := make([]float64, len(w))
	phi := func(g, y []float64) float64 {
		v := f(g, y)
		if r := floats.Distance(w, y, 2); r > 0 {
			v += c * r
			for l := range g {
				g[l] += c * (y[l] - w[l]) / r
			}
		}
		return v
	}
	y, _ := measure.Must2(Subgradient(k, phi, w, alpha, diameter, most))
	return phi(g, y), nil
}

// Jet is what a local oracle tells of a function of one variable at a point: value and slope; all higher derivatives
// are zero there.
type Jet struct{ Value, Slope float64 }

// Resisting answers T queries about a smooth convex function on [−1, 1] so that f_C(0) stays open: whatever is asked,
// two functions agree with all answers, to every derivative, and have different f_C(0) = min_y f(y) + C|y|.
//
// f is straight left of l, with a slope below −C, and right of r, with a slope above −C; the minimum of f(y) + Cy is
// between. A query in (l, r) is answered by a straight germ with a slope that is not −C, which moves l or r to it.
// Source: our own; the proof in the paper (Theorem B.1) lets the first answer show the direction that it hides.
type Resisting struct {
	C, Eta float64
	l, r   float64
	at     map[float64]Jet
}

// NewResisting returns the oracle for slopes within eta of −C.
func NewResisting(c, eta float64) *Resisting {
	o := &Resisting{C: c, Eta: eta, l: 0.25, r: 0.75, at: map[float64]Jet{}}
	// The two straight parts meet in the middle, half a unit of curvature above it.
	o.at[o.l] = Jet{-(c + eta) * o.l, -c - eta}
	o.at[o.r] = Jet{o.at[o.l].Value - (c+eta)*0.25 + (eta-c)*0.25 + 0.02*eta, -c + eta}
	return o
}

// line continues the germ at x to y.
func (o *Resisting) line(x, y float64) float64 { return o.at[x].Value + o.at[x].Slope*(y-x) }

// Ask answers a query at y.
func (o *Resisting) Ask(y float64) Jet {
	if y <= o.l {
		return Jet{o.line(o.l, y), o.at[o.l].Slope}
	}
	if y >= o.r {
		return Jet{o.line(o.r, y), o.at[o.r].Slope}
	}
	left, right := o.line(o.l, y), o.line(o.r, y)
	// A germ a little above both lines, with the slope of the side on which more is left.
	chord := (o.line(o.r, o.r)*(y-o.l) + o.line(o.l, o.l)*(o.r-y)) / (o.r - o.l)
	base := math.Max(left, right)
	value := base + 0.25*(chord-base)
	low := math.Max(o.at[o.l].Slope, (value-o.line(o.l, o.l))/(y-o.l)) // slope it must exceed
	high := math.Min(o.at[o.r].Slope, (o.line(o.r, o.r)-value)/(o.r-y))
	slope := low + 0.5*(high-low)
	if slope == -o.C {
		slope = low + 0.4*(high-low)
	}
	o.at[y] = Jet{value, slope}
	if slope < -o.C {
		o.l = y
	} else {
		o.r = y
	}
	return o.at[y]
}

// Extended returns f_C(0) of two functions that agree with every answer: between l and r their slopes rise by a smooth
// step about the same place, a narrow one and a wide one.
func (o *Resisting) Extended() (narrow, wide float64) {
	l, r := o.at[o.l], o.at[o.r]
	// The mean of the slope is given: that of a step about c is l + (r − l)(1 − c).
	mean := (r.Value - l.Value) / (o.r - o.l)
	c := 1 - (mean-l.Slope)/(r.Slope-l.Slope)
	most := math.Min(c, 1-c)
	least := func(width float64) float64 {
		const cells = 20000
		f, best := l.Value, l.Value+o.C*o.l
		for i := range cells {
			u := (float64(i) + 0.5) / cells
			s := smoothStep((u - c) / width)
			f += (l.Slope + (r.Slope-l.Slope)*s) * (o.r - o.l) / cells
			best = math.Min(best, f+o.C*(o.l+(o.r-o.l)*float64(i+1)/cells))
		}
		return best
	}
	return least(0.1 * most), least(0.9 * most)
}

// smoothStep rises from 0 at −1 to 1 at 1, with all derivatives zero at both, and s(−x) = 1 − s(x).
func smoothStep(x float64) float64 {
	switch {
	case x <= -1:
		return 0
	case x >= 1:
		return 1
	}
	a, b := math.Exp(-1/(1+x)), math.Exp(-1/(1-x))
	return a / (a + b)
}
