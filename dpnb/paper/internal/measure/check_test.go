package measure

import (
	"context"
	"errors"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// What Try and Must are given is the check's error, from a worker, too; another panic is not.
func TestCheckEndsWithItsError(t *testing.T) {
	bad := errors.New("bad")
	check := Check(func(ctx context.Context, size claim.Size) claim.Outcome {
		_, err := sim.Trials(ctx, 9, Sized(size, 2, 3), noise.NewSeeded(1),
			func(_, k int, _ *noise.Seeded) (int, error) {
				if k == 5 {
					Try(bad)
				}
				return k, nil
			})
		return claim.Decide("", "", Must(0, err) == 0, "")
	})
	if o, err := check(t.Context(), claim.Full); !errors.Is(err, bad) || o != (claim.Outcome{}) {
		t.Errorf("%+v, %v", o, err)
	}
	defer func() {
		if recover() != "other" {
			t.Error("another panic was caught")
		}
	}()
	_, _ = Check(func(context.Context, claim.Size) claim.Outcome { panic("other") })(t.Context(), claim.Quick)
}
