//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/report"
)

// invented is a scan of so many rows of 20 invented columns: 17 numbers, a whole number of 0 to 9, a category and a
// label that depends on the first numbers. Another seed is another file, of which no earlier run has kept records.
type invented struct {
	rows int
	seed uint64
}

func (invented) Names() []string {
	var names []string
	for j := range 17 {
		names = append(names, fmt.Sprint("x", j))
	}
	return append(names, "visits", "town", "ill")
}

func (invented) Origin() frame.Source { return frame.Source{Name: "invented", Invented: true} }

func (n invented) Scan(_ []string, f func(*frame.Table) error) error {
	towns, names := []string{"Bern", "Rome", "Oslo"}, n.Names()
	const chunk = 1 << 16
	for lo := 0; lo < n.rows; lo += chunk {
		r := rand.New(rand.NewPCG(uint64(lo), n.seed))
		columns := make([]frame.Column, 20)
		for i := range min(chunk, n.rows-lo) {
			t := 0.0
			for j := range 17 {
				v := math.Round(1e4*r.Float64()) / 1e4
				columns[j].Numbers = append(columns[j].Numbers, v)
				if j < 4 {
					t += 4 * (v - 0.5)
				}
			}
			columns[17].Numbers = append(columns[17].Numbers, float64(i%10))
			columns[18].Texts = append(columns[18].Texts, towns[r.IntN(3)])
			ill := "no"
			if r.Float64() < 1/(1+math.Exp(-t)) {
				ill = "yes"
			}
			columns[19].Texts = append(columns[19].Texts, ill)
		}
		for j := range columns {
			columns[j].Name = names[j]
			if columns[j].Texts != nil {
				columns[j].Kind = frame.Categorical
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

func (n invented) schema() *frame.Schema {
	s := &frame.Schema{}
	for _, name := range n.Names()[:17] {
		s.Fields = append(s.Fields, learn.Numeric(name, 0, 1))
	}
	s.Fields = append(s.Fields, learn.Numeric("visits", 0, 10), learn.Categorical("town", "Bern", "Rome", "Oslo"),
		learn.Categorical("ill", "no", "yes"))
	return s
}

// The template's report of 10⁷ rows × 20 columns of Parquet: statistics, a fit, its error on the rows that were kept
// aside. It logs the seconds, those of the processors, and the peak of memory of the largest process that it started,
// compilers included.
//
//	DPNB_FULL=1 go test -run TestTemplateOfALargeFile -v ./dpnb/cmd/dpnb
func TestTemplateOfALargeFile(t *testing.T) {
	if !testscale.Full() {
		t.Skip("10⁷ rows wait for all tests")
	}
	root := must.Get(project.Root("."))
	dir := t.TempDir()
	path, schema := filepath.Join(dir, "large.parquet"), filepath.Join(dir, "large.schema.json")
	n := invented{10_000_000, uint64(time.Now().UnixNano())}
	must.Do(parquet.Write(path, n))
	must.Do(n.schema().Save(schema))
	defer func() {
		if err := learn.RemoveStored(); err != nil {
			t.Error(err)
		}
	}()
	setup, err := report.Prepare(t.Context(), project.Tree{Dir: root}, false, nil, func(text string) { t.Log(text) })
	if err != nil {
		t.Skip(err)
	}
	runtime.GC()
	before, start := children(t), time.Now()
	records, err := report.Run(context.Background(), setup, report.Options{
		Notebooks: []string{filepath.Join(root, "notebooks", "09_your_data.ipynb")}, Out: filepath.Join(dir, "out"),
		Parameters: map[string]string{"file": path, "schema": schema, "target": "ill", "number": "x0", "group": "town"},
		Force:      true, Timeout: 10 * time.Minute, Progress: cells{t, start}})
	if err == nil {
		err = report.Failed(records)
	}
	if err != nil {
		t.Fatal(err)
	}
	took, after := time.Since(start), children(t)
	used := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	peak := after.Maxrss >> 10
	t.Logf("%v, of the processors %v, peak of a process %d MiB", took, used, peak)
	// Of two processors that nobody else uses, a minute has two.
	if peak > 1<<10 || took > time.Minute && used > 2*time.Minute {
		t.Errorf("%v, %v and %d MiB, want a minute and 1024 MiB", took, used, peak)
	}
}

func children(t *testing.T) (u unix.Rusage) {
	t.Helper()
	must.Do(unix.Getrusage(unix.RUSAGE_CHILDREN, &u))
	return u
}

// cells logs when each cell begins.
type cells struct {
	t     *testing.T
	start time.Time
}

func (c cells) Step(string)       {}
func (c cells) Begin(string, int) {}
func (c cells) Cell(_ string, cell, _ int) {
	c.t.Logf("cell %d begins at %.1f s", cell, time.Since(c.start).Seconds())
}
func (c cells) End(_, outcome string) { c.t.Log(outcome) }
