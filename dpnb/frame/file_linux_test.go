package frame

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The checksum of a large file is remembered, but not across a change of one byte that leaves its size and its time of
// modification as they were.
func TestChecksumRemembered(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "large.csv")
	content := bytes.Repeat([]byte("a,b\n"), largeFile/4)
	then := time.Now().Add(-time.Hour)
	sum := func() string {
		t.Helper()
		f, err := OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return f.Origin().SHA256
	}
	write := func() {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
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
	if err := os.WriteFile(memory, []byte(state+wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := sum(); got != wrong {
		t.Errorf("computed %s, want what is remembered", got)
	}
	content[largeFile/2] = 'c'
	write()
	if got := sum(); got == wrong || got == first {
		t.Errorf("%s is remembered of a file that was changed", got)
	}
}
