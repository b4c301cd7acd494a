package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	shown "github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/internal/numeral"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// study is what is compared with what.
type study struct {
	epsilons      []float64
	delta         float64
	splits, seeds int
	only          []string
	learners      []string
	workers       int
}

// scored is how a contender does on a table at an ε.
type scored struct {
	Table   string  `json:"table"`
	Task    string  `json:"task"`
	Records int     `json:"records"`
	Learner string  `json:"learner"`
	Rival   bool    `json:"rival"` // private, and chosen without the test records
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	// Scores of the splits, times 100, each a mean over the seeds; nil where Error says why.
	Scores  []float64 `json:"scores"`
	Setting string    `json:"setting,omitempty"`
	// All are the mean scores of the settings among which that one was chosen.
	All   []float64 `json:"all,omitempty"`
	Error string    `json:"error,omitempty"`
}

func newStudyCommand() *cobra.Command {
	var s study
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "study FOLDER…",
		Short: "Compare learners and rivals on folders of public tables",
		Long: `Fit what Suited chooses, and its rivals, to every public table of some folders,
and print how well each predicts records that it has not seen, with the standard
error of its difference to Suited, and the mean over the tables. Splits and noise
are reproducible, so that nobody is protected: it is for public data. Results do
not depend on the number of workers.

A folder has tables.json, a list of {"name", "task": "two classes" or
"a number", "label", "positive"}, and for each NAME.csv or NAME.csv.gz and
NAME.schema.json; or adult.data and adult.test. Record i is a test record of split
s if FNV-1a of the text "s:i", of 32 bits, is 0 modulo 5. Scores are the AUC of two
classes and the R² of numbers, on the logarithmic scale of a number that the schema
has on one, times 100.`,
		Example: "  dpnb study ~/tables ~/adult --epsilon 0.1,1",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if s.splits < 1 || s.seeds < 1 {
				return fmt.Errorf("%d splits and %d seeds, want 1 or more of each", s.splits, s.seeds)
			}
			return s.run(cmd.Context(), cmd.OutOrStdout(), args, asJSON)
		},
	}
	cmd.Flags().Float64SliceVar(&s.epsilons, "epsilon", []float64{0.1, 0.5, 1, 4}, "values of ε")
	cmd.Flags().Float64Var(&s.delta, "delta", 1e-6, "δ")
	cmd.Flags().IntVar(&s.splits, "splits", 5, "how many splits into records to learn from and to score on")
	cmd.Flags().IntVar(&s.seeds, "seeds", 1, "how many fits to each split, with noise of their own")
	cmd.Flags().StringSliceVar(&s.only, "only", nil, "tables by name, with * and ?")
	cmd.Flags().StringSliceVar(&s.learners, "learners", nil, "learners and rivals by name, with * and ?, beside Suited")
	cmd.Flags().IntVar(&s.workers, "workers", 0, "how many fits at a time; 0 is one for each processor")
	cmd.Flags().BoolVar(&asJSON, "json", false, "all scores as JSON")
	return cmd
}

func (s study) run(ctx context.Context, out io.Writer, dirs []string, asJSON bool) error {
	all := []scored{}
	for _, dir := range dirs {
		tables, err := studiedIn(dir)
		if err != nil {
			return err
		}
		for i := range tables {
			t := &tables[i]
			if !matches(s.only, t.Name) {
				continue
			}
			of, err := s.of(ctx, t)
			if err != nil {
				return fmt.Errorf("%s: %w", t.Name, err)
			}
			all = append(all, of...)
			if !asJSON {
				if _, err := fmt.Fprintln(out, s.table(of).Text()); err != nil {
					return err
				}
			}
		}
	}
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", " ")
		return encoder.Encode(all)
	}
	for _, task := range []string{twoClasses, aNumber} {
		if it, ok := s.means(task, all); ok {
			if _, err := fmt.Fprintln(out, it.Text()); err != nil {
				return err
			}
		}
	}
	return nil
}

