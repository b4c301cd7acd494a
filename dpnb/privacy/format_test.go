package privacy

import (
	"math"
	"math/big"
	"strconv"
	"testing"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		x        float64
		digits   int
		up, down string
	}{
		{math.Exp(0.4), 3, "1.5", "1.49"},
		{1.234e-5, 3, "1.24e-05", "1.23e-05"},
		{0.1234561, 6, "0.123457", "0.123456"},
		{0.1, 6, "0.1", "0.1"},
		{1e-6, 3, "1e-06", "1e-06"},
		{6.6666666e-6, 3, "6.67e-06", "6.66e-06"},
		{0.99999999, 3, "1", "0.999"},
		{9.999, 2, "10", "9.9"},
		{1.0001, 2, "1.1", "1"}, // what is cut off begins with a zero
		{0.25000001, 4, "0.2501", "0.25"},
		{5e-324, 2, "5e-324", "5e-324"},
		{123456, 2, "130000", "120000"},
		{0, 3, "0", "0"},
		{math.Inf(1), 3, "+Inf", "+Inf"},
	} {
		if up, down := FormatUp(c.x, c.digits), FormatDown(c.x, c.digits); up != c.up || down != c.down {
			t.Errorf("%v to %d digits: %s and %s, want %s and %s", c.x, c.digits, up, down, c.up, c.down)
		}
	}
}

func FuzzFormatHasADirection(f *testing.F) {
	f.Add(0.1, 3)
	f.Add(1.0001, 2)
	f.Add(1.7976931348623157e308, 2)
	f.Add(4.9e-310, 4)
	f.Fuzz(func(t *testing.T, x float64, digits int) {
		if !(x > 0) || math.IsInf(x, 0) || digits < 1 || digits > 12 || x > 1e300 || x < 1e-300 {
			return
		}
		exact, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', -1, 64))
		up, ok := new(big.Rat).SetString(FormatUp(x, digits))
		if !ok || up.Cmp(exact) < 0 {
			t.Errorf("FormatUp(%v, %d) = %s", x, digits, FormatUp(x, digits))
		}
		down, ok := new(big.Rat).SetString(FormatDown(x, digits))
		if !ok || down.Cmp(exact) > 0 {
			t.Errorf("FormatDown(%v, %d) = %s", x, digits, FormatDown(x, digits))
		}
	})
}
