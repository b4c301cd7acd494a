// Package mechanism is the contract of private learning algorithms: what each of them says of itself, checks, costs and
// releases. The algorithms are its tenants, in packages below it, and none of them imports another's.
//
// A mechanism is a value with all its parameters, none of which depends on the records. Run checks the records, has its
// event charged to a budget, and only then draws noise (docs/theory/release.md, Charging).
// What every mechanism keeps to is tested by one test for all: contract_test.go.
package mechanism

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Mechanism is a private learning algorithm with all its parameters.
//
// A record is a row of features with a label. Where there are K classes the label is the place of its class, 0 … K − 1.
type Mechanism interface {
	// String describes it with its parameters, in a line.
	fmt.Stringer
	// Describe says what it is and what its guarantee rests on. It may be called where Validate returns nil.
	Describe() Description
	// Validate returns a *privacy.ParamError if a parameter is out of range, or an error that wraps
	// privacy.ErrUnsupported where there is no guarantee.
	Validate() error
	// Event is what one run costs, for an accountant to compose. Its profile under Describe().Adjacency is the
	// guarantee of a release. Errors: as Validate.
	Event() (privacy.Event, error)
	// Feasible refuses, by a *privacy.ParamError, a run that must be expected to release nothing: by public numbers
	// alone, the features and, if their number was planned and is public, the records; else zero. A budget would be
	// charged for such a run.
	Feasible(features, records int) error
	// Check validates records against the parameters, before any noise is drawn. It may be called where Validate
	// returns nil, and may panic elsewhere: the function of this name, by which every Run begins, asks both.
	//
	// Errors: *matrix.DataError for records outside the domain for which the noise was calibrated, or a
	// *privacy.ParamError for parameters that are not for such records.
	Check(rows matrix.Rows, labels []float64) error
	// Run checks, charges (Settings.Charge), draws noise from src and releases, or returns an error and releases
	// nothing. settings may be nil, of a caller who has charged.
	//
	// Errors: as Begin, before any noise is drawn; erm.ErrTolerance (wrapped) if a solver misses its tolerance: then
	// noise has been drawn and nothing is released.
	Run(rows matrix.Rows, labels []float64, src noise.Source, settings *Settings) (*Release, error)
}

// Description is what a mechanism says of itself.
type Description struct {
	// Name of the algorithm, "objective perturbation".
	Name string
	// Also is what it releases beside the coefficients, in a few words; "" for nothing.
	Also string
	// Source is the paper that it comes from, with the place.
	Source string
	// Adjacency of the guarantee, and the theorem by which the event's profile holds.
	Adjacency privacy.Adjacency
	Bound     string
	// Assumptions that the guarantee rests on, in words.
	Assumptions []string
	// Lambda is the ridge λ of the coefficients; zero for none.
	Lambda float64
}

// What many guarantees rest on, in words.
const (
	// ExactNoise is what a guarantee still assumes of arithmetic and chance where its proof is about what is computed:
	// docs/theory/release.md.
	ExactNoise = "random bits are fair and independent, as those of a cryptographic generator are taken to be; " +
		"float64 arithmetic follows IEEE 754, and its rounding is part of the proof"
	// Unseen is what no guarantee covers.
	Unseen = "the adversary observes neither the time taken nor failures"
)

// RowsWithin is the assumption on the rows of a mechanism that CheckNorm keeps to.
func RowsWithin(rowNorm float64) string {
	return fmt.Sprintf("every record that could be in the data has ‖x‖₂ ≤ %s (checked for those that are)",
		privacy.FormatUp(rowNorm, 6))
}

// Chosen is the assumption on how parameters were chosen.
func Chosen(parameters string) string {
	return parameters + " were chosen without looking at the records"
}

// ChosenFrom is that where some were chosen from what an earlier part of a mechanism released, and the others not.
func ChosenFrom(release, others string, chosen ...string) string {
	last, were := len(chosen)-1, "was"
	some := chosen[last]
	if last > 0 {
		some, were = strings.Join(chosen[:last], ", ")+" and "+some, "were"
	}
	return fmt.Sprintf("%s %s chosen from %s, which the guarantee covers; %s without looking at the records", some,
		were, release, others)
}

// Settings of a run; nil is right. None of them has a part in the guarantee.
type Settings struct {
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
	// MaxPasses of the solver; zero means as many as it takes: a fit that is cut short releases nothing, which is for
	// no adversary to see.
	MaxPasses int
	// Charge charges the budget for the run; nil is of a caller who has charged, or who simulates. It is called when
	// all is checked and no noise is drawn, and its error ends the run. A mechanism that is made of others has each of
	// them call it: it charges the first time, and returns what it returned then from there on.
	Charge func() error
}

