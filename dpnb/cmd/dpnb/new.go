package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/report"
)

func newNewCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME",
		Short: "Write a notebook for data of your own",
		Long: `Write NAME.ipynb, in any folder: a notebook that reads a CSV or Parquet file, explores it
privately, fits a model and ends with what it cost. It has the cell that finds this package, and
the Go kernel is registered for every Jupyter of yours, and for editors such as VS Code; a
kernel named gonb that you have already stays as it is.`,
		Example: `  go run ./dpnb/cmd/dpnb new ~/study/people
  go run ./dpnb/cmd/dpnb lab ~/study`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, err := here()
			if err != nil {
				return err
			}
			path := strings.TrimSuffix(args[0], notebookSuffix) + notebookSuffix
			if err := report.New(root, path); err != nil {
				return err
			}
			display := newDisplay(os.Stderr)
			defer display.close()
			setup, err := report.Prepare(cmd.Context(), root, true, display.Step)
			if err != nil {
				return fmt.Errorf("%s is written, but the kernel is not set up: %w", path, err)
			}
			if err := registerKernel(setup, display); err != nil {
				return fmt.Errorf("%s is written, but %w", path, err)
			}
			fmt.Fprintln(os.Stdout, path)
			return nil
		},
	}
}
