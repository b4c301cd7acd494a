package proportional

import (
	"math"
	"slices"
)

const (
	invSqrt2Pi = 0.398942280401432677939946059934381868475858631164934657666
	// normalRange is where the standard normal law is cut off: the two tails
	// beyond it have a mass of 2e-19.
	normalRange = 9.0
)

// phi is the standard normal density, cdf its distribution function.
func phi(x float64) float64 { return invSqrt2Pi * math.Exp(-0.5*x*x) }
func cdf(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// interval returns Φ(b) − Φ(a) for a ≤ b without cancellation in the tails.
func interval(a, b float64) float64 {
	if a > 0 {
		return 0.5 * (math.Erfc(a/math.Sqrt2) - math.Erfc(b/math.Sqrt2))
	}
	return 0.5 * (math.Erfc(-b/math.Sqrt2) - math.Erfc(-a/math.Sqrt2))
}

// normalGrid is the trapezoidal rule with step h for E g(N), N ~ N(0, 1):
// nodes z and weights w. For g analytic in a strip of half-width a its error is
// about 2e^{−2πa/h + a²/2} (at most 2e^{−2π²/h²} for entire g), which is far
// better than what Gauss and Hermite's rule does with as many nodes.
func normalGrid(h float64) (z, w []float64) {
	k := int(math.Ceil(normalRange / h))
	z, w = make([]float64, 2*k+1), make([]float64, 2*k+1)
	for i := range z {
		z[i] = h * float64(i-k)
		w[i] = h * phi(z[i])
	}
	return z, w
}

// Nodes and weights of Kronrod's rule with 15 points on [−1, 1], and the
// weights of Gauss's rule with 7 on every second one of them.
var (
	kronrodX = [8]float64{0.991455371120812639206854697526329, 0.949107912342758524526189684047851, 0.864864423359769072789712788640926, 0.741531185599394439863864773280788, 0.586087235467691130294144691693013, 0.405845151377397166906606412076961, 0.207784955007898467600689403773245, 0}
	kronrodW = [8]float64{0.022935322010529224963732008058970, 0.063092092629978553290700663189204, 0.104790010322250183839876322541518, 0.140653259715525918745189590510238, 0.169004726639267902826583426598550, 0.190350578064785409913256402421014, 0.204432940075298892414161999234649, 0.209482141084727828012999174891714}
	gaussInW = [4]float64{0.129484966168869693270611432679082, 0.279705391489276667901467771423780, 0.381830050505118944950369775488975, 0.417959183673469387755102040816327}
	panelX   [15]float64
	panelK   [15]float64
	panelG   [15]float64
	_        = initPanel()
)

const (
	maxLevels     = 60
	maxPanels     = 4000
	maxComponents = 4
)

func initPanel() bool {
	for i := range 15 {
		j, s := i, -1.0
		if i > 7 {
			j, s = 14-i, 1
		}
		panelX[i], panelK[i] = s*kronrodX[j], kronrodW[j]
		if j%2 == 1 {
			panelG[i] = gaussInW[j/2]
		}
	}
	return true
}

// integrand fills out[c] (each as long as x) with its components at x.
type integrand func(x []float64, out [][]float64)

// integrate returns ∫ of each component of f over the intervals between
// consecutive breaks (sorted, at least two), by bisection of Kronrod panels
// until in each panel the difference to Gauss's rule is below tol times ∫|f|, or
// the panel cannot be cut any more. It returns the sum of the differences that
// it accepted, relative to ∫|f|: an estimate of the error, usually a generous one.
// After 4,000 panels it accepts the rest as they are.
//
// A kink or jump of f costs bisections around it, nothing else: a panel of
// relative width 2⁻⁵⁰ is accepted as it is.
func integrate(components int, f integrand, breaks []float64, tol float64) (values []float64, relErr float64) {
	values = make([]float64, components)
	scale := make([]float64, components)
	accepted := make([]float64, components)
	x := make([]float64, 15)
	out := make([][]float64, components)
	for c := range out {
		out[c] = make([]float64, 15)
	}
	type panel struct {
		a, b       float64
		level      int
		sums, errs [maxComponents]float64
	}
	measure := func(p *panel) {
		mid, half := 0.5*(p.a+p.b), 0.5*(p.b-p.a)
		for i := range x {
			x[i] = mid + half*panelX[i]
		}
		f(x, out)
		for c := range components {
			var k, g, abs float64
			for i, v := range out[c] {
				k += panelK[i] * v
				g += panelG[i] * v
				abs += panelK[i] * math.Abs(v)
			}
			k, g, abs = k*half, g*half, abs*half
			p.sums[c], p.errs[c] = k, math.Abs(k-g)
			if p.level == 0 {
				scale[c] += abs
			}
		}
	}
	var stack []panel
	for i := 1; i < len(breaks); i++ {
		if breaks[i] > breaks[i-1] {
			p := panel{a: breaks[i-1], b: breaks[i]}
			measure(&p)
			stack = append(stack, p)
		}
	}
	width := breaks[len(breaks)-1] - breaks[0]
	panels := len(stack)
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		ok := true
		for c := range components {
			ok = ok && p.errs[c] <= tol*scale[c]
		}
		if mid := 0.5 * (p.a + p.b); !ok && p.level < maxLevels && panels < maxPanels && p.b-p.a > 1e-14*width {
			for _, q := range []panel{{a: mid, b: p.b, level: p.level + 1}, {a: p.a, b: mid, level: p.level + 1}} {
				measure(&q)
				panels++
				stack = append(stack, q)
			}
			continue
		}
		for c := range components {
			values[c] += p.sums[c]
			accepted[c] += p.errs[c]
		}
	}
	for c := range components {
		if scale[c] > 0 {
			relErr = math.Max(relErr, accepted[c]/scale[c])
		}
	}
	return values, relErr
}

// scoreBreaks returns the points between which a function of prox(s), s ~
// mean + sd·N, is integrated: multiples of sd around the mean; the images
// s = p + γf′(p) of a geometric grid of p, so that wherever the proximal operator
// bends, at whatever scale, a panel boundary is near; and exactly those of the
// kinks of f′, which a panel might not see if they lie between its end and its
// first node.
func scoreBreaks(mean, sd float64, kinks []float64, inverse func(p []float64) []float64) []float64 {
	var p []float64
	for e := -3; e <= 60; e += 2 {
		v := math.Ldexp(1, e)
		if v > 4*(math.Abs(mean)+normalRange*sd) {
			break
		}
		p = append(p, v, -v)
	}
	p = append(p, 0)
	lo, hi := mean-normalRange*sd, mean+normalRange*sd
	breaks := []float64{lo, mean - 4*sd, mean - 1.5*sd, mean, mean + 1.5*sd, mean + 4*sd, hi}
	for _, s := range inverse(p) {
		if s > lo && s < hi {
			breaks = append(breaks, s)
		}
	}
	slices.Sort(breaks)
	kept := breaks[:1]
	for _, b := range breaks[1:] {
		if b-kept[len(kept)-1] > 1e-3*sd*math.Min(1, 1/(1+math.Abs(b-mean)/sd)) || b == hi {
			kept = append(kept, b)
		}
	}
	if len(kinks) > 0 {
		for _, s := range inverse(kinks) {
			if s > lo && s < hi {
				kept = append(kept, s)
			}
		}
		slices.Sort(kept)
	}
	return kept
}
