package interval

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// normals are those of a seed.
func normals(k int) func(z []float64) {
	src := noise.NewSeeded(uint64(k))
	return func(z []float64) { src.Gaussian(z, 1) }
}

// guessed is what is expected where the curvature is m, times by, each feature a column.
func guessed(m *mat.SymDense, by float64) Guess {
	g := Guess{Curvature: mat.NewSymDense(m.SymmetricDim(), nil), Factor: 0.1,
		Sizes:  slices.Repeat([]float64{10}, m.SymmetricDim()),
		Scores: func(float64) float64 { return 1 }, Normals: normals}
	g.Curvature.ScaleSym(by, m)
	for j := range m.SymmetricDim() {
		g.Columns = append(g.Columns, Column{Span: matrix.Span{First: j, Len: 1}})
	}
	return g
}

// Under a heavy ridge estimates for the population are where the fit without one is, and those of the same fit stay; a
// curvature that is a tenth off moves them further than their width.
func TestLikelyCorrectsForTheRidge(t *testing.T) {
	x, y := records(200_000, []float64{1, -1, 0.5}, noise.NewSeeded(1))
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 300,
		Penalty: objpert.Penalty{Shrinkage: 100}, Sigma: 1e-3, Tolerance: 1e-6,
		OutputSigma: 1e-9}
	fit := func(lambda float64, more []float64) []float64 {
		s := must.Get(erm.Minimize(&erm.Problem{Rows: x, Labels: y, Loss: m.Loss, Lambda: lambda, Shrinkage: more},
			&erm.Settings{Tolerance: 1e-6}))
		return s.Theta
	}
	theta, truth := fit(m.Lambda, m.Shrink(3)), fit(1e-6, nil)
	h, _ := moments(m, x, y, theta, false, 0)
	for _, c := range []struct {
		by   float64 // of the curvature that is released
		want bool
	}{{1, true}, {1.1, false}, {0.9, false}} {
		mo := &Moments{Hessian: mat.NewSymDense(3, nil), HessianSigma: 1}
		mo.Hessian.ScaleSym(c.by, h)
		g := guessed(mo.Hessian, 1)
		g.Scores = func(float64) float64 { return 1e-2 } // these records are the population
		iv := must.Get(LikelyLaw(m, theta, mo, g, true, Settings{Level: 0.95})).Intervals(0.95)
		off := floats.Distance(iv.Estimate, truth, 2)
		if got := off < 0.02*floats.Distance(theta, truth, 2); got != c.want {
			t.Errorf("curvature times %v: estimates %v, want %v, shrunk %v", c.by, iv.Estimate, truth, theta)
		}
		same := must.Get(LikelyLaw(m, theta, mo, g, false, Settings{Level: 0.95})).Intervals(0.95)
		if floats.Distance(same.Estimate, theta, 2) > 1e-12 || same.Width() > 1e-4 {
			t.Errorf("of the same fit: %+v", same)
		}
	}
}

// With little noise the curvature is what was released, with much what was expected; intervals are the wider, the less
// is known of it.
func TestLikelyGoesFromTheReleasedToTheExpected(t *testing.T) {
	h := mat.NewSymDense(3, []float64{90, 20, 0, 20, 60, 0, 0, 0, 120})
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Sigma: 5, Tolerance: 1e-6, OutputSigma: 1e-9}
	theta := []float64{1, -1, 0.5}
	expected := mat.NewSymDense(3, []float64{90, 0, 0, 0, 60, 0, 0, 0, 120})
	last := 0.0
	for _, sigma := range []float64{1e-3, 5, 1e3} {
		p := must.Get(newProblem(m, theta, &Moments{Hessian: h, HessianSigma: sigma}, Settings{Level: 0.9,
			Linearise: true}, false))
		c := must.Get(p.estimate(guessed(expected, 1)))
		beside := c.curvature.At(0, 1)
		if sigma < 1 && !(math.Abs(beside-20) <= 0.1) || sigma > 100 && !(math.Abs(beside) <= 0.1) ||
			sigma == 5 && (beside < 5 || beside > 19.9) {
			t.Errorf("σ = %v: %v", sigma, beside)
		}
		iv := must.Get(LikelyLaw(m, theta, &Moments{Hessian: expected, HessianSigma: sigma}, guessed(expected, 1), true,
			Settings{Level: 0.9})).Intervals(0.9)
		if iv.Width() < 1.001*last {
			t.Errorf("σ = %v: width %v, %v before", sigma, iv.Width(), last)
		}
		last = iv.Width()
	}
	short := guessed(expected, 1)
	short.Columns = short.Columns[:2]
	mo := &Moments{Hessian: h, HessianSigma: 1}
	if _, err := LikelyLaw(m, theta, mo, short, true, Settings{Level: 0.9}); err == nil {
		t.Error("a feature is in no column")
	}
}

