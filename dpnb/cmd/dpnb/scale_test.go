//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
	"github.com/dpnb/notebooks/dpnb/paper/scale"
)

// A logistic fit and a summary of a file of five times the memory or more that they may take, by programs of their own,
// whose peak is measured; and a pass over the stored records beside a plain read of the same file that adds its numbers
// up. DPNB_ROWS says how many rows (10⁷ without it), DPNB_MEMORY how much memory (192MiB), DPNB_SCALE_DIR keeps the
// files in a folder.
//
//	DPNB_FULL=1 DPNB_ROWS=100000000 DPNB_MEMORY=1GiB go test -timeout 2h -run TestLargerThanMemory -v ./dpnb/cmd/dpnb
func TestLargerThanMemory(t *testing.T) {
	if !testscale.Full() {
		t.Skip("10⁷ rows and more wait for all tests")
	}
	rows, memory, dir := 10_000_000, byteSize(192<<20), t.TempDir()
	if text := os.Getenv("DPNB_ROWS"); text != "" {
		n := must.Get(strconv.Atoi(text))
		rows = n
	}
	if text := os.Getenv("DPNB_MEMORY"); text != "" {
		must.Do(memory.Set(text))
	}
	if text := os.Getenv("DPNB_SCALE_DIR"); text != "" {
		dir = text
	}
	program := filepath.Join(t.TempDir(), "dpnb")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file, schema := filepath.Join(dir, fmt.Sprintf("%d.parquet", rows)), filepath.Join(dir, "schema.json")
	start := time.Now()
	if _, err := os.Stat(file); err != nil {
		must.Do(parquet.Write(file, scale.Invented{Rows: rows}))
	}
	must.Do(scale.Schema().Save(schema))
	info := must.Get(os.Stat(file))
	t.Logf("%d rows of Parquet, %d MB, after %v", rows, info.Size()/1e6, time.Since(start))
	run := func(args ...string) string {
		t.Helper()
		args = append(args, "--schema", schema, "--epsilon", "1", "--delta", "1e-9", "--seed", "5", "--memory",
			memory.String())
		cmd := exec.Command(program, args...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		start := time.Now()
		must.Do(cmd.Start())
		peak := make(chan int64)
		go func() { peak <- highWater(cmd.Process.Pid) }()
		err := cmd.Wait()
		most := <-peak
		if err != nil {
			t.Fatalf("%v: %s", err, &out)
		}
		used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		t.Logf("%s: %v, of the processors %v, peak %d MiB", args[0], time.Since(start), used, most>>20)
		if most > int64(memory) || most == 0 {
			t.Errorf("%s took %d MiB, and may take %d", args[0], most>>20, memory>>20)
		}
		return out.String()
	}
	text := run("fit", file, "--target", "ill", "--learner", "logistic", "--lines", "--store", dir)
	again := run("fit", file, "--target", "ill", "--learner", "logistic", "--lines", "--store", dir)
	if text != again {
		t.Errorf("the second fit differs: %s, %s", text, again)
	}
	t.Log(text)
	t.Log(run("describe", file))
	found, err := filepath.Glob(filepath.Join(dir, "*.rows"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	measurePass(t, found[0])
}

// highWater returns the most memory that a program was seen to have (VmHWM, which counts pages of files that are
// mapped), looking until it ends. What the system says of it after that counts the program that started it, too.
func highWater(pid int) (most int64) {
	for {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, after, found := strings.Cut(string(status), "VmHWM:")
		if err != nil || !found { // it is gone, or waits to be
			return most
		}
		var kB int64
		if _, err := fmt.Sscan(after, &kB); err == nil {
			most = max(most, kB<<10)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// measurePass holds a pass of the solver over stored records (value and gradient of the logistic loss) against a plain
// read of the same bytes by as many goroutines, which adds the float32 up: from the disk, the file's pages having been
// dropped before each, and from pages as they are left. The better of two, in turn.
func measurePass(t *testing.T, path string) {
	t.Helper()
	info := must.Get(stored.Look(path))
	r := must.Get(stored.Reopen(path, info.Key))
	defer r.Close()
	f := must.Get(os.Open(path))
	defer f.Close()
	size := must.Get(f.Seek(0, io.SeekEnd))
	p := &erm.Problem{Rows: r, Labels: r.Labels(), Loss: loss.Logistic{}, Lambda: 1}
	at, grad := make([]float64, info.Features), make([]float64, info.Features)
	e := must.Get(erm.NewEvaluator(p, 0))
	e.Gradient(grad, at) // finds the norms, once
	for _, cold := range []bool{true, false} {
		var best [2]time.Duration
		for turn := range 4 {
			if cold {
				must.Do(unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
			}
			start := time.Now()
			if turn%2 == 0 {
				plainSum(t, f, size)
			} else {
				e.Gradient(grad, at)
			}
			if took := time.Since(start); best[turn%2] == 0 || took < best[turn%2] {
				best[turn%2] = took
			}
		}
		rate := func(d time.Duration) float64 { return float64(size) / 1e9 / d.Seconds() }
		share := rate(best[1]) / rate(best[0])
		t.Logf("cold %v: plain read and sum %.2f GB/s, pass %.2f GB/s: %.0f %%", cold, rate(best[0]), rate(best[1]),
			100*share)
		if cold && share < 0.7 {
			t.Errorf("a pass has %.0f %% of the disk's bandwidth, want 70", 100*share)
		}
	}
}

// plainSum reads all of a file from its beginning, two goroutines taking a megabyte in turn, and adds its float32 up.
func plainSum(t *testing.T, f *os.File, size int64) (sum float64) {
	t.Helper()
	const part = 1 << 20
	var sums [2]float64
	var raws [2][part]byte
	must.Do(parallel.For(t.Context(), int((size+part-1)/part), 2, func(w, k int) error {
		lo := int64(k) * part
		n, err := f.ReadAt(raws[w][:min(part, size-lo)], lo)
		if err != nil {
			return err
		}
		var a, b, c, d float32
		for p := raws[w][:n&^15]; len(p) >= 16; p = p[16:] {
			a += math.Float32frombits(binary.LittleEndian.Uint32(p))
			b += math.Float32frombits(binary.LittleEndian.Uint32(p[4:]))
			c += math.Float32frombits(binary.LittleEndian.Uint32(p[8:]))
			d += math.Float32frombits(binary.LittleEndian.Uint32(p[12:]))
		}
		sums[w] += float64(a + b + (c + d))
		return nil
	}))
	return sums[0] + sums[1]
}
