package paper

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// documented reports whether a document has a section as it is now, up to the last digit of what was measured: a
// processor without fused multiplication rounds otherwise.
func documented(document, section string) bool {
	lines := strings.Split(strings.Trim(section, "\n"), "\n")
	_, rest, found := strings.Cut(document, "\n"+lines[0]+"\n")
	has := strings.SplitN(lines[0]+"\n"+rest, "\n", len(lines)+1)
	if !found || len(has) < len(lines) {
		return false
	}
	// Then comes another section, or the anchor of another paper.
	if len(has) > len(lines) && !regexp.MustCompile(`^\n*($|#|<a id=)`).MatchString(has[len(lines)]) {
		return false
	}
	for i, now := range lines {
		measured := strings.HasPrefix(now, "- Measured: ") || strings.HasPrefix(now, "- Interval or tolerance: ") ||
			strings.HasPrefix(now, "- Nearest to equality: ")
		if now != has[i] && !(measured && sameFigures(now, has[i])) {
			return false
		}
	}
	return true
}

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

func TestDocumented(t *testing.T) {
	const document = "# Claims\n\n### a/1\n\nS 3 (law)\n\n- Check: 5\n- Measured: 0.961 of 120,000\n- Verdict: " +
		"**holds**\n\n### a/2\n"
	section := func(check, measured string) string {
		return "\n### a/1\n\nS 3 (law)\n\n- Check: " + check + "\n- Measured: " + measured + "\n- Verdict: **holds**\n"
	}
	for text, want := range map[string]bool{
		section("5", "0.961 of 120,000"): true, section("5", "0.960 of 120,001"): true,
		section("5", "0.959 of 120,000"): false, section("4", "0.961 of 120,000"): false,
		section("5", "0.961 in 120,000"): false, strings.Replace(section("5", "0.961 of 120,000"), "a/1", "a/3",
			1): false,
		section("5", "0.961 of 120,000") + "- Seed: 1\n":                                   false,
		strings.Replace(section("5", "0.961 of 120,000"), "\n- Verdict: **holds**", "", 1): false,
	} {
		if got := documented(document, text); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
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
