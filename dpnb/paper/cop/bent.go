package cop

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// Bent is a convex function with kinks of the m residuals u = y − Aθ of a record.
type Bent interface {
	Name() string
	// Slope writes a subgradient at u to g and returns the value.
	Slope(g, u []float64) float64
	// Lipschitz returns the largest ‖g‖₂ for m residuals.
	Lipschitz(m int) float64
	// Blur returns E f(u + wN), N standard normal: with w = 1 the population risk of records with y ~ N(Aθ⋆, I), as a
	// function of A(θ⋆ − θ).
	Blur(w float64) Smooth
	// Blurred bounds the curvature of Blur(1), of m residuals: Blur(w) has 1/w of it.
	Blurred(m int) float64
	// Envelope returns the Moreau envelope of width w, f ≥ envelope.
	Envelope(w float64) Smooth
}

// Smooth is a smooth function of the residuals.
type Smooth interface {
	// Bend writes the gradient to g and, if h is not nil, the Hessian (m × m) to h, and returns the value.
	Bend(g, h, u []float64) float64
	// Gap bounds the difference to the function that was smoothed: |smooth − bent| ≤ Gap.
	Gap(m int) float64
}

// Medians is f(u) = ‖u‖₁, the loss of Figures 5 and 7.
type Medians struct{}

// Name returns "‖y − Aθ‖₁".
func (Medians) Name() string { return "‖y − Aθ‖₁" }

// Lipschitz returns √m.
func (Medians) Lipschitz(m int) float64 { return math.Sqrt(float64(m)) }

// Slope implements Bent.
func (Medians) Slope(g, u []float64) (value float64) {
	for j, v := range u {
		g[j] = 0
		if v != 0 {
			g[j] = math.Copysign(1, v)
		}
		value += math.Abs(v)
	}
	return value
}

// Blur implements Bent.
func (Medians) Blur(w float64) Smooth {
	return Separable{smoothing.Norm{Kernel: smoothing.Gaussian{}, Width: w}, 0}
}

// Blurred returns √(2/π).
func (Medians) Blurred(int) float64 { return math.Sqrt(2 / math.Pi) }

// Envelope implements Bent: Huber's function, which is the uniform kernel's less w/2.
func (Medians) Envelope(w float64) Smooth {
	return Separable{smoothing.Norm{Kernel: smoothing.Uniform{}, Width: w}, w / 2}
}

// Separable is ‖·‖₁ smoothed by a kernel, less Lower for each coordinate.
type Separable struct {
	smoothing.Norm
	Lower float64
}

// Bend implements Smooth.
func (s Separable) Bend(g, h, u []float64) float64 {
	if h != nil {
		clear(h)
		s.Curvature(g, u) // g is written again below
		for j, c := range g {
			h[j*len(u)+j] = c
		}
	}
	return s.ValueGradient(g, u) - s.Lower*float64(len(u))
}

// Gap implements Smooth.
func (s Separable) Gap(m int) float64 {
	return max(s.LargestGap(m)-s.Lower*float64(m), s.Lower*float64(m))
}

// Largest is f(u) = max_j |u_j|, the largest of the 2m pieces ±u_j: the piecewise linear loss of Figure 8, whose own
// pieces are not printed.
type Largest struct{}

// Name returns "‖y − Aθ‖∞".
func (Largest) Name() string { return "‖y − Aθ‖∞" }

// Lipschitz returns 1.
func (Largest) Lipschitz(int) float64 { return 1 }

// Slope implements Bent.
func (Largest) Slope(g, u []float64) float64 {
	clear(g)
	at := 0
	for j, v := range u {
		if math.Abs(v) > math.Abs(u[at]) {
			at = j
		}
	}
	if u[at] != 0 {
		g[at] = math.Copysign(1, u[at])
	}
	return math.Abs(u[at])
}

// Blur implements Bent.
func (Largest) Blur(w float64) Smooth { return largestBlur(w) }

// Blurred returns 1: f is 1-Lipschitz, and uᵀ∇²E f(u + N)v = E ⟨∇f(u + N), u⟩⟨N, v⟩.
func (Largest) Blurred(int) float64 { return 1 }

// Envelope implements Bent.
func (Largest) Envelope(w float64) Smooth { return largestEnvelope(w) }

