package stored_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
)

// inShards stores records in files that end at the given places.
func inShards(t testing.TB, rows *matrix.Dense, labels []float64, single bool, ends ...int) (files []*stored.Rows) {
	t.Helper()
	dir, lo := t.TempDir(), 0
	for k, hi := range append(ends, rows.N) {
		path := filepath.Join(dir, fmt.Sprint(k, ".rows"))
		write(t, path, matrix.NewDense(hi-lo, rows.D, rows.Data[lo*rows.D:hi*rows.D]), labels[lo:hi], single)
		files = append(files, must.Get(stored.Open(path, [32]byte{1})))
		lo = hi
	}
	return files
}

// Whatever is computed of records in several files has the bits of one file of them: every kind of sum, of all and of a
// stretch, wherever the files begin, some of them empty or of one record; norms, labels and a fit.
func TestSetIsOneFile(t *testing.T) {
	rows, labels := records(5003, 7)
	f := loss.Sum(loss.Logistic{})
	at, along := []float64{1, -1, .5, 0, 2, 1, -3}, []float64{0, 1, 2, -1, .5, 1, 1}
	queries := []*erm.Query{{Kind: erm.Gradient, Loss: f, At: at, Norms: true},
		{Kind: erm.Precise, Loss: f, At: at, Low: make([]float64, 7)},
		{Kind: erm.Product, Loss: f, At: at, Direction: along}, {Kind: erm.Hessian, Loss: f, At: at}}
	sums := func(r matrix.Rows, y []float64, lo, hi int) (all []erm.Sums) {
		p := must.Get(erm.NewPart(r, y, f))
		for _, q := range queries {
			var s erm.Sums
			p.Add(&s, q, lo, hi)
			all = append(all, s)
		}
		return all
	}
	for _, single := range []bool{false, true} {
		one := inShards(t, rows, labels, single)[0]
		alone := must.Get(stored.Join(inShards(t, rows, labels, single)...))
		if n, d := alone.Dims(); n != 5003 || d != 7 || !slices.Equal(alone.Labels(), labels) {
			t.Errorf("a set of one file has %d records of %d features, or other labels", n, d)
		}
		fit := func(r matrix.Rows, y []float64) []float64 {
			p := erm.Problem{Rows: r, Labels: y, Loss: loss.Logistic{}, Lambda: 2}
			return must.Get(erm.Minimize(&p, &erm.Settings{Tolerance: 1e-9})).Theta
		}
		want := fit(one, one.Labels())
		for _, ends := range [][]int{{2000}, {1, 2, 2, 3, 1001, 4999}, {0, 777, 777, 5003}} {
			files := inShards(t, rows, labels, single, ends...)
			s := must.Get(stored.Join(files...))
			if !slices.Equal(s.Labels(), labels) || s.MaxNorm() != one.MaxNorm() || len(s.Files()) != len(ends)+1 {
				t.Errorf("%v: other labels, norms or files", ends)
			}
			for _, in := range [][2]int{{0, 5003}, {1, 5000}, {700, 1600}, {1990, 2010}, {4998, 5003}, {50, 600}} {
				lo, hi := in[0], in[1]
				these := sums(one, one.Labels(), lo, hi)
				if !reflect.DeepEqual(sums(s, s.Labels(), lo, hi), these) {
					t.Errorf("ends %v, single %v: other sums of records %v", ends, single, in)
				}
				r, y, plus := stored.Within(files, lo, hi)
				if !reflect.DeepEqual(sums(r, y, lo+plus, hi+plus), these) {
					t.Errorf("ends %v, single %v: other sums of the records %v within", ends, single, in)
				}
			}
			if got := fit(s, s.Labels()); !slices.Equal(got, want) {
				t.Errorf("ends %v: the fit is %v, of one file %v", ends, got, want)
			}
			others, free, err := s.NewLabels()
			if err != nil || len(others) != 5003 {
				t.Errorf("%d other labels, %v", len(others), err)
			}
			free()
		}
	}
}

// A label that was changed in a file is not joined; files of other widths are not either; no record at all is.
func TestJoinRefuses(t *testing.T) {
	rows, labels := records(900, 7)
	files := inShards(t, rows, labels, false, 400)
	raw := must.Get(os.ReadFile(files[1].Files()[0].Path))
	raw[len(raw)-40] ^= 1 // a label: the table of checksums is shorter than that
	f := must.Get(os.OpenFile(files[1].Files()[0].Path, os.O_WRONLY, 0))
	must.Get(f.WriteAt(raw, 0))
	must.Do(f.Close())
	if _, err := stored.Join(files...); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("a label that was changed: %v", err)
	}
	narrow, few := records(10, 3)
	if _, err := stored.Join(inShards(t, rows, labels, false)[0], inShards(t, narrow, few, false)[0]); err == nil {
		t.Error("records of seven features and of three are joined")
	}
	none := must.Get(stored.Join(inShards(t, matrix.NewDense(0, 7, nil), nil, false, 0)...))
	if n, d := none.Dims(); n != 0 || d != 7 || none.MaxNorm() != 0 || len(none.Labels()) != 0 {
		t.Errorf("%d×%d records, want none of 7 features", n, d)
	}
}
