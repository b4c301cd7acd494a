package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/whereis"
	"github.com/dpnb/notebooks/dpnb/paper"
)

func newClaimsCommand() *cobra.Command {
	var (
		asJSON, full, list bool
		renew, wrong       bool
		power              bool
		only               []string
		markdown           string
	)
	cmd := &cobra.Command{
		Use:   "claims",
		Short: "Check what the papers claim",
		Long: `Run the register of claims: each check measures something that could come out
otherwise, and gives a verdict with its figures. Quick by default; --full draws
more and searches longer. With --wrong each check is also run on the versions of
its claim that are wrong on purpose; with --power the smallest error that it
notices is measured. A claim carries a hash of its proof's text in
docs/theory: when a test says that it has changed, see whether the claim still
says the same, and write the new one with --renew.`,
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
			if renew {
				return renewProofs(out, claims)
			}
			if markdown != "" && (len(only) > 0 || full) {
				return errors.New("--markdown writes the whole register in its quick form; leave out --only and --full")
			}
			size := claim.Quick
			if full {
				size = claim.Full
			}
			progress, done := newDisplay(os.Stderr), 0
			defer progress.close()
			if asJSON {
				out = cmd.ErrOrStderr()
			}
			if progress.bars != nil {
				progress.Begin("claims", len(claims))
				if asJSON || out == os.Stdout && term.IsTerminal(int(os.Stdout.Fd())) {
					out = progress.bars // above the bar
				}
			}
			results, err := claim.Run(cmd.Context(), claims, size, func(r claim.Result) {
				if done++; progress.bars != nil {
					progress.Cell("claims", done+1, len(claims))
				}
				fmt.Fprintf(out, "%-24s %s (%.1f s)\n%24s %s\n", r.ID, r.Verdict, r.Seconds, "", r.Measured)
				if wrong {
					runWrong(cmd.Context(), out, r.Claim, size)
				}
				if power {
					measurePower(cmd.Context(), out, r.Claim, size)
				}
			})
			progress.close()
			if err != nil {
				return err
			}
			if markdown != "" {
				d, err := claimsDocument(claims)
				if err != nil {
					return err
				}
				if err := atomicfile.Write(markdown, []byte(d.Markdown(results))); err != nil {
					return err
				}
			}
			if !asJSON {
				return nil
			}
			if len(only) == 0 {
				_, papers, err := inventories()
				if err != nil {
					return err
				}
				results = append(results, claim.WithoutClaim(papers)...)
			}
			return claim.WriteJSON(cmd.OutOrStdout(), results)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print the results as a JSON list, after them the papers' statements that have "+
		"no claim, with the reason, and progress to standard error")
	f.BoolVar(&full, "full", false, "with many more draws and longer searches")
	f.BoolVar(&list, "list", false, "list the claims and check nothing")
	f.BoolVar(&wrong, "wrong", false, "run the versions that are wrong on purpose, too")
	f.BoolVar(&power, "power", false, "measure by bisection the smallest error in what is claimed that each check "+
		"notices")
	f.BoolVar(&renew, "renew", false, "write the hashes of the proofs as they are now into the claims, and check "+
		"nothing")
	f.StringSliceVar(&only, "only", nil, "take only claims whose ID matches this `pattern`, for example 'rkw23/*'")
	f.StringVar(&markdown, "markdown", "", "write the results to this `file` as well")
	return cmd
}

// runWrong checks the wrong versions of a claim, and says which of them pass.
func runWrong(ctx context.Context, out io.Writer, c claim.Claim, size claim.Size) {
	versions := c.WrongVersions()
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		o, err := versions[name](ctx, size)
		word := "caught"
		if err != nil || o.Verdict == c.Verdict() {
			word = fmt.Sprint("NOT CAUGHT ", err)
		}
		fmt.Fprintf(out, "%24s %s: %s; %s\n", "", name, word, o.Measured)
	}
}

// measurePower prints what is measured of each scaled quantity of a claim.
func measurePower(ctx context.Context, out io.Writer, c claim.Claim, size claim.Size) {
	for _, s := range c.Scaled {
		less, more, err := s.Measure(ctx, size, c.Verdict())
		fmt.Fprintf(out, "%24s notices %s", "", claim.Scaled{Of: s.Of, Less: less, More: more})
		switch {
		case err != nil:
			fmt.Fprintf(out, ": ERROR %v", err)
		case less != s.Less || more != s.More:
			fmt.Fprintf(out, ": NOT AS WRITTEN, {%q, %g, %g, …}", s.Of, less, more)
		}
		fmt.Fprintln(out)
	}
}

// claimsDocument is docs/claims.md of the checkout that this runs in.
func claimsDocument(claims []claim.Claim) (*claim.Document, error) {
	root, papers, err := inventories()
	if err != nil {
		return nil, err
	}
	tree, err := whereis.Read(root)
	if err != nil {
		return nil, err
	}
	return claim.NewDocument(papers, claims, tree), nil
}

// inventories returns the top of the tree, and the statements of the papers there.
func inventories() (root string, papers []claim.Paper, err error) {
	tree, err := project.Find(context.Background())
	if err == nil {
		papers, err = claim.Papers(tree.Dir)
	}
	return tree.Dir, papers, err
}

func renewProofs(out io.Writer, claims []claim.Claim) error {
	root, err := source()
	if err != nil {
		return err
	}
	d, err := claimsDocument(claims)
	if err != nil {
		return err
	}
	renewed, err := claim.Renew(root, claims, d.Tree, d.Papers)
	for _, id := range renewed {
		fmt.Fprintln(out, "renewed", id)
	}
	return err
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
