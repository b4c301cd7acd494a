package report

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

// A fingerprint stands for everything but the notebook itself that its outputs depend on: the project's code and its
// dependencies, the data, the tools. It is keyed with the secret of the machine, for there may be private files among
// the data.
type fingerprint string

// largeFile is the size from which a data file is known by its size and time instead of its content.
const largeFile = 64 << 20

func newFingerprint(ctx context.Context, s *Setup) (fingerprint, error) {
	secret, err := secretOfMachine()
	if err != nil {
		return "", err
	}
	h := hmac.New(sha256.New, secret)
	fmt.Fprintln(h, s.Kernel.Key, runtime.GOARCH, os.Getenv("GOFLAGS"), os.Getenv("GOEXPERIMENT"))
	for _, name := range slices.Sorted(maps.Keys(s.Jupyter.Versions)) {
		fmt.Fprintln(h, name, s.Jupyter.Versions[name])
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := hashFile(h, filepath.Join(s.Tree.Dir, name)); err != nil {
			return "", err
		}
	}
	ofTests := func(d fs.DirEntry) bool { return strings.HasSuffix(d.Name(), "_test.go") || d.Name() == "testdata" }
	if err := hashTree(ctx, h, filepath.Join(s.Tree.Dir, "dpnb"), ofTests); err != nil {
		return "", err
	}
	for _, dir := range []string{filepath.Join(s.Tree.Dir, "data"), os.Getenv("DPNB_DATA")} {
		if dir == "" {
			continue
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real // a folder that is a link is not entered otherwise
		}
		if err := hashTree(ctx, h, dir, fs.DirEntry.IsDir); err != nil {
			return "", err
		}
	}
	return fingerprint(fmt.Sprintf("%x", h.Sum(nil))), nil
}

// of returns the key of a notebook's report. The notebook comes with its parameters in it and with no outputs.
func (f fingerprint) of(nb *notebook.Notebook) (string, error) {
	content, err := nb.Encode()
	return checksum(append(content, f...)), err
}

// ofDocs returns the key of the pages of docs/ and README.md, the pictures among them included.
func (f fingerprint) ofDocs(ctx context.Context, root string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, f)
	for _, path := range []string{filepath.Join(root, "docs"), filepath.Join(root, "README.md")} {
		if err := hashTree(ctx, h, path, func(fs.DirEntry) bool { return false }); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// hashTree adds the regular files under dir, without those, and the folders with what is in them, that are to be left
// out.
func hashTree(ctx context.Context, h hash.Hash, dir string, without func(fs.DirEntry) bool) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		left := path != dir && without(d)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && left:
			return fs.SkipDir
		case d.IsDir() || left:
			return nil
		}
		fmt.Fprintln(h, strings.TrimPrefix(path, dir))
		return hashFile(h, path)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func hashFile(h hash.Hash, path string) error {
	info, err := os.Stat(path) // a data folder may hold links
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	fmt.Fprintln(h, filepath.Base(path), info.Size())
	if info.Size() >= largeFile {
		fmt.Fprintln(h, info.ModTime())
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(h, f)
	return err
}
