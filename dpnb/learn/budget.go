package learn

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/lockfile"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Budget says how much may be learnt about any one person in all: (ε, δ) and a ledger of what was spent on what.
// Without a budget there is no fit. It is safe for concurrent use.
type Budget struct {
	ledger *ledger.Budget
	// kept says that the ledger is in a file of the user's, who calls it path.
	kept bool
	path string
	err  error
}

// BudgetOption changes a budget: Named, KeptIn or Additive.
type BudgetOption func(*budgetOptions)

type budgetOptions struct {
	name, path  string
	named, kept bool
	additive    bool
}

// Named tells budgets of different data apart; without it the name is "main". Two data sets that share no person have
// one budget each, under two names. A second name for the same people is a second budget, and the promise to them is
// then the sum of both.
func Named(name string) BudgetOption {
	return func(o *budgetOptions) { o.name, o.named = name, true }
}

// KeptIn keeps the ledger in a file that outlives the notebook or program, from the first charge on.
// Without it, a ledger lasts as long as the kernel, across its cells, or as the program. Every name of the file leads
// to the same ledger, relative or through symbolic links, and a file that is there gives the budget its name, unless
// Named states another; a file with several names (hard links) is refused, and so is one that was deleted or replaced
// while it was in use. Its checksum notices accidents, not malice: whoever may write the file may write any ledger. A
// copy of the file is a second ledger that no program can tell from the first: keep it like the data.
func KeptIn(path string) BudgetOption {
	return func(o *budgetOptions) { o.path, o.kept = path, true }
}

// Additive has releases add up by their ε and δ alone. That can be followed by eye, and covers fewer of them: without
// it squares add up where noise is about Gaussian (NewBudget).
func Additive() BudgetOption { return func(o *budgetOptions) { o.additive = true } }

// NewBudget states a budget of (ε, δ) under add/remove-one: what anyone may learn changes by a factor of at most e^ε,
// up to a probability of δ, whether or not a person's record is in the data. The promise is for all fits together,
// however each is chosen with knowledge of the earlier ones.
//
// Fits are paid for by Spend(ε), whose ε and δ at most add up, or by Share(f). Most cost about as much as Gaussian
// mechanisms, whose costs add up in squares: ten fits with Share(0.1) from (1, 1e-5) have ε ≈ 0.28 each, and 74 fits of
// Spend(0.1) go through instead of ten. A fit goes through if either way of adding up covers it. The first fit decides
// which of them has nine tenths of δ or all of it: docs/theory/ledger.md.
//
// A name is a budget: stating it again, in whatever function, goroutine or cell, gives the same budget with what was
// spent, and stating another (ε, δ) or another file under the same name is an error. The only way to begin anew is
// another name (Named), which is for other data. A test that needs its own budget gives it its own name. A plain
// program that states one again without a name or a file is told so on its standard error, once.
//
// Each cell of a GoNB notebook is a program of its own, in which this line may run again, so the ledger is kept with
// the kernel. A restarted kernel or program knows nothing of earlier ledgers: use KeptIn for a budget that must outlive
// it.
//
// Errors (in Err, and from Fit): ε ≤ 0, δ outside [0, 1), an empty name of budget or file, a folder that is not there,
// a budget that was stated otherwise, a ledger that cannot be read.
func NewBudget(epsilon, delta float64, opts ...BudgetOption) *Budget {
	o := budgetOptions{name: "main"}
	for _, set := range opts {
		set(&o)
	}
	if o.kept && !o.named { // a ledger that is there has a name: it is of these people, whoever began it
		if stated, err := ledger.Stated(o.path); err == nil {
			o.name = stated.Name
		}
	}
	c := ledger.Config{Name: o.name, Path: o.path, Epsilon: epsilon, Delta: delta, Adjacency: privacy.AddRemove,
		Additive: o.additive}
	if o.kept && o.path == "" {
		return &Budget{err: &privacy.ParamError{Name: "KeptIn", Value: `""`, Want: "the name of a file"}}
	}
	dir, inRun := runlog.Dir()
	if inRun {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return &Budget{err: err}
		}
		if !o.kept {
			c.Path = filepath.Join(dir, fileOf("ledger", o.name)+".json")
		}
	}
	b, err := ledger.Open(c)
	if err == nil && inRun {
		err = onePlace(dir, o.name, b.Config().Path)
	}
	if err != nil {
		return &Budget{err: err}
	}
	// The cells of a notebook state it again and again.
	if !inRun && !o.named && !o.kept && unnamed.Add(1) == 2 {
		fmt.Fprintf(os.Stderr, "dpnb: NewBudget(%v, %v) was stated before in this program, and both are one budget "+
			"with one ledger: what one spends the other has spent. For other data add a name, Named(\"…\")\n",
			epsilon, delta)
	}
	budget := &Budget{ledger: b, kept: o.kept, path: o.path}
	if said := budget.others(); said != "" && first(dir, b.Config().Path) {
		fmt.Fprintln(os.Stderr, "dpnb:", said)
	}
	budget.err = budget.log()
	return budget
}

