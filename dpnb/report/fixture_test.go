package report

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/report/jupyter"
)

// realSetup returns a set-up that runs notebooks, or skips the test: where it is to be quick, and where there is no
// Jupyter, which a test does not install.
func realSetup(t *testing.T) *Setup {
	t.Helper()
	testscale.Slow(t)
	root := must.Get(project.Root("."))
	cache, err := project.CacheDir()
	if err != nil {
		t.Skip(err)
	}
	if _, ok := jupyter.Find(context.Background(), jupyter.ThisMachine(), cache); !ok {
		t.Skip("there is no Jupyter here; `dpnb report` sets it up")
	}
	t.Setenv("TMPDIR", t.TempDir()) // so that what is left behind is this test's own
	say := func(text string) { t.Log(text) }
	return must.Get(Prepare(context.Background(), project.Tree{Dir: root}, false, nil, say))
}

// recorder is a Progress that remembers.
type recorder struct {
	mu    sync.Mutex
	cells map[string]int
	ends  map[string]string
}

func newRecorder() *recorder { return &recorder{cells: map[string]int{}, ends: map[string]string{}} }

func (r *recorder) Step(string)       {}
func (r *recorder) Begin(string, int) {}

func (r *recorder) Cell(name string, cell, _ int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cells[name] = cell
}

func (r *recorder) End(name, outcome string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends[name] = outcome
}

const testTimeout = 10 * time.Minute

func read(t *testing.T, path string) string {
	t.Helper()
	content := must.Get(os.ReadFile(path))
	return string(content)
}

func mustContain(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q", what, part)
		}
	}
}
