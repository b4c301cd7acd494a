package convolution

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/recent"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// What was looked for by other numbers is not taken for what these have.
func TestOtherFrontiersAreNotRemembered(t *testing.T) {
	testscale.InTurn(t)
	c := Config{Loss: Loss{Form: loss.Absolute(smoothing.Logistic{}, 0), Forms: 1, Norm: 1}, Epsilon: 1, Delta: 1e-6}
	forget := func() {
		frontiers = recent.Values[frontierKey, [len(noiseFactors)]float64]{Kept: 256}
		stageFrontiers = recent.Values[stagesKey, [len(stageNoise)]float64]{Kept: 256}
	}
	forget()
	alone, stages := must.Get(c.frontier(1, 1e-6)), must.Get(c.stagesFrontier(2, 2, 1))
	forget()
	must.Get(c.frontier(1, 1e-4))
	must.Get(c.stagesFrontier(2, 2, 3))
	must.Get(c.stagesFrontier(2, 1, 1))
	if got := must.Get(c.frontier(1, 1e-6)); got != alone {
		t.Errorf("one stage has %v, and alone %v", got, alone)
	}
	if got := must.Get(c.stagesFrontier(2, 2, 1)); got != stages {
		t.Errorf("two stages have %v, and alone %v", got, stages)
	}
}
