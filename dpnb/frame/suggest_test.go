package frame

import (
	"slices"
	"testing"
)

// Names are near that differ by a third of their letters at most, the nearest alone.
func TestNearest(t *testing.T) {
	names := []string{"age", "Wage", "income", "sex", "capital-gain", "capital-loss"}
	for name, want := range map[string][]string{
		"agee": {"age"}, "incom": {"income"}, "INCOME": {"income"}, "capital_gain": {"capital-gain"},
		"wages": {"Wage"}, "aeg": nil, "height": nil, "": nil, "capital-": nil,
	} {
		if got := nearest(name, names); !slices.Equal(got, want) {
			t.Errorf("near %q are %q, want %q", name, got, want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"ab", "ba", 2}} {
		if got := distance([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("distance of %q and %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
