package ledger

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What a budget may be ends where its error says.
func TestLimitsOfABudget(t *testing.T) {
	for eps, want := range map[float64]bool{0: false, 5e-324: true, 1e6: true, math.Nextafter(1e6, 2e6): false} {
		c := Config{Name: "limits", Epsilon: eps, Adjacency: privacy.AddRemove}
		if err := c.validate(); (err == nil) != want {
			t.Errorf("ε = %g: %v", eps, err)
		}
		if err := (Entry{Epsilon: eps}).validate(); (err == nil) != want {
			t.Errorf("an entry of ε = %g: %v", eps, err)
		}
	}
}
