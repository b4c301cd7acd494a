package pld

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/internal/fft"
)

// truth is 1 or 0.
func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// What the steps of a composition compute is what they computed: masses, tilts, lattices, error bounds, answers.
func TestFiguresStay(t *testing.T) {
	const add = privacy.AddRemove
	cases := []struct {
		name string
		p    privacy.Profile
	}{
		{"gaussian", hidden{privacy.GaussianProfile(0.7, add)}},
		{"laplace", must.Get(privacy.Laplace{Scale: 0.7, Sensitivity: 1}.Profile(add))},
		{"subsampled", must.Get(privacy.SubsampledGaussian{Sigma: 0.8, Sensitivity: 1, Rate: 0.02}.Profile(add))},
		{"half-normal", must.Get(privacy.HalfNormal{K: 0.1, A: 0.3}.Profile(add))},
		{"approx", must.Get(privacy.Approx{Epsilon: 0.4, Delta: 1e-4, Adj: add}.Profile(add))},
		{"pure", must.Get(privacy.Pure(1e-3, add).Profile(add))},
		{"told", must.Get(privacy.Approx{Epsilon: 3, Delta: 0.3, Adj: add}.Profile(add))},
	}
	tilts := []float64{8, 0.5, 60}
	golden.Figures(t, "testdata/figures.txt", 1e-7, func(say func(name string, values ...float64)) {
		for i, c := range cases {
			for j, d := range privacy.Directions {
				sayCurve(say, fmt.Sprintf("%s %v", c.name, d), newCurve(c.p, d, -60, 1), tilts[(2*i+j)%3])
			}
		}
		for _, n := range []int{1, 2, 3, 7, 11, 31, 97, 121, 1001, 4099, 65537} {
			say(fmt.Sprint("places ", n), float64(smooth(n)), fftError(n), float64(circle(-n, 10)),
				float64(circle(n, 10)))
		}
		uneven := &term{atoms{w: []float64{-0.6, -0.5, 0.25, 0.26, 0.3}, lnp: []float64{-1, -2, -3, -2, -1},
			lnInf: math.Inf(-1)}, 1} // off the lattice, and several at one place
		for _, side := range []float64{-1, 1} {
			l := uneven.tilt(0.7, lattice{step: 0.25, n: 64}, side)
			for i, x := range l.x {
				say(fmt.Sprint("tilted to side ", side, " at ", x), l.r[i], l.mass, l.kappa, l.variance)
			}
		}
		for _, n := range []int{1, 2, 5, 12} {
			c := []complex128{complex(0.9, 0.3), complex(-0.2, 0.7), complex(1e-9, 0)}
			power(c, n)
			say(fmt.Sprint("power ", n), real(c[0]), imag(c[0]), real(c[1]), imag(c[1]), real(c[2]))
		}
		for _, x := range []float64{1e-3, 0.4, 1, 30, 1e6} {
			say(fmt.Sprint("tilt ", x), logChernoffFactor(x), logSub(x, -1), lnWrap(x, 0.1, 0.01), lnWrap(x, 3, 1e-7))
		}
		for _, w := range []float64{1e-20, 1e-6, 0.3, 1, 5, 1e5, 1e12} {
			say(fmt.Sprint("reach ", w), reach(func(x float64) bool { return x >= w }))
		}
		compositions := []struct {
			name     string
			cs       []Component
			settings *Settings
		}{
			{"gaussian, subsampled", []Component{{cases[0].p, 3}, {cases[2].p, 40}},
				&Settings{Tolerance: 0.03}},
			{"two gaussians", []Component{{privacy.GaussianProfile(0.3, add), 4},
				{privacy.GaussianProfile(1, add), 1}}, nil},
			{"gaussian, laplace", []Component{{privacy.GaussianProfile(0.3, add), 2}, {cases[1].p, 2}},
				&Settings{Tolerance: 0.05}},
			{"half-normal", []Component{{cases[3].p, 5}}, &Settings{Tolerance: 1e-3}},
			{"approx", []Component{{cases[4].p, 30}}, &Settings{Tolerance: 0.03}},
			{"few points", []Component{{cases[2].p, 300}}, &Settings{MaxPoints: 64}},
			{"upper alone", []Component{{upperOnly{cases[2].p}, 7}}, nil},
			{"told", []Component{{cases[6].p, 2}, {cases[5].p, 1}}, nil},
		}
		for _, c := range compositions {
			k := must.Get(New(c.cs, c.settings))
			for _, x := range []float64{1e-30, 0.2} {
				b := must.Get(k.EpsilonBounds(x))
				say(fmt.Sprintf("%s, ε at %g, %s", c.name, x, b.Method), b.Lower, b.Upper)
			}
			for _, x := range []float64{-0.5, 1.5} {
				b := must.Get(k.DeltaBounds(x))
				say(fmt.Sprintf("%s, δ at %g, %s", c.name, x, b.Method), math.Exp(b.Lower), math.Exp(b.Upper))
			}
			low, up := k.Profile().(bounder).LogDeltaBounds(privacy.Add, math.Inf(1))
			say(c.name+", at infinity", low, up, k.runs, truth(k.hasLower()), float64(len(k.directions())))
			w := k.start(privacy.Remove, -20, 1)
			theta := w.coarse(func(ts terms) float64 { theta, _ := ts.tiltForDelta(-12); return theta })
			step := w.step(theta, 0.01)
			s := k.newRoot(privacy.Remove, -12)
			for _, tol := range []float64{1e-3, 1e-4, 3e-5} {
				s.w.scale = 1
				say(fmt.Sprintf("%s, rescaled for %g", c.name, tol), s.rescale(tol).scale, s.theta)
			}
			var finer []float64
			last := []float64{math.Inf(1), math.NaN(), 0.05, 0.05}
			for i, gap := range []float64{0.05, math.Inf(1), 0.04, 0.02} {
				next, again := w.finer(theta, step, gap, &last[i], 0.001)
				finer = append(finer, next, truth(again), last[i])
			}
			say(c.name+", finer", finer...)
			say(c.name+", plan", w.scale, theta, step, w.affordable(theta, 1e-6), w.aligned(), w.largest(),
				k.tolerance(w, theta), float64(len(w.curves[0].knots)))
			w.refine(theta, step)
			low = math.NaN()
			fits := w.invert(theta, step, -20, 2, func(up, l *tail) {
				if l != nil {
					low = float64(l.lat.n)
				}
				say(c.name+", lattice", float64(up.lat.first), float64(up.lat.n), up.lat.step, up.lat.reach, up.kappa)
			})
			say(c.name+", fits", truth(fits), low, float64(len(w.curves[0].knots)))
		}
	})
}

