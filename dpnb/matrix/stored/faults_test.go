package stored_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/mapped"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
)

// A disk that fills at any byte, or fails at the end, is an error that says so; no file is left, and what was there
// under the name stays.
func TestDiskThatFills(t *testing.T) {
	rows, labels := records(9000, 8)
	dir := t.TempDir()
	path := filepath.Join(dir, "a.rows")
	write(t, path, rows, labels, true)
	before := must.Get(os.ReadFile(path))
	store := func() error {
		w, err := stored.Create(path, [32]byte{1}, rows.D, false)
		if err != nil {
			return err
		}
		for lo := 0; lo < rows.N; lo += 1000 {
			part := matrix.NewDense(1000, 8, rows.Data[lo*8:(lo+1000)*8])
			if err := w.Append(part, labels[lo:lo+1000]); err != nil {
				w.Discard()
				return err
			}
		}
		return w.Close()
	}
	total := int64(4096 + 9000*8*8 + 2*9000*8 + 16)
	faults := 0
	check := func(what string, k int64, err error) {
		t.Helper()
		faults++
		after, e := os.ReadFile(path)
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "cannot store the records") ||
			e != nil || !slices.Equal(before, after) {
			t.Fatalf("%s %d: %v, %v", what, k, err, e)
		}
		if files, _ := os.ReadDir(dir); len(files) != 1 {
			t.Fatalf("%s %d: left %v", what, k, files)
		}
	}
	for k := int64(0); k < total; k += 1 + total/23 {
		restore := stored.FailingAt(k, 0, syscall.ENOSPC)
		err := store()
		restore()
		check("byte", k, err)
	}
	for call := 1; call <= 2; call++ {
		restore := stored.FailingAt(1<<40, call, syscall.ENOSPC)
		err := store()
		restore()
		check("call", int64(call), err)
	}
	t.Logf("%d faults", faults)
	restore := stored.FailingAt(total+200, 0, syscall.ENOSPC)
	defer restore()
	if err := store(); err != nil {
		t.Errorf("with room enough: %v", err)
	}
}

// A file that is changed or cut short between the passes of a fit ends it with an error that names the records:
// wherever the byte is, whoever reads it.
func TestChangedBetweenPasses(t *testing.T) {
	const n, d = 20_000, 8
	rows, labels := records(n, d)
	path := filepath.Join(t.TempDir(), "a.rows")
	for k := range 15 {
		write(t, path, rows, labels, true)
		s := must.Get(stored.Open(path, [32]byte{1}))
		p := &erm.Problem{Rows: s, Labels: s.Labels(), Loss: loss.Logistic{}, Lambda: 1}
		must.Get(erm.Minimize(p, &erm.Settings{Workers: 1 + k%2}))
		at := int64(4096 + (n*d*4-1)*k/11)
		bit := byte(1)
		if k > 11 { // the sign of a label
			at, bit = (4096+n*d*4+1<<16-1)>>16<<16+7+8*int64(k-13)*(n-1), 0x80
		}
		if k%3 == 0 {
			must.Do(os.Truncate(path, at))
		} else {
			f, b := must.Get(os.OpenFile(path, os.O_RDWR, 0)), make([]byte, 1)
			must.Get(f.ReadAt(b, at))
			b[0] ^= bit
			must.Get(f.WriteAt(b, at))
			must.Do(f.Close())
		}
		_, err := erm.Minimize(p, &erm.Settings{Workers: 1 + k%2})
		var gone *matrix.ReadError
		if !errors.As(err, &gone) || !strings.Contains(err.Error(), "records ") ||
			k%3 != 0 && errors.Is(err, mapped.ErrFault) {
			t.Errorf("byte %d of the rows: %v", at, err)
		}
		must.Do(s.Close())
	}
}

// Labels that are written beside those of a file are there until they are given back, and leave nothing.
func TestNewLabels(t *testing.T) {
	rows, labels := records(3000, 3)
	dir := t.TempDir()
	path := filepath.Join(dir, "a.rows")
	write(t, path, rows, labels, true)
	s := must.Get(stored.Open(path, [32]byte{1}))
	defer s.Close()
	y, free, err := matrix.NewLabels(s, 3000)
	if err != nil || len(y) != 3000 {
		t.Fatal(len(y), err)
	}
	for i := range y {
		y[i] = -labels[i]
	}
	s.Done(0, 3000)
	for i := range y {
		if y[i] != -labels[i] || s.Labels()[i] != labels[i] {
			t.Fatalf("label %d is %v and %v, want ±%v", i, y[i], s.Labels()[i], labels[i])
		}
	}
	free()
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("left %v", files)
	}
}
