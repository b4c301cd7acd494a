package golden

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A number that is off by a hundredth, a point that is missing and another name are noticed; the last digit is not.
func TestSame(t *testing.T) {
	const line = "line drawn, 3 points: (0, 1.234) (1e-06, -2)"
	for other, want := range map[string]bool{
		line: true, "line drawn, 3 points: (0, 1.235) (1e-06, -2)": true,
		"line drawn, 3 points: (0, 1.246) (1e-06, -2)": false, "line drawn, 3 points: (0, 1.234) (1e-06, 2)": false,
		"line drawn, 3 points: (0, 1.234) (2e-06, -2)": false, "line drawn, 3 points: (0, 1.234) (0, -2)": false,
		"line drawn, 3 points: (0, 1.234)": false, "line made, 3 points: (0, 1.234) (1e-06, -2)": false,
	} {
		if same(line, other) != want {
			t.Errorf("%s: %v", other, !want)
		}
	}
}

// A figure that is off by more than it may be, one that is missing, another name and another sign of an infinity are
// noticed.
func TestSameFigures(t *testing.T) {
	const line = "ln·δ -3.25 0 1e-300 +Inf NaN"
	for other, want := range map[string]bool{
		line: true, "ln·δ -3.2500000001 0 1e-300 +Inf NaN": true, "ln·δ -3.25001 0 1e-300 +Inf NaN": false,
		"ln·δ -3.25 0 1.1e-300 +Inf NaN": false, "ln·δ -3.25 1e-300 1e-300 +Inf NaN": false,
		"ln·δ -3.25 0 1e-300 -Inf NaN": false, "ln·δ -3.25 0 1e-300 +Inf 1": false, "ln·δ -3.25 0 1e-300 +Inf": false,
		"δ -3.25 0 1e-300 +Inf NaN": false, "": false,
	} {
		if sameFigures(line, other, 1e-9) != want {
			t.Errorf("%s: %v", other, !want)
		}
	}
}

// failed is whether a test would have failed.
type failed struct {
	testing.TB
	it bool
}

func (f *failed) Helper()               {}
func (f *failed) Errorf(string, ...any) { f.it = true }

// What is elsewhere may be anything; what is before, between and after it is compared.
func TestElsewhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "golden.txt")
	if err := os.WriteFile(path, []byte("a 1\nb 2\nc 3\nd 4\ne 5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const e = Elsewhere + "\n"
	for got, want := range map[string]bool{
		"a 1\nb 2\nc 3\nd 4\ne 5\n": true, "a 1\n" + e + "d 4\ne 5\n": true, e + "e 5\n": true, "a 1\n" + e: true,
		"a 1\n" + e + "c 3\n" + e + "e 5\n": true, e + "c 3\nd 4\n" + e: true,
		"a 2\n" + e + "d 4\ne 5\n": false, "a 1\n" + e + "c 4\n" + e + "e 5\n": false,
		"a 1\n" + e + "d 4\ne 6\n":     false,
		"a 1\n" + e + "c 3\ne 5\n" + e: false, e + "f 6\n" + e: false, "a 1\nb 2\nc 3\nd 4\n": false,
		"a 1\n" + e + "b 3\nc 3\nd 4\ne 5\n": false,
	} {
		f := &failed{TB: t}
		if Compare(f, path, got); f.it == want {
			t.Errorf("%q: %v", got, !want)
		}
	}
}

// Numbers are those of fields and elements in their order; what failed and what is true are 1.
func TestNumbers(t *testing.T) {
	type inner struct {
		a int
		b []float64
	}
	got := Numbers(2.5, []bool{true, false}, struct {
		in *inner
		s  string
		of any
	}{&inner{3, []float64{4, 5}}, "six", uint8(7)}, nil, errors.New("wrong"))
	if want := []float64{2.5, 1, 0, 3, 4, 5, 7, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for by, want := range map[float64]float64{0x1p-50: 1, -0x1p-50: -1, 0x1p-52: 0, 0: 0, 1e-3: 1} {
		if got := Rounded(-3*(1+by), -3); got != want {
			t.Errorf("rounded by %g: %v, want %v", by, got, want)
		}
	}
}

// What is written in a picture is in the order in which it is drawn, as it is read.
func TestWritten(t *testing.T) {
	svg := []byte(`<svg width="9pt" height="5pt">
		<text x="1"
			y="2">20 %</text><path d="M1,2"/><text>a &lt; b</text></svg>`)
	if got := Written(svg, nil); got != "9pt × 5pt | 20 % | a < b" {
		t.Errorf("%q", got)
	}
	if got := Written(nil, errors.New("none")); got != "none" {
		t.Errorf("%q", got)
	}
}