// Numbers that go with each other are seen to do so among many columns that do not: the curvature between them, 0.85 in
// units of theirs beside noise of 0.25, is not drawn to 0 as it is between columns of which most are independent, and
// as it stays between two that are no numbers.
func TestNumbersGoTogether(t *testing.T) {
	const d, of = 12, 100.0
	const sigma = 0.25 * of * math.Sqrt2
	h, expected := mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
	src := noise.NewSeeded(3)
	for i := range d {
		expected.SetSym(i, i, of)
		for j := i; j < d; j++ {
			h.SetSym(i, j, expected.At(i, j)+0.25*of*src.NormFloat64())
		}
	}
	h.SetSym(0, 1, 0.85*of)
	h.SetSym(8, 9, 0.85*of)
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Sigma: 5, Tolerance: 1e-6, OutputSigma: 1e-9}
	p := must.Get(newProblem(m, make([]float64, d), &Moments{Hessian: h, HessianSigma: sigma},
		Settings{Level: 0.9, Linearise: true}, false))
	g := guessed(expected, 1)
	for k := range 4 {
		g.Columns[k].Off = 0.35
	}
	c := must.Get(p.estimate(g))
	at := func(i, j int) float64 { // the directions of d columns of one feature each may be of either sign
		return math.Abs(c.curvature.At(i, j)) / of
	}
	if !(at(0, 1) > 0.4) || !(at(8, 9) < 0.3) {
		t.Errorf("of 0.85: %.2f between numbers, %.2f between others", at(0, 1), at(8, 9))
	}
}

// How large residuals are is told by the curvature of the constant alone, which how columns spread is not in: of a
// least-squares fit it is 1 wherever they are below the clip, so that a factor a tenth too large would say that they
// are none. Where noise leaves that open, ρ is a mean.
func TestSamplingGoesByTheConstant(t *testing.T) {
	h := mat.NewSymDense(3, []float64{80, 0, 0, 0, 80, 0, 0, 0, 110})
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Sigma: 5, Tolerance: 1e-6, OutputSigma: 1e-9}
	g := guessed(mat.NewSymDense(3, []float64{100, 0, 0, 0, 100, 0, 0, 0, 100}), 1)
	g.Constant, g.Scores = 2, func(f float64) float64 { return math.Max(0, 1.15-f) }
	for sigma, want := range map[float64]float64{1e-6: 0.05, 10: 0.1025} { // at 10 of N(1.05, 1/200)
		p := must.Get(newProblem(m, make([]float64, 3), &Moments{Hessian: h, HessianSigma: sigma},
			Settings{Level: 0.9, Linearise: true}, false))
		if got := p.sampling(g); !(math.Abs(got/want-1) <= 0.03) {
			t.Errorf("noise %g: ρ = %.4f, want %.4f", sigma, got, want)
		}
	}
}

