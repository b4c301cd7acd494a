package claim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Scaled is the check of a claim with a claimed quantity times a factor, from which the power of the check is measured
// and not told: the smallest error of that quantity at which the verdict is another one.
type Scaled struct {
	// Of is the quantity, "δ".
	Of string
	// Less and More are the smallest relative errors that are noticed where the quantity is claimed smaller and larger
	// than it is: one of 1, 2 and 5 times a power of ten, from 1e-4 to 0.5, or 0 if the check notices none of them,
	// as that of an upper bound that is far from attained. Below 1e-4 machines differ, and nobody asks. TestClaims
	// fails where another one is the smallest.
	Less, More float64
	// By is the check with the quantity times a factor; By(1) is the claim's Run.
	By func(factor float64) Check
}

// sizes are the relative errors that are tried.
var sizes = func() (all []float64) {
	for _, power := range []float64{1e-4, 1e-3, 1e-2, 0.1} {
		all = append(all, power, 2*power, 5*power)
	}
	return all
}()

// passes reports whether the quantity times a factor gets the verdict want.
func (s Scaled) passes(ctx context.Context, size Size, want Verdict, factor float64) (bool, error) {
	o, err := s.By(factor)(ctx, size)
	if err != nil {
		return false, fmt.Errorf("claim: %s times %v: %w", s.Of, factor, err)
	}
	return o.Verdict == want, nil
}

// Measure returns what Less and More should be where the claim has the verdict want, by bisection: it takes a check
// that notices an error to notice larger ones as well.
//
// Errors: that of the check, wrapped; ctx.Err(), wrapped.
func (s Scaled) Measure(ctx context.Context, size Size, want Verdict) (less, more float64, err error) {
	for _, side := range []struct {
		sign float64
		dst  *float64
	}{{-1, &less}, {1, &more}} {
		// sizes[:lo] pass, sizes[hi:] do not.
		lo, hi := 0, len(sizes)
		for lo < hi {
			mid := (lo + hi) / 2
			ok, err := s.passes(ctx, size, want, 1+side.sign*sizes[mid])
			switch {
			case err != nil:
				return 0, 0, err
			case ok:
				lo = mid + 1
			default:
				hi = mid
			}
		}
		if lo < len(sizes) {
			*side.dst = sizes[lo]
		}
	}
	return less, more, nil
}

// Unmeasured says why Less and More are not what is measured, with two runs of the check for each: it must notice them
// and not the next smaller size. It is empty if they are.
//
// Errors: as Measure's.
func (s Scaled) Unmeasured(ctx context.Context, size Size, want Verdict) (string, error) {
	for _, side := range []struct{ sign, noticed float64 }{{-1, s.Less}, {1, s.More}} {
		at := slices.Index(sizes, side.noticed)
		switch {
		case side.noticed == 0:
			at = len(sizes)
		case at < 0:
			return fmt.Sprintf("%s: %v is none of the sizes 1, 2, 5 · 10ᵏ", s.Of, side.noticed), nil
		default:
			if ok, err := s.passes(ctx, size, want, 1+side.sign*side.noticed); err != nil || ok {
				return fmt.Sprintf("%s times %v is not noticed", s.Of, 1+side.sign*side.noticed), err
			}
		}
		if at > 0 {
			if ok, err := s.passes(ctx, size, want, 1+side.sign*sizes[at-1]); err != nil || !ok {
				return fmt.Sprintf("%s times %v is noticed already", s.Of, 1+side.sign*sizes[at-1]), err
			}
		}
	}
	return "", nil
}

// percent prints a relative error.
func percent(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) }

// String says what is noticed.
func (s Scaled) String() string {
	var parts []string
	for _, side := range []struct {
		word string
		size float64
	}{{"less", s.Less}, {"more", s.More}} {
		if side.size > 0 {
			parts = append(parts, side.word+" by "+percent(side.size))
		}
	}
	return s.Of + " " + strings.Join(parts, " or ")
}

// noticed is the smallest error that the check notices: the measured ones, and what is said besides.
func (c Claim) noticed() string {
	var parts []string
	for _, s := range c.Scaled {
		parts = append(parts, s.String())
	}
	if c.Power != "" {
		parts = append(parts, c.Power)
	}
	return strings.Join(parts, "; ")
}

// WrongVersions are all versions that are wrong on purpose, by what is wrong: Wrong and those of Scaled.
func (c Claim) WrongVersions() map[string]Check {
	all := maps.Clone(c.Wrong)
	if all == nil {
		all = map[string]Check{}
	}
	for _, s := range c.Scaled {
		if s.Less > 0 {
			all[s.Of+" less by "+percent(s.Less)] = s.By(1 - s.Less)
		}
		if s.More > 0 {
			all[s.Of+" more by "+percent(s.More)] = s.By(1 + s.More)
		}
	}
	return all
}
