// Package numeral writes numbers in one way in figures, tables and pages: 0.5, 20, 1e−6.
package numeral

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Format writes a number as shortly as it can be read, with at most six digits: 0.5, 20, 1e−6.
func Format(v float64) string { return strings.ReplaceAll(typed(v), "-", "−") }

// typed is Format with the minus sign of a keyboard.
func typed(v float64) string {
	text := strconv.FormatFloat(v+0, 'g', 6, 64) // −0 + 0 is 0
	if a := math.Abs(v); a > 0 && (a < 1e-3 || a >= 1e6) {
		text = strings.Replace(strconv.FormatFloat(v, 'e', -1, 64), "e-0", "e-", 1)
		text = strings.Replace(strings.Replace(text, "e+0", "e", 1), "e+", "e", 1)
	}
	return text
}

// exponential is a number as fmt writes it with an exponent; the sign tells it from other words with an e.
var exponential = regexp.MustCompile(`\b\d+(\.\d+)?e[-+]\d+\b`)

// Tidy puts the numbers in a text that have an exponent, 1e-06 or 1.1e+02, into the form of Format. That has a minus
// sign, after which no browser breaks a line.
func Tidy(text string) string { return rewrite(text, Format) }

// Typed is Tidy with the minus sign of a keyboard, for texts that people copy into programs: 1e-6.
func Typed(text string) string { return rewrite(text, typed) }

// rewrite has format write the numbers in a text that have an exponent.
func rewrite(text string, format func(v float64) string) string {
	return exponential.ReplaceAllStringFunc(text, func(number string) string {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil { // out of range
			return number
		}
		return format(v)
	})
}

// Count writes how many there are of something, whose plural ends in s: "1 cell", "2 cells".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
