//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/report"
	"github.com/dpnb/notebooks/dpnb/report/jupyter"
)

const fixture = "../../report/testdata/small.ipynb"

// program builds dpnb and makes sure that it can run notebooks, or skips the test.
func program(t *testing.T) string {
	t.Helper()
	testscale.SkipUnlessFull(t)
	root := must.Get(project.Root("."))
	cache, err := project.CacheDir()
	if err != nil {
		t.Skip(err)
	}
	if _, ok := jupyter.Find(context.Background(), jupyter.ThisMachine(), cache); !ok {
		t.Skip("there is no Jupyter here; `dpnb report` sets it up")
	}
	must.Get(report.Prepare(context.Background(), project.Tree{Dir: root}, false, nil, func(string) {}))
	path := filepath.Join(t.TempDir(), "dpnb")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// reportCommand runs the fixture with a temporary folder of its own, so that the processes of other tests are not taken
// for its.
func reportCommand(dpnb, out, tmp string) *exec.Cmd {
	cmd := exec.Command(dpnb, "report", fixture, "--out", out)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	return cmd
}

// mentioning returns the processes whose environment names the folder: all that a run started.
func mentioning(t *testing.T, tmp string) []string {
	t.Helper()
	var found []string
	files := must.Get(filepath.Glob("/proc/[0-9]*/environ"))
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err == nil && bytes.Contains(environ, []byte(tmp)) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			found = append(found, fmt.Sprintf("%s %q", filepath.Dir(file), line))
		}
	}
	return found
}

// changing is what two runs of the same notebook may differ in: times, and whether somebody edited a file meanwhile.
var changing = regexp.MustCompile(` with uncommitted changes|\d+\.\d s\b|\d{4}-\d\d-\d\d \d\d:\d\d UTC`)

// reports returns the files of a folder of reports, by name, without what may change. State that no reader sees is left
// out.
func reports(t *testing.T, out string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries := must.Get(os.ReadDir(out))
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		content := must.Get(os.ReadFile(filepath.Join(out, e.Name())))
		files[e.Name()] = changing.ReplaceAllString(string(content), "<changing>")
	}
	return files
}

// complete fails the test if a file under its final name is cut off.
func complete(t *testing.T, out string) {
	t.Helper()
	for name, end := range map[string]string{"small.html": "</html>", "small.ipynb": "}", "index.html": "</html>"} {
		content, err := os.ReadFile(filepath.Join(out, name))
		if err == nil && !strings.HasSuffix(strings.TrimSpace(string(content)), end) {
			t.Errorf("%s is cut off", name)
		}
	}
}

func TestKilledReportsLeaveNothingHalfDone(t *testing.T) {
	t.Parallel() // it waits more than it works
	dpnb := program(t)
	undisturbed := t.TempDir()
	start := time.Now()
	if out, err := reportCommand(dpnb, undisturbed, t.TempDir()).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	whole := time.Since(start)
	want := reports(t, undisturbed)

	const seed = 2
	random := rand.New(rand.NewPCG(seed, seed))
	out, tmp := t.TempDir(), t.TempDir()
	signals := []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL}
	for i, sig := range signals {
		// Each in its quarter of the run, so that every part is hit.
		after := time.Duration((float64(i) + random.Float64()) / float64(len(signals)) * float64(whole))
		cmd := reportCommand(dpnb, out, tmp)
		var said bytes.Buffer
		cmd.Stderr = &said
		must.Do(cmd.Start())
		time.Sleep(after)
		cmd.Process.Signal(sig)
		err := cmd.Wait()
		t.Logf("%v after %.1f s of %.1f: %v", sig, after.Seconds(), whole.Seconds(), err)
		complete(t, out)
		if sig != syscall.SIGKILL && err != nil && !strings.Contains(said.String(), "stopped") {
			t.Errorf("%v: %v, said %q", sig, err, &said)
		}
		// A program that was killed leaves the tidying to its driver, which has a grace of 5 s; a busy machine is
		// slower by far.
		deadline := time.Now().Add(2 * time.Minute)
		for len(mentioning(t, tmp)) > 0 && time.Now().Before(deadline) {
			time.Sleep(50 * time.Millisecond)
		}
		if left := mentioning(t, tmp); left != nil {
			t.Errorf("%v after %v: still running: %v", sig, after, left)
		}
	}
	if said, err := reportCommand(dpnb, out, tmp).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	got := reports(t, out)
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs from that of an undisturbed run: %s", name, firstDifference(got[name], want[name]))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files instead of %d", len(got), len(want))
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

// firstDifference shows where two texts part.
func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	show := func(s string) string { return s[max(0, i-80):min(len(s), i+80)] }
	return fmt.Sprintf("%q instead of %q", show(a), show(b))
}

// TestEverythingKilledAtOnce is the worst case: nobody is left to tidy up. The next run does.
func TestEverythingKilledAtOnce(t *testing.T) {
	t.Parallel() // it waits more than it works
	dpnb := program(t)
	out, tmp := t.TempDir(), t.TempDir()
	cmd := reportCommand(dpnb, out, tmp)
	stderr := must.Get(cmd.StderrPipe())
	must.Do(cmd.Start())
	waitFor(t, stderr, "cell 2 of 4")
	kernels := 0
	for _, process := range mentioning(t, tmp) {
		var pid int
		fmt.Sscanf(process, "/proc/%d", &pid)
		if strings.Contains(process, "gonb") && strings.Contains(process, "--kernel") {
			kernels++
			// The orphan: stopped, for on some machines it sees that it is alone and ends before anybody looks.
			syscall.Kill(pid, syscall.SIGSTOP)
			continue
		}
		syscall.Kill(pid, syscall.SIGKILL)
	}
	cmd.Wait()
	if kernels != 1 || len(mentioning(t, tmp)) == 0 {
		t.Fatalf("%d kernels; the test needs an orphan", kernels)
	}
	if said, err := reportCommand(dpnb, out, tmp).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if left := mentioning(t, tmp); left != nil {
		t.Errorf("still running: %v", left)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

// waitFor reads until a text comes.
func waitFor(t *testing.T, r interface{ Read([]byte) (int, error) }, text string) {
	t.Helper()
	var seen bytes.Buffer
	for buf := make([]byte, 4096); !strings.Contains(seen.String(), text); {
		n, err := r.Read(buf)
		seen.Write(buf[:n])
		if err != nil {
			t.Fatalf("%q does not come; %v\n%s", text, err, &seen)
		}
	}
}
