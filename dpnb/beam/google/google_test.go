package google

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc"

	"github.com/dpnb/notebooks/dpnb/beam/runner"
	"github.com/dpnb/notebooks/dpnb/beam/tally"
	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
)

func TestMain(m *testing.M) {
	runner.Main()
	os.Exit(m.Run())
}

// people is a table of ages and towns in a file, and its truth by question.
func people(t *testing.T, rows int) (learn.DataFrame, tally.Table, map[Kind][]float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 9))
	ages, towns := make([]float64, rows), make([]string, rows)
	sum := 0.0
	for i := range rows {
		ages[i], towns[i] = 100*rng.Float64()*rng.Float64(), []string{"Bern", "Rome", "Oslo"}[rng.IntN(3)]
		sum += ages[i]
	}
	table := must.Get(frame.NewTable(frame.Column{Name: "age", Numbers: ages},
		frame.Column{Name: "town", Kind: frame.Categorical, Texts: towns}))
	path := filepath.Join(t.TempDir(), "people.parquet")
	must.Do(parquet.Write(path, table))
	records := must.Get(parquet.Open(path, nil))
	df := learn.FromScanner(records, nil).WithSchema(learn.Numeric("age", 0, 100),
		learn.Categorical("town", "Bern", "Rome", "Oslo"))
	slices.Sort(ages)
	return df, tally.Table{Pieces: frame.Pieces(records)}, map[Kind][]float64{Count: {float64(rows)},
		Sum: {sum}, Mean: {sum / float64(rows)}, Quantiles: {ages[rows/4], ages[rows/2], ages[3*rows/4]}}
}

// TestBesideOurs: what privacy-on-beam errs by and takes, and what we do on one machine, on the same file at the same
// ε. It fails if their errors are all none, which counts have with a probability of (tanh(ε/2))¹² < 10⁻⁷, or beyond
// what Laplace noise exceeds with one of e⁻⁴⁰; the rest is for the log.
func TestBesideOurs(t *testing.T) {
	testscale.Slow(t)
	rows, draws, epsilon := 2000, 12, 0.5
	if testscale.Full() {
		draws = 40
	}
	df, table, truth := people(t, rows)
	on := must.Get(runner.Open(context.Background(), runner.Where{}))
	defer on.Close()
	_, schema := must.Two(df.Known())
	for _, c := range []struct {
		Question
		ours explore.Query
		// most is 40 times the scale of the noise, and more.
		most float64
	}{
		{Question{Kind: Count}, explore.Count(), 40 / epsilon},
		{Question{Kind: Sum, Column: "age"}, explore.Sum("age"), 40 * 100 / epsilon},
		{Question{Kind: Mean, Column: "age"}, explore.Mean("age"), 400 * 100 / epsilon / float64(rows)},
		{Question{Kind: Quantiles, Column: "age", Levels: []float64{0.25, 0.5, 0.75}},
			explore.QuantilesOf("age", 0.25, 0.5, 0.75), 100},
	} {
		w, _ := must.Two(c.work(schema, table))
		p := price{c.Question, epsilon, 0}
		dir := t.TempDir()
		start := time.Now()
		if _, err := run(t.Context(), on, w, p, 1, dir); err != nil {
			t.Fatal(err)
		}
		took := time.Since(start)
		theirs := must.Get(run(t.Context(), on, w, p, draws, dir))
		var a, b []float64
		start = time.Now()
		for k := range draws {
			s := must.Get(c.ours.Noise(learn.Seed(uint64(k))).Of(df, learn.Simulate(epsilon, 0)))
			far, near := 0.0, 0.0
			for j, want := range truth[c.Kind] {
				far += math.Abs(theirs[k][0][j] - want)
				near += math.Abs(s.Rows()[j].Value - want)
			}
			a, b = append(a, far/float64(len(truth[c.Kind]))), append(b, near/float64(len(truth[c.Kind])))
		}
		ours := time.Since(start) / time.Duration(draws)
		// The logarithm of a mean errs by the relative error of the mean.
		ratio, err2 := math.Log(mean(a)/mean(b)), math.Hypot(relative(a), relative(b))
		t.Logf("%s: mean error %.4g theirs, %.4g ours: ratio %.2f, log %.3f ± %.3f; %v theirs, %v ours", c.Kind,
			mean(a), mean(b), math.Exp(ratio), ratio, err2, took, ours)
		if slices.Max(a) > c.most || slices.Max(a) == 0 {
			t.Errorf("%s: errors of %v", c.Kind, a)
		}
	}
}

func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

// relative returns the standard error of the mean over the mean.
func relative(x []float64) float64 {
	m, s := mean(x), 0.0
	for _, v := range x {
		s += (v - m) * (v - m)
	}
	return math.Sqrt(s/float64(len(x)-1)/float64(len(x))) / m
}

