package numeral

import (
	"math"
	"testing"
)

func TestFormat(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.5: "0.5", -2: "−2", 1e-6: "1e−6", 2.5e-10: "2.5e−10", 123456: "123456", 1e6: "1e6", -1e-5: "−1e−5",
		1.23e12: "1.23e12", 0.001: "0.001", 3e-4: "3e−4",
	} {
		if got := Format(v); got != want {
			t.Errorf("%g is written %s, want %s", v, got, want)
		}
	}
	if got := Format(math.Copysign(0, -1)); got != "0" {
		t.Errorf("−0 is written %s", got)
	}
}

func TestTidy(t *testing.T) {
	for text, want := range map[string]string{
		"δ = 1e-05, ε = 1":                    "δ = 1e−5, ε = 1",
		"from 1.1e+02 to 36":                  "from 110 to 36",
		"5.32e+05; 7.01e+07":                  "532000; 7.01e7",
		"(ε = 1, δ = 4.07951e-06)":            "(ε = 1, δ = 4.07951e−6)",
		"commit 5e00264637d, sha256 1e9, e-1": "commit 5e00264637d, sha256 1e9, e-1",
		"a1e-05 and 1e-05b":                   "a1e-05 and 1e-05b",
		"1e-999 and 1e+999":                   "0 and 1e+999",
		"-3e-07":                              "-3e−7",
		"1e−6":                                "1e−6",
	} {
		if got := Tidy(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestTyped(t *testing.T) {
	if got := Typed("δ = 1e-05, x − 1"); got != "δ = 1e-5, x − 1" {
		t.Error(got)
	}
}

func TestCount(t *testing.T) {
	if one, two := Count(1, "cell"), Count(2, "cell"); one != "1 cell" || two != "2 cells" {
		t.Error(one, two)
	}
}
