package project

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func TestRootIsFoundFromBelowAndRefusedOutside(t *testing.T) {
	root := must.Get(Root("."))
	if _, err := os.Stat(filepath.Join(root, "dpnb", "internal", "project")); err != nil {
		t.Errorf("root %s: %v", root, err)
	}
	other := t.TempDir()
	must.Do(os.WriteFile(filepath.Join(other, "go.mod"), []byte("module example.com/other\n"), 0o644))
	if _, err := Root(other); err == nil || !strings.Contains(err.Error(), "change to its folder") {
		t.Errorf("outside: %v", err)
	}
}

// Outside a clone the program has its name alone.
func TestCommandOutsideAClone(t *testing.T) {
	in := Command()
	t.Chdir(t.TempDir())
	if out := Command(); in != "go run ./dpnb/cmd/dpnb" || out != "dpnb" {
		t.Errorf("in a clone %q, and outside %q", in, out)
	}
}

func TestReadRevision(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	if r := ReadRevision(ctx, dir); r != (Revision{}) || !strings.Contains(r.String(), "unknown") {
		t.Errorf("outside a repository: %v", r)
	}
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)
		cmd := exec.Command("git", args...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--no-verify", "--allow-empty", "-m", "first")
	if r := ReadRevision(ctx, dir); len(r.Commit) != 40 || r.Dirty || r.String() != r.Commit[:12] {
		t.Errorf("clean: %+v", r)
	}
	must.Do(os.WriteFile(filepath.Join(dir, "new"), nil, 0o644))
	if r := ReadRevision(ctx, dir); !r.Dirty || !strings.HasSuffix(r.String(), "uncommitted changes") {
		t.Errorf("dirty: %+v", r)
	}
}

// A program says the version that it was installed with, and none where it was built in a clone or from a folder.
func TestInstalled(t *testing.T) {
	other := &debug.Module{Path: "example.com/other", Version: "v9.9.9", Sum: "h1:x"}
	for _, c := range []struct {
		main, dependency debug.Module
		want             string
	}{
		{debug.Module{Path: ModulePath, Version: "v0.1.0", Sum: "h1:x"}, *other, "v0.1.0"},
		{debug.Module{Path: ModulePath, Version: "v0.1.1-0.20260101000000-0123456789ab", Sum: "h1:x"}, *other,
			"v0.1.1-0.20260101000000-0123456789ab"}, // of a commit, by a proxy
		{debug.Module{Path: ModulePath, Version: "v0.1.1-0.20260101000000-0123456789ab"}, *other, ""}, // in a clone
		{debug.Module{Path: ModulePath, Version: "v0.1.0+dirty"}, *other, ""},
		{debug.Module{Path: ModulePath, Version: "v0.2.0-rc.1"}, *other, "v0.2.0-rc.1"}, // of a tag
		{debug.Module{Path: ModulePath, Version: "(devel)"}, *other, ""},
		{debug.Module{Path: "cell"}, debug.Module{Path: ModulePath, Version: "v0.1.0", Sum: "h1:x"}, "v0.1.0"},
		{debug.Module{Path: "cell"}, debug.Module{Path: ModulePath, Version: "v0.0.0", Replace: other}, ""},
	} {
		got := installed(&debug.BuildInfo{Main: c.main, Deps: []*debug.Module{other, &c.dependency}})
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
	if v := Version(); v != Release+"-devel" {
		t.Errorf("this test is of version %s", v)
	}
}

// The go command is asked outside of any module, and what it says is why there is no folder.
func TestModuleDir(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the go command of this test is a shell script")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if _, err := moduleDir(t.Context(), "v1"); err == nil || !strings.Contains(err.Error(), "install Go") {
		t.Errorf("without a go command: %v", err)
	}
	script := func(answer string) {
		must.Do(os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\n"+answer), 0o700))
	}
	script(`echo "{\"Dir\": \"$(pwd) $*\"}"`)
	want := must.Get(filepath.EvalSymlinks(os.TempDir())) + " mod download -json " + ModulePath + "@v1"
	if got, err := moduleDir(t.Context(), "v1"); got != want || err != nil {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for _, answer := range []string{`echo '{"Error": "not known", "Dir": "/somewhere"}'`,
		`echo '{"Error": "not known"}'; exit 1`} {
		script(answer)
		if got, err := moduleDir(t.Context(), "v1"); err == nil || !strings.Contains(err.Error(), "not known") {
			t.Errorf("%s: %q, %v", answer, got, err)
		}
	}
	script("")
	if _, err := moduleDir(t.Context(), "v1"); err == nil {
		t.Error("a folder without a name")
	}
}

// The version stands once in the code; where others write it, it is the same.
func TestRelease(t *testing.T) {
	root := must.Get(Root("."))
	number := strings.TrimPrefix(Release, "v")
	for file, want := range map[string]string{"CITATION.cff": "\nversion: " + number + "\n",
		"docs/CHANGELOG.md": "\n## " + number, "docs/go.md": ModulePath + "/dpnb@" + Release + "\n",
		"docs/versions.md": "`" + Release + "`"} {
		if text, err := os.ReadFile(filepath.Join(root, file)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s has no %q (%v)", file, want, err)
		}
	}
}
