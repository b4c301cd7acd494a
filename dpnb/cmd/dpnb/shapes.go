package main

import (
	"fmt"
	"html"
	"strings"

	"github.com/spf13/cobra"

	shown "github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/report/page"
)

func newShapesCommand() *cobra.Command {
	var (
		made  func(model string) string
		of    []string
		force *bool
	)
	cmd := &cobra.Command{
		Use:   "shapes MODEL",
		Short: "Show what each column does in a model that was saved",
		Long: `Show what each column of a model that Model.Save or "dpnb fit" has written does to its
predictions: a line for each column, those first that matter most, and a page with the
curves, how far the noise may have moved them, and their values. Nothing is spent, and
no record is read.`,
		Example: `  dpnb shapes income.json
  dpnb shapes ward.json --of north,south --out wards.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := learn.Load(args[0])
			if err != nil {
				return err
			}
			s, err := m.Shapes(of...)
			if err != nil {
				return err
			}
			content, err := shapesPage(s)
			if err != nil {
				return err
			}
			out := made(args[0])
			if err := written(out, content, *force); err != nil {
				return err
			}
			if err := printed(cmd.OutOrStdout(), s, nil); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s has the curves\n", out)
			return err
		},
	}
	f := cmd.Flags()
	made, force = addMade(f, ".shapes.html", "`file` to write the page to")
	f.StringSliceVar(&of, "of", nil, "`classes` or levels of a model of several (default all)")
	return cmd
}

// shapesPage is a page of itself: all shapes in one figure, and the values of each.
func shapesPage(s *learn.Shapes) ([]byte, error) {
	figures, err := s.Figure().HTML(false)
	if err != nil {
		return nil, err
	}
	all := s.Display()
	p := page.Page{Title: all.Title}
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1>%s", html.EscapeString(all.Title), figures)
	all.Title, all.Warning, all.Notes = "", "", all.Notes[1:] // they are above, and how to read values with the figures
	b.WriteString(all.HTML() + "<h2>Values</h2>")
	of := strings.TrimPrefix(p.Title, "What each column does")
	values := func(it shown.Item) {
		title := strings.TrimSuffix(strings.TrimSuffix(it.Title, of), ",") // which follows the name of a surface
		it.Title, it.Warning = "", ""
		fmt.Fprintf(&b, "<details><summary>%s</summary>%s</details>", html.EscapeString(title), it.HTML())
	}
	for _, shape := range s.All() {
		values(shape.Display())
	}
	for _, surface := range s.Surfaces() {
		values(surface.Display())
	}
	body, err := page.Parse([]byte(b.String()))
	if err != nil {
		return nil, err
	}
	body.Tidy()
	if p.Body, err = body.HTML(); err != nil {
		return nil, err
	}
	return p.Render()
}
