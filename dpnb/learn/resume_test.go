package learn_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/permit"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/mechanism"
)

// A fit under a name that is killed, wherever, goes on: it is charged once and its noise is that of the first program,
// so that programs that go on from copies of its files release the same to the last bit. The key is gone before there
// is a release. Without the key the release is lost; a kill before the charge leaves nothing to go on with, and other
// noise is drawn.
func TestAKilledFitGoesOn(t *testing.T) {
	testscale.Slow(t)
	const folder, when = "DPNB_GOES_ON_FOLDER", "DPNB_GOES_ON_WHEN"
	if at := os.Getenv(when); at != "" {
		learn.OnEnded(func(now string) {
			if at == now {
				self, _ := os.FindProcess(os.Getpid())
				_ = self.Kill()
				select {}
			}
		})
		data, l := peopleData(t), learn.Learner(learn.Logistic{})
		if at == "other" {
			l = learn.SVM{}
		}
		t.Chdir(os.Getenv(folder))
		b := learn.NewBudget(1, 1e-5, learn.Named("going on"), learn.KeptIn("ledger.json"))
		if _, err := learn.FitOnce("m", l, data, b.Share(1)); err != nil {
			fmt.Println("FAILED:", err)
		}
		os.Exit(0)
	}
	scratch := t.TempDir() // a child that is killed leaves its own temporary folders
	child := func(dir, at string) string {
		c := exec.Command(os.Args[0], "-test.run=^TestAKilledFitGoesOn$")
		c.Env = append(os.Environ(), folder+"="+dir, when+"="+at, "TMPDIR="+scratch)
		out, err := c.CombinedOutput()
		return fmt.Sprintf("%s%v", out, err)
	}
	glob := func(dir, pattern string) []string {
		return must.Get(filepath.Glob(filepath.Join(dir, pattern)))
	}
	for _, at := range []string{"begun", "charged", "written", "kept"} {
		dir := t.TempDir()
		if said := child(dir, at); said != "signal: killed" {
			t.Fatalf("%s: %s", at, said)
		}
		left := glob(dir, "*.unfinished/*")
		if n := map[string]int{"written": 2}[at]; len(left) != max(n, 1) || len(glob(dir, "*.releases/*.json")) != 0 {
			t.Fatalf("%s: left %v", at, left)
		}
		for i, path := range left {
			content, err := os.ReadFile(path)
			if key := i == 0 && at != "kept"; err != nil || bytes.Contains(content, []byte(`"Key"`)) != key ||
				bytes.Contains(content, []byte("Coefficients")) == key {
				t.Errorf("%s: %v: %s", at, err, content)
			}
		}
		for _, path := range append(left, filepath.Dir(left[0])) {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: others may read %v (%v)", at, info, err)
			}
		}
		var released [2][]byte
		for k, end := range []string{"never", "kept"} { // the second is killed once more
			twin := t.TempDir()
			err := os.CopyFS(twin, os.DirFS(dir))
			key := filepath.Join(twin, "ledger.json.unfinished", filepath.Base(left[0]))
			if err == nil && at == "kept" && k == 1 { // ended while the key was erased
				err = os.WriteFile(strings.TrimSuffix(key, ".release"), []byte("{\x00\x00\x00"), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			said := child(twin, end)
			if end != "never" && at != "kept" && said == "signal: killed" {
				said = child(twin, "never")
			}
			if said != "<nil>" {
				t.Fatalf("%s, then %s: %s", at, end, said)
			}
			files := glob(twin, "*.releases/*.json")
			if len(files) != 1 || len(glob(twin, "*.unfinished/*")) != 0 {
				t.Fatalf("%s: left %v", at, files)
			}
			released[k] = must.Get(os.ReadFile(files[0]))
			var kept struct {
				Content struct{ Entries []json.RawMessage }
			}
			text, err := os.ReadFile(filepath.Join(twin, "ledger.json"))
			if err == nil {
				err = json.Unmarshal(text, &kept)
			}
			if n := len(kept.Content.Entries); err != nil || n != 1 {
				t.Errorf("%s: charged %d times (%v)", at, n, err)
			}
		}
		if same := bytes.Equal(released[0], released[1]); same != (at != "begun") {
			t.Errorf("%s: released the same by two that go on: %v", at, same)
		}
		if at != "charged" {
			continue
		}
		if said := child(dir, "other"); !strings.Contains(said, `only the same release can resume`) ||
			!strings.Contains(said, `learner is "SVM" and was "Logistic"`) {
			t.Errorf("another learner: %s", said)
		}
		must.Do(os.Remove(left[0]))
		if said := child(dir, "never"); !strings.Contains(said, "The charge stands") {
			t.Errorf("without its key: %s", said)
		}
	}
}

// A folder of keys that others can write to is refused, before the charge and when a release resumes: who made it first
// could have put a key there that they know.
func TestKeysOfOthersAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing of others")
	}
	dir := t.TempDir()
	budget := learn.NewBudget(1, 1e-5, learn.Named(unusedName()), learn.KeptIn(filepath.Join(dir, "ledger.json")))
	folder := filepath.Join(dir, "ledger.json.unfinished")
	drawn := 0
	release := func(fails error) error {
		_, err := learn.Once("a", budget.Spend(0.2).Resumable(permit.New()), 1,
			func(a learn.Allowance) (float64, error) {
				v, err := number(a, 7)
				if err == nil {
					drawn++
				}
				return v, errors.Join(err, fails)
			}, encodeNumber, decodeNumber)
		return err
	}
	refused := func(when string, charges int) {
		t.Helper()
		was := drawn
		err := release(nil)
		if _, n := spent(t, budget); err == nil || !strings.Contains(err.Error(), "others can put files") ||
			n != charges || drawn > was {
			t.Errorf("%s: %d charges, drawn %d times, %v", when, n, drawn-was, err)
		}
	}
	must.Do(errors.Join(os.Mkdir(folder, 0o777), os.Chmod(folder, 0o777)))
	refused("there first", 0)
	if os.Getuid() == 0 {
		must.Do(errors.Join(os.Chmod(folder, 0o700), os.Chown(folder, 65534, 65534)))
		refused("of somebody else", 0)
		must.Do(os.Chown(folder, 0, 0))
	}
	must.Do(os.Chmod(folder, 0o700))
	if err := release(errFailing); !errors.Is(err, errFailing) {
		t.Fatal(err)
	}
	must.Do(os.Chmod(folder, 0o777))
	refused("when it resumes", 1)
	must.Do(os.Chmod(folder, 0o700))
	if err := release(nil); err != nil {
		t.Error(err)
	}
}

