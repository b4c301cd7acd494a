package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/report"
)

func newSetupCommand() *cobra.Command {
	var register bool
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Set up the kernel and Jupyter, and nothing else",
		Long: `Build the Go kernel and find or install Jupyter. The other commands do this by
themselves; this one is for making an image, or before going offline.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tree, err := project.Find(cmd.Context())
			if err != nil {
				return err
			}
			display := newDisplay(os.Stderr)
			defer display.close()
			// For both uses: notebooks that are run and notebooks that are edited.
			for _, editor := range []bool{false, true} {
				setup, err := report.Prepare(cmd.Context(), tree, editor, display.Step)
				if err == nil && editor {
					err = setup.Completion(cmd.Context(), display.Step)
				}
				if err != nil {
					return err
				}
				display.say(fmt.Sprintf("kernel %s, Jupyter of %s", setup.Kernel.Path, setup.Jupyter.Python))
				if register && editor {
					return registerKernel(setup, display)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&register, "register", false, "describe the kernel to every Jupyter of this user")
	return cmd
}

// registerKernel makes the kernel known to every Jupyter of the user's, and says so.
func registerKernel(s *report.Setup, d *display) error {
	dir, ok, err := s.Kernel.Register()
	switch {
	case err != nil:
		return fmt.Errorf("the kernel is not registered: %w", err)
	case ok:
		d.say("kernel registered in " + dir)
	default:
		d.say("your own kernel in " + dir + " stays as it is")
	}
	return nil
}
