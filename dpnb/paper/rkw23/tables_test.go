package rkw23

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// What tables.tsv records is what runs: the first trials at ε = 0.1 on a population, and, where the data are,
// on Adult. All is drawn from seeds; rounding on another machine may turn a test record or two.
func TestTablesAreWhatRuns(t *testing.T) {
	defer measure.Fatal(t)
	testscale.SkipUnlessFull(t)
	record := measure.Must(recordedTables())
	for seed, set := range []string{adultSet, clusterSet} {
		g, err := tableGrid(uint64(seed))
		if errors.Is(err, errNoAdult) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		g.Epsilons, g.Trials = g.Epsilons[:1], 2
		cells := measure.Must(g.Run(t.Context()))
		for _, c := range cells {
			i := slices.IndexFunc(record, func(r tableCell) bool {
				return r.Set == set && r.Seed == uint64(seed) && r.Method == c.Mechanism && r.Epsilon == c.Epsilon
			})
			for k, v := range c.Scores {
				if got := record[i].Scores[k]; !(math.Abs(got-v) <= 2e-3) {
					t.Errorf("%s, %s, trial %d: %.4f, recorded %.4f", set, c.Mechanism, k, v, got)
				}
			}
		}
	}
}

// TestMakeTables makes tables.tsv anew, where the Adult data are, within hours: DPNB_TABLE=tables.tsv go test -run
// TestMakeTables -timeout 0 ./dpnb/paper/rkw23
func TestMakeTables(t *testing.T) {
	defer measure.Fatal(t)
	name := os.Getenv("DPNB_TABLE")
	if name == "" {
		t.Skip("DPNB_TABLE names the file to make")
	}
	f := measure.Must(os.Create(name))
	defer f.Close()
	for _, set := range []string{adultSet, clusterSet} {
		for _, method := range []string{asPrinted, dishonest, honest} {
			cells := measure.Must(measureTable(context.Background(), set, method))
			for _, c := range cells {
				fmt.Fprintf(f, "%s\t%d\t%s\t%g", c.Set, c.Seed, c.Method, c.Epsilon)
				for _, s := range c.Scores {
					fmt.Fprintf(f, "\t%.5f", s)
				}
				fmt.Fprintln(f)
			}
		}
	}
}

// A column that is printed otherwise by three points is not what was found.
func TestTableColumnsAreHeld(t *testing.T) {
	for _, p := range []Published{{clusterSet, asPrinted, 1, 0}, {clusterSet, dishonest, 0.1, 0},
		{adultSet, asPrinted, 0.1, 0}, {adultSet, honest, 8, 0}} {
		for _, more := range []float64{-0.05, 0, 0.05} {
			o, err := measure.Of(tableColumn, tableOf{p.Set, p.Mechanism, func(q Published) float64 {
				if q.Epsilon == p.Epsilon {
					return recordedInstead(q) + more
				}
				return recordedInstead(q)
			}})(t.Context(), claim.Quick)
			if err != nil || (o.Verdict == claim.Holds) != (more == 0) {
				t.Errorf("%+v, %+g: %s (%v)", p, more, o.Measured, err)
			}
		}
	}
}
