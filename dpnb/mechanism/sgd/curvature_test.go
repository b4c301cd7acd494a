package sgd

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// One record more changes the counts, G and the C_k by no more than the noise was made for, whatever the others are,
// rows beyond the bound and residuals on the edge included; and comes near to it.
func TestOneRecordOfCurvature(t *testing.T) {
	src := noise.NewSeeded(8)
	const d, levels = 3, 2
	longest := 0.0
	for n := 1; n < 60; n += 7 {
		rows, labels, theta := matrix.NewDense(n, d, nil), make([]float64, n), make([]float64, levels*d)
		src.Gaussian(rows.Data, 2)
		src.Gaussian(labels, 0.3)
		src.Gaussian(theta, 0.2)
		width := []float64{0.5, math.Inf(1)}
		all := newRecords(rows, labels, 1)
		less := newRecords(matrix.NewDense(n-1, d, rows.Data[:(n-1)*d]), labels[:n-1], 1)
		a, b := all.counts(theta, levels), less.counts(theta, levels)
		floats.Sub(a, b)
		if norm := floats.Norm(a, 2); norm != math.Sqrt(levels) {
			t.Errorf("counts change by %g", norm)
		}
		others := less.outers(theta, width, 1, 1)
		for k, m := range all.outers(theta, width, 1, 2) {
			var change mat.Dense
			change.Sub(m, others[k])
			norm := mat.Norm(&change, 2)
			if longest = math.Max(longest, norm); norm > 1+exactRounding {
				t.Errorf("n = %d: matrix %d changes by %.9f", n, k, norm)
			}
		}
	}
	if longest < 0.999 {
		t.Errorf("no matrix changes by more than %g", longest)
	}
}

const exactRounding = 1e-6

