package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpnb/notebooks/dpnb/erm/remote"
	"github.com/dpnb/notebooks/dpnb/internal/procgroup"
	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
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

// command returns the module's command, built if it is not, for a request.
func (e *elsewhere) command(ctx context.Context, what string, request any) (*exec.Cmd, error) {
	root, err := here()
	if err != nil {
		return nil, err
	}
	cache, err := project.CacheDir()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(cache, "beam", "dpnb-beam")
	if _, err := output(ctx, filepath.Join(root, "dpnb", "beam"), "go", "build", "-o", program,
		"./cmd/dpnb-beam"); err != nil {
		return nil, fmt.Errorf("cannot build what runs on Beam: %w", err)
	}
	text, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	child := exec.CommandContext(ctx, program, what, string(text))
	child.Stderr = os.Stderr
	return child, nil
}

// rows has the passes over stored records made on the runner, until end: for learn.PassesBy. The
// sums of passes are kept in the folder, empty for one beside the file (frame.ListStored has
// such), as private as it is, and are removed by end if all went well: a fit that was ended finds them.
func (e *elsewhere) rows(ctx context.Context, rows *stored.Rows, folder string) (there *remote.Rows,
	end func(well bool) error, err error) {
	nothing := func(bool) error { return nil }
	path, err := filepath.Abs(rows.Path())
	if err != nil {
		return nil, nothing, err
	}
	key, err := hex.DecodeString(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	if err != nil || len(key) != 32 {
		return nil, nothing, errors.New("the records of this table are stored for this program alone: give a file, " +
			"without a function applied to it")
	}
	if folder == "" {
		folder = path + ".passes"
	}
	type file struct {
		Path string
		Key  [32]byte
	}
	child, err := e.command(ctx, "passes", struct {
		Where  *elsewhere
		File   file
		Folder string
	}{e, file{path, [32]byte(key)}, folder})
	if err != nil {
		return nil, nothing, err
	}
	to, err := child.StdinPipe()
	if err != nil {
		return nil, nothing, err
	}
	from, err := child.StdoutPipe()
	if err != nil {
		return nil, nothing, err
	}
	if err := child.Start(); err != nil {
		return nil, nothing, err
	}
	end = func(well bool) error {
		err := errors.Join(to.Close(), child.Wait())
		if !well && len(sumsIn(folder)) > 0 {
			fmt.Fprintf(os.Stderr, "The sums of passes stay in %s, as raw as the records: the same command goes on "+
				"with them; or remove them: dpnb cache remove --checkpoints %[1]s\n", folder)
			return err
		}
		return errors.Join(err, removeSums(folder))
	}
	out := bufio.NewReader(from)
	if line, err := out.ReadString('\n'); err != nil || line != "ready\n" {
		return nil, nothing, errors.Join(errToldAlready, end(false))
	}
	return remote.New(rows, to, out), end, nil
}

// sumsName is what files with the sums of passes are called, and such that were being written.
var sumsName = regexp.MustCompile(`^(\.dpnb-part-)?pass-[0-9a-f]{24}\.`)

// sumsIn returns the files of a folder that have sums of passes.
func sumsIn(folder string) (paths []string) {
	files, _ := os.ReadDir(folder) // none if it is not there
	for _, f := range files {
		if sumsName.MatchString(f.Name()) {
			paths = append(paths, filepath.Join(folder, f.Name()))
		}
	}
	return paths
}

// removeSums removes the sums of passes from a folder, and the folder if nothing else is there: it may be one
// in which the user has more, a ledger for one.
func removeSums(folder string) (err error) {
	for _, path := range append(sumsIn(folder), filepath.Join(folder, "lock")) {
		if gone := os.Remove(path); !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	_ = os.Remove(folder) // an error if it is not empty
	return err
}

// run hands a request to the module's command and waits until it is done.
func (e *elsewhere) run(cmd *cobra.Command, what string, request any) error {
	ctx := cmd.Context()
	child, err := e.command(ctx, what, request)
	if err != nil {
		return err
	}
	child.Stdout = os.Stdout
	if err := procgroup.Run(ctx, child, 10*time.Second); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errToldAlready
	}
	return nil
}
