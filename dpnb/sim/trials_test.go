package sim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// The results are those of the streams by number, with any number of workers and however many trials follow; the first
// failure is reported.
func TestTrials(t *testing.T) {
	draw := func(_, k int, src *noise.Seeded) (uint64, error) { return src.Uint64(), nil }
	want, err := sim.Trials(context.Background(), 20, 1, noise.NewSeeded(3), draw)
	if err != nil || want[7] != noise.NewSeeded(3).Stream(7).Uint64() {
		t.Fatalf("trial 7 drew %v, %v", want[7], err)
	}
	more, err := sim.Trials(context.Background(), 30, 5, noise.NewSeeded(3), draw)
	if err != nil || !slices.Equal(more[:20], want) {
		t.Errorf("other workers and more trials: %v, not %v, %v", more[:20], want, err)
	}
	bad := errors.New("bad")
	fails := func(_, k int, _ *noise.Seeded) (int, error) {
		if k >= 4 {
			return 0, fmt.Errorf("trial %d: %w", k, bad)
		}
		return k, nil
	}
	if v, err := sim.Trials(context.Background(), 9, 3, noise.NewSeeded(1), fails); v != nil || !errors.Is(err, bad) {
		t.Errorf("%v, %v", v, err)
	}
}

func ExampleTrials() {
	// The mean of ten uniform numbers, four times.
	means, err := sim.Trials(context.Background(), 4, 0, noise.NewSeeded(1),
		func(_, _ int, src *noise.Seeded) (mean float64, err error) {
			for range 10 {
				mean += src.Float64() / 10
			}
			return mean, nil
		})
	s := sim.Summarize(means)
	fmt.Println(s.N, s.Sigmas(0.5) < 4, err)
	// Output: 4 true <nil>
}
