package figure_test

import (
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/figure"
)

// A chart is drawn, and says in words what it says in boxes.
func TestDecisions(t *testing.T) {
	f := figure.Decisions("Which?", []figure.Decision{{"Rain?", "take\nan umbrella"}, {"Snow?", "stay"}}, "go")
	if png, err := f.PNG(); err != nil || len(png) < 3000 {
		t.Fatalf("%d bytes, %v", len(png), err)
	}
	want := "Rain? If yes: take an umbrella. If no: Snow? If yes: stay. If no: go."
	if !strings.Contains(f.Words(), want) {
		t.Errorf("%q lacks %q", f.Words(), want)
	}
}
