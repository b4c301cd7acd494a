//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/paper/scale"
)

// asCommand has this test program be dpnb with the arguments that it holds, as JSON.
const asCommand = "DPNB_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if text := os.Getenv(asCommand); text != "" {
		var args []string
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			panic(err)
		}
		os.Args = append(os.Args[:1], args...)
		main()
		panic("main returned")
	}
	os.Exit(m.Run())
}

// process is dpnb with arguments, as a program of its own, and what it will have said.
func process(ctx context.Context, args ...string) (*exec.Cmd, *bytes.Buffer) {
	text, _ := json.Marshal(args)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), asCommand+"="+string(text))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, &out
}

// crowd is a table of rows × 20 and its schema in files of a folder of its own.
func crowd(t *testing.T, rows int) (dir, file, schema string) {
	t.Helper()
	dir = t.TempDir()
	file, schema = filepath.Join(dir, "people.parquet"), filepath.Join(dir, "schema.json")
	must.Do(parquet.Write(file, scale.Invented{Rows: rows}))
	must.Do(scale.Schema().Save(schema))
	return dir, file, schema
}

// entries returns how often a ledger was charged.
func entries(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return 0
	}
	var kept struct {
		Content struct{ Entries []json.RawMessage }
	}
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return len(kept.Content.Entries)
}

// A fit that is killed at any time and run again stores its records once, charges its ledger once, and releases what
// was charged for: never twice, and nothing is left half.
func TestKilledFits(t *testing.T) {
	testscale.InTurn(t)
	runs := 12
	if testscale.Full() {
		runs = 60
	}
	dir, file, schema := crowd(t, 60_000)
	r := rand.New(rand.NewPCG(1, 2))
	var whole time.Duration
	killed, charges, released := 0, 0, 0
	// Where the machine has become faster since the first run, more are needed until enough are killed.
	for run := 0; run < runs || killed < runs/3 && run < 20*runs; run++ {
		store := filepath.Join(dir, fmt.Sprint("store", run))
		ledger := filepath.Join(dir, fmt.Sprint("ledger", run, ".json"))
		args := []string{"fit", file, "--schema", schema, "--target", "ill", "--learner", "logistic", "--epsilon", "1",
			"--delta", "1e-6", "--budget", ledger, "--store", store, "--memory", "128MiB", "--lines"}
		ctx, kill := context.WithCancel(t.Context())
		first, out := process(ctx, args...)
		start := time.Now()
		if run > 0 {
			time.AfterFunc(time.Duration(r.Float64()*float64(whole)), kill)
		}
		err := first.Run()
		kill()
		switch {
		case err == nil:
			whole = time.Since(start)
		case run == 0:
			t.Fatalf("%v: %s", err, out)
		default:
			killed++
		}
		if err != nil && entries(t, ledger) == 1 {
			charges++
		}
		again, out := process(t.Context(), args...)
		if err := again.Run(); err == nil && strings.Contains(out.String(), "Guarantee") {
			released++
		} else {
			t.Errorf("run %d, again: %v, %s", run, err, out)
		}
		if left, err := filepath.Glob(ledger + ".unfinished/*"); err != nil || len(left) > 0 {
			t.Errorf("run %d: left %v, %v", run, left, err)
		}
		if n := entries(t, ledger); n != 1 {
			t.Errorf("run %d: the ledger was charged %d times", run, n)
		}
		files, err := frame.ListStored(frame.Storage{Dir: store})
		if err != nil || len(files) != 1 || files[0].Features != 20 {
			t.Errorf("run %d: %v, %v", run, files, err)
		}
	}
	t.Logf("%d runs of %v: %d killed, %d of them charged, %d released", runs, whole, killed, charges, released)
	if killed < runs/3 {
		t.Errorf("%d of %d were killed", killed, runs)
	}
}

// told is what a command tells of its progress, now and then.
var told = regexp.MustCompile(`(?m)^dpnb fit: .*\n`)