// others is OtherLedgers of a ledger that is kept; a shell says it of the table, which it knows.
func (b *Budget) others() string {
	if !b.kept || wording.Shell != nil {
		return ""
	}
	return OtherLedgers(b.path, "")
}

// warned has the ledgers of which this process has said that there are others.
var warned sync.Map

// first reports whether something is said of a ledger for the first time in a process, and among the cells of a run.
func first(dir, path string) bool {
	if _, before := warned.LoadOrStore(path, nil); before || dir == "" {
		return !before
	}
	f, err := os.OpenFile(filepath.Join(dir, fileOf("others", path)), os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_ = f.Close() // it is empty
	}
	return !errors.Is(err, os.ErrExist)
}

// OtherLedgers says which ledgers but the one named, "" for none, are called as a table is, TABLE.….json, beside the
// table or that ledger; "" if there are none. Where no table is named it is the one that the ledger is called by. It
// goes by names, and looks at no record.
func OtherLedgers(kept, table string) string {
	of := table
	if table == "" {
		of, _, _ = strings.Cut(filepath.Base(kept), ".")
	}
	stem, _, _ := strings.Cut(filepath.Base(of), ".")
	others, folders := []string(nil), []string{filepath.Dir(cmp.Or(table, kept))}
	if kept != "" && !sameFile(filepath.Dir(kept), folders[0]) {
		folders = append(folders, filepath.Dir(kept))
	}
	for _, folder := range folders {
		entries, _ := os.ReadDir(folder)
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			called := strings.HasPrefix(e.Name(), stem+".") && filepath.Ext(path) == ".json"
			if called && (kept == "" || !sameFile(path, kept)) {
				if _, err := ledger.Stated(path); err == nil {
					others = append(others, path)
				}
			}
		}
	}
	if others == nil {
		return ""
	}
	return fmt.Sprintf("By its name %s is another ledger of %s: what both pay for adds up, to more than one allows. "+
		"People have one ledger, in notebooks and in a shell: %s", strings.Join(others, ", "), of,
		wording.Setting{Field: "Budget", Value: others[0], Go: fmt.Sprintf("KeptIn(%q)", others[0])})
}

// sameFile reports whether two names are of one file that is there.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, e := os.Stat(b)
	return err == nil && e == nil && os.SameFile(x, y)
}

// unnamed counts how often this process has stated the budget without a name.
var unnamed atomic.Int64

var fileName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// fileOf returns what the file of something with a name is called, without its ending.
func fileOf(what, name string) string {
	// The hash keeps names apart that differ in letters a file name cannot have.
	sum := sha256.Sum256([]byte(name))
	short := fileName.ReplaceAllString(name, "-")
	return fmt.Sprintf("%s-%s-%x", what, short[:min(len(short), 100)], sum[:8])
}

