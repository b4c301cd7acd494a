// Package testscale says how much the tests run: what is slow and rarely fails waits for `dpnb test --full`. Tests
// alone may enter.
package testscale

import (
	"os"
	"testing"
)

// variable is the environment variable that asks for every test when it is not empty.
const variable = "DPNB_FULL"

// Full reports whether every test was asked for, however long it takes.
func Full() bool { return os.Getenv(variable) != "" }

// Slow skips a test that takes more than some third of a second of processor time where short ones were asked for
// (go test -short), which are to take a minute in all.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes more than a third of a second: runs without -short")
	}
}

// SkipUnlessFull skips a test that is slow and rarely fails.
func SkipUnlessFull(t testing.TB) {
	t.Helper()
	if !Full() {
		t.Skipf("slow: runs in `dpnb test --full` (%s=1)", variable)
	}
}

// Some returns every second of the points, the first among them; all of them where every test was asked for. What a
// test sees at all of them it would as a rule see at these.
func Some[T any](points ...T) []T {
	if Full() {
		return points
	}
	var some []T
	for i := 0; i < len(points); i += 2 {
		some = append(some, points[i])
	}
	return some
}