// Where columns are independent each noise counts in full in the law of the same fit, of one form and of all together:
// the tilt, the output's, and, where no curvature was released, that what is expected may be off.
func TestLawCountsEveryNoise(t *testing.T) {
	c, theta := []float64{90, 60, 120}, []float64{1, -1, 0.5}
	h := mat.NewSymDense(3, nil)
	for j, v := range c {
		h.SetSym(j, j, v)
	}
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 30, Sigma: 5, Tolerance: 1e-12, OutputSigma: 0.03}
	for _, mo := range []*Moments{{Hessian: h, HessianSigma: 1e-9}, nil} {
		g := guessed(h, 1)
		g.Doubts = []float64{0, 0.5, 0.2}
		if mo != nil { // it tells
			g.Doubts = []float64{0, 0, 1e-12}
		}
		l := must.Get(LikelyLaw(m, theta, mo, g, false, Settings{Level: 0.9}))
		joint := l.Covariance(0, 3)
		for j := range c {
			var off float64 // of E′δ, whose entries have variances of their own, and of a factor of all
			for i := 0; i < 3 && mo == nil; i++ {
				by := usual * usual / 2
				if i == j {
					by = usual*usual + g.Factor*g.Factor + g.Doubts[j]*g.Doubts[j]
				}
				off += by * c[i] * c[j] * math.Pow(m.Sigma/(c[i]+m.Lambda), 2)
			}
			want := (m.Sigma*m.Sigma+off)/math.Pow(c[j]+m.Lambda, 2) + m.OutputSigma*m.OutputSigma
			half := l.Halves(j, 1, 0.95)[0] / twoSided(0.05)
			for what, got := range map[string]float64{"half": half * half, "joint": joint.At(j, j)} {
				if !(math.Abs(got/want-1) <= 1e-6) {
					t.Errorf("released %v, %s: a variance of %v, want %v", mo != nil, what, got, want)
				}
			}
		}
	}
}

// Where the noise hides all, the population is what it was beforehand, each coefficient by its own size, in whatever
// directions the columns are looked at.
func TestWhatIsKnownBeforehand(t *testing.T) {
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Sigma: 1e6, Tolerance: 1e-12,
		OutputSigma: 1e-9}
	g := guessed(mat.NewSymDense(3, []float64{60, 20, 0, 20, 60, 0, 0, 0, 50}), 1)
	g.Columns = []Column{{Span: matrix.Span{Len: 2}}, {Span: matrix.Span{First: 2, Len: 1}}}
	g.Sizes = []float64{10, 1, 3}
	l := must.Get(LikelyLaw(m, make([]float64, 3), &Moments{Hessian: g.Curvature, HessianSigma: 1}, g, true,
		Settings{Level: 0.9}))
	for j, size := range g.Sizes {
		if got, want := l.Halves(j, 1, 0.95)[0], size*twoSided(0.05); !(math.Abs(got/want-1) <= 1e-6) {
			t.Errorf("coefficient %d: half of an interval is %v, want %v", j, got, want)
		}
	}
}

// How many records have a feature moves its entry of the diagonal, and so every entry within its column, in whatever
// directions that is looked at; the noise of the curvature that was released says how far it is believed.
func TestDoubtsOfShares(t *testing.T) {
	h := mat.NewSymDense(2, []float64{60, 20, 20, 60}) // 80 along (1, 1), 40 along (1, −1)
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 30, Sigma: 5, Tolerance: 1e-12, OutputSigma: 0.03}
	for _, sigma := range []float64{7, math.Inf(1)} {
		mo := &Moments{Hessian: h, HessianSigma: sigma}
		p := must.Get(newProblem(m, []float64{1, -1}, mo, Settings{Level: 0.9, Linearise: true}, false))
		g := guessed(h, 1)
		g.Columns = []Column{{Span: matrix.Span{Len: 2}}}
		g.Doubts = []float64{0.5, 0.3}
		c := must.Get(p.estimate(g))
		tau := usual * usual // the likeliest where z is what was expected
		if !math.IsInf(sigma, 1) {
			tau = spread([]entry{{0, 0, 0, math.Pow(sigma/40, 2), math.Sqrt(900+324) / 2 / 40},
				{1, 1, 0, math.Pow(sigma/80, 2), math.Sqrt(900+324) / 2 / 80},
				{0, 1, 0, sigma * sigma / 3200, math.Sqrt((900 + 324) / 4 / 3200.)}}, usual)
		}
		values := []float64{40, 80}
		for i := range 2 {
			for j := range 2 {
				by, doubt := values[i]*values[j], (900.+324)/4 // Σ of (60·0.5)² and (60·0.3)², each times u⁴ = 1/4
				if i != j {
					doubt *= 2 // of which half is meant
				}
				known := tau*by + doubt
				want := known
				if noise := sigma * sigma; !math.IsInf(sigma, 1) {
					want = known * noise / (known + noise)
				}
				if got := c.variance.At(i, j); !(math.Abs(got/want-1) <= 1e-9) {
					t.Errorf("σ = %v, entry %d, %d: a variance of %v, want %v", sigma, i, j, got, want)
				}
			}
		}
	}
}

