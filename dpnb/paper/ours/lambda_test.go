package ours

import (
	"context"
	"testing"
)

func TestCurvesHearTheContext(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := LambdaCurves(ctx, LambdaFamily()[:1], LambdaSettings()[:1], 1, 2, 0, 1); err == nil {
		t.Error("a context that has ended is not heard")
	}
}
