package paper

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var figure = regexp.MustCompile(`-?\d[\d,]*(\.(\d+))?(e[+-]?\d+)?`)

// sameFigures reports whether two texts differ at most by one in the last digit of figures, or in figures below 1e-9,
// which are rounding themselves.
func sameFigures(a, b string) bool {
	if figure.ReplaceAllString(a, "#") != figure.ReplaceAllString(b, "#") {
		return false
	}
	x, y := figure.FindAllStringSubmatch(a, -1), figure.FindAllStringSubmatch(b, -1)
	for i := range x {
		v, errV := strconv.ParseFloat(strings.ReplaceAll(x[i][0], ",", ""), 64)
		w, errW := strconv.ParseFloat(strings.ReplaceAll(y[i][0], ",", ""), 64)
		if errV != nil || errW != nil {
			return false
		}
		digit, _ := strconv.ParseFloat("1"+x[i][3], 64)
		digit *= math.Pow(10, -float64(len(x[i][2])))
		if tiny := math.Abs(v) < 1e-9 && math.Abs(w) < 1e-9; !tiny && math.Abs(v-w) > 1.01*digit {
			return false
		}
	}
	return true
}

func TestSameFigures(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"6.99e+06", "7.00e+06", true}, {"6.99e+06", "7.01e+06", false}, {"3.1e-15", "8.7e-16", true},
		{"0.96, above", "0.96, below", false}, {"from 0.96 to 1.12", "from 0.96 to 1.22", false},
	} {
		if got := sameFigures(c.a, c.b); got != c.same {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}
