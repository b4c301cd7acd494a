package account

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func books(t *testing.T, adj privacy.Adjacency) *PLD {
	t.Helper()
	a, err := NewPLD(adj, nil)
	must(t, err)
	return a
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func halfNormal(t *testing.T) privacy.Event {
	p, err := privacy.HalfNormal{K: 0.1, A: 0.2}.Profile(privacy.AddRemove)
	must(t, err)
	return privacy.Known{Name: "half-normal", Of: p}
}

func events(t *testing.T) []privacy.Event {
	gauss := privacy.Gaussian{Sigma: 4, Sensitivity: 1}
	return []privacy.Event{
		gauss,
		privacy.Gaussian{Sigma: 1e4, Sensitivity: 1},
		privacy.Gaussian{Sigma: 0.05, Sensitivity: 1},
		privacy.Laplace{Scale: 3, Sensitivity: 1},
		privacy.Laplace{Scale: 0.01, Sensitivity: 1},
		privacy.IsotropicLaplace{Scale: 5, Sensitivity: 1},
		privacy.SubsampledGaussian{Sigma: 1, Sensitivity: 1, Rate: 0.01},
		privacy.SubsampledGaussian{Sigma: 0.6, Sensitivity: 1, Rate: 0.5},
		privacy.Approx{Epsilon: 0.3, Delta: 1e-7, Adj: privacy.AddRemove},
		privacy.Pure(0.2, privacy.AddRemove),
		privacy.ApproximateMinimum{Tolerance: 1e-3, Lambda: 1, SigmaOut: 0.05},
		privacy.SelectionPoisson{Base: gauss, Mean: 10},
		halfNormal(t),
	}
}

// forAll runs a test with each event, under replace-one where all is tested.
func forAll(t *testing.T, f func(t *testing.T, make func() *PLD, e privacy.Event)) {
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		if adj == privacy.ReplaceOne && !testscale.Full() {
			continue
		}
		for _, e := range events(t) {
			if err := books(t, adj).Compose(e, 1); errors.Is(err, privacy.ErrUnsupported) {
				continue // its own test: TestUnsupportedLeavesState
			}
			t.Run(fmt.Sprintf("%v/%v", adj, e), func(t *testing.T) { f(t, func() *PLD { return books(t, adj) }, e) })
		}
	}
}

func epsilon(t *testing.T, a *PLD, delta float64) (lower, upper float64) {
	t.Helper()
	b, err := a.EpsilonBounds(delta)
	must(t, err)
	return b.Lower, b.Upper
}

func upper(t *testing.T, a *PLD, delta float64) float64 {
	t.Helper()
	_, up := epsilon(t, a, delta)
	return up
}

func logDelta(t *testing.T, a *PLD, eps float64) (lower, upper float64) {
	t.Helper()
	b, err := a.LogDeltaBounds(eps)
	must(t, err)
	return b.Lower, b.Upper
}

func TestComposeIsRepeating(t *testing.T) {
	testscale.Slow(t)
	forAll(t, func(t *testing.T, make func() *PLD, e privacy.Event) {
		a, b := make(), make()
		must(t, a.Compose(e, 3))
		for range 3 {
			must(t, b.Compose(e, 1))
		}
		if x, y := upper(t, a, 1e-5), upper(t, b, 1e-5); !(math.Abs(x-y) <= 1e-12*x) {
			t.Errorf("Compose(e, 3): ε = %v; three times Compose(e, 1): %v", x, y)
		}
		if n := len(b.Ledger()); n < 1 || n > 3 {
			t.Errorf("%d lines in the ledger", n)
		}
		one := make()
		must(t, one.Compose(e, 1))
		if x, y := upper(t, one, 1e-5), upper(t, a, 1e-5); x > y*(1+2e-3) {
			t.Errorf("ε of one run %v above that of three %v", x, y)
		}
	})
}

