package stored

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// What files hold, to the bit, and what is computed of them, is as it was; another format has another magic.
func TestFiguresStay(t *testing.T) {
	dir := t.TempDir()
	store := func(name string, n, d int, single bool, step float64) string {
		path := filepath.Join(dir, name)
		w := must.Get(Create(path, [32]byte{byte(d), 2}, d, single))
		for lo := 0; lo < n; lo += 900 {
			rows := matrix.NewDense(min(900, n-lo), d, nil)
			labels := make([]float64, rows.N)
			for i := range rows.Data {
				rows.Data[i] = math.Mod(float64(lo*d+i)*step, 3) - 1.3
			}
			for i := range labels {
				labels[i] = float64((lo+i)%5) - 2
			}
			must.Do(w.Append(rows, labels))
		}
		must.Do(w.Close())
		return path
	}
	golden.Figures(t, "testdata/figures.txt", 1e-12, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		for _, d := range []int{0, 1, 7, 5000, 8191, 1 << 17} {
			put("blocks", blockRows(d, 4), blockRows(d, 8))
			for _, n := range []int{0, 1, 8000, 1 << 17} {
				h := header{size: 8, n: n, d: d, rows: blockRows(d, 8)}
				put("header", h.blocks(), h.labelBlocks(), h.rowBytes(), h.labelsAt(), h.tableAt(), h.tableBytes())
			}
		}
		put("aligned", aligned(0), aligned(1), aligned(labelsAlign), aligned(labelsAlign+1))
		var files []*Rows
		for i, c := range []struct {
			n, d   int
			single bool
		}{{2500, 30, true}, {2500, 30, false}, {1, 30, false}, {0, 30, true}, {labelBlock + 3, 1, true}} {
			path := store(fmt.Sprint(i, ".rows"), c.n, c.d, c.single, 0.37)
			say(fmt.Sprintf("file %d %x", i, sha256.Sum256(must.Get(os.ReadFile(path))[headerSize:])))
			info := must.Get(Look(path))
			r := must.Get(Open(path, info.Key))
			n, d := r.Dims()
			put("its header", info, n, d, r.MaxNorm(), len(r.Labels()))
			if c.d == 30 {
				files = append(files, r)
			}
			for _, span := range [][2]int{{0, n}, {n / 3, n - n/4}} {
				theta, w := make([]float64, d), make([]float64, span[1]-span[0])
				for j := range theta {
					theta[j] = 1 / float64(j+2)
				}
				margins, norms, sum := make([]float64, len(w)), make([]float64, len(w)), make([]float64, d)
				r.Margins(margins, theta, span[0], span[1])
				r.Norms(norms, span[0], span[1])
				for k := range w {
					w[k] = margins[k] * r.Labels()[span[0]+k]
				}
				r.AddScaled(sum, w, span[0], span[1])
				if len(w) > 0 {
					put("computed", margins[0], margins[len(w)-1], norms[len(w)/2], sum)
				}
			}
			if n > 0 {
				row := make([]float64, d)
				r.Row(row, n-1)
				put("last", row, r.sameLabels(0, n), r.sameLabels(n/2, n))
			}
			labels, free, err := r.NewLabels()
			if put("new labels", len(labels), err); n > 0 {
				labels[n-1] = 3
			}
			r.Done(0, n)
			free()
			_, other := Open(path, [32]byte{9})
			again := must.Get(Reopen(path, info.Key))
			put("of another", other, again.Close())
		}
		s := must.Get(Join(files...))
		n, d := s.Dims()
		row := make([]float64, d)
		s.Row(row, 2501)
		labels, free, err := s.NewLabels()
		put("joined", n, d, len(s.Files()), s.MaxNorm(), s.Labels()[2499:2502], row, len(labels), err)
		s.Done(0, n)
		free()
		for _, span := range [][2]int{{0, 10}, {2400, 2600}, {2500, 5000}, {4990, 5001}, {5000, 5001}} {
			rows, labels, plus := Within(files, span[0], span[1])
			within, _ := rows.Dims()
			rows.Row(row, span[0]+plus)
			put("within", within, len(labels), plus, row[:3], labels[span[0]+plus])
		}
		whole := must.Get(os.ReadFile(filepath.Join(dir, "1.rows")))
		for i, damage := range []func(b []byte) []byte{func(b []byte) []byte { return b[:len(b)-1] },
			func(b []byte) []byte {
				return append(b, 0)
			}, func(b []byte) []byte { b[0]++; return b }, func(b []byte) []byte { b[keyAt]++; return b },
			func(b []byte) []byte {
				b[fieldsAt]++
				return b
			}, func(b []byte) []byte { b[len(b)-1]++; return b }, func(b []byte) []byte { return nil },
			func(b []byte) []byte {
				b[headerSize-1]++
				return b
			}, func(b []byte) []byte { b[headerSize]++; return b }, func(b []byte) []byte { return b[:headerSize] }} {
			path := filepath.Join(dir, "damaged")
			must.Do(os.WriteFile(path, damage(append([]byte(nil), whole...)), 0o600))
			_, look := Look(path)
			_, err := Open(path, [32]byte{30, 2})
			put(fmt.Sprint("damaged ", i, strings.ReplaceAll(fmt.Sprint(" ", look, " ", err), dir, "DIR")), look, err)
		}
		_, none := Look(filepath.Join(dir, "none"))
		_, wide := Join(files[0], must.Get(Open(filepath.Join(dir, "4.rows"), [32]byte{1, 2})))
		_, nowhere := Create(filepath.Join(dir, "no", "where"), [32]byte{}, 2, false)
		put("refused", none, wide, nowhere)
		w := must.Get(Create(filepath.Join(dir, "left"), [32]byte{}, 2, false))
		w.Discard()
		put("left", len(must.Get(filepath.Glob(filepath.Join(dir, ".*")))), len(must.Get(os.ReadDir(dir))))
	})
}