// A curvature is drawn with the variances of what is not known of it, of which those beside the diagonal are half:
// of 20,000 draws a standard deviation that is a tenth off is noticed.
func TestDrawsOfTheCurvature(t *testing.T) {
	const draws = 20_000
	c := estimate{curvature: mat.NewSymDense(2, []float64{50, 10, 10, 30}),
		variance: mat.NewSymDense(2, []float64{9, 6, 6, 4})}
	want := mat.NewSymDense(2, []float64{9, 3, 3, 4})
	src := normals(1)
	var sum, square [2][2]float64
	for range draws {
		m := c.draw(src)
		for i := range 2 {
			for j := range 2 {
				off := m.At(i, j) - c.curvature.At(i, j)
				sum[i][j], square[i][j] = sum[i][j]+off/draws, square[i][j]+off*off/draws
			}
		}
	}
	for i := range 2 {
		for j := range 2 {
			w := want.At(i, j)
			if !(math.Abs(square[i][j]/w-1) <= 0.05) || !(math.Abs(sum[i][j]) <= 0.03*math.Sqrt(w)) {
				t.Errorf("entry %d, %d: mean %v and variance %v, want 0 and %v", i, j, sum[i][j], square[i][j], w)
			}
		}
	}
}

// The law of the population given M is that of a normal vector of which y = Mθ⋆ − b − g is seen, by the formula with
// the covariance of y, whatever M is and in whatever basis.
func TestGivenTheCurvature(t *testing.T) {
	const sigma, rho = 3.0, 0.8
	squares := mat.NewDiagDense(3, []float64{4, 0.25, 9}) // of the sizes
	before := mat.NewSymDense(3, []float64{1. / 4, 0, 0, 0, 4, 0, 0, 0, 1. / 9})
	m := mat.NewSymDense(3, []float64{20, 6, 1, 6, 5, -2, 1, -2, 2})
	theta, pull := mat.NewVecDense(3, []float64{1, -1, 0.5}), mat.NewVecDense(3, []float64{4, 2, -3})
	values, vectors, ok := matrix.Eigen(m)
	if !ok {
		t.Fatal("no eigenvalues")
	}
	moved, root := given(values, vectors, before, theta, pull, sigma, rho)
	var got mat.SymDense
	got.SymOuterK(1, root)
	var y, wantMean mat.VecDense
	y.MulVec(m, theta)
	y.AddVec(&y, pull)
	var of, inverse, cross, want mat.Dense // cov y = MS²M + σ²I + ρM
	of.Product(m, squares, m)
	for i := range 3 {
		for j := range 3 {
			of.Set(i, j, of.At(i, j)+rho*m.At(i, j))
		}
		of.Set(i, i, of.At(i, i)+sigma*sigma)
	}
	must.Do(inverse.Inverse(&of))
	cross.Product(squares, m, &inverse)
	wantMean.MulVec(&cross, &y)
	wantMean.SubVec(&wantMean, theta)
	want.Product(&cross, m, squares)
	for i := range 3 {
		if !(math.Abs(moved.AtVec(i)-wantMean.AtVec(i)) <= 1e-10) {
			t.Errorf("mean %d: %v, want %v", i, moved.AtVec(i), wantMean.AtVec(i))
		}
		for j := range 3 {
			w := squares.At(i, j) - want.At(i, j)
			if !(math.Abs(got.At(i, j)-w) <= 1e-10) {
				t.Errorf("entry %d, %d: %v, want %v", i, j, got.At(i, j), w)
			}
		}
	}
}

