package heavytail

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Localised double output perturbation with exact constants, of 100,000 records of 50 features, four phases of three
// blocks: between three and four seconds of one processor, 4.5 seconds with both at work elsewhere.
func BenchmarkDoubleOutput(b *testing.B) {
	p, src := Population{Moment: 2, Features: 50}, noise.NewSeeded(1)
	rows, y := p.Draw(src, 100_000)
	c := pure.PhasesConfig{Config: p.config(len(y), 1), Count: 4, Blocks: 3, Double: true}
	c.WorstCase = true
	m, err := c.Calibrate()
	if err == nil {
		err = m.Feasible(p.Features, len(y))
	}
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		must.Get(m.Run(rows, y, src, &mechanism.Settings{Workers: 1}))
	}
}
