package rkw23

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/experiment"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// The sets of Tables 1 and 2.
const (
	clusterSet = "Synthetic-L"
	adultSet   = "Adult"
)

// tableCell is a cell of Table 1 or 2 measured anew: the scores of the trials of a method at ε. The paper's records of
// Synthetic-L are not known, so that ten populations are drawn, of Seed 1 to 10; Adult has Seed 0.
type tableCell struct {
	Set, Method string
	Seed        uint64
	Epsilon     float64
	Scores      []float64
}

// measureTable runs a method of a table: with five trials on each population; on Adult with ten, as in the paper, and
// Algorithm 1 with a hundred.
//
// Errors: errNoAdult; those of the data and of the fits; ctx.Err().
func measureTable(ctx context.Context, set, method string) (all []tableCell, err error) {
	defer measure.Catch(&err)
	seeds, trials := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5
	if set == adultSet {
		if seeds, trials = []uint64{0}, Trials; method == asPrinted {
			trials = 100
		}
	}
	for _, seed := range seeds {
		g := measure.Must(tableGrid(seed))
		g.Trials = trials
		for i, m := range g.Mechanisms {
			if m.Name != method { // it stays, for the streams of the others
				g.Mechanisms[i].Fit = nothing
			}
		}
		cells := measure.Must(g.Run(ctx))
		for _, c := range cells {
			if c.Mechanism == method {
				all = append(all, tableCell{set, method, seed, c.Epsilon, c.Scores})
			}
		}
	}
	return all, nil
}

// nothing fits nothing.
func nothing(train *experiment.Records, _, _ float64, _ *noise.Seeded) ([]float64, error) {
	_, d := train.Rows.Dims()
	return make([]float64, d), nil
}

var errNoAdult = errors.New("rkw23: the Adult data are not here; fetch them with: dpnb data adult")

// tableGrid is the experiment of Tables 1 and 2, as the paper describes it, on the population of a seed, or on Adult
// for 0: Algorithm 1, and DP-SGD with SGDEpochs passes and Rényi accounting, its rate chosen dishonestly and honestly.
//
// Errors: errNoAdult; those of the data.
func tableGrid(seed uint64) (g sim.Grid[*experiment.Records], err error) {
	var set experiment.Set
	if seed > 0 {
		set, err = experiment.Synthetic(clusterSet, dataset.SyntheticL(seed))
	} else if set, err = experiment.AdultAsPublished(); err == nil && published[set.Name] != adultSet {
		err = errNoAdult // but invented people
	}
	if err != nil {
		return g, err
	}
	g = Figure2([]experiment.Set{set}, printedDPSGD(dishonest), printedDPSGD(honest))
	g.Mechanisms = slices.Delete(g.Mechanisms, 1, 2) // this project's, which is in no table
	g.Epsilons = []float64{0.1, 1, 8}
	return g, nil
}

// printedDPSGD is DP-SGD as section 5 describes it. Its noise is that of Rényi curves: of one run if dishonest, and of
// the best of a Poisson number of runs if honest. A dishonest trial makes a run with each of ten rates, an honest one
// with as many rates as were drawn, evenly spaced in the logarithm, which no theorem covers (docs/errata.md, rkw23-42).
func printedDPSGD(name string) experiment.Mechanism {
	return descending(name, SGDEpochs, sgd.Renyi, func(t sgd.Tuner, train *experiment.Records,
		src *noise.Seeded) ([]float64, error) {
		if name == honest {
			switch runs := noise.Exact(src).Poisson(t.MeanRuns); runs {
			case 0:
				return nothing(train, 0, 0, nil)
			case 1:
				t.Grid = t.Grid[:1]
			default:
				t.Grid = rates(runs)
			}
		}
		return dishonestly(t, train, src)
	})
}

//go:embed tables.tsv
var tablesRecord string

// recordedTables is tables.tsv: what measureTable returned for both sets, a line for each cell. TestMakeTables makes
// it.
//
// Errors: a line that is none.
func recordedTables() (all []tableCell, err error) {
	for line := range strings.Lines(tablesRecord) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) < 6 {
			return nil, fmt.Errorf("rkw23: tables.tsv has a line of %d columns", len(f))
		}
		var numbers []float64
		for _, text := range slices.Concat(f[1:2], f[3:]) {
			v, e := strconv.ParseFloat(text, 64)
			numbers, err = append(numbers, v), errors.Join(err, e)
		}
		all = append(all, tableCell{f[0], f[2], uint64(numbers[0]), numbers[1], numbers[2:]})
	}
	return all, err
}

