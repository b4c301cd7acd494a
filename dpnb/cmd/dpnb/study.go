package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"

	shown "github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// studied is a public table of a study.
type studied struct {
	Name, Task, Label, Positive string
}

// contender is a way to fit in a study.
type contender struct {
	name string
	fit  func(t studied, train learn.DataFrame, a learn.Allowance, seed uint64) (*learn.Model, error)
}

func newStudyCommand() *cobra.Command {
	var (
		epsilons []float64
		delta    float64
		splits   int
		only     []string
	)
	cmd := &cobra.Command{
		Use:   "study FOLDER",
		Short: "Compare learners and rivals on a folder of public tables",
		Long: `Fit what Suited chooses, and its rivals, to every public table of a folder, and
print how well each predicts records that it has not seen, with the standard
error of its difference to Suited. Splits and noise are reproducible, so that
nobody is protected: it is for public data.

The folder has tables.json, a list of {"name", "task": "two classes" or
"a number", "label", "positive"}, and for each NAME.csv or NAME.csv.gz and
NAME.schema.json. Record i is a test record of split s if FNV-1a of the text
"s:i", of 32 bits, is 0 modulo 5. Scores are the AUC of two classes and the R² of
numbers, on the logarithmic scale of a number that the schema has on one, times 100.`,
		Example: "  go run ./dpnb/cmd/dpnb study ~/tables --epsilon 0.1,1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if splits < 1 {
				return fmt.Errorf("%d splits, want 1 or more", splits)
			}
			content, err := os.ReadFile(filepath.Join(args[0], "tables.json"))
			if err != nil {
				return err
			}
			var tables []studied
			if err := json.Unmarshal(content, &tables); err != nil {
				return fmt.Errorf("tables.json: %w", err)
			}
			for _, t := range tables {
				if len(only) > 0 && !slices.ContainsFunc(only, func(pattern string) bool {
					ok, err := filepath.Match(pattern, t.Name)
					return ok && err == nil
				}) {
					continue
				}
				it, err := t.study(args[0], splits, delta, epsilons)
				if err != nil {
					return fmt.Errorf("%s: %w", t.Name, err)
				}
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), it.Text()); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().Float64SliceVar(&epsilons, "epsilon", []float64{0.1, 0.5, 1, 4}, "values of ε")
	cmd.Flags().Float64Var(&delta, "delta", 1e-6, "δ")
	cmd.Flags().IntVar(&splits, "splits", 5, "how many splits into records to learn from and to score on")
	cmd.Flags().StringSliceVar(&only, "only", nil, "tables by name, with * and ?")
	return cmd
}

// contenders of a task; the first is what others are compared with.
func contenders(task string) []contender {
	suited := contender{"Suited", func(t studied, train learn.DataFrame, a learn.Allowance, seed uint64) (*learn.Model,
		error) {
		l, data := learn.Suited(train, t.Label, t.options()...)
		switch own := l.(type) {
		case learn.SVM:
			own.Noise = learn.Seed(seed)
			l = own
		case learn.Huber:
			own.Noise = learn.Seed(seed)
			l = own
		}
		return l.Fit(data, a)
	}}
	of := func(name string, options []learn.Option, learner func(seed uint64) learn.Learner) contender {
		return contender{name, func(t studied, train learn.DataFrame, a learn.Allowance, seed uint64) (*learn.Model,
			error) {
			return learner(seed).Fit(t.records(train, options), a)
		}}
	}
	svm := func(s uint64) learn.Learner { return learn.SVM{Noise: learn.Seed(s)} }
	logistic := func(s uint64) learn.Learner { return learn.Logistic{Noise: learn.Seed(s)} }
	huber := func(s uint64) learn.Learner { return learn.Huber{Noise: learn.Seed(s)} }
	linear := func(s uint64) learn.Learner { return learn.Linear{Noise: learn.Seed(s)} }
	centred, norm := []learn.Option{learn.Lines()}, []learn.Option{learn.Uncentred(), learn.RowNorm(1)}
	if task == "two classes" {
		return []contender{suited, of("SVM, straight lines", centred, svm), of("Logistic, curves", nil, logistic),
			of("Logistic, not centred", norm, logistic), rival("noisy gradient descent", centred),
			rival("DP-SGD, learning rate not paid for", centred)}
	}
	return []contender{suited, of("Huber, straight lines", centred, huber), of("Linear, curves", nil, linear),
		of("Huber, not centred", norm, huber), rival("noisy gradient descent", centred), rival("AdaSSP", centred),
		rival("boosted AdaSSP", centred)}
}

// rival is a mechanism of learn.AllMechanisms.
func rival(name string, options []learn.Option) contender {
	return contender{name, func(t studied, train learn.DataFrame, a learn.Allowance, seed uint64) (*learn.Model,
		error) {
		for _, m := range learn.AllMechanisms {
			if m.Name() == name {
				return m.Fit(t.records(train, options), a, learn.Seed(seed))
			}
		}
		return nil, fmt.Errorf("there is no mechanism %q", name)
	}}
}

// options are those of the target.
func (t studied) options() []learn.Option {
	if t.Positive == "" {
		return nil
	}
	return []learn.Option{learn.Positive(t.Positive)}
}

