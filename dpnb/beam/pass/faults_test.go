package pass

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/beam/runner"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// sabotageEnv names a folder for the workers of a test. A file "KIND-AT" in it, with a number, has so many bundles
// fail, die or be slow at a place; each takes one off.
const sabotageEnv = "DPNB_PASS_SABOTAGE"

func setSabotage() {
	sabotage = func(at, _ string) error {
		dir := os.Getenv(sabotageEnv)
		if dir == "" {
			return nil
		}
		for _, kind := range []string{"fail", "die", "slow"} {
			path := filepath.Join(dir, kind+"-"+at)
			b, err := os.ReadFile(path)
			left, _ := strconv.Atoi(string(b))
			if err != nil || left == 0 {
				continue
			}
			if err := os.WriteFile(path, []byte(strconv.Itoa(left-1)), 0o600); err != nil {
				return err
			}
			switch kind {
			case "fail":
				return errors.New("injected")
			case "die":
				os.Exit(3)
			}
			time.Sleep(50 * time.Millisecond)
		}
		return nil
	}
}

// TestFaults: bundles that fail, die or are slow before and after they have written, workers that are killed, bundles
// whose result comes twice or never, in one process and in two: sums have the bits of an undisturbed pass, or there is
// an error that says what went wrong.
func TestFaults(t *testing.T) {
	testscale.InTurn(t)
	rows, labels := drawn(20_000, 4, 5)
	file := write(t, filepath.Join(t.TempDir(), "a.rows"), rows, labels)
	q := queries(4)[0]
	calm := must.Get(open(t, session(t, 0), t.TempDir(), file).Pass(q))
	times, least := 1, 25
	if testscale.Full() {
		times, least = 5, 125
	}
	dir := t.TempDir()
	t.Setenv(sabotageEnv, dir)
	runs := 0
	for _, processes := range []int{0, 2} {
		on := session(t, processes)
		try := func(name string, well bool, before func(r *Records)) {
			t.Helper()
			runs++
			sums := t.TempDir()
			r := open(t, on, sums, file)
			before(r)
			got, err := r.Pass(q)
			switch {
			case !well && err == nil:
				t.Errorf("%d processes, %s: no error", processes, name)
			case well && err != nil:
				t.Errorf("%d processes, %s: %v", processes, name, err)
			case well && !slices.Equal(got.Vector, calm.Vector):
				t.Errorf("%d processes, %s: other bits", processes, name)
			}
			if names, _ := filepath.Glob(filepath.Join(sums, "*.sums")); len(names) > 0 != (err == nil) {
				t.Errorf("%d processes, %s: left %v", processes, name, names)
			}
		}
		inject := func(name string, bundles int) func(*Records) {
			return func(*Records) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(strconv.Itoa(bundles)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range times {
			for _, at := range []string{"shard", "written"} {
				try("one failure, "+at, true, inject("fail-"+at, 1))
				try("two failures, "+at, true, inject("fail-"+at, 2))
				try("failures for ever, "+at, false, inject("fail-"+at, 1000))
				inject("fail-"+at, 0)(nil)
				try("slow, "+at, true, inject("slow-"+at, 4))
				if processes > 0 {
					try("one dies, "+at, true, inject("die-"+at, 1))
				}
			}
			try("a shard twice", false, func(r *Records) {
				r.dealt = func(s []shard, worker, workers int) []shard { return append(s[:1:1], s[0]) }
			})
			try("a shard lost", false, func(r *Records) {
				r.dealt = func(s []shard, worker, workers int) []shard {
					if worker > 0 {
						return nil
					}
					return s[1:]
				}
			})
			try("the sums are there, damaged", true, func(r *Records) {
				if _, err := r.Pass(q); err != nil {
					t.Fatal(err)
				}
				names, _ := filepath.Glob(filepath.Join(r.dir, "*.sums"))
				b := must.Get(os.ReadFile(names[0]))
				b[len(b)/2] ^= 1
				must.Do(os.WriteFile(names[0], b, 0o600))
			})
			if processes > 0 {
				try("a worker killed before", true, func(*Records) { on.Kill(1) })
			}
		}
	}
	t.Logf("%d runs", runs)
	if runs < least {
		t.Errorf("%d runs, want %d", runs, least)
	}
}

// TestADriverGoesOn: what a driver that was ended has had added up, the next one finds; files that are gone, cut short
// or another's are told by name.
func TestADriverGoesOn(t *testing.T) {
	rows, labels := drawn(6000, 3, 6)
	path := filepath.Join(t.TempDir(), "a.rows")
	file, on, sums := write(t, path, rows, labels), session(t, 0), t.TempDir()
	var first []*erm.Sums
	r := open(t, on, sums, file)
	for _, q := range queries(3)[:2] {
		s := must.Get(r.Pass(q))
		first = append(first, s)
	}
	again := open(t, on, sums, file)
	for k, q := range queries(3) {
		s, err := again.Pass(q)
		if err != nil || k < 2 && !slices.Equal(s.Vector, first[k].Vector) {
			t.Errorf("pass %d: %v, %v", k, s, err)
		}
	}
	names, _ := filepath.Glob(filepath.Join(sums, "*"))
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("others may read %s: %v, %v", name, info.Mode(), err)
		}
	}
	if len(names) == 0 {
		t.Error("no sums are left")
	}
	second := write(t, filepath.Join(t.TempDir(), "b.rows"), rows, labels)
	others := open(t, on, sums, second)
	if _, err := others.Pass(queries(3)[0]); err != nil || others.Found != 0 {
		t.Errorf("the sums over one file are taken for those over another: %v", err)
	}
	if again.Found != 2 || again.Made != 2 {
		t.Errorf("%d passes found and %d made", again.Found, again.Made)
	}
	other := file
	other.Key[0]++
	if _, err := Open(t.Context(), on, sums, other); err == nil ||
		!strings.Contains(err.Error(), "another table or schema") {
		t.Errorf("another key: %v", err)
	}
	must.Do(os.Truncate(path, 20_000))
	if _, err := Open(t.Context(), on, sums, file); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file cut short: %v", err)
	}
	must.Do(os.Remove(path))
	gone := &erm.Query{Kind: erm.Gradient, Loss: queries(3)[0].Loss, At: []float64{1, 2, 3}}
	if _, err := again.Pass(gone); err == nil ||
		!strings.Contains(err.Error(), "is not there") {
		t.Errorf("a file that is gone: %v", err)
	}
	if _, err := runner.Open(t.Context(), runner.Where{Endpoint: "localhost:1"}); err == nil ||
		!strings.Contains(err.Error(), "no runner answers") {
		t.Error(err)
	}
}
