package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/report"
)

func newSetupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "setup",
		Short: "Set up the kernel and Jupyter, and nothing else",
		Long: `Build the Go kernel and find or install Jupyter. The other commands do this by
themselves; this one is for making an image, or before going offline.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := here()
			if err != nil {
				return err
			}
			display := newDisplay(os.Stderr)
			defer display.close()
			// For both uses: notebooks that are run and notebooks that are edited.
			for _, editor := range []bool{false, true} {
				setup, err := report.Prepare(cmd.Context(), root, editor, display.Step)
				if err != nil {
					return err
				}
				display.say(fmt.Sprintf("kernel %s, Jupyter of %s", setup.Kernel.Path, setup.Jupyter.Python))
			}
			return nil
		},
	}
}
