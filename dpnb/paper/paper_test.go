package paper

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/testscale"
	"github.com/dpnb/notebooks/dpnb/internal/whereis"
)

// root is the top of the checkout.
const root = "../.."

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
	if s, _ := claim.Select(all, "dtz24/thm5.1", "dtz24/*"); len(s) != len(map[string]bool{}) &&
		s[0].ID != "dtz24/thm5.1" {
		t.Error("order of selection")
	}
}

// Every claim has the verdict that it must have, and none of its wrong versions has it; docs/claims.md has what is
// measured now: a figure that changed fails here until somebody has looked. To look at one claim:
//
//	go test ./dpnb/paper -run TestClaims/rkw23/thm3.1
func TestClaims(t *testing.T) {
	if testing.Short() {
		t.Skip("the register takes many seconds")
	}
	tree, err := whereis.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	papers, err := claim.Papers(root)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(root + "/docs/claims.md")
	if err != nil {
		t.Fatal(err)
	}
	document := claim.NewDocument(papers, Register(), tree)
	for _, c := range Register() {
		t.Run(c.ID, func(t *testing.T) {
			if c.Slow {
				testscale.SkipUnlessFull(t)
			}
			t.Parallel()
			results, err := claim.Run(t.Context(), []claim.Claim{c}, claim.Quick, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := results[0]
			// Apart, as a planted fault is to be noticed by more than a figure that has changed.
			t.Run("verdict", func(t *testing.T) {
				if got := strings.Split(r.Verdict, ":")[0]; got != string(c.Verdict()) {
					t.Errorf("verdict %q, want %q; measured %s", r.Verdict, c.Verdict(), r.Measured)
				}
			})
			t.Run("document", func(t *testing.T) {
				if now := document.Section(r); !documented(string(text), now) {
					t.Errorf("docs/claims.md is stale; look at this, then: go run ./dpnb/cmd/dpnb claims --markdown "+
						"docs/claims.md\n%s", now)
				}
			})
			t.Run("power", func(t *testing.T) {
				why, err := c.Unmeasured(t.Context(), claim.Quick)
				if err != nil || why != nil {
					t.Errorf("%q %v; measure it: go run ./dpnb/cmd/dpnb claims --power --only %s", why, err, c.ID)
				}
			})
		})
	}
}

// The register and the reasons together have every statement of every paper once, and every check says what it notices.
func TestEveryStatementIsListed(t *testing.T) {
	papers, err := claim.Papers(root)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, r := range claim.WithoutClaim(papers) {
		count[r.ID]++
	}
	for _, c := range Register() {
		count[c.ID]++
		if len(c.WrongVersions()) == 0 {
			t.Errorf("%s does not say what it notices", c.ID)
		}
	}
	for _, p := range papers {
		for _, s := range p.Statements {
			if count[s.ID] != 1 {
				t.Errorf("%s is listed %d times", s.ID, count[s.ID])
			}
		}
	}
}

// withoutSize are the claims in which an error has no size, and why.
var withoutSize = map[string]string{
	"dpnb/fit-once":        "a count of charges: one too many is noticed",
	"dpnb/goes-on":         "a count of charges and of draws: one too many is noticed",
	"heavytail/thmB.1":     "that no number of queries is enough",
	"rkw23/thm3.1-printed": "that the printed form is false: by a factor above 10⁹⁰ of δ",
}

// coarse are the claims whose checks notice no error of a tenth: the least that they notice, and why that is enough.
var coarse = map[string]struct {
	near float64
	why  string
}{
	"dpnb/low-bits":          {0.2, "an attack: dpnb/exact-sums notices every bit"},
	"dpnb/quantiles-default": {0.5, "excess risks: those of others are as much larger"},
	"dtz24/thm2.8":           {0.5, "nothing about privacy: the factor 2 is not attained, and 1 is refuted"},
}

// Every theorem, bound and claim of our own has a wrong version within a tenth, which its check notices, but for those
// that are named.
func TestWrongVersionsAreNear(t *testing.T) {
	stale := map[string]bool{}
	for id := range withoutSize {
		stale[id] = true
	}
	for id := range coarse {
		stale[id] = true
	}
	for _, c := range Register() {
		if c.Kind != claim.Theorem && c.Kind != claim.Bound && c.Kind != claim.Ours {
			continue
		}
		want := 0.1
		if at, ok := coarse[c.ID]; ok {
			want = at.near
		}
		near, why := c.Near(), withoutSize[c.ID]
		switch delete(stale, c.ID); {
		case why == "" && !(near <= want):
			t.Errorf("%s: the nearest wrong version is off by %v, more than %v", c.ID, near, want)
		case why != "" && near < 1 || want > 0.1 && near < want:
			t.Errorf("%s: the nearest wrong version is off by %v, and it is said to be coarser", c.ID, near)
		}
	}
	for id := range stale {
		t.Errorf("%s stands among the claims without a size or coarse ones, and is none of them", id)
	}
}
