package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/paper/sweeps"
	"github.com/dpnb/notebooks/dpnb/sim"
)

func newSweepCommand() *cobra.Command {
	var (
		r           sweeps.Request
		at          remotely
		out, folder string
		jobs        int
	)
	cmd := &cobra.Command{
		Use:   "sweep NAME",
		Short: "Run the trials of a published experiment, or all claims in full, here or on many machines",
		Long: `Run the trials of an experiment, each with random numbers of its own, and write a
row for each of them to a Parquet file. The rows are the same to the last digit whatever runs
them. What is done is kept in a folder, so that a run that was stopped goes on with what is
missing when it is started again; the folder is removed when the file is there.

With --endpoint the trials run on Apache Beam: see docs/scale.md.`,
		ValidArgs: sweeps.Names(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("name one sweep: %s", strings.Join(sweeps.Names(), ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Name = args[0]
			s, err := sweeps.New(r)
			if err != nil {
				return err
			}
			if out == "" {
				out = strings.ReplaceAll(r.Name, "/", "-") + ".parquet"
			}
			if folder == "" {
				folder = out + ".parts"
			}
			if folder, err = filepath.Abs(folder); err != nil {
				return err
			}
			if err := at.validate(); err != nil {
				return err
			}
			if !at.here() && jobs != 0 {
				return errors.New("--jobs is for this machine: a runner has --processes or --workers")
			}
			p, err := sim.OpenParts(folder, r.String(), s)
			if err != nil {
				return err
			}
			if at.here() {
				err = p.Run(cmd.Context(), jobs, func(done, total int) {
					fmt.Fprintf(cmd.ErrOrStderr(), "\r%d of %d parts", done, total)
				})
				fmt.Fprintln(cmd.ErrOrStderr())
			} else {
				err = at.run(cmd, "sweep", struct {
					Where   remotely
					Request sweeps.Request
					Folder  string
				}{at, r, folder})
			}
			if err != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "What is done stays in %s: the same command goes on with it.\n", folder)
				return err
			}
			rows, err := p.Rows()
			if err != nil {
				return err
			}
			table, err := sweeps.Table(s, rows)
			if err == nil {
				err = parquet.Write(out, table)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %d rows\n", out, len(rows))
			return errors.Join(p.Remove(), atomicfile.ErasePartsOf(out))
		},
	}
	f := cmd.Flags()
	f.IntVar(&r.Trials, "trials", 0, "run this `number` of trials of each cell (default: the experiment's)")
	f.Uint64Var(&r.Seed, "seed", 0, "draw from this `seed` (default: the experiment's)")
	f.StringVar(&r.Only, "only", "", "of the claims, check those whose ID matches one of these `patterns`")
	addOut(f, &out, "", "write the rows to this `file` (default NAME.parquet)")
	f.StringVar(&folder, "folder", "", "keep what is done in this `folder`, which every worker must see (default: "+
		"beside the file)")
	f.IntVar(&jobs, "jobs", 0, "run this `number` of trials at a time (default: one for each processor)")
	at.flags(f)
	return cmd
}
