package sweeps_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/paper/cop"
	"github.com/dpnb/notebooks/dpnb/paper/sweeps"
	"github.com/dpnb/notebooks/dpnb/sim"
)

func rows(t *testing.T, r sweeps.Request) (sim.Sweep, []sim.Row) {
	t.Helper()
	s, err := sweeps.New(r)
	if err != nil {
		t.Fatal(err)
	}
	p, err := sim.OpenParts(t.TempDir(), r.String(), s)
	if err == nil {
		err = p.Run(context.Background(), 0, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.Rows()
	if err != nil {
		t.Fatal(err)
	}
	return s, all
}

// TestAnExperimentAsASweep: run by run the scores are those that the experiment has, to the last bit.
func TestAnExperimentAsASweep(t *testing.T) {
	e := cop.Reproduce(5, false, cop.Moreau())
	e.Runs, e.Counts, e.Epsilons = 3, []int{50, 60}, []float64{1, 5}
	points, err := e.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	s := e.Sweep()
	for k := range s.Len() {
		r, err := s.Trial(context.Background(), k)
		if err != nil {
			t.Fatal(err)
		}
		for c := range 2 {
			p := points[k/3*2+c]
			if got := r.Numbers[3+2*c:]; got[0] != p.Empirical.Scores[k%3] || got[1] != p.Relative.Scores[k%3] ||
				r.Numbers[1] != float64(p.N) {
				t.Errorf("trial %d, ε = %g: %v, want %v, %v", k, p.Epsilon, got[:2], p.Empirical.Scores,
					p.Relative.Scores)
			}
		}
	}
}

// TestRowsAsParquet: the file has the numbers to the last bit.
func TestRowsAsParquet(t *testing.T) {
	s, all := rows(t, sweeps.Request{Name: "noise", Trials: 7})
	table, err := sweeps.Table(s, all)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "noise.parquet")
	if err := parquet.Write(path, table); err != nil {
		t.Fatal(err)
	}
	back, err := parquet.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := frame.Collect(back, nil)
	if err != nil {
		t.Fatal(err)
	}
	score, err := whole.Column("score")
	if err != nil || len(score.Numbers) != 14 {
		t.Fatal(err, score)
	}
	for i, r := range all {
		if score.Numbers[i] != r.Numbers[2] {
			t.Errorf("row %d: %v, want %v", i, score.Numbers[i], r.Numbers[2])
		}
	}
}

func TestClaimsAsASweep(t *testing.T) {
	_, all := rows(t, sweeps.Request{Name: "claims", Only: "cop/fig1"})
	if len(all) != 1 || all[0].Texts[0] != "cop/fig1" || all[0].Texts[1] != "holds" {
		t.Error(all)
	}
}

func TestRequestsThatAreNone(t *testing.T) {
	for _, r := range []sweeps.Request{{}, {Name: "fig"}, {Name: "noise", Trials: 1}, {Name: "noise", Trials: -1},
		{Name: "noise", Only: "x"}, {Name: "claims", Trials: 5}, {Name: "claims", Seed: 5},
		{Name: "claims", Only: "x"}} {
		if _, err := sweeps.New(r); err == nil {
			t.Errorf("%v is taken", r)
		}
	}
	for _, name := range sweeps.Names() {
		if _, err := sweeps.New(sweeps.Request{Name: name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
