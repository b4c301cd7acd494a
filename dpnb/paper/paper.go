// Package paper is the register of what the papers claim. Each paper has a room below: its claims with their checks,
// its experiments as functions for notebooks, and, as tests, the evidence for its errata.
package paper

import (
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

// Register returns all claims, in the order of their IDs.
func Register() []claim.Claim {
	all := slices.Concat(rkw23.Claims(), qop.Claims(), cop.Claims(), dtz24.Claims(), heavytail.Claims(), ours.Claims())
	slices.SortStableFunc(all, func(a, b claim.Claim) int { return strings.Compare(a.ID, b.ID) })
	return all
}
