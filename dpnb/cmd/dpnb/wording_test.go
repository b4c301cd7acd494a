package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Each setting that a text names by package wording is one that a shell has.
func TestShellHasItsWords(t *testing.T) {
	flags := map[string]bool{}
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		for _, c := range cmd.Commands() {
			add(c)
		}
	}
	add(newRootCommand())
	named := regexp.MustCompile(`(?:wording\.Of\(|Field: |mark\()"(\w+)"`)
	for _, room := range []string{"frame", "learn", "explore", "ledger", "mechanism", "cmd"} {
		must.Do(filepath.WalkDir(filepath.Join("..", "..", room), func(path string, e fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, m := range named.FindAllStringSubmatch(string(must.Get(os.ReadFile(path))), -1) {
				if shellNames[m[1]] == "" && !flags[flagOf(m[1])] {
					t.Errorf("%s names the setting %s, which a shell does not have", path, m[1])
				}
			}
			return nil
		}))
	}
}
