package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/crossref"
	"github.com/dpnb/notebooks/dpnb/internal/project"
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
notices is measured, of evidence and of transcription apart, and written to
dpnb/paper/powers.tsv. A claim carries a hash of its proof's text in
docs/theory: when a test says that it has changed, see whether the claim still
says the same, and write the new one with --renew.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			claims, err := claim.Select(paper.Register(), only...)
			if err != nil {
				return err
			}
			if power && full {
				return errors.New("--power is measured in the quick form; leave out --full")
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
			var measured map[string][]claim.Power
			if power {
				measured = measuring(claims)
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
			})
			progress.close()
			if err != nil {
				return err
			}
			if power {
				if err := writePowers(out, measured); err != nil {
					return err
				}
			}
			if markdown != "" {
				d, err := claimsDocument()
				if err != nil {
					return err
				}
				for page, text := range d.Pages(results) {
					file := filepath.Join(filepath.Dir(markdown), page)
					err := os.MkdirAll(filepath.Dir(file), 0o755)
					if err == nil {
						err = atomicfile.Write(file, []byte(text))
					}
					if err != nil {
						return err
					}
				}
				if err := writePaper("measured.tsv", claim.FormatRecord(results)); err != nil {
					return err
				}
			}
			if !asJSON {
				return nil
			}
			if len(only) == 0 {
				results = append(results, claim.WithoutClaim(paper.Papers())...)
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
	f.BoolVar(&power, "power", false, "measure by bisection the smallest error in what is claimed that each half of "+
		"a check notices, and write it to dpnb/paper/powers.tsv")
	f.BoolVar(&renew, "renew", false, "write the hashes of the proofs as they are now into the claims, and check "+
		"nothing")
	f.StringSliceVar(&only, "only", nil, "take only claims whose ID matches this `pattern`, for example 'rkw23/*'")
	f.StringVar(&markdown, "markdown", "", "write the results to this `file`, claims.md, to claims/ beside it, "+
		"and to dpnb/paper/measured.tsv")
	return cmd
}

// runWrong checks the wrong versions of a claim, and says which of them pass.
func runWrong(ctx context.Context, out io.Writer, c claim.Claim, size claim.Size) {
	versions := c.WrongVersions()
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		o, err := versions[name](ctx, size)
		word := "caught"
		if err != nil || o.Verdict == cmp.Or(c.Want, claim.Holds) && o.Formula != claim.Other {
			word = fmt.Sprint("NOT CAUGHT ", err)
		}
		fmt.Fprintf(out, "%24s %s: %s; %s\n", "", name, word, o.Measured)
	}
}

// measuring has each claim measure its powers where it is checked, and returns where they will be, by claim.
func measuring(claims []claim.Claim) map[string][]claim.Power {
	var mutex sync.Mutex
	measured := map[string][]claim.Power{}
	for i, c := range claims {
		claims[i].Run = func(ctx context.Context, size claim.Size) (claim.Outcome, error) {
			powers, err := c.Measure(ctx, size)
			if err != nil {
				return claim.Outcome{}, err
			}
			mutex.Lock()
			measured[c.ID] = powers
			mutex.Unlock()
			return c.Run(ctx, size)
		}
	}
	return measured
}

// writePaper writes a table where the register has it.
func writePaper(name, text string) error {
	root, err := source()
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(root, "dpnb", "paper", name), []byte(text))
}

// writePowers writes what was measured in the place of what the register has of those claims, and prints what differs.
func writePowers(out io.Writer, measured map[string][]claim.Power) error {
	var all []claim.Power
	for _, c := range paper.Register() {
		now, ok := measured[c.ID]
		if !ok {
			now = c.Powers
		} else if !slices.Equal(now, c.Powers) {
			fmt.Fprintf(out, "%-24s was %v\n%24s is  %v\n", c.ID, c.Powers, "", now)
		}
		all = append(all, now...)
	}
	return writePaper("powers.tsv", claim.FormatPowers(all))
}

// claimsDocument is docs/claims.md of the checkout that this runs in.
func claimsDocument() (*claim.Document, error) {
	found, err := project.Find(context.Background())
	if err != nil {
		return nil, err
	}
	tree, err := crossref.Read(found.Dir)
	if err != nil {
		return nil, err
	}
	return claim.NewDocument(paper.Papers(), tree), nil
}

func renewProofs(out io.Writer, claims []claim.Claim) error {
	root, err := source()
	if err != nil {
		return err
	}
	d, err := claimsDocument()
	if err != nil {
		return err
	}
	renewed, err := claim.Renew(root, claims, d.Tree)
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
