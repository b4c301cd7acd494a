package runlog

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func TestAppendWithoutRunDoesNothing(t *testing.T) {
	t.Setenv(DirEnv, "")
	t.Setenv(kernelDirEnv, "")
	if dir, ok := Dir(); ok {
		t.Fatalf("Dir() = %q, true without a run", dir)
	}
	must.Do(Append(KindNote, Note{"x"}))
}

func TestDirPrefersTheRunner(t *testing.T) {
	t.Setenv(kernelDirEnv, "/kernel")
	t.Setenv(DirEnv, "")
	if dir, ok := Dir(); !ok || dir != filepath.Join("/kernel", kernelSubdir) {
		t.Errorf("in a kernel: %q, %v", dir, ok)
	}
	t.Setenv(DirEnv, "/run")
	if dir, ok := Dir(); !ok || dir != "/run" {
		t.Errorf("under the runner: %q, %v", dir, ok)
	}
}

func TestRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not yet made")
	t.Setenv(DirEnv, dir)
	data := Data{Name: "census", Path: "adult.data", SHA256: "5b00", Rows: 32561}
	seed := Seed{Name: "band", Seed: math.MaxUint64}
	first := Ledger{Name: "main", Epsilon: 1, Delta: 1e-5}
	last := Ledger{
		Name: "main", Adjacency: "replace-one", Epsilon: 1, Delta: 1e-5,
		Entries: []Entry{{Label: "fit", Mechanism: "objective perturbation", Epsilon: 0.1 + 0.2, Delta: 1e-300,
			Simulated: true}},
		EpsilonSpent: Number(math.Inf(1)), DeltaSpent: 1e-300,
	}
	file := File{Path: filepath.Join(t.TempDir(), "schema.json"),
		SHA256: "a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447"}
	must.Do(os.WriteFile(file.Path, []byte("hello world\n"), 0o600))
	if text, err := ReadFile(file.Path); err != nil || string(text) != "hello world\n" {
		t.Fatal(text, err)
	}
	other := Ledger{Name: "second", Epsilon: Number(math.Inf(1))}
	for _, r := range []struct {
		kind  string
		value any
	}{
		{KindData, data}, {KindLedger, first}, {KindSeed, seed}, {KindData, data},
		{KindLedger, other}, {KindLedger, last}, {KindNote, Note{"a\nb"}}, {KindNote, Note{"c"}},
		{KindNote, Note{"a\nb"}}, {kindFile, file}, {kindFile, File{Path: "other"}}, {kindFile, file},
	} {
		must.Do(Append(r.kind, r.value))
	}
	got := must.Get(Read(dir))
	want := &Log{Data: []Data{data}, Files: []File{file, {Path: "other"}}, Seeds: []Seed{seed},
		Ledgers: []Ledger{last, other},
		Notes:   []Note{{"a\nb"}, {"c"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A source that is made twice is one seed, and its name is told once.
func TestSeedsAreRecordedOnceWithTheirNames(t *testing.T) {
	Seeded(1) // without a run: nothing, and nothing is remembered of it
	for range 2 {
		dir := t.TempDir() // a run of its own
		t.Setenv(DirEnv, dir)
		for _, seed := range []uint64{1, 2, 1} {
			Seeded(seed)
		}
		for _, s := range []Seed{{"noise", 2}, {"curve", 2}, {"curve", 2}, {"noise", 3}, {"", 3}} {
			must.Do(Append(KindSeed, s))
		}
		got, err := Read(dir)
		if want := []Seed{{"", 1}, {"noise", 2}, {"curve", 2}, {"noise", 3}}; err != nil ||
			!reflect.DeepEqual(got.Seeds, want) {
			t.Errorf("got %+v, %v, want %+v", got.Seeds, err, want)
		}
	}
}

func TestReadOfNothing(t *testing.T) {
	got, err := Read(t.TempDir())
	if err != nil || !reflect.DeepEqual(got, &Log{}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestReadPassesOverOnlyAnUnfinishedLastLine(t *testing.T) {
	good := `{"kind":"note","value":{"text":"kept"}}` + "\n"
	for _, c := range []struct {
		name, content, wantErr string
		notes                  int
	}{
		{"unfinished", good + `{"kind":"no`, "", 1},
		{"broken in the middle", `{"kind":"no` + "\n" + good, "line 1", 0},
		{"unknown kind", good + `{"kind":"rumour","value":{}}` + "\n", `unknown kind "rumour"`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			must.Do(os.WriteFile(filepath.Join(dir, logName), []byte(c.content), 0o600))
			log, err := Read(dir)
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) {
					t.Fatalf("error %v, want %q", err, c.wantErr)
				}
				return
			}
			if err != nil || len(log.Notes) != c.notes {
				t.Fatalf("got %+v, %v", log, err)
			}
		})
	}
}

func TestAppendFromManyGoroutines(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(DirEnv, dir)
	const n = 200
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := Append(KindSeed, Seed{Name: strings.Repeat("x", i), Seed: uint64(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	log, err := Read(dir)
	if err != nil || len(log.Seeds) != n {
		t.Fatalf("%d seeds, %v", len(log.Seeds), err)
	}
}
