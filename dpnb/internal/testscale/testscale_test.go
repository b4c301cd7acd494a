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
