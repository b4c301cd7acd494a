package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/frame"
)

func newCheckCommand() *cobra.Command {
	var (
		table  tableFlags
		schema string
		memory byteSize
	)
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "List what does not fit a schema, for the keeper of the data",
		Long: `List the values of a CSV, Parquet or Arrow file that do not fit a schema, with the lines they
are on: what is missing, beyond its bounds, or no category, and columns of which not one value
fits, as where the schema has "no" and the file "No"; of several files that are one table, which
a pattern in quotation marks names, each by itself. A fit says none of it and is paid for all
the same, since whether there are such values is private.

What is printed is about single records, and nothing protects it: it is for the keeper of the
data, who has the file. A schema that was changed because of it is no longer known without the
data, unless what was changed is how the file writes what was known. It ends with status 1 if
something does not fit.`,
		Example: `  dpnb check people.csv --schema people.schema.json
  dpnb check Leute.csv --schema Leute.json --separator ';' --decimal ,`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := frame.LoadSchema(schema)
			if err != nil {
				return err
			}
			defer frame.KeepTo(int64(memory))()
			table.chunkRows = memory.rowsOfChunk(len(s.Fields))
			if _, err = table.open(args[0]); err != nil {
				return err
			}
			text, n, err := table.misfits(s)
			if err == nil {
				_, err = fmt.Fprint(cmd.OutOrStdout(), text)
			}
			if err == nil && n > 0 {
				return errToldAlready
			}
			return err
		},
	}
	cmd.Flags().StringVar(&schema, "schema", "", "`file` with the public bounds and categories (docs/your-data.md)")
	required(cmd, "schema")
	table.add(cmd.Flags())
	memory.add(cmd.Flags())
	return cmd
}
