// Command dpnb-beam runs on Apache Beam what `dpnb --endpoint …` hands to it, and serves as a worker, which listens on
// this machine alone and writes where, with the key that it asks for, to a file of its user's.
//
//	dpnb-beam worker [--port 50000] FILE
//	dpnb-beam sweep
//	dpnb-beam encode
//	dpnb-beam passes
//	dpnb-beam tally
//
// What the last four are to do is the first line of their input, as JSON: every user of a machine sees arguments.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/dpnb/notebooks/dpnb/beam/encode"
	"github.com/dpnb/notebooks/dpnb/beam/pass"
	"github.com/dpnb/notebooks/dpnb/beam/runner"
	"github.com/dpnb/notebooks/dpnb/beam/sweep"
	"github.com/dpnb/notebooks/dpnb/beam/tally"
	"github.com/dpnb/notebooks/dpnb/erm/remote"
	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/internal/lockfile"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
	"github.com/dpnb/notebooks/dpnb/paper/sweeps"
)

func main() {
	runner.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "dpnb-beam:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("say what to do: worker, encode, passes, tally, sweep")
	}
	from := bufio.NewReader(os.Stdin)
	switch args[0] {
	case "worker":
		f := flag.NewFlagSet("worker", flag.ContinueOnError)
		port := f.Int("port", 0, "listen on this `number` of this machine (default: a free one)")
		if err := f.Parse(args[1:]); err != nil {
			return err
		}
		if f.NArg() != 1 {
			return fmt.Errorf("worker takes one file, in which it writes where it listens, and its key")
		}
		return runner.Pool(ctx, *port, f.Arg(0))
	case "encode":
		var r struct {
			Where runner.Where
			Table encode.Table
		}
		if err := request(args, from, &r); err != nil {
			return err
		}
		ctx, _ = untilEOF(ctx, from)
		on, err := runner.Open(ctx, r.Where)
		if err != nil {
			return err
		}
		defer on.Close()
		return encode.Run(ctx, on, r.Table)
	case "passes":
		var r struct {
			Where  runner.Where
			Files  []stored.File
			Folder string
		}
		if err := request(args, from, &r); err != nil {
			return err
		}
		return serve(ctx, from, r.Where, r.Folder, func(ctx context.Context, on *runner.Session, from io.Reader) error {
			return passes(ctx, on, from, r.Files, r.Folder)
		})
	case "tally":
		var r struct {
			Where  runner.Where
			Table  tally.Table
			Folder string
		}
		if err := request(args, from, &r); err != nil {
			return err
		}
		return serve(ctx, from, r.Where, r.Folder, func(ctx context.Context, on *runner.Session, from io.Reader) error {
			return tallied(ctx, on, from, r.Table, r.Folder)
		})
	case "sweep":
		var r struct {
			Where   runner.Where
			Request sweeps.Request
			Folder  string
		}
		if err := request(args, from, &r); err != nil {
			return err
		}
		on, err := runner.Open(ctx, r.Where)
		if err != nil {
			return err
		}
		defer on.Close()
		return sweep.Run(ctx, on, r.Request, r.Folder, func(done, total int) {
			fmt.Fprintf(os.Stderr, "\r%d of %d parts", done, total)
			if done == total {
				fmt.Fprintln(os.Stderr)
			}
		})
	}
	return fmt.Errorf("%q: take worker, encode, passes, tally or sweep", args[0])
}

// serve does something on a runner for the driver at the other end of the pipe, until that is closed or the driver
// dies. Nobody else uses the folder meanwhile.
func serve(ctx context.Context, in io.Reader, where runner.Where, folder string,
	do func(ctx context.Context, on *runner.Session, from io.Reader) error) error {
	lock, err := alone(ctx, folder)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	ctx, from := untilEOF(ctx, in)
	on, err := runner.Open(ctx, where)
	if err != nil {
		return err
	}
	defer on.Close()
	return do(ctx, on, from)
}

// passes answers the queries of a solver, once it has said that all is there.
func passes(ctx context.Context, on *runner.Session, from io.Reader, files []stored.File, folder string) error {
	records, err := pass.Open(ctx, on, folder, files...)
	if err != nil {
		return err
	}
	defer records.Close()
	fmt.Println("ready")
	err = remote.Serve(records.Pass, from, os.Stdout)
	if os.Getenv("DPNB_BEAM_LOG") != "" { // how many passes a solver takes depends on the records
		fmt.Fprintf(os.Stderr, "%d passes on %d workers, %d found in %s, %d runs repeated\n", records.Made,
			on.Workers(), records.Found, folder, on.Retried())
	}
	return err
}

// alone locks a folder. One whose driver was killed needs a moment to see it.
func alone(ctx context.Context, folder string) (*lockfile.Lock, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	lock, err := lockfile.Wait(ctx, filepath.Join(folder, "lock"), func() {})
	if err != nil {
		return nil, fmt.Errorf("another program uses %s: wait for it, or give another --checkpoints: %w", folder, err)
	}
	return lock, nil
}

// tallied has the records of a table added up, as it is told once it has said that all is there, and answers with the
// files of the parts.
func tallied(ctx context.Context, on *runner.Session, from io.Reader, table tally.Table, folder string) error {
	fmt.Println("ready")
	var a explore.Adding
	if err := json.NewDecoder(from).Decode(&a); err != nil {
		return nil // it was not charged
	}
	var answer struct {
		Parts []string
		Error string
	}
	var err error
	if answer.Parts, err = tally.Run(ctx, on, table, a, folder); err != nil {
		answer.Error = err.Error()
	}
	return json.NewEncoder(os.Stdout).Encode(answer)
}

// untilEOF returns what comes from in, and a context that ends with it: the driver has closed the pipe or died, and
// nobody waits for the pass that is being made.
func untilEOF(ctx context.Context, in io.Reader) (context.Context, io.Reader) {
	ctx, cancel := context.WithCancel(ctx)
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, in)
		cancel()
		_ = w.CloseWithError(err)
	}()
	return ctx, r
}

// request reads the line of JSON by which the input begins.
func request(args []string, from *bufio.Reader, to any) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes no argument: `dpnb … --endpoint …` writes what is asked to its input", args[0])
	}
	line, err := from.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s: nothing was asked: %w", args[0], err)
	}
	return json.Unmarshal(line, to)
}
