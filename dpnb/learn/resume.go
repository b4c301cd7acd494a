package learn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/noisekey"
	"github.com/dpnb/notebooks/dpnb/internal/permit"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Resumable lets Once resume a release that was charged but whose program ended before the release was kept. It resumes
// with the same noise, from a key that is kept in the folder LEDGER.unfinished, which only the user may read (and who
// does, knows the noise), from the charge until the release is written beside it; then the key is overwritten, and the
// release is moved to the others. So there is one noise for a name, and one release of it, whenever programs end, and
// on a full disk too.
//
// It takes a permit, which only this module has, because a release that resumes must draw everything from Noise(nil),
// in an order that does not depend on chance or on time, and show nothing of it to anybody before it returns: one that
// kept what it drew and returned an error would be called again, for other records and with the same noise. A ledger in
// memory ends with its program and keeps no key, and a release on a single group (FitBy) is lost as without Resumable:
// how rows were assigned to groups is not known.
//
// Proof: docs/theory/once.md#dpnb-goes-on.
func (a Allowance) Resumable(p permit.Permit) Allowance { a.resumable = permit.Given(p); return a }

// Noise returns the source from which a release of a draws, if src is nil or secure: that of the key for one that can
// resume (Resumable), else the system's. For a simulation it is src.
func (a Allowance) Noise(src noise.Source) noise.Source {
	if a.run == nil || src != nil && noise.Simulated(src) {
		return noise.OrSecure(src)
	}
	return a.run.noise
}

// unfinished is a release under a name that was not kept yet.
type unfinished struct {
	place place
	asked keptRelease
	noise *noise.Secure
	// charged is the ledger's entry of a release that goes on; nil before the charge. It pays once, as taken says.
	charged *ledger.Entry
	taken   atomic.Bool
	// Key is the text of the noise's key, Part what was allowed when it began: by Spend and Share that may depend on
	// what was spent before. Mechanism describes what was charged, which another version of the module may do otherwise
	// at the same price.
	Key       string
	Part      ledger.Part
	Mechanism string
}

const (
	unfinishedFormat  = "dpnb unfinished release"
	unfinishedVersion = 1
)

// keyPath is where the key of a release is until that is written.
func (p place) keyPath() string {
	folder, name := filepath.Split(p.path)
	return filepath.Join(filepath.Clean(folder[:len(folder)-len(".releases/")])+".unfinished", name)
}

// writtenPath is where a release is until its key is gone.
func (p place) writtenPath() string { return p.keyPath() + ".release" }

// keyFile returns the content of the file of the key: nil if there is none, or it was being erased.
func (p place) keyFile() ([]byte, error) {
	if p.path == "" {
		return nil, nil
	}
	content, err := os.ReadFile(p.keyPath())
	if errors.Is(err, os.ErrNotExist) || bytes.IndexByte(content, 0) >= 0 {
		return nil, nil
	}
	return content, err
}

// begin keeps the key before the charge.
func (u *unfinished) begin() error {
	payload, err := json.Marshal(u)
	if err != nil {
		return err
	}
	text, err := u.asked.with(payload, unfinishedFormat, unfinishedVersion)
	if err != nil {
		return err
	}
	path := u.place.keyPath()
	if err := atomicfile.PrivateFolder(filepath.Dir(path)); err != nil {
		return fmt.Errorf("dpnb: %w", err)
	}
	return atomicfile.WritePrivately(path, text)
}

