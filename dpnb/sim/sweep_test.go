package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/sim"
)

func openParts(t *testing.T, dir string, s sim.Sweep) *sim.Parts {
	t.Helper()
	return must.Get(sim.OpenParts(dir, "means", s))
}

// TestPartsAreTheGrid: the rows of a sweep that is cut short, damaged and taken up again are the scores of a grid that
// runs through, to the last bit, for any number of workers.
func TestPartsAreTheGrid(t *testing.T) {
	testscale.Slow(t)
	want := run(t, grid(1))
	dir := t.TempDir()
	p := openParts(t, dir, grid(1))
	ctx, cancel := context.WithCancel(context.Background())
	if err := p.Run(ctx, 2, func(done, total int) {
		if done == 20 {
			cancel()
		}
		if total != p.Len() {
			t.Errorf("%d parts of %d", total, p.Len())
		}
	}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := p.Rows(); err == nil || p.Done() < 20 || p.Done() == p.Len() {
		t.Fatalf("%d parts are there after a run that was cut short: %v", p.Done(), err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "part-*"))
	b := must.Get(os.ReadFile(files[3]))
	at := strings.LastIndexAny(string(b), "0123456789")
	b[at] = '0' + (b[at]-'0'+1)%10 // one digit
	must.Do(errors.Join(os.WriteFile(files[3], b, 0o644), os.Truncate(files[4], 100)))
	p = openParts(t, dir, grid(1)) // as another process
	if missing := p.Missing(); len(missing) != p.Len()-p.Done()+2 {
		t.Errorf("%d parts missing with %d files, two of them damaged", len(missing), p.Done())
	}
	must.Do(p.Run(context.Background(), 0, nil))
	rows, err := p.Rows()
	if err != nil || len(rows) != 4800 {
		t.Fatal(len(rows), err)
	}
	for i, r := range rows {
		c := want[i/400]
		if !reflect.DeepEqual(r, sim.Row{Texts: []string{c.Task, c.Mechanism},
			Numbers: []float64{c.Epsilon, float64(i % 400), c.Scores[i%400]}}) {
			t.Fatalf("row %d is %v, the grid has %v", i, r, c.Scores[i%400])
		}
	}
	other := grid(1)
	other.Trials++
	if _, err := sim.OpenParts(dir, "means", other); err == nil || !strings.Contains(err.Error(), "another sweep") {
		t.Errorf("another sweep in the folder: %v", err)
	}
	if _, err := sim.OpenParts(dir, "medians", grid(1)); err == nil || !strings.Contains(err.Error(), "another sweep") {
		t.Errorf("another name in the folder: %v", err)
	}
}

func TestRowsAsJSON(t *testing.T) {
	want := sim.Row{Texts: []string{"κ = 1", `"`}, Numbers: []float64{0.1, 1e-320, math.Inf(-1), math.MaxFloat64}}
	b, err := json.Marshal(want)
	var got sim.Row
	if err := errors.Join(err, json.Unmarshal(b, &got)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, %v", b, got, err)
	}
	if err := json.Unmarshal([]byte(`{"numbers": ["ten"]}`), &got); err == nil {
		t.Error("a text for a number")
	}
}

// A trial that fails leaves what was made, and says which it was.
func TestPartsOfATrialThatFails(t *testing.T) {
	p := openParts(t, t.TempDir(), failing{})
	if err := p.Run(context.Background(), 1, nil); err == nil || !strings.Contains(err.Error(), "trial 7: boom") {
		t.Error(err)
	}
	if p.Done() != 7 {
		t.Errorf("%d parts", p.Done())
	}
}

type failing struct{}

func (failing) Columns() (texts, numbers []string) { return nil, []string{"k"} }
func (failing) Len() int                           { return 10 }
func (failing) Trial(_ context.Context, k int) (sim.Row, error) {
	if k == 7 {
		return sim.Row{}, errors.New("boom")
	}
	return sim.Row{Numbers: []float64{float64(k)}}, nil
}
