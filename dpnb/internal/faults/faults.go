// Package faults plants mistakes in the code, one at a time, and sees which check notices. A fault is an exact text of
// one file and what it is replaced by; it is compiled by an overlay of the go command, so that no file is touched. The
// list is faults.tsv, what came of it results.tsv, and docs/faults.md is made of both.
package faults

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault is a mistake that can be planted.
type Fault struct {
	// ID is the room and a name: "ssp/gram-noise".
	ID string
	// File below dpnb, where Text stands exactly once and is replaced by Replacement.
	File, Text, Replacement string
	// What is wrong then, in words.
	What string
	// Checks that are run, the cheap ones first, until one fails: "mechanism/ssp" is the tests of that package,
	// "mechanism/ssp:TestNoise" one of them, "claim:qop/thm3.1" the verdict of a claim.
	Checks []string
	// Reason why no check need notice; empty for a fault that must be caught.
	Reason string
	// Limit is how long a check may take; zero means 300 s. A fault that keeps a search from ending is noticed by it.
	Limit time.Duration
}

// Result says which check noticed a fault.
type Result struct {
	// ID of the fault, and Hash of its text, so that a result of another version is not taken for one of this.
	ID, Hash string
	// Check and Test that noticed; empty if none did. Message is the first line of what it said.
	Check, Test, Message string
	// Seconds until then, of all checks that were run, with building.
	Seconds float64
}

// Caught reports whether a check noticed.
func (r Result) Caught() bool { return r.Check != "" }

// The list and the results, below the top of the checkout.
const (
	listFile    = "dpnb/internal/faults/faults.tsv"
	mutantFile  = "dpnb/internal/faults/mutants.tsv"
	resultsFile = "dpnb/internal/faults/results.tsv"
	document    = "docs/faults.md"
)

// fields returns the lines of a table of n columns below its header, without comments.
func fields(name string, n int) (rows [][]string, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		if i == 0 || line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != n {
			return nil, fmt.Errorf("%s:%d: %d columns, want %d", name, i+1, len(cells), n)
		}
		rows = append(rows, cells)
	}
	return rows, nil
}

// Read returns the list of the checkout at root.
func Read(root string) (list []Fault, err error) {
	rows, err := fields(filepath.Join(root, listFile), 6)
	for _, c := range rows {
		list = append(list, Fault{ID: c[0], File: c[1], Text: c[2], Replacement: c[3], What: c[4],
			Checks: strings.Fields(c[5])})
	}
	return list, err
}

// Select returns the faults whose ID matches the pattern ("ssp/*"), all for the empty one.
func Select(list []Fault, pattern string) (some []Fault, err error) {
	for _, f := range list {
		ok, err := path.Match(pattern, f.ID)
		if err != nil {
			return nil, err
		}
		if ok || pattern == "" {
			some = append(some, f)
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("no fault matches %q", pattern)
	}
	return some, nil
}

// Hash names the change that a fault makes.
func (f Fault) Hash() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(f.File+"\x00"+f.Text+"\x00"+f.Replacement)))[:8]
}

// planted returns the file with the fault in it.
//
// Errors: the text does not stand there exactly once.
func (f Fault) planted(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, "dpnb", f.File))
	if err != nil {
		return nil, fmt.Errorf("fault %s: %w", f.ID, err)
	}
	if n := bytes.Count(text, []byte(f.Text)); n != 1 {
		return nil, fmt.Errorf("fault %s: dpnb/%s has %q %d times, not once: write the fault anew", f.ID, f.File,
			f.Text, n)
	}
	return bytes.Replace(text, []byte(f.Text), []byte(f.Replacement), 1), nil
}

// Problems says what is wrong with a list.
func Problems(root string, list []Fault) error {
	var all []error
	seen := map[string]bool{}
	for _, f := range list {
		if _, err := f.planted(root); err != nil {
			all = append(all, err)
		}
		if seen[f.ID] || f.ID == "" || f.What == "" || f.Text == f.Replacement || len(f.Checks) == 0 {
			all = append(all, fmt.Errorf("fault %s is there twice or lacks a part", f.ID))
		}
		seen[f.ID] = true
		for _, c := range f.Checks {
			if dir, _ := directory(c); dir == "" {
				all = append(all, fmt.Errorf("fault %s: the check %q is malformed", f.ID, c))
			} else if _, err := os.Stat(filepath.Join(root, "dpnb", dir)); err != nil {
				all = append(all, fmt.Errorf("fault %s: %w", f.ID, err))
			}
		}
	}
	return errors.Join(all...)
}

// ReadResults returns the results of the checkout at root, by fault; none if there is no file.
func ReadResults(root string) (map[string]Result, error) {
	results := map[string]Result{}
	rows, err := fields(filepath.Join(root, resultsFile), 6)
	if errors.Is(err, os.ErrNotExist) {
		return results, nil
	}
	for _, c := range rows {
		s, e := strconv.ParseFloat(c[4], 64)
		if e != nil {
			return nil, e
		}
		results[c[0]] = Result{ID: c[0], Hash: c[1], Check: c[2], Test: c[3], Seconds: s, Message: c[5]}
	}
	return results, err
}

// WriteResults writes the results of the faults in the list, in its order, and the document.
func WriteResults(root string, list []Fault, results map[string]Result) error {
	var b strings.Builder
	b.WriteString("fault\thash\tcheck\ttest\tseconds\tmessage\n")
	for _, f := range list {
		if r, ok := results[f.ID]; ok {
			fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%.1f\t%s\n", r.ID, r.Hash, r.Check, r.Test, r.Seconds, r.Message)
		}
	}
	if err := os.WriteFile(filepath.Join(root, resultsFile), []byte(b.String()), 0o644); err != nil {
		return err
	}
	return WriteDocument(root)
}

// Missing returns the faults without a result of their present text.
func Missing(list []Fault, results map[string]Result) (missing []Fault) {
	for _, f := range list {
		if results[f.ID].Hash != f.Hash() {
			missing = append(missing, f)
		}
	}
	return missing
}

// Checks returns every check that the list names, once, in order.
func Checks(list []Fault) (all []string) {
	for _, f := range list {
		all = append(all, f.Checks...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// overlay writes what the go command compiles in place of files below dpnb, to a new folder, and returns the overlay's
// name.
func overlay(root string, files map[string][]byte, dir string) (string, error) {
	replaced := map[string]string{}
	for file, content := range files {
		name := filepath.Join(dir, strconv.Itoa(len(replaced))+".go")
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return "", err
		}
		replaced[filepath.Join(root, "dpnb", filepath.FromSlash(file))] = name
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, text, 0o600)
}
