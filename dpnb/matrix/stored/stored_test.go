package stored_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
)

func records(n, d int) (*matrix.Dense, []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	rows, labels := matrix.NewDense(n, d, nil), make([]float64, n)
	for i := range rows.Data {
		rows.Data[i] = r.NormFloat64() / 3
	}
	for i := range labels {
		labels[i] = float64(2*r.IntN(2) - 1)
	}
	return rows, labels
}

func write(t testing.TB, path string, rows *matrix.Dense, labels []float64, single bool) {
	t.Helper()
	w := must.Get(stored.Create(path, [32]byte{1}, rows.D, single))
	for lo := 0; lo < rows.N; lo += 700 {
		hi := min(rows.N, lo+700)
		must.Do(w.Append(matrix.NewDense(hi-lo, rows.D, rows.Data[lo*rows.D:hi*rows.D]), labels[lo:hi]))
	}
	must.Do(w.Close())
}

// What is stored is what was written, in float32 rounded towards zero; a fit of it is that of the same rows in memory,
// to the last bit, at any number of workers.
func TestStoredRows(t *testing.T) {
	rows, labels := records(13_003, 7) // two blocks
	path := filepath.Join(t.TempDir(), "a.rows")
	for _, single := range []bool{false, true} {
		write(t, path, rows, labels, single)
		s := must.Get(stored.Open(path, [32]byte{1}))
		kept := matrix.NewDense(rows.N, rows.D, nil)
		before, after := make([]float64, rows.N), make([]float64, rows.N)
		for i := range rows.N {
			s.Row(kept.Data[i*rows.D:(i+1)*rows.D], i)
		}
		for i, v := range rows.Data {
			k := kept.Data[i]
			if !single && k != v || !(math.Abs(k) <= math.Abs(v)) || !(math.Abs(k-v) <= 0x1p-23*math.Abs(v)) {
				t.Fatalf("%v became %v", v, k)
			}
		}
		rows.Norms(before, 0, rows.N)
		s.Norms(after, 0, rows.N)
		for i := range before {
			if after[i] > before[i] {
				t.Fatalf("row %d has norm %v and had %v", i, after[i], before[i])
			}
		}
		if got, want := s.MaxNorm(), slices.Max(after); !(got >= want*(1-1e-15) && got <= want*(1+1e-15)) {
			t.Errorf("the longest row is said to have norm %v and has %v", got, want)
		}
		if whole, odd := stored.Wide(s, 0, rows.N), stored.Wide(s, 2, rows.N); odd != 0 || single != (whole == 13_000) {
			t.Errorf("single %v: %d and %d rows are taken as they lie", single, whole, odd)
		}
		if !slices.Equal(s.Labels(), labels) {
			t.Error("the labels differ")
		}
		var want []float64
		for k, r := range []matrix.Rows{kept, s, s} {
			sol := must.Get(erm.Minimize(&erm.Problem{Rows: r, Labels: labels, Loss: loss.Logistic{}, Lambda: 1},
				&erm.Settings{Workers: 1 + k%2}))
			if want == nil {
				want = sol.Theta
			}
			if !slices.Equal(sol.Theta, want) {
				t.Errorf("single %v: %v, in memory %v", single, sol.Theta, want)
			}
		}
		must.Do(s.Close())
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("rows of a file that is closed are read")
			}
		}()
		s, err := stored.Open(path, [32]byte{1})
		if err != nil || s.Close() != nil {
			t.Fatal(err)
		}
		s.Row(make([]float64, 7), 0)
	}()
}

// Files are joined however few records they have.
func TestFewRecordsJoined(t *testing.T) {
	var files []*stored.Rows
	for n := range 3 {
		rows, labels := records(n, 3)
		path := filepath.Join(t.TempDir(), "a.rows")
		write(t, path, rows, labels, false)
		files = append(files, must.Get(stored.Open(path, [32]byte{1})))
		defer func() { must.Do(files[n].Close()) }()
		if got := must.Get(stored.Join(files[n])).Labels(); !slices.Equal(got, labels) {
			t.Errorf("%d records have the labels %v, want %v", n, got, labels)
		}
	}
	if got := must.Get(stored.Join(files...)).Labels(); !slices.Equal(got, slices.Concat(files[1].Labels(),
		files[2].Labels())) {
		t.Errorf("three files have the labels %v", got)
	}
}

