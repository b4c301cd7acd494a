package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.html")
	for _, content := range []string{"first", "second, longer", ""} {
		if err := Write(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Fatalf("got %q, %v; want %q", got, err, content)
		}
	}
	if n := names(t, dir); len(n) != 1 {
		t.Errorf("left behind: %v", n)
	}
}

func TestFailedWriteLeavesTheOldFileAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.Mkdir(path, 0o755); err != nil { // a folder cannot be replaced by a file
		t.Fatal(err)
	}
	if err := Write(path, []byte("x")); err == nil {
		t.Fatal("no error")
	}
	if n := names(t, dir); len(n) != 1 || n[0] != "taken" {
		t.Errorf("left behind: %v", n)
	}
}

func TestRemoveParts(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{tempPrefix + "a.html-123", tempPrefix + "b.html-1", "a.html", "b.html", ".hidden"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // there, and not
		path := filepath.Join(dir, "b.html")
		if err := errors.Join(RemovePartsOf(path), Remove(path)); err != nil {
			t.Fatal(err)
		}
	}
	if n := names(t, dir); len(n) != 3 {
		t.Errorf("left: %v", n)
	}
	if err := RemoveParts(dir); err != nil {
		t.Fatal(err)
	}
	if n := names(t, dir); len(n) != 2 {
		t.Errorf("left: %v", n)
	}
	if err := RemoveParts(filepath.Join(dir, "absent")); err != nil {
		t.Error(err)
	}
}

func TestWritePrivately(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := WritePrivately(path, []byte("raw")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || info.Size() != 3 {
		t.Errorf("%v, %v", info, err)
	}
}
