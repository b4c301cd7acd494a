package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

// Rerun runs each notebook in a clean kernel and compares the outputs with those in its file. The error for a notebook,
// nil where all agree, tells every difference. Options that have to do with writing reports are not used.
func Rerun(ctx context.Context, s *Setup, o Options) ([]error, error) {
	jobs, err := load(o)
	if err != nil {
		return nil, err
	}
	results := make([]error, len(jobs))
	err = each(ctx, o, jobs, func(ctx context.Context, i int, j *job) (err error) {
		results[i], err = j.rerun(ctx, s, o)
		return err
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return results, err
}

// rerun returns the verdict on one notebook, and an error where there is none.
func (j *job) rerun(ctx context.Context, s *Setup, o Options) (verdict, err error) {
	if !hasOutputs(j.original) {
		o.Progress.End(j.name, "failed")
		return errors.New("it is committed without outputs: run `go run ./dpnb/cmd/dpnb test --update` " +
			"and look at them before you commit"), nil
	}
	session, err := s.newSession(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.close()) }()
	run, err := j.run(ctx, session, o.Timeout, o.Progress)
	if err != nil {
		return nil, err
	}
	if verdict, err = j.judge(run); err != nil {
		return nil, err
	}
	outcome := "passed"
	if _, other := errors.AsType[*NotCompared](verdict); verdict != nil && !other {
		outcome = "failed"
	}
	o.Progress.End(j.name, outcome)
	return verdict, nil
}

func (j *job) judge(run *execution) (verdict, err error) {
	if run.failure != nil {
		return run.failure, nil
	}
	if missing, err := missingData(j.original); err != nil || missing != nil {
		return missing, err
	}
	differences, err := notebook.Compare(j.original, run.notebook)
	if err != nil || differences == nil {
		return nil, err
	}
	var b strings.Builder
	for _, d := range differences {
		fmt.Fprintf(&b, "cell %d gives another output (- committed, + now):\n%s", d.Cell, d.Text)
	}
	return errors.New(strings.TrimRight(b.String(), "\n")), nil
}

// NotCompared is the verdict on a notebook that ran, but on other data than its committed outputs were made with, so
// that there is nothing to compare.
type NotCompared struct{ Data string }

// Error implements error.
func (e *NotCompared) Error() string {
	return fmt.Sprintf("its committed outputs are of the %s data, which are not here, so there is nothing to compare; "+
		"fetch them with: %s data %[1]s", e.Data, project.Command())
}

// missingData returns a *NotCompared if a data set that the committed outputs were made with is not on this machine.
func missingData(nb *notebook.Notebook) (verdict, err error) {
	names, err := nb.Data()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		files, known := dataset.Sets[name]
		if !known {
			return nil, fmt.Errorf("metadata dpnb: there is no data set %q", name)
		}
		for _, f := range files {
			if _, err := dataset.Find(f.Name); errors.Is(err, dataset.ErrMissing) {
				return &NotCompared{Data: name}, nil
			} else if err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

func hasOutputs(nb *notebook.Notebook) bool {
	return slices.ContainsFunc(nb.Cells, func(c *notebook.Cell) bool { return len(c.Outputs()) > 0 })
}
