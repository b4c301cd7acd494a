//go:build !unix

package procgroup

import (
	"os"
	"os/exec"
)

func group(*exec.Cmd)               {}
func interrupt(p *os.Process) error { return p.Kill() }
func kill(*os.Process)              {}
