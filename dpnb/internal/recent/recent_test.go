package recent_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/recent"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// What is asked for again is made once, as long as few others are; what is not, is let go.
func TestValues(t *testing.T) {
	v, made := recent.Values[int, *int]{Kept: 3}, 0
	ask := func(key int) *int {
		value := must.Get(v.Of(key, func() (*int, error) { made++; return &key, nil }))
		return value
	}
	for i := range 1000 {
		if first := ask(-1); *first != -1 || first != ask(-1) || *ask(i) != i {
			t.Fatal("another value")
		}
	}
	if made != 1001 {
		t.Errorf("made %d values of 1001 keys", made)
	}
	for i := range 10 {
		ask(i)
	}
	if before := made; ask(-1) == nil || made != before+1 {
		t.Error("a key is kept that has long not been asked for")
	}
	for _, want := range []error{errors.New("none"), nil} {
		if _, err := v.Of(-2, func() (*int, error) { return nil, want }); err != want {
			t.Errorf("%v, want %v: an error is asked for again", err, want)
		}
	}
}

// What is asked for again is made once, however many others are.
func TestAll(t *testing.T) {
	var v recent.All[int, *int]
	made := 0
	ask := func(key int) *int { return v.Of(key, func() *int { made++; return &key }) }
	first := ask(-1)
	for i := range 1000 {
		if *first != -1 || first != ask(-1) || *ask(i) != i {
			t.Fatal("another value")
		}
	}
	if made != 1001 {
		t.Errorf("made %d values of 1001 keys", made)
	}
}

// However many were asked for, the last Kept are known and none before the last 2·Kept is.
func TestHowManyAreKept(t *testing.T) {
	const kept = 3
	for asked := range 20 {
		for back := range asked {
			v, made := recent.Values[int, int]{Kept: kept}, false
			of := func(key int) { _, _ = v.Of(key, func() (int, error) { made = true; return key, nil }) }
			for key := range asked {
				of(key)
			}
			made = false
			if of(asked - 1 - back); made && back < kept || !made && back >= 2*kept {
				t.Errorf("%d asked for: number %d from the end is made anew: %v", asked, back+1, made)
			}
		}
	}
}

// What several ask for at a time is made once, and again by one of those that waited where that failed or panicked.
func TestAskedForAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, made := recent.Values[int, int]{Kept: 3}, 0
		for i := range 5 {
			go func() {
				defer func() { _ = recover() }()
				value, err := v.Of(1, func() (int, error) {
					made++
					time.Sleep(time.Second)
					switch made {
					case 1:
						panic("none")
					case 2:
						return 0, errors.New("none")
					}
					return made, nil
				})
				if err == nil && value != 3 {
					t.Errorf("%d has %d", i, value)
				}
			}()
		}
		synctest.Wait()
		if made != 1 {
			t.Errorf("%d make the same value", made)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if made != 3 {
			t.Errorf("made %d times, of which the third was right", made)
		}
	})
}
