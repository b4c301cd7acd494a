//go:build unix

package report

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// detach gives a program a session of its own, so that Ctrl-C reaches only dpnb, which then ends it in good order.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// endTagged kills every process whose environment has the given entry. It looks several times, for those that were just
// being started. Where the system has no /proc it does nothing, and the driver alone ends the kernel.
func endTagged(entry string) {
	for range 20 {
		found := tagged(entry)
		if len(found) == 0 {
			return
		}
		for _, pid := range found {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func tagged(entry string) []int {
	var found []int
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, err := os.ReadFile(file)
		if err != nil {
			continue // ended meanwhile, or another user's
		}
		if slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(e []byte) bool { return string(e) == entry }) {
			found = append(found, pid)
		}
	}
	return found
}

// terminate asks a process to end in good order.
func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
