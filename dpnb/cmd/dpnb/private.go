package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// privateFlags say of a table what is public, what may be learnt of it, and what that may take of this machine: for
// every command that releases something.
type privateFlags struct {
	table tableFlags
	path  string // of the table
	// file is the table as it is read, to which nothing was done.
	file                 frame.Scanner
	schema, budget, name string
	epsilon, delta       float64
	share                float64
	seed                 uint64
	seeded               bool
	person               string
	rows                 int
	memory               byteSize
	known                *frame.Schema // once it was read
	// chosen are categories of columns: their rows alone are asked about.
	chosen map[string]string
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
	p.memory.add(f)
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
	f.Uint64Var(&p.seed, "seed", 0, "`number` of a simulation of what a new budget would pay for, which "+
		"protects nobody (default a private release)")
}

// open returns the table, scanned, with its schema, and the allowance.
func (p *privateFlags) open(cmd *cobra.Command, path string) (df learn.DataFrame, a learn.Allowance, err error) {
	if df, err = p.read(cmd, path); err == nil {
		a, err = p.allowance(cmd)
	}
	return df, a, err
}

// read is open without the allowance, and begins no ledger.
func (p *privateFlags) read(cmd *cobra.Command, path string) (df learn.DataFrame, err error) {
	p.path, p.seeded = path, cmd.Flags().Changed("seed")
	all := p.rest && p.heldOut == 0 // as evaluate asks of another file than that of the fit
	if cmd.Flags().Changed("held-out") && !(p.heldOut > 0 && p.heldOut < 1 || all) {
		return df, fmt.Errorf("--held-out %g: want a share between 0 and 1, such as 0.2", p.heldOut)
	}
	if cmd.Flags().Changed("rows-of-a-person") && p.person == "" {
		return df, errors.New("--rows-of-a-person: say in which column it stands whose row it is, --person")
	}
	if cmd.Flags().Changed("name") && p.budget == "" {
		return df, errors.New("--name: a release is kept under a name beside a ledger, so that another run pays " +
			"nothing for it: give one, --budget, or leave out --name")
	}
	s, err := p.stated()
	if err != nil {
		return df, err
	}
	free := frame.KeepTo(int64(p.memory))
	cmd.PostRun = func(*cobra.Command, []string) { free() }
	p.table.chunkRows = p.memory.rowsOfChunk(len(s.Fields))
	p.file, err = p.table.open(path)
	df = p.part(learn.FromScanner(p.file, err)).Knowing(s)
	if p.person != "" { // it is read whatever is done first
		df = df.WithIgnored(p.person)
	}
	for _, column := range slices.Sorted(maps.Keys(p.chosen)) {
		df = df.OfCategory(column, p.chosen[column])
	}
	if _, known := s.Field(p.person); err == nil && p.person != "" && !known { // one that is ignored will do
		err = frame.CheckSelection([]string{p.person}, p.file.Names())
	}
	if err == nil && p.person != "" {
		df = df.PerPerson(p.person, p.rows)
	}
	if p.seeded && p.budget != "" {
		err = errors.New("--seed is of a simulation, for which no budget is kept: leave out --budget")
	}
	return df, cmp.Or(df.Err(), err)
}

// stated is the schema, which is read once.
func (p *privateFlags) stated() (_ *frame.Schema, err error) {
	if p.known == nil {
		p.known, err = frame.LoadSchema(p.schema)
	}
	return p.known, err
}

func (p *privateFlags) allowance(cmd *cobra.Command) (learn.Allowance, error) {
	var kept []learn.BudgetOption
	if p.budget != "" {
		kept = append(kept, learn.KeptIn(p.budget))
		if _, err := os.Stat(p.budget); err != nil { // one that is there has a name, as of a notebook's budget
			kept = append(kept, learn.Named(filepath.Base(p.budget)))
		}
	}
	charges := !p.seeded && cmd.Flags().Lookup("budget") != nil && !cmd.Flags().Changed("price")
	if others := learn.OtherLedgers(p.budget, p.path); others != "" && charges {
		cmd.PrintErrln(others)
	}
	b := learn.NewBudget(p.epsilon, p.delta, kept...)
	if p.seeded {
		return b.Share(p.share).Simulated(), b.Err()
	}
	if s, err := b.State(); p.budget != "" && err == nil && len(s.Entries) == 0 && p.share == 1 &&
		!cmd.Flags().Changed("share") && !cmd.Flags().Changed("price") {
		cmd.PrintErrf("This spends all of the budget that %s keeps; --share 0.5 would leave half of it.\n", p.budget)
	}
	return b.Share(p.share), b.Err()
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

// addChosen adds the flag by which a question is about the rows of a category.
func (p *privateFlags) addChosen(f *pflag.FlagSet) {
	f.StringToStringVar(&p.chosen, "where", nil, "ask about the rows of a category alone, as `column=category`")
}

// ofChosen says which rows are asked about; "" if all are.
func (p *privateFlags) ofChosen() string {
	var all []string
	for _, column := range slices.Sorted(maps.Keys(p.chosen)) {
		all = append(all, fmt.Sprintf("%s = %s", column, p.chosen[column]))
	}
	if all == nil {
		return ""
	}
	return " where " + strings.Join(all, ", ")
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
	return cmp.Or(p.name, what+" of "+beside(p.budget, path)) + p.ofChosen()
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
	if rows := p.ofChosen(); rows != "" {
		said = "Of the rows" + rows + " alone:\n" + said
	}
	if p.budget == "" && !p.seeded {
		said += unkept
	}
	_, printed := fmt.Fprint(out, said)
	return s, errors.Join(err, printed)
}
