package parquet_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// The parts of a file have each of its rows once, those of a part each of its own, and each goes by its own name.
func TestPartsAreTheTable(t *testing.T) {
	testscale.Slow(t)
	path := filepath.Join(t.TempDir(), "a.parquet")
	must.Do(parquet.Write(path, mixed(t, 5<<16)))
	s := must.Get(parquet.Open(path, nil))
	n := s.(frame.Parted).Parts()
	if n < 3 {
		t.Fatalf("%d parts", n)
	}
	rows := func(s frame.Scanner) (values []string) {
		must.Do(s.Scan([]string{"number"}, func(chunk *frame.Table) error {
			c := must.Get(chunk.Column("number"))
			for i := range chunk.Rows() {
				values = append(values, c.Text(i))
			}
			return nil
		}))
		return values
	}
	seen := map[string]string{}
	name := func(what string, s frame.Scanner) {
		print := s.(interface{ Fingerprint() string }).Fingerprint()
		if other, there := seen[print]; there && other != what {
			t.Errorf("%s and %s are both %s", what, other, print)
		}
		seen[print] = what
	}
	name("all", s)
	all, some := rows(s), 0
	for k := range n {
		part := s.(frame.Parted).Part(k, k+1)
		for _, v := range rows(part) {
			if v != all[some] {
				t.Fatalf("row %d is %s in its part, and %s", some, v, all[some])
			}
			some++
		}
		name("part "+string(rune('0'+k)), part)
		if k > 0 {
			first := s.(frame.Parted).Part(0, k).(frame.Parted)
			if got := len(rows(first.Part(0, n))); got != some-len(rows(part)) {
				t.Errorf("a part of %d groups has %d rows, want %d", k, got, some-len(rows(part)))
			}
		}
	}
	if some != len(all) {
		t.Errorf("%d rows in parts, %d in all", some, len(all))
	}
	name("texts", must.Get(parquet.Open(path, &parquet.Settings{Texts: []string{"text"}})))
}

// Which of two columns of one name is meant nobody knows.
func TestTwoColumnsOfOneName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.arrow")
	sc := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, sc)
	for k := range 2 {
		b.Field(k).(*array.Float64Builder).Append(float64(k))
	}
	f := must.Get(os.Create(path))
	w := must.Get(ipc.NewFileWriter(f, ipc.WithSchema(sc)))
	must.Do(errors.Join(w.Write(b.NewRecordBatch()), w.Close(), f.Close()))
	var in *frame.InputError
	if s, err := parquet.Open(path, nil); !errors.As(err, &in) {
		t.Errorf("columns %q are read (%v)", s.Names(), err)
	}
}
