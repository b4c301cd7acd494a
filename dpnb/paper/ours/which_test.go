package ours

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"
)

// whichSeed of the table.
const whichSeed = 707

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
