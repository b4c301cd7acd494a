package sweeps_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/paper/cop"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/paper/sweeps"
	"github.com/dpnb/notebooks/dpnb/sim"
)

func rows(t *testing.T, r sweeps.Request) (sim.Sweep, []sim.Row) {
	defer measure.Fatal(t)
	t.Helper()
	s := measure.Must(sweeps.New(r))
	p, err := sim.OpenParts(t.TempDir(), r.String(), s)
	if err == nil {
		err = p.Run(context.Background(), 0, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	all := measure.Must(p.Rows())
	return s, all
}

// TestAnExperimentAsASweep: run by run the scores are those that the experiment has, to the last bit.
func TestAnExperimentAsASweep(t *testing.T) {
	defer measure.Fatal(t)
	e := cop.Reproduce(5, false, cop.Moreau())
	e.Runs, e.Counts, e.Epsilons = 3, []int{50, 60}, []float64{1, 5}
	points := measure.Must(e.Run(context.Background()))
	for k := range e.Len() {
		r := measure.Must(e.Trial(context.Background(), k))
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
	defer measure.Fatal(t)
	s, all := rows(t, sweeps.Request{Name: "noise", Trials: 7})
	table := measure.Must(sweeps.Table(s, all))
	path := filepath.Join(t.TempDir(), "noise.parquet")
	measure.Try(parquet.Write(path, table))
	back := measure.Must(parquet.Open(path, nil))
	whole := measure.Must(frame.Collect(back, nil))
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
