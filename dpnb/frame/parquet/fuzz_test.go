package parquet_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/metrics"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// mostForDamage is what reading a small file may allocate in all, whatever is in it.
const mostForDamage = 400 << 20

// allocated returns how many bytes the program has asked for so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// readAll reads a file of the given content and returns what that allocated.
func readAll(t *testing.T, path string, content []byte) uint64 {
	t.Helper()
	must.Do(os.WriteFile(path, content, 0o600))
	before := allocated()
	if s, err := parquet.Open(path, &parquet.Settings{ChunkRows: 1000}); err == nil {
		rows := 0
		_ = s.Scan(nil, func(chunk *frame.Table) error { // an error is as good as an answer
			if rows += chunk.Rows(); rows > 1e6 {
				return os.ErrInvalid
			}
			return nil
		})
	}
	return allocated() - before
}

// small returns small files of every kind.
func small(t testing.TB) (contents [][]byte) {
	t.Helper()
	dir := t.TempDir()
	for name, write := range map[string]func(path string) error{"a.arrow": writeArrow, "a.parquet": writeTypes,
		"b.parquet": func(path string) error {
			table, err := frame.NewTable(frame.Column{Name: "x", Numbers: []float64{1, 2, 3}},
				frame.Column{Name: "y", Kind: frame.Categorical, Texts: []string{"a", "", "b"}})
			if err != nil {
				return err
			}
			return parquet.Write(path, table)
		}} {
		path := filepath.Join(dir, name)
		must.Do(write(path))
		content := must.Get(os.ReadFile(path))
		contents = append(contents, content)
	}
	return contents
}

// A length that is damaged asks for no memory that the file cannot be worth: every byte of small files in turn is made
// large; in short some of them, and of Arrow files the high bytes of all numbers.
func TestDamagedLengthsAskForLittle(t *testing.T) {
	testscale.Slow(t)
	path, worst := filepath.Join(t.TempDir(), "damaged"), uint64(0)
	for _, content := range small(t) {
		first, step := 0, 7
		if testscale.Full() {
			step = 1
		} else if bytes.HasPrefix(content, []byte("ARROW1")) {
			first, step = 3, 4
		}
		for at := first; at < len(content); at += step {
			for _, wrong := range []byte{0xff, 0x7f} {
				was := content[at]
				content[at] = wrong
				worst = max(worst, readAll(t, path, content))
				content[at] = was
			}
		}
	}
	if t.Logf("at most %d MB", worst>>20); worst > mostForDamage {
		t.Errorf("a damaged file of a few kB allocates %d MB", worst>>20)
	}
}

func FuzzDamagedFile(f *testing.F) {
	for _, content := range small(f) {
		f.Add(content)
	}
	path := filepath.Join(f.TempDir(), "damaged")
	f.Fuzz(func(t *testing.T, content []byte) {
		if got := readAll(t, path, content); len(content) < 1<<16 && got > mostForDamage {
			t.Errorf("%d bytes of a file allocate %d MB", len(content), got>>20)
		}
	})
}
