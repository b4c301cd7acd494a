package composite

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Nuclear is r(θ) = ω‖Θ‖_*, the sum of the singular values of the Rows×Columns
// matrix Θ whose rows, one after the other, are θ. Each of its methods takes a
// singular value decomposition, for which it allocates.
type Nuclear struct {
	// Weight is ω ≥ 0.
	Weight float64
	// Rows and Columns of Θ; their product is d.
	Rows, Columns int
}

// Name returns "nuclear norm".
func (Nuclear) Name() string { return "nuclear norm" }

// Validate checks ω and the shape.
func (r Nuclear) Validate(d int) error {
	if r.Rows < 1 || r.Columns < 1 || r.Columns > d || r.Rows != d/r.Columns || d%r.Columns != 0 {
		return dataError("a %d×%d matrix does not have d = %d entries", r.Rows, r.Columns, d)
	}
	return checkWeight(r.Weight)
}

// svd returns the thin decomposition of θ as a matrix. Without one, which is
// so for entries that are not finite, the singular values are NaN.
func (r Nuclear) svd(theta []float64, kind mat.SVDKind) (u, v mat.Dense, values []float64) {
	var s mat.SVD
	values = make([]float64, min(r.Rows, r.Columns))
	if !s.Factorize(mat.NewDense(r.Rows, r.Columns, append([]float64(nil), theta...)), kind) {
		for i := range values {
			values[i] = math.NaN()
		}
		return *mat.NewDense(r.Rows, len(values), nil), *mat.NewDense(r.Columns, len(values), nil), values
	}
	s.Values(values)
	if kind != mat.SVDNone {
		s.UTo(&u)
		s.VTo(&v)
	}
	return u, v, values
}

// compose writes U·diag(values)·Vᵀ to dst.
func (r Nuclear) compose(dst []float64, u, v *mat.Dense, values []float64) {
	var left mat.Dense
	left.Mul(u, mat.NewDiagDense(len(values), values))
	mat.NewDense(r.Rows, r.Columns, dst).Mul(&left, v.T())
}

// Value implements Regulariser.
func (r Nuclear) Value(theta []float64) float64 {
	_, _, values := r.svd(theta, mat.SVDNone)
	return r.Weight * floats.Sum(values)
}

// Prox thresholds the singular values.
func (r Nuclear) Prox(dst, x []float64, step float64) {
	u, v, values := r.svd(x, mat.SVDThin)
	for i, s := range values {
		values[i] = math.Max(0, s-step*r.Weight)
	}
	r.compose(dst, &u, &v, values)
}

// Lipschitz returns ω√min(Rows, Columns).
func (r Nuclear) Lipschitz(int) float64 {
	return r.Weight * math.Sqrt(float64(min(r.Rows, r.Columns)))
}

// Nearest is ωUVᵀ + P, U and V the singular vectors of θ for singular values
// above the rounding of the decomposition, and P the part of v between their
// orthogonal complements with its singular values cut at ω.
func (r Nuclear) Nearest(dst, x, theta []float64) {
	u, v, values := r.svd(theta, mat.SVDThin)
	rank := 0
	for _, s := range values {
		if s > values[0]*r.error() {
			rank++
		}
	}
	rest := mat.NewDense(r.Rows, r.Columns, append([]float64(nil), x...))
	if rank > 0 {
		left, right := u.Slice(0, r.Rows, 0, rank), v.Slice(0, r.Columns, 0, rank)
		var t, back mat.Dense
		t.Mul(left.T(), rest)
		back.Mul(left, &t)
		rest.Sub(rest, &back)
		var t2, back2 mat.Dense
		t2.Mul(rest, right)
		back2.Mul(&t2, right.T())
		rest.Sub(rest, &back2)
		var polar mat.Dense
		polar.Mul(left, right.T())
		polar.Scale(r.Weight, &polar)
		u2, v2, cutValues := r.svd(rest.RawMatrix().Data, mat.SVDThin)
		for i, s := range cutValues {
			cutValues[i] = math.Min(s, r.Weight)
		}
		r.compose(dst, &u2, &v2, cutValues)
		floats.Add(dst, polar.RawMatrix().Data)
		return
	}
	r.ball(dst, x)
}

// ball writes x with its singular values cut at ω to dst.
func (r Nuclear) ball(dst, x []float64) {
	u, v, values := r.svd(x, mat.SVDThin)
	for i, s := range values {
		values[i] = math.Min(s, r.Weight)
	}
	r.compose(dst, &u, &v, values)
}

// error is the relative error, to the largest, that is granted to singular
// values: ten times the order times the unit.
func (r Nuclear) error() float64 { return 10 * float64(r.Rows+r.Columns) * unit }

// Gap moves s to singular values of at most ω, less what the decomposition errs
// by; ε = ω‖Θ‖_* − ⟨s, θ⟩.
func (r Nuclear) Gap(s, theta []float64) (slack, rounding float64) {
	r.ball(s, s)
	_, _, values := r.svd(s, mat.SVDNone)
	if top := values[0] * (1 + r.error()); top > r.Weight {
		floats.Scale(r.Weight/top*(1-4*unit), s)
	}
	size := r.Value(theta)
	return math.Max(0, size-floats.Dot(s, theta)) + (r.error()*float64(min(r.Rows, r.Columns))+float64(len(s)+8)*unit)*size, 0
}
