package learn_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/learn"
)

// A fit under a name that is killed, wherever, goes on: it is charged once and its noise is that of the
// first program, so that programs that go on from copies of its files release the same to the last bit. The
// key is gone before there is a release. Without the key the release is lost; a kill before the charge leaves nothing
// to go on with, and other noise is drawn.
func TestAKilledFitGoesOn(t *testing.T) {
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
	child := func(dir, at string) string {
		c := exec.Command(os.Args[0], "-test.run=^TestAKilledFitGoesOn$")
		c.Env = append(os.Environ(), folder+"="+dir, when+"="+at)
		out, err := c.CombinedOutput()
		return fmt.Sprintf("%s%v", out, err)
	}
	glob := func(dir, pattern string) []string {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	for _, at := range []string{"begun", "charged", "kept"} {
		dir := t.TempDir()
		if said := child(dir, at); said != "signal: killed" {
			t.Fatalf("%s: %s", at, said)
		}
		left := glob(dir, "*.unfinished/*.json")
		if len(left) != 1 || len(glob(dir, "*.releases/*.json")) != 0 {
			t.Fatalf("%s: left %v", at, left)
		}
		content, err := os.ReadFile(left[0])
		if err != nil || bytes.Contains(content, []byte(`"Key"`)) == bytes.Contains(content, []byte("Coefficients")) {
			t.Errorf("%s: %v: %s", at, err, content)
		}
		for _, path := range []string{left[0], filepath.Dir(left[0])} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: others may read %v (%v)", at, info, err)
			}
		}
		var released [2][]byte
		for k, end := range []string{"never", "kept"} { // the second is killed once more
			twin := t.TempDir()
			if err := os.CopyFS(twin, os.DirFS(dir)); err != nil {
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
			if len(files) != 1 || len(glob(twin, "*.unfinished/*.json")) != 0 {
				t.Fatalf("%s: left %v", at, files)
			}
			if released[k], err = os.ReadFile(files[0]); err != nil {
				t.Fatal(err)
			}
			var kept struct{ Entries []json.RawMessage }
			text, err := os.ReadFile(filepath.Join(twin, "ledger.json"))
			if err == nil {
				err = json.Unmarshal(text, &kept)
			}
			if err != nil || len(kept.Entries) != 1 {
				t.Errorf("%s: charged %d times (%v)", at, len(kept.Entries), err)
			}
		}
		if same := bytes.Equal(released[0], released[1]); same != (at != "begun") {
			t.Errorf("%s: released the same by two that go on: %v", at, same)
		}
		if at != "charged" {
			continue
		}
		if said := child(dir, "other"); !strings.Contains(said, `only the same goes on`) ||
			!strings.Contains(said, `learner is "SVM" and was "Logistic"`) {
			t.Errorf("another learner: %s", said)
		}
		if err := os.Remove(left[0]); err != nil {
			t.Fatal(err)
		}
		if said := child(dir, "never"); !strings.Contains(said, "The charge stands") {
			t.Errorf("without its key: %s", said)
		}
	}
}
