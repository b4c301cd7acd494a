package frame

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
)

// File is a file of records that is read more than once.
type File struct {
	origin  Source
	size    int64
	changed time.Time
	// state is all that the system knows of it (stateOf).
	state string
}

// OpenFile looks at the file at path and computes its SHA-256.
//
// Errors: *InputError if it is not there or cannot be read.
func OpenFile(path string) (*File, error) {
	info, err := os.Stat(path) // before it is opened: a pipe is not until somebody writes
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, inputErrorf("%s", runlog.NoFile(path))
	case err != nil:
		return nil, inputErrorf("%v", err)
	case info.IsDir():
		return nil, inputErrorf("%q is a folder: name the file in it that has the table", path)
	case !info.Mode().IsRegular():
		return nil, inputErrorf("%q is a pipe or a device, which cannot be read twice: write what comes of it into a "+
			"file, and name that", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, inputErrorf("%v", err)
	}
	defer f.Close()
	abs, err := filepath.Abs(path)
	if err == nil {
		info, err = f.Stat()
	}
	if err != nil {
		return nil, inputErrorf("%v", err)
	}
	sum, err := checksumOf(f, f, info, abs)
	if err != nil {
		return nil, inputErrorf("%v", err)
	}
	state, _ := stateOf(info)
	return &File{Source{Name: filepath.Base(path), Path: abs, SHA256: sum}, info.Size(), info.ModTime(), state}, nil
}

// Origin says where the file is.
func (f *File) Origin() Source { return f.origin }

// Read opens the file, which must be what it was and stay so, and calls use with it. Its *InputErrors are given the
// name of the file.
func (f *File) Read(use func(r io.Reader) error) error {
	in, err := os.Open(f.origin.Path)
	if err == nil {
		defer in.Close()
		err = f.same(in)
	}
	if err == nil {
		if err = use(in); err == nil {
			err = f.same(in)
		}
	}
	if wrong := (*InputError)(nil); errors.As(err, &wrong) {
		return &InputError{f.origin.Name + ": " + wrong.Text}
	}
	if err != nil {
		return inputErrorf("%s: %v", f.origin.Name, err)
	}
	return nil
}

// same refuses a file that is not what it was, by its size and time, and by its checksum where the system knows of a
// change that left these as they were: of its content, or of who may read it.
func (f *File) same(in *os.File) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	same := info.Size() == f.size && info.ModTime().Equal(f.changed)
	if state, _ := stateOf(info); same && state != f.state {
		sum, err := checksumOf(in, io.NewSectionReader(in, 0, f.size), info, f.origin.Path)
		if err != nil {
			return err
		}
		same = sum == f.origin.SHA256
	}
	if !same {
		return inputErrorf("it was changed since it was opened: open it again")
	}
	return nil
}

// Of files of so many bytes the checksum is remembered: each cell of a notebook opens its file anew, and a second a
// gigabyte for each is much. Files that were changed less than settled before are not remembered: what is written
// within one tick of the clock of a file system leaves no trace in its times.
const (
	largeFile = 16 << 20
	settled   = 2 * time.Second
)

// checksumOf returns the SHA-256 of a file's content in hex: what is remembered of it, if it is the same by all that
// the system knows of it (stateOf).
func checksumOf(f *os.File, content io.Reader, info os.FileInfo, path string) (string, error) {
	state, changed := stateOf(info)
	var memory string // where it is remembered
	if state != "" && info.Size() >= largeFile {
		memory = checksumMemory(path)
	}
	if memory != "" {
		if known, err := os.ReadFile(memory); err == nil {
			if sum, ok := strings.CutPrefix(string(known), state+" "); ok && len(sum) == 2*sha256.Size {
				return sum, nil
			}
		}
	}
	begun, h := time.Now(), sha256.New()
	if _, err := io.Copy(h, content); err != nil {
		return "", err
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if memory != "" && begun.Sub(changed) > settled {
		after, err := f.Stat()
		if err != nil {
			return "", err
		}
		if s, _ := stateOf(after); s == state {
			_ = atomicfile.WritePrivately(memory, []byte(state+" "+sum)) // else it is computed again
		}
	}
	return sum, nil
}

// checksumMemory returns the file for the checksum of the one at path; "" if there is no folder for it.
func checksumMemory(path string) string {
	cache, err := project.CacheDir()
	if err != nil {
		return ""
	}
	dir := filepath.Join(cache, "checksums")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	name := sha256.Sum256([]byte(path))
	return filepath.Join(dir, hex.EncodeToString(name[:]))
}