// Who has opened the file of a key reads zeros when the release can be seen.
func TestKeysAreErased(t *testing.T) {
	dir := t.TempDir()
	budget := learn.NewBudget(1, 1e-5, learn.Named(unusedName()), learn.KeptIn(filepath.Join(dir, "ledger.json")))
	var key *os.File
	learn.OnEnded(func(now string) {
		if now == "charged" {
			names, err := filepath.Glob(filepath.Join(dir, "ledger.json.unfinished", "*"))
			if err == nil && len(names) == 1 {
				key, err = os.Open(names[0])
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	defer learn.OnEnded(func(string) {})
	_, err := learn.Once("a", budget.Spend(0.2).Resumable(permit.New()), 1,
		func(a learn.Allowance) (float64, error) { return number(a, 7) }, encodeNumber, decodeNumber)
	if err != nil || key == nil {
		t.Fatal(err)
	}
	defer key.Close()
	if text, err := io.ReadAll(key); err != nil || len(text) == 0 || len(bytes.Trim(text, "\x00")) > 0 {
		t.Errorf("%v: %s", err, text)
	}
}

// A release that goes on and cannot be kept is not shown, and not lost: its noise is there until it can be.
func TestWhatCannotBeKeptGoesOn(t *testing.T) {
	dir := t.TempDir()
	budget := learn.NewBudget(1, 1e-5, learn.Named(unusedName()), learn.KeptIn(filepath.Join(dir, "ledger.json")))
	data := learn.Binary(learn.Patients(60, 3), "ill")
	var seen [2][]float64
	once := func(k int) ([]float64, error) {
		allowance := budget.Spend(0.2).Resumable(permit.New())
		return learn.Once("a", allowance, 1, func(a learn.Allowance) ([]float64, error) {
			m, err := learn.Logistic{}.Fit(data, a)
			if err == nil {
				seen[k] = m.Theta()
			}
			return seen[k], err
		}, func(v []float64) ([]byte, error) { return json.Marshal(v) },
			func(text []byte) (v []float64, err error) { return v, json.Unmarshal(text, &v) })
	}
	var taken string // by a folder, where the release would be written
	learn.OnEnded(func(now string) {
		if now == "charged" {
			names, _ := filepath.Glob(filepath.Join(dir, "ledger.json.unfinished", "*"))
			taken = names[0] + ".release"
			if err := os.MkdirAll(filepath.Join(taken, "full"), 0o700); err != nil {
				t.Error(err)
			}
		}
	})
	v, err := once(0)
	learn.OnEnded(func(string) {})
	if v != nil || err == nil || !strings.Contains(err.Error(), "not lost") {
		t.Fatalf("%v, %v", v, err)
	}
	must.Do(os.RemoveAll(taken))
	if v, err := once(1); err != nil || !slices.Equal(v, seen[0]) || !slices.Equal(v, seen[1]) {
		t.Errorf("%v after %v (%v)", v, seen, err)
	}
	if _, n := spent(t, budget); n != 1 {
		t.Errorf("charged %d times", n)
	}
}

// A charge that a release goes on with pays for one fit, and not for what is asked with its allowance later.
func TestGoingOnPaysOnce(t *testing.T) {
	budget := keptBudget(t, 1)
	once := func(release func(learn.Allowance) (float64, error)) (float64, error) {
		return learn.Once("n", budget.Spend(0.2).Resumable(permit.New()), 1, release, encodeNumber, decodeNumber)
	}
	broken := func(a learn.Allowance) (float64, error) {
		_, err := number(a, 7)
		return 0, errors.Join(err, errFailing)
	}
	if _, err := once(broken); !errors.Is(err, errFailing) || !strings.Contains(err.Error(), "is not lost") {
		t.Fatal(err)
	}
	var repeated *ledger.RepeatedError
	_, err := once(func(a learn.Allowance) (float64, error) {
		if _, err := number(a, 1); err != nil {
			t.Error(err)
		}
		return number(a, 2)
	})
	if !errors.As(err, &repeated) {
		t.Errorf("two fits for the charge of one: %v", err)
	}
	var own learn.Allowance
	if v, err := once(func(a learn.Allowance) (float64, error) { own = a; return number(a, 7) }); v != 7 || err != nil {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := number(own, 8); !errors.As(err, &repeated) {
		t.Errorf("a fit after the release: %v", err)
	}
	if _, n := spent(t, budget); n != 1 {
		t.Errorf("%d entries", n)
	}
}

// What goes on is the mechanism that was charged: with steps of twice the length in the same ball the same price is not
// enough.
func TestGoingOnIsTheSameMechanism(t *testing.T) {
	budget, data := keptBudget(t, 1), learn.Regression(learn.Patients(50, 1), "pressure", learn.RowNorm(1))
	once := func(l learn.Learner, then error) error {
		allowance := budget.Spend(0.2).Resumable(permit.New())
		_, err := learn.Once("n", allowance, 1, func(a learn.Allowance) (float64, error) {
			_, err := l.Fit(data, a)
			return 7, errors.Join(err, then)
		}, encodeNumber, decodeNumber)
		return err
	}
	if err := once(learn.Median{Radius: 4}, errFailing); !errors.Is(err, errFailing) {
		t.Fatal(err)
	}
	if err := once(learn.Median{Radius: 8}, nil); err == nil || !strings.Contains(err.Error(), "version") {
		t.Errorf("longer steps go on: %v", err)
	}
	if err := once(learn.Median{Radius: 4}, nil); err != nil {
		t.Error(err)
	}
	if _, n := spent(t, budget); n != 1 {
		t.Errorf("%d entries", n)
	}
}

// A key is gone when an error was seen that tells of its noise, and before a charge for which it was not drawn; and so
// is half a file of a release that another takes the place of.
func TestKeysAreGone(t *testing.T) {
	dir := t.TempDir()
	budget := learn.NewBudget(1, 1e-5, learn.Named(unusedName()), learn.KeptIn(filepath.Join(dir, "ledger.json")))
	goOn, lost := budget.Spend(0.2).Resumable(permit.New()), "The charge stands"
	once := func(name string, a learn.Allowance, with error) error {
		_, err := learn.Once(name, a, 1, func(a learn.Allowance) (float64, error) {
			v, err := number(a, 7)
			return v, errors.Join(err, with)
		}, encodeNumber, decodeNumber)
		return err
	}
	if err := once("a", goOn, mechanism.Uncertified(1e-9)); !errors.Is(err, erm.ErrTolerance) {
		t.Error(err)
	}
	if err := once("a", goOn, nil); err == nil || !strings.Contains(err.Error(), lost) {
		t.Errorf("after an error that tells of the noise: %v", err)
	}

	learn.OnEnded(func(now string) { panic(now) })
	func() {
		defer func() {
			if now := recover(); now != "begun" {
				t.Error(now)
			}
			learn.OnEnded(func(string) {})
		}()
		_ = once("b", goOn, nil)
	}()
	if err := once("b", budget.Spend(0.2), errFailing); !errors.Is(err, errFailing) {
		t.Error(err)
	}
	if err := once("b", goOn, nil); err == nil || !strings.Contains(err.Error(), lost) {
		t.Errorf("by the key of a program that was ended before the charge: %v", err)
	}

	if err := once("c", goOn, errFailing); !errors.Is(err, errFailing) {
		t.Error(err)
	}
	keys, err := filepath.Glob(filepath.Join(dir, "ledger.json.unfinished", "*"))
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	half := filepath.Join(filepath.Dir(keys[0]), ".dpnb-part-"+filepath.Base(keys[0])+"-00000001")
	must.Do(os.WriteFile(half, nil, 0o600))
	if err := once("c", goOn, nil); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Dir(half)); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// Of two programs that have begun the same release, because the file of its lock was deleted or the file system locks
// nothing, one shows it: the other has drawn the same noise, of records that may have changed.
func TestANoiseIsShownOnce(t *testing.T) {
	dir := t.TempDir()
	budget := learn.NewBudget(1, 1e-5, learn.Named(unusedName()), learn.KeptIn(filepath.Join(dir, "ledger.json")))
	once := func(v float64, meanwhile func() error) (float64, error) {
		return learn.Once("a", budget.Spend(0.2).Resumable(permit.New()), 1, func(a learn.Allowance) (float64, error) {
			v, err := number(a, v)
			return v, errors.Join(err, meanwhile())
		}, encodeNumber, decodeNumber)
	}
	nothing := func() error { return nil }
	var other float64
	v, err := once(7, func() (err error) {
		locks := must.Get(filepath.Glob(filepath.Join(dir, "ledger.json.releases", "*.lock")))
		must.Do(os.Remove(locks[0]))
		other, err = once(8, nothing)
		return err
	})
	if other != 8 || v != 0 || err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("shown: %v and %v (%v)", other, v, err)
	}
	if v, err := once(9, nothing); v != 8 || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}
