//go:build unix

package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/checksum"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// childEnv has the names under which a child process is to open a ledger, with which it tries to spend 0.05 five times
// each.
const childEnv = "DPNB_TEST_LEDGER"

func TestMain(m *testing.M) {
	if names := os.Getenv(childEnv); names != "" {
		n := 0
		for _, path := range strings.Split(names, "\n") {
			c := config(path)
			c.Name = "shared"
			for range 5 {
				if b, err := anew(c); err != nil {
					fmt.Fprintln(os.Stderr, err)
				} else if b.Charge(Entry{Epsilon: 0.05}) == nil {
					n++
				}
			}
		}
		fmt.Print(n)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// inProcesses spends in a process for each name, all at once, each started in dir, and returns how many charges of 0.05
// went through and what was said.
func inProcesses(t *testing.T, dir string, names ...string) (charges int, said string) {
	t.Helper()
	program := must.Get(os.Executable())
	var running []*exec.Cmd
	var out, errs []*strings.Builder
	for _, name := range names {
		cmd := exec.Command(program)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), childEnv+"="+name, "PWD="+dir)
		out, errs = append(out, new(strings.Builder)), append(errs, new(strings.Builder))
		cmd.Stdout, cmd.Stderr = out[len(out)-1], errs[len(errs)-1]
		must.Do(cmd.Start())
		running = append(running, cmd)
	}
	for k, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err, errs[k])
		}
		n := must.Get(strconv.Atoi(out[k].String()))
		charges, said = charges+n, said+errs[k].String()
	}
	return charges, said
}

// link makes a symbolic link.
func link(t *testing.T, to, at string) {
	t.Helper()
	must.Do(os.Symlink(to, at))
}

// A ledger is one, by whatever name processes open it, at the same time and from the first moment: no name is spent
// from twice.
func TestAFileHasOneBudgetUnderAllItsNames(t *testing.T) {
	testscale.Slow(t)
	root := t.TempDir()
	real := filepath.Join(root, "real")
	must.Do(os.MkdirAll(filepath.Join(real, "sub"), 0o700))
	// All but the folders are made before the ledger.
	link(t, "real/ledger.json", filepath.Join(root, "early.json"))
	link(t, "early.json", filepath.Join(root, "chain.json"))
	link(t, real, filepath.Join(root, "folder"))
	link(t, "real/sub", filepath.Join(root, "deep"))
	names := []string{
		"real/ledger.json", real + "/ledger.json", "early.json", "chain.json", "folder/ledger.json",
		"deep/../ledger.json",
		"./real//sub/.././ledger.json", root + "/folder/sub/../../chain.json",
	}
	// 8 × 5 × 0.05 is asked for; from each name alone it would be 0.25.
	if n, said := inProcesses(t, root, names...); n != 20 || said != "" {
		t.Errorf("%d charges of 0.05 went through a budget of 1; said:\n%s", n, said)
	}
	files, err := filepath.Glob(filepath.Join(root, "*/*.json"))
	if err != nil || len(files) != 2 { // real/ and folder/ are the same
		t.Errorf("ledgers: %v, %v", files, err)
	}
	for _, l := range []string{"early.json", "chain.json"} {
		if info, err := os.Lstat(filepath.Join(root, l)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s was replaced by a file", l)
		}
	}
}

// From a folder that was entered by a link, ".." is the parent that the system sees.
func TestNamesFromALinkedFolder(t *testing.T) {
	root := t.TempDir()
	must.Do(os.MkdirAll(filepath.Join(root, "a", "b"), 0o700))
	link(t, filepath.Join(root, "a", "b"), filepath.Join(root, "here"))
	names := filepath.Join(root, "a", "x.json")
	for range 3 {
		names += "\n../x.json"
	}
	if n, said := inProcesses(t, filepath.Join(root, "here"), names, names); n != 20 || said != "" {
		t.Errorf("%d charges, said:\n%s", n, said)
	}
	if _, err := os.Stat(filepath.Join(root, "x.json")); err == nil {
		t.Error("a second ledger beside the link")
	}
}

