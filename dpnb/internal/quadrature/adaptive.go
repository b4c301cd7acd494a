// Package quadrature has the integrals of one variable that several rooms share: adaptive over panels, on fixed panels,
// and against the normal law.
package quadrature

import "math"

// Nodes and weights of Kronrod's rule with 15 points on [−1, 1], and the weights of Gauss's rule with 7 on every second
// one of them.
var (
	kronrodX = [8]float64{0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
		0.864864423359769072789712788640926, 0.741531185599394439863864773280788, 0.586087235467691130294144691693013,
		0.405845151377397166906606412076961, 0.207784955007898467600689403773245, 0}
	kronrodW = [8]float64{0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
		0.104790010322250183839876322541518, 0.140653259715525918745189590510238, 0.169004726639267902826583426598550,
		0.190350578064785409913256402421014, 0.204432940075298892414161999234649, 0.209482141084727828012999174891714}
	gaussInW = [4]float64{0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
		0.381830050505118944950369775488975, 0.417959183673469387755102040816327}
	panelX [Points]float64
	panelK [Points]float64
	panelG [Points]float64
	_      = initPanel()
)

// Points is the number of nodes of a panel: an Integrand is asked for as many.
const Points = 15

const (
	maxLevels     = 60
	maxPanels     = 4000
	maxComponents = 4
)

func initPanel() bool {
	for i := range Points {
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

// Integrand fills out[c] (each as long as x) with its components at x.
type Integrand func(x []float64, out [][]float64)

// Adaptive returns ∫ of each component of f over the intervals between consecutive breaks (sorted, at least two), by
// bisection of Kronrod panels until in each panel the difference to Gauss's rule is below tol times ∫|f|, or the panel
// cannot be cut any more. It returns the sum of the differences that it accepted, relative to ∫|f|: an estimate of the
// error, usually a generous one. After 4,000 panels it accepts the rest as they are.
//
// A kink or jump of f costs bisections around it, nothing else: a panel of relative width 2⁻⁵⁰ is accepted as it is.
func Adaptive(components int, f Integrand, breaks []float64, tol float64) (values []float64, relErr float64) {
	values = make([]float64, components)
	scale := make([]float64, components)
	accepted := make([]float64, components)
	x := make([]float64, Points)
	out := make([][]float64, components)
	for c := range out {
		out[c] = make([]float64, Points)
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

// Nodes returns the nodes and weights of Kronrod's rule on each of the intervals between consecutive breaks.
func Nodes(breaks []float64) (x, w []float64) {
	for k := 1; k < len(breaks); k++ {
		mid, half := 0.5*(breaks[k]+breaks[k-1]), 0.5*(breaks[k]-breaks[k-1])
		for i, u := range panelX {
			x, w = append(x, mid+half*u), append(w, half*panelK[i])
		}
	}
	return x, w
}

// Panels returns ∫f over [lo, hi], cut into as many equal panels of Kronrod's rule.
func Panels(f func(float64) float64, lo, hi float64, panels int) (sum float64) {
	breaks := make([]float64, panels+1)
	for k := range breaks {
		breaks[k] = lo + (hi-lo)*float64(k)/float64(panels)
	}
	x, w := Nodes(breaks)
	for i, t := range x {
		sum += w[i] * f(t)
	}
	return sum
}
