package paper

import (
	"slices"
	"strings"
	"testing"
)

// Each claim of rkw23 and dtz24 about privacy has a quantity of which its check notices an error of a tenth; that it
// does is measured in TestClaims. Those that are about a verdict and not about a size are named, with what they notice.
func TestPowerOfClaimsAboutPrivacy(t *testing.T) {
	verdicts := map[string]string{"rkw23/thm3.1-printed": "that the corrected bound is not refuted"}
	count := 0
	for _, c := range Register() {
		about := slices.ContainsFunc(c.Code, func(name string) bool { return strings.HasPrefix(name, "privacy") })
		if !about || !strings.HasPrefix(c.ID, "rkw23/") && !strings.HasPrefix(c.ID, "dtz24/") {
			continue
		}
		count++
		noticed := false
		for _, s := range c.Scaled {
			noticed = noticed || s.Less > 0 && s.Less <= 0.1
		}
		if noticed == (verdicts[c.ID] != "") {
			t.Errorf("%s: an error of a tenth in what is claimed is noticed: %v", c.ID, noticed)
		}
	}
	if count < 20 {
		t.Errorf("%d claims about privacy", count)
	}
}
