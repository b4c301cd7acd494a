// Package atomicfile writes files that are either there in full or not at all:
// a crash, a kill or a full disk never leaves half a file under its name.
package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tempPrefix marks the files being written, so that a later run can tell the
// remains of a killed one from the user's files.
const tempPrefix = ".dpnb-part-"

// Write replaces the file at path by content: it writes a new file in the same
// folder, brings it to the disk, and renames it. After an error the old file is
// as it was.
func Write(path string, content []byte) (err error) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	f, err := os.CreateTemp(dir, tempPrefix+base+"-*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot write %s: %w", path, errors.Join(err, os.Remove(f.Name())))
		}
	}()
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return nil
}

// RemoveParts deletes what killed runs of Write left in dir. The caller makes
// sure that nobody is writing there now.
func RemoveParts(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
