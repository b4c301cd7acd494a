package dataset

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func TestFiguresStay(t *testing.T) {
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		put("synthetic", SyntheticL(3), SyntheticH(4))
		of := Clusters{Records: 40, Features: 6, Informative: 3, Redundant: 2, Separation: 1.5, Flip: 0.2, Seed: 5}
		for i, change := range []func(c *Clusters){func(*Clusters) {}, func(c *Clusters) { c.PerClass, c.Flip = 1, 0 },
			func(c *Clusters) { c.PerClass, c.Flip = 4, 1 }, func(c *Clusters) { c.PerClass = 5 },
			func(c *Clusters) { c.Records = 0 }, func(c *Clusters) { c.Informative = 0 },
			func(c *Clusters) { c.Redundant = 4 },
			func(c *Clusters) { c.Redundant = 3 }, func(c *Clusters) { c.Redundant = -1 },
			func(c *Clusters) { c.Separation = 0 },
			func(c *Clusters) { c.Flip = 1.1 }, func(c *Clusters) { c.Flip = -0.1 },
			func(c *Clusters) { c.PerClass = -1 },
			func(c *Clusters) { c.Separation = math.Inf(1) }} {
			c := of
			change(&c)
			s, err := c.Generate()
			if put(fmt.Sprint("clusters ", i, " ", err), err); err != nil {
				continue
			}
			put("drawn", s.Rows.Data[:12], s.Rows.Data[len(s.Rows.Data)-1], s.Labels)
			first, rest := s.Split(0.3)
			put("split", len(first.Labels), len(rest.Labels), first.Rows.N, rest.Rows.Data[0])
			for _, norm := range []float64{1, 0, -1} {
				d, err := s.Design(norm)
				if put("design", err); err == nil {
					n, width := d.Rows.Dims()
					row := make([]float64, width)
					d.Rows.Row(row, 3)
					put(strings.Join(d.Features, " ")+fmt.Sprintf("%+v", d.Steps), n, row, d.RowNorm)
				}
			}
		}
		table := func(name string, t *frame.Table) {
			for _, column := range t.Names() {
				c := must.Get(t.Column(column))
				var texts []string
				var sum float64
				for i := range t.Rows() {
					texts = append(texts, c.Text(i))
					if v := c.Number(i); !math.IsNaN(v) {
						sum += v * float64(i+1)
					}
				}
				put(name+column+" "+strings.Join(texts, ";"), sum)
			}
			put(name, t.Rows(), t.Source.Public, len(t.Source.Note))
		}
		train, test, err := AdultLikeHead(30, 12)
		put("adult-like", err)
		table("train ", train)
		table("test ", test)
		table("patients ", must.Get(Patients(25, 7)))
		_, none := Patients(0, 1)
		_, _, few := AdultLikeHead(-1, 1)
		put(fmt.Sprint("refused ", none, " ", few), none, few)
		for _, s := range []*frame.Schema{AdultSchema(), PatientsSchema()} {
			put(strings.ReplaceAll(string(must.Get(s.Text())), "\n", ""))
		}
		put(fmt.Sprintf("CSV %+v", *AdultCSV()))
		dir := t.TempDir()
		t.Setenv("DPNB_DATA", dir)
		_, err = Find("adult.data")
		where, dirErr := Dir()
		where = filepath.Base(where)
		put(strings.ReplaceAll(fmt.Sprint("missing ", err, where, dirErr), dir, "DIR"), err)
		path := filepath.Join(dir, "adult.data")
		must.Do(os.WriteFile(path, []byte("x"), 0o600))
		_, _, adult := Adult()
		sum := must.Get(Checksum(path))
		_, nowhere := Checksum(filepath.Join(dir, "none"))
		put(strings.ReplaceAll(fmt.Sprint("wrong ", File{Name: "adult.data", SHA256: "0"}.Verify(path),
			File{Name: "adult.data",
				SHA256: sum}.Verify(path), sum, nowhere, adult), dir, "DIR"))
	})
}
