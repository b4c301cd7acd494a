package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/paper"
)

func newClaimsCommand() *cobra.Command {
	var (
		asJSON, full, list bool
		only               []string
		markdown           string
	)
	cmd := &cobra.Command{
		Use:   "claims",
		Short: "Check what the papers claim",
		Long: `Run the register of claims: each check measures something that could come out
otherwise, and gives a verdict with its figures. Quick by default; --full draws
more and searches longer.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			claims, err := claim.Select(paper.Register(), only...)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if list {
				return listClaims(out, claims, asJSON)
			}
			if markdown != "" && (len(only) > 0 || full) {
				return errors.New("--markdown writes the whole register in its quick form; leave out --only and --full")
			}
			size := claim.Quick
			if full {
				size = claim.Full
			}
			results, err := claim.Run(cmd.Context(), claims, size, func(r claim.Result) {
				if asJSON {
					out = cmd.ErrOrStderr()
				}
				fmt.Fprintf(out, "%-24s %s (%.1f s)\n%24s %s\n", r.ID, r.Verdict, r.Seconds, "", r.Measured)
			})
			if err != nil {
				return err
			}
			if markdown != "" {
				if err := atomicfile.Write(markdown, []byte(claim.Markdown(results))); err != nil {
					return err
				}
			}
			if asJSON {
				return claim.WriteJSON(cmd.OutOrStdout(), results)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print the results as a JSON list, and progress to standard error")
	f.BoolVar(&full, "full", false, "with many more draws and longer searches")
	f.BoolVar(&list, "list", false, "list the claims and check nothing")
	f.StringSliceVar(&only, "only", nil, "take only claims whose ID matches this `pattern`, for example 'rkw23/*'")
	f.StringVar(&markdown, "markdown", "", "write the results to this `file` as well")
	return cmd
}

func listClaims(out io.Writer, claims []claim.Claim, asJSON bool) error {
	if asJSON {
		type row struct {
			ID        string     `json:"id"`
			Paper     string     `json:"paper"`
			Kind      claim.Kind `json:"kind"`
			Statement string     `json:"statement"`
		}
		rows := []row{}
		for _, c := range claims {
			rows = append(rows, row{c.ID, c.Paper, c.Kind, c.Statement})
		}
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	}
	for _, c := range claims {
		fmt.Fprintf(out, "%-24s %s\n", c.ID, c.Statement)
	}
	return nil
}
