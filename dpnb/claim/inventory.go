package claim

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Paper is the inventory of a paper: its numbered statements in its order.
type Paper struct {
	// Name is short, "rkw23"; Title says authors and year.
	Name, Title string
	Statements  []Statement
}

// Statement is a numbered statement of a paper.
type Statement struct {
	// ID, place in the paper, the statement in our words.
	ID, Place, Text string
	// Reason why no claim has this ID; empty if one has.
	Reason string
}

// papers are the papers in the order of the document.
var papers = []string{"rkw23", "qop", "cop", "heavytail", "dtz24"}

// Papers reads the inventories in the papers' rooms, */statements.tsv.
//
// Errors: a file that cannot be read; a line that is not a new ID of that paper, a place, a statement and a reason.
func Papers(rooms fs.FS) ([]Paper, error) {
	var all []Paper
	for _, name := range papers {
		file := path.Join(name, "statements.tsv")
		text, err := fs.ReadFile(rooms, file)
		if err != nil {
			return nil, err
		}
		p := Paper{Name: name}
		seen := map[string]bool{}
		for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
			if comment, ok := strings.CutPrefix(line, "# "); ok {
				if p.Title == "" {
					p.Title, _, _ = strings.Cut(comment, ": every")
				}
				continue
			}
			f := strings.Split(line, "\t")
			if len(f) != 4 || !strings.HasPrefix(f[0], name+"/") || seen[f[0]] {
				return nil, fmt.Errorf("%s:%d: not a new ID of that paper, a place, a statement and a reason", file,
					i+1)
			}
			seen[f[0]] = true
			p.Statements = append(p.Statements, Statement{f[0], f[1], f[2], f[3]})
		}
		all = append(all, p)
	}
	return all, nil
}

// WithoutClaim returns the statements of the papers that have a reason in the place of a claim, to stand beside
// results: the verdict has the reason.
func WithoutClaim(papers []Paper) (all []Result) {
	for _, p := range papers {
		for _, s := range p.Statements {
			if s.Reason != "" {
				all = append(all, Result{ID: s.ID, Paper: p.Title + ", " + s.Place, Kind: Listed, Statement: s.Text,
					Verdict: "no claim: " + s.Reason})
			}
		}
	}
	return all
}
