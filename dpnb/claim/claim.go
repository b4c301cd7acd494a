// Package claim is the register of what the papers claim: for each claim a check that measures something which could
// come out otherwise, and the verdict with its figures.
package claim

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// Kind of a claim.
type Kind string

// Kinds of claims.
const (
	Theorem Kind = "theorem"
	Bound   Kind = "bound"
	Figure  Kind = "figure"
	Table   Kind = "table"
	Ours    Kind = "ours"
	// Listed is a statement that no claim is of.
	Listed Kind = "listed"
)

// Verdict of a check.
type Verdict string

// Verdicts. NotCheckable is followed by the reason.
const (
	Holds               Verdict = "holds"
	HoldsWithCorrection Verdict = "holds with correction"
	Fails               Verdict = "fails"
	NotCheckable        Verdict = "not checkable"
	// Untested is what a claim gets that holds by evidence that would not have noticed an error.
	Untested Verdict = "consistent, not tested"
)

// Check measures something that could come out otherwise.
type Check = func(ctx context.Context, size Size) (Outcome, error)

// Claim is one claim, how it is checked, and where everything about it stands.
type Claim struct {
	// ID is the paper's short name and the place in it, for example "rkw23/thm3.1".
	ID string
	// Paper is where it stands, in words a reader can look up.
	Paper string
	Kind  Kind
	// Place is the place in the paper, Statement the claim in a line, Reason why nothing checks it; empty if something
	// does, and only then the rest is said.
	Place, Statement, Reason string
	// Code names what computes or releases what is claimed, and Tests what asserts the statement, by package and
	// symbol: "privacy/objective.DTZ24". A package is named by its directory below dpnb. Where no other test asserts
	// the statement, Tests is empty: the check itself does.
	Code, Tests []string
	// Proof is the page of docs/theory and the anchor there, and the hash of that text and of a paper's statement, when
	// somebody last held them against the claim: "objective_perturbation#dtz24-thm5.1 0b5aee1c". When it has changed,
	// look at the claim and renew the hash with: go run ./dpnb/cmd/dpnb claims --renew
	Proof string
	// Errata are entries of docs/errata.md, Figure a notebook and the ID of the cell that shows the claim,
	// "01_accounting#figure-one-left".
	Errata []string
	Figure string
	// Check, Expected are what is measured, in words, and what should come out. Seed of it; zero if nothing is drawn.
	Check, Expected string
	Seed            uint64
	// Run measures, Want is its verdict; empty means Holds.
	Run  Check
	Want Verdict
	// Scaled are claimed quantities by whose error the check is measured, Wrong other versions that are wrong on
	// purpose, by what is wrong. Powers are what of them each half of the check notices, as measured; the register
	// reads them from its file.
	Scaled []Scaled
	Wrong  map[string]Check
	Powers []Power
	// Weak says why no evidence notices an error of a tenth. Loose is the share of the bound beyond which no case
	// comes, if that is proved at Proof; zero if nothing is.
	Weak  string
	Loose float64
	// Slow says that the check takes seconds: tests run it when all are asked for, and the document always.
	Slow bool
}

// want is what Run must give.
func (c Claim) want() Verdict { return cmp.Or(c.Want, Holds) }

// Verdict is what the claim must get: that of Run, if the evidence would have noticed an error, or is proved to be as
// near as any can be.
func (c Claim) Verdict() Verdict {
	if v := c.want(); v != Holds && v != HoldsWithCorrection || c.Loose > 0 || c.Powers == nil ||
		c.noticed(Evidence) != "" {
		return v
	}
	return Untested
}

// Size of a check.
type Size int

const (
	// Quick is for every run of the tests.
	Quick Size = iota
	// Full draws more and searches longer, at the scale of the paper where that is known.
	Full
)

// Runs is the number of repetitions of a simulation: twenty times as many at full size.
func (s Size) Runs(quick int) int {
	if s == Full {
		return 20 * quick
	}
	return quick
}

// Outcome is what a check measured.
type Outcome struct {
	// Measured is the figure, with its unit or meaning.
	Measured string
	// Interval is the confidence interval of Measured, or the tolerance that it was held against.
	Interval string
	// Verdict is that of the evidence, Formula whether the code computes what is stated; empty if that is not compared.
	Verdict Verdict
	Formula Comparison
	// Reached is how near to equality the worst case comes that was found, as a share of what is claimed; zero if the
	// claim is no bound.
	Reached float64
	// Note says what a reader should know besides, for example which correction.
	Note string
}

// Comparison of the code with a formula.
type Comparison string

// Comparisons.
const (
	Same  Comparison = "the formula that is stated"
	Other Comparison = "another formula than what is stated"
)

// As adds to o whether the code computes the formula that is stated.
func (o Outcome) As(same bool) Outcome {
	if o.Formula = cmp.Or(o.Formula, Same); !same {
		o.Formula = Other
	}
	return o
}

// Reaching adds to o how near to equality the worst case came.
func (o Outcome) Reaching(share float64) Outcome {
	o.Reached = math.Max(o.Reached, share)
	return o
}

// InFull adds notes to o, where the size is Full: what a reader of that run wants to see one by one.
func (o Outcome) InFull(size Size, notes []string) Outcome {
	if size == Full {
		o.Note = strings.TrimPrefix(o.Note+"; "+strings.Join(notes, "; "), "; ")
	}
	return o
}