// repeat is what the paper has one or ten of: the mean over the trials on a population, or a trial on Adult. Plateau is
// the mean of Algorithm 1 at ε = 8 on the same population: what populations differ in is that above all.
type repeat struct{ score, plateau float64 }

// repeats returns those of a cell.
func repeats(cells []tableCell, set, method string, epsilon float64) (all []repeat) {
	plateau := map[uint64]float64{}
	for _, c := range cells {
		if c.Set == set && c.Method == asPrinted && c.Epsilon == 8 {
			plateau[c.Seed] = sim.Summarize(c.Scores).Mean
		}
	}
	for _, c := range cells {
		switch {
		case c.Set != set || c.Method != method || c.Epsilon != epsilon:
		case set == adultSet:
			for _, v := range c.Scores {
				all = append(all, repeat{v, math.NaN()})
			}
		default:
			all = append(all, repeat{sim.Summarize(c.Scores).Mean, plateau[c.Seed]})
		}
	}
	return all
}

// plateauPrinted is Algorithm 1 at ε = 8 in Table 1.
const plateauPrinted = 0.9530

// column compares repeats with a cell that is printed: in standard deviations of the difference to another run of the
// paper's size, and but for the rounding of the print. On populations of clusters what is compared is the distance to
// the plateau, except for the plateau itself.
func column(all []repeat, p Published) (off float64, text string) {
	const rounding = 5e-5
	size, of, want := float64(Trials), 0.0, p.Value
	clusters := p.Set == clusterSet
	if clusters {
		if size = 1; p.Mechanism != asPrinted || p.Epsilon != 8 {
			of, want = 1, want-plateauPrinted
		}
	}
	var scores, values []float64
	for _, u := range all {
		v := u.score
		if of > 0 {
			v -= u.plateau
		}
		scores, values = append(scores, u.score), append(values, v)
	}
	s := sim.Summarize(values)
	off = math.Max(0, math.Abs(s.Mean-want)-rounding) / (s.StdErr * math.Sqrt(1+float64(s.N)/size))
	text = fmt.Sprintf("ε = %g: %.2f %% (printed %.2f", p.Epsilon, 100*sim.Summarize(scores).Mean, 100*p.Value)
	if of > 0 {
		text += fmt.Sprintf("; from the plateau %+.2f, printed %+.2f", 100*s.Mean, 100*want)
	}
	return off, fmt.Sprintf("%s; %.1f standard deviations)", text, off)
}

// tableOf is a method's column of a table; print says what is printed, as a function of what is.
type tableOf struct {
	set, method string
	print       func(Published) float64
}

// tableColumn holds a method's column of a table against what is recorded, in full against what is measured now.
func tableColumn(run measure.Run, of tableOf) claim.Outcome {
	set, method := of.set, of.method
	cells := measure.Must(recordedTables())
	note := ""
	if run.Size == claim.Full {
		now, e := measureTable(run, set, method)
		if e == nil && set == clusterSet && method != asPrinted {
			var plateaus []tableCell
			plateaus, e = measureTable(run, set, asPrinted)
			now = append(now, plateaus...)
		}
		if errors.Is(e, errNoAdult) {
			note = "as recorded: " + e.Error()
		} else {
			measure.Try(e)
			cells = now
		}
	}
	var lines []string
	worst := 0.0
	for _, p := range Table2 {
		if p.Set == set && p.Mechanism == method {
			p.Value = of.print(p)
			off, text := column(repeats(cells, set, method, p.Epsilon), p)
			worst, lines = math.Max(worst, off), append(lines, text)
		}
	}
	o := claim.Decide(strings.Join(lines, "; "), "4 standard deviations each", worst <= 4 && len(lines) == 3,
		"not reproduced, cause unknown: the procedure as it is described does not give what is printed")
	if note != "" {
		o.Note = strings.TrimPrefix(o.Note+"; "+note, "; ")
	}
	return o
}

// timesPrinted is the print times a factor, but for the plateau.
func timesPrinted(factor float64) func(Published) float64 {
	return func(p Published) float64 {
		if p.Set == clusterSet && p.Mechanism == asPrinted && p.Epsilon == 8 {
			return p.Value
		}
		return factor * p.Value
	}
}

// recordedInstead is what was measured in the place of the print.
func recordedInstead(p Published) (mean float64) {
	all := repeats(measure.Must(recordedTables()), p.Set, p.Mechanism, p.Epsilon)
	for _, u := range all {
		if mean += u.score / float64(len(all)); p.Set == clusterSet {
			mean += (plateauPrinted - u.plateau) / float64(len(all))
		}
	}
	return mean
}
