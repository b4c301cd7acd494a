package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
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

// privateFlags say of a table what is public, what may be learnt of it, and what that may take of this machine: for
// every command that releases something.
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
	// heldOut is the share of the records that a fit leaves to evaluate, which asks about the rest of them.
	heldOut float64
	rest    bool
}

// addPublic adds the flags that say what is public of the table and of the budget.
func (p *privateFlags) addPublic(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.schema, "schema", "", "`file` with the public bounds and categories (docs/your-data.md)")
	f.Float64Var(&p.epsilon, "epsilon", 0, "privacy loss `ε` of the budget (add/remove-one)")
	f.Float64Var(&p.delta, "delta", 0, "probability `δ` of the budget")
	f.StringVar(&p.person, "person", "", "`column` that says whose row it is (default each row is a person)")
	f.IntVar(&p.rows, "rows-of-a-person", 1, "`number` of rows of a person that count")
	p.table.add(f)
	required(cmd, "schema", "epsilon")
}

func (p *privateFlags) add(cmd *cobra.Command) {
	p.addPublic(cmd)
	f := cmd.Flags()
	f.StringVar(&p.budget, "budget", "", "ledger `file` that keeps the budget from run to run")
	f.Float64Var(&p.share, "share", 1, "`part` of the budget that is spent")
	f.StringVar(&p.name, "name", "", "`name` under which it is released once "+
		"(default what is asked, of which file, seen from the ledger's folder)")
	f.Uint64Var(&p.seed, "seed", 0, "`number` of a simulation, which protects nobody (default a private release)")
	f.Var(&p.memory, "memory", "`size` that the program may take, as 1GiB (default GOMEMLIMIT)")
}

