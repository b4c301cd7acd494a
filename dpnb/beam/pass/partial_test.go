package pass

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// TestPartials: sums of other chunks add up, with the labels that are wrong; a chunk that comes twice, within a bundle
// or from two, and a changed byte are noticed.
func TestPartials(t *testing.T) {
	of := func(chunks ...int) *partial {
		p := newPartial(10)
		for _, c := range chunks {
			s := &erm.Sums{Vector: []float64{1, 2}, Value: 3, Slopes: 4, Wrong: 1, MaxNorm: float64(c)}
			if err := p.add(c, s); err != nil {
				t.Fatal(err)
			}
		}
		return p
	}
	p := of(9, 0)
	must.Do(p.merge(of(3)))
	if s := p.sums(false); s.Vector[1] != 6 || s.Value != 9 || s.Slopes != 12 || s.Wrong != 3 || s.MaxNorm != 9 {
		t.Errorf("three chunks add up to %+v", s)
	}
	if q := of(2); q.merge(of(7, 5)) != nil || q.sums(false).MaxNorm != 7 {
		t.Errorf("the longest record of two workers has norm %v", q.sums(false).MaxNorm)
	}
	if err := p.merge(of(3, 4)); !errors.Is(err, errTwice) {
		t.Errorf("chunk 3 from two bundles: %v", err)
	}
	if err := p.add(9, &erm.Sums{Vector: []float64{1, 2}}); !errors.Is(err, errTwice) {
		t.Errorf("chunk 9 twice in a bundle: %v", err)
	}
	b := must.Get(p.MarshalBinary())
	for i := range b {
		b[i] ^= 4
		if err := new(partial).UnmarshalBinary(b); !errors.Is(err, errDamaged) {
			t.Errorf("byte %d of %d changed: %v", i, len(b), err)
		}
		b[i] ^= 4
	}
	// Sums have no noise: who runs a worker reads what it leaves, and nobody else.
	path := filepath.Join(t.TempDir(), "sums")
	must.Do((&writer{path}).ProcessElement(p))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the sums of a worker: %v, %v", info.Mode(), err)
	}
}
