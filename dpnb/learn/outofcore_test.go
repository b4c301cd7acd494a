package learn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// invented is a scan of rows × 20 invented columns: 18 numbers, a category and a label that depends on the first
// numbers. The same seed gives the same rows.
type invented struct{ rows, chunk int }

func (g invented) Names() []string {
	var names []string
	for j := range 18 {
		names = append(names, fmt.Sprint("x", j))
	}
	return append(names, "town", "ill")
}

func (g invented) Origin() frame.Source { return frame.Source{Name: "invented", Invented: true} }

func (g invented) Scan(_ []string, f func(*frame.Table) error) error {
	towns := []string{"Bern", "Rome", "Oslo"}
	for lo := 0; lo < g.rows; lo += g.chunk {
		n := min(g.chunk, g.rows-lo)
		columns := make([]frame.Column, 20)
		for j, name := range g.Names() {
			columns[j] = frame.Column{Name: name, Numbers: make([]float64, n)}
		}
		columns[18] = frame.Column{Name: "town", Kind: frame.Categorical, Texts: make([]string, n)}
		columns[19] = frame.Column{Name: "ill", Kind: frame.Categorical, Texts: make([]string, n)}
		r := rand.New(rand.NewPCG(uint64(lo), 7))
		for i := range n {
			t := 0.0
			for j := range 18 {
				v := r.Float64()
				columns[j].Numbers[i] = v
				if j < 4 {
					t += 4 * (v - 0.5)
				}
			}
			columns[18].Texts[i] = towns[r.IntN(3)]
			columns[19].Texts[i] = "no"
			if r.Float64() < 1/(1+math.Exp(-t)) {
				columns[19].Texts[i] = "yes"
			}
		}
		table, err := frame.NewTable(columns...)
		if err != nil {
			return err
		}
		if err := f(table); err != nil {
			return err
		}
	}
	return nil
}

func (g invented) schema() []learn.Field {
	var fields []learn.Field
	for _, name := range g.Names()[:18] {
		fields = append(fields, learn.Numeric(name, 0, 1))
	}
	return append(fields, learn.Categorical("town", "Bern", "Rome", "Oslo"), learn.Categorical("ill", "no", "yes"))
}

// A fit of a file that is scanned is the fit of the same table in memory: to the last bit where features are kept as
// they are, else but for the roundings to float32.
func TestFitOfAScan(t *testing.T) {
	g := invented{rows: 20_003, chunk: 7000}
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	must.Do(parquet.Write(path, g))
	fit := func(df learn.DataFrame, opts ...learn.Option) *learn.Model {
		t.Helper()
		data := learn.Binary(df.WithSchema(g.schema()...), "ill", append(opts, learn.Lines())...)
		m := must.Get(learn.Logistic{Noise: learn.Seed(5)}.Fit(data, learn.Simulate(1, 1e-6)))
		return m
	}
	scan := learn.FromScanner(parquet.Open(path, &parquet.Settings{ChunkRows: 999}))
	want := fit(scan.Collect())
	var before time.Time
	for _, double := range []bool{true, false} {
		for _, again := range []bool{false, true} {
			got := fit(scan, learn.StoredIn(frame.Storage{Dir: dir, Double: double}))
			for j, v := range want.Theta() {
				if d := math.Abs(got.Theta()[j] - v); double && d != 0 || d > 1e-5 {
					t.Errorf("double %v: coefficient %d is %v, in memory %v", double, j, got.Theta()[j], v)
				}
			}
			files, _ := filepath.Glob(filepath.Join(dir, "*.rows"))
			if len(files) != map[bool]int{true: 1, false: 2}[double] {
				t.Fatalf("files %v", files)
			}
			info, err := os.Stat(files[0])
			if err != nil || again && double && !info.ModTime().Equal(before) {
				t.Errorf("the records were stored again: %v", err)
			}
			before = info.ModTime()
		}
	}
	must.Do(frame.RemoveStored(frame.Storage{Dir: dir}))
	if files, _ := filepath.Glob(filepath.Join(dir, "*.rows")); len(files) != 0 {
		t.Errorf("left: %v", files)
	}
}

