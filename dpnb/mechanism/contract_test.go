package mechanism_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/account"
)

// property is a part of the contract: check returns what speaks against it.
type property struct {
	name  string
	check func(c tenant) error
}

var contract = []property{
	{"parameters out of range are refused before anything", refusesParameters},
	{"records out of the domain are refused before anything is charged", chargesWhatItChecked},
	{"noise is drawn when the budget was charged", drawsAfterTheCharge},
	{"nothing is released by a run that is stopped short", releasesNothingStoppedShort},
	{"the number of workers changes nothing", ignoresWorkers},
	{"a simulation says so, a release does not repeat itself", stampsItsNoise},
	{"neighbours run alike", treatsNeighboursAlike},
	{"the event is what it was calibrated for", costsWhatItWasCalibratedFor},
	{"it describes itself", describesItself},
}

// Every mechanism of the house keeps to the contract.
func TestContract(t *testing.T) {
	for _, c := range tenants(t) {
		if c.name == "" {
			continue // waits for the full tests
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, p := range contract {
				if err := p.check(c); err != nil {
					t.Errorf("%s: %v", p.name, err)
				}
			}
		})
	}
}

var inf = math.Inf(1)

// counting tells how many words were drawn from a seeded source.
type counting struct {
	*noise.Seeded
	draws int
}

func (c *counting) Uint64() uint64 { c.draws++; return c.Seeded.Uint64() }

// refuses returns an error unless a run at the records does as err of an earlier check says: no release, no draw and
// the same error.
func refuses(c tenant, rows matrix.Rows, labels []float64, err error) error {
	if err == nil {
		return errors.New("is accepted")
	}
	var data *matrix.DataError
	var param *privacy.ParamError
	if !errors.As(err, &data) && !errors.As(err, &param) && !errors.Is(err, privacy.ErrUnsupported) {
		return fmt.Errorf("is refused by an error of no known kind: %v", err)
	}
	src, charged := &counting{Seeded: noise.NewSeeded(1)}, 0
	settings := &mechanism.Settings{Charge: func() error { charged++; return nil }}
	switch r, again := c.m.Run(rows, labels, src, settings); {
	case charged > 0:
		return errors.New("is charged for")
	case r != nil || again == nil:
		return errors.New("was refused by Check and is run")
	case again.Error() != err.Error():
		return fmt.Errorf("is refused in two ways: %v; %v", err, again)
	case src.draws > 0:
		return fmt.Errorf("is refused when %d words were drawn", src.draws)
	}
	return nil
}

// refusesParameters sets every parameter to values that cannot be right.
func refusesParameters(c tenant) error {
	rows, labels := c.records(12, 1)
	if err := errors.Join(mechanism.Check(c.m, rows, labels), c.m.Feasible(2, 500)); err != nil {
		return err
	}
	tried := 0
	for _, mutant := range mutants(c.m) {
		if c.allowed[mutant.what] != "" {
			continue
		}
		tried++
		bad := c
		bad.m = mutant.m
		if err := bad.m.Validate(); err == nil {
			return fmt.Errorf("%s is valid", mutant.what)
		}
		if _, err := bad.m.Event(); err == nil {
			return fmt.Errorf("%s has a cost", mutant.what)
		}
		if err := refuses(bad, rows, labels, mechanism.Check(bad.m, rows, labels)); err != nil {
			return fmt.Errorf("%s %w", mutant.what, err)
		}
	}
	if tried < 6 {
		return fmt.Errorf("only %d odd parameters were tried", tried)
	}
	return nil
}

// drawsAfterTheCharge runs with a budget that has nothing left: nothing is drawn or released.
func drawsAfterTheCharge(c tenant) error {
	x, y := c.records(50, 3)
	src, spent := &counting{Seeded: noise.NewSeeded(1)}, errors.New("nothing left")
	r, err := c.m.Run(x, y, src, &mechanism.Settings{Charge: func() error { return spent }})
	if r != nil || !errors.Is(err, spent) || src.draws > 0 {
		return fmt.Errorf("without a budget it draws %d words and releases %v, error %v", src.draws, r, err)
	}
	return nil
}

