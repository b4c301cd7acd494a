package crossref

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

func TestPassage(t *testing.T) {
	const page = "# A\n\n<a id=\"one\"></a>\n<a id=\"two\"></a>\n## Section\n\ntext\n```\n# no heading\n```\n### " +
		"part\n<a id=\"three\"></a>\n" +
		"**Lemma.** Words\nof it.\n\n<a id=\"four\"></a>\nMore.\n## Next\n\nend"
	const section = "Section\n\ntext\n```\n# no heading\n```\n### part\n<a id=\"three\"></a>\n**Lemma.** Words\nof " +
		"it.\n\n<a id=\"four\"></a>\nMore."
	for anchor, want := range map[string]string{"one": section, "two": section, "three": "**Lemma.** Words\nof it.",
		"four": "More."} {
		if got := passage(page, anchor); got != want {
			t.Errorf("%s: %q, want %q", anchor, got, want)
		}
	}
	if Hash("a b", "c") != Hash("a\nb  c") || Hash("ab c") == Hash("a b c") {
		t.Error("the hash is not of the words")
	}
}

func TestRead(t *testing.T) {
	testscale.Slow(t)
	tree := must.Get(Read("../../.."))
	for name, want := range map[string]string{
		"internal/crossref.Tree":            "dpnb/internal/crossref/crossref.go",
		"internal/crossref.Passage.Page":    "dpnb/internal/crossref/crossref.go",
		"internal/crossref.TestRead":        "dpnb/internal/crossref/crossref_test.go",
		"mechanism/qop.Perturbation.Sigma2": "dpnb/mechanism/qop/mechanism.go",
	} {
		if got := tree.Symbols[name]; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if tree.Packages["dpnb"] != "dpnb" || tree.Packages["cmd/dpnb"] != "main" || tree.Packages[""] != "" {
		t.Errorf("packages %q", tree.Packages)
	}
	if _, ok := tree.Symbols["privacy.NoSuchThing"]; ok {
		t.Error("a name that is none is found")
	}
	if tree.Anchors["rkw23-thm3.1"].Page != "objective_perturbation" || !tree.Errata["rkw23-1"] ||
		!tree.Cells["02_objective_perturbation#risk-plot"] {
		t.Errorf("%q, %v, %v", tree.Anchors["rkw23-thm3.1"].Page, tree.Errata["rkw23-1"],
			tree.Cells["02_objective_perturbation#risk-plot"])
	}
}
