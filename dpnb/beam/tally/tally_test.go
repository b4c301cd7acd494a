package tally

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/beam/internal/prismtest"
	"github.com/dpnb/notebooks/dpnb/beam/runner"
	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// sabotageEnv names the folder of a test for prismtest.Sabotage.
const sabotageEnv = "DPNB_TALLY_SABOTAGE"

func TestMain(m *testing.M) {
	sabotage = prismtest.Sabotage(sabotageEnv)
	runner.Main()
	prismtest.Main(m)
}

// chunks is a scan of so many rows of two columns, in chunks of 1,000: groups of rows of a file.
type chunks int

func (chunks) Names() []string      { return []string{"a", "b"} }
func (chunks) Origin() frame.Source { return frame.Source{Name: "invented", Invented: true} }

func (n chunks) Scan(_ []string, f func(*frame.Table) error) error {
	rng := rand.New(rand.NewPCG(4, 5))
	for lo := 0; lo < int(n); lo += 1000 {
		a, b := make([]float64, min(1000, int(n)-lo)), make([]float64, min(1000, int(n)-lo))
		for i := range a {
			a[i], b[i] = rng.Float64(), rng.NormFloat64()
		}
		t, err := frame.NewTable(frame.Column{Name: "a", Numbers: a}, frame.Column{Name: "b", Numbers: b})
		if err == nil {
			err = f(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestTalliesAreThoseOfTheRecords: of a file in parts, by no, one and several worker processes, parts that fail,
// processes that die, results that are there, damaged, or from another driver: what is added up has the bytes of one
// pass here, and releases the same of one seed. A file that was changed, a part that fails for ever: an error.
func TestTalliesAreThoseOfTheRecords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.parquet")
	must.Do(parquet.Write(file, chunks(40_500)))
	records := must.Get(parquet.Open(file, nil))
	m := must.Get(statistic.CalibrateSummary([]statistic.Number{{Upper: 1}, {Lower: -3, Upper: 3}}, []bool{false,
		false}, 1,
		1e-6, true))
	a := explore.Adding{Mechanism: m, Columns: []string{"a", "b"},
		Fields: []frame.Field{frame.NumericField("a", 0, 1), frame.NumericField("b", -3, 3)}}
	want := must.Get(a.Tally(records))
	released := func(parts ...[]byte) []float64 {
		all := m.Tally()
		for _, b := range parts {
			if err := statistic.MergeTally(all, b); err != nil {
				t.Fatal(err)
			}
		}
		if len(parts) > 1 && !slices.Equal(statistic.EncodeTally(all), want) {
			t.Error("other bytes")
		}
		return all.Release(noise.NewSeeded(7))
	}
	here := released(want)
	table := Table{Pieces: frame.Pieces(records)}
	trouble := t.TempDir()
	t.Setenv(sabotageEnv, trouble)
	inject := func(kind string, times int) {
		must.Do(os.WriteFile(filepath.Join(trouble, kind), []byte(strconv.Itoa(times)), 0o600))
	}
	processes, times := []int{0, 2}, 1
	if testscale.Full() {
		processes, times = []int{0, 1, 2, 4}, 4
	}
	runs := 0
	for _, n := range processes {
		where := runner.Where{Processes: n}
		if n > 0 {
			where.Endpoint = prismtest.Start(t).Address
		}
		on := must.Get(runner.Open(context.Background(), where))
		defer on.Close()
		for range times {
			dir := t.TempDir()
			for _, what := range []string{"calm", "found", "damaged", "fail", "die", "killed", "for ever"} {
				if n == 0 && what == "die" {
					continue
				}
				runs++
				switch what {
				case "damaged":
					left, _ := filepath.Glob(filepath.Join(dir, "*.part"))
					for k, path := range left {
						must.Do(os.Truncate(path, int64(20*(k%2))))
					}
				case "fail", "die":
					inject(what, 2)
					dir = t.TempDir()
				case "killed":
					on.Kill(0)
					dir = t.TempDir()
				case "for ever":
					inject("fail", 1000)
					dir = t.TempDir()
				}
				paths, err := Run(context.Background(), on, table, a, dir)
				inject("fail", 0)
				if what == "for ever" {
					if err == nil || !strings.Contains(err.Error(), "injected") {
						t.Errorf("%d processes, %s: %v", n, what, err)
					}
					continue
				}
				if err != nil || len(paths) < 2 {
					t.Fatalf("%d processes, %s: %v, %v", n, what, paths, err)
				}
				var parts [][]byte
				for _, path := range paths {
					if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
						t.Errorf("others may read %s: %v, %v", path, info.Mode(), err)
					}
					b := must.Get(os.ReadFile(path))
					parts = append(parts, b)
				}
				if !slices.Equal(released(parts...), here) {
					t.Errorf("%d processes, %s: released otherwise", n, what)
				}
			}
		}
		// Another question has other sums in the same folder.
		dir, less := t.TempDir(), a
		less.Fields = []frame.Field{frame.NumericField("a", 0, 0.5), frame.NumericField("b", -3, 3)}
		for _, asked := range []explore.Adding{a, less} {
			all := m.Tally()
			for _, path := range must.Get(Run(context.Background(), on, table, asked, dir)) {
				must.Do(statistic.MergeTally(all, must.Get(os.ReadFile(path))))
			}
			if same := slices.Equal(statistic.EncodeTally(all), must.Get(asked.Tally(records))); !same {
				t.Errorf("%d processes: what was added up for another question is taken for this one's", n)
			}
		}
		changed := table
		changed.Pieces = []frame.Piece{{Path: file, SHA256: strings.Repeat("0", 64)}}
		if _, err := Run(context.Background(), on, changed, a, t.TempDir()); err == nil ||
			!strings.Contains(err.Error(), "is not the file") {
			t.Errorf("another file: %v", err)
		}
	}
	t.Logf("%d runs", runs)
}

// A worker of another version of the code adds nothing up, and parts by another version are not taken for this one's.
func TestPartsAreOfOneVersion(t *testing.T) {
	request := func(steps string) string {
		text, err := json.Marshal(work{Steps: steps})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	now, was := &addPart{request(frame.StepsOfCode), "d"}, &addPart{request("dpnb records 3"), "d"}
	if _, err := was.opened(); err == nil || !strings.Contains(err.Error(), "version") {
		t.Errorf("a request of another version: %v", err)
	}
	if _, err := now.opened(); err != nil && strings.Contains(err.Error(), "version") {
		t.Error(err)
	}
	if now.path(0) == was.path(0) {
		t.Error("parts of two versions have one name")
	}
}
