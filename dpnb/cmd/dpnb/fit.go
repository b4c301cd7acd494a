package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/permit"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// privateFlags say of a table what is public, what may be learnt of it, and what that may take
// of this machine: for every command that releases something.
type privateFlags struct {
	table                tableFlags
	schema, budget, name string
	epsilon, delta       float64
	share                float64
	seed                 uint64
	seeded               bool
	person               string
	rows                 int
	memory               byteSize
}

func (p *privateFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.schema, "schema", "", "`file` with the public bounds and categories (docs/your-data.md)")
	f.Float64Var(&p.epsilon, "epsilon", 0, "privacy loss `ε` of the budget (add/remove-one)")
	f.Float64Var(&p.delta, "delta", 0, "probability `δ` of the budget")
	f.StringVar(&p.budget, "budget", "", "ledger `file` that keeps the budget from run to run")
	f.Float64Var(&p.share, "share", 1, "`part` of the budget that is spent")
	f.StringVar(&p.name, "name", "", "`name` under which it is released once "+
		"(default what is asked, of which file, seen from the ledger's folder)")
	f.Uint64Var(&p.seed, "seed", 0, "`number` of a simulation, which protects nobody (default a private release)")
	f.StringVar(&p.person, "person", "", "`column` that says whose row it is (default each row is a person)")
	f.IntVar(&p.rows, "rows-of-a-person", 1, "`number` of rows of a person that count")
	f.Var(&p.memory, "memory", "`size` that the program may take, as 1GiB (default GOMEMLIMIT)")
	p.table.add(f)
	for _, name := range []string{"schema", "epsilon"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}

// open returns the table, scanned, with its schema, and the allowance.
func (p *privateFlags) open(cmd *cobra.Command, path string) (df learn.DataFrame, a learn.Allowance, err error) {
	p.seeded = cmd.Flags().Changed("seed")
	s, err := frame.LoadSchema(p.schema)
	if err != nil {
		return df, a, err
	}
	free := p.memory.keep()
	cmd.PostRun = func(*cobra.Command, []string) { free() }
	p.table.chunkRows = p.memory.rowsOfChunk(len(s.Fields))
	df = learn.FromScanner(p.table.open(path)).WithSchema(s.Fields...)
	if p.person != "" {
		df = df.PerPerson(p.person, p.rows)
	}
	switch {
	case df.Err() != nil:
		return df, a, df.Err()
	case p.seeded && p.budget != "":
		return df, a, errors.New("--seed is of a simulation, for which no budget is kept: leave out --budget")
	case p.seeded:
		return df, learn.Simulate(p.epsilon*p.share, p.delta*p.share), nil
	case p.budget != "":
		b := learn.NewBudget(p.epsilon, p.delta, learn.Named(filepath.Base(p.budget)), learn.KeptIn(p.budget))
		return df, b.Share(p.share), b.Err()
	}
	b := learn.NewBudget(p.epsilon, p.delta)
	return df, b.Share(p.share), b.Err()
}

func (p *privateFlags) noise() noise.Source {
	if p.seeded {
		return learn.Seed(p.seed)
	}
	return nil
}

// once reports under which name something is released; "" if no ledger is kept.
func (p *privateFlags) once(what, path string) string {
	if p.budget == "" {
		return ""
	}
	return cmp.Or(p.name, what+" of "+beside(p.budget, path))
}

// beside is where a file is, seen from the folder of the ledger: two files of one name in different folders are told
// apart, and a study that moves with its ledger keeps its names.
func beside(ledger, path string) string {
	from, err := filepath.Abs(filepath.Dir(ledger))
	to, e := filepath.Abs(path)
	if err != nil || e != nil {
		return path
	}
	if seen, err := filepath.Rel(from, to); err == nil {
		return filepath.ToSlash(seen)
	}
	return to
}

// unkept is said of a release without a ledger.
const unkept = "No ledger was kept (--budget FILE): another run is another budget for the same people.\n"

// learners by name: those that need no more than their name.
var learners = map[string]func(noise.Source) learn.Learner{
	"logistic":   func(s noise.Source) learn.Learner { return learn.Logistic{Noise: s} },
	"svm":        func(s noise.Source) learn.Learner { return learn.SVM{Noise: s} },
	"linear":     func(s noise.Source) learn.Learner { return learn.Linear{Noise: s} },
	"huber":      func(s noise.Source) learn.Learner { return learn.Huber{Noise: s} },
	"poisson":    func(s noise.Source) learn.Learner { return learn.Poisson{Noise: s} },
	"quantiles":  func(s noise.Source) learn.Learner { return learn.Quantiles{Noise: s} },
	"softmax":    func(s noise.Source) learn.Learner { return learn.Softmax{Noise: s} },
	"onevsrest":  func(s noise.Source) learn.Learner { return learn.OneVsRest{Noise: s} },
	"heavytails": func(s noise.Source) learn.Learner { return learn.HeavyTails{Noise: s} },
}

