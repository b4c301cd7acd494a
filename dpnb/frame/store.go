package frame

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/dpnb/notebooks/dpnb/matrix/stored"
)

// Storage says where the records of a table that is larger than memory are kept while they
// are learnt from. The zero value is right for most.
type Storage struct {
	// Dir is the folder; empty is dpnb/records in the user's folder for caches.
	Dir string
	// Double keeps features as float64. Without it they are rounded to float32, towards
	// zero, which takes half the room: each by itself, and no row gets longer.
	Double bool
}

// stepsOfCode changes when the same table, schema and settings come to mean other records.
const stepsOfCode = "dpnb records 2"

// fingerprinted is a table that can say in a text what each scan of it gives; "" says that it
// cannot.
type fingerprinted interface{ Fingerprint() string }

// dir returns the folder of the files, which only the user may read.
func (s Storage) dir() (string, error) {
	if s.Dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", inputErrorf("there is no folder for the records (%v): name one in Storage.Dir", err)
		}
		s.Dir = filepath.Join(cache, "dpnb", "records")
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return "", inputErrorf("there is no folder for the records (%v): name another in Storage.Dir", err)
	}
	return s.Dir, nil
}

// Planned returns the design of a table of any size without its records: what is public of them.
// Encoding.Stored makes them.
//
// Errors: as NewDesign.
func Planned(t Scanner, schema *Schema, s DesignSettings) (*Design, error) {
	if t == nil {
		return nil, inputErrorf("no table")
	}
	e, err := newEncoding(t.Names(), schema, s)
	if err != nil {
		return nil, err
	}
	return e.designOf(t.Origin()), nil
}

// designOf is the design of records that are still to be made.
func (e *Encoding) designOf(source Source) *Design {
	return &Design{Features: e.Features, RowNorm: e.RowNorm, Steps: e.Steps, DataDependent: e.DataDependent,
		Source: source, Target: e.Target, Encoding: e}
}

// Stored is Design for a table of any size: its records are made in one scan and written to a
// file, from which they are learnt block by block. A file of the same table, schema and settings
// that is there in full, by its checksum, is taken as it is; RemoveStored removes them all. Of a
// table that cannot say what it is, one in memory or one that a function was applied to, the file
// is gone when the program ends.
//
// The file has raw records, encoded, and only the user may read it.
//
// Errors: as Design, those of the scan, and a folder that cannot be written.
func (e *Encoding) Stored(t Scanner, where Storage) (*Design, error) {
	dir, err := where.dir()
	if err != nil {
		return nil, err
	}
	var key [32]byte
	known, keeps := t.(fingerprinted)
	var name, print string
	if keeps {
		print = known.Fingerprint()
	}
	if print != "" {
		text, err := json.Marshal([]any{stepsOfCode, print, e.Kept(), where.Double})
		if err != nil {
			return nil, inputErrorf("%v", err)
		}
		key = sha256.Sum256(text)
		name = filepath.Join(dir, hex.EncodeToString(key[:])+".rows")
	} else {
		f, err := os.CreateTemp(dir, "once-*.rows")
		if err != nil {
			return nil, inputErrorf("cannot store the records: %v", err)
		}
		name = f.Name()
		defer os.Remove(name) // who has it open reads on
		if err := f.Close(); err != nil {
			return nil, inputErrorf("cannot store the records: %v", err)
		}
	}
	rows, err := stored.Open(name, key)
	if errors.Is(err, stored.ErrNone) {
		if err = e.store(t, name, key, where.Double); err == nil {
			rows, err = stored.Reopen(name, key)
		}
	}
	if err != nil {
		return nil, err
	}
	d := e.designOf(t.Origin())
	d.Rows, d.Labels = rows, rows.Labels()
	return d, nil
}

// store writes the records of a table.
func (e *Encoding) store(t Scanner, name string, key [32]byte, double bool) error {
	w, err := stored.Create(name, key, len(e.Features), !double)
	if err != nil {
		return inputErrorf("%v", err)
	}
	err = t.Scan(append(e.Columns(), e.settings.Label), func(chunk *Table) error {
		rows, err := e.Rows(chunk)
		if err != nil {
			return err
		}
		labels, err := e.labels(chunk)
		if err != nil {
			return err
		}
		return w.Append(rows, labels)
	})
	if err != nil {
		w.Discard()
		return err
	}
	return w.Close()
}

// RemoveStored removes the records that were stored. Who is learning from them
// now goes on.
func RemoveStored(where Storage) error {
	dir, err := where.dir()
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.rows"))
	parts, errParts := filepath.Glob(filepath.Join(dir, ".dpnb-part-*"))
	err = errors.Join(err, errParts)
	for _, f := range slices.Concat(files, parts) {
		err = errors.Join(err, os.Remove(f))
	}
	return err
}
