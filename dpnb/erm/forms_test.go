package erm

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// bends is a sum of losses that tells of which.
type bends struct {
	loss.Joint
	of []loss.Loss
}

// norms1 is ‖A(z)θ‖₁ + h(zᵀθ) made smooth: m Huber's of the rows of A and one of z, which differ from record to record;
// and a point.
func norms1(n, d, m int, sparse bool) (*Problem, []float64) {
	rng := rand.New(rand.NewPCG(uint64(n*d), uint64(m)))
	p := &Problem{Labels: make([]float64, n), Lambda: 0.3, Linear: make([]float64, d)}
	var of []loss.Loss
	for k := range m + 1 {
		x := matrix.NewDense(n, d, nil)
		for i := range x.Data {
			if x.Data[i] = rng.NormFloat64(); sparse && (i+k)%3 != 0 {
				x.Data[i] = 0
			}
		}
		if sparse {
			p.Forms = append(p.Forms, x.Sparse())
		} else {
			p.Forms = append(p.Forms, x)
		}
		of = append(of, loss.Huber{Threshold: 0.5 + float64(k)})
	}
	p.Joint = bends{loss.Sum(of...), of}
	theta := make([]float64, d)
	for j := range theta {
		theta[j], p.Linear[j] = rng.NormFloat64(), 30*rng.NormFloat64()
	}
	return p, theta
}

// stacked is the problem of one form, with a record for each form, that has the same objective if the losses of all
// forms are the same.
func stacked(p *Problem, l loss.Loss) *Problem {
	n, d := p.Forms[0].Dims()
	x := matrix.NewDense(n*len(p.Forms), d, nil)
	for k, rows := range p.Forms {
		for i := range n {
			rows.Row(x.Data[(k*n+i)*d:(k*n+i+1)*d], i)
		}
	}
	return &Problem{Rows: x, Labels: make([]float64, x.N), Loss: l, Lambda: p.Lambda, Linear: p.Linear}
}

// Several forms of the same coefficients are as many records of one form each: J, its gradient and Hessian, and the
// minimiser by every method.
func TestFormsAreRecords(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		p, theta := norms1(300, 6, 2, sparse)
		of := []loss.Loss{loss.PseudoHuber{Threshold: 1}, loss.PseudoHuber{Threshold: 1},
			loss.PseudoHuber{Threshold: 1}}
		p.Joint = loss.Sum(of...)
		q := stacked(p, of[0])
		g, h := make([]float64, 6), make([]float64, 6)
		if v, w := Evaluate(p, g, theta), Evaluate(q, h, theta); !(math.Abs(v-w) <= 1e-11*w) ||
			!floats.EqualApprox(g, h, 1e-11) {
			t.Errorf("J = %v and %v, gradients %v and %v", v, w, g, h)
		}
		hessians := [2][]float64{make([]float64, 36), make([]float64, 36)}
		for i, one := range []*Problem{p, q} {
			e := must.Get(NewEvaluator(one, 2))
			e.Hessian(hessians[i], theta)
		}
		for i := range 6 {
			if a, b := hessians[0][7*i:6*i+6], hessians[1][7*i:6*i+6]; !floats.EqualApprox(a, b, 1e-11) {
				t.Errorf("rows of the Hessians %v and %v", a, b)
			}
		}
		want := must.Get(Minimize(q, nil))
		for _, m := range []Method{Auto{}, LBFGS{}, NewtonCG{}, SAG{}, SVRG{}} {
			var first *Solution
			for _, workers := range []int{1, 3} {
				got, err := Minimize(p, &Settings{Method: m, Workers: workers, Tolerance: 1e-8, MaxPasses: 20_000})
				if err != nil {
					t.Fatalf("%s: %v", m.Name(), err)
				}
				if far := floats.Distance(got.Theta, want.Theta,
					2); far > got.Certificate.Distance+want.Certificate.Distance {
					t.Errorf("%s: %v away", m.Name(), far)
				}
				if first == nil {
					first = got
				} else if !slices.Equal(first.Theta, got.Theta) {
					t.Errorf("%s: %d workers, another answer", m.Name(), workers)
				}
			}
		}
	}
}

