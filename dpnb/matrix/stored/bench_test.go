package stored_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
)

// A pass over stored records, of which the system has the pages, beside reading the same bytes.
func BenchmarkPass(b *testing.B) {
	rows, labels := records(1_000_000, 20)
	path := filepath.Join(b.TempDir(), "a.rows")
	write(b, path, rows, labels, true)
	s := must.Get(stored.Open(path, [32]byte{1}))
	defer s.Close()
	f := must.Get(os.Open(path))
	defer f.Close()
	bytes := int64(1_000_000 * 88)
	buffer := make([]byte, 1<<20)
	b.Run("read", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			must.Get(f.Seek(0, io.SeekStart))
			for {
				if _, err := f.Read(buffer); err != nil {
					break
				}
			}
		}
	})
	for _, workers := range []int{1, 2} {
		b.Run([]string{"", "one", "two"}[workers], func(b *testing.B) {
			b.SetBytes(bytes)
			p := &erm.Problem{Rows: s, Labels: s.Labels(), Loss: loss.Logistic{}, Lambda: 1}
			e := must.Get(erm.NewEvaluator(p, workers))
			at, grad := make([]float64, 20), make([]float64, 20)
			e.Gradient(grad, at)
			for b.Loop() {
				e.Gradient(grad, at)
			}
		})
	}
}
