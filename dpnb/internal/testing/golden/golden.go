// Package golden holds what a test computes against a text that is kept beside it: words must be the same, numbers may
// differ in their last digits, as they do between processors. Tests alone may enter.
package golden

import (
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// variable is the environment variable that has the texts written anew when it is not empty.
const variable = "DPNB_GOLDEN"

// tolerance is by how much a number of Compare may differ, of itself or of one thousandth: of one that has an exponent,
// as a δ of 1e-06 that is not to be taken for none or for twice as much, of itself or of 10⁻¹², which rounding leaves.
const tolerance = 2e-3

var number = regexp.MustCompile(`[-+]?\d+(\.\d+)?(e[-+]?\d+)?`)

// Elsewhere is a line of what a test computes that stands for any number of lines of the file: what it did not compute,
// as that takes long.
const Elsewhere = "(elsewhere)"

// Compare holds got against the text in the file, but for what is Elsewhere.
func Compare(t testing.TB, path, got string) {
	t.Helper()
	compare(t, path, got, same)
}

// Figures holds numbers, which say is told with a name that stands once, against those in the file, to so many parts of
// themselves: what code computes today is what it computed before. Whether that was right is for other tests.
func Figures(t testing.TB, path string, within float64, figures func(say func(name string, values ...float64))) {
	t.Helper()
	var b strings.Builder
	figures(func(name string, values ...float64) {
		b.WriteString(strings.ReplaceAll(name, " ", "·"))
		for _, v := range values {
			b.WriteString(" " + strconv.FormatFloat(v, 'g', 14, 64))
		}
		b.WriteByte('\n')
	})
	compare(t, path, b.String(), func(a, b string) bool { return sameFigures(a, b, within) })
}

func sameFigures(a, b string, within float64) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) || len(x) > 0 && x[0] != y[0] {
		return false
	}
	for i := 1; i < len(x); i++ {
		v, _ := strconv.ParseFloat(x[i], 64) // as it was written
		w, _ := strconv.ParseFloat(y[i], 64)
		off := math.Abs(v - w)
		if x[i] != y[i] && !(off <= within*max(math.Abs(v), math.Abs(w)) && off < math.Inf(1)) {
			return false
		}
	}
	return true
}

func compare(t testing.TB, path, got string, same func(a, b string) bool) {
	t.Helper()
	if os.Getenv(variable) != "" {
		if strings.Contains(got, Elsewhere) {
			t.Fatalf("%s is written by the whole test: DPNB_FULL=1", path)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; %s=1 writes it", err, variable)
	}
	rest, first := strings.Split(string(want), "\n"), 1 // and the number of its first line
	parts := strings.Split(got, Elsewhere+"\n")
	for k, part := range parts {
		a := strings.Split(part, "\n")
		if k+1 < len(parts) {
			a = a[:len(a)-1] // what is after its last line is of the next
		}
		at := 0
		switch {
		case k == 0:
		case k+1 == len(parts):
			at = max(0, len(rest)-len(a))
		default:
			at = max(0, slices.IndexFunc(rest, func(line string) bool { return same(a[0], line) }))
		}
		rest, first = rest[at:], first+at
		b := rest
		if k+1 < len(parts) {
			b = rest[:min(len(a), len(rest))]
		}
		if differ(t, path, a, b, first, same) {
			return
		}
		rest, first = rest[len(b):], first+len(b)
	}
}

// differ says where lines a of a file, the first of them its line first, are not b.
func differ(t testing.TB, path string, a, b []string, first int, same func(a, b string) bool) bool {
	t.Helper()
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || !same(a[i], b[i]) {
			line := func(s []string) string {
				if i < len(s) {
					return s[i]
				}
				return "(nothing)"
			}
			t.Errorf("%s, line %d: got\n%s\nwant\n%s\n%s=1 writes it anew: look at what it shows first", path, first+i,
				line(a), line(b), variable)
			return true
		}
	}
	return false
}

// sized is how large a picture is, and written what stands in it.
var sized, written = regexp.MustCompile(`<svg width="(.*?)" height="(.*?)"`),
	regexp.MustCompile(`(?s)<text[^>]*>([^<]*)</text>`)

// Written returns the size of an SVG picture and its texts in a line: what its axes have at their ticks, and what is
// labelled.
func Written(svg []byte, err error) string {
	if err != nil {
		return err.Error()
	}
	var all []string
	if m := sized.FindSubmatch(svg); m != nil {
		all = append(all, fmt.Sprintf("%s × %s", m[1], m[2]))
	}
	for _, m := range written.FindAllSubmatch(svg, -1) {
		all = append(all, html.UnescapeString(string(m[1])))
	}
	return strings.Join(all, " | ")
}

// same says whether two lines have the same words and nearly the same numbers.
func same(a, b string) bool {
	if number.ReplaceAllString(a, "#") != number.ReplaceAllString(b, "#") {
		return false
	}
	x, y := number.FindAllString(a, -1), number.FindAllString(b, -1)
	for i := range x {
		v, _ := strconv.ParseFloat(x[i], 64) // what the expression matches is a number
		w, _ := strconv.ParseFloat(y[i], 64)
		least := 1e-3
		if strings.Contains(x[i]+y[i], "e") {
			least = 1e-12
		}
		if math.Abs(v-w) > tolerance*max(math.Abs(v), math.Abs(w), least) {
			return false
		}
	}
	return true
}
