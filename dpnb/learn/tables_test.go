package learn

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/floats"

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
	content, err := os.ReadFile(filepath.Join(dir, "tables.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tables []struct{ Name, Label, Positive string }
	if err := json.Unmarshal(content, &tables); err != nil {
		t.Fatal(err)
	}
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
			if all.Err() != nil {
				t.Fatal(all.Err())
			}
			n := min(most, len(all.design.Labels))
			var in, of, width, bands, curves float64
			missed := map[string]int{}
			for rep := range reps {
				src := noise.NewSeeded(uint64(1000 + rep))
				var l Learner = Huber{CurvatureShare: 0.05, Noise: src}
				if table.Positive != "" {
					l = SVM{CurvatureShare: 0.05, Noise: src}
				}
				m, err := l.Fit(drawnPeople(all, n, src), Simulate(1, 1e-6))
				if err != nil {
					t.Fatal(err)
				}
				b := m.bought()
				truth := without(t, m, b, all.design, false)
				iv, err := m.PopulationIntervals(0.95)
				if err != nil {
					t.Fatal(err)
				}
				forms, shift := formsOf(m.encoding, m.effects(), b, 1)
				for j, f := range forms {
					of, width = of+1, width+iv.Upper[j]-iv.Lower[j]
					if v := floats.Dot(f, truth) + shift[j]; iv.Lower[j] <= v && v <= iv.Upper[j] {
						in++
					}
				}
				shapes, err := m.Shapes()
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range shapes.all {
					curves++
					if covered, _ := inBand(s, truth, 1, true, nil); covered {
						bands++
					} else {
						missed[s.Column()]++
					}
				}
			}
			t.Logf("%s, lines %v, n = %d: intervals %.1f %%, width %.3g; bands %.1f %%; missed %v", table.Name, lines,
				n, 100*in/of, width/of, 100*bands/curves, missed)
		}
	}
}
