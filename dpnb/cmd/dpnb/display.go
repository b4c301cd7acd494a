package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// A display shows how the work goes on: moving bars on a terminal, and elsewhere, as in a log of CI, one line for each
// thing that happens. It implements report.Progress.
type display struct {
	out  *os.File
	bars *mpb.Progress // nil where out is no terminal

	mu    sync.Mutex
	step  *line
	beat  func() // ends the signs of life of a step, where there are no bars
	lines map[string]*line
	start map[string]time.Time
}

// line is a bar with a text that changes.
type line struct {
	bar   *mpb.Bar
	total int64
	text  atomic.Value // string
}

func newLine(text string, total int) *line {
	l := &line{total: int64(max(total, 1))}
	l.text.Store(text)
	return l
}

func (l *line) get(decor.Statistics) string { return l.text.Load().(string) }

func newDisplay(out *os.File) *display {
	d := &display{out: out, lines: map[string]*line{}, start: map[string]time.Time{}}
	if term.IsTerminal(int(out.Fd())) {
		d.bars = mpb.New(mpb.WithOutput(out), mpb.WithWidth(30))
	}
	return d
}

// close leaves the last state of the bars standing.
func (d *display) close() {
	d.endStep()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bars == nil {
		return
	}
	for _, l := range d.lines {
		l.bar.Abort(false)
	}
	d.bars.Wait()
	d.bars = nil
}

// Step shows a piece of the set-up, which lasts until the next one begins.
func (d *display) Step(text string) {
	d.endStep()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bars == nil {
		fmt.Fprintln(d.out, text)
		d.beat = heartbeat(d.out, text)
		return
	}
	d.step = newLine(text, 0)
	d.step.bar = d.bars.New(0, mpb.SpinnerStyle(), mpb.BarWidth(1),
		mpb.AppendDecorators(decor.Any(d.step.get), decor.Elapsed(decor.ET_STYLE_GO, decor.WC{W: 6})))
}

// say prints a result, on standard output where that is not what moves.
func (d *display) say(text string) {
	d.endStep()
	if d.bars == nil {
		fmt.Println(text)
		return
	}
	fmt.Fprintln(d.bars, text)
}

func (d *display) endStep() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.beat != nil {
		d.beat()
		d.beat = nil
	}
	if d.step != nil {
		d.step.bar.Abort(true)
		d.step.bar.Wait()
		d.step = nil
	}
}

// beatEvery is how often a log is told that a long step goes on.
const beatEvery = 15 * time.Second

// heartbeat writes how long a step has taken until stop is called.
func heartbeat(out *os.File, text string) (stop func()) {
	done := make(chan struct{})
	start := time.Now()
	go func() {
		ticker := time.NewTicker(beatEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(out, "%s: %.0f s\n", text, time.Since(start).Seconds())
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// Begin shows that a notebook begins.
func (d *display) Begin(name string, cells int) {
	d.endStep()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.start[name] = time.Now()
	if d.bars == nil {
		fmt.Fprintf(d.out, "%s: starting the kernel\n", name)
		return
	}
	l := newLine("starting the kernel", cells)
	l.bar = d.bars.AddBar(l.total,
		mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.Any(l.get, decor.WCSyncSpaceR), decor.Elapsed(decor.ET_STYLE_GO, decor.WC{W: 6})))
	d.lines[name] = l
}

// Cell shows that a code cell of the notebook begins.
func (d *display) Cell(name string, cell, cells int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := fmt.Sprintf("cell %d of %d", cell, cells)
	if l := d.lines[name]; l != nil {
		l.text.Store(text)
		l.bar.SetCurrent(int64(cell - 1))
		return
	}
	fmt.Fprintf(d.out, "%s: %s (%.1f s)\n", name, text, time.Since(d.start[name]).Seconds())
}

// End shows how a notebook ended.
func (d *display) End(name, outcome string) {
	d.endStep()
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.lines[name]
	switch {
	case l != nil && outcome == "passed":
		l.text.Store(outcome)
		l.bar.SetCurrent(l.total)
	case l != nil:
		l.text.Store(outcome)
		l.bar.Abort(false)
	case d.bars != nil: // never begun
		fmt.Fprintf(d.bars, "%s: %s\n", name, outcome)
	case d.start[name].IsZero():
		fmt.Fprintf(d.out, "%s: %s\n", name, outcome)
	default:
		fmt.Fprintf(d.out, "%s: %s (%.1f s)\n", name, outcome, time.Since(d.start[name]).Seconds())
	}
}
