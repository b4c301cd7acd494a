package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/learn"
)

func newPredictCommand() *cobra.Command {
	var (
		made   func(model string) string
		keep   []string
		table  tableFlags
		memory byteSize
		force  *bool
	)
	cmd := &cobra.Command{
		Use:   "predict MODEL TABLE",
		Short: "Predict for the records of a table by a model that was saved",
		Long: `Predict for every record of a CSV, Parquet or Arrow file of any size by a model that
Model.Save has written: the class with its probability or those of all classes, the
number, the count or the quantiles. The columns that the model was fitted on are found
by their names; no label is needed, and no schema: the model has the one that it was
fitted with, and how its table was read (--separator, --thousands, --missing and the others),
by which this one is read unless flags say otherwise. Nothing is spent. What is written is
about single records, and so is what is said of entries that are no number, no date or no
category.`,
		Example: `  dpnb predict income.json people.csv --out predicted.csv --keep id
  dpnb predict income.json Leute.csv --separator ';' --decimal , --encoding Latin-1`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := modelFirst(args[0], args[1])
			if err != nil {
				return err
			}
			defer frame.KeepTo(int64(memory))()
			table.chunkRows = memory.rowsOfChunk(len(m.Columns()) + len(keep))
			reading, err := table.asFitted(m, args[0], args[1])
			if err != nil {
				return err
			}
			others := ""
			if column, category := m.Group(); column != "" {
				cmd.PrintErrf("%s is of the records with %s = %s: what it predicts for others is a guess.\n", args[0],
					column, category)
				others = fmt.Sprintf(", of %s = %s or not", column, category)
			}
			out := made(args[0])
			unread, err := m.PredictCSVAndCheck(out, learn.FromScanner(table.open(args[1])), *force, keep...)
			if errors.Is(err, os.ErrExist) {
				return another("out", out)
			}
			if err != nil {
				return err
			}
			cmd.PrintErr(unreadText(unread, args[1]))
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s%s has a line for every record of %s%s; it is about single "+
				"records\n", reading, out, args[1], others)
			return err
		},
	}
	f := cmd.Flags()
	made, force = addMade(f, ".predictions.csv", "`file` to write")
	f.StringSliceVar(&keep, "keep", nil, "`columns` of the table to write before the predictions")
	table.add(f)
	memory.add(f)
	return cmd
}

// unreadText says how many entries could not be read. It is no leak: nothing is released here, the predictions that it
// stands beside are of single records, and whoever runs the command has the file. A fit and an answer, which others see
// and which are protected, say nothing of the kind.
func unreadText(unread []frame.Misfit, table string) (said string) {
	columnar := parquet.Columnar(table)
	for _, m := range unread {
		what, hint, hinted := strings.Cut(m.What, ";")
		said += fmt.Sprintf("%s: %q is %s in %d of its records", table, m.Column, what, m.Count)
		if strings.HasPrefix(what, "no ") {
			said += ", where it counts as missing"
		}
		if _, err := os.Stat(table); err == nil { // not several files
			lines := strings.Trim(fmt.Sprint(m.Lines), "[]")
			if len(m.Lines) < m.Count {
				lines += " …"
			}
			said += fmt.Sprintf(" (%s %s)", map[bool]string{false: "lines", true: "rows"}[columnar], lines)
		}
		if hinted {
			said += ";" + hint
		}
		said += "\n"
	}
	return said
}

// modelFirst reads the model that stands before a table, and says so where they are the other way round.
func modelFirst(model, table string) (*learn.Model, error) {
	m, err := learn.Load(model)
	if err != nil {
		if _, swapped := learn.Load(table); swapped == nil {
			return nil, fmt.Errorf("%s is a model: name it first, and then the table", table)
		}
	}
	return m, err
}
