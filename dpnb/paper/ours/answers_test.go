package ours

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/noise"
)

// The number of standard errors that a share is off is that of the binomial law.
func TestTailsAreCounted(t *testing.T) {
	var one tails
	for l := range answerLevels {
		one.runs[l], one.in[l], one.above[l], one.below[l] = 400, 400*answerLevels[l], 200*(1-answerLevels[l]),
			200*(1-answerLevels[l])
	}
	if lowest, farthest := one.off(); !(math.Abs(lowest) <= 1e-9) || farthest > 1e-9 {
		t.Errorf("shares as stated are off by %v and %v", lowest, farthest)
	}
	one.in[1] -= 12 // of 360 ± 6
	one.above[1] += 12
	if lowest, farthest := one.off(); !(math.Abs(lowest+2) <= 1e-9) || !(math.Abs(farthest-12/math.Sqrt(19)) <= 1e-9) {
		t.Errorf("12 more above: off by %v and %v", lowest, farthest)
	}
}

// The truths are those of the population that is drawn, to four standard errors.
func TestResidents(t *testing.T) {
	const n = 40_000
	r := drawResidents(n, noise.NewSeeded(3))
	here, below := 0.0, 0.0
	for i := range n {
		here += r.here[i] / n
		if r.income[i] < incomeQuantile(0.5) {
			below += 1.0 / n
		}
	}
	if !(math.Abs(here-shareOfLima) <= 4*math.Sqrt(0.23/n)) || !(math.Abs(below-0.5) <= 4*0.5/math.Sqrt(n)) {
		t.Errorf("a share of %v, want %v; %v below the median", here, shareOfLima, below)
	}
}
