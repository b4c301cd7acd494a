package parallel

import (
	"slices"
	"testing"
)

// Every chunk is dealt once in each run, to a worker that is there.
func TestDealer(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		done := make([]int, 100)
		d := NewDealer(workers, len(done), func(w, k int) {
			if w < 0 || w >= workers {
				t.Errorf("worker %d of %d", w, workers)
			}
			done[k]++
		})
		d.Run()
		d.Run()
		if slices.Min(done) != 2 || slices.Max(done) != 2 {
			t.Errorf("%d workers: chunks were dealt %v times in two runs", workers, done)
		}
	}
}
