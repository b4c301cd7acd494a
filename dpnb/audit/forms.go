package audit

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Forms is objective perturbation in the plane on Z and on Z with one record more, of m linear forms,
//
//	θ = argmin Σⱼ f(aⱼᵀθ; yⱼ) + ½θᵀQθ + bᵀθ,  b ~ N(0, σ²I),
//
// the quadratic ½θᵀQθ, Q ⪰ λI, standing for the regulariser and for all other records. Both laws have densities in
// closed form, φ(b(θ)/σ)·det ∇b(θ).
type Forms struct {
	Loss loss.Loss
	// Joint, of as many forms as Rows and with one label, is in place of Loss.
	Joint loss.Joint
	// Rows aⱼ in the plane, with their Labels.
	Rows   [][2]float64
	Labels []float64
	// Ridges are the eigenvalues of Q, Turn the angle of the axis of the first.
	Ridges [2]float64
	Turn   float64
	Sigma  float64
}

// Delta returns δ(ε) of the pair in the direction: Remove is the law with the record beside that without. It is the
// midpoint rule on points × points cells of the variable Q^½θ/σ…, good to some thousandths of δ where the loss bends
// over several cells.
func (f Forms) Delta(d privacy.Direction, eps float64, points int) float64 {
	m := len(f.Rows)
	// In the axes of Q, scaled so that b is standard normal without the record: θ = −u·σ/q.
	rows := make([][2]float64, m)
	cos, sin := math.Cos(f.Turn), math.Sin(f.Turn)
	for j, a := range f.Rows {
		rows[j] = [2]float64{cos*a[0] + sin*a[1], cos*a[1] - sin*a[0]}
	}
	derivatives, lipschitz, coupling := f.derivatives()
	slopes := 0.0
	for _, a := range rows {
		slopes += math.Hypot(a[0], a[1]) * lipschitz / f.Sigma
	}
	reach := 8 + slopes
	h := 2 * reach / float64(points)
	t, slope, curv := make([]float64, m), make([]float64, m), make([]float64, m)
	q0, q1, s := f.Ridges[0], f.Ridges[1], f.Sigma
	sum := 0.0
	for i := range points {
		u0 := -reach + h*(float64(i)+0.5)
		for k := range points {
			u1 := -reach + h*(float64(k)+0.5)
			x0, x1 := u0*s/q0, u1*s/q1
			for j, a := range rows {
				t[j] = a[0]*x0 + a[1]*x1
			}
			derivatives(slope, curv, t)
			// With the record: b = −(Qθ + Aᵀf′), ∇b = −(Q + Aᵀ(diag(c) − κccᵀ)A), in units of u.
			g0, g1, h00, h01, h11, c0, c1 := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
			for j, a := range rows {
				g0 += a[0] * slope[j]
				g1 += a[1] * slope[j]
				h00 += curv[j] * a[0] * a[0]
				h01 += curv[j] * a[0] * a[1]
				h11 += curv[j] * a[1] * a[1]
				c0 += curv[j] * a[0]
				c1 += curv[j] * a[1]
			}
			h00, h01, h11 = h00-coupling*c0*c0, h01-coupling*c0*c1, h11-coupling*c1*c1
			det := (1+h00/q0)*(1+h11/q1) - h01*h01/(q0*q1)
			v0, v1 := u0+g0/s, u1+g1/s
			without := -0.5 * (u0*u0 + u1*u1)
			with := -0.5*(v0*v0+v1*v1) + math.Log(det)
			p, q := with, without
			if d == privacy.Add {
				p, q = without, with
			}
			if p > q+eps {
				sum -= math.Exp(p) * math.Expm1(q+eps-p)
			}
		}
	}
	return sum * h * h / (2 * math.Pi)
}

// derivatives writes slopes and c at the forms t, which it overwrites.
func (f Forms) derivatives() (of func(slope, curv, t []float64), lipschitz, coupling float64) {
	if f.Joint != nil {
		return func(slope, curv, t []float64) { f.Joint.Derivatives(slope, curv, t, f.Labels) },
			f.Joint.Lipschitz(), f.Joint.Coupling()
	}
	return func(slope, curv, t []float64) {
		f.Loss.ValueSlope(slope, t, f.Labels)
		f.Loss.Curvature(curv, t, f.Labels)
	}, f.Loss.Lipschitz(), 0
}

// ProductDelta returns a lower bound on δ(ε) of objective perturbation with one record of orthogonal rows, each the
// extra record of a line that has no other: the losses of cells, rounded down to a lattice, are added.
func ProductDelta(lines []Scalar, d privacy.Direction, eps float64, cells int) float64 {
	const most = 60.0
	step := 1e-3
	if len(lines) > 1 {
		step = 4e-3 // the lattice grows with the number of lines, the work with its square
	}
	law, lowest := []float64{1}, 0 // in units of step
	for _, l := range lines {
		reach := (9*l.Sigma + math.Abs(l.ExtraX)*l.Loss.Lipschitz()) / l.Lambda
		p, q := l.CellsAt(floats.Span(make([]float64, cells+1), -reach, reach))
		if d == privacy.Remove {
			p, q = q, p
		}
		at, low, high := make([]int, len(p)), math.MaxInt, math.MinInt
		for i := range p {
			if p[i] < 1e-25 {
				continue
			}
			loss := most
			if q[i] > 0 {
				loss = math.Min(loss, math.Log(p[i]/q[i]))
			}
			at[i] = int(math.Floor(loss / step))
			low, high = min(low, at[i]), max(high, at[i])
		}
		one := make([]float64, high-low+1)
		for i := range p {
			if p[i] >= 1e-25 {
				one[at[i]-low] += p[i]
			}
		}
		sum := make([]float64, len(law)+len(one)-1)
		for a, v := range law {
			if v > 0 {
				for b, w := range one {
					sum[a+b] += v * w
				}
			}
		}
		law, lowest = sum, lowest+low
	}
	delta := 0.0
	for k, v := range law {
		if x := float64(lowest+k) * step; x > eps {
			delta -= v * math.Expm1(eps-x)
		}
	}
	return delta
}
