// Package procgroup runs programs that start programs of their own, such as the go command and package managers, so
// that all of them end together.
package procgroup

import (
	"context"
	"os/exec"
	"time"
)

// Run runs cmd, which must have been made with exec.CommandContext(ctx, …), in a process group of its own. When ctx is
// done, the whole group is interrupted; what is still running after the grace, in which a program may put its affairs
// in order, is killed.
//
// Errors: those of cmd.Run.
func Run(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	group(cmd)
	cmd.Cancel = func() error { return interrupt(cmd.Process) }
	cmd.WaitDelay = grace
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		kill(cmd.Process)
	}
	return err
}
