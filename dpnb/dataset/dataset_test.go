package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	must.Do(os.WriteFile(path, []byte(content), 0o644))
}

func TestFindLooksInTheNamedFolderFirst(t *testing.T) {
	named, root := t.TempDir(), t.TempDir()
	t.Chdir(root)
	t.Setenv(DirEnv, named)
	write(t, filepath.Join(root, "go.mod"), "module github.com/dpnb/notebooks\n")
	must.Do(os.Mkdir(filepath.Join(root, "data"), 0o755))
	if _, err := Find("adult.data"); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(),
		"go run ./dpnb/cmd/dpnb data adult") {
		t.Errorf("nowhere: %v", err)
	}
	if _, err := Find("other.csv"); !errors.Is(err, ErrMissing) || strings.Contains(err.Error(), "go run") {
		t.Errorf("unknown file: %v", err)
	}
	write(t, filepath.Join(root, "data", "adult.data"), "project")
	if path, err := Find("adult.data"); err != nil || filepath.Base(filepath.Dir(path)) != "data" {
		t.Errorf("in the project: %q, %v", path, err)
	}
	write(t, filepath.Join(named, "adult.data"), "named")
	if path, err := Find("adult.data"); err != nil || filepath.Dir(path) != named {
		t.Errorf("in the named folder: %q, %v", path, err)
	}
}

func TestVerify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "abc")
	write(t, path, "abc")
	// SHA-256 of "abc": FIPS 180-2, appendix B.1.
	f := File{Name: "abc", SHA256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}
	if err := f.Verify(path); err != nil {
		t.Error(err)
	}
	write(t, path, "abd")
	var wrong *ChecksumError
	if err := f.Verify(path); !errors.As(err, &wrong) {
		t.Errorf("changed file: %v", err)
	}
	if err := f.Verify(path + ".absent"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
}

func TestChecksumsOfTheRealFiles(t *testing.T) {
	dir := os.Getenv(DirEnv)
	if dir == "" {
		t.Skipf("%s is not set", DirEnv)
	}
	for _, f := range Sets["adult"] {
		path, err := Find(f.Name)
		if err != nil {
			t.Skip(err)
		}
		if err := f.Verify(path); err != nil {
			t.Error(err)
		}
	}
}
