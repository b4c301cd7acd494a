package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// evaluateFlags say what is asked of a model: at most one of the questions, its loss unless another is chosen.
type evaluateFlags struct {
	privateFlags
	confusion, auc, calibration bool
	calibrated                  string
	force                       *bool
	confidence                  float64
	price                       bool
	records                     int
	baseRate                    float64
}

func newEvaluateCommand() *cobra.Command {
	var e evaluateFlags
	cmd := &cobra.Command{
		Use:   "evaluate MODEL FILE",
		Short: "Ask privately how well a released model does on records that it has not seen",
		Long: `Ask how well a model that was saved does on the records of a CSV, Parquet or Arrow file of any
size: how wrong it is on average, or, of a model of classes, its confusion matrix (with accuracy,
recall and precision), its AUC or its calibration. It is a release with a price, from the ledger
of these people, and an interval. With --calibrated the model with probabilities corrected by its
calibration curve is saved, at no further price. Where fit has held out a share of a file, the
same --held-out asks about these records alone; of another file --held-out 0 asks about all. A
model of a group (fit --by) is asked about the records of its group alone.`,
		Example: `  dpnb fit people.csv --schema people.json --target happy --epsilon 1 --delta 1e-6 \
    --budget people.budget.json --share 0.8 --held-out 0.2 --out happy.json
  dpnb evaluate happy.json people.csv --schema people.json --epsilon 1 --delta 1e-6 \
    --budget people.budget.json --share 0.1 --held-out 0.2 --auc`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, args[0], args[1]) },
	}
	f := cmd.Flags()
	f.BoolVar(&e.confusion, "confusion", false, "ask for the confusion matrix, of a model of classes")
	f.BoolVar(&e.auc, "auc", false, "ask for the AUC, of a model of two classes")
	f.BoolVar(&e.calibration, "calibration", false, "ask how often what is predicted with a probability comes true")
	f.StringVar(&e.calibrated, "calibrated", "", "`file` to save the model to that is corrected by its calibration")
	e.force = addForce(f)
	cmd.MarkFlagsMutuallyExclusive("confusion", "auc", "calibration")
	cmd.MarkFlagsMutuallyExclusive("confusion", "auc", "calibrated")
	f.Float64Var(&e.confidence, "confidence", 0.95, "`confidence` of the intervals")
	f.BoolVar(&e.price, "price", false, "say how precise an answer --share buys for --records, and ask nothing")
	f.IntVar(&e.records, "records", 0, "`number` of records that are planned, for --price")
	f.Float64Var(&e.baseRate, "base-rate", 0, "`share` of the positive class that is expected, for --price of --auc "+
		"(default a half)")
	e.addHeldOut(f, "ask about this `share` of the records, which fit has held out; 0 is all (default, unless "+
		"the model was fitted with a share held out)")
	e.add(cmd)
	e.addChosen(cmd.Flags())
	return cmd
}

func (e *evaluateFlags) run(cmd *cobra.Command, model, file string) error {
	m, err := modelFirst(model, file)
	if err != nil {
		return err
	}
	if e.price && e.calibrated != "" {
		return errors.New("--price releases nothing by which a model could be calibrated: leave out --calibrated")
	}
	reading, err := e.table.asFitted(m, model, file)
	if err != nil {
		return err
	}
	fmt.Fprint(cmd.OutOrStdout(), reading)
	if err := e.sparesModel(model, file); err != nil {
		return err
	}
	if cmd.Flags().Changed("base-rate") && !e.price {
		return errors.New("--base-rate: it is for --price; an answer goes by the records that there are")
	}
	e.rest = true
	all := e.heldOut == 0 && cmd.Flags().Changed("held-out")
	if held := m.HeldOut; held > 0 && e.heldOut != held && !all && !e.price {
		return fmt.Errorf("%s was fitted with %g held out: say --held-out %[2]g, or you ask about records that it has "+
			"learnt from; for all records of another file say --held-out 0", model, held)
	}
	if err := e.sparesPeople(m, model, all); err != nil {
		return err
	}
	df, err := e.read(cmd, file)
	if err != nil {
		return err
	}
	if err := e.group(cmd.OutOrStdout(), m, model, df); err != nil {
		return err
	}
	allowance, err := e.allowance(cmd)
	if err != nil {
		return err
	}
	unseen := e.heldOut > 0 && e.heldOut == m.HeldOut
	if asked := e.file.Origin().Name; !e.price && !unseen && asked != "" && asked == m.FittedTo() {
		fmt.Fprintf(cmd.OutOrStdout(), "%s was fitted to %s: if this is that file, the answer is about records that "+
			"it has learnt from, and may be better than it does on others. --held-out 0.2 in fit, and then here, "+
			"asks about records that it has not seen.\n", model, asked)
	}
	q, what := explore.LossOf(m), "error"
	switch {
	case e.confusion:
		q, what = explore.ConfusionOf(m), "confusion matrix"
	case e.auc:
		q, what = explore.AUCOf(m), "AUC"
	case e.calibration, e.calibrated != "":
		q, what = explore.CalibrationOf(m), calibration
	}
	q = q.Confidence(e.confidence).Noise(e.noise())
	if cmd.Flags().Changed("base-rate") {
		q = q.BaseRate(e.baseRate)
	}
	if e.price {
		price, err := q.Planned(e.records).Within(df, allowance, e.confidence)
		return printed(cmd.OutOrStdout(), price, err)
	}
	name := e.once(what+" by "+filepath.Base(model), file)
	calibrates := e.calibration || e.calibrated != "" // by all bins together, of which one may say nothing
	if unseen && !calibrates && !e.seeded && !learn.Kept(name, e.budget) {
		if q, err = e.expected(q, m, df, allowance); err != nil {
			return err
		}
	}
	s, err := e.answer(cmd.OutOrStdout(), q, name, df, allowance)
	if e.calibrated == "" || s == nil {
		return err
	}
	corrected, failed := explore.Calibrated(m, s)
	if failed == nil {
		failed = e.save(corrected)
	}
	if failed == nil {
		_, failed = fmt.Fprintln(cmd.OutOrStdout(), e.calibrated, "has the calibrated model")
	}
	return errors.Join(err, failed)
}

