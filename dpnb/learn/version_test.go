package learn

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// A program that has the module from a folder, as cells of notebooks do, says the commit there and never the version
// that stands in for it.
func TestVersionOfAFolder(t *testing.T) {
	root := must.Get(project.Root("."))
	with := func(version string, replace *debug.Module) string {
		return versionIn(&debug.BuildInfo{Main: debug.Module{Path: "cell"},
			Deps: []*debug.Module{{Path: "github.com/dpnb/notebooks", Version: version, Replace: replace}}})
	}
	if got := with("v1.2.3", nil); got != "github.com/dpnb/notebooks v1.2.3" {
		t.Error(got)
	}
	if got := with("v0.0.0", &debug.Module{Path: t.TempDir()}); got != "github.com/dpnb/notebooks (devel)" {
		t.Error(got)
	}
	want := "github.com/dpnb/notebooks (devel)"
	if r := project.ReadRevision(t.Context(), root); r.Commit != "" {
		want = "github.com/dpnb/notebooks at " + r.Commit[:12]
	}
	if got := with("v0.0.0", &debug.Module{Path: root}); !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}
