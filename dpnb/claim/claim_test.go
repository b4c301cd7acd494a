package claim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/crossref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func TestOutput(t *testing.T) {
	claims := []Claim{
		{ID: "dpnb/one", Paper: "p", Kind: Ours, Statement: "a | b", Check: "c", Expected: "e", Seed: 3,
			Run: func(context.Context, Size) (Outcome, error) {
				return Outcome{Measured: "1.5", Verdict: Holds, Note: "because"}, nil
			}},
		{ID: "dpnb/two", Paper: "p", Kind: Ours, Statement: "s", Check: "c", Expected: "e",
			Run: func(context.Context, Size) (Outcome, error) { return Outcome{}, errors.New("boom") }},
	}
	results := must.Get(Run(context.Background(), claims, Quick, nil))
	var b bytes.Buffer
	must.Do(WriteJSON(&b, results))
	var back []map[string]any
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back) != 2 {
		t.Fatal(err, b.String())
	}
	for _, key := range []string{"id", "paper", "kind", "statement", "check", "expected", "measured", "interval",
		"verdict", "seconds", "seed", "evidence", "transcription"} {
		if _, ok := back[0][key]; !ok {
			t.Errorf("the JSON lacks %q", key)
		}
	}
	if !results[1].Failed() || results[0].Failed() {
		t.Errorf("verdicts %q, %q", results[0].Verdict, results[1].Verdict)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := Run(ctx, claims, Quick, nil); err == nil || len(r) > 0 {
		t.Error("a cancelled run goes on")
	}
}

// The document lists every statement, leads from it to everything, and does not depend on the run's times.
func TestDocument(t *testing.T) {
	tree := &crossref.Tree{
		Symbols: map[string]string{"privacy.New": "dpnb/privacy/a.go", "privacy.TestNew": "dpnb/privacy/a_test.go"},
		Anchors: map[string]crossref.Passage{"rkw23-thm1": {Page: "page", Text: "a proof"}},
		Errata:  map[string]bool{"rkw23-1": true}, Cells: map[string]bool{"01#plot": true},
	}
	good := Claim{ID: "rkw23/thm1", Paper: "p", Kind: Theorem, Place: "Theorem 1", Statement: "a | b",
		Code: []string{"privacy.New"}, Tests: []string{"privacy.TestNew"},
		Errata: []string{"rkw23-1"}, Figure: "01#plot", Check: "c", Expected: "e", Want: Fails, Weak: "as rkw23-1 says",
		Powers: []Power{{Of: "a tenth", Evidence: Sizes{Less: 1}}},
		Wrong:  map[string]Check{"a tenth": nil},
		Run: func(context.Context, Size) (Outcome, error) {
			return Outcome{Measured: "1.5", Verdict: Fails, Note: "as rkw23-1 says"}.Reaching(0.5), nil
		}}
	good.Proof = "page#rkw23-thm1 " + good.withProof("page#rkw23-thm1").hash(tree)
	d := NewDocument([]Paper{{Name: "rkw23", Title: "A paper", Statements: []Claim{
		{ID: "rkw23/def1", Place: "Definition 1", Statement: "‖θ*‖ ≤ f*, |x|_2",
			Reason: "definition; see rkw23/thm1 and erratum rkw23-1"}, good}}}, tree)
	if p := good.Problems(tree); len(p) > 0 {
		t.Errorf("%q", p)
	}
	results := must.Get(Run(context.Background(), []Claim{good}, Quick, nil))
	pages := d.Pages(results)
	pages["measured"] = d.Measured(results)["claims/rkw23.md"]
	for page, parts := range map[string][]string{
		"claims.md": {
			"| [A paper](claims/rkw23.md) | 2 | 1 | 0 | 0 | 0 | 1 | 0 |",
			"| [`rkw23/thm1`](claims/rkw23.md#rkw23-thm1) | a tenth | 50 % | as [rkw23-1](errata.md#rkw23-1) says |",
		},
		"claims/rkw23.md": {
			`| <a id="rkw23-def1"></a>` + "`rkw23/def1`" +
				`<br>Definition 1 | ‖θ\*‖ ≤ f\*, \|x\|\_2 | definition; see ` +
				`[rkw23/thm1](../claims/rkw23.md#rkw23-thm1) and erratum [rkw23-1](../errata.md#rkw23-1) | | |  |`,
			`| a \| b | **fails** | no size | 50 % | [code](../../dpnb/privacy/a.go) ` +
				`[proof](../theory/page.md#rkw23-thm1) [test](../../dpnb/privacy/a_test.go) ` +
				`[erratum](../errata.md#rkw23-1) [figure](../../notebooks/01.ipynb) |`,
		},
		"measured": {
			"### rkw23/thm1\n", "- Test: [`privacy.TestNew`](../../dpnb/privacy/a_test.go)",
			"**fails**: as [rkw23-1](../errata.md#rkw23-1) says", "- Evidence alone notices: a tenth",
			"- Nearest to equality: 50 %", "noticed: as [rkw23-1](../errata.md#rkw23-1) says",
		},
	} {
		for _, part := range parts {
			if !strings.Contains(pages[page], part) {
				t.Errorf("%s lacks %s:\n%s", page, part, pages[page])
			}
		}
	}
	if !strings.Contains(pages["claims/rkw23.md"], d.Row(results[0])) {
		t.Error("a row by itself is another one")
	}
	recorded := must.Get(ParseRecord(FormatRecord(results), []Claim{good}))
	delete(pages, "measured")
	if results[0].Seconds++; !maps.Equal(pages, d.Pages(results)) || !maps.Equal(pages, d.Pages(recorded)) {
		t.Error("the document changes with the times, or from the record")
	}
	for name, spoil := range map[string]func(*Claim){
		"code":    func(c *Claim) { c.Code = []string{"privacy.Old"} },
		"test":    func(c *Claim) { c.Tests = []string{"privacy.New"} },
		"erratum": func(c *Claim) { c.Errata = []string{"rkw23-2"} },
		"cell":    func(c *Claim) { c.Figure = "01#other" }, "page": func(c *Claim) { c.Proof = "other#rkw23-thm1 0" },
		"hash":      func(c *Claim) { c.Proof = "page#rkw23-thm1 00000000" },
		"statement": func(c *Claim) { c.Statement = "a | c" },
	} {
		bad := good
		spoil(&bad)
		if len(bad.Problems(tree)) != 1 {
			t.Errorf("%s: problems %q", name, bad.Problems(tree))
		}
	}
}

