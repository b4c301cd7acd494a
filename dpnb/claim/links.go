package claim

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/crossref"
)

// Anchor is the anchor of the proof and its hash.
func (c Claim) Anchor() (page, anchor, hash string) {
	place, hash, _ := strings.Cut(c.Proof, " ")
	page, anchor, _ = strings.Cut(place, "#")
	return page, anchor, hash
}

// hash is what the hash of the claim's proof should be: of the text at its anchor and of the statement, if it is a
// paper's.
func (c Claim) hash(t *crossref.Tree) string {
	_, anchor, _ := c.Anchor()
	texts := []string{t.Anchors[anchor].Text}
	if c.Place != "" {
		texts = append(texts, c.Statement)
	}
	return crossref.Hash(texts...)
}

// Problems says which of the claim's links lead nowhere, what it lacks, and whether its proof has changed.
func (c Claim) Problems(t *crossref.Tree) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, c.ID+": "+fmt.Sprintf(format, args...)) }
	for _, name := range slices.Concat(c.Code, c.Tests) {
		if t.Symbols[name] == "" {
			wrong("there is no %s in the code", name)
		}
	}
	for _, name := range c.Tests {
		if !strings.Contains(name, ".Test") {
			wrong("%s is no test", name)
		}
	}
	page, anchor, hash := c.Anchor()
	switch want := c.hash(t); {
	case page == "" || t.Anchors[anchor].Page != page:
		wrong("there is no anchor %s on docs/theory/%s.md", anchor, page)
	case hash != want:
		wrong("docs/theory/%s.md has changed at %s, or the statement in the inventory: look whether the claim still "+
			"says the same, then "+
			"go run ./dpnb/cmd/dpnb claims --renew --only %s", page, anchor, c.ID)
	}
	for _, id := range c.Errata {
		if !t.Errata[id] {
			wrong("docs/errata.md has no entry %s", id)
		}
	}
	if c.Figure != "" && !t.Cells[c.Figure] {
		wrong("there is no cell %s in the notebooks", c.Figure)
	}
	return problems
}

// Renew writes the hashes of the proofs as they are now into the files of statements below root, and returns the IDs of
// those that were others.
//
// Errors: a file that cannot be read or written; a claim that is not found.
func Renew(root string, claims []Claim, t *crossref.Tree) (renewed []string, err error) {
	files, err := filepath.Glob(filepath.Join(root, "dpnb", "paper", "*", "claims.txt"))
	if err != nil {
		return nil, err
	}
	for _, c := range claims {
		page, anchor, hash := c.Anchor()
		now := c.hash(t)
		if hash == now || t.Anchors[anchor].Page != page {
			continue
		}
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return renewed, err
			}
			_, after, ok := strings.Cut(string(text), "\nid: "+c.ID+"\n")
			if !ok {
				continue
			}
			found = true
			statement, _, _ := strings.Cut(after, "\n\n")
			with := strings.Replace(statement, "\nproof: "+c.Proof+"\n", "\nproof: "+page+"#"+anchor+" "+now+"\n", 1)
			text = []byte(strings.Replace(string(text), statement, with, 1))
			if err := os.WriteFile(file, text, 0o644); err != nil {
				return renewed, err
			}
		}
		if !found {
			return renewed, fmt.Errorf("claim: no file below dpnb/paper has %s", c.ID)
		}
		renewed = append(renewed, c.ID)
	}
	return renewed, nil
}
