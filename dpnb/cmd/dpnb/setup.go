package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/report"
)

func newSetupCommand() *cobra.Command {
	var register bool
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Set up the kernel and Jupyter, and nothing else",
		Long: `Build the Go kernel and find or install Jupyter, without asking. The other commands do this by
themselves, and ask in a terminal; this one is for making an image, or before going offline.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tree, err := project.Find(cmd.Context())
			if err != nil {
				return err
			}
			// For both uses: notebooks that are run and notebooks that are edited.
			for _, editor := range []bool{false, true} {
				err := withSetup(cmd, tree, editor, true, func(s *report.Setup, d *display) (err error) {
					if editor {
						err = s.Completion(cmd.Context(), d.Step)
					}
					if err == nil {
						d.say(fmt.Sprintf("kernel %s, Jupyter of %s", s.Kernel.Path, s.Jupyter.Python))
					}
					if err == nil && editor && register {
						err = registerKernel(s, d)
					}
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&register, "register", false, "describe the kernel to every Jupyter of this user")
	return cmd
}

// errDeclined says that nothing was set up.
var errDeclined = errors.New("nothing was set up: say yes, or install Jupyter as you like it; dpnb setup sets up " +
	"what is missing then")

// withSetup sets up what is missing for notebooks that are run, or edited, and shows how that and its use go on.
func withSetup(cmd *cobra.Command, tree project.Tree, editor, yes bool, use func(*report.Setup, *display) error) error {
	display := newDisplay(os.Stderr)
	defer display.close()
	setup, err := report.Prepare(cmd.Context(), tree, editor, func(plan string) error {
		return agreedTo(plan, yes, terminal(cmd), cmd.ErrOrStderr())
	}, display.Step)
	if err != nil {
		return err
	}
	return use(setup, display)
}

// agreedTo says what a command is about to install, and asks a person whether it may; yes is the answer beforehand.
func agreedTo(plan string, yes bool, a *asking, out io.Writer) error {
	fmt.Fprintln(out, plan)
	if a == nil || yes {
		return nil
	}
	answer, err := a.line("Go on? [Y/n] ")
	if answer = strings.ToLower(answer); err != nil || answer != "" && answer != "y" && answer != "yes" {
		return errDeclined
	}
	return nil
}

// addYes adds the flag by which a command asks nobody what it may install.
func addYes(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("yes", false, "install what is missing without asking")
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
