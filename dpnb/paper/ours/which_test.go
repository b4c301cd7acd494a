package ours

import (
	"context"
	"math"
	"os"
	"slices"
	"testing"
	"time"
)

// whichSeed of the table.
const whichSeed = 707

// The figures of the table: what the notebook and the theory page say of them, and one population made anew.
func TestWhichTable(t *testing.T) {
	rows, err := WhichTable()
	if err != nil {
		t.Fatal(err)
	}
	better, worse, best := map[string]int{}, map[string]int{}, map[string]int{}
	for _, r := range rows {
		if r.Refused == "" && r.Score.N < 20 {
			t.Errorf("%+v: too few draws", r)
		}
		if r.Winner() {
			better[r.Mechanism]++
		}
		if r.Refused == "" && r.Over.Mean < -2*r.Over.StdErr {
			worse[r.Mechanism]++
		}
		if Cells(rows).lost(r) == 0 && r.Refused == "" {
			best[r.Mechanism+", "+r.Population]++
		}
	}
	if better["SVM"] < 11 || worse["SVM"] > 0 || better["Huber"] < 20 || worse["Huber"] > 1 {
		t.Errorf("SVM is better %d and worse %d times, Huber %d and %d", better["SVM"], worse["SVM"], better["Huber"],
			worse["Huber"])
	}
	for _, p := range Populations() {
		for _, name := range []string{"AdaSSP", "boosted AdaSSP", "TukeyEM", "functional mechanism", "Quadratic",
			"DP-SGD, tuned", "output perturbation"} {
			if n := best[name+", "+p.Name]; n == len(p.Epsilons()) {
				t.Errorf("%s is the best on %s, at every ε", name, p.Name)
			}
		}
	}
	p, err := PopulationCalled("small")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range Tasks[1:2] {
		again, err := p.Which(context.Background(), task, p.Epsilons(), 20, whichSeed)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range again {
			i := slices.IndexFunc(rows, func(s WhichRow) bool {
				return s.Population == r.Population && s.Task == r.Task && s.Epsilon == r.Epsilon &&
					s.Mechanism == r.Mechanism
			})
			if i < 0 || math.Abs(rows[i].Score.Mean-r.Score.Mean) > 1e-4 || rows[i].Score.N != r.Score.N {
				t.Errorf("%s, %s, ε = %g, %s: %.5f, not what the table has", r.Population, r.Task, r.Epsilon,
					r.Mechanism, r.Score.Mean)
			}
		}
	}
}

// TestMakeWhich makes which.tsv anew, and goes on with an unfinished one:
// DPNB_TABLE=which.tsv go test -run TestMakeWhich -timeout 0 ./dpnb/paper/ours
func TestMakeWhich(t *testing.T) {
	name := os.Getenv("DPNB_TABLE")
	if name == "" {
		t.Skip("DPNB_TABLE names the file to make")
	}
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		text, err = []byte(whichHeader), os.WriteFile(name, []byte(whichHeader), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	done, err := readWhich(string(text))
	if err != nil {
		t.Fatal(err)
	}
	all := Populations()
	for _, part := range [][]Population{all[1:], all[:1]} { // the census, which takes longest, last
		for _, task := range Tasks {
			for _, p := range part {
				if slices.ContainsFunc(done, func(r WhichRow) bool {
					return r.Population == p.Name && r.Task == task
				}) {
					continue
				}
				start := time.Now()
				rows, err := p.Which(context.Background(), task, p.Epsilons(), 20, whichSeed)
				if err != nil {
					t.Fatal(p.Name, task, err)
				}
				f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0o644)
				if err != nil {
					t.Fatal(err)
				}
				if err := WriteWhich(f, rows); err != nil {
					t.Fatal(err)
				}
				f.Close()
				t.Logf("%s, %s: %v", p.Name, task, time.Since(start))
			}
		}
	}
}
