package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/report"
)

const notebookSuffix = ".ipynb"

// source returns the clone that the user is in, for what works on the source itself.
func source() (string, error) { return project.Root(".") }

// projectNotebooks returns the notebooks of the project, in order of their names.
func projectNotebooks(root string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(root, "notebooks", "*"+notebookSuffix))
	slices.Sort(found)
	return found, err
}

// chooseNotebooks returns the notebooks that were named, by path or by name, else all; of these it keeps those that a
// pattern of only matches. Patterns are those of path.Match, on the name without its suffix.
func chooseNotebooks(root string, all, named, only []string) ([]string, error) {
	chosen := all
	if len(named) > 0 {
		chosen = nil
		for _, name := range named {
			path, err := findNotebook(root, name)
			if err != nil {
				return nil, err
			}
			chosen = append(chosen, path)
		}
	}
	if len(chosen) == 0 {
		return nil, errors.New("there is no notebook in " + filepath.Join(root, "notebooks"))
	}
	if len(only) == 0 {
		return chosen, nil
	}
	var kept, names []string
	for _, file := range chosen {
		names = append(names, report.Name(file))
		for _, pattern := range only {
			match, err := path.Match(strings.TrimSuffix(pattern, notebookSuffix), report.Name(file))
			if err != nil {
				return nil, fmt.Errorf("--only %q: %w", pattern, err)
			}
			if match {
				kept = append(kept, file)
				break
			}
		}
	}
	if kept == nil {
		return nil, fmt.Errorf("--only %s matches none of %s", strings.Join(only, " "), strings.Join(names, ", "))
	}
	return kept, nil
}

// findNotebook takes a path, or the name of a notebook in notebooks/.
func findNotebook(root, name string) (string, error) {
	file := strings.TrimSuffix(name, notebookSuffix) + notebookSuffix
	for _, candidate := range []string{file, filepath.Join(root, "notebooks", file)} {
		if info, err := os.Stat(candidate); err == nil && info.Mode().IsRegular() {
			return filepath.Abs(candidate)
		}
	}
	return "", fmt.Errorf("no notebook %s, neither here nor in %s", name, filepath.Join(root, "notebooks"))
}

// parseParameters reads name=value pairs.
func parseParameters(pairs []string) (map[string]string, error) {
	values := map[string]string{}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("-p %q: write it as name=value", pair)
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("-p %s is given twice", name)
		}
		values[name] = value
	}
	return values, nil
}