// sparesPeople refuses to divide the records otherwise than the fit did, by people or by rows.
func (e *evaluateFlags) sparesPeople(m *learn.Model, model string, all bool) error {
	column, rows := m.Person()
	switch {
	case m.HeldOut == 0 || all || e.price:
	case rows == 0 && e.person != "":
		return fmt.Errorf("%s was fitted with rows held out, whosever they are: leave out --person, or you ask about "+
			"records that it has learnt from", model)
	case rows > 0 && (e.person == "" || column != "" && e.person != column): // in older files the column is not said
		return fmt.Errorf("%s was fitted with people held out, each with all rows: say --person %s --rows-of-a-person "+
			"%d, or you ask about people that it has learnt from; for all records of another file say --held-out 0",
			model, cmp.Or(shellWord(column), "COLUMN"), rows)
	}
	return nil
}

// group says which records are asked about of a model of a group.
func (e *evaluateFlags) group(out io.Writer, m *learn.Model, model string, df learn.DataFrame) error {
	column, category := m.Group()
	if column == "" {
		return nil
	}
	if other, chosen := e.chosen[column]; chosen && other != category {
		return fmt.Errorf("%s is of the records with %s = %s, of which none has %[2]s=%[4]s, --where: leave it out",
			model, column, category, other)
	}
	said := "they alone are asked about"
	if _, own := m.OfGroup(df); !own {
		if slices.Contains(e.file.Names(), column) {
			return fmt.Errorf("%s is of the records with %s = %s, and the schema ignores that column: state it as a "+
				"category, as for the fit", model, column, category)
		}
		said = fmt.Sprintf("%s has no such column, and all of its records are asked about", e.path)
	}
	_, err := fmt.Fprintf(out, "%s is of the records with %s = %s: %s.\n", model, column, category, said)
	return err
}

// expected says of a question how many records it will be asked about, those that the fit has held out, and refuses one
// that would then say nothing, before it is paid for.
func (e *evaluateFlags) expected(q explore.Query, m *learn.Model, df learn.DataFrame, a learn.Allowance) (explore.Query,
	error) {
	l, err := m.Losses(true)
	if err != nil || l.Records() < 1 {
		return q, err
	}
	q = q.Planned(int(math.Max(1, l.Records()*e.heldOut/(1-e.heldOut))))
	if price, err := q.Within(df, a, e.confidence); err == nil && price.BuysNothing() {
		return q, fmt.Errorf("nothing was asked or paid for: %s A larger --share says more, and --price what it buys",
			price.Display().Text())
	}
	return q, nil
}

// calibration is what is asked where a model is calibrated.
const calibration = "calibration"

// sparesModel refuses, before anything is paid for, to write a calibrated model over another file: over no model that
// is simulated, and over none while the curve is kept that it may have been made by, which save then looks at.
func (e *evaluateFlags) sparesModel(model, file string) error {
	if _, err := os.Stat(e.calibrated); e.calibrated == "" || *e.force || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	there, err := learn.Load(e.calibrated)
	name := e.once(calibration+" by "+filepath.Base(model), file)
	if err == nil && (there.Release.Simulated() || name != "" && learn.Kept(name, e.budget)) {
		return nil
	}
	return another("calibrated", e.calibrated)
}

// save writes the calibrated model, but not over one of a release that is another.
func (e *evaluateFlags) save(m *learn.Model) error {
	if there, err := learn.Load(e.calibrated); err == nil && !there.Release.Simulated() {
		content, err := contentOf(m.Save)
		if err == nil {
			err = unlike("calibrated", e.calibrated, content, *e.force)
		}
		if err != nil {
			return err
		}
	}
	return m.Save(e.calibrated)
}