// gaussNodes and gaussWeights are Gauss's rule of eight points on [0, 1].
var gaussNodes, gaussWeights = func() (x, w []float64) {
	x, w = make([]float64, 8), make([]float64, 8)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	return x, w
}()

// largestBlur is E max_j |u_j + wN_j| = ∫₀^∞ 1 − Π_j P(|u_j + wN_j| ≤ t) dt.
type largestBlur float64

// Gap: 0 ≤ smooth − bent ≤ w·E max|N_j| ≤ w√(2 ln 2m).
func (w largestBlur) Gap(m int) float64 { return float64(w) * math.Sqrt(2*math.Log(2*float64(m))) }

// Bend implements Smooth, by Gauss's rule of eight points on panels of 2.2w, over what is within 6w of a coordinate: it
// errs by 1e-8.
func (w largestBlur) Bend(g, h, u []float64) float64 {
	const panel, reach = 2.2, 6
	m, width := len(u), float64(w)
	var most float64
	for _, v := range u {
		most = math.Max(most, math.Abs(v))
	}
	clear(g)
	if h != nil {
		clear(h)
	}
	// The integrand is 1 below lo.
	lo := math.Max(0, most-reach*width)
	panels := math.Ceil((most + reach*width - lo) / (panel * width))
	length := (most + reach*width - lo) / panels
	sum := lo
	var p, d, s [8]float64 // P, ∂P/∂u and ∂²P/∂u² of each coordinate
	for k := range int(panels) * len(gaussNodes) {
		node := k % len(gaussNodes)
		t := lo + length*(float64(k/len(gaussNodes))+gaussNodes[node])
		weight := length * gaussWeights[node]
		product := 1.0
		for j, v := range u {
			a, b := (t-v)/width, (-t-v)/width
			if p[j], d[j], s[j] = 1, 0, 0; a > 6.5 && b < -6.5 {
				continue
			}
			fa, fb := smoothing.Gaussian{}.Density(a), smoothing.Gaussian{}.Density(b)
			p[j] = 0.5 * (math.Erf(a/math.Sqrt2) - math.Erf(b/math.Sqrt2))
			d[j], s[j] = (fb-fa)/width, (b*fb-a*fa)/(width*width)
			product *= p[j]
		}
		sum += weight * (1 - product)
		for j := range m {
			rest := weight
			for i := range m {
				if i != j {
					rest *= p[i]
				}
			}
			g[j] -= rest * d[j]
			if h == nil {
				continue
			}
			h[j*m+j] -= rest * s[j]
			for l := j + 1; l < m; l++ {
				both := weight * d[j] * d[l]
				for i := range m {
					if i != j && i != l {
						both *= p[i]
					}
				}
				h[j*m+l] -= both
				h[l*m+j] -= both
			}
		}
	}
	return sum
}

// largestEnvelope is min_v ‖v‖∞ + ‖u − v‖²/(2w): its gradient is the projection of u/w on ‖·‖₁ ≤ 1.
type largestEnvelope float64

// Gap: 0 ≤ bent − smooth ≤ w/2.
func (w largestEnvelope) Gap(int) float64 { return float64(w) / 2 }

// Bend implements Smooth.
func (w largestEnvelope) Bend(g, h, u []float64) float64 {
	m, width := len(u), float64(w)
	norm := 0.0
	for _, v := range u {
		norm += math.Abs(v) / width
	}
	// The threshold c with Σ(|u_j|/w − c)₊ = 1: it rises to its value from below.
	c := 0.0
	active := m
	for norm > 1 {
		sum, count := 0.0, 0
		for _, v := range u {
			if a := math.Abs(v) / width; a > c {
				sum, count = sum+a, count+1
			}
		}
		next := (sum - 1) / float64(count)
		if active = count; !(next > c) {
			break
		}
		c = next
	}
	value := 0.0
	for j, v := range u {
		g[j] = math.Copysign(math.Max(0, math.Abs(v)/width-c), v)
		value += g[j] * (v - width*g[j]/2)
	}
	if h != nil {
		clear(h)
		for j := range m {
			for l := range m {
				if g[j] == 0 || g[l] == 0 {
					continue
				}
				if norm > 1 {
					h[j*m+l] = -math.Copysign(1, g[j]*g[l]) / (width * float64(active))
				}
				if j == l {
					h[j*m+j] += 1 / width
				}
			}
		}
	}
	return value
}
