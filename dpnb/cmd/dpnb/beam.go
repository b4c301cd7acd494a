package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpnb/notebooks/dpnb/internal/procgroup"
	"github.com/dpnb/notebooks/dpnb/internal/project"
)

// elsewhere says on which of Beam's runners a command's work is to be done. The names of the fields
// are those of runner.Where in the module dpnb/beam, which reads it: Beam has hundreds of
// dependencies, and who does not use it builds none of them.
type elsewhere struct {
	Runner, Endpoint string
	Workers          []string
	Processes        int
}

func (e *elsewhere) flags(f *pflag.FlagSet) {
	f.StringVar(&e.Runner, "runner", "local", "do the work on this `runner`: local, prism, flink or spark")
	f.StringVar(&e.Endpoint, "endpoint", "", "the `address` of the runner's job service (default: a Prism started "+
		"here)")
	f.StringSliceVar(&e.Workers, "workers", nil, "the `addresses` of workers, each started by: dpnb-beam worker")
	f.IntVar(&e.Processes, "processes", 0, "start this `number` of worker processes on this machine")
}

func (e *elsewhere) here() bool { return e.Runner == "local" }

// validate refuses what a local run would not look at.
func (e *elsewhere) validate() error {
	if e.here() && (e.Endpoint != "" || len(e.Workers) > 0 || e.Processes != 0) {
		return errors.New("--endpoint, --workers and --processes are for a runner: give --runner prism, flink or spark")
	}
	return nil
}

// run builds the module's command, unless it is built, and hands the request to it.
func (e *elsewhere) run(cmd *cobra.Command, what string, request any) error {
	root, err := here()
	if err != nil {
		return err
	}
	cache, err := project.CacheDir()
	if err != nil {
		return err
	}
	program := filepath.Join(cache, "beam", "dpnb-beam")
	ctx := cmd.Context()
	if _, err := output(ctx, filepath.Join(root, "dpnb", "beam"), "go", "build", "-o", program,
		"./cmd/dpnb-beam"); err != nil {
		return fmt.Errorf("cannot build what runs on Beam: %w", err)
	}
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	child := exec.CommandContext(ctx, program, what, string(text))
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if err := procgroup.Run(ctx, child, 10*time.Second); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errToldAlready
	}
	return nil
}
