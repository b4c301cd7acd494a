package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// licences by words that only their texts have, the most telling first.
var licences = []struct{ name, words string }{
	{"OFL-1.1", "SIL OPEN FONT LICENSE"}, {"FTL (chosen of FTL OR GPL-2.0-or-later)", "The FreeType License"},
	{"CC-BY-4.0", "Creative Commons Attribution 4.0 International"}, {"Apache-2.0", "Apache License"},
	{"MIT", "Permission is hereby granted, free of charge"}, {"BSD-3-Clause", "Neither the name of"},
	{"BSD-2-Clause", "Redistributions in binary form"}, {"Unlicense", "This is free and unencumbered software"},
}

// who has a copyright, as the licence of a module says.
var copyright = regexp.MustCompile(`(?m)^.{0,15}\b([Cc]opyright (?:\([cC]\)|©|\d).*?)\s*$`)

// NOTICE lists the modules that the program is built from, with their versions, licences and copyrights. DPNB_GOLDEN=1
// writes it anew.
func TestNotice(t *testing.T) {
	testscale.Slow(t)
	// By rooms that other systems need, too.
	modules := map[string]bool{}
	var text strings.Builder
	text.WriteString("dpnb\n\nThe program dpnb is built from these modules, each under the licence that it names:\n")
	var order []string
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} "+
			"{{.Dir}}{{end}}{{end}}", ".")
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		out := must.Get(cmd.Output())
		for _, line := range strings.Split(string(out), "\n") {
			if line != "" && !modules[line] {
				modules[line] = true
				order = append(order, line)
			}
		}
	}
	slices.Sort(order)
	for _, line := range order {
		f := strings.SplitN(line, " ", 3)
		fmt.Fprintf(&text, "\n%s %s\n", f[0], f[1])
		for _, line := range terms(t, f[2]) {
			fmt.Fprintf(&text, "  %s\n", line)
		}
	}
	if len(order) < 20 {
		t.Errorf("%d modules", len(order))
	}
	golden.Compare(t, filepath.Join("..", "..", "..", "NOTICE"), text.String())
}

// terms returns the licences of the module in a folder, who has a copyright, and the notice that goes with it.
func terms(t *testing.T, dir string) (lines []string) {
	t.Helper()
	files := must.Get(os.ReadDir(dir))
	named := false
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		licence := strings.Contains(name, "LICENSE") || strings.HasPrefix(name, "COPYING")
		if notice := strings.HasPrefix(name, "NOTICE"); f.IsDir() || !licence && !notice {
			continue
		}
		content := must.Get(os.ReadFile(filepath.Join(dir, f.Name())))
		if !licence {
			lines = append(lines, strings.Split(strings.TrimSpace(string(content)), "\n")...)
			continue
		}
		for _, l := range licences {
			if strings.Contains(strings.Join(strings.Fields(string(content)), " "), l.words) {
				lines, named = append(lines, l.name), true
				break
			}
		}
		for _, m := range copyright.FindAllStringSubmatch(string(content), 8) {
			if !strings.Contains(m[1], "yyyy") { // of the form that a licence shows for others
				lines = append(lines, m[1])
			}
		}
	}
	if !named {
		t.Errorf("%s: a licence that this test does not know", dir)
	}
	return lines
}
