package frame_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// tall is a table of so many rows that a scan of it has several chunks: a number and a text.
func tall(t *testing.T, rows int) *frame.Table {
	t.Helper()
	numbers, texts := make([]float64, rows), make([]string, rows)
	for i := range rows {
		numbers[i], texts[i] = float64(i), fmt.Sprint("t", i%7)
	}
	return must.Get(frame.NewTable(frame.Column{Name: "number", Numbers: numbers},
		frame.Column{Name: "text", Kind: frame.Categorical, Texts: texts}))
}

// checkScan wants scans of s to give what whole holds, in order, chunk by chunk, whatever the columns and however
// often; and errors of f as they are.
func checkScan(t *testing.T, s frame.Scanner, whole *frame.Table) {
	t.Helper()
	if !slices.Equal(s.Names(), whole.Names()) {
		t.Fatalf("the columns are %q, want %q", s.Names(), whole.Names())
	}
	names := whole.Names()
	backward := slices.Clone(names)
	slices.Reverse(backward)
	for _, columns := range [][]string{nil, names[:1], backward} {
		want := columns
		if want == nil {
			want = names
		}
		row, chunks := 0, 0
		err := s.Scan(columns, func(chunk *frame.Table) error {
			if chunks++; !slices.Equal(chunk.Names(), want) {
				return fmt.Errorf("a chunk of %q, want %q", chunk.Names(), want)
			}
			own, origin := chunk.Source, s.Origin()
			own.Done, origin.Done = nil, nil // what a verb did is said of the whole
			if !reflect.DeepEqual(own, origin) {
				return fmt.Errorf("a chunk of %+v, want %+v", own, origin)
			}
			for _, name := range want {
				got, _ := chunk.Column(name)
				all, _ := whole.Column(name)
				for i := range chunk.Rows() {
					if got.Text(i) != all.Text(row+i) {
						return fmt.Errorf("%s of row %d is %q, want %q", name, row+i, got.Text(i), all.Text(row+i))
					}
				}
			}
			row += chunk.Rows()
			return nil
		})
		if err != nil || row != whole.Rows() || chunks == 0 {
			t.Fatalf("columns %q: %d of %d rows in %d chunks, %v", columns, row, whole.Rows(), chunks, err)
		}
	}
	stop := errors.New("enough")
	calls := 0
	if err := s.Scan(nil, func(*frame.Table) error { calls++; return stop }); err != stop || calls != 1 {
		t.Errorf("the error of the first chunk became %v after %d calls", err, calls)
	}
	for _, columns := range [][]string{{"no such"}, {names[0], names[0]}, {}} {
		var in *frame.InputError
		err := s.Scan(columns, func(*frame.Table) error { return stop })
		if !errors.As(err, &in) {
			t.Errorf("columns %q: %v", columns, err)
		}
	}
	got, err := frame.Collect(s, backward)
	if err != nil || got.Rows() != whole.Rows() || !slices.Equal(got.Names(), backward) {
		t.Errorf("collected %d rows, %v", got.Rows(), err)
	}
}

func TestScanOfATable(t *testing.T) {
	for _, rows := range []int{0, 1, 1 << 16, 1<<17 + 3} {
		tab := tall(t, rows)
		checkScan(t, tab, tab)
	}
	if _, err := tall(t, 1).Select("text", "nothing"); err == nil || !strings.Contains(err.Error(), "number, text") {
		t.Errorf("%v", err)
	}
}
