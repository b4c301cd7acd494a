package claim

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

// A check that notices errors below and above of known sizes is measured to notice them, and what is written is held
// against that.
func TestScaled(t *testing.T) {
	within := func(less, more float64) func(float64) Check {
		return func(factor float64) Check {
			return func(context.Context, Size) (Outcome, error) {
				return Decide("", "", factor > 1-less && factor < 1+more, ""), nil
			}
		}
	}
	for _, c := range []struct{ less, more, wantLess, wantMore float64 }{
		{1e-3, 0.1, 1e-3, 0.1}, {0.03, 3e-4, 0.05, 5e-4}, {0.7, 0.4, 0, 0.5}, {1e-12, math.Inf(1), 1e-4, 0},
	} {
		// A little less than the sizes, which are rounded.
		s := Scaled{Of: "δ", By: within(c.less*(1-1e-6), c.more*(1-1e-6))}
		less, more, err := s.Measure(t.Context(), Quick, Holds)
		if err != nil || less != c.wantLess || more != c.wantMore {
			t.Errorf("%+v: %g, %g, %v", c, less, more, err)
		}
		s.Less, s.More = less, more
		if why, err := s.Unmeasured(t.Context(), Quick, Holds); why != "" || err != nil {
			t.Errorf("%+v: %s, %v", c, why, err)
		}
		for _, other := range []Scaled{{Less: 2e-3, More: more}, {Less: less, More: 2e-3}, {Less: 3e-4, More: more}} {
			other.Of, other.By = "δ", s.By
			if why, err := other.Unmeasured(t.Context(), Quick, Holds); why == "" || err != nil {
				t.Errorf("%+v: less %g and more %g are taken for measured, %v", c, other.Less, other.More, err)
			}
		}
	}
	failing := Scaled{Of: "δ", Less: 0.1, By: func(float64) Check {
		return func(context.Context, Size) (Outcome, error) { return Outcome{}, errors.New("boom") }
	}}
	if _, _, err := failing.Measure(t.Context(), Quick, Holds); err == nil {
		t.Error("an error of the check is lost")
	}
	if _, err := failing.Unmeasured(t.Context(), Quick, Holds); err == nil {
		t.Error("an error of the check is lost")
	}
	c := Claim{Scaled: []Scaled{{Of: "δ", Less: 1e-4, More: 0.1}, {Of: "σ", Less: 0.02}}, Power: "the other sign",
		Wrong: map[string]Check{"the other sign": nil}}
	c.Scaled[0].By, c.Scaled[1].By = within(1, 1), within(1, 1)
	if got := c.noticed(); got != "δ less by 0.01 % or more by 10 %; σ less by 2 %; the other sign" {
		t.Error(got)
	}
	var names []string
	for name := range c.WrongVersions() {
		names = append(names, name)
	}
	if all := strings.Join(names, "|"); len(names) != 4 || !strings.Contains(all, "σ less by 2 %") {
		t.Error(all)
	}
}
