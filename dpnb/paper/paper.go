// Package paper is the register of what the papers claim. Each paper has a room below: its claims with their checks,
// its experiments as functions for notebooks, and, as tests, the evidence for its errata.
package paper

import (
	"embed"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/paper/cop"
	"github.com/dpnb/notebooks/dpnb/paper/dtz24"
	"github.com/dpnb/notebooks/dpnb/paper/heavytail"
	"github.com/dpnb/notebooks/dpnb/paper/ours"
	"github.com/dpnb/notebooks/dpnb/paper/qop"
	"github.com/dpnb/notebooks/dpnb/paper/rkw23"
)

//go:embed powers.tsv
var powers string

//go:embed */statements.tsv
var inventories embed.FS

// Papers are the inventories of the papers: all their statements, in their order.
func Papers() []claim.Paper {
	papers, err := claim.Papers(inventories)
	if err != nil {
		panic(err) // a test reads them
	}
	return papers
}

// Register returns all claims, in the order of their IDs.
func Register() []claim.Claim {
	all := slices.Concat(rkw23.Claims(), qop.Claims(), cop.Claims(), dtz24.Claims(), heavytail.Claims(), ours.Claims())
	slices.SortStableFunc(all, func(a, b claim.Claim) int { return strings.Compare(a.ID, b.ID) })
	papers := Papers()
	measured, err := claim.ParsePowers(powers)
	if err != nil {
		panic(err) // a test reads the file
	}
	for i, c := range all {
		for _, p := range measured {
			if p.Claim == c.ID {
				all[i].Powers = append(all[i].Powers, p)
			}
		}
		for _, p := range papers {
			if k := slices.IndexFunc(p.Statements, func(s claim.Statement) bool { return s.ID == c.ID }); k >= 0 {
				all[i].Statement = p.Statements[k].Text
			}
		}
	}
	return all
}