// open returns the table, scanned, with its schema, and the allowance.
func (p *privateFlags) open(cmd *cobra.Command, path string) (df learn.DataFrame, a learn.Allowance, err error) {
	p.seeded = cmd.Flags().Changed("seed")
	if cmd.Flags().Changed("held-out") && !(p.heldOut > 0 && p.heldOut < 1) {
		return df, a, fmt.Errorf("--held-out %g: want a share between 0 and 1, such as 0.2", p.heldOut)
	}
	if cmd.Flags().Changed("rows-of-a-person") && p.person == "" {
		return df, a, errors.New("--rows-of-a-person: say in which column it stands whose row it is, --person")
	}
	if cmd.Flags().Changed("name") && p.budget == "" {
		return df, a, errors.New("--name: a release is kept under a name beside a ledger, so that another run pays " +
			"nothing for it: give one, --budget, or leave out --name")
	}
	s, err := frame.LoadSchema(p.schema)
	if err != nil {
		return df, a, err
	}
	free := p.memory.keep()
	cmd.PostRun = func(*cobra.Command, []string) { free() }
	p.table.chunkRows = p.memory.rowsOfChunk(len(s.Fields))
	df = p.part(learn.FromScanner(p.table.open(path))).Knowing(s)
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

// addHeldOut adds the flag that divides the records between a fit and its evaluation.
func (p *privateFlags) addHeldOut(f *pflag.FlagSet, usage string) {
	f.Float64Var(&p.heldOut, "held-out", 0, usage)
}

// part is the part of the table that the command reads. A record's part is its own chance, by a hash of what it is, or
// of whose it is: a person's rows stay together.
func (p *privateFlags) part(df learn.DataFrame) learn.DataFrame {
	if p.heldOut == 0 {
		return df
	}
	var whose []string
	if p.person != "" {
		whose = []string{p.person}
	}
	fitted, rest := df.Split(1-p.heldOut, "held out", whose...)
	if p.rest {
		return rest
	}
	return fitted
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
	if p.heldOut != 0 { // another share is another release
		what += fmt.Sprintf(" with %g held out", p.heldOut)
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

// learners by name; what suits the target is "suited".
var learners = map[string]learn.Learner{suited: nil}

func init() {
	for _, l := range learn.Learners() {
		learners[strings.ToLower(reflect.TypeOf(l).Name())] = l
	}
}

const suited = "suited"

func learnerNames() string { return strings.Join(slices.Sorted(maps.Keys(learners)), ", ") }

// learnerFlags are the fields of learners that have a flag, by its name.
var learnerFlags = map[string]string{"levels": "Levels", "threshold": "Threshold", "lambda": "Lambda", "clip": "Clip",
	"tau": "Tau", "smooth": "Smooth", "records": "Records", "curvature-share": "CurvatureShare"}

// configured returns a learner with the noise, and with the values of the flags that were given: one that the learner
// does not have is refused.
func configured(l learn.Learner, name string, src noise.Source, f *pflag.FlagSet) (learn.Learner, error) {
	of := reflect.New(reflect.TypeOf(l)).Elem()
	of.Set(reflect.ValueOf(l))
	if src != nil {
		of.FieldByName("Noise").Set(reflect.ValueOf(src))
	}
	var err error
	f.Visit(func(given *pflag.Flag) {
		field, known := learnerFlags[given.Name]
		switch to := of.FieldByName(field); {
		case !known:
		case !to.IsValid():
			err = errors.Join(err, fmt.Errorf("--%s is not for %s", given.Name, name))
		case given.Value.Type() == "float64Slice":
			v, e := f.GetFloat64Slice(given.Name)
			to.Set(reflect.ValueOf(v))
			err = errors.Join(err, e)
		default:
			v, e := strconv.ParseFloat(given.Value.String(), 64)
			if e == nil && !(v > 0) { // which means that it is chosen
				e = fmt.Errorf("--%s %s: give it a positive number, or leave it out to have it chosen", given.Name,
					given.Value)
			}
			to.Set(reflect.ValueOf(v).Convert(to.Type()))
			err = errors.Join(err, e)
		}
	})
	return of.Interface().(learn.Learner), err
}

// termFlags are the terms of columns.
type termFlags struct{ line, steps, periodic, rising, falling, cross []string }

func (t *termFlags) add(f *pflag.FlagSet) {
	f.StringSliceVar(&t.line, "line", nil, "`columns` of numbers that are learnt as straight lines")
	f.StringArrayVar(&t.steps, "steps", nil, "`column=cut,cut` of a number learnt as levels between public cuts")
	f.StringArrayVar(&t.periodic, "periodic", nil, "`column`, or column=period, whose curve ends as it begins")
	f.StringSliceVar(&t.rising, "rising", nil, "`columns` that are learnt so that they rise")
	f.StringSliceVar(&t.falling, "falling", nil, "`columns` that are learnt so that they fall")
	f.StringArrayVar(&t.cross, "cross", nil, "`column,column` that are learnt together, beside each by itself")
}

// options returns the terms as options.
func (t *termFlags) options() (opts []learn.Option, err error) {
	for _, column := range t.line {
		opts = append(opts, learn.Line(column))
	}
	for k, s := range append(slices.Clone(t.steps), t.periodic...) {
		column, list, said := strings.Cut(s, "=")
		if !said && k < len(t.steps) {
			return nil, fmt.Errorf("--steps %s: say where its steps are, as in --steps age=18,65", s)
		}
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
	for _, column := range t.rising {
		opts = append(opts, learn.Rising(column))
	}
	for _, column := range t.falling {
		opts = append(opts, learn.Falling(column))
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

// weightFlags say how much records count.
type weightFlags struct {
	column  string
	classes []string
}

func (w *weightFlags) add(f *pflag.FlagSet) {
	f.StringVar(&w.column, "weights", "", "`column=bound` of weights, as of a survey, with their public bound")
	f.StringArrayVar(&w.classes, "class-weight", nil, "`class=weight`: how much each record of a class counts; one "+
		"that is not named weighs 1")
}

// options returns the weights as options.
func (w *weightFlags) options() (opts []learn.Option, err error) {
	parts := func(flag, text, example string) (name string, v float64, err error) {
		at := strings.LastIndexByte(text, '=')
		if at > 0 {
			if v, err = strconv.ParseFloat(text[at+1:], 64); err == nil {
				return text[:at], v, nil
			}
		}
		return "", 0, fmt.Errorf("--%s %s: want a name and a number, as in %s", flag, text, example)
	}
	if w.column != "" {
		column, bound, err := parts("weights", w.column, "weight=20")
		if err != nil {
			return nil, err
		}
		opts = append(opts, learn.WeightsFrom(column, bound))
	}
	classes := map[string]float64{}
	for _, text := range w.classes {
		class, v, err := parts("class-weight", text, "yes=5")
		if err != nil {
			return nil, err
		}
		if classes[class] != 0 {
			return nil, fmt.Errorf("--class-weight %s: %s has two weights", text, class)
		}
		classes[class] = v
	}
	if len(classes) > 0 {
		opts = append(opts, learn.ClassWeights(classes))
	}
	return opts, nil
}

// fitFlags say what is fitted and what is shown of it.
type fitFlags struct {
	privateFlags
	target, learner, out, card, positive, by string
	rowNorm, intervals                       float64
	check, price, curves, lines              bool
	where                                    learn.Storage
	at                                       remotely
	checkpoints                              string
	terms                                    termFlags
	weights                                  weightFlags
}

func newFitCommand() *cobra.Command {
	var p fitFlags
	cmd := &cobra.Command{
		Use:   "fit FILE",
		Short: "Fit a private model to a table of any size",
		Long: `Fit a private model to a CSV, Parquet or Arrow file that may be larger than memory: its
records are encoded once, into a file of the user's folder for caches (dpnb cache lists
and removes it; it is raw), and learnt from in passes over that. With --memory what takes
memory for each record is refused, by name. A second fit finds the records stored. In place of
FILE a pattern in quotation marks names several files that are one table, in the order of their
names: they are encoded side by side. With --endpoint the workers of a runner encode them, and
groups of rows of a Parquet file, where they see them, and make the passes.

With --budget the ledger is kept, and what is released is kept beside it under a name: the
same command again gives the same model and costs nothing. If the first was ended in the
middle, it goes on: charged once, with the noise of then. With --by each category of a column
has a model of its own, at the price of one.`,
		Example: `  dpnb fit people.parquet --schema people.json --target happy \
    --epsilon 1 --delta 1e-6 --budget people.ledger.json --memory 1GiB --out happy.json --card happy.md
  dpnb fit 'people-*.parquet' --schema people.json --target happy --epsilon 1 --delta 1e-6
  dpnb fit people.csv --schema people.json --target income --learner quantiles --levels 0.1,0.5,0.9 \
    --epsilon 1 --delta 1e-6 --budget people.ledger.json --share 0.3`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&p.target, "target", "", "`column` to predict")
	f.StringVar(&p.learner, "learner", suited, "`one` of "+learnerNames())
	f.StringVar(&p.out, "out", "", "`file` to save the model to; with --by one for each group, NAME.GROUP.json")
	f.StringVar(&p.card, "card", "", "`file` to write the model card to, in Markdown")
	f.StringVar(&p.positive, "positive", "", "`category` to predict (default the last one of the schema)")
	f.StringVar(&p.by, "by", "", "fit a model for each category of this `column`, at the price of one")
	f.Float64SliceVar(new([]float64), "levels", nil, "`levels` of quantiles (default 0.1,0.5,0.9)")
	f.Float64Var(new(float64), "tau", 0, "`level` of quantile (default the median)")
	f.Float64Var(new(float64), "smooth", 0, "`width` by which the loss of quantile is smoothed, for millions of "+
		"records: 0.1 takes a few passes in place of 192")
	f.Float64Var(new(float64), "threshold", 0, "residual from which huber and heavytails count a record by its "+
		"absolute `value` (default chosen)")
	f.Float64Var(new(float64), "lambda", 0, "ridge `λ` (default chosen)")
	f.Float64Var(new(float64), "clip", 0, "residual at which linear and poisson clip a record's "+
		"`gradient` (default chosen)")
	f.IntVar(new(int), "records", 0, "`number` of records that is planned, if public (default counted, with noise)")
	f.Float64Var(new(float64), "curvature-share", 0, "`part` of the fit's budget for intervals")
	f.Float64Var(&p.intervals, "intervals", 0, "show intervals with this `confidence`, such as 0.95; they "+
		"cost nothing more")
	f.BoolVar(&p.curves, "curves", false, "let numbers bend, and nothing else: no products of columns, no fine cells")
	f.BoolVar(&p.lines, "lines", false, "keep numbers straight")
	cmd.MarkFlagsMutuallyExclusive("curves", "lines")
	f.BoolVar(&p.check, "check", false, "look first, for the keeper of the data, whether all values fit the schema, "+
		"and fit nothing if one does not")
	f.BoolVar(&p.price, "price", false, "say what the fit would cost, and fit nothing")
	f.Float64Var(&p.rowNorm, "row-norm", 1, "`norm` that every record is scaled to")
	p.terms.add(f)
	p.weights.add(f)
	p.addHeldOut(f, "`share` of the records that is left to dpnb evaluate")
	f.StringVar(&p.where.Dir, "store", "", "`folder` for the encoded records, which others must not be able "+
		"to list (default the user's folder for caches)")
	f.StringVar(&p.checkpoints, "checkpoints", "", "`folder` of the sums of a runner's passes, which workers must see "+
		"(default beside the encoded records)")
	p.at.flags(f)
	f.BoolVar(&p.where.Double, "double", false, "keep features as float64, in twice the room")
	p.add(cmd)
	required(cmd, "target")
	return cmd
}

// validate refuses what can be seen to be wrong before anything is read or paid for.
func (p *fitFlags) validate(cmd *cobra.Command) error {
	if _, known := learners[p.learner]; !known {
		return fmt.Errorf("--learner %q: there are %s", p.learner, learnerNames())
	}
	if !(p.rowNorm > 0) || math.IsInf(p.rowNorm, 1) {
		return fmt.Errorf("--row-norm %g: want a positive number", p.rowNorm)
	}
	if cmd.Flags().Changed("intervals") && !(p.intervals > 0 && p.intervals < 1) {
		return fmt.Errorf("--intervals %g: want a confidence between 0 and 1, such as 0.95", p.intervals)
	}
	if p.by != "" && p.by == p.target {
		return fmt.Errorf("--by %s: it is what is to be predicted; name another column", p.by)
	}
	if p.by != "" && (p.card != "" || p.price) {
		return errors.New("--card and --price are for one model: leave out --by")
	}
	for flag, path := range map[string]string{"out": p.out, "card": p.card} {
		if folder, err := os.Stat(filepath.Dir(path)); path != "" && (err != nil || !folder.IsDir()) {
			return fmt.Errorf("--%s %s: the folder %s is not there: make it", flag, path, filepath.Dir(path))
		}
		if folder, err := os.Stat(path); path != "" && err == nil && folder.IsDir() {
			return fmt.Errorf("--%s %s: it is a folder: name a file in it", flag, path)
		}
	}
	return p.at.validate()
}

func (p *fitFlags) run(cmd *cobra.Command, file string) error {
	if err := p.validate(cmd); err != nil {
		return err
	}
	df, allowance, err := p.open(cmd, file)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if p.check {
		if c := df.Check(); c.Err() != nil || len(c.Misfits) > 0 {
			fmt.Fprint(out, c.Display().Text())
			return errors.New("nothing was fitted or paid for: mend the file, or leave out --check to have the rules " +
				"of the schema decide")
		}
	}
	p.where.MemoryLimit = int64(p.memory)
	opts, err := p.terms.options()
	if err != nil {
		return err
	}
	weights, err := p.weights.options()
	if err != nil {
		return err
	}
	end := func(bool) error { return nil }
	if !p.at.here() {
		p.where.By = func(s frame.Sharding) error { return p.at.encode(cmd.Context(), &p.table, s, p.memory) }
		opts = append(opts, learn.PassesBy(func(rows stored.Records) (there matrix.Rows, err error) {
			there, end, err = p.at.rows(cmd.Context(), rows, p.checkpoints)
			return there, err
		}))
	}
	opts = append(append(opts, weights...), learn.StoredIn(p.where))
	if p.learner != "heavytails" && (p.learner != suited || cmd.Flags().Changed("row-norm")) {
		opts = append(opts, learn.RowNorm(p.rowNorm))
	}
	if p.positive != "" {
		opts = append(opts, learn.Positive(p.positive))
	}
	if p.curves {
		opts = append(opts, learn.Curves())
	}
	if p.lines {
		opts = append(opts, learn.Lines())
	}
	l, data := learners[p.learner], (*learn.Dataset)(nil)
	records := func(part learn.DataFrame) *learn.Dataset { return learn.RecordsFor(l, part, p.target, opts...) }
	if p.learner == suited {
		l, data = learn.Suited(df, p.target, opts...)
		records = func(part learn.DataFrame) *learn.Dataset {
			_, of := learn.Suited(part, p.target, opts...)
			return of
		}
	}
	if l, err = configured(l, p.learner, p.noise(), cmd.Flags()); err != nil {
		return err
	}
	if data == nil && p.by == "" {
		data = records(df)
	}
	if p.price {
		cost, err := allowance.Cost(l, data)
		return printed(out, cost, err)
	}
	name := p.once(p.learner+" fit for "+p.target, file)
	if p.by != "" {
		models, err := p.groups(l, df, records, allowance, name)
		if models.Err() != nil {
			return cmp.Or(err, models.Err())
		}
		return errors.Join(err, p.say(out, models.Display().Text(), models.Models, models.Groups))
	}
	var m *learn.Model
	if name != "" {
		m, err = learn.FitOnce(name, l, data, allowance.Resumable(permit.New())) // the workers are ours
	} else {
		m, err = l.Fit(data, allowance)
	}
	ended := errors.Join(err, end(err == nil)) // of neither of which a model may be lost
	if m == nil {
		return ended
	}
	return errors.Join(p.say(out, m.Display().Text(), []*learn.Model{m}, []string{""}), ended)
}

// groups fits a model for each group.
func (p *fitFlags) groups(l learn.Learner, df learn.DataFrame, records func(learn.DataFrame) *learn.Dataset,
	a learn.Allowance, name string) (*learn.Models, error) {
	if name != "" {
		return learn.FitByOnce(name, l, df, p.by, records, a)
	}
	return learn.FitBy(l, df, p.by, records, a)
}

// say prints what was released and writes its files. All of it is printed, whatever cannot be written.
func (p *fitFlags) say(out io.Writer, said string, models []*learn.Model, groups []string) (err error) {
	for i, m := range models {
		if p.intervals > 0 {
			said += "\n" + intervalsOf(m, p.intervals)
		}
		if path := p.out; path != "" {
			if groups[i] != "" {
				path = strings.TrimSuffix(path, ".json") + "." + url.PathEscape(groups[i]) + ".json"
			}
			e := m.Save(path)
			if err = errors.Join(err, e); e == nil {
				said += path + " has the model\n"
			}
		}
	}
	if p.card != "" {
		card, e := models[0].Card()
		if e == nil {
			e = card.Write(p.card)
		}
		if err = errors.Join(err, e); e == nil {
			said += p.card + " has the model card\n"
		}
	}
	if p.budget == "" && !p.seeded {
		said += unkept
	}
	_, printed := fmt.Fprint(out, said)
	return errors.Join(err, printed)
}

// intervalsOf shows those for the population, or else those of the same fit without noise, or why there are none.
func intervalsOf(m *learn.Model, confidence float64) string {
	population, err := m.PopulationIntervals(confidence)
	if err == nil {
		return population.Display().Text()
	}
	same, e := m.Intervals(confidence)
	if e == nil {
		return same.Display().Text()
	}
	return "No intervals: " + strings.TrimPrefix(err.Error(), "dpnb: ") + "\n"
}

func newDescribeCommand() *cobra.Command {
	var p privateFlags
	var at remotely
	var asked questionFlags
	var checkpoints string
	cmd := &cobra.Command{
		Use:   "describe FILE",
		Short: "Count a table of any size, and describe its numbers, privately",
		Long: `Release the number of records of a CSV, Parquet or Arrow file, and the mean, standard
deviation and quartiles of every number that has bounds in the schema, with intervals: in
one scan, which holds no more than a chunk of the file in memory. Or ask one question: a mean, a
histogram, quantiles, a table of two columns, of all records or of each group. What it will cost
says dpnb price. FILE may be a pattern, in quotation marks, of several files that are one table.
With --endpoint the workers of a runner scan the files, or groups of rows of a Parquet file.`,
		Example: `  dpnb describe people.parquet --schema people.json --epsilon 1 --delta 1e-6 \
    --budget people.ledger.json --share 0.2
  dpnb describe people.csv --schema people.schema.json --epsilon 1 --delta 1e-6 \
    --budget people.ledger.json --share 0.05 --mean age --by city`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, what, err := asked.query()
			if err != nil {
				return err
			}
			df, allowance, err := p.open(cmd, args[0])
			if err != nil {
				return err
			}
			if err := at.validate(); err != nil {
				return err
			}
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
			_, err = p.answer(cmd.OutOrStdout(), q, p.once(what, args[0]), df, allowance)
			return errors.Join(err, end(err == nil)) // of neither of which an answer may be lost
		},
	}
	asked.add(cmd)
	at.flags(cmd.Flags())
	cmd.Flags().StringVar(&checkpoints, "checkpoints", "", "`folder` of what a runner's workers have added up, which "+
		"they must see (default in the user's folder for caches)")
	p.add(cmd)
	return cmd
}

// answer asks a question, under a name unless it is "", and prints the answer.
func (p *privateFlags) answer(out io.Writer, q explore.Query, name string, df learn.DataFrame, a learn.Allowance) (
	s *explore.Statistic, err error) {
	q = q.Noise(p.noise())
	if name != "" {
		s, err = q.Once(name, df, a)
	} else {
		s, err = q.Of(df, a)
	}
	if s == nil {
		return nil, err
	}
	said := s.Display().Text()
	if p.budget == "" && !p.seeded {
		said += unkept
	}
	_, printed := fmt.Fprint(out, said)
	return s, errors.Join(err, printed)
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
