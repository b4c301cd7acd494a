package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
)

// patience is how long a command that computes may be silent.
const patience = 2 * time.Second

// tellIfSlow writes a line to w if cmd, one of those that answer with figures, is
// not stopped for as long as after.
func tellIfSlow(cmd *cobra.Command, w io.Writer, after time.Duration) (stop func()) {
	switch cmd.Name() {
	case "epsilon", "delta", "sigma", "forecast":
	default:
		return func() {}
	}
	t := time.AfterFunc(after, func() {
		fmt.Fprintf(w, "dpnb %s: still computing; some losses and parameters take seconds\n", cmd.Name())
	})
	return func() { t.Stop() }
}
