package frame

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/lockfile"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
)

// Storage says where the records of a table that is larger than memory are kept while they are learnt from. The zero
// value is right for most.
type Storage struct {
	// Dir is the folder; empty is dpnb/records in the user's folder for caches.
	Dir string
	// Double keeps features as float64. Without it they are rounded to float32, towards zero, which takes half the
	// room: each by itself, and no row gets longer.
	Double bool
	// MemoryLimit is how many bytes the program may take while it stores and learns: the garbage collector is told
	// (debug.SetMemoryLimit), and what needs memory for each record is refused by name. Zero is no limit but
	// GOMEMLIMIT, if that is set.
	MemoryLimit int64
	// By, if not nil, has the records of a file, or of several, stored by others where the files are, in shards: it
	// returns when each has called Store for its shard (Sharding). A table that is not read from files alone is stored
	// here.
	By func(Sharding) error
}

// KeepTo has the garbage collector keep to a limit of so many bytes, less an eighth for what it does not see, or to
// GOMEMLIMIT, if that is less, until free. Zero is no limit.
func KeepTo(limit int64) (free func()) {
	before := debug.SetMemoryLimit(-1)
	if limit > 0 {
		debug.SetMemoryLimit(min(before, limit/8*7))
	}
	return func() { debug.SetMemoryLimit(before) }
}

// StepsOfCode changes when the same table, schema and settings come to mean other records.
const StepsOfCode = "dpnb records 6"

// SameSteps refuses work for which a command of other steps asks.
func SameSteps(asked string) error {
	if asked != StepsOfCode {
		return fmt.Errorf("this worker is of another version, %q, than the command, %q: start workers anew",
			StepsOfCode, asked)
	}
	return nil
}

// fingerprinted is a table that can say in a text what each scan of it gives; "" says that it cannot.
type fingerprinted interface{ Fingerprint() string }

// fingerprint is what a table says each scan of it gives, "" for one that cannot say.
func fingerprint(t Scanner) string {
	if known, ok := t.(fingerprinted); ok {
		return known.Fingerprint()
	}
	return ""
}

// storage is what names the folder.
var storage = wording.Setting{Field: "Dir", Go: "Storage.Dir"}

// dir returns the folder of the files, which only the user may read.
func (s Storage) dir() (string, error) {
	if s.Dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", inputErrorf("there is no folder for the records (%v): name one in %s", err, storage)
		}
		s.Dir = filepath.Join(cache, "dpnb", "records")
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return "", inputErrorf("there is no folder for the records (%v): name another in %s", err, storage)
	}
	return s.Dir, nil
}

