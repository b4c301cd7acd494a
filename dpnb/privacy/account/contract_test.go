package account

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// accountants and events: every test below runs over each pair.
func accountants(t *testing.T, adj privacy.Adjacency) map[string]func() Accountant {
	t.Helper()
	return map[string]func() Accountant{
		"pld": func() Accountant { a, err := NewPLD(adj, nil); must(t, err); return a },
		"rdp": func() Accountant { a, err := NewRDP(adj); must(t, err); return a },
	}
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
		privacy.SelectionNegativeBinomial{Base: gauss, Eta: 0, Gamma: 0.01},
		halfNormal(t),
	}
}

func forAll(t *testing.T, f func(t *testing.T, make func() Accountant, e privacy.Event)) {
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		for name, make := range accountants(t, adj) {
			for _, e := range events(t) {
				if err := make().Compose(e, 1); errors.Is(err, privacy.ErrUnsupported) {
					continue // its own test: TestUnsupportedLeavesState
				}
				if adj == privacy.ReplaceOne && !testscale.Full() {
					continue
				}
				t.Run(fmt.Sprintf("%v/%s/%v", adj, name, e), func(t *testing.T) { f(t, make, e) })
			}
		}
	}
}

func upper(t *testing.T, a Accountant, delta float64) float64 {
	t.Helper()
	eps, err := a.EpsilonUpper(delta)
	must(t, err)
	return eps
}

