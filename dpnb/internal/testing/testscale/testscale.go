// Package testscale says how much the tests run. From the quickest to the longest: go test -short, a minute; go test;
// what `dpnb test` does beside it by turns; `dpnb test --full`. Tests alone may enter.
package testscale

import (
	"hash/fnv"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
)

// Tests make much and keep little: with four times the usual room, also for the programs that they start, the collector
// takes a tenth of their time and not a fifth. The tests of how much memory is taken are among those of --full.
func init() {
	if os.Getenv("GOGC") == "" && !Full() {
		os.Setenv("GOGC", "400")
		debug.SetGCPercent(400)
	}
}

// full is the environment variable that asks for every test when it is not empty.
const full = "DPNB_FULL"

// whose is the environment variable that says whose turn it is: a number, of which only the remainder by turns counts,
// or every.
const (
	whose = "DPNB_TURN"
	every = "all"
	turns = 4
)

// Full reports whether every test was asked for, however long it takes.
func Full() bool { return os.Getenv(full) != "" }

// Slow skips a test that takes more than some third of a second of processor time where short ones were asked for
// (go test -short), which are to take a minute in all.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes more than a third of a second: runs without -short")
	}
}

// InTurn skips a test that takes seconds and sees what others see in part, but in every fourth run of `dpnb test`, by
// turns, and where all are asked for or golden texts are written.
func InTurn(t testing.TB) {
	t.Helper()
	Slow(t)
	if !Full() && os.Getenv("DPNB_GOLDEN") == "" && !hasTurn(t.Name(), os.Getenv(whose)) {
		t.Skipf("runs in every fourth `dpnb test`, and with %s=%s", whose, every)
	}
}

func hasTurn(name, turn string) bool {
	h := fnv.New64a()
	h.Write([]byte(name))
	k, err := strconv.ParseUint(turn, 10, 64)
	return turn == every || err == nil && k%turns == h.Sum64()%turns
}

// SkipUnlessFull skips a test that is slow and rarely fails.
func SkipUnlessFull(t testing.TB) {
	t.Helper()
	if !Full() {
		t.Skipf("slow: runs in `dpnb test --full` (%s=1)", full)
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
