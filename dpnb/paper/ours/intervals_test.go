package ours

import (
	"context"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
)

// The checks of this project's choices fail on what is deliberately wrong.
func TestStatisticsChecksCanFail(t *testing.T) {
	ctx := context.Background()
	for name, run := range map[string]func(context.Context, claim.Size) (claim.Outcome, error){
		"intervals that miss now and then": intervalCoverage(61, 0.9, func(c *coverage) {
			if c.kind == 2 {
				c.covered = int(0.8 * float64(c.trials))
			}
		}),
		"a naive interval that is not caught": intervalCoverage(61, 0.9, func(c *coverage) {
			if c.kind == naiveKind {
				c.covered = c.trials
			}
		}),
		"λ planned for too many records": ruleCompared(64, 1e4),
	} {
		o, err := run(ctx, claim.Quick)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if o.Verdict != claim.Fails {
			t.Errorf("%s: %s, %s", name, o.Verdict, o.Measured)
		}
	}
}

// Clopper–Pearson: at the bound the observed count has the tail probability.
func TestCoverageUpper(t *testing.T) {
	c := coverage{covered: 9, trials: 10}
	p := c.upper(0.05)
	if tail := 1 - math.Pow(p, 10); math.Abs(tail-0.05) > 1e-9 {
		t.Errorf("P(at most 9 of 10) at %v is %v", p, tail)
	}
	if (coverage{covered: 10, trials: 10}).upper(0.05) != 1 {
		t.Error("all covered: the bound is 1")
	}
}
