package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/paper"
)

// The site has what was measured of every claim, below the page of its paper.
func TestMeasuredBelow(t *testing.T) {
	testscale.Slow(t)
	tree := must.Get(project.Find(t.Context()))
	below := must.Get(measuredBelow(tree))
	for page := range below {
		if _, err := os.Stat(filepath.Join(tree.Dir, filepath.FromSlash(page))); err != nil {
			t.Error(err)
		}
	}
	for _, c := range paper.Register() {
		name, _, _ := strings.Cut(c.ID, "/")
		if !strings.Contains(below["docs/claims/"+name+".md"], "\n### "+c.ID+"\n") {
			t.Errorf("nothing is said of %s", c.ID)
		}
	}
}