// chargesWhatItChecked looks for records that Run refuses only when it has begun.
func chargesWhatItChecked(c tenant) error {
	spoil := map[string]func(x *matrix.Dense, y *[]float64){
		"a feature that is no number":   func(x *matrix.Dense, _ *[]float64) { x.Data[3] = math.NaN() },
		"an infinite feature":           func(x *matrix.Dense, _ *[]float64) { x.Data[3] = math.Inf(-1) },
		"a label that is no number":     func(_ *matrix.Dense, y *[]float64) { (*y)[7] = math.NaN() },
		"a label that no record has":    func(_ *matrix.Dense, y *[]float64) { (*y)[11] = c.badLabel },
		"more records than labels":      func(_ *matrix.Dense, y *[]float64) { *y = (*y)[1:] },
		"more labels than records":      func(_ *matrix.Dense, y *[]float64) { *y = append(*y, 1) },
		"no labels":                     func(_ *matrix.Dense, y *[]float64) { *y = nil },
		"a record that is too long":     func(x *matrix.Dense, _ *[]float64) { x.Data[6] = 1.01 },
		"a record a hair's breadth off": func(x *matrix.Dense, _ *[]float64) { x.Data[6], x.Data[7] = 1+1e-11, 0 },
	}
	if c.clips {
		delete(spoil, "a feature that is no number")
		delete(spoil, "an infinite feature")
	}
	if c.anyNorm {
		delete(spoil, "a record that is too long")
		delete(spoil, "a record a hair's breadth off")
	}
	for name, f := range spoil {
		x, y := c.records(12, 1)
		f(x, &y)
		err := c.m.Check(x, y)
		if n, _ := x.Dims(); c.total && len(y) == n {
			if err != nil {
				return fmt.Errorf("%s is refused: %w", name, err)
			}
			continue
		}
		if err := refuses(c, x, y, err); err != nil {
			return fmt.Errorf("%s %w", name, err)
		}
	}
	x, y := c.records(12, 1)
	if r, err := c.m.Run(x, y, nil, nil); r != nil || !errors.Is(err, mechanism.ErrNoSource) {
		return fmt.Errorf("a run without a source has the error %v", err)
	}
	return nil
}

// releasesNothingStoppedShort cuts the solver off after one pass.
func releasesNothingStoppedShort(c tenant) error {
	texts := map[string]bool{}
	for seed, n := range []int{400, 900} {
		x, y := c.records(n, uint64(seed))
		src := &counting{Seeded: noise.NewSeeded(1)}
		r, err := c.m.Run(x, y, src, &mechanism.Settings{MaxPasses: 1})
		if !c.solves {
			if r == nil || err != nil {
				return fmt.Errorf("passes are counted where there are none: %v", err)
			}
			continue
		}
		if r != nil || !errors.Is(err, erm.ErrTolerance) {
			return fmt.Errorf("one pass leads to release %v, error %v", r, err)
		}
		texts[err.Error()] = true
	}
	if len(texts) > 1 {
		return fmt.Errorf("that nothing is released is said in several ways: %v", texts)
	}
	return nil
}

// ignoresWorkers compares bit by bit, with more records than go to one worker at a time.
func ignoresWorkers(c tenant) error {
	x, y := c.records(3000, 2)
	var first *mechanism.Release
	for _, workers := range []int{1, 2, 3, 7, 0} {
		r, err := c.m.Run(x, y, noise.NewSeeded(5), &mechanism.Settings{Workers: workers})
		if err != nil {
			return err
		}
		if first == nil {
			first = r
		}
		if !slices.Equal(r.Coefficients, first.Coefficients) || !reflect.DeepEqual(r.Also, first.Also) ||
			r.Mechanism != first.Mechanism {
			return fmt.Errorf("%d workers release %v, 1 releases %v", workers, r.Coefficients, first.Coefficients)
		}
	}
	return nil
}

