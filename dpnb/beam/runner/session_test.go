package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/dpnb/notebooks/dpnb/beam/internal/prismtest"
)

func TestMain(m *testing.M) {
	Main()
	prismtest.Main(m)
}

// note writes the number of the process that saw an element into a folder, and fails as often as it is told to, or
// waits until there is a file "go" in the folder.
type note struct {
	Dir  string
	Fail int // this many processings fail after the file was written
	Wait bool
}

func (n *note) ProcessElement(k int) error {
	names, err := filepath.Glob(filepath.Join(n.Dir, fmt.Sprintf("%d-*", k)))
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(n.Dir, fmt.Sprintf("%d-%d-*", k, os.Getpid()))
	if err != nil {
		return err
	}
	for n.Wait {
		if _, err := os.Stat(filepath.Join(n.Dir, "go")); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if len(names) < n.Fail {
		err = errors.New("injected")
	}
	return errors.Join(err, f.Close())
}

func init() { register.DoFn1x1[int, error](&note{}) }

// seen returns the processes that saw each element.
func seen(t *testing.T, dir string) map[string]map[string]bool {
	t.Helper()
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]bool{}
	for _, n := range names {
		if n.Name() == "go" {
			continue
		}
		parts := strings.Split(n.Name(), "-")
		if all[parts[0]] == nil {
			all[parts[0]] = map[string]bool{}
		}
		all[parts[0]][parts[1]] = true
	}
	return all
}

func run(ctx context.Context, s *Session, n note) error {
	return s.Run(ctx, "notes", func(scope beam.Scope, worker int) {
		beam.ParDo0(scope, &n, beam.Create(scope, worker))
	})
}

func open(t *testing.T, w Where) *Session {
	t.Helper()
	s, err := Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestEachWorkerIsAProcess: with so many processes, each share of the work is seen by another one, and none by this.
func TestEachWorkerIsAProcess(t *testing.T) {
	prism := prismtest.Start(t)
	for _, workers := range []int{0, 1, 2, 4} {
		s := open(t, Where{Endpoint: prism.Address, Processes: workers})
		for range 2 {
			dir := t.TempDir()
			start := time.Now()
			if err := run(t.Context(), s, note{Dir: dir}); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d workers: %v", workers, time.Since(start))
			different := map[string]bool{}
			for k, by := range seen(t, dir) {
				for pid := range by {
					different[pid] = true
				}
				if len(by) != 1 {
					t.Errorf("element %s was seen by %d processes", k, len(by))
				}
			}
			if len(different) != max(1, workers) || different[fmt.Sprint(os.Getpid())] != (workers == 0) {
				t.Errorf("%d workers: seen by %v, this process being %d", workers, different, os.Getpid())
			}
		}
	}
}

// TestWhatDiesIsStartedAgain: workers and the runner, before a run and in the middle of it, when both elements are
// being processed: they wait until one of the processes is gone.
func TestWhatDiesIsStartedAgain(t *testing.T) {
	prism := prismtest.Start(t)
	s := open(t, Where{Endpoint: prism.Address, Processes: 2})
	for _, kill := range []func() bool{func() bool { return s.Kill(1) }, func() bool { return s.Kill(0) },
		prism.Kill} {
		for _, before := range []bool{true, false} {
			dir := t.TempDir()
			strike := func() {
				if !kill() {
					t.Error("there is nothing to kill")
				}
				if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
					t.Error(err)
				}
			}
			retried := s.Retried()
			struck := make(chan bool)
			if before {
				strike()
				close(struck)
			} else {
				go func() {
					defer close(struck)
					for t.Context().Err() == nil && len(seen(t, dir)) < 2 {
						time.Sleep(5 * time.Millisecond)
					}
					strike()
				}()
			}
			if err := run(t.Context(), s, note{Dir: dir, Wait: true}); err != nil {
				t.Fatal(err)
			}
			<-struck
			if all := seen(t, dir); len(all) != 2 {
				t.Errorf("%d elements of 2 were processed", len(all))
			}
			if !before && s.Retried() == retried {
				t.Error("no run failed: nothing was tested")
			}
		}
	}
}

// TestFailuresAreTheCallers: what fails once is repeated, what fails for ever is told.
func TestFailuresAreTheCallers(t *testing.T) {
	s := open(t, Where{})
	if err := run(t.Context(), s, note{Dir: t.TempDir(), Fail: 2}); err != nil || s.Retried() != 2 {
		t.Errorf("after %d repetitions: %v", s.Retried(), err)
	}
	if err := run(t.Context(), s, note{Dir: t.TempDir(), Fail: 9}); err == nil ||
		!strings.Contains(err.Error(), "injected") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, s, note{Dir: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestWhereThatIsNowhere(t *testing.T) {
	read, group := filepath.Join(t.TempDir(), "worker"), filepath.Join(t.TempDir(), "worker")
	for path, mode := range map[string]os.FileMode{read: 0o604, group: 0o640} {
		if err := os.WriteFile(path, []byte("127.0.0.1:1 key"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for want, w := range map[string]Where{
		"--endpoint": {Processes: 1}, "no address": {Endpoint: "localhost"}, "or a number": {Endpoint: "localhost:1",
			Processes: 1, Workers: []string{"a"}}, "no runner answers": {Endpoint: "localhost:1"},
		"start one with":     {Endpoint: "localhost:1", Workers: []string{"/nowhere"}},
		"others may read it": {Endpoint: "localhost:1", Workers: []string{read}},
		"and others may":     {Endpoint: "localhost:1", Workers: []string{group}},
	} {
		if _, err := Open(t.Context(), w); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", w, err, want)
		}
	}
}
