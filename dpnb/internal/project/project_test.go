package project

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestRootIsFoundFromBelowAndRefusedOutside(t *testing.T) {
	root, err := Root(".")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "dpnb", "internal", "project")); err != nil {
		t.Errorf("root %s: %v", root, err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "go.mod"), []byte("module example.com/other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Root(other); err == nil || !strings.Contains(err.Error(), "change to its folder") {
		t.Errorf("outside: %v", err)
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
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := ReadRevision(ctx, dir); !r.Dirty || !strings.HasSuffix(r.String(), "uncommitted changes") {
		t.Errorf("dirty: %+v", r)
	}
}
