package report

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

// LabOptions of Lab.
type LabOptions struct {
	Folder    string // to open
	Port      int    // 0 for Jupyter's own choice
	IP        string // to listen at: of loopback, unless this is a container
	NoBrowser bool
}

// Lab opens a folder of notebooks in Jupyter and returns when Jupyter has ended, which it does when ctx is done.
// Nothing that it started is running then.
func Lab(ctx context.Context, s *Setup, o LabOptions) (err error) {
	module, ok := s.Jupyter.Frontend()
	if !ok {
		return fmt.Errorf(
			"the Jupyter of %s runs notebooks but cannot open them: install the package notebook or jupyterlab for it",
			s.Jupyter.Python)
	}
	if err := o.Valid(); err != nil {
		return err
	}
	dir, err := newRunDir(ctx, s.Cache)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.remove()) }()
	server := exec.CommandContext(ctx, s.Jupyter.Python, o.arguments(module)...)
	server.Env = dir.environ(s.Kernel.Environ(os.Environ()))
	server.Stdin, server.Stdout, server.Stderr = os.Stdin, os.Stdout, os.Stderr
	server.ExtraFiles = []*os.File{dir.lock.File()} // the run goes on as long as one of the two lives
	server.Cancel = func() error { return terminate(server.Process) }
	server.WaitDelay = 15 * time.Second
	building, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Completion(building, func(string) {}); err != nil && building.Err() == nil {
			fmt.Fprintln(os.Stderr, "no completion of code:", err)
		}
	}()
	err = server.Run()
	stop()
	<-done
	if ctx.Err() != nil {
		return nil // Ctrl-C is how one leaves
	}
	return err
}

// Valid refuses a folder that is not there, and an address that others reach.
func (o LabOptions) Valid() error {
	if info, err := os.Stat(o.Folder); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder that can be opened", o.Folder)
	}
	return o.reachable(inContainer())
}

// reachable refuses an address that other machines reach: there whoever overhears the token runs programs. A container
// has no other way out, and its host publishes the port or does not.
func (o LabOptions) reachable(container bool) error {
	if ip := net.ParseIP(o.IP); container || o.IP == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%q would open Jupyter to the network, without encryption: leave it out, and come from another "+
		"machine by ssh -L 8888:localhost:8888", o.IP)
}

func inContainer() bool { return exists("/.dockerenv") || exists("/run/.containerenv") }

func (o LabOptions) arguments(module string) []string {
	args := []string{"-m", module, "--notebook-dir=" + o.Folder, "--ip=" + o.IP,
		"--MultiKernelManager.default_kernel_name=" + toolchain.KernelName}
	if o.Port > 0 {
		args = append(args, "--port="+strconv.Itoa(o.Port))
	}
	if o.NoBrowser {
		args = append(args, "--no-browser")
	}
	if os.Geteuid() == 0 { // as in a container; Jupyter asks for a word of consent
		args = append(args, "--allow-root")
	}
	return args
}