// What is joined into one line are equal events, and not those that are called the same.
func TestNamesDoNotJoinEvents(t *testing.T) {
	of := func(mu float64) privacy.Event {
		return privacy.Known{Name: "a fit", Of: privacy.GaussianProfile(mu, privacy.AddRemove)}
	}
	a, err := NewPLD(privacy.AddRemove, nil)
	must(t, err)
	for _, mu := range []float64{0.3, 0.4, 0.3} {
		must(t, a.Compose(of(mu), 1))
	}
	want, err := privacy.EpsilonUpper(privacy.GaussianProfile(math.Sqrt(0.34), privacy.AddRemove), 1e-5)
	must(t, err)
	if got := upper(t, a, 1e-5); !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("ε = %v, want %v", got, want)
	}
	if l := a.Ledger(); len(l) != 2 || l[0].Count != 2 {
		t.Errorf("the ledger has %v: want two lines, the first twice", l)
	}
}

func TestOrderDoesNotMatter(t *testing.T) {
	testscale.InTurn(t)
	other := privacy.Laplace{Scale: 2, Sensitivity: 1}
	forAll(t, func(t *testing.T, make func() *PLD, e privacy.Event) {
		a, b := make(), make()
		must(t, a.Compose(e, 2))
		must(t, a.Compose(other, 1))
		must(t, b.Compose(other, 1))
		must(t, b.Compose(e, 2))
		if x, y := upper(t, a, 1e-6), upper(t, b, 1e-6); !(math.Abs(x-y) <= 1e-9*x) {
			t.Errorf("ε depends on the order: %v, %v", x, y)
		}
	})
}

func TestNothingCostsNothing(t *testing.T) {
	forAll(t, func(t *testing.T, make func() *PLD, e privacy.Event) {
		a := make()
		must(t, a.Compose(e, 0))
		for _, delta := range []float64{1e-300, 1e-5, 0.9} {
			if eps := upper(t, a, delta); eps != 0 || len(a.Ledger()) != 0 {
				t.Errorf("no runs: ε = %v, %d lines", eps, len(a.Ledger()))
			}
		}
		if _, l := logDelta(t, a, 0); !math.IsInf(l, -1) {
			t.Errorf("no runs: ln δ(0) = %v", l)
		}
		must(t, a.Compose(privacy.Gaussian{Sigma: 1, Sensitivity: 0}, 5))
		if eps := upper(t, a, 1e-5); eps != 0 {
			t.Errorf("sensitivity 0: ε = %v", eps)
		}
	})
}

func TestNonPrivateIsInfinite(t *testing.T) {
	forAll(t, func(t *testing.T, make func() *PLD, e privacy.Event) {
		a := make()
		must(t, a.Compose(e, 1))
		must(t, a.Compose(privacy.NonPrivate{}, 1))
		if eps := upper(t, a, 0.5); !math.IsInf(eps, 1) {
			t.Errorf("with a non-private event ε = %v", eps)
		}
		if _, l := logDelta(t, a, 3); l != 0 {
			t.Errorf("with a non-private event ln δ = %v", l)
		}
	})
}

type unknown struct{}

func (unknown) String() string { return "unknown" }
func (unknown) Profile(privacy.Adjacency) (privacy.Profile, error) {
	return nil, fmt.Errorf("%w: unknown", privacy.ErrUnsupported)
}

