package parallel

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
)

// Every task is called once, by a worker that is there.
func TestForCallsEachTaskOnce(t *testing.T) {
	for _, workers := range []int{-1, 0, 1, 2, 200} {
		for _, n := range []int{0, 1, 100} {
			done := make([]int, n)
			err := For(context.Background(), n, workers, func(w, i int) error {
				if w < 0 || w >= Workers(n, workers) {
					t.Errorf("worker %d", w)
				}
				done[i]++
				return nil
			})
			if err != nil || n > 0 && (slices.Min(done) != 1 || slices.Max(done) != 1) {
				t.Errorf("%d tasks, %d workers: %v, %v", n, workers, done, err)
			}
		}
	}
}

// The error is that of the first task that fails, whatever the number of workers, and not all of the others are begun.
func TestForReturnsTheFirstError(t *testing.T) {
	third, late := errors.New("third"), errors.New("late")
	for _, workers := range []int{1, 2, 7} {
		var begun atomic.Int64
		err := For(context.Background(), 1_000_000, workers, func(_, i int) error {
			begun.Add(1)
			switch {
			case i == 3:
				return third
			case i > 3:
				return late
			}
			return nil
		})
		if err != third || begun.Load() > 1000 {
			t.Errorf("%d workers: %v after %d tasks", workers, err, begun.Load())
		}
	}
}

func TestForEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	var begun atomic.Int64
	err := For(ctx, 1_000_000, 2, func(_, i int) error {
		if begun.Add(1) == 5 {
			stop()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || begun.Load() > 1000 {
		t.Errorf("%v after %d tasks", err, begun.Load())
	}
}

func TestEach(t *testing.T) {
	done := make([]int, 50)
	Each(len(done), 3, func(i int) { done[i]++ })
	if slices.Min(done) != 1 || slices.Max(done) != 1 {
		t.Error(done)
	}
}

// Blocks cover every number once, and there are no more of them than it takes.
func TestBlocks(t *testing.T) {
	for n, want := range map[int]int32{0: 0, 1: 1, 7: 1, 8: 2, 14: 2, 15: 3} {
		var blocks atomic.Int32
		done := make([]int, n)
		Blocks(n, 7, func(lo, hi int) {
			blocks.Add(1)
			for i := lo; i < hi; i++ {
				done[i]++
			}
		})
		if got := blocks.Load(); got != want || n > 0 && (slices.Min(done) != 1 || slices.Max(done) != 1) {
			t.Errorf("%d in %d blocks: %v", n, got, done)
		}
	}
}
