package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/learn"
)

func newPredictCommand() *cobra.Command {
	var (
		out    string
		keep   []string
		table  tableFlags
		memory byteSize
	)
	cmd := &cobra.Command{
		Use:   "predict MODEL TABLE",
		Short: "Predict for the records of a table by a model that was saved",
		Long: `Predict for every record of a CSV, Parquet or Arrow file of any size by a model that
Model.Save has written: the class with its probability or those of all classes, the
number, the count or the quantiles. The columns that the model was fitted on are found
by their names; no label is needed, and no schema: the model has the one that it was
fitted with, and which texts meant "missing" (--missing), which is said. Nothing is spent. What
is written is about single records.`,
		Example: `  dpnb predict income.json people.csv --out predicted.csv --keep id
  dpnb predict income.json Leute.csv --separator ';' --decimal , --encoding Latin-1`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := modelFirst(args[0], args[1])
			if err != nil {
				return err
			}
			defer memory.keep()()
			table.chunkRows = memory.rowsOfChunk(len(m.Columns()) + len(keep))
			missing := table.missingAsFitted(m, args[0], args[1])
			if err := m.PredictCSV(out, learn.FromScanner(table.open(args[1])), keep...); err != nil {
				return err
			}
			// Said because of the flags alone: what does not fit counts as missing without a word.
			hint := ""
			if table.separator == ";" && table.decimal == "." {
				hint = "; numbers were read with a decimal point: --decimal , if the file has decimal commas"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s%s has a line for every record of %s; it is about single "+
				"records%s\n", missing, out, args[1], hint)
			return err
		},
	}
	f := cmd.Flags()
	addOut(f, &out, "predictions.csv", "`file` to write")
	f.StringSliceVar(&keep, "keep", nil, "`columns` of the table to write before the predictions")
	table.add(f)
	memory.add(f)
	return cmd
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
