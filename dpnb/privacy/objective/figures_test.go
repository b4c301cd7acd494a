package objective

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What bounds of objective perturbation are computed from, and what they are, is what it was.
func TestFiguresStay(t *testing.T) {
	testscale.Slow(t)
	all := testCurves(t)
	golden.Figures(t, "testdata/figures.txt", 1e-7, func(say func(name string, values ...float64)) {
		sayArithmetic(say)
		for _, c := range []struct {
			curve         Curve
			lambda, sigma float64
		}{
			{all[0], 0.11, 1.9}, {all[0], 0.31, 0.7}, {all[1], 0.23, 2.07}, {all[4], 0.41, 1.1}, {all[5], 0.9, 3.1},
			{all[6], 0.7, 2.3}, {all[7], 1e-3, 1.3},
		} {
			p := &problem{curve: c.curve, lambda: c.lambda, sigma: c.sigma}
			of := func(what string) string {
				return fmt.Sprintf("%v λ=%g σ=%g, %s", c.curve, c.lambda, c.sigma, what)
			}
			sayCells(say, of, p)
			for _, eps := range []float64{0.2, 1.5} {
				sayPaths(say, func(what string) string { return fmt.Sprintf("%s at %g", of(what), eps) }, p, eps)
			}
			sayBounds(say, of, Config{Curve: c.curve, Lambda: c.lambda, Sigma: c.sigma})
		}
		sayOthers(say, all)
	})
}

func sayArithmetic(say func(name string, values ...float64)) {
	for _, x := range []float64{-3, -0.4, 0.1, 0.69, 2, 9} {
		var v []float64
		for _, h := range []float64{1e-3, 0.05, 0.3} {
			q, e, ok := stretch(x, h)
			m, miss := normalMass(x, x+h, 0.5)
			far, missFar := normalMass(x, x+3*math.Abs(x), 1)
			v = append(v, q, e, truth(ok), m, miss, far, missFar, chordMass(x, x+h, 0.3, 0.2, 0), chordMass(x, x+h,
				-h, 1, 2),
				chordMass(x, x+h, 1, -h, 2))
		}
		say(fmt.Sprint("mass ", x), v...)
		for _, k := range []float64{1e-3, 0.5, 40} {
			rate, at := peakRate(math.Abs(x), k, edge(2, math.Abs(x)))
			say(fmt.Sprintf("rate %g %g", x, k), rate, at, edge(2, x), edgeOrInf(-1, x), exponent(1, x, k), least(x, k))
		}
	}
	for _, k := range []int{1, 2, 3, 8, 60} {
		for _, x := range []float64{0.05, 1, 4, 30} {
			q, h := chiTail(k, x)
			say(fmt.Sprintf("χ tail %d %g", k, x), q, h, chiStep(k, x))
		}
		say(fmt.Sprint("χ ", k), logDeltaChi(k, -0.3, 0.5), logDeltaChi(k, 0.7, 0.5), logDeltaChi(k, 9, 2))
	}
	for _, b := range []float64{0.02, 0.5, 3} {
		say(fmt.Sprint("pure ", b), PureFlat(1, b, 0.25, 0.3), PureParabola(1, b, 0.25, 0.3), PureParabola(1, b, 0.25,
			9),
			PureFree(1, b), PrintedRKW23(b, 0.25, 0.4, 0.6), PrintedRKW23(b, 0.25, 2, 0.1), thresholdRatio(b))
		f := func(x float64) float64 { return math.Log(b) + 0.5 - x - 0.1*x*x }
		for i, target := range []target{leftEnd(1e-3), rightEnd(1e-3)} {
			r := bracket{lo: 0.1, hi: 8}.search(f, target, 1e-6)
			n := bracket{lo: 0, hi: 8}.near(bracket{lo: 0.3, hi: 0.5, flo: 0.3, fhi: -0.1}, f, target)
			say(fmt.Sprintf("bracket %d %g", i, b), r.lo, r.hi, n.lo, n.hi, target.aim())
		}
	}
	lower := mirror(-0.4, enclosure{-3, -2})
	say("mirror", lower.lower, lower.upper, privacy.Positive("", 0).(*privacy.ParamError).Value.(float64))
}

