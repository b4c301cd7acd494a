package ours

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// stated opens a budget of (1, 10⁻⁵) that no other check has.
func stated(adjacency privacy.Adjacency) *ledger.Budget {
	return measure.Must(ledger.Open(ledger.Config{Name: fmt.Sprintf("claim %d", budgets.Add(1)), Epsilon: 1,
		Delta: 1e-5, Adjacency: adjacency}))
}

// responded is H_{e^t} of an (ε, δ) mechanism that tells all with probability δ and is randomised response else.
func responded(eps, delta, t float64) float64 {
	switch {
	case t >= eps:
		return delta
	case t <= -eps:
		return 1 - (1-delta)*math.Exp(t)
	}
	return delta + (1-delta)*(math.Exp(eps)-math.Exp(t))/(math.Exp(eps)+1)
}

// afterGaussian is H_{e^ε} of a Gaussian release of μ and then of what follows it: what follows has H_{e^t} = then(t),
// t being ε less the loss that the release has shown.
func afterGaussian(mu, eps float64, then func(t float64) float64) float64 {
	return measure.Integral(func(z float64) float64 { return measure.Phi(z) * then(eps-mu*(z+mu/2)) }, -9, 13, 200)
}

func filterHolds(run measure.Run, factor float64) claim.Outcome {
	rng := noise.NewSeeded(151)
	most, least := 0.0, math.Inf(1)
	for range run.Runs(2) {
		b := stated(privacy.AddRemove)
		whole := measure.Must(b.Share(1))
		square := 0.0
		enter := func(mu float64) bool {
			e := ledger.Entry{Epsilon: 1, Delta: 1e-5, Mu: mu * factor, Shared: true}
			if b.Charge(e) != nil {
				return false
			}
			square += mu * mu
			return true
		}
		z := make([]float64, 1)
		for range 99 { // each asks by the result of the last
			rng.Gaussian(z, 1)
			enter(whole.Mu * math.Min(0.099, 0.05+0.04*math.Abs(z[0])) / factor)
		}
		// The rest, to a ten-thousandth.
		for part := 0.5; part > 1e-4; part /= 2 {
			for enter(whole.Mu * part / factor) {
			}
		}
		eps := measure.Must(privacy.EpsilonUpper(privacy.GaussianProfile(math.Sqrt(square), privacy.AddRemove), 1e-5))
		most, least = math.Max(most, eps), math.Min(least, eps)
	}
	// A Gaussian count, then by its result: all that is left, in one of two ways.
	b := stated(privacy.AddRemove)
	first := measure.Must(b.Share(0.5))
	measure.Try(b.Charge(ledger.Entry{Epsilon: first.Epsilon, Delta: first.Delta, Mu: first.Mu, Shared: true}))
	// The largest ε of randomised response that the ledger lets pass.
	response, _ := univariate.Bisect(func(eps float64) bool {
		p := measure.Must(privacy.Pure(eps, privacy.AddRemove).Profile(privacy.AddRemove))
		mu, _ := measure.Must2(privacy.AsGaussian(p, 1e-12))
		return b.Check(ledger.Entry{Epsilon: eps, Mu: mu * factor}) != nil
	}, 0, 1, univariate.Arithmetic, 1e-6)
	exact := afterGaussian(first.Mu/factor, 1, func(t float64) float64 {
		return math.Max(responded(response, 0, t), measure.GaussianDelta(first.Mu/factor, t))
	}) / 1e-5
	return claim.Decide(fmt.Sprintf("ε = %.5f … %.5f together; δ = %.4f of the budget's where results choose", least,
		most, exact), "1", most <= 1 && least >= 0.98 && exact <= 1.0001)
}

// eitherHolds holds the worst choice between sums and squares by the first result against δ: with what a ledger has for
// each, or with all of δ for both. δ is that of the budget times factor.
func eitherHolds(_ measure.Run, both bool, factor float64) claim.Outcome {
	b := stated(privacy.AddRemove)
	squares := measure.Must(b.Share(1))
	sums := 1e-5
	if !both {
		measure.Try(b.Charge(ledger.Entry{Epsilon: 1e-9, Mu: 1e-9}))
		squares = measure.Must(b.Share(1))
		sums = b.Spend(1).Delta
	}
	worst := 0.0
	for part := 0.7; part < 0.9; part += 0.02 {
		first, rest := part*squares.Mu, math.Sqrt(1-part*part)*squares.Mu
		for eps := 0.9; eps < 1; eps += 0.01 {
			delta := sums - measure.GaussianDelta(first, eps)
			if delta < 0 {
				continue
			}
			worst = math.Max(worst, afterGaussian(first, 1, func(t float64) float64 {
				return math.Max(responded(1-eps, delta, t), measure.GaussianDelta(rest, t))
			})/(factor*1e-5))
		}
	}
	return claim.Decide(fmt.Sprintf("δ = %.3f of the budget's", worst), "0.95 … 1", worst <= 1.0001 && worst > 0.95)
}