// Value returns the settings, the zero ones for nil.
func (s *Settings) Value() Settings {
	if s == nil {
		return Settings{}
	}
	return *s
}

// ErrNoSource is the error of a run without a source of noise.
var ErrNoSource = errors.New("mechanism: a source of noise is required: noise.NewSecure() for a release, " +
	"noise.NewSeeded(seed) for a simulation")

// Tightened returns what is left of τ for a solver whose noise is known only to η: a gradient of that norm, with the
// noise that it was given, is at most τ with the exact noise, what these two operations round included.
//
// Proof: docs/theory/release.md.
func Tightened(tau, eta float64) float64 { return tau*(1-0x1p-50) - eta }

// Uncertified is the error of a run whose solver missed the tolerance τ. It wraps erm.ErrTolerance and says no more:
// how a solver fared depends on the records, and what is done about it would, too.
//
// Proof: docs/theory/ledger.md#dpnb-ledger-filter.
func Uncertified(tau float64) error {
	return fmt.Errorf("mechanism: nothing is released, because τ = %g could not be certified (%w). That depends on "+
		"the records, and nobody has paid for it to be known: let nobody see it, and go on as if it had been released",
		tau, erm.ErrTolerance)
}

// Minimised returns the minimiser of p, certified to the tolerance, which is what there is left of τ. Unless the passes
// are limited it goes on until it has it, by steps that are proved to arrive (docs/theory/solvers.md).
//
// Errors: as Unsolved.
func Minimised(p *erm.Problem, tolerance, tau float64, settings *Settings) ([]float64, error) {
	if !(tolerance > 0) {
		return nil, Uncertified(tau)
	}
	s := settings.Value()
	found, err := erm.Minimize(p, &erm.Settings{Tolerance: tolerance, Workers: s.Workers, MaxPasses: s.MaxPasses,
		Persist: s.MaxPasses == 0})
	if err != nil {
		return nil, Unsolved(err, tau)
	}
	return found.Theta, nil
}

// Unsolved is the error of a run whose solver ended with err: Uncertified, because the solver's figures depend on the
// records, or that they cannot be read any longer, which does not.
func Unsolved(err error, tau float64) error {
	if read := (*matrix.ReadError)(nil); errors.As(err, &read) {
		return read
	}
	return Uncertified(tau)
}

// Check validates m and, against its parameters, records. Errors: as m's Validate and Check.
func Check(m Mechanism, rows matrix.Rows, labels []float64) error {
	if err := m.Validate(); err != nil {
		return err
	}
	return m.Check(rows, labels)
}

// Begin is how every Run begins: it checks the source and the records, charges, and returns the release without its
// coefficients, with the guarantee of m's event and the stamp of src. It is the only place where records are checked
// before they are used: no caller can say that they were checked, and one that leaves them alone while Run runs
// does not change them in between.
// No noise has been drawn then: the stamp says which source Run draws from and not that it has drawn, so that a
// Mechanism of another program that draws from elsewhere, or not at all, is stamped as what it was given.
//
// Errors: ErrNoSource, or as Check and m's Event, or as settings.Charge.
func Begin(m Mechanism, rows matrix.Rows, labels []float64, src noise.Source, settings *Settings) (*Release, error) {
	if src == nil {
		return nil, ErrNoSource
	}
	if err := Check(m, rows, labels); err != nil {
		return nil, err
	}
	profile, err := Profile(m)
	if err != nil {
		return nil, err
	}
	if charge := settings.Value().Charge; charge != nil {
		if err := charge(); err != nil {
			return nil, err
		}
	}
	d := m.Describe()
	r := &Release{
		Guarantee: Guarantee{Adjacency: d.Adjacency, Profile: profile, Bound: d.Bound, Assumptions: d.Assumptions},
		Mechanism: m.String(),
		Fitted:    m,
		origin:    noise.OriginOf(src),
	}
	return r, nil
}

// Profile returns the privacy profile of one run of m, under the adjacency of its guarantee. Errors: as m's Event.
func Profile(m Mechanism) (privacy.Profile, error) {
	event, err := m.Event()
	if err != nil {
		return nil, err
	}
	return event.Profile(m.Describe().Adjacency)
}

// Known returns the event of a mechanism whose profile was worked out under the adjacency that holds, or err.
func Known(m fmt.Stringer, p privacy.Profile, err error) (privacy.Event, error) {
	if err != nil {
		return nil, err
	}
	return privacy.Known{Name: m.String(), Of: p}, nil
}
