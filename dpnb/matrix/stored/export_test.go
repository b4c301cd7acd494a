package stored

import "os"

// FailingAt has Writers made from now on fail: with err once so many bytes were written, by all files of one together,
// or at the k-th call of another kind (Sync, Truncate). restore ends it.
func FailingAt(bytes int64, call int, err error) (restore func()) {
	left := bytes
	calls := 0
	createTemp = func(dir, pattern string) (file, error) {
		f, e := os.CreateTemp(dir, pattern)
		if e != nil {
			return nil, e
		}
		return &failing{f, &left, &calls, call, err}, nil
	}
	return func() { createTemp = func(dir, pattern string) (file, error) { return os.CreateTemp(dir, pattern) } }
}

// Wide is how many of the rows lo ≤ i < hi are taken as they lie in the file, four at a time.
func Wide(r *Rows, lo, hi int) int {
	return r.wide(lo, hi, func(_ []byte, from, to int) int { return (to - from) / 4 * 4 }) - lo
}

type failing struct {
	*os.File
	left  *int64
	calls *int
	call  int
	err   error
}

// take is how many of n bytes there is room for.
func (f *failing) take(n int) (int, error) {
	if *f.left >= int64(n) {
		*f.left -= int64(n)
		return n, nil
	}
	n, *f.left = int(*f.left), 0
	return n, f.err
}

func (f *failing) Write(b []byte) (int, error) {
	n, full := f.take(len(b))
	if n, err := f.File.Write(b[:n]); err != nil {
		return n, err
	}
	return n, full
}

func (f *failing) WriteAt(b []byte, at int64) (int, error) {
	n, full := f.take(len(b))
	if n, err := f.File.WriteAt(b[:n], at); err != nil {
		return n, err
	}
	return n, full
}

func (f *failing) count() error {
	if *f.calls++; *f.calls == f.call {
		return f.err
	}
	return nil
}

func (f *failing) Sync() error {
	if err := f.count(); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *failing) Truncate(size int64) error {
	if err := f.count(); err != nil {
		return err
	}
	return f.File.Truncate(size)
}
