package report

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/report/jupyter"
	"github.com/dpnb/notebooks/dpnb/report/toolchain"
)

func TestProvenance(t *testing.T) {
	root := must.Get(project.Root("."))
	s := &Setup{
		Tree: project.Tree{Dir: root}, Kernel: &toolchain.Kernel{Version: "v9.9", GoVersion: "go1.99"},
		Jupyter: &jupyter.Jupyter{Versions: map[string]string{"nbclient": "1", "nbconvert": "2"}},
	}
	run := &execution{seconds: 12.34, log: &runlog.Log{
		Notes: []runlog.Note{{Text: "the shipped sample"}},
		Data: []runlog.Data{{Name: "a|b", Path: "a.csv", SHA256: "12ab", Rows: 3, Public: true},
			{Name: "secret", Path: "s.csv", SHA256: "5ec4e7", Rows: 7654321}},
		Ledgers: []runlog.Ledger{
			{Name: "main", Adjacency: "add/remove-one", Epsilon: 1, Delta: 1e-5},
			{Name: "second", Entries: []runlog.Entry{{Label: "<fit>", Mechanism: "output_perturbation", Epsilon: 0.5}}},
		},
	}}
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	text := must.Get(provenance(context.Background(), s, map[string]string{"epsilon": "0.5", "a": "1"}, run, started))
	mustContain(t, "the provenance", text,
		"| Version | "+project.Release+"-devel, commit ", "| Kernel | gonb v9.9 |", "| Go | go1.99 on ",
		"github.com/spf13/cobra v",
		"| Jupyter | nbclient 1, nbconvert 2 |",
		"| Parameters | a = 1 |\n|  | epsilon = 0.5 |",
		"| Seeds, of no release | none: nothing was drawn from a seed |",
		`| Data | a\|b: a.csv, 3 rows, sha256 12ab |`, "secret: private",
		"| Note | the shipped sample |", "| Run | 2026-01-02 03:04 UTC, took 12.3 s |",
		"### Privacy ledger: main", "Neighbouring data sets: add/remove-one. Allowed: ε = 1, δ = 1e−5",
		"Nothing was spent.",
		`| 1 | &lt;fit> | output\_perturbation | 0.5 | 0 |  |`)
	if strings.Contains(text, "simulation") || strings.Contains(text, "No privacy budget") ||
		strings.Contains(text, "indirect") || strings.Contains(text, "5ec4e7") || strings.Contains(text, "7654321") {
		t.Errorf("says too much:\n%s", text)
	}
	mustContain(t, "the provenance", text, "draws new noise, and spends as much again")
	run.log = &runlog.Log{}
	s.Tree.Version = "v1.2.3"
	run.failure = &Failure{Cell: 2, Message: "panic"}
	text = must.Get(provenance(context.Background(), s, nil, run, started))
	mustContain(t, "the provenance", text, "| Version | github.com/dpnb/notebooks v1.2.3 |",
		"as in the notebook", "No privacy budget was used.",
		"| Verdict | failed: cell 2<br>panic |")
}

// The text about a ledger says what is true of its entries.
func TestLedgerTextSaysWhatARerunDraws(t *testing.T) {
	secure, seeded := runlog.Entry{Label: "a"}, runlog.Entry{Label: "b", Simulated: true}
	for _, c := range []struct {
		entries   []runlog.Entry
		kept      bool
		has, lack []string
	}{
		{[]runlog.Entry{secure}, false, []string{"draws new noise"}, []string{"same noise", "protects nobody"}},
		{[]runlog.Entry{seeded, seeded}, false, []string{"the same noise from the same seeds", "protects nobody",
			"| 2 | b |  | 0 | 0 | simulation |"}, []string{"new noise"}},
		{[]runlog.Entry{seeded, secure}, false,
			[]string{"the same noise for the simulations, and new noise", "protects nobody"}, nil},
		{[]runlog.Entry{secure}, true, nil, []string{"Running the notebook again"}},
	} {
		text := ledgerText(runlog.Ledger{Name: "main", Entries: c.entries, Kept: c.kept})
		mustContain(t, "the ledger", text, c.has...)
		for _, part := range c.lack {
			if strings.Contains(text, part) {
				t.Errorf("the ledger of %+v says %q:\n%s", c.entries, part, text)
			}
		}
	}
}

// What a report says was spent is never less than what was, and next to it: digits that are cut count up.
func TestReportsRoundUp(t *testing.T) {
	text := ledgerText(runlog.Ledger{Name: "main", Adjacency: "add/remove-one", Epsilon: 1, Delta: 1e-5,
		EpsilonSpent: 0.7123401, DeltaSpent: 0.00000123411, Entries: []runlog.Entry{
			{Label: "a", Mechanism: "m", Epsilon: 0.4567801, Delta: 0.0000009876501}}})
	mustContain(t, "the ledger", text, "Spent: ε = 0.7124, δ = 1.235e−6.", "| 1 | a | m | 0.4568 | 9.877e−7 |")
}

func TestSeedText(t *testing.T) {
	log := &runlog.Log{Seeds: []runlog.Seed{{Seed: 6}, {Name: "noise", Seed: 7}}}
	if got := strings.Join(seedText(log), "|"); got != "noise: 7|others: 6" {
		t.Errorf("%q", got)
	}
	if got := strings.Join(seedText(&runlog.Log{Seeds: []runlog.Seed{{Seed: 6}, {Seed: 7}}}), "|"); got != "6, 7" {
		t.Errorf("of seeds without names: %q", got)
	}
	for k := range 100 {
		log.Seeds = append(log.Seeds, runlog.Seed{Seed: uint64(1000 + k)})
	}
	if got := strings.Join(seedText(log), "|"); got != "noise: 7|others: 6, 1000, 1001, 1002, 1003, 1004, and 95 more" {
		t.Errorf("%q", got)
	}
}
