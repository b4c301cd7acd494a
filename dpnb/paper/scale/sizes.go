package scale

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// Run is a run that was measured.
type Run struct {
	// What was run: one of the constants below.
	What string
	// Rows of 20 columns; Workers are processes of Beam, 0 if none were used.
	Rows, Workers int
	// Seconds by the clock, and the peak of memory in MiB, mapped pages included; 0 is not known.
	Seconds, Peak float64
	// Source says when and how it was measured; "" is here and now.
	Source string
}

// What is measured: the logistic fit of the label of Invented rows, and what it is made of.
const (
	InMemory = "in memory"       // the table is read into memory and fitted there
	First    = "from a file"     // within a limit on memory; the records are encoded and stored first
	Again    = "once stored"     // the same fit again, which finds them
	Describe = "describe"        // mean, standard deviation and quartiles of 19 columns
	NoBeam   = "without Beam"    // as Again, by the command line
	OnBeam   = "on Prism"        // the same, its passes on worker processes
	Empty    = "a pass on Prism" // over next to nothing: what each costs that is no work on records
	Pass     = "a pass"          // value and gradient over stored records, by one processor
)

// String has what was run, of how many records, and what it took, in columns.
func (r Run) String() string {
	return fmt.Sprintf("%-11s %8d %5s s %4.0f MiB", r.What, r.Rows, known(r.Seconds), r.Peak)
}

// Runs are measurements that are shown together.
type Runs []Run

//go:embed measured.tsv
var measured string

// Kept returns the measurements of the given kinds, or all, that are kept with this package, each with its source.
func Kept(what ...string) (all Runs) {
	for _, line := range strings.Split(strings.TrimSpace(measured), "\n")[1:] {
		f := strings.Split(line, "\t")
		number := func(k int) float64 {
			v, err := strconv.ParseFloat(f[k], 64)
			if err != nil {
				panic(fmt.Sprintf("measured.tsv: %q: %v", line, err))
			}
			return v
		}
		if len(what) == 0 || slices.Contains(what, f[0]) {
			all = append(all, Run{f[0], int(number(1)), int(number(2)), number(3), number(4), f[5] + ", " + f[6]})
		}
	}
	return all
}

// records returns those of a file of Invented rows, to be stored in a folder and learnt from within a limit on memory
// in bytes; or in memory, without a folder. Rows are as they are, as those of the kept measurements were.
func records(path, dir string, limit int64) *learn.Dataset {
	df := learn.FromScanner(parquet.Open(path, nil)).WithSchema(Schema().Fields...)
	if dir == "" {
		return learn.Binary(df.Collect(), "ill", learn.Uncentred())
	}
	return learn.Binary(df, "ill", learn.Uncentred(), learn.StoredIn(learn.Storage{Dir: dir, MemoryLimit: limit}))
}

// Live measures InMemory, First and Again for each number of rows, one after the other in this process, whose peak of
// memory has what the program takes before it has read anything. It tells each run when it is done, unless tell is nil.
//
// Errors: no room on the disk, and those of a fit.
func Live(sizes []int, limit int64, seed uint64, tell func(Run)) (all Runs, err error) {
	for _, rows := range sizes {
		path, err := File(rows)
		if err != nil {
			return all, err
		}
		dir, err := os.MkdirTemp("", "dpnb-scale-")
		if err != nil {
			return all, err
		}
		defer os.RemoveAll(dir)
		for _, what := range []string{First, Again, InMemory} {
			debug.FreeOSMemory()
			forgetPeak()
			start := time.Now()
			where := dir
			if what == InMemory {
				where = ""
			}
			m := learn.Logistic{Noise: learn.Seed(seed)}
			if _, err := m.Fit(records(path, where, limit), learn.Simulate(1, 1e-9)); err != nil {
				return all, err
			}
			all = append(all, Run{What: what, Rows: rows, Seconds: time.Since(start).Seconds(), Peak: peak()})
			if tell != nil {
				tell(all[len(all)-1])
			}
		}
	}
	return all, nil
}

// forgetPeak has the operating system begin a new peak of memory, where it can.
func forgetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) }

// peak returns the most memory that this process had since then, in MiB; 0 where it cannot be known.
func peak() float64 {
	status, err := os.ReadFile("/proc/self/status")
	_, after, found := strings.Cut(string(status), "VmHWM:")
	var kB float64
	if _, scanned := fmt.Sscan(after, &kB); err != nil || !found || scanned != nil {
		return 0
	}
	return kB / 1024
}

// colours of the kinds.
var colours = map[string]figure.Color{InMemory: figure.Orange, First: figure.Blue, Again: figure.Green}

