//go:build unix

package procgroup

import (
	"os"
	"os/exec"
	"syscall"
)

func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// A group has the number of the process that it began with.

func interrupt(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGINT) }

// kill ends the group; it is no error that nobody is left in it.
func kill(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }
