package scale

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// What is kept can be read, names its source, and has what the model is made of.
func TestKept(t *testing.T) {
	known := []string{InMemory, First, Again, Describe, NoBeam, OnBeam, Empty, Pass}
	for _, r := range Kept() {
		if !slices.Contains(known, r.What) || r.Rows <= 0 || r.Seconds <= 0 || len(r.Source) < 20 {
			t.Errorf("%+v", r)
		}
	}
	if c := Measured(1e9); !(c.Record > 1e-9 && c.Record < 1e-6 && c.Spread > 0 && c.Spread < 2 && c.Fixed > 0 &&
		c.PerWorker >= 0) {
		t.Errorf("%+v", c)
	}
}

// The expected largest of w lognormal numbers is ∫ (1 − F(x)ʷ) dx. The mean of 20,000 draws is within 1 % of that: its
// standard error is below 0.2 %. A spread that is wrong by a tenth is off by more.
func TestPassSimulatesTheSlowest(t *testing.T) {
	for _, w := range []int{1, 10, 100} {
		expected := func(spread float64) float64 {
			s := math.Sqrt(math.Log1p(spread * spread))
			var sum float64
			const step = 1e-3
			for x := step / 2; x < 20; x += step {
				f := math.Erfc(-(math.Log(x)/s+s/2)/math.Sqrt2) / 2
				sum += step * (1 - math.Pow(f, float64(w)))
			}
			return sum
		}
		c := Cluster{Records: 1000, Record: 1e-3, Spread: 0.5}
		got := c.Pass(w, 20_000, 1)
		relative := (got.Work + got.Waiting) * float64(w)
		if want := expected(0.5); !(math.Abs(relative/want-1) <= 0.01) {
			t.Errorf("%d workers: the slowest takes %v of the mean, want %v", w, relative, want)
		}
		if w > 1 && math.Abs(relative/expected(0.55)-1) < 0.01 {
			t.Errorf("%d workers: another spread would not be noticed", w)
		}
	}
	if b := (Cluster{Records: 1e6, Record: 1e-4, PerWorker: 0.01}).Simulate(1).Best(); b.Workers != 100 {
		t.Errorf("the best is %d workers, want √(100/0.01) = 100", b.Workers)
	}
}

// Live measures what it says, and leaves no stored records behind.
func TestLive(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var told Runs
	all, err := Live([]int{2000}, 256<<20, 1, func(r Run) { told = append(told, r) })
	if err != nil || len(all) != 3 || !slices.Equal(told, all) || all[0].What != First || all[2].What != InMemory ||
		all[1].Seconds <= 0 {
		t.Errorf("%v, %v", all, err)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "*", "*.rows"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestMeasureSizes prints lines for measured.tsv: a million rows and ten, which take some six gigabytes in memory.
//
//	DPNB_FULL=1 DPNB_MEASURE=1 go test -run TestMeasureSizes -v ./dpnb/paper/scale
func TestMeasureSizes(t *testing.T) {
	if !testscale.Full() || os.Getenv("DPNB_MEASURE") == "" {
		t.Skip("takes gigabytes: set DPNB_MEASURE")
	}
	t.Setenv("TMPDIR", t.TempDir())
	all := must.Get(Live([]int{1_000_000, 10_000_000}, 1<<30, 5, nil))
	for _, r := range all {
		fmt.Printf("%s\t%d\t0\t%.2f\t%.0f\t%s\tTestMeasureSizes of dpnb/paper/scale, limit 1024 MiB\n", r.What, r.Rows,
			r.Seconds, r.Peak, time.Now().Format(time.DateOnly))
	}
}

// TestMeasurePasses prints lines for measured.tsv: passes by one processor over a million stored records.
//
//	DPNB_FULL=1 go test -run TestMeasurePasses -v ./dpnb/paper/scale
func TestMeasurePasses(t *testing.T) {
	defer measure.Fatal(t)
	if !testscale.Full() {
		t.Skip("a measurement, with all tests")
	}
	const rows = 1_000_000
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	path := measure.Must(File(rows))
	design := measure.Must(records(path, dir, 256<<20).Design())
	e := measure.Must(erm.NewEvaluator(&erm.Problem{Rows: design.Rows.(*stored.Rows), Labels: design.Labels,
		Loss: loss.Logistic{}, Lambda: 1}, 1))
	_, d := design.Rows.Dims()
	theta, grad := make([]float64, d), make([]float64, d)
	e.Gradient(grad, theta) // finds the norms, once
	for range 30 {
		start := time.Now()
		e.Gradient(grad, theta)
		fmt.Printf("%s\t%d\t0\t%.4f\t0\t%s\tgo test -run TestMeasurePasses ./dpnb/paper/scale\n", Pass, rows,
			time.Since(start).Seconds(), time.Now().Format(time.DateOnly))
	}
}