// onePlace makes sure that all cells of a run keep the budget of a name in the same file, as package ledger does within
// a process: dir says which.
func onePlace(dir, name, path string) (err error) {
	place := filepath.Join(dir, fileOf("ledger", name)+".place")
	lock, err := lockfile.Wait(context.Background(), place+".lock", func() {})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	stated, err := os.ReadFile(place)
	if errors.Is(err, os.ErrNotExist) {
		return atomicfile.Write(place, []byte(path))
	}
	if err == nil && string(stated) != path {
		err = fmt.Errorf("dpnb: another cell keeps budget %q in %s, not in %s: a budget has one ledger, "+
			"and cannot be changed once it is stated; name another for other data (%s)",
			name, stated, path, wording.Setting{Field: "Budget", Go: `Named("…")`})
	}
	return err
}

// Err returns the error with which the budget was stated.
func (b *Budget) Err() error {
	if b == nil || (b.err == nil && b.ledger == nil) {
		return errors.New("dpnb: no budget; state one with NewBudget(ε, δ)")
	}
	return b.err
}

// State returns what was spent and what is left.
func (b *Budget) State() (ledger.State, error) {
	if err := b.Err(); err != nil {
		return ledger.State{}, err
	}
	return b.ledger.State()
}

// log records a snapshot for the report.
func (b *Budget) log() error {
	s, err := b.ledger.State()
	if err != nil {
		return err
	}
	snap := runlog.Ledger{
		Name: s.Name, Adjacency: s.Adjacency.Words(),
		Epsilon: runlog.Number(s.Epsilon), Delta: runlog.Number(s.Delta),
		EpsilonSpent: runlog.Number(s.SpentEpsilon), DeltaSpent: runlog.Number(s.SpentDelta), Kept: b.kept,
	}
	for _, e := range s.Entries {
		snap.Entries = append(snap.Entries, runlog.Entry{Label: e.Label, Mechanism: e.Mechanism,
			Epsilon: runlog.Number(e.Epsilon), Delta: runlog.Number(e.Delta), Simulated: e.Simulated})
	}
	return runlog.Append(runlog.KindLedger, snap)
}

// Allowance is a part of a budget that one fit may spend. It is not spent until the fit draws its noise.
type Allowance struct {
	budget     *Budget
	part       ledger.Part
	err        error
	label      string
	simulation bool
	// asked says that δ was asked for, and is not a share.
	asked bool
	// words are Spend or Share with its number, as they were said; what part they are can depend on what was spent
	// before.
	words string
	// once is the name that the ledger is charged for once at most; "" for none.
	once string
	// resumable says that it may go on in another program (Resumable), run is what it then goes on with; nil for none.
	resumable bool
	run       *unfinished
	// unit is what the release protects (ledger.Entry.Unit).
	unit string
	// partition and group say that it reads the records of one group alone (ledger.Entry), those that are marked by
	// rows.
	partition, group string
	rows             *ofGroup
}

// Spend allows one fit to spend ε of the budget: by itself the fit is (ε, δ′)-differentially private. δ′ is nine tenths
// of the same fraction of δ, so that fits whose ε add up to the budget's always go through; all of δ where ε is the
// whole budget, or where the budget began with a Share; the same fraction of δ where releases add up by ε and δ alone,
// as in a ledger of an earlier version.
func (b *Budget) Spend(epsilon float64) Allowance {
	a := Allowance{budget: b, part: ledger.Part{Epsilon: epsilon}, words: fmt.Sprintf("Spend(%v)", epsilon)}
	if b.Err() == nil {
		a.part = b.ledger.Spend(epsilon)
	}
	return a
}

// Share allows one fit a fraction of the whole budget as a Gaussian mechanism, that is of its μ²: ten fits with
// Share(0.1) use it up. For a budget with δ = 0 it is a fraction of ε. If most of a budget is to be spent in shares,
// begin with a share: after a Spend the shares have an eighth less ε. Share(1) is all of ε and δ, which no Gaussian
// mechanism has to stand for.
func (b *Budget) Share(fraction float64) Allowance {
	a := Allowance{budget: b, words: fmt.Sprintf("Share(%v)", fraction)}
	switch {
	case b.Err() != nil:
	case fraction == 1:
		a.part = b.ledger.Spend(b.ledger.Config().Epsilon)
	default:
		a.part, a.err = b.ledger.Share(fraction)
	}
	return a
}

