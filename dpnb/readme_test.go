package dpnb_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// The Go of the README, put together in its order as in a notebook, must be a program.
func TestReadmeCompiles(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := goBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 2 || !strings.Contains(blocks[0][1], ".Fit(") {
		t.Fatalf("%d examples of Go", len(blocks))
	}
	vet := func(more string) (string, error) {
		program := "package main\n\nimport \"github.com/dpnb/notebooks/dpnb\"\n\nfunc main() {\n"
		for _, b := range blocks {
			program += b[1]
		}
		file := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(file, []byte(program+more+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("go", "vet", file).CombinedOutput()
		return string(out), err
	}
	if out, err := vet(""); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := vet("unused := 1\n"); err == nil || !strings.Contains(out, "unused") {
		t.Errorf("a variable that is not used is let pass (%v): %s", err, out)
	}
}
