package parallel

import (
	"errors"
	"testing"
)

// A panic of a worker with an error is the caller's, however many workers there are, and the next run is as if there
// had been none.
func TestFailureIsTheCallers(t *testing.T) {
	gone := errors.New("gone")
	caught := func(run func()) (p any) {
		defer func() { p = recover() }()
		run()
		return nil
	}
	for _, workers := range []int{1, 2, 5} {
		fail := true
		d := NewDealer(workers, 20, func(_, k int) {
			if k == 7 && fail {
				panic(gone)
			}
		})
		if p := caught(d.Run); p != gone {
			t.Errorf("%d workers of a dealer: %v", workers, p)
		}
		fail = false
		if p := caught(d.Run); p != nil {
			t.Errorf("%d workers, again: %v", workers, p)
		}
		if p := caught(func() { Each(20, workers, func(int) { panic(gone) }) }); p != gone {
			t.Errorf("%d workers: %v", workers, p)
		}
	}
}
