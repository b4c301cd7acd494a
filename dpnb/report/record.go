package report

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/entropy"
	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

// stateDir, in the folder of the reports, keeps what a later run wants to know.
const stateDir = ".dpnb"

// Record is what is known about a finished report.
type Record struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Key     string   `json:"key"` // of everything that went into it; see fingerprint
	Seconds float64  `json:"seconds"`
	Failure *Failure `json:"failure,omitempty"`
	HTML    string   `json:"html_sha256"`
	IPYNB   string   `json:"ipynb_sha256"`
	// Parameters that were given for it.
	Parameters map[string]string `json:"parameters,omitempty"`
	// Files that the notebook said it read, with their marks: if one has changed since, the report is of yesterday.
	// What it writes itself, its ledgers and what is kept beside them, is not among them: a report that pays would pay
	// anew whenever another one has paid.
	Files map[string]string `json:"files,omitempty"`
}

// Verdict returns passed or failed.
func (r Record) Verdict() string {
	if r.Failure != nil {
		return "failed"
	}
	return "passed"
}

func recordPath(out, name string) string { return filepath.Join(out, stateDir, name+".json") }
func htmlPath(out, name string) string   { return filepath.Join(out, name+".html") }
func ipynbPath(out, name string) string  { return filepath.Join(out, name+".ipynb") }

// writeReport writes the report's files, and last the record that makes them count: a run that is killed in between
// leaves a report that is done again.
func writeReport(out string, r *Record, page []byte, nb *notebook.Notebook) error {
	if err := writeFiles(out, r, page, nb); err != nil {
		return err
	}
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBelow(recordPath(out, r.Name), append(content, '\n'))
}

// writeFiles writes the page and the notebook of r, and notes their checksums in it.
func writeFiles(out string, r *Record, page []byte, nb *notebook.Notebook) error {
	content, err := nb.Encode()
	if err != nil {
		return err
	}
	r.HTML, r.IPYNB = checksum(page), checksum(content)
	if err := atomicfile.Write(ipynbPath(out, r.Name), content); err != nil {
		return err
	}
	return atomicfile.Write(htmlPath(out, r.Name), page)
}

// readRecord returns what is known of a report.
func readRecord(out, name string) (r Record) {
	content, err := os.ReadFile(recordPath(out, name))
	if err != nil || json.Unmarshal(content, &r) != nil {
		return Record{}
	}
	return r
}

// current reports whether a report is the one that running the notebook now would give: made from the same things
// without a failure, with its files untouched; changed is what r.changed says.
func (r Record) current(out, key string, changed []string) bool {
	return r.Key == key && r.Failure == nil && changed == nil &&
		fileHas(htmlPath(out, r.Name), r.HTML) && fileHas(ipynbPath(out, r.Name), r.IPYNB)
}

// keep moves a report that passed aside before one that failed is written, and returns where its page is; "" if there
// is none. What it shows was paid for, and may not come again.
func (r Record) keep(out string) (page string, err error) {
	if r.Failure != nil || !fileHas(htmlPath(out, r.Name), r.HTML) || !fileHas(ipynbPath(out, r.Name), r.IPYNB) {
		return "", nil
	}
	page = htmlPath(out, r.Name+".passed")
	return page, errors.Join(os.Rename(ipynbPath(out, r.Name), ipynbPath(out, r.Name+".passed")),
		os.Rename(htmlPath(out, r.Name), page))
}

// lacks says which parameters, as they were given, r was made with and a run is without; "" if there are none.
func (r Record) lacks(parameters map[string]string) string {
	var lacking []string
	for _, name := range slices.Sorted(maps.Keys(r.Parameters)) {
		if _, given := parameters[name]; !given {
			lacking = append(lacking, fmt.Sprintf("-p %s=%s", name, r.Parameters[name]))
		}
	}
	return strings.Join(lacking, " ")
}

// changed names the files that have changed since r was made, or cannot be read.
func (r Record) changed() (paths []string) {
	secret, err := secretOfMachine()
	for _, path := range slices.Sorted(maps.Keys(r.Files)) {
		now, e := dataset.Checksum(path)
		if err != nil || e != nil || marked(secret, now) != r.Files[path] {
			paths = append(paths, path)
		}
	}
	return paths
}

// filesRead returns the files of a run log with their marks.
func filesRead(log *runlog.Log) (map[string]string, error) {
	secret, err := secretOfMachine()
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, d := range log.Data {
		if d.File != "" {
			files[d.File] = marked(secret, d.SHA256)
		}
	}
	for _, f := range log.Files {
		files[f.Path] = marked(secret, f.SHA256)
	}
	return files, nil
}

// marked tells files apart for who has the secret. A checksum would do so for everybody, and give away the one record
// of a private file that somebody does not know.
func marked(secret []byte, checksum string) string {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(checksum))
	return fmt.Sprintf("%x", h.Sum(nil))
}

// secretOfMachine is in the user's folder for caches: where that is removed, reports are made anew.
func secretOfMachine() ([]byte, error) {
	cache, err := project.CacheDir()
	if err != nil {
		return nil, err
	}
	path, secret := filepath.Join(cache, "secret"), make([]byte, sha256.Size)
	if kept, err := os.ReadFile(path); err == nil && len(kept) == len(secret) {
		return kept, nil
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, err
	}
	entropy.Read(secret)
	return secret, atomicfile.WritePrivately(path, secret)
}

func fileHas(path, sum string) bool {
	content, err := os.ReadFile(path)
	return err == nil && checksum(content) == sum
}

func checksum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// Failed returns an error that tells of every failed record, or nil.
func Failed(records []Record) error {
	var errs []error
	for _, r := range records {
		if r.Failure != nil {
			errs = append(errs, fmt.Errorf("%s failed at %w", r.Name, r.Failure))
		}
	}
	return errors.Join(errs...)
}