// sayCurve tells what is computed of one direction of one profile.
func sayCurve(say func(name string, values ...float64), name string, c *curve, theta float64) {
	n := len(c.knots) - 1
	slope, from := c.leftSlope()
	var ends []float64
	for i := 0; i < n; i += 2 {
		l, r := c.lowerEnds(i, theta)
		ends = append(ends, math.Exp(l), math.Exp(r))
	}
	say(name+", ends", ends...)
	say(name+", curve", float64(n), c.knots[0].eps, c.knots[n].eps, c.infLow, c.largest(), slope, from.eps)
	if low, ok := c.lowerAtoms(theta); ok {
		sayLaw(say, name+", coarse, below", low, theta, -1)
	}
	c.refine(theta, 0x1p-5, 1e-3/theta, 200)
	c.coarsen(0x1p-6)
	refined := len(c.knots)
	sayLaw(say, name+", above", c.upperAtoms(), theta, 1)
	if low, ok := c.lowerAtoms(theta); ok {
		sayLaw(say, name+", below", low, theta, -1)
	}
	c.coarsen(0x1p-3)
	say(name+", knots", float64(refined), float64(len(c.knots)), float64(len(c.mids)), c.knots[0].eps, c.mids[0].eps)
}

// sayLaw tells what is computed of one law and of its composition.
func sayLaw(say func(name string, values ...float64), name string, a atoms, theta, side float64) {
	ts := terms{{a, 3}, {a, 2}}
	atoms := float64(len(a.w))
	if atoms < 9 {
		atoms = 0 // of profiles that are broken lines rounding decides which corners there are
	}
	k, k1, k2 := ts.cumulant(theta)
	if math.Abs(k) < 1e-6 {
		return // what is left is rounding
	}
	to, eps := ts.tiltForDelta(-12)
	at, ln := ts.tiltForEpsilon(1)
	from, end := ts.window(theta, -30)
	say(name+", law", k, k1, k2, a.cumulantError(theta), a.lnInf, atoms, ts.maxTheta(), eps,
		ln, ts.chernoffEpsilon(-12), ts.chernoffDelta(1), to*at,
		from, end, ts.lnInfinity(1), ts.lnInfinity(-1))
	lat := lattice{step: 0x1p-6, first: int(math.Floor(from*64)) - 2, reach: end}
	lat.n = min(smooth(int(64*(end-from))+8), 5000)
	c := ts.tilt(theta, lat, side)
	band := c.band(lat.n)
	l := c.each[0]
	coefficients := make([]complex128, 9)
	err := l.coefficients(coefficients, make([]complex128, 9), fft.NewRoots(lat.n), lat.n)
	say(name+", tilted", float64(band), c.kappa, c.kappaErr, c.runs,
		1+l.paired(0), 1+l.paired(2), l.variance,
		l.kappa, err, real(coefficients[5]))
	whole, few := &tail{lat: lat, theta: theta, side: side}, &tail{lat: lat, theta: theta, side: side}
	whole.all(c)
	few.few(c, min(band, lat.n/2))
	both := compose(ts, theta, lat, -20, side)
	var points, answers []float64
	for _, m := range []int{lat.n / 20, lat.n / 3, lat.n / 2} {
		d, e := whole.value(m)
		if d < 1e6*e {
			d = 0 // rounding
		}
		_, f := few.value(m)
		_, g := both.value(m)
		at, _ := both.deltaAt(both.s(m) + 0x1p-8)
		points = append(points, d, e, f, g, math.Exp(both.lnDelta(m)), math.Exp(at))
	}
	for _, delta := range []float64{-1, -6, -14} {
		eps, above, ok := both.epsilon(delta, math.Inf(1))
		answers = append(answers, eps, truth(above), truth(ok))
	}
	say(name+", tail", append(points, answers...)...)
}
