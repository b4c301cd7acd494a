package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/checksum"
	"github.com/dpnb/notebooks/dpnb/internal/lockfile"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Of the file on disk, which has a checksum. Ledgers of an earlier form were the content alone; those before version 2
// may have releases that were charged too little (doubt).
const (
	format  = "dpnb ledger"
	version = 2
)

// file is what is kept on disk.
type file struct {
	Config
	// Rule is empty before the first entry, and in ledgers of a time when all were Sums.
	Rule    Rule    `json:"rule,omitempty"`
	Entries []Entry `json:"entries"`
}

// locked runs f with the entries as they are on disk and with nobody else writing them, in this process or another.
//
// The lock is a file of its own, beside the ledger: a write replaces the ledger's file by a new one, which nobody has
// locked. So that one ledger has one lock, its name is resolved before (resolve), and a ledger with a second name is
// refused (read).
func (b *Budget) locked(f func() error) (err error) {
	if b.config.Path == "" {
		return f()
	}
	lock, err := lockfile.Wait(context.Background(), b.config.Path+".lock", func() {})
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("ledger: %w: keep the ledger in a folder in which you may write files", err)
	}
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := b.load(); err != nil {
		return err
	}
	return f()
}

// load reads the ledger, which has no file before the first charge. One of an earlier form is written anew, in the
// present one.
func (b *Budget) load() error {
	text, info, err := read(b.config.Path)
	switch {
	case errors.Is(err, os.ErrNotExist) && !b.begun:
		return nil
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("ledger: the file of budget %q is gone: what was spent is no longer known, so nothing more "+
			"can be spent", b.config.Name)
	case err != nil:
		return fmt.Errorf("ledger: budget %q: %w", b.config.Name, err)
	}
	f, earlier, err := parse(text)
	if err != nil {
		return fmt.Errorf("ledger: budget %q: its file %s cannot be read (%w): what was spent is not known, so "+
			"nothing more can be spent; name the ledger's file, or bring back a copy of it",
			b.config.Name, filepath.Base(b.config.Path), err)
	}
	want := b.config
	want.Path = ""
	if f.Name != want.Name {
		return fmt.Errorf("ledger: the file holds budget %q and was opened for budget %q: a file has one budget; "+
			"leave out the other name for the same data, use another file for other data", f.Name, want.Name)
	}
	if f.Config != want {
		err := want.restates(f.Config)
		if len(f.Entries) == 0 {
			err = fmt.Errorf("%w. Nothing was released from it so far: without the file %s it can be stated anew", err,
				filepath.Base(b.config.Path))
		}
		return err
	}
	// Entries are only ever added. An older ledger in the place of this one has forgotten some.
	if len(f.Entries) < len(b.entries) || !slices.Equal(f.Entries[:len(b.entries)], b.entries) {
		return fmt.Errorf("ledger: the file of budget %q has lost entries that this program has seen in it: what was "+
			"spent is no longer known, so nothing more can be spent", b.config.Name)
	}
	b.entries, b.onDisk, b.begun, b.rule = f.Entries, info, true, f.Rule
	if earlier {
		return b.store(b.rule, b.entries)
	}
	return nil
}

// parse reads the text of a ledger, which must be what a Charge wrote, and says whether it is of an earlier form. The
// first had no checksum, so that another digit in it is not noticed.
func parse(text []byte) (f file, earlier bool, err error) {
	if earlier = checksum.Read(text, &f) == nil; !earlier {
		var content []byte
		var of int
		if content, of, err = checksum.Unseal(format, version, text); err == nil {
			f, earlier = file{}, of < version
			err = checksum.Read(content, &f)
		}
	}
	if err == nil {
		err = f.validate()
	}
	if earlier {
		f.Rule = f.begun()
		f.doubt()
	}
	return f, earlier, err
}

// leastOfGaussian is the least part of the μ of its (ε, δ) that a release is taken to have cost.
const leastOfGaussian = 0.9

// doubt takes the μ from releases of δ > 0 that were charged less than the Gaussian mechanism of their ε and δ costs,
// the least that anything costs which is calibrated for these: before version 2 a fit at a fixed λ could be charged
// what a part of it costs. What is left is known, ε and δ, and adds up; the rule stays what it was.
func (f file) doubt() {
	for i := range f.Entries {
		e := &f.Entries[i]
		if least, err := privacy.MuOf(e.Epsilon, e.Delta); err == nil && e.Mu < leastOfGaussian*least {
			e.Mu, e.Slack = 0, 0
		}
	}
}

