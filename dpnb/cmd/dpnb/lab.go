package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/report"
)

func newLabCommand() *cobra.Command {
	var o report.LabOptions
	cmd := &cobra.Command{
		Use:   "lab [FOLDER]",
		Short: "Open the notebooks in Jupyter, or those of a folder of your own",
		Long: `Open notebooks/, or the folder, in JupyterLab, or in the classic notebook where that is
what is installed, with the project's own Go kernel. What is missing is set up first.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, err := here()
			if err != nil {
				return err
			}
			o.Folder = filepath.Join(root, "notebooks")
			if len(args) > 0 {
				if o.Folder, err = filepath.Abs(args[0]); err != nil {
					return err
				}
			}
			display := newDisplay(os.Stderr)
			setup, err := report.Prepare(cmd.Context(), root, true, display.Step)
			display.close()
			if err != nil {
				return err
			}
			return report.Lab(cmd.Context(), setup, o)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Port, "port", 0, "listen on this `number` (default: Jupyter's own, 8888)")
	f.BoolVar(&o.NoBrowser, "no-browser", false, "do not open a browser; the address is printed")
	f.StringVar(&o.IP, "ip", "localhost", "listen on this `address` of this machine alone; in a container, any")
	return cmd
}