// Programs that need the same records at the same time store them once, and fit the same.
func TestTwoProgramsStoreOnce(t *testing.T) {
	testscale.InTurn(t)
	dir, file, schema := crowd(t, 60_000)
	var wg sync.WaitGroup
	var said [4]string
	for k := range said {
		wg.Go(func() {
			cmd, out := process(t.Context(), "fit", file, "--schema", schema, "--target", "ill", "--learner",
				"logistic", "--epsilon", "1", "--delta", "1e-6", "--seed", "4", "--store", filepath.Join(dir, "store"))
			if err := cmd.Run(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			said[k] = told.ReplaceAllString(out.String(), "")
		})
	}
	wg.Wait()
	for _, s := range said[1:] {
		if s != said[0] {
			t.Errorf("%s\nand\n%s", s, said[0])
		}
	}
	files, err := frame.ListStored(frame.Storage{Dir: filepath.Join(dir, "store")})
	if err != nil || len(files) != 1 || files[0].Part {
		t.Errorf("%v, %v", files, err)
	}
}

// Of fits and questions: a source that is cut short, in a line of a CSV file or anywhere in a Parquet file, or changed
// while it is read, and a store that is damaged or no folder: an error before the charge, or the records are stored
// anew.
func TestBadSources(t *testing.T) {
	testscale.Slow(t)
	dir, file, schema := crowd(t, 3000)
	store := filepath.Join(dir, "store")
	fit := func(file, ledger string) (string, error) {
		return call(t, newFitCommand(), file, "--schema", schema, "--target", "ill", "--learner", "logistic",
			"--epsilon", "1", "--delta", "1e-6", "--budget", ledger, "--store", store)
	}
	ledger := filepath.Join(dir, "bad.ledger.json")
	text := must.Get(os.ReadFile(file))
	var csv bytes.Buffer
	csv.WriteString(strings.Join(scale.Invented{}.Names(), ",") + "\n")
	for i := range 500 {
		csv.WriteString(strings.Repeat(fmt.Sprintf("0.%03d,", i), 19) + []string{"no", "yes"}[i%2] + "\n")
	}
	for k := range 20 {
		bad := filepath.Join(dir, "bad.parquet")
		cut := text[:len(text)*(2*k+1)/40]
		if k >= 10 {
			bad, cut = filepath.Join(dir, "bad.csv"), csv.Bytes()[:2000+csv.Len()*k/40]
			if cut[len(cut)-1] == '\n' || bytes.HasSuffix(cut, []byte("no")) || bytes.HasSuffix(cut, []byte("yes")) {
				cut = cut[:len(cut)-5]
			}
		}
		must.Do(os.WriteFile(bad, cut, 0o600))
		said, err := fit(bad, ledger)
		if err == nil || !strings.Contains(err.Error(), filepath.Base(bad)) {
			t.Errorf("%s cut at byte %d: %s (%v)", bad, len(cut), said, err)
		}
		if said, err := call(t, newDescribeCommand(), bad, "--schema", schema, "--epsilon", "1", "--delta", "1e-6",
			"--budget", ledger, "--share", "0.1", "--count"); err == nil {
			t.Errorf("%s cut at byte %d: %s", bad, len(cut), said)
		}
		if n := entries(t, ledger); n != 0 {
			t.Fatalf("charged %d times", n)
		}
	}
	if files, err := frame.ListStored(frame.Storage{Dir: store}); err != nil || len(files) != 0 {
		t.Errorf("left: %v, %v", files, err)
	}
	must.Get(fit(file, ledger))
	files, err := frame.ListStored(frame.Storage{Dir: store})
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole := must.Get(os.ReadFile(files[0].Path))
	for k, at := range []int{0, 50, 5000, len(whole) - 1} {
		bad := bytes.Clone(whole)
		bad[at] ^= 16
		if k == 2 {
			bad = bad[:at]
		}
		must.Do(os.WriteFile(files[0].Path, bad, 0o600))
		if _, err := fit(file, filepath.Join(dir, fmt.Sprint("ledger", k, ".json"))); err != nil {
			t.Error(err)
		}
		if mended, _ := os.ReadFile(files[0].Path); !bytes.Equal(mended, whole) {
			t.Errorf("byte %d: the records were not stored anew", at)
		}
	}
	store = file // which is no folder
	if _, err := fit(file, filepath.Join(dir, "other.json")); err == nil || entries(t, filepath.Join(dir,
		"other.json")) != 0 {
		t.Errorf("a store that is no folder: %v", err)
	}
}