// ShareOf returns the fraction that Share must be given for what costs μ as a Gaussian mechanism, or ε where the budget
// has δ = 0: the other way round, rounded up.
func (b *Budget) ShareOf(epsilon, mu float64) (float64, error) {
	if err := b.Err(); err != nil {
		return 0, err
	}
	whole, err := b.ledger.Share(1)
	if err != nil {
		return 0, err
	}
	of := epsilon / whole.Epsilon
	if whole.Mu > 0 {
		of = mu / whole.Mu * (mu / whole.Mu)
	}
	if of *= 1 + 1e-8; !(of <= 1) { // by which a share is cut when it is priced
		without := ""
		if pure := epsilon / whole.Epsilon * (1 + 1e-8); whole.Mu > 0 && pure > 0 && pure <= 1 {
			without = fmt.Sprintf(", for with a δ the budget adds up μ; of one with this ε and δ = 0, where ε adds "+
				"up, it would be a share of %s", privacy.FormatUp(pure, 3))
		}
		return 0, fmt.Errorf("dpnb: it costs more than the whole budget: %s times as much%s", privacy.FormatUp(of, 3),
			without)
	}
	return of, nil
}

// WithDelta allows the given δ instead of the budget's or the proportional share of it.
func (a Allowance) WithDelta(delta float64) Allowance {
	a.part.Delta, a.asked = delta, true
	return a
}

// withoutDelta returns a for a learner that spends no δ, which the budget then keeps; a share is a μ, whose ε is found
// by its δ. A δ that was asked for is refused.
func (a Allowance) withoutDelta(learner string) (Allowance, error) {
	if a.asked && a.part.Delta != 0 {
		return a, &privacy.ParamError{Name: "WithDelta", Value: a.part.Delta,
			Want: "0 or nothing: " + learner + " is of pure ε and spends no δ"}
	}
	if a.part.Mu == 0 {
		a.part.Delta = 0
	}
	return a, nil
}

// For names what the allowance is for, in the ledger.
func (a Allowance) For(label string) Allowance { a.label = label; return a }

// Simulate allows a fit at (ε, δ) for which no budget pays, for experiments on public or invented data. Fits refuse it
// unless the noise is from a seed, and their results say that they protect nobody.
func Simulate(epsilon, delta float64) Allowance {
	return Allowance{part: ledger.Part{Epsilon: epsilon, Delta: delta}, simulation: true}
}

// Simulated returns what allows a simulation of exactly the release that a would pay for: of the same ε and δ, by the
// same noise, with the same price, which nobody pays. As Simulate, it is for noise from a seed.
func (a Allowance) Simulated() Allowance { a.simulation = true; return a }

// check reports whether the allowance covers a fit with this source of noise, without spending anything.
func (a Allowance) check(src noise.Source) error {
	if a.simulation && !noise.Simulated(src) {
		return errors.New("dpnb: Simulate is for noise from a seed; a release needs budget.Spend(ε)")
	}
	if a.simulation && a.budget == nil {
		return nil
	}
	if err := cmp.Or(a.budget.Err(), a.err); err != nil || a.simulation {
		return err
	}
	if a.charged() {
		return nil
	}
	// What it costs is known when the mechanism is chosen; the least that can be is asked here.
	return a.budget.ledger.Check(a.entry(a.part, leastMu))
}

// charged reports whether it was paid for and goes on.
func (a Allowance) charged() bool { return a.run != nil && a.run.charged != nil }

// reads has a pay for a release of records, which of an allowance for one group must be that group's.
func (a *Allowance) reads(records Records) error {
	if err := records.Err(); err != nil {
		return err
	}
	if records.byPlace() && !a.simulation {
		return errors.New("dpnb: these are the first rows of a table (Head): which they are depends on those before " +
			"them, and one record more changes two of them, so that no guarantee would be of the table. Ask about " +
			"all of it, or Simulate")
	}
	person, rows, group := records.whose()
	if a.unit = unit(person, rows); a.rows != nil && a.rows != group {
		return errors.New("dpnb: this allowance pays for a release of one group's records (FitBy), and these are " +
			"others")
	}
	return nil
}

// leastMu stands for the cost of a release before it is known.
const leastMu = 1e-12