// stampsItsNoise looks at what a release says of its noise.
func stampsItsNoise(c tenant) error {
	x, y := c.records(50, 3)
	run := func(src noise.Source) (*mechanism.Release, error) {
		r, err := c.m.Run(x, y, src, nil)
		if also, ok := any(nil), false; err == nil {
			if also, ok = r.Also, r.Also != nil; !ok {
				return r, nil
			}
			if m, ok := also.(interface{ Simulated() bool }); ok && m.Simulated() != r.Simulated() {
				return r, errors.New("what is released besides says otherwise")
			}
		}
		return r, err
	}
	one, err := run(noise.NewSeeded(42))
	if err != nil {
		return err
	}
	two, err := run(noise.NewSeeded(42))
	if err != nil {
		return err
	}
	if seed, ok := one.Seed(); !one.Simulated() || !ok || seed != 42 || !strings.Contains(one.Warning(), "42") {
		return fmt.Errorf("a simulation does not say so: %q", one.Warning())
	}
	if !slices.Equal(one.Coefficients, two.Coefficients) {
		return errors.New("a seed gives two results")
	}
	if one, err = run(noise.NewSecure()); err != nil {
		return err
	}
	if two, err = run(noise.NewSecure()); err != nil {
		return err
	}
	if _, ok := one.Seed(); one.Simulated() || ok || one.Warning() != "" {
		return fmt.Errorf("a release says that it is a simulation: %q", one.Warning())
	}
	// That none of a Poisson(3) number of runs is made is likely enough to be met.
	if slices.Equal(one.Coefficients, two.Coefficients) && !(c.chooses && floats.Norm(one.Coefficients, 1) == 0) {
		return errors.New("two releases are the same")
	}
	return nil
}

// treatsNeighboursAlike runs on datasets and on each of them with one record more. There is no refusal and no error,
// and nothing but the coefficients and what goes with them tells which it was. Whether there are any records, and of
// which classes, is private.
func treatsNeighboursAlike(c tenant) error {
	sparse := matrix.NewDense(0, 2, nil).Sparse()
	last := c.labels[len(c.labels)-1]
	some, ofThem := c.records(6, 4)
	pairs := map[string][]struct {
		rows   matrix.Rows
		labels []float64
	}{
		"none, none but without labels, none as sparse ones, one": {
			{matrix.NewDense(0, 2, nil), []float64{}}, {matrix.NewDense(0, 2, nil), nil}, {sparse, nil},
			{matrix.NewDense(1, 2, []float64{0.6, 0.8}), c.labels[:1]}},
		"a row of zeros, one more of another class": {
			{
				matrix.NewDense(1, 2, nil),
				c.labels[:1],
			}, {matrix.NewDense(2, 2, []float64{0, 0, 1, 0}), []float64{c.labels[0], last}}},
		"one class, one of another class": {
			{matrix.NewDense(3, 2, []float64{1, 0, 0, 1, 0.6, 0.8}), []float64{last, last, last}},
			{matrix.NewDense(4, 2, []float64{1, 0, 0, 1, 0.6, 0.8, -1, 0}), []float64{last, last, last, c.labels[0]}}},
		"tiny records, one of full length": {
			{matrix.NewDense(2, 2, []float64{1e-300, 0, 0, 5e-324}), []float64{last, c.labels[0]}},
			{matrix.NewDense(3, 2, []float64{1e-300, 0, 0, 5e-324, 0, -1}), []float64{last, c.labels[0], last}}},
		"six of them, five of them": {{some, ofThem}, {matrix.NewDense(5, 2, some.Data[:10]), ofThem[:5]}},
	}
	for name, data := range pairs {
		var first *mechanism.Release
		for i, d := range data {
			if err := c.m.Check(d.rows, d.labels); err != nil {
				return fmt.Errorf("%s: dataset %d is refused: %w", name, i, err)
			}
			r, err := c.m.Run(d.rows, d.labels, noise.NewSeeded(6), nil)
			if err != nil {
				return fmt.Errorf("%s: dataset %d has an error: %w", name, i, err)
			}
			if first == nil {
				first = r
			}
			if err := public(c, first, r); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if !finite(r.Coefficients) {
				return fmt.Errorf("%s: dataset %d has coefficients %v", name, i, r.Coefficients)
			}
		}
	}
	return nil
}

