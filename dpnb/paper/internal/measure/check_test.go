package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// What Try and Must are given is the check's error, from a worker, too; another panic is not.
func TestCheckEndsWithItsError(t *testing.T) {
	bad := errors.New("bad")
	check := Of(func(run Run, _ int) claim.Outcome {
		_, err := sim.Trials(run, 9, Sized(run.Size, 2, 3), noise.NewSeeded(1),
			func(_, k int, _ *noise.Seeded) (int, error) {
				if k == 5 {
					Try(bad)
				}
				return k, nil
			})
		return claim.Decide("", "", Must(0, err) == 0, "")
	}, 0)
	if o, err := check(t.Context(), claim.Full); !errors.Is(err, bad) || o != (claim.Outcome{}) {
		t.Errorf("%+v, %v", o, err)
	}
	defer func() {
		if recover() != "other" {
			t.Error("another panic was caught")
		}
	}()
	_, _ = Of(func(Run, int) claim.Outcome { panic("other") }, 0)(t.Context(), claim.Quick)
}

// Pairs, and with it Over and To, goes through all, the second list faster, and ends with its context.
func TestPairsEndWithTheirContext(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	var seen []string
	err := func() (err error) {
		defer Catch(&err)
		for i := range To(ctx, 2) {
			for a, b := range Pairs(ctx, []int{1, 2}, []string{"a", "b"}) {
				if seen = append(seen, fmt.Sprint(i, a, b)); len(seen) == 6 {
					end()
				}
			}
		}
		return nil
	}()
	want := []string{"0 1a", "0 1b", "0 2a", "0 2b", "1 1a", "1 1b"}
	if !errors.Is(err, context.Canceled) || !slices.Equal(seen, want) {
		t.Errorf("%q, %v", seen, err)
	}
	for k, v := range Over(t.Context(), []int{5, 6}) {
		if k+5 != v {
			t.Error(k, v)
		}
		if v == 6 {
			break
		}
	}
}
