package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/noise"
)

func TestFiguresStay(t *testing.T) {
	mean := func(xs []float64, epsilon, delta float64, src *noise.Seeded) ([]float64, error) {
		sum := delta
		for _, x := range xs {
			sum += x / float64(len(xs))
		}
		return []float64{sum + src.NormFloat64()/epsilon}, nil
	}
	none := func([]float64, float64, float64, *noise.Seeded) ([]float64, error) { return nil, errors.New("none") }
	grid := Grid[[]float64]{Tasks: []Task[[]float64]{{"a", []float64{1, 2}, []float64{3}}, {"b", []float64{0},
		[]float64{1}}},
		Mechanisms: []Mechanism[[]float64]{{"mean", mean}, {"half", func(x []float64, e, d float64,
			s *noise.Seeded) ([]float64,
			error) {
			return mean(x, e/2, d, s)
		}}}, Epsilons: []float64{0.5, 2, 8}, Delta: 0.1, Trials: 3, Seed: 5, Score: func(test,
			theta []float64) (float64, error) {
			return math.Abs(test[0] - theta[0]), nil
		}}
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		told := 0
		grid.Progress = func(done, total int) { told += total }
		cells := must.Get(grid.Run(context.Background()))
		put("told", told, grid.Len())
		for _, c := range cells {
			low, high := c.Interval()
			put(c.Task+c.Mechanism, c, low, high, c.Sigmas(1), c.Quantile(0), c.Quantile(0.3), c.Quantile(1),
				c.Quantile(2))
		}
		for k := range grid.Len() {
			r := must.Get(grid.Trial(context.Background(), k))
			put(strings.Join(r.Texts, " "), r.Numbers)
		}
		for i, change := range []func(g *Grid[[]float64]){func(g *Grid[[]float64]) { g.Tasks = nil },
			func(g *Grid[[]float64]) { g.Mechanisms = nil }, func(g *Grid[[]float64]) { g.Epsilons = nil },
			func(g *Grid[[]float64]) { g.Score = nil }, func(g *Grid[[]float64]) { g.Trials = 1 },
			func(g *Grid[[]float64]) { g.Mechanisms = []Mechanism[[]float64]{{"none", none}} }} {
			g := grid
			change(&g)
			_, err := g.Run(context.Background())
			_, trial := g.Trial(context.Background(), 0)
			put(fmt.Sprint("refused ", i, " ", err, " ", trial), err)
		}
		for _, s := range []Summary{{}, {1, 0.5, 1}, {1, 0.5, 2}, {1, 0.5, 20}, {1, 0, 3}, {5, 0.01, 100},
			Summarize([]float64{1, 2,
				4}), Summarize(nil)} {
			low, high := s.Interval()
			put("summary", s, low, high, s.Sigmas(0.2), s.Sigmas(3), s.Sigmas(1))
		}
		put("AUC", AUC([]float64{1, 2, 2, 3, 0}, []float64{-1, 1, 0, 1, 1}), AUC([]float64{1, math.NaN()},
			[]float64{1, 0}),
			AUC([]float64{1, 2}, []float64{1, 1}), AUC(nil, nil), Cell{}.Quantile(0.5))
		all, err := Trials(context.Background(), 4, 2, noise.NewSeeded(3), func(_, k int, src *noise.Seeded) (float64,
			error) {
			return float64(k) + src.Float64(), nil
		})
		put("trials", all, err)

		dir := filepath.Join(t.TempDir(), "parts")
		p := must.Get(OpenParts(dir, "one", grid))
		_, other := OpenParts(dir, "another", grid)
		_, lacking := p.Rows()
		put("parts", p.Len(), p.Missing()[:2], p.Done(), other, lacking)
		for _, k := range []int{0, 1, p.Len() - 1} {
			lo, hi := p.bounds(k)
			put("bounds", lo, hi)
		}
		must.Do(p.Make(context.Background(), 1))
		put("made", p.Missing()[:2], p.Done(), len(p.read(1)))
		content := must.Get(os.ReadFile(p.path(1)))
		must.Do(os.WriteFile(p.path(2), content[:len(content)-4], 0o600))
		must.Do(os.WriteFile(p.path(3), []byte(strings.Replace(string(content), "mean", "moan", 1)), 0o600))
		put("damaged", p.Missing()[:3], p.Done())
		most := 0
		must.Do(p.Run(context.Background(), 1, func(done, total int) { most += done + total }))
		rows := must.Get(p.Rows())
		put("rows", most, len(p.Missing()), len(rows), rows[5].Numbers)
		must.Do(os.WriteFile(filepath.Join(dir, ".dpnb-part-sweep.json-1"), nil, 0o600))
		must.Do(os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600))
		put("removed", p.Remove(), len(must.Get(os.ReadDir(dir))))
		for _, row := range []Row{{Texts: []string{"a"}, Numbers: []float64{1.5, math.NaN(), math.Inf(-1)}}, {}} {
			b := must.Get(row.MarshalJSON())
			var back Row
			put(string(b), back.UnmarshalJSON(b), len(back.Texts), back.Numbers)
		}
		for _, text := range []string{"[]", "{", `{"numbers":["x"]}`} {
			put("wrong "+text, new(Row).UnmarshalJSON([]byte(text)))
		}
	})
}