// TestAsk: each question is answered for what it is charged, by group as well; what cannot be asked is refused before
// the charge. Laplace noise costs ε alone.
func TestAsk(t *testing.T) {
	df, table, truth := people(t, 600)
	where := runner.Where{}
	budget := learn.NewBudget(8, 1e-6, learn.Named(t.TempDir()))
	charged := func() (epsilon, delta float64, n int) {
		s, err := budget.State()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range s.Entries {
			epsilon, delta = epsilon+e.Epsilon, delta+e.Delta
			if (e.Mu > 0) != (e.Delta == 0) || e.Simulated { // of Gaussian noise only (ε, δ) is known
				t.Errorf("%+v", e)
			}
		}
		return epsilon, delta, len(s.Entries)
	}
	for _, q := range []Question{{Kind: Count, By: "town"}, {Kind: Mean, Column: "age"},
		{Kind: Count, Gaussian: true}} {
		got, err := q.Ask(t.Context(), where, df, table, t.TempDir(), budget.Spend(1))
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, numbers := range got.Numbers {
			sum += numbers[0]
		}
		// Noise of scale 1, and for a mean 2·100/600: 60 scales are exceeded with a probability below 10⁻²⁵.
		if !(math.Abs(sum-truth[q.Kind][0]) <= 180) || got.Epsilon != 1 || (got.Delta > 0) != q.Gaussian ||
			len(got.Numbers) != len(got.Groups) {
			t.Errorf("%+v: %+v, want %v", q, got, truth[q.Kind])
		}
	}
	if e, d, n := charged(); n != 3 || e != 3 || d > 1e-6 || d <= 0 {
		t.Errorf("%d entries, ε = %v, δ = %v", n, e, d)
	}
	of := func(q Question, df learn.DataFrame, epsilon float64) func(where runner.Where) error {
		return func(where runner.Where) error {
			_, err := q.Ask(t.Context(), where, df, table, t.TempDir(), budget.Spend(epsilon))
			return err
		}
	}
	for want, ask := range map[string]func(runner.Where) error{
		"categories":     of(Question{Kind: Count, By: "age"}, df, 1),
		"bounds":         of(Question{Kind: Sum, Column: "town"}, df, 1),
		"Levels":         of(Question{Kind: Quantiles, Column: "age"}, df, 1),
		"nothing spent":  of(Question{Kind: Count}, df, 9),
		"whose they are": of(Question{Kind: Count}, df.PerPerson("town", 1), 1),
		"no runner answers": func(runner.Where) error {
			return of(Question{Kind: Count}, df, 1)(runner.Where{Endpoint: "localhost:1"})
		},
	} {
		if err := ask(where); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, _, n := charged(); n != 3 {
		t.Errorf("%d entries", n)
	}
}

// jobs is a runner that takes no job, and counts how many it is asked to.
type jobs struct {
	jobpb.UnimplementedJobServiceServer
	asked atomic.Int64
}

func (j *jobs) Prepare(context.Context, *jobpb.PrepareJobRequest) (*jobpb.PrepareJobResponse, error) {
	j.asked.Add(1)
	return nil, errors.New("this runner takes no jobs")
}

// TestFailuresAreNotRepeated: what a pipeline released before it failed is paid for once, and a second attempt would
// draw again.
func TestFailuresAreNotRepeated(t *testing.T) {
	on, runs := must.Get(net.Listen("tcp", "localhost:0")), &jobs{}
	server := grpc.NewServer()
	jobpb.RegisterJobServiceServer(server, runs)
	go server.Serve(on)
	defer server.Stop()
	df, table, _ := people(t, 20)
	budget := learn.NewBudget(3, 1e-6, learn.Named(t.TempDir()))
	_, err := Question{Kind: Count}.Ask(t.Context(), runner.Where{Endpoint: on.Addr().String()}, df, table, t.TempDir(),
		budget.Spend(1))
	if err == nil || !strings.Contains(err.Error(), "takes no jobs") || runs.asked.Load() != 1 {
		t.Errorf("%d attempts, %v", runs.asked.Load(), err)
	}
	if s := must.Get(budget.State()); len(s.Entries) != 1 || s.SpentEpsilon != 1 {
		t.Errorf("%+v", s)
	}
}

// However many parts a table has, each record is in one of them.
func TestPartsHaveEachRecordOnce(t *testing.T) {
	var files []frame.Scanner
	dir := t.TempDir()
	for k := range 4 {
		ages := []float64{float64(2 * k), float64(2*k + 1)}
		table := must.Get(frame.NewTable(frame.Column{Name: "age", Numbers: ages}))
		path := filepath.Join(dir, string(rune('a'+k))+".parquet")
		must.Do(parquet.Write(path, table))
		files = append(files, must.Get(parquet.Open(path, nil)))
	}
	records := must.Get(frame.Together(files...))
	df := learn.FromScanner(records, nil).WithSchema(learn.Numeric("age", 0, 100))
	_, schema := must.Two(df.Known())
	w, _ := must.Two(Question{Kind: Sum, Column: "age"}.work(schema, tally.Table{Pieces: frame.Pieces(records)}))
	parts := must.Get(w.parts())
	if parts != 4 {
		t.Fatalf("%d parts, want 4", parts)
	}
	read, all, ids := readPart{string(must.Get(json.Marshal(w)))}, []float64(nil), map[int64]bool{}
	for k := range parts {
		must.Do(read.ProcessElement(context.Background(), k, func(id int64, r record) {
			all, ids[id] = append(all, r.Value), true
		}))
	}
	slices.Sort(all)
	if want := []float64{0, 1, 2, 3, 4, 5, 6, 7}; !slices.Equal(all, want) || len(ids) != len(want) {
		t.Errorf("%v with %d numbers, want %v", all, len(ids), want)
	}
}
