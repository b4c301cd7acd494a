package frame

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// canonical is the shortest text of a number, "" of NaN.
func canonical(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v+0, 'f', -1, 64) // + 0 makes 0 of −0
}

// Number returns the number of row i of a column, NaN where it is missing or the text is none. A number beyond the
// range of float64 is ±Inf.
func (c *Column) Number(i int) float64 {
	if c.Kind == Numeric {
		return c.Numbers[i]
	}
	text := trim(c.Texts[i])
	if c.sentinels && c.missing[text] {
		return math.NaN()
	}
	if v, ok := wholeNumber(text); ok {
		return v
	}
	v, ok := c.format.parse(text)
	if !ok {
		return math.NaN()
	}
	return v
}

// numberFormat is how numbers are written; nil is as Go writes them.
type numberFormat struct {
	decimal, thousands rune
}

// parse returns the number that a text is: strconv.ParseFloat for a decimal point and no thousands; ±Inf beyond the
// range of float64.
func (f *numberFormat) parse(text string) (v float64, ok bool) {
	if f != nil {
		if text, ok = f.plain(text); !ok {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil || errors.Is(err, strconv.ErrRange)
}

// plain rewrites a number with a decimal point and no thousands. Thousands stand between the first one to three digits
// and groups of three, in all such places or in none.
func (f *numberFormat) plain(text string) (string, bool) {
	whole, decimals, point := strings.Cut(text, string(f.decimal))
	if f.thousands != 0 {
		mark := string(f.thousands)
		if f.thousands == ' ' {
			whole = strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return ' '
				}
				return r
			}, whole)
		}
		groups := strings.Split(whole, mark)
		for k, g := range groups[1:] {
			first := strings.TrimLeft(groups[0], "+-")
			if _, digits := wholeNumber(g); !digits || len(g) != 3 || k == 0 && (first == "" || len(first) > 3) {
				return "", false
			}
		}
		whole = strings.Join(groups, "")
	}
	if f.decimal != '.' && (strings.Contains(whole, ".") || strings.Contains(decimals, ".")) {
		return "", false
	}
	if point {
		whole += "." + decimals
	}
	return whole, true
}

// wholeNumber is strconv.ParseFloat for a few digits, which are exact.
func wholeNumber(text string) (v float64, ok bool) {
	if text == "" || len(text) > 15 {
		return 0, false
	}
	n := 0
	for i := range len(text) {
		d := text[i] - '0'
		if d > 9 {
			return 0, false
		}
		n = 10*n + int(d)
	}
	return float64(n), true
}

// trim is strings.TrimSpace, fast where there is nothing to trim.
func trim(s string) string {
	if n := len(s); n == 0 || plain(s[0]) && plain(s[n-1]) {
		return s
	}
	return strings.TrimSpace(s)
}

// plain reports bytes that are neither a space nor part of one.
func plain(b byte) bool { return b > ' ' && b < 0x80 }
