package qop

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

func lowRankUpdates(_ measure.Run, share float64) claim.Outcome {
	src := noise.NewSeeded(46)
	var worst float64
	for k := range 2000 {
		d := 2 + k%5
		r := 1 + int(src.Uint64()%uint64(d))
		alpha, l := math.Exp(src.NormFloat64()), math.Exp(2*src.NormFloat64()-2)
		q := orthogonal(src, d)
		a, e := mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
		for j := range d {
			extra := 0.0
			if j >= r || k%2 == 1 {
				extra = src.ExpFloat64()
			}
			a.SymRankOne(a, alpha+extra, q.ColView(j))
		}
		if k%2 == 1 {
			q = orthogonal(src, d)
		}
		for j := range r {
			v := l
			if k%2 == 1 {
				v *= 2*src.Float64() - 1
			}
			e.SymRankOne(e, v, q.ColView(j))
		}
		before := mat.Det(a)
		a.AddSym(a, e)
		worst = math.Max(worst, math.Log(math.Abs(mat.Det(a)/before))/(share*l*float64(r)/alpha))
	}
	return claim.Decide(fmt.Sprintf("largest logarithm/bound %.2f", worst), "1", worst <= 1+1e-9,
		"a determinant grows by more").Reaching(worst)
}

// rankOneUpdates is the check of Lemma C.3 with λ times factor.
func rankOneUpdates(run measure.Run, factor float64) claim.Outcome {
	src := noise.NewSeeded(48)
	var off float64
	for k := range 2000 {
		d := 2 + k%5
		a, v := noise.Wishart(src, d, d+3), mat.NewVecDense(d, nil)
		src.Gaussian(v.RawVector().Data, 1)
		s := src.NormFloat64()
		var solved mat.VecDense
		var chol mat.Cholesky
		if !chol.Factorize(a) {
			measure.Try(fmt.Errorf("not positive definite"))
		}
		measure.Try(chol.SolveVecTo(&solved, v))
		lambda := s * mat.Dot(v, &solved) // A⁻¹E has the eigenvector A⁻¹v
		var moved mat.SymDense
		moved.SymRankOne(a, s, v)
		ratio := mat.Det(&moved) / mat.Det(a)
		off = math.Max(off, math.Abs(ratio-1-factor*lambda)/(1+math.Abs(lambda)))
	}
	return claim.Decide("largest relative distance "+claim.Roughly(off, 1e-9), "1e-9", off < 1e-9,
		"the ratio is not 1 + λ")
}

// interpolatingMatrix builds the U of Lemma C.7, times a factor.
func interpolatingMatrix(_ measure.Run, factor float64) claim.Outcome {
	src := noise.NewSeeded(47)
	var miss, norm, third, positive float64
	for k := range 500 {
		d := 2 + k%5
		u, b := make([]float64, d), make([]float64, d)
		src.Gaussian(u, 1)
		src.Gaussian(b, 1)
		if k%10 == 0 {
			floats.ScaleTo(u, -2, b)
		}
		nb, nu := floats.Norm(b, 2), floats.Norm(u, 2)
		U := lemmaC7(mat.NewVecDense(d, floats.ScaleTo(make([]float64, d), 1/nb, b)), mat.NewVecDense(d, u))
		U.ScaleSym(factor/nb, U)
		var back mat.VecDense
		back.MulVec(U, mat.NewVecDense(d, b))
		back.SubVec(&back, mat.NewVecDense(d, u))
		miss = math.Max(miss, mat.Norm(&back, 2)/nu)
		var eig mat.EigenSym
		if !eig.Factorize(U, false) {
			measure.Try(fmt.Errorf("no eigenvalues"))
		}
		values := eig.Values(nil)
		var up float64
		for i, v := range values {
			up += math.Max(0, v)
			if i > 0 && i < d-1 {
				third = math.Max(third, math.Abs(v)*nb/nu)
			}
		}
		norm = math.Max(norm, math.Abs(math.Max(-values[0], values[d-1])*nb/nu-1))
		positive = math.Max(positive, up*nb/nu)
	}
	ok := miss < 1e-12 && norm < 1e-12 && third < 1e-12 && positive < 1+1e-12
	return claim.Decide(fmt.Sprintf("all to 1e-12; the positive part has at most %.3f of ‖u‖/‖b‖", positive),
		"1e-12", ok, "U is not what the lemma says")
}

// lemmaC7 returns the symmetric U with Ue = u and ‖U‖ = ‖u‖ for a unit vector e.
func lemmaC7(e, u *mat.VecDense) *mat.SymDense {
	d, along := e.Len(), mat.Dot(e, u)
	w, out := mat.NewVecDense(d, nil), mat.NewSymDense(d, nil)
	w.AddScaledVec(u, -along, e)
	out.SymRankOne(out, along, e)
	if n := mat.Norm(w, 2); n > 1e-12*mat.Norm(u, 2) {
		out.SymRankOne(out, -along/(n*n), w)
		out.RankTwo(out, 1, e, w)
	}
	return out
}

// orthogonal draws an orthogonal matrix.
func orthogonal(src *noise.Seeded, d int) *mat.Dense {
	var q mat.Dense
	var qr mat.QR
	g := mat.NewDense(d, d, nil)
	src.Gaussian(g.RawMatrix().Data, 1)
	qr.Factorize(g)
	qr.QTo(&q)
	return &q
}
