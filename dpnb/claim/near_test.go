package claim

import (
	"math"
	"testing"
)

func TestNear(t *testing.T) {
	for _, c := range []struct {
		scaled []Scaled
		wrong  []string
		want   float64
	}{
		{nil, []string{"σ less by a tenth"}, 0.1},
		{nil, []string{"σ less by half", "σ more by a hundredth of it", "another sign"}, 0.01},
		{nil, []string{"narrower by 3 %", "the release alone, narrower by a tenth"}, 0.03},
		{nil, []string{"a bound less by 1e-9"}, 1e-9},
		{nil, []string{"a bound for a tenth less of ε", "a hundredth of the noise"}, 0.1},
		{[]Scaled{{Of: "σ", More: 0.05}}, []string{"σ less by a fifth"}, 0.05},
		{[]Scaled{{Of: "σ"}}, []string{"the other sign", "a threshold that is lower by one", "μ less by 3 of them"},
			math.Inf(1)},
	} {
		claim := Claim{Scaled: c.scaled, Wrong: map[string]Check{}}
		for _, name := range c.wrong {
			claim.Wrong[name] = nil
		}
		if got := claim.Near(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %g, want %g", c.wrong, got, c.want)
		}
	}
}
