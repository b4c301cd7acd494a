package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/report"
	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

func newLabCommand() *cobra.Command {
	var (
		port      int
		noBrowser bool
		ip        string
	)
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Open the notebooks in Jupyter",
		Long: `Open notebooks/ in JupyterLab, or in the classic notebook where that is what is
installed, with the project's own Go kernel. What is missing is set up first.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := here()
			if err != nil {
				return err
			}
			display := newDisplay(os.Stderr)
			setup, err := report.Prepare(cmd.Context(), root, true, display.Step)
			display.close()
			if err != nil {
				return err
			}
			module, ok := setup.Jupyter.Frontend()
			if !ok {
				return fmt.Errorf("the Jupyter of %s runs notebooks but cannot open them: install the package notebook or jupyterlab for it", setup.Jupyter.Python)
			}
			args := []string{"-m", module, "--notebook-dir=" + filepath.Join(root, "notebooks"), "--ip=" + ip,
				"--MultiKernelManager.default_kernel_name=" + toolchain.KernelName}
			if port > 0 {
				args = append(args, "--port="+strconv.Itoa(port))
			}
			if noBrowser {
				args = append(args, "--no-browser")
			}
			if os.Geteuid() == 0 { // as in a container; Jupyter asks for a word of consent
				args = append(args, "--allow-root")
			}
			server := exec.CommandContext(cmd.Context(), setup.Jupyter.Python, args...)
			server.Env = setup.Kernel.Environ(os.Environ())
			server.Stdin, server.Stdout, server.Stderr = os.Stdin, os.Stdout, os.Stderr
			// Jupyter ends its kernels in good order when it is asked to terminate.
			server.Cancel = func() error { return server.Process.Signal(syscall.SIGTERM) }
			server.WaitDelay = 15 * time.Second
			err = server.Run()
			if cmd.Context().Err() != nil && !errors.Is(err, exec.ErrWaitDelay) {
				return nil // Ctrl-C is how one leaves
			}
			return err
		},
	}
	f := cmd.Flags()
	f.IntVar(&port, "port", 0, "listen on this `number` (default: Jupyter's own, 8888)")
	f.BoolVar(&noBrowser, "no-browser", false, "do not open a browser; the address is printed")
	f.StringVar(&ip, "ip", "localhost", "listen on this `address`; 0.0.0.0 opens the server to the network")
	return cmd
}