// TestAtOnceCovers: of 2,000 normal vectors 94 to 96 % are within the band that atOnce makes, whatever the covariance,
// and fewer where it is narrower by a tenth.
func TestAtOnceCovers(t *testing.T) {
	rng := noise.NewSeeded(12)
	const reps, n = 2000, 57
	narrow := 0.0
	for _, rank := range []int{1, 3, 8} {
		root := mat.NewDense(n, rank, nil)
		for k := range rank {
			for i := range n {
				root.Set(i, k, math.Sin(float64(i*(k+1))/9+float64(k)+0.1)*rng.Float64())
			}
		}
		var cov mat.SymDense
		cov.SymOuterK(1, root)
		l := &Law{forms: root, given: mat.NewDense(n, 1, nil), roots: []*mat.Dense{mat.DenseCopyOf(unit(rank))},
			moved: []*mat.VecDense{mat.NewVecDense(rank, nil)}, all: unit(rank), Slack: make([]float64, n),
			drawn: func() []sample { return sampled(1, rank, 1, normals(0)) }}
		c := l.HalvesAtOnce(0, n, func(int) bool { return true }, 0.95)[0] /
			math.Sqrt(cov.At(0, 0))
		z, v := make([]float64, rank), mat.NewVecDense(n, nil)
		var in, less int
		for range reps {
			rng.Gaussian(z, 1)
			v.MulVec(root, mat.NewVecDense(rank, z))
			far := 0.0
			for i := range n {
				far = math.Max(far, math.Abs(v.AtVec(i))/math.Sqrt(cov.At(i, i)))
			}
			if far <= c {
				in++
			}
			if far <= 0.9*c {
				less++
			}
		}
		t.Logf("rank %d: c = %.3f, %.2f %% covered", rank, c, 100*float64(in)/reps)
		if in < 0.94*reps || in > 0.96*reps {
			t.Errorf("rank %d: %d of %d covered", rank, in, reps)
		}
		narrow = math.Max(narrow, float64(less)/reps)
	}
	if narrow > 0.94 {
		t.Errorf("a band narrower by a tenth covers %v", narrow)
	}
}

// An interval and a band of one form have it with their level where it is of a mixture: of 100,000 vectors from it, one
// a tenth narrower has fewer.
func TestIntervalsOfAMixture(t *testing.T) {
	const level, reps, output = 0.9, 100_000, 0.5
	one := func(v float64) *mat.Dense { return mat.NewDense(1, 1, []float64{v}) }
	vector := func(v float64) *mat.VecDense { return mat.NewVecDense(1, []float64{v}) }
	l := &Law{forms: one(2), given: one(1), output: output, Slack: []float64{0.25},
		drawn: func() []sample { return sampled(3, 1, 1, normals(0)) }}
	at, sd := []float64{1.5, -0.5, -1}, []float64{0.3, 1, 2}
	l.all = mat.NewSymDense(1, nil)
	for k := range at {
		l.moved, l.roots = append(l.moved, vector(at[k])), append(l.roots, one(sd[k]))
		l.all.SetSym(0, 0, l.all.At(0, 0)+(at[k]*at[k]+sd[k]*sd[k])/3)
	}
	src := noise.NewSeeded(3)
	halves := map[string]float64{"one": l.Halves(0, 1, level)[0],
		"at once": l.HalvesAtOnce(0, 1, func(int) bool { return true }, level)[0]}
	var off []float64
	for range reps {
		k := src.IntN(3)
		off = append(off, math.Abs(2*(at[k]+sd[k]*src.NormFloat64())+output*src.NormFloat64())+0.25)
	}
	for what, half := range halves {
		var in, less float64
		for _, v := range off {
			if v <= half {
				in += 1.0 / reps
			}
			if v <= 0.95*half {
				less += 1.0 / reps
			}
		}
		if !(math.Abs(in-level) <= 0.01) || less > level-0.01 {
			t.Errorf("%s: %.4f covered, and %.4f by one narrower by a twentieth", what, in, less)
		}
	}
}