func TestUnsupportedLeavesState(t *testing.T) {
	a := books(t, privacy.AddRemove)
	must(t, a.Compose(privacy.Gaussian{Sigma: 4, Sensitivity: 1}, 2))
	before := upper(t, a, 1e-5)
	for _, c := range []struct {
		e    privacy.Event
		k    int
		want error
	}{
		{unknown{}, 1, privacy.ErrUnsupported},
		{privacy.Gaussian{Sigma: -1, Sensitivity: 1}, 1, nil},
		{privacy.Gaussian{Sigma: math.NaN(), Sensitivity: 1}, 0, nil},
		{privacy.Gaussian{Sigma: 1, Sensitivity: 1}, -1, nil},
		{nil, 1, nil},
		{privacy.Pure(1, privacy.ReplaceOne), 1, privacy.ErrAdjacency},
	} {
		err := a.Compose(c.e, c.k)
		var param *privacy.ParamError
		if c.want != nil && !errors.Is(err, c.want) || c.want == nil && !errors.As(err, &param) {
			t.Errorf("Compose(%v, %d) = %v", c.e, c.k, err)
		}
	}
	if after := upper(t, a, 1e-5); after != before || len(a.Ledger()) != 1 || a.Ledger()[0].Count != 2 {
		t.Errorf("state changed by a refused event: ε %v to %v, %v", before, after, a.Ledger())
	}
}

func TestBoundsAreConsistent(t *testing.T) {
	forAll(t, func(t *testing.T, make func() *PLD, e privacy.Event) {
		a := make()
		must(t, a.Compose(e, 4))
		last := 0.0
		deltas, epsilons := []float64{1e-3, 1e-30}, []float64{0, 1, 1e3}
		if a.adj == privacy.AddRemove && testscale.Full() {
			deltas, epsilons = []float64{0.1, 1e-3, 1e-6, 1e-30, 1e-300}, []float64{0, 1e-3, 0.1, 1, 30, 1e3}
		}
		for _, delta := range deltas {
			low, up := epsilon(t, a, delta)
			if math.IsNaN(up) || math.IsNaN(low) || up < 0 || low < 0 || low > up {
				t.Fatalf("δ = %g: ε in [%v, %v]", delta, low, up)
			}
			if up < last*(1-2e-3) {
				t.Errorf("ε falls from %v to %v as δ falls to %g", last, up, delta)
			}
			last = up
			if math.IsInf(up, 1) || up == 0 {
				continue
			}
			// δ(ε(δ)) ≤ δ, up to what the two grids differ by.
			if _, l := logDelta(t, a, up*(1+1e-3)); l > math.Log(delta)+1e-9 {
				t.Errorf("δ = %g: ln δ(ε(δ)) = %v above %v", delta, l, math.Log(delta))
			}
			if ll, _ := logDelta(t, a, up); ll > math.Log(delta)+1e-9 {
				t.Errorf("δ = %g: lower bound of ln δ at the upper ε is %v", delta, ll)
			}
		}
		for _, eps := range epsilons {
			low, up := logDelta(t, a, eps)
			if math.IsNaN(up) || math.IsNaN(low) || up > 0 || low > up {
				t.Errorf("ε = %g: ln δ in [%v, %v]", eps, low, up)
			}
		}
	})
}

func TestBadQuestions(t *testing.T) {
	a := books(t, privacy.AddRemove)
	for _, delta := range []float64{0, 1, -1, math.NaN(), math.Inf(1)} {
		if _, err := a.EpsilonBounds(delta); err == nil {
			t.Errorf("δ = %v answers", delta)
		}
	}
	for _, eps := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := a.LogDeltaBounds(eps); err == nil {
			t.Errorf("ε = %v answers", eps)
		}
	}
	most := int(min(int64(1)<<52, math.MaxInt/2))
	for k, ok := range map[int]bool{-1: false, 0: true, most: true, most + 1: false} {
		err := books(t, privacy.AddRemove).Compose(privacy.Gaussian{Sigma: 1e9, Sensitivity: 1}, k)
		if (err == nil) != ok {
			t.Errorf("%d runs: %v", k, err)
		}
	}
	if _, err := NewPLD(0, nil); err == nil {
		t.Error("an accountant without adjacency")
	}
}