// matches reports whether one of the patterns, if there are any, is of the name.
func matches(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// of fits every contender to every split at every ε: by contender and, within it, by ε.
func (s study) of(ctx context.Context, t *studied) ([]scored, error) {
	var all []contender
	for i, c := range contenders(t.Task) {
		if i == 0 || matches(s.learners, c.name) {
			all = append(all, c)
		}
	}
	splits := make([]split, s.splits)
	err := parallel.For(ctx, s.splits, s.workers, func(_, i int) (err error) {
		splits[i], err = t.split(i)
		return err
	})
	if err != nil {
		return nil, err
	}
	// A task is a setting of a contender, at an ε, on a split.
	type task struct{ contender, setting, epsilon, split int }
	var tasks []task
	for c, one := range all {
		for e := range s.epsilons {
			for k := range one.settings {
				for i := range splits {
					if e == 0 || !one.without {
						tasks = append(tasks, task{c, k, e, i})
					}
				}
			}
		}
	}
	scores, failed := make([]float64, len(tasks)), make([]error, len(tasks))
	if err := parallel.For(ctx, len(tasks), s.workers, func(_, j int) error {
		at := tasks[j]
		scores[j], failed[j] = s.score(all[at.contender].settings[at.setting], splits[at.split],
			s.epsilons[at.epsilon], at.split)
		return nil
	}); err != nil {
		return nil, err
	}
	var out []scored
	next := 0
	for _, c := range all {
		for e, eps := range s.epsilons {
			r := scored{Table: t.Name, Task: t.Task, Records: len(t.lines), Learner: c.name, Rival: !c.open,
				Epsilon: eps, Delta: s.delta}
			if c.without && e > 0 {
				r.Scores = out[len(out)-1].Scores
				out = append(out, r)
				continue
			}
			best := math.Inf(-1)
			for _, setting := range c.settings {
				mine, errs := scores[next:next+len(splits)], failed[next:next+len(splits)]
				next += len(splits)
				if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
					if r.Error = errs[i].Error(); c.name == all[0].name {
						return nil, errs[i]
					}
					continue
				}
				mean := stat.Mean(mine, nil)
				if len(c.settings) > 1 {
					r.All = append(r.All, mean)
				}
				if mean > best {
					best, r.Scores, r.Setting = mean, mine, setting.name
				}
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// score is the mean over the seeds of a split.
func (s study) score(one setting, of split, eps float64, at int) (float64, error) {
	var sum float64
	for seed := range s.seeds {
		m, err := one.fit(of, learn.Simulate(eps, s.delta), learn.Seed(uint64(at*s.seeds+seed+1)))
		if err != nil {
			return 0, err
		}
		v, err := of.score(m)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return 100 * sum / float64(s.seeds), nil
}

// measured is how the scores of a task are called.
func measured(task string) string {
	if task == aNumber {
		return "R²"
	}
	return "AUC"
}

const inBrackets = "In brackets: the difference to the first row, with the standard error of the paired difference."

func (s study) table(of []scored) shown.Item {
	it := s.item(fmt.Sprintf("%s: %s × 100, %s, mean of %s", of[0].Table, measured(of[0].Task),
		numeral.Count(of[0].Records, "record"), numeral.Count(s.splits, "split")))
	k := len(s.epsilons)
	for c := 0; c < len(of); c += k {
		row := []string{name(of[c])}
		for e, r := range of[c : c+k] {
			mean, _ := difference(r.Scores, nil)
			less, err := difference(r.Scores, of[e].Scores)
			row = append(row, s.cell(c == 0, r.Scores == nil, mean, less, err))
		}
		it.Row(row...)
		if of[c].Scores == nil {
			it.Note("%s: %s.", of[c].Learner, of[c].Error)
		}
	}
	it.Note(inBrackets)
	return it
}

// means shows the mean over tables of a task, of the contenders that have scores on all of them; false for fewer than
// two tables.
func (s study) means(task string, all []scored) (it shown.Item, ok bool) {
	var tables, learners []string
	at := map[string]scored{}
	key := func(table, learner string, eps float64) string { return fmt.Sprintf("%s\n%s\n%g", table, learner, eps) }
	title := map[string]string{}
	for _, r := range all {
		if r.Task != task {
			continue
		}
		if !slices.Contains(tables, r.Table) {
			tables = append(tables, r.Table)
		}
		if !slices.Contains(learners, r.Learner) {
			learners = append(learners, r.Learner)
		}
		at[key(r.Table, r.Learner, r.Epsilon)], title[r.Learner] = r, name(r)
	}
	if len(tables) < 2 {
		return it, false
	}
	it = s.item(fmt.Sprintf("Mean of %s × 100 over %d tables with %s", measured(task), len(tables), task))
	for l, learner := range learners {
		row := []string{title[learner]}
		for _, eps := range s.epsilons {
			var mean, less, variance float64
			missing := false
			for _, table := range tables {
				r, first := at[key(table, learner, eps)], at[key(table, learners[0], eps)]
				if missing = missing || r.Scores == nil; missing {
					break
				}
				m, _ := difference(r.Scores, nil)
				d, err := difference(r.Scores, first.Scores)
				mean, less, variance = mean+m, less+d, variance+err*err
			}
			n := float64(len(tables))
			row = append(row, s.cell(l == 0, missing, mean/n, less/n, math.Sqrt(variance)/n))
		}
		it.Row(row...)
	}
	it.Note(inBrackets)
	return it, true
}

func (s study) item(title string) shown.Item {
	it := shown.Item{Title: title, Header: []string{"learner"}}
	for _, eps := range s.epsilons {
		it.Header = append(it.Header, fmt.Sprintf("ε = %g", eps))
	}
	return it
}

// name is what a contender is called in tables.
func name(r scored) string {
	if r.Rival {
		return r.Learner
	}
	return r.Learner + " (NOT PRIVATE)"
}

// cell is a mean with its difference to the first row.
func (s study) cell(first, missing bool, mean, less, err float64) string {
	switch {
	case missing:
		return "–"
	case first || s.splits < 2:
		return fmt.Sprintf("%.1f", mean)
	}
	return fmt.Sprintf("%.1f (%+.1f ± %.1f)", mean, less, err)
}

// difference returns the mean of a − b, b nil for none, and its standard error.
func difference(a, b []float64) (mean, err float64) {
	if a == nil {
		return math.NaN(), math.NaN()
	}
	d := slices.Clone(a)
	if b != nil {
		floats.Sub(d, b)
	}
	mean, sd := stat.MeanStdDev(d, nil)
	return mean, sd / math.Sqrt(float64(len(d)))
}
