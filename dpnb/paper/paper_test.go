package paper

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/crossref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// root is the top of the checkout.
const root = "../.."

func TestSelect(t *testing.T) {
	all := Register()
	if !slices.IsSortedFunc(all, func(a, b claim.Claim) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("claims are not in the order of their names")
	}
	some, err := claim.Select(all, "rkw23/*")
	if err != nil || len(some) == 0 || len(some) == len(all) {
		t.Errorf("%d of %d claims, %v", len(some), len(all), err)
	}
	for _, bad := range []string{"nothing/*", "[", ""} {
		if _, err := claim.Select(all, bad); err == nil {
			t.Errorf("pattern %q selects something", bad)
		}
	}
	if s, _ := claim.Select(all, "dtz24/thm5.1", "dtz24/*"); len(s) != len(map[string]bool{}) &&
		s[0].ID != "dtz24/thm5.1" {
		t.Error("order of selection")
	}
}

// Every claim has the verdict that it must have, and none of its wrong versions has it; measured.tsv and the page of
// the paper have what is measured now: a figure that changed fails here until somebody has looked. To look at one:
//
//	DPNB_TURN=all go test ./dpnb/paper -run TestClaims/rkw23/thm3.1
func TestClaims(t *testing.T) {
	testscale.Slow(t)
	tree := must.Get(crossref.Read(root))
	document, recorded := claim.NewDocument(Papers(), tree), map[string]claim.Result{}
	for _, r := range Recorded() {
		recorded[r.ID] = r
	}
	for _, c := range Register() {
		t.Run(c.ID, func(t *testing.T) {
			if c.Slow {
				testscale.SkipUnlessFull(t)
			} else if slices.Contains(inTurn, c.ID) {
				testscale.InTurn(t)
			}
			t.Parallel()
			results := must.Get(claim.Run(t.Context(), []claim.Claim{c}, claim.Quick, nil))
			r := results[0]
			// Apart, as a planted fault is to be noticed by more than a figure that has changed.
			t.Run("verdict", func(t *testing.T) {
				if got := strings.Split(r.Verdict, ":")[0]; got != string(c.Verdict()) {
					t.Errorf("verdict %q, want %q; measured %s", r.Verdict, c.Verdict(), r.Measured)
				}
			})
			t.Run("document", func(t *testing.T) {
				was, row := recorded[c.ID], strings.TrimSpace(document.Row(r))
				page, err := os.ReadFile(root + "/docs/claims/" + strings.SplitN(c.ID, "/", 2)[0] + ".md")
				anchor, rest, _ := strings.Cut(row, "</a>")
				_, there, _ := strings.Cut(string(page), anchor+"</a>")
				there, _, _ = strings.Cut(there, "\n")
				if err != nil || was.Verdict != r.Verdict || !sameFigures(was.Measured, r.Measured) ||
					!sameFigures(was.Interval, r.Interval) || !sameFigures(there, rest) {
					t.Errorf("look at this, then: go run ./dpnb/cmd/dpnb claims --markdown docs/claims.md\n"+
						"was %s: %s; %s\n%s\nis  %s: %s; %s\n%s", was.Verdict, was.Measured, was.Interval, there,
						r.Verdict, r.Measured, r.Interval, rest)
				}
			})
			t.Run("power", func(t *testing.T) {
				testscale.InTurn(t)
				why, err := c.Unmeasured(t.Context(), claim.Quick, testscale.Full())
				if err != nil || why != nil {
					t.Errorf("%q %v; measure it: go run ./dpnb/cmd/dpnb claims --power --only %s", why, err, c.ID)
				}
			})
		})
	}
}

// inTurn are the claims whose check takes more than a second: each is seen in every fourth run, as the power of all is.
var inTurn = []string{"cop/lem3.1", "dpnb/closest-smoothing", "dpnb/curve-rate", "dpnb/dearest-smoothing",
	"dpnb/histogram", "dpnb/interpolation", "dpnb/softmax-vertex", "dpnb/tukey-em", "dpnb/tuned",
	"heavytail/lem2.7", "heavytail/prop2.5", "heavytail/thmE.2"}

// Where no evidence notices an error of a tenth, the claim says why, and nowhere else; and every privacy claim has at
// least a transcription that notices one.
func TestWeakEvidenceHasAReason(t *testing.T) {
	for _, c := range Register() {
		near, transcribed := c.Near(claim.Evidence), c.Near(claim.Transcription)
		if near > 0.1 && c.Weak == "" || near <= 0.1 && c.Weak != "" {
			t.Errorf("%s: evidence notices an error of %v, and the reason is %q", c.ID, near, c.Weak)
		}
		if c.Loose > 0 && near <= 0.1 {
			t.Errorf("%s: said to be loose, and an error of %v is noticed", c.ID, near)
		}
		if math.Min(near, transcribed) > 0.1 && c.Kind != claim.Figure && c.Kind != claim.Table &&
			!slices.Contains(withoutSize, c.ID) {
			t.Errorf("%s: nothing notices an error of a tenth", c.ID)
		}
	}
}

// withoutSize are the claims in which an error has no size, or whose tenth is no mistake: Weak says why.
var withoutSize = []string{"cop/tab3", "dpnb/fit-once", "dpnb/goes-on", "dpnb/low-bits", "dpnb/quantiles-default",
	"dtz24/thm2.8", "heavytail/thmB.1", "rkw23/thm3.1-printed"}
