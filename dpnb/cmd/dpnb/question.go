package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// questionFlags say what is asked of a table: at most one of the questions.
type questionFlags struct {
	count               bool
	mean, sum, variance string
	quantiles           string
	levels              []float64
	histogram           string
	edges               places
	crosstab, by        []string
	confidence          float64
	population          bool
}

func (q *questionFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&q.count, "count", false, "ask how many records there are")
	f.StringVar(&q.mean, "mean", "", "ask for the mean of this `column`")
	f.StringVar(&q.sum, "sum", "", "ask for the sum of this `column`")
	f.StringVar(&q.variance, "variance", "", "ask for the variance of this `column`")
	f.StringVar(&q.quantiles, "quantiles", "", "ask for quantiles of this `column`")
	f.StringVar(&q.histogram, "histogram", "", "ask for a histogram of this `column`")
	f.StringSliceVar(&q.crosstab, "crosstab", nil, "ask how many records have each combination of these `columns`")
	cmd.MarkFlagsMutuallyExclusive("count", "mean", "sum", "variance", "quantiles", "histogram", "crosstab")
	f.Float64SliceVar(&q.levels, "levels", nil, "`levels` of the quantiles (default 0.25,0.5,0.75)")
	f.Var(&q.edges, "edges", "public `edges` of the histogram, numbers or dates as 2020-01-31 (default "+
		"20 bins of the schema)")
	f.StringSliceVar(&q.by, "by", nil, "ask it of each group of these `columns`, at the price of one")
	f.Float64Var(&q.confidence, "confidence", 0.95, "`confidence` of the intervals")
	f.BoolVar(&q.population, "population", false, "intervals for the population that records are drawn from")
}

// places is a pflag.Value: numbers, or dates as days since 1970-01-01, and how they are told.
type places struct {
	at   []float64
	told []string
}

func (p *places) Type() string { return "places" }

func (p *places) String() string { return strings.Join(p.told, " ") }

func (p *places) Set(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		one = strings.TrimSpace(one)
		v, err := strconv.ParseFloat(one, 64)
		told := fmt.Sprint(v)
		if day, e := time.Parse(time.DateOnly, one); e == nil {
			v, told, err = float64(day.Unix())/86400, one, nil
		}
		if err != nil {
			return fmt.Errorf("%q is neither a number, with a point before its decimals, nor a date as 2020-01-31", one)
		}
		p.at, p.told = append(p.at, v), append(p.told, told)
	}
	return nil
}

// query returns what is asked, and its name.
func (q *questionFlags) query() (query explore.Query, name string, err error) {
	switch {
	case q.levels != nil && q.quantiles == "" || q.edges.at != nil && q.histogram == "":
		return query, name, errors.New("--levels are of --quantiles, and --edges of a --histogram: say of which column")
	case q.count:
		query, name = explore.Count(), "count"
	case q.mean != "":
		query, name = explore.Mean(q.mean), "mean of "+q.mean
	case q.sum != "":
		query, name = explore.Sum(q.sum), "sum of "+q.sum
	case q.variance != "":
		query, name = explore.Variance(q.variance), "variance of "+q.variance
	case q.quantiles != "":
		levels := q.levels
		if levels == nil {
			levels = []float64{0.25, 0.5, 0.75}
		}
		query, name = explore.QuantilesOf(q.quantiles, levels...), fmt.Sprint("quantiles ", levels, " of ", q.quantiles)
	case q.histogram != "":
		query, name = explore.Histogram(q.histogram, q.edges.at...), "histogram of "+q.histogram
		if q.edges.at != nil {
			name += fmt.Sprintf(" [%s]", &q.edges)
		}
	case q.crosstab != nil:
		query, name = explore.Crosstab(q.crosstab...), "crosstab of "+strings.Join(q.crosstab, ", ")
	case q.by != nil:
		return query, name, errors.New("--by is for one question: --count, --mean, --sum or another beside it")
	default:
		query, name = explore.Describe(), "summary"
	}
	if q.by != nil {
		query, name = query.By(q.by...), name+" by "+strings.Join(q.by, ", ")
	}
	if q.population {
		query = query.ForPopulation()
	}
	return query.Confidence(q.confidence), name, nil
}

func newDescribeCommand() *cobra.Command {
	var p privateFlags
	var at remotely
	var asked questionFlags
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
    --budget people.budget.json --share 0.2
  dpnb describe people.csv --schema people.schema.json --epsilon 1 --delta 1e-6 \
    --budget people.budget.json --share 0.05 --mean age --by city`,
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
					// Who adds up is told which columns are copies, and makes them.
					add, closed, err := at.tally(cmd.Context(), &p.table, p.file, p.memory)
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
	at.addCheckpoints(cmd.Flags(), "`folder` of what a runner's workers have added up, which they must see (default "+
		"in the user's folder for caches)")
	p.add(cmd)
	p.addChosen(cmd.Flags())
	return cmd
}

func newPriceCommand() *cobra.Command {
	var (
		q       questionFlags
		p       privateFlags
		within  float64
		records int
	)
	cmd := &cobra.Command{
		Use:   "price FILE",
		Short: "Say what an answer costs, or how precise an answer a share buys",
		Long: `Say what it costs to know an answer to within ± --within: its ε, its μ, and the share of the budget
(ε, δ) that buys it. Or say the other way round how precise the answer is that --share buys. All of
it is computed from the schema and from the number of records that is planned: nothing of the table
but the names of its columns is read, and nothing is spent.`,
		Example: `  dpnb price people.csv --schema people.schema.json --epsilon 1 --delta 1e-6 \
    --mean age --records 10000 --within 0.5
  dpnb price people.csv --schema people.schema.json --epsilon 1 --delta 1e-6 \
    --mean age --by city --records 2000 --share 0.05`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			query, _, err := q.query()
			if err != nil {
				return err
			}
			df, _, err := p.open(cmd, args[0])
			if err != nil {
				return err
			}
			query, budget := query.Planned(records), learn.NewBudget(p.epsilon, p.delta, learn.Named("to be priced"))
			var price *explore.Price
			if cmd.Flags().Changed("within") {
				if price, err = query.Price(df, within, q.confidence); err == nil {
					price = price.In(budget)
				}
			} else {
				price, err = query.Within(df, budget.Share(p.share), q.confidence)
			}
			return printed(cmd.OutOrStdout(), price, err)
		},
	}
	q.add(cmd)
	p.addPublic(cmd)
	f := cmd.Flags()
	f.Float64Var(&within, "within", 0, "half the `width` of the interval, in the unit of the column; of quantiles, in "+
		"shares of the records")
	f.IntVar(&records, "records", 0, "`number` of records that are planned, in each group")
	f.Float64Var(&p.share, "share", 0, "`part` of the budget that is spent")
	cmd.MarkFlagsMutuallyExclusive("within", "share")
	cmd.MarkFlagsOneRequired("within", "share")
	return cmd
}
