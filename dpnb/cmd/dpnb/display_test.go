//go:build linux

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// barsInto are bars as on a terminal, which are drawn to a text.
func barsInto(to *bytes.Buffer) *mpb.Progress {
	return mpb.New(mpb.WithOutput(to), mpb.WithWidth(30), mpb.WithAutoRefresh())
}

// In a log a step is said and told of until it ends.
func TestStepsInALog(t *testing.T) {
	out := must.Get(os.Create(filepath.Join(t.TempDir(), "out")))
	defer out.Close()
	d := newDisplay(out)
	d.Step("installing")
	if said := string(must.Get(os.ReadFile(out.Name()))); said != "installing\n" || d.beat == nil || d.step != nil {
		t.Errorf("%q is said, and then nothing", said)
	}
	if d.close(); d.beat != nil {
		t.Error("a step goes on")
	}
}

// What is said of the texts of a Parquet file is in the command that checks it and in the cell that reads it.
func TestADraftKnowsTexts(t *testing.T) {
	var d drafting
	d.schema, d.table.columnar.Texts = "s.json", []string{"zip code", "id"}
	d.reads(nil, "a.parquet", "s.json")
	want := `check a.parquet --schema s.json --texts 'zip code,id'`
	read := d.cells[templateParquet]
	if d.check != want || !strings.Contains(read, `Texts: []string{"zip code", "id"}`) {
		t.Errorf("%q, want %q; read by %q", d.check, want, read)
	}
}

// On a terminal every notebook has a bar, which stands where it has come to and at the end where it passed; what was
// never begun is said above the bars, and nothing is written beside them.
func TestBars(t *testing.T) {
	testscale.Slow(t)
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
		if text := drawn.String(); !strings.Contains(text, "adult.data") || !strings.Contains(text, "2.0 KiB") ||
			!strings.Contains(text, "/ 3.9 KiB") && !ok {
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

// A command that is stopped ends with 130, as shells know it, whether it returns or not; one that puts things in order
// has the time for it.
func TestStoppedCommands(t *testing.T) {
	testscale.InTurn(t)
	stop := func(cmd *cobra.Command, _ []string) error {
		must.Do(syscall.Kill(os.Getpid(), syscall.SIGTERM))
		<-cmd.Context().Done()
		return nil
	}
	for _, c := range []struct {
		name string
		run  func(cmd *cobra.Command, args []string) error
		code int
	}{
		{"works", func(*cobra.Command, []string) error { return nil }, 0},
		{"fails", func(*cobra.Command, []string) error { return errors.New("dpnb: it does") }, 1},
		{"told", func(*cobra.Command, []string) error { return errToldAlready }, 1},
		{"returns", func(cmd *cobra.Command, args []string) error {
			return cmp.Or(stop(cmd, args), cmd.Context().Err())
		}, 130},
		{"stopped", func(cmd *cobra.Command, args []string) error {
			return cmp.Or(stop(cmd, args), errToldAlready)
		}, 130},
		{"done", stop, 0},
		{"hangs", func(cmd *cobra.Command, args []string) error {
			must.Do(stop(cmd, args))
			time.Sleep(6 * grace)
			return nil
		}, 130},
		{"report", func(cmd *cobra.Command, args []string) error {
			must.Do(stop(cmd, args))
			time.Sleep(grace + grace/2)
			return nil
		}, 0},
	} {
		root := &cobra.Command{Use: "dpnb", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(&cobra.Command{Use: c.name, RunE: c.run})
		begun := time.Now()
		if code := execute(root, []string{c.name}); code != c.code || time.Since(begun) > 5*grace {
			t.Errorf("%s: %d after %v, want %d", c.name, code, time.Since(begun), c.code)
		}
	}
}

// A chunk and what is made of it take an eighth of the memory, within what a reader can do.
func TestRowsOfChunk(t *testing.T) {
	for _, c := range []struct {
		memory  byteSize
		columns int
		want    int
	}{{0, 10, 0}, {64 << 20, 0, 1 << 16}, {64 << 20, 1, 1 << 16}, {64 << 20, 4, 1 << 15}, {1 << 30, 32, 1 << 16},
		{1 << 30, 64, 1 << 15}, {64 << 20, 512, 256}, {64 << 20, 511, 256}, {64 << 20, 510, 257},
		{64 << 20, 1e6, 256}} {
		if got := c.memory.rowsOfChunk(c.columns); got != c.want {
			t.Errorf("%v, %d columns: %d rows, want %d", c.memory, c.columns, got, c.want)
		}
	}
}

// Every unit is as large as it says, however many of it there are.
func TestUnitsOfMemory(t *testing.T) {
	for unit, bytes := range map[string]float64{"KiB": 1024, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "kB": 1e3,
		"MB": 1e6, "GB": 1e9, "TB": 1e12, "B": 1} {
		for _, total := range []float64{64 << 20, 3e15} {
			var b byteSize
			err := b.Set(fmt.Sprintf("%.17g %s", total/bytes, unit))
			off := math.Abs(float64(b) - total)
			if err != nil || off > 1 || b.String() != fmt.Sprintf("%dB", int64(b)) {
				t.Errorf("%g in %s: %v, %v", total, unit, b, err)
			}
		}
	}
}
