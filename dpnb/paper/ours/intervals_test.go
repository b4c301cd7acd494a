package ours

import (
	"math"
	"testing"
)

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