// validate refuses entries that no Charge wrote: a negative one would be a refund.
func (f file) validate() error {
	if err := f.Rule.validate(); err != nil {
		return err
	}
	for i, e := range f.Entries {
		if err := e.validate(); err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
	}
	return nil
}

// begun returns the rule of a ledger of an earlier form, which goes on as it began: it had only sums, or squares beside
// which one release could take all.
func (f file) begun() Rule {
	switch {
	case len(f.Entries) == 0:
		return Undecided
	case f.Rule == Undecided, f.Rule == Squares && f.Entries[0].Mu == 0:
		return Sums
	}
	return f.Rule
}

// read returns the content of the ledger at path and which file it is. The caller holds the lock.
//
// Errors: as the operating system's; an error if it is no regular file or has more than one name, for a write under one
// name would leave the other with what had been spent before, to be spent again.
func read(path string) (text []byte, info os.FileInfo, err error) {
	if info, err = lonely(path); err != nil {
		return nil, nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !os.SameFile(info, opened) {
		return nil, nil, errReplaced(path)
	}
	text, err = io.ReadAll(f)
	return text, info, err
}

// lonely describes the file at path, which must be regular and have no other name.
func lonely(path string) (os.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	if n := links(path, info); n != 1 {
		return nil, fmt.Errorf("%s has %d names (hard links): under each of them the budget could be spent; keep one "+
			"of them", path, n)
	}
	return info, nil
}

func errReplaced(path string) error {
	return fmt.Errorf("%s was replaced by another program meanwhile: what was spent is not known, so nothing more can "+
		"be spent", path)
}

// store replaces the ledger by one with these entries and this rule, on disk first. The caller holds the lock and has
// loaded.
func (b *Budget) store(rule Rule, entries []Entry) error {
	if b.config.Path != "" {
		c := b.config
		c.Path = ""
		text, err := checksum.Marshal(file{c, rule, entries})
		if err == nil {
			text, err = checksum.Seal(format, version, text)
		}
		if err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		// Is it still the file that was read, under this name alone?
		now, err := lonely(b.config.Path)
		switch {
		case errors.Is(err, os.ErrNotExist) && !b.begun:
		case err != nil:
			return fmt.Errorf("ledger: budget %q: %w", b.config.Name, err)
		case !b.begun || !os.SameFile(now, b.onDisk):
			return fmt.Errorf("ledger: budget %q: %w", b.config.Name, errReplaced(b.config.Path))
		}
		if err := atomicfile.WritePrivately(b.config.Path, text); err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		if b.onDisk, err = lonely(b.config.Path); err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		b.begun = true
	}
	b.entries, b.rule = entries, rule
	return nil
}

// resolve returns the one absolute name of the file that path leads to, which need not be there yet: no link, no "." or
// "..". Its folder must be there, for a ledger begun where a mistyped path leads would be a second budget. Names are
// never shortened as texts: a/../b is not b if a is a link.
func resolve(path string) (string, error) {
	if !filepath.IsAbs(path) {
		here, err := os.Getwd() // may go through links itself
		if err != nil {
			return "", err
		}
		path = here + string(filepath.Separator) + path
	}
	for range 40 {
		dir, name := filepath.Split(path)
		if name == "" || name == "." || name == ".." {
			return "", fmt.Errorf("%q is no name of a file", path)
		}
		folder, err := filepath.EvalSymlinks(dir)
		if errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("the folder %s of the ledger's file is not there: make it, or check the path, "+
				"for a ledger begun in another place is a second budget",
				strings.TrimRight(dir, string(filepath.Separator)))
		}
		if err != nil {
			return "", err
		}
		dir = folder
		path = filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if errors.Is(err, os.ErrNotExist) || err == nil && info.Mode()&os.ModeSymlink == 0 {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if path = target; !filepath.IsAbs(target) {
			path = dir + string(filepath.Separator) + target
		}
	}
	return "", fmt.Errorf("%s: too many symbolic links", path)
}
