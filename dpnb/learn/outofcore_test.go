package learn_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/scale"
)

// A fit of a file that is scanned is the fit of the same table in memory: to the last bit where features are kept as
// they are, else but for the roundings to float32.
func TestFitOfAScan(t *testing.T) {
	g := scale.Invented{Rows: 20_003}
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	must.Do(parquet.Write(path, g))
	fit := func(df learn.DataFrame, opts ...learn.Option) *learn.Model {
		t.Helper()
		data := learn.Binary(df.WithSchema(scale.Schema().Fields...), "ill", append(opts, learn.Lines())...)
		return must.Get(learn.Logistic{Noise: learn.Seed(5)}.Fit(data, learn.Simulate(1, 1e-6)))
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
	testscale.Slow(t)
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
