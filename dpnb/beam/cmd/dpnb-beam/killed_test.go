//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/beam/internal/prismtest"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/listening"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

func TestMain(m *testing.M) { prismtest.Main(m) }

// study is a table, its schema and a ledger in files, and a program that fits them on a Prism of their own.
type study struct {
	t             *testing.T
	program       string
	prism         *prismtest.Prism
	file, schema  string
	store, ledger string
}

// build returns the command line, built, and has it build its other half in a folder of its own: another copy of the
// project may be in use.
func build(t *testing.T) string {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("GOWORK", "off")
	path := filepath.Join(t.TempDir(), "dpnb")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "./dpnb/cmd/dpnb")
	cmd.Dir = filepath.Join("..", "..", "..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

func newStudy(t *testing.T, program string) study {
	t.Helper()
	dir := t.TempDir()
	s := study{t, program, prismtest.Start(t), filepath.Join(dir, "people.csv"), filepath.Join(dir, "schema.json"),
		filepath.Join(dir, "store"), filepath.Join(dir, "ledger.json")}
	rng := rand.New(rand.NewPCG(1, 2))
	var csv bytes.Buffer
	csv.WriteString("a,b,c,ill\n")
	for range 5000 {
		a, b, c := rng.Float64(), rng.Float64(), rng.Float64()
		ill := "no"
		if rng.Float64() < 1/(1+math.Exp(2-6*a+b)) {
			ill = "yes"
		}
		fmt.Fprintf(&csv, "%.4f,%.4f,%.4f,%s\n", a, b, c, ill)
	}
	s.write(s.file, csv.Bytes())
	fields := &frame.Schema{Fields: []frame.Field{frame.NumericField("a", 0, 1), frame.NumericField("b", 0, 1),
		frame.NumericField("c", 0, 1), frame.CategoricalField("ill", "no", "yes")}}
	if err := fields.Save(s.schema); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s study) write(path string, content []byte) {
	s.t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// withoutWaiting leaves out what a command says while somebody waits, which depends on how fast the machine is, and
// that an answer is one of before.
func withoutWaiting(text string) string {
	return waiting.ReplaceAllString(text, "")
}

var waiting = regexp.MustCompile(`(?m)^(dpnb (fit|describe): |This is what was released before|Released once).*\n`)

// fit is a driver on Prism with so many worker processes, and what it will have said.
func (s study) fit(processes int, more ...string) (*exec.Cmd, *bytes.Buffer) {
	args := append([]string{"fit", s.file, "--schema", s.schema, "--target", "ill", "--learner", "logistic",
		"--epsilon", "1", "--delta", "1e-6", "--budget", s.ledger, "--share", "1", "--store", s.store, "--endpoint",
		s.prism.Address, "--processes", fmt.Sprint(processes)}, more...)
	cmd := exec.Command(s.program, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, &out
}

// charges returns how often the ledger was charged.
func (s study) charges() int {
	var kept struct {
		Content struct{ Entries []json.RawMessage }
	}
	if text, err := os.ReadFile(s.ledger); err == nil {
		if err := json.Unmarshal(text, &kept); err != nil {
			s.t.Fatal(err)
		}
	}
	return len(kept.Content.Entries)
}

// passes returns when the sums of each pass that are there were written.
func (s study) passes() map[string]time.Time {
	found := map[string]time.Time{}
	paths, _ := filepath.Glob(filepath.Join(s.store, "*.passes", "*.sums"))
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil {
			found[filepath.Base(p)] = info.ModTime()
		}
	}
	return found
}

// released reports whether a release is there, be it shown or not.
func (s study) released() bool {
	paths, _ := filepath.Glob(s.ledger + ".*/*.json")
	for _, p := range paths {
		if text, err := os.ReadFile(p); err == nil && bytes.Contains(text, []byte("Coefficients")) {
			return true
		}
	}
	return false
}

// TestDrivers: what is said below, of programs that are built once.
func TestDrivers(t *testing.T) {
	testscale.Slow(t)
	program := build(t)
	var whole time.Duration
	for range 2 { // the first builds
		s := newStudy(t, program)
		cmd, out := s.fit(0)
		start := time.Now()
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		whole = time.Since(start)
	}
	t.Run("listening", func(t *testing.T) { nobodyReachesThem(t, program) })
	t.Run("several files", func(t *testing.T) { severalFiles(t, program) })
	t.Run("describe", func(t *testing.T) { described(t, program) })
	t.Run("killed", func(t *testing.T) { killedDrivers(t, program, whole) })
	t.Run("two of one ledger", func(t *testing.T) { twoDriversOfOneLedger(t, program) })
}

// checksum is a SHA-256 in a text.
var checksum = regexp.MustCompile(`[0-9a-f]{64}|[A-Za-z0-9+/]{43}=`)

// nobodyReachesThem: while a command has workers run, neither it nor they listen but on loopback; no argument of
// theirs, which every user of the machine sees, has the checksum of a file or a name made of it; and what runs commands
// has no Prism in it.
func nobodyReachesThem(t *testing.T, program string) {
	s := newStudy(t, program)
	fit, _ := s.fit(2)
	for _, cmd := range []*exec.Cmd{fit,
		exec.Command(program, "describe", s.file, "--schema", s.schema, "--epsilon", "1", "--delta", "1e-6",
			"--endpoint", s.prism.Address, "--processes", "2"),
		exec.Command(program, "sweep", "noise", "--trials", "300", "--out", filepath.Join(t.TempDir(), "noise.parquet"),
			"--endpoint", s.prism.Address)} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		most := 0
		seen := map[string]bool{}
		for gone := false; !gone; {
			for _, a := range listening.Arguments(cmd.Process.Pid) {
				if checksum.MatchString(a) && !seen[a] {
					t.Errorf("%s starts a program with %q", cmd.Args[1], a)
				}
				seen[a] = true
			}
			beyond, here := listening.Beyond(cmd.Process.Pid)
			if most = max(most, here); len(beyond) > 0 {
				t.Errorf("%s listens at %v", cmd.Args[1], beyond)
			}
			select {
			case err := <-ended:
				if gone = true; err != nil {
					t.Error(cmd.Args[1], err)
				}
			case <-time.After(5 * time.Millisecond):
			}
		}
		if !seen["passes"] && !seen["tally"] && !seen["sweep"] {
			t.Errorf("%s started %v: nothing was tested", cmd.Args[1], seen)
		}
		if most == 0 {
			t.Errorf("%s listened nowhere: nothing was tested", cmd.Args[1])
		}
	}
	packages, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil || bytes.Contains(packages, []byte("runners/prism")) ||
		!bytes.Contains(packages, []byte("beam/runner\n")) {
		t.Errorf("the program has Prism in it, or its packages are not told: %v", err)
	}
}

// severalFiles: workers encode a table in several files, one of them empty, each into a shard, and fit it.
func severalFiles(t *testing.T, program string) {
	s := newStudy(t, program)
	header, text, _ := strings.Cut(string(must.Get(os.ReadFile(s.file))), "\n")
	must.Do(os.Remove(s.file))
	rows := strings.SplitAfter(text, "\n")
	for k, part := range [][]string{rows[:700], nil, rows[700:]} {
		s.write(fmt.Sprintf("%s.%d", s.file, k), []byte(header+"\n"+strings.Join(part, "")))
	}
	s.file += ".*"
	fit, out := s.fit(2)
	if err := fit.Run(); err != nil || s.charges() != 1 {
		t.Errorf("%d charges: %v: %s", s.charges(), err, out)
	}
	if shards, _ := filepath.Glob(filepath.Join(s.store, "*.rows")); len(shards) != 3 {
		t.Errorf("%d shards of three files", len(shards))
	}
}

// killedDrivers: a driver that is killed before the charge, after it, between passes, before its model is shown or at
// any time, every second one once more while it goes on: then one that is not killed releases the model; the passes
// that were made are not made again; the ledger was charged once; and the command that is repeated shows the same
// model.
func killedDrivers(t *testing.T, program string, whole time.Duration) {
	testscale.InTurn(t)
	moments := map[string]func(s study) bool{
		"ready": func(s study) bool { // before the charge
			found, _ := filepath.Glob(filepath.Join(s.store, "*.passes"))
			return len(found) > 0
		},
		"charged":    func(s study) bool { return s.charges() == 1 },
		"one pass":   func(s study) bool { return len(s.passes()) >= 1 },
		"passes":     func(s study) bool { return len(s.passes()) >= 4 },
		"released":   study.released,
		"any moment": nil,
	}
	times := 1
	if testscale.Full() {
		times = 8
	}
	killed, charged, found, runs := 0, 0, 0, 0
	for range times {
		for name, when := range moments {
			processes := 2 * (runs / len(moments) % 2)
			s := newStudy(t, program)
			if when == nil {
				at := time.Now().Add(rand.N(whole))
				when = func(study) bool { return time.Now().After(at) }
			}
			for again := range 1 + runs%2 {
				runs++
				cmd, out := s.fit(processes)
				must.Do(cmd.Start())
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				for gone := false; !gone; {
					select {
					case err := <-ended:
						if gone = true; err != nil {
							t.Errorf("%s, time %d: %v: %s", name, again, err, out)
						}
					case <-time.After(time.Millisecond):
						if when(s) {
							_ = cmd.Process.Kill()
							<-ended
							gone = true
							killed++
						}
					}
				}
			}
			charged += s.charges()
			were := s.passes()
			cmd, out := s.fit(processes)
			must.Do(cmd.Start())
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			var err error
			for gone := false; !gone; {
				for pass, at := range s.passes() {
					if was, known := were[pass]; known && !was.Equal(at) {
						t.Errorf("%s: a pass was made again", name)
					}
				}
				select {
				case err = <-ended:
					gone = true
				case <-time.After(time.Millisecond):
				}
			}
			if err != nil || !strings.Contains(out.String(), "Guarantee") {
				t.Errorf("%s: %v: %s", name, err, out)
			}
			if found += len(were); s.charges() != 1 {
				t.Errorf("%s: charged %d times", name, s.charges())
			}
			more, shown := s.fit(processes)
			if err := more.Run(); err != nil || withoutWaiting(shown.String()) != withoutWaiting(out.String()) {
				t.Errorf("%s: shown again: %v: %s", name, err, shown)
			}
			if left, _ := filepath.Glob(s.ledger + ".unfinished/*"); len(left) > 0 {
				t.Errorf("%s: left %v", name, left)
			}
			s.prism.Stop()
		}
	}
	t.Logf("%d runs, of which one takes %v: %d killed, %d after the charge; %d passes were found", runs, whole, killed,
		charged, found)
	if killed < runs/2 || found == 0 || testscale.Full() && runs < 50 {
		t.Error("too few were killed to tell anything")
	}
}

// described: what describe releases of one seed is the same here and on a runner with no, one and two processes, of a
// CSV file, of a Parquet file in groups of rows and of several files, of all with a column that is a copy; and where a
// driver was killed while records were added up, the same command is charged once, and leaves nothing.
func described(t *testing.T, program string) {
	s := newStudy(t, program)
	schema := must.Get(frame.LoadSchema(s.schema))
	schema.Fields = append(schema.Fields, frame.NumericField("a again", 0, 2).CopyOf("a"))
	must.Do(schema.Save(s.schema))
	table := must.Get(frame.ScanCSV(s.file, &frame.CSVSettings{ChunkRows: 700}))
	columnar := filepath.Join(filepath.Dir(s.file), "people.parquet")
	must.Do(parquet.Write(columnar, table))
	cmd := func(file string, more ...string) *exec.Cmd {
		return exec.Command(s.program, append([]string{"describe", file, "--schema", s.schema, "--epsilon", "1",
			"--delta", "1e-6", "--memory", "1GiB"}, more...)...)
	}
	run := func(file string, more ...string) string {
		t.Helper()
		out, err := cmd(file, more...).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return withoutWaiting(string(out))
	}
	several := filepath.Join(filepath.Dir(s.file), "part-*")
	header, rest, _ := strings.Cut(string(must.Get(os.ReadFile(s.file))), "\n")
	s.write(strings.Replace(several, "*", "0.csv", 1), []byte(header+"\n"+rest[:strings.Index(rest, "\n")+1]))
	s.write(strings.Replace(several, "*", "1.csv", 1), []byte(header+"\n"))
	must.Do(os.Link(columnar, strings.Replace(several, "*", "2.parquet", 1)))
	for _, file := range []string{s.file, columnar, several} {
		here := run(file, "--seed", "3")
		for _, processes := range []string{"0", "1", "2"} {
			there := run(file, "--seed", "3", "--endpoint", s.prism.Address, "--processes", processes)
			if there != here {
				t.Errorf("%s, %s processes: %s there, %s here", file, processes, there, here)
			}
		}
	}
	paid := []string{"--budget", s.ledger, "--share", "0.5"}
	there := append(slices.Clone(paid), "--endpoint", s.prism.Address)
	first := cmd(columnar, there...)
	must.Do(first.Start())
	left := func() []string {
		files, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "dpnb", "records", "*"))
		return files
	}
	for len(left()) == 0 {
		time.Sleep(time.Millisecond)
	}
	_ = first.Process.Kill()
	_ = first.Wait()
	said := run(columnar, there...)
	if again := run(columnar, paid...); !strings.HasPrefix(again, said) || s.charges() != 1 {
		t.Errorf("%d charges: %s, then %s", s.charges(), said, again)
	}
	if left := left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// twoDriversOfOneLedger: of two that want all of it under different names one is refused; of two that want the same
// both show the same model; the ledger is charged once.
func twoDriversOfOneLedger(t *testing.T, program string) {
	for _, names := range [][2]string{{"a", "b"}, {"a", "a"}} {
		s := newStudy(t, program)
		var said [2]string
		var failed [2]error
		var both sync.WaitGroup
		for k, name := range names {
			both.Go(func() {
				cmd, out := s.fit(0, "--name", name)
				failed[k] = cmd.Run()
				said[k] = withoutWaiting(out.String())
			})
		}
		both.Wait()
		if s.charges() != 1 {
			t.Errorf("%v: charged %d times", names, s.charges())
		}
		if names[0] == names[1] && (failed[0] != nil || failed[1] != nil || said[0] != said[1]) {
			t.Errorf("%v: %v\n%s\n%s", names, failed, said[0], said[1])
		}
		if names[0] != names[1] && (failed[0] == nil) == (failed[1] == nil) {
			t.Errorf("%v: %v\n%s\n%s", names, failed, said[0], said[1])
		}
		for k := range said {
			if failed[k] != nil && !strings.Contains(said[k], "another program uses") &&
				!strings.Contains(said[k], "refused; nothing was drawn and nothing spent") {
				t.Errorf("%v: %s", names, said[k])
			}
		}
	}
}