// The Hessian, whole and by products, of forms that are coupled, apart or not, is that of differences of the gradient;
// the blocks of the metric, and its columns, invert what they should.
func TestCoupledHessians(t *testing.T) {
	apart := softmaxProblem(0)
	shared, theta := norms1(80, 5, 2, false)
	shared.Joint = loss.Softmax{Classes: 3}
	for i := range shared.Labels {
		shared.Labels[i] = float64(i % 3)
	}
	for name, c := range map[string]struct {
		p     *Problem
		theta []float64
	}{"apart": {apart, make([]float64, 30)}, "shared": {shared, theta}} {
		p, size := c.p, len(c.theta)
		for j := range c.theta {
			c.theta[j] = math.Sin(float64(3*j + 1))
		}
		e := newEvaluator(p, 2)
		e.curvature = make([]float64, e.n*e.k)
		g, column := make([]float64, size), make([]float64, size)
		e.eval(g, c.theta)
		m := newPrimalMetric(p, 1, e.penalty, 2, true)
		m.hessian(c.theta)
		for j := range size {
			want := make([]float64, size)
			for sign := -1.0; sign < 2; sign += 2 {
				at, up := slices.Clone(c.theta), make([]float64, size)
				at[j] += sign * 1e-5
				Evaluate(p, up, at)
				floats.AddScaled(want, sign/2e-5, up)
			}
			unit := make([]float64, size)
			unit[j] = 1
			e.hessian(column, unit)
			if !floats.EqualApprox(column, want, 1e-5) {
				t.Errorf("%s: product %v, by differences %v", name, column, want)
			}
			for i := range j + 1 {
				h := m.h[i*m.stride+j]
				if i == j {
					h += e.ridge[j]
				}
				if !(math.Abs(h-column[i]) <= 1e-9) {
					t.Fatalf("%s: the Hessian has %v at (%d, %d), products say %v", name, h, i, j, column[i])
				}
			}
		}
		v, back := make([]float64, size), make([]float64, size)
		for j := range v {
			v[j] = math.Cos(float64(5 * j))
		}
		whole := newPrimalMetric(p, 1, e.penalty, 2, true)
		whole.refresh(c.theta)
		z := slices.Clone(v)
		whole.solve(z)
		e.hessian(back, z)
		if !floats.EqualApprox(back, v, 1e-9) {
			t.Errorf("%s: ∇²J·∇²J⁻¹v is %v from v", name, floats.Distance(back, v, 2))
		}
		for _, m := range []metric{newPrimalMetric(p, 1, e.penalty, 2, false), newColumnMetric(p, 1, e.penalty)} {
			m.refresh(c.theta)
			same, d := make([]float64, size), e.d
			for j := range same {
				same[j] = v[j%d] // equal for all classes, of which no probability knows
			}
			z := slices.Clone(same)
			m.solve(z)
			if e.hessian(back, z); name == "apart" && !floats.EqualApprox(back, same, 1e-9) {
				t.Errorf("%T: the mean over the classes is not that of the ridge: %v, want %v", m, back, same)
			}
			if !(floats.Dot(z, same) > 0) {
				t.Errorf("%s, %T: no direction of descent", name, m)
			}
		}
	}
}

// The value of every joint loss has the slopes that it says.
func TestJointSlopesAgainstDifferences(t *testing.T) {
	for _, f := range []loss.Joint{loss.Softmax{Classes: 4}, loss.Sum(loss.Logistic{}, loss.Squared{},
		loss.Huber{Threshold: 0.3})} {
		k := f.Forms()
		at, slope, curv := make([]float64, k), make([]float64, k), make([]float64, k)
		for j := range at {
			at[j] = 2 * math.Sin(float64(j+1))
		}
		value := func(x []float64) float64 {
			return f.Derivatives(make([]float64, k), nil, slices.Clone(x), []float64{1})
		}
		want := fd.Gradient(nil, value, at, &fd.Settings{Formula: fd.Central})
		f.Derivatives(slope, curv, slices.Clone(at), []float64{1})
		if !floats.EqualApprox(slope, want, 1e-8) || !(floats.Norm(slope, 2) <= f.Lipschitz()) {
			t.Errorf("%s: slopes %v, by differences %v, L = %v", f.Name(), slope, want, f.Lipschitz())
		}
		only := make([]float64, k)
		f.Derivatives(nil, only, slices.Clone(at), []float64{1})
		sum := f.Coupling() * floats.Sum(curv)
		if !slices.Equal(only, curv) || !(math.Abs(sum-math.Round(sum)) <= 1e-14) ||
			!(floats.Max(curv) <= 2*f.Smoothness()) {
			t.Errorf("%s: c = %v and %v, κΣc = %v", f.Name(), curv, only, sum)
		}
	}
}

func TestFormsRefused(t *testing.T) {
	var want *matrix.DataError
	for name, spoil := range map[string]func(p *Problem){
		"rows and forms":    func(p *Problem) { p.Rows = p.Forms[0] },
		"loss and joint":    func(p *Problem) { p.Loss = loss.Squared{} },
		"a form too few":    func(p *Problem) { p.Forms = p.Forms[1:] },
		"no forms":          func(p *Problem) { p.Forms = nil },
		"forms of one loss": func(p *Problem) { p.Loss, p.Joint = loss.Squared{}, nil },
		"uneven forms":      func(p *Problem) { p.Forms[1] = matrix.NewDense(20, 5, nil) },
		"no joint":          func(p *Problem) { p.Joint = loss.Sum() },
		"NaN":               func(p *Problem) { p.Forms[1].(*matrix.Dense).Data[3] = math.NaN() },
	} {
		p, _ := norms1(20, 4, 2, false)
		spoil(p)
		if _, err := Minimize(p, nil); !errors.As(err, &want) {
			t.Errorf("%s: %v", name, err)
		}
		if err := p.Validate(); !errors.As(err, &want) {
			t.Errorf("%s: Validate says %v", name, err)
		}
	}
	p, _ := norms1(20, 4, 2, true)
	norm, err := p.ValidateNorm()
	var most float64
	for i := range 20 {
		var square float64
		for _, rows := range p.Forms {
			row := make([]float64, 4)
			rows.Row(row, i)
			square += floats.Dot(row, row)
		}
		most = math.Max(most, math.Sqrt(square))
	}
	if err != nil || !(math.Abs(norm-most) <= 1e-14) {
		t.Errorf("the longest record has %v, want %v; %v", norm, most, err)
	}
}