// records are made by the learner that will have them.
func recordsFor(learner string, df learn.DataFrame, target string, opts ...learn.Option) *learn.Dataset {
	switch learner {
	case "logistic", "svm":
		return learn.Binary(df, target, opts...)
	case "softmax", "onevsrest":
		return learn.Classes(df, target, opts...)
	case "poisson":
		return learn.Counts(df, target, opts...)
	}
	return learn.Regression(df, target, opts...)
}

// termFlags are the terms of columns.
type termFlags struct{ line, steps, periodic, cross []string }

func (t *termFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&t.line, "line", nil, "`column` of a number that is learnt as a straight line")
	f.StringArrayVar(&t.steps, "steps", nil, "`column=cut,cut` of a number learnt as levels between public cuts")
	f.StringArrayVar(&t.periodic, "periodic", nil, "`column`, or column=period, whose curve ends as it begins")
	f.StringArrayVar(&t.cross, "cross", nil, "`column,column` that are learnt together, beside each by itself")
}

// options returns the terms as options.
func (t *termFlags) options() (opts []learn.Option, err error) {
	for _, column := range t.line {
		opts = append(opts, learn.Line(column))
	}
	for k, s := range append(slices.Clone(t.steps), t.periodic...) {
		column, list, said := strings.Cut(s, "=")
		var numbers []float64
		for text := range strings.SplitSeq(list, ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil && said {
				return nil, fmt.Errorf("--steps and --periodic: in %q, %q is not a number", s, text)
			}
			numbers = append(numbers, v)
		}
		if k < len(t.steps) {
			opts = append(opts, learn.Steps(column, numbers...))
		} else {
			opts = append(opts, learn.Periodic(column, numbers[0])) // 0 if none was said
		}
	}
	for _, s := range t.cross {
		column, with, said := strings.Cut(s, ",")
		if !said {
			return nil, fmt.Errorf("--cross %s: want two columns, as in age,sex", s)
		}
		opts = append(opts, learn.Cross(column, with))
	}
	return opts, nil
}

