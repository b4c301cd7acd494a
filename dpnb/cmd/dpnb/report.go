package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/report"
)

func newReportCommand() *cobra.Command {
	var (
		only, parameters []string
		out              string
		jobs             int
		timeout          time.Duration
		force, update    bool
		full             bool
		yes              *bool
	)
	cmd := &cobra.Command{
		Use:   "report [NOTEBOOK...]",
		Short: "Run the notebooks and write HTML reports",
		Long: `Run the notebooks of notebooks/, or those named, on a Jupyter kernel and write
reports/NAME.html, reports/NAME.ipynb and reports/index.html. What is missing
(the kernel, Jupyter) is set up first.

A report is kept, and said to be up to date, while the notebook, its parameters, this
program and its tools, and all files that the notebook read, its table and its schema
among them, are what they were, by their content; --force runs it in any case. What it
writes itself, its ledger and what lies beside that, does not count. Which of them
have changed is said where it runs again, and what was released once under a name comes
back from beside the ledger, as it was.

A report fails if a cell stops, and if one shows an error where a result was to
be; a cell that is to show one has the tag shows-error.`,
		Example: `  dpnb report
  dpnb report 00_start_here -p epsilon=0.5 --out /tmp/half`,
		RunE: func(cmd *cobra.Command, args []string) error {
			tree, err := project.Find(cmd.Context())
			if err != nil {
				return err
			}
			o := report.Options{Out: out, Jobs: jobs, Timeout: timeout, Force: force, Update: update, Full: full}
			if out == "" {
				o.Out = "reports"
				if clone, err := project.Root("."); err == nil {
					o.Out = filepath.Join(clone, o.Out)
				}
			}
			if o.Parameters, err = parseParameters(parameters); err != nil {
				return err
			}
			if o.All, err = projectNotebooks(tree.Dir); err != nil {
				return err
			}
			if o.Notebooks, err = chooseNotebooks(tree.Dir, o.All, args, only); err != nil {
				return err
			}
			if tree.Version != "" && !slices.ContainsFunc(o.Notebooks, tree.Has) {
				o.All = nil // the index is of one's own notebooks, without the chapters
			}
			if o.Below, err = measuredBelow(tree); err != nil {
				return err
			}
			if err := report.Check(o); err != nil {
				return err
			}
			records, err := runReports(cmd, tree, *yes, o)
			if err != nil {
				return err
			}
			fmt.Fprintln(os.Stdout, filepath.Join(o.Out, "index.html"))
			return report.Failed(records)
		},
	}
	yes = addYes(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&only, "only", nil, "run only the notebooks whose name matches this `pattern`")
	f.StringArrayVarP(&parameters, "parameter", "p", nil, "set a parameter of the notebook, as `name=value`")
	addOut(f, &out, "", "write the reports to this `folder` (default reports/, of a clone if in one)")
	f.IntVar(&jobs, "jobs", 0, "run this `number` of notebooks at a time (default: one for each processor)")
	f.DurationVar(&timeout, "timeout", 30*time.Minute, "stop a cell after this `time`; 0 waits without end")
	f.BoolVar(&force, "force", false, "run also what is up to date")
	f.BoolVar(&full, "full", false,
		"run experiments at the scale of the papers, where a notebook offers it; takes long")
	f.BoolVar(&update, "update", false, "write the outputs back into the notebooks")
	return cmd
}

func runReports(cmd *cobra.Command, tree project.Tree, yes bool, o report.Options) (all []report.Record, err error) {
	err = withSetup(cmd, tree, false, yes, func(setup *report.Setup, d *display) (err error) {
		o.Progress = d
		all, err = report.Run(cmd.Context(), setup, o)
		return err
	})
	return all, err
}