// sayCells tells what the cells of a curve are.
func sayCells(say func(name string, values ...float64), of func(string) string, p *problem) {
	g := &grids{problem: p}
	start := p.start(4)
	say(of("curve"), kappaOf(p.curve), Slope(p.curve), truth(OneSigned(p.curve)), truth(IsGaussian(p.curve, p.lambda,
		p.sigma)),
		truth(g.even()), truth(p.gaussianAt(0.2)), p.clock(0), float64(len(start)), float64(len(p.level(1))),
		float64(len(p.level(2))), clockSlop(p.level(2)), g.tol(), g.near())
	for _, i := range []int{0, 2, len(start) - 1} {
		c := &start[i]
		q := p.newPiece(*c).part(0.7)
		say(of(fmt.Sprint("cell ", i)), c.small, c.big, c.kLow, c.kHigh, c.clockTop, c.clockBottom, q.lnTop,
			q.lnBottom, q.lnMax,
			q.cBig, q.cSmall, q.at, q.logRate, q.logMost, q.logLeast, c.window(0.7, 6, 0.25).lo, c.window(0.7, 6,
				0.25).hi,
			truth(c.passable()))
		v := newView(c, q.peak, 2, gaussBounds(0.7))
		at := []float64{v.peak, v.flat, v.limit, v.mHigh, v.logKeep, truth(v.rises)}
		for _, u := range []float64{-2, -0.45, -0.1, 0.4, 1.5, 4} {
			credit, err, exact, level := v.line(0.7, 2, u, 0.1)
			at = append(at, v.rateAt(0.7, 2, u), v.sup(0.7, 2, u, u+1), v.most(0.7, 2, u, u+0.1), v.crude(0.7, 2, u,
				u+0.5),
				credit, err, truth(exact), truth(level), v.bend(0.7, 2, u, u+0.3, 0.2), v.turn(0.7, 2, u, u+0.3, 0.2))
		}
		say(of(fmt.Sprint("view ", i)), at...)
	}
	e := p.envelope()
	say(of("envelope"), e.tol, e.at(-3), e.at(-0.1), e.at(0.5), e.at(4), p.pointwiseRemove(0.1), p.pointwiseRemove(2))
}

// sayPaths tells what is computed of the paths at one ε.
func sayPaths(say func(name string, values ...float64), of func(string) string, p *problem, eps float64) {
	g, coarse := &grids{problem: p}, &grids{problem: p, tolerance: 0.06}
	quad := p.integral(eps, 1e-2, 150)
	shift := -quad.logUpper
	known := p.greedy(eps, shift, quad.cells())
	say(of("integral"), quad.logUpper, quad.logLower, float64(len(quad.parts)), known, g.sideIntegral(eps, 1, quad),
		g.sideIntegral(eps, -1, quad), float64(len(g.sides())))
	for level := 1; level < 3; level++ {
		l := g.newLattice(eps, shift, known, level, g.sides()[0], nil)
		if len(l.cells) == 0 {
			continue
		}
		best := l.sweep(eps, shift)
		spans, ok := l.survivors(0.85 * best)
		var stay, turn, guess, finite float64
		for _, c := range l.credit {
			for i := range c.stay {
				stay, turn, guess = stay+c.stay[i], turn+c.turn[i], guess+c.guess[i]
			}
		}
		for _, s := range append(spans, l.windows...) {
			finite += math.Max(-50, s.lo) + math.Min(50, s.hi)
		}
		if say(of(fmt.Sprint("lattice ", level)), float64(len(l.cells)), l.fixed, l.beyond, l.slop, best, turn, finite,
			truth(ok), g.descentAlong(eps, shift, l, g.level(level))); p.envelope().kappa == 0 {
			continue // rounding decides how many nodes there are where the curvature is constant
		}
		say(of(fmt.Sprint("nodes ", level)), float64(len(l.v)), float64(l.last), float64(l.size()),
			float64(l.evaluations),
			stay, guess)
	}
	pos, neg := coarse.halves(eps, shift, 2)
	var sides []float64
	for _, u := range []float64{-1, 0.3, 2} {
		low, up := pos.value(u)
		lowNeg, upNeg := neg.value(-u)
		sides = append(sides, low, up, lowNeg, upNeg)
	}
	say(of("halves"), append(sides, float64(len(pos.cells)))...)
	if !OneSigned(p.curve) {
		low, up := coarse.bestCrossing(pos, neg, 0, true)
		say(of("crossing"), low, up)
	}
	addLow, addUp := coarse.addAt(eps)
	low, up := coarse.removeAt(eps)
	say(of("coarsely"), addLow, addUp, low, up)
}

