// Command dpnb is the command line of the project: it runs the notebooks and
// writes reports, opens them in Jupyter, runs the checks, fetches data.
//
//	go run ./dpnb/cmd/dpnb report
//	go run ./dpnb/cmd/dpnb test
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/cmd/dpnb/internal/calc"
)

// interrupted is the exit code by which shells know a program that Ctrl-C ended.
const interrupted = 130

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := newRootCommand().ExecuteContext(ctx)
	stopped := ctx.Err() != nil
	stop()
	switch {
	case err == nil:
	case errors.Is(err, errToldAlready):
		os.Exit(1)
	case stopped && errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "dpnb: stopped; the next run takes up what is missing")
		os.Exit(interrupted)
	default:
		fmt.Fprintln(os.Stderr, "dpnb:", strings.TrimPrefix(err.Error(), "dpnb: "))
		os.Exit(1)
	}
}

func newRootCommand() *cobra.Command {
	answered := func() {}
	root := &cobra.Command{
		Use:   "dpnb",
		Short: "Differentially private convex learning in notebooks",
		// An error of the work is no misunderstanding of the command line: main prints
		// it, and the usage is a --help away.
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			answered = tellIfSlow(cmd, os.Stderr, patience)
			return checkFlags(cmd)
		},
		PersistentPostRun: func(*cobra.Command, []string) { answered() },
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
		newFitCommand(),
		newDescribeCommand(),
		newPredictCommand(),
		newCacheCommand(),
		newSetupCommand(),
		newSweepCommand(),
	)
	for _, c := range root.Commands() {
		sayFlags(c)
	}
	return root
}
