package learn

import (
	"context"
	"runtime/debug"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/project"
)

// moduleVersion says which version of this module the program was built with.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionIn(info)
}

// versionIn is moduleVersion of a program that was built so. Cells of notebooks are built with a module in a folder, in
// the place of a version that does not exist: its commit is said.
func versionIn(info *debug.BuildInfo) string {
	const path = project.ModulePath
	for _, m := range append(slices.Clone(info.Deps), &info.Main) {
		if m.Path != path {
			continue
		}
		if m.Replace != nil {
			if r := project.ReadRevision(context.Background(), m.Replace.Path); r.Commit != "" {
				return path + " at " + r.String()
			}
			return path + " (devel)"
		}
		version := path + " " + m.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && m == &info.Main {
				version += " " + s.Value
			}
		}
		return version
	}
	return path
}
