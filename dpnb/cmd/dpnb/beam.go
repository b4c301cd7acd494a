package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpnb/notebooks/dpnb/erm/remote"
	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/procgroup"
	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
)

// remotely says on which runner of Beam a command's work is to be done. The names of the fields are those of
// runner.Where in the module dpnb/beam, which reads it: Beam has hundreds of dependencies, and who does not use it
// builds none of them.
type remotely struct {
	Endpoint  string
	Workers   []string
	Processes int
	// checkpoints is the folder for what was added up so far, "" for one of our own.
	checkpoints string
}

func (e *remotely) flags(f *pflag.FlagSet) {
	f.StringVar(&e.Endpoint, "endpoint", "", "do the work on the runner, Flink or Spark, whose job service has this "+
		"`address` (default: here)")
	f.StringSliceVar(&e.Workers, "workers", nil, "the `files` of workers of the runner, each started by: "+
		"dpnb-beam worker FILE")
	f.IntVar(&e.Processes, "processes", 0, "start this `number` of workers of the runner on this machine")
}

func (e *remotely) addCheckpoints(f *pflag.FlagSet, usage string) {
	f.StringVar(&e.checkpoints, "checkpoints", "", usage)
}

func (e *remotely) here() bool { return e.Endpoint == "" }

// validate refuses what a local run would not look at.
func (e *remotely) validate() error {
	if e.here() && (len(e.Workers) > 0 || e.Processes != 0 || e.checkpoints != "") {
		return errors.New("--workers, --processes and --checkpoints are for a runner: give the address of its job " +
			"service, --endpoint, or leave them out")
	}
	return nil
}

// command returns the module's command, built if it is not, and the line by which its input has to begin, a request:
// arguments are seen by every user of the machine, and what is asked has the checksum of a private file in it.
func (e *remotely) command(ctx context.Context, what string, memory byteSize, request any) (*exec.Cmd, []byte,
	error) {
	program, err := beamProgram(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot build what runs on Beam: %w", err)
	}
	text, err := json.Marshal(request)
	if err != nil {
		return nil, nil, err
	}
	child := exec.CommandContext(ctx, program, what)
	if child.Stderr = os.Stderr; memory > 0 { // of each worker that it starts, too
		child.Env = append(os.Environ(), fmt.Sprintf("GOMEMLIMIT=%d", int64(memory)/8*7))
	}
	return child, append(text, '\n'), nil
}