func newFitCommand() *cobra.Command {
	var (
		p                              privateFlags
		target, learner, out, positive string
		rowNorm                        float64
		where                          learn.Storage
		at                             elsewhere
		checkpoints                    string
		terms                          termFlags
	)
	names := slices.Sorted(maps.Keys(learners))
	cmd := &cobra.Command{
		Use:   "fit FILE",
		Short: "Fit a private model to a table of any size",
		Long: `Fit a private model to a CSV, Parquet or Arrow file that may be larger than memory: its
records are encoded once, into a file of the user's folder for caches (dpnb cache lists
and removes it; it is raw), and learnt from in passes over that. With --memory what takes
memory for each record is refused, by name. A second fit finds the records stored.

With --budget the ledger is kept, and what is released is kept beside it under a name: the
same command again gives the same model and costs nothing. If the first was ended in the
middle, it goes on: charged once, with the noise of then.`,
		Example: `  go run ./dpnb/cmd/dpnb fit people.parquet --schema people.json --target happy \
    --learner logistic --epsilon 1 --delta 1e-6 --budget people.ledger.json --memory 1GiB --out happy.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			with, known := learners[learner]
			if !known {
				return fmt.Errorf("--learner %q: there are %s", learner, strings.Join(names, ", "))
			}
			if !(rowNorm > 0) || math.IsInf(rowNorm, 1) {
				return fmt.Errorf("--row-norm %g: want a positive number", rowNorm)
			}
			if out != "" { // before anything is paid for
				if folder, err := os.Stat(filepath.Dir(out)); err != nil || !folder.IsDir() {
					return fmt.Errorf("--out %s: the folder %s is not there: make it", out, filepath.Dir(out))
				}
			}
			df, allowance, err := p.open(cmd, args[0])
			if err != nil {
				return err
			}
			if err := at.validate(); err != nil {
				return err
			}
			where.MemoryLimit = int64(p.memory)
			opts, err := terms.options()
			if err != nil {
				return err
			}
			opts = append(opts, learn.StoredIn(where))
			end := func(bool) error { return nil }
			if !at.here() {
				opts = append(opts, learn.PassesBy(func(rows *stored.Rows) (there matrix.Rows, err error) {
					there, end, err = at.rows(cmd.Context(), rows, checkpoints)
					return there, err
				}))
			}
			if learner != "heavytails" {
				opts = append(opts, learn.RowNorm(rowNorm))
			}
			if positive != "" {
				opts = append(opts, learn.Positive(positive))
			}
			data, l := recordsFor(learner, df, target, opts...), with(p.noise())
			var m *learn.Model
			if name := p.once(learner+" fit for "+target, args[0]); name != "" {
				m, err = learn.FitOnce(name, l, data, allowance.GoesOn(permit.New())) // the workers are ours
			} else {
				m, err = l.Fit(data, allowance)
			}
			ended := errors.Join(err, end(err == nil)) // of neither of which a model may be lost
			if m == nil {
				return ended
			}
			said := m.Display().Text()
			if p.budget == "" && !p.seeded {
				said += unkept
			}
			if out != "" {
				if err := m.Save(out); err != nil {
					fmt.Fprint(cmd.OutOrStdout(), said)
					return errors.Join(err, ended)
				}
				said += out + " has the model\n"
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), said)
			return errors.Join(err, ended)
		},
	}
	f := cmd.Flags()
	f.StringVar(&target, "target", "", "`column` to predict")
	f.StringVar(&learner, "learner", "", "`one` of "+strings.Join(names, ", "))
	f.StringVar(&out, "out", "", "`file` to save the model to")
	f.StringVar(&positive, "positive", "", "`category` to predict (default the last one of the schema)")
	f.Float64Var(&rowNorm, "row-norm", 1, "`norm` that every record is scaled to")
	terms.add(f)
	f.StringVar(&where.Dir, "store", "", "`folder` for the encoded records (default the user's folder for caches)")
	f.StringVar(&checkpoints, "checkpoints", "", "`folder` of the sums of a runner's passes, which workers must see "+
		"(default beside the encoded records)")
	at.flags(f)
	f.BoolVar(&where.Double, "double", false, "keep features as float64, in twice the room")
	p.add(cmd)
	if err := cmd.MarkFlagRequired("target"); err != nil {
		panic(err)
	}
	return cmd
}

func newDescribeCommand() *cobra.Command {
	var p privateFlags
	var at elsewhere
	var checkpoints string
	cmd := &cobra.Command{
		Use:   "describe FILE",
		Short: "Count a table of any size, and describe its numbers, privately",
		Long: `Release the number of records of a CSV, Parquet or Arrow file, and the mean, standard
deviation and quartiles of every number that has bounds in the schema, with intervals: in
one scan, which holds no more than a chunk of the file in memory. With --endpoint the
workers of a runner scan parts of the file: groups of rows, if it is a Parquet file.`,
		Example: `  go run ./dpnb/cmd/dpnb describe people.parquet --schema people.json --epsilon 1 --delta 1e-6 \
    --budget people.ledger.json --share 0.2`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			df, allowance, err := p.open(cmd, args[0])
			if err != nil {
				return err
			}
			if err := at.validate(); err != nil {
				return err
			}
			q := explore.Describe().Noise(p.noise())
			end := func(bool) error { return nil }
			if !at.here() {
				q = q.TalliedBy(func() (add func(explore.Adding, func([]byte) error) error, err error) {
					records, _, err := df.Known()
					if err != nil {
						return nil, err
					}
					add, closed, err := at.tally(cmd.Context(), &p.table, records, checkpoints, p.memory)
					if err == nil {
						end = closed
					}
					return add, err
				})
			}
			var s *explore.Statistic
			if name := p.once("summary", args[0]); name != "" {
				s, err = q.Once(name, df, allowance)
			} else {
				s, err = q.Of(df, allowance)
			}
			ended := errors.Join(err, end(err == nil)) // of neither of which an answer may be lost
			if s == nil {
				return ended
			}
			said := s.Display().Text()
			if p.budget == "" && !p.seeded {
				said += unkept
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), said)
			return errors.Join(err, ended)
		},
	}
	at.flags(cmd.Flags())
	cmd.Flags().StringVar(&checkpoints, "checkpoints", "", "`folder` of what a runner's workers have added up, which "+
		"they must see (default in the user's folder for caches)")
	p.add(cmd)
	return cmd
}

// byteSize is a pflag.Value: 1GiB, 500MB.
type byteSize int64

var _ pflag.Value = (*byteSize)(nil)

var sizes = []struct {
	unit  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
	{"TB", 1e12}, {"B", 1}}

func (b *byteSize) Type() string { return "size" }

func (b *byteSize) String() string {
	if *b == 0 {
		return ""
	}
	return fmt.Sprintf("%dB", int64(*b))
}

// leastMemory is what the program takes at any rate.
const leastMemory = 64 << 20

func (b *byteSize) Set(text string) error {
	for _, s := range sizes {
		number, ok := strings.CutSuffix(text, s.unit)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if bytes := v * float64(s.bytes); err == nil && bytes >= leastMemory && bytes < 1<<62 {
			*b = byteSize(bytes)
			return nil
		}
		break
	}
	return errors.New("give it a size of 64MiB or more, as 500MB or 1GiB")
}