func TestComposeIsRepeating(t *testing.T) {
	forAll(t, func(t *testing.T, make func() Accountant, e privacy.Event) {
		a, b := make(), make()
		must(t, a.Compose(e, 3))
		for range 3 {
			must(t, b.Compose(e, 1))
		}
		if x, y := upper(t, a, 1e-5), upper(t, b, 1e-5); math.Abs(x-y) > 1e-12*x {
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
	if got := upper(t, a, 1e-5); math.Abs(got-want) > 1e-9 {
		t.Errorf("ε = %v, want %v", got, want)
	}
	if l := a.Ledger(); len(l) != 2 || l[0].Count != 2 {
		t.Errorf("the ledger has %v: want two lines, the first twice", l)
	}
}

func TestOrderDoesNotMatter(t *testing.T) {
	other := privacy.Laplace{Scale: 2, Sensitivity: 1}
	forAll(t, func(t *testing.T, make func() Accountant, e privacy.Event) {
		a, b := make(), make()
		must(t, a.Compose(e, 2))
		must(t, a.Compose(other, 1))
		must(t, b.Compose(other, 1))
		must(t, b.Compose(e, 2))
		if x, y := upper(t, a, 1e-6), upper(t, b, 1e-6); math.Abs(x-y) > 1e-9*x {
			t.Errorf("ε depends on the order: %v, %v", x, y)
		}
	})
}

func TestNothingCostsNothing(t *testing.T) {
	forAll(t, func(t *testing.T, make func() Accountant, e privacy.Event) {
		a := make()
		must(t, a.Compose(e, 0))
		for _, delta := range []float64{1e-300, 1e-5, 0.9} {
			if eps := upper(t, a, delta); eps != 0 || len(a.Ledger()) != 0 {
				t.Errorf("no runs: ε = %v, %d lines", eps, len(a.Ledger()))
			}
		}
		if l, err := a.LogDeltaUpper(0); err != nil || !math.IsInf(l, -1) {
			t.Errorf("no runs: ln δ(0) = %v, %v", l, err)
		}
		must(t, a.Compose(privacy.Gaussian{Sigma: 1, Sensitivity: 0}, 5))
		if eps := upper(t, a, 1e-5); eps != 0 {
			t.Errorf("sensitivity 0: ε = %v", eps)
		}
	})
}

func TestNonPrivateIsInfinite(t *testing.T) {
	forAll(t, func(t *testing.T, make func() Accountant, e privacy.Event) {
		a := make()
		must(t, a.Compose(e, 1))
		must(t, a.Compose(privacy.NonPrivate{}, 1))
		if eps := upper(t, a, 0.5); !math.IsInf(eps, 1) {
			t.Errorf("with a non-private event ε = %v", eps)
		}
		if l, err := a.LogDeltaUpper(3); err != nil || l != 0 {
			t.Errorf("with a non-private event ln δ = %v, %v", l, err)
		}
	})
}

type unknown struct{}

func (unknown) String() string { return "unknown" }
func (unknown) Profile(privacy.Adjacency) (privacy.Profile, error) {
	return nil, fmt.Errorf("%w: unknown", privacy.ErrUnsupported)
}

func TestUnsupportedLeavesState(t *testing.T) {
	for name, make := range accountants(t, privacy.AddRemove) {
		a := make()
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
				t.Errorf("%s: Compose(%v, %d) = %v", name, c.e, c.k, err)
			}
		}
		if after := upper(t, a, 1e-5); after != before || len(a.Ledger()) != 1 || a.Ledger()[0].Count != 2 {
			t.Errorf("%s: state changed by a refused event: ε %v to %v, %v", name, before, after, a.Ledger())
		}
	}
}

func TestBoundsAreConsistent(t *testing.T) {
	forAll(t, func(t *testing.T, make func() Accountant, e privacy.Event) {
		a := make()
		must(t, a.Compose(e, 4))
		last := 0.0
		deltas, epsilons := []float64{1e-3, 1e-30}, []float64{0, 1, 1e3}
		if a.Adjacency() == privacy.AddRemove && testscale.Full() {
			deltas, epsilons = []float64{0.1, 1e-3, 1e-6, 1e-30, 1e-300}, []float64{0, 1e-3, 0.1, 1, 30, 1e3}
		}
		for _, delta := range deltas {
			up := upper(t, a, delta)
			low, err := a.EpsilonLower(delta)
			must(t, err)
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
			l, err := a.LogDeltaUpper(up * (1 + 1e-3))
			must(t, err)
			if l > math.Log(delta)+1e-9 {
				t.Errorf("δ = %g: ln δ(ε(δ)) = %v above %v", delta, l, math.Log(delta))
			}
			ll, err := a.LogDeltaLower(up)
			must(t, err)
			if ll > math.Log(delta)+1e-9 {
				t.Errorf("δ = %g: lower bound of ln δ at the upper ε is %v", delta, ll)
			}
		}
		for _, eps := range epsilons {
			up, err := a.LogDeltaUpper(eps)
			must(t, err)
			low, err := a.LogDeltaLower(eps)
			must(t, err)
			if math.IsNaN(up) || math.IsNaN(low) || up > 0 || low > up {
				t.Errorf("ε = %g: ln δ in [%v, %v]", eps, low, up)
			}
		}
	})
}

func TestBadQuestions(t *testing.T) {
	for name, make := range accountants(t, privacy.AddRemove) {
		a := make()
		for _, delta := range []float64{0, 1, -1, math.NaN(), math.Inf(1)} {
			if _, err := a.EpsilonUpper(delta); err == nil {
				t.Errorf("%s: EpsilonUpper(%v) answers", name, delta)
			}
			if _, err := a.EpsilonLower(delta); err == nil {
				t.Errorf("%s: EpsilonLower(%v) answers", name, delta)
			}
		}
		for _, eps := range []float64{-1, math.NaN(), math.Inf(1)} {
			if _, err := a.LogDeltaUpper(eps); err == nil {
				t.Errorf("%s: LogDeltaUpper(%v) answers", name, eps)
			}
			if _, err := a.LogDeltaLower(eps); err == nil {
				t.Errorf("%s: LogDeltaLower(%v) answers", name, eps)
			}
		}
	}
	for name, make := range accountants(t, privacy.AddRemove) {
		if adj := make().Adjacency(); adj != privacy.AddRemove {
			t.Errorf("%s is for %v", name, adj)
		}
		most := int(min(int64(1)<<52, math.MaxInt/2))
		for k, ok := range map[int]bool{-1: false, 0: true, most: true, most + 1: false} {
			if err := make().Compose(privacy.Gaussian{Sigma: 1e9, Sensitivity: 1}, k); (err == nil) != ok {
				t.Errorf("%s: %d runs: %v", name, k, err)
			}
		}
	}
	if _, err := NewPLD(0, nil); err == nil {
		t.Error("an accountant without adjacency")
	}
	if _, err := NewRDP(0); err == nil {
		t.Error("an accountant without adjacency")
	}
}

// The Rényi accountant is never below the other's lower bound.
func TestAccountantsAgree(t *testing.T) {
	for _, e := range events(t) {
		a, _ := NewPLD(privacy.AddRemove, nil)
		b, _ := NewRDP(privacy.AddRemove)
		must(t, a.Compose(e, 5))
		if b.Compose(e, 5) != nil {
			continue
		}
		low, err := a.EpsilonLower(1e-6)
		must(t, err)
		if up := upper(t, b, 1e-6); up < low {
			t.Errorf("%v: Rényi ε %v below the lower bound %v", e, up, low)
		}
	}
}

// Gaussian events of two kinds, one of them composed at two times, have the ε and the δ of one Gaussian mechanism; the
// Rényi accountant has those of the sum of the curves.
func TestFiguresAreOfWhatWasComposed(t *testing.T) {
	const delta, eps = 1e-5, 0.7
	kinds := []privacy.Gaussian{{Sigma: 4, Sensitivity: 1}, {Sigma: 20, Sensitivity: 1}}
	compose := func(a Accountant) {
		t.Helper()
		must(t, a.Compose(kinds[0], 1))
		must(t, a.Compose(kinds[1], 30))
		must(t, a.Compose(kinds[0], 2))
		if l := a.Ledger(); len(l) != 2 || l[0] != (Entry{kinds[0], 3}) || l[1] != (Entry{kinds[1], 30}) {
			t.Errorf("the ledger is %v", l)
		}
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
			t.Errorf("%s: %.12g, want %.12g", what, got, want)
		}
	}
	square := 3.0/16 + 30.0/400 // Σμ²
	for adj, factor := range map[privacy.Adjacency]float64{privacy.AddRemove: 1, privacy.ReplaceOne: 2} {
		mu := factor * math.Sqrt(square)
		a, err := NewPLD(adj, nil)
		must(t, err)
		compose(a)
		exact := privacy.GaussianProfile(mu, adj)
		want, err := privacy.EpsilonUpper(exact, delta)
		must(t, err)
		near(adj.String()+": ε", upper(t, a, delta), want)
		got, err := a.LogDeltaUpper(eps)
		must(t, err)
		near(adj.String()+": ln δ", got, privacy.LogDeltaUpper(exact, eps))

		b, err := NewRDP(adj)
		must(t, err)
		compose(b)
		c, err := b.Curve()
		must(t, err)
		near(adj.String()+": Rényi ε of order 7", c.Epsilon(7), 7*mu*mu/2)
		sum := privacy.RDPCurve{Adj: adj, Epsilon: func(alpha float64) float64 { return alpha * mu * mu / 2 }}
		want, err = sum.EpsilonUpper(delta)
		must(t, err)
		near(adj.String()+": ε by Rényi's curve", upper(t, b, delta), want)
		got, err = b.LogDeltaUpper(4)
		must(t, err)
		near(adj.String()+": ln δ by Rényi's curve", got, sum.LogDeltaUpper(4))
	}
}

// What is on the books stays there: nobody takes runs off it, nor changes it by what they are shown, and no count is
// beyond what is exact.
func TestBooks(t *testing.T) {
	e := privacy.Gaussian{Sigma: 4, Sensitivity: 1}
	for name, make := range accountants(t, privacy.AddRemove) {
		a := make()
		must(t, a.Compose(e, 3))
		a.Ledger()[0].Count = 1
		for _, k := range []int{-1, -3, maxRuns + 1, maxRuns - 2} {
			if err := a.Compose(e, k); err == nil {
				t.Errorf("%s: composed %d times", name, k)
			}
		}
		if l := a.Ledger(); len(l) != 1 || l[0] != (Entry{e, 3}) {
			t.Errorf("%s: the ledger is %v", name, l)
		}
		must(t, a.Compose(e, maxRuns-3))
	}
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