// beamProgram builds the module's command: in the clone, or of the version that is installed, in a module that requires
// both.
func beamProgram(ctx context.Context) (string, error) {
	tree, err := project.Find(ctx)
	if err != nil {
		return "", err
	}
	cache, err := project.CacheDir()
	if err != nil {
		return "", err
	}
	const module = project.ModulePath + "/dpnb/beam"
	dir, program := filepath.Join(tree.Dir, "dpnb", "beam"), filepath.Join(cache, "beam", "dpnb-beam")
	build := []string{"go", "build", "-o", program, module + "/cmd/dpnb-beam"}
	if tree.Version != "" {
		dir, program = filepath.Join(cache, "beam", tree.Version), program+"-"+tree.Version
		build = []string{"go", "build", "-mod=mod", "-o", program, module + "/cmd/dpnb-beam"}
		if _, err := os.Stat(program); err == nil {
			return program, nil
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		err := atomicfile.Write(filepath.Join(dir, "go.mod"), fmt.Appendf(nil, "module dpnb/runner\n\ngo 1.26\n\n"+
			"require (\n\t%[1]s %[2]s\n\t%[3]s %[2]s\n)\n", module, tree.Version, project.ModulePath))
		if err != nil {
			return "", err
		}
	}
	_, err = output(ctx, dir, build...)
	return program, err
}

// rows has the passes over stored records made on the runner, until end: for learn.PassesBy. The sums of passes are
// kept in the folder of checkpoints, without one beside the file (frame.ListStored has such), as private as it is, and
// are removed by end if all went well: a fit that was ended finds them.
func (e *remotely) rows(ctx context.Context, rows stored.Records) (there *remote.Rows, end func(well bool) error,
	err error) {
	nothing := func(bool) error { return nil }
	files := rows.Files()
	for k, f := range files {
		if f.Key == [32]byte{} {
			return nil, nothing, errors.New("the records of this table are stored for this program alone: give a " +
				"file, without a function applied to it")
		}
		if files[k].Path, err = filepath.Abs(f.Path); err != nil {
			return nil, nothing, err
		}
	}
	folder := e.checkpoints
	cure := "dpnb cache remove --checkpoints " + folder
	if folder == "" { // whose name no argument is to have
		folder, cure = frame.SumsOf(files), "dpnb cache remove, with the --store of the fit"
	}
	to, out, closed, err := e.started(ctx, "passes", 0, struct {
		Where  *remotely
		Files  []stored.File
		Folder string
	}{e, files, folder})
	if err != nil {
		return nil, nothing, err
	}
	return remote.New(rows, to, out), ended(closed, folder, cure), nil
}

// ended returns what ends a runner's work: it removes the sums from the folder if all went well, else it says that they
// stay, and how they are removed.
func ended(closed func() error, folder, cure string) func(well bool) error {
	return func(well bool) error {
		err := closed()
		if !well && len(sumsIn(folder)) > 0 {
			fmt.Fprintf(os.Stderr, "The sums of passes stay in %s, as raw as the records: the same command goes on "+
				"with them; or remove them: %s\n", folder, cure)
			return err
		}
		return errors.Join(err, removeSums(folder))
	}
}

// encode has the records of a table stored by the workers of the runner: for frame.Storage.By.
func (e *remotely) encode(ctx context.Context, t *tableFlags, s frame.Sharding, memory byteSize) error {
	var err error
	if s.Dir, err = filepath.Abs(s.Dir); err != nil {
		return err
	}
	type table struct {
		frame.Sharding
		Parquet parquet.Settings
		CSV     frame.CSVSettings
	}
	child, asked, err := e.command(ctx, "encode", memory, struct {
		Where *remotely
		Table table
	}{e, table{s, t.columnar, t.csv}})
	if err != nil {
		return err
	}
	to, err := child.StdinPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	_, _ = to.Write(asked)               // if it has ended, it says why
	if err := child.Wait(); err != nil { // and closes the pipe, which tells it that this program lives
		return errors.Join(ctx.Err(), errToldAlready)
	}
	return nil
}

// started starts the module's command, asks it and waits until it says that it is ready. closed closes its input and
// waits for its end.
func (e *remotely) started(ctx context.Context, what string, memory byteSize, request any) (to io.WriteCloser,
	from *bufio.Reader, closed func() error, err error) {
	child, asked, err := e.command(ctx, what, memory, request)
	if err != nil {
		return nil, nil, nil, err
	}
	if to, err = child.StdinPipe(); err != nil {
		return nil, nil, nil, err
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return nil, nil, nil, err
	}
	if err := child.Start(); err != nil {
		return nil, nil, nil, err
	}
	_, _ = to.Write(asked) // if it has ended, it is not ready either
	from = bufio.NewReader(out)
	closed = func() error { return errors.Join(to.Close(), child.Wait()) }
	if line, err := from.ReadString('\n'); err != nil || line != "ready\n" {
		return nil, nil, nil, errors.Join(errToldAlready, closed())
	}
	return to, from, closed, nil
}

// tally has the records of files added up on the runner: for explore.Query.TalliedBy. What was added up is in the
// folder, empty for one among the encoded records, and is removed by end if all went well, as the sums of rows are.
func (e *remotely) tally(ctx context.Context, t *tableFlags, records frame.Scanner, memory byteSize) (
	add func(a explore.Adding, each func([]byte) error) error, end func(well bool) error, err error) {
	files := frame.Pieces(records)
	if files == nil {
		return nil, nil, errors.New("workers scan files as they are: describe other records without --endpoint")
	}
	folder := e.checkpoints
	cure := "dpnb cache remove --checkpoints " + folder
	if folder == "" {
		cure = "dpnb cache remove"
		if folder, err = (frame.Storage{}).Sums(records.Origin().SHA256); err != nil {
			return nil, nil, err
		}
	}
	type table struct {
		Pieces  []frame.Piece
		Parquet parquet.Settings
		CSV     frame.CSVSettings
	}
	to, out, closed, err := e.started(ctx, "tally", memory, struct {
		Where  *remotely
		Table  table
		Folder string
	}{e, table{files, t.columnar, t.csv}, folder})
	if err != nil {
		return nil, nil, err
	}
	return func(a explore.Adding, each func([]byte) error) error {
		var answer struct {
			Parts []string
			Error string
		}
		err := json.NewEncoder(to).Encode(a)
		if err == nil {
			err = json.NewDecoder(out).Decode(&answer)
		}
		if err == nil && answer.Error != "" {
			err = errors.New(answer.Error)
		}
		for _, path := range answer.Parts {
			if err != nil {
				break
			}
			var part []byte
			if part, err = os.ReadFile(path); err == nil {
				err = each(part)
			}
		}
		return err
	}, ended(closed, folder, cure), nil
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

// removeSums removes the sums of passes from a folder, and the folder if nothing else is there: it may be one in which
// the user has more, a ledger for one.
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
func (e *remotely) run(cmd *cobra.Command, what string, request any) error {
	ctx := cmd.Context()
	child, asked, err := e.command(ctx, what, 0, request)
	if err != nil {
		return err
	}
	child.Stdin, child.Stdout = bytes.NewReader(asked), os.Stdout
	if err := procgroup.Run(ctx, child, 10*time.Second); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errToldAlready
	}
	return nil
}
