// Package runlog is the channel by which code that runs in a notebook tells the program that runs the notebook where
// its results come from: which data were read, which seeds were used, what the privacy ledger says.
//
// Every cell of a GoNB notebook is a process of its own, so the channel is a file: a folder for each run, holding one
// line of JSON for each record. Outside a notebook there is no folder and every call does nothing, which keeps the
// callers free of conditions.
package runlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// DirEnv names the environment variable that holds the folder of the current run. The runner sets it, a fresh folder
// for each notebook.
const DirEnv = "DPNB_RUN_DIR"

// kernelDirEnv is set by the GoNB kernel to a folder of its own, unique for each kernel and removed with it.
const kernelDirEnv = "GONB_TMP_DIR"

const (
	kernelSubdir = "dpnb-run"
	logName      = "run.jsonl"
)

// Kinds of records.
const (
	KindData   = "data"   // a Data
	kindFile   = "file"   // a File
	KindSeed   = "seed"   // a Seed
	KindLedger = "ledger" // a Ledger; the last one of each name counts
	KindNote   = "note"   // a Note
)

// Dir returns the folder of the current run: DPNB_RUN_DIR, else a folder in the GoNB kernel's own temporary one, else
// ok is false. The folder need not exist yet; Append makes it.
func Dir() (dir string, ok bool) {
	if dir := os.Getenv(DirEnv); dir != "" {
		return dir, true
	}
	if dir := os.Getenv(kernelDirEnv); dir != "" {
		return filepath.Join(dir, kernelSubdir), true
	}
	return "", false
}

// Reported reports whether the run is of "dpnb report" or "dpnb test", whose outputs are kept: not of somebody at a
// notebook.
func Reported() bool { return os.Getenv(DirEnv) != "" }

// NoFile says that there is no file at path, and to what a path is relative.
func NoFile(path string) string {
	text := fmt.Sprintf("there is no file %q; check the path", path)
	switch _, notebook := Dir(); {
	case filepath.IsAbs(path):
		return text
	case notebook:
		return text + " (it is relative to the notebook's folder)"
	}
	return text + " (it is relative to the folder in which the program runs)"
}

// Append adds one record to the log of the current run. Without a run it does nothing and returns nil.
//
// The record is one write to a file opened for appending, so records of cells and goroutines that write at the same
// time do not mix.
func Append(kind string, v any) error {
	dir, ok := Dir()
	if !ok {
		return nil
	}
	value, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("runlog: record of kind %q: %w", kind, err)
	}
	line, err := json.Marshal(record{Kind: kind, Value: value})
	if err != nil {
		return fmt.Errorf("runlog: record of kind %q: %w", kind, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("runlog: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, logName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("runlog: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("runlog: %w", err)
	}
	return nil
}

// ReadFile reads a file that is none of records, and records that: what came of a run depends on it.
func ReadFile(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	return content, Append(kindFile, File{Path: path, SHA256: fmt.Sprintf("%x", sha256.Sum256(content))})
}

// seeded holds what Seeded has recorded in this process: {folder, seed}.
var seeded sync.Map

// Seeded records that random numbers are drawn from a seed, once for each run. It is called where a seeded source is
// made, so that no simulation can forget it. A log that cannot be written is said on the standard error, because what
// draws random numbers has no error to return.
func Seeded(seed uint64) {
	dir, ok := Dir()
	if !ok {
		return
	}
	type key struct {
		dir  string
		seed uint64
	}
	if _, known := seeded.LoadOrStore(key{dir, seed}, true); known {
		return
	}
	if err := Append(KindSeed, Seed{Seed: seed}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// Read returns what the run in dir recorded. A run that recorded nothing gives an empty Log. A last line without its
// end, left by a cell that was killed in the middle of a write, is passed over; any other line that cannot be read is
// an error.
func Read(dir string) (*Log, error) {
	content, err := os.ReadFile(filepath.Join(dir, logName))
	if errors.Is(err, fs.ErrNotExist) {
		return &Log{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("runlog: %w", err)
	}
	log := &Log{}
	for n := 1; ; n++ {
		line, rest, ended := bytes.Cut(content, []byte{'\n'})
		if !ended {
			return log, nil
		}
		content = rest
		if err := log.add(line); err != nil {
			return nil, fmt.Errorf("runlog: %s line %d: %w", logName, n, err)
		}
	}
}

type record struct {
	Kind  string          `json:"kind"`
	Value json.RawMessage `json:"value"`
}

func (l *Log) add(line []byte) error {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	switch r.Kind {
	case KindData: // public as soon as one record says so
		return add(&l.Data, r.Value, func(old *Data, d Data) bool {
			same := old.Name == d.Name && old.File == d.File && old.SHA256 == d.SHA256
			old.Public = old.Public || same && d.Public
			return same
		})
	case kindFile:
		return add(&l.Files, r.Value, func(old *File, f File) bool { return *old == f })
	case KindSeed: // known by the first name that it is given
		return add(&l.Seeds, r.Value, func(old *Seed, s Seed) bool {
			same := old.Seed == s.Seed && (s.Name == "" || old.Name == "" || old.Name == s.Name)
			if same && old.Name == "" {
				old.Name = s.Name
			}
			return same
		})
	case KindNote:
		return add(&l.Notes, r.Value, func(old *Note, n Note) bool { return *old == n })
	case KindLedger: // the last word counts
		return add(&l.Ledgers, r.Value, func(old *Ledger, ledger Ledger) bool {
			same := old.Name == ledger.Name
			if same {
				*old = ledger
			}
			return same
		})
	default:
		return fmt.Errorf("unknown kind %q", r.Kind)
	}
}

// add decodes a record and adds it, unless it can be merged into one that is there: cells repeat the work of their
// package-level variables, and so their records.
func add[T any](list *[]T, value json.RawMessage, merged func(old *T, v T) bool) error {
	var v T
	if err := json.Unmarshal(value, &v); err != nil {
		return err
	}
	for i := range *list {
		if merged(&(*list)[i], v) {
			return nil
		}
	}
	*list = append(*list, v)
	return nil
}
