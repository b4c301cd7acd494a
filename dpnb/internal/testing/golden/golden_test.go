package golden

import "testing"

// A number that is off by a hundredth, a point that is missing and another name are noticed; the last digit is not.
func TestSame(t *testing.T) {
	const line = "line drawn, 3 points: (0, 1.234) (1e-05, -2)"
	for other, want := range map[string]bool{
		line: true, "line drawn, 3 points: (0, 1.235) (1e-05, -2)": true,
		"line drawn, 3 points: (0, 1.246) (1e-05, -2)": false, "line drawn, 3 points: (0, 1.234) (1e-05, 2)": false,
		"line drawn, 3 points: (0, 1.234)": false, "line made, 3 points: (0, 1.234) (1e-05, -2)": false,
	} {
		if same(line, other) != want {
			t.Errorf("%s: %v", other, !want)
		}
	}
}
