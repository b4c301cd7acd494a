package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	shown "github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/permit"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
)

// fitFlags say what is fitted and what is shown of it.
type fitFlags struct {
	privateFlags
	target, learner, out, card, positive, by string
	rowNorm, intervals                       float64
	check, price, curves, lines, inUnits     bool
	ignored                                  []string
	where                                    learn.Storage
	at                                       remotely
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
    --epsilon 1 --delta 1e-6 --budget people.budget.json --memory 1GiB --out happy.json --card happy.md
  dpnb fit 'people-*.parquet' --schema people.json --target happy --epsilon 1 --delta 1e-6
  dpnb fit people.csv --schema people.json --target income --learner quantiles --levels 0.1,0.5,0.9 \
    --epsilon 1 --delta 1e-6 --budget people.budget.json --share 0.3`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&p.target, "target", "", "`column` to predict")
	f.StringVar(&p.learner, "learner", suited, "`one` of "+learnerNames())
	addOut(f, &p.out, "", "`file` to save the model to; with --by one for each group, NAME.GROUP.json")
	f.StringVar(&p.card, "card", "", "`file` to write the model card to, in Markdown")
	f.StringVar(&p.positive, "positive", "", "`category` to predict (default the last one of the schema)")
	f.StringSliceVar(&p.ignored, "ignore", nil, "`columns` of the schema that are no features, such as another target")
	f.StringVar(&p.by, "by", "", "fit a model for each category of this `column`, at the price of one")
	f.Float64SliceVar(new([]float64), "levels", nil, "`levels` of quantiles (default 0.1,0.5,0.9)")
	f.Float64Var(new(float64), "tau", 0, "`level` of quantile (default the median)")
	f.Float64Var(new(float64), "smooth", 0, "`width` by which the loss of quantile is smoothed, for millions of "+
		"records: 0.1 takes a few passes in place of 192")
	f.Float64Var(new(float64), "threshold", 0, "residual from which huber and heavytails count a record by its "+
		"absolute `value`, in half the width of the target's bounds, at most 2 (default chosen)")
	f.Float64Var(new(float64), "lambda", 0, "ridge `λ` (default chosen)")
	f.Float64Var(new(float64), "clip", 0, "residual at which linear and poisson clip a record's "+
		"`gradient`: of linear in half the width of the target's bounds, at most 2; of poisson in counts (default "+
		"chosen)")
	f.IntVar(new(int), "records", 0, "`number` of records that is planned, if public (default counted, with noise)")
	f.Float64Var(new(float64), "curvature-share", 0, "`part` of the fit's budget for intervals (default of suited, "+
		"and with --intervals where they can be bought, 0.05, of quantiles 0.2; 0 is none, and they are wide)")
	f.Float64Var(&p.intervals, "intervals", 0, "show intervals with this `confidence`, such as 0.95, for which "+
		"a part of the fit is spent where they can be of the population: --curvature-share")
	f.BoolVar(&p.curves, "curves", false, "let numbers bend (the default, but with --intervals)")
	f.BoolVar(&p.lines, "lines", false, "keep numbers straight, in a ninth of the room (with --intervals the default: "+
		"effects are then those of a regression on the columns)")
	cmd.MarkFlagsMutuallyExclusive("curves", "lines")
	f.BoolVar(&p.inUnits, "in-units", false, "leave records as long as they are in place of scaling each by its "+
		"own factor, so that effects are the same for all, and show them per unit of a column (with --intervals the "+
		"default, where rows are centred)")
	f.BoolVar(&p.check, "check", false, "look first, for the keeper of the data, whether all values fit the schema, "+
		"and fit nothing if one does not")
	f.BoolVar(&p.price, "price", false, "say what the fit would cost, and fit nothing")
	f.Float64Var(&p.rowNorm, "row-norm", 1, "`norm` that every record is scaled to")
	cmd.MarkFlagsMutuallyExclusive("in-units", "row-norm")
	p.terms.add(f)
	p.weights.add(f)
	p.addHeldOut(f, "`share` of the records that is left to dpnb evaluate")
	f.StringVar(&p.where.Dir, "store", "", "`folder` for the encoded records, which others must not be able "+
		"to list (default the user's folder for caches)")
	p.at.flags(f)
	p.at.addCheckpoints(f, "`folder` of the sums of a runner's passes, which workers must see (default beside the "+
		"encoded records)")
	f.BoolVar(&p.where.Double, "double", false, "keep features as float64, in twice the room")
	p.add(cmd)
	required(cmd, "target")
	return cmd
}

// validate refuses what can be seen to be wrong before anything is read or paid for.
func (p *fitFlags) validate(cmd *cobra.Command) error {
	p.learner = strings.ToLower(p.learner) // errors call it by its name in Go
	if _, known := learners[p.learner]; !known {
		return fmt.Errorf("--learner %q: there are %s", p.learner, learnerNames())
	}
	if !(p.rowNorm > 0) || math.IsInf(p.rowNorm, 1) {
		return fmt.Errorf("--row-norm %g: want a positive number", p.rowNorm)
	}
	if cmd.Flags().Changed("intervals") && !(p.intervals > 0 && p.intervals < 1) {
		return fmt.Errorf("--intervals %g: want a confidence between 0 and 1, such as 0.95", p.intervals)
	}
	if p.learner == "heavytails" && cmd.Flags().Changed("row-norm") {
		return errors.New("--row-norm: heavytails takes records of any length, and scales none: leave it out")
	}
	if p.learner == "quantiles" && p.heldOut != 0 {
		return errors.New("--held-out: dpnb evaluate has no question for several quantiles: leave it out, or fit one " +
			"level, --learner quantile --tau 0.5")
	}
	if slices.Contains(p.ignored, p.target) {
		return fmt.Errorf("--ignore %s: it is what is to be predicted; name another column", p.target)
	}
	if p.by != "" && p.by == p.target {
		return fmt.Errorf("--by %s: it is what is to be predicted; name another column", p.by)
	}
	if p.by != "" && (p.card != "" || p.price) {
		return errors.New("--card and --price are for one model: leave out --by")
	}
	for flag, path := range map[string]string{"out": p.out, "card": p.card} {
		if err := placed(flag, path); err != nil {
			return err
		}
	}
	return p.at.validate()
}

func (p *fitFlags) run(cmd *cobra.Command, file string) error {
	if err := p.validate(cmd); err != nil {
		return err
	}
	if !p.price {
		if err := p.spares(file); err != nil {
			return err
		}
	}
	df, err := p.read(cmd, file)
	if err != nil {
		return err
	}
	df = df.Drop(p.ignored...)
	out := cmd.OutOrStdout()
	if p.check {
		s, err := p.stated()
		if err != nil {
			return err
		}
		text, n, err := p.table.misfits(s)
		if err != nil {
			return err
		}
		if n > 0 {
			fmt.Fprint(out, text)
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
			there, end, err = p.at.rows(cmd.Context(), rows)
			return there, err
		}))
	}
	opts = append(append(opts, weights...), learn.StoredIn(p.where))
	if cmd.Flags().Changed("row-norm") {
		opts = append(opts, learn.RowNorm(p.rowNorm))
	}
	if p.positive != "" {
		opts = append(opts, learn.Positive(p.positive))
	}
	if p.intervals > 0 && !p.curves && !p.lines { // for effects; what was released before is asked for as it was
		_, p.lines = learn.KeptAs(p.named(file), p.budget)
	}
	if p.curves {
		opts = append(opts, learn.Curves())
	}
	if p.lines {
		opts = append(opts, learn.Lines())
	}
	l, data := learners[p.learner], (*learn.Dataset)(nil)
	if p.unitsUnsaid(cmd.Flags()) {
		of := l
		if p.learner == suited {
			of, _ = learn.Suited(df, p.target, opts...)
		}
		if err := p.settleUnits(cmd.Flags(), of, file); err != nil {
			return err
		}
	}
	if p.inUnits {
		opts = append(opts, learn.InUnits())
	}
	records := func(part learn.DataFrame) *learn.Dataset { return learn.RecordsFor(l, part, p.target, opts...) }
	if p.learner == suited {
		l, data = learn.Suited(df, p.target, opts...)
		records = func(part learn.DataFrame) *learn.Dataset {
			_, of := learn.Suited(part, p.target, opts...)
			return of
		}
	}
	bought, err := p.buyIntervals(cmd.Flags(), l)
	if err != nil {
		return err
	}
	if l, err = configured(l, p.learner, p.noise(), cmd.Flags()); err != nil {
		return err
	}
	if data == nil && p.by == "" {
		data = records(df)
	}
	var allowance learn.Allowance
	if data != nil {
		err = data.Err() // before there is a ledger
	}
	if err == nil {
		allowance, err = p.allowance(cmd)
	}
	if err != nil {
		return errors.Join(err, end(false))
	}
	if p.price {
		cost, err := allowance.Cost(l, data)
		return printed(out, cost, err)
	}
	defer func() { cmd.PrintErr(p.left()) }()
	name := p.named(file)
	if p.by != "" {
		models, err := p.groups(l, df, records, allowance, name)
		if models.Err() != nil {
			return cmp.Or(err, models.Err())
		}
		return errors.Join(err, p.say(out, models.Display().Text(), bought, models.Models, models.Groups))
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
	return errors.Join(p.say(out, m.Display().Text(), bought, []*learn.Model{m}, []string{""}), ended)
}

// left says that encoded records stay on this machine; how large they are is nobody's to know who reads of a fit.
func (p *fitFlags) left() string {
	files, _ := frame.ListStored(p.where)
	if len(files) == 0 {
		return ""
	}
	store := ""
	if p.where.Dir != "" {
		store = " --store " + shellWord(p.where.Dir)
	}
	return fmt.Sprintf("Encoded records, which are raw, stay on this machine for the next fit: dpnb cache%s lists "+
		"them, dpnb cache remove%[1]s removes them.\n", store)
}

// named is under what the fit is kept, "" if it is not.
func (p *fitFlags) named(file string) string { return p.once(p.learner+" fit for "+p.target, file) }

// unitsUnsaid reports whether intervals are asked for and nothing is said of how long rows are.
func (p *fitFlags) unitsUnsaid(f *pflag.FlagSet) bool {
	return p.intervals > 0 && !f.Changed("in-units") && !f.Changed("row-norm")
}

// settleUnits has rows as long as they are where nothing is said of it and l has curvatures of rows that are centred:
// whoever reads intervals reads effects, which are those of a regression on the columns only if no row is scaled. What
// was released before is asked for as it was.
func (p *fitFlags) settleUnits(f *pflag.FlagSet, l learn.Learner, file string) (err error) {
	if name := p.named(file); name != "" && learn.Kept(name, p.budget) {
		p.inUnits, _ = learn.KeptAs(name, p.budget)
		return nil
	}
	p.inUnits, err = p.curvatures(f, l)
	return err
}

// buyIntervals sets the share of a fit that is spent on intervals, if they are asked for and nothing is said of it:
// what Suited spends, of quantiles a fifth, and none where intervals cannot be bought. What it returns says so.
func (p *fitFlags) buyIntervals(f *pflag.FlagSet, l learn.Learner) (said string, err error) {
	if f.Changed("curvature-share") || !reflect.ValueOf(l).FieldByName("CurvatureShare").IsValid() {
		return "", nil
	}
	if p.learner == suited {
		if p.withoutPopulation(f, l) || p.rows > 1 { // it knows no flags
			err = f.Set("curvature-share", "0")
		}
		return "", err
	}
	if p.intervals == 0 {
		return "", nil
	}
	if has, err := p.curvatures(f, l); err != nil || !has || p.rows > 1 {
		return "", err
	}
	share := "0.05"
	if strings.HasPrefix(p.learner, "quantile") {
		share = "0.2"
	}
	return fmt.Sprintf("A part of the fit was spent on these intervals, as of --curvature-share %s; with 0 nothing "+
		"is.\n", share), f.Set("curvature-share", share)
}

// curvatures reports whether a share of a fit by l buys intervals for the population, where each person has one row.
func (p *fitFlags) curvatures(f *pflag.FlagSet, l learn.Learner) (bool, error) {
	if !reflect.ValueOf(l).FieldByName("CurvatureShare").IsValid() || f.Changed("smooth") || p.delta == 0 ||
		p.withoutPopulation(f, l) || p.weights.column != "" || p.weights.classes != nil || p.terms.rising != nil ||
		p.terms.falling != nil {
		return false, nil
	}
	s, err := p.stated()
	return err == nil && !slices.ContainsFunc(s.Fields, func(f frame.Field) bool {
		return (f.Open || f.Rises != 0) && !slices.Contains(p.ignored, f.Name)
	}), err
}

// withoutPopulation reports whether a fit has no intervals for the population, whatever is spent on them, because rows
// are not centred.
func (p *fitFlags) withoutPopulation(f *pflag.FlagSet, l learn.Learner) bool {
	plain := !p.at.here() || f.Changed("lambda")
	switch l.(type) {
	case learn.Logistic, learn.Quantile, learn.Quantiles: // they have them for any rows
		plain = false
	case learn.Linear, learn.Huber:
		plain = plain || f.Changed("clip") || f.Changed("threshold")
	}
	return plain
}

func (p *fitFlags) groups(l learn.Learner, df learn.DataFrame, records func(learn.DataFrame) *learn.Dataset,
	a learn.Allowance, name string) (*learn.Models, error) {
	if name != "" {
		return learn.FitByOnce(name, l, df, p.by, records, a)
	}
	return learn.FitBy(l, df, p.by, records, a)
}

// say prints what was released and writes its files. All of it is printed, whatever cannot be written.
func (p *fitFlags) say(out io.Writer, said, bought string, models []*learn.Model, groups []string) (err error) {
	for i, m := range models {
		m.HeldOut = p.heldOut
		if groups[i] != "" && (p.inUnits || p.intervals > 0) {
			said += fmt.Sprintf("\n%s = %s:", p.by, groups[i])
		}
		var shown spans
		if p.intervals > 0 {
			shown = spansOf(m, p.intervals)
		}
		if p.inUnits {
			said += "\n" + perUnit(m, shown)
		}
		if p.intervals > 0 {
			said += "\n" + shown.text() + bought
		}
		if path := p.out; path != "" {
			if groups[i] != "" {
				path = p.modelOf(groups[i])
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

// perUnit shows effects for one unit of a column, or says why there are none, with intervals, if there are some.
func perUnit(m *learn.Model, s spans) string {
	all := m.CoefficientsInUnits()
	if all.Err != nil {
		return "No effects per unit: " + strings.TrimPrefix(all.Err.Error(), "dpnb: ") + "\n"
	}
	it := shown.Item{Title: "Effects per unit of a column", Header: all.Names()}
	last := all.Ncol() - 1
	of, numbers := "", all.Select([]int{last})
	if s.all != nil {
		if in := s.all.InUnits(); in.Err == nil {
			in = in.Select([]string{"estimate", "lower", "upper"})
			it.Header, numbers = append(it.Header, in.Names()...), numbers.CBind(in)
			if of = "the population"; s.why != nil {
				of = "the same fit without noise"
			}
		}
	}
	for i := range all.Nrow() {
		var row []string
		for j := range last {
			row = append(row, all.Elem(i, j).String())
		}
		for j := range numbers.Ncol() {
			row = append(row, endless.Replace(fmt.Sprintf("%+.4g", numbers.Elem(i, j).Float())))
		}
		it.Row(row...)
	}
	it.Note("A number: for a step of 1 (a date: of a day) along the line that is nearest to its curve, on a " +
		"logarithmic scale for all of it, as its name says; a category, or an interval of steps: against the " +
		"reference of its column; bias: of the mean record.")
	if of != "" {
		it.Note("Estimate, lower and upper: an interval for %s of level %g; what it covers is said below.", of,
			s.confidence)
	}
	if all.Nrow() < m.Coefficients().Nrow() {
		it.Note("A number with a period goes up and down, and has no effect of a unit: its effects are above.")
	}
	return it.Text()
}

// endless writes ends of intervals that there are none of.
var endless = strings.NewReplacer("+Inf", "+∞", "-Inf", "−∞")

// spans are the intervals of a confidence for the population, or else those of the same fit without noise and why; nil
// if there are none of these either.
type spans struct {
	all        *learn.Intervals
	why        error
	confidence float64
}

func spansOf(m *learn.Model, confidence float64) spans {
	s := spans{confidence: confidence}
	if s.all, s.why = m.PopulationIntervals(confidence); s.why != nil {
		s.all, _ = m.Intervals(confidence)
	}
	return s
}

// text shows them, or says why there are none.
func (s spans) text() string {
	if s.why == nil {
		return s.all.Display().Text()
	}
	why := strings.TrimPrefix(s.why.Error(), "dpnb: ")
	if s.all == nil {
		return "No intervals: " + why + "\n"
	}
	return fmt.Sprintf("No intervals for the population: %s. In their place:\n%s", why, s.all.Display().Text())
}