// Result is a claim with its outcome, as it is printed.
type Result struct {
	Claim Claim `json:"-"`

	ID        string  `json:"id"`
	Paper     string  `json:"paper"`
	Kind      Kind    `json:"kind"`
	Statement string  `json:"statement"`
	Check     string  `json:"check"`
	Expected  string  `json:"expected"`
	Measured  string  `json:"measured"`
	Interval  string  `json:"interval"`
	Verdict   string  `json:"verdict"`
	Seconds   float64 `json:"seconds"`
	Seed      uint64  `json:"seed"`
	// Evidence and Transcription are what each half of the check notices by itself.
	Evidence      Noticed `json:"evidence"`
	Transcription Noticed `json:"transcription"`
	// Reached is the share of what is claimed that the worst case found comes to, Loose the share that is proved to be
	// the most, and Weak why no evidence notices an error of a tenth.
	Reached float64 `json:"reached,omitempty"`
	Loose   float64 `json:"loose,omitempty"`
	Weak    string  `json:"weak,omitempty"`
}

// Noticed is what a half of a check notices, in words; Near is the relative error of the nearest wrong version, null if
// none has a size.
type Noticed struct {
	Notices string   `json:"notices"`
	Near    *float64 `json:"near"`
}

// Select returns the claims whose ID matches one of the patterns ("qop/*", "rkw23/thm3.1"); all of them without a
// pattern.
//
// Errors: a pattern that is malformed or matches nothing.
func Select(claims []Claim, patterns ...string) ([]Claim, error) {
	if len(patterns) == 0 {
		return claims, nil
	}
	var out []Claim
	taken := map[string]bool{}
	for _, p := range patterns {
		found := false
		for _, c := range claims {
			ok, err := path.Match(p, c.ID)
			if err != nil {
				return nil, fmt.Errorf("claim: pattern %q: %w", p, err)
			}
			if ok {
				found = true
				if !taken[c.ID] {
					taken[c.ID] = true
					out = append(out, c)
				}
			}
		}
		if !found {
			return nil, fmt.Errorf("claim: no claim matches %q; list them with: dpnb claims --list", p)
		}
	}
	return out, nil
}

// Run checks the claims, as many at a time as there are processors, and returns their results in order. done is called
// with each in the same order, if it is not nil. A check that ends with an error counts as failed, with the error as
// what was measured.
func Run(ctx context.Context, claims []Claim, size Size, done func(Result)) ([]Result, error) {
	results := make([]Result, len(claims))
	finished := make([]chan struct{}, len(claims))
	for i := range finished {
		finished[i] = make(chan struct{})
	}
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(claims)) {
		go func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(claims) {
					return
				}
				if ctx.Err() == nil {
					results[i] = claims[i].check(ctx, size)
				}
				close(finished[i])
			}
		}()
	}
	for i := range claims {
		<-finished[i]
		if err := ctx.Err(); err != nil {
			for _, f := range finished[i:] {
				<-f // no check goes on after the return
			}
			return results[:i], err
		}
		if done != nil {
			done(results[i])
		}
	}
	return results, nil
}

// Roughly prints x, or says that it is below the limit: what is far below it differs from machine to machine.
func Roughly(x, limit float64) string {
	if x < limit {
		return fmt.Sprintf("below %.0e", limit)
	}
	return fmt.Sprintf("%.2g", x)
}

// Corrected returns o, if it holds, as holding with the correction in note.
func (o Outcome) Corrected(note string) Outcome {
	if o.Verdict == Holds {
		o.Verdict, o.Note = HoldsWithCorrection, note
	}
	return o
}

// Decide is the outcome Holds if ok, and Fails if not, with the reason why, or else with what was expected.
func Decide(measured, interval string, ok bool, why ...string) Outcome {
	if ok {
		return Outcome{Measured: measured, Interval: interval, Verdict: Holds}
	}
	return Outcome{Measured: measured, Interval: interval, Verdict: Fails, Note: strings.Join(why, "; ")}
}

// check measures one claim.
func (c Claim) check(ctx context.Context, size Size) Result {
	start := time.Now()
	o, err := c.Run(ctx, size)
	if err != nil {
		o = Outcome{Measured: "error: " + err.Error(), Verdict: Fails}
	} else if o.Verdict == Fails && o.Note == "" {
		o.Note = "expected is: " + c.Expected
	}
	if o.Formula == Other {
		o.Verdict, o.Note = Fails, strings.TrimPrefix(o.Note+"; the code computes "+string(Other), "; ")
	}
	if v := c.Verdict(); v == Untested && o.Verdict == c.want() {
		o.Verdict = v
	}
	r := c.result(o)
	if r.Verdict = string(o.Verdict); o.Note != "" {
		r.Verdict += ": " + o.Note
	}
	r.Seconds = time.Since(start).Seconds()
	return r
}

// result is what is printed of an outcome, but for its verdict.
func (c Claim) result(o Outcome) Result {
	half := func(h Half) Noticed {
		n := Noticed{Notices: c.noticed(h)}
		if near := c.Near(h); near < 1 {
			n.Near = &near
		}
		return n
	}
	return Result{Claim: c, ID: c.ID, Paper: c.Paper, Kind: c.Kind, Statement: c.Statement, Check: c.Check,
		Expected: c.Expected, Evidence: half(Evidence), Transcription: half(Transcription), Reached: o.Reached,
		Loose: c.Loose, Weak: c.Weak, Measured: o.Measured, Interval: o.Interval, Seed: c.Seed}
}

// Failed reports whether the verdict of r is that the claim fails.
func (r Result) Failed() bool { return strings.HasPrefix(r.Verdict, string(Fails)) }

// WriteJSON writes the results as a JSON list.
func WriteJSON(w io.Writer, results []Result) error {
	if results == nil {
		results = []Result{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(results)
}