func (t studied) records(df learn.DataFrame, more []learn.Option) *learn.Dataset {
	options := append(t.options(), more...)
	if t.Task == "two classes" {
		return learn.Binary(df, t.Label, options...)
	}
	return learn.Regression(df, t.Label, options...)
}

// study fits every contender to every split at every ε.
func (t studied) study(dir string, splits int, delta float64, epsilons []float64) (it shown.Item, err error) {
	if t.Task != "two classes" && t.Task != "a number" {
		return it, fmt.Errorf("the task is %q, want \"two classes\" or \"a number\"", t.Task)
	}
	temporary, err := os.MkdirTemp("", "dpnb-study-*")
	if err != nil {
		return it, err
	}
	defer os.RemoveAll(temporary)
	all := contenders(t.Task)
	scores := make([][][]float64, len(all)) // by contender and ε, of each split
	for c := range all {
		scores[c] = make([][]float64, len(epsilons))
	}
	records := 0
	for s := range splits {
		train, test, n, err := t.split(dir, temporary, s)
		if err != nil {
			return it, err
		}
		records = n
		for c, one := range all {
			for k, eps := range epsilons {
				m, err := one.fit(t, train, learn.Simulate(eps, delta), uint64(s+1))
				if err != nil {
					return it, fmt.Errorf("%s: %w", one.name, err)
				}
				v, err := t.score(m, test)
				if err != nil {
					return it, fmt.Errorf("%s: %w", one.name, err)
				}
				scores[c][k] = append(scores[c][k], 100*v)
			}
		}
	}
	measure := "AUC"
	if t.Task == "a number" {
		measure = "R²"
	}
	it = shown.Item{Title: fmt.Sprintf("%s: %s of %s × 100, %d records, mean of %d splits", t.Name, measure, t.Label,
		records, splits), Header: []string{"learner"}}
	for _, eps := range epsilons {
		it.Header = append(it.Header, fmt.Sprintf("ε = %g", eps))
	}
	for c, one := range all {
		row := []string{one.name}
		for k := range epsilons {
			text := fmt.Sprintf("%.1f", stat.Mean(scores[c][k], nil))
			if c > 0 && splits > 1 {
				less := slices.Clone(scores[c][k])
				for i := range less {
					less[i] -= scores[0][k][i]
				}
				mean, sd := stat.MeanStdDev(less, nil)
				text += fmt.Sprintf(" (%+.1f ± %.1f)", mean, sd/math.Sqrt(float64(splits)))
			}
			row = append(row, text)
		}
		it.Row(row...)
	}
	it.Note("In brackets: the difference to the first row, with the standard error of the paired difference.")
	return it, nil
}

// score is the AUC of two classes, and the R² of a number on its own scale.
func (t studied) score(m *learn.Model, test learn.DataFrame) (float64, error) {
	if t.Task == "two classes" {
		e, err := m.Evaluate(test)
		if err != nil {
			return 0, err
		}
		return e.AUC, nil
	}
	predicted, err := m.Predict(test)
	if err != nil {
		return 0, err
	}
	table, schema, err := test.Known()
	if err != nil {
		return 0, err
	}
	field, _ := schema.Field(t.Label)
	whole, err := frame.Collect(table, nil)
	if err != nil {
		return 0, err
	}
	column, err := whole.Column(t.Label)
	if err != nil {
		return 0, err
	}
	scale := frame.Target{Task: frame.Number, Lower: field.Lower, Upper: field.Upper, Log: field.Log}
	var truth, at []float64
	for i, p := range predicted {
		if y := column.Number(i); !math.IsNaN(y) {
			truth, at = append(truth, scale.Label(y)), append(at, scale.Label(p))
		}
	}
	return stat.RSquaredFrom(at, truth, nil), nil
}

// split writes the two parts of a table, and returns them with the number of all records.
func (t studied) split(dir, temporary string, s int) (train, test learn.DataFrame, records int, err error) {
	content, err := readTable(filepath.Join(dir, t.Name+".csv"))
	if err != nil {
		return train, test, 0, err
	}
	lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	var parts [2][]string
	for i, line := range lines[1:] {
		h := fnv.New32a()
		fmt.Fprintf(h, "%d:%d", s, i)
		at := 0
		if h.Sum32()%5 == 0 {
			at = 1
		}
		parts[at] = append(parts[at], line)
	}
	var frames [2]learn.DataFrame
	for k, part := range parts {
		path := filepath.Join(temporary, fmt.Sprintf("%s-%d-%d.csv", t.Name, s, k))
		text := strings.Join(append([]string{lines[0]}, part...), "\n") + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return train, test, 0, err
		}
		frames[k] = learn.ReadCSV(path).WithSchemaFile(filepath.Join(dir, t.Name+".schema.json")).Public()
		if err := frames[k].Err(); err != nil {
			return train, test, 0, err
		}
	}
	return frames[0], frames[1], len(lines) - 1, nil
}

// readTable reads a file, or the same with .gz.
func readTable(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err == nil {
		return content, nil
	}
	f, err := os.Open(path + ".gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
