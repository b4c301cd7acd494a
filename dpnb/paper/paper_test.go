package paper

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
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
	some, err := claim.Select(all, "rkw23/*")
	if err != nil || len(some) == 0 || len(some) == len(all) {
		t.Errorf("%d of %d claims, %v", len(some), len(all), err)
	}
	for _, bad := range []string{"nothing/*", "[", ""} {
		if _, err := claim.Select(all, bad); err == nil {
			t.Errorf("pattern %q selects something", bad)
		}
	}
	if s, _ := claim.Select(all, "dtz24/thm5.1", "dtz24/*"); len(s) != len(map[string]bool{}) && s[0].ID != "dtz24/thm5.1" {
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
	want := map[string]claim.Verdict{
		"rkw23/thm3.1": claim.HoldsWithCorrection, "rkw23/thm3.1-printed": claim.Fails, "rkw23/lemD.6": claim.HoldsWithCorrection,
		"rkw23/thmG.2":  claim.HoldsWithCorrection,
		"rkw23/thmE.2":  claim.HoldsWithCorrection,
		"rkw23/thm2.8":  claim.HoldsWithCorrection,
		"dtz24/cor5.2":  claim.HoldsWithCorrection,
		"rkw23/thmH.1":  claim.HoldsWithCorrection,
		"rkw23/secH.1":  claim.HoldsWithCorrection,
		"cop/lem4.1":    claim.HoldsWithCorrection,
		"qop/algG.2":    claim.HoldsWithCorrection,
		"qop/lemB.1":    claim.HoldsWithCorrection,
		"qop/lemD.1":    claim.HoldsWithCorrection,
		"qop/thm3.1":    claim.HoldsWithCorrection,
		"qop/thm5.1":    claim.HoldsWithCorrection,
		"rkw23/tab2":    claim.NotCheckable,
		"dtz24/thm4.2a": claim.HoldsWithCorrection,
		"dtz24/thm4.2b": claim.HoldsWithCorrection,
		"qop/fig2":      claim.HoldsWithCorrection,
		"qop/tab3":      claim.NotCheckable,
		"dtz24/fig6":    claim.HoldsWithCorrection,
	}
	results, err := claim.Run(context.Background(), Register(), claim.Quick, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		w, ok := want[r.ID]
		if !ok {
			w = claim.Holds
		}
		if got := strings.Split(r.Verdict, ":")[0]; got != string(w) {
			t.Errorf("%s: verdict %q, want %q; measured %s", r.ID, r.Verdict, w, r.Measured)
		}
	}
	have, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if now := claim.Markdown(results); string(have) != now {
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
