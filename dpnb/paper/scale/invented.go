// Package scale has what is measured of fits of many records: in memory, from a file within a limit on memory, on
// workers, and a model of more of these than are at hand.
package scale

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
)

// Invented is a table of Rows × 20 columns that is invented while it is scanned: 19 numbers of 256 values each in [0,
// 1], x0 to x18, and the label ill, which depends on the first four. A Parquet file of it takes about a byte a number,
// and no number of rows takes more memory than one chunk.
type Invented struct{ Rows int }

// Names implements frame.Scanner.
func (Invented) Names() []string {
	var names []string
	for j := range 19 {
		names = append(names, fmt.Sprint("x", j))
	}
	return append(names, "ill")
}

// Origin implements frame.Scanner.
func (Invented) Origin() frame.Source { return frame.Source{Name: "invented", Invented: true} }

// Scan implements frame.Scanner. The rows are the same each time, whatever their number.
func (t Invented) Scan(_ []string, f func(*frame.Table) error) error {
	const chunk = 1 << 18
	columns := make([]frame.Column, 20)
	for j, name := range t.Names() {
		columns[j] = frame.Column{Name: name, Numbers: make([]float64, chunk)}
	}
	columns[19] = frame.Column{Name: "ill", Kind: frame.Categorical, Texts: make([]string, chunk)}
	state := uint64(1) // of a Weyl sequence with a finaliser: fast, and good enough to invent from
	next := func() uint64 {
		state += 0x9e3779b97f4a7c15
		z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	for lo := 0; lo < t.Rows; lo += chunk {
		n := min(chunk, t.Rows-lo)
		for i := range n {
			var score float64
			for j, bits := 0, uint64(0); j < 19; j, bits = j+1, bits>>8 {
				if j%8 == 0 {
					bits = next()
				}
				v := float64(bits&255) / 255
				if columns[j].Numbers[i] = v; j < 4 {
					score += 4 * (v - 0.5)
				}
			}
			columns[19].Texts[i] = "no"
			if float64(next()>>11)*0x1p-53 < 1/(1+math.Exp(-score)) {
				columns[19].Texts[i] = "yes"
			}
		}
		for j := range columns {
			columns[j].Numbers = columns[j].Numbers[:min(n, len(columns[j].Numbers))]
			columns[j].Texts = columns[j].Texts[:min(n, len(columns[j].Texts))]
		}
		table, err := frame.NewTable(columns...)
		if err == nil {
			err = f(table)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Schema says what is publicly known of the columns.
func Schema() *frame.Schema {
	s := &frame.Schema{}
	for _, name := range (Invented{}).Names()[:19] {
		s.Fields = append(s.Fields, frame.NumericField(name, 0, 1))
	}
	s.Fields = append(s.Fields, frame.CategoricalField("ill", "no", "yes"))
	return s
}

// Dir returns a folder for large files that can be made again: in that of the system for such.
//
// Errors: no such folder can be made.
func Dir() (string, error) {
	dir := filepath.Join(os.TempDir(), "dpnb-scale")
	return dir, os.MkdirAll(dir, 0o700)
}

// File returns the name of a Parquet file in Dir with so many invented rows, which is written unless it is there.
//
// Errors: the file cannot be written.
func File(rows int) (string, error) {
	dir, err := Dir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, fmt.Sprintf("%d.parquet", rows))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	return path, parquet.Write(path, Invented{rows})
}