// picture draws what by says of the runs against the number of rows, a line for each kind: the first run of each
// number, where there are several.
func (r Runs) picture(title, axis string, by func(Run) float64) *figure.Figure {
	f := figure.New(title, "records of 20 columns", axis).LogX().LogY()
	for _, what := range []string{InMemory, First, Again} {
		var x, y []float64
		some := slices.Clone(r)
		slices.SortStableFunc(some, func(a, b Run) int { return cmp.Compare(a.Rows, b.Rows) })
		for _, run := range some {
			if run.What == what && by(run) > 0 && (len(x) == 0 || x[len(x)-1] != float64(run.Rows)) {
				x, y = append(x, float64(run.Rows)), append(y, by(run))
			}
		}
		if len(x) == 0 {
			continue
		}
		name := what
		if last := len(x) - 1; x[last] < float64(some[len(some)-1].Rows) { // others go on where its label would be
			f.Note(what, x[last]/8, y[last], colours[what])
			name = ""
		}
		f.Line(name, x, y, colours[what]).Dots("", x, y, colours[what])
	}
	return f
}

// Times draws seconds against the number of rows.
func (r Runs) Times() *figure.Figure {
	return r.picture("Time of a fit", "seconds", func(r Run) float64 { return r.Seconds })
}

// Memory draws the peak of memory against the number of rows.
func (r Runs) Memory() *figure.Figure {
	return r.picture("Peak of memory", "MiB", func(r Run) float64 { return r.Peak })
}

// Display lists the runs: what is the same of all of them is in the title, their sources are numbered and stand below.
func (r Runs) Display() display.Item {
	var sources []string
	columns := []struct {
		name, same string // the head of a column, and how the title says what is the same in all its rows
		of         func(Run) string
	}{
		{"what", ": %s", func(r Run) string { return r.What }},
		{"records", ", %s records", func(r Run) string { return figure.Number(float64(r.Rows)) }},
		{"workers", ", %s workers", func(r Run) string { return known(float64(r.Workers)) }},
		{"seconds", ", %s s", func(r Run) string { return known(r.Seconds) }},
		{"MiB", ", %s MiB", func(r Run) string { return known(r.Peak) }},
		{"source", "", func(r Run) string {
			if r.Source == "" {
				return ""
			}
			return fmt.Sprintf("[%d]", slices.Index(sources, r.Source)+1)
		}},
	}
	for _, run := range r {
		if run.Source != "" && !slices.Contains(sources, run.Source) {
			sources = append(sources, run.Source)
		}
	}
	it := display.Item{Title: "Measured", Rows: make([][]string, len(r))}
	for _, c := range columns {
		if same := !slices.ContainsFunc(r, func(run Run) bool { return c.of(run) != c.of(r[0]) }); len(r) > 0 && same {
			if is := c.of(r[0]); is != "" && c.same != "" {
				it.Title += fmt.Sprintf(c.same, is)
			}
			continue
		}
		it.Header = append(it.Header, c.name)
		for k, run := range r {
			it.Rows[k] = append(it.Rows[k], cmp.Or(c.of(run), "–"))
		}
	}
	if slices.Contains(it.Header, "MiB") {
		it.Note("MiB: the peak of memory.")
	}
	for k, source := range sources {
		if len(sources) == 1 {
			it.Note("%s.", source)
		} else {
			it.Note("[%d] %s.", k+1, source)
		}
	}
	return it
}

// known writes a number; nothing for 0, which is not known.
func known(v float64) string {
	switch {
	case v == 0:
		return ""
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// Apart says how far two models of the same features are from each other, and how far the certificate of each allows
// them to be from the exact minimiser: ‖θ − θ⋆‖ ≤ τ/λ.
func Apart(title string, a, b *learn.Model) display.Item {
	it := display.Item{Title: title, Header: []string{"beside the fit in memory", "value"}}
	x, y := a.Theta(), b.Theta()
	var square float64
	differ := 0
	for j, v := range x {
		if d := v - y[j]; d != 0 {
			square += d * d
			differ++
		}
	}
	it.Row("coefficients", fmt.Sprint(len(x)))
	it.Row("that differ in any bit", fmt.Sprint(differ))
	it.Row("distance", fmt.Sprintf("%.2g", math.Sqrt(square)))
	if m, ok := a.ObjectivePerturbation(); ok {
		it.Row("certified distance of each from its exact minimiser", fmt.Sprintf("%.2g", m.Tolerance/m.Lambda))
		it.Row("σ of the noise that is added to each coefficient last", fmt.Sprintf("%.2g", m.OutputSigma))
	}
	return it
}
