package privacy

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// truth is 1 or 0.
func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// probability is e^l, and l itself where that is next to the smallest numbers.
func probability(l float64) float64 {
	if l < -600 {
		return l
	}
	return math.Exp(l)
}

// What profiles, curves, conversions and error bounds are is what they were.
func TestFiguresStay(t *testing.T) {
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		sayParts(say)
		sayEvents(say)
		sayConversions(say)
	})
}

func sayParts(say func(name string, values ...float64)) {
	for _, mu := range []float64{0, 1e-190, 1e-3, 0.3, 4, 60, math.Inf(1)} {
		var v []float64
		for _, eps := range []float64{-3, -1e-9, 0, 1e-192, 0.01, 1, 9, 40, 1e9} {
			l := logDeltaGaussian(eps, mu)
			v = append(v, probability(l), gaussianSlack(l), approxSlack(l), gaussianSlope(math.Abs(eps), mu+0.1))
		}
		say(fmt.Sprint("gaussian ", mu), v...)
		w := HalfNormal{0.2, math.Min(math.Max(mu, 1e-100), 1e3)}
		v = nil
		for _, eps := range []float64{-9, -1, 0.1, 0.2, 0.5, 20, 3e3} {
			l := w.logDelta(eps)
			v = append(v, probability(l), w.slack(eps, l), logDeltaPointMass(eps+0.5*w.K, eps, 1))
		}
		say(fmt.Sprint("half-normal ", mu), append(v, must.Get(w.RDP(1)), must.Get(w.RDP(1.5)), must.Get(w.RDP(40)))...)
	}
	for i, c := range [][2]float64{{0.02, 1.2}, {0.7, 0.4}, {1e-9, 2}, {1 - 1e-12, 1}, {0.3, 0}} {
		p := subsampledProfile{c[0], c[1], c[1]}
		for _, d := range Directions {
			var v []float64
			for _, eps := range []float64{-8, -0.3, -1e-3, 0, 1e-3, 0.2, -math.Log1p(-p.q), 1.3, 5, 40} {
				l, slack := p.log(d, eps, p.muHigh)
				v = append(v, probability(l), slack, probability(p.LogDeltaUpper(d, eps)))
			}
			say(fmt.Sprintf("subsampled %d %v", i, d), v...)
		}
		say(fmt.Sprint("moments ", i), logBinomialMoment(1, p.q, 1), logBinomialMoment(2, p.q, 1e-9),
			logBinomialMoment(3, p.q, 0.5), logBinomialMoment(40, p.q, 1), logBinomialMoment(900, p.q, 0.1),
			logBinomialMoment(3, p.q, 1e200))
	}
	for _, x := range []float64{1e-9, 0.2, 0.49, 0.51, 3, 50} {
		say(fmt.Sprint("at ", x), pureMu(x), pureRenyi(x, 1), pureRenyi(x, 1+x), pureRenyi(x, 1e9), laplaceRenyi(x, 1),
			laplaceRenyi(x, 1+1e-6), laplaceRenyi(x, 3), laplaceRenyi(x, 1e6), expRest(x), expRest(-x), logExpm1(x),
			orderCost(x), logGeometric(x, 0), logGeometric(3, x), logGeometric(3, -x), logDifference(x, 0),
			gaussianMuAt(x, -x), quantileUp(math.Exp(-x)), ExpUp(-x), logTwiceCDF(x), must.Get(GaussianSigma(x, 0.1)),
			must.Get(GaussianSigma(x, 1e-9)), must.Get(MuOf(x, 1e-3)), logDown(0.3), logUp(0.3), nudge(x, 1))
	}
	for _, c := range [][3]float64{{0.1, 0.3, 0.2}, {0, 2, 1e-3}, {1, 1e-3, 0.7}} {
		w := HalfNormalGaussian{HalfNormal{c[0], c[1]}, c[2]}
		for _, eps := range []float64{-1, 0, 1, 4} {
			from, to := w.node(eps, 0.5), w.node(eps, 1.25)
			c := w.cell(eps, from, to)
			low, up := w.logDeltaBounds(eps)
			say(fmt.Sprintf("half-normal %g %g and gaussian %g at %g", w.K, w.A, w.Mu, eps), probability(c.lower),
				probability(c.upper), probability(low), probability(up), from.h, from.tail, to.tiltTail)
		}
	}
}

// sayEvents tells what is promised of every event, by its profile and its curve.
func sayEvents(say func(name string, values ...float64)) {
	g := Gaussian{1.5, 1}
	for _, e := range []Event{
		g, Laplace{0.8, 1}, Laplace{1e3, 1}, IsotropicLaplace{2, 1}, Approx{0.7, 1e-3, AddRemove}, Pure(0.3, AddRemove),
		Approx{2, 0, ReplaceOne}, SubsampledGaussian{0.9, 1, 0.1}, SubsampledGaussian{0.9, 1, 1}, NonPrivate{},
		BoundedRange{Ranges: []float64{0.1, 0.4}, Pure: []float64{0.2}}, BoundedRange{Gaussian: []float64{0.3, 0.4}},
		ApproximateMinimum{1e-3, 0.1, 0.05}, ApproximateMinimum{0, 1, 1}, SelectionPoisson{g, 5}, SelectionPoisson{g,
			0.1},
		SelectionPoisson{Laplace{2, 1}, 30}, Laplace{-1, 1}, Approx{1, 2, AddRemove}, Gaussian{0, 1},
		BoundedRange{Pure: []float64{-1}},
		ApproximateMinimum{1, 0, 1},
	} {
		for _, adj := range []Adjacency{AddRemove, ReplaceOne} {
			name := fmt.Sprintf("%v %v", e, adj)
			p, err := e.Profile(adj)
			if say(name+", profile", truth(err == nil)); err != nil {
				continue
			}
			sayProfile(say, name, p)
			if c, ok := e.(RDPEvent); ok {
				if curve, err := c.RDP(adj); err == nil {
					e, err := curve.EpsilonUpper(1e-6)
					say(name+", curve", curve.Epsilon(1), curve.Epsilon(1.3), curve.Epsilon(2), curve.Epsilon(30.5),
						curve.Epsilon(2e3), e, truth(err == nil), probability(curve.LogDeltaUpper(2)))
				}
			}
		}
	}
}