// Descent, counts and matrices together cost what one descent does, no less, and a millionth more at most, whatever the
// norm R of rows: a record adds R² to a matrix.
func TestCurvatureCost(t *testing.T) {
	for norm, share := range map[float64]float64{1: 1e-3, 3: 0.2, 0.25: 0.9} {
		q := quantiles(deciles)
		q.RowNorm = norm
		c := q.WithCurvature(share)
		count, gram, near := c.scales()
		gram, near = gram/(norm*norm), near/(norm*norm)
		k := math.Sqrt(float64(len(deciles)))
		got := q.Cost()
		of := c.Fit.NoiseMultiplier
		got.NoiseMultiplier = math.Sqrt(float64(q.Steps) / (float64(q.Steps)/(of*of) + k*k/(count*count) +
			1/(gram*gram) + k*k/(near*near)))
		for _, least := range []float64{q.NoiseMultiplier, c.Cost().NoiseMultiplier} {
			if r := got.NoiseMultiplier / least; r < 1 || r > 1+2e-6 {
				t.Errorf("share %g: multiplier %.9g for %.9g", share, got.NoiseMultiplier, least)
			}
		}
		if c.Cost().NoiseMultiplier < q.NoiseMultiplier {
			t.Errorf("share %g: it says %.17g of %.17g", share, c.Cost().NoiseMultiplier, q.NoiseMultiplier)
		}
	}
	var param *privacy.ParamError
	shrunk := quantiles([]float64{0.5})
	shrunk.Update.Shrink = []float64{1}
	for name, c := range map[string]Curvature{"no share": quantiles(deciles).WithCurvature(0),
		"all of it": {Fit: quantiles(deciles), Share: 1}, "ℓ₁": shrunk.WithCurvature(0.5)} {
		if err := c.Validate(); !errors.As(err, &param) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of rows of norm r the coefficients are those of rows of norm 1 over r, and the matrices r² times theirs, of the same
// noise: whatever r is, rows are cut at it, and sums are rounded to a share of it.
func TestCurvatureInUnits(t *testing.T) {
	const n, d = 500, 2
	src := noise.NewSeeded(4)
	plain, labels := matrix.NewDense(n, d, nil), make([]float64, n)
	src.Gaussian(plain.Data, 0.6)
	src.Gaussian(labels, 0.3)
	run := func(r float64) (theta []float64, m *Moments) {
		rows := matrix.NewDense(n, d, nil)
		floats.AddScaled(rows.Data, r, plain.Data)
		q := quantiles([]float64{0.3, 0.6})
		q.RowNorm, q.Update.Radius = r, q.Update.Radius/r
		out := must.Get(q.WithCurvature(0.3).Run(rows, labels, noise.NewSeeded(1), nil))
		return out.Coefficients, out.Also.(*Moments)
	}
	theta, of := run(1)
	for _, r := range []float64{0x1p-30, 0.25, 8, 0x1p30} {
		coefficients, m := run(r)
		for _, c := range []struct {
			what      string
			got, want []float64
			by        float64
		}{{"coefficients", coefficients, theta, 1 / r}, {"widths", m.Width, of.Width, 1}, {"G", m.Gram, of.Gram, r * r},
			{"C", m.Near, of.Near, r * r}} {
			for j, v := range c.got {
				if !(math.Abs(v/c.by-c.want[j]) <= 1e-9*(1+math.Abs(c.want[j]))) {
					t.Fatalf("rows of norm %g: %s %v, want %v times %v", r, c.what, c.got, c.by, c.want)
				}
			}
		}
	}
}

// around releases and returns the 95 % intervals of the population's coefficients, and what they rest on.
func around(t *testing.T, c Curvature, rows matrix.Rows, labels []float64) (*Around, *Moments) {
	t.Helper()
	r := must.Get(c.Run(rows, labels, noise.NewSeeded(3), nil))
	a := must.Get(c.Around(r.Also.(*Moments), 0.95, true, nil))
	return a, r.Also.(*Moments)
}

// Where there is no noise to speak of the centre of the intervals is the sample's median, the width that of its law,
// 1/(2f√n), and equal labels are found out.
func TestAroundAMedian(t *testing.T) {
	const n = 20_001
	rows, labels := matrix.NewDense(n, 1, nil), make([]float64, n)
	for i := range labels {
		rows.Data[i], labels[i] = 1, -0.7+float64(i)/n // even, of density 1
	}
	q := quantiles([]float64{0.5})
	q.Steps, q.Update.Steps, q.NoiseMultiplier = 192, 192, 0.05
	c := q.WithCurvature(0.2)
	a, m := around(t, c, rows, labels)
	want := 1.96 / (2 * math.Sqrt(n))
	if !(math.Abs(a.Centre[0]+0.2) <= 1e-3) || !(math.Abs(a.Half[0]/want-1) <= 0.03) {
		t.Errorf("%.5f ± %.5f, want −0.2 ± %.5f", a.Centre[0], a.Half[0], want)
	}
	if !(math.Abs(m.Records-n) <= 5) || !(math.Abs(m.Density[0]-1) <= 0.1) {
		t.Errorf("%g records of density %g", m.Records, m.Density[0])
	}
	for i := range labels {
		labels[i] = math.Round(labels[i]*5) / 5
	}
	if a, _ := around(t, c, rows, labels); !math.IsInf(a.Half[0], 1) || a.Why[0] == "" {
		t.Errorf("equal labels have ± %g", a.Half[0])
	}
	if _, err := c.Around(m, 1, true, nil); err == nil {
		t.Error("a level of 1")
	}
}

// Every level and every feature has an interval of its own.
func TestAroundOfSeveralLevels(t *testing.T) {
	const n = 4000
	rows, labels := matrix.NewDense(n, 2, nil), make([]float64, n)
	for i := range labels {
		rows.Data[2*i], rows.Data[2*i+1], labels[i] = 0.6, 0.8*float64(1-i%2*2), float64(i)/n
	}
	q := quantiles([]float64{0.25, 0.5})
	q.Steps, q.Update.Steps, q.NoiseMultiplier = 64, 64, 0.05
	c := q.WithCurvature(0.2)
	a, m := around(t, c, rows, labels)
	for i, want := range []float64{0.25 / 0.6, 0, 0.5 / 0.6, 0} {
		if half := a.Half[i]; !(half > 0 && half < 0.2) || !(math.Abs(a.Centre[i]-want) <= 2*half) {
			t.Errorf("coefficient %d: %g ± %g, want %g", i, a.Centre[i], half, want)
		}
	}
	// A form that has a little of a direction of which nothing is known is known less well by all that coefficients may
	// differ there.
	const little = 0.003
	known, curved := c.known(m, 2), m.Near[0]+m.Near[3]
	copy(known.Near, []float64{0.64 * curved, 0.48 * curved, 0.48 * curved, 0.36 * curved})
	_, half, why := c.around(known, 0, 0.95, true, [][]float64{{0.8, 0.6}, {0.8 - 0.6*little, 0.6 + 0.8*little}})
	if want := 2 * c.Fit.Update.Within() * little; !(math.Abs(half[1]-half[0]-want) <= 1e-9) {
		t.Errorf("± %g, and ± %g with a part that is not known, want %g more (%s)", half[0], half[1], want, why)
	}
}

// crps is ∫(Φ((v−a)/s) − 1{v>0})²dv.
func TestCRPS(t *testing.T) {
	for _, z := range []float64{0, 0.3, -2} {
		var sum float64
		const step = 1e-4
		for v := -12.0; v < 12; v += step {
			f := 0.5 * math.Erfc(-(v-z)/math.Sqrt2)
			if v+step/2 > 0 {
				f--
			}
			sum += f * f * step
		}
		if got := crps(2*z, 2); !(math.Abs(got/(2*sum)-1) <= 1e-3) {
			t.Errorf("mean %g: %g, want %g", z, got, 2*sum)
		}
	}
	if crps(-3, 0) != 3 {
		t.Error("a law without spread")
	}
}

// Rows that are made when they are read have the sums of a copy of them, to the last bit.
func TestSumsOfMadeRows(t *testing.T) {
	const n, d, levels = 700, 5, 2
	src := noise.NewSeeded(9)
	base, u, labels := matrix.NewDense(n, d, nil), make([]float64, d), make([]float64, n)
	theta := make([]float64, levels*d)
	for _, v := range [][]float64{base.Data, u, labels, theta} {
		src.Gaussian(v, 0.5)
	}
	made := &matrix.Affine{Base: base, U: u, Bias: 1}
	sums := func(rows matrix.Rows) []float64 {
		r := newPassed(rows, labels, 1)
		s := newSuffixes(r, levels, 1)
		s.sum(theta)
		return append(s.totals, square(r.outers(theta, []float64{0.5}, 1, 1)[0])...)
	}
	if got, want := sums(made), sums(matrix.Densed(made)); !floats.Equal(got, want) {
		t.Errorf("%v, and of the copy %v", got, want)
	}
}

// What G says to expect of an eigenvalue of the curvature is in proportion to the density at the quantile.
func TestWhatIsExpectedOfTheCurvature(t *testing.T) {
	c := quantiles([]float64{0.5}).WithCurvature(0.3)
	_, _, noise := c.scales()
	for density, known := range map[float64]bool{4: true, 0.25: false} {
		m := &Moments{Theta: []float64{0}, Gradient: []float64{0}, Scatter: []float64{0.01}, Records: 1000,
			Width: []float64{0.25}, Density: []float64{density}, Tied: []bool{false}, Gram: []float64{4 * noise},
			Near: []float64{10 * noise}}
		if a := must.Get(c.Around(m, 0.95, true, nil)); strings.Contains(a.Why[0], "out of its noise") == known {
			t.Errorf("density %v: %q", density, a.Why[0])
		}
	}
}

// Labels are called tied when more than a fifth of them and three deviations of the noise of a count are at the fit.
func TestTiedBeyondThreeDeviations(t *testing.T) {
	const n = 400
	q := quantiles([]float64{0.5})
	q.Update.Radius, q.NoiseMultiplier = 1e-9, 3
	c := q.WithCurvature(0.3)
	ofCount, _, _ := c.scales()
	for deviations, most := range map[float64][2]int{2: {0, 20}, 3.5: {22, 38}, 5: {40, 60}} {
		rows, labels, tied := matrix.NewDense(n, 1, nil), make([]float64, n), 0
		for i := range labels {
			rows.Data[i], labels[i] = 1, 0.5
			if float64(i) < 0.2*n+deviations*ofCount {
				labels[i] = 0
			}
		}
		for seed := range uint64(60) {
			if must.Get(c.Run(rows, labels, noise.NewSeeded(seed), nil)).Also.(*Moments).Tied[0] {
				tied++
			}
		}
		if tied < most[0] || tied > most[1] {
			t.Errorf("%v deviations beyond a fifth: tied in %d of 60", deviations, tied)
		}
	}
}

// Along a basis of the directions in which rows have anything every form of such a direction is what it was: of the
// iterates, of the gradients, and squared of the matrices. Nowhere is over the features, or refused.
func TestMomentsAlongABasis(t *testing.T) {
	const d, levels = 4, 2
	c := Curvature{Nowhere: []matrix.Direction{{First: 0, Weights: []float64{1, -2}},
		{First: 1, Weights: []float64{0, 3, 1}}}}
	rng := rand.New(rand.NewPCG(1, 2))
	normal := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	m := &Moments{Theta: normal(levels * d), Gradient: normal(levels * d), Gram: normal(d * d),
		Near: normal(levels * d * d)}
	k := c.known(m, d)
	p := k.size()
	if p != d-len(c.Nowhere) {
		t.Fatalf("%d directions are left of %d", p, d)
	}
	form := normal(d)
	form[0], form[2] = 2*form[1], -form[3]/3 // so that it has nothing along these two
	within := mat.NewVecDense(p, k.inside(form))
	all := mat.NewVecDense(d, form)
	for name, of := range map[string][2][]float64{"iterates": {m.Theta, k.Theta}, "gradients": {m.Gradient,
		k.Gradient}} {
		for level := range levels {
			// Of what lies along the basis the form is what it was; all else is gone.
			got := mat.Dot(within, mat.NewVecDense(p, of[1][level*p:(level+1)*p]))
			if want := mat.Dot(all, mat.NewVecDense(d, of[0][level*d:(level+1)*d])); !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("%s of level %d: the form is %v, want %v", name, level, got, want)
			}
		}
	}
	for name, of := range map[string][2][]float64{"G": {m.Gram, k.Gram}, "C": {m.Near, k.Near}} {
		for level := range len(of[0]) / (d * d) {
			got := mat.Inner(within, mat.NewDense(p, p, of[1][level*p*p:(level+1)*p*p]), within)
			if want := mat.Inner(all, mat.NewDense(d, d, of[0][level*d*d:(level+1)*d*d]), all); !(math.Abs(got-want) <=
				1e-12) {
				t.Errorf("%s of level %d: the form is %v, want %v", name, level, got, want)
			}
		}
	}
	for _, bad := range []matrix.Direction{{First: -1, Weights: []float64{1}}, {First: 0}, {First: 3,
		Weights: []float64{1, 1}}} {
		c.Nowhere[1] = bad
		if c.Within(d) == nil {
			t.Errorf("%+v is over %d features", bad, d)
		}
	}
	for _, good := range []matrix.Direction{{First: 0, Weights: []float64{1}}, {First: 2, Weights: []float64{1, 1}},
		{First: 3, Weights: []float64{1}}} {
		c.Nowhere[1] = good
		if err := c.Within(d); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
}
