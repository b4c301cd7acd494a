package logscale

import (
	"math"
	"testing"
)

// Equal factors are equal steps above 0, the scale rises, and Value is the inverse of Share.
func TestScale(t *testing.T) {
	for _, b := range [][2]float64{{1000, 1e6}, {0.1, 0.3}, {1e-9, 1}, {0, 1e5}, {-5, 5}, {1, 1 + 0x1p-40}} {
		s, last := Between(b[0], b[1]), math.Inf(-1)
		for k := range 101 {
			share := float64(k) / 100
			v := s.Value(share)
			if b[0] > 0 {
				want := b[0] * math.Pow(b[1]/b[0], share)
				if !(math.Abs(v-want) <= 1e-12*want) {
					t.Fatalf("%v: Value(%v) = %v, want %v", b, share, v, want)
				}
			}
			if v < last || !(math.Abs(s.Share(v)-share) <= 1e-9*(1+math.Abs(b[0])/(b[1]-b[0])*1e-6)) {
				t.Fatalf("%v: Value(%v) = %v, its Share %v", b, share, v, s.Share(v))
			}
			last = v
		}
	}
	if s := Between(1000, 1e6); !(math.Abs(s.Share(31622.7766016838)-0.5) <= 1e-12) {
		t.Errorf("the middle of 1,000 and 1,000,000 is %v", s.Value(0.5))
	}
	for _, c := range []struct {
		log              bool
		lower, upper, at float64
	}{{false, 2, 10, 4}, {false, -3, 1, -2}, {true, 1, 16, 2}, {true, -2, 13, -1}} {
		if v := Place(c.lower, c.upper, 0.25, c.log); !(math.Abs(v-c.at) <= 1e-14*math.Abs(c.at)) {
			t.Errorf("a quarter of %v to %v (logarithmic: %v) is at %v, want %v", c.lower, c.upper, c.log, v, c.at)
		}
	}
	if s := Between(0, 9); s.Share(9) != 1 || s.Share(2) != math.Log(3)/math.Log(10) {
		t.Errorf("from 0: %v", s.Share(2))
	}
}
