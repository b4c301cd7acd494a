package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/paper"
	"github.com/dpnb/notebooks/dpnb/report"
)

func newSiteCommand() *cobra.Command {
	var o report.Options
	var yes *bool
	cmd := &cobra.Command{
		Use:   "site",
		Short: "Write the notebooks and docs/ as a site, without running anything",
		Long: `Write the notebooks with the outputs that they have, the pages of docs/, a gallery of all figures and an
index into a folder. Each page is one file that needs no other and no server. To run the notebooks
instead, use report, which writes the same pages.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tree, err := project.Find(cmd.Context())
			if err != nil {
				return err
			}
			if o.All, err = projectNotebooks(tree.Dir); err != nil {
				return err
			}
			if o.Below, err = measuredBelow(tree); err != nil {
				return err
			}
			return withSetup(cmd, tree, false, *yes, func(setup *report.Setup, d *display) error {
				o.Progress = d
				err := report.Site(cmd.Context(), setup, o)
				if err == nil {
					fmt.Fprintln(os.Stdout, filepath.Join(o.Out, "index.html"))
				}
				return err
			})
		},
	}
	yes = addYes(cmd)
	addOut(cmd.Flags(), &o.Out, "site", "write the pages to this `folder`")
	return cmd
}

// measuredBelow is what was measured of the papers' claims, below the pages of docs/claims. A release has no sources
// that it could lead to.
func measuredBelow(tree project.Tree) (map[string]string, error) {
	if tree.Version != "" {
		return nil, nil
	}
	d, err := claimsDocument()
	if err != nil {
		return nil, err
	}
	below := map[string]string{}
	for page, text := range d.Measured(paper.Recorded()) {
		below["docs/"+page] = text
	}
	return below, nil
}
