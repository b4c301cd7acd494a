package ours

import (
	"context"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
)

func TestPredictionCanFail(t *testing.T) {
	if o, err := predictionsHold(0.8)(context.Background(), claim.Quick); err != nil || o.Verdict != claim.Fails {
		t.Errorf("predictions with less noise: %q, %v", o.Verdict, err)
	}
}
