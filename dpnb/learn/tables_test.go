package learn

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// TestPopulationOfTables takes real tables for populations, of which records are drawn with replacement: how often
// 95 % intervals and bands, as they are shown, cover what a fit to all of the table without noise has.
//
//	DPNB_TABLES=FOLDER go test ./dpnb/learn -run TestPopulationOfTables -v
//
// The folder has tables.json as for dpnb study, and of each table NAME.csv and NAME.schema.json.
func TestPopulationOfTables(t *testing.T) {
	dir := os.Getenv("DPNB_TABLES")
	if dir == "" {
		t.Skip("without DPNB_TABLES")
	}
	content := must.Get(os.ReadFile(filepath.Join(dir, "tables.json")))
	var tables []struct{ Name, Label, Positive string }
	must.Do(json.Unmarshal(content, &tables))
	const reps, most = 6, 8000
	for _, table := range tables {
		path := filepath.Join(dir, table.Name)
		people := ReadCSV(path + ".csv").WithSchemaFile(path + ".schema.json")
		for _, lines := range []bool{false, true} {
			var how []Option
			if lines {
				how = append(how, Lines())
			}
			all := Regression(people, table.Label, how...)
			if table.Positive != "" {
				all = Binary(people, table.Label, append(how, Positive(table.Positive))...)
			}
			must.Do(all.Err())
			n := min(most, len(all.design.Labels))
			t.Logf("%s, lines %v, n = %d: %s", table.Name, lines, n, coveredBy(t, all, table.Positive != "", n, reps))
		}
	}
}

// TestPopulationCovers measures bands and intervals for the population, people drawn with replacement from an invented
// one: curves and lines, three truths, three sizes. The tables of docs/theory/curves.md are its full form, of 20 fits.
//
//	DPNB_FULL=1 go test ./dpnb/learn -run TestPopulationCovers -v -timeout 3h
func TestPopulationCovers(t *testing.T) {
	testscale.InTurn(t)
	reps, truths, sizes := 2, []string{"correlated"}, []int{5000}
	if testscale.Full() {
		reps, truths, sizes = 20, []string{"independent", "correlated", "skewed"}, []int{1000, 5000, 30_000}
	}
	for _, truth := range truths {
		people := invented(t, 20_000, truth)
		for _, n := range sizes {
			for _, classes := range []bool{true, false} {
				for _, how := range testscale.Some(nil, []Option{Lines()}) {
					all := Regression(people.Drop("label"), "income", how...)
					if classes {
						all = Binary(people.Drop("income"), "label", how...)
					}
					c := coveredBy(t, all, classes, n, reps)
					t.Logf("%s, classes %v, n = %d, lines %v: %s", truth, classes, n, how != nil, c)
					if n >= 5000 && (c.bands < 0.9 || c.intervals < 0.92) {
						t.Errorf("%s, classes %v, n = %d, lines %v: %s", truth, classes, n, how != nil, c)
					}
				}
			}
		}
	}
}

// sharing is a learner that spends a share of its budget on the curvature.
func sharing(share float64, classes bool, src noise.Source) Learner {
	if classes {
		return SVM{CurvatureShare: share, Noise: src}
	}
	return Huber{CurvatureShare: share, Noise: src}
}

// covered is how often 95 % intervals for effects and bands of all values at once, as they are shown, cover the
// population, their mean width and half-width, and how often the bands of a column did not.
type covered struct {
	intervals, bands, width, half float64
	missed                        map[string]int
}

func (c covered) String() string {
	return fmt.Sprintf("bands %.1f %% (%.3g), intervals %.1f %% (%.3g); missed %v", 100*c.bands, c.half,
		100*c.intervals, c.width, c.missed)
}

// coveredBy fits n of all records, drawn with replacement, at ε = 1, again and again; what all of them have without
// noise and ridges is the truth.
func coveredBy(t *testing.T, all *Dataset, classes bool, n, reps int) covered {
	t.Helper()
	c := covered{missed: map[string]int{}}
	var effects, curves float64
	for rep := range reps {
		src := noise.NewSeeded(uint64(1000 + rep))
		m := must.Get(sharing(0.05, classes, src).Fit(drawnPeople(all, n, src), Simulate(1, 1e-6)))
		b := m.bought()
		truth := without(t, m, b, all.design, false)
		iv := must.Get(m.PopulationIntervals(0.95))
		forms, shift := formsOf(m.encoding, m.effects(), b, 1)
		for j, f := range forms {
			effects, c.width = effects+1, c.width+iv.Upper[j]-iv.Lower[j]
			if v := floats.Dot(f, truth) + shift[j]; iv.Lower[j] <= v && v <= iv.Upper[j] {
				c.intervals++
			}
		}
		for _, s := range must.Get(m.Shapes()).all {
			curves++
			if inBand(s, truth, 1, true) {
				c.bands++
			} else {
				c.missed[s.Column()]++
			}
			var halves []float64
			for _, p := range s.places {
				if band := p.populationAtOnce; band != nil {
					halves = append(halves, (band.Upper-band.Lower)/2)
				}
			}
			c.half += stat.Mean(halves, nil)
		}
	}
	c.intervals, c.width, c.bands, c.half = c.intervals/effects, c.width/effects, c.bands/curves, c.half/curves
	return c
}
