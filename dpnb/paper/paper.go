// Package paper is the register of what the papers claim. Each paper has a room below: its claims with their checks,
// its experiments as functions for notebooks, and, as tests, the evidence for its errata.
package paper

import (
	"embed"

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

//go:embed measured.tsv
var record string

//go:embed */claims.txt
var files embed.FS

// Papers are the papers, and at last what this project claims itself: all statements, in their order, with their
// checks.
func Papers() []claim.Paper {
	measured, err := claim.ParsePowers(powers)
	if err != nil {
		panic(err) // a test reads the files
	}
	papers, err := claim.Read(files, measured, rkw23.Checks(), qop.Checks(), cop.Checks(), dtz24.Checks(),
		heavytail.Checks(), ours.Checks())
	if err != nil {
		panic(err)
	}
	return papers
}

// Recorded returns what was measured when somebody last looked at it: a result for each claim, by its quick check.
func Recorded() []claim.Result {
	results, err := claim.ParseRecord(record, Register())
	if err != nil {
		panic(err) // a test reads the file
	}
	return results
}

// Register returns all claims, in the order of their IDs.
func Register() []claim.Claim { return claim.Register(Papers()) }
