package frame

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// The checksum of a large file is remembered, but not across a change of one byte that leaves its size and its time of
// modification as they were.
func TestChecksumRemembered(t *testing.T) {
	testscale.InTurn(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "large.csv")
	content := bytes.Repeat([]byte("a,b\n"), largeFile/4)
	then := time.Now().Add(-time.Hour)
	sum := func() string {
		t.Helper()
		f := must.Get(OpenFile(path))
		return f.Origin().SHA256
	}
	write := func() {
		t.Helper()
		must.Do(os.WriteFile(path, content, 0o600))
		must.Do(os.Chtimes(path, then, then))
	}
	memory := checksumMemory(path)
	begun := time.Now()
	write()
	first := sum()
	// A machine that stood still for so long meanwhile has every right to remember.
	if _, err := os.Stat(memory); err == nil && time.Since(begun) < settled {
		t.Fatal("remembered of a file that was written a moment ago")
	}
	time.Sleep(settled + 100*time.Millisecond)
	if again := sum(); again != first {
		t.Fatalf("%s, then %s", first, again)
	}
	known, err := os.ReadFile(memory)
	if err != nil || !strings.HasSuffix(string(known), " "+first) {
		t.Fatalf("remembered %q, %v", known, err)
	}
	state := strings.TrimSuffix(string(known), first)
	wrong := strings.Repeat("0", len(first))
	must.Do(os.WriteFile(memory, []byte(state+wrong), 0o600))
	if got := sum(); got != wrong {
		t.Errorf("computed %s, want what is remembered", got)
	}
	content[largeFile/2] = 'c'
	write()
	if got := sum(); got == wrong || got == first {
		t.Errorf("%s is remembered of a file that was changed", got)
	}
}

// A file that is written anew with its old size and time is not the one that was opened, and a row of each person is
// not looked for where it was in the other; one that others may read now is.
func TestFileOfTheSameSizeAndTime(t *testing.T) {
	path, then := filepath.Join(t.TempDir(), "a.csv"), time.Now().Add(-time.Hour)
	write := func(text string) {
		must.Do(os.WriteFile(path, []byte(text), 0o600))
		must.Do(os.Chtimes(path, then, then))
	}
	write("who\na\na\nb\nb\n")
	s := must.Get(PerPerson(must.Get(ScanCSV(path, nil)), "who", 1))
	rows := func() (int, error) {
		all, err := Collect(s, nil)
		if err != nil {
			return 0, err
		}
		return all.Rows(), nil
	}
	if n, err := rows(); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	must.Do(os.Chmod(path, 0o640))
	if n, err := rows(); n != 2 || err != nil {
		t.Errorf("when others may read it: %d rows, %v", n, err)
	}
	write("who\na\nb\na\nb\n")
	if n, err := rows(); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("of another file there are %d rows, %v", n, err)
	}
}
