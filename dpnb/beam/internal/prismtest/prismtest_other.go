//go:build !linux

// Package prismtest runs tests on Prism, which has to have a network of its own; there is none to be had here.
package prismtest

import (
	"os"
	"testing"
)

// Prism is a runner.
type Prism struct{ Address string }

// Main runs the tests of a package.
func Main(m *testing.M) { os.Exit(m.Run()) }

// Start skips the test.
func Start(t testing.TB) *Prism {
	t.Helper()
	t.Skip("Prism has to have a network of its own")
	return nil
}

// Kill and Stop are of no Prism.
func (*Prism) Kill() bool { return false }

// Stop does nothing.
func (*Prism) Stop() {}
