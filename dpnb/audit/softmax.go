package audit

import "math"

// Softmax is softmax objective perturbation with three classes and one feature on two neighbours: Z has the records
// (X[i], Y[i]), Z′ has one more, (ExtraX, ExtraY). With θ ∈ ℝ³, Σθ = 0, θ = Qu, u ∈ ℝ²,
//
//	J(u) = Σ [log Σ_c e^{xθ_c} − xθ_y] + (λ/2)‖u‖²,  û = argmin J(u) + bᵀu,  b ~ N(0, σ²I₂),
//
// the density of û is explicit, φ_σ(∇J(u))·det ∇²J(u).
type Softmax struct {
	X             []float64
	Y             []int
	ExtraX        float64
	ExtraY        int
	Lambda, Sigma float64
	// Weights repeats records: record i counts Weights[i] times. Nil is once each.
	Weights []float64
	// Tilt is the slope of a data-independent linear regulariser on u.
	Tilt [2]float64
}

// plane is Q: an orthonormal basis of Σθ = 0, row c for class c.
var plane = [3][2]float64{
	{1 / math.Sqrt2, 0.40824829046386301637}, {-1 / math.Sqrt2, 0.40824829046386301637}, {0, -0.81649658092772603273},
}

// Cells returns the probabilities of points×points square cells under Z and Z′, by the midpoint rule, on a grid that
// reaches as far as nine standard deviations of b under either dataset. What their sums lack to 1 is what the grid
// cannot tell; a sum that is off says that the cells are too large. A divergence is off by about a percent at 0.2
// standard deviations of b a cell.
func (s *Softmax) Cells(points int) (without, with []float64) {
	var pull float64 // largest ‖∇J − λu − tilt‖ under Z′
	for i, x := range s.X {
		pull += s.weight(i) * math.Abs(x)
	}
	reach := (9*s.Sigma + math.Sqrt2*(pull+math.Abs(s.ExtraX))) / s.Lambda
	h := 2 * reach / float64(points)
	from := [2]float64{-s.Tilt[0]/s.Lambda - reach + 0.5*h, -s.Tilt[1]/s.Lambda - reach + 0.5*h}
	without, with = make([]float64, 0, points*points), make([]float64, 0, points*points)
	for i := range points {
		for j := range points {
			p, q := s.densities([2]float64{from[0] + h*float64(i), from[1] + h*float64(j)})
			without, with = append(without, p*h*h), append(with, q*h*h)
		}
	}
	return without, with
}

func (s *Softmax) weight(i int) float64 {
	if s.Weights == nil {
		return 1
	}
	return s.Weights[i]
}

// densities returns those of û at u under Z and Z′.
func (s *Softmax) densities(u [2]float64) (without, with float64) {
	g := [2]float64{s.Lambda*u[0] + s.Tilt[0], s.Lambda*u[1] + s.Tilt[1]}
	hess := [3]float64{s.Lambda, 0, s.Lambda} // uu, uv, vv
	for i, x := range s.X {
		addSoftmax(&g, &hess, u, x, s.Y[i], s.weight(i))
	}
	without = normalPlane(g, s.Sigma) * (hess[0]*hess[2] - hess[1]*hess[1])
	addSoftmax(&g, &hess, u, s.ExtraX, s.ExtraY, 1)
	with = normalPlane(g, s.Sigma) * (hess[0]*hess[2] - hess[1]*hess[1])
	return without, with
}

// addSoftmax adds weight times the gradient and the Hessian in u of a record.
func addSoftmax(g *[2]float64, hess *[3]float64, u [2]float64, x float64, y int, weight float64) {
	var p [3]float64
	top := math.Inf(-1)
	for c := range p {
		p[c] = x * (plane[c][0]*u[0] + plane[c][1]*u[1])
		top = math.Max(top, p[c])
	}
	var sum float64
	for c := range p {
		p[c] = math.Exp(p[c] - top)
		sum += p[c]
	}
	var mean [2]float64
	for c := range p {
		p[c] /= sum
		mean[0] += p[c] * plane[c][0]
		mean[1] += p[c] * plane[c][1]
	}
	for c := range p {
		a, b := plane[c][0]-mean[0], plane[c][1]-mean[1]
		w := weight * x * x * p[c]
		hess[0] += w * a * a
		hess[1] += w * a * b
		hess[2] += w * b * b
	}
	g[0] += weight * x * (mean[0] - plane[y][0])
	g[1] += weight * x * (mean[1] - plane[y][1])
}

func normalPlane(v [2]float64, sigma float64) float64 {
	return math.Exp(-(v[0]*v[0]+v[1]*v[1])/(2*sigma*sigma)) / (2 * math.Pi * sigma * sigma)
}