// The covariance of a law is the mean of those of its draws and of the squares of how far their means are from that of
// all, which is where the centre is.
func TestLawIsOfItsDraws(t *testing.T) {
	h := mat.NewSymDense(3, []float64{90, 20, 0, 20, 60, 0, 0, 0, 120})
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 10, Sigma: 5, Tolerance: 1e-6, OutputSigma: 1e-9}
	l := must.Get(LikelyLaw(m, []float64{1, -1, 0.5}, &Moments{Hessian: h, HessianSigma: 30}, guessed(h, 1), true,
		Settings{Level: 0.9}))
	joint := l.Covariance(0, 3)
	for j := range 3 {
		var want, mean float64
		for k, root := range l.roots {
			var along mat.VecDense
			along.MulVec(root.T(), l.forms.RowView(j))
			at := mat.Dot(l.forms.RowView(j), l.moved[k])
			want += (mat.Dot(&along, &along) + at*at) / float64(len(l.roots))
			mean += at / float64(len(l.roots))
		}
		if !(math.Abs(joint.At(j, j)/want-1) <= 1e-9) || !(math.Abs(mean) <= 1e-9) {
			t.Errorf("form %d: a variance of %v, want %v; mean %v", j, joint.At(j, j), want, mean)
		}
	}
}

// The likeliest spread is where the slope of its likelihood vanishes: of one entry z of noise n, whose variance v is t²
// + n, and half of that beside the diagonal, where z² = v(1 + (t² + n)/t²·ln(t/off)/0.7²); without entries it is the
// usual one.
func TestSpread(t *testing.T) {
	for _, k := range []int{20, 35, 50} {
		at := 0.01 * math.Pow(10, float64(k)/30)
		if got := spread(nil, at); !(math.Abs(got/(at*at)-1) <= 1e-9) {
			t.Errorf("nothing is known, and %v is likelier than %v", got, at*at)
		}
		for _, usual := range []float64{0.7, 1, 1.3} {
			for j, v := range map[int]float64{0: at * at, 1: at * at / 2} {
				for _, noise := range []float64{0, 0.3} {
					n := noise * at * at
					z := math.Sqrt(v * (1 + noise) * (1 - (1+noise)*math.Log(usual)/0.49))
					if got := spread([]entry{{0, j, z, n, 0}}, usual*at); !(math.Abs(math.Log(got/(at*at))) <= 0.08) {
						t.Errorf("%v of %v: %v, want %v", z, entry{0, j, z, n, 0}, got, at*at)
					}
				}
			}
		}
	}
}

// The directions of columns are orthonormal, and within the basis of what rows have: three indicators have two.
func TestDirectionsAreWithinTheBasis(t *testing.T) {
	a, b := 1/math.Sqrt2, 1/math.Sqrt(6)
	basis := mat.NewDense(4, 3, []float64{1, 0, 0, 0, a, b, 0, -a, b, 0, 0, -2 * b})
	curvature := mat.NewSymDense(4, []float64{5, 1, 0, 0, 1, 3, 1, 0, 0, 1, 4, 1, 0, 0, 1, 2})
	p := &problem{m: objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1}, theta: make([]float64, 4), d: 3,
		s: Settings{Basis: basis}}
	var c estimate
	values, column, err := c.directions(p, Guess{Curvature: curvature, Columns: []Column{{Span: matrix.Span{Len: 1}},
		{Span: matrix.Span{First: 1, Len: 3}}}})
	if err != nil || len(values) != 3 || !slices.Equal(column, []int{0, 1, 1}) {
		t.Fatalf("%v of %v: %v", values, column, err)
	}
	var gram, inside, back mat.Dense
	gram.Mul(c.vectors.T(), c.vectors)
	inside.Mul(basis.T(), c.vectors)
	back.Mul(basis, &inside)
	if !mat.EqualApprox(&gram, unit(3), 1e-12) || !mat.EqualApprox(&back, c.vectors, 1e-12) {
		t.Errorf("%v", mat.Formatted(c.vectors))
	}
	for k, v := range values {
		if at := c.vectors.ColView(k); !(math.Abs(mat.Inner(at, curvature, at)-v) <= 1e-12) {
			t.Errorf("the curvature along direction %d is %v, not %v", k, mat.Inner(at, curvature, at), v)
		}
	}
}