// Rows of which a block has fewer than four are widened first, and give what they give in memory.
func TestVeryWideRows(t *testing.T) {
	rows, labels := records(9, 30_000)
	path := filepath.Join(t.TempDir(), "a.rows")
	write(t, path, rows, labels, true)
	s := must.Get(stored.Open(path, [32]byte{1}))
	kept := matrix.NewDense(9, 30_000, nil)
	for i := range 9 {
		s.Row(kept.Data[30_000*i:30_000*(i+1)], i)
	}
	for lo := range 9 {
		want, got := make([]float64, 9-lo), make([]float64, 9-lo)
		kept.Margins(want, rows.Data[:30_000], lo, 9)
		s.Margins(got, rows.Data[:30_000], lo, 9)
		if stored.Wide(s, lo, 9) != 0 || !slices.Equal(got, want) {
			t.Errorf("from row %d on: %v, in memory %v", lo, got, want)
		}
	}
	must.Do(s.Close())
}

// A file is whole and for its key, or not there.
func TestWholeOrNotThere(t *testing.T) {
	rows, labels := records(300, 3)
	dir := t.TempDir()
	path := filepath.Join(dir, "a.rows")
	write(t, path, rows, labels, true)
	if _, err := stored.Open(path, [32]byte{2}); !errors.Is(err, stored.ErrNone) {
		t.Errorf("another key: %v", err)
	}
	if _, err := stored.Open(path+"x", [32]byte{1}); !errors.Is(err, stored.ErrNone) {
		t.Errorf("no file: %v", err)
	}
	whole := must.Get(os.ReadFile(path))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
	padding := func(at int) bool { return at >= 88 && at < 4096 || at >= 4096+300*3*4 && at < 1<<16 }
	for n := range whole {
		if padding(n) && n%997 != 0 || n > 200 && n%37 != 0 && n < len(whole)-20 {
			continue
		}
		for what, b := range map[string][]byte{"cut": whole[:n],
			"changed": slices.Concat(whole[:n], []byte{whole[n] ^ 4}, whole[n+1:])} {
			must.Do(os.WriteFile(path, b, 0o600))
			_, err := stored.Open(path, [32]byte{1})
			if nothing := what == "changed" && padding(n); errors.Is(err, stored.ErrNone) == nothing {
				t.Fatalf("%s at byte %d: %v", what, n, err)
			}
		}
	}
	must.Do(os.WriteFile(path, whole, 0o600))
	handles := func() int { // where Linux has them; the file of the labels has no other trace there
		open, _ := os.ReadDir("/proc/self/fd")
		return len(open)
	}
	before := handles()
	w := must.Get(stored.Create(path, [32]byte{1}, 3, false))
	must.Do(w.Append(rows, labels))
	if files, _ := os.ReadDir(dir); len(files) != 2 && runtime.GOOS != "windows" {
		t.Errorf("a program that is killed leaves more than one file: %v", files)
	}
	w.Discard()
	if files, _ := os.ReadDir(dir); len(files) != 1 || handles() > before {
		t.Errorf("files are left: %v, %d open ones were %d", files, handles(), before)
	}
	s, err := stored.Open(path, [32]byte{1})
	if err != nil {
		t.Errorf("what was there is gone: %v", err)
	} else if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Records go to a file piece by piece, and are read as a matrix.
func ExampleCreate() {
	path := filepath.Join(os.TempDir(), "dpnb-example.rows")
	defer os.Remove(path)
	key := [32]byte{7} // of what the records were made of
	w, err := stored.Create(path, key, 2, true)
	if err == nil {
		err = errors.Join(w.Append(matrix.NewDense(1, 2, []float64{1, 0.5}), []float64{1}), w.Close())
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := stored.Open(path, key)
	if err != nil {
		fmt.Println(err)
		return
	}
	margins := make([]float64, 1)
	rows.Margins(margins, []float64{2, 2}, 0, 1)
	fmt.Println(margins, rows.Labels(), rows.Close())
	// Output: [3] [1] <nil>
}
