package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/learn"
)

func newExportCommand() *cobra.Command {
	var out string
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
			if err == nil {
				err = exported(m, out, *force)
			}
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), out, "has the model")
			}
			return err
		},
	}
	addOut(cmd.Flags(), &out, "model.linear.json", "`file` to write")
	force = addForce(cmd.Flags())
	return cmd
}

// exported writes a model, but not over another file.
func exported(m *learn.Model, out string, force bool) error {
	content, err := contentOf(m.Export)
	if err == nil {
		err = unlike("out", out, content, force)
	}
	if err != nil {
		return err
	}
	return atomicfile.Write(out, content)
}
