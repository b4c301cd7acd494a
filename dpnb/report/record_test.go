package report

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpnb/notebooks/dpnb/report/jupyter"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

func TestRecordIsCurrentOnlyWhileNothingChanged(t *testing.T) {
	out := t.TempDir()
	nb, err := notebook.Parse([]byte(`{"nbformat":4,"cells":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	write := func(failure *Failure) {
		t.Helper()
		r := &Record{Name: "a", Key: "k", Failure: failure}
		if err := writeReport(out, r, []byte("<html></html>"), nb); err != nil {
			t.Fatal(err)
		}
	}
	current := func(key string) bool { _, ok := readRecord(out, "a", key); return ok }
	if current("k") {
		t.Error("current before there is one")
	}
	write(nil)
	if !current("k") || current("other key") {
		t.Error("the key does not decide")
	}
	for _, file := range []string{htmlPath(out, "a"), ipynbPath(out, "a")} {
		if err := os.WriteFile(file, []byte("edited"), 0o644); err != nil {
			t.Fatal(err)
		}
		if current("k") {
			t.Errorf("current although %s was edited", file)
		}
		write(nil)
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if current("k") {
			t.Errorf("current although %s is gone", file)
		}
		write(nil)
	}
	write(&Failure{Cell: 1})
	if current("k") {
		t.Error("a failure is current")
	}
}

func TestFingerprintChangesWithWhatMatters(t *testing.T) {
	root, data := t.TempDir(), t.TempDir()
	t.Setenv("DPNB_DATA", data)
	write := func(path, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "README.md", "dpnb/a.go", "dpnb/a_test.go", "dpnb/testdata/x",
		"data/small.csv"} {
		write(filepath.Join(root, name), "1")
	}
	s := &Setup{Root: root, Kernel: &toolchain.Kernel{Key: "k"}, Jupyter: &jupyter.Jupyter{}}
	take := func() fingerprint {
		t.Helper()
		f, err := newFingerprint(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	old := take()
	for _, c := range []struct {
		name    string
		change  func()
		matters bool
	}{
		{"nothing", func() {}, false},
		{"a text", func() { write(filepath.Join(root, "README.md"), "2") }, false},
		{"a test", func() { write(filepath.Join(root, "dpnb/a_test.go"), "2") }, false},
		{"test data", func() { write(filepath.Join(root, "dpnb/testdata/x"), "2") }, false},
		{"code", func() { write(filepath.Join(root, "dpnb/a.go"), "2") }, true},
		{"new code", func() { write(filepath.Join(root, "dpnb/b/b.go"), "2") }, true},
		{"a dependency", func() { write(filepath.Join(root, "go.mod"), "2") }, true},
		{"the project's data", func() { write(filepath.Join(root, "data/small.csv"), "2") }, true},
		{"the user's data", func() { write(filepath.Join(data, "adult.data"), "2") }, true},
		{"the kernel", func() { s.Kernel.Key = "l" }, true},
		{"Jupyter", func() { s.Jupyter.Versions = map[string]string{"nbconvert": "7"} }, true},
	} {
		c.change()
		now := take()
		if (now != old) != c.matters {
			t.Errorf("%s: changed is %v", c.name, now != old)
		}
		old = now
	}
	keys := map[string]bool{}
	for _, source := range []string{"a", "b"} {
		nb, err := notebook.Parse(fmt.Appendf(nil,
			`{"nbformat":4,"cells":[{"cell_type":"code","source":%q,"metadata":{}}]}`, source))
		if err != nil {
			t.Fatal(err)
		}
		key, err := old.of(nb)
		if err != nil {
			t.Fatal(err)
		}
		keys[key] = true
	}
	if len(keys) != 2 {
		t.Error("another source has the same key")
	}
}
