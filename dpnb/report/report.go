// Package report runs notebooks on a real Jupyter kernel and turns them into reports that say where their numbers come
// from.
package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/lockfile"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

// Options of Run.
type Options struct {
	Notebooks  []string          // paths
	All        []string          // every notebook that the index is to list; Notebooks if empty
	Out        string            // folder for the reports
	Parameters map[string]string // for every notebook, each of which must declare them
	Full       bool              // set the parameter fullParameter where a notebook declares it
	Jobs       int               // how many notebooks at a time; 0 chooses
	Timeout    time.Duration     // for each cell; 0 is without end
	Force      bool              // run also what is up to date
	Update     bool              // write the outputs back into the notebooks
	Below      map[string]string // Markdown that pages of docs have below what is in their files
	Progress   Progress
}

// fullParameter is the variable, of type bool, by which a notebook offers its experiments at the scale of a paper,
// which take long.
const fullParameter = "full"

// Progress is told how the work goes on. Its methods are called from several goroutines.
type Progress interface {
	Step(text string)                  // of the set-up
	Begin(name string, cells int)      // a notebook begins
	Cell(name string, cell, cells int) // its code cell begins
	End(name string, outcome string)   // it has ended
}

// Run writes a report for each notebook and an index of them. It returns the records of the notebooks in
// Options.Notebooks, in their order; one whose cell fails is no error of Run's.
func Run(ctx context.Context, s *Setup, o Options) ([]Record, error) {
	jobs, err := load(o)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		j.readOnly = s.Tree.Version != "" && s.Tree.Has(j.path)
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return nil, err
	}
	lock, err := lockfile.Wait(ctx, filepath.Join(o.Out, stateDir, "lock"), func() {
		o.Progress.Step("waiting for another dpnb that writes to " + o.Out)
	})
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	for _, dir := range []string{o.Out, filepath.Join(o.Out, stateDir)} {
		if err := atomicfile.RemoveParts(dir); err != nil {
			return nil, err
		}
	}
	base, err := newFingerprint(ctx, s)
	if err != nil {
		return nil, err
	}
	records := make([]Record, len(jobs))
	err = each(ctx, o, jobs, func(ctx context.Context, i int, j *job) (err error) {
		records[i], err = j.report(ctx, s, o, base)
		return err
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return records, errors.Join(err, writeSite(ctx, s, o, base))
}

// each does something with every notebook, several at a time, and returns the first error of the machinery, which ends
// the others too.
func each(ctx context.Context, o Options, jobs []*job, do func(ctx context.Context, i int, j *job) error) error {
	workers := o.Jobs
	if workers == 0 {
		// A kernel spends most of its time in the compiler and the linker, which use about one processor.
		workers = min(runtime.NumCPU(), 8)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err := parallel.For(ctx, len(jobs), workers, func(_, i int) error {
		err := do(ctx, i, jobs[i])
		if err != nil {
			stop(fmt.Errorf("%s: %w", jobs[i].path, err))
		}
		return err
	})
	if err != nil {
		return context.Cause(ctx)
	}
	return nil
}

type job struct {
	path, name string
	original   *notebook.Notebook // as it is in the file
	nb         *notebook.Notebook // as it will be run: with its parameters, without outputs
	parameters map[string]string  // those that differ from the file's
	readOnly   bool               // it is in the cache of Go's modules
}

// Check returns what is wrong with the options and the notebooks, without running any: a mistyped parameter should not
// cost a set-up first.
func Check(o Options) error {
	_, err := load(o)
	return err
}

func load(o Options) ([]*job, error) {
	if o.Update && (len(o.Parameters) > 0 || o.Full) {
		return nil, errors.New(
			"a notebook is updated with its own parameters: leave out either the parameters or the update")
	}
	if o.Jobs < 0 || o.Timeout < 0 {
		return nil, fmt.Errorf("%d notebooks at a time, %v for each cell: neither can be negative", o.Jobs, o.Timeout)
	}
	var jobs []*job
	var errs []error
	names := map[string]string{}
	for _, path := range o.Notebooks {
		j, err := newJob(path, o)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if other, ok := names[j.name]; ok {
			errs = append(errs,
				fmt.Errorf("%s and %s would write the same report: run them with different --out", other, path))
		}
		names[j.name] = path
		jobs = append(jobs, j)
	}
	return jobs, errors.Join(errs...)
}

func newJob(path string, o Options) (*job, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	j := &job{path: path, name: Name(path)}
	if j.original, err = notebook.Parse(source); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if j.nb, err = notebook.Parse(source); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if language := j.nb.Language(); language != "" && language != toolchain.KernelLanguage {
		return nil, fmt.Errorf("%s: it is a notebook in %s; only those in Go are run", path, language)
	}
	j.parameters = o.Parameters
	if _, given := o.Parameters[fullParameter]; o.Full && !given && j.nb.Declares(fullParameter) {
		j.parameters = map[string]string{fullParameter: "true"}
		maps.Copy(j.parameters, o.Parameters)
	}
	if err := j.nb.Inject(j.parameters); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	j.nb.ClearOutputs()
	j.nb.SetKernel(toolchain.KernelName, toolchain.KernelDisplay, toolchain.KernelLanguage)
	return j, nil
}

// Name returns the name of the report on the notebook at path.
func Name(path string) string { return strings.TrimSuffix(filepath.Base(path), ".ipynb") }

// codeCells returns how many cells of nb run.
func codeCells(nb *notebook.Notebook) int {
	n := 0
	for _, c := range nb.Cells {
		if c.Type() == "code" && strings.TrimSpace(c.Source()) != "" {
			n++
		}
	}
	return n
}

// run runs the notebook in a session and tells the progress.
func (j *job) run(ctx context.Context, s *session, timeout time.Duration, p Progress) (*execution, error) {
	folder := filepath.Dir(j.path)
	if j.readOnly {
		folder = "." // where what the notebook writes can be written, and files that it reads are named from
	}
	dir, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	cells, begun := codeCells(j.nb), 0
	p.Begin(j.name, cells)
	return s.execute(ctx, j.nb, dir, timeout, func(int) {
		begun++
		p.Cell(j.name, begun, cells)
	})
}

// upToDate is said of a report that is kept. Whether a table is what it was is known by a keyed mark of its content
// (marked), and is said to whoever has the table and the machine's secret, and to nobody else.
const upToDate = "up to date: the notebook, dpnb and all files that it read are as they were; --force runs it again"

// hasChanged is said before a report is made again of another table, or by another schema, than it was.
const hasChanged = "%s: %s is not what it was when the report was made, which is made again: what was released once " +
	"under a name comes back as it was then, and all else is paid for anew"

// report brings one report up to date.
func (j *job) report(ctx context.Context, s *Setup, o Options, base fingerprint) (_ Record, err error) {
	key, err := base.of(j.nb)
	if err != nil {
		return Record{}, err
	}
	old := readRecord(o.Out, j.name)
	changed := old.changed()
	if !o.Force && !o.Update && old.current(o.Out, key, changed) {
		o.Progress.End(j.name, upToDate)
		return old, nil
	}
	for _, path := range changed {
		o.Progress.Step(fmt.Sprintf(hasChanged, j.name, filepath.Base(path)))
	}
	if lacking := old.lacks(j.parameters); lacking != "" {
		o.Progress.Step(fmt.Sprintf("%s: the last report was made with %s, and this one is not", j.name, lacking))
	}
	if o.Update {
		// Committed outputs are compared where their data are; made without them they would be compared with something
		// else.
		if missing, err := missingData(j.original); err != nil || missing != nil {
			return Record{}, errors.Join(err, missing)
		}
	}
	started := time.Now()
	session, err := s.newSession(ctx)
	if err != nil {
		return Record{}, err
	}
	defer func() { err = errors.Join(err, session.close()) }()
	run, err := j.run(ctx, session, o.Timeout, o.Progress)
	if err != nil {
		return Record{}, err
	}
	if err := j.finish(ctx, s, o, run, started); err != nil {
		return Record{}, err
	}
	r := Record{Name: j.name, Title: cmp.Or(j.nb.Title(), j.name), Key: key, Seconds: run.seconds, Failure: run.failure,
		Parameters: j.parameters}
	if r.Files, err = filesRead(run.log); err != nil {
		return Record{}, err
	}
	content, err := session.page(ctx, s.Tree.Dir, j.path, run.notebook, reportPage(r, o))
	if err != nil {
		return Record{}, err
	}
	if r.Failure != nil {
		kept, err := old.keep(o.Out)
		if err != nil {
			return Record{}, err
		}
		if kept != "" {
			o.Progress.Step(fmt.Sprintf("%s: the report that passed before is kept as %s", j.name, kept))
		}
	}
	if err := writeReport(o.Out, &r, content, run.notebook); err != nil {
		return Record{}, err
	}
	o.Progress.End(j.name, r.Verdict())
	return r, nil
}

// finish completes the executed notebook: colours, provenance, and the committed copy where that is asked for.
func (j *job) finish(ctx context.Context, s *Setup, o Options, run *execution, started time.Time) error {
	run.notebook.SetKernel(toolchain.KernelName, toolchain.KernelDisplay, toolchain.KernelLanguage)
	if o.Update && run.failure == nil {
		if err := j.update(run.notebook); err != nil {
			return err
		}
	}
	text, err := provenance(ctx, s, j.parameters, run, started)
	if err != nil {
		return err
	}
	cell := notebook.NewMarkdown(notebook.TagProvenance, text, notebook.TagProvenance)
	run.notebook.Cells = append(run.notebook.Cells, cell)
	return nil
}

// update writes the outputs of a run into the notebook itself.
func (j *job) update(executed *notebook.Notebook) error {
	for i, c := range j.original.Cells {
		if c.Type() == "code" {
			c.TakeOutputs(executed.Cells[i])
		}
	}
	j.original.SetKernel(toolchain.KernelName, toolchain.KernelDisplay, toolchain.KernelLanguage)
	content, err := j.original.Encode()
	if err != nil {
		return err
	}
	return atomicfile.Write(j.path, content)
}
