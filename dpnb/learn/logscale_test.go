package learn

import (
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/checksum"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// A model with a logarithmic scale from a positive bound is kept in version 2 of the format, every other in version 1;
// in version 1 such a scale was another one, and the model is refused.
func TestKeptLogarithmicScale(t *testing.T) {
	for _, lower := range []float64{1000, 0} {
		table := must.Get(frame.NewTable(frame.Column{Name: "pay", Numbers: []float64{2000, 3e4, 5e5, 1000}},
			frame.Column{Name: "ill", Kind: frame.Categorical, Texts: []string{"no", "yes", "yes", "no"}}))
		df := FromTable(table).WithSchema(Log("pay", lower, 1e6), Categorical("ill", "no", "yes"))
		b := NewBudget(1, 1e-6, Named(t.TempDir()))
		m := must.Get(Logistic{Noise: noise.NewSeeded(1)}.Fit(Binary(df, "ill"), b.Spend(1)))
		content := must.Get(m.encode())
		if _, err := decode(content); err != nil {
			t.Error(err)
		}
		text, version, err := checksum.Unseal(keptFormat, keptVersion, content)
		if want := map[bool]int{true: 2, false: 1}[lower > 0]; err != nil || version != want {
			t.Errorf("from %v: version %d, %v, want %d", lower, version, err, want)
		}
		old := must.Get(checksum.Seal(keptFormat, 1, text))
		switch _, err := decode(old); {
		case lower > 0 && (err == nil || !strings.Contains(err.Error(), "fit it again")):
			t.Errorf("from %v, of version 1: %v", lower, err)
		case lower == 0 && err != nil:
			t.Error(err)
		}
	}
}
