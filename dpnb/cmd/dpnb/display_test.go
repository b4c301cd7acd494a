//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vbauerster/mpb/v8"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// barsInto are bars as on a terminal, which are drawn to a text.
func barsInto(to *bytes.Buffer) *mpb.Progress {
	return mpb.New(mpb.WithOutput(to), mpb.WithWidth(30), mpb.WithAutoRefresh())
}

// On a terminal every notebook has a bar, which stands where it has come to and at the end where it passed; what was
// never begun is said above the bars, and nothing is written beside them.
func TestBars(t *testing.T) {
	var drawn bytes.Buffer
	out := must.Get(os.Create(filepath.Join(t.TempDir(), "out")))
	defer out.Close()
	d := newDisplay(out)
	d.bars = barsInto(&drawn)
	d.Step("installing")
	if d.step == nil || d.beat != nil {
		t.Error("a step has no bar")
	}
	d.Begin("first", 4)
	if d.step != nil {
		t.Error("a step goes on beside a notebook")
	}
	d.Begin("second", 0)
	first, second := d.lines["first"], d.lines["second"]
	if first.total != 4 || second.total != 1 || first.text.Load() != "starting the kernel" {
		t.Errorf("%d and %d cells, %s", first.total, second.total, first.text.Load())
	}
	d.Cell("first", 3, 4)
	if got := first.bar.Current(); got != 2 || first.text.Load() != "cell 3 of 4" {
		t.Errorf("%d cells are done: %s", got, first.text.Load())
	}
	d.End("first", "passed")
	d.End("second", "failed")
	d.End("third", "left out")
	d.say("a page")
	d.Step("cleaning")
	d.close()
	if got := first.bar.Current(); got != 4 || !first.bar.Completed() || first.text.Load() != "passed" {
		t.Errorf("%d cells are done: %s", got, first.text.Load())
	}
	if !second.bar.Aborted() || second.text.Load() != "failed" || d.bars != nil || d.step != nil {
		t.Errorf("left as %s, %v", second.text.Load(), d.bars)
	}
	text := drawn.String()
	for _, want := range []string{"first", "second", "third: left out\n", "a page\n", "passed", "failed"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	if beside := must.Get(os.ReadFile(out.Name())); len(beside) > 0 {
		t.Errorf("beside the bars: %q", beside)
	}
}

// A download has a bar from its first bytes on, full at the end unless it failed.
func TestBarOfADownload(t *testing.T) {
	for _, ok := range []bool{true, false} {
		var drawn bytes.Buffer
		show, end := moving("adult.data", barsInto(&drawn))
		show(100, 4000)
		show(2000, 4000)
		end(ok)
		if text := drawn.String(); !strings.Contains(text, "adult.data") || !strings.Contains(text, "/ 3.9 KiB") && !ok ||
			!strings.Contains(text, "2.0 KiB") {
			t.Errorf("%v: %q", ok, text)
		}
	}
	_, end := moving("nothing", barsInto(new(bytes.Buffer)))
	end(false) // of nothing that came
}

// The program ends with 0 where a command did what it was asked, and says on its errors why not.
func TestProgram(t *testing.T) {
	cmd, out := process(t.Context(), "epsilon", "--type", "gaussian", "--sigma", "2", "--delta", "1e-6")
	if err := cmd.Run(); err != nil || !strings.Contains(out.String(), "ε") {
		t.Errorf("%v: %s", err, out)
	}
	cmd, out = process(t.Context(), "epsilon", "--type", "gaussian", "--sigma", "-2", "--delta", "1e-6")
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.HasPrefix(out.String(), "dpnb: ") ||
		strings.Contains(out.String(), "dpnb: dpnb:") {
		t.Errorf("%v: %s", err, out)
	}
}
