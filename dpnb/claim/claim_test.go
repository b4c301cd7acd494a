package claim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestRegisterIsWellFormed(t *testing.T) {
	id := regexp.MustCompile(`^(rkw23|qop|cop|heavytail|dtz24|dpnb)/[a-zA-Z0-9.-]+$`)
	seen := map[string]bool{}
	for _, c := range Register() {
		if !id.MatchString(c.ID) || seen[c.ID] {
			t.Errorf("ID %q is malformed or there twice", c.ID)
		}
		seen[c.ID] = true
		if c.Paper == "" || c.Kind == "" || c.Statement == "" || c.Check == "" || c.Expected == "" || c.Run == nil {
			t.Errorf("%s lacks a part: %+v", c.ID, c)
		}
	}
}

func TestSelect(t *testing.T) {
	all := Register()
	some, err := Select(all, "rkw23/*")
	if err != nil || len(some) == 0 || len(some) == len(all) {
		t.Errorf("%d of %d claims, %v", len(some), len(all), err)
	}
	for _, bad := range []string{"nothing/*", "[", ""} {
		if _, err := Select(all, bad); err == nil {
			t.Errorf("pattern %q selects something", bad)
		}
	}
	if s, _ := Select(all, "dtz24/thm5.1", "dtz24/*"); len(s) != len(map[string]bool{}) && s[0].ID != "dtz24/thm5.1" {
		t.Error("order of selection")
	}
}

// The document that readers look at is what the register gives now: a verdict
// or a figure that changed fails here until somebody has looked.
const document = "../../docs/claims.md"

func TestVerdicts(t *testing.T) {
	if testing.Short() {
		t.Skip("the whole register takes many seconds")
	}
	// All but these hold.
	want := map[string]Verdict{
		"rkw23/thm3.1": HoldsWithCorrection, "rkw23/thm3.1-printed": Fails, "rkw23/lemD.6": HoldsWithCorrection,
		"rkw23/thmG.2":  HoldsWithCorrection,
		"rkw23/thmE.2":  HoldsWithCorrection,
		"rkw23/thm2.8":  HoldsWithCorrection,
		"dtz24/cor5.2":  HoldsWithCorrection,
		"rkw23/thmH.1":  HoldsWithCorrection,
		"rkw23/secH.1":  HoldsWithCorrection,
		"cop/lem4.1":    HoldsWithCorrection,
		"qop/algG.2":    HoldsWithCorrection,
		"qop/lemB.1":    HoldsWithCorrection,
		"qop/lemD.1":    HoldsWithCorrection,
		"qop/thm3.1":    HoldsWithCorrection,
		"qop/thm5.1":    HoldsWithCorrection,
		"rkw23/tab2":    NotCheckable,
		"dtz24/thm4.2a": HoldsWithCorrection,
		"dtz24/thm4.2b": HoldsWithCorrection,
		"qop/fig2":      HoldsWithCorrection,
		"qop/tab3":      NotCheckable,
		"dtz24/fig6":    HoldsWithCorrection,
	}
	results, err := Run(context.Background(), Register(), Quick, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		w, ok := want[r.ID]
		if !ok {
			w = Holds
		}
		if got := strings.Split(r.Verdict, ":")[0]; got != string(w) {
			t.Errorf("%s: verdict %q, want %q; measured %s", r.ID, r.Verdict, w, r.Measured)
		}
	}
	have, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if now := Markdown(results); string(have) != now {
		t.Errorf("docs/claims.md is stale:\n%slook at what changed after: go run ./dpnb/cmd/dpnb claims --markdown docs/claims.md", firstDifference(string(have), now))
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("has   %s\nnow   %s\n", x[i], y[i])
		}
	}
	return ""
}