func pureHolds(_ measure.Run, factor float64) claim.Outcome {
	above, apart := math.Inf(-1), 0.0 // of exact − Gaussian, relative: the largest, and of every ε the least gap
	for _, eps := range []float64{0.001, 0.03, 0.3, 1, 3, 10} {
		p := measure.Must(privacy.Pure(eps, privacy.AddRemove).Profile(privacy.AddRemove))
		mu, slack := measure.Must2(privacy.AsGaussian(p, 1e-12))
		least := math.Inf(1)
		for i := range 2001 {
			t := eps * (float64(i)/1000 - 1)
			exact, gauss := responded(eps, 0, t), measure.GaussianDelta(factor*mu, t)+slack
			above = math.Max(above, exact/gauss-1)
			least = math.Min(least, 1-exact/gauss)
		}
		apart = math.Max(apart, least)
	}
	return claim.Decide(fmt.Sprintf("above by %.1e at most, apart by %.1e at least", above, apart), "1e-9, 1e-3",
		above < 1e-9 && apart < 1e-3)
}

func nearlyHolds(_ measure.Run, factor float64) claim.Outcome {
	worst, least := 0.0, math.Inf(1) // exact over allowed: the largest of all, the smallest of the largest
	for _, c := range []struct {
		event privacy.Event
		delta func(d privacy.Direction, eps float64) float64
	}{
		{privacy.Laplace{Scale: 3, Sensitivity: 1}, func(_ privacy.Direction, t float64) float64 {
			// Of a count: for |t| ≤ 1/3 it is 1 − e^{(t − 1/3)/2}, by integration of the densities.
			if t >= 1.0/3 {
				return 0
			}
			if t <= -1.0/3 {
				return -math.Expm1(t)
			}
			return -math.Expm1((t - 1.0/3) / 2)
		}},
		{privacy.SubsampledGaussian{Sigma: 1.5, Sensitivity: 1, Rate: 0.1}, sampled(1/1.5, 0.1)},
	} {
		mu, slack := measure.Must2(privacy.AsGaussian(measure.Must(c.event.Profile(privacy.AddRemove)), 1e-12))
		own := 0.0
		for _, d := range privacy.Directions {
			for i := range 1001 {
				t := mu * 7 * (float64(i)/500 - 1)
				if exact := c.delta(d, t); exact > 1e-11 {
					own = math.Max(own, exact/(measure.GaussianDelta(factor*mu, t)+slack))
				}
			}
		}
		worst, least = math.Max(worst, own), math.Min(least, own)
	}
	return claim.Decide(fmt.Sprintf("δ = %.4f … %.4f of the Gaussian's where it is nearest", least, worst), "1",
		worst <= 1+1e-9)
}

// sampled is the exact δ of N(0, 1) and (1 − q)N(0, 1) + qN(μ, 1), by integration.
func sampled(mu, q float64) func(d privacy.Direction, eps float64) float64 {
	return func(d privacy.Direction, eps float64) float64 {
		return measure.Integral(func(x float64) float64 {
			without := measure.Phi(x)
			with := (1-q)*without + q*measure.Phi(x-mu)
			if d == privacy.Add {
				with, without = without, with
			}
			return math.Max(0, with-math.Exp(eps)*without)
		}, -10, 11, 60)
	}
}

// grouping is by a record's number, or by its place; single forgets, under replace-one, that a record leaves one group
// and enters another.
type grouping struct{ byPlace, single bool }

// parallelHolds holds noisy sums of three groups against the budget, for all neighbours of ten records. δ is that of
// the budget times factor.
func parallelHolds(_ measure.Run, by grouping, factor float64) claim.Outcome {
	const groups = 3
	worst, least := 0.0, math.Inf(1)
	for _, adjacency := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		ledgers := adjacency
		if by.single {
			ledgers = privacy.AddRemove
		}
		b := stated(ledgers)
		// As large a μ for each group as the ledger lets pass.
		entries := func(mu float64) []ledger.Entry {
			var all []ledger.Entry
			for g := range groups {
				all = append(all, ledger.Entry{Epsilon: 1, Delta: 1e-5, Mu: mu, Shared: true,
					Partition: "residue", Group: fmt.Sprint(g)})
			}
			return all
		}
		mu, _ := univariate.Bisect(func(mu float64) bool { return b.Check(entries(mu)...) != nil }, 0, 1,
			univariate.Arithmetic, 1e-9)
		measure.Try(b.Charge(entries(mu)...))
		// How many even records a group has, with noise of 1/μ: 1 is the most that a record moves it by, also where
		// it is replaced by one of its group.
		sums := func(records []int) (s [groups]float64) {
			for place, r := range records {
				g := r % groups
				if by.byPlace {
					g = place % groups
				}
				s[g] += float64(1 - r%2)
			}
			return s
		}
		records := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
		base, largest := sums(records), 0.0
		hold := func(other []int) {
			moved := 0.0
			for g, v := range sums(other) {
				moved = math.Hypot(moved, v-base[g])
			}
			largest = math.Max(largest, measure.GaussianDelta(mu*moved, 1)/(factor*1e-5))
		}
		for i := range records {
			without := append(append([]int(nil), records[:i]...), records[i+1:]...)
			for new := range 3 {
				if adjacency == privacy.ReplaceOne {
					hold(append(append(append([]int(nil), records[:i]...), new), records[i+1:]...))
					continue
				}
				hold(append([]int{new}, records...))
				hold(without)
			}
		}
		worst, least = math.Max(worst, largest), math.Min(least, largest)
	}
	return claim.Decide(fmt.Sprintf("δ = %.3f … %.3f of the budget's for the worst neighbour", least, worst), "1",
		worst <= 1+1e-6 && worst > 0.9999)
}