// A hard link is a second ledger as soon as one of them is written: both are refused.
func TestASecondNameIsRefused(t *testing.T) {
	dir := t.TempDir()
	c := config(filepath.Join(dir, "a.json"))
	c.Name = "shared"
	live := must.Get(anew(c))
	must.Do(live.Charge(Entry{Epsilon: 0.5}))
	must.Do(os.Link(c.Path, filepath.Join(dir, "b.json")))
	if n, said := inProcesses(t, dir, "a.json", "b.json", "a.json\nb.json"); n != 0 ||
		!strings.Contains(said, "2 names (hard links)") {
		t.Errorf("%d charges, said:\n%s", n, said)
	}
	if err := live.Charge(Entry{Epsilon: 0.05}); err == nil || !strings.Contains(err.Error(), "hard links") {
		t.Errorf("a live budget: %v", err)
	}
	if err := live.Check(Entry{Epsilon: 0.1}); err == nil {
		t.Error("a live budget passes the check")
	}
	// With one name left, whichever, what was spent is spent.
	must.Do(os.Remove(c.Path))
	if n, _ := inProcesses(t, dir, "b.json", "b.json", "b.json"); n != 10 {
		t.Errorf("%d charges of 0.05 from what is left of half a budget", n)
	}
}

// A pipe is no ledger, and is not waited for.
func TestAPipeIsNoLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	must.Do(syscall.Mkfifo(path, 0o600))
	done := make(chan error, 1)
	go func() { _, err := anew(config(path)); done <- err }()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("a pipe is waited for")
	}
}

// What stands in the place of a ledger and is none, or has forgotten, is refused, also by a budget that is in use.
func TestWhatIsNotTheLedgerIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"nothing":   func(t *testing.T, path string) { os.Remove(path) },
		"moved":     func(t *testing.T, path string) { os.Rename(path, path+".moved") },
		"a folder":  func(t *testing.T, path string) { os.Remove(path); os.Mkdir(path, 0o700) },
		"a link":    func(t *testing.T, path string) { os.Rename(path, path+".moved"); link(t, path+".moved", path) },
		"forgetful": func(t *testing.T, path string) { rewrite(t, path, func(f *file) { f.Entries = nil }) },
		"another":   func(t *testing.T, path string) { rewrite(t, path, func(f *file) { f.Entries[0].Epsilon /= 2 }) },
		"a refund": func(t *testing.T, path string) {
			rewrite(t, path, func(f *file) { f.Entries = append(f.Entries, Entry{Epsilon: -0.5}) })
		},
		"cut off": func(t *testing.T, path string) { os.Truncate(path, 40) },
		"empty":   func(t *testing.T, path string) { os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			c := config(filepath.Join(t.TempDir(), "ledger.json"))
			b := open(t, c)
			must.Do(b.Charge(Entry{Epsilon: 0.5}))
			spoil(t, c.Path)
			if err := b.Charge(Entry{Epsilon: 0.1}); err == nil {
				t.Error("the budget goes on")
			}
			if _, err := Open(c); err == nil {
				t.Error("the budget is stated again")
			}
		})
	}
}

// A ledger begins with its first charge: until then nothing is promised, and another program may state another budget.
// What is charged first stands, also against a program that had stated its own before.
func TestTheFirstChargeBeginsALedger(t *testing.T) {
	c := config(filepath.Join(t.TempDir(), "ledger.json"))
	first := must.Get(anew(c))
	must.Do(first.Check(Entry{Epsilon: 0.1}))
	must.Get(first.State())
	if first.Charge(Entry{Epsilon: 2}) == nil || first.Charge() != nil {
		t.Error("a charge of more than the budget, or none of nothing")
	}
	if _, err := os.Lstat(c.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a ledger of which nothing was charged: %v", err)
	}
	other := c
	other.Epsilon = 3
	must.Do(must.Get(anew(other)).Charge(Entry{Epsilon: 2}))
	if err := first.Charge(Entry{Epsilon: 0.1}); err == nil || !strings.Contains(err.Error(), "was stated with ε = 3") {
		t.Errorf("a charge of a budget that another was before: %v", err)
	}
}

