package frame

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
)

// mostShards bounds how many files the records of a table are stored in.
const mostShards = 64

// Sharding says how the records of a table are stored in shards, each a stretch of its rows by itself: all of it is
// public but for the checksums, as a schema and an encoding are. Each is stored by Store, wherever its files are seen.
type Sharding struct {
	// Steps is the version of the code that will read the shards (StepsOfCode).
	Steps string
	// Encoding, Dir and Double say how they are stored, and in which folder.
	Encoding Kept
	Dir      string
	Double   bool
	Shards   []Shard
}

// Shard is a stretch of a table's rows.
type Shard struct {
	// Pieces are the files in which they are, or groups of rows of files.
	Pieces []Piece
	// Key, in hex, is by what its records are known again.
	Key string
}

// Piece is a file that has the SHA-256 in hex, or the parts Lo to Hi − 1 of it (Parted): all of them if both are 0.
type Piece struct {
	Path, SHA256 string
	Lo, Hi       int
}

// shard is a stretch of a table as it is seen here.
type shard struct {
	Scanner
	Shard
}

// readable is a Scanner that is a file's own, with nothing done to its rows (File), and stretched one that says which
// parts of a file it is.
type (
	readable interface {
		Read(use func(io.Reader) error) error
	}
	stretched interface{ Stretch() (lo, hi int) }
)

// Pieces returns the files that have the rows of a table, in their order; nil if something was done to these.
func Pieces(t Scanner) (all []Piece) {
	for _, file := range pieces(t) {
		if _, own := file.(readable); !own {
			return nil
		}
		from := file.Origin()
		p := Piece{Path: from.Path, SHA256: from.SHA256}
		if part, ok := file.(stretched); ok {
			p.Lo, p.Hi = part.Stretch()
		}
		all = append(all, p)
	}
	return all
}

// Opened returns the table of pieces, of which open opens the files by their paths, as the driver has.
//
// Errors: of open and Together; if a file is not the one that the driver has seen.
func Opened(pieces []Piece, open func(path string) (Scanner, error)) (Scanner, error) {
	var files []Scanner
	for _, p := range pieces {
		file, err := open(p.Path)
		if err != nil {
			return nil, err
		}
		if file.Origin().SHA256 != p.SHA256 {
			return nil, fmt.Errorf("%s is not the file that the driver has seen: its checksum differs", p.Path)
		}
		if parted, ok := file.(Parted); ok && p.Hi > 0 {
			file = parted.Part(p.Lo, p.Hi)
		}
		files = append(files, file)
	}
	return Together(files...)
}

// shards returns the stretches in which a table is stored, one for each part or, where these are many, for as many
// parts each; nil where it is stored in one file. They depend on the files alone.
func (where Storage) shards(t Scanner) (all []shard) {
	_, several := t.(*together)
	if fingerprint(t) == "" || !several && where.By == nil {
		return nil
	}
	n := partsOf(t)
	count := min(n, mostShards)
	for k := range count {
		s := shard{Scanner: t}
		if count > 1 {
			s.Scanner = t.(Parted).Part(k*n/count, (k+1)*n/count)
		}
		if s.Pieces = Pieces(s.Scanner); s.Pieces == nil {
			return nil
		}
		all = append(all, s)
	}
	return all
}

// storedShards has every shard stored, by others (Storage.By) or here, and returns the records of all.
func (e *Encoding) storedShards(shards []shard, where Storage) (_ stored.Records, err error) {
	files := make([]*stored.Rows, len(shards))
	defer func() {
		for _, f := range files {
			if err != nil && f != nil {
				err = errors.Join(err, f.Close())
			}
		}
	}()
	if where.By != nil {
		keys, names := make([][32]byte, len(shards)), make([]string, len(shards))
		work := Sharding{Steps: StepsOfCode, Encoding: e.Kept(), Dir: where.Dir, Double: where.Double}
		for k, s := range shards {
			if keys[k], names[k], err = e.keyOf(s.Scanner, where); err != nil {
				return nil, err
			}
			s.Key = hex.EncodeToString(keys[k][:])
			work.Shards = append(work.Shards, s.Shard)
		}
		if err := where.By(work); err != nil {
			return nil, err
		}
		for k := range shards { // each was looked at by the one who stored or found it
			if files[k], err = stored.Reopen(names[k], keys[k]); err != nil {
				return nil, inputErrorf("shard %d of %d was not stored: do all workers see the folder %s under this "+
					"name? %v", k+1, len(shards), where.Dir, err)
			}
		}
	} else {
		hands := 0
		if where.MemoryLimit > 0 {
			hands = 1
		}
		err = parallel.For(context.Background(), len(shards), hands, func(_, k int) (err error) {
			files[k], err = e.storedFile(shards[k].Scanner, where)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(files) == 1 {
		return files[0], nil
	}
	set, err := stored.Join(files...)
	if err != nil {
		return nil, inputErrorf("%v", err)
	}
	return set, nil
}

// Store stores shard k of those of w, unless it is there in full. open opens a file of a table by its path, as the
// driver has. It may be called again, by several at a time.
//
// Errors: as Encoding.Stored; if this is other code than the driver's, a file is not the one that the driver has seen,
// or what would be stored is not what the driver will look for.
func (w *Sharding) Store(k int, open func(path string) (Scanner, error)) error {
	if err := SameSteps(w.Steps); err != nil {
		return err
	}
	e, err := w.Encoding.Encoding()
	if err != nil {
		return err
	}
	t, err := Opened(w.Shards[k].Pieces, open)
	if err != nil {
		return err
	}
	where := Storage{Dir: w.Dir, Double: w.Double}
	if where.Dir, err = where.dir(); err != nil {
		return err
	}
	key, _, err := e.keyOf(t, where)
	if err != nil {
		return err
	}
	if hex.EncodeToString(key[:]) != w.Shards[k].Key {
		return fmt.Errorf("shard %d would be other records than the driver looks for: they are read or encoded "+
			"otherwise here", k+1)
	}
	rows, err := e.storedFile(t, where)
	if err != nil {
		return err
	}
	return rows.Close()
}
