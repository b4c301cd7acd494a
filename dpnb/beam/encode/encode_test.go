package encode

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/beam/internal/prismtest"
	"github.com/dpnb/notebooks/dpnb/beam/pass"
	"github.com/dpnb/notebooks/dpnb/beam/runner"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
)

// sabotageEnv names the folder of a test for prismtest.Sabotage.
const sabotageEnv = "DPNB_ENCODE_SABOTAGE"

func TestMain(m *testing.M) {
	sabotage = prismtest.Sabotage(sabotageEnv)
	runner.Main()
	prismtest.Main(m)
}

// stretch is the rows from to to−1 of an invented table of three numbers and a label, in chunks of 1,000.
type stretch struct{ from, to int }

func (stretch) Names() []string      { return []string{"a", "b", "c", "ill"} }
func (stretch) Origin() frame.Source { return frame.Source{Name: "invented", Invented: true} }

func (s stretch) Scan(_ []string, f func(*frame.Table) error) error {
	for lo := s.from; lo < s.to; lo += 1000 {
		n := min(1000, s.to-lo)
		numbers, ill := [3][]float64{}, make([]string, n)
		for i := range n {
			rng := rand.New(rand.NewPCG(uint64(lo+i), 9))
			for j := range numbers {
				numbers[j] = append(numbers[j], rng.Float64())
			}
			ill[i] = strconv.Itoa(rng.IntN(2))
		}
		t, err := frame.NewTable(frame.Column{Name: "a", Numbers: numbers[0]},
			frame.Column{Name: "b", Numbers: numbers[1]}, frame.Column{Name: "c", Numbers: numbers[2]},
			frame.Column{Name: "ill", Kind: frame.Categorical, Texts: ill})
		if err == nil {
			err = f(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// csv writes it to a file.
func (s stretch) csv(path string) {
	var text strings.Builder
	text.WriteString("a,b,c,ill\n")
	must.Do(s.Scan(nil, func(c *frame.Table) error {
		a, b := must.Get(c.Column("a")).Numbers, must.Get(c.Column("b")).Numbers
		more, ill := must.Get(c.Column("c")).Numbers, must.Get(c.Column("ill")).Texts
		for i := range a {
			fmt.Fprintf(&text, "%v,%v,%v,%s\n", a[i], b[i], more[i], ill[i])
		}
		return nil
	}))
	must.Do(os.WriteFile(path, []byte(text.String()), 0o600))
}

func together(paths ...string) frame.Scanner {
	var files []frame.Scanner
	for _, p := range paths {
		files = append(files, must.Get(parquet.OpenAny(p, nil, nil)))
	}
	return must.Get(frame.Together(files...))
}

func encoding(t frame.Scanner) *frame.Encoding {
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("a", 0, 1), frame.NumericField("b", 0, 1),
		frame.NumericField("c", 0, 1), frame.CategoricalField("ill", "0", "1")}}
	return must.Get(frame.Planned(t, schema, frame.DesignSettings{Label: "ill", ClipNorm: 1})).Encoding
}

func session(t testing.TB, processes int) *runner.Session {
	t.Helper()
	w := runner.Where{Processes: processes}
	if processes > 0 {
		w.Endpoint = prismtest.Start(t).Address
	}
	s := must.Get(runner.Open(context.Background(), w))
	t.Cleanup(s.Close)
	return s
}

// by has shards stored by a session.
func by(on *runner.Session) func(frame.Sharding) error {
	return func(s frame.Sharding) error { return Run(context.Background(), on, Table{Sharding: s}) }
}

// TestEncodedByWorkers: a table in CSV files, one of them empty, and in the row groups of Parquet files, encoded by no
// and by two worker processes, with shards that fail and processes that die, has the records of one file that was
// encoded here, and every pass over its shards by these workers has the bits of one over that file. A shard that fails
// for ever, or that a worker finds changed, is an error.
func TestEncodedByWorkers(t *testing.T) {
	const n = 20_500
	dir, trouble := t.TempDir(), t.TempDir()
	t.Setenv(sabotageEnv, trouble)
	inject := func(kind string, times int) {
		must.Do(os.WriteFile(filepath.Join(trouble, kind), []byte(strconv.Itoa(times)), 0o600))
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for k, s := range []stretch{{0, 3}, {3, 3}, {3, 12_345}, {12_345, n}} {
		s.csv(at(fmt.Sprint(k, ".csv")))
	}
	stretch{0, n}.csv(at("whole.csv"))
	must.Do(parquet.Write(at("a.parquet"), stretch{0, 12_345}))
	must.Do(parquet.Write(at("b.parquet"), stretch{12_345, n}))
	one := together(at("whole.csv"))
	e := encoding(one)
	want := must.Get(e.Stored(one, frame.Storage{Dir: t.TempDir()}))
	calm := session(t, 0)
	theta := make([]float64, len(e.Features))
	for j := range theta {
		theta[j] = 1 / float64(j+1)
	}
	f := loss.Sum(loss.Logistic{})
	queries := []*erm.Query{{Kind: erm.Gradient, Loss: f, At: theta, Norms: true},
		{Kind: erm.Hessian, Loss: f, At: theta},
		{Kind: erm.Precise, Loss: f, At: theta, Low: make([]float64, len(theta))}}
	passed := func(on *runner.Session, d *frame.Design) (all []*erm.Sums) {
		r := must.Get(pass.Open(context.Background(), on, t.TempDir(), d.Rows.(stored.Records).Files()...))
		defer r.Close()
		for _, q := range queries {
			all = append(all, must.Get(r.Pass(q)))
		}
		return all
	}
	sums := passed(calm, want)
	places := make([]int, n)
	for i := range places {
		places[i] = i
	}
	rows := matrix.Densed(matrix.Select(want.Rows, places)).Data
	csv := together(at("0.csv"), at("1.csv"), at("2.csv"), at("3.csv"))
	for _, processes := range []int{0, 2} {
		on := calm
		if processes > 0 {
			on = session(t, processes)
		}
		for name, table := range map[string]frame.Scanner{"CSV": csv,
			"Parquet": together(at("a.parquet"), at("b.parquet")), "one file": one} {
			inject("fail", 1)
			if processes > 0 {
				inject("die", 1)
			}
			got, err := e.Stored(table, frame.Storage{Dir: t.TempDir(), By: by(on)})
			if err != nil {
				t.Fatalf("%d processes, %s: %v", processes, name, err)
			}
			shards := len(got.Rows.(stored.Records).Files())
			t.Logf("%d processes, %s: %d shards", processes, name, shards)
			if few := map[string]int{"CSV": 4, "Parquet": 2, "one file": 1}[name]; shards < few ||
				!slices.Equal(got.Labels, want.Labels) ||
				!slices.Equal(matrix.Densed(matrix.Select(got.Rows, places)).Data, rows) {
				t.Errorf("%d processes, %s: other records, in %d shards", processes, name, shards)
			}
			if !reflect.DeepEqual(passed(on, got), sums) {
				t.Errorf("%d processes, %s: other bits", processes, name)
			}
		}
		inject("fail", 1000)
		if _, err := e.Stored(csv, frame.Storage{Dir: t.TempDir(), By: by(on)}); err == nil {
			t.Errorf("%d processes: shards that fail for ever are stored", processes)
		}
		inject("fail", 0)
		changed := frame.Storage{Dir: t.TempDir(), By: func(s frame.Sharding) error {
			before := must.Get(os.ReadFile(at("2.csv")))
			must.Do(os.WriteFile(at("2.csv"), append(slices.Clone(before), "0.5,0.5,0.5,1\n"...), 0o600))
			defer func() { must.Do(os.WriteFile(at("2.csv"), before, 0o600)) }()
			return by(on)(s)
		}}
		if _, err := e.Stored(csv, changed); err == nil || !strings.Contains(err.Error(), "checksum differs") {
			t.Errorf("%d processes: a file that was changed since the driver has seen it: %v", processes, err)
		}
	}
}

// TestThroughput measures, where it is asked for, how fast a table of so many rows is encoded.
//
//	DPNB_ROWS=1000000 go test -run TestThroughput -v ./encode
func TestThroughput(t *testing.T) {
	rows, _ := strconv.Atoi(os.Getenv("DPNB_ROWS"))
	if rows == 0 {
		t.Skip("DPNB_ROWS is not set")
	}
	dir := t.TempDir()
	var paths []string
	for k := range 4 {
		paths = append(paths, filepath.Join(dir, fmt.Sprint(k, ".csv")))
		stretch{k * rows / 4, (k + 1) * rows / 4}.csv(paths[k])
	}
	table := together(paths...)
	e := encoding(table)
	measure := func(name string, where frame.Storage) {
		where.Dir = t.TempDir()
		start := time.Now()
		must.Get(e.Stored(table, where))
		t.Logf("%s: %.2f s, %.2f million rows a second", name, time.Since(start).Seconds(),
			float64(rows)/1e6/time.Since(start).Seconds())
	}
	measure("here, one file after the other", frame.Storage{MemoryLimit: 1 << 40})
	measure("here, on all processors", frame.Storage{})
	for _, processes := range []int{1, 2} {
		on := session(t, processes)
		measure(fmt.Sprintf("%d workers", processes), frame.Storage{By: by(on)})
	}
}
