// Package claim is the register of what the papers claim: for each claim a
// check that measures something which could come out otherwise, and the verdict
// with its figures.
package claim

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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
)

// Verdict of a check.
type Verdict string

// Verdicts. NotCheckable is followed by the reason.
const (
	Holds               Verdict = "holds"
	HoldsWithCorrection Verdict = "holds with correction"
	Fails               Verdict = "fails"
	NotCheckable        Verdict = "not checkable"
)

// Claim is one claim and how it is checked.
type Claim struct {
	// ID is the paper's short name and the place in it, for example "rkw23/thm3.1".
	ID string
	// Paper is where it stands, in words a reader can look up.
	Paper string
	Kind  Kind
	// Statement is the claim in a line.
	Statement string
	// Check is what is measured, in words, and Expected what should come out.
	Check, Expected string
	// Seed of the check; zero if nothing is drawn.
	Seed uint64
	// Run measures.
	Run func(ctx context.Context, size Size) (Outcome, error)
}

// Size of a check.
type Size int

const (
	// Quick is for every run of the tests.
	Quick Size = iota
	// Full draws more and searches longer, at the scale of the paper where that
	// is known.
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
	// Interval is the confidence interval of Measured, or the tolerance that it
	// was held against.
	Interval string
	Verdict  Verdict
	// Note says what a reader should know besides, for example which correction.
	Note string
}

// Result is a claim with its outcome, as it is printed.
type Result struct {
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
}

// Select returns the claims whose ID matches one of the patterns ("qop/*",
// "rkw23/thm3.1"); all of them without a pattern.
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

// Run checks the claims, as many at a time as there are processors, and returns
// their results in order. done is called with each in the same order, if it is
// not nil. A check that ends with an error counts as failed, with the error as
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

// Decide returns Holds or Fails with the reason.
// Decide is the outcome Holds if ok, and Fails with the reason why if not.
func Decide(measured, interval string, ok bool, why string) Outcome {
	if ok {
		return Outcome{Measured: measured, Interval: interval, Verdict: Holds}
	}
	return Outcome{Measured: measured, Interval: interval, Verdict: Fails, Note: why}
}

// check measures one claim.
func (c Claim) check(ctx context.Context, size Size) Result {
	start := time.Now()
	o, err := c.Run(ctx, size)
	if err != nil {
		o = Outcome{Measured: "error: " + err.Error(), Verdict: Fails}
	}
	verdict := string(o.Verdict)
	if o.Note != "" {
		verdict += ": " + o.Note
	}
	return Result{ID: c.ID, Paper: c.Paper, Kind: c.Kind, Statement: c.Statement, Check: c.Check, Expected: c.Expected,
		Measured: o.Measured, Interval: o.Interval, Verdict: verdict, Seconds: time.Since(start).Seconds(), Seed: c.Seed}
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

// Markdown returns the results as a document, without the times they took, so
// that it changes only when a verdict or a figure does.
func Markdown(results []Result) string {
	var b strings.Builder
	b.WriteString("# Claims\n\nWhat the papers claim, what was measured, and the verdict. Generated by `go run ./dpnb/cmd/dpnb claims --markdown docs/claims.md`; do not edit.\n")
	b.WriteString("\n| claim | statement | measured | verdict |\n|---|---|---|---|\n")
	for _, r := range results {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s |\n", r.ID, anchor(r.ID), cell(r.Statement), cell(r.Measured), cell(r.Verdict))
	}
	for _, r := range results {
		fmt.Fprintf(&b, "\n## %s\n\n%s (%s)\n\n", r.ID, r.Statement, r.Kind)
		fmt.Fprintf(&b, "- Source: %s\n- Check: %s\n- Expected: %s\n- Measured: %s\n", r.Paper, r.Check, r.Expected, r.Measured)
		if r.Interval != "" {
			fmt.Fprintf(&b, "- Interval or tolerance: %s\n", r.Interval)
		}
		fmt.Fprintf(&b, "- Verdict: **%s**\n", r.Verdict)
		if r.Seed != 0 {
			fmt.Fprintf(&b, "- Seed: %d\n", r.Seed)
		}
	}
	return b.String()
}

// anchor is the name that Markdown viewers give to the heading of an ID.
func anchor(id string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(id))
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