// Planned returns the design of a table of any size without its records: what is public of them. Encoding.Stored makes
// them.
//
// Errors: as NewDesign.
func Planned(t Scanner, schema *Schema, s DesignSettings) (*Design, error) {
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

// Sums returns the folder for what is added up elsewhere of a table with a checksum: ListStored and RemoveStored have
// it. It need not be there.
func (s Storage) Sums(checksum string) (string, error) {
	dir, err := s.dir()
	return filepath.Join(dir, checksum+sumsSuffix), err
}

// SumsOf is that of records in these files: beside the first, of a name that no other files have.
func SumsOf(files []stored.File) string {
	if len(files) == 1 {
		return files[0].Path + sumsSuffix
	}
	all := sha256.New()
	for _, f := range files { // tables may have their first file in common
		all.Write(f.Key[:])
	}
	return filepath.Join(filepath.Dir(files[0].Path), hex.EncodeToString(all.Sum(nil))+sumsSuffix)
}

// Stored is Design for a table of any size: its records are made in one scan and written to a file, from which they are
// learnt block by block. A file of the same table, schema and settings that is there in full, by its checksum, is taken
// as it is; RemoveStored removes them all. A table of several files (Together) has a file of records for each of at
// most 64 shards, and what is computed of them has the bits of one file. Of a table that cannot say what it is, one in
// memory or one that a function was applied to, the file is gone when the program ends.
//
// The file has raw records, encoded, and only the user may read it.
//
// Errors: as Design, those of the scan, and a folder that cannot be written.
func (e *Encoding) Stored(t Scanner, where Storage) (*Design, error) {
	var err error
	if where.Dir, err = where.dir(); err != nil {
		return nil, err
	}
	var rows stored.Records
	if shards := where.shards(t); shards != nil {
		rows, err = e.storedShards(shards, where)
	} else {
		rows, err = e.storedFile(t, where)
	}
	if err != nil {
		return nil, err
	}
	d := e.designOf(t.Origin())
	if d.Rows, d.Labels = rows, rows.Labels(); e.detailed() {
		own := &matrix.Affine{Base: rows, Longest: e.RowNorm, Aside: map[int]int{}}
		for j := range e.Features {
			own.Kept = append(own.Kept, j)
		}
		for k, n := range e.Scales() {
			own.Aside[n.Feature] = len(e.Features) + k
		}
		d.Rows = own
	}
	return d, nil
}

// keyOf returns by what the records of a table are known again, and their file: by the version of the code, what each
// scan of the table gives, and how it is encoded. The key is zero if the table cannot say what it gives.
func (e *Encoding) keyOf(t Scanner, where Storage) (key [32]byte, name string, err error) {
	print := fingerprint(t)
	if print == "" {
		return key, "", nil
	}
	text, err := json.Marshal([]any{StepsOfCode, print, e.Kept(), where.Double})
	if err != nil {
		return key, "", inputErrorf("%v", err)
	}
	key = sha256.Sum256(text)
	return key, filepath.Join(where.Dir, hex.EncodeToString(key[:])+storedSuffix), nil
}

// storedFile returns the records of a table in one file.
func (e *Encoding) storedFile(t Scanner, where Storage) (*stored.Rows, error) {
	key, name, err := e.keyOf(t, where)
	if err != nil {
		return nil, err
	}
	if name == "" {
		f, err := os.CreateTemp(where.Dir, "once-*"+storedSuffix)
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
		rows, err = e.storedOnce(t, name, key, where.Double)
	}
	if from := t.Origin(); err == nil && key != [32]byte{} && aboutOf(name) == (about{}) {
		if text, err := json.Marshal(about{cmp.Or(from.Path, from.Told()), e.settings.Label}); err == nil {
			_ = os.WriteFile(name+aboutSuffix, text, 0o600) // half of it, or none, is not known, and made anew
		}
	}
	return rows, err
}

// withScales returns rows with the Scales beside them as they were before rows were scaled.
func (e *Encoding) withScales(rows matrix.Rows) *matrix.Dense {
	scales := e.Scales()
	if len(scales) == 0 {
		return matrix.Densed(rows)
	}
	base := rows.(*matrix.Affine).Base.(*matrix.CSR)
	lines := matrix.NewDense(base.N, len(scales), nil)
	for i := range base.N {
		for k, s := range scales {
			v, ok := base.Entry(i, s.Feature)
			if !ok { // missing, with an indicator: beyond the scale
				v = s.Lower + 3*s.Width
			}
			lines.Data[i*len(scales)+k] = v
		}
	}
	return matrix.Densed(matrix.HStack{Parts: []matrix.Rows{rows, lines}})
}

// storedOnce stores the records unless another program has done so meanwhile, for which it waits.
func (e *Encoding) storedOnce(t Scanner, name string, key [32]byte, double bool) (*stored.Rows, error) {
	lock, err := lockfile.Wait(context.Background(), name+lockSuffix, func() {})
	if err != nil {
		return nil, inputErrorf("cannot store the records: %v", err)
	}
	defer lock.Unlock()
	rows, err := stored.Open(name, key)
	if !errors.Is(err, stored.ErrNone) {
		return rows, err
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(name), stored.PartPrefix+filepath.Base(name)+"-*"))
	for _, part := range left { // of a program that was killed: this one has the lock
		_ = os.Remove(part)
	}
	if err := e.store(t, name, key, double); err != nil {
		return nil, err
	}
	return stored.Reopen(name, key)
}

// about is what a list says of stored records.
type about struct {
	Table  string `json:"table"`
	Target string `json:"target"`
}

func aboutOf(name string) (a about) {
	text, err := os.ReadFile(name + aboutSuffix)
	if err == nil {
		_ = json.Unmarshal(text, &a)
	}
	return a
}