// goOn returns the allowance of a release that was charged, with its noise. lost is the error if there is none.
func (a Allowance) goOn(p place, asked keptRelease, lost error) (Allowance, error) {
	if !a.resumable {
		return a, lost
	}
	content, err := p.keyFile()
	if content != nil && err == nil {
		err = atomicfile.PrivateFolder(filepath.Dir(p.keyPath()))
	}
	if err != nil {
		return a, fmt.Errorf("dpnb: %w", err)
	}
	if content == nil {
		return a, lost
	}
	payload, err := asked.in(unfinishedFormat, unfinishedVersion, content)
	if err != nil {
		return a, fmt.Errorf("dpnb: the program that released %q ended after the charge, and only the same "+
			"release can resume: %w", asked.Name, err)
	}
	u := &unfinished{place: p, asked: asked}
	err = json.Unmarshal(payload, u)
	key, bad := noisekey.Parse(u.Key)
	if err := errors.Join(err, bad); err != nil {
		return a, fmt.Errorf("dpnb: what is needed to resume %q cannot be read (%v)", asked.Name, err)
	}
	u.noise = noise.OfKey(key)
	s, err := a.budget.ledger.State()
	if err != nil {
		return a, err
	}
	at := slices.IndexFunc(s.Entries, func(e ledger.Entry) bool { return e.Once == asked.Name })
	if at < 0 {
		return a, lost
	}
	u.charged, a.part, a.run = &s.Entries[at], u.Part, u
	return a, nil
}

// begunElsewise ends the error of a release that would not be the one that was charged.
const begunElsewise = ": another version of this module began it. The charge stands; nothing was charged now. To " +
	"release it anew, which costs anew, use another name"

// take has the charge of then pay for a release, once, and refuses one that would cost something else or is by another
// mechanism.
func (u *unfinished) take(e ledger.Entry, mechanism string) error {
	if u.taken.Swap(true) {
		return &ledger.RepeatedError{Budget: u.place.key.budget.Config().Name, Once: u.asked.Name}
	}
	e.Label = u.charged.Label // words
	if e != *u.charged {
		return fmt.Errorf("dpnb: %q was charged as %+v and would now be %+v"+begunElsewise, u.asked.Name, *u.charged, e)
	}
	if mechanism != u.Mechanism {
		return fmt.Errorf("dpnb: %q was begun as %q and would now be %q"+begunElsewise, u.asked.Name, u.Mechanism,
			mechanism)
	}
	return nil
}

// overtaken reports whether the key with which u was begun is gone: another program, which the lock should have kept
// waiting (its file was deleted, or the file system locks nothing), has shown a release of its noise.
func (u *unfinished) overtaken() bool {
	key, err := u.place.keyFile()
	return u.Mechanism != "" && key == nil && err == nil
}

// keep writes a release beside its key, erases that, and has the release moved to the others. Until the key has been
// erased nothing was shown to anybody who may not read the folder, and from there on the release is kept.
func (p place) keep(content []byte) error {
	if key, err := p.keyFile(); key == nil && err == nil {
		return atomicfile.Write(p.path, content)
	}
	if err := atomicfile.WritePrivately(p.writtenPath(), content); err != nil {
		return err
	}
	ended("written")
	if err := p.forget(); err != nil {
		return err
	}
	ended("kept")
	_ = p.settle() // else the next call does
	return nil
}

// unshown says of a release that was charged what has become of it; "" if it is kept.
func (p place) unshown() string {
	if content, err := p.read(); content != nil || err != nil {
		return ""
	}
	if key, _ := p.keyFile(); key != nil {
		return "it is not shown yet: if its program has ended, the same command, or call, goes on with the same " +
			"noise and at no cost"
	}
	return "what was released is gone"
}

// settle finishes what the program before it left. While its key is there nothing of a release was shown: what was
// written of it, in whole or in part, is removed, for with other records it would be a second one of the same noise.
// Without, what was written was kept, and is moved to its place.
func (p place) settle() error {
	if p.path == "" {
		return nil
	}
	err := errors.Join(atomicfile.ErasePartsOf(p.keyPath()), atomicfile.ErasePartsOf(p.writtenPath()))
	if err != nil {
		return err
	}
	key, err := p.keyFile()
	if err != nil {
		return err
	}
	if key != nil {
		return atomicfile.Erase(p.writtenPath())
	}
	if err := p.forget(); err != nil {
		return err
	}
	return atomicfile.Move(p.writtenPath(), p.path)
}

// forget erases the key, for good when it returns.
func (p place) forget() error {
	if p.path == "" {
		return nil
	}
	return atomicfile.Erase(p.keyPath())
}

// ended, for tests, ends the program at a moment.
var ended = func(moment string) {}
