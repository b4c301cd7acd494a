package testscale

import "testing"

func TestSkipUnlessFull(t *testing.T) {
	for value, skips := range map[string]bool{"": true, "1": false} {
		t.Run("DPNB_FULL="+value, func(t *testing.T) {
			t.Setenv(variable, value)
			defer func() {
				if t.Skipped() != skips || Full() == skips {
					t.Errorf("skipped %v, full %v", t.Skipped(), Full())
				}
			}()
			SkipUnlessFull(t)
		})
	}
}

func TestSome(t *testing.T) {
	for value, want := range map[string]int{"": 2, "1": 4} {
		t.Setenv(variable, value)
		if got := Some(7, 8, 9, 10); len(got) != want || got[0] != 7 {
			t.Errorf("%q: %v", value, got)
		}
	}
}