const (
	storedSuffix = ".rows"
	lockSuffix   = ".lock"
	aboutSuffix  = ".about" // of the file beside it that says of which table they are
	// sumsSuffix has the folder of the sums of passes that were made elsewhere, beside the file.
	sumsSuffix = ".passes"
	// pieceBytes is about how much memory records take while they are encoded, as float64.
	pieceBytes = 16 << 20
)

func (e *Encoding) store(t Scanner, name string, key [32]byte, double bool) error {
	w, err := stored.Create(name, key, len(e.Features)+len(e.Scales()), !double)
	if err != nil {
		return inputErrorf("%v", err)
	}
	columns := append(e.Columns(), e.settings.Label)
	if w := e.settings.Weights; w != "" {
		columns = append(columns, w)
	}
	err = t.Scan(columns, func(chunk *Table) error {
		piece := max(1, pieceBytes/(8*max(1, len(e.Features))))
		for lo := 0; lo < chunk.rows; lo += piece {
			part := chunk.Slice(lo, min(lo+piece, chunk.rows))
			rows, err := e.Rows(part)
			if err != nil {
				return err
			}
			labels, err := e.labels(part)
			if err != nil {
				return err
			}
			if err := w.Append(e.withScales(rows), labels); err != nil {
				return inputErrorf("%v", err)
			}
		}
		return nil
	})
	if err != nil {
		w.Discard()
		return err
	}
	if err := w.Close(); err != nil {
		return inputErrorf("%v", err)
	}
	return nil
}

// StoredFile is a file of records that were stored, or of ones that are being stored or were when a program was killed
// (Part), or the folder of the sums of a fit elsewhere that is not done (Sums).
type StoredFile struct {
	Path    string
	Bytes   int64
	Changed time.Time
	Part    bool
	Sums    bool
	// Features of each record; 0 of a Part, and of a file that is not whole or another's.
	Features int
	// Table is the path of the file that the records are of, and Target what was learnt of them; "" if not known.
	Table, Target string
}

// ListStored returns the files of records, with their sizes: these tell how many records there are, which no guarantee
// covers.
func ListStored(where Storage) ([]StoredFile, error) {
	dir, err := where.dir()
	if err != nil {
		return nil, err
	}
	var files []StoredFile
	for _, pattern := range []string{"*" + storedSuffix, stored.PartPrefix + "*"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil { // else it is gone again
				known, _ := stored.Look(path) // what is not whole has nothing
				of := aboutOf(path)
				files = append(files, StoredFile{Path: path, Bytes: info.Size(), Changed: info.ModTime(),
					Part: pattern[0] != '*', Features: known.Features,
					Table: of.Table, Target: of.Target})
			}
		}
	}
	folders, err := filepath.Glob(filepath.Join(dir, "*"+sumsSuffix))
	for _, folder := range folders {
		if sums, err := sumsIn(folder); err == nil {
			files = append(files, sums)
		}
	}
	return files, err
}

// sumsIn returns what there is of a folder of sums.
func sumsIn(folder string) (StoredFile, error) {
	s := StoredFile{Path: folder, Sums: true}
	in, err := os.ReadDir(folder)
	for _, f := range in {
		if info, err := f.Info(); err == nil { // else it is gone again
			s.Bytes += info.Size()
			if info.ModTime().After(s.Changed) {
				s.Changed = info.ModTime()
			}
		}
	}
	return s, err
}

// RemoveStored removes the records that were stored, and what programs that were killed have left of such. Who is
// learning from them now goes on; who is storing them now ends in an error.
func RemoveStored(where Storage) error {
	dir, err := where.dir()
	if err != nil {
		return err
	}
	where.Dir = dir
	files, err := ListStored(where)
	for _, f := range files {
		err = errors.Join(err, os.RemoveAll(f.Path))
	}
	for _, suffix := range []string{aboutSuffix, lockSuffix} {
		beside, _ := filepath.Glob(filepath.Join(dir, "*"+suffix))
		for _, path := range beside {
			_ = os.Remove(path) // who holds a lock keeps it
		}
	}
	return err
}
