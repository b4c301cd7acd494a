//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/lockfile"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// released are the commands that release something of a crowd, of whose ledger they keep the file.
func released(dir, file, schema, ledger string) map[string][]string {
	public := []string{file, "--schema", schema, "--epsilon", "1", "--delta", "1e-6", "--budget", ledger}
	return map[string][]string{
		"fit": append([]string{"fit", "--target", "ill", "--learner", "logistic", "--store",
			filepath.Join(dir, "store")}, public...),
		"describe": append([]string{"describe"}, public...),
	}
}

// Wherever the disk of the ledger is full, nothing is lost that was paid for: with room, the same command releases what
// was charged, once.
func TestFullDisk(t *testing.T) {
	testscale.InTurn(t)
	const folder = "DPNB_FULL_DISK"
	dir := os.Getenv(folder)
	if dir == "" {
		dir, _, _ := crowd(t, 2000)
		c := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
		c.Env = append(os.Environ(), folder+"="+dir)
		// Only there the disk can be seen.
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
		out, err := c.CombinedOutput()
		if errors.As(err, new(*exec.ExitError)) {
			t.Errorf("%s", out)
		} else if err != nil || strings.Contains(string(out), "SKIP") {
			t.Skipf("no disk can be mounted here: %v\n%s", err, out)
		}
		return
	}
	disk := filepath.Join(dir, "disk")
	must.Do(os.Mkdir(disk, 0o700))
	mount := func(flags uintptr, size int) error {
		return syscall.Mount("none", disk, "tmpfs", flags, fmt.Sprintf("size=%d", size))
	}
	ledger := filepath.Join(disk, "ledger.json")
	file, schema := filepath.Join(dir, "people.parquet"), filepath.Join(dir, "schema.json")
	for name, args := range released(dir, file, schema, ledger) {
		paid := 0 // and not released
		for pages := 1; ; pages++ {
			if err := mount(0, pages*os.Getpagesize()); err != nil {
				t.Skip(err)
			}
			first, said := process(t.Context(), args...)
			err := first.Run()
			if err != nil && entries(t, ledger) > 0 {
				if paid++; !strings.Contains(said.String(), "goes on") {
					t.Errorf("%s on %d pages: %s", name, pages, said)
				}
			}
			must.Do(mount(syscall.MS_REMOUNT, 1<<20))
			again, said := process(t.Context(), args...)
			err2 := again.Run()
			if n := entries(t, ledger); err2 != nil || n != 1 || !strings.Contains(said.String(), "Guarantee") {
				t.Errorf("%s on %d pages, again with room: %d charges, %v, %s", name, pages, n, err2, said)
			}
			must.Do(syscall.Unmount(disk, 0))
			if err == nil {
				break // there was room
			}
		}
		if paid == 0 {
			t.Errorf("%s: no disk was full after the charge", name)
		}
	}
}

// stopped starts dpnb and tells it to stop, which it has to do within a second, to which is added what a busy machine
// takes to end a program.
func stopped(t *testing.T, after time.Duration, sig os.Signal, args ...string) {
	t.Helper()
	cmd, said := process(t.Context(), args...)
	must.Do(cmd.Start())
	time.Sleep(after)
	late := time.AfterFunc(after+5*time.Second, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	told := time.Now()
	err := errors.Join(cmd.Process.Signal(sig), cmd.Wait())
	if took := time.Since(told); took > 2*time.Second || cmd.ProcessState.ExitCode() != interrupted ||
		!strings.Contains(said.String(), "stopped") {
		t.Errorf("%s, %v after %v: ended after %v: %v, %s", args[0], sig, after, took, err, said)
	}
}

// A fit and an answer that are told to stop do so, while they wait for their ledger and while they compute, and leave
// what a kill leaves: the same command goes on.
func TestStopped(t *testing.T) {
	testscale.InTurn(t)
	dir, file, schema := crowd(t, 60_000)
	ledger := filepath.Join(dir, "ledger.json")
	lock := must.Get(lockfile.Wait(t.Context(), ledger+".lock", func() {}))
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		for name, args := range released(dir, file, schema, ledger) {
			if (name == "fit") == (sig == syscall.SIGTERM) || testscale.Full() {
				stopped(t, 200*time.Millisecond, sig, args...)
			}
		}
	}
	must.Do(lock.Unlock())
	args := append(released(dir, file, schema, ledger)["fit"], "--target", "x0", "--learner", "quantiles")
	for after := 300 * time.Millisecond; entries(t, ledger) == 0 && after < time.Minute; after += after / 2 {
		stopped(t, after, os.Interrupt, args...)
	}
	again, said := process(t.Context(), args...)
	if err := again.Run(); err != nil || entries(t, ledger) != 1 || !strings.Contains(said.String(), "Guarantee") {
		t.Errorf("again: %d charges, %v, %s", entries(t, ledger), err, said)
	}
}