// content returns what a ledger's file holds, unsealed.
func content(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		text, _, err = checksum.Unseal(format, version, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// reseal has a ledger's file hold other content, with a checksum that fits.
func reseal(t *testing.T, path string, content []byte) {
	t.Helper()
	text, err := checksum.Seal(format, version, content)
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// rewrite changes a ledger as no Charge does.
func rewrite(t *testing.T, path string, change func(*file)) {
	t.Helper()
	var f file
	must.Do(json.Unmarshal(content(t, path), &f))
	change(&f)
	text := must.Get(json.Marshal(f))
	reseal(t, path, text)
}

// unreadable holds that neither a budget in use nor another program goes on with what is at the path.
func unreadable(t *testing.T, live *Budget, c Config, what string) {
	t.Helper()
	if err := live.Charge(Entry{Epsilon: 1e-3}); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("%s: a budget in use says %v", what, err)
	}
	b, err := anew(c)
	if err == nil {
		err = b.Charge(Entry{Epsilon: 0.9})
	}
	if err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("%s: another program says %v", what, err)
	}
}

// Whatever happens to the text of a ledger by accident is noticed, unless it is a space that means nothing.
func TestAccidentsAreNoticed(t *testing.T) {
	c := config(filepath.Join(t.TempDir(), "ledger.json"))
	live := open(t, c)
	for _, e := range []Entry{
		{Label: "income, <all>", Mechanism: "objective perturbation", Epsilon: 0.3, Delta: 3e-7, Mu: 0.07},
		{Label: "age", Mechanism: "sums", Epsilon: 0.2, Delta: 1e-7, Once: "age", Partition: "city", Group: "Bern"},
		{Label: "fit", Mechanism: "DP-SGD", Epsilon: 0.25, Delta: 2.5e-7, Mu: 0.06, Slack: 1e-15, Simulated: true},
	} {
		must.Do(live.Charge(e))
	}
	whole := must.Get(os.ReadFile(c.Path))
	without := func(text []byte) string {
		var compact bytes.Buffer
		if json.Compact(&compact, text) != nil {
			return string(text)
		}
		return compact.String()
	}
	rng := rand.New(rand.NewPCG(22, 5))
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for n := 0; n < 100; {
		text, at, kind := slices.Clone(whole), rng.IntN(len(whole)), rng.IntN(8)
		switch kind {
		case 0:
			text[at] ^= 1 << rng.IntN(8)
		case 1:
			text[at] = "0123456789"[rng.IntN(10)]
		case 2:
			text = slices.Delete(text, at, min(len(text), at+1+rng.IntN(3)))
		case 3:
			text = slices.Insert(text, at, text[rng.IntN(len(text))])
		case 4:
			text = text[:at]
		case 5: // a line is lost
			i := rng.IntN(len(lines))
			text = bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil)
		case 6: // a line is there twice
			i := rng.IntN(len(lines))
			text = bytes.Join(slices.Insert(slices.Clone(lines), i, lines[i]), nil)
		case 7: // a digit is another
			for !('0' <= text[at] && text[at] <= '9') {
				at = (at + 1) % len(text)
			}
			text[at] = '0' + (text[at]-'0'+byte(1+rng.IntN(9)))%10
		}
		if without(text) == without(whole) {
			continue
		}
		n++
		must.Do(os.WriteFile(c.Path, text, 0o600))
		unreadable(t, live, c, fmt.Sprintf("accident %d of kind %d at byte %d", n, kind, at))
	}
	must.Do(os.WriteFile(c.Path, []byte(without(whole)), 0o600))
	if err := live.Charge(Entry{Epsilon: 0.01}); err != nil {
		t.Errorf("without its spaces, and whole again: %v", err)
	}
}

