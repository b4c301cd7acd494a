package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/internal/faults"
)

func newFaultsCommand() *cobra.Command {
	var (
		only           string
		mutate, checks []string
		again, unrun   bool
		few, sample    int
		seed           uint64
		limit          time.Duration
	)
	cmd := &cobra.Command{
		Use:   "faults",
		Short: "Plant mistakes in the code and see which check notices",
		Long: `Plant each mistake of the list in turn, by an overlay that touches no file, run the checks
named for it until one fails, and write which it was to docs/faults.md. What was planted before and has not
changed is not planted again, so that a run that was stopped goes on where it was.

With --mutate packages below dpnb have single operators, numbers, signs and statements changed at random, each place
as likely as any other, with the tests of the package and those of --check as the checks; what survives is
printed, and a table, and nothing is written. Which tests execute which lines is learned first, and a
change is shown to those alone that execute its place. With --unexecuted no change is planted, and those that no test
executes are printed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := source()
			if err != nil {
				return err
			}
			if len(mutate) > 0 {
				return plantMutants(cmd.Context(), cmd.OutOrStdout(), root, mutate, checks, sample, limit, seed, unrun)
			}
			list, results, err := readFaults(root)
			if err != nil {
				return err
			}
			some, err := faults.Select(list, only)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if few > 0 {
				return plantHandful(cmd.Context(), out, root, some, results, few, rand.Uint64())
			}
			if !again {
				some = faults.Missing(some, results)
			}
			return plantAll(cmd.Context(), out, root, list, some, results)
		},
	}
	f := cmd.Flags()
	f.StringVar(&only, "only", "", "plant only faults whose name matches this `pattern`, for example 'ssp/*'")
	f.BoolVar(&again, "again", false, "plant those again that were planted before")
	f.IntVar(&few, "handful", 0, "plant this `number` of the quick ones, taken at random, and write nothing")
	f.StringSliceVar(&mutate, "mutate", nil, "change single places of these `packages` below dpnb instead")
	f.BoolVar(&unrun, "unexecuted", false, "with --mutate, print the changes that no test executes, and plant none")
	f.StringSliceVar(&checks, "check", nil, "with --mutate, this `check`, too: a package below dpnb, or package:Test")
	f.IntVar(&sample, "sample", 20, "with --mutate, this `number` of changes")
	f.Uint64Var(&seed, "seed", 1, "with --mutate, the `seed` by which they are taken")
	f.DurationVar(&limit, "limit", 2*time.Minute, "with --mutate, how long a check may take")
	return cmd
}

// readFaults returns the list, which must be well formed, and what came of each fault.
func readFaults(root string) ([]faults.Fault, map[string]faults.Result, error) {
	list, err := faults.Read(root)
	if err == nil {
		err = faults.Problems(root, list)
	}
	if err != nil {
		return nil, nil, err
	}
	results, err := faults.ReadResults(root)
	return list, results, err
}

// plantAll plants faults of the list and writes each result at once.
func plantAll(ctx context.Context, out io.Writer, root string, list, some []faults.Fault,
	results map[string]faults.Result) error {
	err := faults.Sound(ctx, root, faults.Checks(some), func(check string) { fmt.Fprintln(out, "sound:", check) })
	if err != nil {
		return err
	}
	var failed []error
	for i, f := range some {
		r, err := faults.Run(ctx, root, f)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, err)
			fmt.Fprintf(out, "%d/%d %s: %v\n", i+1, len(some), f.ID, err)
			continue
		}
		if fmt.Fprintf(out, "%d/%d ", i+1, len(some)); !tell(out, f, r) {
			failed = append(failed, fmt.Errorf("nothing notices %s", f.ID))
		}
		results[f.ID] = r
		if err := faults.WriteResults(root, list, results); err != nil {
			return err
		}
	}
	return errors.Join(append(failed, faults.WriteDocument(root))...)
}

// tell prints a result and reports whether the fault was caught.
func tell(out io.Writer, f faults.Fault, r faults.Result) bool {
	if !r.Caught() {
		fmt.Fprintf(out, "%s SURVIVES (%.0f s): %s\n", f.ID, r.Seconds, f.What)
		return false
	}
	fmt.Fprintf(out, "%s caught by %s %s (%.0f s): %s\n", f.ID, r.Check, r.Test, r.Seconds, r.Message)
	return true
}

// A handful is so many faults that took no longer than quick seconds before, or as many as there is time for.
const (
	handful     = 4
	handfulTime = 40 * time.Second
	quick       = 60.0
)

// plantHandful plants some of the quick faults, and stops when time is up.
func plantHandful(ctx context.Context, out io.Writer, root string, list []faults.Fault,
	results map[string]faults.Result, n int, seed uint64) error {
	end := time.Now().Add(handfulTime)
	src := rand.New(rand.NewPCG(seed, 0))
	src.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, f := range list {
		was := results[f.ID]
		if n == 0 || time.Now().After(end) {
			break
		}
		if !was.Caught() || was.Seconds > quick {
			continue
		}
		f.Checks = []string{was.Check}
		r, err := faults.Run(ctx, root, f)
		if err != nil {
			return err
		}
		if !tell(out, f, r) {
			return fmt.Errorf("%s was caught by %s, and is not any more", f.ID, was.Check)
		}
		n--
	}
	return nil
}

// plantMutants plants a sample of mutants and prints those that survive as lines of mutants.tsv, others as comments,
// and what came of them. With unexecuted none is planted, and all are looked at.
func plantMutants(ctx context.Context, out io.Writer, root string, rooms, checks []string, sample int,
	limit time.Duration, seed uint64, unexecuted bool) error {
	known, err := faults.ReadMutants(root)
	if err != nil {
		return err
	}
	listed := map[string]bool{}
	for _, f := range known {
		listed[f.Hash()] = true
	}
	lists := make([][]faults.Fault, len(rooms))
	all := 0
	for i, room := range rooms {
		if lists[i], err = faults.Mutants(root, room, append([]string{room}, checks...)); err != nil {
			return err
		}
		all += len(lists[i])
	}
	if unexecuted {
		sample = all
	}
	some := faults.Stratified(lists, sample, seed)
	var tally faults.Tally
	for _, room := range rooms {
		reach, err := faults.ReachOf(ctx, root, room)
		if err != nil {
			return err
		}
		judge := func(f faults.Fault, r faults.Result, err error) {
			executed := reach.Executes(f)
			if err == nil && !unexecuted && !r.Caught() && len(checks) > 0 {
				f.Checks = checks
				r, err = faults.Run(ctx, root, f)
			}
			outcome := faults.Survived
			switch {
			case err != nil:
				outcome = faults.Unbuilt
				said, _, _ := strings.Cut(err.Error(), "\n")
				fmt.Fprintln(out, "#", said)
			case r.Caught():
				outcome = faults.Killed
				fmt.Fprint(out, "# ")
				tell(out, f, r)
			case listed[f.Hash()]:
				outcome = faults.Listed
			case unexecuted && executed:
				outcome = faults.Killed // it is executed, which is all that is asked
			default:
				why := map[bool]string{false: "not executed"}[executed]
				fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", f.ID, f.File, f.Text, f.Replacement, why)
			}
			tally.Add(room, outcome)
		}
		var here []faults.Fault
		for _, f := range some {
			if f.Limit = limit; f.Checks[0] == room {
				here = append(here, f)
			}
		}
		if unexecuted {
			for _, f := range here {
				judge(f, faults.Result{}, nil)
			}
		} else {
			err = faults.RunMutants(ctx, root, here, reach, judge)
		}
		if ctx.Err() != nil {
			break // what there is, is shown
		}
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "A sample of %d mutants, seed %d:\n%v", all, seed, &tally)
	return ctx.Err()
}
