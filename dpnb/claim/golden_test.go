package claim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/crossref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// What is written of claims, on pages, as JSON and in files, is as it was: testdata/written.txt.
func TestWhatIsWritten(t *testing.T) {
	var all strings.Builder
	say := func(name string, values ...any) { fmt.Fprintln(&all, append([]any{name + ":"}, values...)...) }
	gives := func(o Outcome, err error) Check {
		return func(context.Context, Size) (Outcome, error) { return o, err }
	}
	statement := func(id, place, reason string) Claim {
		return Claim{ID: id, Paper: "A paper, " + place, Kind: Theorem, Place: place, Statement: "of *" + id + "*",
			Reason: reason}
	}
	of := func(id string, change func(c *Claim)) Claim {
		c := statement(id, "Theorem "+id[len(id)-1:], "")
		c.Check, c.Expected, c.Run = "by docs/claims.md", "as rkw23/thm1 says", gives(Outcome{Measured: "1 | 2",
			Verdict: Holds},
			nil)
		change(&c)
		return c
	}
	claims := []Claim{
		of("rkw23/thm1", func(c *Claim) {
			c.Code, c.Tests, c.Errata = []string{"privacy.New", "privacy.Old"}, []string{"privacy.TestNew"},
				[]string{"rkw23-1"}
			c.Figure, c.Proof, c.Seed, c.Loose = "01#plot", "page#rkw23-thm1 0123abcd", 7, 0.25
			c.Run = gives(Decide("0.3 of rkw23-1", "± 0.1", true).Reaching(0.2).Reaching(0.1).As(true), nil)
		}),
		of("rkw23/thm2", func(c *Claim) { c.Run = gives(Decide("3", "", false, "it is less", "by far"), nil) }),
		of("rkw23/thm3", func(c *Claim) {
			c.Run, c.Weak = gives(Outcome{}, errors.New("boom")),
				"nothing near rkw23/thm1"
		}),
		of("rkw23/thm4", func(c *Claim) {
			c.Want, c.Run = HoldsWithCorrection, gives(Decide("1", "", true).Corrected("with a 2").As(true), nil)
			c.Powers, c.Weak = []Power{{"rkw23/thm4", "σ", Sizes{0.2, 0.1}, Sizes{0.01, 0}}}, "it is"
			c.Scaled = []Scaled{{Of: "σ"}}
		}),
		of("rkw23/thm5", func(c *Claim) {
			c.Run, c.Powers = gives(Decide("1", "", true).As(false), nil), []Power{}
			c.Wrong = map[string]Check{"none": gives(Outcome{}, nil)}
		}),
		of("rkw23/thm6", func(c *Claim) { c.Powers, c.Weak = []Power{}, "of it" }),
		of("rkw23/thm7", func(c *Claim) { c.Want, c.Run = Fails, gives(Decide("1", "", false), nil) }),
	}
	listed := []Claim{statement("rkw23/lem1", "Lemma 1", "as docs/theory/page.md says, [not] `checked`"),
		statement("rkw23/lem2", "", "it is a definition")}
	tree := &crossref.Tree{
		Symbols: map[string]string{"privacy.New": "dpnb/privacy/a.go", "privacy.TestNew": "dpnb/privacy/a_test.go"},
		Anchors: map[string]crossref.Passage{"rkw23-thm1": {Page: "page", Text: "a proof"},
			"rkw23-lem1": {Page: "page"}},
		Errata: map[string]bool{"rkw23-1": true}, Cells: map[string]bool{"01#plot": true},
	}
	papers := []Paper{{Name: "rkw23", Title: "A paper", Statements: slices.Concat(claims, listed)}}
	told := 0
	results := must.Get(Run(context.Background(), claims, Quick, func(Result) { told++ }))
	for _, r := range results {
		say("result", r.ID, r.Verdict, r.Failed(), r.Claim.Verdict(), r.Measured, r.Interval, r.Reached)
	}
	d := NewDocument(papers, tree)
	for _, pages := range []map[string]string{d.Pages(results), d.Measured(results)} {
		for _, page := range slices.Sorted(maps.Keys(pages)) {
			say("== "+page, pages[page])
		}
	}
	say("row", d.Row(results[0]))
	var b bytes.Buffer
	must.Do(WriteJSON(&b, append(results, WithoutClaim(papers)...)))
	must.Do(WriteJSON(&b, nil))
	say("JSON", told, b.String())
	record := FormatRecord(results)
	again, err := ParseRecord(record, claims)
	say("record", record, err, len(again), FormatRecord(again) == record)
	for _, line := range []string{"", "rkw23/thm1\tx\tholds\t1\t2\n", "rkw23/thm1\t1\tholds\t1\n",
		"rkw23/none\t1\tholds\t1\t2\n"} {
		_, err := ParseRecord(line, claims)
		say(fmt.Sprintf("%q", line), err)
	}
	powers := FormatPowers(claims[3].Powers)
	back, err := ParsePowers(powers)
	say("powers", powers, back, err)
	for _, line := range []string{"a\tb\t1\t2\t3\n", "a\tb\t1\t2\tx\t4\n"} {
		_, err := ParsePowers(line)
		say(fmt.Sprintf("%q", line), err)
	}
	for _, patterns := range [][]string{nil, {"rkw23/thm[12]", "*/thm1"}, {"none"}, {"["}} {
		some, err := Select(claims, patterns...)
		say(fmt.Sprint("selected by ", patterns), len(some), err)
	}
	say("sizes", Quick.Runs(3), Full.Runs(3), Roughly(1e-9, 1e-6), Roughly(1e-6, 1e-6), Roughly(0.1234, 1e-6))
	for _, size := range []Size{Quick, Full} {
		say("in full", Outcome{}.InFull(size, []string{"a", "b"}).Note, Outcome{Note: "c"}.InFull(size,
			[]string{"a"}).Note,
			Outcome{Verdict: Fails}.Corrected("x").Note, Outcome{}.As(false).As(true).Formula)
	}
	golden.Compare(t, "testdata/written.txt", regexp.MustCompile(`"seconds": [0-9.e-]+`).ReplaceAllString(all.String(),
		`"seconds": 0`))
}
