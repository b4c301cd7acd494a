//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/report/jupyter"
)

// The program that go install makes of a released version does, in a folder that is no clone, what a new user wants of
// it: from a table to a report, a model card and predictions. The version is of this tree, from a proxy of its own;
// nothing else is fetched that this machine has.
func TestInstalledProgram(t *testing.T) {
	testscale.SkipUnlessFull(t)
	if _, ok := jupyter.Find(context.Background(), jupyter.ThisMachine(), t.TempDir()); !ok {
		t.Skip("there is no Jupyter here but the project's own")
	}
	root := must.Get(project.Root("."))
	cached := must.Get(exec.Command("go", "env", "GOMODCACHE").Output())
	const version = "v0.1.0-test.1"
	home, study := t.TempDir(), filepath.Join(t.TempDir(), "a study")
	proxy, bin := filepath.Join(home, "proxy"), filepath.Join(home, "go", "bin")
	must.Do(os.Mkdir(study, 0o700))
	modules := filepath.Join(strings.TrimSpace(string(cached)), "cache", "download")
	environ := append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+home, "XDG_DATA_HOME="+home, "JUPYTER_DATA_DIR=",
		"GOPATH="+filepath.Join(home, "go"), "GOMODCACHE="+filepath.Join(home, "mod"), "GOBIN="+bin,
		"GOFLAGS=-modcacherw", "GOPROXY=file://"+proxy+",file://"+modules+",off",
		"GONOSUMDB=github.com/dpnb/notebooks", "GOSUMDB=off", "PATH="+bin+":"+os.Getenv("PATH"))
	run := func(dir, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, environ
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run(root, "go", "run", "./dpnb/internal/testing/moduleproxy", proxy, version)
	run(study, "go", "install", project.ModulePath+"/dpnb/cmd/dpnb@"+version)
	dpnb := filepath.Join(bin, "dpnb")
	if out := run(study, dpnb, "--version"); !strings.Contains(out, version) {
		t.Errorf("--version: %s", out)
	}
	var rows strings.Builder
	rows.WriteString("age,city,happy\n")
	for i := range 3000 {
		fmt.Fprintf(&rows, "%d,%s,%s\n", 20+i%50, []string{"Bern", "Rome"}[i%2], []string{"no", "yes"}[i*i%7%2])
	}
	codebook := "name,type,lower,upper,categories\nage,number,18,90,\n" +
		"city,category,,,Bern|Rome\nhappy,category,,,no|yes\n"
	for name, text := range map[string]string{"people.csv": rows.String(), "codebook.csv": codebook} {
		must.Do(os.WriteFile(filepath.Join(study, name), []byte(text), 0o600))
	}
	run(study, dpnb, "new", "people.csv", "--target", "happy", "--codebook", "codebook.csv")
	run(study, dpnb, "schema", "check", "people.schema.json", "people.csv")
	run(study, dpnb, "report", "people.ipynb")
	for name, want := range map[string]string{"people.card.md": version, "reports/people.html": version,
		"reports/index.html": "people"} {
		if text, err := os.ReadFile(filepath.Join(study, name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s (%v)", name, want, err)
		}
	}
	run(study, dpnb, "predict", "people.model.json", "people.csv")
	predicted, err := os.ReadFile(filepath.Join(study, "people.model.predictions.csv"))
	if err != nil || strings.Count(string(predicted), "\n") != 3001 {
		t.Errorf("%d lines of predictions (%v)", strings.Count(string(predicted), "\n"), err)
	}
	run(study, dpnb, "report", "10_scale", "--out", "chapter") // from the cache of modules, which is read only
	if out := run(study, dpnb, "claims", "--list"); strings.Count(out, "\n") < 100 {
		t.Errorf("the register: %s", out)
	}
}
