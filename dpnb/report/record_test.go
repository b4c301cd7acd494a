package report

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/report/jupyter"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

func TestRecordIsCurrentOnlyWhileNothingChanged(t *testing.T) {
	out := t.TempDir()
	nb := must.Get(notebook.Parse([]byte(`{"nbformat":4,"cells":[]}`)))
	write := func(failure *Failure) {
		t.Helper()
		r := &Record{Name: "a", Key: "k", Failure: failure}
		must.Do(writeReport(out, r, []byte("<html></html>"), nb))
	}
	current := func(key string) bool { r := readRecord(out, "a"); return r.current(out, key, r.changed()) }
	if current("k") {
		t.Error("current before there is one")
	}
	write(nil)
	if !current("k") || current("other key") {
		t.Error("the key does not decide")
	}
	for _, file := range []string{htmlPath(out, "a"), ipynbPath(out, "a")} {
		must.Do(os.WriteFile(file, []byte("edited"), 0o644))
		if current("k") {
			t.Errorf("current although %s was edited", file)
		}
		write(nil)
		must.Do(os.Remove(file))
		if current("k") {
			t.Errorf("current although %s is gone", file)
		}
		write(nil)
	}
	keep := func() string { r := readRecord(out, "a"); return must.Get(r.keep(out)) }
	if page := keep(); page != filepath.Join(out, "a.passed.html") ||
		string(must.Get(os.ReadFile(page))) != "<html></html>" {
		t.Errorf("a report that passed is lost when one fails: kept as %q", page)
	}
	write(&Failure{Cell: 1})
	if current("k") {
		t.Error("a failure is current")
	}
	r := Record{Parameters: map[string]string{"rows": "2", "person": `"id"`, "seed": "1"}}
	if said := r.lacks(map[string]string{"seed": "2"}); said != `-p person="id" -p rows=2` {
		t.Errorf("lacks %s", said)
	}
	if page := keep(); page != "" {
		t.Errorf("a report that failed is kept as %s", page)
	}
}

// A report is up to date while all files are what they were that it read, of records and others; and its record is of
// no use to who does not know one record of a private file and tries candidates.
func TestRecordKnowsFilesThatWereRead(t *testing.T) {
	out, run := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv(runlog.DirEnv, run)
	schema, people := filepath.Join(out, "schema.json"), filepath.Join(out, "people.csv")
	write := func(path, text string) {
		t.Helper()
		must.Do(os.WriteFile(path, []byte(text), 0o600))
	}
	write(schema, "1")
	write(people, "ill\nyes\n")
	must.Get(runlog.ReadFile(schema))
	private := checksum([]byte("ill\nyes\n"))
	must.Do(runlog.Append(runlog.KindData, runlog.Data{File: people, SHA256: private}))
	log := must.Get(runlog.Read(run))
	nb := must.Get(notebook.Parse([]byte(`{"nbformat":4,"cells":[]}`)))
	r := &Record{Name: "a", Key: "k"}
	r.Files = must.Get(filesRead(log))
	must.Do(writeReport(out, r, []byte("<html></html>"), nb))
	text, err := os.ReadFile(recordPath(out, "a"))
	if err != nil || strings.Contains(string(text), private) {
		t.Errorf("the checksum of a private file is in %s (%v)", text, err)
	}
	secret := filepath.Join(must.Get(project.CacheDir()), "secret")
	if info, err := os.Stat(secret); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the secret of the machine: %v, %v", info.Mode(), err)
	}
	current := func() bool { r := readRecord(out, "a"); return r.current(out, "k", r.changed()) }
	for _, path := range []string{schema, people} {
		was := must.Get(os.ReadFile(path))
		if !current() {
			t.Error("not up to date although nothing has changed")
		}
		if write(path, "2"); current() {
			t.Errorf("up to date although %s has changed", path)
		}
		if changed := r.changed(); len(changed) != 1 || changed[0] != path {
			t.Errorf("%s has changed, and not %v", path, changed)
		}
		write(path, string(was))
	}
	if t.Setenv("XDG_CACHE_HOME", t.TempDir()); current() {
		t.Error("the marks do not depend on the secret")
	}
}

func TestFingerprintChangesWithWhatMatters(t *testing.T) {
	root, data := t.TempDir(), t.TempDir()
	t.Setenv("DPNB_DATA", data)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	write := func(path, content string) {
		t.Helper()
		must.Do(os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(os.WriteFile(path, []byte(content), 0o644))
	}
	for _, name := range []string{"go.mod", "go.sum", "README.md", "dpnb/a.go", "dpnb/a_test.go", "dpnb/testdata/x",
		"data/small.csv"} {
		write(filepath.Join(root, name), "1")
	}
	// Files of largeFile bytes and more are known by their name, size and time, not their content.
	large := filepath.Join(data, "large")
	sized := func(size int64, when time.Time) {
		t.Helper()
		must.Do(os.Truncate(large, size))
		must.Do(os.Chtimes(large, when, when))
	}
	write(large, "1")
	sized(largeFile, time.Unix(1, 0))
	s := &Setup{Tree: project.Tree{Dir: root}, Kernel: &toolchain.Kernel{Key: "k"}, Jupyter: &jupyter.Jupyter{}}
	take := func() fingerprint {
		t.Helper()
		return must.Get(newFingerprint(context.Background(), s))
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
		{"the name of code", func() {
			must.Do(os.Rename(filepath.Join(root, "dpnb/b/b.go"), filepath.Join(root, "dpnb/b/c.go")))
		}, true},
		{"a dependency", func() { write(filepath.Join(root, "go.mod"), "2") }, true},
		{"the project's data", func() { write(filepath.Join(root, "data/small.csv"), "2") }, true},
		{"the user's data", func() { write(filepath.Join(data, "adult.data"), "2") }, true},
		{"the size of a large file", func() { sized(largeFile+1, time.Unix(1, 0)) }, true},
		{"the time of a large file", func() { sized(largeFile+1, time.Unix(2, 0)) }, true},
		{"the size that makes it large", func() { sized(largeFile, time.Unix(2, 0)) }, true},
		{"its content", func() {
			f := must.Get(os.OpenFile(large, os.O_WRONLY, 0))
			must.Get(f.WriteAt([]byte("2"), 0))
			must.Do(f.Close())
			sized(largeFile, time.Unix(2, 0))
		}, false},
		{"a file's name", func() { must.Do(os.Rename(large, large+"r")) }, true},
		{"the kernel", func() { s.Kernel.Key = "l" }, true},
		{"the secret of the machine", func() { t.Setenv("XDG_CACHE_HOME", t.TempDir()) }, true},
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
		nb := must.Get(notebook.Parse(fmt.Appendf(nil,
			`{"nbformat":4,"cells":[{"cell_type":"code","source":%q,"metadata":{}}]}`, source)))
		key := must.Get(old.of(nb))
		keys[key] = true
	}
	if len(keys) != 2 {
		t.Error("another source has the same key")
	}
}