// entry is the line of the ledger of a release that is (ε, δ) alone and costs μ.
func (a Allowance) entry(alone ledger.Part, mu float64) ledger.Entry {
	e := ledger.Entry{Label: cmp.Or(a.label, "fit"), Epsilon: alone.Epsilon, Delta: alone.Delta,
		Shared: alone.Mu > 0, Unit: a.unit, Partition: a.partition, Group: a.group}
	if alone.Tail > 0 && !a.whole() {
		e.Mu = mu
	}
	return e
}

// whole reports whether all of the budget is to be spent at once, or there is none: then (ε, δ) says it all.
func (a Allowance) whole() bool {
	if a.budget == nil {
		return true
	}
	c := a.budget.ledger.Config()
	return a.part.Mu == 0 && a.part.Epsilon >= c.Epsilon
}

// priced chooses a mechanism for what is allowed, by its (ε, δ), and says what it costs. Nothing that it reads depends
// on the records.
func (a Allowance) priced(choose func(epsilon, delta float64) (mechanism.Mechanism, error)) (mechanism.Mechanism,
	ledger.Entry, error) {
	part := a.part
	gaussian := part.Tail > 0 && !a.whole()
	// A share is a μ. A mechanism that is calibrated for an (ε, δ) of it costs as much if it is Gaussian and somewhat
	// more else: then for a smaller one, by the power of it that the cost was seen to be; if that was far too small, as
	// where ε falls below what the curvature of one record asks for whatever the noise, for one between the two.
	mu, power, last, lastCost := part.Mu*(1-1e-9), 1.0, 0.0, 0.0
	var found mechanism.Mechanism // that costs no more than the share, of low and cheap
	var cheap ledger.Entry
	for low, high := 0.0, 0.0; ; { // a μ that is little enough, and one that is too much
		if mu > 0 {
			var err error
			if part.Epsilon, err = privacy.EpsilonUpper(privacy.GaussianProfile(mu, privacy.AddRemove),
				part.Delta); err != nil {
				return nil, ledger.Entry{}, err
			}
		}
		entry := a.entry(part, 0)
		m, err := choose(part.Epsilon, part.Delta)
		if err != nil && found != nil {
			return found, cheap, nil
		}
		if err != nil {
			return m, entry, err
		}
		if gaussian {
			if _, err := mechanism.Profile(m); err != nil {
				return nil, entry, err
			}
			cost, err := asGaussian(m, part.Tail)
			switch {
			case err == nil:
				entry.Mu, entry.Slack = cost.mu, cost.slack
			case entry.Shared:
				return nil, entry, fmt.Errorf("dpnb: the cost of %s as a Gaussian mechanism is not known, so it "+
					"cannot have a share of a budget; Spend an ε on it: %w", m.Describe().Name, err)
			} // else it is the sums that have to cover it
		}
		switch {
		case part.Mu == 0 || high == 0 && entry.Mu <= part.Mu:
			return m, entry, nil
		case entry.Mu <= part.Mu:
			found, cheap, low = m, entry, mu
		default:
			high = mu
		}
		if found != nil {
			if cheap.Mu >= 0.98*part.Mu || high < 1.01*low {
				return found, cheap, nil
			}
			mu = math.Sqrt(low * high)
			continue
		}
		if seen := math.Log(entry.Mu/lastCost) / math.Log(mu/last); seen > 0.5 && seen < 2 {
			power = seen
		}
		last, lastCost = mu, entry.Mu
		if mu *= math.Pow(part.Mu/entry.Mu, 1/power) * (1 - 1e-3); mu < part.Mu/16 {
			return nil, entry, fmt.Errorf("dpnb: no choice of parameters for %s was found that costs a share of μ = "+
				"%s; Spend an ε on it", m.Describe().Name, privacy.FormatUp(part.Mu, 4))
		}
	}
}

