package privacy

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func TestHalfNormalProfileReference(t *testing.T) {
	for _, c := range referenceCases(t, "g_halfnormal_profile") {
		p := must.Get(HalfNormal{K: c.Inputs["K"], A: c.Inputs["a"]}.Profile(AddRemove))
		checkBrackets(t, c, p)
	}
}

func TestHalfNormalRDPReference(t *testing.T) {
	for _, c := range referenceCases(t, "h_halfnormal_rdp") {
		got := must.Get(HalfNormal{K: c.Inputs["K"], A: c.Inputs["a"]}.RDP(c.Inputs["alpha"]))
		if r := got/c.Value - 1; r < 0 || r > 1e-12 {
			t.Errorf("%s: RDP = %.17g, want %.17g (relative %.2g)", c.ID, got, c.Value, r)
		}
	}
}
