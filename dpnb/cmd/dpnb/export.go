package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/learn"
)

func newExportCommand() *cobra.Command {
	var made func(model string) string
	var force *bool
	cmd := &cobra.Command{
		Use:   "export MODEL",
		Short: "Write a saved model as JSON by which programs in other languages predict",
		Long: `Write what a prediction needs of a model that Model.Save has written as JSON of a documented form:
docs/export.md says what it means, and has programs in Python and R that predict by it. Nothing is spent.`,
		Example: "  dpnb export happy.json -o happy.linear.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := learn.Load(args[0])
			if err != nil {
				return err
			}
			content, err := m.ExportText()
			out := made(args[0])
			if err == nil {
				err = written(out, content, *force)
			}
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), out, "has the model")
			}
			return err
		},
	}
	made, force = addMade(cmd.Flags(), ".linear.json", "`file` to write")
	return cmd
}