// sayProfile tells what one profile is, and what is made of it.
func sayProfile(say func(name string, values ...float64), name string, p Profile) {
	var v []float64
	for i, eps := range []float64{-2, -0.1, 0, 0.05, 0.4, 1.7, 5, math.Inf(1)} {
		v = append(v, probability(p.LogDeltaUpper(Directions[i%2], eps)))
		if l, ok := p.(LowerProfile); ok {
			v = append(v, probability(l.LogDeltaLower(Directions[i%2], eps)))
		}
	}
	say(name, append(v, must.Get(EpsilonUpper(p, 1e-6)), must.Get(EpsilonUpper(p, 0.1)), EpsilonLower(p, 1e-3))...)
}

func sayConversions(say func(name string, values ...float64)) {
	for _, e := range []Event{
		Laplace{0.8, 1}, SubsampledGaussian{0.9, 1, 0.1}, Approx{0.7, 1e-3, AddRemove}, Gaussian{1.5, 1},
	} {
		p := must.Get(e.Profile(AddRemove))
		of := func(what string) string { return fmt.Sprintf("%v, %s", e, what) }
		for _, d := range Directions {
			say(of("trade-off "+d.String()), must.Get(TradeOff(p, d, 0)), must.Get(TradeOff(p, d, 0.1)),
				must.Get(TradeOff(p, d, 0.6)), must.Get(TradeOff(p, d, 1)))
		}
		for _, k := range []int{1, 2, 5} {
			q := must.Get(GroupProfile(p, k))
			mu, delta, err := AsGaussian(q, 1e-4)
			say(of(fmt.Sprint("group ", k)), probability(q.LogDeltaUpper(Remove, 0.3)),
				probability(q.LogDeltaUpper(Add, 4)),
				probability(q.LogDeltaUpper(Add, math.Inf(1))), probability(QuickLogDeltaUpper(q, 9)), mu, delta,
				truth(err == nil))
			if b, is := q.(epsilonBounds); is {
				_, up, ok := b.EpsilonBounds(0.01)
				say(of(fmt.Sprint("ε of group ", k)), up, truth(ok))
			}
		}
		for _, mu := range []float64{1e-3, 0.2, 2} {
			w := WithGaussian(p, mu, 0.6).(withGaussian)
			at := func(z float64) float64 { return -8 + z - 0.1*z*z }
			for _, nodes := range [][]float64{w.even(-8), w.around(-8, at)} {
				c := w.chords(nodes)
				n := len(nodes)
				say(of(fmt.Sprint("chords ", mu)), float64(n), nodes[0], nodes[n/2], nodes[n-1], c.weight[0],
					c.weight[n/2],
					c.weight[n-1], c.beyond, w.less(1, 0.5))
			}
			m, err := 0.0, error(nil)
			if mu == 0.2 {
				m, _, err = AsGaussian(w, 1e-4)
			}
			say(of(fmt.Sprint("with gaussian ", mu)), probability(w.LogDeltaUpper(Remove, 0.4)),
				probability(w.LogDeltaUpper(Add, 2)), probability(w.QuickLogDeltaUpper(1)), m, truth(err == nil))
		}
		sel := must.Get(SelectionPoissonProfile(p, 4)).(selectionProfile)
		say(of("best of 4"), probability(sel.LogDeltaUpper(Remove, 1)), probability(sel.LogDeltaUpper(Add, -0.2)),
			probability(sel.LogDeltaUpper(Add, math.Inf(1))), probability(sel.with(Add, 2, 0.01)),
			probability(sel.with(Add, 2, 1)))
		sayProfile(say, of("interpolated"), Interpolated(p, 8))
		c, err := newComparison(func(eps float64) float64 { return p.LogDeltaUpper(Remove, eps) }, math.Log(1e-3))
		if err == nil && len(c.knots) > 4 {
			first := float64(len(c.knots))
			need := c.refine(0.1, unresolved)
			say(of("comparison"), first, float64(len(c.knots)), need, c.knots[3].mu, c.knots[3].need, c.knots[3].eps,
				truth(covers(need, c.knots[2], c.knots[3])), truth(covers(1.2*need, c.knots[2], c.knots[3])))
		}
	}
	curve := must.Get(ComposeRDP([]int{3, 0, 1}, GaussianRDP(0.3, AddRemove), GaussianRDP(9, AddRemove),
		GaussianRDP(1, AddRemove)))
	sayProfile(say, "composed curve", curve.Profile())
	for _, x := range []float64{1e-7, 0.3, 2.5, 15.99, 17} {
		low, high := (&interpolated{perOctave: 8}).knots(x)
		lo, hi := searchEpsilon(func(eps float64) bool { return eps >= x })
		at := minimiseConvex(func(y float64) float64 { return 1 + (y-x)*(y-x) }, 0, 0.25)
		min := minOverOrders(func(alpha float64) float64 { return alpha/x + x/(alpha-1) })
		scale := must.Get(Calibrate(func(s float64) (bool, error) { return s >= x, nil }, 1e-3))
		a := must.Get(ReplaceByGroup(Approx{x, 1e-3, AddRemove}))
		say(fmt.Sprint("searches ", x), low, high, lo, hi, at, min, scale, a.Epsilon, a.Delta)
	}
}
