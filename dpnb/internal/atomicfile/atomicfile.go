// Package atomicfile writes files that are either there in full or not at all: a crash, a kill or a full disk never
// leaves half a file under its name.
package atomicfile

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// tempPrefix marks the files being written, so that a later run can tell the remains of a killed one from the user's
// files.
const tempPrefix = ".dpnb-part-"

// Write replaces the file at path by content: it writes a new file in the same folder, brings it to the disk, renames
// it, and brings the name to the disk. After an error the old file is as it was, unless it was the last of these that
// failed. Who may read the file is what it was for the old one, and else for the user's umask to say.
func Write(path string, content []byte) error {
	return Stream(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteBelow is Write into a folder that is made, with those above it, if it is not there.
func WriteBelow(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return Write(path, content)
}

// WritePrivately is Write of what nobody else may read, at no time.
func WritePrivately(path string, content []byte) error {
	return stream(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// PrivateFolder makes a folder for what WritePrivately writes, unless it is there.
//
// Errors: a folder into which others can put files: another user of the machine who may write beside it, as in a folder
// that all share, can have made it first, and would have the user read what that one has chosen.
func PrivateFolder(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil && !ours(info) {
		err = fmt.Errorf("others can put files into %s, in which only this user may: remove it, or keep things where "+
			"nobody else can make it", path)
	}
	return err
}

// Stream is Write of what write writes, which need not be in memory.
func Stream(path string, write func(w io.Writer) error) error {
	if old, err := os.Lstat(path); err == nil && old.Mode().IsRegular() {
		return stream(path, old.Mode().Perm(), write)
	}
	return stream(path, 0, write)
}

// create makes a new file for what is to be called path, with no more than a mode, and if that is 0 by the umask.
func create(path string, mode os.FileMode) (*os.File, error) {
	dir, base := filepath.Split(path)
	for {
		name := fmt.Sprintf("%s%s%s-%08x", dir, tempPrefix, base, rand.Uint32())
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, cmp.Or(mode, 0o666))
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
}

// writing has the names of the files that this program writes now.
var writing sync.Map

// Abandon removes what this program is writing and will not finish, for it is about to end.
func Abandon() {
	writing.Range(func(name, _ any) bool {
		_ = os.Remove(name.(string)) // else it is what a kill leaves
		return true
	})
}

func stream(path string, mode os.FileMode, write func(w io.Writer) error) (err error) {
	f, err := create(path, mode)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot write %s: the folder %s is not there: make it: %w", path, filepath.Dir(path),
			os.ErrNotExist)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	writing.Store(f.Name(), nil)
	defer func() {
		writing.Delete(f.Name())
		if err != nil {
			if left := os.Remove(f.Name()); !errors.Is(left, os.ErrNotExist) {
				err = errors.Join(err, left)
			}
			err = fmt.Errorf("cannot write %s: %w", path, err)
		}
	}()
	if mode != 0 {
		if err := f.Chmod(mode); err != nil { // which the umask may have narrowed
			return errors.Join(err, f.Close())
		}
	}
	buffered := bufio.NewWriterSize(f, 1<<16)
	err = errors.Join(write(buffered), buffered.Flush())
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// Move gives the file at from the name to, in place of a file of that name, and brings both folders to the disk. A file
// that is not there is not moved, which is no error. Where to is on another file system, what is read there may be read
// by nobody else, and from is erased when it is on the disk.
func Move(from, to string) error {
	if err := rename(from, to); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		content, failed := os.ReadFile(from)
		if errors.Is(failed, os.ErrNotExist) {
			return nil
		}
		if failed == nil {
			failed = WritePrivately(to, content)
		}
		if failed != nil {
			return errors.Join(err, failed)
		}
		return Erase(from)
	}
	return errors.Join(syncFolder(filepath.Dir(to)), syncFolder(filepath.Dir(from)))
}

var rename = os.Rename // another in tests

// syncFolder brings the names in a folder to the disk: without that a power failure can bring the old file back after
// Write has returned. Some file systems cannot, and say so; they keep names as they think best.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // which does not sync folders
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil // a folder that may be written and not read: the file is there
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// Erase writes zeros over the file at path, if it is there, brings them to the disk, and removes it for good: who
// opened it before, or finds its blocks, reads zeros. A file system that writes to other blocks than it read (copy on
// write, a journal of data, a solid state disk) keeps the old ones until it uses them again. After an error the file
// may have zeros in part. What is no file but leads to one, as whoever may write to the folder can put there, is
// removed and not followed.
func Erase(path string) error {
	there, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !there.Mode().IsRegular() {
		return os.Remove(path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(there, info) {
		err = fmt.Errorf("%s is another file than a moment ago", path)
	}
	if err == nil {
		_, err = io.CopyN(f, zeros{}, info.Size())
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// RemoveParts deletes what killed runs of Write left in dir. The caller makes sure that nobody is writing there now.
func RemoveParts(dir string) error {
	return removeParts(dir, func(name string) bool { return strings.HasPrefix(name, tempPrefix) }, os.Remove)
}

// ErasePartsOf is RemoveParts, by Erase, of what was to be the file at path.
func ErasePartsOf(path string) error {
	prefix := tempPrefix + filepath.Base(path) + "-"
	return removeParts(filepath.Dir(path), func(name string) bool {
		return strings.HasPrefix(name, prefix) && len(name) == len(prefix)+8 // and not of a longer name (create)
	}, Erase)
}

func removeParts(dir string, is func(name string) bool, remove func(path string) error) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if is(e.Name()) {
			err = errors.Join(err, remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