func (c Claim) withProof(at string) Claim { c.Proof = at; return c }

// The command writes the hash where the claim stands, and nothing else.
func TestRenew(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "dpnb", "paper", "p")
	must.Do(os.MkdirAll(dir, 0o755))
	tree := &crossref.Tree{Anchors: map[string]crossref.Passage{"a-1": {Page: "page", Text: "new"}}}
	one := Claim{ID: "a/1", Proof: "page#a-1 0123"}
	const format = "title: t\n\nid: a/0\nproof: page#a-1 0123\n\nid: a/1\nkind: ours\nproof: page#a-1 %s\n"
	file := filepath.Join(dir, "claims.txt")
	must.Do(os.WriteFile(file, fmt.Appendf(nil, format, "0123"), 0o644))
	renewed, err := Renew(root, []Claim{one}, tree)
	text, _ := os.ReadFile(file)
	if want := fmt.Sprintf(format, one.hash(tree)); err != nil || len(renewed) != 1 || string(text) != want {
		t.Errorf("%v, %v: %s, want %s", renewed, err, text, want)
	}
	one.Proof = "page#a-1 " + one.hash(tree)
	if again, err := Renew(root, []Claim{one}, tree); err != nil || len(again) != 0 {
		t.Errorf("what is as it was is renewed: %v, %v", again, err)
	}
	if _, err := Renew(root, []Claim{{ID: "a/2", Proof: "page#a-1 4"}}, tree); err == nil {
		t.Error("a claim that is nowhere is renewed")
	}
}

// A check that fails without a reason of its own says what was expected.
func TestFailsAgainstWhatIsExpected(t *testing.T) {
	for want, why := range map[string][]string{"fails: expected is: 1": nil, "fails: too small": {"too small"}} {
		c := Claim{ID: "a/1", Expected: "1", Run: func(context.Context, Size) (Outcome, error) {
			return Decide("0", "", false, why...), nil
		}}
		if got := c.check(t.Context(), Quick).Verdict; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for is, want := range map[Verdict]Outcome{Holds: {Verdict: HoldsWithCorrection, Note: "for ε < 1"},
		Fails: {Verdict: Fails}, NotCheckable: {Verdict: NotCheckable}} {
		if got := (Outcome{Verdict: is}).Corrected("for ε < 1"); got.Verdict != want.Verdict || got.Note != want.Note {
			t.Errorf("%q, corrected, is %q with %q", is, got.Verdict, got.Note)
		}
	}
}
