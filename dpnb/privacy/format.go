package privacy

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// FormatUp writes x ≥ 0 with at most the given number of significant digits, as a decimal that is never less than the
// shortest decimal that reads as x: what is printed of a privacy figure holds. FormatDown is its mirror image, for
// lower bounds and for what is left of a budget.
func FormatUp(x float64, digits int) string { return formatToward(x, digits, 1) }

// FormatDown writes x ≥ 0 with at most the given number of significant digits, never more than the shortest decimal
// that reads as x.
func FormatDown(x float64, digits int) string { return formatToward(x, digits, -1) }

func formatToward(x float64, digits, side int) string {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	// The shortest decimal d.ddd…e±x, cut after the wanted digits.
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	figures := strings.Replace(mantissa, ".", "", 1)
	e, _ := strconv.Atoi(exponent)
	if len(figures) > digits {
		cut, _ := strconv.ParseInt(figures[:digits], 10, 64)
		if side > 0 && strings.Trim(figures[digits:], "0") != "" {
			cut++
		}
		if carried := strconv.FormatInt(cut, 10); len(carried) > digits {
			e++
			figures = carried[:digits]
		} else {
			figures = carried
		}
	}
	figures = strings.TrimRight(figures, "0")
	text := figures[:1]
	if len(figures) > 1 {
		text += "." + figures[1:]
	}
	if e >= -4 && e < max(digits, 6) {
		v, _ := strconv.ParseFloat(text+"e"+strconv.Itoa(e), 64)
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprintf("%se%+03d", text, e)
}
