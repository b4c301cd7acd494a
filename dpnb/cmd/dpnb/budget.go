package main

import (
	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/ledger"
)

func newBudgetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "budget LEDGER",
		Short: "Show what was spent of a budget on what, and what is left",
		Long: `Show what the ledger of a budget says, the file that --budget names: what was spent on what, what all
of it comes to, and what one more release may spend. Nothing is spent.`,
		Example: "  dpnb budget people.budget.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := ledger.Stated(args[0])
			if err != nil {
				return err
			}
			opts := []learn.BudgetOption{learn.KeptIn(c.Path)}
			if c.Additive {
				opts = append(opts, learn.Additive())
			}
			b := learn.NewBudget(c.Epsilon, c.Delta, opts...)
			return printed(cmd.OutOrStdout(), b, b.Err())
		},
	}
}