// sayBounds tells what each bound promises.
func sayBounds(say func(name string, values ...float64), of func(string) string, cfg Config) {
	law := cfg.Law()
	say(of("law"), law.K, law.A, must.Get(RDP(cfg, 1)), must.Get(RDP(cfg, 3)), must.Get(ZCDP(cfg)))
	for _, b := range []Bound{KST12, RKW23, DTZ24, Pointwise, GaussianLower} {
		cfg.Bound = b
		p, err := New(cfg)
		if err != nil {
			continue
		}
		var v []float64
		for _, d := range privacy.Directions {
			v = append(v, p.LogDeltaUpper(d, -0.5), p.LogDeltaUpper(d, 0), p.LogDeltaUpper(d, 0.8), p.LogDeltaUpper(d,
				5),
				p.LogDeltaLower(d, 0.8))
			for _, eps := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				v = append(v, p.LogDeltaLower(d, eps), p.LogDeltaUpper(d, eps))
			}
		}
		v = append(v, truth(Event{Config: cfg}.Caveat() != ""))
		say(of(b.String()), v...)
		if b == Pointwise {
			lower, upper, ok := p.EpsilonBounds(0.01)
			say(of(fmt.Sprintf("%v, ε", b)), lower, upper, truth(ok))
		}
		if b == DTZ24 {
			say(of("σ"), must.Get(Sigma(cfg, 8, 0.01)))
		}
	}
}

func sayOthers(say func(name string, values ...float64), all []Curve) {
	tight := must.Get(New(Config{Curve: all[0], Lambda: 0.13, Sigma: 1.7, Bound: Tight}))
	say("tight", tight.QuickLogDeltaUpper(-0.3), tight.QuickLogDeltaUpper(0.4),
		tight.RoughLogDeltaUpper(privacy.Remove, 0.4),
		tight.RoughLogDeltaUpper(privacy.Add, 0.4), tight.LogDeltaUpper(privacy.Remove, 0.4),
		tight.LogDeltaLower(privacy.Remove, 0.4), tight.LogDeltaUpper(privacy.Add, 0.4),
		tight.LogDeltaLower(privacy.Add, 0.4))
	for _, k := range []int{1, 3} {
		r := RankK{Rank: k, Smoothness: 0.5, Slope: 1, Trace: 0.7 * float64(k/2), Lambda: 0.4, Sigma: 2}
		p := must.Get(r.Profile(privacy.AddRemove))
		say(fmt.Sprint("rank ", k), r.shift(privacy.Remove), must.Get(r.RDP(1.5)), must.Get(r.RDP(12)),
			p.LogDeltaUpper(privacy.Remove, 1), p.LogDeltaUpper(privacy.Add, 1), p.LogDeltaUpper(privacy.Add, -1))
		e := Entropic{Vertices: []Vertex{{1, 3}, {0, 2}, {0.5, 1}}, Temperature: 2, Lambda: 1 / float64(k*k*k),
			Sigma: 0.9,
			Rank:  k - 1, Spread: 0.6, Beyond: 0.1 * float64(k-1)}
		q := must.Get(e.Profile(privacy.AddRemove))
		say(fmt.Sprint("entropic ", k), e.Charge(), EntropicLambda(2, 0.9), q.LogDeltaUpper(privacy.Remove, 0.2),
			q.LogDeltaUpper(privacy.Add, 3), q.LogDeltaUpper(privacy.Remove, 3))
	}
	for i, c := range []Curve{all[1], all[4]} {
		f := Free{c, 0.5}
		lambda, err := f.Lambda(2)
		say(fmt.Sprint("free ", i), must.Get(f.LogDelta(2)), must.Get(f.Sigma(1e-3)), lambda, truth(err == nil))
	}
	rows := Rows{Forms: []Form{{all[0], 2}, {all[4], 1}}, Lambda: 0.3, Sigma: 3, Mu: 0.1}
	say("rows", must.Get(rows.Roughly(0.5, 40)), must.Get(Stages{rows, rows}.Roughly(1, 20)))
	for i, e := range []Event{
		{Config: Config{Slope: 1, Smoothness: 0.3, Lambda: 0.2, Sigma: 3}},
		{Config: Config{Slope: 1, Smoothness: 0.3, Lambda: 0.2, Sigma: 3}, Tolerance: 0.01, OutputSigma: 0.3},
		{Config: Config{Curve: all[0], Lambda: 0.2, Sigma: 3, Bound: Pointwise}, Tolerance: 0.01, OutputSigma: 0.3},
		{Config: Config{Curve: all[0], Lambda: 5, Sigma: 3}, Tolerance: 0.01, OutputSigma: 0.3},
		{Config: Config{Curve: all[0], Lambda: 5, Sigma: 3, Bound: Tight}},
	} {
		c := must.Get(e.RDP(privacy.AddRemove))
		if say(fmt.Sprint("curve of event ", i), c.Epsilon(1), c.Epsilon(7)); e.Bound == Pointwise {
			continue // slow
		}
		p, r := must.Get(e.Profile(privacy.AddRemove)), must.Get(e.Profile(privacy.ReplaceOne))
		say(fmt.Sprint("event ", i), p.LogDeltaUpper(privacy.Remove, 0.6), p.LogDeltaUpper(privacy.Add, 0.6),
			r.LogDeltaUpper(privacy.Add, 0.6))
	}
}

// truth is 1 or 0.
func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