// Every check must fail on a deliberately wrong implementation.
func TestChecksCanFail(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		run  func(context.Context, Size) (Outcome, error)
		want Verdict
	}{
		"rkw23 without its shift":       {boundHolds(func(_, s, e float64) float64 { return halfNormal(0, 1/s, e) }, Holds, ""), Fails},
		"rkw23 as printed":              {boundHolds(printedRKW23, Holds, ""), Fails},
		"dtz24 with half the noise":     {boundHolds(func(l, s, e float64) float64 { return dtz24Bound(l, 2*s, e) }, Holds, ""), Fails},
		"dtz24 with one tail":           {boundHolds(func(l, s, e float64) float64 { return dtz24Bound(l, s, e) / 2 }, Holds, ""), Fails},
		"the printed theorem, mended":   {printedIsBroken(correctedRKW23), Holds},
		"the printed theorem, harmless": {printedIsBroken(func(_, _, _ float64) float64 { return 1 }), Holds},
		"another Gaussian":              {linearIsGaussian(func(s, e float64) float64 { return gaussianDelta(1.01/s, e) }), Fails},
		"a formula without its e^ε":     {gaussianFormula(func(m, e float64) float64 { return gaussianDelta(m, e) * 1.0001 }), Fails},
		"the pair with the wrong sign":  {dominatingPair(-1), Fails},
		"samples against half a bound":  {sampledBelow(func(l, s, e float64) float64 { return correctedRKW23(l, s, e) / 5 }, 31), Fails},
		"a reduction without the log":   {reductionHolds(func(g, u, _, s float64) float64 { return (g*g + 2*g*u) / (2 * s * s) }, 32), Fails},
		"an RDP bound without its log":  {renyiHolds(func(_, s, a float64) float64 { return 0.5 * a / (s * s) }), Fails},
		"the printed σ of 2012, × 0.4":  {kst12Holds(0.4), Fails},
		"zCDP of a small a, replaced":   {zcdpOfAddRemove(0.4), Holds},
		"add/remove taken for replace":  {replaceHolds(func(p privacy.Profile, e float64) (float64, error) { return 0.9 * privacy.DeltaUpper(p, e), nil }), Fails},
		"the Gaussian case at Rσ/20":    {gaussianCase(0.05, 0.05, 41), Fails},
		"a table of other figures":      {tableOf("Adult", -1), NotCheckable},
		"a table within nothing":        {tableOf("Synthetic-L", 1e-6), Fails},
		"predictions with less noise":   {predictionsHold(0.8), Fails},
		"a search without a control":    {gaussianCase(1, 1, 41), Fails},
	} {
		if o, err := c.run(ctx, Quick); err != nil || o.Verdict != c.want {
			t.Errorf("%s: verdict %q, %v, want %q; measured %s", name, o.Verdict, err, c.want, o.Measured)
		}
	}
}

// A bound that is no probability must not pass for one that holds.
func TestImpossibleBoundsAreErrors(t *testing.T) {
	for name, b := range map[string]deltaBound{
		"NaN":           func(_, _, _ float64) float64 { return math.NaN() },
		"NaN mostly":    func(l, s, e float64) float64 { return map[bool]float64{true: 1, false: math.NaN()}[l == 5] },
		"negative":      func(_, _, _ float64) float64 { return -1 },
		"more than one": func(_, _, _ float64) float64 { return 1.5 },
	} {
		if o, err := boundHolds(b, Holds, "")(context.Background(), Quick); err == nil {
			t.Errorf("%s: verdict %q", name, o.Verdict)
		}
	}
}

func TestOutput(t *testing.T) {
	claims := []Claim{
		{ID: "dpnb/one", Paper: "p", Kind: Ours, Statement: "a | b", Check: "c", Expected: "e", Seed: 3,
			Run: func(context.Context, Size) (Outcome, error) { return Outcome{"1.5", "±0.1", Holds, "because"}, nil }},
		{ID: "dpnb/two", Paper: "p", Kind: Ours, Statement: "s", Check: "c", Expected: "e",
			Run: func(context.Context, Size) (Outcome, error) { return Outcome{}, errors.New("boom") }},
	}
	results, err := Run(context.Background(), claims, Quick, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, results); err != nil {
		t.Fatal(err)
	}
	var back []map[string]any
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back) != 2 {
		t.Fatal(err, b.String())
	}
	for _, key := range []string{"id", "paper", "kind", "statement", "check", "expected", "measured", "interval", "verdict", "seconds", "seed"} {
		if _, ok := back[0][key]; !ok {
			t.Errorf("the JSON lacks %q", key)
		}
	}
	if !results[1].Failed() || results[0].Failed() {
		t.Errorf("verdicts %q, %q", results[0].Verdict, results[1].Verdict)
	}
	md := Markdown(results)
	if !strings.Contains(md, `a \| b`) || strings.Contains(md, "seconds") || md != Markdown(results) {
		t.Errorf("markdown:\n%s", md)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := Run(ctx, claims, Quick, nil); err == nil || len(r) > 0 {
		t.Error("a cancelled run goes on")
	}
}
