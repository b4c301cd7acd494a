package sweep_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/beam/internal/prismtest"
	"github.com/dpnb/notebooks/dpnb/beam/runner"
	"github.com/dpnb/notebooks/dpnb/beam/sweep"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/paper/sweeps"
	"github.com/dpnb/notebooks/dpnb/sim"
)

func TestMain(m *testing.M) {
	runner.Main()
	prismtest.Main(m)
}

// local returns the rows as one process has them, without a file.
func local(t *testing.T, r sweeps.Request) []sim.Row {
	t.Helper()
	s := must.Get(sweeps.New(r))
	var rows []sim.Row
	for k := range s.Len() {
		row := must.Get(s.Trial(t.Context(), k))
		rows = append(rows, row)
	}
	return rows
}

func rows(t *testing.T, r sweeps.Request, dir string) []sim.Row {
	t.Helper()
	s := must.Get(sweeps.New(r))
	p := must.Get(sim.OpenParts(dir, r.String(), s))
	return must.Get(p.Rows())
}

func session(t *testing.T, processes int) *runner.Session {
	t.Helper()
	w := runner.Where{Processes: processes}
	if processes > 0 {
		w.Endpoint = prismtest.Start(t).Address
	}
	s, err := runner.Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestAThousandTrialsDigitForDigit: with no, one, two and four worker processes, and with the rows of one run in the
// place of those that another lost, the rows are those of a loop.
func TestAThousandTrialsDigitForDigit(t *testing.T) {
	r := sweeps.Request{Name: "noise"}
	want := local(t, r)
	if len(want) != 1000 {
		t.Fatalf("%d trials", len(want))
	}
	for _, processes := range []int{0, 1, 2, 4} {
		dir := t.TempDir()
		on := session(t, processes)
		last := 0
		must.Do(sweep.Run(t.Context(), on, r, dir, func(done, _ int) { last = done }))
		if !reflect.DeepEqual(rows(t, r, dir), want) || last != 256 {
			t.Errorf("%d processes: other rows than a loop's; %d parts", processes, last)
		}
		if processes != 2 {
			continue
		}
		files := must.Get(filepath.Glob(filepath.Join(dir, "part-*")))
		for _, f := range files[10:90] {
			must.Do(os.Remove(f))
		}
		must.Do(sweep.Run(t.Context(), on, r, dir, nil))
		if !reflect.DeepEqual(rows(t, r, dir), want) {
			t.Errorf("%d processes: other rows after a second run", processes)
		}
	}
	if other := local(t, sweeps.Request{Name: "noise", Seed: 2}); reflect.DeepEqual(other, want) {
		t.Error("another seed gives the same rows: the test tells nothing")
	}
}

// TestWorkersThatDie: two workers, each killed in the middle, and a driver that is stopped and started again.
func TestWorkersThatDie(t *testing.T) {
	r := sweeps.Request{Name: "qop/fig2", Trials: 4}
	want := local(t, r)
	on, dir := session(t, 2), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for worker := range 2 {
			time.Sleep(300 * time.Millisecond)
			on.Kill(worker)
		}
		time.Sleep(100 * time.Millisecond)
		cancel()
	}()
	first := sweep.Run(ctx, on, r, dir, nil)
	if err := sweep.Run(t.Context(), on, r, dir, nil); err != nil {
		t.Fatal(first, err)
	}
	if !reflect.DeepEqual(rows(t, r, dir), want) {
		t.Errorf("other rows than a loop's")
	}
	t.Logf("%d runs repeated; the first driver: %v", on.Retried(), first)
}

func TestWhatIsNoSweep(t *testing.T) {
	on := session(t, 0)
	if err := sweep.Run(t.Context(), on, sweeps.Request{Name: "noise"}, "/dev/null/x", nil); err == nil {
		t.Error("a folder that cannot be")
	}
	if err := sweep.Run(t.Context(), on, sweeps.Request{Name: "none"}, t.TempDir(), nil); err == nil {
		t.Error("a sweep that is none")
	}
}