// Every learner that learns in passes does so within a limit on memory, and what it releases is what it does of the
// same table in memory, to the last bit; the others are refused by name, before a charge, and fit without the limit.
func TestLearnersWithinAMemoryLimit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	rows, schema, err := learn.Patients(2000, 3).Known()
	if err == nil {
		err = parquet.Write(path, rows)
	}
	if err != nil {
		t.Fatal(err)
	}
	scan := learn.FromScanner(parquet.Open(path, nil)).WithSchema(schema.Fields...)
	limited := learn.StoredIn(learn.Storage{Dir: dir, Double: true, MemoryLimit: 256 << 20})
	ill := func(df learn.DataFrame) *learn.Dataset { return learn.Binary(df, "ill", learn.Lines(), limited) }
	ward := func(df learn.DataFrame) *learn.Dataset { return learn.Classes(df, "ward", learn.Lines(), limited) }
	visits := func(df learn.DataFrame) *learn.Dataset { return learn.Counts(df, "visits", learn.Lines(), limited) }
	pressure := func(df learn.DataFrame) *learn.Dataset {
		return learn.Regression(df, "pressure", learn.Lines(), limited)
	}
	type source = noise.Source
	for _, c := range []struct {
		learner func(source) learn.Learner
		data    func(learn.DataFrame) *learn.Dataset
		refused bool
	}{
		{func(s source) learn.Learner { return learn.Logistic{Noise: s} }, ill, false},
		{func(s source) learn.Learner { return learn.Logistic{Noise: s, CurvatureShare: 0.1} }, ill, false},
		{func(s source) learn.Learner { return learn.SVM{Noise: s} }, ill, false},
		{func(s source) learn.Learner { return learn.Linear{Noise: s} }, pressure, false},
		{func(s source) learn.Learner { return learn.Huber{Noise: s} }, pressure, false},
		{func(s source) learn.Learner { return learn.Poisson{Noise: s} }, visits, false},
		{func(s source) learn.Learner { return learn.Softmax{Noise: s} }, ward, false},
		{func(s source) learn.Learner { return learn.OneVsRest{Noise: s} }, ward, false},
		{func(s source) learn.Learner { return learn.Quantiles{Noise: s} }, pressure, false},
		{func(s source) learn.Learner { return learn.Quantile{Noise: s, CurvatureShare: 0.1} }, pressure, false},
		{func(s source) learn.Learner {
			return learn.Quadratic{Noise: s, Interpolation: learn.AssumeInterpolation(make([]float64, 11), 0.1)}
		}, pressure, false},
		{func(s source) learn.Learner { return learn.Quantile{Noise: s, Pure: true} }, pressure, true},
		{func(s source) learn.Learner { return learn.HeavyTails{Noise: s} }, pressure, true},
		{func(s source) learn.Learner { return learn.Linear{Noise: s, Pure: true} }, pressure, true},
	} {
		fit := func(df learn.DataFrame) (*learn.Model, error) {
			return c.learner(learn.Seed(5)).Fit(c.data(df), learn.Simulate(1, 1e-6))
		}
		name := fmt.Sprintf("%T", c.learner(nil))
		before := debug.SetMemoryLimit(-1)
		got, err := fit(scan)
		if debug.SetMemoryLimit(-1) != before {
			t.Errorf("%s: the limit stays", name)
		}
		if c.refused {
			if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(name, "learn.")+", by ") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := must.Get(fit(scan.Collect()))
		if !slices.Equal(got.Theta(), want.Theta()) {
			t.Errorf("%s: %v, in memory %v", name, got.Theta(), want.Theta())
		}
	}
}

// 10⁷ rows × 20 columns of Parquet, fitted in a minute and a gibibyte.
func TestLargerThanMemory(t *testing.T) {
	if !testscale.Full() {
		t.Skip("10⁷ rows wait for all tests")
	}
	debug.SetMemoryLimit(900 << 20)
	dir := t.TempDir()
	path := filepath.Join(dir, "large.parquet")
	g := invented{rows: 10_000_000, chunk: 1 << 16}
	must.Do(parquet.Write(path, g))
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // the peak begins anew
	start, before := time.Now(), processor(t)
	df := learn.FromScanner(parquet.Open(path, nil)).WithSchema(g.schema()...)
	data := learn.Binary(df, "ill", learn.RowNorm(1), learn.StoredIn(frame.Storage{Dir: dir}))
	must.Do(data.Err())
	t.Logf("stored after %v", time.Since(start))
	m := must.Get(learn.Logistic{Noise: learn.Seed(5)}.Fit(data, learn.Simulate(1, 1e-6)))
	of, err := explore.Mean("x0").Noise(learn.Seed(5)).Of(df, learn.Simulate(1, 1e-6))
	if err != nil || math.Abs(of.Value()-0.5) > 1e-3 {
		t.Errorf("mean %v, %v", of, err)
	}
	took, used := time.Since(start), processor(t)-before
	status, _ := os.ReadFile("/proc/self/status")
	peak := 0
	for line := range strings.Lines(string(status)) {
		_, _ = fmt.Sscanf(line, "VmHWM: %d kB", &peak)
	}
	t.Logf("%v, of the processors %v, peak %d MiB, θ = %.3g", took, used, peak>>10, m.Theta())
	// Of two processors that nobody else uses, a minute has two.
	if peak > 1<<20 || took > time.Minute && used > time.Minute {
		t.Errorf("%v and %d MiB, want a minute and 1024 MiB", took, peak>>10)
	}
}

// processor returns the time that this process has had of the processors.
func processor(t *testing.T) time.Duration {
	t.Helper()
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Skip(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var user, system int
	_, err = fmt.Sscan(fields[11]+" "+fields[12], &user, &system) // in hundredths of a second
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
