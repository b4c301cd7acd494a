//go:build unix

package ledger

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// childEnv has the names under which a child process is to open a ledger, with
// which it tries to spend 0.05 five times each.
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

// inProcesses spends in a process for each name, all at once, each started in
// dir, and returns how many charges of 0.05 went through and what was said.
func inProcesses(t *testing.T, dir string, names ...string) (charges int, said string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var running []*exec.Cmd
	var out, errs []*strings.Builder
	for _, name := range names {
		cmd := exec.Command(program)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), childEnv+"="+name, "PWD="+dir)
		out, errs = append(out, new(strings.Builder)), append(errs, new(strings.Builder))
		cmd.Stdout, cmd.Stderr = out[len(out)-1], errs[len(errs)-1]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for k, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err, errs[k])
		}
		n, err := strconv.Atoi(out[k].String())
		if err != nil {
			t.Fatal(err)
		}
		charges, said = charges+n, said+errs[k].String()
	}
	return charges, said
}

// link makes a symbolic link.
func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// A ledger is one, by whatever name processes open it, at the same time and from
// the first moment: no name is spent from twice.
func TestAFileHasOneBudgetUnderAllItsNames(t *testing.T) {
	root := t.TempDir()
	real := filepath.Join(root, "real")
	if err := os.MkdirAll(filepath.Join(real, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
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
	if err := os.MkdirAll(filepath.Join(root, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
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
	live, err := anew(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := live.Charge(Entry{Epsilon: 0.5}); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(c.Path, filepath.Join(dir, "b.json")); err != nil {
		t.Fatal(err)
	}
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
	if err := os.Remove(c.Path); err != nil {
		t.Fatal(err)
	}
	if n, _ := inProcesses(t, dir, "b.json", "b.json", "b.json"); n != 10 {
		t.Errorf("%d charges of 0.05 from what is left of half a budget", n)
	}
}

// What stands in the place of a ledger and is none, or has forgotten, is refused,
// also by a budget that is in use.
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
			if err := b.Charge(Entry{Epsilon: 0.5}); err != nil {
				t.Fatal(err)
			}
			spoil(t, c.Path)
			if err := b.Charge(Entry{Epsilon: 0.1}); err == nil {
				t.Error("the budget goes on")
			}
			if _, err := Open(c); err == nil {
				t.Error("the budget is stated again")
			}
		})
	}
	// Also before anything was spent.
	c := config(filepath.Join(t.TempDir(), "ledger.json"))
	b := open(t, c)
	if err := os.Rename(c.Path, c.Path+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := b.Charge(Entry{Epsilon: 0.1}); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("a moved ledger is begun anew: %v", err)
	}
}

// rewrite changes a ledger as no Charge does.
func rewrite(t *testing.T, path string, change func(*file)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	change(&f)
	if text, err = json.Marshal(f); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A name that leads nowhere is refused, not taken for a ledger in memory.
func TestNamesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	link(t, "loop.json", filepath.Join(dir, "loop.json"))
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, dir + "/", dir + "/.", dir + "/..", dir + "/loop.json",
		dir + "/file/ledger.json", os.DevNull} {
		if _, err := Open(config(name)); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// A folder that is not there is refused and not made, behind a link as well: a path
// that was mistyped would be a second budget.
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
	if err := os.Mkdir(where, 0o700); err != nil {
		t.Fatal(err)
	}
	b, err := Open(config(dir + "/dangling.json"))
	if err != nil || b.Config().Path != filepath.Join(resolved(t, dir), "nowhere", "ledger.json") {
		t.Errorf("%v, %v", b, err)
	}
}

func resolved(t *testing.T, dir string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}
