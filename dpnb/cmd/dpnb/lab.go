package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/report"
)

func newLabCommand() *cobra.Command {
	var o report.LabOptions
	var yes *bool
	cmd := &cobra.Command{
		Use:   "lab [FOLDER]",
		Short: "Open the notebooks in Jupyter, or those of a folder of your own",
		Long: `Open notebooks/, or the folder, in JupyterLab, or in the classic notebook where that is
what is installed, with the project's own Go kernel. What is missing is set up first; what completes
code as it is typed is built while you work. Outside a clone the notebooks of the version that is
installed are put into notebooks/ of the current folder, where those that are there stay as they are.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			tree, err := project.Find(cmd.Context())
			if err != nil {
				return err
			}
			o.Folder = filepath.Join(tree.Dir, "notebooks")
			switch {
			case len(args) > 0:
				o.Folder = args[0]
			case tree.Version != "":
				if o.Folder, err = report.Unpack(tree, "notebooks"); err != nil {
					return err
				}
			}
			if o.Folder, err = filepath.Abs(o.Folder); err != nil {
				return err
			}
			if err := o.Valid(); err != nil {
				return err
			}
			var setup *report.Setup
			err = withSetup(cmd, tree, true, *yes, func(s *report.Setup, _ *display) error { setup = s; return nil })
			if err != nil {
				return err
			}
			return report.Lab(cmd.Context(), setup, o)
		},
	}
	yes = addYes(cmd)
	f := cmd.Flags()
	f.IntVar(&o.Port, "port", 0, "listen on this `number` (default: Jupyter's own, 8888)")
	f.BoolVar(&o.NoBrowser, "no-browser", false, "do not open a browser; the address is printed")
	f.StringVar(&o.IP, "ip", "localhost", "listen on this `address` of this machine alone; in a container, any")
	return cmd
}
