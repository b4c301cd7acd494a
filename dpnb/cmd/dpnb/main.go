// Command dpnb is the command line of the project: it runs the notebooks and writes reports, opens them in Jupyter,
// runs the checks, fetches data.
//
//	go install github.com/dpnb/notebooks/dpnb/cmd/dpnb@latest
//	dpnb new people.csv
//	dpnb report
//
// In a clone, go run ./dpnb/cmd/dpnb is dpnb.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/cmd/dpnb/internal/calc"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/project"
)

// interrupted is the exit code by which shells know a program that Ctrl-C ended.
const interrupted = 130

// grace is how long a command that was told to stop may take, if it is as well off killed.
const grace = 500 * time.Millisecond

func main() { os.Exit(execute(newRootCommand(), os.Args[1:])) }

// execute runs a command and returns the exit code of the program. An interrupt ends the command's context. Fits,
// answers and predictions do not look at it: a kill at any time leaves files with which the same command goes on, so
// that the program ends after the grace.
func execute(root *cobra.Command, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root.SetArgs(args)
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		var late <-chan time.Time
		if called, _, e := root.Find(args); e == nil && !tidiesUp(called.Name()) {
			late = time.After(grace)
		}
		select {
		case err = <-ended:
		case <-late:
			atomicfile.Abandon()
			err = ctx.Err()
		}
	}
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, errToldAlready)):
		fmt.Fprintln(os.Stderr, "dpnb: stopped; the next run takes up what is missing")
		return interrupted
	case !errors.Is(err, errToldAlready):
		fmt.Fprintln(os.Stderr, "dpnb:", strings.TrimPrefix(err.Error(), "dpnb: "))
	}
	return 1
}

// tidiesUp reports whether a command has programs to end, or files to put in order, when it is told to stop.
func tidiesUp(name string) bool {
	switch name {
	case "report", "site", "new", "lab", "test", "faults", "setup", "sweep":
		return true
	}
	return false
}

func newRootCommand() *cobra.Command {
	answered := func() {}
	root := &cobra.Command{
		Use:   "dpnb",
		Short: "Differentially private convex learning in notebooks",
		Long: `Differentially private convex learning in notebooks. In a clone of the source,
"go run ./dpnb/cmd/dpnb" is "dpnb".`,
		Version: project.Version(),
		// An error of the work is no misunderstanding of the command line: main prints it, and the usage is a --help
		// away.
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			err := cmp.Or(checkFlags(cmd), plainGroup(cmd, cmd.ValidateRequiredFlags()),
				plainGroup(cmd, cmd.ValidateFlagGroups()))
			if err == nil {
				err = keepInputs(cmd, args)
			}
			if err == nil {
				answered = tellIfSlow(cmd, os.Stderr, patience)
			}
			return err
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		newReportCommand(),
		newSiteCommand(),
		newNewCommand(),
		newLabCommand(),
		newTestCommand(),
		newDataCommand(),
		newClaimsCommand(),
		newFaultsCommand(),
		calc.NewEpsilonCommand(newCalculator()),
		calc.NewDeltaCommand(newCalculator()),
		calc.NewSigmaCommand(newCalculator()),
		newForecastCommand(),
		newStudyCommand(),
		newCheckCommand(),
		newSchemaCommand(),
		newFitCommand(),
		newDescribeCommand(),
		newPriceCommand(),
		newBudgetCommand(),
		newEvaluateCommand(),
		newPredictCommand(),
		newShapesCommand(),
		newExportCommand(),
		newCacheCommand(),
		newSetupCommand(),
		newSweepCommand(),
	)
	for _, c := range root.Commands() {
		sayFlags(c, func() { answered() })
	}
	return root
}