// public returns an error if two releases differ in what is not released.
func public(c tenant, a, b *mechanism.Release) error {
	if len(a.Coefficients) != len(b.Coefficients) || reflect.TypeOf(a.Also) != reflect.TypeOf(b.Also) {
		return fmt.Errorf("the releases %+v and %+v are told apart", a, b)
	}
	if !c.chooses && (a.Tolerance != b.Tolerance || a.NoiseScale != b.NoiseScale ||
		a.Mechanism != b.Mechanism || a.Fitted.String() != b.Fitted.String()) {
		return fmt.Errorf("%q with τ = %g and %q with τ = %g ran", a.Mechanism, a.Tolerance, b.Mechanism, b.Tolerance)
	}
	g, h := a.Guarantee, b.Guarantee
	if g.Adjacency != h.Adjacency || g.Bound != h.Bound || !slices.Equal(g.Assumptions, h.Assumptions) ||
		g.Epsilon != h.Epsilon ||
		g.Delta != h.Delta ||
		privacy.DeltaUpper(g.Profile, 1) != privacy.DeltaUpper(h.Profile, 1) {
		return errors.New("the guarantee depends on the records")
	}
	return nil
}

func finite(theta []float64) bool {
	for _, v := range theta {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// slack is by how much less ε may be than what was asked for: a search stops, and noise that a bound with two parts
// asks for is not exactly the least.
const slack = 0.02

// costsWhatItWasCalibratedFor asks the profile and every accountant.
func costsWhatItWasCalibratedFor(c tenant) error {
	adj := c.m.Describe().Adjacency
	event, err := c.m.Event()
	if err != nil {
		return err
	}
	p, err := event.Profile(adj)
	if err != nil {
		return err
	}
	if p.Adjacency() != adj {
		return fmt.Errorf("the profile is for %v, the guarantee for %v", p.Adjacency(), adj)
	}
	if d := privacy.DeltaUpper(p, c.epsilon); d > c.delta*(1+1e-9+c.read) {
		return fmt.Errorf("calibrated for (%g, %g), and δ(%g) = %g", c.epsilon, c.delta, c.epsilon, d)
	}
	if d := privacy.DeltaUpper(p, c.epsilon*(1-slack)); d <= c.delta {
		return fmt.Errorf(
			"calibrated for (%g, %g), and δ(%g) = %g: there is more noise than is said",
			c.epsilon,
			c.delta,
			c.epsilon*(1-slack),
			d,
		)
	}
	x, y := c.records(20, 7)
	r, err := c.m.Run(x, y, noise.NewSeeded(1), nil)
	if err != nil {
		return err
	}
	for _, eps := range []float64{0, 0.1, c.epsilon, 3} {
		if got, want := privacy.DeltaUpper(r.Guarantee.Profile, eps), privacy.DeltaUpper(p, eps); got != want {
			return fmt.Errorf("at ε = %g the release states δ = %v, the event %v", eps, got, want)
		}
	}
	return accounted(c, event, adj, math.Max(c.delta, 1e-9))
}

// accounted composes one run and, where that is quick or all is tested, two: by the accountant, and by the Rényi curve
// of an event that has one, which costs up to about a third here.
func accounted(c tenant, event privacy.Event, adj privacy.Adjacency, delta float64) error {
	books := func(runs int, delta float64) (float64, error) {
		a, err := account.NewPLD(adj, nil)
		if err == nil {
			err = a.Compose(event, runs)
		}
		if err != nil {
			return 0, err
		}
		b, err := a.EpsilonBounds(delta)
		return b.Upper, err
	}
	curve := func(runs int, delta float64) (float64, error) {
		r, ok := event.(privacy.RDPEvent)
		if !ok {
			return 0, privacy.ErrUnsupported
		}
		one, err := r.RDP(adj)
		if err != nil {
			return 0, err
		}
		all, err := privacy.ComposeRDP([]int{runs}, one)
		if err != nil {
			return 0, err
		}
		return all.EpsilonUpper(delta)
	}
	for _, by := range []struct {
		name    string
		epsilon func(runs int, delta float64) (float64, error)
		most    float64
	}{{"the accountant", books, 1.01}, {"the Rényi curve", curve, 1.5}} {
		one, err := by.epsilon(1, delta)
		if by.most > 1.01 && errors.Is(err, privacy.ErrUnsupported) {
			continue // no curve of the event is known, which it says
		} else if err != nil {
			return err
		}
		if !(one >= c.epsilon*(1-slack)*(1-1e-3) && one <= c.epsilon*by.most) {
			return fmt.Errorf("%s says ε = %g at δ = %g of what was calibrated for %g", by.name, one, delta, c.epsilon)
		}
		if p, _ := event.Profile(adj); !gaussian(p) && !testscale.Full() {
			continue
		}
		if two, err := by.epsilon(2, 2*delta); err != nil || !(two > one && two <= 2*one*1.01) {
			return fmt.Errorf("%s says ε = %g of one run and %g of two (%w)", by.name, one, two, err)
		}
	}
	return nil
}

func gaussian(p privacy.Profile) bool { _, _, ok := privacy.GaussianMu(p); return ok }

var (
	source = regexp.MustCompile(`\b(19|20)\d\d\b|\b(rkw23|dtz24|qop|cop|heavytail)\b|^ours\b`)
	page   = regexp.MustCompile(`docs/[a-z_/]+\.md`)
)

// describesItself looks for what a reader of the guarantee needs.
func describesItself(c tenant) error {
	d := c.m.Describe()
	event, err := c.m.Event()
	if err != nil {
		return err
	}
	for what, text := range map[string]string{"name": d.Name, "paper": d.Source, "theorem": d.Bound,
		"description": c.m.String(), "cost": event.String()} {
		if strings.TrimSpace(text) == "" || strings.Contains(text, "%!") {
			return fmt.Errorf("its %s is %q", what, text)
		}
	}
	if !source.MatchString(d.Source) {
		return fmt.Errorf("no year and no paper in its source %q", d.Source)
	}
	for _, p := range page.FindAllString(d.Source+d.Bound+strings.Join(d.Assumptions, " "), -1) {
		if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(p))); err != nil {
			return err
		}
	}
	if err := d.Adjacency.Validate(); err != nil {
		return err
	}
	needed := []string{mechanism.ExactNoise, mechanism.Unseen}
	if c.total || c.sure {
		needed[1] = "the adversary does not observe the time taken" // there are no failures
	}
	if !c.anyNorm {
		needed = append(needed, "every record that could be in the data has "+cmp.Or(c.norms, "‖x‖₂ ≤ 1"))
	}
	for _, want := range needed {
		if !slices.ContainsFunc(d.Assumptions, func(a string) bool { return strings.HasPrefix(a, want) }) {
			return fmt.Errorf("its assumptions %q lack %q", d.Assumptions, want)
		}
	}
	if !slices.ContainsFunc(
		d.Assumptions,
		func(a string) bool { return strings.Contains(a, "without looking at the records") },
	) {
		return fmt.Errorf("its assumptions %q say nothing of the parameters", d.Assumptions)
	}
	x, y := c.records(20, 8)
	r, err := c.m.Run(x, y, noise.NewSeeded(1), nil)
	if err != nil {
		return err
	}
	said := strings.Contains(strings.Join(d.Assumptions, "\n"), "which the guarantee covers; ")
	for seed := uint64(2); c.chooses && !said && seed < 6; seed++ {
		other, err := c.m.Run(x, y, noise.NewSeeded(seed), nil)
		if err != nil {
			return err
		}
		if a, b := r.Mechanism, other.Mechanism; a != b {
			return fmt.Errorf("%q ran, and %q: its assumptions %q do not say what chose between them", a, b,
				d.Assumptions)
		}
	}
	g := r.Guarantee
	if g.Adjacency != d.Adjacency || g.Bound != d.Bound || !slices.Equal(g.Assumptions, d.Assumptions) ||
		r.Fitted == nil ||
		r.Mechanism == "" {
		return fmt.Errorf("the release says %+v, the mechanism %+v", g, d)
	}
	return nil
}