// What has other keys than a Charge writes is no ledger: neither with a checksum that fits, nor in the earlier form,
// which had none.
func TestKeysAreThoseOfALedger(t *testing.T) {
	for _, change := range [][2]string{{"entries", "entriez"}, {"delta", "dalta"}, {"epsilon", "Epsilon"},
		{`"label":"a",`, ``}, {`"simulated":false`, `"simulated":false,"more":1`}, {`0.000005`, `5e-6`},
		{`"epsilon":0.5`, `"epsilon":0.5,"epsilon":0.1`}, {`"mu":0.1,`, `"mu":0.1,"slack":0,`}} {
		for _, earlier := range []bool{false, true} {
			c := config(filepath.Join(t.TempDir(), "ledger.json"))
			live := open(t, c)
			must.Do(live.Charge(Entry{Label: "a", Epsilon: 0.5, Delta: 5e-6, Mu: 0.1}))
			var compact bytes.Buffer
			must.Do(json.Compact(&compact, content(t, c.Path)))
			text := strings.Replace(compact.String(), change[0], change[1], 1)
			if text == compact.String() {
				t.Fatalf("%s is not in %s", change[0], text)
			}
			if !earlier {
				reseal(t, c.Path, []byte(text))
			} else if err := os.WriteFile(c.Path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			unreadable(t, live, c, fmt.Sprintf("%v, earlier form %v", change, earlier))
		}
	}
}

// A ledger of an earlier form, which had no checksum, is opened, with letters as they were written then, and has one
// from then on.
func TestEarlierFormsAreSealed(t *testing.T) {
	c := config(filepath.Join(t.TempDir(), "ledger.json"))
	text := must.Get(json.MarshalIndent(file{Config{Name: c.Name, Epsilon: 1, Delta: 1e-5, Adjacency: 1}, Either,
		[]Entry{{Label: "<a> & b", Mechanism: "m", Epsilon: 0.75, Delta: 1e-6}}}, "", " "))
	must.Do(os.WriteFile(c.Path, text, 0o600))
	b := open(t, c)
	if s := state(t, b); s.SpentEpsilon != 0.75 || s.Entries[0].Label != "<a> & b" {
		t.Errorf("%+v", s)
	}
	content(t, c.Path)
	if err := b.Charge(Entry{Epsilon: 0.5}); err == nil {
		t.Error("what was spent was forgotten")
	}
	if err := b.Charge(Entry{Epsilon: 0.25}); err != nil {
		t.Error(err)
	}
	again, err := anew(c)
	if err != nil || len(state(t, again).Entries) != 2 {
		t.Errorf("%v, %v", again, err)
	}
}

// In a ledger before version 2 a release that was charged less than the Gaussian mechanism of its ε and δ is one of
// which these alone are known: what was admitted beyond the budget is said, nothing more is admitted, and what was
// charged as it should be goes on by squares.
func TestReleasesThatWereChargedTooLittle(t *testing.T) {
	const eps, delta = 0.26, 0.9 * 0.26e-5
	full := must.Get(privacy.MuOf(eps, delta))
	for _, earlier := range []bool{false, true} {
		for _, k := range []struct {
			rule    Rule
			fits    int
			mu      float64
			more    int // fits that go on to be admitted
			epsilon float64
		}{{Either, 6, full / 30, 0, 6 * eps}, {Either, 2, full / 30, 1, 2 * eps}, {Squares, 2, full / 30, 0, 2 * eps},
			{Either, 6, full * (1 - 1e-6), 5, 0.62}} {
			c := config(filepath.Join(t.TempDir(), "ledger.json"))
			f := file{Config{Name: c.Name, Epsilon: 1, Delta: 1e-5, Adjacency: 1}, k.rule, nil}
			for range k.fits {
				f.Entries = append(f.Entries, Entry{Label: "fit", Mechanism: "m", Epsilon: eps, Delta: delta, Mu: k.mu})
			}
			text := must.Get(json.MarshalIndent(f, "", " "))
			if !earlier {
				text = must.Get(checksum.Seal(format, 1, text))
			}
			must.Do(os.WriteFile(c.Path, text, 0o600))
			b := open(t, c)
			if s := state(t, b); !(s.SpentEpsilon >= k.epsilon*(1-1e-12) && s.SpentEpsilon < 1.1*k.epsilon) {
				t.Errorf("%+v: spent %v", k, s.SpentEpsilon)
			}
			more := 0
			for more < 10 && b.Charge(Entry{Epsilon: eps, Delta: delta, Mu: full}) == nil {
				more++
			}
			if more != k.more {
				t.Errorf("%+v: %d more", k, more)
			}
			again := open(t, c)
			if s := state(t, again); len(s.Entries) != k.fits+more {
				t.Errorf("%+v: %d entries", k, len(s.Entries))
			}
			content(t, c.Path)
		}
	}
}

// A name that leads nowhere is refused, not taken for a ledger in memory.
func TestNamesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	link(t, "loop.json", filepath.Join(dir, "loop.json"))
	must.Do(os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for _, name := range []string{dir, dir + "/", dir + "/.", dir + "/..", dir + "/loop.json",
		dir + "/file/ledger.json", os.DevNull} {
		if _, err := Open(config(name)); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// A folder that is not there is refused and not made, behind a link as well: a path that was mistyped would be a second
// budget.
func TestAMissingFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	link(t, "nowhere/ledger.json", filepath.Join(dir, "dangling.json"))
	for _, name := range []string{"/nowhere/ledger.json", "/dangling.json", "/nowhere/../ledger.json"} {
		_, err := Open(config(dir + name))
		if err == nil || !strings.Contains(err.Error(), "is not there") || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("%s: %v", name, err)
		}
	}
	where := filepath.Join(dir, "nowhere")
	if _, err := os.Stat(where); !os.IsNotExist(err) {
		t.Error("the folder was made")
	}
	must.Do(os.Mkdir(where, 0o700))
	b, err := Open(config(dir + "/dangling.json"))
	if err != nil || b.Config().Path != filepath.Join(resolved(t, dir), "nowhere", "ledger.json") {
		t.Errorf("%v, %v", b, err)
	}
}

func resolved(t *testing.T, dir string) string {
	t.Helper()
	return must.Get(filepath.EvalSymlinks(dir))
}