// Rényi curves, composed, are never below the lower bound.
func TestRenyiCurvesAreAbove(t *testing.T) {
	for _, e := range events(t) {
		r, ok := e.(privacy.RDPEvent)
		if !ok {
			continue
		}
		one, err := r.RDP(privacy.AddRemove)
		if errors.Is(err, privacy.ErrUnsupported) {
			continue
		}
		must(t, err)
		curve, err := privacy.ComposeRDP([]int{5}, one)
		must(t, err)
		up, err := curve.EpsilonUpper(1e-6)
		must(t, err)
		a := books(t, privacy.AddRemove)
		must(t, a.Compose(e, 5))
		if low, _ := epsilon(t, a, 1e-6); up < low {
			t.Errorf("%v: Rényi ε %v below the lower bound %v", e, up, low)
		}
	}
}

// Gaussian events of two kinds, one of them composed at two times, have the ε and the δ of one Gaussian mechanism.
func TestFiguresAreOfWhatWasComposed(t *testing.T) {
	const delta, eps = 1e-5, 0.7
	kinds := []privacy.Gaussian{{Sigma: 4, Sensitivity: 1}, {Sigma: 20, Sensitivity: 1}}
	for adj, factor := range map[privacy.Adjacency]float64{privacy.AddRemove: 1, privacy.ReplaceOne: 2} {
		a := books(t, adj)
		must(t, a.Compose(kinds[0], 1))
		must(t, a.Compose(kinds[1], 30))
		must(t, a.Compose(kinds[0], 2))
		if l := a.Ledger(); len(l) != 2 || l[0] != (Entry{kinds[0], 3}) || l[1] != (Entry{kinds[1], 30}) {
			t.Errorf("the ledger is %v", l)
		}
		exact := privacy.GaussianProfile(factor*math.Sqrt(3.0/16+30.0/400), adj)
		want, err := privacy.EpsilonUpper(exact, delta)
		must(t, err)
		if got := upper(t, a, delta); !(math.Abs(got-want) <= 1e-9*want) {
			t.Errorf("%v: ε = %.12g, want %.12g", adj, got, want)
		}
		want = privacy.LogDeltaUpper(exact, eps)
		if _, got := logDelta(t, a, eps); !(math.Abs(got-want) <= -1e-9*want) {
			t.Errorf("%v: ln δ = %.12g, want %.12g", adj, got, want)
		}
	}
}

// What is on the books stays there: nobody takes runs off it, nor changes it by what they are shown, and no count is
// beyond what is exact.
func TestBooks(t *testing.T) {
	e := privacy.Gaussian{Sigma: 4, Sensitivity: 1}
	a := books(t, privacy.AddRemove)
	must(t, a.Compose(e, 3))
	a.Ledger()[0].Count = 1
	for _, k := range []int{-1, -3, maxRuns + 1, maxRuns - 2} {
		if err := a.Compose(e, k); err == nil {
			t.Errorf("composed %d times", k)
		}
	}
	if l := a.Ledger(); len(l) != 1 || l[0] != (Entry{e, 3}) {
		t.Errorf("the ledger is %v", l)
	}
	must(t, a.Compose(e, maxRuns-3))
}

// A copy of an accountant that has entries shares them: what is entered in one would take the place of what was entered
// in the other. It is refused, and the original goes on.
func TestCopiesTakeNoEntries(t *testing.T) {
	a, err := NewPLD(privacy.AddRemove, nil)
	must(t, err)
	fresh := *a
	must(t, fresh.Compose(privacy.Pure(0.1, privacy.AddRemove), 1))
	must(t, a.Compose(privacy.Pure(0.2, privacy.AddRemove), 1))
	of := *a
	if err := of.Compose(privacy.Pure(0.3, privacy.AddRemove), 1); err == nil {
		t.Error("a copy took an entry")
	}
	must(t, a.Compose(privacy.Pure(0.4, privacy.AddRemove), 1))
	if got := len(a.Ledger()); got != 2 || len(of.Ledger()) != 1 || len(fresh.Ledger()) != 1 {
		t.Errorf("%d entries, %d in the copy, %d in the one without any", got, len(of.Ledger()), len(fresh.Ledger()))
	}
}