// charge spends what a release costs, unless it goes on and has been paid for.
func (a Allowance) charge(e ledger.Entry, m fmt.Stringer, name string, src noise.Source) error {
	if a.simulation {
		return a.check(src)
	}
	if err := a.budget.Err(); err != nil {
		return err
	}
	e.Mechanism, e.Simulated, e.Once = name, noise.Simulated(src), a.once
	switch {
	case a.run == nil:
		if err := a.budget.ledger.Charge(e); err != nil {
			return err
		}
	case a.run.charged != nil:
		if err := a.run.take(e, m.String()); err != nil {
			return err
		}
	default:
		a.run.Mechanism = m.String()
		err := a.run.begin()
		ended("begun")
		if err == nil {
			err = a.budget.ledger.Charge(e)
		}
		if err != nil {
			if a.neverCharged(a.once) == nil { // else what was charged goes on
				err = errors.Join(err, a.run.place.forget())
			}
			return err
		}
	}
	ended("charged")
	if err := a.budget.log(); err != nil { // no reason to lose what was paid for
		fmt.Fprintln(os.Stderr, "dpnb: the report will not have this charge:", err)
	}
	return nil
}

// Display shows the ledger.
func (b *Budget) Display() display.Item {
	s, err := b.State()
	if err != nil {
		return display.Failed(err)
	}
	it := display.Item{
		Title: fmt.Sprintf("Privacy budget %q: ε = %s, δ = %s (%s)", s.Name,
			privacy.FormatUp(s.Epsilon, 6), privacy.FormatUp(s.Delta, 3), s.Adjacency.Words()),
		Header: []string{"for", "mechanism", "ε alone", "δ alone"},
	}
	it.Warning = mechanism.Guarantee{Epsilon: s.Epsilon, Delta: s.Delta}.Warning()
	simulated, sum := "", 0.0
	for _, e := range s.Entries {
		mech := e.Mechanism
		sum += e.Epsilon
		if e.Simulated {
			mech += " [simulation]"
			simulated = "Some of these fits drew their noise from a seed: they are simulations and protect nobody."
		}
		it.Row(e.Label, mech, privacy.FormatUp(e.Epsilon, 4), privacy.FormatUp(e.Delta, 4))
	}
	it.Row("all so far", "", privacy.FormatUp(s.SpentEpsilon, 4), privacy.FormatUp(s.SpentDelta, 4))
	it.Row("remaining budget", "", privacy.FormatDown(s.RemainingEpsilon, 4), privacy.FormatDown(s.RemainingDelta, 4))
	exceeded := s.SpentEpsilon > s.Epsilon || s.SpentDelta > s.Delta
	if exceeded {
		it.Warning = join(it.Warning, "MORE WAS RELEASED than the budget promises: an earlier version of this module "+
			"charged some of these releases too little. Nothing more is released from it.")
	}
	it.Warning = join(join(it.Warning, simulated), b.others())
	if len(s.Entries) > 1 {
		// Pure releases add up; Gaussian ones add up to less.
		if sum > 1.001*s.SpentEpsilon {
			var because []string
			if slices.ContainsFunc(s.Entries, func(e ledger.Entry) bool { return e.Partition != "" }) {
				because = append(because, "a record is in one group at most, so that the largest cost counts")
			}
			if s.Rule != ledger.Sums {
				because = append(because, "where noise is about Gaussian, squares add up")
			}
			it.Note("The releases' own ε add up to %s, and together they amount to less, which is in the line \"all "+
				"so far\": %s.", privacy.FormatUp(sum*(1-1e-12), 4),
				strings.Join(because, ", and ")) // what floats add beside it
		}
		if s.Rule != ledger.Sums && !exceeded {
			it.Note("The line \"all so far\" assumes that no release's cost was chosen in the light of an earlier " +
				"result. The budget itself needs no such assumption.")
			if s.Delta > 0 {
				it.Note("The last line is what one more release may spend if its noise is about Gaussian.")
			}
		}
	}
	if len(s.Entries) > 0 && s.Entries[0].Unit != "" {
		it.Note("Every release is for adding or removing a %s.", ledger.Protected(s.Entries))
	}
	for _, e := range s.Entries {
		if said := placeOf(b.ledger, e.Once).unshown(); e.Once != "" && said != "" {
			it.Note("%q was paid for; %s.", e.Once, said)
		}
	}
	if b.kept {
		it.Note("The ledger is kept in %s.", s.Path)
	}
	return it
}
